// SPDX-License-Identifier: MIT
// The packets that a mirror refuses. A refused packet changes nothing, and no input makes the
// mirror use more memory than its limits.

#include "mirror_world.h"

enum { TICK = 300, SEQ = 101 }; // of the refused bodies

static void expect_refused(mirror_side* m) {
    uint64_t before = repl_scope(&m->side);
    net_mirror_counters counters = *mirror_counters(m);
    assert_int_equal(pen_read(&m->pen, m->mirror, SEQ, TICK), NET_ERR_MALFORMED);
    assert_true(repl_scope(&m->side) == before);
    assert_int_equal(net_mirror_tick(m->mirror), 100);
    assert_null(net_mirror_find_packet(m->mirror, SEQ));
    assert_int_equal(mirror_counters(m)->malformed, counters.malformed + 1);
    assert_int_equal(mirror_counters(m)->body_bits, counters.body_bits);
    assert_int_equal(ecs_world_entity_count(m->side.world), 1);
    mirror_begin(m);
}

BALL_CASE(impossible_slots_are_refused, 100, 3) {
    mirror_begin(m);
    static const uint32_t bad[] = {MIRROR_INDEX_MAX, MIRROR_INDEX_MAX + 1, UINT32_MAX - 8};
    for (uint32_t i = 0; i < BASE_COUNT(bad); i++) {
        pen_only_destroy(&m->pen, bad[i]);
        expect_refused(m);
    }
    pen_list(&m->pen, 2); // the second goes beyond the end
    pen_slot(&m->pen, MIRROR_INDEX_MAX - 1);
    pen_slot(&m->pen, MIRROR_INDEX_MAX);
    pen_list(&m->pen, 0);
    pen_runs(&m->pen, 0);
    expect_refused(m);
    // One body: destroys and creates one slot; creates and updates it; updates it twice; updates
    // and lists it.
    pen_destroys(&m->pen, 1, &(uint32_t){5});
    pen_list(&m->pen, 1);
    pen_create(&m->pen, 5, other, m->mover, words[0]);
    pen_runs(&m->pen, 0);
    expect_refused(m);
    pen_creates(&m->pen, 1);
    pen_create(&m->pen, 3, ball, m->mover, words[0]);
    pen_runs(&m->pen, 1);
    pen_absolute(&m->pen, 3, m->mover, words[1]);
    expect_refused(m);
    for (uint32_t is_listed = 0; is_listed < 2; is_listed++) {
        pen_updates(&m->pen, 2);
        pen_absolute(&m->pen, 3, m->mover, words[1]);
        proto_row_base base = {.base = is_listed ? words[0] : NULL,
                               .ticks = is_listed ? TICK - 100 : 0};
        if (is_listed) {
            pen_run_packet(&m->pen, SEQ - 100, 0);
        } else {
            pen_run_absolute(&m->pen, 1);
            pen_slot(&m->pen, 3);
        }
        pen_row(&m->pen, m->mover, base, words[1]);
        expect_refused(m);
    }
    mirror_begin_run(m); // the slot before the previous one
    pen_run_absolute(&m->pen, 2);
    pen_slot(&m->pen, 3);
    pen_row(&m->pen, m->mover, (proto_row_base){0}, words[1]);
    proto_bits_write_golomb(&m->pen.bits, UINT32_MAX - 1, 3);
    expect_refused(m);
    // The last possible slot.
    assert_ok(mirror_create_at(m, TICK, MIRROR_INDEX_MAX - 1, other, m->mover, words[0]));
}

