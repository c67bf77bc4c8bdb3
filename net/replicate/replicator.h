// SPDX-License-Identifier: MIT
/// Everything that a server knows of replication, without sessions and sockets: history of rows, who is
/// interested in what, one view per client, coded rows shared by all of them.
///
/// Per tick: net_replica_step on the thread that owns the world; then, on whatever thread sends,
/// net_replica_publish once and net_view_write (view.h) for each packet. What the second half reads was made
/// immutable or copied by the first, so the next tick's systems may run meanwhile; the next net_replica_step
/// may not.
#pragma once

#include "state/history.h"
#include "replicate/bandwidth.h"
#include "interest/interest_manager.h"

typedef struct net_replica_config {
    const base_allocator* allocator;
    net_rows* rows;     ///< borrowed
    uint32_t index_max; ///< replicated indices 1..this; slots are 0..this - 1
    net_scopes* scopes; ///< borrowed; its clients are added by their owner
    net_ledger* ledger; ///< borrowed; NULL: nothing is accounted
    bool is_solo;       ///< code every row anew, share nothing: for tests, the bits are the same
} net_replica_config;

typedef struct net_replica net_replica;

BASE_MUST_USE net_result net_replica_create(const net_replica_config* config,
                                            net_replica** replica);
/// After the views.
void net_replica_destroy(net_replica* replica);
/// Take over what ecs_changes lists, with rising ticks. @return NET_OK; NET_ERR_MEMORY (end the match).
BASE_MUST_USE net_result net_replica_step(net_replica* replica, const ecs_world* world,
                                          ecs_tick tick);
/// Tell the views: what came into and went out of their interest, what changed. Exactly once per step.
/// A view that ran out of memory is broken (net_view_is_broken): drop its client.
void net_replica_publish(net_replica* replica);
const net_history* net_replica_history(const net_replica* replica);
ecs_tick net_replica_tick(const net_replica* replica);
