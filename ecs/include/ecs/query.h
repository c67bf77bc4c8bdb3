// SPDX-License-Identifier: MIT
/// Queries: which entities have which components, walked as plain arrays.
///
/// A query caches, per chunk, the column pointers of its terms; the cache is patched only when a chunk
/// is made or regrown, so a walk touches a count and a few pointers per chunk. Queries whose terms ask
/// for the same share one group, the list of archetypes that match: it is asked once per archetype that is
/// made, whatever the order of the terms and whether they read or write.
#pragma once

#include "ecs/component.h"

typedef enum ecs_access {
    ECS_READ,           ///< must have it; the column is const by contract
    ECS_WRITE,          ///< must have it; the walked chunk is marked for tracking
    ECS_OPTIONAL_READ,  ///< column pointer is NULL where missing
    ECS_OPTIONAL_WRITE,
    ECS_REQUIRE,        ///< must have it, no column
    ECS_REQUIRE_NOT,    ///< must not have it, no column
    ECS_ANY,            ///< must have at least one of the query's ECS_ANY components; no column
    ECS_ONLY,           ///< component NULL: must have nothing but what the other terms name (tags count)
} ecs_access;

typedef struct ecs_term {
    const char* component; ///< name
    const char* type;      ///< type name ("p2", "RigidBody"); checked at seal
    ecs_access access;
} ecs_term;

/// One run of rows of one chunk. columns[i] belongs to term i (NULL for REQUIRE, REQUIRE_NOT, missing
/// optional). Columns are 64-byte aligned, rows past `count` up to the next multiple of 16 are readable
/// zeros. Pointers die at the next structural change.
typedef struct ecs_rows {
    uint32_t count;
    const ecs_entity* entities;
    void* const* columns;
} ecs_rows;

typedef struct ecs_query ecs_query;

/// Make a query; freed with the world. Before seal only. The terms are copied. The same terms in the same
/// order give the same query.
/// @return ECS_OK; ECS_ERR_FULL (more than ECS_QUERY_TERMS_MAX terms); ECS_ERR_SEALED; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_query_create(ecs_world* world, const ecs_term* terms,
                                          uint32_t term_count, ecs_query** query);

/// Walk: ecs_query_iter it = ecs_query_begin(world, query); while (ecs_query_next(&it)) use(it.rows);
/// Order is fixed: archetypes in order of their making, chunks in order. No structural change while
/// walking (asserted).
typedef struct ecs_query_iter {
    ecs_rows rows;
    ecs_world* world;
    ecs_query* query;
    uint32_t next_index;
    void* columns[ECS_QUERY_TERMS_MAX];
} ecs_query_iter;

ecs_query_iter ecs_query_begin(ecs_world* world, ecs_query* query);
bool ecs_query_next(ecs_query_iter* iter);
/// Stop a walk early. A walk that ended by next() == false needs none.
void ecs_query_end(ecs_query_iter* iter);
/// Entities that match, and the first of them in the order of walks (ECS_ENTITY_NONE when there is none).
/// From the group: O(archetypes that match), no row is looked at.
uint32_t ecs_query_count(ecs_world* world, ecs_query* query);
ecs_entity ecs_query_first(ecs_world* world, ecs_query* query);
/// Columns of one entity: false when it does not match. rows.count is 1.
bool ecs_query_find(ecs_world* world, ecs_query* query, ecs_entity entity, ecs_query_iter* iter);
