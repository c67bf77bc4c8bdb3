// SPDX-License-Identifier: MIT
/// What the tables of all games share: a match in one process, and bots that look at the server's
/// own world.
#pragma once

#include "ecs_parts.h"
#include "text_file.h"

#include "net/match.h"

#define TABLE_BOTS_MAX 256u
#define TABLE_MESSAGES_MAX 32u

/// A list of settings, such as SETTINGS("agents=10").
#define SETTINGS(...) ((const char* const[]){__VA_ARGS__, NULL})

/// Walk over the rows of a query: EACH_ROW(world, game->flags, it, i) has columns it.rows.columns.
#define EACH_ROW(world, query, it, i)                                                              \
    for (ecs_query_iter it = ecs_query_begin(world, query); ecs_query_next(&it);)                  \
        for (uint32_t i = 0; i < it.rows.count; i++)

typedef struct table_bot {
    uint32_t client;
    uint64_t input_number;
    base_rng rng;
    _Alignas(16) uint8_t memory[NET_BOT_MEMORY_BYTES];
} table_bot;

typedef struct table {
    base_report_first faults;
    net_module* module;
    net_match* match;
    table_bot bots[TABLE_BOTS_MAX];
    uint32_t bot_count;
    uint32_t clients;
    uint32_t events[TABLE_MESSAGES_MAX];               ///< that table_step got, by message
    _Alignas(16) uint8_t last[TABLE_MESSAGES_MAX][64]; ///< the newest payload of each
} table;

/// The newest event of a message: TABLE_LAST(t, arena_hit, ARENA_MESSAGE_HIT).
#define TABLE_LAST(t, type, message) (*(const type*)(t)->last[message])

static inline char* table_read_file(const char* file) {
    char* text = text_file_read(file);
    assert_non_null(text);
    return text;
}

/// Nothing may fail here: if it did, print what was reported.
static inline void table_expect_ok(net_result result, const base_report_first* faults) {
    if (result) fail_msg("%s", faults->text);
}

static inline net_module* table_wrap(const net_game_module* game, const char* file,
                                     base_report_first* faults) {
    base_reporter reporter = base_reporter_first(faults);
    char* text = table_read_file(file);
    net_module* module = NULL;
    table_expect_ok(net_module_wrap(game, text, strrchr(file, '/') + 1, &reporter, &module),
                    faults);
    free(text);
    return module;
}

/// `settings` may end with NULL before their count. `tick_rate_hz` 0: the default.
static inline void table_open_game(table* t, const net_game_module* game, const char* file,
                                   const char* const* settings, uint32_t setting_count,
                                   uint64_t seed, net_role role, bool has_render,
                                   uint32_t tick_rate_hz) {
    memset(t, 0, sizeof *t);
    t->module = table_wrap(game, file, &t->faults);
    base_reporter reporter = base_reporter_first(&t->faults);
    net_match_config config = net_match_config_default(t->module);
    config.seed = seed;
    config.role = role;
    config.has_render = has_render;
    if (tick_rate_hz > 0) config.tick_rate_hz = tick_rate_hz;
    for (uint32_t i = 0; settings && i < setting_count && settings[i]; i++)
        assert_ok(net_match_setting_apply(&config, settings[i], &reporter));
    table_expect_ok(net_match_create(&config, &reporter, &t->match), &t->faults);
}

static inline void table_close(table* t) {
    net_match_destroy(t->match);
    net_module_close(t->module);
}

static inline ecs_world* table_world(table* t) {
    return net_match_world(t->match);
}

static inline void table_join(table* t, uint32_t client, const char* name) {
    net_match_join(t->match, &(net_game_player){.client = client, .name = name});
}

static inline void table_bot_join(net_match* match, table_bot* bot, uint32_t client) {
    bot->client = client;
    bot->rng = base_rng_make(client, 7);
    net_match_join(match, &(net_game_player){.client = client, .name = "bot", .is_bot = true});
}

static inline void table_join_bots(table* t, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        table_bot_join(t->match, &t->bots[t->bot_count++], ++t->clients);
}

/// What a bot thinks about next.
static inline net_player_context table_bot_view(net_match* match, table_bot* bot) {
    return (net_player_context){
        .size_bytes = sizeof(net_player_context),
        .world = net_match_world(match),
        .context = net_match_context(match),
        .player = net_match_player(match, bot->client),
        .client = bot->client,
        .tick = net_match_tick(match),
        .dt = net_match_dt(match),
        .input_number = ++bot->input_number,
        .rng = &bot->rng,
        .memory = bot->memory,
    };
}

/// Get a component of a client's entity for writing.
static inline void* table_of(table* t, uint32_t client, ecs_component_id component) {
    return ecs_find_mut(table_world(t), net_match_player(t->match, client), component);
}

/// @return its bytes, which the match has checked.
static inline size_t table_pack_input(net_match* match, const void* input,
                                      uint8_t packed[NET_INPUT_BYTES_MAX]) {
    size_t size;
    uint32_t message = net_match_input_message(match);
    assert_ok(net_match_pack(match, message, input, packed, NET_INPUT_BYTES_MAX, &size));
    assert_ok(net_match_input_check(match, packed, size));
    return size;
}

