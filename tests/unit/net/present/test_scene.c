// SPDX-License-Identifier: MIT

#include "scene_world.h"

#include <math.h>

typedef struct fixture {
    net_module* module;
    stage_side server;
    scarce_memory memory;
    net_match* view;
    ecs_world* world;
    const stage_log* log;
    net_scene* scene;
} fixture;

static void open(fixture* f) {
    memset(f, 0, sizeof *f);
    scarce_init(&f->memory);
    f->module = stage_module();
    stage_side_open(&f->server, f->module);
    f->view = stage_match(f->module, NET_ROLE_MIRROR, &f->memory.allocator);
    f->world = net_match_world(f->view);
    f->log = net_match_context(f->view);
    f->scene = net_scene_create(&f->memory.allocator, f->view);
}

static void close_all(fixture* f) {
    base_owner_destroy(f->scene);
    assert_int_equal(ecs_handle_count(f->world, ECS_STATE_ALLOCATED), 0);
    net_match_destroy(f->view);
    stage_side_close(&f->server);
    net_module_close(f->module);
}

static void show(fixture* f, double tick) {
    assert_ok(net_scene_advance(f->scene, tick));
    assert_true(f->scene->shown == tick);
}

// Feed a packet with only this entity, at its place of that tick.
static void at(fixture* f, ecs_tick tick, ecs_entity entity, float x) {
    stage_move(&f->server, entity, x, 0);
    stage_feed(&f->server, f->scene, entity, tick);
    net_scene_packet(f->scene, tick);
}

static double shown(const fixture* f, ecs_entity entity) {
    const ecs_vec2* pos = ecs_find(f->world, entity, f->server.pos);
    assert_non_null(pos);
    return (double)pos->x;
}

#define assert_near(a, b) assert_true(fabs((double)(a) - (double)(b)) < 1e-4)

// At that moment it is shown there: about, or to the bit.
static void sees_near(fixture* f, double tick, ecs_entity entity, double x) {
    show(f, tick);
    assert_true(fabs(shown(f, entity) - x) < 1e-4);
}

static void sees(fixture* f, double tick, ecs_entity entity, double x) {
    show(f, tick);
    assert_true(shown(f, entity) == x);
}

static const net_scene_counters* counters(const fixture* f) {
    return &f->scene->counters;
}

// ---- between samples ----

#define SCENE_CASE(name) CASE_WITH(fixture, f, open(f), close_all(f), name)
/// A case with a mover at 0, 0.
#define MOVER_CASE(name)                                                                           \
    CASE_GIVEN(fixture, f, open(f), close_all(f), ecs_entity, mover,                               \
               stage_create(&f->server, f->server.mover, 0, 0), name)

// However many ticks were lost, an interpolated movement takes at most the longest delay of the
// view.
MOVER_CASE(a_line_is_not_longer_than_the_longest_delay) {
    ecs_tick longest = (ecs_tick)(NET_DELAY_MS_MAX / 1000.0 / (double)net_match_dt(f->view) + 0.5);
    at(f, 10, mover, 0);
    at(f, 100, mover, 60);
    sees_near(f, (double)(100 - longest), mover, 0);
    sees_near(f, 100 - (double)longest / 2, mover, 30);
    sees_near(f, 100, mover, 60);
}

// ---- beyond the newest ----

MOVER_CASE(beyond_the_newest_sample_movement_fades_to_a_stop) {
    for (ecs_tick t = 10; t <= 12; t++)
        at(f, t, mover, (float)(t - 10) * 8);
    show(f, 12);
    double before = shown(f, mover), speed = 8;
    for (double t = 12.25; t <= 18; t += 0.25) { // 6 ticks are 100 ms
        show(f, t);
        double now = shown(f, mover);
        assert_true(now >= before);
        assert_true(now - before <= speed * 0.25 + 1e-4);
        before = now;
    }
    assert_near(before, 16 + 8 * 3); // half of the way of 6 ticks at full speed
    sees_near(f, 40, mover, before);
    assert_int_equal(counters(f)->stalls, 1);
    assert_near(counters(f)->stalled_ms, 28 * 1000.0 / 60);
    // A newer tick without the entity: it had stopped where it was.
    net_scene_packet(f->scene, 40);
    sees(f, 40, mover, 16);
    assert_int_equal(counters(f)->stalls, 1);
}

// ---- incarnations and jumps ----

static const float odd[] = {NAN, INFINITY, -INFINITY};

