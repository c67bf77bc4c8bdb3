// SPDX-License-Identifier: MIT
/// Cuts: items and rows of a query, divided among threads (cut.c).
#pragma once

#include "table/query_cache.h"
#include "type/world.h"

/// Rows of a query, one behind the other in the order of walks.
typedef struct ecs_cut {
    const uintptr_t* entry; ///< of the query's cache: where they begin
    uint32_t row;           ///< in that chunk
    uint32_t row_count;
} ecs_cut;

/// Some of them that lie in one chunk.
typedef struct ecs_cut_run {
    ecs_rows rows;
    void* columns[ECS_QUERY_TERMS_MAX]; ///< what rows.columns may point at
} ecs_cut_run;

/// How many parts so many items have: one for each quantum, 1..ECS_RANGES_MAX.
uint32_t ecs_cut_parts(uint32_t items, uint32_t quantum);
/// Mark what the query writes as written, and count its rows.
uint32_t ecs_cut_mark(const ecs_world* world, const ecs_query_cache* cache);
/// Divide `rows` rows into `parts` cuts of about the same number, or a few less. @return how many;
/// 0 without rows.
uint32_t ecs_cut_rows(const ecs_world* world, const ecs_query_cache* cache, uint32_t rows,
                      uint32_t parts, ecs_cut* cuts);
/// The next run of rows; the cut begins behind it then. @return false at the end.
bool ecs_cut_next(const ecs_world* world, const ecs_query* query, ecs_cut* cut, ecs_cut_run* run);
