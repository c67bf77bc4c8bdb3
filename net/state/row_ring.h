// SPDX-License-Identifier: MIT
/// The last rows of one entity with their ticks: a tick_ring.h of at most NET_ROW_HISTORY_MAX rows.
/// See there for what each function promises.
#pragma once

#include "net/limits.h"
#include "state/tick_ring.h"

typedef net_tick_ring net_row_ring;

/// Words of a row.
static inline uint32_t net_row_ring_field_count(const net_row_ring* ring) {
    return ring->stride_bytes / (uint32_t)sizeof(uint64_t);
}
/// Empty it for rows of `field_count` words; memory is kept for the next ones.
static inline void net_row_ring_reset(net_row_ring* ring, uint32_t field_count) {
    net_tick_ring_reset(ring, field_count * (uint32_t)sizeof(uint64_t));
}
static inline void net_row_ring_deinit(net_row_ring* ring, const base_allocator* allocator) {
    net_tick_ring_deinit(ring, allocator);
}
static inline bool net_row_ring_reserve(net_row_ring* ring, const base_allocator* allocator) {
    return net_tick_ring_reserve(ring, allocator, NET_ROW_HISTORY_MAX);
}
static inline bool net_row_ring_put(net_row_ring* ring, const base_allocator* allocator,
                                    uint64_t tick, const uint64_t* row) {
    return net_tick_ring_put(ring, allocator, NET_ROW_HISTORY_MAX, tick, row, ring->stride_bytes);
}
static inline uint64_t* net_row_ring_open(net_row_ring* ring, const base_allocator* allocator) {
    return (uint64_t*)net_tick_ring_open(ring, allocator, NET_ROW_HISTORY_MAX);
}
static inline void net_row_ring_close(net_row_ring* ring, uint64_t tick) {
    net_tick_ring_close(ring, tick);
}
/// The row at a position, 0 the oldest.
static inline const uint64_t* net_row_ring_row(const net_row_ring* ring, uint32_t position) {
    return (const uint64_t*)net_tick_ring_entry(ring, position);
}
static inline uint64_t net_row_ring_tick(const net_row_ring* ring, uint32_t position) {
    return net_tick_ring_tick(ring, position);
}
static inline uint32_t net_row_ring_find(const net_row_ring* ring, uint64_t tick) {
    return net_tick_ring_find(ring, tick);
}
static inline void net_row_ring_drop(net_row_ring* ring, uint32_t position) {
    net_tick_ring_drop(ring, position);
}
