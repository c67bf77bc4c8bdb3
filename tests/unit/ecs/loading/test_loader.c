// SPDX-License-Identifier: MIT
/// Entities that wait for resources: S5.22, and the state LOADING of S5.15 as callers see it.
#include "load_world.h"

static ecs_entity_state state_of(const load* fixture, ecs_entity entity) {
    return ecs_state(fixture->world, entity);
}

// S5.22
static void without_a_loader_every_creation_is_at_once(void** state) {
    (void)state;
    load fixture;
    load_open(&fixture, NULL);
    assert_int_equal(load_try_seal(&fixture), ECS_OK);
    ecs_entity entity = load_create(&fixture, fixture.prop, 7);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_CREATED);
    assert_int_equal(ecs_loading_poll(fixture.world), 0);
    ecs_loading_set(fixture.world, NULL);
    load_close(&fixture);
}

// S5.22, S5.15
static void an_entity_is_loading_until_its_resources_came(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    ecs_world* world = fixture.world;
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_int_equal(load_try_create(&fixture, fixture.prop, 10, 3, &entity), ECS_OK);
    assert_int_not_equal(entity, ECS_ENTITY_NONE);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_LOADING);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_LOADING), 1);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_CREATED), 0);
    assert_true(ecs_loading_is_pending(world, entity));
    assert_int_equal(ecs_loading_template(world, entity), fixture.prop);
    assert_false(ecs_is_alive(world, entity));
    assert_null(ecs_find(world, entity, fixture.hp));
    assert_int_equal(*(const int32_t*)ecs_loading_find(world, entity, fixture.hp), 5);
    assert_null(ecs_loading_find(world, entity, fixture.title));
    assert_true(load_finish(fixture.manual, 12, true));
    assert_true(load_finish(fixture.manual, 10, true));
    assert_int_equal(ecs_loading_poll(world), 0);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_LOADING);
    assert_true(load_finish(fixture.manual, 11, true));
    ecs_world_validate(world);
    assert_int_equal(ecs_loading_poll(world), 1);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_CREATED);
    assert_int_equal(((const load_mesh*)ecs_get(world, entity, fixture.mesh))->id, 10);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_LOADING), 0);
    assert_null(ecs_loading_find(world, entity, fixture.hp));
    load_close(&fixture);
}

static void a_resource_is_asked_for_once_and_shared(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    for (uint32_t i = 0; i < 100; i++) {
        (void)load_create(&fixture, fixture.prop, 4);
    }
    assert_int_equal(fixture.manual->begun, 1);
    ecs_resource resource = load_resource(4);
    assert_int_equal(ecs_resource_find(fixture.world, &resource), ECS_RESOURCE_WAITING);
    assert_true(load_finish(fixture.manual, 4, true));
    assert_int_equal(ecs_loading_poll(fixture.world), 100);
    assert_int_equal(ecs_resource_find(fixture.world, &resource), ECS_RESOURCE_READY);
    ecs_entity late = load_create(&fixture, fixture.prop, 4);
    assert_int_equal(state_of(&fixture, late), ECS_STATE_CREATED);
    assert_int_equal(fixture.manual->begun, 1);
    ecs_resource_forget(fixture.world, &resource);
    assert_int_equal(ecs_resource_find(fixture.world, &resource), ECS_RESOURCE_UNKNOWN);
    assert_int_equal(state_of(&fixture, load_create(&fixture, fixture.prop, 4)), ECS_STATE_LOADING);
    assert_int_equal(fixture.manual->begun, 2);
    ecs_resource_forget(fixture.world, &resource); // the resource is being loaded, so it stays
    assert_int_equal(ecs_resource_find(fixture.world, &resource), ECS_RESOURCE_WAITING);
    load_close(&fixture);
}

static void nothing_named_is_nothing_needed(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_int_equal(load_try_create(&fixture, fixture.prop, 1, 0, &entity), ECS_OK);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_CREATED);
    assert_int_equal(fixture.manual->begun, 0);
    load_close(&fixture);
}

typedef struct order_log {
    ecs_entity entities[16];
    uint32_t count;
} order_log;

static void note_created(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)rows;
    order_log* log = stage->context;
    log->entities[log->count++] = event->target;
}

static void watch_creations(load* fixture, order_log* log) {
    static const char* const events[] = {"EntityCreated"};
    ecs_system_desc watch = {.name = "watch",
                             .events = events,
                             .event_count = 1,
                             .on_event = note_created,
                             .context = log};
    assert_int_equal(ecs_system_register(fixture->world, &watch), ECS_OK);
}

