// SPDX-License-Identifier: MIT
/// A match of arena with bots, in one process.
#pragma once

#include "game_table.h"

#include "arena.h"
#include "base/bytes.h"

static inline void table_open(table* t, const char* const* settings, uint64_t seed, net_role role,
                              bool has_render) {
    table_open_game(t, arena_module(), ARENA_BLK, settings, UINT32_MAX, seed, role, has_render, 30);
}

/// A case with a server of this seed; the settings come last.
#define ARENA_CASE(name, seed, has_render, ...)                                                    \
    CASE_WITH(table, t, table_open(t, __VA_ARGS__, seed, NET_ROLE_SERVER, has_render),             \
              table_close(t), name)

/// The settings of a match without soldiers, pickups and tanks.
#define ARENA_EMPTY SETTINGS("agents=0", "pickups=0", "tanks=0")

static inline arena_game* table_game(table* t) {
    return net_match_context(t->match);
}

/// Put a client's fighter at a place, at rest, with all that it needs.
static inline void table_put(table* t, uint32_t client, float x, float y) {
    arena_game* game = table_game(t);
    *(ecs_vec2*)table_of(t, client, game->pos) = (ecs_vec2){x, y};
    *(ecs_vec2*)table_of(t, client, game->vel) = (ecs_vec2){0.0f, 0.0f};
}
