// SPDX-License-Identifier: MIT
// Sparse components: 8 bytes are given to 100,000 entities, in random order, and taken again, and a
// query walks those that have them beside a position in the tables. The twin is a sparse set with
// checked handles: position by index, entities and values without a gap.
#include "bench_best.h"
#include "bench_world.h"

#define COUNT 100000u
#define NOWHERE UINT32_MAX

typedef struct fixture {
    bench_world shoal;
    ecs_entity* entities;
    uint32_t* best; ///< handles of the twin, in the same order
    best_handles handles;
    ecs_vec3* pos;
    uint32_t* positions; ///< by index
    uint32_t* owners;    ///< by position
    ecs_vec2* values;
    uint32_t count;
    double sum_shoal, sum_best;
} fixture;

static void* create(void) {
    static const bench_world_config config = {0};
    fixture* self = bench_allocate(sizeof *self);
    bench_world_init(&self->shoal, &config);
    ecs_entity* entities = bench_allocate(COUNT * sizeof *entities);
    uint32_t* order = bench_allocate(COUNT * sizeof *order);
    self->entities = bench_allocate(COUNT * sizeof *self->entities);
    self->best = bench_allocate(COUNT * sizeof *self->best);
    self->pos = bench_allocate(COUNT * sizeof *self->pos);
    self->positions = bench_allocate((COUNT + 1) * sizeof *self->positions);
    self->owners = bench_allocate(COUNT * sizeof *self->owners);
    self->values = bench_allocate(COUNT * sizeof *self->values);
    best_handles_init(&self->handles, COUNT);
    bench_require(ecs_create_many(self->shoal.world, self->shoal.stunned, COUNT, entities) ==
                      ECS_OK,
                  "create");
    bench_shuffle(order, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        self->pos[i] = (ecs_vec3){1.0f, 2.0f, 3.0f};
        self->positions[i + 1] = NOWHERE;
        (void)best_handle_make(&self->handles);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        self->entities[i] = entities[order[i]];
        self->best[i] = self->handles.entities[order[i]];
    }
    ecs_changes_clear(self->shoal.world);
    bench_release(entities);
    bench_release(order);
    return self;
}

static void destroy(void* memory) {
    fixture* self = memory;
    bench_world_deinit(&self->shoal);
    best_handles_deinit(&self->handles);
    bench_release(self->entities);
    bench_release(self->best);
    bench_release(self->pos);
    bench_release(self->positions);
    bench_release(self->owners);
    bench_release(self->values);
    bench_release(self);
}

static void add_shoal(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        const ecs_vec2 value = {(float)i, 1.0f};
        (void)!ecs_add(self->shoal.world, self->entities[i], self->shoal.stun, &value);
    }
}

static void remove_shoal(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++)
        (void)!ecs_remove(self->shoal.world, self->entities[i], self->shoal.stun);
}

static __attribute__((noinline)) void add_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t handle = self->best[i], index = handle & 0x3fffffu;
        if (best_handle_row(&self->handles, handle) == NOWHERE) continue;
        uint32_t at = self->positions[index];
        if (at == NOWHERE) {
            at = self->positions[index] = self->count++;
            self->owners[at] = handle;
        }
        self->values[at] = (ecs_vec2){(float)i, 1.0f};
    }
}

static __attribute__((noinline)) void remove_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t handle = self->best[i], index = handle & 0x3fffffu;
        const uint32_t at = self->positions[index];
        if (at == NOWHERE || self->owners[at] != handle) continue;
        const uint32_t last = --self->count;
        self->owners[at] = self->owners[last];
        self->values[at] = self->values[last];
        self->positions[self->owners[at] & 0x3fffffu] = at;
        self->positions[index] = NOWHERE;
    }
}

static void query_shoal(void* memory) {
    fixture* self = memory;
    double sum = 0;
    ecs_query_iter it = ecs_query_begin(self->shoal.world, self->shoal.stuns);
    while (ecs_query_next(&it)) {
        const ecs_vec3* pos = it.rows.columns[0];
        const ecs_vec2* stun = it.rows.columns[1];
        for (uint32_t i = 0; i < it.rows.count; i++)
            sum += (double)(pos[i].x + stun[i].x);
    }
    self->sum_shoal = sum;
}

static __attribute__((noinline)) void query_best(void* memory) {
    fixture* self = memory;
    double sum = 0;
    for (uint32_t at = 0; at < self->count; at++) {
        const uint32_t row = best_handle_row(&self->handles, self->owners[at]);
        if (row != NOWHERE) sum += (double)(self->pos[row].x + self->values[at].x);
    }
    self->sum_best = sum;
}

static bool is_equal(void* memory) {
    fixture* self = memory;
    return self->sum_shoal == self->sum_best &&
           ecs_query_count(self->shoal.world, self->shoal.stuns) == self->count;
}

bench_rows bench_rows_sparse(void) {
    static const bench_job add = {destroy,  remove_shoal, remove_best, add_shoal,
                                  add_best, is_equal,     NULL};
    static const bench_job remove = {destroy,     add_shoal, add_best, remove_shoal,
                                     remove_best, is_equal,  NULL};
    static const bench_job query = {destroy,    add_shoal, add_best, query_shoal,
                                    query_best, is_equal,  NULL};
    static const char unit[] = "ns_per_entity";
    static const bench_row rows[] = {
        {"add_sparse_100k", unit, COUNT, 1, 1, false, create, &add, NULL},
        {"remove_sparse_100k", unit, COUNT, 1, 1, false, create, &remove, NULL},
        {"query_sparse_100k", unit, COUNT, 1, 1, false, create, &query, NULL},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
