// SPDX-License-Identifier: MIT
// A bucket is the cell's coordinates modulo powers of two, the third folded into the second. So no
// two cells of a walk that is shorter than the period share a bucket, and nothing is hashed.
// The things of a bucket are a list of blocks. All but the first are full: what leaves another
// one is replaced by the last thing of the first.
#include "interest/interest_grid.h"

#include "base/assert.h"
#include "base/math.h"

#include <string.h>

enum { BITS_2D = 7, ROW_BITS_2D = 7, BITS_3D = 6, ROW_BITS_3D = 9 };
enum { CELL_MAX = 1 << 30, CELL_ROUND = 1 << 20 };

// Up to here a walk visits each row once; beyond, rows of the next layer but NET_INTEREST_LAYER
// follow.
#define LAYERS_MAX ((1u << ROW_BITS_3D) / NET_INTEREST_LAYER)

void net_interest_grid_init(net_interest_grid* grid, const base_allocator* allocator,
                            uint32_t dimensions, float cell) {
    BASE_ASSERT((dimensions == 2 || dimensions == 3) && cell > 0.0f);
    *grid = (net_interest_grid){.allocator = allocator,
                                .dimensions = dimensions,
                                .bits = dimensions == 2 ? BITS_2D : BITS_3D,
                                .row_bits = dimensions == 2 ? ROW_BITS_2D : ROW_BITS_3D,
                                .cells_per_unit = 1.0f / cell};
    grid->buckets =
        base_allocate_zero(allocator, sizeof *grid->buckets << (grid->bits + grid->row_bits));
    grid->row_stamps = base_allocate_zero(allocator, sizeof(uint32_t) << grid->row_bits);
    grid->block_end = 1;
}

