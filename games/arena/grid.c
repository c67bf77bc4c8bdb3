// SPDX-License-Identifier: MIT
// A counting sort by square. The squares of one row are neighbours in memory, so an area is one run
// of bodies per row.

#include "grid.h"

#include "base/math.h"

static uint32_t cell_of(float value) {
    float cell = base_clamp(value * (1.0f / ARENA_GRID_CELL), 0.0f, (float)(ARENA_GRID_SIDE - 1));
    return (uint32_t)cell;
}

void arena_grid_clear(arena_grid* grid) {
    grid->count = 0;
}

void arena_grid_add(arena_grid* grid, ecs_entity entity, ecs_vec2 pos, ecs_vec2 vel, uint8_t team,
                    bool is_dead) {
    if (grid->count == ARENA_FIGHTERS_MAX) return;
    grid->cells[grid->count] = (uint16_t)(cell_of(pos.y) * ARENA_GRID_SIDE + cell_of(pos.x));
    grid->unsorted[grid->count++] = (arena_body){entity, pos, vel, team, is_dead};
}

void arena_grid_sort(arena_grid* grid) {
    enum { CELLS = ARENA_GRID_SIDE * ARENA_GRID_SIDE };
    uint16_t next[CELLS] = {0};
    for (uint32_t i = 0; i < grid->count; i++)
        next[grid->cells[i]]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < CELLS; i++) {
        grid->starts[i] = (uint16_t)sum;
        sum += next[i];
        next[i] = grid->starts[i];
    }
    grid->starts[CELLS] = (uint16_t)sum;
    for (uint32_t i = 0; i < grid->count; i++)
        grid->bodies[next[grid->cells[i]]++] = grid->unsorted[i];
}

arena_area arena_grid_area(float x, float y, float reach) {
    return (arena_area){cell_of(x - reach), cell_of(x + reach), cell_of(y - reach),
                        cell_of(y + reach)};
}

bool arena_grid_next(const arena_grid* grid, arena_area* area, const arena_body** bodies,
                     uint32_t* count) {
    while (area->row <= area->row_last) {
        uint32_t first = area->row * ARENA_GRID_SIDE;
        uint32_t from = grid->starts[first + area->column_first];
        uint32_t to = grid->starts[first + area->column_last + 1];
        area->row++;
        if (from == to) continue;
        *bodies = grid->bodies + from;
        *count = to - from;
        return true;
    }
    return false;
}
