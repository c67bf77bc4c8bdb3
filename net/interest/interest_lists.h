// SPDX-License-Identifier: MIT
/// Lists of entity indices that share a number: entities of one owner, entities that travel
/// together. Number 0 means no list. Memory: 12 bytes per index, 32 to 64 per list.
#pragma once

#include "base/alloc.h"
#include "base/table.h"

typedef struct net_interest_lists {
    const base_allocator* allocator;
    base_table firsts;              ///< first index by key
    uint32_t *nexts, *prevs, *keys; ///< [index]; key 0: in no list
    uint32_t next_capacity, prev_capacity, key_capacity;
} net_interest_lists;

void net_interest_lists_init(net_interest_lists* lists, const base_allocator* allocator);
/// Room for indices below `count`.
void net_interest_lists_reserve(net_interest_lists* lists, uint32_t count);
/// Move an index into the list of `key`; 0: into no list.
void net_interest_lists_put(net_interest_lists* lists, uint32_t index, uint32_t key);
/// First index of a list, then `nexts[index]`; 0 ends it.
uint32_t net_interest_lists_first(const net_interest_lists* lists, uint32_t key);

/// What a module requested about clients' interest (net_game_services): groups, viewpoint, refresh.
///
/// One entry per client; a later request replaces an earlier one. The server takes the new ones
/// after each step. A replay makes the same requests, and no code takes them. A save of the match
/// has them, and all that it had are new after a restore.
/// Memory: grows with the number of clients. Threads: the thread that owns the world.

/// All requests in force for one client.
typedef struct net_interest_request {
    uint32_t client;
    bool has_viewpoint; ///< false: the client looks from its player's position
    bool is_refreshed;  ///< find its scope again in this tick; valid in what _take returns only
    float position[3];  ///< the viewpoint
    float radius;       ///< 0: the radius of the rules
    uint64_t groups;
} net_interest_request;

/// Zeroed apart from `allocator` (NULL: the heap) is empty.
typedef struct net_interest_requests {
    const base_allocator* allocator;
    net_interest_request* kept; ///< by rising client
    bool* is_new;               ///< [position in kept]: changed since the last take
    net_interest_request* taken;
    uint32_t count, capacity, new_capacity, taken_capacity;
} net_interest_requests;

/// Get a client's entry to write a request into it; it becomes new. Adds an empty one when there is
/// none.
/// @return The entry, borrowed until the next add or remove.
net_interest_request* net_interest_requests_add(net_interest_requests* requests, uint32_t client);
/// Remove a client's entry, if there is one.
void net_interest_requests_remove(net_interest_requests* requests, uint32_t client);
/// All entries are new: their taker is another one.
void net_interest_requests_renew(net_interest_requests* requests);
/// @return A client's entry, borrowed until the next add or remove; NULL when the module never
///         requested anything for this client.
const net_interest_request* net_interest_requests_find(const net_interest_requests* requests,
                                                       uint32_t client);
/// Take the entries that changed since the last call, by rising client. Each replaces the earlier
/// requests for its client as a whole.
/// @return The entries, borrowed until the next call of any function here; *count is their number.
const net_interest_request* net_interest_requests_take(net_interest_requests* requests,
                                                       uint32_t* count);
