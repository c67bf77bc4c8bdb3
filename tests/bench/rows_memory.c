// SPDX-License-Identifier: MIT
// The memory of a million entities of 24 bytes: every byte that the world allocated while it
// created them, with spare room of growing tables, divided by their number.
#include "bench_world.h"

#include "scarce.h"

#define COUNT 1000000u

static void print(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    static scarce_memory memory;
    scarce_init(&memory);
    const bench_world_config config = {.allocator = &memory.allocator,
                                       .entities_max = COUNT + 1024};
    bench_world world;
    bench_world_init(&world, &config);
    const int64_t before = memory.bytes;
    for (uint32_t i = 0; i < COUNT; i++) {
        ecs_entity entity;
        bench_ok(ecs_create(world.world, world.mover, NULL, 0, &entity), "create");
        if (i % 4096 == 0) ecs_changes_clear(world.world);
    }
    printf("bench=%s unit=%s shoal=%.3g rounds=1\n", row->name, row->unit,
           (double)(memory.bytes - before) / COUNT);
    bench_world_deinit(&world);
}

bench_rows bench_rows_memory(void) {
    static const bench_job job = {.print = print};
    static const bench_row rows[] = {{.name = "bytes_per_entity", .unit = "bytes", .job = &job}};
    return (bench_rows){rows, BASE_COUNT(rows)};
}
