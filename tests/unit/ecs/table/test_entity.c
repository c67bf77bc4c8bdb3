// SPDX-License-Identifier: MIT
// Handles: indices, generations, ranges, states.
#include "sample_world.h"

// S2.6
STORE_CASE(any_32_bits_may_be_asked_about) {
    store_create(at, at->ball);
    base_rng rng = base_rng_make(7, 1);
    for (uint32_t i = 0; i < 20000; i++) {
        ecs_entity entity = base_rng_u32(&rng);
        if (ecs_entity_index(entity) == 65536) continue;
        assert_false(ecs_is_alive(at->world, entity));
    }
    assert_false(ecs_is_alive(at->world, ECS_ENTITY_NONE));
    assert_false(ecs_is_alive(at->world, UINT32_MAX));
}

#define MIRROR_CASE(name) STORE_WITH_CASE(name, at->config.is_mirror = true)

/// Begin a store of `count` local indices.
static void begin_small(store* fixture, uint32_t count) {
    store_begin(fixture);
    fixture->config.limits.replicated_index_max = 1;
    fixture->config.limits.local_entities_max = count;
}

#define SMALL_CASE(name, count)                                                                    \
    CASE_WITH(store, at, (begin_small(at, count), store_make_begun(at)), store_close(at), name)

// S1.1
SMALL_CASE(creating_past_the_limit_is_an_error, 3) {
    store_create(at, at->ball);
    store_create(at, at->ball);
    ecs_entity last = store_create(at, at->ball);
    ecs_entity extra = 77;
    assert_int_equal(ecs_create(at->world, at->ball, NULL, 0, &extra), ECS_ERR_FULL);
    assert_int_equal(extra, 77);
    assert_int_equal(ecs_world_entity_count(at->world), 3);
    assert_ok(ecs_destroy(at->world, last));
    assert_int_equal(ecs_create(at->world, at->ball, NULL, 0, &extra), ECS_ERR_FULL);
}

// S2.2
SMALL_CASE(freed_indices_come_back_only_while_1024_are_free, ECS_FREE_INDICES_MIN + 10) {
    enum { COUNT = ECS_FREE_INDICES_MIN + 10 };
    ecs_entity entities[COUNT];
    assert_ok(ecs_create_many(at->world, at->ball, COUNT, entities));
    for (uint32_t i = 0; i < ECS_FREE_INDICES_MIN - 1; i++)
        assert_ok(ecs_destroy(at->world, entities[i]));
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create(at->world, at->ball, NULL, 0, &entity), ECS_ERR_FULL);
    assert_ok(ecs_destroy(at->world, entities[ECS_FREE_INDICES_MIN - 1]));
    entity = store_create(at, at->ball);
    assert_int_equal(ecs_entity_index(entity), ecs_entity_index(entities[0]));
    assert_int_equal(ecs_entity_generation(entity), 2);
    assert_int_equal(ecs_create(at->world, at->ball, NULL, 0, &entity), ECS_ERR_FULL);
    assert_ok(ecs_destroy(at->world, entities[COUNT - 1]));
    entity = store_create(at, at->ball);
    assert_int_equal(ecs_entity_index(entity), ecs_entity_index(entities[1]));
}

SMALL_CASE(a_generation_wraps_from_1023_to_1, ECS_FREE_INDICES_MIN) {
    enum { COUNT = ECS_FREE_INDICES_MIN };
    static ecs_entity entities[COUNT];
    for (uint32_t round = 0; round < 1025; round++) {
        // One creation per round takes one index. The walk over all indices uses them equally
        // often.
        assert_ok(ecs_create(at->world, at->ball, NULL, 0, &entities[0]));
        uint32_t generation = ecs_entity_generation(entities[0]);
        assert_true(generation >= 1 && generation <= ECS_GENERATION_MAX);
        assert_ok(ecs_destroy(at->world, entities[0]));
    }
    uint32_t index = ecs_index_peek(at->world, 1);
    ecs_record_mut(at->world->storage, index)->life = ECS_GENERATION_MAX;
    ecs_entity entity = store_create(at, at->ball);
    assert_int_equal(ecs_entity_index(entity), index);
    assert_int_equal(ecs_entity_generation(entity), 1);
}

