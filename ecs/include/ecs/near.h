// SPDX-License-Identifier: MIT
/// Who is near: the places of all entities of a query, by squares (ecs/grid.h), as they are when
/// ecs_near_update is called, once a tick before it is asked.
///
/// Cost: an update reads all entities and clears 4 bytes per square; a question looks at the
/// squares that it touches. Squares as large as a usual radius are best.
/// Memory: of the world's context. Threads: questions may run at the same time.
#pragma once

#include "ecs/grid.h"
#include "ecs/query.h"

BASE_C_BEGIN

typedef struct ecs_near_one {
    ecs_entity entity;
    ecs_vec2 pos;
} ecs_near_one;

/// Only for reading.
typedef struct ecs_crowd {
    ecs_query* query;
    ecs_grid grid;
    ecs_near_one* all;
} ecs_crowd;

/// Begin, before ecs_world_seal (in .register_systems). The first term is the place, of type p2:
/// others say who counts. The squares lie from (0, 0) on; who stands outside counts at the edge.
/// More entities than `capacity` are left out.
/// @return ECS_OK; ECS_ERR_FULL (too many terms); ECS_ERR_SEALED (open it earlier).
BASE_MUST_USE ecs_result ecs_near_open(ecs_crowd* crowd, ecs_world* world, const ecs_term* terms,
                                       uint32_t term_count, float square, uint32_t columns,
                                       uint32_t rows, uint32_t capacity);
/// Look where all are now.
void ecs_near_update(ecs_crowd* crowd, ecs_world* world);
/// Find who is within `radius` of a place, itself too; in an order that is the same everywhere.
/// An entity may be destroyed since the update: ask for its components by ecs_find.
/// @return how many, at most `capacity`: the rest is left out.
uint32_t ecs_near(const ecs_crowd* crowd, ecs_vec2 place, float radius, ecs_near_one* found,
                  uint32_t capacity);

BASE_C_END
