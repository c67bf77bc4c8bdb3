// SPDX-License-Identifier: MIT
// Shared loops: a system that has its wave to itself cuts a loop of its own.
//
// The system waits in its call while workers do the parts of its loop. Each part gets a view of the
// world, as a range of a wave does, but without queues: what parts recorded would have to wait for
// the flush point, and a loop that records can be the rows of a confined system. So to record is
// asserted.
//
// Parts follow from the number of items and the quantum. In a wave with others the thread of the
// system does all of them, in their order.
#include "base/assert.h"
#include "base/workers.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "structure/hierarchy.h"
#include "system/cut.h"
#include "system/declared.h"
#include "system/range.h"
#include "table/storage.h"
#include "type/world.h"

typedef struct shared_loop {
    const ecs_stage* stage;
    ecs_part_fn run;
    void* context;
    const ecs_query* query; ///< NULL: items are numbers
    uint32_t firsts[ECS_RANGES_MAX + 1];
    ecs_cut cuts[ECS_RANGES_MAX];
    ecs_counters counters; ///< of the parts: views are copied while others count
} shared_loop;

static void run_rows(const shared_loop* loop, const ecs_stage* view, ecs_part* part) {
    ecs_cut cut = loop->cuts[part->number];
    ecs_cut_run run;
    while (ecs_cut_next(view->world, loop->query, &cut, &run)) {
        ecs_watch watch;
        part->rows = run.rows;
        ecs_declared_watch(&watch, view->world, loop->query, &run.rows);
        loop->run(view, loop->context, part);
        ecs_declared_compare(&watch, view->world, &run.rows);
        part->first += run.rows.count;
    }
}

static void run_part(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    shared_loop* loop = context;
    ecs_commands commands = {.item_count = 0}; // empty: inline functions call others, which assert
    ecs_events events = {.kind_count = 0};
    ecs_world view = *loop->stage->world;
    view.is_view = view.is_part = true;
    view.shared_query = loop->query;
    view.counters = (ecs_counters){0};
    view.commands = &commands;
    view.events = &events;
    view.fast.commands = &commands.view;
    view.fast.events = &events.view;
    view.fast.walk_depth = 1; // structure stays as it is
    if (BASE_VALIDATE_ON) view.fast.check = ecs_declared_check_part;
    ecs_stage stage = *loop->stage;
    stage.world = &view;
    ecs_part part = {.number = item, .first = loop->firsts[item]};
    part.rows.count = loop->firsts[item + 1] - part.first;
    if (loop->query)
        run_rows(loop, &stage, &part);
    else
        loop->run(&stage, loop->context, &part);
    BASE_ASSERT(view.fast.walk_depth == 1 && "a walk of the part is still open");
    ecs_counters_add(&loop->counters, &view.counters);
}

static uint32_t run_loop(shared_loop* loop, uint32_t parts) {
    ecs_world* world = loop->stage->world;
    ecs_hierarchy_sync(world); // a view cannot
    ecs_storage_tidy(world);
    base_workers* workers = world->is_view ? NULL : world->workers;
    loop->counters = (ecs_counters){0};
    base_workers_run(base_workers_worth(workers, parts, 2), run_part, loop, parts);
    ecs_counters_add(&world->counters, &loop->counters);
    return parts;
}

static uint32_t quantum_of(const ecs_stage* stage) {
    const ecs_system* system = stage->world->running;
    BASE_ASSERT(system && "in a system's own functions only");
    BASE_ASSERT(system->quantum > 0 && "a system that shares a loop declares a quantum");
    return system->quantum;
}

uint32_t ecs_stage_share(const ecs_stage* stage, uint32_t count, ecs_part_fn run, void* context) {
    const uint32_t parts = ecs_cut_parts(count, quantum_of(stage));
    shared_loop loop;
    loop.stage = stage;
    loop.run = run;
    loop.context = context;
    loop.query = NULL;
    for (uint32_t i = 0; i <= parts; i++)
        loop.firsts[i] = (uint32_t)((uint64_t)count * i / parts);
    return count == 0 ? 0 : run_loop(&loop, parts);
}

uint32_t ecs_stage_share_rows(const ecs_stage* stage, ecs_query* query, ecs_part_fn run,
                              void* context) {
    const ecs_query_cache* cache = ecs_query_open(stage->world, query);
    const uint32_t rows = ecs_cut_mark(stage->world, cache);
    shared_loop loop;
    loop.stage = stage;
    loop.run = run;
    loop.context = context;
    loop.query = query;
    loop.firsts[0] = 0;
    const uint32_t parts =
        ecs_cut_rows(stage->world, cache, rows, ecs_cut_parts(rows, quantum_of(stage)), loop.cuts);
    for (uint32_t i = 0; i < parts; i++)
        loop.firsts[i + 1] = loop.firsts[i] + loop.cuts[i].row_count;
    return parts == 0 ? 0 : run_loop(&loop, parts);
}
