// SPDX-License-Identifier: MIT
/// Short packets (WIRE.md, "Short packets"), written from the page alone.
#pragma once

#include "conform.h"

#include <stddef.h>

enum { SHORT_KEPT = 64, SHORT_INPUTS = 8, SHORT_BASE_BYTES = 36 };

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

typedef struct cf_short {
    uint16_t seq, ack;
    uint32_t delay;
    uint64_t ack_bits;
    bool has_event_ack;
    uint32_t event_ack;
    const uint32_t* resyncs;
    uint32_t resync_count;
    uint32_t number; ///< of the newest input
    uint32_t count;  ///< of inputs, oldest first
    const uint8_t* inputs[SHORT_INPUTS];
    size_t sizes[SHORT_INPUTS];
    uint64_t seen; ///< 0: not reported
} cf_short;

/// Can the packet be written against this base?
bool short_fits(const cf_said* base, const cf_short* packet);
/// Write it, without padding and events.
void short_write(bit_stream* bits, const cf_said* base, const cf_short* packet);
/// Remember what a packet of either kind said. `said`: SHORT_KEPT, by seq.
void short_keep(cf_said* said, const cf_short* packet, bool has_ack);
