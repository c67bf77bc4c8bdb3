// SPDX-License-Identifier: MIT
/// Fighters by place: squares of the map, each with the fighters that stand in it.
///
/// It is built from components before each use, so it is no state. Within a square the fighters
/// have the order in which queries visit them, which is the same on every machine.
#pragma once

#include "ecs/ecs.h"

#define ARENA_GRID_CELL 16.0f
#define ARENA_GRID_SIDE 32u
#define ARENA_FIGHTERS_MAX 8192u ///< the grid drops further fighters

typedef struct arena_body {
    ecs_entity entity;
    ecs_vec2 pos, vel;
    uint8_t team;
    uint8_t is_dead;
} arena_body;

typedef struct arena_grid {
    uint32_t count;
    uint16_t starts[ARENA_GRID_SIDE * ARENA_GRID_SIDE + 1]; ///< first body of each cell
    arena_body bodies[ARENA_FIGHTERS_MAX];                  ///< sorted by cell
    arena_body unsorted[ARENA_FIGHTERS_MAX];
    uint16_t cells[ARENA_FIGHTERS_MAX];
} arena_grid;

/// The squares that a rectangle touches, row by row; each row is a run of bodies.
typedef struct arena_area {
    uint32_t column_first, column_last, row, row_last;
} arena_area;

void arena_grid_clear(arena_grid* grid);
void arena_grid_add(arena_grid* grid, ecs_entity entity, ecs_vec2 pos, ecs_vec2 vel, uint8_t team,
                    bool is_dead);
/// Call it after the last add and before the first arena_grid_area.
void arena_grid_sort(arena_grid* grid);
/// Visit the bodies of an area:
///     area = arena_grid_area(x, y, reach);
///     while (arena_grid_next(grid, &area, &bodies, &count)) ...
arena_area arena_grid_area(float x, float y, float reach);
bool arena_grid_next(const arena_grid* grid, arena_area* area, const arena_body** bodies,
                     uint32_t* count);
