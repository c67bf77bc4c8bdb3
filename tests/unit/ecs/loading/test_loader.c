// SPDX-License-Identifier: MIT
/// Entities that wait for resources: S5.22, and the state LOADING of S5.15 as callers see it.
#include "load_world.h"

static ecs_entity_state state_of(const load* fixture, ecs_entity entity) {
    return ecs_state(fixture->world, entity);
}

/// What the world knows of a resource.
static ecs_request_state resource_state(const load* fixture, uint32_t id) {
    const ecs_loading* loading = fixture->world->loading;
    const ecs_resource resource = load_resource(id);
    for (uint32_t i = 0; i < loading->request_count; i++)
        if (strcmp(loading->requests[i].resource.name, resource.name) == 0)
            return loading->requests[i].state;
    return ECS_REQUEST_FREE;
}

// S5.22, S5.15
LOAD_CASE(an_entity_is_loading_until_its_resources_came) {
    ecs_world* world = at->world;
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_ok(load_try_create(at, at->prop, 10, 3, &entity));
    assert_int_not_equal(entity, ECS_ENTITY_NONE);
    assert_int_equal(state_of(at, entity), ECS_STATE_LOADING);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_LOADING), 1);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_CREATED), 0);
    assert_true(ecs_loading_is_pending(world, entity));
    assert_int_equal(ecs_loading_template(world, entity), at->prop);
    assert_false(ecs_is_alive(world, entity));
    assert_null(ecs_find(world, entity, at->hp));
    assert_int_equal(*(const int32_t*)ecs_loading_find(world, entity, at->hp), 5);
    assert_null(ecs_loading_find(world, entity, at->title));
    load_finish(at->manual, 12, true);
    assert_int_equal(load_arrive(at, 10), 0);
    assert_int_equal(state_of(at, entity), ECS_STATE_LOADING);
    load_finish(at->manual, 11, true);
    ecs_world_validate(world);
    assert_int_equal(ecs_loading_poll(world), 1);
    assert_int_equal(state_of(at, entity), ECS_STATE_CREATED);
    assert_int_equal(((const load_mesh*)ecs_get(world, entity, at->mesh))->id, 10);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_LOADING), 0);
    assert_null(ecs_loading_find(world, entity, at->hp));
}

LOAD_CASE(a_busy_loader_is_asked_again) {
    ecs_entity entity = load_create(at, at->prop, 1);
    assert_int_equal(ecs_loading_poll(at->world), 0);
    assert_int_equal(ecs_loading_poll(at->world), 0);
    assert_int_equal(at->manual->asked, 2);
    at->manual->answer = ECS_LOAD_READY;
    assert_int_equal(ecs_loading_poll(at->world), 1);
    assert_true(ecs_is_alive(at->world, entity));
}

// S5.22: a failure is reported
LOAD_CASE(a_failure_is_told_and_the_handle_goes_back) {
    ecs_entity lost = load_create(at, at->prop, 1);
    ecs_entity held = load_create(at, at->prop, 2);
    assert_ok(ecs_handle_retain(at->world, held));
    load_finish(at->manual, 1, false);
    assert_int_equal(ecs_loading_poll(at->world), 0);
    assert_int_equal(state_of(at, lost), ECS_STATE_NONE);
    assert_int_equal(ecs_world_counters(at->world)->loads_failed, 1);
    assert_non_null(strstr(at->report.text, "of template 'prop': mesh 'm1' could not be loaded"));
    load_finish(at->manual, 2, false);
    assert_int_equal(ecs_loading_poll(at->world), 0);
    assert_int_equal(state_of(at, held), ECS_STATE_ALLOCATED);
    // The world already knows that the resource fails.
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_int_equal(load_try_create(at, at->prop, 1, 1, &entity), ECS_ERR_LOAD);
    assert_int_equal(entity, ECS_ENTITY_NONE);
    assert_int_equal(resource_state(at, 1), ECS_REQUEST_FAILED);
    ecs_handle_release(at->world, held);
}