// S5.15, S2.6
MIRROR_CASE(a_referenced_handle_is_allocated_before_and_after_its_life) {
    ecs_world* world = at->world;
    ecs_entity handle = ecs_entity_make(7, 5);
    assert_ok(ecs_handle_retain(world, handle));
    assert_ok(ecs_handle_retain(world, handle));
    assert_int_equal(ecs_state(world, handle), ECS_STATE_ALLOCATED);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_ALLOCATED), 1);
    assert_ok(ecs_handle_load(world, handle));
    assert_int_equal(ecs_state(world, handle), ECS_STATE_LOADING);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_LOADING), 1);
    assert_ok(ecs_create_at(world, handle, at->pad, NULL, 0));
    assert_int_equal(ecs_state(world, handle), ECS_STATE_CREATED);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_LOADING), 0);
    assert_ok(ecs_destroy(world, handle));
    assert_int_equal(ecs_state(world, handle), ECS_STATE_ALLOCATED);
    ecs_handle_release(world, handle);
    assert_int_equal(ecs_state(world, handle), ECS_STATE_ALLOCATED);
    ecs_handle_release(world, handle);
    assert_int_equal(ecs_state(world, handle), ECS_STATE_NONE);
    assert_int_equal(ecs_world_counters(world)->bad_transitions, 0);
}

STORE_CASE(transitions_that_the_table_lacks_are_counted_and_refused) {
    ecs_world* world = at->world;
    ecs_entity entity = store_create(at, at->ball);
    assert_int_equal(ecs_handle_load(world, entity), ECS_ERR_TAKEN);
    ecs_handle_release(world, entity);
    ecs_handle_unload(world, entity);
    assert_int_equal(ecs_handle_retain(world, ECS_ENTITY_NONE), ECS_ERR_STALE);
    assert_int_equal(ecs_handle_retain(world, ecs_entity_make(3, 0)), ECS_ERR_STALE);
    assert_int_equal(ecs_handle_load(world, ecs_entity_make(ECS_INDEX_MAX, 1)), ECS_ERR_STALE);
    ecs_entity other = ecs_entity_make(12, 1);
    assert_ok(ecs_handle_load(world, other));
    assert_int_equal(ecs_handle_load(world, other), ECS_ERR_TAKEN);
    assert_int_equal(ecs_world_counters(world)->bad_transitions, 7);
    assert_int_equal(ecs_state(world, entity), ECS_STATE_CREATED);
    assert_ok(ecs_destroy(world, entity));
    assert_int_equal(ecs_destroy(world, entity), ECS_ERR_STALE);
    assert_int_equal(ecs_world_counters(world)->bad_transitions, 8);
}

SMALL_CASE(a_held_handle_of_an_unused_index_is_stepped_over, 4) {
    ecs_world* world = at->world;
    ecs_entity held = ecs_entity_make(3, 1);
    assert_ok(ecs_handle_retain(world, held));
    assert_int_equal(ecs_entity_index(store_create(at, at->ball)), 2);
    assert_int_equal(ecs_index_available(world, 1), 2);
    ecs_entity rest[2];
    assert_ok(ecs_create_many(world, at->ball, 2, rest));
    assert_int_equal(ecs_entity_index(rest[0]), 4);
    ecs_handle_release(world, held);
}

MIRROR_CASE(a_given_handle_must_have_a_free_index) {
    ecs_world* world = at->world;
    ecs_entity handle = ecs_entity_make(65535, 1023);
    assert_ok(ecs_create_at(world, handle, at->pad, NULL, 0));
    assert_int_equal(ecs_create_at(world, handle, at->pad, NULL, 0), ECS_ERR_TAKEN);
    assert_int_equal(ecs_create_at(world, ecs_entity_make(65535, 4), at->pad, NULL, 0),
                     ECS_ERR_TAKEN);
    assert_int_equal(ecs_create_at(world, ecs_entity_make(65536, 1), at->pad, NULL, 0),
                     ECS_ERR_FULL);
    assert_int_equal(ecs_create_at(world, ECS_ENTITY_NONE, at->pad, NULL, 0), ECS_ERR_STALE);
    assert_int_equal(ecs_create_at(world, ecs_entity_make(5, 0), at->pad, NULL, 0), ECS_ERR_STALE);
    assert_int_equal(ecs_create_at(world, ecs_entity_make(5, 1), 999, NULL, 0), ECS_ERR_UNKNOWN);
    assert_ok(ecs_destroy(world, handle));
    assert_ok(ecs_create_at(world, ecs_entity_make(65535, 4), at->pad, NULL, 0));
}

STORE_CASE(only_a_mirror_is_told_its_handles) {
    expect_assert_failure((void)!ecs_create_at(at->world, ecs_entity_make(5, 1), at->pad, NULL, 0));
}

