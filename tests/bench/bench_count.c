// SPDX-License-Identifier: MIT
// shoal-bench-count WORLD: ticks of a small world of repl_*, for instructions.sh, which counts the
// instructions of bench_repl_serve and net_replicator_step. It prints how many ticks these were.
#include "bench_repl.h"

#include <stdio.h>

#define TICKS                                                                                      \
    24u // a multiple of NET_INTEREST_EVERY_TICKS; with the first ones, which send creations

typedef struct named_world {
    const char* name;
    bench_repl_config config;
} named_world;

// Each entity is seen by as many clients as in the rows with 1,000 clients, crowd and idle apart.
static const named_world worlds[] = {
    {"dirty20", {.entities = 600, .clients = 90, .dirty_percent = 20, .visible = 90}},
    {"dirty100", {.entities = 300, .clients = 45, .dirty_percent = 100, .visible = 90}},
    {"crowd", {.entities = 400, .clients = 16, .dirty_percent = 100, .soft_bytes = 700}},
    {"classes",
     {.entities = 600, .clients = 90, .dirty_percent = 20, .visible = 90, .has_teams = true}},
    {"churn",
     {.entities = 600, .clients = 90, .dirty_percent = 20, .visible = 90, .births_per_s = 3}},
    {"idle", {.entities = 600, .clients = 90, .visible = 90}},
    {"solo", {.entities = 300, .clients = 8, .dirty_percent = 60, .visible = 90, .is_solo = true}},
};

int main(int argc, char** argv) {
    bench_require(argc == 2, "usage: shoal-bench-count WORLD");
    uint32_t i = 0;
    while (i < BASE_COUNT(worlds) && strcmp(worlds[i].name, argv[1]) != 0)
        i++;
    bench_require(i < BASE_COUNT(worlds), "no such world");
    bench_repl world;
    bench_repl_init(&world, &worlds[i].config);
    for (uint32_t tick = 0; tick < TICKS; tick++)
        bench_repl_tick(&world);
    printf("ticks=%u\n", TICKS);
    bench_repl_deinit(&world);
    return 0;
}
