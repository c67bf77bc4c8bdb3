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
// are no bases: their layout may differ. Its memory goes back to the pool (pool.c), so an unused
// index costs its place in the table and no more.
//
// Visibility classes: rows are whole. Each row has the mask of the classes in
// which something changed with it. A reader hides what it must not see (net_history_row), and
// follows the masks to find out whether a forgotten row was the same to it as one that is kept.
//
// Invariants (net_history_validate): ticks of a ring rise; the newest row of an incarnation exists.
// Left to others: which client gets what (replicate). A recreation that ends with the template it
// began with is no new incarnation, only a row.
#include "base/assert.h"
#include "core/fault.h"
#include "state/history_internal.h"

#include <string.h>

enum { ROWS_MIN = 4 };

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

static size_t class_ticks_bytes(const net_row_template* row_template) {
    return 2u * (uint32_t)__builtin_popcount(row_template->class_mask) * sizeof(ecs_tick);
}

static void release_rows(net_history* history, net_history_entity* entity) {
    const base_allocator* pool = &history->pool.allocator;
    base_release(pool, entity->rows, entity->block_bytes);
    if (entity->class_ticks)
        base_release(pool, entity->class_ticks, class_ticks_bytes(entity->row_template));
    entity->rows = NULL;
    entity->class_ticks = NULL;
    entity->block_bytes = 0;
    entity->capacity = entity->first = entity->count = 0;
}

void net_history_destroy(net_history* history) {
    if (!history) return;
    const base_allocator* allocator = history->allocator;
    for (uint32_t i = 0; i < history->capacity; i++)
        release_rows(history, &history->entities[i]);
    net_pool_deinit(&history->pool);
    BASE_ARRAY_RELEASE(allocator, history->entities, history->capacity);
    BASE_ARRAY_RELEASE(allocator, history->touches, history->touch_capacity);
    BASE_ARRAY_RELEASE(allocator, history->order, history->order_capacity);
    base_bitset_deinit(&history->touched);
    BASE_ARRAY_RELEASE(allocator, history->events, history->event_capacity);
    base_release(allocator, history, sizeof *history);
}

// A block for twice as many rows, with the rows in order from its begin.
static bool grow(net_history* history, net_history_entity* entity) {
    uint32_t capacity = entity->capacity ? entity->capacity * 2u : ROWS_MIN;
    uint32_t of_row = (uint32_t)(entity->words * sizeof *entity->rows + sizeof(uint8_t) +
                                 (entity->class_ticks ? sizeof(uint16_t) : 0));
    net_history_entity grown = *entity;
    grown.block_bytes = capacity * of_row;
    grown.rows = base_allocate(&history->pool.allocator, grown.block_bytes);
    if (!grown.rows) return false;
    grown.capacity = (uint8_t)capacity;
    grown.first = 0;
    for (uint32_t i = 0; i < entity->count; i++) {
        memcpy(net_history_row_at(&grown, i), net_history_row_at(entity, i),
               entity->words * sizeof *entity->rows);
        net_history_ticks(&grown)[i] = net_history_ticks(entity)[net_history_place(entity, i)];
        if (entity->class_ticks)
            *net_history_classes_at(&grown, i) = *net_history_classes_at(entity, i);
    }
    base_release(&history->pool.allocator, entity->rows, entity->block_bytes);
    *entity = grown;
    return true;
}

// Note the tick of a row for the classes that changed with it.
static void note_classes(const net_row_template* row_template, uint32_t changed, ecs_tick tick,
                         ecs_tick* ticks) {
    uint32_t left = row_template->class_mask;
    for (uint32_t i = 0; left; i++, left &= left - 1)
        if (changed & left & (0u - left)) ticks[i] = tick;
}

static void forget_oldest(net_history_entity* entity) {
    BASE_ASSERT(entity->count > 1);
    entity->oldest_tick = entity->change_tick - net_history_age_at(entity, 1);
    if (entity->class_ticks) {
        uint32_t count = (uint32_t)__builtin_popcount(entity->row_template->class_mask);
        note_classes(entity->row_template, *net_history_classes_at(entity, 1), entity->oldest_tick,
                     entity->class_ticks + count);
    }
    entity->first = (uint8_t)net_history_place(entity, 1);
    entity->count--;
}

