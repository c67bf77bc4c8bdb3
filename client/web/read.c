// SPDX-License-Identifier: MIT
// Worlds for a page with a picture of its own (client/js/shoal.js): what they have, once, as JSON;
// then rows, as places in the memory that both share.
#include "web_state.h"

#include "base/json.h"
#include "base/text.h"
#include "ecs/ecs.h"
#include "table/storage.h"
#include "type/world.h"

#include <string.h>

enum { WORLD_NEWEST, WORLD_SHOWN, WORLD_LOG };
#define TERM_OPTIONAL 0x80000000u ///< of a component that a row need not have
#define TEXT_BYTES 4096u

static net_match* match_of(const web* self, uint32_t which) {
    const web_play* play = self->play;
    if (which == WORLD_LOG) return self->playback ? net_playback_match(self->playback) : NULL;
    if (!play || !play->client) return NULL;
    return which == WORLD_SHOWN ? net_presenter_match(play->presenter) : play->match;
}

static ecs_world* world_of(const web* self, uint32_t which) {
    net_match* match = match_of(self, which);
    return match ? net_match_world(match) : NULL;
}

static const ecs_component* component_of(const ecs_world* world, uint32_t component) {
    if (!world || component == 0 || component > ecs_component_count(world)) return NULL;
    return ecs_component_get(world, (ecs_component_id)component);
}

// ---- what there is ----

static void put_fields(base_bytes* json, const ecs_field* fields, uint32_t count) {
    base_json_write(json, "fields=[");
    for (uint32_t i = 0; i < count; i++)
        base_json_write(json, "{name=%s kind=%s kindNumber=%u bytes=%u offset=%u count=%u}",
                        fields[i].name, ecs_field_kind_name(fields[i].kind),
                        (uint32_t)fields[i].kind, ecs_field_kind_bytes(fields[i].kind),
                        fields[i].offset, fields[i].count);
    base_json_write(json, "]}");
}

// How a page has a value of the type.
static const char* form_of(const ecs_type* type) {
    const ecs_field* field = type->fields;
    if (type->size == 0) return "tag";
    if (type->box || type->field_count == 0) return "text";
    const bool is_scalar =
        type->field_count == 1 && field->count == 1 && strcmp(field->name, "value") == 0;
    return is_scalar ? "scalar" : "view";
}

static void put_components(base_bytes* json, const ecs_world* world) {
    base_json_write(json, "{components=[");
    for (uint32_t i = 1; i <= ecs_component_count(world); i++) {
        const ecs_component* component = component_of(world, i);
        const ecs_type* type = ecs_type_get(world, component->type);
        base_json_write(json, "{kind=%s name=%s size=%u form=%s", "component", component->name,
                        type->size, form_of(type));
        put_fields(json, type->fields, type->field_count);
    }
    base_json_write(json, "]");
}

static void put_messages(base_bytes* json, net_match* match) {
    static const char* const kinds[] = {"input", "message to the server", "message to clients"};
    const net_game_module* game = net_match_get_config(match)->module->game;
    ecs_world* world = net_match_world(match);
    base_json_write(json, "messages=[");
    for (uint32_t i = 0; i < game->message_count; i++) {
        const net_message* message = &game->messages[i];
        const ecs_event_desc* event = ecs_event_get(world, ecs_event_find(world, message->event));
        base_json_write(json, "{name=%s kind=%s size=%u", message->name, kinds[message->kind],
                        event->size);
        put_fields(json, event->fields, event->field_count);
    }
    base_json_write(json, "]");
}

/// Components in the order of their numbers, which begin with 1, templates and messages, as JSON.
WEB_EXPORT(read_schema) void web_read_schema(web* self, uint32_t which);
void web_read_schema(web* self, uint32_t which) {
    web_clear_answers(self);
    net_match* match = match_of(self, which);
    if (match) {
        const ecs_world* world = net_match_world(match);
        put_components(&self->answer, world);
        base_json_write(&self->answer, "templates=[");
        for (uint32_t i = 1; i <= ecs_template_count(world); i++)
            base_json_write(&self->answer, "%s", ecs_template_get(world, (ecs_template_id)i)->name);
        base_json_write(&self->answer, "]");
        put_messages(&self->answer, match);
        base_json_write(&self->answer, "}");
    }
    web_note(self, NET_OK);
}

// ---- rows ----

