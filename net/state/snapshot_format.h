// SPDX-License-Identifier: MIT
/// The numbers of a state body that writer (view_body.c) and reader (mirror_body.c) share. The standard
/// is WIRE.md, "State body".
#pragma once

#include "ecs/entity.h"
#include "net/limits.h"

#define NET_BODY_BYTES_MAX 4096u ///< no body is longer, whatever carries it
#define NET_BODY_ORDER_BITS 4u   ///< Golomb order of a list's slot gaps, 0..15
#define NET_BODY_ORDER_MAX 15u
#define NET_BODY_PARTS_BITS 3u ///< part count - 1
#define NET_BODY_LIST_ORDER 0u ///< of the counts of destroys, creates and runs
#define NET_BODY_RUN_ORDER 1u  ///< of a run's count - 1
#define NET_BODY_KIND_BITS 2u  ///< of a run: net_body_kind
#define NET_BODY_AGE_BITS 8u
#define NET_BODY_AGE_SETTLED 255u ///< base: the newest row with a tick <= packet tick - 255
#define NET_BODY_BACK_BITS 6u     ///< the base packet is so many sequence numbers back, 1..63
#define NET_BODY_BASE2_ORDER 2u ///< of the ticks from the second row to the first, 0: there is none
#define NET_BODY_BASE2_TICKS_MAX 255u
/// Record lists that a reader remembers: those of the newest sequence number and so many - 1 before it.
#define NET_BODY_PACKETS 128u
/// Rows so much older than the oldest that an applied record was coded against are still kept.
#define NET_BODY_BASE_SLACK_TICKS 16u

/// What the rows of a run are coded against.
typedef enum net_body_kind {
    NET_BODY_ABSOLUTE,  ///< the default row
    NET_BODY_BY_AGE,    ///< the row of a tick
    NET_BODY_BY_PACKET, ///< the rows of another packet, whose slots it shares
} net_body_kind;

/// Width of an entity index: of Welcome's replicated_index_max.
static inline uint32_t net_body_index_bits(uint32_t index_max) {
    uint32_t bits = 1;
    while (index_max >> bits)
        bits++;
    return bits;
}
