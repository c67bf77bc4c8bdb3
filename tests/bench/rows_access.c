// SPDX-License-Identifier: MIT
// Access by handle: reading, writing and checking existence, in order of creation and in random
// order, over a million entities. The twin checks generations too: an unchecked look-up is another
// job.
#include "bench_best.h"
#include "bench_world.h"

#define COUNT 1000000u

typedef struct fixture {
    bench_world shoal;
    ecs_entity* entities; ///< in the order of access
    uint32_t* best;       ///< handles of the twin, in the same order
    best_handles handles;
    ecs_vec3* pos;
    double sum_shoal, sum_best;
    uint32_t alive_shoal, alive_best;
} fixture;

static void* create(bool is_shuffled, bool is_half_dead) {
    static const bench_world_config config = {.entities_max = 1u << 21};
    fixture* self = bench_allocate(sizeof *self);
    bench_world_init(&self->shoal, &config);
    ecs_entity* entities = bench_allocate(COUNT * sizeof *entities);
    uint32_t* order = bench_allocate(COUNT * sizeof *order);
    self->entities = bench_allocate(COUNT * sizeof *self->entities);
    self->best = bench_allocate(COUNT * sizeof *self->best);
    self->pos = bench_allocate(COUNT * sizeof *self->pos);
    best_handles_init(&self->handles, COUNT);
    bench_world_fill(&self->shoal, self->shoal.mover, COUNT, entities);
    bench_shuffle(order, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        self->pos[i] = (ecs_vec3){1.0f, 2.0f, 3.0f};
        (void)best_handle_make(&self->handles);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t from = is_shuffled ? order[i] : i;
        self->entities[i] = entities[from];
        self->best[i] = self->handles.entities[from];
    }
    // Destroy half of them: the twin's handles become stale without moving anything.
    for (uint32_t i = 0; i < COUNT && is_half_dead; i++) {
        if (order[i] & 1) continue;
        (void)!ecs_destroy(self->shoal.world, entities[i]);
        self->handles.records[self->handles.entities[i] & 0x3fffffu].generation++;
    }
    ecs_changes_clear(self->shoal.world);
    return self;
}

BENCH_CREATE(create_seq, create(false, false))
BENCH_CREATE(create_random, create(true, false))
BENCH_CREATE(create_seq_dead, create(false, true))
BENCH_CREATE(create_random_dead, create(true, true))

static void upkeep(void* memory) {
    bench_world_upkeep(&((fixture*)memory)->shoal);
}

static void run_get_shoal(void* memory) {
    fixture* self = memory;
    double sum = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const ecs_vec3* pos = ecs_get(self->shoal.world, self->entities[i], self->shoal.pos);
        sum += (double)pos->x;
    }
    self->sum_shoal = sum;
}

static __attribute__((noinline)) void run_get_best(void* memory) {
    fixture* self = memory;
    double sum = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t row = best_handle_row(&self->handles, self->best[i]);
        bench_require(row != UINT32_MAX, "a dead handle");
        sum += (double)self->pos[row].x;
    }
    self->sum_best = sum;
}

// In blocks that fit the first cache.
static void run_get_many_shoal(void* memory) {
    enum { BLOCK = 64 };
    fixture* self = memory;
    const void* cells[BLOCK];
    double sum = 0;
    for (uint32_t i = 0; i < COUNT; i += BLOCK) {
        uint32_t count = COUNT - i < BLOCK ? COUNT - i : BLOCK;
        ecs_find_many(self->shoal.world, self->shoal.pos, self->entities + i, count, cells);
        for (uint32_t k = 0; k < count; k++)
            sum += (double)((const ecs_vec3*)cells[k])->x;
    }
    self->sum_shoal = sum;
}

static void run_set_shoal(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        const ecs_vec3 value = {(float)(i & 1023), 2.0f, 3.0f};
        (void)!ecs_set(self->shoal.world, self->entities[i], self->shoal.pos, &value);
    }
}

static __attribute__((noinline)) void run_set_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t row = best_handle_row(&self->handles, self->best[i]);
        if (row != UINT32_MAX) self->pos[row] = (ecs_vec3){(float)(i & 1023), 2.0f, 3.0f};
    }
}

static void run_alive_shoal(void* memory) {
    fixture* self = memory;
    uint32_t alive = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        alive += ecs_is_alive(self->shoal.world, self->entities[i]);
    self->alive_shoal = alive;
}

static __attribute__((noinline)) void run_alive_best(void* memory) {
    fixture* self = memory;
    uint32_t alive = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        alive += best_handle_row(&self->handles, self->best[i]) != UINT32_MAX;
    self->alive_best = alive;
}

static bool is_equal(void* memory) {
    fixture* self = memory;
    if (self->sum_shoal != self->sum_best || self->alive_shoal != self->alive_best) return false;
    for (uint32_t i = 0; i < COUNT; i++) {
        const void* pos = ecs_find(self->shoal.world, self->entities[i], self->shoal.pos);
        uint32_t row = best_handle_row(&self->handles, self->best[i]);
        if (!pos != (row == UINT32_MAX)) return false;
        if (pos && memcmp(pos, &self->pos[row], sizeof(ecs_vec3)) != 0) return false;
    }
    return true;
}

bench_rows bench_rows_access(void) {
    static const bench_job get = {
        {upkeep, NULL}, {run_get_shoal, run_get_best}, is_equal, bench_world_destroy, NULL};
    static const bench_job get_many = {
        {upkeep, NULL}, {run_get_many_shoal, run_get_best}, is_equal, bench_world_destroy, NULL};
    static const bench_job set = {
        {upkeep, NULL}, {run_set_shoal, run_set_best}, is_equal, bench_world_destroy, NULL};
    static const bench_job alive = {
        {upkeep, NULL}, {run_alive_shoal, run_alive_best}, is_equal, bench_world_destroy, NULL};
    static const char unit[] = "ns_per_access";
    static const bench_row rows[] = {
        {"get_seq_1m", unit, COUNT, 1, 2, false, create_seq, &get},
        {"get_random_1m", unit, COUNT, 1, 2, false, create_random, &get},
        {"get_many_random_1m", unit, COUNT, 1, 2, false, create_random, &get_many},
        {"set_random_1m", unit, COUNT, 1, 2, false, create_random, &set},
        {"alive_random_1m", unit, COUNT, 1, 2, false, create_random_dead, &alive},
        {"alive_seq_1m", unit, COUNT, 1, 2, false, create_seq_dead, &alive},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
