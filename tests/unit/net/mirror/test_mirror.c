// SPDX-License-Identifier: MIT

#include "mirror_world.h"

BALL_CASE(two_bases_and_their_ticks_are_those_of_the_writer, 10, 0) {
    assert_ok(mirror_update_at(m, 12, 0, m->mover, 2, words[0], words[1]));
    assert_ok(mirror_run_at(m, 15, 0, m->mover, 3, 2, words[1], words[0], words[2]));
    mirror_expect(m, ball, m->mover, words[2]);
}

MIRROR_CASE(lists_are_remembered_for_so_many_packets) {
    uint16_t seq = 65000; // the number wraps on its way
    for (uint32_t i = 0; i < 1000; i++, seq++)
        assert_ok(net_mirror_read(m->mirror, seq, i, NULL));
    for (uint16_t back = 1; back <= NET_SNAPSHOT_PACKETS; back++)
        assert_non_null(net_mirror_find_packet(m->mirror, (uint16_t)(seq - back)));
    assert_null(net_mirror_find_packet(m->mirror, seq));
    assert_null(net_mirror_find_packet(m->mirror, (uint16_t)(seq - NET_SNAPSHOT_PACKETS - 1)));
    // A late packet from before the window does not replace another packet.
    uint16_t late = (uint16_t)(seq - 1 - NET_SNAPSHOT_PACKETS);
    assert_ok(net_mirror_read(m->mirror, late, 1, NULL));
    assert_null(net_mirror_find_packet(m->mirror, late));
    assert_non_null(net_mirror_find_packet(m->mirror, (uint16_t)(seq - 1)));
    // A jump of the sequence number drops the packets behind the window, whatever their numbers are
    // modulo the window.
    assert_ok(net_mirror_read(m->mirror, (uint16_t)(seq + 99), 2000, NULL));
    assert_non_null(net_mirror_find_packet(m->mirror, (uint16_t)(seq - 1)));
    assert_null(net_mirror_find_packet(m->mirror, (uint16_t)(seq - 29)));
    assert_non_null(net_mirror_find_packet(m->mirror, (uint16_t)(seq - 28)));
    assert_ok(net_mirror_read(m->mirror, (uint16_t)(seq + 30000), 3000, NULL));
    for (uint32_t i = 1; i < 65536; i++)
        assert_null(net_mirror_find_packet(m->mirror, (uint16_t)(seq + 30000 + i)));
}

BALL_CASE(a_late_row_is_kept_as_a_base_and_not_applied, 1, 0) {
    assert_ok(mirror_update_at(m, 3, 0, m->mover, 2, words[0], words[3]));
    assert_ok(mirror_update_at(m, 2, 0, m->mover, 1, words[0], words[2]));
    assert_int_equal(mirror_counters(m)->stale_records, 1);
    assert_int_equal(m->rows, 3); // the sink asks for it
    assert_int_equal(m->traced, 2);
    mirror_expect(m, ball, m->mover, words[3]);
    // The server knows only the late packet as acknowledged, and uses it as the base.
    assert_ok(mirror_update_at(m, 4, 0, m->mover, 2, words[2], words[4]));
    mirror_expect(m, ball, m->mover, words[4]);
}

BALL_CASE(a_late_packet_without_its_base_is_stale_and_nothing_of_it_happens, 1, 0) {
    assert_ok(mirror_create_at(m, 2, 1, other, m->mover, words[0]));
    assert_ok(mirror_destroy_at(m, 5, 1));
    mirror_begin_run(m);
    pen_run_age(&m->pen, 2, 0, 2);
    for (uint32_t slot = 0; slot < 2; slot++) {
        pen_slot(&m->pen, slot);
        pen_row(&m->pen, m->mover, (proto_row_base){.base = words[0], .ticks = 2}, words[1]);
    }
    assert_int_equal(mirror_read(m, 4), NET_ERR_STALE);
    assert_int_equal(mirror_counters(m)->stale, 1);
    assert_int_equal(mirror_counters(m)->missing_bases, 1);
    mirror_expect(m, ball, m->mover, words[0]);
    assert_null(net_mirror_find_packet(m->mirror, 4));
}

BALL_CASE(who_has_no_second_row_is_coded_without_one, 3, 0) {
    // There is no row of tick 2.
    assert_ok(mirror_run_at(m, 5, 0, m->mover, 2, 1, words[0], NULL, words[1]));
    mirror_expect(m, ball, m->mover, words[1]);
}

BALL_CASE(a_newest_packet_without_its_base_is_malformed, 3, 0) {
    assert_int_equal(mirror_update_at(m, 5, 0, m->mover, 1, words[0], words[1]), NET_ERR_MALFORMED);
    assert_int_equal(mirror_update_at(m, 5, 1, m->mover, 2, words[0], words[1]), NET_ERR_MALFORMED);
    assert_int_equal(mirror_update_at(m, 5, 0, m->mover, 255, words[0], words[1]),
                     NET_ERR_MALFORMED);
    mirror_begin_run(m);
    pen_run_packet(&m->pen, 1, 0); // that packet is also unknown
    assert_int_equal(mirror_read(m, 5), NET_ERR_MALFORMED);
    assert_int_equal(mirror_counters(m)->missing_bases, 4);
    assert_int_equal(mirror_counters(m)->malformed, 4);
    mirror_expect(m, ball, m->mover, words[0]);
}

