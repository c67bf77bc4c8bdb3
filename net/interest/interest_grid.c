// SPDX-License-Identifier: MIT
// A bucket is the cell's coordinates modulo powers of two, the third folded into the second. So no
// two cells of a walk that is shorter than the period share a bucket, and nothing is hashed.
// Buckets are doubly linked lists through arrays by thing; position and link lie together, since a
// walk reads both.
#include "interest/interest_grid.h"

#include "base/assert.h"

#include <string.h>

enum { BITS_2D = 7, ROW_BITS_2D = 7, BITS_3D = 6, ROW_BITS_3D = 9, CELL_MAX = 1 << 30 };

// Up to here a walk visits each row once; beyond, rows of the next layer but NET_INTEREST_LAYER
// follow.
#define LAYERS_MAX ((1u << ROW_BITS_3D) / NET_INTEREST_LAYER)

bool net_interest_grid_init(net_interest_grid* grid, const base_allocator* allocator,
                            uint32_t dimensions, float cell) {
    BASE_ASSERT((dimensions == 2 || dimensions == 3) && cell > 0.0f);
    *grid = (net_interest_grid){.allocator = allocator,
                                .dimensions = dimensions,
                                .bits = dimensions == 2 ? BITS_2D : BITS_3D,
                                .row_bits = dimensions == 2 ? ROW_BITS_2D : ROW_BITS_3D,
                                .cells_per_unit = 1.0f / cell};
    size_t bytes = sizeof(uint32_t) << (grid->bits + grid->row_bits);
    grid->heads = base_allocate_zero(allocator, bytes);
    grid->stamps = base_allocate_zero(allocator, bytes);
    grid->counts = base_allocate_zero(allocator, bytes);
    grid->firsts = base_allocate_zero(allocator, bytes + sizeof *grid->firsts);
    return grid->heads && grid->stamps && grid->counts && grid->firsts;
}

void net_interest_grid_deinit(net_interest_grid* grid) {
    const base_allocator* allocator = grid->allocator;
    size_t bytes = sizeof(uint32_t) << (grid->bits + grid->row_bits);
    base_release(allocator, grid->heads, grid->heads ? bytes : 0);
    base_release(allocator, grid->stamps, grid->stamps ? bytes : 0);
    base_release(allocator, grid->counts, grid->counts ? bytes : 0);
    base_release(allocator, grid->firsts, grid->firsts ? bytes + sizeof *grid->firsts : 0);
    BASE_ARRAY_RELEASE(allocator, grid->nears, grid->near_capacity);
    BASE_ARRAY_RELEASE(allocator, grid->spots, grid->spot_capacity);
    BASE_ARRAY_RELEASE(allocator, grid->prevs, grid->prev_capacity);
    BASE_ARRAY_RELEASE(allocator, grid->buckets, grid->bucket_capacity);
    *grid = (net_interest_grid){0};
}

bool net_interest_grid_reserve(net_interest_grid* grid, uint32_t count) {
    return BASE_ARRAY_RESERVE(grid->allocator, grid->spots, grid->spot_capacity, count) &&
           BASE_ARRAY_RESERVE(grid->allocator, grid->prevs, grid->prev_capacity, count) &&
           BASE_ARRAY_RESERVE(grid->allocator, grid->buckets, grid->bucket_capacity, count);
}

// NaN, and positions beyond the last cell, are at the edge.
static int32_t cell_of(const net_interest_grid* grid, float at) {
    float cell = at * grid->cells_per_unit;
    if (!(cell > -(float)CELL_MAX)) return -CELL_MAX;
    if (cell >= (float)CELL_MAX) return CELL_MAX;
    int32_t whole = (int32_t)cell;
    return (float)whole > cell ? whole - 1 : whole;
}

static uint32_t bucket_of(const net_interest_grid* grid, const float at[3]) {
    uint32_t cells[3] = {0, 0, 0};
    for (uint32_t i = 0; i < grid->dimensions; i++)
        cells[i] = (uint32_t)cell_of(grid, at[i]);
    return (cells[0] & ((1u << grid->bits) - 1)) |
           net_interest_grid_row(cells[1], cells[2], (1u << grid->row_bits) - 1) << grid->bits;
}

static void unlink_thing(net_interest_grid* grid, uint32_t thing) {
    BASE_ASSERT(grid->count > 0 && grid->buckets[thing] != 0);
    uint32_t next = grid->spots[thing].next, prev = grid->prevs[thing];
    if (prev)
        grid->spots[prev].next = next;
    else
        grid->heads[grid->buckets[thing] - 1] = next;
    if (next) grid->prevs[next] = prev;
    grid->counts[grid->buckets[thing] - 1]--;
    grid->count--;
}

