// SPDX-License-Identifier: MIT
// Creating and destroying entities.
//
// The twin of a 516-byte creation has its 14 columns at fixed places, copies the template's row
// with sizes that the compiler knows, and writes the same three overrides. It has nothing that is
// needed to choose the set of components at run time.
#include "bench_best.h"
#include "bench_world.h"

#include <sys/mman.h>

#define FRESH_BYTES_MIN 65536u
#define WIDE_COUNT 30000u
#define WIDE_COLUMNS (BENCH_WIDE_MATRICES + 4)
#define SMALL_COUNT 1000000u

typedef struct wide_columns {
    ecs_matrix* matrices[BENCH_WIDE_MATRICES];
    ecs_vec3 *pos, *vel;
    ecs_vec2* size;
    int32_t* hits;
} wide_columns;

typedef struct wide_row {
    ecs_matrix matrices[BENCH_WIDE_MATRICES];
    ecs_vec3 pos, vel;
    ecs_vec2 size;
    int32_t hits;
} wide_row;

typedef struct wide_fixture {
    bench_world shoal;
    ecs_entity* entities;
    best_handles handles;
    wide_columns columns;
    wide_row defaults;
} wide_fixture;

static const bench_world_config plain_world = {.has_move = true, .entities_max = 1u << 21};
static const bench_world_config command_world = {.entities_max = 1u << 21,
                                                 .commands_max = SMALL_COUNT};