// Exact numbers may be NaN or infinite.
CASE_ROWS(fixture, f, open(f), close_all(f), i, BASE_COUNT(odd),
          a_step_that_is_no_number_is_a_jump) {
    ecs_component_id drift = ecs_component_find(f->server.world, "drift");
    ecs_entity loose;
    assert_ok(
        ecs_create(f->server.world, ecs_template_find(f->server.world, "loose"), NULL, 0, &loose));
    const float xs[] = {8, odd[i], 16};
    for (uint32_t k = 0; k < 3; k++) {
        const ecs_vec2 value = {xs[k], 0};
        assert_ok(ecs_set(f->server.world, loose, drift, &value));
        stage_feed(&f->server, f->scene, loose, 10 + 2 * k);
        net_scene_packet(f->scene, 10 + 2 * k);
    }
    show(f, 11);
    const ecs_vec2* shown_drift = ecs_get(f->world, loose, drift);
    assert_true(shown_drift->x == 8);
    show(f, 13.5);
    assert_true(memcmp(&shown_drift->x, &odd[i], sizeof odd[i]) == 0);
    show(f, 15);
    assert_true(shown_drift->x == 16);
    assert_int_equal(counters(f)->teleports, 2);
}

// ---- time and events ----

SCENE_CASE(each_passed_tick_is_lived_once) {
    net_scene_packet(f->scene, 20);
    show(f, 17.5);
    show(f, 17.9);
    show(f, 19.2);
    show(f, 20);
    assert_int_equal(f->log->step_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(f->log->steps[i], 17 + i);
    // An earlier moment becomes the shown moment.
    assert_ok(net_scene_advance(f->scene, 18));
    assert_true(f->scene->shown == 20);
    assert_int_equal(f->log->step_count, 4);
}

SCENE_CASE(a_long_stall_is_not_lived_tick_by_tick) {
    show(f, 10);
    show(f, 10 + NET_CATCH_UP_TICKS_MAX);
    assert_int_equal(f->log->step_count, 1 + NET_CATCH_UP_TICKS_MAX);
    assert_int_equal(counters(f)->jumps, 0);
    show(f, 10 + NET_CATCH_UP_TICKS_MAX + 600);
    assert_int_equal(f->log->step_count, 1 + 2 * NET_CATCH_UP_TICKS_MAX);
    assert_int_equal(counters(f)->jumps, 1);
    assert_int_equal(f->log->steps[f->log->step_count - 1], 10 + NET_CATCH_UP_TICKS_MAX + 600);
}

MOVER_CASE(events_are_heard_at_their_tick) {
    stage_send(f->scene, 1, 12, mover, 5);
    stage_send(f->scene, 2, 14, ECS_ENTITY_NONE, 6);
    stage_send(f->scene, 0, 11, ECS_ENTITY_NONE, 7); // unreliable: it delays no other event
    at(f, 10, mover, 0);
    show(f, 10);
    assert_int_equal(f->log->reported_count, 0);
    show(f, 13.9);
    assert_int_equal(f->log->reported_count, 2);
    assert_int_equal(f->log->told[0].number, 7);
    assert_int_equal(f->log->told[0].tick, 11);
    assert_int_equal(f->log->told[1].number, 5);
    assert_int_equal(f->log->told[1].tick, 12);
    assert_int_equal(f->log->told[1].target, mover);
    show(f, 14);
    assert_int_equal(f->log->reported_count, 3);
    assert_int_equal(f->log->told[2].tick, 14);
    assert_int_equal(counters(f)->events, 3);
}

MOVER_CASE(events_of_a_far_future_hold_up_nobody) {
    at(f, 10, mover, 0);
    stage_send(f->scene, 1, 10 + NET_SCENE_TICKS + 1, ECS_ENTITY_NONE, 1);
    stage_send(f->scene, 2, UINT64_MAX, ECS_ENTITY_NONE, 2);
    stage_send(f->scene, 3, 11, ECS_ENTITY_NONE, 3);
    assert_int_equal(counters(f)->events_dropped, 2);
    show(f, 11);
    assert_int_equal(f->log->reported_count, 1);
    assert_int_equal(f->log->told[0].number, 3);
    // The event waits as far ahead as ticks are remembered.
    stage_send(f->scene, 4, 10 + NET_SCENE_TICKS, ECS_ENTITY_NONE, 4);
    assert_int_equal(counters(f)->events_dropped, 2);
}

MOVER_CASE(an_event_for_a_life_that_is_over_holds_up_nobody) {
    at(f, 10, mover, 0);
    show(f, 10);
    net_scene_gone(f->scene, mover, 12);
    stage_send(f->scene, 1, 12, mover, 1);
    stage_send(f->scene, 2, 12, ECS_ENTITY_NONE, 2);
    show(f, 12);
    assert_int_equal(f->log->reported_count, 1);
    assert_int_equal(f->log->told[0].number, 2);
    assert_int_equal(counters(f)->events_dropped, 1);
}

SCENE_CASE(an_event_waits_for_its_target_only_so_long) {
    stage_send(f->scene, 1, 10, ecs_entity_make(7, 1), 1);
    for (ecs_tick t = 10; t < 10 + NET_EVENT_WAIT_TICKS_MAX; t++)
        show(f, (double)t);
    assert_int_equal(counters(f)->events_dropped, 0);
    show(f, 10 + NET_EVENT_WAIT_TICKS_MAX);
    assert_int_equal(counters(f)->events_dropped, 1);
}

SCENE_CASE(what_the_module_refuses_and_what_has_no_room_is_dropped_and_counted) {
    stage_send(f->scene, 1, 10, ECS_ENTITY_NONE, 999);
    show(f, 10);
    assert_int_equal(counters(f)->events_dropped, 1);
    for (uint32_t i = 0; i < NET_SCENE_EVENTS_MAX; i++)
        stage_send(f->scene, 2 + i, 12, ECS_ENTITY_NONE, i);
    assert_int_equal(counters(f)->events_dropped, 1);
    stage_send(f->scene, 2 + NET_SCENE_EVENTS_MAX, 12, ECS_ENTITY_NONE, 1);
    assert_int_equal(counters(f)->events_dropped, 2);
    show(f, 12);
    assert_int_equal(f->log->reported_count, NET_SCENE_EVENTS_MAX);
}

SCENE_CASE(handles_that_no_row_can_have_are_ignored) {
    const net_row_template* entry = net_rows_find(f->server.rows, f->server.mover);
    net_scene_row(f->scene, ECS_ENTITY_NONE, entry, 1, entry->defaults);
    net_scene_row(f->scene, ecs_entity_make(5, 0), entry, 1, entry->defaults);
    net_scene_row(f->scene, ecs_entity_make(2001, 1), entry, 1, entry->defaults);
    net_scene_gone(f->scene, ecs_entity_make(2001, 1), 1);
    net_scene_row(f->scene, ecs_entity_make(2000, 1), entry, 1, entry->defaults);
    assert_int_equal(counters(f)->samples, 1);
    show(f, 1);
    assert_int_equal(ecs_world_entity_count(f->world), 1);
}

MOVER_CASE(ticks_that_no_match_reaches_are_ignored) {
    at(f, 10, mover, 8);
    at(f, UINT64_MAX, mover, 16);
    at(f, NET_SCENE_TICK_MAX + 1, mover, 16);
    net_scene_gone(f->scene, mover, UINT64_MAX);
    assert_int_equal(f->scene->newest, 10);
    assert_int_equal(counters(f)->samples, 1);
    assert_ok(net_scene_advance(f->scene, 1e300));
    assert_true(f->scene->shown == 0);
    at(f, NET_SCENE_TICK_MAX, mover, 24);
    sees(f, 11, mover, 8);
    show(f, (double)NET_SCENE_TICK_MAX - 0.5);
    sees(f, (double)NET_SCENE_TICK_MAX, mover, 24);
}

MOVER_CASE(what_was_written_over_is_put_back_when_touched) {
    at(f, 10, mover, 8);
    net_scene_packet(f->scene, 11);
    show(f, 11);
    ((ecs_vec2*)ecs_get_mut(f->world, mover, f->server.pos))->x = 77;
    net_scene_touch(f->scene, mover);
    net_scene_touch(f->scene, ecs_entity_make(1999, 3)); // there is no such entity
    sees(f, 11.5, mover, 8);
}

MOVER_CASE(more_samples_than_are_kept_lose_the_oldest) {
    at(f, 1, mover, 0);
    show(f, 1);
    for (ecs_tick t = 2; t <= NET_SCENE_SAMPLES_MAX + 50; t++)
        at(f, t, mover, (float)t);
    at(f, 3, mover, -3); // older than all: it counts no more than the samples that it pushed out
    show(f, 5);
    assert_true(ecs_is_alive(f->world, mover));
    for (ecs_tick t = 60; t <= NET_SCENE_SAMPLES_MAX + 50; t++) {
        sees(f, (double)t, mover, (double)t);
    }
}

SCENE_CASE(validation_finds_a_slot_without_its_row) {
    ecs_entity entity = stage_create(&f->server, f->server.mover, 0, 0);
    at(f, 10, entity, 1);
    show(f, 10);
    net_scene_validate(f->scene);
    net_scene_slot* slot = &f->scene->slots[ecs_entity_index(entity)];
    uint32_t words = slot->applied_words;
    slot->applied_words = 0;
    expect_assert_failure(net_scene_validate(f->scene));
    slot->applied_words = words;
}
