// SPDX-License-Identifier: MIT
// S4.5: the entities that entered and left a system's rows. The system gets them when it runs.
#include "hear_world.h"

static const ecs_term with_radius[] = {{"radius", "r", ECS_READ}};

static void mark_all(const ecs_stage* stage, char letter, const ecs_entity* entities,
                     uint32_t count) {
    const ear* own = stage->context;
    for (uint32_t i = 0; i < count; i++)
        hear_mark(own->hearing, own->name, letter, ecs_entity_index(entities[i]) % 65536);
}

static void on_enter(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        assert_true(ecs_is_alive(stage->world, entities[i]));
    mark_all(stage, '+', entities, count);
}

static void on_leave(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {
    mark_all(stage, '-', entities, count);
}

static void on_first(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {
    mark_all(stage, '1', entities, count);
    if (count == 0) hear_mark(((const ear*)stage->context)->hearing, "", '1', 0);
}

static void run(const ecs_stage* stage, const ecs_rows* rows) {
    mark_all(stage, '.', rows->entities, rows->count);
}

static ecs_system_desc member_system(const ear* own) {
    return (ecs_system_desc){.name = own->name,
                             .stage = "act",
                             .run = run,
                             .on_enter = on_enter,
                             .on_leave = on_leave,
                             .first_update = on_first,
                             .terms = with_radius,
                             .term_count = 1,
                             .context = (void*)own};
}

static void seal_with(hearing* all, const ecs_system_desc* desc) {
    assert_ok(ecs_system_register(all->store.world, desc));
    store_seal(&all->store);
}

HEAR_CASE(the_first_update_comes_once_even_with_nobody) { // S4.5
    ecs_system_desc desc = member_system(&all->own);
    seal_with(all, &desc);
    hear_step(all);
    hear_expect(all, "10 ");
    store_create(&all->store, all->store.ball);
    hear_step(all);
    hear_expect(all, "+0 .0 ");
}

HEAR_CASE(a_system_whose_turn_never_comes_holds_no_more_than_there_is) { // S4.5
    ecs_system_desc desc = member_system(&all->own);
    desc.stage = "never";
    seal_with(all, &desc);
    ecs_entity balls[50] = {0};
    uint64_t settled = 0;
    for (uint32_t i = 0; i < 8000; i++) {
        if (balls[i % 50] != 0) assert_ok(ecs_destroy(all->store.world, balls[i % 50]));
        balls[i % 50] = store_create(&all->store, all->store.ball);
        ecs_changes_clear(all->store.world);
        if (i == 4000) settled = all->store.memory.calls;
    }
    assert_int_equal(all->store.memory.calls, settled);
    ecs_world_validate(all->store.world);
}

HEAR_CASE(member_calls_need_terms_and_a_stage) { // S4.5
    ecs_system_desc desc = member_system(&all->own);
    desc.term_count = 0;
    expect_assert_failure((void)!ecs_system_register(all->store.world, &desc));
    desc.term_count = 1;
    desc.stage = NULL;
    expect_assert_failure((void)!ecs_system_register(all->store.world, &desc));
    store_seal(&all->store);
}
