// SPDX-License-Identifier: MIT
#include "live_world.h"

static void run_move(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec2* pos = rows->columns[0];
    const ecs_vec2* vel = rows->columns[1];
    for (uint32_t i = 0; i < rows->count; i++) {
        pos[i].x += vel[i].x * stage->dt;
        pos[i].y += vel[i].y * stage->dt;
    }
}

static const ecs_term move_terms[] = {{"pos", "p2", ECS_WRITE}, {"vel", "p2", ECS_READ}};

// S2.4
static void a_system_runs_over_the_columns_it_asks_for(void** state) { // S5.5
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    ecs_system_desc desc = {
        .name = "move", .stage = "act", .run = run_move, .terms = move_terms, .term_count = 2};
    assert_int_equal(ecs_system_register(fixture.world, &desc), ECS_OK);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    (void)live_create(&fixture, fixture.named);
    live_step(&fixture);
    const ecs_vec2* pos = ecs_get(fixture.world, entity, fixture.pos);
    assert_true(pos->x == 2.5f && pos->y == 4.0f);
    assert_int_equal(ecs_world_tick(fixture.world), 1);
    live_close(&fixture);
}

static void run_count(const ecs_stage* stage, const ecs_rows* rows) {
    live* fixture = stage->context;
    char text[64];
    (void)snprintf(text, sizeof(text), "[%u%s]", rows->count, stage->user != NULL ? "u" : "");
    live_mark(fixture, text);
}

static void a_system_without_terms_is_called_once_with_no_rows(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    ecs_system_desc desc = {.name = "count", .stage = "act", .run = run_count, .context = &fixture};
    assert_int_equal(ecs_system_register(fixture.world, &desc), ECS_OK);
    live_seal(&fixture);
    live_step(&fixture);
    assert_string_equal(fixture.trace, "[0]");
    live_close(&fixture);
}

static void a_stage_runs_its_own_systems_only_and_does_not_track(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    ecs_system_desc draw = {
        .name = "draw", .stage = "render", .run = run_count, .context = &fixture};
    ecs_system_desc move = {
        .name = "move", .stage = "late", .run = run_move, .terms = move_terms, .term_count = 2};
    assert_int_equal(ecs_system_register(fixture.world, &draw), ECS_OK);
    assert_int_equal(ecs_system_register(fixture.world, &move), ECS_OK);
    live_seal(&fixture);
    (void)live_create(&fixture, fixture.thing);
    ecs_changes_clear(fixture.world);
    assert_int_equal(ecs_stage_find(fixture.world, "act"), 0);
    assert_int_equal(ecs_stage_find(fixture.world, "sound"), UINT32_MAX);
    uint64_t hash = ecs_world_state_hash(fixture.world);
    ecs_step step = {.tick = 9, .dt = 1, .user = &fixture};
    ecs_world_run_stage(fixture.world, ecs_stage_find(fixture.world, "render"), &step);
    assert_string_equal(fixture.trace, "[0u]");
    ecs_world_run_stage(fixture.world, ecs_stage_find(fixture.world, "late"), &step);
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 0);
    assert_true(ecs_world_state_hash(fixture.world) == hash);
    live_step(&fixture);
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 1);
    live_close(&fixture);
}

static void run_spawn(const ecs_stage* stage, const ecs_rows* rows) {
    (void)rows;
    live* fixture = stage->context;
    ecs_entity placeholder = ecs_command_create(stage->world, fixture->named, NULL, 0);
    assert_true(ecs_entity_is_placeholder(placeholder));
}

