// SPDX-License-Identifier: MIT
/// Private to replicate: the replicator, which all replication states share.
#pragma once

#include "base/bitset.h"
#include "base/table.h"
#include "core/pool.h"
#include "replicate/encoded_rows.h"
#include "replicate/observers.h"
#include "replicate/replicator.h"
#include "replicate/snapshot_writer.h"

struct net_replicator {
    const base_allocator* allocator;
    net_pool pool; ///< of observers and packets' items
    net_rows* rows;
    net_interest* interest;
    net_bandwidth* bandwidth;
    uint32_t index_max;
    net_history* history;
    uint64_t published;           ///< steps of the history that were published
    ecs_tick published_tick;      ///< tick of the last of them
    net_observer_list* observers; ///< [index]
    uint32_t observer_capacity;
    uint64_t observer_total;
    net_repl_state** repls; ///< [repl id]; NULL: unused
    uint64_t** fresh;       ///< [repl id]: its NET_SET_FRESH
    uint32_t repl_capacity, fresh_capacity, repl_count;
    base_bitset fresh_repls; ///< ids of replication states with a bit in it
    base_bitset changed;     ///< indices whose public components changed; scratch of a publish
    base_table clients; ///< client number to repl id: numbers rise for as long as the match runs
    uint32_t* stamps;   ///< [repl id]: of the last spawn that was handled
    uint32_t stamp_capacity, stamp;
    net_observer* scratch; ///< the observers of an index before a spawn
    uint32_t scratch_capacity;
    net_encoded_rows encoded_rows;
    net_snapshot_writer writer;
};

/// Query the interest manager and apply the answer. @return false when memory ran out.
BASE_MUST_USE bool net_replicator_update_scope(net_replicator* replicator, net_repl_state* repl);
