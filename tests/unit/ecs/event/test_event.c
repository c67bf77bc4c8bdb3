// SPDX-License-Identifier: MIT
#include "sample_world.h"

static const char* hit_events[] = {"hit"};

static void on_first(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    assert_int_equal(rows->count, 0);
    store_mark(stage->context, "1");
}

static void on_second(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    store_mark(stage->context, "2");
}

STORE_OPEN_CASE(handlers_run_in_their_order) { // S5.12
    const char* events[] = {"ping", "hit", "ping"};
    system_add(at->world, .name = "second", .events = events, .event_count = 1,
               .on_event = on_second, .context = at);
    system_add(at->world, .name = "first", .events = events, .event_count = 3, .on_event = on_first,
               BEFORE("second"), .context = at);
    store_seal(at);
    assert_true(ecs_event_broadcast(at->world, at->ping, NULL));
    store_step(at);
    assert_string_equal(at->trace, "12");
}

static void on_chain(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    store* fixture = stage->context;
    const store_hit* hit = event->payload;
    char text[32];
    (void)snprintf(text, sizeof(text), "%d,", hit->amount);
    store_mark(fixture, text);
    if (hit->amount > 0) {
        store_hit next = {ECS_ENTITY_NONE, hit->amount - 1};
        assert_true(ecs_event_broadcast(stage->world, fixture->hit, &next));
    }
}

static void open_chain(store* fixture) {
    assert_ok(store_try_open(fixture));
    system_add(fixture->world, .name = "chain", .events = hit_events, .event_count = 1,
               .on_event = on_chain, .context = fixture);
    store_seal(fixture);
}

#define CHAIN_CASE(name, ...)                                                                      \
    CASE_WITH(store, at, (store_begin(at), __VA_ARGS__, open_chain(at)), store_close(at), name)

CHAIN_CASE(a_full_queue_refuses_and_counts, at->config.limits.events_queued_max = 3) { // S5.11
    for (uint32_t i = 1; i <= 4; i++)
        assert_int_equal(ecs_event_broadcast(at->world, at->ping, NULL), i <= 3);
    assert_int_equal(ecs_world_counters(at->world)->events_refused, 1);
    store_step(at);
    assert_true(ecs_event_broadcast(at->world, at->ping, NULL));
}

STORE_OPEN_CASE(registration_checks_names_sizes_and_fields) {
    ecs_event_type type = ECS_EVENT_NONE;
    ecs_event_desc desc = {"hit", 0, NULL, 0, false};
    assert_int_equal(ecs_event_register(at->world, &desc, &type), ECS_ERR_DUPLICATE);
    desc = (ecs_event_desc){"big", ECS_EVENT_BYTES_MAX + 1, store_hit_fields, 2, false};
    assert_int_equal(ecs_event_register(at->world, &desc, &type), ECS_ERR_FULL);
    desc.size = ECS_EVENT_BYTES_MAX;
    assert_ok(ecs_event_register(at->world, &desc, &type));
    desc = (ecs_event_desc){"opaque", 4, NULL, 0, false};
    assert_int_equal(ecs_event_register(at->world, &desc, &type), ECS_ERR_TYPE);
    desc = (ecs_event_desc){"short", 7, store_hit_fields, 2, false};
    assert_int_equal(ecs_event_register(at->world, &desc, &type), ECS_ERR_TYPE);
    ecs_field twice[] = {store_hit_fields[0], store_hit_fields[0]};
    desc = (ecs_event_desc){"twice", 8, twice, 2, false};
    assert_int_equal(ecs_event_register(at->world, &desc, &type), ECS_ERR_TYPE);
    uint32_t count = ecs_event_count(at->world);
    char name[16];
    for (uint32_t i = count + 1; i <= ECS_EVENT_TYPES_MAX + 1; i++) {
        (void)snprintf(name, sizeof(name), "e%u", i);
        desc = (ecs_event_desc){name, 0, NULL, 0, false};
        assert_int_equal(ecs_event_register(at->world, &desc, &type),
                         i <= ECS_EVENT_TYPES_MAX ? ECS_OK : ECS_ERR_FULL);
    }
    assert_int_equal(ecs_event_find(at->world, "e9"), 9);
    assert_int_equal(ecs_event_find(at->world, "absent"), ECS_EVENT_NONE);
    assert_string_equal(ecs_event_get(at->world, at->hit)->name, "hit");
    assert_null(ecs_event_get(at->world, ECS_EVENT_NONE));
    assert_null(ecs_event_get(at->world, 2 * ECS_EVENT_TYPES_MAX));
    store_seal(at);
    assert_int_equal(ecs_event_register(at->world, &desc, &type), ECS_ERR_SEALED);
}

STORE_OPEN_CASE(a_handler_of_an_unknown_event_is_reported) {
    system_add(at->world, .name = "lost", EVENTS("phantom"), .on_event = on_first);
    seal_refused(at->world, ECS_ERR_UNKNOWN, "phantom");
}

STORE_CASE(an_unregistered_type_asserts) {
    expect_assert_failure((void)!ecs_event_broadcast(at->world, ECS_EVENT_NONE, NULL));
    expect_assert_failure((void)!ecs_event_broadcast(at->world, 99, NULL));
    expect_assert_failure((void)!ecs_event_broadcast(at->world, at->hit, NULL));
}
