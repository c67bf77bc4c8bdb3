// SPDX-License-Identifier: MIT
// A grid of points against a walk over all of them.

#include "test.h"

#include "ecs/geometry.h"
#include "ecs/grid.h"

enum { COLUMNS = 8, ROWS = 5, POINTS = 300 };
#define SQUARE 10.0f

typedef struct ground {
    ecs_grid grid;
    void* memory;
    ecs_vec2 places[POINTS];
} ground;

static void ground_open(ground* self, uint32_t capacity) {
    self->memory = malloc(ecs_grid_bytes(COLUMNS, ROWS, capacity));
    assert_non_null(self->memory);
    ecs_grid_init(&self->grid, SQUARE, COLUMNS, ROWS, capacity, self->memory);
}

#define GROUND_CASE(name, capacity)                                                                \
    CASE_WITH(ground, g, ground_open(g, capacity), free(g->memory), name)

// How often a search gives each point.
static uint32_t search(const ecs_grid* grid, ecs_vec2 place, float reach, uint8_t* seen) {
    ecs_grid_area area = ecs_grid_around(grid, place, reach);
    const uint32_t* numbers;
    uint32_t count, all = 0;
    while (ecs_grid_next(grid, &area, &numbers, &count)) {
        assert_true(count > 0);
        for (uint32_t i = 0; i < count; i++)
            seen[numbers[i]]++;
        all += count;
    }
    return all;
}

GROUND_CASE(a_search_gives_all_neighbours_once_and_few_others, POINTS) {
    base_rng rng = base_rng_make(20261122, 3);
    uint32_t given = 0;
    for (uint32_t round = 0; round < 50; round++) {
        ecs_grid_clear(&g->grid);
        for (uint32_t i = 0; i < POINTS; i++) {
            // Some lie outside: they count as points of the edge.
            g->places[i] = (ecs_vec2){base_rng_float(&rng) * 100.0f - 10.0f,
                                      base_rng_float(&rng) * 70.0f - 10.0f};
            assert_true(ecs_grid_add(&g->grid, g->places[i]));
        }
        ecs_grid_sort(&g->grid);
        ecs_vec2 place = {base_rng_float(&rng) * 80.0f, base_rng_float(&rng) * 50.0f};
        float reach = base_rng_float(&rng) * 12.0f;
        uint8_t seen[POINTS] = {0};
        given += search(&g->grid, place, reach, seen);
        for (uint32_t i = 0; i < POINTS; i++) {
            float x = base_abs(g->places[i].x - place.x), y = base_abs(g->places[i].y - place.y);
            if (x <= reach && y <= reach) assert_int_equal(seen[i], 1);
            assert_true(seen[i] <= 1);
        }
    }
    assert_true(given < 50 * POINTS / 2);
}

GROUND_CASE(points_of_a_square_keep_their_order, POINTS) {
    for (uint32_t i = 0; i < POINTS; i++)
        assert_true(ecs_grid_add(&g->grid, (ecs_vec2){(float)(i % 80), 15.0f}));
    ecs_grid_sort(&g->grid);
    ecs_grid_area area = ecs_grid_around(&g->grid, (ecs_vec2){35.0f, 15.0f}, 1.0f);
    const uint32_t* numbers;
    uint32_t count;
    assert_true(ecs_grid_next(&g->grid, &area, &numbers, &count));
    for (uint32_t i = 1; i < count; i++)
        assert_true(numbers[i - 1] < numbers[i]);
    assert_false(ecs_grid_next(&g->grid, &area, &numbers, &count));
}

GROUND_CASE(a_full_grid_refuses_one_more, 2) {
    assert_true(ecs_grid_add(&g->grid, (ecs_vec2){1, 1}));
    assert_true(ecs_grid_add(&g->grid, (ecs_vec2){1e30f, -1e30f}));
    assert_false(ecs_grid_add(&g->grid, (ecs_vec2){2, 2}));
    ecs_grid_sort(&g->grid);
    uint8_t seen[2] = {0};
    assert_int_equal(search(&g->grid, (ecs_vec2){40, 25}, 1000.0f, seen), 2);
}

GROUND_CASE(an_empty_grid_gives_nothing, 1) {
    uint8_t seen[1] = {0};
    assert_int_equal(search(&g->grid, (ecs_vec2){40, 25}, 1000.0f, seen), 0); // not even sorted
    ecs_grid_sort(&g->grid);
    assert_int_equal(search(&g->grid, (ecs_vec2){40, 25}, 1000.0f, seen), 0);
}
