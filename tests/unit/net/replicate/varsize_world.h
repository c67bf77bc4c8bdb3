// SPDX-License-Identifier: MIT
/// Shared code for the tests of variable-size values: a server's world with its values, and a
/// client's world with what it received. A table of records replaces the state packets.
#pragma once

#include "schema_made.h"

#include "state/varsize.h"

#define EVERYTHING 0xffffu
#define PUBLIC_ONLY 1u

enum { LARGE_INDEX_MAX = 256, LARGE_MESSAGES_MAX = 512 };

static const char varsize_text[] =
    "page {\n"
    "  \"hp:i\"{ _replicate:b=yes; value:i=1 }\n"
    "  \"title:t\"{ _replicate:b=yes; value:t=\"blank\" }\n"
    "  \"route:list<p2>\"{ _replicate:b=yes; point:p2=1,2 }\n"
    "  \"notes:array\"{ _replicate:b=yes }\n"
    "  \"secret:object\"{ _replicate:b=yes; _visible:t=\"owner\"; level:i=3 }\n"
    "  \"diary:t\"{ _track:b=yes }\n"
    "}\n"
    "sheet { \"hp:i\"{ _replicate:b=yes; value:i=1 } }\n"
    "cover { \"title:t\"{ _replicate:b=yes; value:t=\"cover\" } }\n"
    "shelf { \"bytes:list<u8>\"{ _replicate:b=yes } }\n"
    "plain { hp:i=3 }\n";

typedef struct varsize_side {
    ecs_world* world;
    net_schema* schema;
    net_rows* rows;
    ecs_template_id page, sheet, cover, shelf, plain, page_cover;
    ecs_component_id hp, title, route, notes, secret, diary, bytes;
} varsize_side;

static inline void varsize_side_open(varsize_side* side, bool is_mirror) {
    memset(side, 0, sizeof *side);
    const schema_wanted wanted = {.is_mirror = is_mirror, .index_max = LARGE_INDEX_MAX};
    side->schema = schema_made(varsize_text, wanted, &side->world);
    side->rows = net_schema_rows(side->schema);
    side->page = ecs_template_find(side->world, "page");
    side->sheet = ecs_template_find(side->world, "sheet");
    side->cover = ecs_template_find(side->world, "cover");
    side->shelf = ecs_template_find(side->world, "shelf");
    side->plain = ecs_template_find(side->world, "plain");
    side->page_cover = ecs_template_find(side->world, "page+cover");
    side->hp = ecs_component_find(side->world, "hp");
    side->title = ecs_component_find(side->world, "title");
    side->route = ecs_component_find(side->world, "route");
    side->notes = ecs_component_find(side->world, "notes");
    side->secret = ecs_component_find(side->world, "secret");
    side->diary = ecs_component_find(side->world, "diary");
    side->bytes = ecs_component_find(side->world, "bytes");
}

static inline void varsize_side_close(varsize_side* side) {
    schema_unmake(side->schema, side->world);
}

static inline ecs_entity varsize_create(varsize_side* side, ecs_template_id template_id) {
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_ok(ecs_create(side->world, template_id, NULL, 0, &entity));
    return entity;
}

static inline void varsize_set_text(varsize_side* side, ecs_entity entity,
                                    ecs_component_id component, const char* text) {
    ecs_string* value = ecs_get_mut(side->world, entity, component);
    assert_ok(
        ecs_string_set(ecs_world_allocator(side->world), value, text, (uint32_t)strlen(text)));
}

static inline const char* varsize_get_text(const varsize_side* side, ecs_entity entity,
                                           ecs_component_id component) {
    return ecs_string_text(ecs_get(side->world, entity, component));
}

/// Set `bytes` of a shelf so that it has `size` canonical bytes: a varint of 2 bytes and the
/// elements.
static inline void varsize_set_size(varsize_side* side, ecs_entity entity, uint32_t size,
                                    uint8_t last) {
    ecs_list* list = ecs_get_mut(side->world, entity, side->bytes);
    const base_allocator* allocator = ecs_world_allocator(side->world);
    while (ecs_list_count(list) > size - 3)
        assert_ok(ecs_list_remove(allocator, list, ecs_list_count(list) - 1));
    while (ecs_list_count(list) < size - 3)
        assert_ok(ecs_list_push(allocator, list, NULL));
    assert_ok(ecs_list_push(allocator, list, &last));
}

