// SPDX-License-Identifier: MIT
// A whole packet stands alone. A short one is coded against a packet that the server acknowledged,
// its base: one packet is sent for each input, so number, acknowledgement and moment are as much
// newer as the packet is, and nearly always the same bits say so.
#include "session/input_packet.h"

#include "session/packet_header.h"

#include "base/assert.h"
#include "proto/pb_wire.h"

#include <string.h>

enum {
    COUNT_BITS = 4,
    REACH_ORDER = 3,
    DELAY_ORDER = 3,
    SIZE_ORDER = 3,
    MOMENT_BITS = 18,
    MOMENT_COUNT = 1 << MOMENT_BITS,
    RESYNC_BITS = 2,
    SEQ_BITS = 8, // of a short packet, which is less than 64 ahead of what came
    BACK_ORDER = 2,
    AHEAD_ORDER = 0,
    SEEN_ORDER = 3,
    COUNT_ORDER = 0,
    VALUE_ORDER = 4,
    FIELDS_MAX = 16, // of an input that is coded by them
    NEWS_MAX = 64,
};

static uint32_t low_of(uint64_t number, uint32_t bits) {
    return (uint32_t)(number & ((UINT64_C(1) << bits) - 1));
}

// ---- inputs

bool net_input_is_same(const net_input_bytes* a, const net_input_bytes* b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static void write_whole(proto_bit_writer* writer, const net_input_bytes* input) {
    proto_bits_write_golomb(writer, input->size, SIZE_ORDER);
    for (uint32_t i = 0; i < input->size; i++)
        proto_bits_write(writer, input->data[i], 8);
}

static void write_inputs(proto_bit_writer* writer, const net_input_packet* packet) {
    const uint32_t count = packet->input_count;
    proto_bits_write(writer, count, COUNT_BITS);
    if (count == 0) return;
    proto_bits_write(writer, packet->input_first + count - 1, 32);
    proto_bits_write(writer, packet->seen != 0, 1);
    if (packet->seen != 0) proto_bits_write(writer, low_of(packet->seen, MOMENT_BITS), MOMENT_BITS);
    write_whole(writer, &packet->inputs[count - 1]);
    for (uint32_t i = count - 1; i-- > 0;) {
        const bool is_same = net_input_is_same(&packet->inputs[i], &packet->inputs[i + 1]);
        proto_bits_write(writer, is_same, is_same ? 1 : 2);
        if (!is_same) write_whole(writer, &packet->inputs[i]);
    }
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

static uint64_t moment_of(uint64_t low, const net_input_packet_near* near) {
    const uint64_t behind = (near->moment - low) % MOMENT_COUNT; // the newest that was possible
    return behind < near->moment ? near->moment - behind : 0;
}

static bool read_inputs(proto_bit_reader* reader, const net_input_packet_near* near, bool is_whole,
                        net_input_packet_store* store, net_input_packet* packet) {
    const uint32_t count = (uint32_t)proto_bits_read(reader, COUNT_BITS);
    packet->input_count = count;
    packet->input_first = 1;
    if (count == 0) return true;
    if (count > NET_INPUT_REDUNDANCY) return false;
    uint64_t newest = 0;
    if (is_whole)
        newest = proto_bits_read(reader, 32);
    else
        newest =
            net_packet_header_expand((uint32_t)proto_bits_read(reader, NET_PACKET_HEADER_NEAR_BITS),
                                     NET_PACKET_HEADER_NEAR_BITS, near->input);
    if (newest > UINT32_MAX || newest < count) return false;
    packet->input_first = (uint32_t)newest - (count - 1);
    if (proto_bits_read(reader, 1))
        packet->seen = moment_of(proto_bits_read(reader, MOMENT_BITS), near);
    if (!read_whole(reader, store->bytes[count - 1], &packet->inputs[count - 1])) return false;
    for (uint32_t i = count - 1; i-- > 0;)
        if (!read_input(reader, store->bytes[i], &packet->inputs[i + 1], &packet->inputs[i]))
            return false;
    return true;
}

// ---- an input against the one before it

// An input as numbers.
typedef struct numbers {
    uint32_t count; // up to the last field that is there
    uint64_t values[FIELDS_MAX];
} numbers;

// @return false: there is something else in it.
static bool parse(const net_input_bytes* input, numbers* parsed) {
    *parsed = (numbers){0};
    base_reader reader = base_reader_make(input->data, input->size);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field)) {
        if (field.type != 0 || field.id > FIELDS_MAX || field.id <= parsed->count) return false;
        parsed->values[field.id - 1] = field.number;
        parsed->count = field.id;
    }
    return !reader.failed;
}