void net_interest_grid_reserve(net_interest_grid* grid, uint32_t count) {
    BASE_ARRAY_RESERVE(grid->allocator, grid->spots, grid->spot_capacity, count);
    BASE_ARRAY_RESERVE(grid->allocator, grid->blocks, grid->block_capacity, count);
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

static void stamp_bucket(net_interest_grid* grid, uint32_t bucket, uint32_t stamp) {
    grid->buckets[bucket].stamp = grid->row_stamps[bucket >> grid->bits] = stamp;
}

// A block before those of the bucket, which are full.
static void add_block(net_interest_grid* grid, net_interest_bucket* bucket) {
    const uint32_t at = grid->free_block ? grid->free_block : grid->block_end++;
    BASE_ASSERT(at < grid->block_capacity);
    net_interest_block* block = &grid->blocks[at];
    if (grid->free_block) grid->free_block = block->next;
    block->count = 0;
    block->next = bucket->first;
    bucket->first = at;
}

static void add_thing(net_interest_grid* grid, uint32_t thing, uint32_t number) {
    net_interest_bucket* bucket = &grid->buckets[number];
    if (!bucket->first || grid->blocks[bucket->first].count == NET_INTEREST_BLOCK_THINGS)
        add_block(grid, bucket);
    net_interest_block* block = &grid->blocks[bucket->first];
    grid->spots[thing] = (net_interest_spot){number + 1, bucket->first, block->count};
    block->nears[block->count++].thing = thing;
    grid->count++;
}

void net_interest_grid_put(net_interest_grid* grid, uint32_t thing, const float at[3],
                           uint32_t stamp) {
    BASE_ASSERT(thing > 0 && thing < grid->spot_capacity);
    uint32_t bucket = bucket_of(grid, at);
    net_interest_spot* spot = &grid->spots[thing];
    stamp_bucket(grid, bucket, stamp);
    if (spot->bucket != bucket + 1) {
        net_interest_grid_remove(grid, thing, stamp);
        add_thing(grid, thing, bucket);
    }
    memcpy(grid->blocks[spot->block].nears[spot->at].at, at, 3 * sizeof *at);
}

void net_interest_grid_remove(net_interest_grid* grid, uint32_t thing, uint32_t stamp) {
    if (thing >= grid->spot_capacity) return;
    net_interest_spot* spot = &grid->spots[thing];
    if (spot->bucket == 0) return;
    stamp_bucket(grid, spot->bucket - 1, stamp);
    net_interest_bucket* bucket = &grid->buckets[spot->bucket - 1];
    const uint32_t first = bucket->first;
    net_interest_block* block = &grid->blocks[first];
    const net_interest_near* last = &block->nears[--block->count];
    grid->blocks[spot->block].nears[spot->at] = *last;
    grid->spots[last->thing].block = spot->block;
    grid->spots[last->thing].at = spot->at;
    spot->bucket = 0;
    grid->count--;
    if (block->count > 0) return;
    bucket->first = block->next;
    block->next = grid->free_block;
    grid->free_block = first;
}

net_interest_cells net_interest_grid_around(const net_interest_grid* grid, const float at[3],
                                            float radius, float hole, uint32_t since) {
    const uint32_t row_cells = 1u << grid->bits, rows = 1u << grid->row_bits;
    net_interest_cells cells = {.grid = grid, .since = since, .is_round = true};
    float slack = radius * 1e-4f; // rounding hides nothing at the edges
    for (uint32_t i = 0; i < grid->dimensions; i++)
        slack += __builtin_fabsf(at[i]) * 1e-6f;
    const float reach = radius + slack;
    for (uint32_t i = 0; i < 3; i++) {
        cells.count[i] = 1;
        if (i >= grid->dimensions) continue;
        const int32_t low = cell_of(grid, at[i] - reach), high = cell_of(grid, at[i] + reach);
        cells.low[i] = (uint32_t)low;
        cells.count[i] = high >= low ? (uint32_t)high - (uint32_t)low + 1 : 1;
        cells.eye[i] = at[i] * grid->cells_per_unit - (float)low - 0.5f;
        // Far out, a cell is no longer where its number says.
        if (!(__builtin_fabsf(at[i] * grid->cells_per_unit) < CELL_ROUND)) cells.is_round = false;
    }
    if (cells.count[0] > row_cells) cells.count[0] = row_cells;
    bool is_wide = cells.count[1] > rows ||
                   (cells.count[2] > 1 &&
                    (cells.count[1] > NET_INTEREST_LAYER || cells.count[2] > LAYERS_MAX));
    if (is_wide) { // each row once
        cells.count[1] = rows;
        cells.count[2] = 1;
    }
    if (is_wide || cells.count[0] == row_cells) cells.is_round = false;
    const float per_unit = grid->cells_per_unit, inner = (hole - slack) * per_unit;
    cells.reach2 = reach * per_unit * reach * per_unit;
    cells.hole2 = inner > 0.0f ? inner * inner : 0.0f;
    return cells;
}

// The cells of a row that reach into the ring, and those in the middle that lie in the hole.
static void trim_row(net_interest_cells* cells, float near2, float far2) {
    const float out = base_sqrt(cells->reach2 - near2) + 0.5f, eye = cells->eye[0];
    const float low = eye - out, high = eye + out;
    cells->x = low > 0.0f ? (uint32_t)low + 1 : 0;
    if (high < (float)cells->end) cells->end = (uint32_t)high + 1;
    const float in = base_sqrt(cells->hole2 - far2) - 0.5f; // NaN: the hole is elsewhere
    if (!(in > 0.0f)) return;
    cells->hole_end = (uint32_t)(eye + in) + 1;
    if ((uint32_t)(eye - in) + 1 < cells->hole_end) cells->hole = (uint32_t)(eye - in) + 1;
}

bool net_interest_cells_next_row(net_interest_cells* cells) {
    const net_interest_grid* grid = cells->grid;
    while (cells->z < cells->count[2]) {
        const uint32_t y = cells->y, z = cells->z;
        const uint32_t row =
            net_interest_grid_row(cells->low[1] + y, cells->low[2] + z, (1u << grid->row_bits) - 1);
        if (++cells->y == cells->count[1]) {
            cells->y = 0;
            cells->z++;
        }
        if (grid->row_stamps[row] <= cells->since) continue;
        float near2 = 0.0f, far2 = 0.0f;
        for (uint32_t i = 1; i < grid->dimensions; i++) {
            const float middle = __builtin_fabsf((float)(i == 1 ? y : z) - cells->eye[i]);
            near2 += middle > 0.5f ? (middle - 0.5f) * (middle - 0.5f) : 0.0f;
            far2 += (middle + 0.5f) * (middle + 0.5f);
        }
        if (cells->is_round && near2 > cells->reach2) continue;
        cells->row = row << grid->bits;
        cells->x = 0;
        cells->end = cells->count[0];
        cells->hole = UINT32_MAX;
        if (cells->is_round) trim_row(cells, near2, far2);
        return true;
    }
    return false;
}

void net_interest_grid_validate(const net_interest_grid* grid) {
    uint32_t total = 0;
    for (uint32_t number = 0; number < 1u << (grid->bits + grid->row_bits); number++) {
        const uint32_t first = grid->buckets[number].first;
        for (uint32_t b = first; b; b = grid->blocks[b].next) {
            const net_interest_block* block = &grid->blocks[b];
            BASE_ASSERT(b < grid->block_end && block->count > 0);
            BASE_ASSERT(b == first || block->count == NET_INTEREST_BLOCK_THINGS);
            for (uint32_t i = 0; i < block->count; i++) {
                const net_interest_spot* spot = &grid->spots[block->nears[i].thing];
                BASE_ASSERT(spot->bucket == number + 1 && spot->block == b && spot->at == i);
                BASE_ASSERT(bucket_of(grid, block->nears[i].at) == number);
            }
            total += block->count;
        }
    }
    BASE_ASSERT(total == grid->count);
}
