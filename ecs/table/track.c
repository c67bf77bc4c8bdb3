// SPDX-License-Identifier: MIT
// Tracking: which tracked values changed since the last step, and the hash of all of them.
//
// Each tracked column has a shadow: the value as it was after the last step. A step compares what
// was marked with its shadow (track_compare.c), lists each difference, and corrects the sum of
// hashes by it. So the hash costs what changed, not what exists.
//
// The hash is a sum: it does not depend on the order of entities, and adding and subtracting are
// exact modulo 2^64.
//
// Invariant: hashes[c] is the sum of ecs_track_hash over all shadows of component c. Everything
// here reads shadows, never values, except the compare itself. Storage creates, moves and destroys
// shadow cells.
#include "table/track.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/workers.h"
#include "table/storage.h"
#include "type/world.h"

#include <string.h>

// The compare of a step on several threads.
//
// Items are the marked columns of chunks, in the order in which one thread compares them. Lanes are
// runs of items with about as many rows each. A lane compares into lists and sums of its own; then
// the lists are put together in the order of lanes, and the sums are added. So the change list and
// the state hash are those of one thread, however many lanes there were.
//
// Two lanes never touch one row of a column, its shadow or its marks: an item has them for itself.
// The marks of a column that was cut go when all lanes are done.

enum {
    LANES_MAX = 16,
    LANES_PER_THREAD = 2,
    PART_ROWS = 2048,   ///< a longer column is cut; a multiple of the rows of a cache line
    ROWS_MIN = 4096,    ///< fewer are compared by one thread: waking another costs more
    ROWS_PER_MARK = 16, ///< a guess for a summary bit, which stands for 256 rows
};

// One tracked column of one chunk that was opened for writing, or some of its rows.
typedef struct ecs_track_item {
    ecs_chunk* chunk;
    uint32_t track;
    uint32_t first; // row, of a part
    uint32_t rows;  // to compare; about, when it is the whole
    bool is_part;
} ecs_track_item;

// Some items in a row, and what they come to. Kept from step to step.
typedef struct ecs_track_lane {
    ecs_world view;      // a copy of the world whose tracker is the lane's
    ecs_tracker own;     // a copy too, with hashes and lists of its own
    uint32_t first, end; // items
} ecs_track_lane;

static void add_item(ecs_world* world, ecs_track_item item) {
    ecs_tracker* tracker = world->tracker;
    BASE_ARRAY_RESERVE(world->allocator, tracker->items, tracker->item_capacity,
                       tracker->item_count + 1);
    tracker->items[tracker->item_count++] = item;
}

// A column that is marked; a long one in parts. @return about how many rows.
static uint32_t add_column(ecs_world* world, ecs_chunk* chunk, uint32_t track) {
    const uint32_t count =
        chunk->written[track] != 0
            ? ecs_chunk_count(world->storage, chunk)
            : ROWS_PER_MARK * (uint32_t)__builtin_popcountll(*ecs_chunk_summary(chunk, track));
    const bool is_cut = count > PART_ROWS && ecs_track_may_cut(chunk, track);
    if (!is_cut) add_item(world, (ecs_track_item){chunk, track, 0, count, false});
    for (uint32_t first = 0; is_cut && first < count; first += PART_ROWS) {
        const uint32_t left = count - first, part = left < PART_ROWS ? left : PART_ROWS;
        add_item(world, (ecs_track_item){chunk, track, first, part, true});
    }
    return count;
}

// List the marked rows. @return about how many rows.
static uint64_t gather(ecs_world* world) {
    const ecs_storage* storage = world->storage;
    uint64_t rows = 0;
    world->tracker->item_count = 0;
    for (uint32_t i = 0; i < storage->tracked_count; i++) {
        const ecs_archetype* archetype = storage->tracked[i];
        for (uint32_t k = 0; k < archetype->chunk_count; k++) {
            ecs_chunk* chunk = archetype->chunks[k];
            for (uint32_t track = 0; track < archetype->track_count; track++) {
                if (chunk->written[track] == 0 && *ecs_chunk_summary(chunk, track) == 0) continue;
                rows += add_column(world, chunk, track);
            }
        }
    }
    return rows;
}

