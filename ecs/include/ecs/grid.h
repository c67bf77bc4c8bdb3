// SPDX-License-Identifier: MIT
/// Neighbours in the plane: points in squares, so that a search looks at a few of them and not at
/// all.
///
/// A grid is built again before each use, so it is no state of a match. Points have numbers in the
/// order of adding, 0, 1, 2...; what belongs to a point lies in an array of the caller. A search
/// gives the points of the squares that a rectangle touches, a superset of those within it: rows of
/// squares by rising y, squares by rising x, points of one square by rising number.
///
///     ecs_grid_clear(grid);
///     for (...) (void)ecs_grid_add(grid, pos[i]);
///     ecs_grid_sort(grid);
///     ecs_grid_area area = ecs_grid_around(grid, place, reach);
///     while (ecs_grid_next(grid, &area, &numbers, &count)) ...
///
/// Limits: points outside of the grid count as points of its edge.
/// Memory: the caller's: ecs_grid_bytes of it, for a game from ecs_world_context.
/// Threads: searches may run at the same time while nothing is added.
#pragma once

#include "base/macros.h"
#include "ecs/value.h"

BASE_C_BEGIN

#define ECS_GRID_SIDE_MAX 4096u ///< squares along an axis

typedef struct ecs_grid {
    float scale; ///< squares per unit
    uint32_t columns, rows;
    uint32_t capacity, count; ///< points
    uint32_t* starts;         ///< per square, and one more: its first place in `numbers`
    uint32_t* numbers;        ///< points, sorted by square
    uint32_t* squares;        ///< of each point
} ecs_grid;

/// The rest of a search.
typedef struct ecs_grid_area {
    uint32_t column_first, column_last, row, row_last;
} ecs_grid_area;

/// @return the bytes that a grid of this many squares and points needs.
size_t ecs_grid_bytes(uint32_t columns, uint32_t rows, uint32_t capacity);
/// A grid of columns * rows squares from (0, 0) on. `memory` is aligned for uint32_t and lives as
/// long as the grid.
void ecs_grid_init(ecs_grid* grid, float square, uint32_t columns, uint32_t rows, uint32_t capacity,
                   void* memory);
void ecs_grid_clear(ecs_grid* grid);
/// @return false when the grid is full: the point is not added.
BASE_MUST_USE bool ecs_grid_add(ecs_grid* grid, ecs_vec2 place);
/// For loops that threads share (ecs_stage_share_rows): the grid has `count` points, or its
/// capacity, with numbers from 0 on, and gets all their places by ecs_grid_put.
/// @return how many it has.
uint32_t ecs_grid_resize(ecs_grid* grid, uint32_t count);
/// Place the points [first, first + count), which the grid has (asserted). Several threads may do
/// this at the same time for different points.
void ecs_grid_put(const ecs_grid* grid, uint32_t first, const ecs_vec2* places, uint32_t count);
/// After the last point was placed and before the first search.
void ecs_grid_sort(ecs_grid* grid);
/// Begin a search within `reach` of a place, along each axis.
ecs_grid_area ecs_grid_around(const ecs_grid* grid, ecs_vec2 place, float reach);
/// @return false at the end; otherwise the next run of numbers.
bool ecs_grid_next(const ecs_grid* grid, ecs_grid_area* area, const uint32_t** numbers,
                   uint32_t* count);

BASE_C_END
