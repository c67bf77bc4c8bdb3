// SPDX-License-Identifier: MIT
// The history compares twice. The world's tracking finds changed components at full precision. Here
// only their quantised rows are compared, so noise below a quantum goes no further and both sides
// hold the same bits.
//
// Rows are stored by change, not by tick: the row at tick B is the newest one whose tick is not
// above B. So an entity that stood still for minutes still has its base. Without a base in the ring
// (tick_ring.c) a row is sent absolutely.
//
// An incarnation of an index is one generation with one template. Rows of the previous incarnation
// are no bases: their layout may differ. Its memory goes back to the pool (pool.c), so an unused
// index costs its place in the table and no more.
//
// Visibility classes: a row whose components are not all public is cut into one row per class. Each
// class has its own ring, which moves only when a component of the class changes. A masked row is
// composed of the visible classes and the template's defaults. Most templates are public as a
// whole: they have one ring of whole rows, and nothing is copied.
//
// Invariants (net_history_validate): ticks of a ring rise; the newest row of an incarnation exists;
// an entity has one ring, or one per class of its template.
// Left to others: which client gets what (replicate). A recreation that ends with the template it
// began with is no new incarnation, only a row.
#include "base/assert.h"
#include "core/fault.h"
#include "state/history_internal.h"

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

static void release_rows(net_history* history, net_history_entity* entity) {
    const base_allocator* pool = &history->pool.allocator;
    net_row_ring_deinit(&entity->ring, pool);
    for (uint32_t i = 0; i < entity->class_count; i++)
        net_row_ring_deinit(&entity->classes[i].ring, pool);
    BASE_ARRAY_RELEASE(pool, entity->classes, entity->class_count);
    BASE_ARRAY_RELEASE(pool, entity->newest, entity->newest_words);
    entity->classes = NULL;
    entity->newest = NULL;
    entity->class_count = entity->newest_words = 0;
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

static bool is_public(const net_row_template* row_template) {
    return (row_template->class_mask & ~1u) == 0;
}

static bool put(net_history* history, net_row_ring* ring, const uint64_t* row) {
    if (net_row_ring_put(ring, &history->pool.allocator, history->tick, row)) return true;
    history->counters.out_of_memory++;
    return ring->count > 0;
}

// Copy the words of one class out of a whole row, in order.
static uint32_t gather(const net_row_template* row_template, uint32_t number, const uint64_t* row,
                       uint64_t* words) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < row_template->layout.component_count; c++) {
        const proto_row_component* component = &row_template->layout.components[c];
        if (row_template->classes[c] != number) continue;
        memcpy(words + count, row + component->field_first, component->field_count * sizeof *row);
        count += component->field_count;
    }
    return count;
}

// Store history->scratch as the newest row of these classes. @return false when not even one row
// can be stored.
static bool push(net_history* history, net_history_entity* entity, uint32_t classes) {
    BASE_ASSERT(entity->row_template && entity->begin_tick <= history->tick);
    entity->change_tick = history->tick;
    if (!entity->classes) return put(history, &entity->ring, history->scratch);
    memcpy(entity->newest, history->scratch,
           entity->row_template->layout.field_count * sizeof *entity->newest);
    uint64_t words[PROTO_ROW_FIELDS_MAX];
    for (uint32_t i = 0; i < entity->class_count; i++) {
        net_history_class* rows = &entity->classes[i];
        if (!(classes >> rows->number & 1)) continue;
        (void)gather(entity->row_template, rows->number, history->scratch, words);
        if (!put(history, &rows->ring, words)) return false;
    }
    return true;
}

static void add_event(net_history* history, ecs_entity handle, net_history_kind kind,
                      uint32_t classes) {
    BASE_ASSERT(history->event_count < history->event_capacity);
    history->events[history->event_count++] =
        (net_history_event){handle, (uint16_t)kind, (uint16_t)classes};
}

