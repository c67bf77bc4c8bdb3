// SPDX-License-Identifier: MIT
// WIRE.md, "Input": one function for both directions, which writes a packet or reads it.
#include "short.h"

#include <string.h>

enum { ACKS_MAX = 64, RESYNCS_MAX = 4, DELAY_MAX = 1 << 23 };

typedef struct coder {
    bit_stream* bits;
    const cf_known* known; // by a reader; NULL: it writes
    cf_store* store;
    bool is_whole;
} coder;

static uint64_t code(coder* c, uint64_t value, uint32_t count) {
    if (c->known) return bits_read(c->bits, count);
    bits_write(c->bits, value, count);
    return value;
}

static uint32_t code_golomb(coder* c, uint32_t value) {
    if (c->known) return golomb_read(c->bits, 3);
    golomb_write(c->bits, 3, value);
    return value;
}

// "num": a number, or its low bits.
static uint64_t code_number(coder* c, uint64_t value, uint32_t whole, uint32_t low, uint64_t near) {
    uint32_t count = c->is_whole ? whole : low;
    uint64_t read = code(c, value, count);
    return c->known && !c->is_whole ? header_nearest(read, count, near) : read;
}

static void require(coder* c, bool is_right) {
    c->bits->failed |= !is_right;
}

static void code_acks(coder* c, cf_short* packet) {
    packet->has_ack = code(c, packet->has_ack, 1);
    if (!packet->has_ack) return;
    uint64_t ack = code(c, packet->ack, c->is_whole ? 16 : 12);
    if (c->known && !c->is_whole) ack = c->known->sent - ((c->known->sent - ack) & 4095);
    packet->ack = (uint16_t)ack;
    packet->delay = code_golomb(c, packet->delay);
    packet->reach = code_golomb(c, packet->reach);
    require(c, packet->delay < DELAY_MAX && packet->reach <= ACKS_MAX);
    if (!c->bits->failed) packet->ack_bits = code(c, packet->ack_bits, packet->reach);
}

static void code_requests(coder* c, cf_short* packet) {
    packet->has_event_ack = code(c, packet->has_event_ack, 1);
    if (packet->has_event_ack) {
        uint64_t low = code(c, packet->event_ack, 16);
        uint64_t ack = c->known ? header_nearest(low, 16, c->known->event) : packet->event_ack;
        require(c, ack <= UINT32_MAX);
        packet->event_ack = (uint32_t)ack;
    }
    if (!code(c, packet->resync_count > 0, 1)) return;
    packet->resync_count = (uint32_t)code(c, packet->resync_count - 1, 2) + 1;
    for (uint32_t i = 0; i < packet->resync_count; i++)
        packet->resyncs[i] = (uint32_t)code(c, packet->resyncs[i], 32);
}

// "full", and of one that is not the newest "older".
static void code_bytes(coder* c, cf_short* packet, uint32_t i) {
    bool has_newer = i + 1 < packet->count;
    const uint8_t* newer = has_newer ? packet->inputs[i + 1] : NULL;
    size_t newer_size = has_newer ? packet->sizes[i + 1] : 0, size = packet->sizes[i];
    bool is_as_long = has_newer && size == newer_size;
    bool is_same = is_as_long && (size == 0 || memcmp(packet->inputs[i], newer, size) == 0);
    if (has_newer && code(c, is_same, 1)) {
        packet->inputs[i] = newer;
        packet->sizes[i] = newer_size;
        return;
    }
    if (has_newer) is_as_long = code(c, is_as_long, 1);
    size = packet->sizes[i] = is_as_long ? newer_size : code_golomb(c, (uint32_t)size);
    require(c, size <= SHORT_INPUT_BYTES);
    if (c->known) packet->inputs[i] = c->store->bytes[i];
    for (size_t k = 0; k < size && !c->bits->failed; k++) {
        uint8_t byte = c->known ? 0 : packet->inputs[i][k];
        bool differs = !is_as_long || code(c, byte != newer[k], 1);
        byte = differs ? (uint8_t)code(c, byte, 8) : newer[k];
        if (c->known) c->store->bytes[i][k] = byte;
    }
}

static void code_inputs(coder* c, cf_short* packet) {
    packet->count = (uint32_t)code(c, packet->count, 4);
    require(c, packet->count <= SHORT_INPUTS);
    if (packet->count == 0 || c->bits->failed) return;
    uint64_t newest = code_number(c, packet->number, 32, 10, c->known ? c->known->input : 0);
    require(c, newest >= packet->count && newest <= UINT32_MAX);
    packet->number = (uint32_t)newest;
    if (code(c, packet->seen > 0, 1)) {
        uint64_t low = code(c, packet->seen, 18);
        if (c->known) packet->seen = header_nearest(low, 18, c->known->tick * 256);
        if (packet->seen == 0) packet->seen = 1 << 18;
    }
    for (uint32_t i = packet->count; i > 0; i--)
        code_bytes(c, packet, i - 1);
}

static void code_packet(coder* c, cf_short* packet) {
    uint64_t near = c->known ? 65536u + c->known->seq : 0;
    packet->seq = (uint16_t)code_number(c, packet->seq, 16, 10, near);
    code_acks(c, packet);
    code_requests(c, packet);
    code_inputs(c, packet);
}

void input_write(bit_stream* bits, const cf_short* packet, bool is_whole) {
    cf_short copy = *packet;
    bits_write(bits, is_whole, 1);
    code_packet(&(coder){.bits = bits, .is_whole = is_whole}, &copy);
}

bool input_read(bit_stream* bits, const cf_known* known, cf_store* store, cf_short* packet) {
    bool is_whole = bits_read(bits, 1);
    *packet = (cf_short){0};
    if (!is_whole && !known->has_tick) return false;
    code_packet(&(coder){.bits = bits, .known = known, .store = store, .is_whole = is_whole},
                packet);
    return !bits->failed && is_padding(bits);
}
