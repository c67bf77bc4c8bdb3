// SPDX-License-Identifier: MIT
/// Shared code for the cubes tests: matches without sockets, and one number for all movement.
#pragma once

#include "game_table.h"

#include "base/hash.h"
#include "cubes.h"
#include "net/match.h"

static inline net_module* open_module(void) {
    base_report_first faults;
    return table_wrap(cubes_module(), CUBES_BLK, &faults);
}

static inline net_match* open_match(const net_module* module, net_role role, bool has_render,
                                    uint64_t seed, const char* setting) {
    net_match_config config = net_match_config_default(module);
    config.role = role;
    config.has_render = has_render;
    config.seed = seed;
    char each[128];
    while (setting && *setting) { // settings such as "a=1 b=2"
        size_t length = strcspn(setting, " ");
        snprintf(each, sizeof each, "%.*s", (int)length, setting);
        assert_ok(net_match_setting_apply(&config, each, test_reporter()));
        setting += length + (setting[length] == ' ');
    }
    net_match* match = NULL;
    assert_ok(net_match_create(&config, test_reporter(), &match));
    return match;
}

/// A match, and what cases look at.
typedef struct table {
    net_module* module;
    net_match* match;
    ecs_world* world;
    const cubes_game* game;
} table;

static inline void table_open(table* t, bool has_render, uint64_t seed, const char* setting) {
    t->module = open_module();
    t->match = open_match(t->module, NET_ROLE_SERVER, has_render, seed, setting);
    t->world = net_match_world(t->match);
    t->game = net_match_context(t->match);
}

static inline void table_close(table* t) {
    net_match_destroy(t->match);
    net_module_close(t->module);
}

#define CUBES_CASE(name, ...) CASE_WITH(table, t, table_open(t, __VA_ARGS__), table_close(t), name)

static inline void run(net_match* match, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        net_match_step(match);
        ecs_changes_clear(net_match_world(match));
    }
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

static inline bool is_within(float value, float low, float high) {
    return value >= low && value <= high;
}

static inline uint64_t motion_hash(net_match* match) {
    base_hasher hash;
    base_hasher_init(&hash, 0);
    ecs_world* world = net_match_world(match);
    const cubes_game* game = net_match_context(match);
    for (ecs_entity at = next_spawned(match, ECS_ENTITY_NONE); at; at = next_spawned(match, at)) {
        const cubes_body* body = ecs_find(world, at, game->body);
        base_hasher_add(&hash, &at, sizeof at);
        base_hasher_add(&hash, ecs_get(world, at, game->transform), sizeof(cubes_transform));
        if (body) base_hasher_add(&hash, body, sizeof *body);
    }
    return base_hasher_end(&hash);
}
