// SPDX-License-Identifier: MIT
#include "system/live_world.h"

static void structure_is_listed_in_order(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity a = live_create(&fixture, fixture.named);
    ecs_entity b = live_create(&fixture, fixture.thing);
    ecs_entity c = live_create(&fixture, fixture.named);
    assert_int_equal(ecs_destroy(fixture.world, c), ECS_OK);
    assert_int_equal(ecs_destroy(fixture.world, a), ECS_OK);
    ecs_changes changes = ecs_changes_get(fixture.world);
    assert_int_equal(changes.created_count, 3);
    assert_int_equal(changes.created[0], a);
    assert_int_equal(changes.created[1], b);
    assert_int_equal(changes.created[2], c);
    assert_int_equal(changes.destroyed_count, 2);
    assert_int_equal(changes.destroyed[0], c);
    assert_int_equal(changes.destroyed[1], a);
    live_close(&fixture);
}

static void changes_are_in_order_of_archetype_component_and_row(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity things[3];
    assert_int_equal(ecs_create_many(fixture.world, fixture.thing, 3, things), ECS_OK);
    ecs_entity solid = live_create(&fixture, fixture.solid);
    ecs_changes_clear(fixture.world);
    int32_t hp = 3;
    ecs_vec2 pos = {8, 8};
    assert_int_equal(ecs_set(fixture.world, solid, fixture.hp, &hp), ECS_OK);
    assert_int_equal(ecs_set(fixture.world, things[2], fixture.hp, &hp), ECS_OK);
    assert_int_equal(ecs_set(fixture.world, things[1], fixture.pos, &pos), ECS_OK);
    assert_int_equal(ecs_set(fixture.world, things[0], fixture.hp, &hp), ECS_OK);
    live_step(&fixture);
    ecs_changes changes = ecs_changes_get(fixture.world);
    assert_int_equal(changes.changed_count, 4);
    bool is_pos_first = fixture.pos < fixture.hp; // columns are sorted by component
    const ecs_change* hps = changes.changed + (is_pos_first ? 1 : 0);
    const ecs_change* poss = changes.changed + (is_pos_first ? 0 : 2);
    assert_int_equal(hps[0].entity, things[0]);
    assert_int_equal(hps[1].entity, things[2]);
    assert_int_equal(poss[0].entity, things[1]);
    assert_int_equal(changes.changed[3].entity, solid);
    live_close(&fixture);
}

static void the_list_gathers_until_it_is_cleared(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    ecs_changes_clear(fixture.world);
    for (int32_t i = 1; i <= 2; i++) {
        assert_int_equal(ecs_set(fixture.world, entity, fixture.hp, &i), ECS_OK);
        live_step(&fixture);
        assert_int_equal(ecs_changes_get(fixture.world).changed_count, i);
    }
    ecs_changes_clear(fixture.world);
    ecs_changes changes = ecs_changes_get(fixture.world);
    assert_int_equal(changes.created_count + changes.destroyed_count + changes.recreated_count +
                         changes.changed_count + changes.event_count,
                     0);
    live_close(&fixture);
}

static void a_new_entity_in_a_reused_list_is_not_confused_with_a_dead_one(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity first = live_create(&fixture, fixture.thing);
    ecs_changes_clear(fixture.world);
    assert_int_equal(ecs_destroy(fixture.world, first), ECS_OK);
    ecs_entity second = live_create(&fixture, fixture.thing);
    assert_int_not_equal(first, second);
    int32_t hp = 2;
    assert_int_equal(ecs_set(fixture.world, second, fixture.hp, &hp), ECS_OK);
    live_step(&fixture);
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 0);
    ecs_world_validate(fixture.world);
    live_close(&fixture);
}

static void the_state_hash_does_not_depend_on_the_order_of_rows(void** state) {
    (void)state;
    live a;
    live b;
    live_open(&a, NULL);
    live_open(&b, NULL);
    live_seal(&a);
    live_seal(&b);
    ecs_entity left[3];
    ecs_entity right[3];
    assert_int_equal(ecs_create_many(a.world, a.thing, 3, left), ECS_OK);
    assert_int_equal(ecs_create_many(b.world, b.thing, 3, right), ECS_OK);
    // Removing a middle row moves the last row into the hole. The rows of a are 1 3, the rows of b
    // are 1 2.
    assert_int_equal(ecs_destroy(a.world, left[1]), ECS_OK);
    assert_int_equal(ecs_destroy(b.world, right[1]), ECS_OK);
    assert_true(ecs_world_state_hash(a.world) == ecs_world_state_hash(b.world));
    int32_t hp = 4;
    assert_int_equal(ecs_set(a.world, left[0], a.hp, &hp), ECS_OK);
    assert_int_equal(ecs_set(a.world, left[2], a.hp, &hp), ECS_OK);
    assert_int_equal(ecs_set(b.world, right[2], b.hp, &hp), ECS_OK);
    assert_int_equal(ecs_set(b.world, right[0], b.hp, &hp), ECS_OK);
    live_step(&a);
    live_step(&b);
    assert_true(ecs_world_state_hash(a.world) == ecs_world_state_hash(b.world));
    live_close(&a);
    live_close(&b);
}

static void a_dead_entity_or_an_unknown_component_has_no_hash(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    assert_true(ecs_component_hash(fixture.world, entity, fixture.hp) != 0);
    assert_true(ecs_component_hash(fixture.world, entity, fixture.title) == 0);
    assert_true(ecs_component_hash(fixture.world, entity, UINT16_MAX) == 0);
    assert_true(ecs_world_state_hash_of(fixture.world, UINT16_MAX) == 0);
    assert_int_equal(ecs_destroy(fixture.world, entity), ECS_OK);
    assert_true(ecs_component_hash(fixture.world, entity, fixture.hp) == 0);
    live_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(structure_is_listed_in_order),
        TEST(changes_are_in_order_of_archetype_component_and_row),
        TEST(the_list_gathers_until_it_is_cleared),
        TEST(a_new_entity_in_a_reused_list_is_not_confused_with_a_dead_one),
        TEST(the_state_hash_does_not_depend_on_the_order_of_rows),
        TEST(a_dead_entity_or_an_unknown_component_has_no_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
