// SPDX-License-Identifier: MIT
// Arena's tanks: a family of two entities, and a boxed component.

#include "arena_table.h"

static const char* const two_tanks[] = {"agents=0", "pickups=0", "tanks=2", NULL};

typedef struct tank_list {
    ecs_entity tanks[8], turrets[8];
    uint32_t count;
} tank_list;

static tank_list find_tanks(table* t) {
    tank_list list = {.count = 0};
    ecs_world* world = table_world(t);
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        if (ecs_entity_template(world, entity) != table_game(t)->tank_template) continue;
        list.tanks[list.count] = entity;
        list.turrets[list.count] = ecs_hierarchy_first(world, entity);
        assert_int_equal(ecs_hierarchy_next(world, list.turrets[list.count++]), ECS_ENTITY_NONE);
    }
    return list;
}

static uint32_t count_turrets(table* t) {
    ecs_world* world = table_world(t);
    uint32_t count = 0;
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity))
        count += ecs_entity_template(world, entity) == table_game(t)->turret_template;
    return count;
}

ARENA_CASE(a_turret_is_destroyed_with_its_tank, 5, false, two_tanks) {
    arena_game* game = table_game(t);
    ecs_world* world = table_world(t);
    tank_list list = find_tanks(t);
    // A boxed value does not move when another one is created or destroyed.
    arena_route* const* cell = ecs_get(world, list.tanks[1], game->route);
    const arena_route* route = *cell;
    table_steps(t, 2);
    *(uint8_t*)ecs_get_mut(world, list.tanks[0], game->health) = 0;
    table_steps(t, 2);
    assert_false(ecs_is_alive(world, list.tanks[0]) || ecs_is_alive(world, list.turrets[0]));
    assert_int_equal(find_tanks(t).count, 1);
    assert_int_equal(count_turrets(t), 1);
    cell = ecs_get(world, list.tanks[1], game->route);
    assert_ptr_equal(*cell, route);
    table_steps(t, 310);
    assert_int_equal(find_tanks(t).count, 2); // another tank was created
    assert_int_equal(count_turrets(t), 2);
    cell = ecs_get(world, list.tanks[1], game->route);
    assert_ptr_equal(*cell, route);
}

ARENA_CASE(tanks_take_no_pickups, 5, false, two_tanks) {
    ecs_entity tank = find_tanks(t).tanks[0];
    for (uint8_t kind = 0; kind < ARENA_PICKUP_KINDS; kind++)
        assert_false(arena_take(table_world(t), table_game(t), tank, kind, 1));
}
