// SPDX-License-Identifier: MIT
// What a log says, beside the list of the twin: by all ways that people have to look into one.
#include "log_twin.h"

#include "net/log_tools.h"
#include "net/playback.h"

#include <unistd.h>

/// A log that is checked.
typedef struct checked {
    const log_twin* twin;
    const twin_log* log;
    net_log_reader* reader;
    const net_log_info* info;
    uint64_t ticks; ///< that it has
    uint64_t inputs;
    ecs_tick newest; ///< of them
    bool is_whole, is_damaged;
    bool has[TWIN_TICKS_MAX + 1]; ///< what a run of it reads
} checked;

static bool is_kept(const checked* self, ecs_tick tick) {
    return tick >= self->info->first_tick && tick <= self->log->last &&
           self->twin->ticks[tick].is_kept;
}

static void count_line(void* context, const char* line) {
    uint64_t* ends = context;
    *ends += strstr(line, "\"end\"") != NULL;
}

// ---- a run of all its ticks ----

// Between both all ticks are lost, and the log says which.
static void check_gap(const checked* self, ecs_tick before, const net_log_tick* next) {
    if (self->log->is_harmed) return;
    for (ecs_tick tick = before + 1; tick < next->tick; tick++)
        assert_false(is_kept(self, tick));
    const bool is_gap = next->tick > before + 1;
    assert_int_equal(next->lost_first, is_gap ? before + 1 : 0);
}

static void check_tick(checked* self, const net_log_tick* tick, net_match* match) {
    const twin_tick* expected = &self->twin->ticks[tick->tick];
    assert_true(tick->tick <= self->log->last && expected->is_kept);
    assert_true(tick->state_hash == expected->state_hash);
    assert_true(ecs_world_state_hash(net_match_world(match)) == expected->state_hash);
    self->ticks++;
    self->newest = tick->tick;
    self->has[tick->tick] = true;
    self->inputs += expected->inputs;
}

static void check_run(checked* self) {
    net_log_replay* replay;
    net_log_tick tick;
    ecs_tick before = self->info->first_tick > 0 ? self->info->first_tick - 1 : 0;
    net_result result =
        net_log_replay_create(self->reader, self->twin->table.module, 0, NULL, &replay);
    assert_ok(result);
    while ((result = net_log_replay_step(replay, &tick)) == NET_OK && tick.has_end) {
        check_gap(self, before, &tick);
        check_tick(self, &tick, net_log_replay_match(replay));
        before = tick.tick;
    }
    // The last one may be a tick that did not end.
    assert_true(result == NET_ERR_CLOSED || (result == NET_OK && tick.tick > before) ||
                (result == NET_ERR_DAMAGED && self->log->is_harmed));
    if (!self->log->is_harmed) assert_int_equal(before, self->info->last_tick);
    net_log_replay_destroy(replay);
}

// ---- what it says of itself ----

static void check_info(checked* self) {
    const net_log_info* info = self->info;
    const ecs_tick newest = log_twin_newest(self->twin, self->log->last);
    const uint64_t span = info->last_tick > 0 ? info->last_tick - info->first_tick + 1 : 0;
    const bool has_none = info->last_tick == 0 && self->log->first_max > newest;
    if (!has_none) {
        assert_int_equal(info->last_tick, newest);
        assert_in_range(info->first_tick, newest > 0, self->log->first_max);
    }
    assert_int_equal(info->lost_ticks,
                     span - log_twin_kept(self->twin, info->first_tick, info->last_tick));
    assert_int_equal(self->is_damaged, info->lost_ticks > 0);
    // Behind a gap, or deleted segments, what waits is of no use without the keyframe.
    if (!has_none && self->twin->gaps == self->twin->gaps_over)
        assert_int_equal(info->lost_bytes, 0);
    // Of closed segments one more is there while it is being deleted.
    const net_log_segments* limits = &self->twin->options.segments;
    if (limits->kept_max > 0) assert_in_range(info->segment_count, 1, limits->kept_max + 2);
    // Segments end at keyframes, so a small budget is kept in steps.
    if (limits->budget_bytes > 0) assert_in_range(info->file_bytes, 1, 2 * limits->budget_bytes);
    if (self->log->is_closed) assert_true(info->is_closed && self->is_whole == !self->is_damaged);
    if (self->is_whole) assert_true(info->is_closed);
}

