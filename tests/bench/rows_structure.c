// SPDX-License-Identifier: MIT
// Structure: a component of 8 bytes is added or removed, at once and by command: 100,000 entities
// of 24 bytes; wide: 30,000 entities of 516 bytes. By command, recording and flush are measured
// together. The twin moves rows between two tables at once in all cases, because batching is the
// purpose of commands.
#include "bench_best.h"
#include "bench_world.h"

#define COUNT 100000u
#define WIDE_COUNT 30000u
#define IN_BOOSTED 0x80000000u

typedef struct best_table {
    uint32_t count;
    uint32_t* entities;
    ecs_vec3 *pos, *vel;
    ecs_matrix* matrices[BENCH_WIDE_MATRICES]; ///< this and the next two: of wide ones only
    ecs_vec2* size;
    int32_t* hits;
    ecs_vec2* boost; ///< second table only
} best_table;

typedef struct fixture {
    bench_world shoal;
    ecs_template_id plain, boosted;
    ecs_entity* entities;
    uint32_t count;
    best_handles handles; ///< records[].row has IN_BOOSTED for rows of the second table
    best_table tables[2];
} fixture;

static void create_table(best_table* table, uint32_t count, bool is_wide) {
    table->entities = bench_allocate(count * sizeof *table->entities);
    for (uint32_t i = 0; is_wide && i < BENCH_WIDE_MATRICES; i++)
        table->matrices[i] = bench_allocate(count * sizeof(ecs_matrix));
    table->pos = bench_allocate(count * sizeof *table->pos);
    table->vel = bench_allocate(count * sizeof *table->vel);
    if (is_wide) table->size = bench_allocate(count * sizeof *table->size);
    table->hits = bench_allocate(count * sizeof *table->hits);
    table->boost = bench_allocate(count * sizeof *table->boost);
}

static void* create(uint32_t count, bool is_wide) {
    const bench_world_config config = {
        .commands_max = count,
        .templates = is_wide ? "boosted { _extends:t=wide; boost:p2=1,1 }\n"
                             : "boosted { _extends:t=mover; boost:p2=1,1 }\n"};
    fixture* self = bench_allocate(sizeof *self);
    bench_world_init(&self->shoal, &config);
    self->count = count;
    self->plain = is_wide ? self->shoal.wide : self->shoal.mover;
    self->boosted = ecs_template_find(self->shoal.world, "boosted");
    self->entities = bench_allocate(count * sizeof *self->entities);
    best_handles_init(&self->handles, count);
    for (uint32_t i = 0; i < 2; i++)
        create_table(&self->tables[i], count, is_wide);
    bench_world_fill(&self->shoal, self->plain, count, self->entities);
    best_table* table = &self->tables[0];
    for (; table->count < count; table->count++) {
        table->entities[table->count] = best_handle_make(&self->handles);
        table->pos[table->count] = (ecs_vec3){1.0f, 2.0f, 3.0f};
        table->vel[table->count] = (ecs_vec3){1.0f, -2.0f, 0.5f};
        table->hits[table->count] = 7;
    }
    ecs_changes_clear(self->shoal.world);
    return self;
}

BENCH_CREATE(create_movers, create(COUNT, false))
BENCH_CREATE(create_wide, create(WIDE_COUNT, true))

static void recreate_shoal(fixture* self, ecs_template_id target) {
    for (uint32_t i = 0; i < self->count; i++)
        (void)!ecs_recreate(self->shoal.world, self->entities[i], target, NULL, 0);
    ecs_changes_clear(self->shoal.world);
}

static void recreate_by_command(fixture* self, ecs_template_id target) {
    for (uint32_t i = 0; i < self->count; i++)
        (void)ecs_command_recreate(self->shoal.world, self->entities[i], target, NULL, 0);
    ecs_command_flush(self->shoal.world);
    ecs_changes_clear(self->shoal.world);
}

static void add_shoal(void* memory) {
    recreate_shoal(memory, ((fixture*)memory)->boosted);
}
static void remove_shoal(void* memory) {
    recreate_shoal(memory, ((fixture*)memory)->plain);
}
static void add_command(void* memory) {
    recreate_by_command(memory, ((fixture*)memory)->boosted);
}
static void remove_command(void* memory) {
    recreate_by_command(memory, ((fixture*)memory)->plain);
}

