// SPDX-License-Identifier: MIT
/// Queries: which entities have which components, walked as plain arrays.
///
/// A query caches, per chunk, the column pointers of its terms; the cache is patched only when a
/// chunk is made or regrown, so a walk touches a count and a few pointers per chunk. Queries whose
/// terms ask for the same share one group, the list of archetypes that match: it is asked once per
/// archetype that is made, whatever the order of the terms and whether they read or write.
#pragma once

#include "ecs/component.h"

typedef enum ecs_access {
    ECS_READ,          ///< must have it; the column is const by contract
    ECS_WRITE,         ///< must have it; the walked chunk is marked for tracking
    ECS_OPTIONAL_READ, ///< column pointer is NULL where missing
    ECS_OPTIONAL_WRITE,
    ECS_REQUIRE,     ///< must have it, no column
    ECS_REQUIRE_NOT, ///< must not have it, no column
    ECS_ANY,         ///< must have at least one of the query's ECS_ANY components; no column
    ECS_ONLY, ///< component NULL: must have nothing but what the other terms name (tags count)
} ecs_access;

typedef struct ecs_term {
    const char* component; ///< name
    const char* type;      ///< type name ("p2", "RigidBody"); checked at seal
    ecs_access access;
} ecs_term;

/// One run of rows of one chunk. columns[i] belongs to term i (NULL for REQUIRE, REQUIRE_NOT,
/// missing optional). Columns are 64-byte aligned, rows past `count` up to the next multiple of 16
/// are readable zeros. Pointers die at the next structural change.
typedef struct ecs_rows {
    uint32_t count;
    const ecs_entity* entities;
    void* const* columns;
} ecs_rows;

typedef struct ecs_query ecs_query;

/// Make a query; freed with the world. Before seal only. The terms are copied. The same terms in
/// the same order give the same query.
/// @return ECS_OK; ECS_ERR_FULL (more than ECS_QUERY_TERMS_MAX terms); ECS_ERR_SEALED;
/// ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_query_create(ecs_world* world, const ecs_term* terms,
                                          uint32_t term_count, ecs_query** query);

/// Walk: ecs_query_iter it = ecs_query_begin(world, query); while (ecs_query_next(&it))
/// use(it.rows); Order is fixed: archetypes in order of their making, chunks in order. No
/// structural change while walking (asserted).
typedef struct ecs_query_iter {
    ecs_rows rows;
    ecs_world* world; ///< NULL: no walk is open
    const uintptr_t *entry, *end;
    const uint32_t* counts;
    uint32_t stride, mark_count;
    void* columns[ECS_QUERY_TERMS_MAX]; ///< of ecs_query_find
} ecs_query_iter;

/// What a walk goes over, after the checks and the tidying before one (ecs_query_begin).
const ecs_query_cache* ecs_query_open(ecs_world* world, ecs_query* query);

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
/// Stop a walk early. A walk that ended by next() == false needs none.
static inline void ecs_query_end(ecs_query_iter* iter) {
    if (!iter->world) return;
    ecs_fast* fast = (ecs_fast*)(void*)iter->world;
    BASE_ASSERT(fast->walk_depth > 0);
    fast->walk_depth--;
    iter->world = NULL;
    iter->entry = iter->end;
}
static inline bool ecs_query_next(ecs_query_iter* iter) {
    for (const uintptr_t* entry = iter->entry; entry < iter->end; entry += iter->stride) {
        uint32_t count = iter->counts[entry[0]];
        if (count == 0) continue;
        iter->entry = entry + iter->stride;
        iter->rows.count = count;
        iter->rows.entities = (const ecs_entity*)entry[1];
        iter->rows.columns = (void* const*)(entry + 2);
        for (const uintptr_t* mark = iter->entry - iter->mark_count; mark < iter->entry; mark++)
            *(uint8_t*)*mark = 1;
        return true;
    }
    ecs_query_end(iter);
    return false;
}
/// Entities that match, and the first of them in the order of walks (ECS_ENTITY_NONE when there is
/// none). From the group: O(archetypes that match), no row is looked at.
uint32_t ecs_query_count(ecs_world* world, ecs_query* query);
ecs_entity ecs_query_first(ecs_world* world, ecs_query* query);
/// Columns of one entity: false when it does not match. rows.count is 1.
bool ecs_query_find(ecs_world* world, ecs_query* query, ecs_entity entity, ecs_query_iter* iter);
