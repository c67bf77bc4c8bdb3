// SPDX-License-Identifier: MIT
/// Who looks at what is sent: net_explain_tap (net/explain.h). Replicator and server call it when
/// they have one, and else it costs a branch.
///
/// `context` is the replicator's tap_context: of a server it is the server, whose `tapped` is the
/// tap's own. All pointers are borrowed for the call. Nothing that a tap does changes a bit.
/// Threads: begin, snapshot, packet, and message for a value, run on the thread of the session's
/// lane, at the same time as those of other lanes. The others run on the server's thread while no
/// lane works.
#pragma once

#include "ecs/ecs.h"

#include "proto/bits.h"

typedef struct net_repl_state net_repl_state;       ///< replicate/repl_state.h
typedef struct net_session net_session;             ///< server/session.h
typedef struct net_packet_header net_packet_header; ///< session/packet_header.h
struct Shoal__Wire__StatePacket;

typedef struct net_send_tap {
    bool is_of_match; ///< what it counts is of one match: a server with it exchanges none
    /// The server is made.
    void (*open)(void* context);
    /// A state packet begins, with this header.
    void (*begin)(void* context, net_session* session, const net_packet_header* header);
    /// Its snapshot was appended to `output`, from `first_bit` on: the lane's writer still has its
    /// runs, and the replication state has not learned that they are sent.
    void (*snapshot)(void* context, net_repl_state* repl, const proto_bit_writer* output,
                     uint64_t first_bit);
    /// It was sent, with `size` bytes; header and snapshot have `state_bits`.
    void (*packet)(void* context, const struct Shoal__Wire__StatePacket* packet,
                   uint64_t state_bits, size_t size, const net_session* session);
    /// A value of variable size was sent; `component` 0: a control message.
    void (*message)(void* context, net_session* session, ecs_entity entity, uint32_t component,
                    size_t bytes);
    void (*turn)(void* context);                              ///< once for each hand-over
    void (*leave)(void* context, const net_session* session); ///< its client is gone
    /// The server ends; not `is_over`: its match does, and another one goes on.
    void (*close)(void* context, bool is_over);
} net_send_tap;
