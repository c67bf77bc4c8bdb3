// SPDX-License-Identifier: MIT
/// Entries by rising tick in a ring: the last states of one thing, oldest first.
///
/// The ring grows in steps up to the caller's limit; then a new entry pushes out the oldest. Every
/// entry has the same size, `stride_bytes`, and begins at a multiple of it behind one of 16 bytes.
/// All but the oldest have at most UINT32_MAX ticks to the newest; what has more is forgotten.
/// Memory: one block, from the allocator that each call is given; it must be the same one for the
///         life of the ring. A zeroed ring is empty and holds none.
/// Threads: one at a time.
#pragma once

#include "base/alloc.h"
#include "base/assert.h"

#define NET_TICK_RING_ENTRIES_MIN 4u     ///< limits are multiples of it
#define NET_TICK_RING_ENTRIES_MAX 32768u ///< no limit is higher

typedef struct net_tick_ring {
    uint32_t* lows;          ///< low bits of `capacity` ticks, and after them as many entries
    uint64_t oldest, newest; ///< ticks; unless it is empty
    uint32_t bytes_allocated;
    uint32_t stride_bytes;
    uint16_t capacity, first, count;
} net_tick_ring;

/// Empty the ring for entries of `stride_bytes`; its memory is kept for the next entries.
void net_tick_ring_reset(net_tick_ring* ring, uint32_t stride_bytes);
void net_tick_ring_deinit(net_tick_ring* ring, const base_allocator* allocator);
/// Make shorter entries as long and keep what they hold; the added bytes are not set.
void net_tick_ring_widen(net_tick_ring* ring, const base_allocator* allocator,
                         uint32_t stride_bytes);
/// Make room for one more entry, so that the next put allocates nothing and pushes out the oldest
/// only when the ring has reached its limit.
void net_tick_ring_reserve(net_tick_ring* ring, const base_allocator* allocator, uint32_t limit);
/// Put an entry where its tick belongs (nearly always: last). `bytes` is at most stride_bytes. A
/// full ring forgets its oldest entry, or the new one when that is older than all. An entry of this
/// tick that is there already stays as it is.
void net_tick_ring_put(net_tick_ring* ring, const base_allocator* allocator, uint32_t limit,
                       uint64_t tick, const void* entry, uint32_t bytes);
/// Forget what would be too far from this tick, but for the oldest.
void net_tick_ring_forget_far(net_tick_ring* ring, uint64_t tick);
/// Position of the newest entry with a tick <= `tick`; UINT32_MAX when there is none.
uint32_t net_tick_ring_find(const net_tick_ring* ring, uint64_t tick);
/// Check (asserts): ticks rise strictly, sizes fit the memory.
void net_tick_ring_validate(const net_tick_ring* ring);

/// Where a position lies.
static inline uint32_t net_tick_ring_place(const net_tick_ring* ring, uint32_t position) {
    const uint32_t place = ring->first + position;
    return place < ring->capacity ? place : place - ring->capacity;
}
/// The entry at a place, also of a position that is not filled yet.
static inline void* net_tick_ring_at(const net_tick_ring* ring, uint32_t place) {
    return (uint8_t*)(ring->lows + ring->capacity) + (size_t)place * ring->stride_bytes;
}

