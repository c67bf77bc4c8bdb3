// SPDX-License-Identifier: MIT
/// A logged match of breakout with bots, with the hashes of every tick.
#pragma once

#include "breakout_table.h"
#include "log/log_files.h"

#include "ecs/change.h"
#include "ecs/save.h"
#include "net/log.h"
#include "net/match.h"
#include "net/playback.h"

enum { RECORD_TICKS_MAX = 4096, RECORD_BOTS = 3, RECORD_LEAVE = 70, RECORD_LATE = 200 };

typedef struct playback_record {
    log_files files;
    table table;
    net_log_writer* writer;
    uint32_t ticks;
    ecs_tick bad_tick; ///< 0: none; otherwise this tick logs an event that no client may send
    ecs_tick set_tick; ///< 0: none; in front of this tick an operator sets ball_speed=1.25
    ecs_tick end_tick; ///< 0: none; otherwise a brick ends in this tick, whatever the match does
    uint64_t state_hash[RECORD_TICKS_MAX + 1];
    uint64_t world_hash[RECORD_TICKS_MAX + 1];
    uint64_t scope_hash[RECORD_TICKS_MAX + 1]; ///< of what clients have
} playback_record;

/// The hash of what a client should have of a match, or has.
static inline uint64_t record_scope(net_match* match) {
    return net_world_digest_walk(net_match_schema(match), net_match_world(match), NULL, NULL).hash;
}

static inline void record_end_brick(net_match* match) {
    ecs_world* world = net_match_world(match);
    const ecs_component_id id = ecs_component_find(world, "brick.pos");
    ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE);
    while (!ecs_find(world, at, id))
        at = ecs_entity_next(world, at);
    assert_ok(ecs_destroy(world, at));
}

static inline size_t record_think(table* t, table_bot* bot, uint8_t* packed) {
    breakout_input input = {0};
    net_player_context player = {
        .size_bytes = sizeof player,
        .world = net_match_world(t->match),
        .context = net_match_context(t->match),
        .player = net_match_player(t->match, bot->client),
        .client = bot->client,
        .tick = net_match_tick(t->match),
        .dt = net_match_dt(t->match),
        .input_number = ++bot->input_number,
        .rng = &bot->rng,
        .memory = bot->memory,
    };
    breakout_bot_think(&player, &input);
    size_t size;
    assert_ok(net_match_pack(t->match, net_match_input_message(t->match), &input, packed,
                             NET_INPUT_BYTES_MAX, &size));
    return size;
}

/// Clients 1 and 2 are bots from the first tick. Client 2 leaves, client 3 joins late. Every
/// seventh input is repeated.
static inline void record_tick(playback_record* self) {
    table* t = &self->table;
    static const net_game_player first[] = {{.client = 1, .name = "ann", .is_bot = true},
                                            {.client = 2, .name = "bob", .is_bot = true}};
    static const net_game_player late = {.client = 3, .name = "cleo"};
    static const net_tick_leave leave = {2, 3};
    ecs_tick tick = net_match_tick(t->match) + 1;
    uint8_t packed[RECORD_BOTS][NET_INPUT_BYTES_MAX];
    net_tick_input inputs[RECORD_BOTS];
    net_tick_inputs begin = {.tick = tick, .inputs = inputs};
    begin.joins = tick == 1 ? first : &late;
    begin.join_count = tick == 1 ? 2 : tick == RECORD_LATE;
    begin.leaves = &leave;
    begin.leave_count = tick == RECORD_LEAVE;
    for (uint32_t i = 0; tick > 1 && i < RECORD_BOTS; i++) {
        if (i == 1 && tick >= RECORD_LEAVE) continue;
        if (i == 2 && tick <= RECORD_LATE) continue;
        bool is_repeat = (tick + i) % 7 == 0;
        size_t size = record_think(t, &t->bots[i], packed[i]);
        inputs[begin.input_count++] = (net_tick_input){
            .client = i + 1,
            .number = (uint32_t)t->bots[i].input_number,
            .payload = is_repeat ? NULL : packed[i],
            .size = is_repeat ? 0 : (uint32_t)size,
        };
    }
    const net_tick_event bad = {.client = 1, .message = 1, .payload = "", .size = 0};
    begin.events = &bad;
    begin.event_count = tick == self->bad_tick;
    static const net_match_argument speed = {.data = "ball_speed=1.25", .size = 15};
    if (tick == self->set_tick) {
        assert_ok(net_log_append_control(self->writer, "set", &speed, 1));
        assert_ok(net_match_control(t->match, "set", &speed, 1, false, NULL));
    }
    net_log_append_begin(self->writer, &begin);
    begin.event_count = 0; // the bad one is in the log alone
    net_match_apply(t->match, &begin);
    net_match_step(t->match);
    if (tick == self->end_tick) record_end_brick(t->match);
    net_log_append_end(self->writer, t->match);
    net_log_wait_room(self->writer);
    table_listen(t);
    ecs_changes_clear(net_match_world(t->match));
    self->state_hash[tick] = ecs_world_state_hash(net_match_world(t->match));
    self->world_hash[tick] = ecs_world_hash(net_match_world(t->match));
    self->scope_hash[tick] = record_scope(t->match);
}

