// SPDX-License-Identifier: MIT
// An input is coded against the next newer one: a player changes little from tick to tick, and the
// newest input is in every packet.
#include "session/input_packet.h"

#include "session/packet_header.h"

#include "base/assert.h"

#include <string.h>

enum {
    COUNT_BITS = 4,
    REACH_ORDER = 3,
    DELAY_ORDER = 3,
    SIZE_ORDER = 3,
    MOMENT_BITS = 18,
    MOMENT_COUNT = 1 << MOMENT_BITS,
    RESYNC_BITS = 2,
};

static uint32_t low_of(uint64_t number, uint32_t bits) {
    return (uint32_t)(number & ((UINT64_C(1) << bits) - 1));
}

static uint32_t golomb_bits(uint32_t value, uint32_t order) {
    const uint64_t shifted = (uint64_t)value + (UINT64_C(1) << order);
    return 2 * (63u - (uint32_t)__builtin_clzll(shifted)) - order + 1;
}

// ---- inputs

static bool is_same(const net_input_bytes* a, const net_input_bytes* b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

uint64_t net_input_packet_bits(const net_input_bytes* input, const net_input_bytes* newer) {
    const uint64_t whole = golomb_bits(input->size, SIZE_ORDER) + 8 * (uint64_t)input->size;
    if (!newer) return whole;
    if (is_same(input, newer)) return 1;
    if (input->size != newer->size) return 2 + whole;
    uint64_t bits = 2 + input->size;
    for (uint32_t i = 0; i < input->size; i++)
        bits += input->data[i] != newer->data[i] ? 8 : 0;
    return bits;
}

static void write_whole(proto_bit_writer* writer, const net_input_bytes* input) {
    proto_bits_write_golomb(writer, input->size, SIZE_ORDER);
    for (uint32_t i = 0; i < input->size; i++)
        proto_bits_write(writer, input->data[i], 8);
}

static void write_input(proto_bit_writer* writer, const net_input_bytes* input,
                        const net_input_bytes* newer) {
    const bool is_equal = is_same(input, newer), is_long_as = input->size == newer->size;
    proto_bits_write(writer, is_equal, 1);
    if (is_equal) return;
    proto_bits_write(writer, is_long_as, 1);
    if (!is_long_as) {
        write_whole(writer, input);
        return;
    }
    for (uint32_t i = 0; i < input->size; i++) {
        const bool differs = input->data[i] != newer->data[i];
        proto_bits_write(writer, differs, 1);
        if (differs) proto_bits_write(writer, input->data[i], 8);
    }
}

static void write_inputs(proto_bit_writer* writer, const net_input_packet* packet) {
    const uint32_t count = packet->input_count;
    proto_bits_write(writer, count, COUNT_BITS);
    if (count == 0) return;
    const uint32_t newest = packet->input_first + count - 1;
    const uint32_t bits = packet->is_whole ? 32 : NET_PACKET_HEADER_NEAR_BITS;
    proto_bits_write(writer, low_of(newest, bits), bits);
    proto_bits_write(writer, packet->seen != 0, 1);
    if (packet->seen != 0) proto_bits_write(writer, low_of(packet->seen, MOMENT_BITS), MOMENT_BITS);
    write_whole(writer, &packet->inputs[count - 1]);
    for (uint32_t i = count - 1; i-- > 0;)
        write_input(writer, &packet->inputs[i], &packet->inputs[i + 1]);
}

static bool read_whole(proto_bit_reader* reader, uint8_t* bytes, net_input_bytes* input) {
    const uint32_t size = proto_bits_read_golomb(reader, SIZE_ORDER);
    if (size > NET_INPUT_BYTES_MAX) return false;
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)proto_bits_read(reader, 8);
    *input = (net_input_bytes){bytes, size};
    return !reader->failed;
}

static bool read_input(proto_bit_reader* reader, uint8_t* bytes, const net_input_bytes* newer,
                       net_input_bytes* input) {
    if (proto_bits_read(reader, 1)) {
        *input = *newer;
        return !reader->failed;
    }
    if (!proto_bits_read(reader, 1)) return read_whole(reader, bytes, input);
    for (uint32_t i = 0; i < newer->size; i++)
        bytes[i] =
            proto_bits_read(reader, 1) ? (uint8_t)proto_bits_read(reader, 8) : newer->data[i];
    *input = (net_input_bytes){bytes, newer->size};
    return !reader->failed;
}

static bool read_inputs(proto_bit_reader* reader, const net_input_packet_near* near,
                        net_input_packet_store* store, net_input_packet* packet) {
    const uint32_t count = (uint32_t)proto_bits_read(reader, COUNT_BITS);
    packet->input_count = count;
    if (count == 0) return true;
    if (count > NET_INPUT_REDUNDANCY) return false;
    uint64_t newest = 0;
    if (packet->is_whole)
        newest = proto_bits_read(reader, 32);
    else
        newest =
            net_packet_header_expand((uint32_t)proto_bits_read(reader, NET_PACKET_HEADER_NEAR_BITS),
                                     NET_PACKET_HEADER_NEAR_BITS, near->input);
    if (newest > UINT32_MAX || newest < count) return false;
    packet->input_first = (uint32_t)newest - (count - 1);
    if (proto_bits_read(reader, 1)) {
        const uint64_t low = proto_bits_read(reader, MOMENT_BITS);
        const uint64_t behind = (near->moment - low) % MOMENT_COUNT; // the newest that was possible
        packet->seen = behind < near->moment ? near->moment - behind : 0;
    }
    if (!read_whole(reader, store->bytes[count - 1], &packet->inputs[count - 1])) return false;
    for (uint32_t i = count - 1; i-- > 0;)
        if (!read_input(reader, store->bytes[i], &packet->inputs[i + 1], &packet->inputs[i]))
            return false;
    return true;
}