static bool has_terms(const ecs_archetype* archetype, const uint32_t* terms, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!(terms[i] & TERM_OPTIONAL) && archetype->slots[terms[i]] == ECS_SLOT_NONE)
            return false;
    return true;
}

static void put_run(base_bytes* runs, const ecs_chunk* chunk, uint32_t rows, const uint32_t* terms,
                    uint32_t count) {
    base_bytes_write_u32(runs, rows);
    base_bytes_write_u32(runs, (uint32_t)(uintptr_t)chunk->entities);
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t slot = chunk->archetype->slots[terms[i] & ~TERM_OPTIONAL];
        const void* column = slot == ECS_SLOT_NONE ? NULL : chunk->columns[slot];
        base_bytes_write_u32(runs, (uint32_t)(uintptr_t)column);
    }
}

/// Find what has the components whose numbers, as words, are the room's bytes. The answer has a run
/// of rows each: their count, and where their entities and values are, until the next frame.
WEB_EXPORT(read_runs) void web_read_runs(web* self, uint32_t which);
void web_read_runs(web* self, uint32_t which) {
    uint32_t terms[ECS_QUERY_TERMS_MAX];
    const ecs_world* world = world_of(self, which);
    const uint32_t count = (uint32_t)(self->room.size / sizeof *terms);
    bool is_known = world && count <= BASE_COUNT(terms);
    web_clear_answers(self);
    for (uint32_t i = 0; is_known && i < count; i++) {
        memcpy(&terms[i], self->room.data + i * sizeof *terms, sizeof *terms);
        is_known = component_of(world, terms[i] & ~TERM_OPTIONAL) != NULL;
    }
    for (uint32_t a = 0; is_known && a < world->storage->archetype_count; a++) {
        const ecs_archetype* archetype = world->storage->archetypes[a];
        if (!has_terms(archetype, terms, count)) continue;
        for (uint32_t c = 0; c < archetype->chunk_count; c++) {
            const ecs_chunk* chunk = archetype->chunks[c];
            const uint32_t rows = world->storage->chunk_counts[chunk->id];
            if (rows > 0) put_run(&self->answer, chunk, rows, terms, count);
        }
    }
    web_note(self, NET_OK);
}

/// Where the value of an entity is; of a tag another address than 0.
/// @return 0: it does not live, or does not have it.
WEB_EXPORT(read_cell)
const void* web_read_cell(web* self, uint32_t which, uint32_t entity, uint32_t component);
const void* web_read_cell(web* self, uint32_t which, uint32_t entity, uint32_t component) {
    const ecs_world* world = world_of(self, which);
    const ecs_component* found = component_of(world, component);
    if (!found || !ecs_is_alive(world, entity)) return NULL;
    const ecs_type* type = ecs_type_get(world, found->type);
    if (type->size == 0)
        return ecs_template_find_component(
            ecs_template_get(world, ecs_entity_template(world, entity)), found->id);
    const void* cell = ecs_find(world, entity, found->id);
    return cell ? ecs_type_object(type, cell) : NULL;
}

/// The answer is the value as text.
WEB_EXPORT(read_text)
void web_read_text(web* self, uint32_t which, uint32_t entity, uint32_t component);
void web_read_text(web* self, uint32_t which, uint32_t entity, uint32_t component) {
    char text[TEXT_BYTES];
    const ecs_world* world = world_of(self, which);
    const ecs_component* found = component_of(world, component);
    const void* cell = found ? ecs_find(world, entity, found->id) : NULL;
    web_clear_answers(self);
    if (cell && ecs_type_format(ecs_type_get(world, found->type), cell, text, sizeof text))
        base_bytes_write(&self->answer, text, strlen(text));
    web_note(self, NET_OK);
}

/// @return the number of its template, which begins with 1; 0: it does not live.
WEB_EXPORT(read_template) uint32_t web_read_template(web* self, uint32_t which, uint32_t entity);
uint32_t web_read_template(web* self, uint32_t which, uint32_t entity) {
    const ecs_world* world = world_of(self, which);
    return world && ecs_is_alive(world, entity) ? ecs_entity_template(world, entity) : 0;
}

/// Of the shown world with parts of a tick.
WEB_EXPORT(read_tick) double web_read_tick(web* self, uint32_t which);
double web_read_tick(web* self, uint32_t which) {
    if (!match_of(self, which)) return 0.0;
    if (which == WORLD_LOG) return net_playback_tick(self->playback);
    return which == WORLD_SHOWN ? net_presenter_tick(self->play->presenter)
                                : (double)net_client_tick_newest(self->play->client);
}

