// SPDX-License-Identifier: MIT
// Rows by tick in a ring. Ticks rise with the position; a row out of order is moved into its place by
// shifting the newer ones, which a late packet pays for and nobody else.
#include "state/row_ring.h"

#include "base/assert.h"

#include <string.h>

enum { RING_ROWS_MIN = 4 };

// Capacities are powers of two: RING_ROWS_MIN doubled until NET_ROW_HISTORY_MAX.
_Static_assert((NET_ROW_HISTORY_MAX & (NET_ROW_HISTORY_MAX - 1)) == 0, "slots are masked");

static uint32_t slot_of(const net_row_ring* ring, uint32_t position) {
    return (ring->first + position) & (ring->capacity - 1u);
}

static uint64_t* row_in(const net_row_ring* ring, uint32_t slot) {
    return ring->rows + (size_t)slot * ring->field_count;
}

void net_row_ring_reset(net_row_ring* ring, uint32_t field_count) {
    ring->field_count = field_count;
    ring->capacity = ring->first = ring->count = 0;
}

void net_row_ring_deinit(net_row_ring* ring, const base_allocator* allocator) {
    base_release(allocator, ring->rows, ring->words_allocated * sizeof *ring->rows);
    base_release(allocator, ring->ticks, ring->ticks_allocated * sizeof *ring->ticks);
    memset(ring, 0, sizeof *ring);
}

// A new block of both arrays with the content in order from slot 0, unless the old ones suffice.
static bool grow(net_row_ring* ring, const base_allocator* allocator) {
    uint32_t capacity = ring->capacity ? ring->capacity * 2u : RING_ROWS_MIN;
    // A row of no words has a place too: rows are told from no rows by their ticks.
    uint32_t words = capacity * ring->field_count + (ring->field_count == 0);
    bool is_kept =
        ring->count == 0 && words <= ring->words_allocated && capacity <= ring->ticks_allocated;
    if (!is_kept) {
        uint64_t* rows = base_allocate(allocator, words * sizeof *rows);
        uint64_t* ticks = base_allocate(allocator, capacity * sizeof *ticks);
        if (!rows || !ticks) {
            base_release(allocator, rows, words * sizeof *rows);
            base_release(allocator, ticks, capacity * sizeof *ticks);
            return false;
        }
        for (uint32_t i = 0; i < ring->count; i++) {
            memcpy(rows + (size_t)i * ring->field_count, row_in(ring, slot_of(ring, i)),
                   ring->field_count * sizeof *rows);
            ticks[i] = ring->ticks[slot_of(ring, i)];
        }
        base_release(allocator, ring->rows, ring->words_allocated * sizeof *rows);
        base_release(allocator, ring->ticks, ring->ticks_allocated * sizeof *ticks);
        ring->rows = rows;
        ring->ticks = ticks;
        ring->words_allocated = words;
        ring->ticks_allocated = (uint16_t)capacity;
    }
    ring->first = 0;
    ring->capacity = (uint16_t)capacity;
    return true;
}

bool net_row_ring_reserve(net_row_ring* ring, const base_allocator* allocator) {
    bool is_full = ring->count == ring->capacity && ring->capacity < NET_ROW_HISTORY_MAX;
    return !is_full || grow(ring, allocator);
}

bool net_row_ring_put(net_row_ring* ring, const base_allocator* allocator, uint64_t tick,
                      const uint64_t* row) {
    uint32_t below = net_row_ring_find(ring, tick);
    if (below != UINT32_MAX && net_row_ring_tick(ring, below) == tick) return true;
    bool is_whole = net_row_ring_reserve(ring, allocator);
    if (ring->capacity == 0) return false;
    if (ring->count == ring->capacity) {
        if (below == UINT32_MAX) return is_whole; // older than all
        net_row_ring_drop(ring, 1);
        below--; // wraps to UINT32_MAX when it was the oldest
    }
    uint32_t position = below + 1;
    for (uint32_t i = ring->count; i > position; i--) {
        uint32_t to = slot_of(ring, i), from = slot_of(ring, i - 1);
        memcpy(row_in(ring, to), row_in(ring, from), ring->field_count * sizeof *row);
        ring->ticks[to] = ring->ticks[from];
    }
    memcpy(row_in(ring, slot_of(ring, position)), row, ring->field_count * sizeof *row);
    ring->ticks[slot_of(ring, position)] = tick;
    ring->count++;
    return is_whole;
}

uint64_t* net_row_ring_open(net_row_ring* ring, const base_allocator* allocator) {
    bool is_full = ring->count == ring->capacity;
    if (is_full && (ring->capacity == NET_ROW_HISTORY_MAX || !grow(ring, allocator))) {
        if (ring->capacity == 0) return NULL;
        net_row_ring_drop(ring, 1);
    }
    return row_in(ring, slot_of(ring, ring->count));
}

void net_row_ring_close(net_row_ring* ring, uint64_t tick) {
    BASE_ASSERT(ring->count < ring->capacity);
    ring->ticks[slot_of(ring, ring->count)] = tick;
    ring->count++;
}

const uint64_t* net_row_ring_row(const net_row_ring* ring, uint32_t position) {
    BASE_ASSERT(position < ring->count);
    return row_in(ring, slot_of(ring, position));
}

uint64_t net_row_ring_tick(const net_row_ring* ring, uint32_t position) {
    BASE_ASSERT(position < ring->count);
    return ring->ticks[slot_of(ring, position)];
}

uint32_t net_row_ring_find(const net_row_ring* ring, uint64_t tick) {
    if (ring->count == 0) return UINT32_MAX;
    uint32_t last = ring->count - 1u;
    uint64_t newest = ring->ticks[slot_of(ring, last)];
    if (newest <= tick) return last;
    // Ticks are distinct, so n positions back a tick is at least n less: where every tick has a row, as in
    // what moves, the first guess is the answer.
    uint64_t back = newest - tick;
    uint32_t low = back <= last ? last - (uint32_t)back : 0,
             high = last; // the answer is below high
    if (ring->ticks[slot_of(ring, low)] > tick) return UINT32_MAX;
    if (ring->ticks[slot_of(ring, low + 1)] > tick) return low;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (ring->ticks[slot_of(ring, middle)] <= tick)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void net_row_ring_drop(net_row_ring* ring, uint32_t position) {
    BASE_ASSERT(position <= ring->count);
    if (position == 0) return;
    ring->first = (uint16_t)slot_of(ring, position);
    ring->count = (uint16_t)(ring->count - position);
}
