// SPDX-License-Identifier: MIT
// Many changes by command: a component of 8 bytes is added to 30,000 entities of 516 bytes.
// Recording and flush are measured together. The twin does the same one at a time, because batching
// is the purpose of commands.
#include "bench_best.h"
#include "bench_world.h"

#include <string.h>

#define WIDE_COUNT 30000u
#define IN_BOOSTED 0x80000000u

typedef struct wide_table {
    uint32_t count;
    uint32_t* entities;
    ecs_matrix* matrices[BENCH_WIDE_MATRICES];
    ecs_vec3 *pos, *vel;
    ecs_vec2* size;
    int32_t* hits;
    ecs_vec2* boost; ///< second table only
} wide_table;

typedef struct wide_fixture {
    bench_world shoal;
    ecs_template_id boosted;
    ecs_entity* entities;
    best_handles handles; ///< records[].row has IN_BOOSTED for rows of the second table
    wide_table tables[2];
} wide_fixture;

static void create_table(wide_table* table) {
    table->entities = bench_allocate(WIDE_COUNT * sizeof *table->entities);
    for (uint32_t i = 0; i < BENCH_WIDE_MATRICES; i++)
        table->matrices[i] = bench_allocate(WIDE_COUNT * sizeof(ecs_matrix));
    table->pos = bench_allocate(WIDE_COUNT * sizeof *table->pos);
    table->vel = bench_allocate(WIDE_COUNT * sizeof *table->vel);
    table->size = bench_allocate(WIDE_COUNT * sizeof *table->size);
    table->hits = bench_allocate(WIDE_COUNT * sizeof *table->hits);
    table->boost = bench_allocate(WIDE_COUNT * sizeof *table->boost);
}

static void* create_wide(void) {
    static const bench_world_config config = {
        .commands_max = WIDE_COUNT,
        .templates = "boosted { _extends:t=wide; boost:p2=1,1 }\n",
    };
    wide_fixture* self = bench_allocate(sizeof *self);
    bench_world_init(&self->shoal, &config);
    self->boosted = ecs_template_find(self->shoal.world, "boosted");
    self->entities = bench_allocate(WIDE_COUNT * sizeof *self->entities);
    best_handles_init(&self->handles, WIDE_COUNT);
    create_table(&self->tables[0]);
    create_table(&self->tables[1]);
    bench_world_fill(&self->shoal, self->shoal.wide, WIDE_COUNT, self->entities);
    for (uint32_t i = 0; i < WIDE_COUNT; i++) {
        wide_table* table = &self->tables[0];
        table->vel[i] = (ecs_vec3){1.0f, -2.0f, 0.5f};
        table->hits[i] = 7;
        table->entities[i] = best_handle_make(&self->handles);
    }
    self->tables[0].count = WIDE_COUNT;
    ecs_changes_clear(self->shoal.world);
    return self;
}

static void recreate_wide(wide_fixture* self, ecs_template_id target) {
    for (uint32_t i = 0; i < WIDE_COUNT; i++)
        (void)ecs_command_recreate(self->shoal.world, self->entities[i], target, NULL, 0);
    ecs_command_flush(self->shoal.world);
    ecs_changes_clear(self->shoal.world);
}

static void add_wide_shoal(void* memory) {
    recreate_wide(memory, ((wide_fixture*)memory)->boosted);
}

static void remove_wide_shoal(void* memory) {
    recreate_wide(memory, ((wide_fixture*)memory)->shoal.wide);
}

static inline void copy_row(wide_table* to, uint32_t row, const wide_table* from,
                            uint32_t from_row) {
    to->entities[row] = from->entities[from_row];
    for (uint32_t i = 0; i < BENCH_WIDE_MATRICES; i++)
        to->matrices[i][row] = from->matrices[i][from_row];
    to->pos[row] = from->pos[from_row];
    to->vel[row] = from->vel[from_row];
    to->size[row] = from->size[from_row];
    to->hits[row] = from->hits[from_row];
}

// Row `row` of table `from` becomes the last of the other one.
static inline void move_wide(wide_fixture* self, uint32_t from, uint32_t row) {
    wide_table *source = &self->tables[from], *target = &self->tables[1 - from];
    best_record* records = self->handles.records;
    uint32_t to = target->count++, last = --source->count;
    copy_row(target, to, source, row);
    if (from == 0) target->boost[to] = (ecs_vec2){1.0f, 1.0f};
    records[target->entities[to] & 0x3fffffu].row = to | (from ? 0 : IN_BOOSTED);
    if (row == last) return;
    copy_row(source, row, source, last);
    if (from == 1) source->boost[row] = source->boost[last];
    records[source->entities[row] & 0x3fffffu].row = row | (from ? IN_BOOSTED : 0);
}

static __attribute__((noinline)) void add_wide_best(void* memory) {
    wide_fixture* self = memory;
    for (uint32_t i = 0; i < WIDE_COUNT; i++) {
        uint32_t row = best_handle_row(&self->handles, self->handles.entities[i]);
        if (row != UINT32_MAX && !(row & IN_BOOSTED)) move_wide(self, 0, row);
    }
}

static __attribute__((noinline)) void remove_wide_best(void* memory) {
    wide_fixture* self = memory;
    for (uint32_t i = 0; i < WIDE_COUNT; i++) {
        uint32_t row = best_handle_row(&self->handles, self->handles.entities[i]);
        if (row != UINT32_MAX && row & IN_BOOSTED) move_wide(self, 1, row & ~IN_BOOSTED);
    }
}

static bool is_wide_equal(void* memory) {
    wide_fixture* self = memory;
    uint32_t boosted = 0;
    for (uint32_t i = 0; i < WIDE_COUNT; i++) {
        boosted += ecs_entity_template(self->shoal.world, self->entities[i]) == self->boosted;
        const ecs_vec3* vel = ecs_get(self->shoal.world, self->entities[i], self->shoal.vel);
        const int32_t* hits = ecs_get(self->shoal.world, self->entities[i], self->shoal.hits);
        if (vel->y != -2.0f || *hits != 7) return false;
    }
    return boosted == self->tables[1].count && self->tables[0].count + boosted == WIDE_COUNT;
}

bench_rows bench_rows_batch(void) {
    static const bench_job add = {{remove_wide_shoal, remove_wide_best},
                                  {add_wide_shoal, add_wide_best},
                                  is_wide_equal,
                                  bench_world_destroy,
                                  NULL};
    static const char unit[] = "ns_per_entity";
    static const bench_row rows[] = {
        {"add_batch_wide_30k", unit, WIDE_COUNT, 1, 1, false, create_wide, &add, NULL},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