static void entities_are_created_in_the_order_of_asking(void** state) {
    (void)state;
    load fixture;
    order_log log = {.count = 0};
    load_open(&fixture, NULL);
    watch_creations(&fixture, &log);
    load_seal(&fixture);
    ecs_entity first = load_create(&fixture, fixture.prop, 1);
    ecs_entity second = load_create(&fixture, fixture.prop, 2);
    ecs_entity third = load_create(&fixture, fixture.prop, 3);
    assert_true(load_finish(fixture.manual, 3, true));
    assert_true(load_finish(fixture.manual, 1, true));
    assert_int_equal(ecs_loading_poll(fixture.world), 2);
    assert_true(load_finish(fixture.manual, 2, true));
    assert_int_equal(ecs_loading_poll(fixture.world), 1);
    assert_int_equal(log.count, 3);
    assert_int_equal(log.entities[0], first);
    assert_int_equal(log.entities[1], third);
    assert_int_equal(log.entities[2], second);
    load_close(&fixture);
}

static void where_order_is_kept_nobody_overtakes(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    fixture.config.keep_order = true;
    ecs_loading_set(fixture.world, &fixture.config);
    ecs_entity first = load_create(&fixture, fixture.prop, 1);
    ecs_entity second = load_create(&fixture, fixture.prop, 2);
    assert_true(load_finish(fixture.manual, 2, true));
    assert_int_equal(ecs_loading_poll(fixture.world), 0);
    // The resource is there, but the entity must queue.
    ecs_entity third = load_create(&fixture, fixture.prop, 2);
    assert_int_equal(state_of(&fixture, third), ECS_STATE_LOADING);
    assert_true(load_finish(fixture.manual, 1, true));
    assert_int_equal(ecs_loading_poll(fixture.world), 3);
    assert_true(ecs_is_alive(fixture.world, first) && ecs_is_alive(fixture.world, second));
    load_close(&fixture);
}

static void a_busy_loader_is_asked_again_and_a_ready_one_waits_for_nobody(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    fixture.manual->answer = ECS_LOAD_BUSY;
    ecs_entity entity = load_create(&fixture, fixture.prop, 1);
    assert_int_equal(ecs_loading_poll(fixture.world), 0);
    assert_int_equal(fixture.manual->begun, 2);
    fixture.manual->answer = ECS_LOAD_READY;
    assert_int_equal(ecs_loading_poll(fixture.world), 1);
    assert_true(ecs_is_alive(fixture.world, entity));
    assert_true(ecs_is_alive(fixture.world, load_create(&fixture, fixture.prop, 2)));
    load_close(&fixture);
}

typedef struct failure_log {
    ecs_world* world;
    ecs_entity entity;
    ecs_template_id template_id;
    char name[16];
    uint32_t calls;
} failure_log;

static void note_failure(void* context, ecs_entity entity, ecs_template_id template_id,
                         const ecs_resource* resource) {
    failure_log* log = context;
    log->entity = entity;
    log->template_id = template_id;
    (void)snprintf(log->name, sizeof(log->name), "%.15s", resource->name);
    log->calls++;
    assert_false(ecs_loading_is_pending(log->world, entity));
    expect_assert_failure((void)!ecs_create(log->world, template_id, NULL, 0, &entity));
}

static void on_failed_event(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)rows;
    *(ecs_loading_failure*)stage->context = *(const ecs_loading_failure*)event->payload;
}