static void reserve_lanes(ecs_world* world, uint32_t count) {
    ecs_tracker* tracker = world->tracker;
    BASE_ARRAY_RESERVE(world->allocator, tracker->lanes, tracker->lane_capacity, count);
    for (; tracker->lane_count < count; tracker->lane_count++) {
        ecs_track_lane* lane = base_allocate_zero(world->allocator, sizeof *lane);
        lane->own.hashes =
            base_allocate_zero(world->allocator, sizeof(uint64_t) * (ECS_COMPONENTS_MAX + 1));
        tracker->lanes[tracker->lane_count] = lane;
    }
}

static void open_lane(const ecs_world* world, ecs_track_lane* lane) {
    uint64_t* hashes = lane->own.hashes;
    const ecs_change_list changed = lane->own.changed, noticed = lane->own.noticed;
    lane->own = *world->tracker;
    lane->own.hashes = hashes;
    lane->own.changed = changed;
    lane->own.noticed = noticed;
    lane->own.changed.count = lane->own.noticed.count = 0;
    lane->view = *world;
    lane->view.is_view = true;
    lane->view.tracker = &lane->own;
    lane->view.counters = (ecs_counters){0};
}

static void run_lane(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    const ecs_world* world = context;
    ecs_track_lane* lane = world->tracker->lanes[item];
    open_lane(world, lane);
    for (uint32_t i = lane->first; i < lane->end; i++) {
        const ecs_track_item* part = &world->tracker->items[i];
        if (part->is_part)
            ecs_track_rows(&lane->view, part->chunk, part->track, part->first, part->rows);
        else
            ecs_track_column(&lane->view, part->chunk, part->track);
    }
}

static void append(ecs_world* world, ecs_change_list* to, const ecs_change_list* from) {
    if (from->count == 0) return;
    BASE_ARRAY_RESERVE(world->allocator, to->items, to->capacity, to->count + from->count);
    memcpy(to->items + to->count, from->items, from->count * sizeof *to->items);
    to->count += from->count;
}

static void take_lane(ecs_world* world, ecs_track_lane* lane) {
    ecs_tracker* tracker = world->tracker;
    for (uint32_t i = lane->first; i < lane->end; i++) {
        const ecs_track_item* item = &tracker->items[i];
        const ecs_archetype* archetype = item->chunk->archetype;
        const uint32_t column = archetype->tracked[item->track];
        // All lanes are done, so its other parts are too.
        if (item->is_part && item->first == 0) ecs_track_forget(item->chunk, item->track);
        const ecs_component_id component = archetype->columns[column].component;
        tracker->hashes[component] += lane->own.hashes[component];
        lane->own.hashes[component] = 0;
    }
    const ecs_counters* counters = &lane->view.counters;
    world->counters.rows_compared += counters->rows_compared;
    world->counters.rows_changed += counters->rows_changed;
    append(world, &tracker->changed, &lane->own.changed);
    append(world, &tracker->noticed, &lane->own.noticed);
}

// Lanes of about as many rows. The last one gets the rest: items may have no rows. @return how
// many there are.
static uint32_t divide(ecs_tracker* tracker, uint64_t rows, uint32_t lane_max) {
    uint32_t count = 0;
    uint64_t before = 0;
    for (uint32_t i = 0; i < tracker->item_count; count++) {
        ecs_track_lane* lane = tracker->lanes[count];
        lane->first = i;
        do
            before += tracker->items[i++].rows;
        while (i < tracker->item_count &&
               (count + 1 == lane_max || before * lane_max < rows * (count + 1)));
        lane->end = i;
    }
    return count;
}

// Compare everything that is marked, by lanes, when there are threads and enough to do.
// @return false: nothing was done.
static bool track_by_lanes(ecs_world* world) {
    const uint32_t threads = base_workers_count(world->workers);
    if (!base_workers_worth(world->workers, ROWS_MIN, ROWS_MIN)) return false;
    const uint64_t rows = gather(world);
    ecs_tracker* tracker = world->tracker;
    if (tracker->item_count < 2) return false;
    if (!base_workers_worth(world->workers, rows, ROWS_MIN)) return false;
    uint32_t lane_max = threads * LANES_PER_THREAD;
    if (lane_max > (uint32_t)LANES_MAX) lane_max = (uint32_t)LANES_MAX;
    reserve_lanes(world, lane_max);
    const uint32_t count = divide(tracker, rows, lane_max);
    BASE_ASSERT(count <= lane_max);
    base_workers_run(world->workers, run_lane, world, count);
    for (uint32_t i = 0; i < count; i++)
        take_lane(world, tracker->lanes[i]);
    return true;
}

