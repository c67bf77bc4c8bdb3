// SPDX-License-Identifier: MIT
// The cost of replication for a server per tick, without sockets. `shoal` is the half that sends
// (acknowledgements, publish, select and write for all clients). `sim_us` is the cost for the
// world's thread (history and interest). Before the measurement, a few clients decode everything
// and are compared with the server's world.
#include "bench_repl.h"

#include <stdio.h>

#define VERIFIED 4u
#define VERIFY_TICKS 40u
#define WARM_TICKS 100u
#define ROUND_TICKS 8u // a multiple of NET_INTEREST_EVERY_TICKS

typedef struct named_world {
    const char* name;
    bench_repl_config config;
} named_world;

static const named_world worlds[] = {
    {"repl_1000x10k_dirty20",
     {.entities = 10000, .clients = 1000, .dirty_percent = 20, .visible = 150}},
    {"repl_1000x10k_dirty100",
     {.entities = 10000, .clients = 1000, .dirty_percent = 100, .visible = 150}},
    {"repl_crowd_1000", {.entities = 1000, .clients = 1000, .dirty_percent = 100}},
    {"repl_idle", {.entities = 10000, .clients = 1000, .visible = 150}},
    {"repl_100k", {.entities = 100000, .clients = 1000, .dirty_percent = 20, .visible = 150}},
    {"repl_forest_10k",
     {.entities = 10000,
      .clients = 100,
      .dirty_percent = 100,
      .change_every_ticks = BENCH_REPL_TICK_RATE_HZ}},
};

typedef struct samples {
    double net[BENCH_ROUNDS_MAX], sim[BENCH_ROUNDS_MAX];
} samples;

static void print_figures(const bench_row* row, const bench_repl* world, samples* taken,
                          uint32_t rounds) {
    const bench_repl_figures* of = &world->figures;
    double ticks = of->ticks, records = of->records ? (double)of->records : 1;
    printf("bench=%s unit=%s shoal=%.4g rounds=%u sim_us=%.4g acks_us=%.4g publish_us=%.4g"
           " write_us=%.4g records=%.0f bits_per_record=%.1f visible=%.0f repeated=%.2f%%"
           " absolute=%.2f%% shared=%.1f%%",
           row->name, row->unit, bench_median(taken->net, rounds), rounds,
           bench_median(taken->sim, rounds), of->acks_ns / ticks / 1000,
           of->publish_ns / ticks / 1000, of->write_ns / ticks / 1000, (double)of->records / ticks,
           (double)of->bits / records, bench_repl_visible(world),
           100.0 * (double)of->repeated / records, 100.0 * (double)of->absolute / records,
           100.0 * (double)of->shared / (double)(of->made + of->shared + 1));
    bench_print_least(taken->net);
}

static void settle(bench_repl* world) {
    for (uint32_t i = 0; i < VERIFY_TICKS; i++)
        bench_repl_tick(world);
    const char* fault = bench_repl_verify(world);
    bench_require(fault == NULL, fault);
}

static void print(const bench_row* row, uint32_t rounds) {
    bench_repl world;
    samples* taken = bench_allocate(sizeof *taken);
    uint32_t at = 0;
    while (strcmp(worlds[at].name, row->name) != 0)
        at++;
    bench_repl_config config = worlds[at].config;
    config.verified = VERIFIED;
    bench_repl_init(&world, &config);
    settle(&world);
    for (uint32_t i = 0; i < WARM_TICKS; i++)
        bench_repl_tick(&world);
    bench_repl_clear(&world);
    for (uint32_t round = 0; round < rounds; round++) {
        bench_repl_figures before = world.figures;
        for (uint32_t i = 0; i < ROUND_TICKS; i++)
            bench_repl_tick(&world);
        const bench_repl_figures* now = &world.figures;
        taken->net[round] = (now->acks_ns + now->publish_ns + now->write_ns - before.acks_ns -
                             before.publish_ns - before.write_ns) /
                            ROUND_TICKS / 1000;
        taken->sim[round] = (now->step_ns - before.step_ns) / ROUND_TICKS / 1000;
    }
    bench_repl_count(&world);
    print_figures(row, &world, taken, rounds);
    bench_repl_deinit(&world);
}

bench_rows bench_rows_repl(void) {
    static const bench_job job = {.print = print};
    static bench_row rows[BASE_COUNT(worlds)];
    for (uint32_t i = 0; i < BASE_COUNT(worlds); i++)
        rows[i] = (bench_row){.name = worlds[i].name, .unit = "us_per_tick", .job = &job};
    return (bench_rows){rows, BASE_COUNT(rows)};
}
