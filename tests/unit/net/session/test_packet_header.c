// SPDX-License-Identifier: MIT
// The packed header of a state packet. A reader gets back what was written, at every limit. It
// reads all other bytes to their end and refuses them.

#include "test.h"

#include "session/packet_header.h"

enum { BYTES_MAX = NET_PACKET_HEADER_BITS_MAX / 8 + 8 };

static const net_packet_header_near NEAR = {
    .tick = 1000, .has_tick = true, .seq = 5, .sent = 2, .input = 500, .event = 20};

static uint64_t write_one(uint8_t bytes[BYTES_MAX], const net_packet_header* header) {
    proto_bit_writer writer = proto_bit_writer_make(bytes, BYTES_MAX);
    net_packet_header_write(&writer, header);
    return writer.size_bits;
}

static net_result read_bits(uint8_t* bytes, uint64_t bits, const net_packet_header_near* near,
                            net_packet_header* header) {
    proto_bit_reader reader = proto_bit_reader_make(bytes, (size_t)((bits + 7) / 8));
    return net_packet_header_read(&reader, near, header);
}

// What a reader gets of a header that was written.
static net_result read_back(const net_packet_header* header, const net_packet_header_near* near,
                            net_packet_header* read) {
    uint8_t bytes[BYTES_MAX];
    return read_bits(bytes, write_one(bytes, header), near, read);
}

static void expect_same(const net_packet_header* a, const net_packet_header* b) {
    assert_int_equal(a->seq, b->seq);
    assert_int_equal(a->is_whole, b->is_whole);
    assert_true(a->tick == b->tick);
    assert_int_equal(a->has_ack, b->has_ack);
    assert_int_equal(a->ack, b->ack);
    assert_int_equal(a->ack_delay_us, b->ack_delay_us);
    assert_int_equal(a->has_input, b->has_input);
    assert_int_equal(a->input_used, b->input_used);
    assert_int_equal(a->input_repeats, b->input_repeats);
    assert_int_equal(a->input_depth, b->input_depth);
    assert_int_equal(a->has_event_ack, b->has_event_ack);
    assert_int_equal(a->event_ack, b->event_ack);
    assert_int_equal(a->player_age, b->player_age);
    assert_int_equal(a->has_probe, b->has_probe);
    assert_int_equal(a->probe_slot, b->probe_slot);
    assert_int_equal(a->probe_age, b->probe_age);
    assert_int_equal(a->probe_hash, b->probe_hash);
    assert_int_equal(a->has_body, b->has_body);
}

static void expect_round_trip_near(const net_packet_header* header,
                                   const net_packet_header_near* near) {
    net_packet_header read;
    assert_ok(read_back(header, near, &read));
    expect_same(header, &read);
}

static void expect_round_trip(const net_packet_header* header) {
    expect_round_trip_near(header, &NEAR);
}

static net_packet_header whole(void) {
    return (net_packet_header){.seq = 7,
                               .is_whole = true,
                               .tick = 1001,
                               .has_ack = true,
                               .ack = 65535,
                               .ack_delay_us = NET_PACKET_HEADER_DELAY_US,
                               .has_input = true,
                               .input_used = 499,
                               .input_repeats = 1,
                               .input_depth = 2,
                               .has_event_ack = true,
                               .event_ack = 19,
                               .player_age = 3,
                               .has_probe = true,
                               .probe_slot = 64,
                               .probe_age = 17,
                               .probe_hash = 0xBEEF};
}

CASE(a_header_of_nothing_new_has_28_bits) {
    net_packet_header header = {.seq = 1, .tick = 1000};
    uint8_t bytes[BYTES_MAX];
    // seq and tick 10 each, six flags, player_age 2
    assert_int_equal(write_one(bytes, &header), 10 + 10 + 6 + 2);
    expect_round_trip(&header);
}

CASE(numbers_are_read_back_at_their_limits) {
    const uint32_t values[] = {0, 1, UINT32_MAX - 1, UINT32_MAX};
    for (uint32_t i = 0; i < BASE_COUNT(values); i++) {
        net_packet_header header = whole();
        header.tick = UINT64_MAX;
        header.input_repeats = values[i];
        header.input_depth = values[i];
        header.player_age = values[i];
        header.probe_slot = values[i];
        header.probe_age = values[i];
        header.seq = header.ack = header.probe_hash = (uint16_t)values[i];
        expect_round_trip(&header);
    }
    const uint64_t ticks[] = {0, 1, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX};
    for (uint32_t i = 0; i < BASE_COUNT(ticks); i++) {
        net_packet_header header = {.is_whole = true, .tick = ticks[i]};
        expect_round_trip(&header);
    }
}

CASE(the_longest_header_fits) {
    net_packet_header header = {.is_whole = true,
                                .tick = UINT64_MAX,
                                .has_ack = true,
                                .ack_delay_us = UINT32_MAX / NET_PACKET_HEADER_DELAY_US *
                                                NET_PACKET_HEADER_DELAY_US,
                                .has_input = true,
                                .input_repeats = UINT32_MAX,
                                .input_depth = UINT32_MAX,
                                .has_event_ack = true,
                                .player_age = UINT32_MAX,
                                .has_probe = true,
                                .probe_slot = UINT32_MAX,
                                .probe_age = UINT32_MAX};
    uint8_t bytes[BYTES_MAX];
    uint64_t bits = write_one(bytes, &header);
    assert_true(bits <= NET_PACKET_HEADER_BITS_MAX && bits > NET_PACKET_HEADER_BITS_MAX - 8);
    expect_round_trip(&header);
}

