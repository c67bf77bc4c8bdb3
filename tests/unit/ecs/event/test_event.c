// SPDX-License-Identifier: MIT
#include "system/live_world.h"

static void on_hit(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    live* fixture = stage->context;
    const live_hit* hit = event->payload;
    char text[64];
    (void)snprintf(text, sizeof(text), "[%d@%u x%u]", hit->amount, ecs_entity_index(event->target),
                   rows->count);
    live_mark(fixture, text);
    if (rows->count > 0 && event->target != ECS_ENTITY_NONE) {
        int32_t* hp = rows->columns[0];
        hp[0] -= hit->amount;
        assert_int_equal(rows->entities[0], event->target);
    }
}

static const char* hit_events[] = {"hit"};
static const ecs_term hp_terms[] = {{"hp", "i", ECS_WRITE}};

static void open_with_handler(live* fixture, const ecs_world_config* config) {
    live_open(fixture, config);
    ecs_system_desc desc = {.name = "hit_handler",
                            .events = hit_events,
                            .event_count = 1,
                            .on_event = on_hit,
                            .terms = hp_terms,
                            .term_count = 1,
                            .context = fixture};
    assert_int_equal(ecs_system_register(fixture->world, &desc), ECS_OK);
}

static void send_hit(live* fixture, ecs_entity target, int32_t amount) {
    live_hit hit = {ECS_ENTITY_NONE, amount};
    assert_true(ecs_event_send(fixture->world, target, fixture->hit, &hit));
}

static void a_unicast_event_reaches_the_row_of_its_target(void** state) { // S5.5
    (void)state;
    live fixture;
    open_with_handler(&fixture, NULL);
    live_seal(&fixture);
    (void)live_create(&fixture, fixture.thing);
    ecs_entity second = live_create(&fixture, fixture.thing);
    send_hit(&fixture, second, 30);
    assert_string_equal(fixture.trace, ""); // the event is deferred
    live_step(&fixture);
    assert_string_equal(fixture.trace, "[30@2 x1]");
    assert_int_equal(*(const int32_t*)ecs_get(fixture.world, second, fixture.hp), 70);
    live_close(&fixture);
}

static void a_target_without_the_components_is_skipped(void** state) { // S5.17
    (void)state;
    live fixture;
    open_with_handler(&fixture, NULL);
    live_seal(&fixture);
    send_hit(&fixture, live_create(&fixture, fixture.named), 1);
    live_step(&fixture);
    assert_string_equal(fixture.trace, "");
    assert_int_equal(ecs_world_counters(fixture.world)->events_delivered, 1);
    live_close(&fixture);
}

static void a_dead_target_drops_the_event_and_is_counted(void** state) {
    (void)state;
    live fixture;
    open_with_handler(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    send_hit(&fixture, entity, 1);
    send_hit(&fixture, ECS_ENTITY_NONE, 1);
    assert_int_equal(ecs_destroy(fixture.world, entity), ECS_OK);
    live_step(&fixture);
    assert_string_equal(fixture.trace, "");
    assert_int_equal(ecs_world_counters(fixture.world)->stale_handles, 2);
    assert_int_equal(ecs_world_counters(fixture.world)->events_delivered, 0);
    live_close(&fixture);
}

static void a_broadcast_walks_all_rows_in_one_call_per_chunk(void** state) { // S5.5
    (void)state;
    live fixture;
    open_with_handler(&fixture, NULL);
    live_seal(&fixture);
    for (uint32_t i = 0; i < 3; i++) {
        (void)live_create(&fixture, fixture.thing);
    }
    (void)live_create(&fixture, fixture.solid);
    live_hit hit = {ECS_ENTITY_NONE, 4};
    assert_true(ecs_event_broadcast(fixture.world, fixture.hit, &hit));
    live_step(&fixture);
    assert_string_equal(fixture.trace, "[4@0 x3][4@0 x1]");
    live_close(&fixture);
}

static void the_order_of_posting_is_the_order_of_delivery(void** state) { // S5.11
    (void)state;
    live fixture;
    open_with_handler(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity a = live_create(&fixture, fixture.thing);
    ecs_entity b = live_create(&fixture, fixture.thing);
    send_hit(&fixture, b, 1);
    send_hit(&fixture, a, 2);
    send_hit(&fixture, b, 3);
    live_step(&fixture);
    assert_string_equal(fixture.trace, "[1@2 x1][2@1 x1][3@2 x1]");
    live_close(&fixture);
}

static void on_first(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)event;
    assert_int_equal(rows->count, 0);
    live_mark(stage->context, "1");
}

static void on_second(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)event;
    (void)rows;
    live_mark(stage->context, "2");
}

