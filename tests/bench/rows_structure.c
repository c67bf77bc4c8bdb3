// SPDX-License-Identifier: MIT
// Structure: a component of 8 bytes is added or removed (100,000 entities of 24 bytes), at once and
// by command; and creation by command. The twin moves rows between two tables at once in both
// cases, because batching is the purpose of commands.
#include "bench_best.h"
#include "bench_world.h"

#include <string.h>

#define COUNT 100000u
#define IN_BOOSTED 0x80000000u

typedef struct best_table {
    uint32_t count;
    uint32_t* entities;
    ecs_vec3 *pos, *vel;
    ecs_vec2* boost; ///< second table only
} best_table;

typedef struct fixture {
    bench_world shoal;
    ecs_template_id boosted;
    ecs_entity* entities;
    best_handles handles; ///< records[].row has IN_BOOSTED for rows of the second table
    best_table tables[2];
    uint32_t* commands;
    uint32_t command_count;
} fixture;

static void* create_world(void) {
    static const bench_world_config config = {
        .commands_max = COUNT,
        .templates = "boosted { _extends:t=mover; boost:p2=1,1 }\n",
    };
    fixture* self = bench_allocate(sizeof *self);
    bench_world_init(&self->shoal, &config);
    self->boosted = ecs_template_find(self->shoal.world, "boosted");
    self->entities = bench_allocate(COUNT * sizeof *self->entities);
    self->commands = bench_allocate(COUNT * sizeof *self->commands);
    best_handles_init(&self->handles, COUNT);
    for (uint32_t i = 0; i < 2; i++) {
        self->tables[i].entities = bench_allocate(COUNT * sizeof(uint32_t));
        self->tables[i].pos = bench_allocate(COUNT * sizeof(ecs_vec3));
        self->tables[i].vel = bench_allocate(COUNT * sizeof(ecs_vec3));
        self->tables[i].boost = bench_allocate(COUNT * sizeof(ecs_vec2));
    }
    return self;
}

// ---- adding and removing a component ----

static void* create_movers(void) {
    fixture* self = create_world();
    bench_world_fill(&self->shoal, self->shoal.mover, COUNT, self->entities);
    for (uint32_t i = 0; i < COUNT; i++) {
        best_table* table = &self->tables[0];
        table->entities[i] = best_handle_make(&self->handles);
        table->pos[i] = (ecs_vec3){1.0f, 2.0f, 3.0f};
        table->vel[i] = (ecs_vec3){1.0f, -2.0f, 0.5f};
        table->count++;
    }
    ecs_changes_clear(self->shoal.world);
    return self;
}

static void recreate_shoal(fixture* self, ecs_template_id target) {
    for (uint32_t i = 0; i < COUNT; i++)
        (void)!ecs_recreate(self->shoal.world, self->entities[i], target, NULL, 0);
    ecs_changes_clear(self->shoal.world);
}

static void recreate_by_command(fixture* self, ecs_template_id target) {
    for (uint32_t i = 0; i < COUNT; i++)
        (void)ecs_command_recreate(self->shoal.world, self->entities[i], target, NULL, 0);
    ecs_command_flush(self->shoal.world);
    ecs_changes_clear(self->shoal.world);
}

static void add_shoal(void* memory) {
    recreate_shoal(memory, ((fixture*)memory)->boosted);
}
static void remove_shoal(void* memory) {
    recreate_shoal(memory, ((fixture*)memory)->shoal.mover);
}
static void add_command(void* memory) {
    recreate_by_command(memory, ((fixture*)memory)->boosted);
}
static void remove_command(void* memory) {
    recreate_by_command(memory, ((fixture*)memory)->shoal.mover);
}

// Row `row` of table `from` becomes the last of the other one.
static inline void best_move(fixture* self, uint32_t from, uint32_t row) {
    best_table *source = &self->tables[from], *target = &self->tables[1 - from];
    uint32_t to = target->count++, last = --source->count;
    target->entities[to] = source->entities[row];
    target->pos[to] = source->pos[row];
    target->vel[to] = source->vel[row];
    if (from == 0) target->boost[to] = (ecs_vec2){1.0f, 1.0f};
    self->handles.records[target->entities[to] & 0x3fffffu].row = to | (from ? 0 : IN_BOOSTED);
    if (row == last) return;
    source->entities[row] = source->entities[last];
    source->pos[row] = source->pos[last];
    source->vel[row] = source->vel[last];
    if (from == 1) source->boost[row] = source->boost[last];
    self->handles.records[source->entities[row] & 0x3fffffu].row = row | (from ? IN_BOOSTED : 0);
}

