// SPDX-License-Identifier: MIT
// Another server has the match: slots begin again, entities go on.

#include "mirror_world.h"
#include "net/solo.h"

// How many entities the world lost and got since the rebase.
static void expect_changes(const mirror_side* m, uint32_t destroyed, uint32_t created) {
    const ecs_changes changes = ecs_changes_get(m->side.world);
    assert_int_equal(changes.destroyed_count, destroyed);
    assert_int_equal(changes.created_count, created);
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