LOAD_CASE(destroying_it_forgets_what_nobody_else_waits_for) {
    ecs_entity a = load_create(at, at->prop, 1);
    ecs_entity b = load_create(at, at->sign, 1);
    assert_ok(ecs_destroy(at->world, a));
    assert_int_equal(resource_state(at, 1), ECS_REQUEST_WAITING);
    assert_int_equal(state_of(at, a), ECS_STATE_NONE);
    assert_int_equal(ecs_destroy(at->world, a), ECS_ERR_STALE);
    assert_true(ecs_command_destroy(at->world, b));
    ecs_command_flush(at->world);
    assert_int_equal(resource_state(at, 1), ECS_REQUEST_FREE);
    assert_int_equal(ecs_loading_count(at->world), 0);
    assert_int_equal(ecs_handle_count(at->world, ECS_STATE_LOADING), 0);
    ecs_entity c = load_create(at, at->prop, 1);
    assert_int_equal(ecs_loading_poll(at->world), 0);
    assert_int_equal(state_of(at, c), ECS_STATE_LOADING);
    ecs_handle_unload(at->world, c);
    assert_int_equal(resource_state(at, 1), ECS_REQUEST_FREE);
    assert_int_equal(state_of(at, c), ECS_STATE_NONE);
}

LOAD_CASE(sets_and_recreations_change_what_it_will_be) {
    ecs_world* world = at->world;
    ecs_entity entity = load_create(at, at->prop, 1);
    int32_t hp = 77;
    assert_ok(ecs_set(world, entity, at->hp, &hp));
    hp = 78;
    assert_true(ecs_command_set(world, entity, at->hp, &hp));
    ecs_command_flush(world);
    assert_int_equal(ecs_set(world, entity, at->title, &hp), ECS_ERR_MISSING);
    load_mesh mesh = {2, 1};
    assert_ok(ecs_set(world, entity, at->mesh, &mesh));
    assert_int_equal(resource_state(at, 1), ECS_REQUEST_FREE);
    assert_ok(ecs_recreate(world, entity, at->plain, NULL, 0));
    assert_int_equal(resource_state(at, 2), ECS_REQUEST_FREE);
    assert_ok(ecs_recreate(world, entity, at->prop, NULL, 0));
    assert_int_equal(((const load_mesh*)ecs_loading_find(world, entity, at->mesh))->id, 1);
    ecs_init init = {at->title, &hp};
    assert_int_equal(ecs_recreate(world, entity, at->prop, &init, 1), ECS_ERR_MISSING);
    assert_int_equal(ecs_recreate(world, entity, at->shared, NULL, 0), ECS_ERR_TYPE);
    assert_int_equal(ecs_recreate(world, entity, 999, NULL, 0), ECS_ERR_UNKNOWN);
    assert_true(ecs_command_recreate(world, entity, at->sign, NULL, 0));
    ecs_command_flush(world);
    ecs_world_validate(world);
    assert_int_equal(load_arrive(at, 1), 1);
    assert_int_equal(ecs_entity_template(world, entity), at->sign);
    assert_null(ecs_find(world, entity, at->hp));
    assert_int_equal(ecs_set(world, 12345, at->hp, &hp), ECS_ERR_STALE);
}

// A default of the old template stays. The same happens with living entities.
LOAD_CASE(a_recreation_keeps_defaults_of_the_old_template) {
    ecs_entity entity = load_create(at, at->prop, 1);
    assert_ok(ecs_recreate(at->world, entity, at->tree, NULL, 0));
    assert_int_equal(load_arrive(at, 1), 1);
    assert_int_equal(*(const int32_t*)ecs_get(at->world, entity, at->hp), 5);
}

typedef struct hit_log {
    int32_t amounts[64];
    uint32_t count;
} hit_log;

static void record_hit(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    hit_log* log = stage->context;
    log->amounts[log->count++] = *(const int32_t*)event->payload;
}

