// SPDX-License-Identifier: MIT
// Late records of an ended incarnation: the mirror reads them because of the rest of their packet.
#include "mirror/mirror.h"

#include "mirror_world.h"

// `ball` is in slot 4 since tick 10, and has another record at tick 12.
static void open(mirror_side* m) {
    mirror_open_with_ball(m, 10, 4);
    assert_ok(mirror_update_at(m, 12, 4, m->mover, 2, words[0], words[1]));
}

static net_result late_update(mirror_side* m, ecs_tick tick) {
    return mirror_update_at(m, tick, 4, m->mover, (uint32_t)(tick - 10), words[0], words[2]);
}

static void expect_nothing(const mirror_side* m, uint32_t applied, uint32_t stale) {
    assert_int_equal(m->traced, applied);
    assert_int_equal(m->rows, applied);
    assert_int_equal(mirror_counters(m)->stale_records, stale);
}

#define KEPT_CASE(name) CASE_WITH(mirror_side, m, open(m), mirror_close(m), name)
static void open_ended(mirror_side* m) {
    open(m);
    assert_ok(mirror_destroy_at(m, 20, 4));
}

/// A case with `ball` destroyed at tick 20.
#define ENDED_CASE(name) CASE_WITH(mirror_side, m, open_ended(m), mirror_close(m), name)

ENDED_CASE(a_late_update_of_who_is_gone_is_read_and_changes_nothing) {
    // The same packet has a record of a living entity after it.
    assert_ok(mirror_create_at(m, 11, 6, other, m->mover, words[0]));
    assert_ok(mirror_update_at(m, 14, 4, m->mover, 2, words[1], words[2]));
    assert_ok(late_update(m, 15));
    assert_ok(mirror_absolute_at(m, 16, 4, m->mover, words[3]));
    expect_nothing(m, 3, 3);
    assert_int_equal(ecs_world_entity_count(m->side.world), 1);
    assert_false(ecs_is_alive(m->side.world, ball));
    // Its row is no base for other entities.
    assert_int_equal(mirror_update_at(m, 17, 4, m->mover, 2, words[2], words[3]), NET_ERR_STALE);
    assert_int_equal(mirror_counters(m)->missing_bases, 1);
}

ENDED_CASE(only_between_its_create_and_its_end_it_is_meant) {
    assert_int_equal(mirror_absolute_at(m, 10, 4, m->mover, words[1]), NET_ERR_STALE);
    assert_ok(mirror_absolute_at(m, 11, 4, m->mover, words[1]));
    assert_ok(mirror_absolute_at(m, 19, 4, m->mover, words[1]));
    assert_int_equal(mirror_absolute_at(m, 20, 4, m->mover, words[1]), NET_ERR_STALE);
    assert_int_equal(mirror_absolute_at(m, 21, 4, m->mover, words[1]), NET_ERR_MALFORMED);
}

// The list of the previous packet has both entities. The second one is destroyed when the packet
// that refers to the list arrives.
MIRROR_CASE(a_list_may_name_who_is_gone) {
    mirror_begin(m);
    pen_creates(&m->pen, 2);
    pen_create(&m->pen, 4, ball, m->mover, words[0]);
    pen_create(&m->pen, 6, other, m->mover, words[1]);
    pen_runs(&m->pen, 0);
    assert_ok(mirror_read(m, 10));
    assert_ok(mirror_destroy_at(m, 13, 4));
    mirror_begin_run(m);
    pen_run_packet(&m->pen, 2, 0);
    pen_row(&m->pen, m->mover, (proto_row_base){.base = words[0], .ticks = 2}, words[2]);
    pen_row(&m->pen, m->mover, (proto_row_base){.base = words[1], .ticks = 2}, words[3]);
    assert_ok(mirror_read(m, 12));
    mirror_expect(m, other, m->mover, words[3]);
    assert_false(ecs_is_alive(m->side.world, ball));
    // Both entities are in its list.
    mirror_begin_run(m);
    pen_run_packet(&m->pen, 2, 0);
    pen_absent(&m->pen);
    pen_row(&m->pen, m->mover, (proto_row_base){.base = words[3], .ticks = 2}, words[4]);
    assert_ok(mirror_read(m, 14));
    mirror_expect(m, other, m->mover, words[4]);
}

ENDED_CASE(whoever_took_the_slot_is_not_touched) {
    assert_ok(mirror_create_at(m, 30, 4, other, m->extra, m->extra->defaults));
    assert_ok(late_update(m, 15));
    expect_nothing(m, 3, 1);
    mirror_expect(m, other, m->extra, m->extra->defaults);
    // Between two incarnations the slot is empty, also at the tick of the create.
    for (ecs_tick tick = 20; tick <= 30; tick += 5)
        assert_int_equal(late_update(m, tick), NET_ERR_STALE);
    // From then on the records belong to the current incarnation.
    const uint64_t* row = m->extra->defaults;
    assert_ok(mirror_update_at(m, 31, 4, m->extra, 1, row, row));
}

