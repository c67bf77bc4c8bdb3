// SPDX-License-Identifier: MIT
/// Private to mirror: solo code at the client (SOLO.md): the statistics of the present
/// epoch and of the one before, and the samples of the newest packets.
#pragma once

#include "mirror/mirror.h"
#include "state/snapshot_format.h"
#include "state/solo_stats.h"

typedef struct net_solo_receiver net_solo_receiver;

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