// Add a row of this tick, whose words the caller then writes. These classes changed with it.
// @return NULL when not even one row can be stored.
static uint32_t* push(net_history* history, net_history_entity* entity, uint32_t classes) {
    ecs_tick tick = history->tick;
    BASE_ASSERT(entity->row_template && entity->begin_tick <= tick);
    while (entity->count > 1 &&
           entity->change_tick - net_history_age_at(entity, 1) + entity->keep_ticks <= tick + 1)
        forget_oldest(entity);
    if (entity->count == entity->capacity && !grow(history, entity)) {
        history->counters.out_of_memory++;
        if (entity->count == 0) return NULL;
        forget_oldest(entity);
    }
    if (entity->count == 0) entity->oldest_tick = tick;
    uint32_t position = entity->count++;
    net_history_ticks(entity)[net_history_place(entity, position)] = (uint8_t)tick;
    entity->change_tick = tick;
    if (entity->class_ticks) {
        *net_history_classes_at(entity, position) = (uint16_t)classes;
        note_classes(entity->row_template, classes, tick, entity->class_ticks);
    }
    return net_history_row_at(entity, position);
}

static void add_event(net_history* history, ecs_entity handle, net_history_kind kind,
                      uint32_t classes) {
    BASE_ASSERT(history->event_count < history->event_capacity);
    history->events[history->event_count++] =
        (net_history_event){handle, (uint16_t)kind, (uint16_t)classes};
}

static bool begin_incarnation(net_history* history, const ecs_world* world,
                              net_history_entity* entity, ecs_entity handle,
                              const net_row_template* row_template) {
    BASE_ASSERT(ecs_entity_index(handle) >= 1 && row_template);
    release_rows(history, entity);
    entity->handle = ECS_ENTITY_NONE;
    entity->row_template = row_template;
    entity->begin_tick = entity->change_tick = history->tick;
    entity->words = (uint16_t)row_template->layout.packed_count;
    entity->keep_ticks = (uint8_t)history->keep_ticks;
    if (!net_history_is_public(row_template)) {
        size_t bytes = class_ticks_bytes(row_template);
        entity->class_ticks = base_allocate(&history->pool.allocator, bytes);
        if (!entity->class_ticks) return false;
        for (uint32_t i = 0; i < bytes / sizeof(ecs_tick); i++)
            entity->class_ticks[i] = history->tick;
    }
    uint32_t* row = push(history, entity, row_template->class_mask);
    if (!row) return false;
    entity->handle = handle;
    memcpy(row, row_template->packed_defaults, entity->words * sizeof *row);
    net_rows_read_packed(row_template, world, handle, NET_HISTORY_ALL, row);
    add_event(history, handle, NET_HISTORY_SPAWNED, row_template->class_mask);
    return true;
}

// Word by word: the words were just written, and wider loads would wait for the store buffer.
static bool is_other(const uint32_t* a, const uint32_t* b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (a[i] != b[i]) return true;
    }
    return false;
}

// Take over what differs, and drop the other components from the mask. @return the classes in
// which the rows differ.
static uint32_t compare(const net_row_template* row_template, const uint32_t* newest,
                        const uint32_t* row, uint64_t* components) {
    uint32_t classes = 0;
    for (uint64_t left = *components; left; left &= left - 1) {
        uint32_t c = base_bit_lowest(left);
        const proto_row_component* component = &row_template->layout.components[c];
        uint32_t first = component->packed_first;
        if (is_other(newest + first, row + first, component->packed_count))
            classes |= 1u << row_template->classes[c];
        else
            *components &= ~(left & (0u - left));
    }
    return classes;
}

static bool change_row(net_history* history, const ecs_world* world, net_history_entity* entity,
                       uint64_t components) {
    const net_row_template* row_template = entity->row_template;
    const proto_layout* layout = &row_template->layout;
    components &= layout->component_count ? UINT64_MAX >> (64 - layout->component_count) : 0;
    if (net_fault_is_planted(NET_FAULT_DROP_COMPONENT) && ecs_entity_index(entity->handle) % 3 == 0)
        components &= ~UINT64_C(1);
    net_rows_read_packed(row_template, world, entity->handle, components, history->scratch);
    uint32_t classes =
        compare(row_template, net_history_newest(entity), history->scratch, &components);
    if (!classes) {
        history->counters.below_quantum++;
        return true;
    }
    uint32_t* row = push(history, entity, classes);
    if (!row) return false;
    const uint32_t* before = net_history_row_at(entity, entity->count - 2u);
    for (uint32_t i = 0; i < entity->words; i++)
        row[i] = before[i];
    for (; components; components &= components - 1) {
        const proto_row_component* component = &layout->components[base_bit_lowest(components)];
        uint32_t first = component->packed_first, end = first + component->packed_count;
        for (uint32_t i = first; i < end; i++)
            row[i] = history->scratch[i];
    }
    history->counters.rows_changed++;
    add_event(history, entity->handle, NET_HISTORY_CHANGED, classes);
    return true;
}

static void end_incarnation(net_history* history, net_history_entity* entity) {
    if (entity->handle == ECS_ENTITY_NONE) return;
    add_event(history, entity->handle, NET_HISTORY_DESPAWNED, 0);
    entity->handle = ECS_ENTITY_NONE;
    release_rows(history, entity);
}

