// SPDX-License-Identifier: MIT
/// The numbers of a state body that writer (view_body.c) and reader (mirror_body.c) share. The standard
/// is WIRE.md, "State body".
#pragma once

#include "ecs/entity.h"
#include "net/limits.h"

#define NET_SNAPSHOT_BYTES_MAX 4096u ///< no body is longer, whatever carries it
#define NET_SNAPSHOT_ORDER_BITS 4u   ///< Golomb order of a list's slot gaps, 0..15
#define NET_SNAPSHOT_ORDER_MAX 15u
#define NET_SNAPSHOT_PARTS_BITS 3u ///< part count - 1
#define NET_SNAPSHOT_LIST_ORDER 0u ///< of the counts of destroys, creates and runs
#define NET_SNAPSHOT_RUN_ORDER 1u  ///< of a run's count - 1
#define NET_SNAPSHOT_KIND_BITS 2u  ///< of a run: net_snapshot_kind
#define NET_SNAPSHOT_AGE_BITS 8u
#define NET_SNAPSHOT_AGE_SETTLED 255u ///< base: the newest row with a tick <= packet tick - 255
#define NET_SNAPSHOT_BACK_BITS 6u     ///< the base packet is so many sequence numbers back, 1..63
#define NET_SNAPSHOT_BASE2_ORDER                                                                   \
    2u ///< of the ticks from the second row to the first, 0: there is none
#define NET_SNAPSHOT_BASE2_TICKS_MAX 255u
/// Record lists that a reader remembers: those of the newest sequence number and so many - 1 before it.
#define NET_SNAPSHOT_PACKETS 128u
/// Rows so much older than the oldest that an applied record was coded against are still kept.
#define NET_SNAPSHOT_BASE_SLACK_TICKS 16u

/// What the rows of a run are coded against.
typedef enum net_snapshot_kind {
    NET_SNAPSHOT_ABSOLUTE,  ///< the default row
    NET_SNAPSHOT_BY_AGE,    ///< the row of a tick
    NET_SNAPSHOT_BY_PACKET, ///< the rows of another packet, whose slots it shares
} net_snapshot_kind;

/// Width of an entity index: of Welcome's replicated_index_max.
static inline uint32_t net_snapshot_index_bits(uint32_t index_max) {
    uint32_t bits = 1;
    while (index_max >> bits)
        bits++;
    return bits;
}