LOAD_OPEN_WITH_CASE(events_wait_with_it_up_to_the_limit, at->config.limits.events_queued_max = 4) {
    hit_log log = {.count = 0};
    system_add(at->world, .name = "watch", EVENTS("hit"), .on_event = record_hit, .context = &log);
    load_seal(at);
    ecs_world* world = at->world;
    const ecs_counters* counters = ecs_world_counters(world);
    ecs_entity entity = load_create(at, at->prop, 1);
    for (int32_t i = 1; i <= 5; i++) { // max - 1, max, max + 1
        assert_true(ecs_event_send(world, entity, at->hit, &i));
        load_step(at);
        assert_int_equal(counters->events_parked, i < 5 ? i : 4);
        assert_int_equal(counters->events_refused, i < 5 ? 0 : 1);
    }
    assert_int_equal(log.count, 0);
    assert_int_equal(counters->stale_handles, 0);
    assert_int_equal(load_arrive(at, 1), 1);
    load_step(at);
    assert_int_equal(log.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(log.amounts[i], i + 1);
    ecs_entity lost = load_create(at, at->prop, 2);
    assert_true(ecs_event_send(world, lost, at->hit, &(int32_t){9}));
    load_step(at);
    assert_ok(ecs_destroy(world, lost));
    assert_int_equal(counters->stale_handles, 1);
}

// A single handler with terms gets its events in runs. Waiting events are among events for living
// entities.
LOAD_OPEN_CASE(events_wait_with_it_among_those_to_the_living) {
    hit_log log = {.count = 0};
    const ecs_term hp = {"hp", "i", ECS_READ};
    system_add(at->world, .name = "watch", EVENTS("hit"), .on_event = record_hit, .terms = &hp,
               .term_count = 1, .context = &log);
    load_seal(at);
    ecs_world* world = at->world;
    ecs_entity living = load_create(at, at->prop, 1);
    assert_int_equal(load_arrive(at, 1), 1);
    ecs_entity waiting = load_create(at, at->prop, 2);
    for (int32_t i = 0; i < 4; i++)
        assert_true(ecs_event_send(world, i % 2 == 0 ? living : waiting, at->hit, &i));
    load_step(at);
    assert_int_equal(log.count, 2);
    assert_int_equal(ecs_world_counters(world)->events_parked, 2);
    assert_int_equal(ecs_world_counters(world)->stale_handles, 0);
    assert_int_equal(load_arrive(at, 2), 1);
    load_step(at);
    static const int32_t heard[] = {0, 2, 1, 3};
    assert_int_equal(log.count, 4);
    assert_memory_equal(log.amounts, heard, sizeof(heard));
}

LOAD_CASE(a_second_singleton_is_refused_while_the_first_loads) {
    ecs_entity first = load_create(at, at->king, 1);
    ecs_entity second = ECS_ENTITY_NONE;
    assert_int_equal(load_try_create(at, at->king, 2, 1, &second), ECS_ERR_TAKEN);
    assert_int_equal(ecs_world_counters(at->world)->singletons_refused, 1);
    ecs_entity other = load_create(at, at->prop, 3);
    assert_int_equal(ecs_recreate(at->world, other, at->king, NULL, 0), ECS_ERR_TAKEN);
    assert_int_equal(load_arrive(at, 1), 1);
    assert_int_equal(ecs_singleton(at->world, at->king), first);
}

LOAD_WITH_CASE(more_than_the_limit_of_waiting_entities_is_refused,
               at->config.limits.commands_queued_max = 3) {
    ecs_entity many[4];
    assert_int_equal(ecs_create_many(at->world, at->prop, 4, many), ECS_ERR_FULL);
    assert_int_equal(ecs_loading_count(at->world), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_ok(ecs_destroy(at->world, many[i]));
    ecs_entity entity = ECS_ENTITY_NONE;
    for (uint32_t i = 1; i <= 4; i++) {
        assert_int_equal(load_try_create(at, at->prop, i, 1, &entity),
                         i <= 3 ? ECS_OK : ECS_ERR_FULL);
    }
    assert_int_equal(resource_state(at, 3), ECS_REQUEST_WAITING);
    assert_int_equal(resource_state(at, 4), ECS_REQUEST_FREE);
}

LOAD_CASE(limits_of_resources_hold) {
    ecs_entity entity = ECS_ENTITY_NONE;
    uint32_t max = ECS_RESOURCE_REQUESTS_MAX;
    assert_ok(load_try_create(at, at->prop, 0, max - 1, &entity));
    assert_ok(load_try_create(at, at->prop, 0, max, &entity));
    assert_int_equal(load_try_create(at, at->prop, 0, max + 1, &entity), ECS_ERR_FULL);
    uint32_t id = max;
    for (; id < ECS_RESOURCES_MAX; id++)
        (void)load_create(at, at->prop, id);
    assert_int_equal(ecs_loading_poll(at->world), 0);
    assert_int_equal(at->manual->asked, ECS_RESOURCES_MAX);
    assert_int_equal(load_try_create(at, at->prop, id, 1, &entity), ECS_ERR_FULL);
    assert_int_equal(ecs_loading_count(at->world), ECS_RESOURCES_MAX - max + 2);
    for (uint32_t i = 0; i < ECS_RESOURCES_MAX; i++)
        load_finish(at->manual, i, true);
    assert_int_equal(ecs_loading_poll(at->world), ECS_RESOURCES_MAX - max + 2);
}

LOAD_CASE(errors_of_a_creation_leave_nothing_behind) {
    ecs_entity entity = ECS_ENTITY_NONE;
    int32_t hp = 1;
    ecs_init init = {at->title, &hp};
    assert_int_equal(ecs_create(at->world, at->prop, &init, 1, &entity), ECS_ERR_MISSING);
    assert_int_equal(resource_state(at, 1), ECS_REQUEST_FREE);
    ecs_world_validate(at->world);
}

LOAD_WITH_CASE(a_mirrors_entity_waits_at_its_handle, at->config.is_mirror = true) {
    ecs_world* world = at->world;
    ecs_entity handle = ecs_entity_make(7, 3);
    assert_ok(ecs_handle_load(world, handle));
    assert_ok(ecs_create_at(world, handle, at->shared, NULL, 0));
    assert_int_equal(state_of(at, handle), ECS_STATE_LOADING);
    assert_int_equal(ecs_create_at(world, handle, at->shared, NULL, 0), ECS_ERR_TAKEN);
    assert_int_equal(ecs_world_counters(world)->bad_transitions, 1);
    ecs_entity direct = ecs_entity_make(8, 1);
    assert_ok(ecs_create_at(world, direct, at->shared, NULL, 0));
    // Another generation uses the index when the resource arrives, so this creation is dropped.
    assert_ok(ecs_create_at(world, ecs_entity_make(8, 2), at->net, NULL, 0));
    assert_int_equal(load_arrive(at, 1), 1);
    assert_true(ecs_is_alive(world, handle));
    assert_int_equal(state_of(at, direct), ECS_STATE_NONE);
}

CASE(clearing_and_changing_forget) {
    load fixture;
    load_make(&fixture);
    ecs_world* world = fixture.world;
    ecs_entity entity = load_create(&fixture, fixture.prop, 1);
    ecs_world_clear(world);
    assert_int_equal(resource_state(&fixture, 1), ECS_REQUEST_FREE);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_NONE);
    entity = load_create(&fixture, fixture.prop, 1);
    load_manual* other = load_manual_make();
    fixture.loading.load_context = other;
    ecs_loading_set(world, &fixture.loading);
    assert_int_equal(ecs_loading_poll(world), 0);
    assert_int_equal(other->asked, 1);
    assert_int_equal(fixture.manual->asked, 0);
    ecs_loading_set(world, NULL);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_LOADING);
    assert_int_equal(ecs_loading_poll(world), 1);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_CREATED);
    fixture.loading.load_context = fixture.manual;
    ecs_loading_set(world, &fixture.loading);
    (void)load_create(&fixture, fixture.prop, 9);
    ecs_world_validate(world);
    ecs_world_destroy(world);
    free(fixture.manual);
    free(other);
}

