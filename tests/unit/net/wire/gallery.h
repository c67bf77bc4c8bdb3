// SPDX-License-Identifier: MIT
/// A game that decides by what players saw. Ducks fly, vanish and come back. Every input of a
/// player is a shot at a column, and a hit changes the state. The messages are those of the test
/// game.
#pragma once

#include "ecs_parts.h"

#include "net/game.h"

#include "swarm.pb-c.h"

typedef struct gallery {
    const net_game_services* services;
    ecs_component_id pos, hits, sum, player_id, last;
    ecs_template_id duck, gun, field;
    ecs_query* ducks;
    ecs_query* fields;
    bool is_calm; ///< no duck vanishes
} gallery;

typedef struct gallery_aim {
    int32_t dx, dy;
} gallery_aim;

enum { GALLERY_DUCKS = 6 };

static const char GALLERY_TEXT[] =
    "duck { \"pos:p2\"{ _replicate:b=yes; _interpolate:b=yes; _teleport:r=30; _min:r=-512;\n"
    "    _max:r=511; _step:r=0.0625; value:p2=0,0 } }\n"
    "gun { \"hits:u32\"{ _replicate:b=yes; value:u32=0 } \"sum:u32\"{ _track:b=yes; value:u32=0 }\n"
    "    \"player_id:u32\"{ _replicate:b=yes; value:u32=0 } }\n"
    "field { \"last:eid\"{ _track:b=yes; value:eid=0 } }\n";

static inline ecs_result gallery_types(ecs_world* world, const base_reporter* reporter) {
    static const ecs_field FIELDS[] = {
        {"dx", offsetof(gallery_aim, dx), ECS_FIELD_I32, 1, {0, 0, 0}},
        {"dy", offsetof(gallery_aim, dy), ECS_FIELD_I32, 1, {0, 0, 0}},
    };
    const ecs_event_desc desc = {"shoot", sizeof(gallery_aim), FIELDS, 2, false};
    ecs_event_type event;
    return ecs_event_register(world, &desc, &event);
}

static inline void gallery_fly(const ecs_stage* stage, const ecs_rows* none) {
    gallery* self = stage->context;
    base_rng* rng = ecs_world_rng(stage->world);
    ecs_entity gone = ECS_ENTITY_NONE;
    ecs_query_iter iter = ecs_query_begin(stage->world, self->ducks);
    while (ecs_query_next(&iter)) {
        ecs_vec2* pos = iter.rows.columns[0];
        for (uint32_t i = 0; i < iter.rows.count; i++) {
            uint32_t dice = base_rng_below(rng, 40);
            if (dice > 4) pos[i].x += 0.3f + (float)i * 0.7f;
            if (dice == 0 || pos[i].x > 60) pos[i].x = -60; // a teleport
            if (dice == 1) gone = iter.rows.entities[i];
        }
    }
    if (gone == ECS_ENTITY_NONE || self->is_calm) return;
    ecs_entity field = ecs_query_first(stage->world, self->fields);
    (void)!ecs_set(stage->world, field, self->last, &gone);
    (void)ecs_command_destroy(stage->world, gone);
    (void)ecs_command_create(stage->world, self->duck, NULL, 0);
}

// A shot can hit a duck where the player saw it, even when the duck was destroyed since.
static inline void gallery_hit(const gallery* self, ecs_entity duck, ecs_tick tick, float fraction,
                               int32_t column, uint32_t* hits, uint32_t* sum) {
    const net_game_services* services = self->services;
    ecs_vec2 pos;
    if (!services->rewind(services->context, tick, fraction, duck, self->pos, &pos)) return;
    float distance = pos.x - (float)column * 12.0f;
    if (distance < -6 || distance > 6) return;
    *hits += 1;
    *sum = *sum * 31 + (uint32_t)(int32_t)(pos.x * 256);
}

static inline void gallery_shoot(const ecs_stage* stage, const ecs_event* event,
                                 const ecs_rows* rows) {
    gallery* self = stage->context;
    const gallery_aim* aim = event->payload;
    uint32_t* hits = rows->columns[0];
    uint32_t* sum = rows->columns[1];
    const uint32_t* client = rows->columns[2];
    float fraction;
    ecs_tick tick = self->services->seen(self->services->context, *client, &fraction);
    ecs_query_iter iter = ecs_query_begin(stage->world, self->ducks);
    while (ecs_query_next(&iter))
        for (uint32_t i = 0; i < iter.rows.count; i++)
            gallery_hit(self, iter.rows.entities[i], tick, fraction, aim->dx, hits, sum);
    ecs_entity field = ecs_query_first(stage->world, self->fields);
    const ecs_entity* last = ecs_get(stage->world, field, self->last);
    if (!ecs_is_alive(stage->world, *last))
        gallery_hit(self, *last, tick, fraction, aim->dx, hits, sum);
}

