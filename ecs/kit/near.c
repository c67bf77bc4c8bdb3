// SPDX-License-Identifier: MIT
// A query's walk fills a grid; the grid's numbers are places in `all`.
#include "ecs/near.h"

#include "ecs/geometry.h"
#include "ecs/world.h"

ecs_result ecs_near_open(ecs_crowd* crowd, ecs_world* world, const ecs_term* terms,
                         uint32_t term_count, float square, uint32_t columns, uint32_t rows,
                         uint32_t capacity) {
    crowd->all = ecs_world_context(world, capacity * sizeof *crowd->all);
    ecs_grid_init(&crowd->grid, square, columns, rows, capacity,
                  ecs_world_context(world, ecs_grid_bytes(columns, rows, capacity)));
    return ecs_query_create(world, terms, term_count, &crowd->query);
}

void ecs_near_update(ecs_crowd* crowd, ecs_world* world) {
    ecs_grid_clear(&crowd->grid);
    for (ecs_query_iter it = ecs_query_begin(world, crowd->query); ecs_query_next(&it);) {
        const ecs_vec2* places = it.rows.columns[0];
        for (uint32_t i = 0; i < it.rows.count; i++)
            if (ecs_grid_add(&crowd->grid, places[i]))
                crowd->all[crowd->grid.count - 1] = (ecs_near_one){it.rows.entities[i], places[i]};
    }
    ecs_grid_sort(&crowd->grid);
}

uint32_t ecs_near(const ecs_crowd* crowd, ecs_vec2 place, float radius, ecs_near_one* found,
                  uint32_t capacity) {
    ecs_grid_area area = ecs_grid_around(&crowd->grid, place, radius);
    const uint32_t* numbers;
    uint32_t total = 0, count;
    while (ecs_grid_next(&crowd->grid, &area, &numbers, &count))
        for (; count > 0 && total < capacity; count--, numbers++) {
            found[total] = crowd->all[*numbers];
            total += ecs_vec2_distance(found[total].pos, place) <= radius;
        }
    return total;
}
