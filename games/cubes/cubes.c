// SPDX-License-Identifier: MIT
// The parts of cubes. Start reading here.
//
// A world of cubes that fall, and cameras that look at them. The datablock decides what falls: the
// setting "fall" chooses the names of templates, and no other code reads it.

#include "cubes.h"
#include "view.h"
#include "cubes.pb-c.h"

#include "cubes.es.h"

ES_SYSTEMS(fall, camera, view);
ES_GAME("Cubes", CUBES_VIEW_WIDTH, CUBES_VIEW_HEIGHT, .start = start_match,
        .player_join = cubes_player_join, .bot_think = cubes_bot_think,
        .human_input = cubes_human_input, .predict = net_predict_own);

static void start_match(ecs_world* world, cubes_game* game, const net_game_start* start) {
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
