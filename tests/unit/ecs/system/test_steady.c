// SPDX-License-Identifier: MIT
/// A tick that does the same as the ticks before it allocates no memory and looks up no names.
#include "sample_world.h"

static void run_move(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec2* pos = rows->columns[0];
    const ecs_vec2* vel = rows->columns[1];
    for (uint32_t i = 0; i < rows->count; i++)
        pos[i].x += vel[i].x * stage->dt;
}

// In each tick the system destroys some entities, creates as many, and lets living entities hit
// each other.
static void run_churn(const ecs_stage* stage, const ecs_rows* rows) {
    store* fixture = stage->context;
    base_rng* rng = ecs_world_rng(stage->world);
    for (uint32_t i = 0; i < 8 && i < rows->count; i++) {
        ecs_entity victim = rows->entities[base_rng_below(rng, rows->count)];
        store_hit hit = {rows->entities[0], 3};
        assert_true(ecs_event_send(stage->world, victim, fixture->hit, &hit));
    }
    ecs_entity gone = rows->entities[base_rng_below(rng, rows->count)];
    assert_true(ecs_command_destroy(stage->world, gone));
    ecs_vec2 pos = {9, 9};
    ecs_init init = {fixture->pos, &pos};
    ecs_entity born = ecs_command_create(stage->world, fixture->thing, &init, 1);
    store_hit hit = {born, 1};
    assert_true(ecs_event_send(stage->world, born, fixture->hit, &hit));
    assert_true(ecs_event_broadcast(stage->world, fixture->ping, NULL));
}

static void on_hit(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    const store_hit* hit = event->payload;
    int32_t* hp = ecs_find_mut(stage->world, rows->entities[0], ((store*)stage->context)->hp);
    *hp -= hit->amount;
}

static void on_change(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    ++*(uint64_t*)stage->context;
}

static void on_member(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {
    *(uint64_t*)stage->context += count;
}

// S2.4, S4.6, S5.18, S5.21
STORE_OPEN_CASE(a_steady_tick_allocates_nothing_and_looks_up_no_name) {
    system_add(at->world, .name = "move", .stage = "act", .run = run_move,
               TERMS({"pos", "p2", ECS_WRITE}, {"vel", "p2", ECS_READ}));
    system_add(at->world, .name = "churn", .stage = "act", .run = run_churn,
               TERMS({"pos", "p2", ECS_READ}, {"hp", "i", ECS_READ}), .context = at);
    system_add(at->world, .name = "hurt", EVENTS("hit"), .on_event = on_hit,
               TERMS({"pos", "p2", ECS_READ}, {"hp", "i", ECS_READ}), .context = at);
    uint64_t told = 0, members = 0;
    system_add(at->world, .name = "hear", .on_event = on_change, TRACK("hp"), .context = &told,
               EVENTS("EntityCreated", "EntityDestroyed", "on_appear"));
    system_add(at->world, .name = "meet", .stage = "act", .on_enter = on_member,
               .on_leave = on_member, TERMS({"hp", "i", ECS_READ}), .context = &members);
    store_seal(at);
    assert_ok(ecs_create_many(at->world, at->thing, 3000, NULL));
    uint64_t hashes = 0;
    for (uint32_t i = 0; i < 200; i++) {
        store_step(at);
        hashes += ecs_world_hash(at->world);
        ecs_changes_clear(at->world);
    }
    uint64_t allocations = at->memory.calls;
    uint64_t lookups = ecs_world_counters(at->world)->name_lookups;
    for (uint32_t i = 0; i < 200; i++) {
        store_step(at);
        hashes += ecs_world_hash(at->world);
        assert_true(ecs_changes_get(at->world).changed_count >= 2900);
        // An entity that is hit may be destroyed in the same flush, before the event is delivered.
        assert_in_range(ecs_changes_get(at->world).event_count, 1, 9);
        ecs_changes_clear(at->world);
    }
    assert_int_equal(at->memory.calls, allocations);
    assert_int_equal(ecs_world_counters(at->world)->name_lookups, lookups);
    assert_true(hashes != 0 && told > 400 && members > 3400);
    ecs_world_validate(at->world);
}

// Many more entities are created and destroyed than there are indices in use at one time. The walk
// over freed indices comes around again and again, and no new page of records is allocated.
STORE_CASE(ten_thousand_creations_and_deaths_allocate_nothing) {
    enum { ALIVE = 2000, WARM = 12000, CHURN = 10000, PER_TICK = 100 };
    ecs_world* world = at->world;
    const ecs_template_id templates[] = {at->thing, at->solid};
    for (uint32_t t = 0; t < BASE_COUNT(templates); t++) {
        static ecs_entity ring[ALIVE];
        assert_ok(ecs_create_many(world, templates[t], ALIVE, ring));
        uint64_t allocations = 0;
        for (uint32_t i = 0; i < WARM + CHURN; i++) {
            if (i == WARM) allocations = at->memory.calls;
            ecs_entity* one = &ring[i % ALIVE];
            assert_ok(ecs_destroy(world, *one));
            // Single creations and whole series take their indices in the same way.
            if (i % 2 == 0)
                assert_ok(ecs_create(world, templates[t], NULL, 0, one));
            else
                assert_ok(ecs_create_many(world, templates[t], 1, one));
            if (i % PER_TICK != PER_TICK - 1) continue;
            store_step(at);
            ecs_changes_clear(world);
        }
        assert_int_equal(at->memory.calls, allocations);
    }
    ecs_world_validate(world);
}
