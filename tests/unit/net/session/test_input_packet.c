// SPDX-License-Identifier: MIT
// session/input_packet.h: what is written is read back; any other bytes are refused.
#include "session/input_packet.h"
#include "session/packet_header.h"

#include "test.h"

static net_input_packet_store store;

static net_result read_back(const net_input_packet* packet, const net_input_packet_near* near,
                            net_input_packet* back, size_t* size) {
    static uint8_t bytes[4096];
    proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
    net_input_packet_write(&writer, packet);
    assert_false(writer.failed);
    *size = proto_bit_writer_bytes(&writer);
    proto_bit_reader reader = proto_bit_reader_make(bytes, *size);
    return packet->base ? net_input_packet_read_short(&reader, near, &store, back)
                        : net_input_packet_read(&reader, near, &store, back);
}

static void expect_same(const net_input_packet* a, const net_input_packet* b) {
    assert_int_equal(a->seq, b->seq);
    assert_int_equal(a->has_ack, b->has_ack);
    assert_int_equal(a->ack, b->ack);
    const uint64_t mask = a->ack_reach ? UINT64_MAX >> (64 - a->ack_reach) : 0;
    assert_true((a->ack_bits & mask) == b->ack_bits);
    assert_int_equal(a->ack_delay_us, b->ack_delay_us);
    assert_int_equal(a->has_event_ack, b->has_event_ack);
    assert_int_equal(a->event_ack, b->event_ack);
    assert_int_equal(a->input_count, b->input_count);
    if (a->input_count > 0) assert_int_equal(a->input_first, b->input_first);
    for (uint32_t i = 0; i < a->input_count; i++) {
        assert_int_equal(a->inputs[i].size, b->inputs[i].size);
        assert_memory_equal(a->inputs[i].data, b->inputs[i].data, a->inputs[i].size);
    }
    if (a->input_count > 0) assert_true(a->seen == b->seen);
    assert_int_equal(a->resync_count, b->resync_count);
    assert_memory_equal(a->resyncs, b->resyncs, a->resync_count * sizeof *a->resyncs);
}

static uint8_t payloads[NET_INPUT_REDUNDANCY][NET_INPUT_BYTES_MAX];

static void draw_acks(base_rng* rng, net_input_packet* packet) {
    packet->ack_reach = base_rng_below(rng, 65);
    packet->ack_bits = (uint64_t)base_rng_u32(rng) << 32 | base_rng_u32(rng);
    packet->ack_delay_us = base_rng_below(rng, 100000) * NET_PACKET_HEADER_DELAY_US;
    packet->has_event_ack = base_rng_below(rng, 2);
    packet->event_ack = packet->has_event_ack ? base_rng_below(rng, 70000) : 0;
    packet->resync_count = base_rng_below(rng, NET_INPUT_PACKET_RESYNCS_MAX + 1);
    for (uint32_t i = 0; i < packet->resync_count; i++)
        packet->resyncs[i] = base_rng_u32(rng);
}

// Small numbers in fields 1, 2, 3, or any bytes.
static uint32_t draw_payload(base_rng* rng, uint8_t* bytes) {
    uint32_t size = 0;
    if (base_rng_below(rng, 4) == 0) {
        size = base_rng_below(rng, base_rng_below(rng, 8) ? 40 : NET_INPUT_BYTES_MAX + 1);
        for (uint32_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)base_rng_u32(rng);
        return size;
    }
    for (uint32_t field = 1; field <= 3; field++) {
        const uint32_t value = base_rng_below(rng, 300);
        if (value % 3 == 0) continue;
        bytes[size++] = (uint8_t)(field << 3);
        if (value >= 128) bytes[size++] = (uint8_t)(value | 128);
        bytes[size++] = (uint8_t)(value >= 128 ? value >> 7 : value);
    }
    return size;
}

static void draw_inputs(base_rng* rng, net_input_packet* packet) {
    for (uint32_t i = 0; i < packet->input_count; i++)
        packet->inputs[i] = i > 0 && base_rng_below(rng, 2)
                                ? packet->inputs[i - 1]
                                : (net_input_bytes){payloads[i], draw_payload(rng, payloads[i])};
}

