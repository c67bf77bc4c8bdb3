// SPDX-License-Identifier: MIT
#include "run.h"

#include "watch.h"

#include "base/assert.h"
#include "transport/socket_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JOIN_MS_MAX 10000u
#define WARM_SECONDS 2.0    ///< on the profile's line, until figures count
#define SETTLE_MS_MIN 500.0 ///< or three round trips
#define EVENTS_MS_MAX 20000u
#define SILENCE_MS 30000.0 ///< after it a session ends
#define FREE_MS_MAX 1000.0
#define RETURN_MS_MAX 3000u
#define LONG_CUT_SECONDS 35.0
#define LEAVE_SECONDS 1.5
#define TRY_MS_MAX 60000u ///< new clients on the profile's line, with all their attempts

typedef struct run {
    run_config config;
    run_result result;
    house house;
    watch watch;
    net_link_pair lines[2]; // even and odd guests
} run;

// ---- steps

static uint32_t ticks_of(double seconds) {
    return (uint32_t)(seconds * HOUSE_TICKS_PER_SECOND);
}

// Guests that lost their session come again, as people do.
static void replace_lost(run* self) {
    for (uint32_t i = 0; i < self->config.guests; i++) {
        guest* one = &self->house.guests[i];
        if (!one->client || net_client_get_phase(one->client) != NET_CLIENT_ENDED) continue;
        self->result.lost++;
        house_clear(&self->house, i);
        BASE_ASSERT(house_sit(&self->house, i));
        house_line_set(&self->house, i, &self->lines[i % 2]);
    }
}

static void play(run* self, double seconds) {
    for (uint32_t i = ticks_of(seconds); i > 0 && !self->watch.failure[0]; i--) {
        house_step(&self->house);
        replace_lost(self);
    }
}

// Step until `is_done`, for at most `limit_ms`. @return milliseconds; more than the limit: never.
static double wait_for(run* self, bool (*is_done)(run* self), double limit_ms) {
    uint64_t begin_us = self->house.now_us;
    double ms = 0;
    while (!is_done(self) && ms <= limit_ms && !self->watch.failure[0]) {
        house_step(&self->house);
        ms = (double)(self->house.now_us - begin_us) * 1e-3;
    }
    return ms;
}

static bool are_all_in(run* self) {
    return house_is_full(&self->house);
}
static bool is_equal(run* self) {
    return watch_is_equal(&self->house);
}
static bool has_all_events(run* self) {
    return watch_has_all_events(&self->watch, &self->house);
}

// ---- lines

static void set_lines(run* self, const net_link_pair* even, const net_link_pair* odd) {
    for (uint32_t i = 0; i < self->config.guests; i++)
        house_line_set(&self->house, i, i % 2 ? odd : even);
}

static net_link_config cut_of(net_link_config config) {
    config.loss_percent = 100;
    config.burst_ms = 0;
    return config;
}

static net_link_pair cut_pair(const net_link_pair* line) {
    return (net_link_pair){.up = cut_of(line->up), .down = cut_of(line->down)};
}

// The distance stays.
static net_link_config good_of(const net_link_config* config) {
    return (net_link_config){.delay_ms = config->delay_ms, .jitter_ms = config->jitter_ms};
}

static void set_good_lines(run* self) {
    net_link_pair good[2];
    for (uint32_t i = 0; i < 2; i++)
        good[i] = (net_link_pair){.up = good_of(&self->lines[i].up),
                                  .down = good_of(&self->lines[i].down)};
    set_lines(self, &good[0], &good[1]);
}

static bool read_lines(run* self) {
    const profile* of = self->config.profile;
    base_reporter reporter = base_reporter_stderr();
    const char* odd = of->odd ? of->odd : of->even;
    return net_link_config_parse(of->even, &reporter, &self->lines[0]) == NET_OK &&
           net_link_config_parse(odd, &reporter, &self->lines[1]) == NET_OK;
}

// ---- blackouts

static const double blackouts[] = {1, 3, 10, 25};
#define BLACKOUT_PAUSE_SECONDS 8.0

static double blackout_seconds(void) {
    double sum = 0;
    for (size_t i = 0; i < BASE_COUNT(blackouts); i++)
        sum += blackouts[i] + BLACKOUT_PAUSE_SECONDS;
    return sum;
}

