// SPDX-License-Identifier: MIT
/// Private to replicate: the reverse index, from an entity to the clients that see it.
///
/// An entity changes: the replicator walks its list and marks the slot of each client. Each slot
/// stores its position in the list, so removing an observer costs nothing to find.
#pragma once

#include "base/alloc.h"

typedef struct net_replicator net_replicator;
typedef struct net_repl_state net_repl_state;

/// A client that has a slot for an entity in its scope.
typedef struct net_observer {
    uint32_t repl; ///< id of its net_repl_state
    uint32_t slot; ///< of the entity there
} net_observer;

typedef struct net_observer_list {
    net_observer* items;
    uint32_t count, capacity;
} net_observer_list;

/// Register a replication state. It gets its id. @return false when memory ran out.
BASE_MUST_USE bool net_observers_add_client(net_replicator* replicator, net_repl_state* repl);
/// Its observers must have been removed.
void net_observers_remove_client(net_replicator* replicator, net_repl_state* repl);
/// Add a slot of this client to the list of an entity. @return false when memory ran out.
BASE_MUST_USE bool net_observers_add(net_replicator* replicator, uint32_t index,
                                     net_repl_state* repl, uint32_t slot);
void net_observers_remove(net_replicator* replicator, uint32_t index, net_repl_state* repl,
                          uint32_t slot);