static inline playback_record* record_make_set(uint32_t ticks, net_log_content content,
                                               ecs_tick bad_tick, ecs_tick end_tick,
                                               ecs_tick set_tick, uint32_t tick_rate_hz) {
    // Few lives and fast balls: the match loses lives and clears levels within seconds.
    static const char* const settings[] = {"ball_speed=1.8", "lives=3"};
    playback_record* self = calloc(1, sizeof *self);
    assert_non_null(self);
    assert_true(ticks <= RECORD_TICKS_MAX);
    files_open(&self->files);
    table_open_at(&self->table, settings, BASE_COUNT(settings), 99, NET_ROLE_SERVER, false,
                  tick_rate_hz);
    for (uint32_t i = 0; i < RECORD_BOTS; i++) {
        self->table.bots[i].client = i + 1;
        self->table.bots[i].rng = base_rng_make(i + 1, 7);
    }
    self->ticks = ticks;
    self->bad_tick = bad_tick;
    self->end_tick = end_tick;
    self->set_tick = set_tick;
    self->state_hash[0] = ecs_world_state_hash(net_match_world(self->table.match));
    self->world_hash[0] = ecs_world_hash(net_match_world(self->table.match));
    net_log_options options = net_log_options_default();
    options.content = content;
    options.has_controls = set_tick > 0;
    assert_ok(net_log_writer_create_as(NULL, self->files.log, &options, self->table.match, "test",
                                       1234, NULL, &self->writer));
    for (uint32_t i = 0; i < ticks; i++)
        record_tick(self);
    net_log_append_close(self->writer, self->table.match);
    assert_ok(net_log_writer_destroy(self->writer));
    return self;
}

static inline playback_record* record_make_with(uint32_t ticks, net_log_content content,
                                                ecs_tick bad_tick, ecs_tick end_tick) {
    return record_make_set(ticks, content, bad_tick, end_tick, 0, 0);
}

static inline playback_record* record_make(uint32_t ticks) {
    return record_make_with(ticks, NET_LOG_CONTENT_STATE, 0, 0);
}

static inline void record_free(playback_record* self) {
    table_close(&self->table);
    files_close(&self->files);
    free(self);
}

static inline net_log_reader* record_read(const playback_record* self) {
    net_log_reader* reader;
    assert_ok(net_log_reader_create(NULL, self->files.log, NULL, &reader));
    return reader;
}

/// A case with a log of its own, `record`, of so many ticks.
#define PLAYED_CASE(name, ticks)                                                                   \
    CASE_MADE(playback_record, record, record_make(ticks), record_free(record), name)

static inline void record_forge(const playback_record* self, const char* file,
                                record_forger* forger, void* context) {
    log_forge(self->files.log, file, forger, context);
}

/// Make a forged log a playback, and look at some moments. `counts`: refused and shown.
static inline void record_show_forged(const playback_record* self, record_forger* forger,
                                      void* context, const net_draw* draw, uint32_t counts[2]) {
    char file[128];
    net_log_reader* reader;
    net_playback* playback;
    snprintf(file, sizeof file, "%s/forged", self->files.folder);
    record_forge(self, file, forger, context);
    (void)!net_log_reader_create(NULL, file, NULL, &reader);
    if (!reader) return;
    net_result result = net_playback_create(reader, self->table.module, NULL, &playback);
    counts[result == NET_OK]++;
    assert_true((result == NET_OK) == (playback != NULL));
    if (playback) {
        (void)!net_playback_seek(playback, 40.0);
        (void)!net_playback_advance(playback, 3.5);
        (void)!net_playback_seek(playback, 2.0);
        net_playback_draw(playback, draw);
    }
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
}
