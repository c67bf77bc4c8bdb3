// SPDX-License-Identifier: MIT
/// Inside of the replica (replica.c, view*.c): the reverse index and what all views share.
#pragma once

#include "base/bitset.h"
#include "replicate/encoded_rows.h"
#include "core/pool.h"
#include "replicate/replicator.h"
#include "replicate/repl_state.h"
#include "replicate/snapshot_writer.h"

/// A view that has a living slot for an entity.
typedef struct net_viewer {
    uint32_t view, slot;
} net_viewer;

typedef struct net_viewers {
    net_viewer* items;
    uint32_t count, capacity;
} net_viewers;

struct net_replica {
    const base_allocator* allocator;
    net_pool pool; ///< of viewers and packets' items
    net_rows* rows;
    net_scopes* scopes;
    net_ledger* ledger;
    uint32_t index_max;
    net_history* history;
    uint64_t published;      ///< steps of the history that the views know
    ecs_tick published_tick; ///< of the last of them
    net_viewers* viewers;    ///< [index]
    uint32_t viewer_capacity;
    uint64_t viewer_total;
    net_view** views; ///< [view id]; NULL: unused
    uint64_t** fresh; ///< [view id]: its NET_SET_FRESH
    uint32_t view_capacity, fresh_capacity, view_count;
    base_bitset fresh_views;  ///< ids of views with a bit in it
    base_bitset changed;      ///< indices whose public components changed: for the lazy form
    uint32_t* view_of_client; ///< [client]: id + 1
    uint32_t client_capacity;
    uint32_t* stamps; ///< [view id]: of the event that was answered last
    uint32_t stamp_capacity, stamp;
    net_viewer* scratch; ///< the viewers that an entity had
    uint32_t scratch_capacity;
    net_blobs blobs;
    net_body body;
};

/// Add and remove the reverse entry of a slot of this view.
BASE_MUST_USE bool net_replica_add_viewer(net_replica* replica, uint32_t index, net_view* view,
                                          uint32_t slot);
void net_replica_remove_viewer(net_replica* replica, uint32_t index, net_view* view, uint32_t slot);
/// A view joins; its id. @return false when memory ran out.
BASE_MUST_USE bool net_replica_add_view(net_replica* replica, net_view* view);
void net_replica_remove_view(net_replica* replica, net_view* view);
/// Ask the scopes and tell this view the answer. @return false when memory ran out.
BASE_MUST_USE bool net_replica_ask(net_replica* replica, net_view* view);