// S5.22: a failure is reported, and an event is sent
static void a_failure_is_told_and_the_handle_goes_back(void** state) {
    (void)state;
    load fixture;
    ecs_loading_failure told = {0};
    load_open(&fixture, NULL);
    static const char* const events[] = {"load_failed"};
    ecs_system_desc watch = {.name = "watch",
                             .events = events,
                             .event_count = 1,
                             .on_event = on_failed_event,
                             .context = &told};
    assert_int_equal(ecs_system_register(fixture.world, &watch), ECS_OK);
    load_seal(&fixture);
    failure_log log = {.world = fixture.world};
    fixture.config.failed = note_failure;
    fixture.config.failed_context = &log;
    ecs_loading_set(fixture.world, &fixture.config);
    ecs_entity lost = load_create(&fixture, fixture.prop, 1);
    ecs_entity held = load_create(&fixture, fixture.prop, 2);
    assert_int_equal(ecs_handle_retain(fixture.world, held), ECS_OK);
    assert_true(load_finish(fixture.manual, 1, false));
    base_assert_handler_set(test_assert_handler);
    assert_int_equal(ecs_loading_poll(fixture.world), 0);
    assert_int_equal(state_of(&fixture, lost), ECS_STATE_NONE);
    assert_int_equal(log.calls, 1);
    assert_int_equal(log.entity, lost);
    assert_int_equal(log.template_id, fixture.prop);
    assert_string_equal(log.name, "m1");
    assert_int_equal(ecs_world_counters(fixture.world)->loads_failed, 1);
    assert_non_null(strstr(fixture.report.text, "'m1' could not be loaded"));
    load_step(&fixture);
    assert_int_equal(told.entity, lost);
    assert_int_equal(told.template_id, fixture.prop);
    assert_true(load_finish(fixture.manual, 2, false));
    assert_int_equal(ecs_loading_poll(fixture.world), 0);
    assert_int_equal(state_of(&fixture, held), ECS_STATE_ALLOCATED);
    base_assert_handler_set(NULL);
    // The world already knows that the resource fails.
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_int_equal(load_try_create(&fixture, fixture.prop, 1, 1, &entity), ECS_ERR_LOAD);
    assert_int_equal(entity, ECS_ENTITY_NONE);
    ecs_resource resource = load_resource(1);
    assert_int_equal(ecs_resource_find(fixture.world, &resource), ECS_RESOURCE_FAILED);
    ecs_resource_forget(fixture.world, &resource);
    fixture.manual->answer = ECS_LOAD_FAILED;
    assert_int_equal(load_try_create(&fixture, fixture.prop, 1, 1, &entity), ECS_ERR_LOAD);
    ecs_resource_forget(fixture.world, &resource);
    fixture.manual->answer = ECS_LOAD_READY;
    assert_int_equal(load_try_create(&fixture, fixture.prop, 1, 1, &entity), ECS_OK);
    ecs_handle_release(fixture.world, held);
    load_close(&fixture);
}

static void destroying_it_cancels_what_nobody_else_waits_for(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    ecs_entity a = load_create(&fixture, fixture.prop, 1);
    ecs_entity b = load_create(&fixture, fixture.sign, 1);
    assert_int_equal(ecs_destroy(fixture.world, a), ECS_OK);
    assert_int_equal(fixture.manual->cancelled, 0);
    assert_int_equal(state_of(&fixture, a), ECS_STATE_NONE);
    assert_int_equal(ecs_destroy(fixture.world, a), ECS_ERR_STALE);
    uint32_t ticket = fixture.manual->tickets[0];
    assert_true(ecs_command_destroy(fixture.world, b));
    ecs_command_flush(fixture.world);
    assert_int_equal(fixture.manual->cancelled, 1);
    assert_int_equal(ecs_loading_count(fixture.world), 0);
    assert_int_equal(ecs_handle_count(fixture.world, ECS_STATE_LOADING), 0);
    // A result that comes after the cancel belongs to no entity.
    ecs_entity c = load_create(&fixture, fixture.prop, 1);
    fixture.manual->done[fixture.manual->done_count++] = (ecs_loaded){ticket, true};
    assert_int_equal(ecs_loading_poll(fixture.world), 0);
    assert_int_equal(state_of(&fixture, c), ECS_STATE_LOADING);
    ecs_handle_unload(fixture.world, c);
    assert_int_equal(fixture.manual->cancelled, 2);
    assert_int_equal(state_of(&fixture, c), ECS_STATE_NONE);
    load_close(&fixture);
}

static void sets_and_recreations_change_what_it_will_be(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    ecs_world* world = fixture.world;
    ecs_entity entity = load_create(&fixture, fixture.prop, 1);
    int32_t hp = 77;
    assert_int_equal(ecs_set(world, entity, fixture.hp, &hp), ECS_OK);
    hp = 78;
    assert_true(ecs_command_set(world, entity, fixture.hp, &hp));
    ecs_command_flush(world);
    assert_int_equal(ecs_set(world, entity, fixture.title, &hp), ECS_ERR_MISSING);
    load_mesh mesh = {2, 1};
    assert_int_equal(ecs_set(world, entity, fixture.mesh, &mesh), ECS_OK);
    assert_int_equal(fixture.manual->cancelled, 1);
    assert_int_equal(ecs_recreate(world, entity, fixture.plain, NULL, 0), ECS_OK);
    assert_int_equal(fixture.manual->cancelled, 2);
    assert_int_equal(ecs_recreate(world, entity, fixture.prop, NULL, 0), ECS_OK);
    assert_int_equal(((const load_mesh*)ecs_loading_find(world, entity, fixture.mesh))->id, 1);
    ecs_init init = {fixture.title, &hp};
    assert_int_equal(ecs_recreate(world, entity, fixture.prop, &init, 1), ECS_ERR_MISSING);
    assert_int_equal(ecs_recreate(world, entity, fixture.shared, NULL, 0), ECS_ERR_TYPE);
    assert_int_equal(ecs_recreate(world, entity, 999, NULL, 0), ECS_ERR_UNKNOWN);
    assert_true(ecs_command_recreate(world, entity, fixture.sign, NULL, 0));
    ecs_command_flush(world);
    ecs_world_validate(world);
    assert_true(load_finish(fixture.manual, 1, true));
    assert_int_equal(ecs_loading_poll(world), 1);
    assert_int_equal(ecs_entity_template(world, entity), fixture.sign);
    assert_null(ecs_find(world, entity, fixture.hp));
    assert_int_equal(ecs_set(world, 12345, fixture.hp, &hp), ECS_ERR_STALE);
    load_close(&fixture);
}

