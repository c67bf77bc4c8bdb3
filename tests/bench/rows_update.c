// SPDX-License-Identifier: MIT
// Walking columns: pos += vel * dt (two p3, 24 bytes) through a system of a whole step, and through
// a query over 256 archetypes. Both sides run the same loop; the difference is how the columns are
// found.
#include "bench_world.h"

#include "base/text.h"

#include <stdio.h>

typedef struct update_fixture {
    bench_world shoal;
    float *pos, *vel;
    uint32_t count;
} update_fixture;

static void* create_update(uint32_t count, bool is_generated) {
    update_fixture* self = bench_allocate(sizeof *self);
    const bench_world_config config = {.has_move = !is_generated, .has_move_es = is_generated};
    bench_world_init(&self->shoal, &config);
    self->count = count;
    self->pos = bench_allocate((size_t)count * 12);
    self->vel = bench_allocate((size_t)count * 12);
    bench_world_fill(&self->shoal, self->shoal.mover, count, NULL);
    ecs_changes_clear(self->shoal.world);
    uint32_t row = 0;
    ecs_query_iter it = ecs_query_begin(self->shoal.world, self->shoal.movers);
    while (ecs_query_next(&it)) {
        ecs_vec3* velocities = it.rows.columns[1];
        for (uint32_t i = 0; i < it.rows.count; i++, row++) {
            velocities[i] = (ecs_vec3){(float)(row % 17), 1.0f, -(float)(row % 5)};
            memcpy(self->vel + row * 3, &velocities[i], 12);
            memcpy(self->pos + row * 3, (const ecs_vec3*)it.rows.columns[0] + i, 12);
        }
    }
    return self;
}

BENCH_CREATE(create_30k, create_update(30000, false))
BENCH_CREATE(create_esgen_30k, create_update(30000, true))
BENCH_CREATE(create_1m, create_update(1000000, false))

static void run_update_shoal(void* fixture) {
    update_fixture* self = fixture;
    bench_world_step(&self->shoal);
}

static __attribute__((noinline)) void run_update_best(void* fixture) {
    update_fixture* self = fixture;
    bench_move(self->pos, self->vel, BENCH_DT, self->count);
}

// The upkeep's step moves once too, so the twin does the same.
static void prepare_update_shoal(void* fixture) {
    bench_world_upkeep(&((update_fixture*)fixture)->shoal);
}

static bool is_update_equal(void* fixture) {
    update_fixture* self = fixture;
    // The step at the creation of the world found no mover.
    uint32_t row = 0;
    ecs_query_iter it = ecs_query_begin(self->shoal.world, self->shoal.movers);
    bool is_equal = true;
    while (ecs_query_next(&it)) {
        is_equal &= memcmp(it.rows.columns[0], self->pos + row * 3, it.rows.count * 12u) == 0;
        row += it.rows.count;
    }
    return is_equal && row == self->count;
}

#define ARCHETYPES 256u

typedef struct best_block {
    float *pos, *vel;
    uint32_t count;
} best_block;

typedef struct query_fixture {
    bench_world shoal;
    best_block blocks[ARCHETYPES];
} query_fixture;

// Eight tags, each there or not: 256 archetypes that all have pos and vel.
static void* create_query(uint32_t rows) {
    query_fixture* self = bench_allocate(sizeof *self);
    char* text = bench_allocate(ARCHETYPES * 256);
    size_t used = 0;
    for (uint32_t i = 0; i < ARCHETYPES; i++) {
        used += (size_t)sprintf(text + used, "t%u { _extends:t=mover\n", i);
        for (uint32_t bit = 0; bit < 8; bit++) {
            if (i >> bit & 1) used += (size_t)sprintf(text + used, " \"g%u:tag\"{}\n", bit);
        }
        used += (size_t)sprintf(text + used, "}\n");
    }
    const bench_world_config config = {.templates = text};
    bench_world_init(&self->shoal, &config);
    for (uint32_t i = 0; i < ARCHETYPES; i++) {
        char name[8];
        base_text_format(name, sizeof name, "t%u", i);
        ecs_template_id id = ecs_template_find(self->shoal.world, name);
        bench_world_fill(&self->shoal, id, rows, NULL);
        best_block* block = &self->blocks[i];
        *block = (best_block){bench_allocate(rows * 12u), bench_allocate(rows * 12u), rows};
        for (uint32_t row = 0; row < rows; row++) {
            memcpy(block->pos + row * 3, (const float[]){1.0f, 2.0f, 3.0f}, 12);
            memcpy(block->vel + row * 3, (const float[]){1.0f, -2.0f, 0.5f}, 12);
        }
    }
    ecs_changes_clear(self->shoal.world);
    return self;
}

BENCH_CREATE(create_query_100, create_query(100))
BENCH_CREATE(create_query_1, create_query(1))

static void run_query_shoal(void* fixture) {
    query_fixture* self = fixture;
    ecs_query_iter it = ecs_query_begin(self->shoal.world, self->shoal.movers);
    while (ecs_query_next(&it))
        bench_move(it.rows.columns[0], it.rows.columns[1], BENCH_DT, it.rows.count);
}

static __attribute__((noinline)) void run_query_best(void* fixture) {
    query_fixture* self = fixture;
    for (uint32_t i = 0; i < ARCHETYPES; i++) {
        const best_block* block = &self->blocks[i];
        bench_move(block->pos, block->vel, BENCH_DT, block->count);
    }
}

static bool is_query_equal(void* fixture) {
    query_fixture* self = fixture;
    bool is_equal = true;
    uint32_t index = 0;
    ecs_query_iter it = ecs_query_begin(self->shoal.world, self->shoal.movers);
    while (ecs_query_next(&it)) {
        const best_block* block = &self->blocks[index++];
        is_equal &= it.rows.count == block->count &&
                    memcmp(it.rows.columns[0], block->pos, block->count * 12u) == 0;
    }
    return is_equal && index == ARCHETYPES;
}

bench_rows bench_rows_update(void) {
    static const bench_job update = {{prepare_update_shoal, run_update_best},
                                     {run_update_shoal, run_update_best},
                                     is_update_equal,
                                     bench_world_destroy,
                                     NULL};
    static const bench_job query = {
        {NULL, NULL}, {run_query_shoal, run_query_best}, is_query_equal, bench_world_destroy, NULL};
    static const char entity[] = "ns_per_entity";
    static const bench_row rows[] = {
        {"update_hot_30k", entity, 30000, 1, 1000, false, create_30k, &update},
        {"update_esgen_30k", entity, 30000, 1, 1000, false, create_esgen_30k, &update},
        {"update_cold_30k", entity, 30000, 1, 1, true, create_30k, &update},
        {"update_hot_1m", entity, 1e6, 1, 20, false, create_1m, &update},
        {"update_cold_1m", entity, 1e6, 1, 1, true, create_1m, &update},
        {"query_256x100", entity, 25600, 1, 500, false, create_query_100, &query},
        {"query_256x1", "ns_per_archetype", 256, 1, 2000, false, create_query_1, &query},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
