// SPDX-License-Identifier: MIT
/// A match of breakout with bots, in one process. The bots look at the server's own world.
#pragma once

#include "game_table.h"

#include "base/bytes.h"
#include "breakout.h"

#define TABLE_BOTS_MAX 64u

typedef struct table {
    base_report_first faults;
    net_module* module;
    net_match* match;
    table_bot bots[TABLE_BOTS_MAX];
    uint32_t bot_count;
    uint32_t clients;
    uint32_t brick_hits, levels_cleared, lives_lost, cheers; ///< events seen by table_step
    breakout_brick_hit last_hit;
} table;

/// `tick_rate_hz` 0: the default.
static inline void table_open_at(table* t, const char* const* settings, uint32_t setting_count,
                                 uint64_t seed, net_role role, bool has_render,
                                 uint32_t tick_rate_hz) {
    memset(t, 0, sizeof *t);
    t->module = table_wrap(breakout_module(), BREAKOUT_BLK, &t->faults);
    base_reporter reporter = base_reporter_first(&t->faults);
    net_match_config config = net_match_config_default(t->module);
    config.seed = seed;
    config.role = role;
    config.has_render = has_render;
    if (tick_rate_hz > 0) config.tick_rate_hz = tick_rate_hz;
    for (uint32_t i = 0; i < setting_count; i++)
        assert_ok(net_match_setting_apply(&config, settings[i], &reporter));
    table_expect_ok(net_match_create(&config, &reporter, &t->match), &t->faults);
}

static inline void table_open(table* t, const char* const* settings, uint32_t setting_count,
                              uint64_t seed, net_role role, bool has_render) {
    table_open_at(t, settings, setting_count, seed, role, has_render, 0);
}

static inline void table_close(table* t) {
    net_match_destroy(t->match);
    net_module_close(t->module);
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

static inline void table_join_bots(table* t, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        table_bot_join(t->match, &t->bots[t->bot_count++], ++t->clients);
}

static inline void table_think(table* t) {
    for (uint32_t i = 0; i < t->bot_count; i++) {
        table_bot* bot = &t->bots[i];
        breakout_input input = {0};
        const net_player_context view = table_bot_view(t->match, bot);
        breakout_bot_think(&view, &input);
        table_bot_input(t->match, bot->client, &input);
    }
}

static inline void table_listen(table* t) {
    ecs_changes changes = ecs_changes_get(net_match_world(t->match));
    for (uint32_t i = 0; i < changes.event_count; i++) {
        const ecs_event* event = &changes.events[i];
        uint32_t message = net_match_message_of(t->match, event->type);
        if (message == BREAKOUT_MESSAGE_BRICK_HIT + 1) {
            t->brick_hits++;
            memcpy(&t->last_hit, event->payload, sizeof t->last_hit);
        }
        t->levels_cleared += message == BREAKOUT_MESSAGE_LEVEL_CLEARED + 1;
        t->lives_lost += message == BREAKOUT_MESSAGE_LIFE_LOST + 1;
        t->cheers += message == BREAKOUT_MESSAGE_CHEERED + 1;
    }
}

/// Run one tick: the bots choose inputs, the world steps, and events are counted.
static inline void table_step(table* t) {
    table_think(t);
    net_match_step(t->match);
    table_listen(t);
    ecs_changes_clear(net_match_world(t->match));
}
