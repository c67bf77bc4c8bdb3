// SPDX-License-Identifier: MIT
/// The numbers of a snapshot that the writer (snapshot_writer.c) and the reader (snapshot_reader.c)
/// share. The standard is WIRE.md, "State body".
#pragma once

#include "ecs/ecs.h"
#include "net/limits.h"

#define NET_SNAPSHOT_BYTES_MAX 4096u ///< no snapshot is longer
#define NET_SNAPSHOT_ORDER_BITS 4u   ///< Golomb order of a list's slot gaps, 0..15
#define NET_SNAPSHOT_ORDER_MAX 15u
#define NET_SNAPSHOT_PARTS_BITS 3u ///< part count - 1
#define NET_SNAPSHOT_LIST_ORDER 0u ///< of the counts of destroys, creates and runs
#define NET_SNAPSHOT_RUN_ORDER 1u  ///< of a run's count - 1
#define NET_SNAPSHOT_KIND_BITS 2u  ///< of a run: net_snapshot_kind
#define NET_SNAPSHOT_AGE_BITS 8u
#define NET_SNAPSHOT_AGE_SETTLED                                                                   \
    255u ///< base: the newest row with a tick of at most the packet's tick - 255
#define NET_SNAPSHOT_BACK_BITS 6u ///< the base packet lies this many sequence numbers back, 1..63
#define NET_SNAPSHOT_BASE2_ORDER                                                                   \
    2u ///< of the ticks from the second base to the first; 0: no second base
#define NET_SNAPSHOT_BASE2_TICKS_MAX 255u
/// Packets whose slots a reader remembers: the newest sequence number and those before it.
#define NET_SNAPSHOT_PACKETS 128u
/// A reader keeps rows for this many ticks before the oldest base of an applied record.
#define NET_SNAPSHOT_BASE_SLACK_TICKS 16u

/// What the rows of a run (a record group) are coded against.
typedef enum net_snapshot_kind {
    NET_SNAPSHOT_ABSOLUTE,  ///< the default row
    NET_SNAPSHOT_BY_AGE,    ///< the row of a tick
    NET_SNAPSHOT_BY_PACKET, ///< the rows of an earlier packet, whose slots the run names by bits
} net_snapshot_kind;

/// Width of an entity index: of Welcome's replicated_index_max.
static inline uint32_t net_snapshot_index_bits(uint32_t index_max) {
    uint32_t bits = 1;
    while (index_max >> bits)
        bits++;
    return bits;
}

/// What a client knows of an entity index: whether an entity is yet to come or is gone.
/// Get the entity of the newest record for an index (NONE: destroyed) and the tick of that record.
/// @return false when no record ever named the index.
typedef bool (*net_known_incarnation_fn)(void* context, uint32_t index, ecs_entity* handle,
                                         ecs_tick* tick);
