// SPDX-License-Identifier: MIT
// Many matches on the simulated network, one seed each. A failure prints the seed that repeats it.
//
//   scenario [--first N] [--count N] [--hashes]
//
// SHOAL_TEST_SCALE multiplies the count (sanitizer builds run fewer, a night more). Every tenth seed
// runs twice: the same seed must give the same datagrams.
//
// --hashes prints only a line per seed, over exactly the seeds asked for: what every compiler, level of
// optimization and machine must agree on (golden.txt).
#include "harness.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number_after(int argc, char** argv, const char* name, uint64_t fallback) {
    for (int i = 1; i + 1 < argc; i++) {
        uint64_t value;
        if (strcmp(argv[i], name) == 0 && base_text_parse_u64(argv[i + 1], &value)) return value;
    }
    return fallback;
}

static bool has_option(int argc, char** argv, const char* name) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) return true;
    }
    return false;
}

static int print_hashes(uint64_t first, uint64_t count) {
    for (uint64_t seed = first; seed < first + count; seed++) {
        scenario_config config = scenario_config_draw(seed);
        scenario_result result = scenario_run(&config);
        if (!result.is_passed) {
            fprintf(stderr, "FAILED seed=%" PRIu64 ": %s\n", seed, result.failure);
            return 1;
        }
        printf("seed=%" PRIu64 " datagram_hash=%016" PRIx64 " state_hash=%016" PRIx64
               " rows=%" PRIu64 "\n",
               seed, result.datagram_hash, result.state_hash, result.rows_checked);
    }
    return 0;
}

int main(int argc, char** argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    uint64_t first = number_after(argc, argv, "--first", 1);
    uint64_t count = number_after(argc, argv, "--count", 100);
    if (has_option(argc, argv, "--hashes")) return print_hashes(first, count);
    const char* scale_text = getenv("SHOAL_TEST_SCALE");
    double scale = 1;
    if (scale_text && base_text_parse_f64(scale_text, &scale) && scale > 0) {
        count = (uint64_t)((double)count * scale);
        if (count < 5) count = 5;
    }
    printf("seeds %" PRIu64 "..%" PRIu64 "\n", first, first + count - 1);
    uint64_t passed = 0, failed = 0, updates = 0, rows = 0, lost = 0, sessions = 0, unreachable = 0,
             resumes = 0;
    for (uint64_t seed = first; seed < first + count && failed == 0; seed++) {
        scenario_config config = scenario_config_draw(seed);
        scenario_result result = scenario_run(&config);
        if (result.is_passed && seed % 10 == 0) {
            scenario_result again = scenario_run(&config);
            if (again.datagram_hash != result.datagram_hash ||
                again.state_hash != result.state_hash) {
                result.is_passed = false;
                base_text_copy(result.failure, sizeof result.failure,
                               "repeat check: the same seed gave other datagrams");
            }
        }
        updates += result.updates;
        rows += result.rows_checked;
        lost += result.datagrams_lost;
        sessions += result.sessions;
        unreachable += result.unreachable;
        resumes += result.resumes;
        if (result.is_passed) {
            passed++;
        } else {
            failed++;
            printf("FAILED seed=%" PRIu64 " clients=%" PRIu32 " ticks=%" PRIu32
                   " loss=%.1f delay=%.0f jitter=%.0f: %s\n",
                   seed, config.clients, config.ticks, config.link.loss_percent,
                   config.link.delay_ms, config.link.jitter_ms, result.failure);
            printf("repeat it: %s --first %" PRIu64 " --count 1\n", argv[0], seed);
        }
    }
    printf("sessions=%" PRIu64 " updates=%" PRIu64 " rows_checked=%" PRIu64
           " datagrams_lost=%" PRIu64 " unreachable=%" PRIu64 " resumes=%" PRIu64 "\n",
           sessions, updates, rows, lost, unreachable, resumes);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
    // Checks that saw nothing have proved nothing.
    bool is_blind = failed == 0 && (rows == 0 || lost == 0 || sessions == 0);
    if (is_blind) printf("nothing was checked\n");
    return failed || is_blind ? 1 : 0;
}
