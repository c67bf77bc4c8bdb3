// SPDX-License-Identifier: MIT
/// A match of breakout that is logged: what the tests of verify share.
#pragma once

#include "playback/playback_record.h"
#include "log.pb-c.h"
#include "log/log_file.h"
#include "net/log_tools.h"
#include "net/match.h"
#include "replay/log_replay.h"
#include "scarce.h"

enum { TICKS = 150, BOTS = 3, LEAVE_TICK = 70, CHEER_TICK = 20 };

typedef struct record {
    log_files files;
    table table;
    net_log_writer* writer;
    net_log_reader* reader;          ///< of the log; NULL in cases that read another one
    uint64_t state_hash, world_hash; ///< after the last tick
    FILE* trace;                     ///< the rows of all entities, every 10 ticks; may be NULL
} record;

static inline void write_trace(record* self) {
    net_match* match = self->table.match;
    ecs_world* world = net_match_world(match);
    for (ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = ecs_entity_next(world, at)) {
        uint64_t hash = net_world_digest_row_hash(net_match_schema(match), world, at);
        if (hash == 0) continue;
        fprintf(self->trace, "client=1 entity=%u:%u tick=%u row=%016llx\n", ecs_entity_index(at),
                ecs_entity_generation(at), (unsigned)net_match_tick(match),
                (unsigned long long)hash);
    }
}

static inline void play_tick(record* self) {
    table* t = &self->table;
    static const net_game_player joins[BOTS] = {{.client = 1, .name = "ann", .is_bot = true},
                                                {.client = 2, .name = "bob \"b\"", .is_bot = true},
                                                {.client = 3, .name = ""}};
    static const net_tick_leave leave = {2, 3};
    static const uint8_t cheer[] = {8, 4};
    static const net_tick_event event = {1, BREAKOUT_MESSAGE_CHEER + 1, 0, cheer, sizeof cheer, 0};
    uint8_t packed[BOTS][NET_INPUT_BYTES_MAX];
    net_tick_input inputs[BOTS];
    net_tick_inputs begin = {.tick = net_match_tick(t->match) + 1, .inputs = inputs};
    begin.joins = joins;
    begin.join_count = begin.tick == 1 ? BOTS : 0;
    begin.leaves = &leave;
    begin.leave_count = begin.tick == LEAVE_TICK;
    begin.events = &event;
    begin.event_count = begin.tick == CHEER_TICK;
    for (uint32_t i = 0; begin.tick > 1 && i < BOTS; i++) {
        if (i == 1 && begin.tick >= LEAVE_TICK) continue;
        table_bot* bot = &t->bots[i];
        bool is_repeat = (begin.tick + i) % 7 == 0;
        size_t size = record_think(t, bot, packed[i]);
        inputs[begin.input_count++] = (net_tick_input){.client = bot->client,
                                                       .number = (uint32_t)bot->input_number,
                                                       .payload = is_repeat ? NULL : packed[i],
                                                       .size = is_repeat ? 0 : (uint32_t)size};
    }
    net_log_append_begin(self->writer, &begin);
    net_match_apply(t->match, &begin);
    net_match_step(t->match);
    net_log_append_end(self->writer, t->match);
    if (self->trace && begin.tick % 10 == 0) write_trace(self);
    ecs_changes_clear(net_match_world(t->match));
}

// A table with its bots, and the folder of its log.
static inline void record_prepare(record* self, const char* const* settings, uint32_t count,
                                  uint64_t seed) {
    memset(self, 0, sizeof *self);
    files_open(&self->files);
    table_open(&self->table, settings, count, seed, NET_ROLE_SERVER, false);
    for (uint32_t i = 0; i < BOTS; i++) {
        self->table.bots[i].client = i + 1;
        self->table.bots[i].rng = base_rng_make(i + 1, 7);
    }
}

static inline void record_open(record* self, bool has_trace) {
    static const char* const settings[] = {"ball_speed=1.3", "lives=7"};
    record_prepare(self, settings, BASE_COUNT(settings), 99);
    self->trace = has_trace ? tmpfile() : NULL;
    assert_ok(net_log_writer_create(NULL, self->files.log, NULL, self->table.match, "test", 1234,
                                    NULL, &self->writer));
    for (uint32_t i = 0; i < TICKS; i++)
        play_tick(self);
    self->state_hash = ecs_world_state_hash(net_match_world(self->table.match));
    self->world_hash = ecs_world_hash(net_match_world(self->table.match));
    net_log_append_close(self->writer, self->table.match);
    assert_ok(net_log_writer_destroy(self->writer));
    self->reader = files_reader(self->files.log);
}

static inline void record_open_controls(record* self) {
    net_log_options options = net_log_options_default();
    options.has_controls = true;
    record_prepare(self, NULL, 0, 99);
    assert_ok(net_log_writer_create(NULL, self->files.log, &options, self->table.match, "test",
                                    1234, NULL, &self->writer));
}

static inline void record_close(record* self) {
    net_log_reader_destroy(self->reader);
    if (self->trace) fclose(self->trace);
    table_close(&self->table);
    files_close(&self->files);
}

#define RECORD_CASE(name, has_trace)                                                               \
    CASE_WITH(record, self, record_open(self, has_trace), record_close(self), name)
