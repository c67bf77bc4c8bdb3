// SPDX-License-Identifier: MIT
/// A game of large values. Pages have texts, lists and objects. The game writes pages, tears them
/// out, binds them into covers and moves them. A reader sees the pages near it and its own secrets.
/// The messages are those of the test game.
#pragma once

#include "test.h"

#include "net/game.h"

#include "swarm.pb-c.h"

enum { LIBRARY_PAGES = 12, LIBRARY_QUIET_SETTING = 0 };

typedef struct library_note {
    ecs_entity page;
} library_note;

typedef struct library {
    ecs_component_id pos, title, notes, secret, owner, reader;
    ecs_template_id page, bound, person, sign;
    ecs_query* pages;
    ecs_query* signs; ///< entities that have only a text
    ecs_event_type note;
    uint64_t quiet;              ///< the game writes nothing from this tick on
    uint32_t told;               ///< on the server: the number of notes
    uint32_t heard, heard_there; ///< on clients: all events, and the events whose page was there
} library;

static const char LIBRARY_TEXT[] =
    "page { \"pos:p2\"{ _replicate:b=yes; _min:r=-512; _max:r=511; _step:r=0.0625; value:p2=0,0 }\n"
    "    \"title:t\"{ _replicate:b=yes; value:t=\"untitled\" }\n"
    "    \"notes:array\"{ _replicate:b=yes }\n"
    "    \"secret:object\"{ _replicate:b=yes; _visible:t=\"owner\"; depth:i=0 }\n"
    "    \"owner:u32\"{ _track:b=yes; value:u32=0 } }\n"
    "sign { \"title:t\"{ _replicate:b=yes; value:t=\"open\" } \"always:tag\"{ _track:b=yes } }\n"
    "cover { \"title:t\"{ _replicate:b=yes; value:t=\"covered\" } }\n"
    "person { \"pos:p2\"{ _replicate:b=yes; _min:r=-512; _max:r=511; _step:r=0.0625; value:p2=0,0 "
    "}\n"
    "    \"reader:u32\"{ _track:b=yes; value:u32=0 } }\n";

static inline ecs_result library_types(ecs_world* world, const base_reporter* reporter) {
    static const ecs_field STEER[] = {
        {"dx", 0, ECS_FIELD_I32, 1, {0, 0, 0}},
    };
    static const ecs_field NOTE[] = {
        {"page", offsetof(library_note, page), ECS_FIELD_ENTITY, 1, {0, 0, 0}},
    };
    const ecs_event_desc steer = {"steer", 4, STEER, 1, false};
    const ecs_event_desc note = {"note", sizeof(library_note), NOTE, 1, true};
    ecs_event_type event;
    ecs_result result = ecs_event_register(world, &steer, &event);
    return result == ECS_OK ? ecs_event_register(world, &note, &event) : result;
}

static inline void library_write_title(library* self, ecs_world* world, ecs_entity page,
                                       uint32_t number) {
    char text[64];
    int size = snprintf(text, sizeof text, "volume %u", number);
    ecs_string* title = ecs_find_mut(world, page, self->title);
    (void)!ecs_string_set(ecs_world_allocator(world), title, number % 5 ? text : "untitled",
                          number % 5 ? (uint32_t)size : 8);
}

static inline void library_write_inside(library* self, ecs_world* world, ecs_entity page,
                                        uint32_t number) {
    const base_allocator* allocator = ecs_world_allocator(world);
    ecs_array* notes = ecs_find_mut(world, page, self->notes);
    if (ecs_array_count(notes) > 20) ecs_array_clear(allocator, notes);
    char text[200];
    memset(text, 'a' + (int)(number % 26), sizeof text);
    (void)!ecs_array_push_text(allocator, notes, text, 1 + number % (uint32_t)sizeof text);
    (void)!ecs_array_push(allocator, notes, ECS_ELEMENT_EID, &page);
    ecs_object* secret = ecs_find_mut(world, page, self->secret);
    int32_t depth = (int32_t)(number % 7);
    (void)!ecs_object_set(allocator, secret, "depth", ECS_ELEMENT_I, &depth);
}

