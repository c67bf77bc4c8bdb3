// SPDX-License-Identifier: MIT
// A bucket is the cell's coordinates modulo powers of two, the third folded into the second. So no
// two cells of a walk that is shorter than the period share a bucket, and nothing is hashed.
// The things of a bucket are a list of blocks. The first one lies at the bucket's number, so a row
// of buckets lies in order. All but the first are full: what leaves another one is replaced by the
// last thing of the first.
#include "interest/interest_grid.h"

#include "base/assert.h"
#include "base/bitset.h"
#include "base/math.h"

#include <string.h>

enum { CELL_MAX = 1 << 30, CELL_ROUND = 1 << 20 };
enum {
    THINGS_MIN = 1024, // fewer buckets would be shared by places far apart
    LAYERS_BITS = 3,   // layers of rows, in three dimensions
};

void net_interest_grid_init(net_interest_grid* grid, const base_allocator* allocator,
                            uint32_t dimensions, float cell) {
    BASE_ASSERT((dimensions == 2 || dimensions == 3) && cell > 0.0f);
    *grid = (net_interest_grid){
        .allocator = allocator, .dimensions = dimensions, .cells_per_unit = 1.0f / cell};
    net_interest_grid_reserve(grid, THINGS_MIN, 0);
}

// NaN, and positions beyond the last cell, are at the edge.
static int32_t cell_of(const net_interest_grid* grid, float at) {
    float cell = at * grid->cells_per_unit;
    if (!(cell > -(float)CELL_MAX)) return -CELL_MAX;
    if (cell >= (float)CELL_MAX) return CELL_MAX;
    int32_t whole = (int32_t)cell;
    return (float)whole > cell ? whole - 1 : whole;
}

// Rows of one layer of the world lie side by side.
static uint32_t row_of(const net_interest_grid* grid, uint32_t y, uint32_t z) {
    return (y + grid->layer * z) & ((1u << grid->row_bits) - 1);
}

static uint32_t bucket_of(const net_interest_grid* grid, const float at[3]) {
    uint32_t cells[3] = {0, 0, 0};
    for (uint32_t i = 0; i < grid->dimensions; i++)
        cells[i] = (uint32_t)cell_of(grid, at[i]);
    return (cells[0] & ((1u << grid->bits) - 1)) | row_of(grid, cells[1], cells[2]) << grid->bits;
}

// The first one of each bucket, and full ones.
static uint32_t blocks_of(const net_interest_grid* grid) {
    return grid->spot_capacity + grid->spot_capacity / NET_INTEREST_BLOCK_THINGS;
}

static void stamp_bucket(net_interest_grid* grid, uint32_t bucket, uint32_t stamp) {
    grid->stamps[bucket] = grid->row_stamps[bucket >> grid->bits] = stamp;
}

static void move_block(net_interest_grid* grid, uint32_t to, uint32_t from) {
    net_interest_block* block = &grid->blocks[to];
    *block = grid->blocks[from];
    for (uint32_t i = 0; i < block->count; i++)
        grid->spots[block->nears[i].thing].block = to;
}

static void add_thing(net_interest_grid* grid, uint32_t thing, uint32_t bucket) {
    net_interest_block* first = &grid->blocks[bucket];
    if (first->count == NET_INTEREST_BLOCK_THINGS) {
        const uint32_t at = grid->free_block ? grid->free_block : grid->block_end++;
        if (grid->free_block) grid->free_block = grid->blocks[at].next;
        move_block(grid, at, bucket);
        first->count = 0;
        first->next = at;
    }
    grid->spots[thing] = (net_interest_spot){bucket + 1, bucket, first->count};
    first->nears[first->count++].thing = thing;
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
    const uint32_t bucket = spot->bucket - 1;
    stamp_bucket(grid, bucket, stamp);
    net_interest_block* first = &grid->blocks[bucket];
    const net_interest_near* last = &first->nears[--first->count];
    grid->blocks[spot->block].nears[spot->at] = *last;
    grid->spots[last->thing].block = spot->block;
    grid->spots[last->thing].at = spot->at;
    spot->bucket = 0;
    grid->count--;
    const uint32_t next = first->next;
    if (first->count > 0 || next == 0) return;
    move_block(grid, bucket, next);
    grid->blocks[next].next = grid->free_block;
    grid->free_block = next;
}

// Things are put again where their buckets are now.
void net_interest_grid_reserve(net_interest_grid* grid, uint32_t count, uint32_t stamp) {
    if (count <= grid->spot_capacity) return;
    const net_interest_grid old = *grid;
    BASE_ARRAY_RESERVE(grid->allocator, grid->spots, grid->spot_capacity, count);
    const uint32_t buckets = grid->spot_capacity, bits = base_bit_lowest(buckets);
    const uint32_t above = grid->dimensions == 3 ? LAYERS_BITS : 0;
    grid->bits = (bits - above) / 2;
    grid->row_bits = bits - grid->bits;
    grid->layer = 1u << (grid->row_bits - above);
    grid->count = grid->free_block = 0;
    grid->block_end = buckets;
    grid->blocks = base_allocate_zero(grid->allocator, blocks_of(grid) * sizeof *grid->blocks);
    grid->stamps = base_allocate_zero(grid->allocator, buckets * sizeof *grid->stamps);
    grid->row_stamps = base_allocate_zero(grid->allocator, sizeof(uint32_t) << grid->row_bits);
    for (uint32_t thing = 1; thing < old.spot_capacity; thing++) {
        const net_interest_spot spot = grid->spots[thing];
        if (spot.bucket == 0) continue;
        grid->spots[thing].bucket = 0;
        net_interest_grid_put(grid, thing, old.blocks[spot.block].nears[spot.at].at, stamp);
    }
    BASE_ARRAY_RELEASE(grid->allocator, old.blocks, blocks_of(&old));
    BASE_ARRAY_RELEASE(grid->allocator, old.stamps, old.spot_capacity);
    BASE_ARRAY_RELEASE(grid->allocator, old.row_stamps, 1u << old.row_bits);
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
                    (cells.count[1] > grid->layer || cells.count[2] > 1u << LAYERS_BITS));
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
        const uint32_t row = row_of(grid, cells->low[1] + y, cells->low[2] + z);
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
    for (uint32_t number = 0; number < grid->spot_capacity; number++) {
        for (uint32_t b = number, next = 1; next; b = next) {
            const net_interest_block* block = &grid->blocks[b];
            next = block->next;
            BASE_ASSERT(b < grid->block_end && (block->count > 0 || block->next == 0));
            BASE_ASSERT(b == number || block->count == NET_INTEREST_BLOCK_THINGS);
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
