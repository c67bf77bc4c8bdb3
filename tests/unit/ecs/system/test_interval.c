// SPDX-License-Identifier: MIT
// S3.3, S5.13, S5.14: how often a system runs, where it exists, and into how many rows per call it
// may be cut.
#include "sample_world.h"

static void count_turn(const ecs_stage* stage, const ecs_rows* rows) {
    char text[24];
    (void)snprintf(text, sizeof(text), "%llu ", (unsigned long long)stage->tick);
    store_mark(stage->context, text);
}

static void resync(const ecs_stage* stage, const ecs_rows* rows) {
    int32_t* hp = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        hp[i]++;
}

STORE_OPEN_CASE(an_interval_system_runs_when_the_tick_divides) { // S3.3
    system_add(at->world, .name = "seldom", .stage = "act", .run = count_turn, .every_ticks = 120,
               .context = at);
    system_add(at->world, .name = "regenerate", .stage = "act", .run = resync, .every_ticks = 120,
               TERMS({"hp", "i", ECS_WRITE}));
    store_seal(at);
    ecs_entity entity = store_create(at, at->thing);
    for (uint32_t i = 0; i < 361; i++)
        store_step(at);
    assert_string_equal(at->trace, "120 240 360 ");
    assert_int_equal(*(const int32_t*)ecs_get(at->world, entity, at->hp), 103);
    ecs_system_info info;
    assert_true(ecs_stage_system_info(at->world, 0, 1, &info));
    assert_string_equal(info.name, "regenerate");
    assert_int_equal(info.every_ticks, 120);
    assert_false(ecs_stage_system_info(at->world, 0, 2, &info));
    assert_false(ecs_stage_system_info(at->world, 7, 0, &info));
}

CASE(none_and_one_are_each_tick) { // S3.3
    for (uint32_t every = 0; every < 2; every++) {
        store fixture;
        store_open(&fixture);
        system_add(fixture.world, .name = "often", .stage = "act", .run = count_turn,
                   .every_ticks = every, .quantum = 64 * every, .context = &fixture);
        store_seal(&fixture);
        store_step(&fixture);
        store_step(&fixture);
        assert_string_equal(fixture.trace, "1 2 ");
        ecs_system_info info;
        assert_true(ecs_stage_system_info(fixture.world, 0, 0, &info));
        assert_int_equal(info.every_ticks, 1);
        assert_int_equal(info.quantum, 64 * every); // S5.14
        store_close(&fixture);
    }
}

static bool exists_with(const char* world_tag, const char* const* tags, uint32_t count) {
    store fixture;
    store_begin(&fixture);
    fixture.config.tags = &world_tag;
    fixture.config.tag_count = world_tag != NULL;
    assert_ok(store_try_open(&fixture));
    system_add(fixture.world, .name = "s", .stage = "act", .run = resync, .tags = tags,
               .tag_count = count);
    store_seal(&fixture);
    bool is_there = ecs_stage_system_name(fixture.world, 0, 0) != NULL;
    store_close(&fixture);
    return is_there;
}

CASE(a_tag_may_offer_alternatives) { // S5.13
    static const char* const either[] = {"server|predict"};
    static const char* const spaced[] = {"server | predict|view"};
    static const char* const both[] = {"server|predict", "predict|view"};
    static const char* const hollow[] = {"|"};
    assert_true(exists_with("server", either, 1));
    assert_true(exists_with("predict", either, 1));
    assert_false(exists_with("serve", either, 1));
    assert_false(exists_with("server|predict", either, 1));
    assert_false(exists_with(NULL, either, 1));
    assert_true(exists_with("predict", spaced, 1));
    assert_true(exists_with("view", spaced, 1));
    assert_true(exists_with("predict", both, 2));
    assert_false(exists_with("server", both, 2));
    assert_false(exists_with("server", hollow, 1));
}
