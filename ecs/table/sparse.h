// SPDX-License-Identifier: MIT
/// Sparse components: values beside the tables, for what comes and goes often (sparse.c).
#pragma once

#include "base/report.h"
#include "ecs/component.h"
#include "core/world_internal.h"
#include "table/query_cache.h"
#include "table/storage.h"

#include <string.h>

/// In an entry of `pages`: its entity got or lost the component since the last tracking.
#define ECS_SPARSE_MOVED (1u << 31)

/// Words of dirty bits.
static inline uint32_t ecs_sparse_words(const ecs_sparse* set) {
    return set->capacity / 64;
}
/// The set of a component; NULL: it lies in tables, or does not exist.
static inline ecs_sparse* ecs_sparse_of(const ecs_world* world, ecs_component_id component) {
    const ecs_storage* storage = world->storage;
    return component < storage->sparse_capacity ? storage->sparse_by[component] : NULL;
}
/// Position of an entity's value; UINT32_MAX when it has none. Any 32 bits are accepted.
static inline uint32_t ecs_sparse_position(const ecs_sparse* set, ecs_entity entity) {
    const uint32_t position = (*ecs_sparse_entry(set, entity) & ~ECS_SPARSE_MOVED) - 1;
    return position != UINT32_MAX && set->entities[position] == entity ? position : UINT32_MAX;
}
static inline void* ecs_sparse_cell(const ecs_sparse* set, uint32_t position) {
    return set->values + (size_t)set->size * position;
}
static inline void* ecs_sparse_shadow(const ecs_sparse* set, uint32_t position) {
    return set->shadows + (size_t)set->size * position;
}
static inline void ecs_sparse_mark(const ecs_sparse* set, uint32_t position) {
    if (set->is_tracked) set->dirty[position / 64] |= 1ull << (position % 64);
}
/// What a template gives the component by default; NULL when it does not state it.
const void* ecs_sparse_find_default(const ecs_world* world, ecs_sparse* set, ecs_template_id id);
/// The same; no call for the template that was asked for last.
static inline const void* ecs_sparse_default(const ecs_world* world, ecs_sparse* set,
                                             ecs_template_id id) {
    return set->known == id && id != ECS_TEMPLATE_NONE ? set->known_default
                                                       : ecs_sparse_find_default(world, set, id);
}

/// Make the sets of all components that templates call sparse. @return ECS_OK; ECS_ERR_TYPE (two
/// templates differ about a component, reported); ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_sparse_seal(ecs_world* world, const base_reporter* reporter);
void ecs_sparse_clear(ecs_world* world); ///< no entity has a value any more
void ecs_sparse_deinit(ecs_world* world);
/// Move a value of so many words into a hole, and leave zeros.
static inline __attribute__((always_inline)) void
ecs_sparse_fill_words(uint8_t* values, uint32_t position, uint32_t last, uint32_t words) {
    uint8_t *target = values + (size_t)4 * words * position,
            *source = values + (size_t)4 * words * last;
    memcpy(target, source, (size_t)4 * words);
    memset(source, 0, (size_t)4 * words);
}
/// Take a short plain value out (ecs_sparse_pull); set->words is not 0. `entry` is that of its
/// entity.
static inline __attribute__((always_inline)) void
ecs_sparse_pull_short(ecs_sparse* set, uint32_t* entry, uint32_t position) {
    const uint32_t last = --set->count;
    const ecs_entity moved = set->entities[last];
    if (set->words == 2)
        ecs_sparse_fill_words(set->values, position, last, 2);
    else if (set->words == 3)
        ecs_sparse_fill_words(set->values, position, last, 3);
    else if (set->words == 1)
        ecs_sparse_fill_words(set->values, position, last, 1);
    else
        ecs_sparse_fill_words(set->values, position, last, 4);
    set->entities[position] = moved;
    set->entities[last] = ECS_ENTITY_NONE;
    *ecs_sparse_entry(set, moved) = position + 1;
    *entry = 0; // last: it may be the one that moved
}
/// Append a copy of a value, and of its shadow, for an entity that has none. @return false when
/// memory ran out: nothing changed.
BASE_MUST_USE bool ecs_sparse_push(ecs_world* world, ecs_sparse* set, ecs_entity entity,
                                   const void* value);
/// Take a value out; the last one fills its place.
void ecs_sparse_pull(ecs_world* world, ecs_sparse* set, uint32_t position);
/// Remember for tracking that an entity got or lost the component. Push made room.
void ecs_sparse_note(ecs_sparse* set, ecs_entity entity);
void ecs_sparse_validate(const ecs_world* world);

// Queries with sparse terms (sparse_query.c).
/// Room for all runs of a query when sets have their capacity, `set` (may be NULL) another one.
/// @return false when memory ran out.
BASE_MUST_USE bool ecs_sparse_reserve_runs(ecs_world* world, ecs_query* query,
                                           const ecs_sparse* set, uint32_t capacity);
/// Find the rows that match now. With `is_marking`, columns of terms that write count as written.
void ecs_sparse_query_fill(ecs_world* world, ecs_query* query, bool is_marking);
/// Complete the columns of one entity. @return false when it does not match the sparse terms.
bool ecs_sparse_query_find(ecs_world* world, ecs_query* query, ecs_entity entity, void** columns);
