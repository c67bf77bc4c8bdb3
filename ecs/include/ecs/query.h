// SPDX-License-Identifier: MIT
/// Queries: which entities have which components, walked as plain arrays.
///
/// A query caches the column pointers of its terms for each chunk. The cache changes only when a
/// chunk is made or grows, so a walk reads a count and a few pointers per chunk. Queries that match
/// the same archetypes share one group, the list of those archetypes; the order of the terms and
/// whether they read or write do not matter. A new archetype is matched once per group.
#pragma once

#include "ecs/component.h"

BASE_C_BEGIN

/// How a term uses its component.
typedef enum ecs_access {
    ECS_READ,          ///< must have it; do not write to the column
    ECS_WRITE,         ///< must have it; the walked chunk is marked for tracking
    ECS_OPTIONAL_READ, ///< column pointer is NULL where missing
    ECS_OPTIONAL_WRITE,
    ECS_REQUIRE,     ///< must have it, no column
    ECS_REQUIRE_NOT, ///< must not have it, no column
    ECS_ANY,         ///< must have at least one of the query's ECS_ANY components; no column
    ECS_ONLY, ///< component NULL: must have no component but those of the other terms (tags count)
} ecs_access;

/// One condition of a query.
typedef struct ecs_term {
    const char* component; ///< name
    const char* type;      ///< type name ("p2", "RigidBody"); checked at seal
    ecs_access access;
} ecs_term;

/// A run of rows of one chunk. columns[i] belongs to term i; NULL for REQUIRE, REQUIRE_NOT, ANY,
/// and where an optional component is missing. A column is an array of the component's C type,
/// aligned to 64 bytes. Rows from `count` up to the next multiple of 16 are readable zeros. The
/// pointers are valid until the next structural change.
typedef struct ecs_rows {
    uint32_t count;
    const ecs_entity* entities;
    void* const* columns;
} ecs_rows;

typedef struct ecs_query ecs_query;

/// Create a query, before ecs_world_seal. The terms are copied; seal checks their names. The world
/// owns it.
/// @return ECS_OK; ECS_ERR_FULL (more than ECS_QUERY_TERMS_MAX terms); ECS_ERR_SEALED (create it
///         earlier).
BASE_MUST_USE ecs_result ecs_query_create(ecs_world* world, const ecs_term* terms,
                                          uint32_t term_count, ecs_query** query);

/// A walk: ecs_query_iter it = ecs_query_begin(world, query); while (ecs_query_next(&it))
/// use(it.rows); The order is fixed: archetypes in the order in which they were made, then their
/// chunks. No structural change during a walk (asserted). Only `rows` is for the caller.
typedef struct ecs_query_iter {
    ecs_rows rows;
    ecs_world* world; ///< NULL: no walk is open
    const uintptr_t *entry, *end;
    const uint32_t* counts;
    uint32_t stride, mark_count;
    void* columns[ECS_QUERY_TERMS_MAX]; ///< used by ecs_query_find
} ecs_query_iter;

/// Detail of ecs_query_begin: check that a walk may begin, and bring the cache up to date.
const ecs_query_cache* ecs_query_open(ecs_world* world, ecs_query* query);

/// Begin a walk, in a sealed world (asserted). A walk that ecs_query_next did not end needs
/// ecs_query_end.
static inline ecs_query_iter ecs_query_begin(ecs_world* world, ecs_query* query) {
    const ecs_query_cache* cache = ecs_query_open(world, query);
    ecs_fast* fast = (ecs_fast*)(void*)world;
    fast->walk_depth++;
    ecs_query_iter iter; // its columns stay unset
    iter.rows.count = 0;
    iter.rows.entities = NULL;
    iter.rows.columns = NULL;
    iter.world = world;
    iter.entry = cache->entries;
    iter.end = cache->entries + (size_t)cache->entry_count * cache->stride;
    iter.counts = fast->chunk_counts;
    iter.stride = cache->stride;
    iter.mark_count = cache->mark_count;
    return iter;
}
/// End a walk early. Not needed after ecs_query_next returned false.
static inline void ecs_query_end(ecs_query_iter* iter) {
    if (!iter->world) return;
    ecs_fast* fast = (ecs_fast*)(void*)iter->world;
    BASE_ASSERT(fast->walk_depth > 0);
    fast->walk_depth--;
    iter->world = NULL;
    iter->entry = iter->end;
}
/// Go to the next run of rows. Columns of ECS_WRITE terms count as written.
/// @return false at the end; the walk is closed then.
static inline bool ecs_query_next(ecs_query_iter* iter) {
    for (const uintptr_t* entry = iter->entry; entry < iter->end; entry += iter->stride) {
        uint32_t count = iter->counts[entry[0]];
        if (count == 0) continue;
        iter->entry = entry + iter->stride;
        iter->rows.count = count;
        iter->rows.entities = (const ecs_entity*)entry[1];
        iter->rows.columns = (void* const*)(entry + 2);
        for (const uintptr_t* mark = iter->entry - iter->mark_count; mark < iter->entry; mark++)
            __atomic_store_n((uint8_t*)*mark, 1,
                             __ATOMIC_RELAXED); // columns that no one tracks share one
        return true;
    }
    ecs_query_end(iter);
    return false;
}
/// Count the entities that match, or get the first of them in the order of walks (ECS_ENTITY_NONE
/// when there is none). O(archetypes that match), and no row is read.
uint32_t ecs_query_count(ecs_world* world, ecs_query* query);
ecs_entity ecs_query_first(ecs_world* world, ecs_query* query);
/// Get the entity that a walk meets after `index` others: whose turn it is, one at random. O(runs).
/// @return ECS_ENTITY_NONE when fewer match.
ecs_entity ecs_query_nth(ecs_world* world, ecs_query* query, uint32_t index);
/// Get the columns of one entity: iter->rows.count is 1. Needs no ecs_query_end.
/// @return false when it does not match.
bool ecs_query_find(ecs_world* world, ecs_query* query, ecs_entity entity, ecs_query_iter* iter);

BASE_C_END