/// Ticks from the entry at a position to the newest; of the oldest only when they fit.
static inline uint32_t net_tick_ring_age(const net_tick_ring* ring, uint32_t position) {
    return (uint32_t)ring->newest - ring->lows[net_tick_ring_place(ring, position)];
}
/// The entry and the tick at a position, 0 the oldest. Borrowed until the ring changes.
static inline void* net_tick_ring_entry(const net_tick_ring* ring, uint32_t position) {
    BASE_ASSERT(position < ring->count);
    return net_tick_ring_at(ring, net_tick_ring_place(ring, position));
}
static inline uint64_t net_tick_ring_tick(const net_tick_ring* ring, uint32_t position) {
    BASE_ASSERT(position < ring->count);
    return position == 0 ? ring->oldest : ring->newest - net_tick_ring_age(ring, position);
}
/// Position of the entry of exactly this tick; UINT32_MAX when there is none.
static inline uint32_t net_tick_ring_find_exact(const net_tick_ring* ring, uint64_t tick) {
    if (ring->count == 0) return UINT32_MAX;
    // Where every tick has an entry, the first guess is right.
    const uint64_t back = ring->newest - tick;
    uint32_t position = back < ring->count ? ring->count - 1u - (uint32_t)back : 0;
    if (net_tick_ring_tick(ring, position) == tick) return position;
    position = net_tick_ring_find(ring, tick);
    const bool is_there = position != UINT32_MAX && net_tick_ring_tick(ring, position) == tick;
    return is_there ? position : UINT32_MAX;
}
/// Forget the entries before a position.
static inline void net_tick_ring_drop(net_tick_ring* ring, uint32_t position) {
    BASE_ASSERT(position <= ring->count);
    if (position == 0) return;
    if (position < ring->count) ring->oldest = net_tick_ring_tick(ring, position);
    ring->first = (uint16_t)net_tick_ring_place(ring, position);
    ring->count = (uint16_t)(ring->count - position);
}
/// Forget the entries before the newest one at or before `tick`.
static inline void net_tick_ring_drop_before(net_tick_ring* ring, uint64_t tick) {
    uint32_t first = ring->first, left = ring->count;
    for (; left > 1; left--) {
        const uint32_t next = first + 1u < ring->capacity ? first + 1u : 0;
        const uint64_t at = ring->newest - (uint32_t)((uint32_t)ring->newest - ring->lows[next]);
        if (at > tick) break;
        ring->oldest = at;
        first = next;
    }
    ring->first = (uint16_t)first;
    ring->count = (uint16_t)left;
}

/// Begin an entry that is newer than all: the caller writes it to the returned place, then calls
/// net_tick_ring_close. A full ring forgets its oldest entry at once. Without a close nothing is
/// added.
static inline void* net_tick_ring_open(net_tick_ring* ring, const base_allocator* allocator,
                                       uint32_t limit) {
    if (ring->count == ring->capacity) net_tick_ring_reserve(ring, allocator, limit);
    if (ring->count == ring->capacity) net_tick_ring_drop(ring, 1);
    return net_tick_ring_at(ring, net_tick_ring_place(ring, ring->count));
}
static inline void net_tick_ring_close(net_tick_ring* ring, uint64_t tick) {
    BASE_ASSERT(ring->count < ring->capacity && (ring->count == 0 || ring->newest < tick));
    if (ring->count > 0 && tick - ring->oldest > UINT32_MAX) net_tick_ring_forget_far(ring, tick);
    ring->newest = tick;
    if (ring->count == 0) ring->oldest = tick;
    ring->lows[net_tick_ring_place(ring, ring->count)] = (uint32_t)tick;
    ring->count++;
}

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

#define NET_POOL_BLOCK_BYTES_MAX (1u << 20)
#define NET_POOL_CLASSES 57u
#define NET_POOL_TRIM_MAX 1024u

typedef struct net_pool {
    base_allocator
        allocator; ///< what users of the pool take; its context is the pool, which must not move
    const base_allocator* parent;
    uint8_t* region;                   ///< of a whole pool: its free part begins here
    size_t region_left, regions_bytes; ///< free; all and the least one (0: not whole)
    void* unused[NET_POOL_CLASSES];    ///< chained by their first word
    uint32_t unused_count[NET_POOL_CLASSES];
    uint32_t idle[NET_POOL_CLASSES]; ///< of them, those not used since the last trim
} net_pool;

void net_pool_init(net_pool* pool, const base_allocator* parent);
/// The same for a pool whose memory goes back with its owner alone. It takes regions, each as large
/// as all before it, up to BASE_LARGE_BYTES_MIN: blocks of a large match lie on large pages. It is
/// neither trimmed nor deinitialized.
void net_pool_init_whole(net_pool* pool, const base_owner* parent);
/// Give half of the blocks back to the parent that were not used since the last call, at most
/// NET_POOL_TRIM_MAX. Called now and then, it lets go of a peak, in no long tick, and keeps what a
/// match takes and gives all the time.
void net_pool_trim(net_pool* pool);
/// Give all memory back to the parent. Every block must have been released. A zeroed pool is valid:
/// it holds none.
void net_pool_deinit(net_pool* pool);