// ---- the player ----

/// @return the own entity; 0: none yet.
WEB_EXPORT(read_player) uint32_t web_read_player(web* self);
uint32_t web_read_player(web* self) {
    return self->play && self->play->client ? net_client_player(self->play->client) : 0;
}

/// Who plays, as JSON.
WEB_EXPORT(read_players) void web_read_players(web* self);
void web_read_players(web* self) {
    const net_client* client = self->play ? self->play->client : NULL;
    web_clear_answers(self);
    base_json_write(&self->answer, "[");
    for (uint32_t i = 0; client && (i = net_client_next_player(client, i)) != 0;)
        base_json_write(&self->answer, "{client=%u name=%s}", i, net_client_player_name(client, i));
    base_json_write(&self->answer, "]");
    web_note(self, NET_OK);
}

/// From now on the page makes the inputs. @return where, as the message's struct.
WEB_EXPORT(read_input) uint8_t* web_read_input(web* self, uint32_t bytes);
uint8_t* web_read_input(web* self, uint32_t bytes) {
    self->play->input_bytes = bytes;
    return self->play->input;
}

/// Send the room's bytes, the struct of a message to the server.
/// @return 1: it was sent; 0: not now; -1: it has a value that cannot be sent.
WEB_EXPORT(read_send) int32_t web_read_send(web* self, uint32_t message);
int32_t web_read_send(web* self, uint32_t message) {
    if (!self->play || !self->play->client) return 0;
    const net_result result = net_client_send_event(self->play->client, message, self->room.data);
    return result == NET_OK ? 1 : result == NET_ERR_FULL || result == NET_ERR_CLOSED ? 0 : -1;
}

// ---- single numbers ----

WEB_EXPORT(read_number) double web_read_number(uint32_t kind, const void* at);
double web_read_number(uint32_t kind, const void* at) {
    const ecs_number number = ecs_number_get((ecs_field_kind)kind, at);
    if (ecs_field_kind_is_real((ecs_field_kind)kind)) return number.real;
    const bool is_signed = kind >= ECS_FIELD_I8 && kind <= ECS_FIELD_I64;
    return is_signed ? (double)number.whole : (double)number.natural;
}

/// Write the nearest to a value that an element of a kind holds.
WEB_EXPORT(read_put) void web_read_put(web* self, void* at, uint32_t kind, double value);
void web_read_put(web* self, void* at, uint32_t kind, double value) {
    (void)self;
    const ecs_number number = {.kind = ECS_FIELD_F64, .real = value};
    (void)ecs_number_put((ecs_field_kind)kind, at, &number);
}

/// The room has an unknown name and the known ones, each with a NUL. The answer is a hint.
WEB_EXPORT(read_nearest) void web_read_nearest(web* self);
void web_read_nearest(web* self) {
    char hint[BASE_HINT_BYTES];
    const char *name = (const char*)self->room.data, *end = name + self->room.size;
    base_nearest nearest = base_nearest_begin(name);
    while ((name += strlen(name) + 1) < end)
        base_nearest_offer(&nearest, name);
    web_clear_answers(self);
    (void)base_nearest_hint(&nearest, hint);
    base_bytes_write(&self->answer, hint, strlen(hint));
    web_note(self, NET_OK);
}

// ---- events ----

static void put_event(web* self, uint32_t message, const ecs_event* event, ecs_tick tick) {
    base_bytes* to = &self->answer;
    base_bytes_write_u32(to, message);
    base_bytes_write_u32(to, event->target);
    base_bytes_write_u32(to, (uint32_t)tick);
    base_bytes_write_u32(to, event->size);
    base_bytes_write(to, event->payload, event->size);
}

bool web_read_stepped(void* self) {
    const web_play* play = ((web*)self)->play;
    ecs_world* world = net_match_world(play->match);
    const ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.event_count; i++)
        for (uint32_t m = 0; m < play->game->message_count; m++)
            if (play->game->messages[m].kind == NET_MESSAGE_TO_CLIENTS &&
                ecs_event_find(world, play->game->messages[m].event) == changes.events[i].type)
                put_event(self, m + 1, &changes.events[i], net_match_tick(play->match));
    return true;
}