void net_interest_grid_put(net_interest_grid* grid, uint32_t thing, const float at[3],
                           uint32_t stamp) {
    BASE_ASSERT(thing > 0 && thing < grid->bucket_capacity);
    uint32_t bucket = bucket_of(grid, at);
    net_interest_grid_entry* spot = &grid->spots[thing];
    memcpy(spot->at, at, sizeof spot->at);
    grid->stamps[bucket] = stamp;
    grid->is_packed = false;
    if (grid->buckets[thing] == bucket + 1) return;
    net_interest_grid_remove(grid, thing, stamp);
    spot->next = grid->heads[bucket];
    grid->prevs[thing] = 0;
    if (spot->next) grid->prevs[spot->next] = thing;
    grid->heads[bucket] = thing;
    grid->buckets[thing] = bucket + 1;
    grid->counts[bucket]++;
    grid->count++;
}

void net_interest_grid_remove(net_interest_grid* grid, uint32_t thing, uint32_t stamp) {
    if (thing >= grid->bucket_capacity) return;
    if (grid->buckets[thing] == 0) return;
    grid->stamps[grid->buckets[thing] - 1] = stamp;
    unlink_thing(grid, thing);
    grid->buckets[thing] = 0;
    grid->is_packed = false;
}

bool net_interest_grid_pack(net_interest_grid* grid) {
    if (grid->is_packed) return true;
    if (!BASE_ARRAY_RESERVE(grid->allocator, grid->nears, grid->near_capacity, grid->count))
        return false;
    // Pointers of its own: a store might change those of the grid, which would be loaded each time.
    uint32_t* const firsts = grid->firsts;
    const uint32_t *const counts = grid->counts, *const buckets = grid->buckets;
    const net_interest_grid_entry* const spots = grid->spots;
    net_interest_near* const nears = grid->nears;
    const uint32_t bucket_count = 1u << (grid->bits + grid->row_bits);
    uint32_t at = 0;
    // Shifted by one: filling moves each first to where it belongs.
    for (uint32_t i = 0; i < bucket_count; i++) {
        firsts[i + 1] = at;
        at += counts[i];
    }
    firsts[0] = 0;
    for (uint32_t thing = 1, end = grid->bucket_capacity; thing < end; thing++) {
        if (!buckets[thing]) continue;
        net_interest_near* near = &nears[firsts[buckets[thing]]++];
        memcpy(near->at, spots[thing].at, sizeof near->at);
        near->thing = thing;
    }
    grid->is_packed = true;
    return true;
}

net_interest_cells net_interest_grid_around(const net_interest_grid* grid, const float at[3],
                                            float radius) {
    net_interest_cells cells = {
        .bits = grid->bits, .mask = (1u << grid->bits) - 1, .row_mask = (1u << grid->row_bits) - 1};
    for (uint32_t i = 0; i < 3; i++) {
        cells.count[i] = 1;
        if (i >= grid->dimensions) continue;
        // A little more than requested, so that rounding hides nothing at the edge.
        float size = at[i] < 0.0f ? -at[i] : at[i];
        float reach = radius * 1.0001f + size * 1e-6f;
        int32_t low = cell_of(grid, at[i] - reach), high = cell_of(grid, at[i] + reach);
        cells.low[i] = (uint32_t)low;
        cells.count[i] = high >= low ? (uint32_t)high - (uint32_t)low + 1 : 1;
    }
    if (cells.count[0] > cells.mask) cells.count[0] = cells.mask + 1;
    bool is_wide = cells.count[1] > cells.row_mask ||
                   (cells.count[2] > 1 &&
                    (cells.count[1] > NET_INTEREST_LAYER || cells.count[2] > LAYERS_MAX));
    if (is_wide) { // each row once
        cells.count[1] = cells.row_mask + 1;
        cells.count[2] = 1;
    }
    return cells;
}

void net_interest_grid_validate(const net_interest_grid* grid) {
    uint32_t total = 0;
    for (uint32_t bucket = 0; bucket < 1u << (grid->bits + grid->row_bits); bucket++) {
        uint32_t count = 0, prev = 0;
        for (uint32_t thing = grid->heads[bucket]; thing; thing = grid->spots[thing].next) {
            BASE_ASSERT(thing < grid->bucket_capacity && grid->buckets[thing] == bucket + 1);
            BASE_ASSERT(grid->prevs[thing] == prev);
            BASE_ASSERT(bucket_of(grid, grid->spots[thing].at) == bucket);
            prev = thing;
            count++;
        }
        BASE_ASSERT(count == grid->counts[bucket]);
        total += count;
    }
    BASE_ASSERT(total == grid->count);
}
