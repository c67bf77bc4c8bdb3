// SPDX-License-Identifier: MIT
/// The last rows of one entity with their ticks, oldest first; grows 4, 8, ... NET_ROW_HISTORY_MAX, then
/// forgets the oldest. Zeroed is empty.
#pragma once

#include "base/alloc.h"
#include "net/limits.h"

typedef struct net_row_ring {
    uint64_t* rows;  ///< `capacity` rows of field_count words
    uint64_t* ticks; ///< `capacity`
    uint32_t words_allocated;
    uint32_t field_count;
    uint16_t ticks_allocated;
    uint16_t capacity, first, count;
} net_row_ring;

/// Empty it for rows of `field_count` words; memory is kept for the next ones.
void net_row_ring_reset(net_row_ring* ring, uint32_t field_count);
void net_row_ring_deinit(net_row_ring* ring, const base_allocator* allocator);
/// Room for one more row, so that the next put allocates nothing and loses none but of a full ring.
/// @return false when memory ran out; nothing changed.
bool net_row_ring_reserve(net_row_ring* ring, const base_allocator* allocator);
/// Put a row where its tick belongs (nearly always: last). A full ring forgets its oldest, or the new
/// one when that is older than all. A tick that is there already is left as it is.
/// @return false when memory ran out: the ring is empty then, or has lost its oldest.
bool net_row_ring_put(net_row_ring* ring, const base_allocator* allocator, uint64_t tick,
                      const uint64_t* row);
/// Begin a row newer than all: where its words go. A full ring forgets its oldest already now. It is there
/// after net_row_ring_close; before that it may as well be forgotten.
/// @return NULL when there is no memory for a single row.
uint64_t* net_row_ring_open(net_row_ring* ring, const base_allocator* allocator);
void net_row_ring_close(net_row_ring* ring, uint64_t tick);
/// The row and tick at a position, 0 the oldest.
const uint64_t* net_row_ring_row(const net_row_ring* ring, uint32_t position);
uint64_t net_row_ring_tick(const net_row_ring* ring, uint32_t position);
/// Position of the newest row with a tick <= `tick`; UINT32_MAX when there is none.
uint32_t net_row_ring_find(const net_row_ring* ring, uint64_t tick);
/// Forget the rows before a position.
void net_row_ring_drop(net_row_ring* ring, uint32_t position);