BALL_CASE(impossible_creates_are_refused, 100, 3) {
    mirror_begin(m);
    static const uint32_t bad[] = {0, MIRROR_INDEX_MAX + 1, 2047};
    for (uint32_t i = 0; i < BASE_COUNT(bad); i++) {
        pen_only_create(&m->pen, 5, ecs_entity_make(bad[i], 1), m->mover, words[0]);
        expect_refused(m);
    }
    pen_creates(&m->pen, 2); // the slot after the last one
    pen_create(&m->pen, 5, ecs_entity_make(MIRROR_INDEX_MAX, 1), m->mover, words[0]);
    pen_create(&m->pen, 6, ecs_entity_make(MIRROR_INDEX_MAX + 1, 1), m->mover, words[0]);
    pen_runs(&m->pen, 0);
    expect_refused(m);
    pen_only_create(&m->pen, 5, ecs_entity_make(9, 0), m->mover, words[0]); // generation 0
    expect_refused(m);
    pen_creates(&m->pen, 2); // one index in two slots
    pen_create(&m->pen, 5, ecs_entity_make(9, 1), m->mover, words[0]);
    pen_create(&m->pen, 6, ecs_entity_make(9, 2), m->mover, words[0]);
    pen_runs(&m->pen, 0);
    expect_refused(m);
    pen_creates(&m->pen, 1); // created in one slot and updated in another
    pen_create(&m->pen, 5, ball, m->mover, words[0]);
    pen_runs(&m->pen, 1);
    pen_absolute(&m->pen, 3, m->mover, words[1]);
    expect_refused(m);
    // "the same template as the previous create", but there is no previous create
    pen_creates(&m->pen, 1);
    m->pen.entry = m->mover;
    pen_create(&m->pen, 5, other, m->mover, words[0]);
    pen_runs(&m->pen, 0);
    expect_refused(m);
    // A number that no template has, and parts that do not compose.
    for (uint32_t parts = 1; parts <= 2; parts++) {
        pen_creates(&m->pen, 1);
        net_row_template strange = {.part_count = (uint16_t)parts, .defaults = words[0]};
        strange.parts[parts - 1] = (uint16_t)m->side.rows->number_count;
        strange.layout = m->mover->layout;
        pen_create(&m->pen, 5, other, &strange, words[0]);
        pen_runs(&m->pen, 0);
        expect_refused(m);
    }
    // The long forms have the same meaning as the short ones.
    pen_creates(&m->pen, 1);
    pen_slot(&m->pen, 0);
    pen_put(&m->pen, 0, 1);
    pen_put(&m->pen, 1, m->pen.index_bits);
    pen_put(&m->pen, 0, 1);
    pen_put(&m->pen, 1, ECS_GENERATION_BITS);
    pen_put(&m->pen, 0, 1);
    pen_put(&m->pen, 0, NET_SNAPSHOT_PARTS_BITS);
    pen_put(&m->pen, m->mover->parts[0], m->pen.number_bits);
    pen_row(&m->pen, m->mover, (proto_row_base){0}, words[1]);
    pen_runs(&m->pen, 0);
    assert_ok(mirror_read(m, TICK));
    mirror_expect(m, ecs_entity_make(1, 1), m->mover, words[1]);
}

// A run that is complete but for its second row, which a settled row does not have.
BALL_CASE(a_settled_row_has_one_base, 100, 3) {
    const uint32_t age = NET_SNAPSHOT_AGE_SETTLED;
    assert_int_equal(mirror_run_at(m, TICK + 400, 3, m->mover, age, 1, words[0], NULL, words[1]),
                     NET_ERR_MALFORMED);
    assert_ok(mirror_run_at(m, TICK + 400, 3, m->mover, age, 0, words[0], NULL, words[1]));
}

BALL_CASE(impossible_runs_are_refused, 100, 3) {
    mirror_begin(m);
    mirror_begin_run(m); // kind 3
    pen_put(&m->pen, 3, NET_SNAPSHOT_KIND_BITS);
    expect_refused(m);
    static const uint32_t ages[][2] = {
        {0, 0},     // of itself
        {200, 256}, // a second row 256 ticks before
        {255, 1},   // a second row of a settled entity
        {254, 255}, // a second row from before the first tick
    };
    for (uint32_t i = 0; i < BASE_COUNT(ages); i++) {
        mirror_begin_run(m);
        pen_run_age(&m->pen, ages[i][0], ages[i][1], 1);
        expect_refused(m);
    }
    mirror_begin_run(m); // back 0: itself
    pen_run_packet(&m->pen, 0, 0);
    expect_refused(m);
    mirror_begin_run(m); // an absolute update of an empty slot
    pen_absolute(&m->pen, 4, m->mover, words[1]);
    expect_refused(m);
    // More entries than there are bits.
    mirror_begin_run(m);
    pen_run_absolute(&m->pen, UINT32_MAX);
    expect_refused(m);
    pen_list(&m->pen, UINT32_MAX);
    expect_refused(m);
    pen_creates(&m->pen, UINT32_MAX);
    expect_refused(m);
    pen_updates(&m->pen, UINT32_MAX);
    expect_refused(m);
}