static bool open_classes(net_history* history, net_history_entity* entity) {
    BASE_ASSERT(!entity->classes && !entity->newest);
    const base_allocator* pool = &history->pool.allocator;
    const net_row_template* row_template = entity->row_template;
    uint32_t count = (uint32_t)__builtin_popcount(row_template->class_mask);
    uint32_t words = row_template->layout.field_count;
    entity->classes = base_allocate_zero(pool, count * sizeof *entity->classes);
    if (!entity->classes) return false;
    entity->class_count = count;
    entity->newest = base_allocate_zero(pool, words * sizeof *entity->newest);
    if (!entity->newest) return false;
    entity->newest_words = words;
    uint32_t mask = row_template->class_mask;
    for (uint32_t i = 0; i < count; i++, mask &= mask - 1) {
        entity->classes[i].number = base_bit_lowest(mask);
        net_row_ring_reset(&entity->classes[i].ring,
                           gather(row_template, entity->classes[i].number, row_template->defaults,
                                  history->scratch2));
    }
    return true;
}

// Begin an incarnation; memory of the previous one is used again when it is large enough.
static bool begin_incarnation(net_history* history, net_history_entity* entity, ecs_entity handle,
                              const net_row_template* row_template) {
    BASE_ASSERT(ecs_entity_index(handle) >= 1 && row_template);
    if (entity->classes || !is_public(row_template)) release_rows(history, entity);
    entity->handle = handle;
    entity->row_template = row_template;
    entity->begin_tick = history->tick;
    bool is_open = true;
    if (is_public(row_template))
        net_row_ring_reset(&entity->ring, row_template->layout.field_count);
    else
        is_open = open_classes(history, entity);
    if (!is_open || !push(history, entity, row_template->class_mask)) {
        entity->handle = ECS_ENTITY_NONE;
        return false;
    }
    add_event(history, handle, NET_HISTORY_SPAWNED, row_template->class_mask);
    return true;
}

// Word by word: the words were just written, and wider loads would wait for the store buffer.
static bool is_other(const uint64_t* a, const uint64_t* b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (a[i] != b[i]) return true;
    }
    return false;
}

// The classes in which two rows differ.
static uint32_t compare(const net_row_template* row_template, const uint64_t* a,
                        const uint64_t* b) {
    if (is_public(row_template)) return is_other(a, b, row_template->layout.field_count) ? 1u : 0u;
    uint32_t classes = 0;
    for (uint32_t c = 0; c < row_template->layout.component_count; c++) {
        const proto_row_component* component = &row_template->layout.components[c];
        uint32_t first = component->field_first;
        if (is_other(a + first, b + first, component->field_count))
            classes |= 1u << row_template->classes[c];
    }
    return classes;
}

// The newest row with these components read again from the world.
static void read_row(const ecs_world* world, const net_history_entity* entity, uint64_t components,
                     uint64_t* row) {
    const net_row_template* row_template = entity->row_template;
    if (components == NET_HISTORY_ALL) {
        net_rows_read(row_template, world, entity->handle, row);
    } else {
        memcpy(row, net_history_newest(entity), row_template->layout.field_count * sizeof *row);
        net_rows_read_some(row_template, world, entity->handle, components, row);
    }
    if (net_fault_is_planted(NET_FAULT_DROP_COMPONENT) &&
        ecs_entity_index(entity->handle) % 3 == 0 && row_template->layout.component_count > 0)
        memcpy(row, net_history_newest(entity),
               row_template->layout.components[0].field_count * sizeof *row);
}

// The whole template is public: the new row is written to its final place.
static uint32_t change_in_place(net_history* history, const ecs_world* world,
                                net_history_entity* entity, uint64_t components) {
    uint16_t capacity = entity->ring.capacity, count = entity->ring.count;
    uint64_t* row = net_row_ring_open(&entity->ring, &history->pool.allocator);
    BASE_ASSERT(row); // there is one row at least
    if (count == capacity && capacity < NET_ROW_HISTORY_MAX && entity->ring.capacity == capacity)
        history->counters.out_of_memory++;
    read_row(world, entity, components, row);
    if (!compare(entity->row_template, net_history_newest(entity), row)) return 0;
    net_row_ring_close(&entity->ring, history->tick);
    entity->change_tick = history->tick;
    return 1; // the public one
}