static net_input_bytes pack(const numbers* from, uint8_t bytes[NET_INPUT_BYTES_MAX]) {
    _Static_assert(FIELDS_MAX * (2 + 10) <= NET_INPUT_BYTES_MAX, "the longest one has room");
    proto_pb_writer wire = {.data = bytes, .capacity = NET_INPUT_BYTES_MAX};
    for (uint32_t i = 0; i < from->count; i++)
        proto_pb_write_number(&wire, i + 1, from->values[i]);
    return (net_input_bytes){bytes, (uint32_t)wire.size};
}

static uint64_t fold(uint64_t difference) {
    return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t unfold(uint64_t folded) {
    return folded >> 1 ^ (0 - (folded & 1));
}

// @return false: it cannot be said so.
static bool write_fields(proto_bit_writer* writer, const net_input_bytes* input,
                         const net_input_bytes* before) {
    numbers old, all;
    uint8_t bytes[NET_INPUT_BYTES_MAX];
    if (!parse(before, &old) || !parse(input, &all)) return false;
    const net_input_bytes again = pack(&all, bytes);
    if (!net_input_is_same(&again, input)) return false;
    const uint32_t count = all.count > old.count ? all.count : old.count;
    proto_bits_write_golomb(writer, count - old.count, COUNT_ORDER);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t folded = fold(all.values[i] - old.values[i]);
        if (folded > UINT32_MAX) return false;
        proto_bits_write(writer, folded != 0, 1);
        if (folded) proto_bits_write_golomb(writer, (uint32_t)folded - 1, VALUE_ORDER);
    }
    return true;
}

static bool read_fields(proto_bit_reader* reader, uint8_t* bytes, const net_input_bytes* before,
                        net_input_bytes* input) {
    numbers all;
    if (!parse(before, &all)) return false;
    const uint32_t more = proto_bits_read_golomb(reader, COUNT_ORDER);
    if (more > FIELDS_MAX - all.count) return false;
    all.count += more;
    for (uint32_t i = 0; i < all.count; i++)
        if (proto_bits_read(reader, 1))
            all.values[i] += unfold(proto_bits_read_golomb(reader, VALUE_ORDER) + UINT64_C(1));
    *input = pack(&all, bytes);
    return !reader->failed;
}

static void write_step(proto_bit_writer* writer, const net_input_bytes* input,
                       const net_input_bytes* before) {
    const bool is_same = net_input_is_same(input, before);
    proto_bits_write(writer, is_same, 1);
    if (is_same) return;
    const uint64_t begin = writer->size_bits;
    proto_bits_write(writer, 1, 1);
    if (write_fields(writer, input, before) &&
        writer->size_bits - begin < NET_INPUT_BITS_MAX(input->size))
        return;
    proto_bit_writer_rewind(writer, begin);
    proto_bits_write(writer, 0, 1);
    write_whole(writer, input);
}

static bool read_step(proto_bit_reader* reader, uint8_t* bytes, const net_input_bytes* before,
                      net_input_bytes* input) {
    *input = *before;
    if (proto_bits_read(reader, 1)) return !reader->failed;
    return proto_bits_read(reader, 1) ? read_fields(reader, bytes, before, input)
                                      : read_whole(reader, bytes, input);
}

// ---- bases

const net_input_base* net_input_base_find(const net_input_bases* bases, uint16_t seq) {
    const net_input_base* base = &bases->kept[seq % NET_INPUT_BASES];
    return base->is_kept && base->seq == seq ? base : NULL;
}

net_input_bytes net_input_base_input(const net_input_base* base) {
    return (net_input_bytes){base->payload, base->size};
}

static bool is_after(const net_input_base* base, uint16_t seq) {
    return base->is_kept && (int16_t)(uint16_t)(base->seq - seq) > 0;
}

static uint16_t back_of(const net_input_packet* packet, const net_input_base* base) {
    return (uint16_t)(packet->seq - base->seq);
}

static uint32_t newest_of(const net_input_packet* packet) {
    return packet->input_first + packet->input_count - 1;
}

