// SPDX-License-Identifier: MIT
/// One state body being put together: records, the runs they stand in, what it all weighs, and the bits.
///
/// One for all repls of a replicator: scratch of the packet that is being written.
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

/// The first runs of every body.
enum { NET_RUN_DESTROY, NET_RUN_CREATE, NET_RUN_ABSOLUTE, NET_RUN_FIRST };

typedef struct net_snapshot_record {
    uint32_t slot;
    uint32_t run;
    uint32_t unit_first; ///< position of the first record that goes with it, or not at all
    uint32_t order_next; ///< where the order goes on after its unit
    ecs_entity handle;
    uint8_t cause;      ///< net_cost
    uint8_t free_ticks; ///< so long before its base the client surely has no row
    net_encoded_row_key key;
    net_encoded_row encoded; ///< its code; no bits: none yet, or none needed
} net_snapshot_record;

enum { NET_RUN_ORDERS = 3 }; // Golomb orders tried for a run

typedef struct net_record_group {
    uint8_t kind; ///< net_snapshot_kind
    uint8_t back; ///< packets; 0: by age
    uint8_t age;  ///< 1..254, NET_SNAPSHOT_AGE_SETTLED
    uint8_t d;
    bool is_decided; ///< how its records are named: as it says, or in the run of `moved`
    bool is_listed;  ///< by packet
    uint8_t order;   ///< Golomb order of the gaps; while measuring the lowest that is tried
    uint32_t moved;  ///< its records belong to this run; NET_SNAPSHOT_NONE
    uint32_t next;   ///< of the same back or age
    uint32_t leader; ///< that of them whose second row the others may do without; NET_SNAPSHOT_NONE
    uint32_t count;  ///< records, as measured
    uint32_t expected;  ///< records that were prepared for it
    uint32_t first;     ///< position in body.by_run
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
    bool is_whole;                ///< order has all that wait, by slot
    net_snapshot_record* records; ///< the first record_count of them are in the body
    uint32_t record_count, record_capacity;
    uint32_t record_room; ///< so many have their places everywhere
    net_record_group* runs;
    uint32_t run_count, run_capacity;
    uint32_t by_back[NET_SNAPSHOT_BACKS],
        by_age[NET_SNAPSHOT_AGES]; ///< first run or NET_SNAPSHOT_NONE
    uint16_t near[NET_SNAPSHOT_BACKS]
                 [NET_SNAPSHOT_NEAR]; ///< the run of a back and a small d; 0: look for it
    uint64_t* chosen;                 ///< a bit per slot with a record
    uint32_t* record_of;              ///< [slot], with its bit in chosen
    uint8_t* buckets;                 ///< [slot]: scratch of selecting
    uint32_t slot_capacity;
    uint32_t* by_slot; ///< records, rising by slot
    uint32_t* by_run;  ///< records, by run and then by slot
    uint32_t by_slot_capacity, by_run_capacity;
    uint32_t* scratch; ///< of selecting
    uint32_t scratch_capacity;
    uint32_t slot_end;     ///< above the highest slot of the repl
    uint64_t encoded_bits; ///< of the records in the body
    uint8_t* bytes;        ///< the body while it is written, with room beyond its end
    uint32_t byte_capacity;
} net_snapshot_writer;

void net_snapshot_writer_init(net_snapshot_writer* writer, const base_allocator* allocator,
                              uint32_t index_max);
void net_snapshot_writer_deinit(net_snapshot_writer* writer);
/// A packet begins. @return false when memory ran out.
BASE_MUST_USE bool net_snapshot_writer_begin(net_snapshot_writer* writer, uint32_t slot_capacity,
                                             uint32_t slot_end, uint32_t number_bits);
BASE_MUST_USE bool net_snapshot_writer_grow(net_snapshot_writer* writer);
/// Runs that those there are may turn into: by packet or by age, with a second row or without.
static inline uint32_t net_snapshot_writer_run_room(const net_snapshot_writer* writer) {
    return 4 * (writer->run_count + 1) + NET_RUN_FIRST;
}
/// Room for a record more and its runs.
BASE_MUST_USE static inline bool net_snapshot_writer_reserve(net_snapshot_writer* writer) {
    return (writer->record_count < writer->record_room &&
            net_snapshot_writer_run_room(writer) <= writer->run_capacity) ||
           net_snapshot_writer_grow(writer);
}
/// A record for a slot that has none. Room was reserved; the caller fills in the rest.
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
/// The run of these numbers, made if need be. `back` 0: by age.
static inline uint32_t net_snapshot_writer_run(net_snapshot_writer* writer, uint32_t back,
                                               uint32_t age, uint32_t d) {
    if (back && d < NET_SNAPSHOT_NEAR) {
        uint32_t run = writer->near[back][d];
        if (run) return run;
    }
    return net_snapshot_writer_find_run(writer, back, age, d);
}
/// Which runs keep their second row: those that many share. Which go by packet: those in which naming slots
/// would cost more.
/// Records `from`.. have no code yet and may change their run.
void net_snapshot_writer_decide(net_snapshot_writer* writer, uint32_t from);
/// The run in which a record stands.
static inline uint32_t net_snapshot_writer_run_of(const net_snapshot_writer* writer, uint32_t run) {
    while (writer->runs[run].moved != NET_SNAPSHOT_NONE)
        run = writer->runs[run].moved;
    return run;
}
/// Put the records in order. @return the bits of the body; 0 without records.
uint64_t net_snapshot_writer_measure(net_snapshot_writer* writer,
                                     const net_encoded_rows* encoded_rows);
/// Append it. After net_snapshot_writer_measure. `account` may be NULL.
/// @return false when memory ran out; nothing was written then.
BASE_MUST_USE bool net_snapshot_writer_write(net_snapshot_writer* writer,
                                             const net_encoded_rows* encoded_rows,
                                             proto_bit_writer* output, uint64_t bits,
                                             net_bandwidth_account* account);