static void structure_is_applied_between_systems(void** state) { // S5.10
    (void)state;
    static const ecs_term terms[] = {{"title", "t", ECS_READ}};
    live fixture;
    live_open(&fixture, NULL);
    ecs_system_desc spawn = {
        .name = "spawn", .stage = "act", .run = run_spawn, .context = &fixture};
    ecs_system_desc count = {.name = "count",
                             .stage = "act",
                             .run = run_count,
                             .context = &fixture,
                             .terms = terms,
                             .term_count = 1};
    assert_int_equal(ecs_system_register(fixture.world, &spawn), ECS_OK);
    assert_int_equal(ecs_system_register(fixture.world, &count), ECS_OK);
    live_seal(&fixture);
    live_step(&fixture);
    live_step(&fixture);
    assert_string_equal(fixture.trace, "[1][2]");
    live_close(&fixture);
}

static void registration_after_seal_is_refused(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_system_desc desc = {.name = "late", .stage = "act", .run = run_count};
    assert_int_equal(ecs_system_register(fixture.world, &desc), ECS_ERR_SEALED);
    live_close(&fixture);
}

static void a_second_system_of_a_name_is_refused(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    ecs_system_desc desc = {.name = "twin", .stage = "act", .run = run_count};
    assert_int_equal(ecs_system_register(fixture.world, &desc), ECS_OK);
    assert_int_equal(ecs_system_register(fixture.world, &desc), ECS_ERR_DUPLICATE);
    live_close(&fixture);
}

static void stages_and_systems_are_limited(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    char name[32];
    char stage[32];
    for (uint32_t i = 1; i <= ECS_STAGES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "s%u", i);
        (void)snprintf(stage, sizeof(stage), "stage%u", i);
        ecs_system_desc desc = {.name = name, .stage = stage, .run = run_count};
        assert_int_equal(ecs_system_register(fixture.world, &desc),
                         i < ECS_STAGES_MAX ? ECS_OK : ECS_ERR_FULL);
    }
    for (uint32_t i = ECS_STAGES_MAX; i <= ECS_SYSTEMS_MAX + 1; i++) {
        (void)snprintf(name, sizeof(name), "n%u", i);
        ecs_system_desc desc = {.name = name, .stage = "act", .run = run_count};
        assert_int_equal(ecs_system_register(fixture.world, &desc),
                         i <= ECS_SYSTEMS_MAX ? ECS_OK : ECS_ERR_FULL);
    }
    char longest[ECS_NAME_BYTES_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    longest[ECS_NAME_BYTES_MAX] = '\0';
    ecs_system_desc desc = {.name = longest, .stage = "act", .run = run_count};
    assert_int_equal(ecs_system_register(fixture.world, &desc), ECS_ERR_FULL);
    live_close(&fixture);
}

static void run_step_again(const ecs_stage* stage, const ecs_rows* rows) {
    (void)rows;
    ecs_step step = {.tick = 5, .dt = 1};
    expect_assert_failure(ecs_world_step(stage->world, &step));
    live* fixture = stage->context;
    live_mark(fixture, "refused");
}

static void a_step_inside_a_step_asserts(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    ecs_system_desc desc = {
        .name = "again", .stage = "act", .run = run_step_again, .context = &fixture};
    assert_int_equal(ecs_system_register(fixture.world, &desc), ECS_OK);
    live_seal(&fixture);
    base_assert_handler_set(test_assert_handler);
    live_step(&fixture);
    base_assert_handler_set(NULL);
    assert_string_equal(fixture.trace, "refused");
    live_close(&fixture);
}

static void a_step_before_seal_asserts(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    ecs_step step = {.tick = 1, .dt = 1};
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure(ecs_world_step(fixture.world, &step));
    base_assert_handler_set(NULL);
    live_close(&fixture);
}

static void* allocate_some(void* context, size_t size, size_t align) {
    int32_t* left = context;
    if (*left == 0) {
        return NULL;
    }
    *left -= *left > 0;
    return base_allocator_heap()->allocate(base_allocator_heap()->context, size, align);
}

static void release_any(void* context, void* memory, size_t size) {
    (void)context;
    base_allocator_heap()->release(base_allocator_heap()->context, memory, size);
}