static void handlers_run_in_their_order(void** state) { // S5.12
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    const char* events[] = {"ping", "hit", "ping"};
    const char* before[] = {"second"};
    ecs_system_desc second = {.name = "second",
                              .events = events,
                              .event_count = 1,
                              .on_event = on_second,
                              .context = &fixture};
    ecs_system_desc first = {.name = "first",
                             .events = events,
                             .event_count = 3,
                             .on_event = on_first,
                             .before = before,
                             .before_count = 1,
                             .context = &fixture};
    assert_int_equal(ecs_system_register(fixture.world, &second), ECS_OK);
    assert_int_equal(ecs_system_register(fixture.world, &first), ECS_OK);
    live_seal(&fixture);
    assert_true(ecs_event_broadcast(fixture.world, fixture.ping, NULL));
    live_step(&fixture);
    assert_string_equal(fixture.trace, "12");
    live_close(&fixture);
}

static void on_chain(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)rows;
    live* fixture = stage->context;
    const live_hit* hit = event->payload;
    char text[32];
    (void)snprintf(text, sizeof(text), "%d,", hit->amount);
    live_mark(fixture, text);
    if (hit->amount > 0) {
        live_hit next = {ECS_ENTITY_NONE, hit->amount - 1};
        assert_true(ecs_event_broadcast(stage->world, fixture->hit, &next));
    }
}

static void open_chain(live* fixture, const ecs_world_config* config) {
    live_open(fixture, config);
    ecs_system_desc desc = {.name = "chain",
                            .events = hit_events,
                            .event_count = 1,
                            .on_event = on_chain,
                            .context = fixture};
    assert_int_equal(ecs_system_register(fixture->world, &desc), ECS_OK);
    live_seal(fixture);
}

static void events_posted_by_handlers_come_in_the_same_flush(void** state) { // S5.11
    (void)state;
    live fixture;
    open_chain(&fixture, NULL);
    live_hit hit = {ECS_ENTITY_NONE, 3};
    assert_true(ecs_event_broadcast(fixture.world, fixture.hit, &hit));
    live_step(&fixture);
    assert_string_equal(fixture.trace, "3,2,1,0,");
    assert_int_equal(ecs_world_counters(fixture.world)->events_deferred, 0);
    live_close(&fixture);
}

static void the_budget_defers_the_rest_to_the_next_flush(void** state) { // S5.11
    (void)state;
    ecs_world_config config = ecs_world_config_default();
    config.limits.events_per_flush_max = 2;
    live fixture;
    open_chain(&fixture, &config);
    live_hit hit = {ECS_ENTITY_NONE, 4};
    assert_true(ecs_event_broadcast(fixture.world, fixture.hit, &hit));
    live_step(&fixture);
    assert_string_equal(fixture.trace, "4,3,");
    assert_int_equal(ecs_world_counters(fixture.world)->events_deferred, 1);
    live_step(&fixture);
    assert_string_equal(fixture.trace, "4,3,2,1,");
    live_step(&fixture);
    assert_string_equal(fixture.trace, "4,3,2,1,0,");
    assert_int_equal(ecs_world_counters(fixture.world)->events_deferred, 2);
    live_close(&fixture);
}

static void a_full_queue_refuses_and_counts(void** state) { // S5.11
    (void)state;
    ecs_world_config config = ecs_world_config_default();
    config.limits.events_queued_max = 3;
    live fixture;
    open_chain(&fixture, &config);
    for (uint32_t i = 1; i <= 4; i++) {
        assert_int_equal(ecs_event_broadcast(fixture.world, fixture.ping, NULL), i <= 3);
    }
    assert_int_equal(ecs_world_counters(fixture.world)->events_refused, 1);
    live_step(&fixture);
    assert_true(ecs_event_broadcast(fixture.world, fixture.ping, NULL));
    live_close(&fixture);
}

static void run_spawn(const ecs_stage* stage, const ecs_rows* rows) {
    (void)rows;
    live* fixture = stage->context;
    ecs_entity placeholder = ecs_command_create(stage->world, fixture->thing, NULL, 0);
    live_hit hit = {placeholder, 9};
    assert_true(ecs_event_send(stage->world, placeholder, fixture->hit, &hit));
}

