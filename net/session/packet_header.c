// SPDX-License-Identifier: MIT
// The packed header of a state packet.
//
// Every packet has one, so its bits count: at 30 packets a second 10 bits are 300 bit/s per client.
// Numbers that both sides follow (packets, ticks, inputs, events) travel as their low bits, and the
// reader completes them from what it knows (as in RFC 9000, 17.1). A field without news takes one
// bit.
//
// Invariant: what the writer wrote the reader reads back, if it knows numbers within
// NET_PACKET_HEADER_NEAR_MAX of those that were written. The writer makes sure of that: it writes
// whole numbers until a packet was acknowledged, and again when the newest acknowledged one is too
// old. Left to others: when a packet is due and what it acknowledges (server_send.c), what a
// client does with it (client_receive.c).
#include "session/packet_header.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

enum {
    LOW_BITS = 16,
    HASH_BITS = 16,
    DELAY_ORDER = 4,
    REPEATS_ORDER = 0,
    DEPTH_ORDER = 1,
    PLAYER_ORDER = 1,
    SAMPLE_SLOT_ORDER = 6,
    SAMPLE_AGE_ORDER = 4,
};

static void write_low(proto_bit_writer* writer, uint64_t number, uint32_t bits) {
    proto_bits_write(writer, bits < 64 ? number & ((UINT64_C(1) << bits) - 1) : number, bits);
}

static void write_seq(proto_bit_writer* writer, const net_packet_header* header) {
    proto_bits_write(writer, header->is_whole, 1);
    write_low(writer, header->seq, header->is_whole ? 16 : NET_PACKET_HEADER_NEAR_BITS);
}

static void write_tick(proto_bit_writer* writer, const net_packet_header* header) {
    write_low(writer, header->tick, header->is_whole ? 64 : NET_PACKET_HEADER_NEAR_BITS);
}

static void write_ack(proto_bit_writer* writer, const net_packet_header* header) {
    proto_bits_write(writer, header->has_ack, 1);
    if (!header->has_ack) return;
    write_low(writer, header->ack, header->is_whole ? 16 : NET_PACKET_HEADER_ACK_BITS);
    proto_bits_write_golomb(writer, header->ack_delay_us / NET_PACKET_HEADER_DELAY_US, DELAY_ORDER);
}

static void write_input(proto_bit_writer* writer, const net_packet_header* header) {
    proto_bits_write(writer, header->has_input, 1);
    if (!header->has_input) return;
    write_low(writer, header->input_used, header->is_whole ? 16 : NET_PACKET_HEADER_ACK_BITS);
    proto_bits_write_golomb(writer, header->input_repeats, REPEATS_ORDER);
    proto_bits_write_golomb(writer, header->input_depth, DEPTH_ORDER);
}

static void write_event_ack(proto_bit_writer* writer, const net_packet_header* header) {
    proto_bits_write(writer, header->has_event_ack, 1);
    if (header->has_event_ack) proto_bits_write(writer, (uint16_t)header->event_ack, LOW_BITS);
}

static void write_player_age(proto_bit_writer* writer, const net_packet_header* header) {
    proto_bits_write_golomb(writer, header->player_age, PLAYER_ORDER);
}

static void write_sample(proto_bit_writer* writer, const net_packet_header* header) {
    proto_bits_write(writer, header->has_probe, 1);
    if (!header->has_probe) return;
    proto_bits_write_golomb(writer, header->probe_slot, SAMPLE_SLOT_ORDER);
    proto_bits_write_golomb(writer, header->probe_age, SAMPLE_AGE_ORDER);
    proto_bits_write(writer, header->probe_hash, HASH_BITS);
}

static void write_has_body(proto_bit_writer* writer, const net_packet_header* header) {
    proto_bits_write(writer, header->has_body, 1);
}

