// SPDX-License-Identifier: MIT
/// What the core calls of solo code (SOLO.md), which is a part: a table of functions that server
/// and client get in their config. The sender codes a snapshot again that shared code composed; the
/// receiver reads such a snapshot, and records the numbers of one in shared code.
#pragma once

#include "proto/bits.h"
#include "state/rows.h"

typedef struct net_solo net_solo; ///< the part (net/solo.h)
struct net_piece_sink;
struct net_repl_state;
typedef struct net_solo_tapes net_solo_tapes;       ///< of a lane
typedef struct net_solo_sender net_solo_sender;     ///< of a client, at the server
typedef struct net_solo_receiver net_solo_receiver; ///< of a mirror
typedef struct proto_solo_coder proto_solo_coder;

/// Situations of the numbers that are not in rows.
enum {
    NET_NUMBER_LIST_DESTROYS,
    NET_NUMBER_LIST_CREATES,
    NET_NUMBER_LIST_RUNS,
    NET_NUMBER_LIST_RECORDS,
};
enum {
    NET_NUMBER_CREATE_INDEX,
    NET_NUMBER_CREATE_GENERATION,
    NET_NUMBER_CREATE_OTHER,
    NET_NUMBER_CREATE_PARTS,
    NET_NUMBER_CREATE_PART,
};
enum {
    NET_NUMBER_RUN_KIND,
    NET_NUMBER_RUN_BACK,
    NET_NUMBER_RUN_AGE,
    NET_NUMBER_RUN_D,
    NET_NUMBER_RUN_THIRD,   ///< packets back to that of the third rows; 0: there are none
    NET_NUMBER_RUN_NO_THIRD ///< of a record with a second row, and whether that packet lists it
};

#define NET_NUMBER_THIRD_MAX 16 ///< ticks from a third row to the base

typedef enum net_solo_result {
    NET_SOLO_OK,
    NET_SOLO_MISSING, ///< another epoch, or packets that it adds did not come
    NET_SOLO_MALFORMED,
} net_solo_result;

/// Tapes and senders go back with the owner of their memory. _destroy takes NULL.
struct net_solo {
    net_solo_tapes* (*tapes_create)(const base_allocator* allocator);
    net_solo_sender* (*sender_create)(const base_allocator* allocator);
    /// Append the measured snapshot of packet `seq`: at most its bits, with a head of one bit or
    /// more before them, and at most `room_bits`.
    void (*write)(net_solo_sender* sender, struct net_repl_state* repl, uint16_t seq,
                  uint32_t room_bits, proto_bit_writer* output);
    /// Take the snapshot apart that was written, before its replication state learns of it: its
    /// head, which *bit goes past, and all of a body in solo code. @return false: the body is in
    /// shared code.
    bool (*take_apart)(net_solo_sender* sender, struct net_repl_state* repl,
                       const struct net_piece_sink* sink, uint64_t* bit);
    net_solo_receiver* (*receiver_create)(const base_allocator* allocator);
    void (*receiver_destroy)(net_solo_receiver* receiver);
    /// Read the head of the snapshot of packet `seq`. A head that defines the next epoch begins it,
    /// whatever becomes of the snapshot. *coder gets what reads its numbers, or records them when
    /// *is_coded is false; NULL: neither. *has_failed is its mark of bytes that cannot be read.
    net_solo_result (*begin)(net_solo_receiver* receiver, uint16_t seq, proto_bit_reader* snapshot,
                             proto_solo_coder** coder, bool** has_failed, bool* is_coded);
    /// @return the number that was read; `value` when it is recorded.
    int64_t (*number)(proto_solo_coder* coder, uint32_t field, uint64_t situation, int64_t value);
    /// `third`: NULL, or a further row that both sides know, `third_ticks` older than the base.
    void (*row)(proto_solo_coder* coder, const net_row_template* row_template,
                const proto_row_base* base, const uint64_t* third, uint32_t third_ticks,
                uint64_t* row);
    /// @return 0: bytes are left, or it failed.
    size_t (*finish)(proto_solo_coder* coder);
    /// The snapshot was read as a whole: keep its samples.
    void (*end)(net_solo_receiver* receiver, uint16_t seq);
};
