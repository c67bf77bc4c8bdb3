// SPDX-License-Identifier: MIT
/// A memory pool: an allocator that keeps released blocks for the next request of about the same
/// size.
///
/// Use it for memory that lives as long as an entity (rows, samples, states). Entities come and go;
/// a match must not grow with their total number, nor ask the heap at each creation.
/// Shape:   classes of sizes, four per doubling. A block is at most a quarter larger than
/// requested.
/// Memory:  per class the peak of blocks in use, less what net_pool_trim gives back. A block above
/// NET_POOL_BLOCK_BYTES_MAX comes from the parent and returns to it at once.
/// Threads: one at a time.
#pragma once

#include "base/alloc.h"

#define NET_POOL_BLOCK_BYTES_MAX (1u << 20)
#define NET_POOL_CLASSES 57u
#define NET_POOL_TRIM_MAX 1024u

typedef struct net_pool {
    base_allocator
        allocator; ///< what users of the pool take; its context is the pool, which must not move
    const base_allocator* parent;
    void* unused[NET_POOL_CLASSES]; ///< chained by their first word
    uint32_t unused_count[NET_POOL_CLASSES];
    uint32_t idle[NET_POOL_CLASSES]; ///< of them, those not used since the last trim
} net_pool;

void net_pool_init(net_pool* pool, const base_allocator* parent);
/// Give half of the blocks back to the parent that were not used since the last call, at most
/// NET_POOL_TRIM_MAX. Called now and then, it lets go of a peak, in no long tick, and keeps what a
/// match takes and gives all the time.
void net_pool_trim(net_pool* pool);
/// Give all memory back to the parent. Every block must have been released. A zeroed pool is valid:
/// it holds none.
void net_pool_deinit(net_pool* pool);
