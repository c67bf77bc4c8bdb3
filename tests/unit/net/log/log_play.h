// SPDX-License-Identifier: MIT
/// A log of breakout with bots, for tests of tools that read it.
#pragma once

#include "breakout_table.h"
#include "log_files.h"

#include "ecs/save.h"
#include "net/log_tools.h"
#include "check/sim_match.h"

enum { TICKS = 90, BOTS = 2 };

typedef struct play {
    log_files files;
    table table;
    net_log_reader* reader; ///< of the log
} play;

typedef struct lines {
    char text[1 << 20];
    uint32_t count;
} lines;

static inline void add_line(void* context, const char* line) {
    lines* self = context;
    size_t used = strlen(self->text);
    assert_true(used + strlen(line) + 2 < sizeof self->text);
    strcat(self->text + used, line);
    strcat(self->text + used, "\n");
    self->count++;
}

static inline void make_log_of(play* self, uint64_t seed, const char* name, uint32_t ticks) {
    net_log_writer* writer;
    net_sim_match* sim;
    memset(self, 0, sizeof *self);
    files_open_fast(&self->files); // a copy is synced
    table_open(&self->table, NULL, 0, seed, NET_ROLE_SERVER, false);
    assert_ok(
        net_log_writer_create(NULL, self->files.log, self->table.match, "test", 0, NULL, &writer));
    const net_sim_match_config config = {.module = self->table.module,
                                         .match = self->table.match,
                                         .observer = net_log_observer(writer),
                                         .clients_max = BOTS};
    assert_ok(net_sim_match_create(&config, &sim));
    for (uint32_t i = 0; i < BOTS; i++) {
        const net_game_player player = {.client = i + 1, .name = i == 0 ? name : "bob"};
        assert_ok(net_sim_match_join(sim, &player));
    }
    for (uint32_t i = 0; i < ticks; i++)
        net_sim_match_step(sim);
    net_log_append_close(writer, self->table.match);
    assert_ok(net_log_writer_destroy(writer));
    net_sim_match_destroy(sim);
    self->reader = files_reader(self->files.log);
}

static inline void make_log(play* self, uint64_t seed, const char* name) {
    make_log_of(self, seed, name, TICKS);
}

static inline void play_close(play* self) {
    net_log_reader_destroy(self->reader);
    table_close(&self->table);
    files_close(&self->files);
}

#define PLAY_CASE(name, seed, who)                                                                 \
    CASE_WITH(play, self, make_log(self, seed, who), play_close(self), name)

static const char user_data[] = "the-team-of-the-player";
#define PLAYER_ID UINT64_C(0x1122334455667788)
#define IDENTITY_AT 56u // in a block's header

// A match with keyframes, ids of players, and an order of its operator.
static inline void make_private_log(play* self) {
    net_log_writer* writer;
    net_sim_match* sim;
    const net_match_argument argument = {.data = "secret-order", .size = 12};
    net_log_options options = net_log_options_default();
    options.has_controls = true;
    memset(self, 0, sizeof *self);
    files_open_fast(&self->files);
    table_open(&self->table, NULL, 0, 4711, NET_ROLE_SERVER, false);
    assert_ok(net_log_writer_create_as(NULL, self->files.log, &options, self->table.match, "test",
                                       0, NULL, &writer));
    const net_sim_match_config config = {.module = self->table.module,
                                         .match = self->table.match,
                                         .observer = net_log_observer(writer),
                                         .clients_max = BOTS};
    assert_ok(net_sim_match_create(&config, &sim));
    for (uint32_t i = 0; i < BOTS; i++) {
        const net_game_player player = {.client = i + 1,
                                        .name = i == 0 ? "ann" : "bob",
                                        .player_id = PLAYER_ID + i,
                                        .user_data = (const uint8_t*)user_data,
                                        .user_bytes = sizeof user_data - 1};
        assert_ok(net_sim_match_join(sim, &player));
    }
    for (uint32_t i = 0; i < 650; i++) {
        if (i == 30) assert_ok(net_log_append_control(writer, "set", &argument, 1));
        net_sim_match_step(sim);
    }
    net_log_append_close(writer, self->table.match);
    assert_ok(net_log_writer_destroy(writer));
    net_sim_match_destroy(sim);
    self->reader = files_reader(self->files.log);
}

// All of a log that a spectator may have up to a tick.
