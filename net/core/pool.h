// SPDX-License-Identifier: MIT
/// Blocks that outlive their owners: an allocator which keeps what is released and gives it to whoever asks
/// next for about as much.
///
/// For what lives as long as an entity (rows, samples, states): entities come and go, a match must neither
/// grow with how many there ever were nor ask the heap whenever one is born.
/// Shape: classes of sizes, four per doubling, so a block is at most a quarter larger than asked for.
/// Memory: per class the most that ever was in use at once; nothing goes back before net_pool_deinit.
/// Larger than NET_POOL_BLOCK_BYTES_MAX is the parent's at once, both ways.
/// Threads: one at a time.
#pragma once

#include "base/alloc.h"

#define NET_POOL_BLOCK_BYTES_MAX (1u << 20)
#define NET_POOL_CLASSES 57u

typedef struct net_pool {
    base_allocator allocator; ///< what its users take; its context is the pool, which must not move
    const base_allocator* parent;
    void* unused[NET_POOL_CLASSES]; ///< chained by their first word
} net_pool;

void net_pool_init(net_pool* pool, const base_allocator* parent);
/// Every block must have been released; a zeroed pool has none.
void net_pool_deinit(net_pool* pool);
