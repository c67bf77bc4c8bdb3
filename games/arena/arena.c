// SPDX-License-Identifier: MIT
// The parts of arena, in the order of a tick: killed fighters leave and new ones are created, minds
// read the grid, fighters and tanks move, guns fire, shots fly, then pick-ups and flags find the
// fighter that touches them. Start reading here.
//
// Soldiers think, fighters move and shots fly in ranges of rows that run at the same time. They
// read the grid and send events (trigger, struck); what counts or kills is in the handlers, one by
// one.

#include "arena.h"
#include "arena.pb-c.h"

#include "arena.es.h"

#define SQUARE 16.0f ///< of the grid of fighters

ES_SYSTEMS(rules, mind, move, tank, shot, pick, flag, board, bot, view, view_ground, view_play,
           view_body, view_effect, view_board);
ES_GAME("Arena", ARENA_VIEW_WIDTH, ARENA_VIEW_HEIGHT, .register_systems = prepare,
        .start = arena_start, .player_join = arena_player_join, .player_leave = arena_player_leave,
        .bot_think = arena_bot_think, .human_input = arena_human_input,
        .human_text = arena_human_text, .operator_said = arena_operator_said, .predict = predict,
        .is_rewinding = true, .interest = &arena_interest, .cursor = NET_CURSOR_CROSSHAIR);

static ecs_result prepare(ecs_world* world, arena_game* game, const base_reporter* reporter) {
    (void)reporter;
    if (game->view) game->view->rng = base_rng_make(1, 1);
    if (!game->grid) return ECS_OK;
    const uint32_t side = (uint32_t)(ARENA_SIZE / SQUARE);
    void* memory = ecs_world_context(world, ecs_grid_bytes(side, side, ARENA_FIGHTERS_MAX));
    ecs_grid_init(&game->grid->grid, SQUARE, side, side, ARENA_FIGHTERS_MAX, memory);
    return ECS_OK;
}

// A client predicts only the player's own fighter: its movement needs the player's input, the rocks
// and whether the fighter is boosted, and the client knows all three. A ghost does not move.
static uint32_t predict(ecs_world* world, arena_game* game, ecs_entity player,
                        net_predicted* entities, uint32_t capacity) {
    if (capacity == 0 || !ecs_find(world, player, game->health)) return 0;
    entities[0] = (net_predicted){player, 1.0f};
    return 1;
}
