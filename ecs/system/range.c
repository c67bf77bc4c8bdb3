// SPDX-License-Identifier: MIT
// Ranges: the rows of a wave's systems, cut into parts that run at the same time.
//
// A system that may be cut has one range for each `quantum` of its rows, ECS_RANGES_MAX at most;
// any other has one. Where a range begins is the business of cut.c.
//
// Each range gets a copy of the world whose queues are its own (recorder.h), so its system records
// without seeing the others. What the copy leads to is read by all and written by none: columns are
// written where the declarations allow it, and marks of columns are set before the ranges run.
//
//     plan (one thread)     run (any threads)         take (one thread)
//     rows -> ranges   -->  view, system, recorder -> events, commands, in the order of ranges
//
// Ranges follow from rows and quantum. The number of threads decides only who runs them.
#include "system/range.h"

#include "base/assert.h"
#include "base/workers.h"
#include "structure/hierarchy.h"
#include "system/declared.h"
#include "table/query_cache.h"
#include "table/storage.h"

enum {
    WAVE_UNIT = 16,        ///< the work of one quantum
    WAVE_WORK_MIN = 32,    ///< less is done by one thread: waking another costs more
    ROWS_PER_QUANTUM = 256 ///< where a system declares none
};

static bool reserve_range(ecs_world* world, uint32_t count) {
    ecs_systems* systems = world->systems;
    if (!BASE_ARRAY_RESERVE(world->allocator, systems->ranges, systems->range_capacity, count))
        return false;
    while (systems->range_count < count) {
        ecs_range* made = base_allocate_zero(world->allocator, sizeof *made);
        if (!made) return false;
        ecs_recorder_init(world, &made->recorder);
        systems->ranges[systems->range_count++] = made;
    }
    return true;
}

void ecs_ranges_deinit(ecs_world* world) {
    ecs_systems* systems = world->systems;
    for (uint32_t i = 0; i < systems->range_count; i++) {
        ecs_recorder_deinit(world, &systems->ranges[i]->recorder);
        base_release(world->allocator, systems->ranges[i], sizeof(ecs_range));
    }
    BASE_ARRAY_RELEASE(world->allocator, systems->ranges, systems->range_capacity);
    systems->range_count = 0;
}

static uint32_t work_of(const ecs_system* system, uint32_t rows) {
    if (!system->query) return system->quantum > 0 ? WAVE_UNIT : 0;
    const uint32_t quantum = system->quantum > 0 ? system->quantum : ROWS_PER_QUANTUM;
    return (uint32_t)((uint64_t)rows * WAVE_UNIT / quantum);
}

bool ecs_wave_add(ecs_world* world, ecs_wave* wave, uint32_t position, ecs_system* system) {
    static const ecs_query_cache none;
    const ecs_query_cache* cache = system->query ? ecs_query_open(world, system->query) : &none;
    const bool has_rows = system->query && system->run;
    const uint32_t rows = has_rows ? ecs_cut_mark(world, cache) : 0;
    ecs_cut cuts[ECS_RANGES_MAX];
    cuts[0] = (ecs_cut){NULL, 0, 0}; // without rows there is one range of none
    uint32_t count = system->declared.may_cut ? ecs_cut_parts(rows, system->quantum) : 1;
    if (!reserve_range(world, wave->count + count)) return false;
    if (rows > 0) count = ecs_cut_rows(world, cache, rows, count, cuts);
    for (uint32_t i = 0; i < count; i++) {
        ecs_range* range = world->systems->ranges[wave->count++];
        range->system = system;
        range->position = position;
        range->number = i;
        range->rows = cuts[i];
        range->is_open = false;
    }
    wave->work += work_of(system, rows);
    wave->system_count++;
    return true;
}

// The range's own view of the world, as it is now.
static void open_range(const ecs_world* world, ecs_range* range, const ecs_stage* stage) {
    if (range->is_open) return;
    range->is_open = true;
    range->view = *world;
    range->view.is_view = true;
    range->view.running = range->system;
    if (BASE_VALIDATE_ON) range->view.fast.check = ecs_declared_check;
    range->view.counters = (ecs_counters){0};
    ecs_recorder_bind(&range->view, &range->recorder, range->position, range->number);
    range->stage = *stage;
    range->stage.world = &range->view;
    range->stage.context = range->system->context;
}

static void run_range(ecs_range* range) {
    ecs_world* view = &range->view;
    ecs_system* system = range->system;
    if (!system->run) return;
    if (!system->query) {
        const ecs_rows none = {0};
        ecs_declared_run(system, &range->stage, &none);
        return;
    }
    view->fast.walk_depth++;
    ecs_cut_run run;
    while (ecs_cut_next(view, system->query, &range->rows, &run))
        ecs_declared_run(system, &range->stage, &run.rows);
    view->fast.walk_depth--;
    BASE_ASSERT(view->fast.walk_depth == 0 && "a walk of the system is still open");
}

typedef struct wave_work {
    ecs_world* world;
    const ecs_stage* stage;
} wave_work;

static void run_item(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    const wave_work* work = context;
    ecs_range* range = work->world->systems->ranges[item];
    open_range(work->world, range, work->stage);
    run_range(range);
}

void ecs_counters_add(ecs_counters* to, const ecs_counters* from) {
    uint64_t* target = (uint64_t*)to;
    const uint64_t* more = (const uint64_t*)from;
    for (size_t i = 0; i < sizeof *to / sizeof *target; i++)
        if (more[i] != 0) __atomic_fetch_add(&target[i], more[i], __ATOMIC_RELAXED);
}

void ecs_wave_run(ecs_world* world, const ecs_wave* wave, const ecs_stage* stage) {
    BASE_ASSERT(!world->is_view && world->fast.stage_depth > 0);
    ecs_range** ranges = world->systems->ranges;
    ecs_hierarchy_sync(world); // a view cannot
    ecs_storage_tidy(world);   // before ranges walk at the same time
    for (uint32_t i = 0; i < wave->count; i++) {
        ecs_range* first = ranges[i];
        if (!first->system->has_members || first->number > 0) continue;
        open_range(world, first, stage);
        ecs_membership_deliver(first->system, &first->system->members, &first->stage);
    }
    wave_work work = {world, stage};
    base_workers_run(base_workers_worth(world->workers, wave->work, WAVE_WORK_MIN), run_item, &work,
                     wave->count);
    for (uint32_t i = 0; i < wave->count; i++) {
        ecs_counters_add(&world->counters, &ranges[i]->view.counters);
        ecs_recorder_take(world, &ranges[i]->recorder);
    }
}
