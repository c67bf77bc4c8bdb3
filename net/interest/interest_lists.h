// SPDX-License-Identifier: MIT
/// Lists of entity indices that share a number: entities of one owner, entities that travel
/// together. Number 0 means no list. Memory: 12 bytes per index, 32 to 64 per list.
#pragma once

#include "base/table.h"

typedef struct net_interest_lists {
    const base_allocator* allocator;
    base_table firsts;              ///< first index by key
    uint32_t *nexts, *prevs, *keys; ///< [index]; key 0: in no list
    uint32_t next_capacity, prev_capacity, key_capacity;
} net_interest_lists;

void net_interest_lists_init(net_interest_lists* lists, const base_allocator* allocator);
void net_interest_lists_deinit(net_interest_lists* lists);
/// Room for indices below `count`.
BASE_MUST_USE bool net_interest_lists_reserve(net_interest_lists* lists, uint32_t count);
/// Move an index into the list of `key`; 0: into no list. @return false when memory ran out.
BASE_MUST_USE bool net_interest_lists_put(net_interest_lists* lists, uint32_t index, uint32_t key);
/// First index of a list, then `nexts[index]`; 0 ends it.
uint32_t net_interest_lists_first(const net_interest_lists* lists, uint32_t key);
