// SPDX-License-Identifier: MIT
/// A match of arena with bots, in one process. The bots look at the server's own world.
#pragma once

#include "game_table.h"

#include "arena.h"
#include "base/bytes.h"

#define TABLE_BOTS_MAX 256u

typedef struct table {
    base_report_first faults;
    net_module* module;
    net_match* match;
    table_bot bots[TABLE_BOTS_MAX];
    uint32_t bot_count;
    uint32_t events[ARENA_MESSAGE_COUNT]; ///< counts the events that table_step got
    arena_hit last_hit;
    arena_killed last_kill;
    arena_flag_moved last_flag;
    arena_ray last_ray;
} table;

/// `settings` is a list such as "agents=10" with a NULL at the end; NULL: no settings.
static inline void table_open(table* t, const char* const* settings, uint64_t seed, net_role role,
                              bool has_render) {
    memset(t, 0, sizeof *t);
    t->module = table_wrap(arena_module(), ARENA_BLK, &t->faults);
    base_reporter reporter = base_reporter_first(&t->faults);
    net_match_config config = net_match_config_default(t->module);
    config.seed = seed;
    config.role = role;
    config.has_render = has_render;
    config.tick_rate_hz = 30;
    for (; settings && *settings; settings++)
        assert_ok(net_match_setting_apply(&config, *settings, &reporter));
    table_expect_ok(net_match_create(&config, &reporter, &t->match), &t->faults);
}

static inline void table_close(table* t) {
    net_match_destroy(t->match);
    net_module_close(t->module);
}

#define SETTINGS(...) ((const char* const[]){__VA_ARGS__, NULL})

/// A case with a server of this seed; the settings come last.
#define ARENA_CASE(name, seed, has_render, ...)                                                    \
    CASE_WITH(table, t, table_open(t, __VA_ARGS__, seed, NET_ROLE_SERVER, has_render),             \
              table_close(t), name)

static inline arena_game* table_game(table* t) {
    return net_match_context(t->match);
}

static inline ecs_world* table_world(table* t) {
    return net_match_world(t->match);
}

static inline void table_join_bots(table* t, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        table_bot* bot = &t->bots[t->bot_count++];
        table_bot_join(t->match, bot, t->bot_count);
    }
}

static inline void table_input(table* t, uint32_t client, const arena_input* input) {
    table_bot_input(t->match, client, input);
}

static inline void table_think(table* t) {
    for (uint32_t i = 0; i < t->bot_count; i++) {
        table_bot* bot = &t->bots[i];
        arena_input input = {0};
        const net_player_context view = table_bot_view(t->match, bot);
        arena_bot_think(&view, &input);
        table_input(t, bot->client, &input);
    }
}

static inline void table_listen(table* t) {
    ecs_changes changes = ecs_changes_get(table_world(t));
    for (uint32_t i = 0; i < changes.event_count; i++) {
        const ecs_event* event = &changes.events[i];
        uint32_t message = net_match_message_of(t->match, event->type);
        if (message == 0) continue;
        t->events[message - 1]++;
        if (message == ARENA_MESSAGE_HIT + 1) memcpy(&t->last_hit, event->payload, event->size);
        if (message == ARENA_MESSAGE_KILLED + 1) memcpy(&t->last_kill, event->payload, event->size);
        if (message == ARENA_MESSAGE_RAY + 1) memcpy(&t->last_ray, event->payload, event->size);
        if (message == ARENA_MESSAGE_FLAG_MOVED + 1)
            memcpy(&t->last_flag, event->payload, event->size);
    }
}

/// Run one tick: the bots choose inputs, the world steps, and events are counted.
static inline void table_step(table* t) {
    table_think(t);
    net_match_step(t->match);
    table_listen(t);
    ecs_changes_clear(table_world(t));
}

static inline void table_steps(table* t, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        table_step(t);
}

/// Get a component of a client's entity for writing.
static inline void* table_of(table* t, uint32_t client, ecs_component_id component) {
    return ecs_find_mut(table_world(t), net_match_player(t->match, client), component);
}

/// Put a client's fighter at a place, at rest, with all that it needs.
static inline void table_put(table* t, uint32_t client, float x, float y) {
    arena_game* game = table_game(t);
    *(ecs_vec2*)table_of(t, client, game->pos) = (ecs_vec2){x, y};
    *(ecs_vec2*)table_of(t, client, game->vel) = (ecs_vec2){0.0f, 0.0f};
}