// Each would be read without its check: there is a row of the tick that it names.
BALL_CASE(a_row_is_no_base_of_its_own_tick_and_none_is_older_than_the_match, 100, 3) {
    assert_int_equal(mirror_run_at(m, 100, 3, m->mover, 0, 0, words[0], NULL, words[1]),
                     NET_ERR_MALFORMED);
    mirror_begin_run(m);
    pen_run_packet(&m->pen, 0, 0); // the same packet again, with itself as a base
    pen_row(&m->pen, m->mover, (proto_row_base){.base = words[0]}, words[1]);
    assert_int_equal(mirror_read(m, 100), NET_ERR_MALFORMED);
    assert_int_equal(mirror_run_at(m, 300, 3, m->mover, 200, 101, words[0], NULL, words[1]),
                     NET_ERR_MALFORMED);
    assert_ok(mirror_run_at(m, 300, 3, m->mover, 200, 100, words[0], NULL, words[1]));
}

BALL_CASE(a_base_packet_of_a_later_tick_is_refused, 100, 3) {
    mirror_begin(m);
    assert_ok(net_mirror_read(m->mirror, 101, 500, NULL));
    assert_ok(net_mirror_read(m->mirror, 102, UINT64_C(1) << 40, NULL));
    mirror_begin_run(m);
    pen_run_packet(&m->pen, 2, 0);
    assert_int_equal(pen_read(&m->pen, m->mirror, 103, 499), NET_ERR_STALE);
    // The ticks between two rows are 32 bits wide.
    pen_begin(&m->pen, MIRROR_INDEX_MAX, m->side.rows);
    mirror_begin_run(m);
    pen_run_packet(&m->pen, 2, 0);
    assert_int_equal(pen_read(&m->pen, m->mirror, 103, UINT64_C(1) << 40), NET_ERR_MALFORMED);
}

MIRROR_CASE(a_body_ends_where_its_records_end) {
    mirror_begin(m);
    pen_only_create(&m->pen, 0, other, m->mover, words[2]);
    size_t size = proto_bit_writer_bytes(&m->pen.bits);
    for (size_t cut = 0; cut <= size + 1; cut++) {
        if (cut == size) continue;
        proto_bit_reader reader = proto_bit_reader_make(m->pen.bytes, cut);
        assert_int_equal(net_mirror_read(m->mirror, 1, 1, &reader), NET_ERR_MALFORMED);
    }
    // Padding bits must be 0.
    uint32_t used = (uint32_t)(m->pen.bits.size_bits % 8);
    assert_int_not_equal(used, 0);
    for (uint32_t bit = used; bit < 8; bit++) {
        m->pen.bytes[size - 1] = (uint8_t)(m->pen.bytes[size - 1] ^ 1u << bit);
        assert_int_equal(mirror_read(m, 1), NET_ERR_MALFORMED);
        m->pen.bytes[size - 1] = (uint8_t)(m->pen.bytes[size - 1] ^ 1u << bit);
    }
    static const uint8_t varsize[NET_SNAPSHOT_BYTES_MAX + 1];
    proto_bit_reader reader = proto_bit_reader_make(varsize, sizeof varsize);
    assert_int_equal(net_mirror_read(m->mirror, 1, 1, &reader), NET_ERR_MALFORMED);
    assert_int_equal(ecs_world_entity_count(m->side.world), 0);
    assert_ok(mirror_read(m, 1));
    mirror_expect(m, other, m->mover, words[2]);
}

static void write_creates(mirror_side* m, uint32_t count) {
    mirror_begin(m);
    pen_creates(&m->pen, count);
    for (uint32_t i = 0; i < count; i++)
        pen_create(&m->pen, i, ecs_entity_make(i + 1, 1), m->mover, words[i % BASE_COUNT(words)]);
    pen_runs(&m->pen, 0);
}

CASE_WITH(mirror_side, m, mirror_open(m), mirror_close(m),
          a_body_of_more_bytes_than_a_snapshot_has_is_refused) {
    uint32_t count = 0;
    do
        write_creates(m, ++count);
    while (m->pen.bits.size_bits <= NET_SNAPSHOT_BYTES_MAX * 8u);
    assert_int_equal(mirror_read(m, 1), NET_ERR_MALFORMED);
    assert_int_equal(ecs_world_entity_count(m->side.world), 0);
    write_creates(m, count - 1);
    assert_ok(mirror_read(m, 1));
    assert_int_equal(ecs_world_entity_count(m->side.world), count - 1);
}