// A default of the old template stays. The same happens with living entities.
static void a_recreation_keeps_defaults_of_the_old_template(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    ecs_entity entity = load_create(&fixture, fixture.prop, 1);
    assert_int_equal(ecs_recreate(fixture.world, entity, fixture.tree, NULL, 0), ECS_OK);
    assert_true(load_finish(fixture.manual, 1, true));
    assert_int_equal(ecs_loading_poll(fixture.world), 1);
    assert_int_equal(*(const int32_t*)ecs_get(fixture.world, entity, fixture.hp), 5);
    load_close(&fixture);
}

typedef struct hit_log {
    int32_t amounts[64];
    uint32_t count;
} hit_log;

static void note_hit(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)rows;
    hit_log* log = stage->context;
    log->amounts[log->count++] = *(const int32_t*)event->payload;
}

static void events_wait_with_it_up_to_the_limit(void** state) {
    (void)state;
    load fixture;
    hit_log log = {.count = 0};
    ecs_world_config config = ecs_world_config_default();
    config.limits.events_queued_max = 4;
    load_open(&fixture, &config);
    static const char* const events[] = {"hit"};
    ecs_system_desc watch = {
        .name = "watch", .events = events, .event_count = 1, .on_event = note_hit, .context = &log};
    assert_int_equal(ecs_system_register(fixture.world, &watch), ECS_OK);
    load_seal(&fixture);
    ecs_world* world = fixture.world;
    const ecs_counters* counters = ecs_world_counters(world);
    ecs_entity entity = load_create(&fixture, fixture.prop, 1);
    for (int32_t i = 1; i <= 5; i++) { // max - 1, max, max + 1
        assert_true(ecs_event_send(world, entity, fixture.hit, &i));
        load_step(&fixture);
        assert_int_equal(counters->events_parked, i < 5 ? i : 4);
        assert_int_equal(counters->events_refused, i < 5 ? 0 : 1);
    }
    assert_int_equal(log.count, 0);
    assert_int_equal(counters->stale_handles, 0);
    assert_true(load_finish(fixture.manual, 1, true));
    assert_int_equal(ecs_loading_poll(world), 1);
    load_step(&fixture);
    assert_int_equal(log.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(log.amounts[i], i + 1);
    }
    ecs_entity lost = load_create(&fixture, fixture.prop, 2);
    assert_true(ecs_event_send(world, lost, fixture.hit, &(int32_t){9}));
    load_step(&fixture);
    assert_int_equal(ecs_destroy(world, lost), ECS_OK);
    assert_int_equal(counters->stale_handles, 1);
    load_close(&fixture);
}

// A single handler with terms gets its events in runs. Waiting events are among events for living
// entities.
static void events_wait_with_it_among_those_to_the_living(void** state) {
    (void)state;
    load fixture;
    hit_log log = {.count = 0};
    load_open(&fixture, NULL);
    static const char* const events[] = {"hit"};
    const ecs_term hp = {"hp", "i", ECS_READ};
    ecs_system_desc watch = {.name = "watch",
                             .events = events,
                             .event_count = 1,
                             .on_event = note_hit,
                             .terms = &hp,
                             .term_count = 1,
                             .context = &log};
    assert_int_equal(ecs_system_register(fixture.world, &watch), ECS_OK);
    load_seal(&fixture);
    ecs_world* world = fixture.world;
    ecs_entity living = load_create(&fixture, fixture.prop, 1);
    assert_true(load_finish(fixture.manual, 1, true));
    assert_int_equal(ecs_loading_poll(world), 1);
    ecs_entity waiting = load_create(&fixture, fixture.prop, 2);
    for (int32_t i = 0; i < 4; i++) {
        assert_true(ecs_event_send(world, i % 2 == 0 ? living : waiting, fixture.hit, &i));
    }
    load_step(&fixture);
    assert_int_equal(log.count, 2);
    assert_int_equal(ecs_world_counters(world)->events_parked, 2);
    assert_int_equal(ecs_world_counters(world)->stale_handles, 0);
    assert_true(load_finish(fixture.manual, 2, true));
    assert_int_equal(ecs_loading_poll(world), 1);
    load_step(&fixture);
    static const int32_t heard[] = {0, 2, 1, 3};
    assert_int_equal(log.count, 4);
    assert_memory_equal(log.amounts, heard, sizeof(heard));
    load_close(&fixture);
}

