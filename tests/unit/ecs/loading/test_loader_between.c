// SPDX-License-Identifier: MIT
// What is read at once, between ticks (ecs_loading_config.load).
#include "load_world.h"

static bool load_unless_two(void* context, const ecs_resource* resource) {
    uint32_t* calls = context;
    ++*calls;
    return strcmp(resource->name, "m2") != 0;
}

LOAD_OPEN_CASE(what_is_read_at_once_is_read_between_ticks) {
    uint32_t calls = 0;
    assert_ok(load_try_seal(at));
    ecs_world* world = at->world;
    const ecs_loading_config config = {.load = load_unless_two, .load_context = &calls};
    ecs_loading_set(world, &config);
    ecs_entity entity = load_create(at, at->prop, 1);
    ecs_entity other = load_create(at, at->prop, 2);
    ecs_world_step(world, &(ecs_step){.tick = 1, .dt = 0.1f});
    assert_int_equal(calls, 0); // neither by the creation nor within a tick
    assert_int_equal(ecs_loading_count(world), 2);
    assert_int_equal(ecs_loading_poll(world), 1);
    assert_int_equal(calls, 2);
    assert_true(ecs_is_alive(world, entity));
    assert_false(ecs_is_alive(world, other) || ecs_loading_is_pending(world, other));
    assert_int_equal(ecs_world_counters(world)->loads_failed, 1);
    assert_true(ecs_is_alive(world, load_create(at, at->prop, 1))); // remembered
    assert_int_equal(calls, 2);
    // A save that knows of it: the module reads it, so that it has it.
    base_bytes saved = {0};
    ecs_resources_save(world, &saved);
    ecs_loading_set(world, &config);
    base_reader reader = base_reader_make(saved.data, saved.size);
    assert_ok(ecs_resources_restore(world, &reader));
    assert_int_equal(calls, 3);
    base_bytes_deinit(&saved);
    ecs_loading_set(world, NULL);
}
