// SPDX-License-Identifier: MIT
// Commands: creations with nothing but defaults, creations that give two of their components, and
// new values of a component for entities in random order. The twin keeps arrays of what it wants,
// and applies them in one loop.
#include "bench_best.h"
#include "bench_world.h"

#define COUNT 100000u

typedef struct fixture {
    bench_world shoal;
    ecs_entity* entities; ///< targets of sets, shuffled
    uint32_t* rows;       ///< of the same in the twin
    uint32_t command_count;
    uint32_t* commands;
    ecs_vec3 *given_pos, *given_vel;
    best_handles handles;
    ecs_vec3 *pos, *vel;
} fixture;

static void* create(void) {
    static const bench_world_config config = {.commands_max = COUNT};
    fixture* self = bench_allocate(sizeof *self);
    bench_world_init(&self->shoal, &config);
    self->entities = bench_allocate(COUNT * sizeof *self->entities);
    self->rows = bench_allocate(COUNT * sizeof *self->rows);
    self->commands = bench_allocate(COUNT * sizeof *self->commands);
    self->given_pos = bench_allocate(COUNT * sizeof *self->given_pos);
    self->given_vel = bench_allocate(COUNT * sizeof *self->given_vel);
    self->pos = bench_allocate(COUNT * sizeof *self->pos);
    self->vel = bench_allocate(COUNT * sizeof *self->vel);
    best_handles_init(&self->handles, COUNT);
    return self;
}

// ---- creations ----

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
    const bench_world* shoal = &self->shoal;
    for (uint32_t i = 0; i < COUNT; i++) {
        const ecs_vec3 pos = {(float)i, 2.0f, 3.0f}, vel = {1.0f, (float)i, 3.0f};
        const ecs_init inits[] = {{shoal->pos, &pos}, {shoal->vel, &vel}};
        (void)ecs_command_create(shoal->world, shoal->mover, inits, 2);
    }
}

static __attribute__((noinline)) void record_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        if (self->command_count == COUNT) return;
        self->given_pos[self->command_count] = (ecs_vec3){(float)i, 2.0f, 3.0f};
        self->given_vel[self->command_count] = (ecs_vec3){1.0f, (float)i, 3.0f};
        self->commands[self->command_count++] = self->shoal.mover;
    }
}

static void record_plain_shoal(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++)
        (void)ecs_command_create(self->shoal.world, self->shoal.mover, NULL, 0);
}

static __attribute__((noinline)) void record_plain_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        if (self->command_count == COUNT) return;
        self->commands[self->command_count++] = self->shoal.mover;
    }
}

static void clear_and_record_plain_shoal(void* memory) {
    clear_shoal(memory);
    record_plain_shoal(memory);
}

static void clear_and_record_plain_best(void* memory) {
    clear_best(memory);
    record_plain_best(memory);
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
    for (uint32_t i = 0; i < self->command_count; i++) {
        if (self->commands[i] != self->shoal.mover) continue;
        const uint32_t row = self->handles.count;
        if (!best_handle_make(&self->handles)) return;
        self->pos[row] = self->given_pos[i];
        self->vel[row] = self->given_vel[i];
    }
    self->command_count = 0;
}

static __attribute__((noinline)) void flush_plain_best(void* memory) {
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

static bool is_created_plain_equal(void* memory) {
    fixture* self = memory;
    ecs_command_flush(self->shoal.world);
    if (self->command_count) flush_plain_best(self);
    return are_rows_equal(self);
}

// ---- new values ----

static void* create_movers(void) {
    fixture* self = create();
    uint32_t* order = bench_allocate(COUNT * sizeof *order);
    ecs_entity* entities = bench_allocate(COUNT * sizeof *entities);
    bench_world_fill(&self->shoal, self->shoal.mover, COUNT, entities);
    bench_shuffle(order, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        self->commands[i] = best_handle_make(&self->handles);
        self->pos[i] = (ecs_vec3){1.0f, 2.0f, 3.0f};
        self->vel[i] = (ecs_vec3){1.0f, -2.0f, 0.5f};
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        self->entities[i] = entities[order[i]];
        self->rows[i] = self->commands[order[i]];
    }
    ecs_changes_clear(self->shoal.world);
    return self;
}

static void set_shoal(void* memory) {
    fixture* self = memory;
    const bench_world* shoal = &self->shoal;
    for (uint32_t i = 0; i < COUNT; i++) {
        const ecs_vec3 pos = {(float)i, 2.0f, 3.0f};
        (void)ecs_command_set(shoal->world, self->entities[i], shoal->pos, &pos);
    }
    ecs_command_flush(shoal->world);
}

static __attribute__((noinline)) void set_best(void* memory) {
    fixture* self = memory;
    self->command_count = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        self->given_pos[self->command_count] = (ecs_vec3){(float)i, 2.0f, 3.0f};
        self->commands[self->command_count++] = self->rows[i];
    }
    for (uint32_t i = 0; i < self->command_count; i++) {
        const uint32_t row = best_handle_row(&self->handles, self->commands[i]);
        if (row != UINT32_MAX) self->pos[row] = self->given_pos[i];
    }
}

bench_rows bench_rows_command(void) {
    static const bench_job record_plain = {{clear_shoal, clear_best},
                                           {record_plain_shoal, record_plain_best},
                                           is_created_plain_equal,
                                           bench_world_destroy,
                                           NULL};
    static const bench_job flush_plain = {
        {clear_and_record_plain_shoal, clear_and_record_plain_best},
        {flush_shoal, flush_plain_best},
        is_created_plain_equal,
        bench_world_destroy,
        NULL};
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
    static const bench_job set = {
        {NULL, NULL}, {set_shoal, set_best}, are_rows_equal, bench_world_destroy, NULL};
    static const char unit[] = "ns_per_entity";
    static const bench_row rows[] = {
        {"defer_record_100k", unit, COUNT, 1, 1, false, create, &record_plain},
        {"defer_flush_100k", unit, COUNT, 1, 1, false, create, &flush_plain},
        {"defer_record_values_100k", unit, COUNT, 1, 1, false, create, &record},
        {"defer_flush_values_100k", unit, COUNT, 1, 1, false, create, &flush},
        {"defer_set_random_100k", unit, COUNT, 1, 1, false, create_movers, &set},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