static void running_out_of_memory_registers_nothing(void** state) {
    (void)state;
    int32_t left = -1; // no limit
    base_allocator allocator = {allocate_some, release_any, &left};
    ecs_world_config config = ecs_world_config_default();
    config.allocator = &allocator;
    live fixture;
    live_open(&fixture, &config);
    ecs_event_desc event = {"extra", 0, NULL, 0, false};
    ecs_system_desc desc = {
        .name = "move", .stage = "act", .run = run_move, .terms = move_terms, .term_count = 2};
    ecs_result results[2] = {ECS_ERR_MEMORY, ECS_ERR_MEMORY};
    for (int32_t granted = 0; results[0] != ECS_OK || results[1] != ECS_OK; granted++) {
        assert_true(granted < 100);
        left = granted;
        if (results[0] != ECS_OK) {
            results[0] = ecs_system_register(fixture.world, &desc);
        }
        left = granted;
        if (results[1] != ECS_OK) {
            results[1] = ecs_event_register(fixture.world, &event, NULL);
        }
        left = -1;
        assert_true(results[0] == ECS_OK || results[0] == ECS_ERR_MEMORY);
        assert_true(results[1] == ECS_OK || results[1] == ECS_ERR_MEMORY);
        assert_true(granted > 0 || results[0] == ECS_ERR_MEMORY);
    }
    // Sealing may also run out of memory. The caller may try it again.
    ecs_result sealed = ECS_ERR_MEMORY;
    for (int32_t granted = 0; sealed != ECS_OK; granted++) {
        assert_true(granted < 100);
        left = granted;
        sealed = ecs_world_seal(fixture.world, NULL);
        left = -1;
        assert_true(sealed == ECS_OK || sealed == ECS_ERR_MEMORY);
    }
    assert_string_equal(ecs_stage_system_name(fixture.world, 0, 0), "move");
    assert_null(ecs_stage_system_name(fixture.world, 0, 1));
    live_close(&fixture);
}

static void run_where(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_where* found = stage->context;
    assert_true(ecs_world_where(stage->world, found));
    assert_true(rows->count == 0 || found->entity == rows->entities[0]);
}

static void a_running_stage_says_where_it_is(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    ecs_where by_rows = {0}, by_call = {0}, none;
    static const char* const after[] = {"rows"};
    const ecs_system_desc descs[] = {
        {.name = "rows",
         .stage = "act",
         .run = run_where,
         .terms = move_terms,
         .term_count = 2,
         .context = &by_rows},
        {.name = "call",
         .stage = "act",
         .run = run_where,
         .after = after,
         .after_count = 1,
         .context = &by_call},
    };
    for (uint32_t i = 0; i < BASE_COUNT(descs); i++)
        assert_int_equal(ecs_system_register(fixture.world, &descs[i]), ECS_OK);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    assert_false(ecs_world_where(fixture.world, &none));
    live_step(&fixture);
    assert_string_equal(by_rows.system, "rows");
    assert_string_equal(by_rows.stage, "act");
    assert_int_equal(by_rows.entity, entity);
    assert_int_equal(by_rows.tick, 1);
    assert_string_equal(by_call.system, "call");
    assert_int_equal(by_call.entity, ECS_ENTITY_NONE);
    assert_false(ecs_world_where(fixture.world, &none));
    live_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_system_runs_over_the_columns_it_asks_for),
        TEST(a_system_without_terms_is_called_once_with_no_rows),
        TEST(a_stage_runs_its_own_systems_only_and_does_not_track),
        TEST(structure_is_applied_between_systems),
        TEST(registration_after_seal_is_refused),
        TEST(a_second_system_of_a_name_is_refused),
        TEST(stages_and_systems_are_limited),
        TEST(a_running_stage_says_where_it_is),
        TEST(a_step_inside_a_step_asserts),
        TEST(a_step_before_seal_asserts),
        TEST(running_out_of_memory_registers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
