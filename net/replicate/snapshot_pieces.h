// SPDX-License-Identifier: MIT
/// What the bits of a packet say, piece by piece. A snapshot in shared code is read again by
/// explain/pieces.c, one in solo code by the solo coder. The bits of all pieces are exactly those
/// of the snapshot.
#pragma once

#include "replicate/repl_state.h"

typedef enum net_cost {
    NET_COST_CHANGE,   ///< a value changed
    NET_COST_REPEAT,   ///< written again because a packet was lost
    NET_COST_CREATE,   ///< first row of an entity
    NET_COST_ABSOLUTE, ///< no base that the client certainly has
    NET_COST_HEAL,     ///< the client requested a resync
    NET_COST_HEAD,     ///< slots, ages, masks of rows, templates, handles of creates
    NET_COST_DESTROY,
    NET_COST_HEADER, ///< of the packet: numbers, acknowledgements, the state of inputs
    NET_COST_SAMPLE, ///< checksums
    NET_COST_EVENT,
    NET_COST_CONTROL,   ///< channel 0 except variable-size values
    NET_COST_VARSIZE,   ///< variable-size values
    NET_COST_FRAME,     ///< protobuf framing, padding
    NET_COST_TRANSPORT, ///< ENet's headers, acknowledgements, resends
    NET_COST_COUNT
} net_cost;

#define NET_PIECE_NO_COMPONENT UINT32_MAX

/// Bits that say one thing.
typedef struct net_piece {
    uint32_t bits;
    uint32_t depth; ///< 0: of the packet; 1: of a list or run; 2: of an entity; 3: of a component
    net_cost cause;
    const char* what;   ///< static
    ecs_entity entity;  ///< ECS_ENTITY_NONE: no entity
    uint32_t component; ///< ecs_component_id; 0: none
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

static inline void net_piece_add(const net_piece_sink* sink, const net_piece* piece) {
    if (piece->bits > 0) sink->take(sink->context, piece);
}

/// Why the record of a slot is sent.
static inline net_cost net_piece_cause(const net_repl_state* repl, const net_record_group* run,
                                       bool is_create, uint32_t slot) {
    if (is_create) return NET_COST_CREATE;
    if (net_set_has(repl, NET_SET_RESYNC, slot)) return NET_COST_HEAL;
    if (run->kind == NET_SNAPSHOT_ABSOLUTE) return NET_COST_ABSOLUTE;
    return net_set_has(repl, NET_SET_REPEAT, slot) ? NET_COST_REPEAT : NET_COST_CHANGE;
}
