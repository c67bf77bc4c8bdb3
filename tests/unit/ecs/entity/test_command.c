// SPDX-License-Identifier: MIT
// Structural changes recorded now and applied later.
#include "sample_world.h"

STORE_WITH_CASE(the_queue_has_a_limit, at->config.limits.commands_queued_max = 3) {
    ecs_world* world = at->world;
    ecs_vec2 value = {0, 0};
    assert_int_not_equal(ecs_command_create(world, at->ball, NULL, 0), ECS_ENTITY_NONE);
    assert_int_not_equal(ecs_command_create(world, at->ball, NULL, 0), ECS_ENTITY_NONE);
    assert_int_not_equal(ecs_command_create(world, at->ball, NULL, 0), ECS_ENTITY_NONE);
    assert_int_equal(ecs_command_create(world, at->ball, NULL, 0), ECS_ENTITY_NONE);
    assert_false(ecs_command_destroy(world, 1));
    assert_false(ecs_command_recreate(world, 1, at->ball, NULL, 0));
    assert_false(ecs_command_set(world, 1, at->pos, &value));
    assert_int_equal(ecs_world_counters(world)->commands_refused, 4);
    ecs_command_flush(world);
    assert_int_equal(ecs_world_entity_count(world), 3);
}

STORE_CASE(mistakes_are_counted_and_skipped) { // S4.8
    ecs_world* world = at->world;
    ecs_vec2 value = {0, 0};
    assert_int_equal(ecs_command_create(world, 999, NULL, 0), ECS_ENTITY_NONE);
    assert_false(ecs_command_set(world, 1, UINT16_MAX, &value));
    assert_int_equal(ecs_world_counters(world)->commands_refused, 2);
    assert_false(ecs_command_recreate(world, 1, 999, NULL, 0));
    assert_int_equal(world->commands->view.count, 0);
    (void)ecs_world_hash(world); // names the templates of the queued commands
    assert_int_equal(ecs_world_counters(world)->commands_refused, 3);
    ecs_init init = {at->hp, &value};
    ecs_entity ball = ecs_command_create(world, at->ball, &init, 1);
    assert_true(ecs_command_destroy(world, ball));
    assert_true(ecs_command_destroy(world, ecs_entity_make(500, 0)));
    assert_int_not_equal(ecs_command_create(world, at->rock, NULL, 0), ECS_ENTITY_NONE);
    ecs_command_flush(world);
    assert_int_equal(ecs_world_counters(world)->commands_refused, 4);
    assert_int_equal(ecs_world_counters(world)->stale_handles, 2);
    assert_int_equal(ecs_world_counters(world)->bad_transitions, 0);
    assert_int_equal(ecs_world_counters(world)->commands_applied, 1);
    assert_int_equal(ecs_world_entity_count(world), 1);
}

STORE_WITH_CASE(a_run_that_does_not_fit_is_done_as_far_as_it_goes,
                at->config.limits.local_entities_max = 3) {
    for (uint32_t i = 0; i < 5; i++)
        (void)ecs_command_create(at->world, at->ball, NULL, 0);
    ecs_command_flush(at->world);
    assert_int_equal(ecs_world_entity_count(at->world), 3);
    assert_int_equal(ecs_world_counters(at->world)->commands_refused, 2);
}

// A reader of a log or snapshot would refuse it.
STORE_CASE(a_text_with_a_nul_is_refused_wherever_it_enters) {
    ecs_string cut = {.data = (char[]){"a\0b"}, .size = 3};
    const ecs_init init = {at->title, &cut};
    ecs_entity sign = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create(at->world, at->sign, &init, 1, &sign), ECS_ERR_TEXT);
    assert_int_equal(ecs_command_create(at->world, at->sign, &init, 1), ECS_ENTITY_NONE);
    assert_ok(ecs_create(at->world, at->sign, NULL, 0, &sign));
    assert_int_equal(ecs_set(at->world, sign, at->title, &cut), ECS_ERR_TEXT);
    assert_int_equal(ecs_recreate(at->world, sign, at->sign, &init, 1), ECS_ERR_TEXT);
    assert_int_equal(ecs_world_entity_count(at->world), 1);
    cut.size = 1;
    assert_ok(ecs_set(at->world, sign, at->title, &cut));
}

STORE_CASE(a_flush_inside_a_stage_is_left_to_its_flush_points) {
    ecs_world* world = at->world;
    (void)ecs_command_create(world, at->ball, NULL, 0);
    world->fast.stage_depth = 1;
    expect_assert_failure(ecs_command_flush(world));
    ecs_commands_apply(world);
    world->fast.stage_depth = 0;
    assert_int_equal(ecs_world_entity_count(world), 1);
}