static const struct {
    const char* name;
    void (*write)(proto_bit_writer* writer, const net_packet_header* header);
} parts[NET_PACKET_HEADER_PARTS] = {
    {"seq", write_seq},
    {"tick", write_tick},
    {"acknowledgement", write_ack},
    {"inputs", write_input},
    {"acknowledgement of events", write_event_ack},
    {"age of the player's row", write_player_age},
    {"checksum", write_sample},
    {"has rows", write_has_body},
};

const char* net_packet_header_write_part(proto_bit_writer* writer, const net_packet_header* header,
                                         uint32_t part) {
    BASE_ASSERT(part < NET_PACKET_HEADER_PARTS);
    parts[part].write(writer, header);
    return parts[part].name;
}

void net_packet_header_write(proto_bit_writer* writer, const net_packet_header* header) {
    uint64_t begin = writer->size_bits;
    for (uint32_t i = 0; i < NET_PACKET_HEADER_PARTS; i++)
        (void)net_packet_header_write_part(writer, header, i);
    BASE_ASSERT(!writer->failed && writer->size_bits - begin <= NET_PACKET_HEADER_BITS_MAX);
}

void net_packet_header_deny_snapshot(proto_bit_writer* writer, uint64_t end_bits) {
    BASE_ASSERT(end_bits > 0 && end_bits <= writer->size_bits);
    proto_bit_writer_rewind(writer, end_bits - 1);
    proto_bits_write(writer, 0, 1);
}

static uint64_t golomb_bits(uint32_t value, uint32_t order) {
    uint64_t shifted = (uint64_t)value + (UINT64_C(1) << order);
    uint32_t highest = 63u - (uint32_t)__builtin_clzll(shifted);
    return 2 * (uint64_t)highest - order + 1;
}

uint64_t net_packet_header_probe_bits(const net_packet_header* header) {
    if (!header->has_probe) return 0;
    return golomb_bits(header->probe_slot, SAMPLE_SLOT_ORDER) +
           golomb_bits(header->probe_age, SAMPLE_AGE_ORDER) + HASH_BITS;
}

uint64_t net_packet_header_expand(uint32_t low, uint32_t bits, uint64_t near) {
    const uint64_t count = UINT64_C(1) << bits;
    uint64_t found = (near & ~(count - 1)) | low;
    if (found <= near) {
        if (near - found >= count / 2 && found <= UINT64_MAX - count) found += count;
    } else if (found - near > count / 2 && found >= count) {
        found -= count;
    }
    return found;
}

uint16_t net_packet_header_expand_seq(uint32_t low, uint16_t near) {
    return (uint16_t)net_packet_header_expand(low, NET_PACKET_HEADER_NEAR_BITS,
                                              (UINT64_C(1) << 16) + near);
}

uint16_t net_packet_header_expand_ack(uint32_t low, uint16_t sent) {
    const uint32_t mask = (1u << NET_PACKET_HEADER_ACK_BITS) - 1;
    return (uint16_t)(sent - ((sent - low) & mask));
}

static uint32_t read_low(proto_bit_reader* reader, uint32_t bits) {
    return (uint32_t)proto_bits_read(reader, bits);
}

static bool read_flag(proto_bit_reader* reader) {
    return proto_bits_read(reader, 1) != 0;
}

// Numbers have 32 bits: a larger one is malformed.
static bool expand_u32(uint32_t low, uint32_t bits, uint32_t near, uint32_t* value) {
    uint64_t found = net_packet_header_expand(low, bits, near);
    *value = (uint32_t)found;
    return found <= UINT32_MAX;
}

static bool read_numbers(proto_bit_reader* reader, const net_packet_header_near* near,
                         net_packet_header* header) {
    const uint32_t bits = NET_PACKET_HEADER_NEAR_BITS;
    header->is_whole = read_flag(reader);
    if (header->is_whole) {
        header->seq = (uint16_t)read_low(reader, 16);
        header->tick = proto_bits_read(reader, 64);
        return true;
    }
    header->seq = net_packet_header_expand_seq(read_low(reader, bits), near->seq);
    header->tick = net_packet_header_expand(read_low(reader, bits), bits, near->tick);
    return near->has_tick;
}