bool net_input_packet_fits(const net_input_packet* packet, const net_input_base* base) {
    const uint16_t back = back_of(packet, base);
    if (back >= NET_INPUT_BASES || !base->has_ack || !packet->has_ack) return false;
    if (packet->input_count == 0) return newest_of(packet) == base->number;
    return newest_of(packet) == base->number + back && (packet->seen != 0) == base->has_seen;
}

void net_input_bases_keep(net_input_bases* bases, const net_input_packet* packet) {
    net_input_base* base = &bases->kept[packet->seq % NET_INPUT_BASES];
    if (is_after(base, packet->seq)) return;
    *base = (net_input_base){.ack_bits = packet->ack_bits,
                             .number = newest_of(packet),
                             .event_ack = packet->event_ack,
                             .seq = packet->seq,
                             .ack = packet->ack,
                             .is_kept = true,
                             .has_ack = packet->has_ack};
    if (packet->input_count == 0) return;
    base->seen = low_of(packet->seen, MOMENT_BITS);
    base->has_seen = packet->seen != 0;
    const net_input_bytes* newest = &packet->inputs[packet->input_count - 1];
    if (newest->size > NET_INPUT_BASE_BYTES) return;
    base->size = (uint8_t)newest->size;
    if (newest->size) memcpy(base->payload, newest->data, newest->size);
}

// ---- acknowledgements

static uint64_t ones(uint32_t count) {
    return count ? UINT64_MAX >> (64 - count) : 0;
}

// The packets between the acknowledgement of the base and this one.
static uint32_t after_base(const net_input_packet* packet) {
    const uint16_t ahead = (uint16_t)(packet->ack - packet->base->ack);
    return ahead > 0 && ahead <= NEWS_MAX ? ahead - 1u : 0;
}

static void write_news(proto_bit_writer* writer, const net_input_packet* packet) {
    BASE_ASSERT(packet->ack_reach <= NEWS_MAX);
    proto_bits_write_golomb(writer, packet->ack_delay_us / NET_PACKET_HEADER_DELAY_US, DELAY_ORDER);
    const uint64_t bits = packet->ack_bits & ones(packet->ack_reach);
    uint32_t reach = packet->ack_reach;
    bool is_long = true;
    // Nearly always the news are of packets after the base's acknowledgement, and all came.
    if (packet->base) {
        const uint32_t after = after_base(packet);
        proto_bits_write(writer, bits != ones(after), 1);
        if (bits == ones(after)) return;
        is_long = reach > after;
        proto_bits_write(writer, is_long, 1);
        if (!is_long) reach = after;
    }
    if (is_long) proto_bits_write_golomb(writer, reach, REACH_ORDER);
    proto_bits_write(writer, bits, reach);
}

static void write_ack(proto_bit_writer* writer, const net_input_packet* packet) {
    proto_bits_write(writer, packet->has_ack, 1);
    if (!packet->has_ack) return;
    proto_bits_write(writer, packet->ack, 16);
    write_news(writer, packet);
}

static bool read_news(proto_bit_reader* reader, net_input_packet* packet) {
    const uint32_t units = proto_bits_read_golomb(reader, DELAY_ORDER);
    if (units > UINT32_MAX / NET_PACKET_HEADER_DELAY_US) return false;
    packet->ack_delay_us = units * NET_PACKET_HEADER_DELAY_US;
    if (packet->base) packet->ack_reach = after_base(packet);
    packet->ack_bits = ones(packet->ack_reach);
    if (packet->base && !proto_bits_read(reader, 1)) return true;
    if (!packet->base || proto_bits_read(reader, 1))
        packet->ack_reach = proto_bits_read_golomb(reader, REACH_ORDER);
    if (packet->ack_reach > NEWS_MAX) return false;
    packet->ack_bits = proto_bits_read(reader, packet->ack_reach);
    return true;
}

static bool read_ack(proto_bit_reader* reader, const net_input_packet_near* near, bool is_whole,
                     net_input_packet* packet) {
    packet->has_ack = proto_bits_read(reader, 1) != 0;
    if (!packet->has_ack) return true;
    packet->ack =
        is_whole ? (uint16_t)proto_bits_read(reader, 16)
                 : net_packet_header_expand_ack(
                       (uint32_t)proto_bits_read(reader, NET_PACKET_HEADER_ACK_BITS), near->sent);
    return read_news(reader, packet);
}

