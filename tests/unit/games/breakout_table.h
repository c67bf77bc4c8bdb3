// SPDX-License-Identifier: MIT
/// A match of breakout with bots, in one process. The bots look at the server's own world.
#pragma once

#include "game_table.h"

#include "base/bytes.h"
#include "breakout.h"

/// `tick_rate_hz` 0: the default.
static inline void table_open_at(table* t, const char* const* settings, uint32_t setting_count,
                                 uint64_t seed, net_role role, bool has_render,
                                 uint32_t tick_rate_hz) {
    table_open_game(t, breakout_module(), BREAKOUT_BLK, settings, setting_count, seed, role,
                    has_render, tick_rate_hz);
}

static inline void table_open(table* t, const char* const* settings, uint32_t setting_count,
                              uint64_t seed, net_role role, bool has_render) {
    table_open_at(t, settings, setting_count, seed, role, has_render, 0);
}

/// A case with a table: of these arguments to table_open(), or the usual server.
#define BREAKOUT_CASE_WITH(name, ...)                                                              \
    CASE_WITH(table, t, table_open(t, __VA_ARGS__), table_close(t), name)
#define BREAKOUT_CASE(name, seed, has_render)                                                      \
    BREAKOUT_CASE_WITH(name, NULL, 0, seed, NET_ROLE_SERVER, has_render)

static inline breakout_game* table_game(table* t) {
    return net_match_context(t->match);
}

static inline const breakout_match* table_match(table* t) {
    ecs_world* world = net_match_world(t->match);
    ecs_entity entity = ecs_query_first(world, table_game(t)->matches);
    return ecs_get(world, entity, table_game(t)->match);
}
