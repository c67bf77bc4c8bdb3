// SPDX-License-Identifier: MIT
/// What both sides of a session with solo code keep: the samples of its packets (SOLO.md).
/// Statistics change in epochs: an epoch names the packets that it adds. And the client's side: the
/// statistics of the present epoch and of the one before.
#pragma once

#include "proto/solo.h"
#include "state/coder.h"
#include "state/snapshot_format.h"

enum {
    NET_SOLO_PACKETS = 128,      ///< newest packets whose samples are kept
    NET_SOLO_TRAINED_MAX = 64,   ///< packets of an epoch
    NET_SOLO_SAMPLES_MAX = 2048, ///< of a packet; its further numbers are not recorded
    NET_SOLO_RING_SERVER = 14 * NET_SOLO_SAMPLES_MAX, ///< samples of all packets: until trained
    NET_SOLO_RING_CLIENT = 32 * NET_SOLO_SAMPLES_MAX, ///< until a definition had time to come
    NET_SOLO_PROMISED = 24 * NET_SOLO_SAMPLES_MAX,    ///< newest ones that a server builds on
    NET_SOLO_EPOCH_BITS = 2,
    NET_SOLO_BACK_BITS = 7,
    NET_SOLO_COUNT_BITS = 6,
    /// Epoch, its definition, and which code follows.
    NET_SOLO_HEAD_BITS_MAX = 1 + NET_SOLO_EPOCH_BITS + 1 + NET_SOLO_BACK_BITS +
                             NET_SOLO_COUNT_BITS + NET_SOLO_TRAINED_MAX + 1,
};

typedef struct net_solo_packet {
    uint64_t first; ///< of its samples
    uint32_t count;
    uint32_t epoch; ///< that it was coded with
    uint16_t seq;
    bool is_known;
} net_solo_packet;

/// The samples that came last. Those of a packet are together, so a packet that would not fit at
/// the end of the ring begins at its start. The ring is the owner's: `room` samples, a multiple of
/// NET_SOLO_SAMPLES_MAX.
typedef struct net_solo_packets {
    net_solo_packet at[NET_SOLO_PACKETS]; ///< [seq % PACKETS]
    uint64_t next;                        ///< first sample of the next packet
    proto_solo_sample* samples;
    uint32_t room;
} net_solo_packets;

/// Which packets an epoch adds.
typedef struct net_solo_epoch {
    uint16_t newest;
    uint32_t count;   ///< packets up to the newest one, 1..NET_SOLO_TRAINED_MAX
    uint64_t trained; ///< bit i: packet newest - i; the first is set
} net_solo_epoch;

/// Keep the first `count` samples there as those of a packet.
void net_solo_keep(net_solo_packets* packets, uint16_t seq, uint32_t epoch, uint32_t count);
/// A packet whose samples are kept, or NULL.
const net_solo_packet* net_solo_find(const net_solo_packets* packets, uint16_t seq);
/// Train with the packets of an epoch, which are all kept, the oldest first.
void net_solo_train(const net_solo_packets* packets, const net_solo_epoch* epoch,
                    proto_solo_model* model);

/// The name of a template in solo code.
static inline uint32_t net_solo_template(const net_row_template* row_template) {
    uint32_t name = 0;
    for (uint32_t i = 0; i < row_template->part_count; i++)
        name = name * 31 + row_template->parts[i];
    return name;
}

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
