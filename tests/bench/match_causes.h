// SPDX-License-Identifier: MIT
/// The bytes of a match by cause, in both directions (--causes).
#pragma once

#include "net/transport.h"

typedef enum match_cause {
    MATCH_SEAL,  ///< head and tag of the outer layer
    MATCH_FRAME, ///< tags and lengths of Protocol Buffers
    MATCH_NUMBERS,
    MATCH_ACK,
    MATCH_DELAY,       ///< of an acknowledgement
    MATCH_INPUT_STATE, ///< what became of inputs
    MATCH_PROBE,
    MATCH_FLAGS, ///< single bits, age of the player's row, acknowledgements of events, resyncs
    MATCH_BODY,  ///< rows and their heads, with padding
    MATCH_INPUTS,
    MATCH_EVENTS,
    MATCH_PADDING,
    MATCH_PACKETS, ///< a count
    MATCH_CAUSES
} match_cause;

typedef struct match_causes {
    uint64_t bits[MATCH_CAUSES];
} match_causes;

/// Count what a server sends from now on, and what each guest sends. One match in a process.
void match_causes_open(net_transport* server);
void match_causes_watch(net_transport* guest);
/// The sums so far.
void match_causes_read(match_causes* down, match_causes* up);
/// Print a line for each cause since then; what the transports sent beside them is ENet's.
void match_causes_print(const match_causes* down_begin, const match_causes* up_begin,
                        double client_seconds, double down_bytes_per_s, double up_bytes_per_s);