static inline __attribute__((always_inline)) void
copy_row(best_table* to, uint32_t row, const best_table* from, uint32_t from_row, bool is_wide) {
    to->entities[row] = from->entities[from_row];
    to->pos[row] = from->pos[from_row];
    to->vel[row] = from->vel[from_row];
    if (!is_wide) return;
    for (uint32_t i = 0; i < BENCH_WIDE_MATRICES; i++)
        to->matrices[i][row] = from->matrices[i][from_row];
    to->size[row] = from->size[from_row];
    to->hits[row] = from->hits[from_row];
}

// Row `row` of table `from` becomes the last of the other one.
static inline __attribute__((always_inline)) void best_move(fixture* self, uint32_t from,
                                                            uint32_t row, bool is_wide) {
    best_table *source = &self->tables[from], *target = &self->tables[1 - from];
    best_record* records = self->handles.records;
    uint32_t to = target->count++, last = --source->count;
    copy_row(target, to, source, row, is_wide);
    if (from == 0) target->boost[to] = (ecs_vec2){1.0f, 1.0f};
    records[target->entities[to] & 0x3fffffu].row = to | (from ? 0 : IN_BOOSTED);
    if (row == last) return;
    copy_row(source, row, source, last, is_wide);
    if (from == 1) source->boost[row] = source->boost[last];
    records[source->entities[row] & 0x3fffffu].row = row | (from ? IN_BOOSTED : 0);
}

// From is a constant in each of the functions below, as the width is.
static inline __attribute__((always_inline)) void move_all(fixture* self, uint32_t from,
                                                           uint32_t count, bool is_wide) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = best_handle_row(&self->handles, self->handles.entities[i]);
        if (row != UINT32_MAX && row >> 31 == from)
            best_move(self, from, row & ~IN_BOOSTED, is_wide);
    }
}

static __attribute__((noinline)) void add_best(void* memory) {
    move_all(memory, 0, COUNT, false);
}
static __attribute__((noinline)) void remove_best(void* memory) {
    move_all(memory, 1, COUNT, false);
}
static __attribute__((noinline)) void add_wide_best(void* memory) {
    move_all(memory, 0, WIDE_COUNT, true);
}
static __attribute__((noinline)) void remove_wide_best(void* memory) {
    move_all(memory, 1, WIDE_COUNT, true);
}

static bool is_equal(void* memory) {
    fixture* self = memory;
    uint32_t boosted = 0;
    for (uint32_t i = 0; i < self->count; i++) {
        boosted += ecs_entity_template(self->shoal.world, self->entities[i]) == self->boosted;
        const ecs_vec3* vel = ecs_get(self->shoal.world, self->entities[i], self->shoal.vel);
        const int32_t* hits = ecs_find(self->shoal.world, self->entities[i], self->shoal.hits);
        if (vel->y != -2.0f || (hits && *hits != 7)) return false;
    }
    return boosted == self->tables[1].count && self->tables[0].count + boosted == self->count;
}

bench_rows bench_rows_structure(void) {
    static const bench_job add = {
        {remove_shoal, remove_best}, {add_shoal, add_best}, is_equal, bench_world_destroy, NULL};
    static const bench_job remove = {
        {add_shoal, add_best}, {remove_shoal, remove_best}, is_equal, bench_world_destroy, NULL};
    static const bench_job add_batch = {
        {remove_shoal, remove_best}, {add_command, add_best}, is_equal, bench_world_destroy, NULL};
    static const bench_job remove_batch = {
        {add_shoal, add_best}, {remove_command, remove_best}, is_equal, bench_world_destroy, NULL};
    static const bench_job add_wide = {{remove_command, remove_wide_best},
                                       {add_command, add_wide_best},
                                       is_equal,
                                       bench_world_destroy,
                                       NULL};
    static const char unit[] = "ns_per_entity";
    static const bench_row rows[] = {
        {"add_100k", unit, COUNT, 1, 1, false, create_movers, &add},
        {"remove_100k", unit, COUNT, 1, 1, false, create_movers, &remove},
        {"add_batch_100k", unit, COUNT, 1, 1, false, create_movers, &add_batch},
        {"remove_batch_100k", unit, COUNT, 1, 1, false, create_movers, &remove_batch},
        {"add_batch_wide_30k", unit, WIDE_COUNT, 1, 1, false, create_wide, &add_wide},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
