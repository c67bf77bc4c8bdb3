// SPDX-License-Identifier: MIT
#include "sample_world.h"

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

STORE_CASE(an_unknown_component_has_no_hash) {
    (void)store_create(at, at->thing);
    assert_true(ecs_world_state_hash_of(at->world, at->hp) != 0);
    assert_true(ecs_world_state_hash_of(at->world, UINT16_MAX) == 0);
}