// The kernel gives the columns, so that the fresh row can return them.
static void* map(size_t bytes) {
    void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(void* memory, size_t bytes) {
    bench_require(munmap(memory, bytes) == 0, "munmap");
}

// Where each column is kept, and the bytes of its element.
static void** wide_column_get(wide_columns* of, uint32_t index, size_t* bytes) {
    static const size_t sizes[] = {sizeof(ecs_vec3), sizeof(ecs_vec3), sizeof(ecs_vec2),
                                   sizeof(int32_t)};
    void** const places[] = {(void**)&of->pos, (void**)&of->vel, (void**)&of->size,
                             (void**)&of->hits};
    *bytes = WIDE_COUNT * (index < 4 ? sizes[index] : sizeof(ecs_matrix));
    return index < 4 ? places[index] : (void**)&of->matrices[index - 4];
}

static void map_columns(wide_fixture* self) {
    for (uint32_t i = 0; i < WIDE_COLUMNS; i++) {
        size_t bytes;
        void** column = wide_column_get(&self->columns, i, &bytes);
        *column = map(bytes);
        bench_require(*column != NULL, "mmap");
    }
}

static void unmap_columns(wide_fixture* self) {
    for (uint32_t i = 0; i < WIDE_COLUMNS; i++) {
        size_t bytes;
        void** column = wide_column_get(&self->columns, i, &bytes);
        unmap(*column, bytes);
    }
}

static void* create_wide(void) {
    wide_fixture* self = bench_allocate(sizeof *self);
    bench_world_init(&self->shoal, &plain_world);
    self->entities = bench_allocate(WIDE_COUNT * sizeof *self->entities);
    best_handles_init(&self->handles, WIDE_COUNT);
    map_columns(self);
    const ecs_template* wide = ecs_template_get(self->shoal.world, self->shoal.wide);
    for (uint32_t i = 0; i < BENCH_WIDE_MATRICES; i++) {
        const ecs_template_component* matrix =
            ecs_template_find_component(wide, self->shoal.matrices[i]);
        bench_require(matrix && matrix->value, "default of a matrix");
        memcpy(&self->defaults.matrices[i], matrix->value, sizeof(ecs_matrix));
    }
    self->defaults.pos = (ecs_vec3){1.0f, 2.0f, 3.0f};
    self->defaults.vel = (ecs_vec3){1.0f, -2.0f, 0.5f};
    self->defaults.size = (ecs_vec2){4.0f, 5.0f};
    self->defaults.hits = 7;
    return self;
}

static void destroy_wide(void* fixture) {
    wide_fixture* self = fixture;
    bench_world_deinit(&self->shoal);
    unmap_columns(self);
}

// Destroy from the last one back, so that nothing moves.
static void clear_wide_shoal(void* fixture) {
    wide_fixture* self = fixture;
    for (uint32_t i = WIDE_COUNT; i-- > 0;) {
        if (self->entities[i]) (void)!ecs_destroy(self->shoal.world, self->entities[i]);
    }
    bench_world_upkeep(&self->shoal);
}

static void clear_wide_best(void* fixture) {
    best_handles_clear(&((wide_fixture*)fixture)->handles);
}

static void run_single_shoal(void* fixture) {
    wide_fixture* self = fixture;
    const bench_world* shoal = &self->shoal;
    for (uint32_t i = 0; i < WIDE_COUNT; i++) {
        const ecs_vec3 pos = {(float)i, 2.0f, 3.0f}, vel = {1.0f, (float)i, 3.0f};
        const int32_t hits = (int32_t)i;
        const ecs_init inits[] = {{shoal->pos, &pos}, {shoal->vel, &vel}, {shoal->hits, &hits}};
        if (ecs_create(shoal->world, shoal->wide, inits, 3, &self->entities[i])) return;
    }
}

static __attribute__((noinline)) void run_single_best(void* fixture) {
    wide_fixture* self = fixture;
    const wide_columns* columns = &self->columns;
    for (uint32_t i = 0; i < WIDE_COUNT; i++) {
        uint32_t row = self->handles.count;
        if (!best_handle_make(&self->handles)) return;
        for (uint32_t j = 0; j < BENCH_WIDE_MATRICES; j++)
            columns->matrices[j][row] = self->defaults.matrices[j];
        columns->size[row] = self->defaults.size;
        columns->pos[row] = (ecs_vec3){(float)i, 2.0f, 3.0f};
        columns->vel[row] = (ecs_vec3){1.0f, (float)i, 3.0f};
        columns->hits[row] = (int32_t)i;
    }
}

static void run_bulk_shoal(void* fixture) {
    wide_fixture* self = fixture;
    (void)!ecs_create_many(self->shoal.world, self->shoal.wide, WIDE_COUNT, self->entities);
}

static __attribute__((noinline)) void run_bulk_best(void* fixture) {
    wide_fixture* self = fixture;
    const wide_columns* columns = &self->columns;
    for (uint32_t i = 0; i < WIDE_COUNT; i++)
        (void)best_handle_make(&self->handles);
    for (uint32_t j = 0; j < BENCH_WIDE_MATRICES; j++) {
        for (uint32_t i = 0; i < WIDE_COUNT; i++)
            columns->matrices[j][i] = self->defaults.matrices[j];
    }
    for (uint32_t i = 0; i < WIDE_COUNT; i++)
        columns->pos[i] = self->defaults.pos;
    for (uint32_t i = 0; i < WIDE_COUNT; i++)
        columns->vel[i] = self->defaults.vel;
    for (uint32_t i = 0; i < WIDE_COUNT; i++)
        columns->size[i] = self->defaults.size;
    for (uint32_t i = 0; i < WIDE_COUNT; i++)
        columns->hits[i] = self->defaults.hits;
}

static bool is_wide_equal(void* fixture) {
    wide_fixture* self = fixture;
    const bench_world* shoal = &self->shoal;
    for (uint32_t i = 0; i < WIDE_COUNT; i++) {
        ecs_entity entity = self->entities[i];
        if (!ecs_is_alive(shoal->world, entity)) return false;
        const void* pos = ecs_get(shoal->world, entity, shoal->pos);
        const void* vel = ecs_get(shoal->world, entity, shoal->vel);
        const void* size = ecs_get(shoal->world, entity, shoal->size);
        const void* hits = ecs_get(shoal->world, entity, shoal->hits);
        if (memcmp(pos, &self->columns.pos[i], sizeof(ecs_vec3)) != 0 ||
            memcmp(vel, &self->columns.vel[i], sizeof(ecs_vec3)) != 0 ||
            memcmp(size, &self->columns.size[i], sizeof(ecs_vec2)) != 0 ||
            memcmp(hits, &self->columns.hits[i], sizeof(int32_t)) != 0) {
            return false;
        }
        for (uint32_t j = 0; j < BENCH_WIDE_MATRICES; j++) {
            const void* matrix = ecs_get(shoal->world, entity, shoal->matrices[j]);
            if (memcmp(matrix, &self->columns.matrices[j][i], sizeof(ecs_matrix)) != 0)
                return false;
        }
    }
    return self->handles.count == WIDE_COUNT;
}

// ---- fresh: the same in memory that was never written ----

// All large memory is new in each round, so no round warms the next one.
static void* fresh_allocate(void* context, size_t size, size_t align) {
    (void)context;
    const base_allocator* heap = base_allocator_heap();
    return size < FRESH_BYTES_MIN ? heap->allocate(heap->context, size, align) : map(size);
}

static void fresh_release(void* context, void* memory, size_t size) {
    (void)context;
    const base_allocator* heap = base_allocator_heap();
    if (size < FRESH_BYTES_MIN) {
        heap->release(heap->context, memory, size);
    } else {
        unmap(memory, size);
    }
}

static void renew_shoal(void* fixture) {
    static const base_allocator fresh = {fresh_allocate, fresh_release, NULL};
    static const bench_world_config config = {.allocator = &fresh, .has_move = true};
    wide_fixture* self = fixture;
    bench_world_deinit(&self->shoal);
    bench_world_init(&self->shoal, &config);
}

// Only the columns are new. The records stay, as in a running program.
static void renew_best(void* fixture) {
    wide_fixture* self = fixture;
    best_handles_clear(&self->handles);
    unmap_columns(self);
    map_columns(self);
}

// ---- 24 bytes, a million ----

typedef struct small_fixture {
    bench_world shoal;
    ecs_entity* entities; ///< in order of creation
    uint32_t* order;      ///< order of destruction or recycling
    best_handles handles;
    uint32_t* best; ///< in order of creation
    ecs_vec3 *pos, *vel;
} small_fixture;

static void* create_small(bool is_shuffled, const bench_world_config* config) {
    small_fixture* self = bench_allocate(sizeof *self);
    bench_world_init(&self->shoal, config);
    self->entities = bench_allocate(SMALL_COUNT * sizeof *self->entities);
    self->best = bench_allocate(SMALL_COUNT * sizeof *self->best);
    self->order = bench_allocate(SMALL_COUNT * sizeof *self->order);
    self->pos = bench_allocate(SMALL_COUNT * sizeof *self->pos);
    self->vel = bench_allocate(SMALL_COUNT * sizeof *self->vel);
    best_handles_init(&self->handles, SMALL_COUNT);
    bench_shuffle(self->order, SMALL_COUNT);
    for (uint32_t i = 0; i < SMALL_COUNT && !is_shuffled; i++)
        self->order[i] = i;
    return self;
}

BENCH_CREATE(create_small_seq, create_small(false, &plain_world))
BENCH_CREATE(create_small_random, create_small(true, &plain_world))
BENCH_CREATE(create_deaths, create_small(true, &command_world))

static void run_small_create_shoal(void* fixture) {
    small_fixture* self = fixture;
    for (uint32_t i = 0; i < SMALL_COUNT; i++) {
        if (ecs_create(self->shoal.world, self->shoal.mover, NULL, 0, &self->entities[i])) return;
    }
}

static __attribute__((noinline)) void run_small_create_best(void* fixture) {
    small_fixture* self = fixture;
    for (uint32_t i = 0; i < SMALL_COUNT; i++) {
        uint32_t row = self->handles.count;
        uint32_t handle = best_handle_make(&self->handles);
        if (!handle) return;
        self->best[i] = handle;
        self->pos[row] = (ecs_vec3){1.0f, 2.0f, 3.0f};
        self->vel[row] = (ecs_vec3){1.0f, -2.0f, 0.5f};
    }
}

static void run_small_destroy_shoal(void* fixture) {
    small_fixture* self = fixture;
    for (uint32_t i = 0; i < SMALL_COUNT; i++)
        (void)!ecs_destroy(self->shoal.world, self->entities[self->order[i]]);
}

static __attribute__((noinline)) void run_small_destroy_best(void* fixture) {
    small_fixture* self = fixture;
    best_handles* handles = &self->handles;
    for (uint32_t i = 0; i < SMALL_COUNT; i++) {
        uint32_t handle = self->best[self->order[i]];
        uint32_t row = best_handle_row(handles, handle);
        if (row == UINT32_MAX) continue;
        uint32_t last = --handles->count, index = handle & 0x3fffffu;
        self->pos[row] = self->pos[last];
        self->vel[row] = self->vel[last];
        handles->entities[row] = handles->entities[last];
        handles->records[handles->entities[row] & 0x3fffffu].row = row;
        best_record* record = &handles->records[index];
        record->generation = record->generation == 1023 ? 1 : record->generation + 1;
        handles->free[handles->free_count++] = index;
    }
}

static void prepare_small_create_shoal(void* fixture) {
    small_fixture* self = fixture;
    if (self->entities[0]) run_small_destroy_shoal(self);
    bench_world_upkeep(&self->shoal);
}

static void prepare_small_create_best(void* fixture) {
    small_fixture* self = fixture;
    if (self->handles.count) run_small_destroy_best(self);
}

static void prepare_small_destroy_shoal(void* fixture) {
    small_fixture* self = fixture;
    run_small_create_shoal(self);
    ecs_changes_clear(self->shoal.world);
}

static bool is_small_equal(void* fixture) {
    small_fixture* self = fixture;
    return ecs_world_entity_count(self->shoal.world) == self->handles.count + BENCH_TRACKED;
}

// ---- the same million, destroyed by command ----

static void prepare_deaths_shoal(void* fixture) {
    small_fixture* self = fixture;
    bench_world_fill(&self->shoal, self->shoal.mover, SMALL_COUNT, self->entities);
    ecs_changes_clear(self->shoal.world);
}

// Recording and flush are measured together.
static void run_deaths_shoal(void* fixture) {
    small_fixture* self = fixture;
    for (uint32_t i = 0; i < SMALL_COUNT; i++)
        (void)ecs_command_destroy(self->shoal.world, self->entities[self->order[i]]);
    ecs_command_flush(self->shoal.world);
}

static bool is_dead_equal(void* fixture) {
    small_fixture* self = fixture;
    return is_small_equal(self) && ecs_world_counters(self->shoal.world)->commands_refused == 0;
}

bench_rows bench_rows_create(void) {
    static const bench_job single = {{clear_wide_shoal, clear_wide_best},
                                     {run_single_shoal, run_single_best},
                                     is_wide_equal,
                                     destroy_wide,
                                     NULL};
    static const bench_job bulk = {{clear_wide_shoal, clear_wide_best},
                                   {run_bulk_shoal, run_bulk_best},
                                   is_wide_equal,
                                   destroy_wide,
                                   NULL};
    static const bench_job fresh = {{renew_shoal, renew_best},
                                    {run_single_shoal, run_single_best},
                                    is_wide_equal,
                                    destroy_wide,
                                    NULL};
    static const bench_job create = {{prepare_small_create_shoal, prepare_small_create_best},
                                     {run_small_create_shoal, run_small_create_best},
                                     is_small_equal,
                                     bench_world_destroy,
                                     NULL};
    static const bench_job destroy = {{prepare_small_destroy_shoal, run_small_create_best},
                                      {run_small_destroy_shoal, run_small_destroy_best},
                                      is_small_equal,
                                      bench_world_destroy,
                                      NULL};
    static const bench_job deaths = {{prepare_deaths_shoal, run_small_create_best},
                                     {run_deaths_shoal, run_small_destroy_best},
                                     is_dead_equal,
                                     bench_world_destroy,
                                     NULL};
    static const char unit[] = "ns_per_entity";
    static const bench_row rows[] = {
        {"create_single_30k", unit, WIDE_COUNT, 1, 1, false, create_wide, &single},
        {"create_bulk_30k", unit, WIDE_COUNT, 1, 1, false, create_wide, &bulk},
        {"create_fresh_30k", unit, WIDE_COUNT, 1, 1, false, create_wide, &fresh},
        {"create_1m", unit, SMALL_COUNT, 1, 1, false, create_small_seq, &create},
        {"create_recycled_1m", unit, SMALL_COUNT, 1, 1, false, create_small_random, &create},
        {"destroy_seq_1m", unit, SMALL_COUNT, 1, 1, false, create_small_seq, &destroy},
        {"destroy_random_1m", unit, SMALL_COUNT, 1, 1, false, create_small_random, &destroy},
        {"destroy_batch_1m", "ns_per_entity", SMALL_COUNT, 1, 1, false, create_deaths, &deaths},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
