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

/// All values of one sparse component, without a gap.
typedef struct ecs_sparse {
    ecs_component_id component;
    bool is_tracked; ///< it has shadows
    uint8_t words;   ///< of 4 bytes that a short plain value without a shadow has; else 0
    uint32_t size;   ///< of a value
    const ecs_type* type;
    uint32_t* pages[(ECS_INDEX_MAX + 1u) >> ECS_PAGE_BITS]; ///< by index: position + 1; 0: none
    ecs_entity* entities;                                   ///< by position, as the next three
    uint8_t* values;
    uint8_t* shadows;
    uint64_t* dirty; ///< a bit per position: written since the last tracking
    uint32_t count;
    uint32_t capacity; ///< a multiple of 64
    uint32_t* moved;   ///< indices with ECS_SPARSE_MOVED
    uint32_t moved_count, moved_capacity;
    ecs_template_id known;     ///< of the last look-up of a default; none: forget it
    const void* known_default; ///< NULL: that template does not state the component
} ecs_sparse;

/// Words of dirty bits.
static inline uint32_t ecs_sparse_words(const ecs_sparse* set) {
    return set->capacity / 64;
}
/// The set of a component; NULL: it lies in tables, or does not exist.
static inline ecs_sparse* ecs_sparse_of(const ecs_world* world, ecs_component_id component) {
    const ecs_storage* storage = world->storage;
    return component < storage->sparse_capacity ? storage->sparse_by[component] : NULL;
}
/// The entry of an entity's index; not to be written where its page is missing.
static inline uint32_t* ecs_sparse_entry(const ecs_sparse* set, ecs_entity entity) {
    const uint32_t index = ecs_entity_index(entity);
    return &set->pages[index >> ECS_PAGE_BITS][index & (ECS_PAGE_RECORDS - 1)];
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
    return set->known == id ? set->known_default : ecs_sparse_find_default(world, set, id);
}

/// Make the sets of all components that templates call sparse. @return ECS_OK; ECS_ERR_TYPE (two
/// templates differ about a component, reported); ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_sparse_seal(ecs_world* world, const base_reporter* reporter);
void ecs_sparse_clear(ecs_world* world); ///< no entity has a value any more
void ecs_sparse_deinit(ecs_world* world);
/// Append a copy of a short plain value without a shadow. @return false when it is not so simple:
/// it is there already, or needs room, or set->words is 0. Nothing changed then.
static inline bool ecs_sparse_push_short(const ecs_world* world, ecs_sparse* set, ecs_entity entity,
                                         const void* value) {
    const uint32_t position = set->count, words = set->words;
    uint32_t* entry = ecs_sparse_entry(set, entity);
    const void* page = set->pages[ecs_entity_index(entity) >> ECS_PAGE_BITS];
    if (words == 0 || position == set->capacity || *entry != 0 || page == world->storage->zero_page)
        return false;
    uint8_t* cell = set->values + (size_t)4 * words * position;
    for (uint32_t i = 0; i < words; i++)
        memcpy(cell + (size_t)4 * i, (const uint8_t*)value + (size_t)4 * i, 4);
    set->entities[position] = entity;
    set->count = *entry = position + 1;
    return true;
}
/// Take a short plain value out (ecs_sparse_pull). set->words is not 0.
static inline void ecs_sparse_pull_short(ecs_sparse* set, uint32_t position) {
    const uint32_t last = --set->count, words = set->words;
    const ecs_entity gone = set->entities[position], moved = set->entities[last];
    uint8_t* target = set->values + (size_t)4 * words * position;
    uint8_t* source = set->values + (size_t)4 * words * last;
    for (uint32_t i = 0; i < words; i++) {
        memcpy(target + (size_t)4 * i, source + (size_t)4 * i, 4);
        memset(source + (size_t)4 * i, 0, 4);
    }
    set->entities[position] = moved;
    set->entities[last] = ECS_ENTITY_NONE;
    *ecs_sparse_entry(set, moved) = position + 1;
    *ecs_sparse_entry(set, gone) = 0; // last: it may be the one that moved
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
