// SPDX-License-Identifier: MIT
/// A grid of positions. It wraps around, so its number of buckets follows from that of things,
/// however large the world is. Positions a whole period apart share a bucket; the caller compares
/// distances anyway.
///
/// Things are numbers from 1. Each bucket stores the step in which a thing in it last moved,
/// entered or left. Its first things lie in a cache line at its number, so a walk reads memory in
/// order. Memory: 102 bytes per thing that there is room for, and as many buckets.
#pragma once

#include "base/alloc.h"

#define NET_INTEREST_BLOCK_THINGS 3u

typedef struct net_interest_near {
    float at[3]; ///< unused dimensions are 0
    uint32_t thing;
} net_interest_near;

/// Some things of a bucket.
typedef struct net_interest_block {
    _Alignas(BASE_CACHE_LINE_BYTES) net_interest_near nears[NET_INTEREST_BLOCK_THINGS];
    uint32_t count; ///< of the first block of a bucket 0: the bucket is empty
    uint32_t next;  ///< block of the bucket, which is full; 0: none
} net_interest_block;
_Static_assert(sizeof(net_interest_block) == BASE_CACHE_LINE_BYTES, "a line");

/// Where a thing is.
typedef struct net_interest_spot {
    uint32_t bucket; ///< its number + 1; 0: not in the grid
    uint32_t block, at;
} net_interest_spot;

typedef struct net_interest_grid {
    const base_allocator* allocator;
    uint32_t dimensions;
    uint32_t bits, row_bits; ///< 2^bits buckets in a row, 2^row_bits rows
    uint32_t layer;          ///< rows from one layer of the world to the next
    float cells_per_unit;
    uint32_t* stamps;           ///< [bucket]
    uint32_t* row_stamps;       ///< [row]: the latest of its buckets
    uint32_t count;             ///< of things in it
    net_interest_spot* spots;   ///< [thing]
    net_interest_block* blocks; ///< [bucket]: its first one; the others follow
    uint32_t spot_capacity;
    uint32_t block_end;  ///< above the highest ever used
    uint32_t free_block; ///< 0: none; the others by `next`
} net_interest_grid;

void net_interest_grid_init(net_interest_grid* grid, const base_allocator* allocator,
                            uint32_t dimensions, float cell);
/// Make room for things below `count`. More room means other buckets: each bucket that has things
/// gets the stamp.
void net_interest_grid_reserve(net_interest_grid* grid, uint32_t count, uint32_t stamp);
/// Add a thing, or move it. The old and the new bucket get the stamp. Any floats are valid.
void net_interest_grid_put(net_interest_grid* grid, uint32_t thing, const float at[3],
                           uint32_t stamp);
void net_interest_grid_remove(net_interest_grid* grid, uint32_t thing, uint32_t stamp);

/// Check the whole structure (asserts).
void net_interest_grid_validate(const net_interest_grid* grid);

/// A walk, row by row, over the buckets of a ring around a place in which something changed.
typedef struct net_interest_cells {
    const net_interest_grid* grid;
    uint32_t since;
    uint32_t low[3], count[3];
    uint32_t y, z; ///< of the next row
    uint32_t row;  ///< first bucket of the present row
    uint32_t x, end, hole, hole_end;
    float eye[3], reach2, hole2; ///< in cells from the middle of the lowest cell
    bool is_round;               ///< otherwise all cells of the box are visited
} net_interest_cells;

/// All buckets with a stamp after `since` that can have things at most `radius` and at least `hole`
/// away.
net_interest_cells net_interest_grid_around(const net_interest_grid* grid, const float at[3],
                                            float radius, float hole, uint32_t since);
/// Begin the next row. @return false when there is none.
bool net_interest_cells_next_row(net_interest_cells* cells);

static inline bool net_interest_cells_next(net_interest_cells* cells, uint32_t* bucket) {
    do {
        while (cells->x < cells->end) {
            if (cells->x == cells->hole) {
                cells->x = cells->hole_end;
                continue;
            }
            *bucket = cells->row | ((cells->low[0] + cells->x++) & ((1u << cells->grid->bits) - 1));
            if (cells->grid->stamps[*bucket] > cells->since) return true;
        }
    } while (net_interest_cells_next_row(cells));
    return false;
}

static inline float net_interest_distance2(const float a[3], const float b[3]) {
    float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}
