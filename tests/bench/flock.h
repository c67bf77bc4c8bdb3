// SPDX-License-Identifier: MIT
/// The game of row repl_server: the movers of bench_repl.h as a module, with players who steer by
/// inputs, and events about entities.
#pragma once

#include "net/game.h"

#define FLOCK_MOVERS 9000u ///< without players

typedef struct flock_context {
    ecs_component_id pos, heading, drive;
    ecs_template_id mover;
    ecs_event_type hit, said;
    ecs_query *movers, *players;
    uint32_t count;  ///< movers created so far
    bool is_quiet;   ///< nothing changes any more
    double spent_ns; ///< in the game's system; the bench clears it
} flock_context;

const net_game_module* flock_module_get(void);
const char* flock_templates(void);
