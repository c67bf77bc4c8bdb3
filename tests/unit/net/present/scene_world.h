// SPDX-License-Identifier: MIT
/// Shared code for the tests of scene and presenter: a small module with a moving entity and an
/// entity that sends events, and a server's world. The tests feed the rows of that world by hand.
#pragma once

#include "ecs_parts.h"

#include "present/scene.h"

#include "net/controls.h"
#include "net/draw.h"

#include "wire.pb-c.h"

enum { STAGE_LOG_MAX = 4096, STAGE_TOLD = 2 };

/// A delivered event, as the system of the view got it.
typedef struct stage_sent {
    ecs_tick tick;
    ecs_entity target;
    uint32_t number;
} stage_sent;

/// The context of the module: what stage "act" and the handler saw.
typedef struct stage_log {
    uint32_t step_count, reported_count;
    ecs_tick steps[STAGE_LOG_MAX];
    stage_sent told[STAGE_LOG_MAX];
    uint32_t block; ///< of the client, as the last picture had it
} stage_log;

typedef struct stage_event {
    uint32_t number;
} stage_event;

static void stage_to_wire(const void* payload, ProtobufCMessage* message) {
    const stage_event* event = payload;
    ((Shoal__Wire__PlayerAssigned*)message)->entity = event->number;
}

static bool stage_from_wire(const ProtobufCMessage* message, void* payload) {
    stage_event* event = payload;
    event->number = ((const Shoal__Wire__PlayerAssigned*)message)->entity;
    return event->number != 999;
}

static ecs_result stage_types(ecs_world* world, const base_reporter* reporter) {
    static const ecs_field fields[] = {FIELD_OF(stage_event, number, U32, 1)};
    static const char* const names[] = {"stage_input", "stage_sent"};
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < 2 && result == ECS_OK; i++) {
        const ecs_event_desc desc = {names[i], sizeof(stage_event), fields, 1, true};
        result = ecs_event_register(world, &desc, &(ecs_event_type){0});
    }
    return result;
}

static void stage_act(const ecs_stage* stage, const ecs_rows* rows) {
    stage_log* log = stage->context;
    if (log->step_count < STAGE_LOG_MAX) log->steps[log->step_count] = stage->tick;
    log->step_count++;
}

static void stage_hear(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    stage_log* log = stage->context;
    if (log->reported_count < STAGE_LOG_MAX)
        log->told[log->reported_count] =
            (stage_sent){.tick = stage->tick,
                         .target = event->target,
                         .number = ((const stage_event*)event->payload)->number};
    log->reported_count++;
}

static void stage_draw(const ecs_stage* stage, const ecs_rows* rows) {
    const net_draw* draw = stage->user;
    const uint32_t* block = net_draw_block(draw);
    ((stage_log*)stage->context)->block = block ? *block : UINT32_MAX;
    net_draw_camera(draw, 50.0f, 50.0f, 3.0f);
}

// Move a player as far as its input asks.
static void stage_walk(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    if (rows->count == 0) return;
    ecs_vec2* pos = rows->columns[0];
    pos->x += (float)((const stage_event*)event->payload)->number;
}

static ecs_result stage_systems(ecs_world* world, void** context, const base_reporter* reporter) {
    stage_log* log = ecs_world_context(world, sizeof *log);
    *context = log;
    ecs_result result = system_try(world, .name = "stage_act", .stage = "act", .run = stage_act,
                                   TAGS("gameClient"), .context = log);
    if (result == ECS_OK)
        result = system_try(world, .name = "stage_hear", EVENTS("stage_sent"),
                            .on_event = stage_hear, TAGS("gameClient"), .context = log);
    if (result == ECS_OK)
        result = system_try(world, .name = "stage_draw", .stage = "render", .run = stage_draw,
                            TAGS("render"), .context = log);
    static const char* const roles[] = {"server", "predict"};
    static const char* const names[] = {"stage_walk", "stage_walk_ahead"};
    for (uint32_t i = 0; i < 2 && result == ECS_OK; i++)
        result = system_try(world, .name = names[i], EVENTS("stage_input"), .on_event = stage_walk,
                            TERMS({.component = "pos", .type = "p2", .access = ECS_WRITE}),
                            TAGS(roles[i]));
    return result;
}

static void stage_start(ecs_world* world, void* context, const net_game_start* start) {}

static ecs_entity stage_join(ecs_world* world, void* context, const net_game_player* player) {
    ecs_entity entity;
    ecs_result result = ecs_create(world, ecs_template_find(world, "mover"), NULL, 0, &entity);
    return result == ECS_OK ? entity : ECS_ENTITY_NONE;
}

static uint32_t stage_predict(ecs_world* world, void* context, ecs_entity player,
                              net_predicted* entities, uint32_t capacity) {
    entities[0] = (net_predicted){.entity = player, .weight = 1};
    return 1;
}

static void stage_leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity) {}