MIRROR_CASE(a_late_create_after_a_newer_destroy_is_ignored) {
    assert_ok(mirror_destroy_at(m, 5, 0));
    assert_ok(mirror_create_at(m, 4, 0, ball, m->mover, words[0]));
    assert_ok(mirror_create_at(m, 5, 0, ball, m->mover, words[0]));
    assert_int_equal(ecs_world_entity_count(m->side.world), 0);
    assert_int_equal(m->traced, 0);
    assert_int_equal(m->rows, 0);
    assert_ok(mirror_create_at(m, 6, 0, ball, m->mover, words[0]));
    mirror_expect(m, ball, m->mover, words[0]);
}

MIRROR_CASE(generations_wrap) {
    uint32_t generation = 1022;
    for (ecs_tick tick = 1; tick <= 8; tick++) {
        ecs_entity handle = ecs_entity_make(7, generation);
        uint32_t slot = (uint32_t)tick % 3;
        assert_ok(mirror_create_at(m, tick, slot, handle, m->mover, words[tick % 6]));
        mirror_expect(m, handle, m->mover, words[tick % 6]);
        assert_int_equal(ecs_world_entity_count(m->side.world), 1);
        generation = generation == ECS_GENERATION_MAX ? 1 : generation + 1;
    }
}

BALL_CASE(a_change_of_template_begins_another_life, 1, 0) {
    assert_ok(mirror_create_at(m, 3, 0, ball, m->extra, m->extra->defaults));
    mirror_expect(m, ball, m->extra, m->extra->defaults);
    assert_int_equal(mirror_counters(m)->recreates, 1);
    assert_ok(mirror_update_at(m, 2, 0, m->mover, 1, words[0], words[1]));
    // An older create of the current incarnation is a base for it. A create of the previous
    // incarnation is not.
    assert_ok(mirror_create_at(m, 2, 0, ball, m->extra, m->extra->defaults));
    assert_int_equal(mirror_update_at(m, 2, 0, m->mover, 1, words[0], words[1]), NET_ERR_STALE);
    assert_ok(mirror_create_at(m, 1, 0, ball, m->extra, m->extra->defaults));
    assert_int_equal(m->rows, 3);
}

BALL_CASE(rows_are_forgotten_when_their_bases_are, 1, 0) {
    for (ecs_tick tick = 2; tick <= 60; tick++)
        assert_ok(mirror_absolute_at(m, tick, 0, m->mover, words[tick % 6]));
    // Absolute rows and creates do not drop other rows.
    assert_ok(mirror_update_at(m, 61, 0, m->mover, 60, words[0], words[1]));
    // The older of both counts, and 16 ticks more.
    assert_ok(mirror_run_at(m, 62, 0, m->mover, 12, 10, words[50 % 6], words[40 % 6], words[2]));
    assert_ok(mirror_update_at(m, 63, 0, m->mover, 63 - 24, words[24 % 6], words[3]));
    assert_int_equal(mirror_update_at(m, 64, 0, m->mover, 64 - 7, words[7 % 6], words[3]),
                     NET_ERR_MALFORMED);
}

MIRROR_CASE(bits_are_accounted_for_to_the_last) {
    assert_ok(mirror_create_at(m, 1, 0, ball, m->mover, words[1]));
    uint64_t written = m->pen.bits.size_bits;
    assert_ok(mirror_update_at(m, 2, 0, m->mover, 1, words[1], words[4]));
    written += m->pen.bits.size_bits;
    // A refused packet counts for no entity.
    assert_int_equal(mirror_update_at(m, 3, 0, m->mover, 3, words[1], words[5]), NET_ERR_MALFORMED);
    mirror_begin_run(m);
    pen_run_age(&m->pen, 2, 0, 2);
    pen_slot(&m->pen, 0);
    pen_row(&m->pen, m->mover, (proto_row_base){.base = words[1], .ticks = 2}, words[5]);
    assert_int_equal(mirror_read(m, 3), NET_ERR_MALFORMED);
    const net_mirror_counters* counters = mirror_counters(m);
    assert_int_equal(counters->body_bits, written);
    uint64_t of_components = 0;
    for (uint32_t id = 0; id <= ECS_COMPONENTS_MAX; id++)
        of_components += net_mirror_component_bits(m->mirror, (ecs_component_id)id);
    assert_true(net_mirror_component_bits(m->mirror, m->side.hp) > 0);
    assert_true(net_mirror_component_bits(m->mirror, m->side.pos) > 0);
    assert_int_equal(counters->head_bits + of_components, written);
}

BALL_CASE(validating_finds_an_index_without_its_slot, 1, 0) {
    net_mirror_validate(m->mirror);
    net_mirror_index_of(m->mirror, ecs_entity_index(ball))->slot_next = 0;
    expect_assert_failure(net_mirror_validate(m->mirror));
    net_mirror_index_of(m->mirror, ecs_entity_index(ball))->slot_next = 1;
    net_mirror_slot_of(m->mirror, 0)->tick = 2; // there is no row of this tick
    expect_assert_failure(net_mirror_validate(m->mirror));
    net_mirror_slot_of(m->mirror, 0)->tick = 1;
    net_mirror_validate(m->mirror);
}