CASE(a_sample_takes_the_bits_that_are_told) {
    const uint32_t values[] = {0, 1, 15, 16, 63, 64, 70000, UINT32_MAX};
    for (uint32_t i = 0; i < BASE_COUNT(values); i++) {
        for (uint32_t k = 0; k < BASE_COUNT(values); k++) {
            net_packet_header header = {.is_whole = true, .tick = UINT64_MAX};
            uint8_t bytes[BYTES_MAX];
            uint64_t without = write_one(bytes, &header);
            assert_int_equal(net_packet_header_probe_bits(&header), 0);
            header.has_probe = true;
            header.probe_slot = values[i];
            header.probe_age = values[k];
            assert_int_equal(write_one(bytes, &header),
                             without + net_packet_header_probe_bits(&header));
        }
    }
}

CASE(a_delay_is_cut_to_whole_units) {
    const uint32_t delays[][2] = {
        {0, 0}, {511, 0}, {512, 512}, {1023, 512}, {UINT32_MAX, UINT32_MAX - 511}};
    for (uint32_t i = 0; i < BASE_COUNT(delays); i++) {
        net_packet_header header = {
            .is_whole = true, .has_ack = true, .ack_delay_us = delays[i][0]};
        net_packet_header read;
        assert_ok(read_back(&header, &NEAR, &read));
        assert_int_equal(read.ack_delay_us, delays[i][1]);
    }
}

CASE(a_delay_beyond_32_bits_is_refused) {
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t bytes[BYTES_MAX] = {0};
        proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
        proto_bits_write(&writer, 0, 1 + 2 * NET_PACKET_HEADER_NEAR_BITS);
        proto_bits_write(&writer, 1, 1);
        proto_bits_write(&writer, 0, NET_PACKET_HEADER_ACK_BITS);
        proto_bits_write_golomb(&writer, UINT32_MAX / NET_PACKET_HEADER_DELAY_US + i, 4);
        proto_bits_write(&writer, 0, 2);
        proto_bits_write_golomb(&writer, 0, 1);
        proto_bits_write(&writer, 0, 2);
        net_packet_header read;
        assert_int_equal(read_bits(bytes, writer.size_bits, &NEAR, &read),
                         i == 0 ? NET_OK : NET_ERR_MALFORMED);
    }
}

CASE(low_bits_mean_the_nearest_number) {
    assert_int_equal(net_packet_header_expand(5, 16, 0), 5);
    assert_int_equal(net_packet_header_expand(65535, 16, 0), 65535); // never below 0
    assert_int_equal(net_packet_header_expand(65535, 16, 65536), 65535);
    assert_int_equal(net_packet_header_expand(0, 16, 65535), 65536);
    assert_int_equal(net_packet_header_expand(1000, 16, 70000), 66536);
    const uint64_t near = 10 * 65536 + 40000;
    for (uint32_t bits = 10; bits <= 16; bits += 2) {
        const int64_t half = INT64_C(1) << (bits - 1);
        const uint64_t mask = (UINT64_C(1) << bits) - 1;
        for (int64_t off = -half + 1; off <= half; off++)
            assert_true(net_packet_header_expand((uint32_t)((near + (uint64_t)off) & mask), bits,
                                                 near) == near + (uint64_t)off);
    }
    // One step more gives another number.
    assert_true(net_packet_header_expand((uint16_t)(near - 32768), 16, near) == near + 32768);
    assert_true(net_packet_header_expand((uint16_t)(near + 32769), 16, near) == near - 32767);
    assert_true(net_packet_header_expand(0, 16, UINT64_MAX) == UINT64_MAX - 65535);
    assert_true(net_packet_header_expand(65535, 16, UINT64_MAX) == UINT64_MAX);
}

CASE(low_bits_of_packets_go_around) {
    for (int32_t off = -511; off <= 512; off++)
        for (uint32_t near = 0; near < 65536; near += 4099) {
            const uint16_t seq = (uint16_t)((int32_t)near + off);
            assert_int_equal(net_packet_header_expand_seq(seq & 1023, (uint16_t)near), seq);
        }
    for (uint32_t behind = 0; behind < 4096; behind++) {
        const uint16_t ack = (uint16_t)(3 - behind);
        assert_int_equal(net_packet_header_expand_ack(ack & 4095, 3), ack);
    }
}