static void a_placeholder_becomes_the_created_entity(void** state) {
    (void)state;
    live fixture;
    open_with_handler(&fixture, NULL);
    ecs_system_desc spawn = {
        .name = "spawn", .stage = "act", .run = run_spawn, .context = &fixture};
    assert_int_equal(ecs_system_register(fixture.world, &spawn), ECS_OK);
    live_seal(&fixture);
    live_step(&fixture);
    assert_string_equal(fixture.trace, "[9@1 x1]");
    ecs_changes changes = ecs_changes_get(fixture.world);
    assert_int_equal(changes.created_count, 1);
    assert_int_equal(changes.event_count, 1);
    const live_hit* hit = changes.events[0].payload;
    assert_int_equal(changes.events[0].target, changes.created[0]);
    assert_int_equal(hit->from, changes.created[0]);
    assert_int_equal(*(const int32_t*)ecs_get(fixture.world, hit->from, fixture.hp), 91);
    live_close(&fixture);
}

static void exported_events_are_listed_until_cleared(void** state) {
    (void)state;
    live fixture;
    open_with_handler(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    for (int32_t i = 0; i < 1000; i++) {
        send_hit(&fixture, entity, i);
        assert_true(ecs_event_broadcast(fixture.world, fixture.ping, NULL));
    }
    fixture.trace[0] = '\0';
    live_step(&fixture);
    ecs_changes changes = ecs_changes_get(fixture.world);
    assert_int_equal(changes.event_count, 1000);
    for (int32_t i = 0; i < 1000; i++) {
        const live_hit* hit = changes.events[i].payload;
        assert_int_equal(hit->amount, i);
        assert_int_equal(changes.events[i].type, fixture.hit);
        assert_int_equal(changes.events[i].size, sizeof(live_hit));
    }
    ecs_world_validate(fixture.world);
    ecs_changes_clear(fixture.world);
    assert_int_equal(ecs_changes_get(fixture.world).event_count, 0);
    live_close(&fixture);
}

static void registration_checks_names_sizes_and_fields(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    ecs_event_type type = ECS_EVENT_NONE;
    ecs_event_desc desc = {"hit", 0, NULL, 0, false};
    assert_int_equal(ecs_event_register(fixture.world, &desc, &type), ECS_ERR_DUPLICATE);
    desc = (ecs_event_desc){"big", ECS_EVENT_BYTES_MAX + 1, live_hit_fields, 2, false};
    assert_int_equal(ecs_event_register(fixture.world, &desc, &type), ECS_ERR_FULL);
    desc.size = ECS_EVENT_BYTES_MAX;
    assert_int_equal(ecs_event_register(fixture.world, &desc, &type), ECS_OK);
    desc = (ecs_event_desc){"opaque", 4, NULL, 0, false};
    assert_int_equal(ecs_event_register(fixture.world, &desc, &type), ECS_ERR_TYPE);
    desc = (ecs_event_desc){"short", 7, live_hit_fields, 2, false};
    assert_int_equal(ecs_event_register(fixture.world, &desc, &type), ECS_ERR_TYPE);
    ecs_field twice[] = {live_hit_fields[0], live_hit_fields[0]};
    desc = (ecs_event_desc){"twice", 8, twice, 2, false};
    assert_int_equal(ecs_event_register(fixture.world, &desc, &type), ECS_ERR_TYPE);
    uint32_t count = ecs_event_count(fixture.world);
    char name[16];
    for (uint32_t i = count + 1; i <= ECS_EVENT_TYPES_MAX + 1; i++) {
        (void)snprintf(name, sizeof(name), "e%u", i);
        desc = (ecs_event_desc){name, 0, NULL, 0, false};
        assert_int_equal(ecs_event_register(fixture.world, &desc, &type),
                         i <= ECS_EVENT_TYPES_MAX ? ECS_OK : ECS_ERR_FULL);
    }
    assert_int_equal(ecs_event_find(fixture.world, "e9"), 9);
    assert_int_equal(ecs_event_find(fixture.world, "absent"), ECS_EVENT_NONE);
    assert_string_equal(ecs_event_get(fixture.world, fixture.hit)->name, "hit");
    assert_null(ecs_event_get(fixture.world, ECS_EVENT_NONE));
    assert_null(ecs_event_get(fixture.world, 2 * ECS_EVENT_TYPES_MAX));
    live_seal(&fixture);
    assert_int_equal(ecs_event_register(fixture.world, &desc, &type), ECS_ERR_SEALED);
    live_close(&fixture);
}

static void a_handler_of_an_unknown_event_is_reported(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    const char* events[] = {"phantom"};
    ecs_system_desc desc = {
        .name = "lost", .events = events, .event_count = 1, .on_event = on_first};
    assert_int_equal(ecs_system_register(fixture.world, &desc), ECS_OK);
    base_report_first report = {0};
    base_reporter reporter = base_reporter_first(&report);
    assert_int_equal(ecs_world_seal(fixture.world, &reporter), ECS_ERR_UNKNOWN);
    assert_non_null(strstr(report.text, "phantom"));
    live_close(&fixture);
}

static void an_unregistered_type_asserts(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure((void)!ecs_event_broadcast(fixture.world, ECS_EVENT_NONE, NULL));
    expect_assert_failure((void)!ecs_event_broadcast(fixture.world, 99, NULL));
    expect_assert_failure((void)!ecs_event_broadcast(fixture.world, fixture.hit, NULL));
    base_assert_handler_set(NULL);
    live_close(&fixture);
}

// Check that every column is the cell of the target, or NULL where the target has none.
static void check_cells(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    live* fixture = stage->context;
    const ecs_component_id components[] = {fixture->hp, fixture->team, fixture->vel};
    assert_int_equal(rows->count, 1);
    assert_int_equal(rows->entities[0], event->target);
    for (uint32_t i = 0; i < BASE_COUNT(components); i++)
        assert_ptr_equal(rows->columns[i], ecs_find(fixture->world, event->target, components[i]));
    live_mark(fixture, "h");
}

static void count_links(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    const live_hit* hit = event->payload;
    ecs_entity* link = rows->columns[0];
    assert_int_equal(rows->entities[0], event->target);
    *link += (ecs_entity)hit->amount;
    live_mark(stage->context, "l");
}

static void handlers_get_the_cells_of_each_target_in_turn(void** state) {
    (void)state;
    static const ecs_term cells[] = {
        {"hp", "i", ECS_READ}, {"team", NULL, ECS_OPTIONAL_READ}, {"vel", NULL, ECS_OPTIONAL_READ}};
    static const ecs_term links[] = {{"link", "eid", ECS_WRITE}};
    live fixture;
    live_open(&fixture, NULL);
    ecs_system_desc descs[] = {{.name = "cells",
                                .events = hit_events,
                                .event_count = 1,
                                .on_event = check_cells,
                                .terms = cells,
                                .term_count = 3,
                                .context = &fixture},
                               {.name = "links",
                                .events = hit_events,
                                .event_count = 1,
                                .on_event = count_links,
                                .terms = links,
                                .term_count = 1,
                                .context = &fixture}};
    assert_int_equal(ecs_system_register(fixture.world, &descs[0]), ECS_OK);
    assert_int_equal(ecs_system_register(fixture.world, &descs[1]), ECS_OK);
    live_seal(&fixture);
    ecs_entity things[3], solids[3], markers[3];
    for (uint32_t i = 0; i < 3; i++) {
        things[i] = live_create(&fixture, fixture.thing);
        solids[i] = live_create(&fixture, fixture.solid);
        markers[i] = live_create(&fixture, fixture.marker);
    }
    const ecs_entity targets[] = {things[0], things[2],  things[1],  solids[1],
                                  solids[0], things[1],  markers[2], markers[0],
                                  solids[2], markers[2], markers[2], things[0]};
    for (uint32_t i = 0; i < BASE_COUNT(targets); i++)
        send_hit(&fixture, targets[i], 1);
    live_step(&fixture);
    assert_string_equal(fixture.trace, "hhhhhhllhllh");
    const ecs_entity expected[] = {1, 0, 3};
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(*(const ecs_entity*)ecs_get(fixture.world, markers[i], fixture.link),
                         expected[i]);
    live_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_unicast_event_reaches_the_row_of_its_target),
        TEST(a_target_without_the_components_is_skipped),
        TEST(a_dead_target_drops_the_event_and_is_counted),
        TEST(a_broadcast_walks_all_rows_in_one_call_per_chunk),
        TEST(the_order_of_posting_is_the_order_of_delivery),
        TEST(handlers_run_in_their_order),
        TEST(events_posted_by_handlers_come_in_the_same_flush),
        TEST(handlers_get_the_cells_of_each_target_in_turn),
        TEST(the_budget_defers_the_rest_to_the_next_flush),
        TEST(a_full_queue_refuses_and_counts),
        TEST(a_placeholder_becomes_the_created_entity),
        TEST(exported_events_are_listed_until_cleared),
        TEST(registration_checks_names_sizes_and_fields),
        TEST(a_handler_of_an_unknown_event_is_reported),
        TEST(an_unregistered_type_asserts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