CASE(packets_are_read_back) {
    base_rng rng = base_rng_make(1, 1);
    for (uint32_t round = 0; round < 20000; round++) {
        net_input_packet packet = {.seq = (uint16_t)base_rng_u32(&rng)};
        draw_acks(&rng, &packet);
        packet.has_ack = base_rng_below(&rng, 8) > 0;
        if (!packet.has_ack) packet.ack_reach = packet.ack_delay_us = 0;
        if (packet.has_ack) packet.ack = (uint16_t)base_rng_u32(&rng);
        packet.input_count = base_rng_below(&rng, NET_INPUT_REDUNDANCY + 1);
        packet.input_first = 1 + base_rng_below(&rng, 1000000);
        draw_inputs(&rng, &packet);
        const uint64_t moment = (UINT64_C(1) << 40) + base_rng_u32(&rng);
        if (packet.input_count > 0 && base_rng_below(&rng, 2))
            packet.seen = moment + (1 << 17) - 1 - base_rng_below(&rng, 1 << 18);
        const net_input_packet_near near = {.event = packet.event_ack, .moment = moment};
        net_input_packet back;
        size_t size;
        assert_int_equal(read_back(&packet, &near, &back, &size), NET_OK);
        expect_same(&packet, &back);
    }
}

// Both ends keep the packets that were sent and came. Lost and late ones change nothing. What a
// player sees may be after the server's tick, which has lost some, from the first ticks on.
CASE(short_packets_are_read_back_against_what_was_kept) {
    static net_input_bases said, heard;
    memset(&said, 0, sizeof said);
    memset(&heard, 0, sizeof heard);
    base_rng rng = base_rng_make(3, 1);
    uint16_t seq = 65000, newest = 64999, ack = 65100;
    uint32_t number = 1, shorts = 0;
    uint64_t moment = 1;
    for (uint32_t round = 0; round < 20000; round++, seq++, number++) {
        net_input_packet packet = {.seq = seq, .has_ack = true};
        draw_acks(&rng, &packet);
        ack = (uint16_t)(ack + base_rng_below(&rng, 3));
        packet.ack = ack;
        moment += 128 + base_rng_below(&rng, 256);
        packet.base = net_input_base_find(&said, newest);
        const uint32_t unheard = number - (packet.base ? packet.base->number : 0);
        packet.input_count = unheard < 8 ? unheard : 1 + base_rng_below(&rng, 8);
        if (base_rng_below(&rng, 16) == 0) packet.ack_reach = 0;
        packet.input_first = number + 1 - packet.input_count;
        draw_inputs(&rng, &packet);
        packet.seen = moment;
        if (packet.base && !net_input_packet_fits(&packet, packet.base)) packet.base = NULL;
        const net_input_packet_near near = {.has_seq = true,
                                            .seq = newest,
                                            .event = packet.event_ack,
                                            .moment = base_rng_below(&rng, 25600) +
                                                      (moment > 25600 ? moment - 12800 : 0),
                                            .bases = &heard};
        net_input_bases_keep(&said, &packet);
        if (base_rng_below(&rng, 4) == 0) continue; // lost
        net_input_packet back;
        size_t size;
        assert_int_equal(read_back(&packet, &near, &back, &size), NET_OK);
        // All that came since the base may be said though it is no news.
        if (packet.base && back.ack_reach > packet.ack_reach) packet.ack_reach = back.ack_reach;
        const uint64_t mask = packet.ack_reach ? UINT64_MAX >> (64 - packet.ack_reach) : 0;
        packet.ack_bits &= back.ack_reach == packet.ack_reach ? back.ack_bits | ~mask : mask;
        expect_same(&packet, &back);
        net_input_bases_keep(&heard, &back);
        newest = seq;
        shorts += packet.base != NULL;
    }
    assert_true(shorts > 10000);
}

CASE(inputs_that_stay_the_same_take_a_bit_each) {
    static const uint8_t bytes[] = {8, 20, 16, 1};
    const net_input_bytes same = {bytes, sizeof bytes};
    net_input_packet packet = {.input_first = 5, .input_count = 8};
    for (uint32_t i = 0; i < packet.input_count; i++)
        packet.inputs[i] = same;
    net_input_packet back;
    size_t size;
    assert_int_equal(read_back(&packet, &(net_input_packet_near){0}, &back, &size), NET_OK);
    // numbers 1 + 16, three flags, count 4, number 32, no moment, size 5 and bytes, seven bits
    assert_int_equal(size, (1 + 16 + 3 + 4 + 32 + 1 + 5 + 8 * sizeof bytes + 7 + 7) / 8);
}

