// SPDX-License-Identifier: MIT
// shoal-bench: measures rows side by side.
//
// Both sides of a row run in turn, A B A B, in one process, so that a disturbance of the machine
// hits both. The values are medians over the rounds. The ratio is the median of the rounds' ratios,
// so noise that lasts longer than a round does not change it. Two rounds before the first warm the
// caches.
#include "bench.h"

#include "bench_match.h"
#include "make_log.h"

#include "tool_options.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct samples {
    double shoal[BENCH_ROUNDS_MAX], best[BENCH_ROUNDS_MAX], ratio[BENCH_ROUNDS_MAX];
} samples;

// Write the memory: a page that was only read is the kernel's shared page of zeros.
static void stream(uint8_t* memory) {
    for (size_t i = 0; i < BENCH_COLD_BYTES; i += 64)
        memory[i]++;
}

static double time_side(const bench_row* row, void* fixture, uint8_t* cold, void (*prepare)(void*),
                        void (*run)(void*)) {
    if (prepare) prepare(fixture);
    if (row->is_cold) stream(cold);
    double begin_ns = bench_now_ns();
    for (uint32_t i = 0; i < row->runs; i++)
        run(fixture);
    return (bench_now_ns() - begin_ns) / row->runs / row->work / row->unit_ns;
}

static void measure(const bench_row* row, uint32_t rounds, samples* taken) {
    const bench_job* job = row->job;
    if (job->print) {
        job->print(row, rounds);
        fflush(stdout);
        return;
    }
    uint8_t* cold = row->is_cold ? bench_allocate(BENCH_COLD_BYTES) : NULL;
    void* fixture = row->create();
    for (uint32_t i = 0; i < BENCH_ROUNDS_WARM + rounds; i++) {
        uint32_t at = i < BENCH_ROUNDS_WARM ? 0 : i - BENCH_ROUNDS_WARM;
        taken->shoal[at] = time_side(row, fixture, cold, job->prepare.shoal, job->run.shoal);
        if (!job->run.best) continue;
        taken->best[at] = time_side(row, fixture, cold, job->prepare.best, job->run.best);
        taken->ratio[at] = taken->shoal[at] / taken->best[at];
    }
    if (job->is_equal && !job->is_equal(fixture)) {
        fprintf(stderr, "shoal-bench: error: %s: the two sides did not do the same\n", row->name);
        exit(1);
    }
    printf("bench=%s unit=%s shoal=%.4g", row->name, row->unit, bench_median(taken->shoal, rounds));
    if (job->run.best) {
        printf(" best=%.4g ratio=%.2f", bench_median(taken->best, rounds),
               bench_median(taken->ratio, rounds));
    }
    printf(" rounds=%u", rounds);
    bench_print_least(taken->shoal);
    fflush(stdout);
    if (job->destroy) job->destroy(fixture);
}

typedef struct asked {
    bool is_list;
    const char *filter, *trace;
    uint64_t rounds, base, stride;
    make_log_config made;
    bench_match_config match;
    uint64_t clients, tick_rate_hz, seconds;
} asked;
#define FIELD(name) BASE_OPTION_FIELD(asked, name)

