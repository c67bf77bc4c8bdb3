// SPDX-License-Identifier: MIT
/// Queries, the groups that they share, and their caches (query.c), and walks over them (chunk.c).
#pragma once

#include "base/report.h"
#include "ecs/query.h"
#include "table/storage.h"

/// One archetype that a query matches.
typedef struct ecs_match {
    ecs_archetype* archetype;
    uint32_t entry_first; ///< its chunks are entries [entry_first, entry_first + chunk_count)
    uint16_t* columns;    ///< by term, ECS_SLOT_NONE for none
} ecs_match;

/// What a term demands of a component: the key of a group is a sorted list of these.
typedef enum ecs_want {
    ECS_WANT_ALL,  ///< must be there
    ECS_WANT_NONE, ///< must not
    ECS_WANT_ANY,  ///< one of these must
    ECS_WANT_MAY,  ///< matters only where nothing else is allowed
} ecs_want;

typedef struct ecs_group_term {
    char name[ECS_NAME_BYTES_MAX];
    ecs_want want;
    ecs_component_id component; ///< bound by seal; ECS_COMPONENT_NONE: no template has it
} ecs_group_term;

/// All queries that ask for the same: which archetypes match, asked once each.
typedef struct ecs_group {
    bool is_only;        ///< the named components only
    bool is_hopeless;    ///< something that it must have exists nowhere: it never matches
    uint64_t needs;      ///< ecs_archetype.has of an archetype that may match; bound by seal
    ecs_query** queries; ///< that share it
    uint32_t query_count, query_capacity;
    ecs_group_term* terms; ///< sorted by name and want, each once
    uint32_t term_count;
    ecs_archetype** matches; ///< rising archetype id
    uint32_t match_count;
    uint32_t match_capacity;
} ecs_group;

struct ecs_query {
    ecs_query_cache cache; ///< first: what inline walks see
    uint32_t id;
    uint32_t term_count;
    ecs_group* group; ///< shared
    uint16_t write_terms[ECS_QUERY_TERMS_MAX];
    ecs_component_id components[ECS_QUERY_TERMS_MAX];
    ecs_access access[ECS_QUERY_TERMS_MAX];
    char (*names)[2][ECS_NAME_BYTES_MAX]; ///< {component, type} by term
    const char* owner; ///< name of the system for messages; NULL: an ad-hoc query. Borrowed
    uint32_t entry_capacity;
    ecs_match* matches; ///< rising archetype id
    uint32_t match_count;
    uint32_t match_capacity;
    uint32_t* match_of; ///< archetype id -> position in matches + 1; 0: no match
    uint32_t match_of_capacity;
};

/// The match of an archetype; NULL when the query does not match it.
static inline ecs_match* ecs_query_match(const ecs_query* query, const ecs_archetype* archetype) {
    if (archetype->id >= query->match_of_capacity) return NULL;
    uint32_t position = query->match_of[archetype->id];
    return position == 0 ? NULL : &query->matches[position - 1];
}

/// Does a term with this access write?
static inline bool ecs_access_is_write(ecs_access access) {
    return access == ECS_WRITE || access == ECS_OPTIONAL_WRITE;
}

// Caches (query.c).
void ecs_queries_add_chunk(ecs_world* world, ecs_chunk* chunk);
void ecs_queries_patch_chunk(ecs_world* world, ecs_chunk* chunk); ///< the block moved
void ecs_queries_drop_chunk(const ecs_chunk* chunk);              ///< the last of its archetype
void ecs_queries_add_archetype(ecs_world* world, ecs_archetype* archetype);
void ecs_queries_clear(ecs_world* world); ///< forget all archetypes
/// Does the query match an archetype of that kind? Asks its group, not the cache.
bool ecs_query_wants(const ecs_query* query, const ecs_archetype* archetype);

// Groups (query.c).
/// The group of terms, made when there is none yet.
ecs_group* ecs_group_ensure(ecs_world* world, const ecs_term* terms, uint32_t term_count);
void ecs_query_validate(const ecs_world* world, const ecs_query* query);
