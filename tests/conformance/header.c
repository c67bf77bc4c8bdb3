// SPDX-License-Identifier: MIT
// WIRE.md, "State": the header. Reading completes low bits to whole numbers; writing cuts them
// again.
#include "conform.h"

uint64_t header_nearest(uint64_t low, uint32_t bits, uint64_t known) {
    uint64_t best = low, count = UINT64_C(1) << bits;
    if (known > low) best += (known - low) / count * count; // the highest not above `known`
    bool is_next_nearer = best < known && best + count - known <= known - best;
    return is_next_nearer ? best + count : best;
}

bool is_padding(bit_stream* bits) {
    size_t rest = bits->size_bits - bits->at;
    return rest <= 7 && bits_read(bits, (uint32_t)rest) == 0;
}

bool header_read(bit_stream* bits, const cf_known* known, cf_header* header) {
    *header = (cf_header){.is_whole = bits_read(bits, 1)};
    if (header->is_whole) {
        header->seq = (uint16_t)bits_read(bits, 16);
        header->tick = bits_read(bits, 64);
    } else {
        header->seq = (uint16_t)header_nearest(bits_read(bits, 10), 10, 65536u + known->seq);
        header->tick = header_nearest(bits_read(bits, 10), 10, known->tick);
    }
    uint64_t input_used = 0, event_ack = 0;
    header->has_ack = bits_read(bits, 1);
    if (header->has_ack) {
        if (header->is_whole)
            header->ack = (uint16_t)bits_read(bits, 16);
        else
            header->ack = (uint16_t)(known->sent - ((known->sent - bits_read(bits, 12)) & 4095));
        header->delay = golomb_read(bits, 4);
    }
    header->has_input = bits_read(bits, 1);
    if (header->has_input) {
        uint32_t low = header->is_whole ? 16 : 12;
        input_used = header_nearest(bits_read(bits, low), low, known->input);
        header->input_repeats = golomb_read(bits, 0);
        header->input_depth = golomb_read(bits, 1);
    }
    header->has_event_ack = bits_read(bits, 1);
    if (header->has_event_ack) event_ack = header_nearest(bits_read(bits, 16), 16, known->event);
    header->player_age = golomb_read(bits, 1);
    header->has_probe = bits_read(bits, 1);
    if (header->has_probe) {
        header->probe_slot = golomb_read(bits, 6);
        header->probe_age = golomb_read(bits, 4);
        header->probe_hash = (uint32_t)bits_read(bits, 16);
    }
    header->has_body = bits_read(bits, 1);
    header->input_used = (uint32_t)input_used;
    header->event_ack = (uint32_t)event_ack;
    if (bits->failed || (!header->is_whole && !known->has_tick)) return false;
    if (input_used > UINT32_MAX || event_ack > UINT32_MAX) return false;
    if (header->delay >= UINT32_C(1) << 23 || header->probe_age > header->tick) return false;
    return header->has_body || is_padding(bits);
}

void header_write(bit_stream* bits, const cf_header* header) {
    bits_write(bits, header->is_whole, 1);
    bits_write(bits, header->seq, header->is_whole ? 16 : 10);
    bits_write(bits, header->tick, header->is_whole ? 64 : 10);
    bits_write(bits, header->has_ack, 1);
    if (header->has_ack) {
        bits_write(bits, header->ack, header->is_whole ? 16 : 12);
        golomb_write(bits, 4, header->delay);
    }
    bits_write(bits, header->has_input, 1);
    if (header->has_input) {
        bits_write(bits, header->input_used, header->is_whole ? 16 : 12);
        golomb_write(bits, 0, header->input_repeats);
        golomb_write(bits, 1, header->input_depth);
    }
    bits_write(bits, header->has_event_ack, 1);
    if (header->has_event_ack) bits_write(bits, header->event_ack, 16);
    golomb_write(bits, 1, header->player_age);
    bits_write(bits, header->has_probe, 1);
    if (header->has_probe) {
        golomb_write(bits, 6, header->probe_slot);
        golomb_write(bits, 4, header->probe_age);
        bits_write(bits, header->probe_hash, 16);
    }
    bits_write(bits, header->has_body, 1);
}
