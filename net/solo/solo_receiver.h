// SPDX-License-Identifier: MIT
/// Solo code at the client (SOLO.md): the statistics of the present
/// epoch and of the one before, and the samples of the newest packets.
#pragma once

#include "state/coder.h"
#include "state/snapshot_format.h"
#include "solo/solo_stats.h"

struct net_solo_receiver {
    const base_allocator* allocator;
    uint32_t epoch;         // the present one
    net_solo_epoch present; // what it added, unless it is 0
    uint32_t present_at;    // of `models`; the other one is of the epoch before
    uint32_t read_epoch;    // of the snapshot that is read
    net_solo_packets packets;
    proto_solo_sample samples[NET_SOLO_RING_CLIENT];
    proto_solo_model models[2];
    proto_solo_coder coder;
    uint8_t bytes[NET_SNAPSHOT_BYTES_MAX];
};

// As in state/coder.h.
net_solo_receiver* net_solo_receiver_create(const base_allocator* allocator);
void net_solo_receiver_destroy(net_solo_receiver* receiver);
net_solo_result net_solo_receiver_begin(net_solo_receiver* receiver, uint16_t seq,
                                        proto_bit_reader* snapshot, proto_solo_coder** coder,
                                        bool** has_failed, bool* is_coded);
void net_solo_receiver_row(proto_solo_coder* coder, const net_row_template* row_template,
                           const proto_row_base* base, const uint64_t* third, uint32_t third_ticks,
                           uint64_t* row);
void net_solo_receiver_end(net_solo_receiver* receiver, uint16_t seq);
