// SPDX-License-Identifier: MIT
// What is read at once, between ticks (ecs_loading_config.load).
#include "load_world.h"

static bool load_unless_two(void* context, const ecs_resource* resource) {
    uint32_t* calls = context;
    ++*calls;
    return strcmp(resource->name, "m2") != 0;
}

static void what_is_read_at_once_is_read_between_ticks(void** state) {
    (void)state;
    load fixture;
    uint32_t calls = 0;
    load_open(&fixture, NULL);
    assert_int_equal(load_try_seal(&fixture), ECS_OK);
    ecs_world* world = fixture.world;
    const ecs_loading_config config = {.load = load_unless_two, .load_context = &calls};
    ecs_loading_set(world, &config);
    ecs_entity entity = load_create(&fixture, fixture.prop, 1);
    ecs_entity other = load_create(&fixture, fixture.prop, 2);
    ecs_world_step(world, &(ecs_step){.tick = 1, .dt = 0.1f});
    assert_int_equal(calls, 0); // neither by the creation nor within a tick
    assert_int_equal(ecs_loading_count(world), 2);
    assert_int_equal(ecs_loading_poll(world), 1);
    assert_int_equal(calls, 2);
    assert_true(ecs_is_alive(world, entity));
    assert_false(ecs_is_alive(world, other) || ecs_loading_is_pending(world, other));
    assert_int_equal(ecs_world_counters(world)->loads_failed, 1);
    assert_true(ecs_is_alive(world, load_create(&fixture, fixture.prop, 1))); // remembered
    assert_int_equal(calls, 2);
    // A save that knows of it: the module reads it, so that it has it.
    base_bytes saved = {0};
    ecs_resources_save(world, &saved);
    ecs_loading_set(world, &config);
    base_reader reader = base_reader_make(saved.data, saved.size);
    assert_int_equal(ecs_resources_restore(world, &reader), ECS_OK);
    assert_int_equal(calls, 3);
    base_bytes_deinit(&saved);
    ecs_loading_set(world, NULL);
    load_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_is_read_at_once_is_read_between_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