static void a_second_singleton_is_refused_while_the_first_loads(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    ecs_entity first = load_create(&fixture, fixture.king, 1);
    ecs_entity second = ECS_ENTITY_NONE;
    assert_int_equal(load_try_create(&fixture, fixture.king, 2, 1, &second), ECS_ERR_TAKEN);
    assert_int_equal(ecs_world_counters(fixture.world)->singletons_refused, 1);
    ecs_entity other = load_create(&fixture, fixture.prop, 3);
    assert_int_equal(ecs_recreate(fixture.world, other, fixture.king, NULL, 0), ECS_ERR_TAKEN);
    assert_true(load_finish(fixture.manual, 1, true));
    assert_int_equal(ecs_loading_poll(fixture.world), 1);
    assert_int_equal(ecs_singleton(fixture.world, fixture.king), first);
    load_close(&fixture);
}

static void many_at_once_wait_as_one_by_one(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    ecs_entity entities[50];
    assert_int_equal(ecs_create_many(fixture.world, fixture.prop, 50, entities), ECS_OK);
    for (uint32_t i = 0; i < 40; i++) {
        (void)ecs_command_create(fixture.world, fixture.sign, NULL, 0);
    }
    ecs_command_flush(fixture.world);
    assert_int_equal(ecs_loading_count(fixture.world), 90);
    assert_int_equal(state_of(&fixture, entities[49]), ECS_STATE_LOADING);
    assert_true(load_finish(fixture.manual, 1, true));
    assert_int_equal(ecs_loading_poll(fixture.world), 90);
    load_close(&fixture);
}

static void more_than_the_limit_of_waiting_entities_is_refused(void** state) {
    (void)state;
    load fixture;
    ecs_world_config config = ecs_world_config_default();
    config.limits.commands_queued_max = 3;
    load_make(&fixture, &config);
    ecs_entity many[4];
    assert_int_equal(ecs_create_many(fixture.world, fixture.prop, 4, many), ECS_ERR_FULL);
    assert_int_equal(ecs_loading_count(fixture.world), 0);
    ecs_entity entity = ECS_ENTITY_NONE;
    for (uint32_t i = 1; i <= 4; i++) {
        assert_int_equal(load_try_create(&fixture, fixture.prop, i, 1, &entity),
                         i <= 3 ? ECS_OK : ECS_ERR_FULL);
    }
    // One for the group of four, one for the fourth entity here.
    assert_int_equal(fixture.manual->cancelled, 2);
    load_close(&fixture);
}

static void limits_of_resources_hold(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    ecs_entity entity = ECS_ENTITY_NONE;
    uint32_t max = ECS_RESOURCE_REQUESTS_MAX;
    assert_int_equal(load_try_create(&fixture, fixture.prop, 0, max - 1, &entity), ECS_OK);
    assert_int_equal(load_try_create(&fixture, fixture.prop, 0, max, &entity), ECS_OK);
    assert_int_equal(load_try_create(&fixture, fixture.prop, 0, max + 1, &entity), ECS_ERR_FULL);
    uint32_t id = max;
    for (; id < ECS_RESOURCES_MAX; id++) {
        (void)load_create(&fixture, fixture.prop, id);
    }
    assert_int_equal(fixture.manual->begun, ECS_RESOURCES_MAX);
    assert_int_equal(load_try_create(&fixture, fixture.prop, id, 1, &entity), ECS_ERR_FULL);
    assert_int_equal(ecs_loading_count(fixture.world), ECS_RESOURCES_MAX - max + 2);
    for (uint32_t i = 0; i < ECS_RESOURCES_MAX; i++) {
        assert_true(load_finish(fixture.manual, i, true));
    }
    assert_int_equal(ecs_loading_poll(fixture.world), ECS_RESOURCES_MAX - max + 2);
    load_close(&fixture);
}

