// SPDX-License-Identifier: MIT
/// The snapshot writer: one snapshot while it is composed. It holds its runs, the encoded rows in
/// the order in which they are written, the exact size, and the bits.
///
/// One per lane: scratch of the packet that is being written. Sets of slots have `word_count`
/// words.
#pragma once

#include "base/alloc.h"
#include "replicate/bandwidth.h"
#include "replicate/encoded_rows.h"
#include "state/snapshot_format.h"
#include "proto/bits.h"

/// The first runs of every snapshot; runs of kind ABSOLUTE..BY_PACKET follow.
enum { NET_RUN_DESTROY, NET_RUN_CREATE, NET_RUN_FIRST };
enum {
    NET_RUN_ORDERS = 3,   // Golomb orders tried for a run
    NET_USUAL_ORDERS = 5, // the lowest of them, mostly
    NET_USUAL_GAPS = 64,
};

typedef struct net_record_group {
    uint8_t kind;         ///< net_snapshot_kind
    uint8_t back;         ///< BY_PACKET: packets back
    uint8_t age;          ///< BY_AGE: 1..254, NET_SNAPSHOT_AGE_SETTLED
    uint8_t d;            ///< distance of the second base; 0: none
    bool has_single;      ///< some of its records, with a base, have no second one
    uint8_t order;        ///< Golomb order of the gaps
    uint32_t first;       ///< of its records
    uint32_t count;       ///< records
    uint32_t list_count;  ///< BY_PACKET: slots of the base packet
    const uint64_t* list; ///< BY_PACKET: the set of them
    uint64_t bits;        ///< of the whole run
} net_record_group;

/// Scratch of choosing and composing: sets of slots.
typedef enum net_lane_set {
    NET_LANE_HELD,     ///< may not be sent now
    NET_LANE_CHOSEN,   ///< in the snapshot
    NET_LANE_LEFT,     ///< without a base so far
    NET_LANE_GROUP,    ///< with the base that is being handled
    NET_LANE_SECOND,   ///< of those, with the second base
    NET_LANE_SINGLE,   ///< of those, without one
    NET_LANE_RUN,      ///< in the run that is being composed
    NET_LANE_ABSOLUTE, ///< without any base
    NET_LANE_DOUBLED,  ///< coded with a second base
    NET_LANE_COUNT
} net_lane_set;

/// Waiting slots of a word that are equally urgent.
typedef struct net_alike {
    uint64_t slots;
    uint32_t word, level;
} net_alike;

typedef struct net_snapshot_writer {
    const base_allocator* allocator;
    uint32_t index_bits;
    uint32_t number_bits; ///< of a template's wire number
    uint32_t absent_bits;
    uint64_t absent_code;
    uint64_t gap_bits[NET_USUAL_ORDERS][NET_USUAL_GAPS]; ///< [lowest order][gap] in all orders
    uint64_t* sets; ///< NET_LANE_COUNT times word_capacity words
    uint32_t word_capacity;
    net_record_group* runs;
    uint32_t run_count, run_capacity;
    uint32_t* slots;       ///< of the records, run after run, rising within a run
    net_encoded_row* rows; ///< of the records
    uint32_t record_count, slots_capacity, rows_capacity;
    uint32_t* ranked; ///< waiting slots, most urgent first
    uint32_t ranked_count, ranked_capacity;
    uint32_t* order; ///< the same as units (repl_state_write.c)
    uint32_t order_count, order_capacity;
    net_alike* alike; ///< of selecting
    uint32_t alike_capacity;
    uint32_t* record_of; ///< [slot], of what is in the snapshot
    uint32_t* next_of;   ///< [slot]: the next slot with a base of the same age
    uint32_t record_of_capacity, next_of_capacity;
    uint32_t slot_room, record_room; ///< net_snapshot_writer_reserve was called for
    uint32_t slot_end;               ///< above the highest slot of the client
    uint64_t bits;                   ///< of the snapshot
    uint64_t encoded_bits;           ///< of its encoded rows, added up with the records
    uint8_t* bytes;                  ///< the snapshot while it is written, with room beyond its end
    uint32_t byte_capacity;
} net_snapshot_writer;

void net_snapshot_writer_init(net_snapshot_writer* writer, const base_allocator* allocator,
                              uint32_t index_max);
void net_snapshot_writer_deinit(net_snapshot_writer* writer);
/// Make room for the slots of a client. Sets are not cleared. @return false when memory ran out.
BASE_MUST_USE bool net_snapshot_writer_reserve(net_snapshot_writer* writer, uint32_t slot_end,
                                               uint32_t record_max);
static inline uint64_t* net_snapshot_writer_set(const net_snapshot_writer* writer,
                                                net_lane_set set) {
    return writer->sets + (size_t)set * writer->word_capacity;
}
/// Begin a snapshot of a client: no records, and the runs of destroys and creates.
/// @return false when memory ran out.
BASE_MUST_USE bool net_snapshot_writer_begin(net_snapshot_writer* writer, uint32_t number_bits);
/// Begin a run; its records are added to slots and rows. @return NULL when memory ran out.
BASE_MUST_USE net_record_group* net_snapshot_writer_add_run(net_snapshot_writer* writer,
                                                            net_snapshot_kind kind, uint32_t age,
                                                            uint32_t d);
/// Would naming slots by the packet's list take fewer bits than naming them by gaps?
bool net_snapshot_writer_is_list_shorter(const net_snapshot_writer* writer, uint32_t count,
                                         uint32_t list_count);
/// Compute the size: writer.bits, 0 without records.
void net_snapshot_writer_measure(net_snapshot_writer* writer, const net_history* history,
                                 const ecs_entity* handles);
/// Drop the records whose slot is not in this set.
void net_snapshot_writer_keep(net_snapshot_writer* writer, const uint64_t* kept);

/// What accounting asks of records.
typedef struct net_snapshot_causes {
    const uint64_t* repeat; ///< slots that are sent again because a packet was lost
    const uint64_t* resync; ///< slots that the client requested
    net_bandwidth_account* account;
} net_snapshot_causes;

/// Append the measured snapshot to `output`. `causes` may be NULL.
/// @return false when memory ran out; nothing was written then.
BASE_MUST_USE bool net_snapshot_writer_write(net_snapshot_writer* writer,
                                             const net_encoded_rows* encoded_rows,
                                             const ecs_entity* handles, proto_bit_writer* output,
                                             const net_snapshot_causes* causes);
