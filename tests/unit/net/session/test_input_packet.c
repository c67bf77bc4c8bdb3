// SPDX-License-Identifier: MIT
// session/input_packet.h: what is written is read back; any other bytes are refused.
#include "session/input_packet.h"
#include "session/packet_header.h"

#include "test.h"

#include "base/rng.h"

#include <string.h>

static net_input_packet_store store;

static net_result read_back(const net_input_packet* packet, const net_input_packet_near* near,
                            net_input_packet* back, size_t* size) {
    static uint8_t bytes[4096];
    proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
    net_input_packet_write(&writer, packet);
    assert_false(writer.failed);
    *size = proto_bit_writer_bytes(&writer);
    proto_bit_reader reader = proto_bit_reader_make(bytes, *size);
    return net_input_packet_read(&reader, near, &store, back);
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

CASE(packets_are_read_back) {
    static uint8_t payloads[NET_INPUT_REDUNDANCY][NET_INPUT_BYTES_MAX];
    base_rng rng = base_rng_make(1, 1);
    for (uint32_t round = 0; round < 20000; round++) {
        net_input_packet packet = {.is_whole = base_rng_below(&rng, 4) == 0,
                                   .seq = (uint16_t)base_rng_u32(&rng)};
        packet.has_ack = base_rng_below(&rng, 8) > 0;
        if (packet.has_ack) {
            packet.ack = (uint16_t)base_rng_u32(&rng);
            packet.ack_reach = base_rng_below(&rng, 65);
            packet.ack_bits = (uint64_t)base_rng_u32(&rng) << 32 | base_rng_u32(&rng);
            packet.ack_delay_us = base_rng_below(&rng, 100000) * NET_PACKET_HEADER_DELAY_US;
        }
        packet.has_event_ack = base_rng_below(&rng, 2);
        packet.event_ack = packet.has_event_ack ? base_rng_below(&rng, 70000) : 0;
        packet.resync_count = base_rng_below(&rng, NET_INPUT_PACKET_RESYNCS_MAX + 1);
        for (uint32_t i = 0; i < packet.resync_count; i++)
            packet.resyncs[i] = base_rng_u32(&rng);
        packet.input_count = base_rng_below(&rng, NET_INPUT_REDUNDANCY + 1);
        packet.input_first = 1 + base_rng_below(&rng, 1000000);
        const uint32_t size_max = base_rng_below(&rng, 10) == 0 ? NET_INPUT_BYTES_MAX : 3;
        for (uint32_t i = 0; i < packet.input_count; i++) {
            const uint32_t size = base_rng_below(&rng, size_max + 1);
            for (uint32_t k = 0; k < size; k++)
                payloads[i][k] = (uint8_t)base_rng_below(&rng, 2);
            packet.inputs[i] = (net_input_bytes){payloads[i], size};
        }
        const uint64_t moment = (UINT64_C(1) << 40) + base_rng_u32(&rng);
        if (packet.input_count > 0 && base_rng_below(&rng, 2))
            packet.seen = moment - base_rng_below(&rng, 1 << 18);
        const net_input_packet_near near = {
            .has_seq = true,
            .seq = (uint16_t)(packet.seq + base_rng_below(&rng, 1000) - 500),
            .sent = (uint16_t)(packet.ack + base_rng_below(&rng, 4096)),
            .event = packet.event_ack,
            .input = packet.input_first + base_rng_below(&rng, 500),
            .moment = moment,
        };
        net_input_packet back;
        size_t size;
        assert_int_equal(read_back(&packet, &near, &back, &size), NET_OK);
        expect_same(&packet, &back);
    }
}

CASE(inputs_that_stay_the_same_take_a_bit_each) {
    static const uint8_t bytes[] = {8, 20, 16, 1}, other[] = {8, 22, 16, 1};
    const net_input_bytes same = {bytes, sizeof bytes}, turned = {other, sizeof other};
    assert_int_equal(net_input_packet_bits(&same, &same), 1);
    assert_int_equal(net_input_packet_bits(&turned, &same), 2 + 4 + 8);
    net_input_packet packet = {.is_whole = true, .input_first = 5, .input_count = 8};
    for (uint32_t i = 0; i < packet.input_count; i++)
        packet.inputs[i] = same;
    net_input_packet back;
    size_t size;
    assert_int_equal(read_back(&packet, &(net_input_packet_near){0}, &back, &size), NET_OK);
    // numbers 1 + 16, three flags, count 4, number 32, no moment, size 5 and bytes, seven bits
    assert_int_equal(size, (1 + 16 + 3 + 4 + 32 + 1 + 5 + 8 * sizeof bytes + 7 + 7) / 8);
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
    for (uint32_t round = 0; round < 100000; round++) {
        uint8_t bytes[64];
        const uint32_t size = base_rng_below(&rng, sizeof bytes);
        for (uint32_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)base_rng_u32(&rng);
        proto_bit_reader reader = proto_bit_reader_make(bytes, size);
        const net_input_packet_near near = {.has_seq = round % 2};
        net_input_packet back;
        if (net_input_packet_read(&reader, &near, &store, &back) == NET_OK)
            assert_true(back.input_count <= NET_INPUT_REDUNDANCY);
    }
}
