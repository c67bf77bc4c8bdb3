// SPDX-License-Identifier: MIT
// Ranges: the rows of a wave's systems, cut into parts that run at the same time.
//
// A system that may be cut has one range for each `quantum` of its rows, ECS_RANGES_MAX at most;
// any other has one. A cut lies at the end of a chunk or at a multiple of 16 rows, so two ranges
// never write to one cache line, and a run of rows ends in zeros or at a full line.
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
#include "hierarchy/hierarchy_lists.h"
#include "system/declared.h"
#include "table/archetype.h"
#include "table/query_cache.h"
#include "table/chunk.h"

enum {
    ENTRY_CHUNK,
    ENTRY_ENTITIES,
    ENTRY_COLUMNS,
    CUT_ROWS = 16,
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

// Mark what the system will have written, and count its rows.
static uint32_t mark_rows(const ecs_world* world, const ecs_query_cache* cache) {
    uint64_t rows = 0;
    const uintptr_t* entry = cache->entries;
    for (uint32_t i = 0; i < cache->entry_count; i++, entry += cache->stride) {
        const uint32_t count = ecs_query_counts(&world->fast, cache)[entry[ENTRY_CHUNK]];
        rows += count;
        for (uint32_t k = 1; k <= cache->mark_count && count > 0; k++)
            *(uint8_t*)entry[cache->stride - k] = 1;
    }
    return (uint32_t)rows;
}

// Where a range begins: rows behind it follow entry after entry.
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

static ecs_range* next_range(ecs_world* world, ecs_wave* wave, uint32_t position, uint32_t number) {
    ecs_range* range = world->systems->ranges[wave->count++];
    range->position = position;
    range->number = number;
    range->entry = NULL;
    range->row_count = 0;
    range->is_open = false;
    return range;
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
    const uint32_t rows = has_rows ? mark_rows(world, cache) : 0;
    uint32_t count = system->declared.may_cut ? rows / system->quantum : 1;
    if (count < 1) count = 1;
    if (count > ECS_RANGES_MAX) count = ECS_RANGES_MAX;
    if (!reserve_range(world, wave->count + count)) return false;
    const uint32_t step = (rows + count - 1) / count;
    row_cursor cursor = {cache->entries,
                         cache->entries + (size_t)cache->entry_count * cache->stride,
                         ecs_query_counts(&world->fast, cache), cache->stride, 0};
    wave->work += work_of(system, rows);
    wave->system_count++;
    for (uint32_t i = 0, done = 0; i == 0 || done < rows; i++) {
        ecs_range* range = next_range(world, wave, position, i);
        range->system = system;
        if (!has_rows) return true;
        range->entry = cursor.entry;
        range->row = cursor.row;
        range->row_count = go_on(&cursor, step);
        done += range->row_count;
    }
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

// One call: rows [row, row + count) of the chunk of an entry.
static void run_rows(const ecs_range* range, const uintptr_t* entry, uint32_t row, uint32_t count) {
    const ecs_query* query = range->system->query;
    ecs_rows rows = {count, (const ecs_entity*)entry[ENTRY_ENTITIES] + row,
                     (void* const*)(entry + ENTRY_COLUMNS)};
    void* columns[ECS_QUERY_TERMS_MAX];
    if (row > 0) {
        const ecs_slot* slots = range->view.fast.places[entry[ENTRY_CHUNK]].slots;
        for (uint32_t i = 0; i < query->term_count; i++) {
            uint8_t* column = (uint8_t*)entry[ENTRY_COLUMNS + i];
            columns[i] = column ? column + (size_t)slots[query->components[i]].size * row : NULL;
        }
        rows.columns = columns;
    }
    ecs_declared_run(range->system, &range->stage, &rows);
}

static void run_range(ecs_range* range) {
    ecs_world* view = &range->view;
    ecs_system* system = range->system;
    if (!system->run) return;
    if (!range->entry) {
        const ecs_rows none = {0};
        ecs_declared_run(system, &range->stage, &none);
        return;
    }
    view->fast.walk_depth++;
    const ecs_query_cache* cache = ecs_query_walked(system->query);
    const uint32_t* counts = ecs_query_counts(&view->fast, cache);
    const uintptr_t* entry = range->entry;
    uint32_t row = range->row;
    for (uint32_t left = range->row_count; left > 0; entry += cache->stride) {
        uint32_t count = counts[entry[ENTRY_CHUNK]] - row;
        if (count > left) count = left;
        if (count > 0) run_rows(range, entry, row, count);
        left -= count;
        row = 0;
    }
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

// Counters are sums: their order does not matter.
static void add_counters(ecs_counters* to, const ecs_counters* from) {
    uint64_t* target = (uint64_t*)to;
    const uint64_t* more = (const uint64_t*)from;
    for (size_t i = 0; i < sizeof *to / sizeof *target; i++)
        target[i] += more[i];
}

void ecs_wave_run(ecs_world* world, const ecs_wave* wave, const ecs_stage* stage) {
    BASE_ASSERT(!world->is_view && world->stage_depth > 0);
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
        add_counters(&world->counters, &ranges[i]->view.counters);
        ecs_recorder_take(world, &ranges[i]->recorder);
    }
}
