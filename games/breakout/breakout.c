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
ES_GAME("Breakout", BREAKOUT_FIELD_WIDTH, BREAKOUT_FIELD_HEIGHT, .load = breakout_load_picture,
        .start = breakout_start, .player_join = breakout_player_join,
        .bot_think = breakout_bot_think, .human_input = breakout_human_input,
        .predict = breakout_predict);