static void errors_of_a_creation_leave_nothing_behind(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    ecs_entity entity = ECS_ENTITY_NONE;
    int32_t hp = 1;
    ecs_init init = {fixture.title, &hp};
    assert_int_equal(ecs_create(fixture.world, fixture.prop, &init, 1, &entity), ECS_ERR_MISSING);
    assert_int_equal(fixture.manual->begun, 0);
    ecs_world_validate(fixture.world);
    load_close(&fixture);
}

static void a_mirrors_entity_waits_at_its_handle(void** state) {
    (void)state;
    load fixture;
    ecs_world_config config = ecs_world_config_default();
    config.is_mirror = true;
    load_make(&fixture, &config);
    ecs_world* world = fixture.world;
    ecs_entity handle = ecs_entity_make(7, 3);
    assert_int_equal(ecs_handle_load(world, handle), ECS_OK);
    assert_int_equal(ecs_create_at(world, handle, fixture.shared, NULL, 0), ECS_OK);
    assert_int_equal(state_of(&fixture, handle), ECS_STATE_LOADING);
    assert_int_equal(ecs_create_at(world, handle, fixture.shared, NULL, 0), ECS_ERR_TAKEN);
    assert_int_equal(ecs_world_counters(world)->bad_transitions, 1);
    ecs_entity direct = ecs_entity_make(8, 1);
    assert_int_equal(ecs_create_at(world, direct, fixture.shared, NULL, 0), ECS_OK);
    // Another generation uses the index when the resource arrives, so this creation is dropped.
    assert_int_equal(ecs_create_at(world, ecs_entity_make(8, 2), fixture.net, NULL, 0), ECS_OK);
    assert_true(load_finish(fixture.manual, 1, true));
    assert_int_equal(ecs_loading_poll(world), 1);
    assert_true(ecs_is_alive(world, handle));
    assert_int_equal(state_of(&fixture, direct), ECS_STATE_NONE);
    load_close(&fixture);
}

static void clearing_changing_and_ending_cancel(void** state) {
    (void)state;
    load fixture;
    load_make(&fixture, NULL);
    ecs_world* world = fixture.world;
    ecs_entity entity = load_create(&fixture, fixture.prop, 1);
    ecs_world_clear(world);
    assert_int_equal(fixture.manual->cancelled, 1);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_NONE);
    entity = load_create(&fixture, fixture.prop, 1);
    load_manual* other = calloc(1, sizeof(*other));
    other->answer = ECS_LOAD_BEGUN;
    other->loader = (ecs_loader){other, load_begin, load_poll, NULL};
    fixture.config.loader = &other->loader;
    ecs_loading_set(world, &fixture.config);
    assert_int_equal(fixture.manual->cancelled, 2);
    assert_int_equal(ecs_loading_poll(world), 0);
    assert_int_equal(other->begun, 1);
    ecs_loading_set(world, NULL);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_LOADING);
    assert_int_equal(ecs_loading_poll(world), 1);
    assert_int_equal(state_of(&fixture, entity), ECS_STATE_CREATED);
    fixture.config.loader = &fixture.manual->loader;
    ecs_loading_set(world, &fixture.config);
    (void)load_create(&fixture, fixture.prop, 9);
    ecs_world_validate(world);
    ecs_world_destroy(world);
    assert_int_equal(fixture.manual->cancelled, 3);
    free(fixture.manual);
    free(other);
}

static void poll_in_a_stage(const ecs_stage* stage, const ecs_rows* rows) {
    (void)rows;
    (void)ecs_loading_poll(stage->world);
}

static void polling_inside_of_a_stage_asserts(void** state) {
    (void)state;
    load fixture;
    load_open(&fixture, NULL);
    ecs_system_desc system = {.name = "poll", .stage = "act", .run = poll_in_a_stage};
    assert_int_equal(ecs_system_register(fixture.world, &system), ECS_OK);
    load_seal(&fixture);
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure(load_step(&fixture));
    base_assert_handler_set(NULL);
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
    assert_int_equal(ecs_handle_retain(fixture->world, ecs_entity_make(99, 1)), ECS_OK);
    ecs_entity living = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create(fixture->world, fixture->plain, NULL, 0, &living), ECS_OK);
}

