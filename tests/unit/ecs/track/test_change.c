// SPDX-License-Identifier: MIT
#include "sample_world.h"

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

STORE_CASE(a_dead_entity_or_an_unknown_component_has_no_hash) {
    ecs_entity entity = store_create(at, at->thing);
    assert_true(ecs_component_hash(at->world, entity, at->hp) != 0);
    assert_true(ecs_component_hash(at->world, entity, at->title) == 0);
    assert_true(ecs_component_hash(at->world, entity, UINT16_MAX) == 0);
    assert_true(ecs_world_state_hash_of(at->world, UINT16_MAX) == 0);
    assert_ok(ecs_destroy(at->world, entity));
    assert_true(ecs_component_hash(at->world, entity, at->hp) == 0);
}