// ---- requests

static void write_requests(proto_bit_writer* writer, const net_input_packet* packet) {
    proto_bits_write(writer, packet->has_event_ack, 1);
    if (packet->has_event_ack) proto_bits_write(writer, (uint16_t)packet->event_ack, 16);
    proto_bits_write(writer, packet->resync_count > 0, 1);
    if (packet->resync_count > 0) proto_bits_write(writer, packet->resync_count - 1, RESYNC_BITS);
    for (uint32_t i = 0; i < packet->resync_count; i++)
        proto_bits_write(writer, packet->resyncs[i], 32);
}

static bool read_requests(proto_bit_reader* reader, const net_input_packet_near* near,
                          net_input_packet* packet) {
    packet->has_event_ack = proto_bits_read(reader, 1) != 0;
    if (packet->has_event_ack) {
        const uint64_t found =
            net_packet_header_expand((uint32_t)proto_bits_read(reader, 16), 16, near->event);
        if (found > UINT32_MAX) return false;
        packet->event_ack = (uint32_t)found;
    }
    if (proto_bits_read(reader, 1))
        packet->resync_count = (uint32_t)proto_bits_read(reader, RESYNC_BITS) + 1;
    for (uint32_t i = 0; i < packet->resync_count; i++)
        packet->resyncs[i] = (uint32_t)proto_bits_read(reader, 32);
    return true;
}

// ---- short packets

static uint32_t seen_of(const net_input_packet* packet) {
    return packet->base->seen + 256u * back_of(packet, packet->base);
}

static uint32_t run_of(const net_input_packet* packet) {
    const uint32_t back = back_of(packet, packet->base);
    return back < NET_INPUT_REDUNDANCY ? back : NET_INPUT_REDUNDANCY;
}

static bool is_run(const net_input_packet* packet) {
    const net_input_bytes before = net_input_base_input(packet->base);
    for (uint32_t i = 0; i < packet->input_count; i++)
        if (!net_input_is_same(&packet->inputs[i], &before)) return false;
    return packet->input_count > 0 && packet->input_count == run_of(packet);
}

static void write_newer(proto_bit_writer* writer, const net_input_packet* packet) {
    net_input_bytes before = net_input_base_input(packet->base);
    const bool is_all = is_run(packet);
    proto_bits_write(writer, is_all, 1);
    if (!is_all) proto_bits_write_golomb(writer, run_of(packet) - packet->input_count, COUNT_ORDER);
    if (packet->input_count > 0 && packet->base->has_seen) {
        // Half of the moments are above, half below.
        const uint32_t ahead =
            low_of(packet->seen - seen_of(packet) + MOMENT_COUNT / 2, MOMENT_BITS);
        proto_bits_write_golomb(writer, (uint32_t)fold((uint64_t)ahead - MOMENT_COUNT / 2),
                                SEEN_ORDER);
    }
    for (uint32_t i = 0; i < packet->input_count && !is_all; i++) {
        write_step(writer, &packet->inputs[i], &before);
        before = packet->inputs[i];
    }
}

static bool read_newer(proto_bit_reader* reader, const net_input_packet_near* near,
                       net_input_packet_store* store, net_input_packet* packet) {
    net_input_bytes before = net_input_base_input(packet->base);
    const bool is_all = proto_bits_read(reader, 1) != 0;
    const uint32_t left_out = is_all ? 0 : proto_bits_read_golomb(reader, COUNT_ORDER);
    if (left_out > run_of(packet)) return false;
    packet->input_count = run_of(packet) - left_out;
    const uint32_t back = packet->input_count > 0 ? back_of(packet, packet->base) : 0;
    const uint64_t newest = (uint64_t)packet->base->number + back;
    if (newest > UINT32_MAX) return false;
    packet->input_first = (uint32_t)newest + 1 - packet->input_count;
    if (packet->input_count > 0 && packet->base->has_seen) {
        const uint64_t ahead = unfold(proto_bits_read_golomb(reader, SEEN_ORDER));
        packet->seen = moment_of(low_of(seen_of(packet) + ahead, MOMENT_BITS), near);
    }
    for (uint32_t i = 0; i < packet->input_count; i++) {
        packet->inputs[i] = before;
        if (!is_all && !read_step(reader, store->bytes[i], &before, &packet->inputs[i]))
            return false;
        before = packet->inputs[i];
    }
    return true;
}

