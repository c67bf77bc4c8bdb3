// SPDX-License-Identifier: MIT
// A ring of entries by tick. Ticks rise with the position. An entry out of order is moved into its
// place by shifting the newer ones: a late packet pays for that, the usual one does not.
//
// Invariants (net_tick_ring_validate): ticks rise strictly; capacity is a multiple of
// NET_TICK_RING_ENTRIES_MIN; the block holds as many ticks and entries.
#include "state/tick_ring.h"

#include <string.h>

#define STEP 8u // entries; a large ring grows by a quarter

static uint32_t bytes_of(uint32_t capacity, uint32_t stride_bytes) {
    return capacity * ((uint32_t)sizeof(uint32_t) + stride_bytes);
}

void net_tick_ring_reset(net_tick_ring* ring, uint32_t stride_bytes) {
    ring->stride_bytes = stride_bytes;
    ring->capacity = ring->first = ring->count = 0;
}

void net_tick_ring_deinit(net_tick_ring* ring, const base_allocator* allocator) {
    base_release(allocator, ring->lows, ring->bytes_allocated);
    memset(ring, 0, sizeof *ring);
}

// A new block with the content in order from place 0.
static void rebuild(net_tick_ring* ring, const base_allocator* allocator, uint32_t capacity,
                    uint32_t stride_bytes) {
    net_tick_ring built = {.oldest = ring->oldest,
                           .newest = ring->newest,
                           .bytes_allocated = bytes_of(capacity, stride_bytes),
                           .stride_bytes = stride_bytes,
                           .capacity = (uint16_t)capacity,
                           .count = ring->count};
    built.lows = base_allocate(allocator, built.bytes_allocated);
    for (uint32_t i = 0; i < ring->count; i++) {
        memcpy(net_tick_ring_at(&built, i), net_tick_ring_entry(ring, i), ring->stride_bytes);
        built.lows[i] = ring->lows[net_tick_ring_place(ring, i)];
    }
    net_tick_ring_deinit(ring, allocator);
    *ring = built;
}

void net_tick_ring_widen(net_tick_ring* ring, const base_allocator* allocator,
                         uint32_t stride_bytes) {
    if (stride_bytes <= ring->stride_bytes) return;
    if (ring->count > 0)
        rebuild(ring, allocator, ring->capacity, stride_bytes);
    else
        net_tick_ring_reset(ring, stride_bytes);
}

// An empty ring takes the block that it kept, when that is large enough.
static void grow(net_tick_ring* ring, const base_allocator* allocator, uint32_t limit) {
    const uint32_t more = ring->capacity / 4u;
    uint32_t capacity = ring->capacity + (more > STEP ? more : STEP);
    if (ring->capacity < STEP) capacity = ring->capacity + NET_TICK_RING_ENTRIES_MIN;
    capacity -= capacity % NET_TICK_RING_ENTRIES_MIN;
    if (capacity > limit) capacity = limit;
    if (ring->count > 0 || bytes_of(capacity, ring->stride_bytes) > ring->bytes_allocated) {
        rebuild(ring, allocator, capacity, ring->stride_bytes);
    } else {
        ring->first = 0;
        ring->capacity = (uint16_t)capacity;
    }
}

void net_tick_ring_reserve(net_tick_ring* ring, const base_allocator* allocator, uint32_t limit) {
    BASE_ASSERT(limit >= NET_TICK_RING_ENTRIES_MIN && limit <= NET_TICK_RING_ENTRIES_MAX);
    BASE_ASSERT(limit % NET_TICK_RING_ENTRIES_MIN == 0);
    if (ring->count == ring->capacity && ring->capacity < limit) grow(ring, allocator, limit);
}

void net_tick_ring_forget_far(net_tick_ring* ring, uint64_t tick) {
    while (ring->count > 1 && tick - net_tick_ring_tick(ring, 1) > UINT32_MAX)
        net_tick_ring_drop(ring, 1);
}

