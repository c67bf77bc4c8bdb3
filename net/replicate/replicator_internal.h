// SPDX-License-Identifier: MIT
/// Inside of the replicator (replicator.c, repl*.c): the reverse index and what all repls share.
#pragma once

#include "base/bitset.h"
#include "replicate/encoded_rows.h"
#include "core/pool.h"
#include "replicate/replicator.h"
#include "replicate/repl_state.h"
#include "replicate/snapshot_writer.h"

/// A repl that has a living slot for an entity.
typedef struct net_observer {
    uint32_t repl, slot;
} net_observer;

typedef struct net_observers {
    net_observer* items;
    uint32_t count, capacity;
} net_observers;

struct net_replicator {
    const base_allocator* allocator;
    net_pool pool; ///< of observers and packets' items
    net_rows* rows;
    net_interest* interest;
    net_bandwidth* bandwidth;
    uint32_t index_max;
    net_history* history;
    uint64_t published;       ///< steps of the history that the repls know
    ecs_tick published_tick;  ///< of the last of them
    net_observers* observers; ///< [index]
    uint32_t observer_capacity;
    uint64_t observer_total;
    net_repl_state** repls; ///< [repl id]; NULL: unused
    uint64_t** fresh;       ///< [repl id]: its NET_SET_FRESH
    uint32_t view_capacity, fresh_capacity, view_count;
    base_bitset fresh_views;  ///< ids of repls with a bit in it
    base_bitset changed;      ///< indices whose public components changed: for the lazy form
    uint32_t* view_of_client; ///< [client]: id + 1
    uint32_t client_capacity;
    uint32_t* stamps; ///< [repl id]: of the event that was answered last
    uint32_t stamp_capacity, stamp;
    net_observer* scratch; ///< the observers that an entity had
    uint32_t scratch_capacity;
    net_encoded_rows encoded_rows;
    net_snapshot_writer body;
};

/// Add and remove the reverse entry of a slot of this repl.
BASE_MUST_USE bool net_replicator_add_observer(net_replicator* replicator, uint32_t index,
                                               net_repl_state* repl, uint32_t slot);
void net_replicator_remove_observer(net_replicator* replicator, uint32_t index,
                                    net_repl_state* repl, uint32_t slot);
/// A repl joins; its id. @return false when memory ran out.
BASE_MUST_USE bool net_replicator_add_repl_state(net_replicator* replicator, net_repl_state* repl);
void net_replicator_remove_repl_state(net_replicator* replicator, net_repl_state* repl);
/// Ask the interest and tell this repl the answer. @return false when memory ran out.
BASE_MUST_USE bool net_replicator_ask(net_replicator* replicator, net_repl_state* repl);
