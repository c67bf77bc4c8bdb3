// SPDX-License-Identifier: MIT
/// Everything that a server knows of replication, without sessions and sockets: history of rows, who is
/// interested in what, one repl per client, coded rows shared by all of them.
///
/// Per tick: net_replicator_step on the thread that owns the world; then, on whatever thread sends,
/// net_replicator_publish once and net_repl_state_write (repl.h) for each packet. What the second half reads was made
/// immutable or copied by the first, so the next tick's systems may run meanwhile; the next net_replicator_step
/// may not.
#pragma once

#include "state/history.h"
#include "replicate/bandwidth.h"
#include "interest/interest_manager.h"

typedef struct net_replicator_config {
    const base_allocator* allocator;
    net_rows* rows;           ///< borrowed
    uint32_t index_max;       ///< replicated indices 1..this; slots are 0..this - 1
    net_interest* interest;   ///< borrowed; its clients are added by their owner
    net_bandwidth* bandwidth; ///< borrowed; NULL: nothing is accounted
    bool is_solo; ///< code every row anew, share nothing: for tests, the bits are the same
} net_replicator_config;

typedef struct net_replicator net_replicator;

BASE_MUST_USE net_result net_replicator_create(const net_replicator_config* config,
                                               net_replicator** replicator);
/// After the repls.
void net_replicator_destroy(net_replicator* replicator);
/// Take over what ecs_changes lists, with rising ticks. @return NET_OK; NET_ERR_MEMORY (end the match).
BASE_MUST_USE net_result net_replicator_step(net_replicator* replicator, const ecs_world* world,
                                             ecs_tick tick);
/// Tell the repls: what came into and went out of their interest, what changed. Exactly once per step.
/// A repl that ran out of memory is broken (net_repl_state_is_broken): drop its client.
void net_replicator_publish(net_replicator* replicator);
const net_history* net_replicator_history(const net_replicator* replicator);
ecs_tick net_replicator_tick(const net_replicator* replicator);