static inline void table_input(table* t, uint32_t client, const void* input) {
    uint8_t packed[NET_INPUT_BYTES_MAX];
    net_match_input(t->match, client, packed, table_pack_input(t->match, input, packed), 0);
}

/// A client sends an event, which the match checks first.
static inline net_result table_send(table* t, uint32_t client, uint32_t message,
                                    const void* payload) {
    uint8_t packed[NET_EVENT_PAYLOAD_BYTES_MAX];
    size_t size;
    assert_ok(net_match_pack(t->match, message + 1, payload, packed, sizeof packed, &size));
    net_result result = net_match_event_check(t->match, message + 1, packed, size);
    if (result == NET_OK) net_match_client_event(t->match, client, message + 1, packed, size);
    return result;
}

static inline void table_think(table* t) {
    _Alignas(16) uint8_t input[NET_EVENT_PAYLOAD_BYTES_MAX];
    for (uint32_t i = 0; i < t->bot_count; i++) {
        const net_player_context view = table_bot_view(t->match, &t->bots[i]);
        memset(input, 0, sizeof input);
        t->module->game->bot_think(&view, input);
        table_input(t, view.client, input);
    }
}

static inline void table_listen(table* t) {
    ecs_changes changes = ecs_changes_get(table_world(t));
    for (uint32_t i = 0; i < changes.event_count; i++) {
        const ecs_event* event = &changes.events[i];
        uint32_t message = net_match_message_of(t->match, event->type);
        if (message == 0) continue;
        t->events[message - 1]++;
        assert_true(event->size <= sizeof t->last[0]);
        memcpy(t->last[message - 1], event->payload, event->size);
    }
}

/// Run one tick: the bots choose inputs, the world steps, and events are counted.
static inline void table_step(table* t) {
    table_think(t);
    net_match_step(t->match);
    table_listen(t);
    ecs_changes_clear(table_world(t));
}

/// A client does this in the next tick.
static inline void table_act(table* t, uint32_t client, const void* input) {
    table_input(t, client, input);
    table_step(t);
}

static inline void table_steps(table* t, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        table_step(t);
}

/// The match that a client predicts in. The caller destroys it.
static inline net_match* table_ahead(table* t) {
    net_match_config config = *net_match_get_config(t->match);
    config.role = NET_ROLE_PREDICT;
    net_match* ahead;
    assert_ok(net_match_create(&config, NULL, &ahead));
    net_match_mirror_start(ahead, config.tick_rate_hz, config.settings,
                           t->module->game->setting_count, (net_match_names){0});
    return ahead;
}

/// Copy what replication brings: the living entities with their replicated values.
static inline void table_replicate(table* t, net_match* ahead) {
    ecs_world* from = table_world(t);
    ecs_world* to = net_match_world(ahead);
    for (ecs_entity entity = ecs_entity_next(from, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(from, entity)) {
        ecs_template_id id = ecs_entity_template(from, entity);
        const ecs_template* template_ = ecs_template_get(from, id);
        if (!template_->is_replicated) continue;
        if (!ecs_is_alive(to, entity)) assert_ok(ecs_create_at(to, entity, id, NULL, 0));
        for (uint32_t k = 0; k < template_->component_count; k++) {
            const ecs_template_component* part = &template_->components[k];
            if (!(part->flags & ECS_COMPONENT_REPLICATED)) continue;
            assert_ok(ecs_set(to, entity, part->component, ecs_get(from, entity, part->component)));
        }
    }
}

/// A busy match: bots join and leave. `hashes` gets the world's of each tick.
static inline void table_run_busy(table* t, uint32_t ticks, uint64_t* hashes) {
    for (uint32_t i = 0; i < ticks; i++) {
        if (i == 0 || i == 60) table_join_bots(t, 8);
        if (i == 90) {
            net_match_leave(t->match, 2);
            t->bots[1] = t->bots[--t->bot_count];
        }
        table_step(t);
        hashes[i] = ecs_world_hash(table_world(t));
    }
}

/// Each tick has the same hash on any number of threads (B10), and another seed has other ones.
/// `open` makes the table with a seed.
static inline void table_expect_same_runs(void (*open)(table* t, uint64_t seed)) {
    enum { TICKS = 300 };
    static uint64_t hashes[2][TICKS];
    static const uint32_t threads[] = {1, 1, 2, 3, 8, 1};
    for (uint32_t k = 0; k < BASE_COUNT(threads); k++) {
        const bool is_other = k + 1 == BASE_COUNT(threads);
        base_workers* workers = base_workers_create(NULL, threads[k]);
        table t;
        open(&t, is_other ? 78 : 77);
        net_match_set_workers(t.match, workers);
        table_run_busy(&t, TICKS, hashes[k > 0]);
        assert_int_equal(memcmp(hashes[0], hashes[k > 0], sizeof hashes[0]) != 0, is_other);
        table_close(&t);
        base_workers_destroy(workers);
    }
}