static bool read_ack(proto_bit_reader* reader, const net_packet_header_near* near,
                     net_packet_header* header) {
    header->has_ack = read_flag(reader);
    if (!header->has_ack) return true;
    header->ack = header->is_whole ? (uint16_t)read_low(reader, 16)
                                   : net_packet_header_expand_ack(
                                         read_low(reader, NET_PACKET_HEADER_ACK_BITS), near->sent);
    uint32_t units = proto_bits_read_golomb(reader, DELAY_ORDER);
    header->ack_delay_us = units * NET_PACKET_HEADER_DELAY_US;
    return units <= UINT32_MAX / NET_PACKET_HEADER_DELAY_US;
}

static bool read_input(proto_bit_reader* reader, const net_packet_header_near* near,
                       net_packet_header* header) {
    header->has_input = read_flag(reader);
    if (!header->has_input) return true;
    const uint32_t bits = header->is_whole ? LOW_BITS : NET_PACKET_HEADER_ACK_BITS;
    bool is_number = expand_u32(read_low(reader, bits), bits, near->input, &header->input_used);
    header->input_repeats = proto_bits_read_golomb(reader, REPEATS_ORDER);
    header->input_depth = proto_bits_read_golomb(reader, DEPTH_ORDER);
    return is_number;
}

static bool read_sample(proto_bit_reader* reader, net_packet_header* header) {
    header->has_probe = read_flag(reader);
    if (!header->has_probe) return true;
    header->probe_slot = proto_bits_read_golomb(reader, SAMPLE_SLOT_ORDER);
    header->probe_age = proto_bits_read_golomb(reader, SAMPLE_AGE_ORDER);
    header->probe_hash = (uint16_t)proto_bits_read(reader, HASH_BITS);
    return header->probe_age <= header->tick;
}

bool net_packet_header_is_padding(proto_bit_reader* reader) {
    uint64_t left = reader->size_bits - reader->offset_bits;
    return left < 8 && proto_bits_read(reader, (uint32_t)left) == 0;
}

net_result net_packet_header_read(proto_bit_reader* reader, const net_packet_header_near* near,
                                  net_packet_header* header) {
    memset(header, 0, sizeof *header);
    bool is_right = read_numbers(reader, near, header);
    is_right = read_ack(reader, near, header) && is_right;
    is_right = read_input(reader, near, header) && is_right;
    header->has_event_ack = read_flag(reader);
    if (header->has_event_ack)
        is_right =
            expand_u32(read_low(reader, LOW_BITS), LOW_BITS, near->event, &header->event_ack) &&
            is_right;
    header->player_age = proto_bits_read_golomb(reader, PLAYER_ORDER);
    is_right = read_sample(reader, header) && is_right;
    header->has_body = read_flag(reader);
    if (reader->failed || !is_right) return NET_ERR_MALFORMED;
    if (!header->has_body && !net_packet_header_is_padding(reader)) return NET_ERR_MALFORMED;
    return NET_OK;
}

// A trace event as a line of key=value pairs.

void net_trace_text(const net_trace_event* event, char* text, size_t text_bytes) {
    BASE_ASSERT(event && text && text_bytes > 0);
    uint64_t ms = event->now_us / 1000u;
    uint32_t us = (uint32_t)(event->now_us % 1000u);
    if (event->kind == NET_TRACE_STATE) {
        BASE_ASSERT(event->from && event->to && event->reason);
        (void)base_text_format(
            text, text_bytes,
            "t_ms=%" PRIu64 ".%03u client=%u peer=%u state from=%s to=%s reason=%s", ms, us,
            event->client, event->peer, event->from, event->to, event->reason);
        return;
    }
    BASE_ASSERT(event->name);
    (void)base_text_format(
        text, text_bytes, "t_ms=%" PRIu64 ".%03u client=%u peer=%u dir=%s kind=%s seq=%u bytes=%u",
        ms, us, event->client, event->peer, event->kind == NET_TRACE_SENT ? "out" : "in",
        event->name, event->number, event->bytes);
}
