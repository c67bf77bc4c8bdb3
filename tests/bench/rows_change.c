// SPDX-License-Identifier: MIT
// Finding changes among 100,000 tracked positions of 12 bytes.
//
// compare: a system walked all of them for writing and wrote nothing, so a step has to compare
// every byte. The twin compares blocks of 1,024 rows by memcmp with a copy, and rows where a block
// differs. change: 1 % is written by handle (set), then a step finds and lists it (find); frame is
// both. The twin marks a bitmap with a summary word, and walks that.
#include "bench_best.h"
#include "bench_world.h"

#define COUNT 100000u
#define CHANGED 1000u
#define BLOCK 1024u
#define WORDS ((COUNT + 63) / 64)

typedef struct fixture {
    bench_world shoal;
    ecs_entity* entities;
    uint32_t* order;
    ecs_vec3 *place, *shadow;
    best_handles handles;
    uint64_t marks[WORDS], summary[(WORDS + 63) / 64];
    uint32_t* found; ///< handles
    uint32_t found_count, found_shoal;
    uint32_t turn_shoal, turn_best;
} fixture;

static void* create(bool has_touch) {
    fixture* self = bench_allocate(sizeof *self);
    const bench_world_config config = {.has_touch = has_touch};
    bench_world_init(&self->shoal, &config);
    self->entities = bench_allocate(COUNT * sizeof *self->entities);
    self->order = bench_allocate(COUNT * sizeof *self->order);
    self->place = bench_allocate(COUNT * sizeof *self->place);
    self->shadow = bench_allocate(COUNT * sizeof *self->shadow);
    self->found = bench_allocate(COUNT * sizeof *self->found);
    best_handles_init(&self->handles, COUNT);
    bench_world_fill(&self->shoal, self->shoal.marked, COUNT, self->entities);
    bench_shuffle(self->order, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        (void)best_handle_make(&self->handles);
        self->place[i] = self->shadow[i] = (ecs_vec3){1.0f, 2.0f, 3.0f};
    }
    bench_world_step(&self->shoal);
    return self;
}

BENCH_CREATE(create_touched, create(true))
BENCH_CREATE(create_still, create(false))

static void step_shoal(fixture* self) {
    const ecs_step step = {.tick = ++self->shoal.tick, .dt = BENCH_DT};
    ecs_world_step(self->shoal.world, &step);
    self->found_shoal = ecs_changes_get(self->shoal.world).changed_count;
    ecs_changes_clear(self->shoal.world);
}

static void run_compare_shoal(void* memory) {
    step_shoal(memory);
}

static __attribute__((noinline)) void run_compare_best(void* memory) {
    fixture* self = memory;
    self->found_count = 0;
    for (uint32_t begin = 0; begin < COUNT; begin += BLOCK) {
        uint32_t end = begin + BLOCK < COUNT ? begin + BLOCK : COUNT;
        if (memcmp(self->place + begin, self->shadow + begin,
                   (end - begin) * sizeof *self->place) == 0) {
            continue;
        }
        for (uint32_t row = begin; row < end; row++) {
            if (memcmp(&self->place[row], &self->shadow[row], sizeof *self->place) == 0) continue;
            self->shadow[row] = self->place[row];
            self->found[self->found_count++] = self->handles.entities[row];
        }
    }
}

// Another 1 % each time, with values that do not repeat soon.
static void run_set_shoal(void* memory) {
    fixture* self = memory;
    uint32_t turn = self->turn_shoal++, first = turn * CHANGED % COUNT;
    for (uint32_t i = 0; i < CHANGED; i++) {
        const ecs_vec3 value = {(float)(turn & 0xffff), (float)i, 3.0f};
        (void)!ecs_set(self->shoal.world, self->entities[self->order[first + i]], self->shoal.place,
                       &value);
    }
}

static __attribute__((noinline)) void run_set_best(void* memory) {
    fixture* self = memory;
    uint32_t turn = self->turn_best++, first = turn * CHANGED % COUNT;
    for (uint32_t i = 0; i < CHANGED; i++) {
        uint32_t handle = self->handles.entities[self->order[first + i]];
        uint32_t row = best_handle_row(&self->handles, handle);
        if (row == UINT32_MAX) continue;
        self->place[row] = (ecs_vec3){(float)(turn & 0xffff), (float)i, 3.0f};
        self->marks[row / 64] |= 1ull << row % 64;
        self->summary[row / 4096] |= 1ull << row / 64 % 64;
    }
}

static void run_find_shoal(void* memory) {
    step_shoal(memory);
}

static __attribute__((noinline)) void run_find_best(void* memory) {
    fixture* self = memory;
    self->found_count = 0;
    for (uint32_t i = 0; i < BASE_COUNT(self->summary); i++) {
        for (uint64_t words = self->summary[i]; words; words &= words - 1) {
            uint32_t word = i * 64 + (uint32_t)__builtin_ctzll(words);
            for (uint64_t bits = self->marks[word]; bits; bits &= bits - 1) {
                uint32_t row = word * 64 + (uint32_t)__builtin_ctzll(bits);
                if (memcmp(&self->place[row], &self->shadow[row], sizeof *self->place) == 0)
                    continue;
                self->shadow[row] = self->place[row];
                self->found[self->found_count++] = self->handles.entities[row];
            }
            self->marks[word] = 0;
        }
        self->summary[i] = 0;
    }
}

static void run_frame_shoal(void* memory) {
    run_set_shoal(memory);
    run_find_shoal(memory);
}

static void run_frame_best(void* memory) {
    run_set_best(memory);
    run_find_best(memory);
}

static bool is_equal(void* memory) {
    fixture* self = memory;
    if (self->found_shoal != self->found_count) return false;
    uint32_t row = 0;
    bool is_same = true;
    ecs_query_iter it = ecs_query_begin(self->shoal.world, self->shoal.marks);
    while (ecs_query_next(&it)) {
        is_same &=
            memcmp(it.rows.columns[0], self->place + row, it.rows.count * sizeof *self->place) == 0;
        row += it.rows.count;
    }
    return is_same && row == COUNT;
}

bench_rows bench_rows_change(void) {
    static const bench_job compare = {
        {NULL, NULL}, {run_compare_shoal, run_compare_best}, is_equal, bench_world_destroy, NULL};
    static const bench_job set = {{run_find_shoal, run_find_best},
                                  {run_set_shoal, run_set_best},
                                  is_equal,
                                  bench_world_destroy,
                                  NULL};
    static const bench_job find = {{run_set_shoal, run_set_best},
                                   {run_find_shoal, run_find_best},
                                   is_equal,
                                   bench_world_destroy,
                                   NULL};
    static const bench_job frame = {
        {NULL, NULL}, {run_frame_shoal, run_frame_best}, is_equal, bench_world_destroy, NULL};
    static const char unit[] = "ns_per_change";
    static const bench_row rows[] = {
        {"change_set", unit, CHANGED, 1, 1, false, create_still, &set},
        {"change_find", unit, CHANGED, 1, 1, false, create_still, &find},
        {"change_frame", unit, CHANGED, 1, 50, false, create_still, &frame},
        {"compare_100k", "us_per_frame", 1, 1000, 50, false, create_touched, &compare},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
