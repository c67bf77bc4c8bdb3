// SPDX-License-Identifier: MIT
/// The rarer faults of a link, each with a random stream of its own: bursts of loss, flipped bits,
/// new source ports. And the ranges of a link's config.
#pragma once

#include "net/link.h"

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

/// Whether a config is one that net_link_config_parse could give.
bool net_link_config_is_sound(const net_link_config* config);

void net_link_faults_init(net_link_faults* made, uint64_t seed);
/// Move the state of bursts on to now. @return whether the line is in a burst.
bool net_link_faults_burst(net_link_faults* faults, const net_link_config* config, uint64_t now_us);
/// Draw the flipped bits of the next datagram, of `size` bytes. A count of 0: none.
net_link_flips net_link_faults_flips(net_link_faults* faults, const net_link_config* config,
                                     size_t size);
/// @return true once when the next rebinding is due.
bool net_link_faults_rebind(net_link_faults* faults, const net_link_config* config,
                            uint64_t now_us);