static inline void library_write(const ecs_stage* stage, const ecs_rows* none) {
    library* self = stage->context;
    ecs_world* world = stage->world;
    base_rng* rng = ecs_world_rng(world);
    if (self->quiet && stage->tick >= self->quiet) return;
    ecs_entity pages[64];
    uint32_t count = 0;
    ecs_query_iter iter = ecs_query_begin(world, self->pages);
    while (ecs_query_next(&iter))
        for (uint32_t i = 0; i < iter.rows.count && count < 64; i++)
            pages[count++] = iter.rows.entities[i];
    ecs_entity sign = ecs_query_first(world, self->signs);
    uint32_t luck = base_rng_below(rng, 60);
    if (sign && luck < 3) library_write_title(self, world, sign, luck + (uint32_t)stage->tick);
    if (sign && luck == 7) {
        (void)ecs_command_destroy(world, sign);
        (void)ecs_command_create(world, self->sign, NULL, 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t dice = base_rng_below(rng, 200);
        uint32_t number = base_rng_below(rng, 1000);
        if (dice < 6) library_write_title(self, world, pages[i], number);
        if (dice >= 4 && dice < 12) library_write_inside(self, world, pages[i], number);
        ecs_vec2* pos = ecs_find_mut(world, pages[i], self->pos);
        pos->x += pos->x > 100 ? -200.0f : 0.5f;
        uint32_t* owner = ecs_find_mut(world, pages[i], self->owner);
        if (dice == 20) *owner = number % 4;
        if (dice == 21) {
            (void)ecs_command_destroy(world, pages[i]);
            (void)ecs_command_create(world, self->page, NULL, 0);
        }
        if (dice == 22)
            (void)ecs_command_recreate(
                world, pages[i],
                ecs_entity_template(world, pages[i]) == self->page ? self->bound : self->page, NULL,
                0);
        if (dice == 23) {
            const library_note note = {pages[i]};
            self->told += ecs_event_broadcast(world, self->note, &note);
        }
    }
}

// On clients: count the events, and the events whose page the client has.
static inline void library_hear(const ecs_stage* stage, const ecs_event* event,
                                const ecs_rows* rows) {
    library* self = stage->context;
    self->heard++;
    self->heard_there += ecs_is_alive(stage->world, ((const library_note*)event->payload)->page);
}

static inline ecs_result library_systems(ecs_world* world, void** out,
                                         const base_reporter* reporter) {
    static const ecs_term PAGES[] = {
        {"title", "t", ECS_READ}, {"pos", "p2", ECS_READ}, {"owner", "u32", ECS_READ}};
    static const char* const SERVER[] = {"server"};
    static const char* const CLIENT[] = {"gameClient"};
    static const char* const NOTE[] = {"note"};
    library* self = ecs_world_context(world, sizeof *self);
    *out = self;
    self->pos = ecs_component_find(world, "pos");
    self->title = ecs_component_find(world, "title");
    self->notes = ecs_component_find(world, "notes");
    self->secret = ecs_component_find(world, "secret");
    self->owner = ecs_component_find(world, "owner");
    self->reader = ecs_component_find(world, "reader");
    self->page = ecs_template_find(world, "page");
    self->bound = ecs_template_find(world, "page+cover");
    self->person = ecs_template_find(world, "person");
    self->sign = ecs_template_find(world, "sign");
    self->note = ecs_event_find(world, "note");
    ecs_result result = ecs_query_create(world, PAGES, 3, &self->pages);
    static const ecs_term SIGNS[] = {{"title", "t", ECS_READ}, {"always", "tag", ECS_READ}};
    if (result == ECS_OK) result = ecs_query_create(world, SIGNS, 2, &self->signs);
    const ecs_system_desc systems[] = {
        {.name = "library_write",
         .stage = "act",
         .run = library_write,
         .tags = SERVER,
         .tag_count = 1,
         .context = self},
        {.name = "library_hear",
         .events = NOTE,
         .event_count = 1,
         .on_event = library_hear,
         .tags = CLIENT,
         .tag_count = 1,
         .context = self},
    };
    for (uint32_t i = 0; i < BASE_COUNT(systems) && result == ECS_OK; i++)
        result = ecs_system_register(world, &systems[i]);
    return result;
}

static inline void library_start(ecs_world* world, void* context, const net_game_start* start) {
    library* self = context;
    self->quiet = (uint64_t)start->settings[LIBRARY_QUIET_SETTING];
    ecs_entity sign;
    (void)!ecs_create(world, self->sign, NULL, 0, &sign);
    for (uint32_t i = 0; i < LIBRARY_PAGES; i++) {
        ecs_vec2 pos = {(float)i * 17 - 100, 0};
        const ecs_init init = {self->pos, &pos};
        ecs_entity entity;
        (void)!ecs_create(world, i % 3 ? self->page : self->bound, &init, 1, &entity);
    }
}

static inline ecs_entity library_join(ecs_world* world, void* context,
                                      const net_game_player* player) {
    const library* self = context;
    ecs_entity entity = ECS_ENTITY_NONE;
    const ecs_init init = {self->reader, &player->client};
    (void)!ecs_create(world, self->person, &init, 1, &entity);
    return entity;
}

static inline void library_leave(ecs_world* world, void* context, uint32_t client,
                                 ecs_entity entity) {
    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);
}

