// SPDX-License-Identifier: MIT
// Another server has the match: slots begin again, entities go on.
#include "mirror/mirror.h"

#include "mirror_world.h"
#include "net/solo.h"

// `ball` is in slot 3 since tick 100, `other` in slot 5.
static void open_rebased(mirror_side* m) {
    mirror_open_with_ball(m, 100, 3);
    assert_ok(mirror_create_at(m, 101, 5, other, m->mover, words[1]));
    ecs_changes_clear(m->side.world);
    net_mirror_rebase(m->mirror, NULL);
    net_mirror_validate(m->mirror);
    mirror_expect(m, ball, m->mover, words[0]);
}

#define REBASED_CASE(name) CASE_WITH(mirror_side, m, open_rebased(m), mirror_close(m), name)

// How many entities the world lost and got since the rebase.
static void expect_changes(const mirror_side* m, uint32_t destroyed, uint32_t created) {
    const ecs_changes changes = ecs_changes_get(m->side.world);
    assert_int_equal(changes.destroyed_count, destroyed);
    assert_int_equal(changes.created_count, created);
}

REBASED_CASE(what_does_not_come_again_is_gone_at_the_end) {
    assert_ok(mirror_create_at(m, 110, 0, ball, m->mover, words[2]));
    assert_int_equal(net_mirror_end_rebase(m->mirror, 110), 1);
    assert_false(ecs_is_alive(m->side.world, other));
    assert_true(m->ends == 1 && m->sunk_entity == other && m->sunk_tick == 110);
    ecs_entity handle;
    ecs_tick tick;
    assert_true(net_mirror_known_incarnation(m->mirror, ecs_entity_index(other), &handle, &tick));
    assert_true(handle == ECS_ENTITY_NONE && tick == 110);
    assert_int_equal(net_mirror_end_rebase(m->mirror, 111), 0); // again
    expect_changes(m, 1, 0);
}

// Slots of before mean nothing to the new server.
REBASED_CASE(no_record_but_a_create_is_about_an_entity_of_before) {
    assert_int_equal(mirror_update_at(m, 110, 3, m->mover, 10, words[0], words[2]),
                     NET_ERR_MALFORMED);
    assert_int_equal(mirror_absolute_at(m, 111, 3, m->mover, words[2]), NET_ERR_MALFORMED);
    assert_ok(mirror_destroy_at(m, 112, 3)); // of an entity that never came
    mirror_expect(m, ball, m->mover, words[0]);
    assert_int_equal(m->ends, 0);
    ecs_entity handle;
    ecs_tick tick;
    assert_true(net_mirror_known_incarnation(m->mirror, ecs_entity_index(ball), &handle, &tick));
    assert_true(handle == ball && tick == 0); // an event of any later tick waits for its entity
    net_mirror_difference found;
    assert_int_equal(net_mirror_check_probe(m->mirror, 5, 101, 0, &found), NET_MIRROR_UNKNOWN);
    net_mirror_validate(m->mirror);
    // The create that was destroyed is late.
    assert_ok(mirror_create_at(m, 111, 3, ball_reborn, m->mover, words[2]));
    assert_false(ecs_is_alive(m->side.world, ball_reborn));
}

// Each slot of the old server, in the reverse order: every entity moves, some twice.
MIRROR_CASE(a_full_mirror_is_rebased_in_any_order) {
    enum { COUNT = 300 };
    for (uint32_t i = 0; i < COUNT; i++)
        assert_ok(mirror_create_at(m, 100 + i, i, ecs_entity_make(i + 1, 1), m->mover, words[0]));
    ecs_changes_clear(m->side.world);
    net_mirror_rebase(m->mirror, NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t index = i % 2 ? COUNT - i / 2 : i / 2 + 1;
        assert_ok(mirror_create_at(m, 500 + i, i, ecs_entity_make(index, 1), m->mover, words[1]));
        if (i % 50 == 0) net_mirror_validate(m->mirror);
    }
    net_mirror_validate(m->mirror);
    assert_int_equal(net_mirror_end_rebase(m->mirror, 900), 0);
    expect_changes(m, 0, 0);
    for (uint32_t i = 1; i <= COUNT; i++)
        mirror_expect(m, ecs_entity_make(i, 1), m->mover, words[1]);
}