CASE(ticks_inputs_and_events_are_completed_from_what_is_known) {
    net_packet_header_near near = {
        .has_tick = true, .tick = 65530, .input = 200000, .event = 65536};
    net_packet_header header = {.tick = 65540,
                                .has_input = true,
                                .input_used = 199990,
                                .has_event_ack = true,
                                .event_ack = 65535};
    expect_round_trip_near(&header, &near);
    near = (net_packet_header_near){
        .has_tick = true, .tick = 3000000, .input = UINT32_MAX, .event = 3};
    header = (net_packet_header){.tick = 3000000 - NET_PACKET_HEADER_NEAR_MAX,
                                 .has_input = true,
                                 .input_used = UINT32_MAX,
                                 .has_event_ack = true,
                                 .event_ack = 0};
    expect_round_trip_near(&header, &near);
    header.tick = 3000000 + NET_PACKET_HEADER_NEAR_MAX;
    header.input_used = UINT32_MAX - 2000;
    header.event_ack = NET_PACKET_HEADER_NEAR_MAX + 3;
    expect_round_trip_near(&header, &near);
}

CASE(what_breaks_a_limit_is_refused) {
    const net_packet_header_near nothing = {.tick = 0};
    const net_packet_header_near most = {
        .has_tick = true, .input = UINT32_MAX, .event = UINT32_MAX};
    const struct {
        const net_packet_header_near* near;
        bool is_good;
        net_packet_header header;
    } ROWS[] = {
        // Numbers above 32 bits; a short tick before any whole one; a sample of before tick 0.
        {&most, false, {.has_input = true, .input_used = 0}},
        {&most, false, {.has_event_ack = true, .event_ack = 0}},
        {&most, true, {.has_event_ack = true, .event_ack = UINT32_MAX}},
        {&nothing, false, {.tick = 5}},
        {&nothing, true, {.tick = 5, .is_whole = true}},
        {&NEAR, true, {.is_whole = true, .tick = 10, .has_probe = true, .probe_age = 9}},
        {&NEAR, true, {.is_whole = true, .tick = 10, .has_probe = true, .probe_age = 10}},
        {&NEAR, false, {.is_whole = true, .tick = 10, .has_probe = true, .probe_age = 11}},
    };
    for (uint32_t i = 0; i < BASE_COUNT(ROWS); i++) {
        net_packet_header read;
        const net_result wanted = ROWS[i].is_good ? NET_OK : NET_ERR_MALFORMED;
        if (read_back(&ROWS[i].header, ROWS[i].near, &read) != wanted) fail_msg("row %u", i);
    }
}

CASE(a_header_that_ends_early_is_refused_at_every_byte) {
    net_packet_header header = whole();
    header.has_body = true;
    uint8_t bytes[BYTES_MAX];
    uint64_t bits = write_one(bytes, &header);
    for (uint64_t size = 0; size < bits / 8; size++) {
        net_packet_header read;
        assert_int_equal(read_bits(bytes, size * 8, &NEAR, &read), NET_ERR_MALFORMED);
    }
}

CASE(padding_is_0_and_less_than_a_byte) {
    net_packet_header header = {.tick = 1000, .player_age = 2}; // 30 bits, so two bits of padding
    uint8_t bytes[BYTES_MAX];
    net_packet_header read;
    uint64_t bits = write_one(bytes, &header);
    assert_int_equal(bits, 30);
    assert_ok(read_bits(bytes, bits, &NEAR, &read));
    bytes[4] = 0;
    assert_int_equal(read_bits(bytes, 40, &NEAR, &read), NET_ERR_MALFORMED);
    bytes[3] |= 0x80;
    assert_int_equal(read_bits(bytes, bits, &NEAR, &read), NET_ERR_MALFORMED);
    header.has_body = true; // then the bits belong to the body
    bits = write_one(bytes, &header);
    bytes[3] |= 0x80;
    assert_ok(read_bits(bytes, bits, &NEAR, &read));
}

CASE(a_body_that_was_promised_can_be_denied) {
    net_packet_header header = whole();
    header.has_body = true;
    uint8_t bytes[BYTES_MAX + 8];
    proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
    net_packet_header_write(&writer, &header);
    uint64_t end = writer.size_bits;
    proto_bits_write(&writer, 0x1FFFF, 17);
    net_packet_header_deny_snapshot(&writer, end);
    assert_int_equal(writer.size_bits, end);
    header.has_body = false;
    net_packet_header read;
    assert_ok(read_bits(bytes, end, &NEAR, &read));
    expect_same(&header, &read);
}

CASE(without_room_it_is_a_broken_promise) {
    net_packet_header header = whole();
    uint8_t bytes[8];
    proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
    expect_assert_failure(net_packet_header_write(&writer, &header));
}

CASE(any_bytes_end_and_what_is_accepted_can_be_written_again) {
    base_rng rng = test_rng(20250611, 1);
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < 200000; i++) {
        uint8_t bytes[BYTES_MAX];
        size_t size = base_rng_u32(&rng) % BYTES_MAX;
        // Few ones make long Golomb codes, many ones make short ones.
        uint32_t mask = base_rng_u32(&rng);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)(base_rng_u32(&rng) >> 8 & (mask >> 24 | (i & 1 ? 0xFF : 0)));
        net_packet_header header;
        if (read_bits(bytes, size * 8, &NEAR, &header) != NET_OK) continue;
        accepted++;
        expect_round_trip(&header);
    }
    assert_true(accepted > 1000);
}