static void a_restored_world_waits_for_the_same(void** state) {
    (void)state;
    load fixture, other;
    load_make(&fixture, NULL);
    load_make(&other, NULL);
    uint64_t empty = ecs_world_hash(fixture.world);
    fill_for_a_save(&fixture);
    assert_int_not_equal(ecs_world_hash(fixture.world), empty);
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    assert_int_equal(ecs_world_save(fixture.world, &bytes), ECS_OK);
    assert_int_equal(ecs_world_restore(other.world, bytes.data, bytes.size), ECS_OK);
    ecs_world_validate(other.world);
    assert_int_equal(ecs_world_hash(other.world), ecs_world_hash(fixture.world));
    assert_int_equal(ecs_handle_count(other.world, ECS_STATE_LOADING), 3);
    assert_int_equal(ecs_loading_poll(other.world), 0);
    assert_int_equal(other.manual->begun, 3);
    for (uint32_t id = 3; id >= 1; id--) {
        assert_true(load_finish(fixture.manual, id, true));
        assert_true(load_finish(other.manual, id, true));
    }
    assert_int_equal(ecs_loading_poll(fixture.world), 3);
    assert_int_equal(ecs_loading_poll(other.world), 3);
    load_step(&fixture);
    load_step(&other);
    assert_int_equal(ecs_world_hash(other.world), ecs_world_hash(fixture.world));
    // Also by copy, into a world that waits for other resources.
    (void)load_create(&other, fixture.prop, 50);
    (void)load_create(&fixture, fixture.prop, 60);
    assert_int_equal(ecs_world_copy(other.world, fixture.world), ECS_OK);
    assert_int_equal(ecs_world_hash(other.world), ecs_world_hash(fixture.world));
    assert_int_equal(other.manual->cancelled, 1);
    base_bytes_deinit(&bytes);
    load_close(&fixture);
    load_close(&other);
}

// A creation happens at once or some ticks later, by what is known: a run that begins with a save
// has to know the same, and no more.
static void a_save_of_resources_makes_the_same_known(void** state) {
    (void)state;
    load fixture, other;
    load_make(&fixture, NULL);
    load_make(&other, NULL);
    base_bytes bytes, before;
    base_bytes_init(&bytes, NULL);
    base_bytes_init(&before, NULL);
    ecs_resources_save(fixture.world, &before);
    fixture.manual->answer = ECS_LOAD_READY;
    (void)load_create(&fixture, fixture.prop, 1);
    load_step(&fixture);
    fixture.manual->answer = ECS_LOAD_BEGUN;
    (void)load_create(&fixture, fixture.prop, 2);
    load_step(&fixture);
    assert_int_equal(ecs_loading_poll(fixture.world), 0);
    assert_true(load_finish(fixture.manual, 2, false));
    (void)ecs_loading_poll(fixture.world);
    ecs_resources_save(fixture.world, &bytes);
    base_reader reader = base_reader_make(bytes.data, bytes.size);
    const ecs_resource one = load_resource(1), two = load_resource(2), three = load_resource(3);
    assert_int_equal(ecs_resources_restore(other.world, &reader), ECS_OK);
    assert_int_equal(base_reader_left(&reader), 0);
    assert_int_equal(ecs_resource_find(other.world, &one), ECS_RESOURCE_READY);
    assert_int_equal(ecs_resource_find(other.world, &two), ECS_RESOURCE_FAILED);
    assert_int_equal(ecs_resource_find(other.world, &three), ECS_RESOURCE_UNKNOWN);
    assert_int_equal(other.manual->begun, 1); // the module gets what is ready
    ecs_loading_validate(other.world);
    // Back to where nothing was known.
    reader = base_reader_make(before.data, before.size);
    assert_int_equal(ecs_resources_restore(other.world, &reader), ECS_OK);
    assert_int_equal(ecs_resource_find(other.world, &one), ECS_RESOURCE_UNKNOWN);
    assert_int_equal(ecs_resource_find(other.world, &two), ECS_RESOURCE_UNKNOWN);
    ecs_loading_validate(other.world);
    for (size_t size = 0; size < bytes.size; size++) {
        reader = base_reader_make(bytes.data, size);
        assert_int_equal(ecs_resources_restore(other.world, &reader), ECS_ERR_MALFORMED);
        ecs_loading_validate(other.world);
    }
    base_bytes_deinit(&before);
    base_bytes_deinit(&bytes);
    load_close(&fixture);
    load_close(&other);
}

static void damaged_saves_are_refused_and_leave_an_empty_world(void** state) {
    (void)state;
    load fixture, other;
    load_make(&fixture, NULL);
    load_make(&other, NULL);
    fill_for_a_save(&fixture);
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    assert_int_equal(ecs_world_save(fixture.world, &bytes), ECS_OK);
    for (size_t size = 0; size < bytes.size; size++) {
        assert_int_equal(ecs_world_restore(other.world, bytes.data, size), ECS_ERR_MALFORMED);
        assert_int_equal(ecs_loading_count(other.world), 0);
    }
    // The last bytes of a save describe the waiting entities. For all changes of them, the world
    // stays valid.
    for (size_t at = bytes.size - (bytes.size < 200 ? bytes.size : 200); at < bytes.size; at++) {
        for (uint32_t bit = 0; bit < 8; bit++) {
            bytes.data[at] ^= (uint8_t)(1u << bit);
            (void)(ecs_world_restore(other.world, bytes.data, bytes.size) == ECS_OK);
            ecs_loading_validate(other.world);
            bytes.data[at] ^= (uint8_t)(1u << bit);
        }
    }
    base_bytes_deinit(&bytes);
    load_close(&fixture);
    load_close(&other);
}

