// SPDX-License-Identifier: MIT
#include "sample_world.h"

static void rest(store* fixture) {
    store_step(fixture);
    ecs_changes_clear(fixture->world);
}

static void check_hash(store* fixture) {
    ecs_world* world = fixture->world;
    assert_true(ecs_world_state_hash(world) == ecs_world_state_hash_walk(world));
    uint64_t sum = 0;
    for (uint32_t id = 1; id <= ecs_component_count(world); id++)
        sum += ecs_world_state_hash_of(world, (ecs_component_id)id);
    assert_true(sum == ecs_world_state_hash(world));
    ecs_world_validate(world);
}

// S5.8
STORE_CASE(a_write_that_changes_nothing_is_not_listed) {
    ecs_entity thing = store_create(at, at->thing);
    ecs_entity named = store_create(at, at->named);
    rest(at);
    uint64_t compared = ecs_world_counters(at->world)->rows_compared;
    (void)ecs_get_mut(at->world, thing, at->pos);
    store_set_text(at, named, at->title, "any_name");
    store_set_text(at, named, at->title, "absent");
    store_step(at);
    assert_int_equal(ecs_changes_get(at->world).changed_count, 0);
    assert_int_equal(ecs_world_counters(at->world)->rows_compared, compared + 2);
    store_step(at);
    assert_int_equal(ecs_world_counters(at->world)->rows_compared, compared + 2);
    check_hash(at);
}

STORE_CASE(padding_does_not_count_and_values_do) {
    ecs_entity entity = store_create(at, at->solid);
    rest(at);
    store_body* body = ecs_get_mut(at->world, entity, at->body);
    memset(body, 0xff, sizeof(*body));
    body->kind = 0;
    body->mass = 0;
    store_step(at);
    assert_int_equal(ecs_changes_get(at->world).changed_count, 0);
    body = ecs_get_mut(at->world, entity, at->body);
    body->mass = -0.0f; // a different value at full precision
    store_step(at);
    assert_int_equal(ecs_changes_get(at->world).changed_count, 1);
    check_hash(at);
}

STORE_CASE(not_a_number_equals_any_other_payload_of_it) {
    ecs_entity entity = store_create(at, at->thing);
    uint32_t bits[2] = {0x7fc00000u, 0x7fc00000u};
    assert_ok(ecs_set(at->world, entity, at->pos, bits));
    rest(at);
    bits[0] = 0xffc12345u;
    assert_ok(ecs_set(at->world, entity, at->pos, bits));
    store_step(at);
    assert_int_equal(ecs_changes_get(at->world).changed_count, 0);
    check_hash(at);
}

static void run_bump(const ecs_stage* stage, const ecs_rows* rows) {
    uint8_t* team = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        team[i] = (uint8_t)(team[i] + (ecs_entity_index(rows->entities[i]) % 7 == 3));
}

// Sizes around blocks of 64 bytes, and rows of one byte: the test compares every tail length.
CASE(a_written_column_lists_exactly_the_rows_that_differ) {
    for (uint32_t count = 1; count < 200; count += 9) {
        store fixture;
        store_open(&fixture);
        system_add(fixture.world, .name = "bump", .stage = "act", .run = run_bump,
                   TERMS({"team", "u8", ECS_WRITE}));
        store_seal(&fixture);
        ecs_entity entities[200];
        assert_ok(ecs_create_many(fixture.world, fixture.solid, count, entities));
        rest(&fixture);
        store_step(&fixture);
        ecs_changes changes = ecs_changes_get(fixture.world);
        uint32_t expected = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (ecs_entity_index(entities[i]) % 7 == 3) {
                assert_true(expected < changes.changed_count);
                assert_int_equal(changes.changed[expected].entity, entities[i]);
                assert_int_equal(changes.changed[expected].component, fixture.team);
                expected++;
            }
        }
        assert_int_equal(changes.changed_count, expected);
        check_hash(&fixture);
        store_close(&fixture);
    }
}
