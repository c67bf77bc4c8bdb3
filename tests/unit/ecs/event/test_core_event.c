// SPDX-License-Identifier: MIT
// S5.18: the core events about structure and changes: which system gets them, when, and in which
// order.
#include "hear_world.h"

static const ecs_term with_pos[] = {{"pos", "p2", ECS_READ}};

static void breed(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    const ear* own = stage->context;
    expect_assert_failure((void)!ecs_destroy(stage->world, event->target));
    (void)ecs_command_create(stage->world, own->hearing->store.ball, NULL, 0);
}

HEAR_WITH_CASE(a_birth_that_breeds_ends_at_the_limit_of_the_queue,
               all->store.config.limits.commands_queued_max = 40) { // S5.18
    system_add(all->store.world, .name = "ball", EVENTS("on_appear"), .on_event = breed,
               TERMS({"radius", "r", ECS_READ}), .context = &all->own);
    store_seal(&all->store);
    assert_int_not_equal(ecs_command_create(all->store.world, all->store.ball, NULL, 0), 0);
    ecs_command_flush(all->store.world);
    assert_int_equal(ecs_world_entity_count(all->store.world), 40);
    assert_int_equal(ecs_world_counters(all->store.world)->commands_refused, 1);
}

// Changes

static void hear_changed(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    const ear* own = stage->context;
    const ecs_component_changed* changed = event->payload;
    assert_int_equal(event->size, sizeof *changed);
    assert_true(rows->count == 1 && rows->entities[0] == event->target);
    hear_mark(own->hearing, own->name, '~', changed->component);
}

static void write_pos(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec2* pos = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        if (stage->tick <= 2) pos[i].x += 1;
}

static void track(hearing* all, const ear* own, const char* const* names, uint32_t count,
                  const ecs_term* terms, uint32_t term_count) {
    static const char* const changed[] = {"ComponentChanged"};
    system_add(all->store.world, .name = own->name, .events = changed,
               .event_count = count > 0 ? 0 : 1, .track = names, .track_count = count,
               .on_event = hear_changed, .terms = terms, .term_count = term_count,
               .context = (void*)own);
}

HEAR_CASE(a_change_is_told_in_the_next_step_to_those_who_track_it) { // S5.18
    const ear pos = {all, "pos"}, title = {all, "title"}, terms = {all, "terms"};
    static const char* const pos_name[] = {"pos"};
    static const char* const title_name[] = {"title"};
    system_add(all->store.world, .name = "move", .stage = "act", .run = write_pos,
               TERMS({"pos", "p2", ECS_WRITE}));
    track(all, &pos, pos_name, 1, with_pos, 1);
    track(all, &title, title_name, 1, with_pos, 1); // it has no title, but it matches with_pos
    track(all, &terms, NULL, 0, with_pos, 1);
    store_seal(&all->store);
    ecs_world* world = all->store.world;
    ecs_entity mover = store_create(&all->store, all->store.mover);
    ecs_entity sign = store_create(&all->store, all->store.sign);
    store_create(&all->store, all->store.ball); // its pos is not tracked
    ecs_string text = {.data = "new", .size = 3};
    assert_ok(ecs_set(world, sign, all->store.title, &text));
    hear_step(all);
    hear_expect(all, ""); // the next step finds the change at its end
    uint64_t hash = ecs_world_hash(world);
    base_bytes bytes = world_saved(world);
    assert_ok(ecs_world_restore(world, bytes.data, bytes.size));
    base_bytes_deinit(&bytes);
    assert_true(ecs_world_hash(world) == hash);
    char expected[128];
    (void)snprintf(expected, sizeof expected, "pos~%u terms~%u title~%u ", all->store.pos,
                   all->store.pos, all->store.title);
    hear_step(all);
    hear_expect(all, expected);
    assert_ok(ecs_destroy(world, mover));
    uint64_t stale = ecs_world_counters(world)->stale_handles;
    hear_step(all); // no system gets the change of tick 2
    hear_expect(all, "");
    assert_int_equal(ecs_world_counters(world)->stale_handles, stale + 1);
}