static net_result take(net_history* history, const ecs_world* world,
                       const net_history_touch* touched) {
    ecs_entity handle = touched->handle;
    net_history_entity* entity = &history->entities[ecs_entity_index(handle)];
    // A destroyed handle has no template; a template without replicated components has no row
    // template.
    const net_row_template* row_template =
        net_rows_find(history->rows, ecs_entity_template(world, handle));
    if (!row_template) {
        end_incarnation(history, entity);
        return NET_OK;
    }
    history->counters.rows_read++;
    if (entity->handle == handle && entity->row_template == row_template)
        return change_row(history, world, entity, touched->components) ? NET_OK : NET_ERR_MEMORY;
    return begin_incarnation(history, world, entity, handle, row_template) ? NET_OK
                                                                           : NET_ERR_MEMORY;
}

// Entities and rows are scattered in memory: prefetch them some steps ahead.
static void fetch_entity(const net_history_entity* entity) {
    __builtin_prefetch(entity, 1);
    __builtin_prefetch((const uint8_t*)(entity + 1) - 1, 1);
}

static void fetch_row(const uint32_t* row, uint32_t words, int is_write) {
    const uint32_t* end = row + (words ? words - 1 : 0);
    if (is_write) {
        __builtin_prefetch(row, 1);
        __builtin_prefetch(end, 1);
    } else {
        __builtin_prefetch(row);
        __builtin_prefetch(end);
    }
}

// The newest row, and where the next one goes.
static void fetch_rows(const net_history_entity* entity) {
    if (entity->count == 0) return;
    fetch_row(net_history_newest(entity), entity->words, 0);
    fetch_row(net_history_row_at(entity, entity->count), entity->words, 1);
    __builtin_prefetch(net_history_ticks(entity), 1);
}

static uint32_t keep_ticks_at(uint32_t tick_rate_hz) {
    if (tick_rate_hz == 0) return NET_ROW_HISTORY_TICKS_MAX; // not known
    uint32_t ticks = tick_rate_hz * NET_ROW_HISTORY_MS / 1000;
    if (ticks < NET_ROW_HISTORY_TICKS_MIN) return NET_ROW_HISTORY_TICKS_MIN;
    return ticks < NET_ROW_HISTORY_TICKS_MAX ? ticks : NET_ROW_HISTORY_TICKS_MAX;
}

net_result net_history_step(net_history* history, const ecs_world* world, ecs_tick tick) {
    BASE_ASSERT(world);
    enum { ROWS_AHEAD = 8, ENTITIES_AHEAD = 16 };
    BASE_ASSERT(history->step_count == 0 || tick > history->tick);
    bool is_first = history->step_count++ == 0;
    if (is_first) history->keep_ticks = keep_ticks_at(net_rows_tick_rate(history->rows));
    history->tick = tick;
    history->event_count = 0;
    if (!net_history_collect(history, world, is_first)) return NET_ERR_MEMORY;
    uint32_t count = history->touched_count;
    for (uint32_t i = 0; i < count; i++) {
        if (i + ENTITIES_AHEAD < count)
            fetch_entity(&history->entities[history->order[i + ENTITIES_AHEAD]]);
        if (i + ROWS_AHEAD < count) fetch_rows(&history->entities[history->order[i + ROWS_AHEAD]]);
        net_result result = take(history, world, &history->touches[history->order[i]]);
        if (result != NET_OK) return result;
    }
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

const net_history_entity* net_history_find(const net_history* history, uint32_t index) {
    if (index >= history->capacity) return NULL;
    const net_history_entity* entity = &history->entities[index];
    return entity->handle != ECS_ENTITY_NONE ? entity : NULL;
}

void net_history_warm(const net_history* history, uint32_t index, ecs_tick tick, uint32_t age,
                      uint32_t d, uint32_t step) {
    BASE_ASSERT(step <= 2);
    if (index >= history->capacity) return;
    const net_history_entity* entity = &history->entities[index];
    if (step == 0) {
        __builtin_prefetch(entity);
        __builtin_prefetch((const uint8_t*)(entity + 1) - 1);
        return;
    }
    if (entity->count == 0) return; // gone
    uint32_t last = entity->count - 1u;
    uint64_t idle = tick - entity->change_tick;
    // Where each tick has a row, the rows are these.
    uint64_t back = age > idle ? age - idle : 0, back2 = back + d;
    if (step == 1) {
        __builtin_prefetch(net_history_ticks(entity));
        fetch_row(net_history_row_at(entity, last), entity->words, 0);
        if (age > 0 && back <= last)
            fetch_row(net_history_row_at(entity, last - (uint32_t)back), entity->words, 0);
    } else if (d > 0 && back2 <= last) {
        fetch_row(net_history_row_at(entity, last - (uint32_t)back2), entity->words, 0);
    }
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
