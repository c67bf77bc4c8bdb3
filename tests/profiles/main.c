// SPDX-License-Identifier: MIT
// profiles: the sixteen lines on which Shoal must play, in virtual time.
//
//   profiles [--profile P4] [--seconds S] [--guests N] [--seed N] [--again S] [--table] [--hashes]
//
// A failure prints the command that repeats it. --again runs so many seconds of each profile twice:
// the same seed must give the same datagrams and worlds, bit for bit. --table prints every figure
// and checks the same; --hashes prints two hashes of each profile, which are the same for every
// compiler and level of optimization. SHOAL_TEST_SCALE multiplies the seconds.
#include "profiles.h"
#include "watch.h"

#include "base/text.h"
#include "tool_options.h"
#include "virtual_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// ---- one run of a profile

// Guests come on a line that is only long, it becomes the profile's, then the world stands still
// and the line becomes good again. Then all must hold the server's world.

typedef struct run_config {
    const profile* profile;
    uint64_t seed;
    uint32_t guests;
    double seconds;   // on the profile's line; a third of it in a crowded world
    uint32_t threads; // of all worlds, eager (base/workers.h); 0: the calling thread alone
} run_config;

typedef struct run_result {
    char failure[256];           // "" when all held
    bool is_guarded;             // datagrams were authenticated
    uint32_t lost, resumes;      // sessions; connections regained
    double state_p50, state_p99; // ms
    double event_p50, event_p99, event_max;
    double settle_ms;      // until all worlds were equal after the faults
    double join_ms;        // until the last of eight new clients plays, on the line
    uint32_t join_retries; // attempts of theirs that failed
    double free_ms;        // from 30 s of silence until the places are free; blackouts
    double return_ms;      // until new clients play in these places; blackouts
    uint64_t rows, mismatches, events, event_faults;
    uint64_t datagrams, bytes;
    uint64_t dropped; // datagrams that the lines lost
    uint64_t wire_hash, world_hash;
    double cpu_s;
} run_result;

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

// Another guest takes the seat, on the profile's line.
static void renew(run* self, uint32_t i) {
    house_clear(&self->house, i);
    BASE_ASSERT(house_sit(&self->house, i));
    house_line_set(&self->house, i, &self->lines[i % 2]);
}

// Guests that lost their session come again, as people do.
static void replace_lost(run* self) {
    for (uint32_t i = 0; i < self->config.guests; i++) {
        guest* one = &self->house.guests[i];
        if (!one->client || net_client_get_phase(one->client) != NET_CLIENT_ENDED) continue;
        self->result.lost++;
        renew(self, i);
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
        renew(self, i);
    }
    self->result.return_ms = wait_for(self, are_all_in, RETURN_MS_MAX);
}

// ---- new clients