// ---- commands ----

static void check_verify(const checked* self, base_rng* rng) {
    (void)rng;
    net_verify_result verified;
    assert_ok(
        net_log_verify(self->reader, self->twin->table.module, 0, 0, NULL, NULL, NULL, &verified));
    assert_int_equal(verified.ticks, self->ticks);
    // Where the newest ticks are lost, a keyframe after them may still have a state.
    bool is_known = self->ticks == 0;
    for (ecs_tick tick = self->newest; tick <= self->info->last_tick; tick++)
        is_known = is_known || verified.state_hash == self->twin->ticks[tick].state_hash;
    assert_true(is_known);
}

static void check_show(const checked* self, base_rng* rng) {
    net_log_replay* replay;
    net_log_tick tick = {0};
    if (self->ticks == 0) return;
    const ecs_tick wanted = 1 + base_rng_below(rng, (uint32_t)self->info->last_tick);
    net_result result =
        net_log_replay_create(self->reader, self->twin->table.module, wanted, NULL, &replay);
    if (result != NET_OK) {
        assert_false(self->has[wanted]);
        return;
    }
    net_match* match = net_log_replay_match(replay);
    while (result == NET_OK && net_match_tick(match) < wanted)
        result = net_log_replay_step(replay, &tick);
    if (self->has[wanted]) assert_int_equal(net_match_tick(match), wanted);
    // A keyframe, at the end of a span, has the state of its tick, also where the tick is lost.
    if (net_match_tick(match) == wanted)
        assert_true(self->has[wanted] || wanted % self->info->tick_rate_hz == 0);
    if (net_match_tick(match) == wanted)
        assert_true(ecs_world_state_hash(net_match_world(match)) ==
                    self->twin->ticks[wanted].state_hash);
    net_log_replay_destroy(replay);
}

static void check_stats(const checked* self, base_rng* rng) {
    (void)rng;
    net_log_stats stats;
    uint64_t ends = 0;
    assert_ok(net_log_read_stats(self->reader, &stats));
    assert_int_equal(stats.records[NET_LOG_KIND_END], self->ticks);
    assert_ok(net_log_dump(self->reader, NULL, count_line, &ends));
    assert_int_equal(ends, self->ticks);
}

static void drop_line(void* context, const char* line) {
    (void)context, (void)line;
}

static void check_export(const checked* self, base_rng* rng) {
    (void)rng;
    const net_log_export_config config = {.what = NET_LOG_EXPORT_VALUES, .components = "pos"};
    net_log_exported exported;
    assert_ok(net_log_export(self->reader, self->twin->table.module, &config, drop_line, NULL, NULL,
                             &exported));
    assert_int_equal(exported.ticks, self->ticks);
    assert_int_equal(exported.diverged_tick, 0);
}

static void check_playback(const checked* self, base_rng* rng) {
    (void)rng;
    net_playback* playback;
    if (self->ticks == 0) return;
    net_result result =
        net_playback_create(self->reader, self->twin->table.module, NULL, &playback);
    if (result == NET_ERR_UNKNOWN) return; // it has no values
    assert_ok(result);
    result = net_playback_seek(playback, (double)net_playback_tick_last(playback));
    assert_true(result == NET_OK || self->is_damaged);
    assert_int_equal(net_playback_diverged(playback), 0);
    net_playback_destroy(playback);
}

