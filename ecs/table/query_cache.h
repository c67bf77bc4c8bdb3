// SPDX-License-Identifier: MIT
/// The cache of a query (query.c), for query.c and walk.c.
#pragma once

#include "table/storage.h"

/// The match of an archetype; NULL when the query does not match it.
static inline ecs_match* ecs_query_match(const ecs_query* query, const ecs_archetype* archetype) {
    if (archetype->id >= query->match_of_capacity) return NULL;
    uint32_t position = query->match_of[archetype->id];
    return position == 0 ? NULL : &query->matches[position - 1];
}
