// SPDX-License-Identifier: MIT
// Two compares: the world's tracking says at full precision who changed; here the quantised rows of just
// those are compared, so that noise below a quantum never goes further and both sides hold the same
// bits.
//
// Rows are kept by change, not by tick: the row at tick B is the newest one with a tag <= B, so an
// entity that stood still for minutes still has its base. Who needs one that the ring (row_ring.c) has
// forgotten gets an absolute row.
//
// A life of an index is one generation with one template. Rows of a former life are no bases: the
// layout may be another. The memory of a life that ended is used again by any other (pool.c): an index
// that rests costs its place in the table and nothing else.
//
// Classes of visibility: a row whose components are not all public is cut into one row per class, each with
// a ring of its own that moves only when something of that class changes. A masked row is put together from
// those that may be seen and the template's defaults. Most templates are public as a whole: one ring of
// whole rows, and nothing is ever copied.
//
// Left to others: who is told what (view.c). A recreation that ends with the template it began with
// is no new life, just a row.
#include "history.h"

#include "base/assert.h"
#include "base/bitset.h"
#include "pool.h"

#include <string.h>

struct net_history {
    const base_allocator* allocator;
    net_pool pool; ///< of rows
    net_rows* rows;
    uint32_t index_max;
    net_history_entity* entities; ///< [index]
    uint32_t capacity;
    base_bitset touched; ///< indices that the running step has to look at
    ecs_entity* handles; ///< [index], of touched ones: the living handle if any
    uint32_t handle_capacity;
    uint32_t touched_count;
    uint64_t step_count;
    net_history_event* events;
    uint32_t event_count, event_capacity;
    ecs_tick tick;
    net_history_counters counters;
    uint64_t scratch[PROTO_ROW_FIELDS_MAX];
    uint64_t scratch2[PROTO_ROW_FIELDS_MAX];
};

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
    base_release(pool, entity->classes, entity->class_count * sizeof *entity->classes);
    base_release(pool, entity->newest, entity->newest_words * sizeof *entity->newest);
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
    base_release(allocator, history->entities, history->capacity * sizeof *history->entities);
    base_release(allocator, history->handles, history->handle_capacity * sizeof *history->handles);
    base_bitset_deinit(&history->touched);
    base_release(allocator, history->events, history->event_capacity * sizeof *history->events);
    base_release(allocator, history, sizeof *history);
}

static bool is_public(const net_row_template* entry) {
    return (entry->class_mask & ~1u) == 0;
}

static bool put(net_history* history, net_row_ring* ring, const uint64_t* row) {
    if (net_row_ring_put(ring, &history->pool.allocator, history->tick, row)) return true;
    history->counters.out_of_memory++;
    return ring->count > 0;
}

// The words of one class out of a whole row, in order.
static uint32_t gather(const net_row_template* entry, uint32_t number, const uint64_t* row,
                       uint64_t* words) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < entry->layout.component_count; c++) {
        const proto_row_component* component = &entry->layout.components[c];
        if (entry->classes[c] != number) continue;
        memcpy(words + count, row + component->field_first, component->field_count * sizeof *row);
        count += component->field_count;
    }
    return count;
}

