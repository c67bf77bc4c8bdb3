// SPDX-License-Identifier: MIT
/// Private to state: the history, shared by history.c and history_touch.c.
#pragma once

#include "base/bitset.h"
#include "core/pool.h"
#include "state/history.h"

/// An index that the running step must look at.
typedef struct net_history_touch {
    ecs_entity handle;   ///< the living entity of the index, if there is one
    uint32_t components; ///< whose words have changed in this step: net_history_event
    uint16_t classes;    ///< in which its row has changed in this step
    bool is_whole;       ///< it may have begun, ended or become another: look at all of it
} net_history_touch;

#define NET_HISTORY_ALL UINT64_MAX
#define NET_HISTORY_WORDS_MAX (2u * PROTO_ROW_FIELDS_MAX + 1u) ///< of a packed row

_Static_assert(PROTO_ROW_COMPONENTS_MAX <= 64, "a bit for each component");

struct net_history {
    const base_allocator* allocator;
    net_pool pool; ///< of rows
    net_rows* rows;
    uint32_t index_max;
    net_history_entity* entities; ///< [index]
    uint32_t capacity;
    base_bitset touched;        ///< indices that the running step must look at
    net_history_touch* touches; ///< [index], of touched ones
    uint32_t touch_capacity;
    uint64_t step_count;
    net_history_event* events;
    uint32_t event_count, event_capacity;
    ecs_tick tick;
    uint32_t keep_ticks;
    net_history_counters counters;
    base_workers* workers;
    ecs_change* sorted; ///< a step's changes by part (history_parts.c)
    uint32_t sorted_capacity;
};

#define NET_HISTORY_TICK_MASK 255u // of a tick, the bits that are stored with a row
_Static_assert(NET_ROW_HISTORY_TICKS_MAX <= NET_HISTORY_TICK_MASK, "they tell ages apart");

static inline bool net_history_is_public(const net_row_template* row_template) {
    return (row_template->class_mask & ~1u) == 0;
}

// ---- the ring of an entity; positions count from its oldest row ----

static inline uint32_t net_history_place(const net_history_entity* entity, uint32_t position) {
    return (entity->first + position) & (entity->capacity - 1u);
}
static inline uint32_t* net_history_row_at(const net_history_entity* entity, uint32_t position) {
    return entity->rows + (size_t)net_history_place(entity, position) * entity->words;
}
/// With classes: those in which something changed with the row.
static inline uint16_t* net_history_classes_at(const net_history_entity* entity,
                                               uint32_t position) {
    uint16_t* masks = (uint16_t*)(entity->rows + (size_t)entity->capacity * entity->words);
    return &masks[net_history_place(entity, position)];
}
static inline uint8_t* net_history_ticks(const net_history_entity* entity) {
    uint8_t* end = (uint8_t*)(entity->rows + (size_t)entity->capacity * entity->words);
    return end + (entity->class_ticks ? entity->capacity * sizeof(uint16_t) : 0);
}
/// Ticks from a row, by the low bits of its tick, to the newest one.
static inline uint32_t net_history_age_of(const net_history_entity* entity, uint8_t low) {
    return ((uint32_t)entity->change_tick - low) & NET_HISTORY_TICK_MASK;
}
/// Ticks from a row to the newest one. Not of the oldest row, which may be older than this can say.
static inline uint32_t net_history_age_at(const net_history_entity* entity, uint32_t position) {
    return net_history_age_of(entity,
                              net_history_ticks(entity)[net_history_place(entity, position)]);
}

// ---- history_touch.c ----

/// Make room for an index. @return false when memory ran out.
BASE_MUST_USE bool net_history_reserve(net_history* history, uint32_t index);
/// Touch an index that the history follows, once. @return its touch; NULL when memory ran out.
static inline net_history_touch* net_history_touch_index(net_history* history, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    bool has_room = index < history->capacity && index < history->touch_capacity;
    if (!has_room && !net_history_reserve(history, index)) return NULL;
    net_history_touch* touched = &history->touches[index];
    uint64_t *word = &history->touched.words[index >> 6], bit = UINT64_C(1) << (index & 63);
    if (*word & bit) return touched;
    *word |= bit;
    *touched = (net_history_touch){.handle = handle};
    return touched;
}
/// Touch, as a whole, what the world lists as created, destroyed or recreated, or all of the world.
/// @return false when memory ran out.
BASE_MUST_USE bool net_history_collect(net_history* history, const ecs_world* world,
                                       bool is_everything);
/// Touch one entity as a whole. @return false when memory ran out.
BASE_MUST_USE bool net_history_touch_whole(net_history* history, const ecs_world* world,
                                           ecs_entity handle);

// ---- history_take.c ----

/// Look at what changes name. With `is_part` others look at other words of the touched set at the
/// same time: indices have their room already, and whose ring must grow is touched as a whole
/// instead. @return false when memory ran out.
BASE_MUST_USE bool net_history_take_changes(net_history* history, const ecs_world* world,
                                            const ecs_change* changes, uint32_t count,
                                            bool is_part);

/// Look at all values of an entity that the history follows already. @return false when memory ran
/// out.
BASE_MUST_USE bool net_history_take_values(net_history* history, const ecs_world* world,
                                           net_history_touch* touched);

// ---- history_parts.c ----

/// Look at all changes of a step, on workers when there are many. @return false when memory ran
/// out.
BASE_MUST_USE bool net_history_take_all(net_history* history, const ecs_world* world);

// ---- history_ring.c ----

/// Bytes of entity->class_ticks.
size_t net_history_class_ticks_bytes(const net_row_template* row_template);
/// Give the memory of all rows back.
void net_history_release_rows(net_history* history, net_history_entity* entity);
/// Add a row of this tick, whose words the caller then writes. These classes changed with it.
/// @return NULL when not even one row can be stored.
uint32_t* net_history_push(net_history* history, net_history_entity* entity, uint32_t classes);
/// Would a push need no memory? It forgets rows that are too old first.
static inline bool net_history_has_room(const net_history* history,
                                        const net_history_entity* entity) {
    if (entity->count < entity->capacity) return true;
    if (entity->count <= 1) return false;
    return history->tick - entity->change_tick + net_history_age_at(entity, 1) + 1 >=
           entity->keep_ticks;
}
/// Something of these classes changed too with the newest row, which is of this tick.
void net_history_add_classes(net_history* history, net_history_entity* entity, uint32_t classes);
