// SPDX-License-Identifier: MIT
// A whole packet stands alone. A short one is coded against a packet that the server acknowledged,
// its base: one packet is sent for each input, so number, acknowledgement and moment are as much
// newer as the packet is, and nearly always the same bits say so.
//
// The same code writes and reads: a value is written, or ignored and read.
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
    RARE_ORDER = 0, // of numbers that are nearly always 0
    SEEN_ORDER = 3,
    VALUE_ORDER = 4,
    FIELDS_MAX = 16, // of an input that is coded by them
    NEWS_MAX = 64,
};

typedef struct coder {
    proto_bit_writer* to; // NULL: reading
    proto_bit_reader* from;
    const net_input_packet_near* near;
    net_input_packet_store* store; // of reading
    net_input_packet* packet;
    bool failed;
} coder;

static uint64_t ones(uint32_t count) {
    return count ? UINT64_MAX >> (64 - count) : 0;
}

static uint64_t code_bits(coder* self, uint64_t value, uint32_t count) {
    if (!self->to) return proto_bits_read(self->from, count);
    proto_bits_write(self->to, value & ones(count), count);
    return value;
}

static bool code_flag(coder* self, bool value) {
    return code_bits(self, value, 1) != 0;
}

static uint32_t code_golomb(coder* self, uint32_t value, uint32_t order) {
    if (!self->to) return proto_bits_read_golomb(self->from, order);
    proto_bits_write_golomb(self->to, value, order);
    return value;
}

// A larger number than there may be: 0, and the packet is malformed.
static uint32_t code_up_to(coder* self, uint32_t value, uint32_t order, uint32_t most) {
    value = code_golomb(self, value, order);
    if (value <= most) return value;
    self->failed = true;
    return 0;
}