static void poll_in_a_stage(const ecs_stage* stage, const ecs_rows* rows) {
    (void)ecs_loading_poll(stage->world);
}

CASE(polling_inside_of_a_stage_asserts) {
    load fixture;
    load_open(&fixture);
    system_add(fixture.world, .name = "poll", .stage = "act", .run = poll_in_a_stage);
    load_seal(&fixture);
    expect_assert_failure(load_step(&fixture));
    ecs_world_destroy(fixture.world);
    free(fixture.manual);
}

// Saves

static void fill_for_a_save(load* fixture) {
    (void)load_create(fixture, fixture->plain == 0 ? 1 : fixture->prop, 1);
    ecs_entity entity = load_create(fixture, fixture->sign, 2);
    assert_true(ecs_event_send(fixture->world, entity, fixture->hit, &(int32_t){4}));
    load_step(fixture);
    (void)load_create(fixture, fixture->prop, 3);
    assert_ok(ecs_handle_retain(fixture->world, ecs_entity_make(99, 1)));
    ecs_entity living = ECS_ENTITY_NONE;
    assert_ok(ecs_create(fixture->world, fixture->plain, NULL, 0, &living));
}

LOADS_CASE(a_restored_world_waits_for_the_same) {
    uint64_t empty = ecs_world_hash(at->a.world);
    fill_for_a_save(&at->a);
    assert_int_not_equal(ecs_world_hash(at->a.world), empty);
    base_bytes bytes = world_saved(at->a.world);
    assert_ok(ecs_world_restore(at->b.world, bytes.data, bytes.size));
    ecs_world_validate(at->b.world);
    assert_int_equal(ecs_world_hash(at->b.world), ecs_world_hash(at->a.world));
    assert_int_equal(ecs_handle_count(at->b.world, ECS_STATE_LOADING), 3);
    assert_int_equal(ecs_loading_poll(at->b.world), 0);
    assert_int_equal(at->b.manual->asked, 3);
    for (uint32_t id = 3; id >= 1; id--) {
        load_finish(at->a.manual, id, true);
        load_finish(at->b.manual, id, true);
    }
    assert_int_equal(ecs_loading_poll(at->a.world), 3);
    assert_int_equal(ecs_loading_poll(at->b.world), 3);
    load_step(&at->a);
    load_step(&at->b);
    assert_int_equal(ecs_world_hash(at->b.world), ecs_world_hash(at->a.world));
    // Also by copy, into a world that waits for other resources.
    (void)load_create(&at->b, at->a.prop, 50);
    (void)load_create(&at->a, at->a.prop, 60);
    assert_ok(ecs_world_copy(at->b.world, at->a.world));
    assert_int_equal(ecs_world_hash(at->b.world), ecs_world_hash(at->a.world));
    assert_int_equal(resource_state(&at->b, 50), ECS_REQUEST_FREE);
    base_bytes_deinit(&bytes);
}