static uint16_t ack_of(const net_input_packet* packet) {
    return (uint16_t)(packet->base->ack + back_of(packet, packet->base));
}

static void write_short(proto_bit_writer* writer, const net_input_packet* packet) {
    BASE_ASSERT(net_input_packet_fits(packet, packet->base));
    const bool has_requests = packet->has_event_ack || packet->resync_count > 0;
    const int16_t ahead = (int16_t)(uint16_t)(packet->ack - ack_of(packet));
    proto_bits_write(writer, 1, 1);
    proto_bits_write(writer, low_of(packet->seq, SEQ_BITS), SEQ_BITS);
    proto_bits_write_golomb(writer, back_of(packet, packet->base) - 1u, BACK_ORDER);
    proto_bits_write_golomb(writer, (uint32_t)fold((uint64_t)ahead), AHEAD_ORDER);
    write_news(writer, packet);
    proto_bits_write(writer, has_requests, 1);
    if (has_requests) write_requests(writer, packet);
    write_newer(writer, packet);
}

net_result net_input_packet_read_short(proto_bit_reader* reader, const net_input_packet_near* near,
                                       net_input_packet_store* store, net_input_packet* packet) {
    memset(packet, 0, sizeof *packet);
    if (!proto_bits_read(reader, 1) || !near->has_seq) return NET_ERR_MALFORMED;
    packet->seq = (uint16_t)net_packet_header_expand((uint32_t)proto_bits_read(reader, SEQ_BITS),
                                                     SEQ_BITS, (UINT64_C(1) << 16) + near->seq);
    const uint32_t back = proto_bits_read_golomb(reader, BACK_ORDER) + 1;
    if (reader->failed || back >= NET_INPUT_BASES) return NET_ERR_MALFORMED;
    const uint16_t base_seq = (uint16_t)(packet->seq - back);
    packet->base = net_input_base_find(near->bases, base_seq);
    // A newer packet has its place; else it never came, and nobody acknowledged it.
    if (!packet->base)
        return is_after(&near->bases->kept[base_seq % NET_INPUT_BASES], base_seq)
                   ? NET_ERR_STALE
                   : NET_ERR_MALFORMED;
    if (!packet->base->has_ack) return NET_ERR_MALFORMED;
    packet->has_ack = true;
    packet->ack = (uint16_t)(ack_of(packet) + unfold(proto_bits_read_golomb(reader, AHEAD_ORDER)));
    bool is_right = read_news(reader, packet);
    if (is_right && proto_bits_read(reader, 1)) is_right = read_requests(reader, near, packet);
    is_right = is_right && read_newer(reader, near, store, packet);
    const uint32_t padding = (uint32_t)(-reader->offset_bits & 7);
    if (!is_right || proto_bits_read(reader, padding) != 0 || reader->failed)
        return NET_ERR_MALFORMED;
    return NET_OK;
}

// ---- whole packets

void net_input_packet_write(proto_bit_writer* writer, const net_input_packet* packet) {
    BASE_ASSERT(packet->input_count <= NET_INPUT_REDUNDANCY &&
                packet->resync_count <= NET_INPUT_PACKET_RESYNCS_MAX);
    if (packet->base) {
        write_short(writer, packet);
        return;
    }
    proto_bits_write(writer, 1, 1);
    proto_bits_write(writer, packet->seq, 16);
    write_ack(writer, packet);
    write_requests(writer, packet);
    write_inputs(writer, packet);
}

net_result net_input_packet_read(proto_bit_reader* reader, const net_input_packet_near* near,
                                 net_input_packet_store* store, net_input_packet* packet) {
    memset(packet, 0, sizeof *packet);
    const bool is_whole = proto_bits_read(reader, 1) != 0;
    if (!is_whole && !near->has_seq) return NET_ERR_MALFORMED;
    packet->seq =
        is_whole ? (uint16_t)proto_bits_read(reader, 16)
                 : net_packet_header_expand_seq(
                       (uint32_t)proto_bits_read(reader, NET_PACKET_HEADER_NEAR_BITS), near->seq);
    if (!read_ack(reader, near, is_whole, packet) || !read_requests(reader, near, packet) ||
        !read_inputs(reader, near, is_whole, store, packet) || reader->failed ||
        !net_packet_header_is_padding(reader))
        return NET_ERR_MALFORMED;
    return NET_OK;
}
