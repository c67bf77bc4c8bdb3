// SPDX-License-Identifier: MIT
/// A match of cubes, and one number for all movement.
#pragma once

#include "game_table.h"

#include "base/hash.h"
#include "cubes.h"

static inline void table_open(table* t, const char* const* settings, uint64_t seed, net_role role,
                              bool has_render) {
    table_open_game(t, cubes_module(), CUBES_BLK, settings, UINT32_MAX, seed, role, has_render, 0);
}

/// A case with a server of this seed; the settings come last.
#define CUBES_CASE(name, seed, has_render, ...)                                                    \
    CASE_WITH(table, t, table_open(t, __VA_ARGS__, seed, NET_ROLE_SERVER, has_render),             \
              table_close(t), name)

static inline const cubes_game* table_game(table* t) {
    return net_match_context(t->match);
}

// Get the entities with a spawn, by rising index.
static inline ecs_entity next_spawned(net_match* match, ecs_entity after) {
    ecs_world* world = net_match_world(match);
    const cubes_game* game = net_match_context(match);
    ecs_entity entity = after;
    do {
        entity = ecs_entity_next(world, entity);
    } while (entity && !ecs_find(world, entity, game->spawn));
    return entity;
}

/// Walk over the entities with a spawn.
#define EACH_SPAWNED(match, at)                                                                    \
    for (ecs_entity at = next_spawned(match, ECS_ENTITY_NONE); at; at = next_spawned(match, at))

static inline bool is_within(float value, float low, float high) {
    return value >= low && value <= high;
}

static inline uint64_t motion_hash(net_match* match) {
    base_hasher hash;
    base_hasher_init(&hash, 0);
    ecs_world* world = net_match_world(match);
    const cubes_game* game = net_match_context(match);
    EACH_SPAWNED(match, at) {
        const cubes_body* body = ecs_find(world, at, game->body);
        base_hasher_add(&hash, &at, sizeof at);
        base_hasher_add(&hash, ecs_get(world, at, game->transform), sizeof(cubes_transform));
        if (body) base_hasher_add(&hash, body, sizeof *body);
    }
    return base_hasher_end(&hash);
}
