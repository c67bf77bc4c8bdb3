// SPDX-License-Identifier: MIT
// The history compares twice. The world's tracking finds changed components at full precision. Here
// only their quantised rows are compared, so noise below a quantum goes no further and both sides
// hold the same bits.
//
// Rows are stored by change, not by tick: the row at tick B is the newest one whose tick is not
// above B. Each row of the last NET_ROW_HISTORY_MS is kept, and the one that was the newest
// before them. So an entity that stood still for minutes still has its base, and which base is
// known does not depend on how much else changed.
//
// An incarnation of an index is one generation with one template. Rows of the previous incarnation
// are no bases: their layout may differ. Its memory goes back to the pool (tick_ring.c), so an
// unused index costs its place in the table and no more.
//
// Visibility classes: rows are whole. Each row has the mask of the classes in
// which something changed with it. A reader hides what it must not see (net_history_row), and
// follows the masks to find out whether a forgotten row was the same to it as one that is kept.
//
// Invariants (net_history_validate): ticks of a ring rise; the newest row of an incarnation exists.
// Left to others: which client gets what (replicate). A recreation that ends with the template it
// began with is no new incarnation, only a row.
#include "state/history.h"

#include "core/fault.h"

#include "base/assert.h"

#include <string.h>

net_result net_history_create(const base_allocator* allocator, net_rows* rows, uint32_t index_max,
                              net_history** history) {
    BASE_ASSERT(rows && history && index_max >= 1 && index_max <= ECS_INDEX_MAX);
    *history = NULL;
    net_history* made = base_allocate_zero(allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = allocator;
    made->rows = rows;
    made->index_max = index_max;
    net_pool_init(&made->pool, allocator);
    base_bitset_init(&made->touched, allocator);
    *history = made;
    return NET_OK;
}

void net_history_destroy(net_history* history) {
    if (!history) return;
    const base_allocator* allocator = history->allocator;
    for (uint32_t i = 0; i < history->capacity; i++)
        net_history_release_rows(history, &history->entities[i]);
    net_pool_deinit(&history->pool);
    BASE_ARRAY_RELEASE(allocator, history->entities, history->capacity);
    BASE_ARRAY_RELEASE(allocator, history->touches, history->touch_capacity);
    base_bitset_deinit(&history->touched);
    BASE_ARRAY_RELEASE(allocator, history->events, history->event_capacity);
    BASE_ARRAY_RELEASE(allocator, history->sorted, history->sorted_capacity);
    base_release(allocator, history, sizeof *history);
}

void net_history_set_workers(net_history* history, base_workers* workers) {
    history->workers = workers;
}

static void add_event(net_history* history, ecs_entity handle, net_history_kind kind,
                      uint32_t classes, uint32_t components) {
    BASE_ASSERT(history->event_count < history->event_capacity);
    history->events[history->event_count++] =
        (net_history_event){handle, (uint16_t)kind, (uint16_t)classes, components};
}

static bool begin_incarnation(net_history* history, const ecs_world* world,
                              net_history_entity* entity, ecs_entity handle,
                              const net_row_template* row_template) {
    BASE_ASSERT(ecs_entity_index(handle) >= 1 && row_template);
    net_history_release_rows(history, entity);
    entity->handle = ECS_ENTITY_NONE;
    entity->row_template = row_template;
    entity->begin_tick = entity->change_tick = history->tick;
    entity->words = (uint16_t)row_template->layout.packed_count;
    entity->keep_ticks = (uint8_t)history->keep_ticks;
    if (!net_history_is_public(row_template)) {
        size_t bytes = net_history_class_ticks_bytes(row_template);
        entity->class_ticks = base_allocate(&history->pool.allocator, bytes);
        if (!entity->class_ticks) return false;
        for (uint32_t i = 0; i < bytes / sizeof(ecs_tick); i++)
            entity->class_ticks[i] = history->tick;
    }
    uint32_t* row = net_history_push(history, entity, row_template->class_mask);
    if (!row) return false;
    entity->handle = handle;
    memcpy(row, row_template->packed_defaults, entity->words * sizeof *row);
    net_rows_read_packed(row_template, world, handle, NET_HISTORY_ALL, row);
    add_event(history, handle, NET_HISTORY_SPAWNED, row_template->class_mask, 0);
    return true;
}

static void add_change(net_history* history, const net_history_touch* touched) {
    history->counters.rows_read++;
    if (!touched->classes) {
        history->counters.below_quantum++;
        return;
    }
    history->counters.rows_changed++;
    add_event(history, touched->handle, NET_HISTORY_CHANGED, touched->classes, touched->components);
}

static void end_incarnation(net_history* history, net_history_entity* entity) {
    if (entity->handle == ECS_ENTITY_NONE) return;
    add_event(history, entity->handle, NET_HISTORY_DESPAWNED, 0, 0);
    entity->handle = ECS_ENTITY_NONE;
    net_history_release_rows(history, entity);
}

// Look at all of an entity. @return false when memory ran out.
static bool take_whole(net_history* history, const ecs_world* world, net_history_touch* touched) {
    ecs_entity handle = touched->handle;
    net_history_entity* entity = &history->entities[ecs_entity_index(handle)];
    // A destroyed handle has no template; a template without replicated components has no row
    // template.
    const net_row_template* row_template =
        net_rows_find(history->rows, ecs_entity_template(world, handle));
    if (!row_template) {
        end_incarnation(history, entity);
        return true;
    }
    if (entity->handle != handle || entity->row_template != row_template) {
        history->counters.rows_read++;
        return begin_incarnation(history, world, entity, handle, row_template);
    }
    if (!net_history_take_values(history, world, touched)) return false;
    add_change(history, touched);
    return true;
}

// Add the events, by rising index. @return false when memory ran out.
static bool add_changes(net_history* history, const ecs_world* world) {
    if (!BASE_ARRAY_RESERVE(history->allocator, history->events, history->event_capacity,
                            base_bitset_count(&history->touched)))
        return false;
    for (uint32_t w = 0; w < history->touched.word_count; w++) {
        for (uint64_t bits = history->touched.words[w]; bits; bits &= bits - 1) {
            net_history_touch* touched = &history->touches[w * 64 + base_bit_lowest(bits)];
            if (!touched->is_whole)
                add_change(history, touched);
            else if (!take_whole(history, world, touched))
                return false;
        }
        history->touched.words[w] = 0;
    }
    return true;
}

// The changes of a step on several threads.
//
//     changes, by archetype and component      3 40 7 | 3 7 90 40 | ...
//     sorted into parts, by index              3 7 3 7 | 40 40 | 90 ...
//
// A part is a range of whole words of the touched set. Its changes keep their order, so each entity
// is compared as on one thread, and no two parts share an entity, a touch or a word. A ring that
// must grow needs the pool: its entity is looked at again as a whole, by the owner, when events are
// added. That compares more components and finds no other change.

enum {
    PARTS_MAX = 32,
    PART_SHIFT_MIN = 6,       ///< indices of a part: a word of the set at least
    SHARED_CHANGES_MIN = 1024 ///< fewer are compared by one thread: waking another costs more
};

typedef struct history_parts {
    net_history* history;
    const ecs_world* world;
    uint32_t shift;
    uint32_t ends[PARTS_MAX]; ///< in `sorted`
} history_parts;

// Make room for all indices. @return false when memory ran out.
static bool measure(history_parts* self, const ecs_changes* changes) {
    net_history* history = self->history;
    uint32_t last = 0;
    for (uint32_t i = 0; i < changes->changed_count; i++) {
        const uint32_t index = ecs_entity_index(changes->changed[i].entity);
        if (index > last && index <= history->index_max) last = index;
    }
    self->shift = PART_SHIFT_MIN;
    while (last >> self->shift >= PARTS_MAX)
        self->shift++;
    return (last == 0 || net_history_reserve(history, last)) &&
           BASE_ARRAY_RESERVE(history->allocator, history->sorted, history->sorted_capacity,
                              changes->changed_count);
}

// Stable; entities that are not followed are left out.
static void sort(history_parts* self, const ecs_changes* changes) {
    net_history* history = self->history;
    memset(self->ends, 0, sizeof self->ends);
    for (uint32_t i = 0; i < changes->changed_count; i++) {
        const uint32_t index = ecs_entity_index(changes->changed[i].entity);
        if (index <= history->index_max) self->ends[index >> self->shift]++;
    }
    for (uint32_t i = 0, sum = 0; i < PARTS_MAX; i++) {
        const uint32_t count = self->ends[i];
        self->ends[i] = sum; // where it begins; it moves to the end below
        sum += count;
    }
    for (uint32_t i = 0; i < changes->changed_count; i++) {
        const uint32_t index = ecs_entity_index(changes->changed[i].entity);
        if (index <= history->index_max)
            history->sorted[self->ends[index >> self->shift]++] = changes->changed[i];
    }
}

static void take_part(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    const history_parts* self = context;
    const uint32_t first = item > 0 ? self->ends[item - 1] : 0;
    bool ok = net_history_take_changes(self->history, self->world, self->history->sorted + first,
                                       self->ends[item] - first, true);
    BASE_ASSERT(ok && "a part needs no memory");
}

// Look at all changes of a step, on workers when there are many. @return false when memory ran
// out.
static bool take_all(net_history* history, const ecs_world* world) {
    const ecs_changes changes = ecs_changes_get(world);
    base_workers* workers =
        base_workers_worth(history->workers, changes.changed_count, SHARED_CHANGES_MIN);
    history_parts self = {.history = history, .world = world};
    if (!workers || !measure(&self, &changes))
        return net_history_take_changes(history, world, changes.changed, changes.changed_count,
                                        false);
    sort(&self, &changes);
    base_workers_run(workers, take_part, &self, PARTS_MAX);
    return true;
}

static uint32_t keep_ticks_at(uint32_t tick_rate_hz) {
    if (tick_rate_hz == 0) return NET_ROW_HISTORY_TICKS_MAX; // not known
    uint32_t ticks = tick_rate_hz * NET_ROW_HISTORY_MS / 1000;
    if (ticks < NET_ROW_HISTORY_TICKS_MIN) return NET_ROW_HISTORY_TICKS_MIN;
    return ticks < NET_ROW_HISTORY_TICKS_MAX ? ticks : NET_ROW_HISTORY_TICKS_MAX;
}

net_result net_history_step(net_history* history, const ecs_world* world, ecs_tick tick) {
    BASE_ASSERT(world);
    BASE_ASSERT(history->step_count == 0 || tick > history->tick);
    bool is_first = history->step_count++ == 0;
    if (is_first) history->keep_ticks = keep_ticks_at(net_rows_tick_rate(history->rows));
    history->tick = tick;
    history->event_count = 0;
    if (!net_history_collect(history, world, is_first) ||
        (!is_first && !take_all(history, world)) || !add_changes(history, world))
        return NET_ERR_MEMORY;
    if (NET_VALIDATE_ON) net_history_validate(history);
    return NET_OK;
}

uint64_t net_history_step_count(const net_history* history) {
    return history->step_count;
}

ecs_tick net_history_tick(const net_history* history) {
    return history->tick;
}

uint32_t net_history_keep_ticks(const net_history* history) {
    return history->keep_ticks;
}

uint32_t net_history_number_bits(const net_history* history) {
    return net_rows_number_bits(history->rows);
}

const net_history_event* net_history_events(const net_history* history, uint32_t* count) {
    *count = history->event_count;
    return history->events;
}

const net_history_entity* net_history_entities(const net_history* history) {
    return history->entities;
}

const net_history_entity* net_history_find(const net_history* history, uint32_t index) {
    if (index >= history->capacity) return NULL;
    const net_history_entity* entity = &history->entities[index];
    return entity->handle != ECS_ENTITY_NONE ? entity : NULL;
}

void net_history_warm(const net_history* history, uint32_t index, ecs_tick tick, uint32_t age,
                      uint32_t d, bool is_known) {
    if (index >= history->capacity) return;
    const net_history_entity* entity = &history->entities[index];
    if (!is_known) {
        __builtin_prefetch(entity);
        __builtin_prefetch((const uint8_t*)(entity + 1) - 1);
        return;
    }
    if (entity->count == 0) return; // gone
    const uint32_t* newest = net_history_newest(entity);
    __builtin_prefetch(newest);
    __builtin_prefetch(newest + entity->words);
    __builtin_prefetch(net_history_ticks(entity));
    // Where each tick has a row, the bases are these.
    uint64_t idle = tick - entity->change_tick, back = age > idle ? age - idle : 0;
    if (back == 0 || back + d >= entity->count) return;
    const uint32_t* base = net_history_row_at(entity, entity->count - 1u - (uint32_t)back);
    __builtin_prefetch(base);
    __builtin_prefetch(base + entity->words);
    if (d > 0)
        __builtin_prefetch(net_history_row_at(entity, entity->count - 1u - (uint32_t)back - d));
}

uint32_t net_history_index_end(const net_history* history) {
    return history->capacity;
}

const net_history_counters* net_history_get_counters(const net_history* history) {
    return &history->counters;
}

void net_history_validate(const net_history* history) {
    for (uint32_t index = 0; index < history->capacity; index++) {
        const net_history_entity* entity = &history->entities[index];
        if (entity->handle == ECS_ENTITY_NONE) continue;
        BASE_ASSERT(ecs_entity_index(entity->handle) == index && index <= history->index_max);
        BASE_ASSERT(entity->change_tick <= history->tick);
        net_history_entity_validate(entity);
    }
    for (uint32_t i = 1; i < history->event_count; i++)
        BASE_ASSERT(ecs_entity_index(history->events[i - 1].handle) <
                    ecs_entity_index(history->events[i].handle));
}
