// SPDX-License-Identifier: MIT
/// What the bits of a packet say, piece by piece, for those who count or look: bandwidth
/// accounts, the ledger of a server, a packet taken apart.
///
/// A snapshot in shared code is read again from its bits, by the row reader of clients; one in solo
/// code by the solo coder. The bits of all pieces are exactly those of the snapshot. Nothing is
/// read again when no account and no sink wants it.
#pragma once

#include "replicate/bandwidth.h"
#include "replicate/snapshot_writer.h"

#include "proto/bits.h"

typedef struct net_repl_state net_repl_state; ///< replicate/repl_state.h

#define NET_PIECE_NO_COMPONENT UINT32_MAX

/// Bits that say one thing.
typedef struct net_piece {
    uint32_t bits;
    uint32_t depth; ///< 0: of the packet; 1: of a list or run; 2: of an entity; 3: of a component
    net_cost cause;
    const char* what;   ///< static
    ecs_entity entity;  ///< ECS_ENTITY_NONE: no entity
    uint32_t component; ///< ecs_component_id; NET_BANDWIDTH_NONE
    uint32_t place;     ///< of the component in the layout; NET_PIECE_NO_COMPONENT
    const net_row_template* row_template; ///< of the entity; NULL: none, or it is gone
    const uint64_t* row;                  ///< with a component: all words of the row
    bool has_number;
    int64_t number;
} net_piece;

/// Takes pieces in the order of their bits.
typedef struct net_piece_sink {
    void* context;
    void (*take)(void* context, const net_piece* piece);
} net_piece_sink;

/// Where the pieces of a packet go.
typedef struct net_pieces {
    net_bandwidth_account* account; ///< NULL: none
    const net_piece_sink* sink;     ///< NULL: none
} net_pieces;

static inline bool net_pieces_are_wanted(const net_pieces* pieces) {
    return pieces->account || pieces->sink;
}
void net_pieces_add(const net_pieces* pieces, const net_piece* piece);
/// Why the record of a slot is sent.
net_cost net_pieces_cause(const net_repl_state* repl, const net_record_group* run, bool is_create,
                          uint32_t slot);
/// Append the measured snapshot of the lane's writer in shared code, and take it apart when that is
/// wanted. @return false when memory ran out; nothing was written then.
BASE_MUST_USE bool net_pieces_write(net_repl_state* repl, proto_bit_writer* output,
                                    const net_pieces* pieces);
