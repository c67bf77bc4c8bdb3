// SPDX-License-Identifier: MIT
// A million events of 4 bytes, each to one entity, in order of the entities. The twin keeps two
// arrays, target and payload; draining looks each target up, checks that it lives, and calls the
// handler's work inline: the ratio has the cost of a handler that is called once per event.
// immediate: events to random targets, posted and drained; the twin does the work at once and
// queues nothing.
#include "bench_best.h"
#include "bench_world.h"

#define COUNT 1000000u

typedef struct fixture {
    bench_world shoal;
    ecs_entity* entities;
    ecs_template_id target;
    best_handles handles;
    int32_t* hits;
    uint32_t *targets, *payloads;
    uint32_t queued;
    uint32_t* order; ///< targets of the twin when they are shuffled
} fixture;

// Targets in random order, the same for both.
static void shuffle(fixture* self) {
    uint32_t* order = bench_allocate(COUNT * sizeof *order);
    ecs_entity* entities = bench_allocate(COUNT * sizeof *entities);
    uint32_t* best = bench_allocate(COUNT * sizeof *best);
    bench_shuffle(order, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        entities[i] = self->entities[order[i]];
        best[i] = self->handles.entities[order[i]];
    }
    bench_release(self->entities);
    self->entities = entities;
    self->order = best;
}

static void* create(bool is_shuffled) {
    const bench_world_config config = {
        .entities_max = 1u << 21, .events_max = COUNT, .has_damage = true};
    fixture* self = bench_allocate(sizeof *self);
    bench_world_init(&self->shoal, &config);
    self->target = ecs_template_find(self->shoal.world, "target");
    self->entities = bench_allocate(COUNT * sizeof *self->entities);
    self->hits = bench_allocate(COUNT * sizeof *self->hits);
    self->targets = bench_allocate(COUNT * sizeof *self->targets);
    self->payloads = bench_allocate(COUNT * sizeof *self->payloads);
    best_handles_init(&self->handles, COUNT);
    bench_world_fill(&self->shoal, self->target, COUNT, self->entities);
    for (uint32_t i = 0; i < COUNT; i++)
        (void)best_handle_make(&self->handles);
    if (is_shuffled) shuffle(self);
    bench_world_step(&self->shoal);
    return self;
}

BENCH_CREATE(create_seq, create(false))
BENCH_CREATE(create_random, create(true))

static void run_post_shoal(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t damage = i & 7;
        (void)ecs_event_send(self->shoal.world, self->entities[i], self->shoal.damage, &damage);
    }
}

static __attribute__((noinline)) void run_post_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        if (self->queued == COUNT) return;
        self->targets[self->queued] = self->order ? self->order[i] : self->handles.entities[i];
        self->payloads[self->queued++] = i & 7;
    }
}

static void run_drain_shoal(void* memory) {
    bench_world_step(&((fixture*)memory)->shoal);
}

static __attribute__((noinline)) void run_drain_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < self->queued; i++) {
        uint32_t row = best_handle_row(&self->handles, self->targets[i]);
        if (row != UINT32_MAX) self->hits[row] += (int32_t)self->payloads[i];
    }
    self->queued = 0;
}

// Posted and handled within one step: the cost of an event from post to handler.
static void run_immediate_shoal(void* memory) {
    run_post_shoal(memory);
    run_drain_shoal(memory);
}

static __attribute__((noinline)) void run_immediate_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t row = best_handle_row(&self->handles, self->order[i]);
        if (row != UINT32_MAX) self->hits[row] += (int32_t)(i & 7);
    }
}

static bool is_equal(void* memory) {
    fixture* self = memory;
    if (self->queued) run_drain_best(self);
    bench_world_step(&self->shoal);
    for (uint32_t i = 0; i < COUNT; i++) {
        const int32_t* hits = ecs_get(self->shoal.world, self->entities[i], self->shoal.hits);
        uint32_t handle = self->order ? self->order[i] : self->handles.entities[i];
        if (*hits != self->hits[best_handle_row(&self->handles, handle)]) return false;
    }
    return ecs_world_counters(self->shoal.world)->events_refused == 0;
}

bench_rows bench_rows_event(void) {
    static const bench_job post = {{run_drain_shoal, run_drain_best},
                                   {run_post_shoal, run_post_best},
                                   is_equal,
                                   bench_world_destroy,
                                   NULL};
    static const bench_job drain = {{run_post_shoal, run_post_best},
                                    {run_drain_shoal, run_drain_best},
                                    is_equal,
                                    bench_world_destroy,
                                    NULL};
    static const bench_job immediate = {{NULL, NULL},
                                        {run_immediate_shoal, run_immediate_best},
                                        is_equal,
                                        bench_world_destroy,
                                        NULL};
    static const char unit[] = "ns_per_event";
    static const bench_row rows[] = {
        {"event_post_1m", unit, COUNT, 1, 1, false, create_seq, &post},
        {"event_drain_1m", unit, COUNT, 1, 1, false, create_seq, &drain},
        {"event_immediate_1m", unit, COUNT, 1, 1, false, create_random, &immediate},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
