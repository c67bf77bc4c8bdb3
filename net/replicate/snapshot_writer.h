// SPDX-License-Identifier: MIT
/// Private to replicate: sizes of codes, and what measuring and writing of creates share.
#pragma once

#include "replicate/encoded_rows.h"
#include "state/snapshot_format.h"

#include "proto/bits.h"

#include "base/alloc.h"
#include "base/bitset.h"
#include "base/bytes.h"

static inline uint32_t net_log2(uint32_t value) {
    return 31u - (uint32_t)__builtin_clz(value);
}
/// Bits of a value in an exponential Golomb code of this order.
static inline uint32_t net_golomb_bits(uint32_t value, uint32_t order) {
    return 2 * net_log2(value + (1u << order)) + 1 - order;
}
/// The code itself, of a value that takes less than 64 bits.
static inline uint64_t net_golomb_code(uint32_t value, uint32_t order) {
    uint32_t u = value + (1u << order), low_bits = net_log2(u), zeros = low_bits - order;
    uint64_t low = u & ((UINT64_C(1) << low_bits) - 1);
    return UINT64_C(1) << zeros | low << (zeros + 1);
}
/// What a create record need not repeat: the index that follows the previous create's, and its
/// template.
typedef struct net_create_state {
    uint32_t index_next;
    const net_row_template* row_template;
} net_create_state;

static inline const net_row_template* net_template_of(const net_history* history,
                                                      ecs_entity handle) {
    return net_history_find(history, ecs_entity_index(handle))->row_template;
}

/// The snapshot writer: one snapshot while it is composed. It holds its runs, the encoded rows of
/// its slots, the exact size, and the bits.
///
/// One per lane: scratch of the packet that is being written. Sets of slots have `word_count`
/// words.

/// The first runs of every snapshot; runs of kind ABSOLUTE..BY_PACKET follow.
enum { NET_RUN_DESTROY, NET_RUN_CREATE, NET_RUN_FIRST };
enum {
    NET_RUN_ORDERS = 3,   // Golomb orders tried for a run
    NET_USUAL_ORDERS = 5, // the lowest of them, mostly
    NET_USUAL_GAPS = 64,
    NET_RUNS_OF_SLOT = 3, // a slot is moved at most twice, when a base is forgotten
};

/// Slots of a run, 64 at most.
typedef struct net_run_word {
    uint64_t slots;
    uint32_t word;
} net_run_word;

typedef struct net_record_group {
    uint8_t kind;         ///< net_snapshot_kind
    uint8_t back;         ///< BY_PACKET: packets back
    uint8_t age;          ///< BY_AGE: 1..254, NET_SNAPSHOT_AGE_SETTLED
    uint8_t d;            ///< distance of the second base; 0: none
    bool has_single;      ///< some of its records, with a base, have no second one
    uint8_t order;        ///< Golomb order of the gaps
    uint32_t words;       ///< its slots: run_words from here
    uint32_t words_end;   ///< to here, rising
    uint32_t count;       ///< of its slots
    uint32_t first;       ///< after net_snapshot_writer_list: in `slots`
    uint32_t list_count;  ///< BY_PACKET: slots of the base packet
    const uint64_t* list; ///< BY_PACKET: the set of them
} net_record_group;

/// Slots with a common base, of a word, which a packet carried.
typedef struct net_run_piece {
    uint64_t slots;
    uint32_t word, packet;
} net_run_piece;

