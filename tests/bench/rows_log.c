// SPDX-License-Identifier: MIT
// The event log: what writing adds to a tick, and how long a reader waits for a place in a long
// log.
//
// SHOAL_BENCH_LOG names a log of `shoal-bench --make-log arena --local --tick-rate 30 --clients 16`
// (an hour of it, for the figures of the page); without it three minutes are made on the way.
#include "bench.h"
#include "make_log.h"

#include "flock.h"
#include "host/setup.h"
#include "net/log.h"
#include "net/playback.h"
#include "state/history.h"
#include "state/schema.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SEEKS = 10,
    SHOWS = 40,
    STEPS_BACK = 30,
    OPENS = 9,
    VERIFIES = 3,
    CAPTURE_WARM_TICKS = 120,
    CAPTURE_TICKS = 600,
    CAPTURE_PLAYERS = 1000, // and FLOCK_MOVERS
};

typedef struct long_log {
    char folder[64];
    char name[512];
    bool is_made; // by this run
    base_reporter reporter;
    net_module* module;
    net_log_reader* reader;
} long_log;

static void open_log(long_log* self, const char* game) {
    const char* given = strcmp(game, "arena") == 0 ? getenv("SHOAL_BENCH_LOG") : NULL;
    *self = (long_log){.reporter = base_reporter_stderr(), .is_made = !given};
    strcpy(self->folder, "/tmp/shoal-bench-XXXXXX");
    bench_require(mkdtemp(self->folder) != NULL, "a folder for the log");
    if (given)
        snprintf(self->name, sizeof self->name, "%s", given);
    else
        snprintf(self->name, sizeof self->name, "%s/a.slog", self->folder);
    const make_log_config config = {.game = game,
                                    .output = self->name,
                                    .clients = strcmp(game, "arena") == 0 ? 16 : 8,
                                    .hours = 0.05,
                                    .tick_rate_hz = strcmp(game, "arena") == 0 ? 30 : 60,
                                    .seed = 1,
                                    .is_local = true};
    bench_require(given || make_log(&config) == 0, "the log");
    (void)!net_log_reader_create(NULL, self->name, &self->reporter, &self->reader);
    bench_require(self->reader != NULL, self->name);
    bench_ok(net_host_open_module(net_log_reader_info(self->reader)->game, &self->reporter,
                                  &self->module),
             "the log's game");
}

static void close_log(long_log* self) {
    net_log_reader_destroy(self->reader);
    net_module_close(self->module);
    if (self->is_made) (void)unlink(self->name);
    (void)rmdir(self->folder);
}

static double minutes_of(const net_log_info* info) {
    return (double)(info->last_tick - info->first_tick + 1) / info->tick_rate_hz / 60.0;
}

// From a closed log to the world after a tick: what `shoal-replay show --tick` does.
static double seek_ms(const long_log* self, ecs_tick tick) {
    net_log_reader* reader;
    net_log_replay* replay;
    double begin = bench_now_ns();
    bench_ok(net_log_reader_create(NULL, self->name, NULL, &reader), "open");
    bench_ok(net_log_replay_create(reader, self->module, tick, NULL, &replay), "replay");
    net_log_tick at;
    while (net_match_tick(net_log_replay_match(replay)) < tick)
        bench_ok(net_log_replay_step(replay, &at), "step");
    double took = bench_now_ns() - begin;
    bench_require(ecs_world_state_hash(net_match_world(net_log_replay_match(replay))) ==
                      at.state_hash,
                  "the hash of the log");
    net_log_replay_destroy(replay);
    net_log_reader_destroy(reader);
    return took / 1e6;
}

typedef struct watched {
    double shown, longest, step_back; // ms
} watched;

// What someone who watches waits for: a place anywhere in the log, and the tick before.
static watched watch(const long_log* self) {
    double steps[STEPS_BACK], shows[SHOWS];
    watched sum = {0};
    net_playback* playback;
    bench_ok(net_playback_create(self->reader, self->module, NULL, &playback), "playback");
    const double last = (double)net_log_reader_info(self->reader)->last_tick;
    for (uint32_t i = 0; i < SHOWS; i++) {
        const double place = (double)(i * 17 % SHOWS * SHOWS + i) / (SHOWS * SHOWS);
        double begin = bench_now_ns();
        bench_ok(net_playback_seek(playback, last * place), "seek");
        shows[i] = (bench_now_ns() - begin) / 1e6;
        if (shows[i] > sum.longest) sum.longest = shows[i];
    }
    double tick = last * 0.7;
    bench_ok(net_playback_seek(playback, tick), "seek");
    for (uint32_t i = 0; i < STEPS_BACK; i++) {
        double begin = bench_now_ns();
        bench_ok(net_playback_seek(playback, tick - i - 1), "step back");
        steps[i] = (bench_now_ns() - begin) / 1e6;
    }
    net_playback_destroy(playback);
    sum.shown = bench_median(shows, SHOWS);
    sum.step_back = bench_median(steps, STEPS_BACK);
    return sum;
}