STORE_WITH_CASE(ranges_that_share_a_word_of_free_bits_keep_to_their_own,
                at->config.limits.replicated_index_max = 5000) {
    enum { LAST = 5000, KEPT = 5, LOCAL = 100 };
    static ecs_entity replicated[LAST], local[LOCAL];
    ecs_world* world = at->world;
    assert_ok(ecs_create_many(world, at->pad, LAST, replicated));
    assert_ok(ecs_create_many(world, at->ball, LOCAL, local));
    for (uint32_t i = 0; i < LOCAL; i++)
        assert_ok(ecs_destroy(world, local[i]));
    // Two rounds bring the walk to the last word. All indices of that word are alive.
    for (uint32_t i = 0; i < LAST - KEPT; i++)
        assert_ok(ecs_destroy(world, replicated[i]));
    const uint32_t round = LAST - KEPT - ECS_FREE_INDICES_MIN + 1;
    assert_ok(ecs_create_many(world, at->pad, round, replicated));
    for (uint32_t i = 0; i < round; i++)
        assert_ok(ecs_destroy(world, replicated[i]));
    for (uint32_t i = 0; i < ECS_FREE_INDICES_MIN + 100; i++)
        assert_in_range(ecs_entity_index(store_create(at, at->pad)), 1, LAST);
}

CASE(many_at_once_get_the_handles_that_single_creations_would_get) {
    enum { COUNT = 9000, ROUNDS = 40 };
    static ecs_entity handles[COUNT];
    printf("seed 7\n");
    base_rng rng = base_rng_make(7, 0);
    store at_once, singly;
    store_begin(&at_once);
    store_begin(&singly);
    at_once.config.limits.replicated_index_max = singly.config.limits.replicated_index_max = 5000;
    store_make_begun(&at_once);
    store_make_begun(&singly);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        ecs_template_id kind = base_rng_below(&rng, 2) ? at_once.pad : at_once.ball;
        uint32_t range = kind == at_once.pad ? 0 : 1;
        uint32_t count = ecs_index_available(at_once.world, range);
        count = base_rng_below(&rng, count < 4000 ? count + 1 : 4000);
        assert_ok(ecs_create_many(at_once.world, kind, count, handles));
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(store_create(&singly, kind), handles[i]);
        uint32_t odds = 1 + base_rng_below(&rng, 100);
        for (ecs_entity entity = ecs_entity_next(singly.world, ECS_ENTITY_NONE);
             entity != ECS_ENTITY_NONE; entity = ecs_entity_next(singly.world, entity)) {
            if (base_rng_below(&rng, 100) >= odds) continue;
            assert_ok(ecs_destroy(at_once.world, entity));
            assert_ok(ecs_destroy(singly.world, entity));
        }
    }
    store_close(&at_once);
    store_close(&singly);
}

CASE(no_caller_sees_a_creation_that_is_only_prepared) {
    enum { COUNT = 100 };
    store series, singly;
    begin_small(&series, COUNT * 2);
    begin_small(&singly, COUNT * 2);
    store_make_begun(&series);
    store_make_begun(&singly);
    ecs_entity made = ECS_ENTITY_NONE, alone = ECS_ENTITY_NONE;
    for (uint32_t i = 0; i < COUNT; i++) {
        made = store_create(&series, series.rock);
        assert_ok(ecs_create_many(singly.world, singly.rock, 1, &alone));
        assert_int_equal(made, alone);
    }
    const ecs_runway* runway = &series.world->storage->runway;
    assert_true(runway->left > 0);
    assert_int_equal(ecs_world_entity_count(series.world), COUNT);
    assert_int_equal(ecs_handle_count(series.world, ECS_STATE_CREATED), COUNT);
    const ecs_changes changes = ecs_changes_get(series.world);
    assert_int_equal(changes.created_count, COUNT);
    assert_int_equal(changes.created[COUNT - 1], made);
    assert_int_equal(ecs_entity_next(series.world, made), ECS_ENTITY_NONE);
    assert_false(ecs_is_alive(series.world, runway->entities[COUNT]));
    assert_true(runway->left > 0); // no call above gave handles back
    assert_int_equal(ecs_world_hash(series.world), ecs_world_hash(singly.world));
    assert_int_equal(runway->left, 0);
    assert_int_equal(store_create(&series, series.rock), store_create(&singly, singly.rock));
    ecs_changes_clear(series.world);
    assert_int_equal(ecs_changes_get(series.world).created_count, 0);
    assert_int_equal(store_create(&series, series.rock), store_create(&singly, singly.rock));
    assert_int_equal(ecs_changes_get(series.world).created_count, 1);
    ecs_world_validate(series.world);
    store_close(&series);
    store_close(&singly);
}