static const struct {
    uint32_t index_max, bits;
} told[] = {{1, 1}, {2, 2}, {1023, 10}, {1024, 11}, {65535, 16}, {65536, 17}};

// The width of an index comes from Welcome's range. The largest index is the smaller of that range
// and the world's range.
CASE_ROWS(mirror_side, m, mirror_open(m), mirror_close(m), i, BASE_COUNT(told),
          the_range_that_was_told_is_the_width_of_an_index) {
    assert_int_equal(net_snapshot_index_bits(told[i].index_max), told[i].bits);
    net_mirror_destroy(m->mirror);
    net_mirror_config config = mirror_config(m);
    config.index_max = told[i].index_max;
    m->mirror = net_mirror_create(&config);
    uint32_t last = told[i].index_max < MIRROR_INDEX_MAX ? told[i].index_max : MIRROR_INDEX_MAX;
    for (uint32_t beyond = 0; beyond < 2; beyond++) {
        pen_begin(&m->pen, told[i].index_max, m->side.rows);
        pen_creates(&m->pen, 1);
        m->pen.index = last; // so that the index is written
        pen_create(&m->pen, last - 1 + beyond, ecs_entity_make(last, 1), m->mover, words[0]);
        pen_runs(&m->pen, 0);
        assert_int_equal(mirror_read(m, 1 + beyond), beyond ? NET_ERR_MALFORMED : NET_OK);
    }
    mirror_expect(m, ecs_entity_make(last, 1), m->mover, words[0]);
}

MIRROR_CASE(any_bytes_leave_a_whole_world) {
    base_rng rng = test_rng(11, 0);
    for (uint32_t i = 0; i < 30; i++)
        assert_ok(mirror_create_at(m, i, i, ecs_entity_make(i + 1, 1), m->mover, words[0]));
    ecs_tick tick = 30;
    uint32_t read = 0;
    for (uint32_t round = 0; round < 40000; round++) {
        uint8_t bytes[64];
        uint32_t size = 1 + base_rng_below(&rng, round % 2 ? 6 : sizeof bytes - 1);
        for (uint32_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)base_rng_u32(&rng);
        if (round % 3) bytes[0] = (uint8_t)(0x0b | (bytes[0] & 0xe0)); // no lists, one run
        bytes[size - 1] &= 0x0f;                                       // padding
        proto_bit_reader reader = proto_bit_reader_make(bytes, size);
        uint16_t seq = (uint16_t)(tick + base_rng_below(&rng, 8));
        net_result result =
            net_mirror_read(m->mirror, seq, tick + base_rng_below(&rng, 4), &reader);
        assert_true(result == NET_OK || result == NET_ERR_STALE || result == NET_ERR_MALFORMED);
        read += result == NET_OK;
        tick += round % 16 == 0;
    }
    assert_true(read > 100); // otherwise the test would prove nothing
}

// ---- memory ----

// Rows that cost a few bits each and are kept: the mirror keeps its limit and frees its memory in
// the end.
MIRROR_CASE(a_liar_cannot_make_it_grow_beyond_its_limit) {
    net_mirror_destroy(m->mirror);
    net_mirror_config config = mirror_config(m);
    config.memory_bytes_max = 1 << 20;
    m->mirror = net_mirror_create(&config);
    net_result result = NET_OK;
    for (ecs_tick tick = 1; tick < 5000 && result == NET_OK; tick++) {
        mirror_begin(m);
        m->pen.order = 0;
        pen_creates(&m->pen, 100);
        for (uint32_t i = 0; i < 100; i++) {
            uint32_t slot = (uint32_t)(tick * 100 + i) % MIRROR_INDEX_MAX;
            pen_create(&m->pen, slot, ecs_entity_make(slot + 1, 1), m->mover, m->mover->defaults);
        }
        pen_runs(&m->pen, 0);
        result = mirror_read(m, tick);
        assert_true(m->mirror->memory.used_bytes <= (1 << 20) + (1 << 16));
    }
    assert_int_equal(result, NET_ERR_MEMORY);
    // The error is final.
    assert_int_equal(net_mirror_read(m->mirror, 1, 1, NULL), NET_ERR_MEMORY);
}