// ---- acknowledgements

static void write_ack(proto_bit_writer* writer, const net_input_packet* packet) {
    proto_bits_write(writer, packet->has_ack, 1);
    if (!packet->has_ack) return;
    BASE_ASSERT(packet->ack_reach <= 64);
    const uint32_t bits = packet->is_whole ? 16 : NET_PACKET_HEADER_ACK_BITS;
    proto_bits_write(writer, low_of(packet->ack, bits), bits);
    proto_bits_write_golomb(writer, packet->ack_delay_us / NET_PACKET_HEADER_DELAY_US, DELAY_ORDER);
    proto_bits_write_golomb(writer, packet->ack_reach, REACH_ORDER);
    if (packet->ack_reach > 0)
        proto_bits_write(writer, packet->ack_bits & (UINT64_MAX >> (64 - packet->ack_reach)),
                         packet->ack_reach);
}

static bool read_ack(proto_bit_reader* reader, const net_input_packet_near* near,
                     net_input_packet* packet) {
    packet->has_ack = proto_bits_read(reader, 1) != 0;
    if (!packet->has_ack) return true;
    packet->ack =
        packet->is_whole
            ? (uint16_t)proto_bits_read(reader, 16)
            : net_packet_header_expand_ack(
                  (uint32_t)proto_bits_read(reader, NET_PACKET_HEADER_ACK_BITS), near->sent);
    const uint32_t units = proto_bits_read_golomb(reader, DELAY_ORDER);
    if (units > UINT32_MAX / NET_PACKET_HEADER_DELAY_US) return false;
    packet->ack_delay_us = units * NET_PACKET_HEADER_DELAY_US;
    packet->ack_reach = proto_bits_read_golomb(reader, REACH_ORDER);
    if (packet->ack_reach > 64) return false;
    packet->ack_bits = proto_bits_read(reader, packet->ack_reach);
    return true;
}

// ---- the whole

void net_input_packet_write(proto_bit_writer* writer, const net_input_packet* packet) {
    BASE_ASSERT(packet->input_count <= NET_INPUT_REDUNDANCY &&
                packet->resync_count <= NET_INPUT_PACKET_RESYNCS_MAX);
    const uint32_t bits = packet->is_whole ? 16 : NET_PACKET_HEADER_NEAR_BITS;
    proto_bits_write(writer, packet->is_whole, 1);
    proto_bits_write(writer, low_of(packet->seq, bits), bits);
    write_ack(writer, packet);
    proto_bits_write(writer, packet->has_event_ack, 1);
    if (packet->has_event_ack) proto_bits_write(writer, (uint16_t)packet->event_ack, 16);
    proto_bits_write(writer, packet->resync_count > 0, 1);
    if (packet->resync_count > 0) proto_bits_write(writer, packet->resync_count - 1, RESYNC_BITS);
    for (uint32_t i = 0; i < packet->resync_count; i++)
        proto_bits_write(writer, packet->resyncs[i], 32);
    write_inputs(writer, packet);
}

net_result net_input_packet_read(proto_bit_reader* reader, const net_input_packet_near* near,
                                 net_input_packet_store* store, net_input_packet* packet) {
    memset(packet, 0, sizeof *packet);
    packet->is_whole = proto_bits_read(reader, 1) != 0;
    if (!packet->is_whole && !near->has_seq) return NET_ERR_MALFORMED;
    packet->seq =
        packet->is_whole
            ? (uint16_t)proto_bits_read(reader, 16)
            : net_packet_header_expand_seq(
                  (uint32_t)proto_bits_read(reader, NET_PACKET_HEADER_NEAR_BITS), near->seq);
    if (!read_ack(reader, near, packet)) return NET_ERR_MALFORMED;
    packet->has_event_ack = proto_bits_read(reader, 1) != 0;
    if (packet->has_event_ack) {
        const uint64_t found =
            net_packet_header_expand((uint32_t)proto_bits_read(reader, 16), 16, near->event);
        if (found > UINT32_MAX) return NET_ERR_MALFORMED;
        packet->event_ack = (uint32_t)found;
    }
    if (proto_bits_read(reader, 1))
        packet->resync_count = (uint32_t)proto_bits_read(reader, RESYNC_BITS) + 1;
    for (uint32_t i = 0; i < packet->resync_count; i++)
        packet->resyncs[i] = (uint32_t)proto_bits_read(reader, 32);
    if (!read_inputs(reader, near, store, packet) || reader->failed ||
        !net_packet_header_is_padding(reader))
        return NET_ERR_MALFORMED;
    return NET_OK;
}