static void play_blackouts(run* self) {
    net_link_pair cuts[] = {cut_pair(&self->lines[0]), cut_pair(&self->lines[1])};
    for (size_t i = 0; i < BASE_COUNT(blackouts); i++) {
        set_lines(self, &cuts[0], &cuts[1]);
        play(self, blackouts[i]);
        set_lines(self, &self->lines[0], &self->lines[1]);
        self->watch.is_sampling = false; // coming back takes a while
        play(self, BLACKOUT_PAUSE_SECONDS / 2);
        self->watch.is_sampling = true;
        play(self, BLACKOUT_PAUSE_SECONDS / 2);
        if (!house_is_full(&self->house))
            watch_fail(&self->watch, "not all are back after a blackout of %g s", blackouts[i]);
    }
}

// Odd guests are away for longer than a session waits: their places are free in time, and they can
// come again.
static void play_long_cut(run* self) {
    house* at = &self->house;
    net_link_pair cut = cut_pair(&self->lines[1]);
    for (uint32_t i = 1; i < self->config.guests; i += 2)
        house_line_set(at, i, &cut);
    uint64_t begin_us = at->now_us;
    uint32_t stay = (self->config.guests + 1) / 2;
    while (net_server_get_counters(at->server)->clients > stay &&
           at->now_us - begin_us < (uint64_t)(LONG_CUT_SECONDS * 1e6))
        house_step(at);
    self->result.free_ms = (double)(at->now_us - begin_us) * 1e-3 - SILENCE_MS;
    while (at->now_us - begin_us < (uint64_t)(LONG_CUT_SECONDS * 1e6))
        house_step(at);
    for (uint32_t i = 1; i < self->config.guests; i += 2) {
        if (net_client_get_end(at->guests[i].client) != NET_CLIENT_END_LOST)
            watch_fail(&self->watch, "a guest did not notice the end of its session");
        house_clear(at, i);
        BASE_ASSERT(house_sit(at, i));
        house_line_set(at, i, &self->lines[1]);
    }
    self->result.return_ms = wait_for(self, are_all_in, RETURN_MS_MAX);
}

// ---- new clients

static bool are_all_in_or_retry(run* self) {
    house* at = &self->house;
    for (uint32_t i = 1; i < self->config.guests; i += 2) {
        if (net_client_get_phase(at->guests[i].client) != NET_CLIENT_ENDED) continue;
        self->result.join_retries++;
        house_clear(at, i);
        BASE_ASSERT(house_sit(at, i));
        house_line_set(at, i, &self->lines[1]);
    }
    return house_is_full(at);
}

// Odd guests leave, and others come on the profile's line, as often as it takes.
static void play_joins(run* self) {
    house* at = &self->house;
    set_lines(self, &self->lines[0], &self->lines[1]);
    for (uint32_t i = 1; i < self->config.guests; i += 2)
        net_client_leave(at->guests[i].client, at->now_us);
    for (uint32_t i = ticks_of(LEAVE_SECONDS); i > 0; i--)
        house_step(at);
    for (uint32_t i = 1; i < self->config.guests; i += 2) {
        house_clear(at, i);
        BASE_ASSERT(house_sit(at, i));
        house_line_set(at, i, &self->lines[1]);
    }
    self->result.join_ms = wait_for(self, are_all_in_or_retry, TRY_MS_MAX);
    if (self->result.join_ms > TRY_MS_MAX) watch_fail(&self->watch, "new clients do not get in");
}

// ---- the whole

static bool open_house(run* self, double seconds) {
    // Joining takes some round trips too.
    double join_seconds = 12e-3 * self->config.profile->way_ms;
    house_config config = {.seed = self->config.seed,
                           .threads = self->config.threads,
                           .guests = self->config.guests,
                           .is_crowded = self->config.profile->is_crowded,
                           .quiet_tick = ticks_of(join_seconds + seconds + WARM_SECONDS)};
    if (!house_open(&self->house, &config, &self->watch)) return false;
    for (uint32_t i = 0; i < self->config.guests; i++)
        if (!house_sit(&self->house, i)) return false;
    set_good_lines(self);
    return true;
}

