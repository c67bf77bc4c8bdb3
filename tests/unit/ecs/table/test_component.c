// SPDX-License-Identifier: MIT
// Creating, changing and reading single entities.
#include "sample_world.h"

STORE_CASE(an_unknown_template_or_component_is_refused) {
    ecs_world* world = at->world;
    ecs_vec2 value = {0, 0};
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create(world, ECS_TEMPLATE_NONE, NULL, 0, &entity), ECS_ERR_UNKNOWN);
    assert_int_equal(ecs_create(world, 999, NULL, 0, &entity), ECS_ERR_UNKNOWN);
    assert_int_equal(ecs_create_many(world, 999, 3, NULL), ECS_ERR_UNKNOWN);
    ecs_component_id wrong[] = {at->hp, ECS_COMPONENT_NONE, ECS_COMPONENTS_MAX, UINT16_MAX};
    for (size_t i = 0; i < BASE_COUNT(wrong); i++) {
        ecs_init init = {wrong[i], &value};
        assert_int_equal(ecs_create(world, at->ball, &init, 1, &entity), ECS_ERR_MISSING);
    }
    assert_int_equal(ecs_world_entity_count(world), 0);
    entity = store_create(at, at->ball);
    ecs_init init = {at->boost, &value};
    assert_int_equal(ecs_recreate(world, entity, at->rock, &init, 1), ECS_ERR_MISSING);
    assert_int_equal(ecs_recreate(world, entity, 999, NULL, 0), ECS_ERR_UNKNOWN);
}

// S5.16
STORE_CASE(find_is_null_where_get_asserts) {
    ecs_world* world = at->world;
    ecs_entity ball = store_create(at, at->ball);
    assert_null(ecs_find(world, ball, at->hp));
    assert_null(ecs_find(world, ball, UINT16_MAX));
    assert_null(ecs_find(world, ECS_ENTITY_NONE, at->pos));
    assert_null(ecs_find_mut(world, ball, at->hp));
    assert_non_null(ecs_find(world, ball, at->pos));
    expect_assert_failure((void)ecs_get(world, ball, at->hp));
    expect_assert_failure((void)ecs_get_mut(world, ECS_ENTITY_NONE, at->pos));
}

// What ecs_set becomes where the compiler knows the size of the value.
STORE_CASE(a_value_of_known_size_is_set_as_any_other) {
    ecs_world* world = at->world;
    ecs_entity mover = store_create(at, at->mover);
    const ecs_chunk* chunk = world->storage->archetypes[0]->chunks[0];
    const float value[4] = {5, 6, 7, 8};
    assert_ok(ecs_fast_set(world, mover, at->vel, value, 2));
    assert_int_equal(ecs_chunk_dirty(chunk, 0)[0], 0);
    assert_ok(ecs_fast_set(world, mover, at->pos, value, 2));
    assert_float_equal(store_vec2(at, mover, at->pos).y, 6.0f, 0.0f);
    assert_float_equal(store_vec2(at, mover, at->vel).x, 5.0f, 0.0f);
    assert_int_equal(ecs_chunk_dirty(chunk, 0)[0], 1);
    assert_int_equal(*ecs_chunk_summary(chunk, 0), 1);
    // More words than the component has: as many are taken as it has.
    assert_ok(ecs_fast_set(world, mover, at->pos, value + 1, 3));
    assert_float_equal(store_vec2(at, mover, at->pos).x, 6.0f, 0.0f);
    assert_float_equal(store_vec2(at, mover, at->pos).y, 7.0f, 0.0f);
    assert_int_equal(ecs_fast_set(world, mover, at->hp, value, 1), ECS_ERR_MISSING);
    assert_ok(ecs_destroy(world, mover));
    assert_int_equal(ecs_fast_set(world, mover, at->pos, value, 2), ECS_ERR_STALE);
}

// S5.16
STORE_CASE(an_entity_without_components_is_called_empty) {
    ecs_entity entity = store_create(at, at->nothing);
    assert_string_equal(ecs_entity_template_name(at->world, entity), "empty");
    assert_null(ecs_entity_template_name(at->world, ECS_ENTITY_NONE));
    assert_int_equal(ecs_entity_template(at->world, ECS_ENTITY_NONE), ECS_TEMPLATE_NONE);
}

STORE_WITH_CASE(too_many_at_once_change_nothing, at->config.limits.replicated_index_max = 10,
                at->config.limits.local_entities_max = 5) {
    assert_int_equal(ecs_create_many(at->world, at->ball, 6, NULL), ECS_ERR_FULL);
    assert_int_equal(ecs_world_entity_count(at->world), 0);
    assert_ok(ecs_create_many(at->world, at->ball, 4, NULL));
    assert_ok(ecs_create_many(at->world, at->ball, 1, NULL));
    assert_int_equal(ecs_create_many(at->world, at->ball, 1, NULL), ECS_ERR_FULL);
}

STORE_CASE(structure_does_not_change_inside_a_stage) {
    ecs_world* world = at->world;
    ecs_entity entity = store_create(at, at->ball);
    world->fast.stage_depth = 1;
    expect_assert_failure((void)!ecs_create(world, at->ball, NULL, 0, &entity));
    expect_assert_failure((void)!ecs_create_many(world, at->ball, 2, NULL));
    expect_assert_failure((void)!ecs_destroy(world, entity));
    expect_assert_failure((void)!ecs_recreate(world, entity, at->rock, NULL, 0));
    world->fast.stage_depth = 0;
}

STORE_OPEN_CASE(entities_are_made_after_seal) {
    ecs_entity entity = ECS_ENTITY_NONE;
    expect_assert_failure((void)!ecs_create(at->world, 1, NULL, 0, &entity));
}
