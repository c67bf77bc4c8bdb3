// SPDX-License-Identifier: MIT
// Commands: creations with nothing but defaults. The twin keeps an array of what it wants, and
// applies it in one loop.
#include "bench_best.h"
#include "bench_world.h"

#define COUNT 100000u

typedef struct fixture {
    bench_world shoal;
    uint32_t command_count;
    uint32_t* commands;
    best_handles handles;
    ecs_vec3 *pos, *vel;
} fixture;

static void* create(void) {
    static const bench_world_config config = {.commands_max = COUNT};
    fixture* self = bench_allocate(sizeof *self);
    bench_world_init(&self->shoal, &config);
    self->commands = bench_allocate(COUNT * sizeof *self->commands);
    self->pos = bench_allocate(COUNT * sizeof *self->pos);
    self->vel = bench_allocate(COUNT * sizeof *self->vel);
    best_handles_init(&self->handles, COUNT);
    return self;
}

static void clear_shoal(void* memory) {
    fixture* self = memory;
    ecs_command_flush(self->shoal.world);
    bench_world_clear(&self->shoal, self->shoal.movers);
}

static void clear_best(void* memory) {
    fixture* self = memory;
    self->command_count = 0;
    best_handles_clear(&self->handles);
}

static void record_shoal(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++)
        (void)ecs_command_create(self->shoal.world, self->shoal.mover, NULL, 0);
}

static __attribute__((noinline)) void record_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        if (self->command_count == COUNT) return;
        self->commands[self->command_count++] = self->shoal.mover;
    }
}

static void clear_and_record_shoal(void* memory) {
    clear_shoal(memory);
    record_shoal(memory);
}

static void clear_and_record_best(void* memory) {
    clear_best(memory);
    record_best(memory);
}

static void flush_shoal(void* memory) {
    ecs_command_flush(((fixture*)memory)->shoal.world);
}

static __attribute__((noinline)) void flush_best(void* memory) {
    fixture* self = memory;
    const uint32_t first = self->handles.count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->command_count; i++)
        if (self->commands[i] == self->shoal.mover) count++;
    for (uint32_t i = 0; i < count; i++)
        (void)best_handle_make(&self->handles);
    for (uint32_t i = 0; i < count; i++)
        self->pos[first + i] = (ecs_vec3){1.0f, 2.0f, 3.0f};
    for (uint32_t i = 0; i < count; i++)
        self->vel[first + i] = (ecs_vec3){1.0f, -2.0f, 0.5f};
    self->command_count = 0;
}

static bool are_rows_equal(void* memory) {
    const fixture* self = memory;
    uint32_t row = 0;
    ecs_query_iter it = ecs_query_begin(self->shoal.world, self->shoal.movers);
    while (ecs_query_next(&it)) {
        if (row + it.rows.count > self->handles.count ||
            memcmp(it.rows.columns[0], self->pos + row, it.rows.count * sizeof(ecs_vec3)) != 0 ||
            memcmp(it.rows.columns[1], self->vel + row, it.rows.count * sizeof(ecs_vec3)) != 0) {
            ecs_query_end(&it);
            return false;
        }
        row += it.rows.count;
    }
    return row == self->handles.count &&
           ecs_world_counters(self->shoal.world)->commands_refused == 0;
}

static bool is_created_equal(void* memory) {
    fixture* self = memory;
    ecs_command_flush(self->shoal.world);
    if (self->command_count) flush_best(self);
    return are_rows_equal(self);
}

bench_rows bench_rows_command(void) {
    static const bench_job record = {{clear_shoal, clear_best},
                                     {record_shoal, record_best},
                                     is_created_equal,
                                     bench_world_destroy,
                                     NULL};
    static const bench_job flush = {{clear_and_record_shoal, clear_and_record_best},
                                    {flush_shoal, flush_best},
                                    is_created_equal,
                                    bench_world_destroy,
                                    NULL};
    static const char unit[] = "ns_per_entity";
    static const bench_row rows[] = {
        {"defer_record_100k", unit, COUNT, 1, 1, false, create, &record},
        {"defer_flush_100k", unit, COUNT, 1, 1, false, create, &flush},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