static void print_seek(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    long_log self;
    double seeks[SEEKS], longest = 0;
    open_log(&self, "arena");
    const net_log_info* info = net_log_reader_info(self.reader);
    for (uint32_t i = 0; i < SEEKS; i++) {
        ecs_tick ticks = info->last_tick - info->first_tick;
        seeks[i] = seek_ms(&self, info->first_tick + 1 + ticks * (2 * i + 1) / (2 * SEEKS));
        longest = seeks[i] > longest ? seeks[i] : longest;
    }
    const watched seen = watch(&self);
    printf("bench=%s unit=%s shoal=%.4g rounds=%d longest=%.4g shown=%.4g shown_longest=%.4g"
           " step_back=%.4g minutes=%.1f keyframes=%" PRIu32,
           row->name, row->unit, bench_median(seeks, SEEKS), SEEKS, longest, seen.shown,
           seen.longest, seen.step_back, minutes_of(info), info->keyframe_count);
    bench_print_least(seeks);
    close_log(&self);
}

// The log without its last bytes: no close record, no index, no queue. In one file: the headers of
// its segments would be looked at one after the other, which is the same work.
static void print_open(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    long_log self;
    double opens[OPENS];
    char name[128];
    open_log(&self, "arena");
    snprintf(name, sizeof name, "%s/cut.slog", self.folder);
    int from = open(self.name, O_RDONLY), to = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    struct stat status;
    bench_require(from >= 0 && to >= 0 && fstat(from, &status) == 0, "a copy of the log");
    static uint8_t piece[1 << 20];
    for (ssize_t got; (got = read(from, piece, sizeof piece)) > 0;)
        bench_require(write(to, piece, (size_t)got) == got, "a copy of the log");
    bench_require(ftruncate(to, status.st_size - 100) == 0, "a cut log");
    close(from);
    close(to);
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < OPENS; i++) {
        net_log_reader* reader;
        double begin = bench_now_ns();
        bench_ok(net_log_reader_create(NULL, name, NULL, &reader), "open");
        opens[i] = (bench_now_ns() - begin) / 1e6;
        blocks = net_log_reader_info(reader)->block_count;
        net_log_reader_destroy(reader);
    }
    (void)unlink(name);
    printf("bench=%s unit=%s shoal=%.4g rounds=%d blocks=%" PRIu64 " bytes=%" PRIu64, row->name,
           row->unit, bench_median(opens, OPENS), OPENS, blocks, (uint64_t)status.st_size);
    bench_print_least(opens);
    close_log(&self);
}

static void print_verify(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    long_log self;
    double runs[VERIFIES];
    net_verify_result verified;
    open_log(&self, "breakout");
    for (uint32_t i = 0; i < VERIFIES; i++) {
        double begin = bench_now_ns();
        bench_ok(
            net_log_verify(self.reader, self.module, 0, 0, NULL, NULL, &self.reporter, &verified),
            "verify");
        runs[i] = (bench_now_ns() - begin) / 1e6;
    }
    printf("bench=%s unit=%s shoal=%.4g rounds=%d ticks=%" PRIu64, row->name, row->unit,
           bench_median(runs, VERIFIES), VERIFIES, verified.ticks);
    bench_print_least(runs);
    close_log(&self);
}

// ---- writing ----

// What the log adds to a tick on the simulation's thread. As in a server, the history is the
// replication's: its step is a part of the tick with a log and without one. A server's tick has
// clients, too, so there the share is smaller.
typedef struct captured {
    double tick_ns, log_ns, longest_log_ns;
    uint64_t changed, entities;
} captured;

typedef struct capture_match {
    net_module* module;
    net_match* match;
    net_history* history;
    net_log_writer* log;
    char folder[64], name[128];
} capture_match;

