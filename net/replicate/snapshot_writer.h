// SPDX-License-Identifier: MIT
/// The snapshot writer: one snapshot while it is composed. It holds the records, the runs (record
/// groups) that they stand in, the exact size, and the bits.
///
/// One for all replication states of a replicator: scratch of the packet that is being written.
#pragma once

#include "base/alloc.h"
#include "replicate/encoded_rows.h"
#include "state/snapshot_format.h"
#include "replicate/bandwidth.h"
#include "proto/bits.h"

typedef struct net_packet_item net_packet_item;

#define NET_SNAPSHOT_NONE UINT32_MAX
#define NET_SNAPSHOT_BACKS (1u << NET_SNAPSHOT_BACK_BITS)
#define NET_SNAPSHOT_AGES (1u << NET_SNAPSHOT_AGE_BITS)
#define NET_SNAPSHOT_NEAR 8u

/// The first runs of every snapshot.
enum { NET_RUN_DESTROY, NET_RUN_CREATE, NET_RUN_ABSOLUTE, NET_RUN_FIRST };

typedef struct net_snapshot_record {
    uint32_t slot;
    uint32_t run;
    uint32_t unit_first; ///< first record of its unit, which is sent or left out as a whole
    uint32_t order_next; ///< where the order goes on after the unit
    ecs_entity handle;
    uint8_t cause;      ///< net_cost
    uint8_t free_ticks; ///< ticks before its base in which the client certainly has no row
    net_encoded_row_key key;
    net_encoded_row encoded; ///< its encoded row; no bits: none yet, or none needed
} net_snapshot_record;

enum { NET_RUN_ORDERS = 3 }; // Golomb orders tried for a run

typedef struct net_record_group {
    uint8_t kind; ///< net_snapshot_kind
    uint8_t back; ///< packets back; 0: by age
    uint8_t age;  ///< 1..254, NET_SNAPSHOT_AGE_SETTLED
    uint8_t d;
    bool
        is_decided; ///< the naming of its records is decided: as `kind` says, or in the run `moved`
    bool is_listed; ///< names its records by packet
    uint8_t order;  ///< Golomb order of the gaps; while measuring the lowest candidate
    uint32_t moved; ///< its records belong to this run; NET_SNAPSHOT_NONE
    uint32_t next;  ///< next run of the same back or age
    uint32_t leader;    ///< of them: the run with the shared second base; NET_SNAPSHOT_NONE
    uint32_t count;     ///< records in the measured snapshot
    uint32_t expected;  ///< records that were prepared for it
    uint32_t first;     ///< position in writer.by_run
    uint32_t slot_next; ///< above the last slot
    uint32_t gap_bits[NET_RUN_ORDERS];
    const net_packet_item* items; ///< of the base packet
    uint32_t item_count, row_count;
} net_record_group;

typedef struct net_snapshot_writer {
    const base_allocator* allocator;
    uint32_t index_bits;
    uint32_t number_bits; ///< of a template's wire number
    uint32_t absent_bits;
    uint64_t absent_code;
    uint32_t* order; ///< slots, in the order in which they are tried
    uint32_t order_count, order_capacity;
    bool is_whole;                ///< order holds all waiting slots, by slot
    net_snapshot_record* records; ///< the first record_count are in the snapshot
    uint32_t record_count, record_capacity;
    uint32_t record_room; ///< records that fit all arrays
    net_record_group* runs;
    uint32_t run_count, run_capacity;
    uint32_t by_back[NET_SNAPSHOT_BACKS],
        by_age[NET_SNAPSHOT_AGES]; ///< first run or NET_SNAPSHOT_NONE
    uint16_t near[NET_SNAPSHOT_BACKS]
                 [NET_SNAPSHOT_NEAR]; ///< the run of a back and a small d; 0: search for it
    uint64_t* chosen;                 ///< a bit per slot with a record
    uint32_t* record_of;              ///< [slot], with its bit in chosen
    uint8_t* buckets;                 ///< [slot]: scratch of selecting
    uint32_t slot_capacity;
    uint32_t* by_slot; ///< records, rising by slot
    uint32_t* by_run;  ///< records, by run and then by slot
    uint32_t by_slot_capacity, by_run_capacity;
    uint32_t* scratch; ///< of selecting
    uint32_t scratch_capacity;
    uint32_t slot_end;     ///< above the highest slot of the client
    uint64_t encoded_bits; ///< of the records in the snapshot
    uint8_t* bytes;        ///< the snapshot while it is written, with room beyond its end
    uint32_t byte_capacity;
} net_snapshot_writer;