static __attribute__((noinline)) void add_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t row = best_handle_row(&self->handles, self->handles.entities[i]);
        if (row != UINT32_MAX && !(row & IN_BOOSTED)) best_move(self, 0, row);
    }
}

static __attribute__((noinline)) void remove_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t row = best_handle_row(&self->handles, self->handles.entities[i]);
        if (row != UINT32_MAX && row & IN_BOOSTED) best_move(self, 1, row & ~IN_BOOSTED);
    }
}

static bool is_moved_equal(void* memory) {
    fixture* self = memory;
    uint32_t boosted = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        boosted += ecs_entity_template(self->shoal.world, self->entities[i]) == self->boosted;
        const ecs_vec3* vel = ecs_get(self->shoal.world, self->entities[i], self->shoal.vel);
        if (vel->y != -2.0f) return false;
    }
    return boosted == self->tables[1].count && self->tables[0].count + boosted == COUNT;
}

// ---- creation by command ----

static void clear_shoal(void* memory) {
    fixture* self = memory;
    ecs_command_flush(self->shoal.world);
    bench_world_clear(&self->shoal, self->shoal.movers);
}

static void record_shoal(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++)
        (void)ecs_command_create(self->shoal.world, self->shoal.mover, NULL, 0);
}

static void flush_shoal(void* memory) {
    ecs_command_flush(((fixture*)memory)->shoal.world);
}

static void clear_and_record_shoal(void* memory) {
    clear_shoal(memory);
    record_shoal(memory);
}

static __attribute__((noinline)) void record_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        if (self->command_count == COUNT) return;
        self->commands[self->command_count++] = self->shoal.mover;
    }
}

static __attribute__((noinline)) void flush_best(void* memory) {
    fixture* self = memory;
    best_table* table = &self->tables[0];
    uint32_t first = table->count, count = 0;
    for (uint32_t i = 0; i < self->command_count; i++) {
        if (self->commands[i] == self->shoal.mover) count++;
    }
    for (uint32_t i = 0; i < count; i++)
        table->entities[first + i] = best_handle_make(&self->handles);
    for (uint32_t i = 0; i < count; i++)
        table->pos[first + i] = (ecs_vec3){1.0f, 2.0f, 3.0f};
    for (uint32_t i = 0; i < count; i++)
        table->vel[first + i] = (ecs_vec3){1.0f, -2.0f, 0.5f};
    table->count += count;
    self->command_count = 0;
}

static void clear_best(void* memory) {
    fixture* self = memory;
    self->command_count = 0;
    self->tables[0].count = 0;
    best_handles_clear(&self->handles);
}

static void clear_and_record_best(void* memory) {
    clear_best(memory);
    record_best(memory);
}

static bool is_created_equal(void* memory) {
    fixture* self = memory;
    ecs_command_flush(self->shoal.world);
    if (self->command_count) flush_best(self);
    return ecs_query_count(self->shoal.world, self->shoal.movers) == self->tables[0].count &&
           ecs_world_counters(self->shoal.world)->commands_refused == 0;
}

bench_rows bench_rows_structure(void) {
    static const bench_job add = {{remove_shoal, remove_best},
                                  {add_shoal, add_best},
                                  is_moved_equal,
                                  bench_world_destroy,
                                  NULL};
    static const bench_job remove = {{add_shoal, add_best},
                                     {remove_shoal, remove_best},
                                     is_moved_equal,
                                     bench_world_destroy,
                                     NULL};
    static const bench_job add_batch = {{remove_shoal, remove_best},
                                        {add_command, add_best},
                                        is_moved_equal,
                                        bench_world_destroy,
                                        NULL};
    static const bench_job remove_batch = {{add_shoal, add_best},
                                           {remove_command, remove_best},
                                           is_moved_equal,
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
    static const char unit[] = "ns_per_entity";
    static const bench_row rows[] = {
        {"add_100k", unit, COUNT, 1, 1, false, create_movers, &add, NULL},
        {"remove_100k", unit, COUNT, 1, 1, false, create_movers, &remove, NULL},
        {"add_batch_100k", unit, COUNT, 1, 1, false, create_movers, &add_batch, NULL},
        {"remove_batch_100k", unit, COUNT, 1, 1, false, create_movers, &remove_batch, NULL},
        {"defer_record_100k", unit, COUNT, 1, 1, false, create_world, &record, NULL},
        {"defer_flush_100k", unit, COUNT, 1, 1, false, create_world, &flush, NULL},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
