// SPDX-License-Identifier: MIT
// profiles: the sixteen lines on which Shoal must play, in virtual time.
//
//   profiles [--profile P4] [--seconds S] [--guests N] [--seed N] [--again S] [--table] [--hashes]
//
// A failure prints the command that repeats it. --again runs so many seconds of each profile twice:
// the same seed must give the same datagrams and worlds, bit for bit. --table prints every figure
// and checks the same; --hashes prints two hashes of each profile, which are the same for every
// compiler and level of optimization. SHOAL_TEST_SCALE multiplies the seconds.
#include "run.h"

#include "tool_options.h"
#include "base/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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