CASE(changes_beyond_the_queue_are_refused_and_counted) { // S5.18 S5.11
    for (uint32_t count = 7; count <= 9; count++) {
        hearing all;
        hear_begin(&all);
        const ear pos = {&all, "p"};
        static const char* const pos_name[] = {"pos"};
        all.store.config.limits.events_queued_max = 8;
        assert_ok(store_try_open(&all.store));
        system_add(all.store.world, .name = "move", .stage = "act", .run = write_pos,
                   TERMS({"pos", "p2", ECS_WRITE}));
        track(&all, &pos, pos_name, 1, with_pos, 1);
        store_seal(&all.store);
        assert_ok(ecs_create_many(all.store.world, all.store.mover, count, NULL));
        hear_step(&all);
        uint64_t refused = ecs_world_counters(all.store.world)->events_refused;
        assert_int_equal(refused, count > 8 ? count - 8 : 0);
        store_close(&all.store);
    }
}

CASE(tracking_what_nobody_has_is_reported) { // S5.18
    static const struct {
        const char *name, *words;
    } rows[] = {{"ghost", "'watcher'"}, {"ghost", "ghost"}, {NULL, "names no component"}};
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        hearing all;
        hear_open(&all);
        const ear own = {&all, "watcher"};
        track(&all, &own, &rows[i].name, rows[i].name != NULL, NULL, 0);
        seal_refused(all.store.world, ECS_ERR_UNKNOWN, rows[i].words);
        store_close(&all.store);
    }
}

// Broadcasts

HEAR_CASE(the_order_is_told_once_after_seal) { // S5.18 S5.12
    const ear any = {all, "any"};
    static const char* const events[] = {"EsOrderSet"};
    hear(all, &any, events, 1, NULL, 0);
    store_seal(&all->store);
    hear_expect(all, "");
    hear_step(all);
    hear_expect(all, "anyo0 ");
    hear_step(all);
    hear_expect(all, "");
}

HEAR_CASE(clearing_a_world_is_told_before_during_and_after) { // S5.18
    const ear any = {all, "any"}, pos = {all, "pos"};
    static const char* const events[] = {"BeforeClear", "AfterClear"};
    static const char* const destroyed[] = {"EntityDestroyed"};
    hear(all, &any, destroyed, 1, NULL, 0);
    hear(all, &pos, events, 2, with_pos, 1);
    store_seal(&all->store);
    ecs_world* world = all->store.world;
    ecs_entity ball = store_create(&all->store, all->store.ball);
    ecs_entity pad = store_create(&all->store, all->store.pad);
    assert_int_not_equal(ecs_command_create(world, all->store.ball, NULL, 0), 0);
    ecs_changes_clear(world);
    ecs_world_clear(world);
    hear_expect(all, "posb1 posb1 any-1 any-65536 ");
    assert_int_equal(ecs_world_entity_count(world), 0);
    assert_int_equal(world->commands->view.count, 0);
    assert_int_equal(ecs_changes_get(world).destroyed_count, 2);
    assert_int_not_equal(store_create(&all->store, all->store.ball),
                         ball); // old handles stay stale
    assert_false(ecs_is_alive(world, pad));
    assert_int_equal(ecs_destroy(world, pad), ECS_ERR_STALE); // S4.8
    ecs_world_validate(world);
}

STORE_OPEN_CASE(core_events_are_not_for_others_to_send_or_name) { // S5.18
    ecs_event_desc desc = {.name = "EntityCreated"};
    assert_int_equal(ecs_event_register(at->world, &desc, NULL), ECS_ERR_DUPLICATE);
    assert_int_equal(ecs_event_count(at->world), 2);
    ecs_event_type type = ecs_event_find(at->world, "EntityCreated");
    assert_int_not_equal(type, ECS_EVENT_NONE);
    assert_string_equal(ecs_event_get(at->world, type)->name, "EntityCreated");
    store_seal(at);
    ecs_entity entity = store_create(at, at->ball);
    expect_assert_failure((void)!ecs_event_send(at->world, entity, type, NULL));
    expect_assert_failure((void)!ecs_event_broadcast(at->world, type, NULL));
}

HEAR_WITH_CASE(a_mirror_is_told_as_well, all->store.config.is_mirror = true) { // S5.18
    hear(all, &all->own, hear_all_events, 5, with_pos, 1);
    store_seal(&all->store);
    ecs_entity entity = ecs_entity_make(7, 3);
    assert_ok(ecs_create_at(all->store.world, entity, all->store.pad, NULL, 0));
    assert_ok(ecs_recreate(all->store.world, entity, all->store.fast, NULL, 0));
    hear_expect(all, "+7 >7 <7 ");
}