static inline ecs_result gallery_systems(ecs_world* world, void** out,
                                         const base_reporter* reporter) {
    static const ecs_term DUCKS[] = {{"pos", "p2", ECS_WRITE}};
    static const ecs_term FIELDS[] = {{"last", "eid", ECS_READ}};
    gallery* self = ecs_world_context(world, sizeof *self);
    *out = self;
    self->pos = ecs_component_find(world, "pos");
    self->hits = ecs_component_find(world, "hits");
    self->sum = ecs_component_find(world, "sum");
    self->player_id = ecs_component_find(world, "player_id");
    self->last = ecs_component_find(world, "last");
    self->duck = ecs_template_find(world, "duck");
    self->gun = ecs_template_find(world, "gun");
    self->field = ecs_template_find(world, "field");
    ecs_result result = ecs_query_create(world, DUCKS, 1, &self->ducks);
    if (result == ECS_OK) result = ecs_query_create(world, FIELDS, 1, &self->fields);
    if (result == ECS_OK)
        result = system_try(world, .name = "gallery_fly", .stage = "act", .run = gallery_fly,
                            TAGS("server"), .context = self);
    if (result == ECS_OK)
        result =
            system_try(world, .name = "gallery_shoot", EVENTS("shoot"), .on_event = gallery_shoot,
                       TERMS({"hits", "u32", ECS_WRITE}, {"sum", "u32", ECS_WRITE},
                             {"player_id", "u32", ECS_READ}),
                       TAGS("server"), .context = self);
    return result;
}

static inline void gallery_start(ecs_world* world, void* context, const net_game_start* start) {
    gallery* self = context;
    self->services = start->services;
    ecs_entity entity;
    (void)!ecs_create(world, self->field, NULL, 0, &entity);
    for (uint32_t i = 0; i < GALLERY_DUCKS; i++) {
        ecs_vec2 pos = {(float)i * 15 - 45, 0};
        const ecs_init init = {self->pos, &pos};
        (void)!ecs_create(world, self->duck, &init, 1, &entity);
    }
}

static inline ecs_entity gallery_join(ecs_world* world, void* context,
                                      const net_game_player* player) {
    const gallery* self = context;
    ecs_entity entity = ECS_ENTITY_NONE;
    const ecs_init init = {self->player_id, &player->client};
    (void)!ecs_create(world, self->gun, &init, 1, &entity);
    return entity;
}

static inline void gallery_leave(ecs_world* world, void* context, uint32_t client,
                                 ecs_entity entity) {
    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);
}

static inline void gallery_to_wire(const void* payload, ProtobufCMessage* message) {
    ((Swarm__Steer*)message)->dx = ((const gallery_aim*)payload)->dx;
    ((Swarm__Steer*)message)->dy = ((const gallery_aim*)payload)->dy;
}

static inline bool gallery_from_wire(const ProtobufCMessage* message, void* payload) {
    const Swarm__Steer* wire = (const Swarm__Steer*)message;
    *(gallery_aim*)payload = (gallery_aim){wire->dx, wire->dy};
    return true;
}

static inline net_game_module gallery_module(void) {
    static const net_message MESSAGES[] = {{"Shoot", &swarm__steer__descriptor, "shoot",
                                            NET_MESSAGE_INPUT, false, gallery_to_wire,
                                            gallery_from_wire, false, NULL}};
    return (net_game_module){
        .contract_version = NET_GAME_CONTRACT_VERSION,
        .size_bytes = sizeof(net_game_module),
        .core_version = ECS_CORE_VERSION,
        .name = "gallery",
        .title = "Gallery",
        .view_width = 128,
        .view_height = 128,
        .messages = MESSAGES,
        .message_count = 1,
        .message_bytes = sizeof(net_message),
        .register_types = gallery_types,
        .register_systems = gallery_systems,
        .start = gallery_start,
        .player_join = gallery_join,
        .player_leave = gallery_leave,
        .is_rewinding = true,
    };
}
