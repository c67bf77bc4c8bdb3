// SPDX-License-Identifier: MIT
/// The rarer faults of a link, each with a random stream of its own: bursts of loss, flipped bits,
/// new source ports. And the ranges of a link's config.
#pragma once

#include "net/transport.h"

typedef struct net_link_faults {
    base_rng bursts, flips, rebinds;
    bool has_begun; ///< burst_ms is counted since begun
    bool is_bad;    ///< in a burst
    uint64_t burst_at_ms;
    uint64_t rebind_us; ///< when the next one is due; 0: not known yet
} net_link_faults;

/// Bits to flip, by number from the first byte's lowest one; all different.
typedef struct net_link_flips {
    uint32_t count;
    uint32_t bits[NET_LINK_FLIPPED_BITS_MAX];
} net_link_flips;