static bool change_row(net_history* history, const ecs_world* world, net_history_entity* entity,
                       uint64_t components) {
    uint32_t classes;
    if (is_public(entity->row_template)) {
        classes = change_in_place(history, world, entity, components);
    } else {
        read_row(world, entity, components, history->scratch);
        classes = compare(entity->row_template, net_history_newest(entity), history->scratch);
        if (classes && !push(history, entity, classes)) return false;
    }
    if (!classes) {
        history->counters.below_quantum++;
        return true;
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
    net_rows_read(row_template, world, handle, history->scratch);
    return begin_incarnation(history, entity, handle, row_template) ? NET_OK : NET_ERR_MEMORY;
}

// Entities and rows are scattered in memory: prefetch them some steps ahead.
static void fetch_entity(const net_history_entity* entity) {
    __builtin_prefetch(entity, 1);
    __builtin_prefetch((const uint8_t*)(entity + 1) - 1, 1);
}

static void fetch_row(const net_row_ring* ring, uint32_t place, int is_write) {
    const uint8_t* row = ring->entries + (size_t)place * ring->stride_bytes;
    if (is_write) {
        __builtin_prefetch(row, 1);
        __builtin_prefetch(row + ring->stride_bytes - 1, 1);
    } else {
        __builtin_prefetch(row);
        __builtin_prefetch(row + ring->stride_bytes - 1);
    }
}

// The newest row, and where the next one goes.
static void fetch_rows(const net_history_entity* entity) {
    const net_row_ring* ring = &entity->ring;
    if (ring->count == 0 || ring->stride_bytes == 0) return;
    uint32_t newest = (ring->first + ring->count - 1u) & (ring->capacity - 1u);
    uint32_t next = (newest + 1) & (ring->capacity - 1u);
    fetch_row(ring, newest, 0);
    fetch_row(ring, next, 1);
    __builtin_prefetch(&ring->ticks[next], 1);
}

net_result net_history_step(net_history* history, const ecs_world* world, ecs_tick tick) {
    BASE_ASSERT(world);
    enum { ROWS_AHEAD = 8, ENTITIES_AHEAD = 16 };
    BASE_ASSERT(history->step_count == 0 || tick > history->tick);
    bool is_first = history->step_count++ == 0;
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

static void warm_row(const net_row_ring* ring, ecs_tick tick) {
    uint32_t position = net_row_ring_find(ring, tick);
    if (position == UINT32_MAX) return;
    const uint64_t* row = net_row_ring_row(ring, position);
    __builtin_prefetch(row);
    if (ring->stride_bytes > 0) __builtin_prefetch((const uint8_t*)row + ring->stride_bytes - 1);
}

void net_history_warm(const net_history* history, uint32_t index, ecs_tick tick, uint32_t age,
                      uint32_t d, uint32_t step) {
    BASE_ASSERT(step <= 2);
    if (index >= history->capacity) return;
    const net_history_entity* entity = &history->entities[index];
    const net_row_ring* ring = &entity->ring;
    if (step == 0) {
        __builtin_prefetch(entity);
        __builtin_prefetch((const uint8_t*)(entity + 1) - 1);
    } else if (ring->count == 0) {
        return; // classes have rings of their own, or the entity is gone
    } else if (step == 1) {
        uint32_t newest = (ring->first + ring->count - 1u) & (ring->capacity - 1u);
        __builtin_prefetch(&ring->ticks[newest]);
        __builtin_prefetch(ring->entries + (size_t)newest * ring->stride_bytes);
    } else {
        warm_row(ring, tick);
        if (age > 0) warm_row(ring, tick - age);
        if (d > 0) warm_row(ring, tick - age - d);
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