void ecs_tracker_init(ecs_world* world) {
    ecs_tracker* tracker = world->tracker;
    base_bitset_init(&tracker->fresh, world->allocator);
    tracker->hashes =
        base_allocate_zero(world->allocator, sizeof(uint64_t) * (ECS_COMPONENTS_MAX + 1));
    tracker->scratch = base_allocate_zero(world->allocator, sizeof(base_bytes));
    base_bytes_init(tracker->scratch, world->allocator);
}

static void reserve_list(const ecs_world* world, ecs_entity_list* list, uint32_t more) {
    BASE_ARRAY_RESERVE(world->allocator, list->items, list->capacity, list->count + more);
}

void ecs_track_reserve(ecs_world* world, uint32_t created, uint32_t destroyed, uint32_t recreated) {
    ecs_tracker* tracker = world->tracker;
    reserve_list(world, &tracker->created, created);
    reserve_list(world, &tracker->destroyed, destroyed);
    reserve_list(world, &tracker->recreated, recreated);
}

static void push_entity(ecs_world* world, ecs_entity_list* list, ecs_entity entity) {
    BASE_ASSERT(entity != ECS_ENTITY_NONE);
    if (list->count == list->capacity) reserve_list(world, list, 1);
    list->items[list->count++] = entity;
}

uint64_t ecs_track_hash(const ecs_world* world, ecs_entity entity, ecs_component_id component,
                        const void* value) {
    const ecs_component* info = ecs_component_get(world, component);
    return ecs_type_hash(ecs_type_get(world, info->type), value,
                         base_hash64_mix(info->name_hash, entity));
}

void ecs_track_created(ecs_world* world, ecs_entity entity, const ecs_chunk* chunk, uint32_t row) {
    ecs_track_count_row(world, chunk, row, true);
    push_entity(world, &world->tracker->created, entity);
}

void ecs_track_destroying(ecs_world* world, ecs_entity entity, const ecs_chunk* chunk,
                          uint32_t row) {
    ecs_track_count_row(world, chunk, row, false);
    push_entity(world, &world->tracker->destroyed, entity);
}

void ecs_track_arrived(ecs_world* world, ecs_entity entity, const ecs_chunk* chunk, uint32_t row) {
    ecs_track_count_row(world, chunk, row, true);
    push_entity(world, &world->tracker->recreated, entity);
}

void ecs_track_step(ecs_world* world) {
    BASE_ASSERT(world->is_sealed && world->fast.walk_depth == 0);
    const ecs_storage* storage = world->storage;
    world->tracker->noticed.count = 0;
    ecs_runway_return(world);
    ecs_tracker* tracker = world->tracker;
    for (; tracker->fresh_count < tracker->created.count; tracker->fresh_count++) {
        uint32_t index = ecs_entity_index(tracker->created.items[tracker->fresh_count]);
        base_bitset_reserve(&tracker->fresh, index + 1);
        base_bitset_add(&tracker->fresh, index);
    }
    const bool is_done = track_by_lanes(world);
    for (uint32_t i = 0; i < storage->tracked_count && !is_done; i++) {
        const ecs_archetype* archetype = storage->tracked[i];
        for (uint32_t k = 0; k < archetype->chunk_count; k++)
            for (uint32_t track = 0; track < archetype->track_count; track++)
                ecs_track_column(world, archetype->chunks[k], track);
    }
}

void ecs_track_clear_lists(ecs_world* world) {
    ecs_tracker* tracker = world->tracker;
    ecs_runway_return(world);
    for (uint32_t i = 0; i < tracker->fresh_count; i++)
        base_bitset_remove(&tracker->fresh, ecs_entity_index(tracker->created.items[i]));
    tracker->fresh_count = 0;
    tracker->created.count = 0;
    tracker->destroyed.count = 0;
    tracker->recreated.count = 0;
    tracker->changed.count = 0;
}

void ecs_track_reset(ecs_world* world) {
    BASE_ASSERT(world->tracker->hashes);
    memset(world->tracker->hashes, 0, sizeof(uint64_t) * (ECS_COMPONENTS_MAX + 1));
    ecs_track_clear_lists(world);
}
