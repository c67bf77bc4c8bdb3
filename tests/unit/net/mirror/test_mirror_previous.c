// SPDX-License-Identifier: MIT
// Late records of an ended incarnation: the mirror reads them because of the rest of their packet.

#include "mirror_world.h"

// `ball` is in slot 4 since tick 10, and has another record at tick 12.
static void open(mirror_side* m) {
    mirror_open_with_ball(m, 10, 4);
    assert_ok(mirror_update_at(m, 12, 4, m->mover, 2, words[0], words[1]));
}

#define KEPT_CASE(name) CASE_WITH(mirror_side, m, open(m), mirror_close(m), name)
static void open_ended(mirror_side* m) {
    open(m);
    assert_ok(mirror_destroy_at(m, 20, 4));
}

/// A case with `ball` destroyed at tick 20.
#define ENDED_CASE(name) CASE_WITH(mirror_side, m, open_ended(m), mirror_close(m), name)

ENDED_CASE(only_between_its_create_and_its_end_it_is_meant) {
    assert_int_equal(mirror_absolute_at(m, 10, 4, m->mover, words[1]), NET_ERR_STALE);
    assert_ok(mirror_absolute_at(m, 11, 4, m->mover, words[1]));
    assert_ok(mirror_absolute_at(m, 19, 4, m->mover, words[1]));
    assert_int_equal(mirror_absolute_at(m, 20, 4, m->mover, words[1]), NET_ERR_STALE);
    assert_int_equal(mirror_absolute_at(m, 21, 4, m->mover, words[1]), NET_ERR_MALFORMED);
}

// All records are of a few ticks, so the mirror drops none because of its age.
MIRROR_CASE(formers_take_a_bounded_part_of_the_memory) {
    net_mirror_destroy(m->mirror);
    net_mirror_config config = mirror_config(m);
    config.memory_bytes_max = 800 << 10;
    m->mirror = net_mirror_create(&config);
    size_t bytes_max = (800 << 10) / NET_MIRROR_PREVIOUS_SHARE, most = 0;
    for (uint32_t slot = 0; slot < MIRROR_INDEX_MAX - 10; slot++) {
        ecs_entity entity = ecs_entity_make(slot + 1, 1);
        assert_ok(mirror_create_at(m, 10, slot, entity, m->mover, words[0]));
        for (ecs_tick tick = 11; tick < 16; tick++)
            assert_ok(mirror_absolute_at(m, tick, slot, m->mover, words[1]));
        assert_ok(mirror_destroy_at(m, 17, slot));
        assert_in_range(m->mirror->previous_bytes, 1, bytes_max);
        if (m->mirror->previous_bytes > most) most = m->mirror->previous_bytes;
        assert_ok(mirror_absolute_at(m, 16, slot, m->mover, words[1]));
    }
    assert_true(most > bytes_max - 1000); // the memory became nearly full
    // The oldest rows were dropped. Current incarnations can use the memory of ended ones.
    assert_int_equal(mirror_absolute_at(m, 16, 0, m->mover, words[1]), NET_ERR_STALE);
    net_mirror_drop_previous(m->mirror);
    assert_int_equal(m->mirror->previous_bytes, 0);
}

// The blocks that the pool keeps for the next request: none, until they are shown again.
static void hide_unused(net_pool* pool, void** unused) {
    memcpy(unused, pool->unused, sizeof pool->unused);
    memset(pool->unused, 0, sizeof pool->unused);
}

static void show_unused(net_pool* pool, void** unused) {
    for (uint32_t i = 0; i < NET_POOL_CLASSES; i++) {
        while (unused[i]) {
            void* block = unused[i];
            memcpy(&unused[i], block, sizeof block);
            memcpy(block, &pool->unused[i], sizeof block);
            pool->unused[i] = block;
        }
    }
}

// Without memory the mirror drops the rows of ended incarnations first. This has no other effect.
KEPT_CASE(the_living_take_the_memory_of_the_dead) {
    assert_ok(mirror_create_at(m, 13, 6, other, m->mover, words[0]));
    for (ecs_tick tick = 14; tick < 17; tick++)
        assert_ok(mirror_absolute_at(m, tick, 4, m->mover, words[1]));
    assert_ok(mirror_destroy_at(m, 20, 4));
    assert_true(m->mirror->previous_bytes > 0);
    m->mirror->memory.bytes_max = m->mirror->memory.used_bytes;
    void* unused[NET_POOL_CLASSES];
    hide_unused(&m->mirror->pool, unused);
    // These sequence numbers already have memory for their lists.
    for (ecs_tick tick = 21; tick < 25; tick++) {
        mirror_begin_run(m);
        pen_absolute(&m->pen, 6, m->mover, words[tick % 6]);
        uint16_t seq = (uint16_t)(tick - 8 + NET_SNAPSHOT_PACKETS);
        assert_ok(pen_read(&m->pen, m->mirror, seq, tick));
    }
    assert_int_equal(m->mirror->previous_bytes, 0);
    show_unused(&m->mirror->pool, unused);
    mirror_expect(m, other, m->mover, words[0]);
    assert_int_equal(mirror_update_at(m, 15, 4, m->mover, 5, words[0], words[2]), NET_ERR_STALE);
}