void net_snapshot_writer_init(net_snapshot_writer* writer, const base_allocator* allocator,
                              uint32_t index_max);
void net_snapshot_writer_deinit(net_snapshot_writer* writer);
/// Begin a snapshot. @return false when memory ran out.
BASE_MUST_USE bool net_snapshot_writer_begin(net_snapshot_writer* writer, uint32_t slot_capacity,
                                             uint32_t slot_end, uint32_t number_bits);
BASE_MUST_USE bool net_snapshot_writer_grow(net_snapshot_writer* writer);
/// Runs that the present ones may turn into: by packet or by age, with a second base or without.
static inline uint32_t net_snapshot_writer_run_room(const net_snapshot_writer* writer) {
    return 4 * (writer->run_count + 1) + NET_RUN_FIRST;
}
/// Make room for one more record and its runs. @return false when memory ran out.
BASE_MUST_USE static inline bool net_snapshot_writer_reserve(net_snapshot_writer* writer) {
    return (writer->record_count < writer->record_room &&
            net_snapshot_writer_run_room(writer) <= writer->run_capacity) ||
           net_snapshot_writer_grow(writer);
}
/// Add a record for a slot that has none. Room was reserved; the caller fills in the rest.
static inline net_snapshot_record* net_snapshot_writer_add(net_snapshot_writer* writer,
                                                           uint32_t slot) {
    net_snapshot_record* record = &writer->records[writer->record_count];
    writer->chosen[slot >> 6] |= UINT64_C(1) << (slot & 63);
    writer->record_of[slot] = writer->record_count++;
    record->slot = slot;
    return record;
}
/// Keep the first `count` records.
void net_snapshot_writer_drop(net_snapshot_writer* writer, uint32_t count);
static inline bool net_snapshot_writer_has(const net_snapshot_writer* writer, uint32_t slot) {
    return writer->chosen[slot >> 6] >> (slot & 63) & 1;
}
uint32_t net_snapshot_writer_find_run(net_snapshot_writer* writer, uint32_t back, uint32_t age,
                                      uint32_t d);
/// The run of these numbers; it is added when it is new. `back` 0: by age.
static inline uint32_t net_snapshot_writer_run(net_snapshot_writer* writer, uint32_t back,
                                               uint32_t age, uint32_t d) {
    if (back && d < NET_SNAPSHOT_NEAR) {
        uint32_t run = writer->near[back][d];
        if (run) return run;
    }
    return net_snapshot_writer_find_run(writer, back, age, d);
}
/// Decide which runs keep their second base (runs with many records), and which name their records
/// by packet (runs where naming slots would cost more). Records from `from` on are not encoded yet
/// and may change their run.
void net_snapshot_writer_decide(net_snapshot_writer* writer, uint32_t from);
/// The run in which a record of `run` stands now.
static inline uint32_t net_snapshot_writer_run_of(const net_snapshot_writer* writer, uint32_t run) {
    while (writer->runs[run].moved != NET_SNAPSHOT_NONE)
        run = writer->runs[run].moved;
    return run;
}
/// Sort the records and compute the size. @return bits of the snapshot; 0 without records.
uint64_t net_snapshot_writer_measure(net_snapshot_writer* writer,
                                     const net_encoded_rows* encoded_rows);
/// Append the measured snapshot to `output`. `account` may be NULL.
/// @return false when memory ran out; nothing was written then.
BASE_MUST_USE bool net_snapshot_writer_write(net_snapshot_writer* writer,
                                             const net_encoded_rows* encoded_rows,
                                             proto_bit_writer* output, uint64_t bits,
                                             net_bandwidth_account* account);