int main(int argc, char** argv) {
    asked self = {.rounds = BENCH_ROUNDS,
                  .base = 6,
                  .stride = 1,
                  .made = {.output = "made.slog", .hours = 1, .seed = 1},
                  .clients = 8,
                  .seconds = 30};
    const base_option table[] = {
        {"list", FIELD(is_list), NULL, "print the names of all rows", 0, 0},
        {"filter", FIELD(filter), "NAME", "run this row only", 0, 0},
        {"rounds", FIELD(rounds), "N", "how often both sides run", BENCH_ROUNDS_MIN,
         BENCH_ROUNDS_MAX},
        {"trace", FIELD(trace), "FILE", "measure a recorded world instead (.q, .q.zst)", 0, 0},
        {"base", FIELD(base), "N", "of --trace: the base is N packets back", 1, 63},
        {"stride", FIELD(stride), "N", "of --trace: a packet every N frames", 1, 16},
        {"make-log", FIELD(made.game), "GAME",
         "make the log of a match of bots instead, in virtual time", 0, 0},
        {"output", FIELD(made.output), "FILE", "of --make-log: the log", 0, 0},
        {"match", FIELD(match.game), "GAME",
         "measure the wire of a match of full bots instead, in virtual time", 0, 0},
        {"seconds", FIELD(seconds), "S", "of --match: that are measured", 1, 36000},
        {"coder", FIELD(match.coder), "auto|shared|solo", "of --match", 0, 0},
        {"clients", FIELD(clients), "N", "of --make-log (at most 64), --match: bots", 1,
         BENCH_MATCH_CLIENTS_MAX},
        {"hours", FIELD(made.hours), "H", "of --make-log: length of the match", MAKE_LOG_HOURS_MIN,
         MAKE_LOG_HOURS_MAX},
        {"tick-rate", FIELD(tick_rate_hz), "HZ", "of --make-log, --match; 0: 60, or the game's", 0,
         NET_TICK_RATE_HZ_MAX},
        {"seed", FIELD(made.seed), "N", "of --make-log, --match: of the match", 0, 0},
        {"local", FIELD(made.is_local), NULL,
         "of --make-log: no network, bots look at the server's world", 0, 0},
        {"net", FIELD(made.net), "SPEC",
         "of --make-log, --match: line of each bot, as of shoal-server", 0, 0},
    };
    const tool about = {"shoal-bench", "[options]",
                        "Measures Shoal beside C written by hand; see tests/bench/README.md."};
    const int code = tool_options_read(about, table, &self, argc, argv, NULL);
    if (code >= 0) return code;
    const uint32_t clients = (uint32_t)self.clients, rate_hz = (uint32_t)self.tick_rate_hz;
    if (self.match.game) {
        self.match.clients = clients;
        self.match.seconds = (uint32_t)self.seconds;
        self.match.tick_rate_hz = rate_hz;
        self.match.net = self.made.net;
        self.match.seed = self.made.seed;
        return bench_match(&self.match);
    }
    if (self.made.game) {
        self.made.clients = clients < MAKE_LOG_CLIENTS_MAX ? clients : MAKE_LOG_CLIENTS_MAX;
        self.made.tick_rate_hz = rate_hz ? rate_hz : NET_TICK_RATE_HZ_DEFAULT;
        return make_log(&self.made);
    }
    if (self.trace && (!self.filter || strcmp(self.filter, "trace") == 0)) {
        bench_trace(self.trace, (uint32_t)self.base, (uint32_t)self.stride);
        return 0;
    }
    const bench_rows groups[] = {
        bench_rows_update(),     bench_rows_create(),      bench_rows_access(),
        bench_rows_structure(),  bench_rows_command(),     bench_rows_change(),
        bench_rows_event(),      bench_rows_memory(),      bench_rows_net_tick(),
        bench_rows_repl(),       bench_rows_join(),        bench_rows_parallel(),
        bench_rows_net_secure(), bench_rows_repl_server(), bench_rows_log(),
        bench_rows_tiles(),
    };
    static samples taken;
    uint32_t found = 0;
    for (uint32_t i = 0; i < BASE_COUNT(groups); i++) {
        for (uint32_t j = 0; j < groups[i].count; j++) {
            const bench_row* row = &groups[i].rows[j];
            if (self.filter && strcmp(self.filter, row->name) != 0) continue;
            found++;
            if (self.is_list) {
                printf("%s\n", row->name);
            } else {
                measure(row, (uint32_t)self.rounds, &taken);
                bench_release_all();
            }
        }
    }
    if (found > 0) return 0;
    const base_reporter reporter = base_reporter_stderr();
    base_report(&reporter, NULL, 0, "no row '%s': see shoal-bench --list", self.filter);
    return 2;
}