void net_tick_ring_put(net_tick_ring* ring, const base_allocator* allocator, uint32_t limit,
                       uint64_t tick, const void* entry, uint32_t bytes) {
    BASE_ASSERT(bytes <= ring->stride_bytes);
    if (ring->count == 0 || tick > ring->newest) {
        void* place = net_tick_ring_open(ring, allocator, limit);
        if (bytes > 0) memcpy(place, entry, bytes);
        net_tick_ring_close(ring, tick);
        return;
    }
    uint32_t below = net_tick_ring_find(ring, tick);
    if (below != UINT32_MAX && net_tick_ring_tick(ring, below) == tick) return;
    // Too far from the newest one to have another entry before it, or after it.
    if (ring->newest - (tick < ring->oldest ? ring->oldest : tick) > UINT32_MAX) return;
    net_tick_ring_reserve(ring, allocator, limit);
    if (ring->count == ring->capacity) {
        if (below == UINT32_MAX) return; // older than all
        net_tick_ring_drop(ring, 1);
        below--; // wraps to UINT32_MAX when it was the oldest
    }
    if (below == UINT32_MAX) ring->oldest = tick;
    uint32_t position = below + 1;
    for (uint32_t i = ring->count; i > position; i--) {
        uint32_t to = net_tick_ring_place(ring, i), from = net_tick_ring_place(ring, i - 1);
        memcpy(net_tick_ring_at(ring, to), net_tick_ring_at(ring, from), ring->stride_bytes);
        ring->lows[to] = ring->lows[from];
    }
    uint32_t place = net_tick_ring_place(ring, position);
    if (bytes > 0) memcpy(net_tick_ring_at(ring, place), entry, bytes);
    ring->lows[place] = (uint32_t)tick;
    ring->count++;
}

uint32_t net_tick_ring_find(const net_tick_ring* ring, uint64_t tick) {
    if (ring->count == 0) return UINT32_MAX;
    uint32_t last = ring->count - 1u;
    if (ring->newest <= tick) return last;
    if (ring->oldest > tick) return UINT32_MAX;
    // Ticks are distinct, so n positions back a tick is at least n less. Where every tick has an
    // entry, as for what moves, the first guess is the answer.
    uint64_t back = ring->newest - tick;
    uint32_t low = back <= last ? last - (uint32_t)back : 0;
    uint32_t high = last; // the answer is below high
    if (net_tick_ring_age(ring, low + 1) < back) return low;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (net_tick_ring_age(ring, middle) >= back)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void net_tick_ring_validate(const net_tick_ring* ring) {
    BASE_ASSERT(ring->count <= ring->capacity);
    BASE_ASSERT(ring->capacity % NET_TICK_RING_ENTRIES_MIN == 0);
    BASE_ASSERT(bytes_of(ring->capacity, ring->stride_bytes) <= ring->bytes_allocated);
    if (ring->count == 0) return;
    BASE_ASSERT(net_tick_ring_tick(ring, ring->count - 1u) == ring->newest);
    BASE_ASSERT((uint32_t)ring->oldest == ring->lows[ring->first]);
    for (uint32_t i = 1; i < ring->count; i++)
        BASE_ASSERT(net_tick_ring_tick(ring, i - 1) < net_tick_ring_tick(ring, i));
}

// Lists of unused blocks, one per class of sizes. A block is released with its size, so it needs no
// header. The class of the size gives the real size of the block, at both calls.

enum { SMALLEST_LOG2 = 6, LARGEST_LOG2 = 20, REGION_BYTES_MIN = 1 << 14 };

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

static void* pop_block(net_pool* pool, uint32_t number) {
    void* block = pool->unused[number];
    memcpy(&pool->unused[number], block, sizeof block);
    pool->unused_count[number]--;
    if (pool->idle[number] > pool->unused_count[number])
        pool->idle[number] = pool->unused_count[number];
    return block;
}

// A region is as large as all before it: a small pool takes little, a large one has large pages.
static void* cut_block(net_pool* pool, size_t bytes) {
    if (pool->regions_bytes == 0) return base_allocate(pool->parent, bytes);
    bytes = (bytes + BASE_CACHE_LINE_BYTES - 1) & ~(size_t)(BASE_CACHE_LINE_BYTES - 1);
    if (pool->region_left < bytes) {
        pool->region_left =
            pool->regions_bytes < BASE_LARGE_BYTES_MIN ? pool->regions_bytes : BASE_LARGE_BYTES_MIN;
        if (pool->region_left < bytes) pool->region_left = bytes;
        pool->region = base_allocate(pool->parent, pool->region_left);
        pool->regions_bytes += pool->region_left;
    }
    pool->region_left -= bytes;
    return pool->region + pool->region_left;
}

static void* pool_allocate(void* context, size_t size, size_t align) {
    net_pool* pool = context;
    BASE_ASSERT(align <= BASE_CACHE_LINE_BYTES);
    if (size > NET_POOL_BLOCK_BYTES_MAX) return base_allocate(pool->parent, size);
    uint32_t number = class_of(size);
    return pool->unused[number] ? pop_block(pool, number) : cut_block(pool, class_bytes(number));
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

void net_pool_init_whole(net_pool* pool, const base_owner* parent) {
    net_pool_init(pool, &parent->allocator);
    pool->regions_bytes = REGION_BYTES_MIN;
}

static void give_back(net_pool* pool, uint32_t number, uint32_t count) {
    BASE_ASSERT(pool->regions_bytes == 0);
    for (uint32_t i = 0; i < count && pool->unused[number]; i++)
        base_release(pool->parent, pop_block(pool, number), class_bytes(number));
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
