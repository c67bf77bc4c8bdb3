// SPDX-License-Identifier: MIT
// The parts of cubes. Start reading here.
//
// A world of cubes that fall, and cameras that look at them. The datablock decides what falls: the
// setting "fall" chooses the names of templates, and no other code reads it.

#include "cubes.h"
#include "cubes.pb-c.h"

#include "cubes.es.h"

ES_SYSTEMS(fall, camera, view);
ES_GAME("Cubes", CUBES_VIEW_WIDTH, CUBES_VIEW_HEIGHT, .register_systems = prepare, .start = start,
        .player_join = cubes_player_join, .bot_think = cubes_bot_think,
        .human_input = cubes_human_input, .predict = cubes_predict);

// The templates hold the values, so that a level designer can change them without a compiler.
static ecs_result prepare(ecs_world* world, cubes_game* game, const base_reporter* reporter) {
    const ecs_template_id camera = game->camera_templates[1];
    const cubes_transform* home = ecs_template_default(world, camera, game->transform);
    const cubes_gravity* pull = ecs_template_default(world, camera, game->gravity);
    if (!home || !pull) {
        base_report(reporter, "cubes.blk", 0, "camera_falling: transform and gravity are missing");
        return ECS_ERR_UNKNOWN;
    }
    game->home = *home;
    game->pull = *pull;
    if (!ecs_world_has_tag(world, "render")) return ECS_OK;
    game->view = cubes_view_create(world);
    return game->view ? ECS_OK : ECS_ERR_MEMORY;
}

static void start(ecs_world* world, cubes_game* game, const net_game_start* start) {
    (void)start;
    for (uint32_t i = 0; i < game->settings.cubes; i++) {
        const cubes_spawn spawn = {.seed = base_rng_u32(ecs_world_rng(world)) | 1u,
                                   .tick = (uint32_t)ecs_world_tick(world)};
        ecs_entity entity;
        // When the world is full, it has fewer cubes.
        if (ecs_create(world, game->cube_templates[game->settings.fall],
                       ECS_INITS({game->spawn, &spawn}), &entity))
            return;
    }
}