// The handle and the template are the same, but rows of the previous incarnation are no bases for
// the current one.
ENDED_CASE(who_comes_back_has_none_of_its_former_rows) {
    assert_ok(mirror_create_at(m, 30, 4, ball, m->mover, words[3]));
    assert_ok(late_update(m, 15));
    expect_nothing(m, 3, 1);
    mirror_expect(m, ball, m->mover, words[3]);
    assert_int_equal(mirror_update_at(m, 31, 4, m->mover, 16, words[2], words[4]),
                     NET_ERR_MALFORMED);
    assert_int_equal(mirror_update_at(m, 31, 4, m->mover, 19, words[1], words[4]),
                     NET_ERR_MALFORMED);
}

KEPT_CASE(who_was_evicted_or_moved_is_known_too) {
    assert_ok(mirror_create_at(m, 20, 2, ball_reborn, m->mover, words[3]));
    assert_int_equal(mirror_counters(m)->evicted, 1);
    assert_ok(late_update(m, 15));
    assert_int_equal(late_update(m, 20), NET_ERR_STALE);
    mirror_expect(m, ball_reborn, m->mover, words[3]);
    // Move to slot 5. The records in slot 2 are late then.
    assert_ok(mirror_create_at(m, 25, 5, ball_reborn, m->mover, words[4]));
    assert_int_equal(mirror_counters(m)->moved, 1);
    assert_ok(mirror_absolute_at(m, 22, 2, m->mover, words[1]));
    mirror_expect(m, ball_reborn, m->mover, words[4]);
    // Another entity takes slot 5.
    assert_ok(mirror_create_at(m, 30, 5, other, m->extra, m->extra->defaults));
    assert_ok(mirror_absolute_at(m, 28, 5, m->mover, words[1]));
    mirror_expect(m, other, m->extra, m->extra->defaults);
    // This create has an earlier tick than the known one, so the previous incarnation ended
    // earlier.
    assert_ok(mirror_create_at(m, 27, 5, other, m->extra, m->extra->defaults));
    assert_ok(mirror_absolute_at(m, 26, 5, m->mover, words[1]));
    assert_int_equal(mirror_absolute_at(m, 27, 5, m->mover, words[1]), NET_ERR_STALE);
}

ENDED_CASE(an_index_that_a_packet_creates_is_not_updated_in_it) {
    mirror_begin(m);
    pen_creates(&m->pen, 1);
    pen_create(&m->pen, 8, ball_reborn, m->mover, words[0]);
    pen_runs(&m->pen, 1);
    pen_absolute(&m->pen, 4, m->mover, words[1]);
    assert_int_equal(mirror_read(m, 15), NET_ERR_STALE);
    assert_int_equal(ecs_world_entity_count(m->side.world), 0);
}

ENDED_CASE(only_the_last_former_life_is_known) {
    assert_ok(mirror_create_at(m, 22, 4, other, m->mover, words[0]));
    assert_ok(late_update(m, 15));
    assert_ok(mirror_destroy_at(m, 24, 4));
    assert_int_equal(late_update(m, 15), NET_ERR_STALE);
    assert_ok(mirror_absolute_at(m, 23, 4, m->mover, words[1]));
}

ENDED_CASE(a_former_life_is_forgotten_in_time) {
    assert_ok(net_mirror_read(m->mirror, 83, 20 + NET_MIRROR_PREVIOUS_TICKS - 1, NULL));
    assert_ok(late_update(m, 15));
    assert_ok(net_mirror_read(m->mirror, 84, 20 + NET_MIRROR_PREVIOUS_TICKS, NULL));
    assert_ok(late_update(m, 15));
    assert_true(m->mirror->previous_bytes > 0);
    assert_ok(net_mirror_read(m->mirror, 85, 20 + NET_MIRROR_PREVIOUS_TICKS + 1, NULL));
    assert_int_equal(m->mirror->previous_bytes, 0);
    assert_int_equal(late_update(m, 15), NET_ERR_STALE);
}

// All records are of a few ticks, so the mirror drops none because of its age.
MIRROR_CASE(formers_take_a_bounded_part_of_the_memory) {
    net_mirror_destroy(m->mirror);
    net_mirror_config config = mirror_config(m);
    config.memory_bytes_max = 800 << 10;
    assert_ok(net_mirror_create(&config, &m->mirror));
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
    assert_int_equal(late_update(m, 15), NET_ERR_STALE);
}
