// SPDX-License-Identifier: MIT
// Ranges: the rows of a wave's systems, cut into parts that run at the same time.
//
// A system that may be cut has one range for each `quantum` of its rows, ECS_RANGES_MAX at most;
// any other has one. Ranges begin where cuts are.
//
// Each range gets a copy of the world whose queues are its own (ecs_recorder), so its system
// records without seeing the others. What the copy leads to is read by all and written by none:
// columns are written where the declarations allow it, and marks of columns are set before the
// ranges run.
//
//     plan (one thread)     run (any threads)         take (one thread)
//     rows -> ranges   -->  view, system, recorder -> events, commands, in the order of ranges
//
// Ranges follow from rows and quantum. The number of threads decides only who runs them.
#include "system/system_registry.h"

#include "base/assert.h"
#include "base/workers.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "structure/hierarchy.h"
#include "structure/transition.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "type/world.h"

#include <string.h>

// Cuts: where rows of a query are divided.
//
// A cut lies at the end of a chunk or at a multiple of 16 rows, so two threads never write to one
// cache line, and a run of rows ends in zeros or at a full line. Cuts follow from the rows and the
// number of parts, and that from the quantum; threads play no part.

enum { ENTRY_CHUNK, ENTRY_ENTITIES, ENTRY_COLUMNS, CUT_ROWS = 16 };

// Rows of a cut that lie in one chunk.
typedef struct cut_run {
    ecs_rows rows;
    void* columns[ECS_QUERY_TERMS_MAX]; // what rows.columns may point at
} cut_run;

// How many parts that many items have: one for each quantum, 1..ECS_RANGES_MAX.
static uint32_t cut_parts(uint32_t items, uint32_t quantum) {
    BASE_ASSERT(quantum > 0);
    const uint32_t parts = items / quantum;
    return parts < 1 ? 1 : parts > ECS_RANGES_MAX ? ECS_RANGES_MAX : parts;
}

// Mark what the query writes as written, and count its rows.
static uint32_t cut_mark(const ecs_world* world, const ecs_query_cache* cache) {
    uint64_t rows = 0;
    const uintptr_t* entry = cache->entries;
    for (uint32_t i = 0; i < cache->entry_count; i++, entry += cache->stride) {
        const uint32_t count = world->fast.chunk_counts[entry[ENTRY_CHUNK]];
        rows += count;
        for (uint32_t k = 1; k <= cache->mark_count && count > 0; k++)
            *(uint8_t*)entry[cache->stride - k] = 1;
    }
    return (uint32_t)rows;
}

// Where a cut begins: rows after it follow entry after entry.
typedef struct row_cursor {
    const uintptr_t* entry;
    const uintptr_t* end;
    const uint32_t* counts;
    uint32_t stride;
    uint32_t row;
} row_cursor;

// Go on by `count` rows or a few more, to the next place for a cut. @return by how many.
static uint32_t go_on(row_cursor* cursor, uint32_t count) {
    uint32_t done = 0;
    while (done < count && cursor->entry < cursor->end) {
        const uint32_t rows = cursor->counts[cursor->entry[ENTRY_CHUNK]];
        const uint32_t left = rows - cursor->row;
        const uint32_t wanted = (count - done + CUT_ROWS - 1) & ~(uint32_t)(CUT_ROWS - 1);
        if (wanted < left) {
            cursor->row += wanted;
            return done + wanted;
        }
        done += left;
        cursor->row = 0;
        cursor->entry += cursor->stride;
    }
    return done;
}

// Divide `rows` rows into `parts` cuts of about the same number, or a few less. @return how many;
// 0 without rows.
static uint32_t cut_rows(const ecs_world* world, const ecs_query_cache* cache, uint32_t rows,
                         uint32_t parts, ecs_cut* cuts) {
    BASE_ASSERT(parts >= 1 && parts <= ECS_RANGES_MAX);
    const uint32_t step = (rows + parts - 1) / parts;
    row_cursor cursor = {cache->entries,
                         cache->entries + (size_t)cache->entry_count * cache->stride,
                         world->fast.chunk_counts, cache->stride, 0};
    uint32_t count = 0;
    for (uint32_t done = 0; done < rows; done += cuts[count++].row_count) {
        cuts[count] = (ecs_cut){cursor.entry, cursor.row, 0};
        cuts[count].row_count = go_on(&cursor, step);
    }
    return count;
}

