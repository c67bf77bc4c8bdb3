// SPDX-License-Identifier: MIT
// S5.2: templates marked _singleton.
#include "sample_world.h"

static uint64_t refused(const store* fixture) {
    return ecs_world_counters(fixture->world)->singletons_refused;
}

STORE_CASE(a_second_singleton_is_refused_while_one_lives) { // S5.2
    ecs_world* world = at->world;
    ecs_entity entity = ECS_ENTITY_NONE, second = 77;
    assert_int_equal(ecs_singleton(world, at->board), ECS_ENTITY_NONE);
    // Creating a series of one template has its own short code path.
    for (uint32_t round = 0; round < 5; round++) {
        assert_ok(ecs_create(world, at->board, NULL, 0, &entity));
        assert_int_equal(ecs_singleton(world, at->board), entity);
        assert_int_equal(ecs_create(world, at->board, NULL, 0, &second), ECS_ERR_TAKEN);
        assert_int_equal(second, 77);
        assert_int_equal(refused(at), round + 1);
        assert_ok(ecs_destroy(world, entity));
        assert_int_equal(ecs_singleton(world, at->board), ECS_ENTITY_NONE);
    }
    assert_ok(ecs_create(world, at->table, NULL, 0, &entity));
    assert_ok(ecs_create(world, at->table, NULL, 0, &second));
    // The template is not marked.
    assert_int_equal(ecs_singleton(world, at->table), ECS_ENTITY_NONE);
    assert_int_equal(ecs_singleton(world, ECS_TEMPLATE_NONE), ECS_ENTITY_NONE);
    assert_int_equal(ecs_singleton(world, 999), ECS_ENTITY_NONE);
}

STORE_CASE(many_and_commands_and_recreates_are_refused_alike) { // S5.2
    ecs_world* world = at->world;
    ecs_entity entity = ECS_ENTITY_NONE, table = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create_many(world, at->board, 2, NULL), ECS_ERR_TAKEN);
    assert_ok(ecs_create_many(world, at->board, 1, &entity));
    assert_int_equal(ecs_create_many(world, at->board, 1, NULL), ECS_ERR_TAKEN);
    assert_ok(ecs_create(world, at->table, NULL, 0, &table));
    assert_int_equal(ecs_recreate(world, table, at->board, NULL, 0), ECS_ERR_TAKEN);
    int32_t value = 9;
    ecs_init init = {at->score, &value};
    // To its own template.
    assert_ok(ecs_recreate(world, entity, at->board, &init, 1));
    assert_int_equal(refused(at), 3);
    assert_ok(ecs_recreate(world, entity, at->table, NULL, 0));
    assert_int_equal(ecs_singleton(world, at->board), ECS_ENTITY_NONE);
    assert_ok(ecs_recreate(world, table, at->board, NULL, 0));
    assert_int_equal(ecs_singleton(world, at->board), table);
    assert_ok(ecs_destroy(world, table));
    for (uint32_t i = 0; i < 5; i++)
        assert_int_not_equal(ecs_command_create(world, at->board, NULL, 0), 0);
    ecs_command_flush(world);
    assert_int_equal(ecs_world_entity_count(world), 2);
    assert_int_equal(ecs_world_counters(world)->commands_refused, 4);
    assert_int_equal(refused(at), 7);
    for (uint32_t i = 0; i < 6; i++) {
        ecs_entity more = ECS_ENTITY_NONE;
        assert_ok(ecs_create(world, at->table, NULL, 0, &more));
        assert_true(ecs_command_recreate(world, more, at->board, NULL, 0));
    }
    ecs_command_flush(world);
    assert_int_equal(ecs_world_counters(world)->commands_refused, 10);
}

STORE_WITH_CASE(a_mirror_takes_what_its_authority_says, at->config.is_mirror = true) { // S5.2
    ecs_world* world = at->world;
    ecs_entity first = ecs_entity_make(3, 1), second = ecs_entity_make(4, 1);
    assert_ok(ecs_create_at(world, first, at->spot, NULL, 0));
    assert_ok(ecs_create_at(world, second, at->spot, NULL, 0));
    assert_int_equal(ecs_singleton(world, at->spot), second);
    assert_ok(ecs_destroy(world, second));
    assert_int_equal(ecs_singleton(world, at->spot), first);
    ecs_entity own = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create(world, at->spot, NULL, 0, &own), ECS_ERR_TAKEN);
    assert_ok(ecs_create(world, at->board, NULL, 0, &own));
    assert_int_equal(ecs_create(world, at->board, NULL, 0, &own), ECS_ERR_TAKEN);
}