/// Scratch of choosing and composing: sets of slots.
typedef enum net_lane_set {
    NET_LANE_HELD,     ///< may not be sent now
    NET_LANE_CHOSEN,   ///< in the snapshot
    NET_LANE_LEFT,     ///< without a base so far
    NET_LANE_SINGLE,   ///< with the base that is being handled, without a second one
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
    uint64_t gap_bits[NET_USUAL_ORDERS][NET_USUAL_GAPS];  ///< [lowest order][gap] in all orders
    uint32_t gap_codes[NET_USUAL_ORDERS][NET_USUAL_GAPS]; ///< [order][gap] its code and, above 16
                                                          ///< bits, the size of it
    uint64_t* sets; ///< NET_LANE_COUNT times word_capacity words
    uint32_t word_capacity;
    net_record_group* runs;
    uint32_t run_count, run_capacity;
    net_run_word* run_words;
    uint32_t run_word_count, run_words_capacity;
    net_run_piece* pieces; ///< of the base that is being handled (repl_state_bases.c)
    uint32_t pieces_capacity;
    uint64_t* cells; ///< [slot] of the snapshot: the cell of its row; 0: a destroy
    uint32_t record_count, cells_capacity;
    uint32_t* slots; ///< of the records, run after run, after net_snapshot_writer_list
    uint32_t slots_capacity;
    uint32_t* ranked; ///< waiting slots, most urgent first
    uint32_t ranked_count, ranked_capacity;
    uint32_t* order; ///< the same as units (repl_state_write.c)
    uint32_t order_count, order_capacity;
    net_alike* alike; ///< of selecting
    uint32_t alike_capacity;
    uint32_t* ages_of; ///< [slot]: of its base
    uint32_t* next_of; ///< [slot]: the next slot with a base of the same age
    uint32_t ages_of_capacity, next_of_capacity;
    uint32_t slot_room, record_room; ///< net_snapshot_writer_reserve was called for
    uint32_t slot_end;               ///< above the highest slot of the client
    uint64_t bits;                   ///< of the snapshot
    uint64_t encoded_bits;           ///< of its encoded rows
    uint64_t lifecycle_bits;         ///< of its creates and destroys, beside their rows
    uint8_t* bytes;                  ///< the snapshot while it is written, with room beyond its end
    uint32_t byte_capacity;
} net_snapshot_writer;

void net_snapshot_writer_init(net_snapshot_writer* writer, const base_allocator* allocator,
                              uint32_t index_max);
/// Make room for the slots of a client. Sets are not cleared.
void net_snapshot_writer_reserve(net_snapshot_writer* writer, uint32_t slot_end,
                                 uint32_t record_max);
static inline uint64_t* net_snapshot_writer_set(const net_snapshot_writer* writer,
                                                net_lane_set set) {
    return writer->sets + (size_t)set * writer->word_capacity;
}
/// Begin a snapshot of a client: no records. The first runs are of destroys and creates.
void net_snapshot_writer_begin(net_snapshot_writer* writer, uint32_t number_bits);
/// The next run gets these slots of a word.
static inline void net_snapshot_writer_put(net_snapshot_writer* writer, uint32_t word,
                                           uint64_t slots) {
    writer->run_words[writer->run_word_count++] = (net_run_word){slots, word};
}
/// Add a run of the slots that were put.
net_record_group* net_snapshot_writer_add_run(net_snapshot_writer* writer, net_snapshot_kind kind,
                                              uint32_t age, uint32_t d, uint32_t count);
/// A loop over the slots of a run: net_run_begin, then net_run_next as long as it is true.
typedef struct net_run_cursor {
    const net_run_word *at, *end;
    uint64_t left;
    uint32_t slot;
} net_run_cursor;

static inline net_run_cursor net_run_begin(const net_snapshot_writer* writer,
                                           const net_record_group* run) {
    return (net_run_cursor){writer->run_words + run->words, writer->run_words + run->words_end,
                            run->words < run->words_end ? writer->run_words[run->words].slots : 0,
                            0};
}
static inline bool net_run_next(net_run_cursor* cursor) {
    while (!cursor->left) {
        if (cursor->at == cursor->end || ++cursor->at == cursor->end) return false;
        cursor->left = cursor->at->slots;
    }
    cursor->slot = cursor->at->word * 64 + base_bit_lowest(cursor->left);
    cursor->left &= cursor->left - 1;
    return true;
}
/// Bits of the encoded rows of a run.
static inline uint64_t net_run_encoded_bits(const net_snapshot_writer* writer,
                                            const net_record_group* run) {
    uint64_t bits = 0;
    for (net_run_cursor at = net_run_begin(writer, run); net_run_next(&at);)
        bits += net_encoded_cell_bits(writer->cells[at.slot]);
    return bits;
}
/// Would naming slots by the packet's list take fewer bits than naming them by gaps?
bool net_snapshot_writer_is_list_shorter(const net_snapshot_writer* writer, uint32_t count,
                                         uint32_t list_count);
/// Compute the size: writer.bits, 0 without records.
void net_snapshot_writer_measure(net_snapshot_writer* writer, const net_history* history,
                                 const ecs_entity* handles);
/// Drop the records whose slot is not in this set.
void net_snapshot_writer_keep(net_snapshot_writer* writer, const uint64_t* kept);
/// List the records one by one, run after run, for those that go through them (`slots`, `first`).
void net_snapshot_writer_list(net_snapshot_writer* writer);

/// Append the measured snapshot to `output`.
void net_snapshot_writer_write(net_snapshot_writer* writer, const net_encoded_rows* encoded_rows,
                               const ecs_entity* handles, proto_bit_writer* output);