// Of a short packet: that all inputs since its base are those of the base is one bit, and a number
// that changes is a difference.
CASE(a_short_packet_says_what_changed_since_its_base) {
    static const uint8_t bytes[] = {8, 20, 16, 1}, turned[] = {8, 22, 16, 1};
    static net_input_bases kept;
    memset(&kept, 0, sizeof kept);
    net_input_packet base = {.seq = 300, .has_ack = true, .ack = 70, .input_first = 5};
    base.input_count = 1;
    base.inputs[0] = (net_input_bytes){bytes, sizeof bytes};
    net_input_bases_keep(&kept, &base);
    for (uint32_t kind = 0; kind < 2; kind++) {
        net_input_packet packet = {.base = net_input_base_find(&kept, 300), .seq = 308};
        packet.has_ack = true;
        packet.ack = 78;
        packet.ack_reach = 7;
        packet.ack_bits = 127;
        packet.input_count = kind ? 1 : 8;
        packet.input_first = 14 - packet.input_count;
        for (uint32_t i = 0; i < packet.input_count; i++)
            packet.inputs[i] = kind ? (net_input_bytes){turned, sizeof turned} : base.inputs[0];
        const net_input_packet_near near = {.has_seq = true, .seq = 302, .bases = &kept};
        net_input_packet back;
        size_t size;
        assert_int_equal(read_back(&packet, &near, &back, &size), NET_OK);
        expect_same(&packet, &back);
        // form 1, seq 8, back 5, ack 1, delay 4, news 1, requests 1; then inputs: 1, or 1 and seven
        // left out 7, two flags, no more fields, a difference 1 + 5, no difference
        assert_int_equal(size, (21 + (kind ? 8 + 2 + 6 + 2 : 1) + 7) / 8);
    }
}

CASE(what_breaks_a_limit_is_refused) {
    const net_input_packet_near near = {.has_seq = true};
    for (uint32_t kind = 0; kind < 6; kind++) {
        uint8_t bytes[600];
        proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
        proto_bits_write(&writer, kind != 5, 1); // 5: short, with nothing known
        proto_bits_write(&writer, 7, kind != 5 ? 16 : NET_PACKET_HEADER_NEAR_BITS);
        proto_bits_write(&writer, kind == 1, 1);
        if (kind == 1) {
            proto_bits_write(&writer, 0, 16);
            proto_bits_write_golomb(&writer, 0, 3);
            proto_bits_write_golomb(&writer, 65, 3); // more than 64 acknowledgements
            proto_bits_write(&writer, 0, 64);
            proto_bits_write(&writer, 0, 1);
        }
        proto_bits_write(&writer, 0, 2);
        const uint32_t count = kind == 2 ? 9 : kind == 3 ? 2 : kind == 4 ? 1 : 0;
        proto_bits_write(&writer, count, 4);
        if (count > 0) {
            proto_bits_write(&writer, kind == 3 ? 1 : 9, 32); // 3: numbers below 1
            proto_bits_write(&writer, 0, 1);
            const uint32_t size = kind == 4 ? NET_INPUT_BYTES_MAX + 1 : 0;
            proto_bits_write_golomb(&writer, size, 3);
            for (uint32_t i = 0; i < size; i++)
                proto_bits_write(&writer, 0, 8);
            for (uint32_t i = 1; i < count; i++)
                proto_bits_write(&writer, 1, 1);
        }
        proto_bit_reader reader = proto_bit_reader_make(bytes, proto_bit_writer_bytes(&writer));
        net_input_packet back;
        const net_input_packet_near none = {.has_seq = false};
        assert_int_equal(net_input_packet_read(&reader, kind == 5 ? &none : &near, &store, &back),
                         kind == 0 ? NET_OK : NET_ERR_MALFORMED);
    }
}

CASE(any_bytes_end) {
    base_rng rng = base_rng_make(2, 1);
    static net_input_bases kept;
    for (uint32_t seq = 0; seq < NET_INPUT_BASES; seq++) {
        net_input_packet packet = {.seq = (uint16_t)seq, .has_ack = seq % 8, .input_first = 1};
        packet.input_count = 1;
        packet.inputs[0] = (net_input_bytes){payloads[0], draw_payload(&rng, payloads[0])};
        net_input_bases_keep(&kept, &packet);
    }
    for (uint32_t round = 0; round < 100000; round++) {
        uint8_t bytes[64];
        const uint32_t size = base_rng_below(&rng, sizeof bytes);
        for (uint32_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)base_rng_u32(&rng);
        proto_bit_reader reader = proto_bit_reader_make(bytes, size);
        const net_input_packet_near near = {.has_seq = round % 2, .seq = 7, .bases = &kept};
        net_input_packet back;
        if (net_input_packet_read(&reader, &near, &store, &back) == NET_OK)
            assert_true(back.input_count <= NET_INPUT_REDUNDANCY);
        reader = proto_bit_reader_make(bytes, size);
        if (net_input_packet_read_short(&reader, &near, &store, &back) != NET_OK) continue;
        assert_true(back.input_count <= NET_INPUT_REDUNDANCY);
        for (uint32_t i = 0; i < back.input_count; i++)
            assert_true(back.inputs[i].size <= NET_INPUT_BYTES_MAX);
    }
}