// Put history->scratch as the newest row of these classes. @return false when not even one row can be kept.
static bool push(net_history* history, net_history_entity* entity, uint32_t classes) {
    entity->change_tick = history->tick;
    if (!entity->classes) return put(history, &entity->ring, history->scratch);
    memcpy(entity->newest, history->scratch,
           entity->entry->layout.field_count * sizeof *entity->newest);
    uint64_t words[PROTO_ROW_FIELDS_MAX];
    for (uint32_t i = 0; i < entity->class_count; i++) {
        net_history_class* rows = &entity->classes[i];
        if (!(classes >> rows->number & 1)) continue;
        (void)gather(entity->entry, rows->number, history->scratch, words);
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
    const base_allocator* pool = &history->pool.allocator;
    const net_row_template* entry = entity->entry;
    uint32_t count = (uint32_t)__builtin_popcount(entry->class_mask);
    uint32_t words = entry->layout.field_count;
    entity->classes = base_allocate_zero(pool, count * sizeof *entity->classes);
    if (!entity->classes) return false;
    entity->class_count = count;
    entity->newest = base_allocate_zero(pool, words * sizeof *entity->newest);
    if (!entity->newest) return false;
    entity->newest_words = words;
    uint32_t mask = entry->class_mask;
    for (uint32_t i = 0; i < count; i++, mask &= mask - 1) {
        entity->classes[i].number = base_bit_lowest(mask);
        net_row_ring_reset(&entity->classes[i].ring, gather(entry, entity->classes[i].number,
                                                            entry->defaults, history->scratch2));
    }
    return true;
}

// A new life begins; memory of the former one is kept where it suffices.
static bool begin_life(net_history* history, net_history_entity* entity, ecs_entity handle,
                       const net_row_template* entry) {
    if (entity->classes || !is_public(entry)) release_rows(history, entity);
    entity->handle = handle;
    entity->entry = entry;
    entity->life_tick = history->tick;
    bool is_open = true;
    if (is_public(entry))
        net_row_ring_reset(&entity->ring, entry->layout.field_count);
    else
        is_open = open_classes(history, entity);
    if (!is_open || !push(history, entity, entry->class_mask)) {
        entity->handle = ECS_ENTITY_NONE;
        return false;
    }
    add_event(history, handle, NET_HISTORY_CAME, entry->class_mask);
    return true;
}

#ifdef SHOAL_FAULT_DROP_COMPONENT
// Negative control: the first replicated component of every third entity never changes.
static void keep_first_component(net_history* history, const net_history_entity* entity) {
    if (ecs_entity_index(entity->handle) % 3 != 0 || entity->entry->layout.component_count == 0)
        return;
    memcpy(history->scratch, net_history_newest(entity),
           entity->entry->layout.components[0].field_count * sizeof(uint64_t));
}
#endif

// The classes in which two rows differ.
static uint32_t compare(const net_row_template* entry, const uint64_t* a, const uint64_t* b) {
    if (is_public(entry)) return memcmp(a, b, entry->layout.field_count * sizeof *a) != 0 ? 1u : 0u;
    uint32_t classes = 0;
    for (uint32_t c = 0; c < entry->layout.component_count; c++) {
        const proto_row_component* component = &entry->layout.components[c];
        uint32_t first = component->field_first;
        if (memcmp(a + first, b + first, component->field_count * sizeof *a) != 0)
            classes |= 1u << entry->classes[c];
    }
    return classes;
}

static bool change_row(net_history* history, net_history_entity* entity) {
#ifdef SHOAL_FAULT_DROP_COMPONENT
    keep_first_component(history, entity);
#endif
    uint32_t classes = compare(entity->entry, net_history_newest(entity), history->scratch);
    if (!classes) {
        history->counters.below_quantum++;
        return true;
    }
    if (!push(history, entity, classes)) return false;
    history->counters.rows_changed++;
    add_event(history, entity->handle, NET_HISTORY_CHANGED, classes);
    return true;
}

static void end_life(net_history* history, net_history_entity* entity) {
    if (entity->handle == ECS_ENTITY_NONE) return;
    add_event(history, entity->handle, NET_HISTORY_WENT, 0);
    entity->handle = ECS_ENTITY_NONE;
    release_rows(history, entity);
}

static net_result take(net_history* history, const ecs_world* world, ecs_entity handle) {
    net_history_entity* entity = &history->entities[ecs_entity_index(handle)];
    // A dead handle has no template, a template without replicated components no entry.
    const net_row_template* entry =
        net_rows_find(history->rows, ecs_entity_template(world, handle));
    if (!entry) {
        end_life(history, entity);
        return NET_OK;
    }
    net_rows_read(entry, world, handle, history->scratch);
    history->counters.rows_read++;
    bool is_same_life = entity->handle == handle && entity->entry == entry;
    bool is_kept =
        is_same_life ? change_row(history, entity) : begin_life(history, entity, handle, entry);
    return is_kept ? NET_OK : NET_ERR_MEMORY;
}

static bool reserve_index(net_history* history, uint32_t index) {
    return base_array_reserve(history->allocator, (void**)&history->entities, &history->capacity,
                              index + 1, sizeof *history->entities) &&
           base_array_reserve(history->allocator, (void**)&history->handles,
                              &history->handle_capacity, index + 1, sizeof *history->handles) &&
           base_bitset_reserve(&history->touched, history->handle_capacity);
}

static bool touch(net_history* history, const ecs_world* world, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    if (index == 0 || index > history->index_max) return true;
    if (!reserve_index(history, index)) return false;
    if (base_bitset_has(&history->touched, index)) {
        if (ecs_is_alive(world, handle)) history->handles[index] = handle;
        return true;
    }
    base_bitset_add(&history->touched, index);
    history->handles[index] = handle;
    history->touched_count++;
    return true;
}

static bool touch_listed(net_history* history, const ecs_world* world) {
    ecs_changes changes = ecs_changes_get(world);
    bool ok = true;
    for (uint32_t i = 0; i < changes.created_count && ok; i++)
        ok = touch(history, world, changes.created[i]);
    for (uint32_t i = 0; i < changes.destroyed_count && ok; i++)
        ok = touch(history, world, changes.destroyed[i]);
    for (uint32_t i = 0; i < changes.recreated_count && ok; i++)
        ok = touch(history, world, changes.recreated[i]);
    for (uint32_t i = 0; i < changes.changed_count && ok; i++)
        ok = touch(history, world, changes.changed[i].entity);
    return ok;
}

static bool touch_all(net_history* history, const ecs_world* world) {
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        if (!touch(history, world, entity)) return false;
    }
    return true;
}

