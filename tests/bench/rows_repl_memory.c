// SPDX-License-Identifier: MIT
// The memory of a client on the server: all bytes of replicator, replication states and interest
// after 100 busy ticks, with 200 clients and without them. Clients that see more give the cost of
// each visible entity; the rest is the cost of a client that sees nothing.
#include "bench_repl.h"
#include "state/schema.h"

#include <stdio.h>

#define CLIENTS 200u
#define ENTITIES 2000u
#define TICKS 100u
#define HISTORY_TICKS 600u

typedef struct cost {
    double bytes;   // per client
    double visible; // entities that it sees
} cost;

static size_t run_world(bench_repl_config config, uint32_t ticks, double* seen) {
    bench_counting counting;
    bench_counting_init(&counting);
    bench_repl world;
    config.allocator = &counting.allocator;
    bench_repl_init(&world, &config);
    if (config.rate_hz) net_rows_set_tick_rate(net_schema_rows(world.schema), config.rate_hz);
    for (uint32_t i = 0; i < ticks; i++)
        bench_repl_tick(&world);
    if (config.clients > 0) *seen = bench_repl_visible(&world);
    size_t bytes = counting.live_bytes;
    bench_repl_deinit(&world);
    return bytes;
}

static size_t run(uint32_t clients, uint32_t visible, double* seen) {
    return run_world(
        (bench_repl_config){
            .entities = ENTITIES, .clients = clients, .dirty_percent = 20, .visible = visible},
        TICKS, seen);
}

// Of each entity more when all move, at 30 ticks a second.
static double per_moving(void) {
    bench_repl_config config = {.entities = ENTITIES, .dirty_percent = 100, .rate_hz = 30};
    const size_t few = run_world(config, HISTORY_TICKS, NULL);
    config.entities *= 2;
    return (double)(run_world(config, HISTORY_TICKS, NULL) - few) / ENTITIES;
}

static cost cost_of(uint32_t visible) {
    cost of = {0, 0};
    size_t with = run(CLIENTS, visible, &of.visible), without = run(0, visible, NULL);
    of.bytes = (double)(with - without) / CLIENTS;
    return of;
}

static double slope(cost few, cost many) {
    return (many.bytes - few.bytes) / (many.visible - few.visible);
}

static void print_client(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    cost few = cost_of(150), many = cost_of(300);
    printf("bench=%s unit=%s shoal=%.0f rounds=1 with_%.0f_visible=%.0f\n", row->name, row->unit,
           few.bytes - few.visible * slope(few, many), few.visible, few.bytes);
}

static double per_visible(void) {
    return slope(cost_of(150), cost_of(300));
}

bench_rows bench_rows_repl_memory(void) {
    static const bench_job client = {.print = print_client};
    static const bench_row rows[] = {
        {"repl_bytes_per_client", "bytes", 1, 1, 1, false, NULL, &client, NULL},
        {.name = "repl_bytes_per_visible", .unit = "bytes", .figure = per_visible},
        {.name = "repl_bytes_history", .unit = "bytes", .figure = per_moving},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
