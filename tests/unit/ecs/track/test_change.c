// SPDX-License-Identifier: MIT
#include "sample_world.h"

STORE_CASE(structure_is_listed_in_order) {
    ecs_entity a = store_create(at, at->named);
    ecs_entity b = store_create(at, at->thing);
    ecs_entity c = store_create(at, at->named);
    assert_ok(ecs_destroy(at->world, c));
    assert_ok(ecs_destroy(at->world, a));
    ecs_changes changes = ecs_changes_get(at->world);
    assert_int_equal(changes.created_count, 3);
    assert_int_equal(changes.created[0], a);
    assert_int_equal(changes.created[1], b);
    assert_int_equal(changes.created[2], c);
    assert_int_equal(changes.destroyed_count, 2);
    assert_int_equal(changes.destroyed[0], c);
    assert_int_equal(changes.destroyed[1], a);
}

STORE_CASE(changes_are_in_order_of_archetype_component_and_row) {
    ecs_entity things[3];
    assert_ok(ecs_create_many(at->world, at->thing, 3, things));
    ecs_entity solid = store_create(at, at->solid);
    ecs_changes_clear(at->world);
    int32_t hp = 3;
    ecs_vec2 pos = {8, 8};
    assert_ok(ecs_set(at->world, solid, at->hp, &hp));
    assert_ok(ecs_set(at->world, things[2], at->hp, &hp));
    assert_ok(ecs_set(at->world, things[1], at->pos, &pos));
    assert_ok(ecs_set(at->world, things[0], at->hp, &hp));
    store_step(at);
    ecs_changes changes = ecs_changes_get(at->world);
    assert_int_equal(changes.changed_count, 4);
    bool is_pos_first = at->pos < at->hp; // columns are sorted by component
    const ecs_change* hps = changes.changed + (is_pos_first ? 1 : 0);
    const ecs_change* poss = changes.changed + (is_pos_first ? 0 : 2);
    assert_int_equal(hps[0].entity, things[0]);
    assert_int_equal(hps[1].entity, things[2]);
    assert_int_equal(poss[0].entity, things[1]);
    assert_int_equal(changes.changed[3].entity, solid);
}

STORE_CASE(the_list_gathers_until_it_is_cleared) {
    ecs_entity entity = store_create(at, at->thing);
    ecs_changes_clear(at->world);
    for (int32_t i = 1; i <= 2; i++) {
        assert_ok(ecs_set(at->world, entity, at->hp, &i));
        store_step(at);
        assert_int_equal(ecs_changes_get(at->world).changed_count, i);
    }
    ecs_changes_clear(at->world);
    ecs_changes changes = ecs_changes_get(at->world);
    assert_int_equal(changes.created_count + changes.destroyed_count + changes.recreated_count +
                         changes.changed_count + changes.event_count,
                     0);
}

STORE_CASE(a_new_entity_in_a_reused_list_is_not_confused_with_a_dead_one) {
    ecs_entity first = store_create(at, at->thing);
    ecs_changes_clear(at->world);
    assert_ok(ecs_destroy(at->world, first));
    ecs_entity second = store_create(at, at->thing);
    assert_int_not_equal(first, second);
    int32_t hp = 2;
    assert_ok(ecs_set(at->world, second, at->hp, &hp));
    store_step(at);
    assert_int_equal(ecs_changes_get(at->world).changed_count, 0);
    ecs_world_validate(at->world);
}

CASE(the_state_hash_does_not_depend_on_the_order_of_rows) {
    store a;
    store b;
    store_open(&a);
    store_open(&b);
    store_seal(&a);
    store_seal(&b);
    ecs_entity left[3];
    ecs_entity right[3];
    assert_ok(ecs_create_many(a.world, a.thing, 3, left));
    assert_ok(ecs_create_many(b.world, b.thing, 3, right));
    // Removing a middle row moves the last row into the hole. The rows of a are 1 3, the rows of b
    // are 1 2.
    assert_ok(ecs_destroy(a.world, left[1]));
    assert_ok(ecs_destroy(b.world, right[1]));
    assert_true(ecs_world_state_hash(a.world) == ecs_world_state_hash(b.world));
    int32_t hp = 4;
    assert_ok(ecs_set(a.world, left[0], a.hp, &hp));
    assert_ok(ecs_set(a.world, left[2], a.hp, &hp));
    assert_ok(ecs_set(b.world, right[2], b.hp, &hp));
    assert_ok(ecs_set(b.world, right[0], b.hp, &hp));
    store_step(&a);
    store_step(&b);
    assert_true(ecs_world_state_hash(a.world) == ecs_world_state_hash(b.world));
    store_close(&a);
    store_close(&b);
}

STORE_CASE(a_dead_entity_or_an_unknown_component_has_no_hash) {
    ecs_entity entity = store_create(at, at->thing);
    assert_true(ecs_component_hash(at->world, entity, at->hp) != 0);
    assert_true(ecs_component_hash(at->world, entity, at->title) == 0);
    assert_true(ecs_component_hash(at->world, entity, UINT16_MAX) == 0);
    assert_true(ecs_world_state_hash_of(at->world, UINT16_MAX) == 0);
    assert_ok(ecs_destroy(at->world, entity));
    assert_true(ecs_component_hash(at->world, entity, at->hp) == 0);
}