static void open_capture(capture_match* self) {
    base_reporter reporter = base_reporter_stderr();
    bench_ok(net_module_wrap(flock_module_get(), flock_templates(), "flock.blk", &reporter,
                             &self->module),
             "module");
    strcpy(self->folder, "/tmp/shoal-bench-XXXXXX");
    bench_require(mkdtemp(self->folder) != NULL, "a folder for the log");
    snprintf(self->name, sizeof self->name, "%s/a.slog", self->folder);
    net_match_config config = net_match_config_default(self->module);
    bench_require(net_match_create(&config, &reporter, &self->match) == NET_OK &&
                      net_log_writer_create(NULL, self->name, NULL, self->match, "bench", 0,
                                            &reporter, &self->log) == NET_OK,
                  "match");
    net_rows* rows = net_schema_rows(net_match_schema(self->match));
    net_rows_set_tick_rate(rows, config.tick_rate_hz);
    uint32_t index_max = ecs_world_limits(net_match_world(self->match))->replicated_index_max;
    self->history = net_history_create(NULL, rows, index_max);
}

static void close_capture(capture_match* self) {
    (void)net_log_writer_destroy(self->log);
    base_owner_destroy(self->history);
    net_match_destroy(self->match);
    net_module_close(self->module);
    (void)unlink(self->name);
    (void)rmdir(self->folder);
}

static void capture_tick(capture_match* self, const net_tick_inputs* begin, captured* sum) {
    net_match* match = self->match;
    ecs_world* world = net_match_world(match);
    double times[4] = {bench_now_ns()};
    net_log_append_begin(self->log, begin);
    times[1] = bench_now_ns();
    net_match_apply(match, begin);
    net_match_step(match);
    net_history_step(self->history, world, begin->tick);
    times[2] = bench_now_ns();
    net_log_observer(self->log).rows(self->log, match, self->history);
    times[3] = bench_now_ns();
    double log_ns = times[3] - times[2] + times[1] - times[0];
    sum->tick_ns += times[2] - times[1];
    sum->log_ns += log_ns;
    if (log_ns > sum->longest_log_ns) sum->longest_log_ns = log_ns;
    sum->changed += ecs_changes_get(world).changed_count;
    sum->entities += ecs_world_entity_count(world);
    ecs_changes_clear(world);
    net_log_wait_room(self->log);
}

static void print_capture(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    capture_match self = {0};
    captured warm = {0}, sum = {0};
    static net_game_player joins[CAPTURE_PLAYERS];
    open_capture(&self);
    for (uint32_t i = 0; i < CAPTURE_PLAYERS; i++)
        joins[i] = (net_game_player){.client = i + 1, .name = "flock", .is_bot = true};
    net_tick_inputs begin = {.joins = joins, .join_count = CAPTURE_PLAYERS};
    for (uint32_t i = 0; i < CAPTURE_WARM_TICKS + CAPTURE_TICKS; i++) {
        begin.tick = net_match_tick(self.match) + 1;
        capture_tick(&self, &begin, i < CAPTURE_WARM_TICKS ? &warm : &sum);
        begin.join_count = 0;
    }
    bench_ok(net_log_writer_finish(self.log), "log");
    net_log_counters counters = net_log_get_counters(self.log);
    printf("bench=%s unit=%s shoal=%.4g rounds=%d us=%.1f longest_us=%.0f tick_us=%.0f"
           " entities=%.0f changes=%.0f bytes_per_tick=%.0f keyframes=%" PRIu64 "\n",
           row->name, row->unit, 100 * sum.log_ns / sum.tick_ns, CAPTURE_TICKS,
           sum.log_ns / CAPTURE_TICKS / 1000, sum.longest_log_ns / 1000,
           sum.tick_ns / CAPTURE_TICKS / 1000, (double)sum.entities / CAPTURE_TICKS,
           (double)sum.changed / CAPTURE_TICKS,
           (double)counters.bytes / (CAPTURE_TICKS + CAPTURE_WARM_TICKS), counters.keyframes);
    close_capture(&self);
}

bench_rows bench_rows_log(void) {
    static const bench_job seek = {.print = print_seek};
    static const bench_job open_crashed = {.print = print_open};
    static const bench_job verify = {.print = print_verify};
    static const bench_job capture = {.print = print_capture};
    static const bench_row rows[] = {
        {"log_capture", "percent_of_tick", 1, 1, 1, false, NULL, &capture},
        {"log_seek_1h", "ms", 1, 1, 1, false, NULL, &seek},
        {"log_verify_breakout", "ms", 1, 1, 1, false, NULL, &verify},
        {"log_open_crashed", "ms", 1, 1, 1, false, NULL, &open_crashed},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
