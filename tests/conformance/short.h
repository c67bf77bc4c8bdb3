// SPDX-License-Identifier: MIT
/// What a client sends on channel 1 (WIRE.md, "Input"), written from the page alone.
#pragma once

#include "conform.h"

#include <stddef.h>

enum {
    SHORT_KEPT = 64,
    SHORT_INPUTS = 8,
    SHORT_ROOM = 15,
    SHORT_BASE_BYTES = 36,
    SHORT_INPUT_BYTES = 256
};

/// What a packet said that was sent.
typedef struct cf_said {
    bool has_ack;
    uint16_t seq, ack;
    uint64_t ack_bits; ///< all that were decoded
    uint32_t number;   ///< of its newest input; 0: none
    bool has_seen;
    uint64_t seen;
    uint8_t input[SHORT_BASE_BYTES];
    size_t size;
} cf_said;

/// An InputPacket or a short packet.
typedef struct cf_short {
    uint16_t seq, ack;
    bool has_ack; ///< of an InputPacket; a short one has it
    uint32_t delay;
    uint64_t ack_bits;
    uint32_t reach; ///< n, of an InputPacket
    bool has_event_ack;
    uint32_t event_ack;
    uint32_t resyncs[4], resync_count;
    uint32_t number;                   ///< of the newest input
    uint32_t count;                    ///< of inputs, oldest first
    const uint8_t* inputs[SHORT_ROOM]; ///< more than 8 only where that is misread
    size_t sizes[SHORT_ROOM];
    uint64_t seen; ///< 0: not reported
} cf_short;

/// Where a reader puts inputs.
typedef struct cf_store {
    uint8_t bytes[SHORT_ROOM][SHORT_INPUT_BYTES];
} cf_store;

// ---- input.c ----
/// Write InputPacket.input, without padding.
void input_write(bit_stream* bits, const cf_short* packet, bool is_whole);
/// Read it. `known`: what a server knows: has_tick: a packet came; seq: the newest; sent: its
/// newest state packet. @return false: refused.
bool input_read(bit_stream* bits, const cf_known* known, cf_store* store, cf_short* packet);

// ---- short.c ----
/// Can the packet be written against this base?
bool short_fits(const cf_said* base, const cf_short* packet);
/// Write it, without padding and events.
void short_write(bit_stream* bits, const cf_said* base, const cf_short* packet);
/// Remember what a packet of either kind said. `said`: SHORT_KEPT, by seq.
void short_keep(cf_said* said, const cf_short* packet);
