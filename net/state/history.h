// SPDX-License-Identifier: MIT
/// The server's memory of quantised rows: per replicated entity the newest row and those of the
/// last NET_ROW_HISTORY_MS. Rows are stored by change, so an idle entity has one row for ever.
///
/// Which row of the past is still known depends on the tick and on the changes that the asker may
/// see, on nothing else: hidden changes neither push out nor mark a visible row.
///
/// One per match. Replication reads the history and no other part of the world.
/// Threads: net_history_step on the thread that owns the world; between two steps it is immutable.
#pragma once

#include "state/tick_ring.h"
#include "state/rows.h"

#include "net/limits.h"

#include "ecs/ecs.h"

#include "base/bitset.h"
#include "base/workers.h"

/// What the history knows of one index: one cache line, and one block of rows.
typedef struct net_history_entity {
    ecs_entity handle;                    ///< NONE: no replicated entity there now
    uint32_t block_bytes;                 ///< allocated at `rows`
    const net_row_template* row_template; ///< of the entity's template
    ecs_tick begin_tick;  ///< first tick of this incarnation: of this generation with this template
    ecs_tick change_tick; ///< of the newest row
    ecs_tick oldest_tick; ///< of the oldest row
    /// A ring of `capacity` packed rows; then, with classes, for each row the mask of those that
    /// changed; then the low bits of each row's tick.
    uint32_t* rows;
    /// NULL: the whole template is public. Otherwise per class of the template the newest tick at
    /// which it changed; then the same as it was at the oldest row.
    ecs_tick* class_ticks;
    uint16_t words; ///< of a packed row
    uint8_t capacity, first, count;
    uint8_t keep_ticks; ///< ticks that the history keeps
} net_history_entity;

_Static_assert(sizeof(net_history_entity) <= 64, "one line");

typedef enum net_history_kind {
    NET_HISTORY_CHANGED, ///< at least one quantum moved
    NET_HISTORY_SPAWNED, ///< a new generation, or another template
    NET_HISTORY_DESPAWNED,
} net_history_kind;

typedef struct net_history_event {
    ecs_entity handle;
    uint16_t kind;    ///< net_history_kind
    uint16_t classes; ///< in which something changed; SPAWNED: all of the template
} net_history_event;

/// The first group is for readers; it is as of the last step.
typedef struct net_history {
    base_owner owner;
    net_rows* rows;
    ecs_tick tick;
    uint64_t step_count; ///< steps so far
    /// All rows are known for this many ticks: NET_ROW_HISTORY_MS at the tick rate.
    uint32_t keep_ticks;
    net_history_entity* entities; ///< [index]: net_history_find
    uint32_t capacity;            ///< the highest index ever used + 1: the end of a walk
    /// What the step found, sorted by index; an index appears once (DESPAWNED only when no entity
    /// replaced it).
    net_history_event* events;
    uint32_t event_count;
    /// Help in steps with many changes (borrowed; NULL: none). The rows are the same.
    base_workers* workers;

    net_pool pool; ///< of rows: their blocks are many, and not the owner's
    uint32_t index_max, event_capacity;
    base_bitset touched;           ///< indices that the running step must look at
    struct history_touch* touches; ///< [index], of touched ones
    uint32_t touch_capacity;
    ecs_change* sorted; ///< a step's changes by part
    uint32_t sorted_capacity;
} net_history;

/// `rows` is borrowed and must outlive the history, as must the world. Handles with an index above
/// `index_max` are local and not looked at.
net_history* net_history_create(const base_allocator* allocator, net_rows* rows,
                                uint32_t index_max);
/// Read what ecs_changes lists. Call it once after each world step, before ecs_changes_clear, with
/// rising ticks (asserted). The first call reads the whole world.
void net_history_step(net_history* history, const ecs_world* world, ecs_tick tick);
/// The entity at an index; NULL when there is no replicated one. Borrowed until the next step.
static inline const net_history_entity* net_history_find(const net_history* history,
                                                         uint32_t index) {
    if (index >= history->capacity) return NULL;
    const net_history_entity* entity = &history->entities[index];
    return entity->handle != ECS_ENTITY_NONE ? entity : NULL;
}
/// Prefetch what encoding a row reads: the rows of `tick`, of `age` ticks before and of `age` + `d`
/// ticks before. Call it for many entities, then again with `is_known`: the first time the entity
/// is prefetched, then its rows.
void net_history_warm(const net_history* history, uint32_t index, ecs_tick tick, uint32_t age,
                      uint32_t d, bool is_known);
/// The low bits of the ticks of its rows.
static inline uint16_t* net_history_ticks(const net_history_entity* entity) {
    uint16_t* end = (uint16_t*)(entity->rows + (size_t)entity->capacity * entity->words);
    return end + (entity->class_ticks ? entity->capacity : 0);
}
/// The row `back` rows before the newest one, `back` < count, with all classes, packed. Borrowed
/// until the next step.
static inline const uint32_t* net_history_back(const net_history_entity* entity, uint32_t back) {
    uint32_t place = (entity->first + entity->count - 1u - back) & (entity->capacity - 1u);
    return entity->rows + (size_t)place * entity->words;
}
static inline const uint32_t* net_history_newest(const net_history_entity* entity) {
    return net_history_back(entity, 0);
}
/// Of a mask of classes: those that the entity's template uses.
static inline uint32_t net_history_classes(const net_history_entity* entity, uint32_t classes) {
    return classes & entity->row_template->class_mask;
}
/// The row at `tick` as a client with these `classes` sees it, packed: the newest row whose tick
/// is not above `tick`, with the template's defaults for components of other classes. `now` is the
/// tick of the last step. Borrowed from the history when nothing is hidden, or `scratch` is NULL:
/// then the caller hides; otherwise made in `scratch` (layout.packed_count words).
/// @return NULL when the row is older than the incarnation or forgotten: it is
///         net_history.keep_ticks old, and a component of these classes changed between it and the
///         oldest row that is not.
const uint32_t* net_history_row(const net_history_entity* entity, ecs_tick now, ecs_tick tick,
                                uint32_t classes, uint32_t* scratch);
/// The usual answers of net_history_row without hiding anything: the newest row, or one with a row
/// at each tick since. @return NULL when it is another one, or none.
static inline const uint32_t* net_history_recent(const net_history_entity* entity, ecs_tick now,
                                                 uint32_t age) {
    uint64_t idle = now - entity->change_tick;
    if (age <= idle) return net_history_newest(entity);
    uint64_t back = age - idle;
    if (back + 1 >= entity->count || age >= entity->keep_ticks) return NULL;
    uint32_t place =
        (entity->first + entity->count - 1u - (uint32_t)back) & (entity->capacity - 1u);
    if (net_history_ticks(entity)[place] != (uint16_t)(entity->change_tick - back)) return NULL;
    return entity->rows + (size_t)place * entity->words;
}
/// The same, unpacked into `row` (PROTO_ROW_FIELDS_MAX words). @return false where it returns NULL.
bool net_history_read(const net_history_entity* entity, ecs_tick now, ecs_tick tick,
                      uint32_t classes, uint64_t* row);
/// Newest tick at which a component of these classes changed; at least the tick of the spawn.
ecs_tick net_history_changed(const net_history_entity* entity, uint32_t classes);
/// Check the whole structure, or one entity of it (asserts). net_history_step does so in
/// BASE_VALIDATE builds.
void net_history_validate(const net_history* history);
void net_history_entity_validate(const net_history_entity* entity);
