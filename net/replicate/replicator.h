// SPDX-License-Identifier: MIT
/// The replicator: the server's half of replication, without sessions and sockets. It holds the
/// history of rows, the interest manager, one replication state per client, and encoded rows that
/// all of them share.
///
/// Per tick: net_replicator_step on the thread that owns the world; then, on the sending thread,
/// net_replicator_publish once and net_repl_state_write (repl_state.h) for each packet. The first
/// half copies what the second half reads or makes it immutable. So the systems of the next tick
/// may run meanwhile; the next net_replicator_step may not.
///
/// Lanes: clients are divided among a fixed number of lanes (net_repl_state_set_lane). After
/// net_replicator_publish_begin, each lane may be published and its packets written by a thread of
/// its own, without locks: what lanes share is only read then, and each has its own scratch and its
/// own encoded rows. The allocator must be callable from these threads. Packets have the same bits
/// for any number of lanes.
#pragma once

#include "state/coder.h"
#include "state/history.h"
#include "replicate/send_tap.h"
#include "interest/interest_manager.h"

typedef struct net_replicator_config {
    const base_allocator* allocator;
    net_rows* rows;          ///< borrowed
    uint32_t index_max;      ///< replicated indices 1..this; slots are 0..this - 1
    net_interest* interest;  ///< borrowed; its owner adds the clients. NULL: all clients see all
                             ///< entities with all classes
    net_history* history;    ///< borrowed: its owner steps it, and the replicator may leave steps
                             ///< out while it has no replication state. NULL: one of its own
    const net_send_tap* tap; ///< its `snapshot`; static; NULL: none
    void* tap_context;
    const net_solo* solo;  ///< NULL: no client gets solo code
    uint32_t lanes;        ///< 0 means 1
    base_workers* workers; ///< borrowed; they help the history; NULL: none
    bool is_solo;          ///< encode every row again, share none: for tests, the bits are the same
} net_replicator_config;

typedef struct net_replicator net_replicator;

net_replicator* net_replicator_create(const net_replicator_config* config);
/// Destroy the replicator after its replication states.
void net_replicator_destroy(net_replicator* replicator);
/// Read what ecs_changes lists, with rising ticks; with a history of its own.
void net_replicator_step(net_replicator* replicator, const ecs_world* world, ecs_tick tick);
/// Update all replication states: entities that entered and left their scopes, and changes. Call it
/// exactly once per step.
void net_replicator_publish(net_replicator* replicator);
/// The same in parts: first the part for all lanes, on one thread,
void net_replicator_publish_begin(net_replicator* replicator);
/// then each lane once, each on any thread. Packets of a lane's clients may be written when it is
/// done.
void net_replicator_publish_lane(net_replicator* replicator, uint32_t lane);
/// The same in parts, for one pass over the clients: first the part for all clients of the lane,
void net_replicator_publish_lane_begin(net_replicator* replicator, uint32_t lane);
/// then net_repl_state_publish (repl_state.h) for any of them, and at last those that are left.
void net_replicator_publish_lane_end(net_replicator* replicator, uint32_t lane);
/// Check the whole structure (asserts). net_replicator_publish does so in BASE_VALIDATE builds.
void net_replicator_validate(const net_replicator* replicator);
