// SPDX-License-Identifier: MIT
#include "sample_world.h"

static void run_move(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec2* pos = rows->columns[0];
    const ecs_vec2* vel = rows->columns[1];
    for (uint32_t i = 0; i < rows->count; i++) {
        pos[i].x += vel[i].x * stage->dt;
        pos[i].y += vel[i].y * stage->dt;
    }
}

static const ecs_term move_terms[] = {{"pos", "p2", ECS_WRITE}, {"vel", "p2", ECS_READ}};

static void run_count(const ecs_stage* stage, const ecs_rows* rows) {
    store* fixture = stage->context;
    char text[64];
    (void)snprintf(text, sizeof(text), "[%u%s]", rows->count, stage->user != NULL ? "u" : "");
    store_mark(fixture, text);
}

STORE_OPEN_CASE(a_stage_runs_its_own_systems_only_and_does_not_track) {
    system_add(at->world, .name = "draw", .stage = "render", .run = run_count, .context = at);
    system_add(at->world, .name = "move", .stage = "late", .run = run_move, .terms = move_terms,
               .term_count = 2);
    store_seal(at);
    (void)store_create(at, at->thing);
    ecs_changes_clear(at->world);
    assert_int_equal(ecs_stage_find(at->world, "act"), 0);
    assert_int_equal(ecs_stage_find(at->world, "sound"), UINT32_MAX);
    uint64_t hash = ecs_world_state_hash(at->world);
    ecs_step step = {.tick = 9, .dt = 1, .user = at};
    ecs_world_run_stage(at->world, ecs_stage_find(at->world, "render"), &step);
    assert_string_equal(at->trace, "[0u]");
    ecs_world_run_stage(at->world, ecs_stage_find(at->world, "late"), &step);
    assert_int_equal(ecs_changes_get(at->world).changed_count, 0);
    assert_true(ecs_world_state_hash(at->world) == hash);
    store_step(at);
    assert_int_equal(ecs_changes_get(at->world).changed_count, 1);
}

STORE_CASE(registration_after_seal_is_refused) {
    assert_int_equal(system_try(at->world, .name = "late", .stage = "act", .run = run_count),
                     ECS_ERR_SEALED);
}

STORE_OPEN_CASE(stages_and_systems_are_limited) {
    char name[32];
    char stage[32];
    for (uint32_t i = 1; i <= ECS_STAGES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "s%u", i);
        (void)snprintf(stage, sizeof(stage), "stage%u", i);
        ecs_system_desc desc = {.name = name, .stage = stage, .run = run_count};
        assert_int_equal(ecs_system_register(at->world, &desc),
                         i < ECS_STAGES_MAX ? ECS_OK : ECS_ERR_FULL);
    }
    for (uint32_t i = ECS_STAGES_MAX; i <= ECS_SYSTEMS_MAX + 1; i++) {
        (void)snprintf(name, sizeof(name), "n%u", i);
        ecs_system_desc desc = {.name = name, .stage = "act", .run = run_count};
        assert_int_equal(ecs_system_register(at->world, &desc),
                         i <= ECS_SYSTEMS_MAX ? ECS_OK : ECS_ERR_FULL);
    }
    uint32_t max = 0;
    assert_string_equal(ecs_world_full(at->world, &max), "ECS_SYSTEMS_MAX");
    assert_int_equal(max, ECS_SYSTEMS_MAX);
    char longest[ECS_NAME_BYTES_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    longest[ECS_NAME_BYTES_MAX] = '\0';
    ecs_system_desc desc = {.name = longest, .stage = "act", .run = run_count};
    assert_int_equal(ecs_system_register(at->world, &desc), ECS_ERR_FULL);
}

static void run_step_again(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_step step = {.tick = 5, .dt = 1};
    expect_assert_failure(ecs_world_step(stage->world, &step));
    store* fixture = stage->context;
    store_mark(fixture, "refused");
}

STORE_OPEN_CASE(a_step_inside_a_step_asserts) {
    system_add(at->world, .name = "again", .stage = "act", .run = run_step_again, .context = at);
    store_seal(at);
    store_step(at);
    assert_string_equal(at->trace, "refused");
}

STORE_OPEN_CASE(a_step_before_seal_asserts) {
    ecs_step step = {.tick = 1, .dt = 1};
    expect_assert_failure(ecs_world_step(at->world, &step));
}

static void on_where(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    ecs_where where;
    if (ecs_running_where(ecs_running_here(), &where)) *(ecs_where*)stage->context = where;
}

STORE_OPEN_CASE(a_handler_that_runs_is_where_its_stage_is) {
    static const char* const events[] = {"kick", "shout", "EntityCreated"};
    ecs_where found[3] = {0};
    ecs_event_type kick, shout;
    assert_ok(ecs_event_register(at->world, &(ecs_event_desc){.name = "kick"}, &kick));
    assert_ok(ecs_event_register(at->world, &(ecs_event_desc){.name = "shout"}, &shout));
    system_add(at->world, .name = "kicked", .events = events, .event_count = 1,
               .on_event = on_where, .terms = move_terms, .term_count = 2, .context = &found[0]);
    system_add(at->world, .name = "heard", .events = events + 1, .event_count = 1,
               .on_event = on_where, .context = &found[1]);
    system_add(at->world, .name = "made", .events = events + 2, .event_count = 1,
               .on_event = on_where, .context = &found[2]);
    store_seal(at);
    const ecs_entity entity = store_create(at, at->thing);
    assert_true(ecs_event_send(at->world, entity, kick, NULL));
    assert_true(ecs_event_broadcast(at->world, shout, NULL));
    const ecs_entity made = ecs_command_create(at->world, at->thing, NULL, 0);
    assert_int_not_equal(made, ECS_ENTITY_NONE);
    store_step(at);
    assert_string_equal(found[0].system, "kicked");
    assert_int_equal(found[0].entity, entity);
    assert_string_equal(found[1].system, "heard");
    assert_int_equal(found[1].entity, ECS_ENTITY_NONE);
    assert_string_equal(found[2].system, "made");
    assert_int_equal(ecs_entity_index(found[2].entity), ecs_entity_index(entity) + 1);
}

static void run_where(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_where* found = stage->context;
    assert_true(ecs_running_where(ecs_running_here(), found));
    assert_true(rows->count == 0 || found->entity == rows->entities[0]);
}

STORE_OPEN_CASE(a_running_stage_says_where_it_is) {
    ecs_where by_rows = {0}, by_call = {0}, none;
    system_add(at->world, .name = "rows", .stage = "act", .run = run_where, .terms = move_terms,
               .term_count = 2, .context = &by_rows);
    system_add(at->world, .name = "call", .stage = "act", .run = run_where, AFTER("rows"),
               .context = &by_call);
    store_seal(at);
    ecs_entity entity = store_create(at, at->thing);
    assert_false(ecs_running_where(ecs_running_here(), &none));
    store_step(at);
    assert_string_equal(by_rows.system, "rows");
    assert_string_equal(by_rows.stage, "act");
    assert_int_equal(by_rows.entity, entity);
    assert_int_equal(by_rows.tick, 1);
    assert_null(ecs_running_call("bot_think"));
    assert_true(ecs_running_where(ecs_running_here(), &none));
    assert_string_equal(none.system, "bot_think");
    assert_null(none.stage);
    assert_string_equal(ecs_running_call(NULL), "bot_think");
    assert_string_equal(by_call.system, "call");
    assert_int_equal(by_call.entity, ECS_ENTITY_NONE);
    assert_false(ecs_running_where(ecs_running_here(), &none));
}