// Parts of a copy: each is a whole log.
static ecs_tick check_copy(const checked* self, ecs_tick first, ecs_tick last, uint64_t* ticks) {
    static const char name[] = "copy.slog";
    net_log_copy_result made;
    const net_log_copy_config config = {.output = name, .first = first, .last = last};
    assert_ok(net_log_copy(self->reader, &config, NULL, &made));
    const twin_log log = {
        .file = name, .first_max = made.first_tick, .last = made.last_tick, .is_closed = true};
    assert_int_equal(made.ticks, made.last_tick - made.first_tick + 1);
    for (ecs_tick tick = made.first_tick; tick <= made.last_tick; tick++)
        assert_true(self->has[tick]);
    if (first > 0) assert_in_range(first, made.first_tick, made.last_tick);
    log_twin_check(self->twin, &log, NULL);
    unlink(name);
    *ticks += made.ticks;
    return made.next_tick;
}

static void check_repair(const checked* self, base_rng* rng) {
    (void)rng;
    uint64_t ticks = 0;
    ecs_tick next = 0;
    if (self->ticks == 0) return;
    do
        next = check_copy(self, next, 0, &ticks);
    while (next > 0);
    assert_int_equal(ticks, self->ticks);
}

static void check_slice(const checked* self, base_rng* rng) {
    uint64_t ticks = 0;
    const ecs_tick end = self->info->last_tick;
    if (self->ticks == 0) return;
    ecs_tick first = 1 + base_rng_below(rng, (uint32_t)end), last = first;
    last += base_rng_below(rng, (uint32_t)(end - first) + 1);
    if (self->has[first]) (void)check_copy(self, first, last, &ticks);
}

static void (*const commands[])(const checked* self, base_rng* rng) = {
    check_verify, check_show, check_stats, check_export, check_repair, check_playback, check_slice};

// A log that was harmed: whichever command reads it, it gets the same ticks and says the same.
static void check_harmed(checked* self, base_rng* rng) {
    const net_log_info info = *self->info;
    const uint64_t span = info.last_tick > 0 ? info.last_tick - info.first_tick + 1 : 0;
    assert_int_equal(info.lost_ticks, span - self->ticks);
    assert_int_equal(self->is_whole, info.is_closed && !info.is_cut && !info.is_damaged);
    for (uint32_t which = 0; which < BASE_COUNT(commands); which++) {
        net_log_reader_destroy(self->reader);
        (void)!net_log_reader_create(NULL, self->log->file, NULL, &self->reader);
        self->info = net_log_reader_info(self->reader);
        commands[which](self, rng);
        (void)!net_log_reader_check(self->reader);
        assert_memory_equal(self->info, &info, sizeof info);
    }
}

void log_twin_check(const log_twin* twin, const twin_log* log, base_rng* rng) {
    checked self = {.twin = twin, .log = log};
    net_result result = net_log_reader_create(NULL, log->file, NULL, &self.reader);
    if (!self.reader) {
        // Nothing, or the first bytes of it, is there; or its start was harmed.
        assert_int_equal(result == NET_OK, false);
        self.info = &(net_log_info){.first_tick = 1};
        assert_true(log->is_harmed || log_twin_newest(twin, log->last) == 0);
        return;
    }
    self.info = net_log_reader_info(self.reader);
    const char* verdict = net_log_reader_verdict(self.reader);
    self.is_damaged = strcmp(verdict, "damaged") == 0;
    self.is_whole = strcmp(verdict, "whole") == 0;
    assert_true(self.is_damaged || self.is_whole || strcmp(verdict, "cut") == 0);
    if (!log->is_harmed) check_info(&self);
    check_run(&self);
    if (log->is_harmed) {
        // Each byte of a closed log counts; of another one some are not in use.
        assert_false(self.is_whole && log->is_closed);
        const uint64_t kept = log_twin_kept(twin, 1, log->last);
        assert_false(self.is_whole && self.ticks < kept && log->first_max == 1);
        check_harmed(&self, rng);
    } else if (rng) {
        commands[base_rng_below(rng, BASE_COUNT(commands))](&self, rng);
    }
    net_log_reader_destroy(self.reader);
}