static inline void library_steer_to_wire(const void* payload, ProtobufCMessage* message) {
    ((Swarm__Steer*)message)->dx = *(const int32_t*)payload;
}

static inline bool library_steer_from_wire(const ProtobufCMessage* message, void* payload) {
    *(int32_t*)payload = ((const Swarm__Steer*)message)->dx;
    return true;
}

static inline void library_note_to_wire(const void* payload, ProtobufCMessage* message) {
    ((Swarm__Ping*)message)->number = ((const library_note*)payload)->page;
}

static inline bool library_note_from_wire(const ProtobufCMessage* message, void* payload) {
    ((library_note*)payload)->page = ((const Swarm__Ping*)message)->number;
    return true;
}

static inline const net_game_module* library_module_get(void) {
    static const net_message MESSAGES[] = {
        {.name = "Steer",
         .descriptor = &swarm__steer__descriptor,
         .event = "steer",
         .kind = NET_MESSAGE_INPUT,
         .to_wire = library_steer_to_wire,
         .from_wire = library_steer_from_wire},
        {.name = "Note",
         .descriptor = &swarm__ping__descriptor,
         .event = "note",
         .kind = NET_MESSAGE_TO_CLIENTS,
         .is_reliable = true,
         .to_wire = library_note_to_wire,
         .from_wire = library_note_from_wire},
    };
    static const net_setting SETTINGS[] = {
        {"quiet", 0, 0, 4e9, "the tick from which on nothing changes; 0: it always does"},
    };
    static const net_interest_rules RULES = {.size_bytes = sizeof RULES,
                                             .position = "pos",
                                             .radius = 60,
                                             .always = "always",
                                             .owner = "owner"};
    static const net_game_module MODULE = {
        .contract_version = NET_GAME_CONTRACT_VERSION,
        .size_bytes = sizeof(net_game_module),
        .core_version = ECS_CORE_VERSION,
        .name = "library",
        .title = "Library",
        .view_width = 128,
        .view_height = 128,
        .messages = MESSAGES,
        .message_count = BASE_COUNT(MESSAGES),
        .message_bytes = sizeof(net_message),
        .settings = SETTINGS,
        .setting_count = BASE_COUNT(SETTINGS),
        .setting_bytes = sizeof(net_setting),
        .register_types = library_types,
        .register_systems = library_systems,
        .start = library_start,
        .player_join = library_join,
        .player_leave = library_leave,
        .interest = &RULES,
    };
    return &MODULE;
}