// Memory

static ecs_result run_script(load* fixture) {
    ecs_world* world = fixture->world;
    ecs_entity entity = ECS_ENTITY_NONE, second = ECS_ENTITY_NONE;
    ecs_loading_set(world, &fixture->config);
    ecs_result result = load_try_create(fixture, fixture->sign, 1, 3, &entity);
    if (result != ECS_OK) return result;
    assert_int_equal(ecs_state(world, entity), ECS_STATE_LOADING);
    result = load_try_create(fixture, fixture->prop, 2, 2, &second);
    if (result != ECS_OK) return result;
    load_mesh mesh = {30, 2};
    result = ecs_set(world, entity, fixture->mesh, &mesh);
    if (result != ECS_OK) return result;
    result = ecs_recreate(world, second, fixture->sign, NULL, 0);
    if (result != ECS_OK) return result;
    ecs_event event = {fixture->hit, entity, sizeof(int32_t), &(int32_t){1}};
    uint64_t refused = world->counters.events_refused;
    assert_true(ecs_loading_park(world, &event));
    if (world->counters.events_refused != refused) return ECS_ERR_MEMORY;
    result = ecs_create_many(world, fixture->tree, 20, NULL);
    if (result != ECS_OK) return result;
    for (uint32_t id = 0; id < 40; id++) {
        (void)load_finish(fixture->manual, id, true);
    }
    uint32_t waiting = ecs_loading_count(world);
    return ecs_loading_poll(world) == waiting ? ECS_OK : ECS_ERR_MEMORY;
}

static void every_failed_allocation_is_an_answer(void** state) {
    (void)state;
    bool is_done = false;
    for (uint64_t n = 1; !is_done; n++) {
        load_memory memory;
        load_memory_init(&memory);
        ecs_world_config config = ecs_world_config_default();
        config.allocator = &memory.allocator;
        load fixture;
        load_open(&fixture, &config);
        load_seal(&fixture);
        memory.fail_at = memory.calls + n;
        ecs_result result = run_script(&fixture);
        is_done = result == ECS_OK;
        assert_true(is_done || result == ECS_ERR_MEMORY);
        memory.fail_at = 0;
        ecs_loading_validate(fixture.world);
        // The waiting entities become alive when there is memory again.
        ecs_loading_set(fixture.world, NULL);
        uint32_t waiting = ecs_loading_count(fixture.world);
        assert_int_equal(ecs_loading_poll(fixture.world), waiting);
        load_close(&fixture);
        assert_int_equal(memory.bytes_out, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(without_a_loader_every_creation_is_at_once),
        TEST(an_entity_is_loading_until_its_resources_came),
        TEST(a_resource_is_asked_for_once_and_shared),
        TEST(nothing_named_is_nothing_needed),
        TEST(entities_are_created_in_the_order_of_asking),
        TEST(where_order_is_kept_nobody_overtakes),
        TEST(a_busy_loader_is_asked_again_and_a_ready_one_waits_for_nobody),
        TEST(a_failure_is_told_and_the_handle_goes_back),
        TEST(destroying_it_cancels_what_nobody_else_waits_for),
        TEST(sets_and_recreations_change_what_it_will_be),
        TEST(a_recreation_keeps_defaults_of_the_old_template),
        TEST(events_wait_with_it_up_to_the_limit),
        TEST(events_wait_with_it_among_those_to_the_living),
        TEST(a_second_singleton_is_refused_while_the_first_loads),
        TEST(many_at_once_wait_as_one_by_one),
        TEST(more_than_the_limit_of_waiting_entities_is_refused),
        TEST(limits_of_resources_hold),
        TEST(errors_of_a_creation_leave_nothing_behind),
        TEST(a_mirrors_entity_waits_at_its_handle),
        TEST(clearing_changing_and_ending_cancel),
        TEST(polling_inside_of_a_stage_asserts),
        TEST(a_restored_world_waits_for_the_same),
        TEST(a_save_of_resources_makes_the_same_known),
        TEST(damaged_saves_are_refused_and_leave_an_empty_world),
        TEST(every_failed_allocation_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