static bool are_all_in_or_retry(run* self) {
    house* at = &self->house;
    for (uint32_t i = 1; i < self->config.guests; i += 2) {
        if (net_client_get_phase(at->guests[i].client) != NET_CLIENT_ENDED) continue;
        self->result.join_retries++;
        renew(self, i);
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
        renew(self, i);
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
                           .coder = NET_CODER_SOLO,
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
    result->wire_hash = wire_hash_get();
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

static run_result run_profile(const run_config* config) {
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

// ---- the program

#define SECONDS_MIN 5.0
#define GUESTS_OF_SHORT_RUNS 4u

typedef struct options {
    const char* name;
    double seconds, again;
    uint64_t guests, seed;
    bool is_table, has_hashes;
} options;

static void print_head(void) {
    printf(
        "       lost  back   state ms    reliable event ms  settle  join re-   mis-           "
        "datagrams   CPU\n"
        "            again  p50  p99    p50   p99    max      ms    ms try  match   rows          "
        "        s\n");
}

static void print_row(const profile* of, const run_result* r) {
    printf("%-5s %5" PRIu32 " %5" PRIu32 " %4.0f %4.0f  %5.0f %5.0f %6.0f  %6.0f %5.0f %3" PRIu32
           "  %5" PRIu64 " %8" PRIu64 " %9" PRIu64 " %6.2f  %s\n",
           of->name, r->lost, r->resumes, r->state_p50, r->state_p99, r->event_p50, r->event_p99,
           r->event_max, r->settle_ms, r->join_ms, r->join_retries, r->mismatches, r->rows,
           r->datagrams, r->cpu_s, of->about);
    if (of->has_blackouts)
        printf("      places free %.0f ms after 30 s of silence, new clients in after %.0f ms\n",
               r->free_ms, r->return_ms);
}

static void print_failure(const options* given, const run_config* config, const char* program,
                          const char* text) {
    printf("FAILED %s seed=%" PRIu64 ": %s\nrepeat it: %s --profile %s --seconds %g --guests "
           "%" PRIu32 " --seed %" PRIu64 " --again %g\n",
           config->profile->name, config->seed, text, program, config->profile->name,
           config->seconds, config->guests, config->seed, given->again);
}

// The same seed again, for a shorter time, and half of them with threads in all worlds: both runs
// must be the same. Blackouts take their time, so there the run itself is compared.
static bool is_repeatable(const run_config* config, const run_result* result, double seconds) {
    run_config shorter = *config;
    if (!config->profile->has_blackouts) shorter.seconds = seconds;
    run_result first = config->profile->has_blackouts ? *result : run_profile(&shorter);
    static const uint32_t threads[] = {2, 0, 3, 0, 1, 0, 8, 0};
    shorter.threads = threads[(config->profile - profile_at(0)) % (ptrdiff_t)BASE_COUNT(threads)];
    run_result second = run_profile(&shorter);
    return first.wire_hash == second.wire_hash && first.world_hash == second.world_hash &&
           first.datagrams == second.datagrams;
}

static bool run_one(const options* given, const profile* of, const char* program, double* cpu_s) {
    run_config config = {.profile = of,
                         .seed = given->seed,
                         .guests = (uint32_t)given->guests,
                         .seconds = given->seconds};
    run_result result = run_profile(&config);
    *cpu_s += result.cpu_s;
    if (!result.is_guarded && of->needs_guard) {
        printf("%-5s left out: datagrams are not authenticated\n", of->name);
        return true;
    }
    if (given->is_table) print_row(of, &result);
    if (given->has_hashes)
        printf("%s wire=%016" PRIx64 " worlds=%016" PRIx64 "\n", of->name, result.wire_hash,
               result.world_hash);
    const char* failure = result.failure;
    if (!failure[0] && given->again > 0 && !is_repeatable(&config, &result, given->again))
        failure = "the same seed gave other datagrams or worlds";
    if (!failure[0]) return true;
    print_failure(given, &config, program, failure);
    return false;
}

#define FIELD(name) BASE_OPTION_FIELD(options, name)

// @return as tool_options_read.
static int read_options(int argc, char** argv, options* given) {
    const base_option table[] = {
        {"profile", FIELD(name), "P0..P15", "only this one", 0, 0},
        {"seconds", FIELD(seconds), "S", "on the profile's line", 0, 0},
        {"again", FIELD(again), "S", "run so many seconds twice: the same seed, the same bytes", 0,
         0},
        {"guests", FIELD(guests), "N", "clients", 1, 16},
        {"seed", FIELD(seed), "N", "of match, lines and bots", 0, 0},
        {"table", FIELD(is_table), NULL, "print all figures", 0, 0},
        {"hashes", FIELD(has_hashes), NULL, "print hashes", 0, 0},
    };
    base_option_list words = {0};
    const tool about = {"profiles", "[options]",
                        "The sixteen lines on which Shoal must play, in virtual time."};
    const int code = tool_options_read(about, table, given, argc, argv, &words);
    if (code >= 0 || (words.count == 0 && (!given->name || profile_find(given->name)))) return code;
    fprintf(stderr, "no such profile: P0 to P15\n");
    return 2;
}

// A sanitizer's build runs a short time, a night a long one.
static void scale_seconds(options* given) {
    const char* text = getenv("SHOAL_TEST_SCALE");
    double scale = 1;
    if (!text || !base_text_parse_f64(text, &scale) || scale <= 0) return;
    given->seconds *= scale;
    if (given->seconds < SECONDS_MIN) given->seconds = SECONDS_MIN;
    if (scale < 1 && given->guests > GUESTS_OF_SHORT_RUNS) given->guests = GUESTS_OF_SHORT_RUNS;
}

int main(int argc, char** argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    options given = {.seconds = 30, .again = 0, .guests = 16, .seed = 1};
    const int code = read_options(argc, argv, &given);
    if (code >= 0) return code;
    scale_seconds(&given);
    bool is_right = true;
    double cpu_s = 0;
    printf("seed %" PRIu64 ", %" PRIu64 " clients, %g s\n", given.seed, given.guests,
           given.seconds);
    if (given.is_table) print_head();
    for (uint32_t i = 0; i < PROFILES; i++) {
        const profile* of = profile_at(i);
        if (given.name && profile_find(given.name) != of) continue;
        is_right &= run_one(&given, of, argv[0], &cpu_s);
    }
    if (!given.has_hashes) printf("%.1f s of processor time\n", cpu_s);
    return is_right ? 0 : 1;
}