/// Find the number of a component on the wire.
static inline uint32_t varsize_number(const varsize_side* side, ecs_component_id component) {
    for (uint32_t n = 0; n < side->rows->varsize_count; n++)
        if (net_rows_varsize(side->rows, n) == component) return n;
    return UINT32_MAX;
}

/// The last record of an index, as a mirror keeps it.
typedef struct varsize_reported {
    ecs_entity handle;
    ecs_tick tick;
    bool is_known;
} varsize_reported;

typedef struct varsize_mirror {
    varsize_side side;
    varsize_reported told[LARGE_INDEX_MAX + 1];
    net_varsize_receiver* client;
} varsize_mirror;

static inline bool varsize_find(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick) {
    const varsize_mirror* mirror = context;
    *handle = mirror->told[index].handle;
    *tick = mirror->told[index].tick;
    return mirror->told[index].is_known;
}

static inline void varsize_mirror_open(varsize_mirror* mirror, uint32_t waiting_max) {
    memset(mirror, 0, sizeof *mirror);
    varsize_side_open(&mirror->side, true);
    net_varsize_receiver_config config = {.world = mirror->side.world,
                                          .rows = mirror->side.rows,
                                          .index_max = LARGE_INDEX_MAX,
                                          .waiting_max = waiting_max,
                                          .known = varsize_find,
                                          .known_context = mirror};
    mirror->client = net_varsize_receiver_create(&config);
}

static inline void varsize_mirror_close(varsize_mirror* mirror) {
    base_owner_destroy(mirror->client);
    varsize_side_close(&mirror->side);
}

/// A record of a state packet: which entity is at an index at a tick. A record older than the known
/// one has no effect.
static inline void varsize_report(varsize_mirror* mirror, uint32_t index, ecs_entity handle,
                                  ecs_template_id template_id, ecs_tick tick) {
    varsize_reported* told = &mirror->told[index];
    ecs_world* world = mirror->side.world;
    if (told->is_known && tick <= told->tick) return;
    if (told->handle != ECS_ENTITY_NONE && told->handle != handle)
        assert_ok(ecs_destroy(world, told->handle));
    if (handle != ECS_ENTITY_NONE && told->handle != handle)
        assert_ok(ecs_create_at(world, handle, template_id, NULL, 0));
    else if (handle != ECS_ENTITY_NONE && ecs_entity_template(world, handle) != template_id)
        assert_ok(ecs_recreate(world, handle, template_id, NULL, 0));
    *told = (varsize_reported){.handle = handle, .tick = tick, .is_known = true};
}

/// A message and its own copy of the bytes.
typedef struct varsize_copy {
    net_varsize_message message;
    uint8_t bytes[NET_VARSIZE_BYTES_MAX];
} varsize_copy;

/// Collects the messages that a repl_state publishes.
typedef struct varsize_channel {
    varsize_copy* copies[LARGE_MESSAGES_MAX];
    uint32_t count;
    uint32_t room; ///< how many more messages it accepts
} varsize_channel;

static inline net_result varsize_send(void* context, const net_varsize_message* message) {
    varsize_channel* channel = context;
    if (channel->room == 0) return NET_ERR_FULL;
    channel->room--;
    assert_true(channel->count < LARGE_MESSAGES_MAX);
    varsize_copy* copy = malloc(sizeof *copy);
    assert_non_null(copy);
    copy->message = *message;
    if (message->size) memcpy(copy->bytes, message->bytes, message->size);
    copy->message.bytes = message->bytes ? copy->bytes : NULL;
    channel->copies[channel->count++] = copy;
    return NET_OK;
}

static inline void varsize_channel_drop(varsize_channel* channel, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        free(channel->copies[i]);
    channel->count -= count;
    memmove(channel->copies, channel->copies + count, channel->count * sizeof channel->copies[0]);
}

/// Step the server's world by one tick, and find what the tick changed in the values.
static inline void varsize_step(varsize_side* side, net_varsize_source* values, ecs_tick tick) {
    ecs_step step = {.tick = tick, .dt = 1.0f / 60.0f};
    ecs_world_step(side->world, &step);
    net_varsize_source_step(values, side->world, tick);
    ecs_changes_clear(side->world);
}