static uint64_t fold(uint64_t difference) {
    return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t code_signed(coder* self, uint64_t value, uint32_t order) {
    const uint64_t folded = code_golomb(self, (uint32_t)fold(value), order);
    return folded >> 1 ^ (0 - (folded & 1));
}

// ---- an input

bool net_input_is_same(const net_input_bytes* a, const net_input_bytes* b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static void code_full(coder* self, uint32_t i) {
    net_input_bytes* input = &self->packet->inputs[i];
    const uint32_t size = code_up_to(self, input->size, SIZE_ORDER, NET_INPUT_BYTES_MAX);
    for (uint32_t k = 0; k < size; k++) {
        const uint64_t byte = code_bits(self, self->to ? input->data[k] : 0, 8);
        if (!self->to) self->store->bytes[i][k] = (uint8_t)byte;
    }
    if (!self->to) *input = (net_input_bytes){self->store->bytes[i], size};
}

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

// @return false: it cannot be said so.
static bool code_fields(coder* self, uint32_t i, const net_input_bytes* before) {
    net_input_bytes* input = &self->packet->inputs[i];
    numbers old, all;
    uint8_t again[NET_INPUT_BYTES_MAX];
    if (!parse(before, &old)) return false;
    all = old;
    if (self->to) {
        if (!parse(input, &all)) return false;
        const net_input_bytes packed = pack(&all, again);
        if (!net_input_is_same(&packed, input)) return false;
        if (all.count < old.count) all.count = old.count;
    }
    const uint32_t more = all.count - old.count;
    all.count = old.count + code_up_to(self, more, RARE_ORDER, FIELDS_MAX - old.count);
    for (uint32_t k = 0; k < all.count; k++) {
        const uint64_t step = all.values[k] - old.values[k];
        if (self->to && fold(step) > UINT32_MAX) return false;
        if (code_flag(self, step != 0))
            all.values[k] = old.values[k] + code_signed(self, step, VALUE_ORDER);
    }
    if (!self->to) *input = pack(&all, self->store->bytes[i]);
    return true;
}

// An input against the one before it in the packet, or against that of the base.
static void code_step(coder* self, uint32_t i, net_input_bytes before) {
    net_input_bytes* input = &self->packet->inputs[i];
    if (code_flag(self, self->to && net_input_is_same(input, &before))) {
        *input = before;
        return;
    }
    const bool is_short = self->packet->base != NULL;
    const uint64_t begin = self->to ? self->to->size_bits : 0;
    if (code_flag(self, is_short)) {
        if (!is_short) {
            // Earlier releases write which bytes differ.
            uint8_t* bytes = self->store->bytes[i];
            for (uint32_t k = 0; k < before.size; k++)
                bytes[k] = code_flag(self, false) ? (uint8_t)code_bits(self, 0, 8) : before.data[k];
            self->packet->inputs[i] = (net_input_bytes){bytes, before.size};
            return;
        }
        const bool is_said = code_fields(self, i, &before);
        if (!self->to) self->failed |= !is_said;
        if (!self->to) return;
        if (is_said && self->to->size_bits - begin < NET_INPUT_BITS_MAX(input->size)) return;
        proto_bit_writer_rewind(self->to, begin);
        (void)code_flag(self, false);
    }
    code_full(self, i);
}

// ---- bases

const net_input_base* net_input_base_find(const net_input_bases* bases, uint16_t seq) {
    const net_input_base* base = &bases->kept[seq % NET_INPUT_BASES];
    return base->is_kept && base->seq == seq ? base : NULL;
}

static bool is_after(const net_input_base* base, uint16_t seq) {
    return base->is_kept && (int16_t)(uint16_t)(base->seq - seq) > 0;
}

static uint32_t newest_of(const net_input_packet* packet) {
    return packet->input_first + packet->input_count - 1;
}

static uint32_t back_of(const net_input_packet* packet, const net_input_base* base) {
    return (uint16_t)(packet->seq - base->seq);
}

bool net_input_packet_fits(const net_input_packet* packet, const net_input_base* base) {
    const uint32_t back = back_of(packet, base);
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
    base->seen = (uint32_t)packet->seen % MOMENT_COUNT;
    base->has_seen = packet->seen != 0;
    const net_input_bytes* newest = &packet->inputs[packet->input_count - 1];
    if (newest->size > NET_INPUT_BASE_BYTES) return;
    base->size = (uint8_t)newest->size;
    if (newest->size) memcpy(base->payload, newest->data, newest->size);
}

// ---- parts of both kinds

static void code_news(coder* self) {
    net_input_packet* packet = self->packet;
    uint32_t units = packet->ack_delay_us / NET_PACKET_HEADER_DELAY_US, reach = packet->ack_reach;
    units = code_up_to(self, units, DELAY_ORDER, UINT32_MAX / NET_PACKET_HEADER_DELAY_US);
    packet->ack_delay_us = units * NET_PACKET_HEADER_DELAY_US;
    uint64_t bits = packet->ack_bits & ones(reach);
    bool is_all = false, is_long = true;
    // Nearly always the news are of packets after the base's acknowledgement, and all came.
    if (packet->base) {
        const uint16_t ahead = (uint16_t)(packet->ack - packet->base->ack);
        const uint32_t between = ahead > 0 && ahead <= NEWS_MAX ? ahead - 1u : 0;
        is_all = !code_flag(self, bits != ones(between));
        is_long = !is_all && code_flag(self, reach > between);
        if (!is_long) reach = between;
        if (is_all) bits = ones(between);
    }
    if (is_long) reach = code_up_to(self, reach, REACH_ORDER, NEWS_MAX);
    if (!is_all) bits = code_bits(self, bits, reach);
    if (self->to) return;
    packet->ack_reach = reach;
    packet->ack_bits = bits;
}

static void code_requests(coder* self) {
    net_input_packet* packet = self->packet;
    packet->has_event_ack = code_flag(self, packet->has_event_ack);
    if (packet->has_event_ack) {
        const uint32_t low = (uint32_t)code_bits(self, packet->event_ack, 16);
        const uint64_t found =
            self->to ? packet->event_ack : net_packet_header_expand(low, 16, self->near->event);
        self->failed |= found > UINT32_MAX;
        packet->event_ack = (uint32_t)found;
    }
    if (!code_flag(self, packet->resync_count > 0)) return;
    packet->resync_count = (uint32_t)code_bits(self, packet->resync_count - 1u, RESYNC_BITS) + 1;
    for (uint32_t i = 0; i < packet->resync_count; i++)
        packet->resyncs[i] = (uint32_t)code_bits(self, packet->resyncs[i], 32);
}

// The moment with these low bits that is nearest to the present, and not 0, which is none. A client
// whose server has lost ticks sees moments after the present for a while.
static uint64_t moment_of(const coder* self, uint64_t low) {
    if (self->to) return low;
    const uint64_t present = self->near->moment + MOMENT_COUNT;
    const uint64_t ahead = (low - present + MOMENT_COUNT / 2) % MOMENT_COUNT;
    const uint64_t nearest = present + ahead - MOMENT_COUNT / 2;
    return nearest > MOMENT_COUNT ? nearest - MOMENT_COUNT : nearest;
}

// ---- short packets

static uint32_t most_of(const net_input_packet* packet) {
    const uint32_t back = back_of(packet, packet->base);
    return back < NET_INPUT_REDUNDANCY ? back : NET_INPUT_REDUNDANCY;
}

static bool has_all_of_base(const net_input_packet* packet, const net_input_bytes* before) {
    bool has_all = packet->input_count > 0 && packet->input_count == most_of(packet);
    for (uint32_t i = 0; i < packet->input_count && has_all; i++)
        has_all = net_input_is_same(&packet->inputs[i], before);
    return has_all;
}

static void code_newer(coder* self) {
    net_input_packet* packet = self->packet;
    const net_input_base* base = packet->base;
    const net_input_bytes before = {base->payload, base->size};
    const uint32_t most = most_of(packet), back = back_of(packet, base);
    const bool is_all = code_flag(self, self->to && has_all_of_base(packet, &before));
    const uint32_t left_out = self->to ? most - packet->input_count : 0;
    packet->input_count = most - (is_all ? 0 : code_up_to(self, left_out, RARE_ORDER, most));
    const uint64_t newest = (uint64_t)base->number + (packet->input_count > 0 ? back : 0);
    self->failed |= newest > UINT32_MAX;
    packet->input_first = (uint32_t)newest + 1 - packet->input_count;
    if (packet->input_count > 0 && base->has_seen) {
        const uint64_t expected = base->seen + 256 * (uint64_t)back;
        // The nearest one with these low bits.
        const uint64_t ahead = (packet->seen - expected + MOMENT_COUNT / 2) % MOMENT_COUNT;
        const uint64_t step = code_signed(self, ahead - MOMENT_COUNT / 2, SEEN_ORDER);
        packet->seen = moment_of(self, self->to ? packet->seen : expected + step);
    }
    for (uint32_t i = 0; i < packet->input_count && !self->failed; i++) {
        if (is_all)
            packet->inputs[i] = before;
        else
            code_step(self, i, i > 0 ? packet->inputs[i - 1] : before);
    }
}

static void code_short(coder* self) {
    net_input_packet* packet = self->packet;
    const uint16_t expected = (uint16_t)(packet->base->ack + back_of(packet, packet->base));
    const int16_t ahead = (int16_t)(uint16_t)(packet->ack - expected);
    packet->has_ack = true;
    packet->ack = (uint16_t)(expected + code_signed(self, (uint64_t)ahead, RARE_ORDER));
    code_news(self);
    if (code_flag(self, packet->has_event_ack || packet->resync_count > 0)) code_requests(self);
    if (!self->failed) code_newer(self);
}

net_result net_input_packet_read_short(proto_bit_reader* reader, const net_input_packet_near* near,
                                       net_input_packet_store* store, net_input_packet* packet) {
    coder self = {.from = reader, .near = near, .store = store, .packet = packet};
    memset(packet, 0, sizeof *packet);
    if (!code_flag(&self, true) || !near->has_seq) return NET_ERR_MALFORMED;
    packet->seq = (uint16_t)net_packet_header_expand((uint32_t)code_bits(&self, 0, SEQ_BITS),
                                                     SEQ_BITS, (UINT64_C(1) << 16) + near->seq);
    const uint32_t back = code_up_to(&self, 0, BACK_ORDER, NET_INPUT_BASES - 2) + 1;
    if (reader->failed || self.failed) return NET_ERR_MALFORMED;
    const uint16_t seq = (uint16_t)(packet->seq - back);
    packet->base = net_input_base_find(near->bases, seq);
    // A newer packet has its place. Else it never came, and was not acknowledged.
    if (!packet->base && is_after(&near->bases->kept[seq % NET_INPUT_BASES], seq))
        return NET_ERR_STALE;
    if (!packet->base || !packet->base->has_ack) return NET_ERR_MALFORMED;
    code_short(&self);
    const uint32_t padding = (uint32_t)(-reader->offset_bits & 7);
    const bool is_padded = proto_bits_read(reader, padding) == 0;
    return self.failed || reader->failed || !is_padded ? NET_ERR_MALFORMED : NET_OK;
}

// ---- whole packets, and those of earlier releases with low bits of numbers

static void code_inputs(coder* self, bool is_whole) {
    net_input_packet* packet = self->packet;
    const uint32_t count = (uint32_t)code_bits(self, packet->input_count, COUNT_BITS);
    uint64_t newest = self->to ? newest_of(packet) : 0;
    if (count > NET_INPUT_REDUNDANCY) self->failed = true;
    if (count == 0 || self->failed) {
        packet->input_first = 1;
        return;
    }
    newest = code_bits(self, newest, is_whole ? 32 : NET_PACKET_HEADER_NEAR_BITS);
    if (!is_whole)
        newest = net_packet_header_expand((uint32_t)newest, NET_PACKET_HEADER_NEAR_BITS,
                                          self->near->input);
    self->failed = newest > UINT32_MAX || newest < count;
    packet->input_count = count;
    packet->input_first = (uint32_t)newest - (count - 1);
    if (code_flag(self, packet->seen != 0))
        packet->seen = moment_of(self, code_bits(self, packet->seen, MOMENT_BITS));
    code_full(self, count - 1);
    for (uint32_t i = count - 1; i-- > 0 && !self->failed;)
        code_step(self, i, packet->inputs[i + 1]);
}

static void code_whole(coder* self, bool is_whole) {
    net_input_packet* packet = self->packet;
    packet->has_ack = code_flag(self, packet->has_ack);
    if (packet->has_ack) {
        const uint64_t ack =
            code_bits(self, packet->ack, is_whole ? 16 : NET_PACKET_HEADER_ACK_BITS);
        packet->ack = is_whole ? (uint16_t)ack
                               : net_packet_header_expand_ack((uint32_t)ack, self->near->sent);
        code_news(self);
    }
    code_requests(self);
    code_inputs(self, is_whole);
}

net_result net_input_packet_read(proto_bit_reader* reader, const net_input_packet_near* near,
                                 net_input_packet_store* store, net_input_packet* packet) {
    coder self = {.from = reader, .near = near, .store = store, .packet = packet};
    memset(packet, 0, sizeof *packet);
    const bool is_whole = code_flag(&self, true);
    if (!is_whole && !near->has_seq) return NET_ERR_MALFORMED;
    const uint64_t seq = code_bits(&self, 0, is_whole ? 16 : NET_PACKET_HEADER_NEAR_BITS);
    packet->seq = is_whole ? (uint16_t)seq : net_packet_header_expand_seq((uint32_t)seq, near->seq);
    code_whole(&self, is_whole);
    return self.failed || reader->failed || !net_packet_header_is_padding(reader)
               ? NET_ERR_MALFORMED
               : NET_OK;
}

void net_input_packet_write(proto_bit_writer* writer, const net_input_packet* packet) {
    net_input_packet copy = *packet;
    coder self = {.to = writer, .packet = &copy};
    BASE_ASSERT(packet->input_count <= NET_INPUT_REDUNDANCY && packet->ack_reach <= NEWS_MAX &&
                packet->resync_count <= NET_INPUT_PACKET_RESYNCS_MAX);
    (void)code_flag(&self, true);
    (void)code_bits(&self, packet->seq, packet->base ? SEQ_BITS : 16);
    if (packet->base) {
        BASE_ASSERT(net_input_packet_fits(packet, packet->base));
        (void)code_golomb(&self, back_of(packet, packet->base) - 1, BACK_ORDER);
        code_short(&self);
    } else {
        code_whole(&self, true);
    }
}
