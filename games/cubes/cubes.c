// SPDX-License-Identifier: MIT
// The module table of cubes lists all parts of the game. Start reading here.
//
// A world of cubes that fall, and cameras that look at them. The datablock decides what falls: the
// setting "fall" chooses the names of templates, and no other code reads it.

#include "cubes.h"

#include <string.h>

static const net_setting settings[CUBES_SETTING_COUNT] = {
    [CUBES_SETTING_CUBES] = {"cubes", CUBES_COUNT, 0.0, CUBES_COUNT_MAX, "how many cubes"},
    [CUBES_SETTING_FALL] = {"fall", 0.0, 0.0, 1.0,
                            "what has a body: 0 the cubes, 1 the cameras (templates)"},
    [CUBES_SETTING_RESPAWN] = {"respawn", 1.0, 0.0, 1.0,
                               "1: from the bottom back to the top, 0: fall for ever"},
};

static const net_action actions[CUBES_ACTION_COUNT] = {
    [CUBES_ACTION_LEFT] = {"left", "Left,A", "fly to the left"},
    [CUBES_ACTION_RIGHT] = {"right", "Right,D", "fly to the right"},
    [CUBES_ACTION_UP] = {"up", "Up,W", "fly up"},
    [CUBES_ACTION_DOWN] = {"down", "Down,S", "fly down"},
    [CUBES_ACTION_NEARER] = {"nearer", "E,PageUp", "towards the middle"},
    [CUBES_ACTION_FARTHER] = {"farther", "Q,PageDown", "away from it"},
};

void cubes_take_settings(cubes_game* game, const net_game_start* start) {
    for (uint32_t i = 0; i < start->setting_count && i < CUBES_SETTING_COUNT; i++)
        game->settings[i] = start->settings[i];
}

static ecs_result find_ids(ecs_world* world, cubes_game* game) {
    game->spawn = ecs_component_find(world, "spawn");
    game->fall = ecs_component_find(world, "fall");
    game->transform = ecs_component_find(world, "transform");
    game->body = ecs_component_find(world, "body");
    game->gravity = ecs_component_find(world, "gravity");
    game->orbit = ecs_component_find(world, "orbit");
    game->input = ecs_component_find(world, "input");
    game->player = ecs_component_find(world, "player");
    const ecs_component_id components[] = {game->spawn, game->fall,    game->transform,
                                           game->body,  game->gravity, game->orbit,
                                           game->input, game->player};
    for (uint32_t i = 0; i < BASE_COUNT(components); i++)
        if (components[i] == ECS_COMPONENT_NONE) return ECS_ERR_UNKNOWN;
    static const char* const cubes[] = {"cube", "cube_still"};
    static const char* const cameras[] = {"camera", "camera_falling"};
    for (uint32_t i = 0; i < 2; i++) {
        game->cube_templates[i] = ecs_template_find(world, cubes[i]);
        game->camera_templates[i] = ecs_template_find(world, cameras[i]);
        if (!game->cube_templates[i] || !game->camera_templates[i]) return ECS_ERR_UNKNOWN;
    }
    return ECS_OK;
}

// The template holds the value, so that a level designer can change it without a compiler.
static bool take_default(const ecs_template* from, ecs_component_id component, void* value,
                         size_t size) {
    const ecs_template_component* found = ecs_template_find_component(from, component);
    if (!found || !found->value) return false;
    memcpy(value, found->value, size);
    return true;
}

static ecs_result create_queries(ecs_world* world, cubes_game* game) {
    static const ecs_term cameras[] = {{"orbit", "CubesOrbit", ECS_READ},
                                       {"transform", "Transform", ECS_READ},
                                       {"body", "RigidBody", ECS_OPTIONAL_READ},
                                       {"player", "CubesPlayer", ECS_READ}};
    static const ecs_term cubes[] = {{"spawn", "CubesSpawn", ECS_READ},
                                     {"orbit", "CubesOrbit", ECS_REQUIRE_NOT}};
    ecs_result result = ecs_query_create(world, cameras, BASE_COUNT(cameras), &game->cameras);
    if (!result) result = ecs_query_create(world, cubes, BASE_COUNT(cubes), &game->cubes);
    return result;
}

static ecs_result register_systems(ecs_world* world, void** context,
                                   const base_reporter* reporter) {
    cubes_game* game = ecs_world_context(world, sizeof *game);
    if (!game) return ECS_ERR_MEMORY;
    *context = game;
    ecs_result result = find_ids(world, game);
    if (result) {
        base_report(reporter, "cubes.blk", 0, "a template or component of the game is missing");
        return result;
    }
    const ecs_template* camera = ecs_template_get(world, game->camera_templates[1]);
    if (!take_default(camera, game->transform, &game->home, sizeof game->home) ||
        !take_default(camera, game->gravity, &game->pull, sizeof game->pull)) {
        base_report(reporter, "cubes.blk", 0, "camera_falling: transform and gravity are missing");
        return ECS_ERR_UNKNOWN;
    }
    for (uint32_t i = 0; i < CUBES_SETTING_COUNT; i++)
        game->settings[i] = settings[i].value_default;
    result = create_queries(world, game);
    if (!result) result = cubes_register_fall(world, game);
    if (!result) result = cubes_register_camera(world, game);
    if (!result) result = cubes_register_view(world, game);
    return result;
}

static void start(ecs_world* world, void* context, const net_game_start* start) {
    cubes_game* game = context;
    cubes_take_settings(game, start);
    uint32_t which = game->settings[CUBES_SETTING_FALL] != 0.0;
    uint32_t count = (uint32_t)game->settings[CUBES_SETTING_CUBES];
    base_rng* rng = ecs_world_rng(world);
    for (uint32_t i = 0; i < count; i++) {
        const cubes_spawn spawn = {.seed = base_rng_u32(rng) | 1u,
                                   .tick = (uint32_t)ecs_world_tick(world)};
        const ecs_init inits[] = {{game->spawn, &spawn}};
        ecs_entity entity;
        // When the world is full, it has fewer cubes.
        if (ecs_create(world, game->cube_templates[which], inits, BASE_COUNT(inits), &entity))
            return;
    }
}

static void mirror_start(ecs_world* world, void* context, const net_game_start* start) {
    (void)world;
    cubes_take_settings(context, start);
}

static const net_game_module module = {
    .contract_version = NET_GAME_CONTRACT_VERSION,
    .size_bytes = sizeof(net_game_module),
    .core_version = ECS_CORE_VERSION,
    .name = "cubes",
    .title = "Cubes",
    .view_width = CUBES_VIEW_WIDTH,
    .view_height = CUBES_VIEW_HEIGHT,
    .messages = cubes_messages,
    .message_count = BASE_COUNT(cubes_messages),
    .message_bytes = sizeof(net_message),
    .settings = settings,
    .setting_count = CUBES_SETTING_COUNT,
    .setting_bytes = sizeof(net_setting),
    .actions = actions,
    .action_count = CUBES_ACTION_COUNT,
    .action_bytes = sizeof(net_action),
    .register_types = cubes_register_types,
    .register_systems = register_systems,
    .start = start,
    .player_join = cubes_player_join,
    .player_leave = cubes_player_leave,
    .bot_think = cubes_bot_think,
    .human_input = cubes_human_input,
    .mirror_start = mirror_start,
    .predict = cubes_predict,
};

const net_game_module* cubes_module(void) {
    return &module;
}
