// SPDX-License-Identifier: MIT
// A counting sort by square. The squares of one row are neighbours in memory, so an area is one run
// of points per row.
#include "ecs/grid.h"

#include "base/assert.h"

#include <string.h>

size_t ecs_grid_bytes(uint32_t columns, uint32_t rows, uint32_t capacity) {
    return ((size_t)columns * rows + 1 + 2 * (size_t)capacity) * sizeof(uint32_t);
}

void ecs_grid_init(ecs_grid* grid, float square, uint32_t columns, uint32_t rows, uint32_t capacity,
                   void* memory) {
    BASE_ASSERT(grid && memory && square > 0.0f);
    BASE_ASSERT(columns - 1 < ECS_GRID_SIDE_MAX && rows - 1 < ECS_GRID_SIDE_MAX); // none is 0
    *grid =
        (ecs_grid){.scale = 1.0f / square, .columns = columns, .rows = rows, .capacity = capacity};
    grid->starts = memory;
    grid->numbers = grid->starts + (size_t)columns * rows + 1;
    grid->squares = grid->numbers + capacity;
    memset(grid->starts, 0, ((size_t)columns * rows + 1) * sizeof *grid->starts);
}

void ecs_grid_clear(ecs_grid* grid) {
    grid->count = 0;
}

// Without branches: which side of an edge a point is on cannot be foreseen.
static inline uint32_t square_of(float value, float scale, uint32_t squares) {
    const float last = (float)(squares - 1);
    float square = value * scale;
    square = square > 0.0f ? square : 0.0f; // NaN too
    square = square < last ? square : last;
    return (uint32_t)(int32_t)square;
}

uint32_t ecs_grid_resize(ecs_grid* grid, uint32_t count) {
    return grid->count = count < grid->capacity ? count : grid->capacity;
}

void ecs_grid_put(const ecs_grid* grid, uint32_t first, const ecs_vec2* places, uint32_t count) {
    BASE_ASSERT(first <= grid->count && count <= grid->count - first);
    const float scale = grid->scale;
    const uint32_t columns = grid->columns, rows = grid->rows;
    uint32_t* restrict squares = grid->squares + first;
    for (uint32_t i = 0; i < count; i++)
        squares[i] =
            square_of(places[i].y, scale, rows) * columns + square_of(places[i].x, scale, columns);
}

bool ecs_grid_add(ecs_grid* grid, ecs_vec2 place) {
    if (grid->count == grid->capacity) return false;
    ecs_grid_put(grid, grid->count++, &place, 1);
    return true;
}

void ecs_grid_sort(ecs_grid* grid) {
    const uint32_t count = grid->columns * grid->rows;
    uint32_t* restrict starts = grid->starts;
    uint32_t* restrict numbers = grid->numbers;
    const uint32_t* restrict squares = grid->squares;
    memset(starts, 0, ((size_t)count + 1) * sizeof *starts);
    for (uint32_t i = 0; i < grid->count; i++)
        starts[squares[i]]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= count; i++)
        starts[i] = sum += starts[i]; // the end of the square
    // From the last point on, each square is filled from its end, and its end becomes its start.
    for (uint32_t i = grid->count; i-- > 0;)
        numbers[--starts[squares[i]]] = i;
}

ecs_grid_area ecs_grid_around(const ecs_grid* grid, ecs_vec2 place, float reach) {
    return (ecs_grid_area){square_of(place.x - reach, grid->scale, grid->columns),
                           square_of(place.x + reach, grid->scale, grid->columns),
                           square_of(place.y - reach, grid->scale, grid->rows),
                           square_of(place.y + reach, grid->scale, grid->rows)};
}

bool ecs_grid_next(const ecs_grid* grid, ecs_grid_area* area, const uint32_t** numbers,
                   uint32_t* count) {
    while (area->row <= area->row_last) {
        uint32_t first = area->row * grid->columns;
        uint32_t from = grid->starts[first + area->column_first];
        uint32_t to = grid->starts[first + area->column_last + 1];
        area->row++;
        if (from == to) continue;
        *numbers = grid->numbers + from;
        *count = to - from;
        return true;
    }
    return false;
}