static void play_profile(run* self) {
    if (wait_for(self, are_all_in, JOIN_MS_MAX) > JOIN_MS_MAX)
        watch_fail(&self->watch, "not all could join");
    set_lines(self, &self->lines[0], &self->lines[1]);
    play(self, WARM_SECONDS);
    self->watch.is_sampling = true;
    if (self->config.profile->has_blackouts) play_blackouts(self);
    while (net_match_tick(self->house.match) + 1 < self->house.config.quiet_tick &&
           !self->watch.failure[0])
        play(self, 1.0 / HOUSE_TICKS_PER_SECOND);
    self->watch.is_sampling = false;
    set_good_lines(self);
    self->result.settle_ms = wait_for(self, is_equal, 30000);
    if (wait_for(self, has_all_events, EVENTS_MS_MAX) > EVENTS_MS_MAX) {
        self->watch.event_faults++;
        watch_fail(&self->watch, "reliable events are missing");
    }
    if (self->config.profile->has_blackouts) play_long_cut(self);
    if (!self->watch.failure[0]) play_joins(self);
}

static void take_figures(run* self) {
    run_result* result = &self->result;
    const watch* seen = &self->watch;
    result->is_guarded = house_is_guarded(&self->house);
    result->resumes = (uint32_t)net_server_get_counters(self->house.server)->resumes;
    result->state_p50 = watch_quantile(&seen->states, 0.5);
    result->state_p99 = watch_quantile(&seen->states, 0.99);
    result->event_p50 = watch_quantile(&seen->events, 0.5);
    result->event_p99 = watch_quantile(&seen->events, 0.99);
    result->event_max = watch_quantile(&seen->events, 1);
    result->rows = seen->rows;
    result->mismatches = seen->mismatches;
    result->events = seen->events.count;
    result->event_faults = seen->event_faults;
    house_traffic traffic = house_get_traffic(&self->house);
    result->datagrams = traffic.datagrams;
    result->bytes = traffic.bytes;
    result->dropped = traffic.dropped;
    result->wire_hash = net_socket_virtual_hash();
    result->world_hash = seen->hash;
}

static void check_limit(run* self, const char* what, double ms, double limit_ms) {
    if (limit_ms != PROFILE_NO_LIMIT && ms > limit_ms)
        watch_fail(&self->watch, "%s: %.0f ms, at most %.0f ms are promised", what, ms, limit_ms);
}

static void check_promises(run* self) {
    const profile* of = self->config.profile;
    const run_result* result = &self->result;
    double minutes = self->config.guests * self->config.seconds / 60;
    uint32_t lost_max = of->allows_loss ? 1 + (uint32_t)(minutes / 160) : 0;
    if (result->lost > lost_max)
        watch_fail(&self->watch, "%" PRIu32 " sessions were lost", result->lost);
    if (result->rows == 0 || result->events == 0) watch_fail(&self->watch, "nothing was seen");
    if (of->loses_nothing && result->dropped > 0)
        watch_fail(&self->watch, "%" PRIu64 " datagrams were lost", result->dropped);
    double stale_ms = of->stale_ms_max != PROFILE_NO_LIMIT ? of->way_ms + of->stale_ms_max : 0;
    check_limit(self, "age of states, p99", result->state_p99, stale_ms);
    check_limit(self, "reliable events, p99", result->event_p99, of->event_p99_ms_max);
    check_limit(self, "reliable events, longest", result->event_max, of->event_ms_max);
    double rtt3_ms = 3 * (2 * of->way_ms + of->queue_ms);
    check_limit(self, "worlds equal after the faults", result->settle_ms,
                rtt3_ms > SETTLE_MS_MIN ? rtt3_ms : SETTLE_MS_MIN);
    if (!of->has_blackouts) return;
    check_limit(self, "place free after the silence", result->free_ms, FREE_MS_MAX);
    if (result->free_ms < -FREE_MS_MAX) watch_fail(&self->watch, "a session ended too early");
    check_limit(self, "back in the match", result->return_ms, RETURN_MS_MAX);
}

run_result run_profile(const run_config* config) {
    static run self; // 30 MB: a history of rows
    memset(&self, 0, sizeof self);
    self.config = *config;
    double seconds = config->profile->is_crowded ? config->seconds / 3 : config->seconds;
    if (config->profile->has_blackouts && seconds < blackout_seconds())
        seconds = blackout_seconds();
    clock_t begin = clock();
    if (!read_lines(&self) || !open_house(&self, seconds)) {
        watch_fail(&self.watch, "the house could not be opened");
    } else {
        play_profile(&self);
        take_figures(&self);
        check_promises(&self);
    }
    house_close(&self.house);
    self.result.cpu_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    memcpy(self.result.failure, self.watch.failure, sizeof self.result.failure);
    return self.result;
}
