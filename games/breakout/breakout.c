// SPDX-License-Identifier: MIT
// The parts of breakout, in the order of a tick: pads move, balls fly, then the rules check the
// result. Start reading here.
//
// The server has one world (rules, pads, balls), and each client has a mirror of it (bots,
// picture). Both register the same types and templates. The tags of a system decide where the
// system runs. shoal-esgen writes the module's table from this file and from breakout.h.

#include "breakout.h"
#include "breakout.pb-c.h"

#include "breakout.es.h"

ES_SYSTEMS(predict, pad, ball, rules, bot, view, view_board, view_play);
ES_GAME("Breakout", BREAKOUT_FIELD_WIDTH, BREAKOUT_FIELD_HEIGHT, .register_systems = prepare,
        .start = breakout_start, .player_join = breakout_player_join,
        .bot_think = breakout_bot_think, .human_input = breakout_human_input,
        .predict = breakout_predict);

// The template holds the speed, so that a level designer can change it without a compiler.
static ecs_result prepare(ecs_world* world, breakout_game* game, const base_reporter* reporter) {
    const ecs_vec2* vel = ecs_template_default(world, ecs_template_find(world, "ball"), game->vel);
    game->ball_speed = vel ? ecs_vec2_length(*vel) : 0.0f;
    if (!(game->ball_speed > 1.0f)) {
        base_report(reporter, "breakout.blk", 0, "template ball: vel must not be zero");
        return ECS_ERR_UNKNOWN;
    }
    game->view.rng = base_rng_make(1, 1);
    if (game->is_truth) breakout_set_loader(world, game);
    return ECS_OK;
}
