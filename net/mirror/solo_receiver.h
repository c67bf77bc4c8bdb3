// SPDX-License-Identifier: MIT
/// Private to mirror: solo code at the client (SOLO.md): the statistics of the present
/// epoch and of the one before, and the samples of the newest packets.
#pragma once

#include "mirror/mirror.h"
#include "state/snapshot_format.h"
#include "state/solo_stats.h"

typedef struct net_solo_receiver {
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
} net_solo_receiver;

typedef enum net_solo_result {
    NET_SOLO_OK,
    NET_SOLO_MISSING, ///< another epoch, or packets that it adds did not come
    NET_SOLO_MALFORMED,
} net_solo_result;

/// @return NULL when memory ran out.
net_solo_receiver* net_solo_receiver_create(const base_allocator* allocator);
void net_solo_receiver_destroy(net_solo_receiver* receiver);
/// Read the head of the snapshot of packet `seq`. A head that defines the next epoch begins it,
/// whatever becomes of the snapshot. *coder gets what reads its numbers, or records them when
/// *is_coded is false; NULL: neither. @return the result.
net_solo_result net_solo_receiver_begin(net_solo_receiver* receiver, uint16_t seq,
                                        proto_bit_reader* snapshot, proto_solo_coder** coder,
                                        bool* is_coded);
/// The snapshot was read as a whole: keep its samples.
void net_solo_receiver_end(net_solo_receiver* receiver, uint16_t seq);