// The next run of rows; the cut begins after it then. @return false at the end.
static bool cut_next(const ecs_world* world, const ecs_query* query, ecs_cut* cut, cut_run* run) {
    const ecs_query_cache* cache = &query->cache;
    const uint32_t* counts = world->fast.chunk_counts;
    while (cut->row_count > 0 && counts[cut->entry[ENTRY_CHUNK]] == 0)
        cut->entry += cache->stride;
    if (cut->row_count == 0) return false;
    const uintptr_t* entry = cut->entry;
    const uint32_t row = cut->row, left = counts[entry[ENTRY_CHUNK]] - row;
    const uint32_t count = left < cut->row_count ? left : cut->row_count;
    run->rows = (ecs_rows){count, (const ecs_entity*)entry[ENTRY_ENTITIES] + row,
                           (void* const*)(entry + ENTRY_COLUMNS)};
    if (row > 0) {
        const ecs_slot* slots = world->fast.places[entry[ENTRY_CHUNK]].slots;
        for (uint32_t i = 0; i < query->term_count; i++) {
            uint8_t* column = (uint8_t*)entry[ENTRY_COLUMNS + i];
            run->columns[i] =
                column ? column + (size_t)slots[query->components[i]].size * row : NULL;
        }
        run->rows.columns = run->columns;
    }
    cut->entry += cache->stride;
    cut->row = 0;
    cut->row_count -= count;
    return true;
}

// Recorders: each range of a system records commands and events into queues of its own.
//
// At a flush point the events of each move to the end of the world's queue as they are, bytes after
// bytes, and the commands are applied from where they lie. What handlers of core events record
// meanwhile goes to the same recorder, after its commands, and placeholders mean what that recorder
// gave out. Limits hold for each recorder, and once more for the world's queue when events move.

// Functions of a queue find it in the world: for them the recorder's queues are the world's.
typedef struct world_queues {
    ecs_commands* commands;
    ecs_events* events;
} world_queues;

static world_queues put_queues(ecs_world* world, world_queues queues) {
    const world_queues before = {world->commands, world->events};
    world->commands = queues.commands;
    world->events = queues.events;
    world->fast.commands = &queues.commands->view;
    world->fast.events = &queues.events->view;
    return before;
}

// Events of the recorder go to the end of the world's queue, then its commands are applied, and
// both agree about placeholders. The recorder is empty then. Between systems.
static void recorder_take(ecs_world* world, ecs_recorder* recorder) {
    ecs_events_append(world, &recorder->events);
    if (recorder->commands.view.count > 0 || world->events->unresolved_count > 0) {
        world_queues own = put_queues(world, (world_queues){&recorder->commands, world->events});
        ecs_commands_apply(world);
        ecs_events_resolve(world);
        (void)put_queues(world, own);
    }
}

enum {
    WAVE_UNIT = 16,        ///< the work of one quantum
    WAVE_WORK_MIN = 32,    ///< less is done by one thread: waking another costs more
    ROWS_PER_QUANTUM = 256 ///< where a system declares none
};

static void reserve_range(ecs_world* world, uint32_t count) {
    ecs_systems* systems = world->systems;
    BASE_ARRAY_RESERVE(world->allocator, systems->ranges, systems->range_capacity, count);
    while (systems->range_count < count) {
        ecs_range* made = base_allocate_zero(world->allocator, sizeof *made);
        // Learn the event types of a sealed world.
        BASE_ASSERT(world->is_sealed);
        const ecs_events* events = world->events;
        memcpy(made->recorder.events.kinds, events->kinds, sizeof made->recorder.events.kinds);
        made->recorder.events.kind_count = events->kind_count;
        made->recorder.events.park = events->park;
        made->recorder.events.maximum = events->maximum;
        systems->ranges[systems->range_count++] = made;
    }
}

static uint32_t work_of(const ecs_system* system, uint32_t rows) {
    if (!system->query) return system->quantum > 0 ? WAVE_UNIT : 0;
    const uint32_t quantum = system->quantum > 0 ? system->quantum : ROWS_PER_QUANTUM;
    return (uint32_t)((uint64_t)rows * WAVE_UNIT / quantum);
}