static const char stage_text[] =
    "mover {\n"
    "  \"pos:p2\" { _replicate:b=yes; _interpolate:b=yes; _teleport:r=50; _min:r=-1024;\n"
    "             _max:r=1024; _step:r=0.0625; value:p2=0,0 }\n"
    "  \"hp:i\" { _replicate:b=yes; _bits:i=8; value:i=100 }\n"
    "}\n"
    "runner { _extends:t=mover; \"shield:i64\" { _replicate:b=yes; value:i64=-5 } }\n"
    "holder { \"link:eid\" { _replicate:b=yes; value:eid=0 } }\n"
    "loose { \"drift:p2\" { _replicate:b=yes; _interpolate:b=yes; _teleport:r=50; value:p2=0,0 } "
    "}\n"
    "fast { \"boost:b\" { _replicate:b=yes } }\n";

static inline net_module* stage_module(void) {
    static const net_message messages[] = {
        {.name = "Input",
         .descriptor = &shoal__wire__player_assigned__descriptor,
         .event = "stage_input",
         .kind = NET_MESSAGE_INPUT,
         .to_wire = stage_to_wire,
         .from_wire = stage_from_wire},
        {.name = "Told",
         .descriptor = &shoal__wire__player_assigned__descriptor,
         .event = "stage_sent",
         .kind = NET_MESSAGE_TO_CLIENTS,
         .is_reliable = true,
         .to_wire = stage_to_wire,
         .from_wire = stage_from_wire},
    };
    static const net_game_module game = {
        .contract_version = NET_GAME_CONTRACT_VERSION,
        .size_bytes = sizeof game,
        .core_version = ECS_CORE_VERSION,
        .name = "stage",
        .title = "stage",
        .view_width = 100,
        .view_height = 100,
        .messages = messages,
        .message_count = BASE_COUNT(messages),
        .message_bytes = sizeof messages[0],
        .register_types = stage_types,
        .register_systems = stage_systems,
        .start = stage_start,
        .player_join = stage_join,
        .player_leave = stage_leave,
        .predict = stage_predict,
        .block_bytes = sizeof(uint32_t),
    };
    net_module* module = NULL;
    assert_ok(net_module_wrap(&game, stage_text, "stage.blk", test_reporter(), &module));
    return module;
}

static inline net_match* stage_match(const net_module* module, net_role role,
                                     const base_allocator* allocator) {
    net_match_config config = net_match_config_default(module);
    config.role = role;
    config.has_render = role == NET_ROLE_MIRROR;
    config.allocator = allocator;
    config.replicated_index_max = 2000;
    net_match* match = NULL;
    assert_ok(net_match_create(&config, test_reporter(), &match));
    return match;
}

/// A server's world that the rows come from.
typedef struct stage_side {
    net_match* match;
    ecs_world* world;
    net_rows* rows;
    ecs_component_id pos, hp, shield, link;
    ecs_template_id mover, runner, holder, mover_fast;
} stage_side;

static inline void stage_side_open(stage_side* side, const net_module* module) {
    side->match = stage_match(module, NET_ROLE_SERVER, NULL);
    side->world = net_match_world(side->match);
    assert_ok(net_rows_create(NULL, side->world, NULL, &side->rows));
    side->pos = ecs_component_find(side->world, "pos");
    side->hp = ecs_component_find(side->world, "hp");
    side->shield = ecs_component_find(side->world, "shield");
    side->link = ecs_component_find(side->world, "link");
    side->mover = ecs_template_find(side->world, "mover");
    side->runner = ecs_template_find(side->world, "runner");
    side->holder = ecs_template_find(side->world, "holder");
    side->mover_fast = ecs_template_find(side->world, "mover+fast");
}

static inline void stage_side_close(stage_side* side) {
    base_owner_destroy(side->rows);
    net_match_destroy(side->match);
}

static inline ecs_entity stage_create(stage_side* side, ecs_template_id template_id, float x,
                                      float y) {
    ecs_entity entity;
    ecs_init init = {side->pos, &(ecs_vec2){x, y}};
    uint32_t count = template_id != side->holder;
    assert_ok(ecs_create(side->world, template_id, &init, count, &entity));
    return entity;
}

static inline void stage_move(stage_side* side, ecs_entity entity, float x, float y) {
    assert_ok(ecs_set(side->world, entity, side->pos, &(ecs_vec2){x, y}));
}

/// Feed the current row of an entity, as the row of a tick.
static inline void stage_feed(const stage_side* side, net_scene* scene, ecs_entity entity,
                              ecs_tick tick) {
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    const net_row_template* entry =
        net_rows_find(side->rows, ecs_entity_template(side->world, entity));
    net_rows_read(entry, side->world, entity, row);
    net_scene_row(scene, entity, entry, tick, row);
}

static inline void stage_send(net_scene* scene, uint32_t number, ecs_tick tick, ecs_entity target,
                              uint32_t content) {
    uint8_t payload[16];
    net_event event = {.number = number, .message = STAGE_TOLD, .tick = tick, .target = target};
    Shoal__Wire__PlayerAssigned message = SHOAL__WIRE__PLAYER_ASSIGNED__INIT;
    message.entity = content;
    event.size = (uint32_t)shoal__wire__player_assigned__pack(&message, payload);
    net_scene_event(scene, &event, payload);
}
