// SPDX-License-Identifier: MIT
/// Private to replicate: the replicator, which all replication states share.
#pragma once

#include "base/bitset.h"
#include "base/table.h"
#include "replicate/encoded_rows.h"
#include "replicate/replicator.h"
#include "replicate/snapshot_writer.h"

/// What one thread needs to publish and write for its clients, beside what all threads only read.
typedef struct net_replicator_lane {
    net_encoded_rows encoded_rows;
    net_snapshot_writer writer;
    bool has_failed; ///< memory ran out while the tick began
    bool is_idle;    ///< the published step has nothing for any client
} net_replicator_lane;

struct net_replicator {
    const base_allocator* allocator;
    net_rows* rows;
    net_interest* interest;
    net_bandwidth* bandwidth;
    uint32_t index_max;
    net_history* history;
    bool has_own_history;
    uint64_t published; ///< steps of the history that were published
    // ---- the published step, only read by lanes
    const net_history_event* events;
    uint32_t event_count;
    uint8_t* touched; ///< [index] 1: it changed, spawned or despawned
    uint32_t touched_capacity;
    bool has_touched;         ///< one of them is 1
    bool has_lives;           ///< something spawned or despawned
    bool has_hidden;          ///< something changed in hidden classes only
    base_bitset lives;        ///< indices where something spawned or despawned
    base_bitset hidden;       ///< indices that changed in hidden classes only
    uint16_t* hidden_classes; ///< [index] the classes, with a bit in `hidden`
    uint32_t hidden_capacity;
    // ---- clients
    net_repl_state** repls; ///< [repl id]; NULL: unused
    uint32_t repl_capacity, repl_count;
    base_table clients; ///< client number to repl id: numbers rise for as long as the match runs
    net_replicator_lane* lanes;
    uint32_t lane_count;
};

/// Register a replication state. It gets its id. @return false when memory ran out.
BASE_MUST_USE bool net_replicator_add_client(net_replicator* replicator, net_repl_state* repl);
void net_replicator_remove_client(net_replicator* replicator, net_repl_state* repl);
/// Query the interest manager and apply the answer. @return false when memory ran out.
BASE_MUST_USE bool net_replicator_update_scope(net_replicator* replicator, net_repl_state* repl);

static inline ecs_tick net_replicator_now(const net_replicator* replicator) {
    return net_history_tick(replicator->history);
}
