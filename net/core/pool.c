// SPDX-License-Identifier: MIT
// Lists of unused blocks, one per class of sizes. A block is released with its size, so it needs no
// header. The class of the size gives the real size of the block, at both calls.
#include "core/pool.h"

#include "base/assert.h"

#include <string.h>

enum { SMALLEST_LOG2 = 6, LARGEST_LOG2 = 20 };

_Static_assert(NET_POOL_BLOCK_BYTES_MAX == 1u << LARGEST_LOG2, "the last class");
_Static_assert(NET_POOL_CLASSES == 1 + 4 * (LARGEST_LOG2 - SMALLEST_LOG2), "four per doubling");

// Class 0 is the smallest block; then steps of a quarter of the power of two below.
static uint32_t class_of(size_t size) {
    if (size <= 1u << SMALLEST_LOG2) return 0;
    uint32_t last = (uint32_t)size - 1;
    uint32_t log2 = 31u - (uint32_t)__builtin_clz(last);
    return 1 + 4 * (log2 - SMALLEST_LOG2) + (last >> (log2 - 2)) - 4;
}

static size_t class_bytes(uint32_t number) {
    if (number == 0) return 1u << SMALLEST_LOG2;
    uint32_t log2 = SMALLEST_LOG2 + (number - 1) / 4;
    return (size_t)(5 + (number - 1) % 4) << (log2 - 2);
}

static void* take(net_pool* pool, uint32_t number) {
    void* block = pool->unused[number];
    memcpy(&pool->unused[number], block, sizeof block);
    pool->unused_count[number]--;
    if (pool->idle[number] > pool->unused_count[number])
        pool->idle[number] = pool->unused_count[number];
    return block;
}

static void* pool_allocate(void* context, size_t size, size_t align) {
    net_pool* pool = context;
    BASE_ASSERT(align <= BASE_CACHE_LINE_BYTES);
    if (size > NET_POOL_BLOCK_BYTES_MAX) return base_allocate(pool->parent, size);
    uint32_t number = class_of(size);
    return pool->unused[number] ? take(pool, number)
                                : base_allocate(pool->parent, class_bytes(number));
}

static void pool_release(void* context, void* block, size_t size) {
    net_pool* pool = context;
    if (size > NET_POOL_BLOCK_BYTES_MAX) {
        base_release(pool->parent, block, size);
        return;
    }
    uint32_t number = class_of(size);
    memcpy(block, &pool->unused[number], sizeof block);
    pool->unused[number] = block;
    pool->unused_count[number]++;
}

void net_pool_init(net_pool* pool, const base_allocator* parent) {
    *pool = (net_pool){.allocator = {pool_allocate, pool_release, pool}, .parent = parent};
}

static void give_back(net_pool* pool, uint32_t number, uint32_t count) {
    for (uint32_t i = 0; i < count && pool->unused[number]; i++)
        base_release(pool->parent, take(pool, number), class_bytes(number));
}

void net_pool_trim(net_pool* pool) {
    uint32_t left = NET_POOL_TRIM_MAX;
    for (uint32_t i = 0; i < NET_POOL_CLASSES; i++) {
        const uint32_t half = pool->idle[i] - pool->idle[i] / 2;
        const uint32_t count = half < left ? half : left;
        give_back(pool, i, count);
        left -= count;
        pool->idle[i] = pool->unused_count[i];
    }
}

void net_pool_deinit(net_pool* pool) {
    for (uint32_t i = 0; i < NET_POOL_CLASSES; i++)
        give_back(pool, i, UINT32_MAX);
}