void ecs_wave_add(ecs_world* world, ecs_wave* wave, uint32_t position, ecs_system* system) {
    static const ecs_query_cache none;
    const ecs_query_cache* cache = system->query ? ecs_query_open(world, system->query) : &none;
    const bool has_rows = system->query && system->run;
    const uint32_t rows = has_rows ? cut_mark(world, cache) : 0;
    ecs_cut cuts[ECS_RANGES_MAX];
    cuts[0] = (ecs_cut){NULL, 0, 0}; // without rows there is one range of none
    uint32_t count = system->declared.may_cut ? cut_parts(rows, system->quantum) : 1;
    reserve_range(world, wave->count + count);
    if (rows > 0) count = cut_rows(world, cache, rows, count, cuts);
    for (uint32_t i = 0; i < count; i++) {
        ecs_range* range = world->systems->ranges[wave->count++];
        range->system = system;
        range->position = position;
        range->number = i;
        range->rows = cuts[i];
        range->is_open = false;
    }
    wave->work += work_of(system, rows);
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
    ecs_recorder* recorder = &range->recorder;
    BASE_ASSERT(recorder->commands.view.count == 0 && ecs_events_count(&recorder->events) == 0);
    (void)put_queues(&range->view, (world_queues){&recorder->commands, &recorder->events});
    ecs_commands_enter(&recorder->commands, range->position, range->number);
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
    cut_run run;
    while (cut_next(view, system->query, &range->rows, &run))
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
    const ecs_clock_fn clock = work->world->systems->clock;
    const uint64_t begin_ns = clock ? clock() : 0;
    open_range(work->world, range, work->stage);
    run_range(range);
    if (clock)
        __atomic_fetch_add(&range->system->times.ns_tick, clock() - begin_ns, __ATOMIC_RELAXED);
}

// Add what another thread counted. Sums: the order does not matter.
static void counters_add(ecs_counters* to, const ecs_counters* from) {
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
        counters_add(&world->counters, &ranges[i]->view.counters);
        recorder_take(world, &ranges[i]->recorder);
    }
}

// Shared loops: a system that has its wave to itself cuts a loop of its own.
//
// The system waits in its call while workers do the parts of its loop. Each part gets a view of the
// world, as a range of a wave does, but without queues: what parts recorded would have to wait for
// the flush point, and a loop that records can be the rows of a confined system. So to record is
// asserted.
//
// Parts follow from the number of items and the quantum. In a wave with others the thread of the
// system does all of them, in their order.

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
    cut_run run;
    while (cut_next(view->world, loop->query, &cut, &run)) {
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
    counters_add(&loop->counters, &view.counters);
}

static uint32_t run_loop(shared_loop* loop, uint32_t parts) {
    ecs_world* world = loop->stage->world;
    ecs_hierarchy_sync(world); // a view cannot
    ecs_storage_tidy(world);
    base_workers* workers = world->is_view ? NULL : world->workers;
    loop->counters = (ecs_counters){0};
    base_workers_run(base_workers_worth(workers, parts, 2), run_part, loop, parts);
    counters_add(&world->counters, &loop->counters);
    return parts;
}

static uint32_t quantum_of(const ecs_stage* stage) {
    const ecs_system* system = stage->world->running;
    BASE_ASSERT(system && "in a system's own functions only");
    BASE_ASSERT(system->quantum > 0 && "a system that shares a loop declares a quantum");
    return system->quantum;
}

uint32_t ecs_stage_share(const ecs_stage* stage, uint32_t count, ecs_part_fn run, void* context) {
    const uint32_t parts = cut_parts(count, quantum_of(stage));
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
    const uint32_t rows = cut_mark(stage->world, cache);
    shared_loop loop;
    loop.stage = stage;
    loop.run = run;
    loop.context = context;
    loop.query = query;
    loop.firsts[0] = 0;
    const uint32_t parts =
        cut_rows(stage->world, cache, rows, cut_parts(rows, quantum_of(stage)), loop.cuts);
    for (uint32_t i = 0; i < parts; i++)
        loop.firsts[i + 1] = loop.firsts[i] + loop.cuts[i].row_count;
    return parts == 0 ? 0 : run_loop(&loop, parts);
}
