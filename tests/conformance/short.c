// SPDX-License-Identifier: MIT
// WIRE.md, "Short packets": a client's side, as the page has it.
#include "short.h"

#include <string.h>

enum { FIELDS = 16 };

static uint16_t back_of(const cf_said* base, const cf_short* packet) {
    return (uint16_t)(packet->seq - base->seq);
}

bool short_fits(const cf_said* base, const cf_short* packet) {
    uint16_t back = back_of(base, packet);
    if (!base->has_ack || back < 1 || back > 63) return false;
    if (packet->count == 0) return packet->number == base->number;
    return packet->number == base->number + back && base->has_seen == (packet->seen != 0);
}

static void write_signed(bit_stream* bits, uint32_t order, int64_t d) {
    golomb_write(bits, order, (uint32_t)(d >= 0 ? 2 * d : -2 * d - 1));
}

static uint64_t lowest(uint64_t value, uint32_t count) {
    return count < 64 ? value & ((UINT64_C(1) << count) - 1) : value;
}

static void write_news(bit_stream* bits, const cf_said* base, const cf_short* packet) {
    uint16_t ahead = (uint16_t)(packet->ack - base->ack);
    uint32_t between = ahead >= 1 && ahead <= 64 ? ahead - 1u : 0, n = 0;
    for (uint32_t i = 0; i < 64; i++) {
        uint16_t seq = (uint16_t)(packet->ack - 1 - i), older = (uint16_t)(base->ack - 1 - seq);
        bool was_said = seq == base->ack || (older < 64 && (base->ack_bits >> older & 1));
        if ((packet->ack_bits >> i & 1) && !was_said) n = i + 1;
    }
    golomb_write(bits, 3, packet->delay);
    bool is_all = n <= between && lowest(packet->ack_bits, between) == lowest(UINT64_MAX, between);
    bits_write(bits, !is_all, 1);
    if (is_all) return;
    bits_write(bits, n > between, 1);
    if (n > between)
        golomb_write(bits, 3, n);
    else
        n = between;
    bits_write(bits, lowest(packet->ack_bits, n), n);
}

// The numbers of a message without other fields. @return the last field that is there; -1: it is
// another message.
static int numbers_of(const uint8_t* bytes, size_t size, uint64_t values[FIELDS]) {
    int last = 0;
    size_t at = 0;
    memset(values, 0, FIELDS * sizeof *values);
    while (at < size) {
        int field = bytes[at] >> 3;
        if (bytes[at] > 127 || (bytes[at] & 7) || field <= last || field > FIELDS) return -1;
        last = field;
        at++;
        for (uint32_t shift = 0;; shift += 7) {
            if (at == size || shift > 63) return -1;
            values[field - 1] |= (uint64_t)(bytes[at] & 127) << shift;
            if (bytes[at++] < 128) break;
        }
        if (values[field - 1] == 0) return -1;
    }
    return last;
}

static bool write_fields(bit_stream* bits, const uint8_t* bytes, size_t size, const uint8_t* before,
                         size_t before_size) {
    uint64_t now[FIELDS], old[FIELDS];
    int last = numbers_of(bytes, size, now), last_old = numbers_of(before, before_size, old);
    if (last < 0 || last_old < 0) return false;
    if (last < last_old) last = last_old;
    for (int i = 0; i < last; i++) {
        int64_t d = (int64_t)(now[i] - old[i]);
        if (d > INT32_MAX || d <= INT32_MIN) return false;
    }
    bits_write(bits, 1, 1);
    golomb_write(bits, 0, (uint32_t)(last - last_old));
    for (int i = 0; i < last; i++) {
        bits_write(bits, now[i] != old[i], 1);
        if (now[i] != old[i]) write_signed(bits, 4, (int64_t)(now[i] - old[i]));
    }
    return true;
}

static bool is_same(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size) {
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

static void write_inputs(bit_stream* bits, const cf_said* base, const cf_short* packet) {
    const uint8_t* before = base->input;
    size_t before_size = base->size;
    uint32_t most = back_of(base, packet);
    if (most > SHORT_INPUTS) most = SHORT_INPUTS;
    bool are_all = packet->count > 0 && packet->count == most;
    for (uint32_t i = 0; i < packet->count; i++)
        are_all = are_all && is_same(packet->inputs[i], packet->sizes[i], before, before_size);
    bits_write(bits, are_all, 1);
    if (!are_all) golomb_write(bits, 0, most - packet->count);
    if (packet->count > 0 && base->has_seen)
        write_signed(bits, 3,
                     (int64_t)(packet->seen - base->seen) - 256 * (int64_t)back_of(base, packet));
    for (uint32_t i = 0; i < packet->count && !are_all; i++) {
        const uint8_t* input = packet->inputs[i];
        size_t size = packet->sizes[i];
        bool is_equal = is_same(input, size, before, before_size);
        bits_write(bits, is_equal, 1);
        if (!is_equal && !write_fields(bits, input, size, before, before_size)) {
            bits_write(bits, 0, 1);
            golomb_write(bits, 3, (uint32_t)size);
            for (size_t k = 0; k < size; k++)
                bits_write(bits, input[k], 8);
        }
        before = input;
        before_size = size;
    }
}

void short_write(bit_stream* bits, const cf_said* base, const cf_short* packet) {
    uint16_t back = back_of(base, packet);
    bool has_requests = packet->has_event_ack || packet->resync_count > 0;
    bits_write(bits, 1, 1);
    bits_write(bits, packet->seq & 255u, 8);
    golomb_write(bits, 2, back - 1u);
    write_signed(bits, 0, (int16_t)(uint16_t)(packet->ack - (uint16_t)(base->ack + back)));
    write_news(bits, base, packet);
    bits_write(bits, has_requests, 1);
    if (has_requests) {
        bits_write(bits, packet->has_event_ack, 1);
        if (packet->has_event_ack) bits_write(bits, packet->event_ack & 65535u, 16);
        bits_write(bits, packet->resync_count > 0, 1);
        if (packet->resync_count > 0) bits_write(bits, packet->resync_count - 1, 2);
        for (uint32_t i = 0; i < packet->resync_count; i++)
            bits_write(bits, packet->resyncs[i], 32);
    }
    write_inputs(bits, base, packet);
}

void short_keep(cf_said* said, const cf_short* packet) {
    cf_said* one = &said[packet->seq % SHORT_KEPT];
    *one = (cf_said){.has_ack = packet->has_ack,
                     .seq = packet->seq,
                     .ack = packet->ack,
                     .ack_bits = packet->ack_bits,
                     .number = packet->number};
    if (packet->count == 0) return;
    one->seen = packet->seen;
    one->has_seen = packet->seen != 0;
    size_t size = packet->sizes[packet->count - 1];
    if (size > SHORT_BASE_BYTES) return;
    one->size = size;
    memcpy(one->input, packet->inputs[packet->count - 1], size);
}