// A creation happens at once or some ticks later, by what is known: a run that begins with a save
// has to know the same, and no more.
LOADS_CASE(a_save_of_resources_makes_the_same_known) {
    base_bytes bytes = {0}, before = {0};
    ecs_resources_save(at->a.world, &before);
    (void)load_create(&at->a, at->a.prop, 1);
    (void)load_create(&at->a, at->a.prop, 2);
    load_step(&at->a);
    load_finish(at->a.manual, 1, true);
    load_finish(at->a.manual, 2, false);
    assert_int_equal(ecs_loading_poll(at->a.world), 1);
    ecs_resources_save(at->a.world, &bytes);
    base_reader reader = base_reader_make(bytes.data, bytes.size);
    assert_ok(ecs_resources_restore(at->b.world, &reader));
    assert_int_equal(base_reader_left(&reader), 0);
    assert_int_equal(resource_state(&at->b, 1), ECS_REQUEST_READY);
    assert_int_equal(resource_state(&at->b, 2), ECS_REQUEST_FAILED);
    assert_int_equal(resource_state(&at->b, 3), ECS_REQUEST_FREE);
    assert_int_equal(at->b.manual->asked, 1); // the module gets what is ready
    ecs_loading_validate(at->b.world);
    // Back to where nothing was known.
    reader = base_reader_make(before.data, before.size);
    assert_ok(ecs_resources_restore(at->b.world, &reader));
    assert_int_equal(resource_state(&at->b, 1), ECS_REQUEST_FREE);
    assert_int_equal(resource_state(&at->b, 2), ECS_REQUEST_FREE);
    ecs_loading_validate(at->b.world);
    for (size_t size = 0; size < bytes.size; size++) {
        reader = base_reader_make(bytes.data, size);
        assert_int_equal(ecs_resources_restore(at->b.world, &reader), ECS_ERR_MALFORMED);
        ecs_loading_validate(at->b.world);
    }
    base_bytes_deinit(&before);
    base_bytes_deinit(&bytes);
}

LOADS_CASE(damaged_saves_are_refused_and_leave_an_empty_world) {
    fill_for_a_save(&at->a);
    base_bytes bytes = world_saved(at->a.world);
    for (size_t size = 0; size < bytes.size; size++) {
        assert_int_equal(ecs_world_restore(at->b.world, bytes.data, size), ECS_ERR_MALFORMED);
        assert_int_equal(ecs_loading_count(at->b.world), 0);
    }
    // The last bytes of a save describe the waiting entities. For all changes of them, the world
    // stays valid.
    for (size_t place = bytes.size - (bytes.size < 200 ? bytes.size : 200); place < bytes.size;
         place++) {
        for (uint32_t bit = 0; bit < 8; bit++) {
            bytes.data[place] ^= (uint8_t)(1u << bit);
            (void)(ecs_world_restore(at->b.world, bytes.data, bytes.size) == ECS_OK);
            ecs_loading_validate(at->b.world);
            bytes.data[place] ^= (uint8_t)(1u << bit);
        }
    }
    base_bytes_deinit(&bytes);
}