net_result net_history_step(net_history* history, const ecs_world* world, ecs_tick tick) {
    BASE_ASSERT(history->step_count == 0 || tick > history->tick);
    bool is_first = history->step_count++ == 0;
    history->tick = tick;
    history->event_count = 0;
    history->touched_count = 0;
    base_bitset_clear_all(&history->touched);
    bool is_listed = is_first ? touch_all(history, world) : touch_listed(history, world);
    if (!is_listed ||
        !base_array_reserve(history->allocator, (void**)&history->events, &history->event_capacity,
                            history->touched_count, sizeof *history->events))
        return NET_ERR_MEMORY;
    uint32_t index = base_bitset_next(&history->touched, 0);
    for (; index != UINT32_MAX; index = base_bitset_next(&history->touched, index + 1)) {
        net_result result = take(history, world, history->handles[index]);
        if (result != NET_OK) return result;
    }
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
    if (ring->field_count > 0) __builtin_prefetch(row + ring->field_count - 1);
}

void net_history_warm(const net_history* history, uint32_t index, ecs_tick tick, uint32_t age,
                      uint32_t d, uint32_t step) {
    if (index >= history->capacity) return;
    const net_history_entity* entity = &history->entities[index];
    const net_row_ring* ring = &entity->ring;
    if (step == 0) {
        __builtin_prefetch(entity);
        __builtin_prefetch((const uint8_t*)(entity + 1) - 1);
    } else if (ring->count == 0) {
        return; // in classes, or gone
    } else if (step == 1) {
        uint32_t newest = (ring->first + ring->count - 1u) & (ring->capacity - 1u);
        __builtin_prefetch(&ring->ticks[newest]);
        __builtin_prefetch(&ring->rows[(size_t)newest * ring->field_count]);
    } else {
        warm_row(ring, tick);
        if (age > 0) warm_row(ring, tick - age);
        if (d > 0) warm_row(ring, tick - age - d);
    }
}

uint32_t net_history_index_end(const net_history* history) {
    return history->capacity;
}

const uint64_t* net_history_newest(const net_history_entity* entity) {
    if (entity->classes) return entity->newest;
    return net_row_ring_row(&entity->ring, entity->ring.count - 1u);
}

// Put a class's words at `tick` into a row. @return false when they are forgotten.
static bool scatter(const net_history_entity* entity, const net_history_class* rows, ecs_tick tick,
                    uint64_t* row) {
    uint32_t position = net_row_ring_find(&rows->ring, tick);
    if (position == UINT32_MAX) return false;
    const uint64_t* words = net_row_ring_row(&rows->ring, position);
    const net_row_template* entry = entity->entry;
    for (uint32_t c = 0; c < entry->layout.component_count; c++) {
        const proto_row_component* component = &entry->layout.components[c];
        if (entry->classes[c] != rows->number) continue;
        memcpy(row + component->field_first, words, component->field_count * sizeof *row);
        words += component->field_count;
    }
    return true;
}

const uint64_t* net_history_at(const net_history_entity* entity, ecs_tick tick, uint32_t classes,
                               uint64_t* scratch) {
    if (tick < entity->life_tick) return NULL;
    if (!entity->classes) {
        uint32_t position = net_row_ring_find(&entity->ring, tick);
        return position != UINT32_MAX ? net_row_ring_row(&entity->ring, position) : NULL;
    }
    memcpy(scratch, entity->entry->defaults, entity->entry->layout.field_count * sizeof *scratch);
    for (uint32_t i = 0; i < entity->class_count; i++) {
        const net_history_class* rows = &entity->classes[i];
        if (classes >> rows->number & 1 && !scatter(entity, rows, tick, scratch)) return NULL;
    }
    return scratch;
}

ecs_tick net_history_changed(const net_history_entity* entity, uint32_t classes) {
    if (!entity->classes) return entity->change_tick;
    ecs_tick newest = entity->life_tick;
    for (uint32_t i = 0; i < entity->class_count; i++) {
        const net_row_ring* ring = &entity->classes[i].ring;
        if (!(classes >> entity->classes[i].number & 1) || ring->count == 0) continue;
        ecs_tick tick = net_row_ring_tick(ring, ring->count - 1u);
        if (tick > newest) newest = tick;
    }
    return newest;
}

const net_history_counters* net_history_get_counters(const net_history* history) {
    return &history->counters;
}
