// SPDX-License-Identifier: MIT
/// The pool keeps released memory for the next request of about the same size.
#include "test.h"

#include "state/tick_ring.h"
#include "scarce.h"

#include <inttypes.h>

typedef struct pond {
    scarce_memory parent;
    net_pool pool;
} pond;

static void pond_open(pond* self) {
    scarce_init(&self->parent);
    net_pool_init(&self->pool, &self->parent.allocator);
}

static void pond_close(pond* self) {
    net_pool_deinit(&self->pool);
    assert_int_equal(self->parent.blocks, 0);
    assert_int_equal(self->parent.bytes, 0);
}

#define POND_CASE(name) CASE_WITH(pond, self, pond_open(self), pond_close(self), name)

POND_CASE(a_block_is_used_again_by_who_asks_for_about_as_much) {
    void* first = base_allocate(&self->pool.allocator, 1000);
    base_release(&self->pool.allocator, first, 1000);
    void* second = base_allocate(&self->pool.allocator, 900); // sizes 897 to 1024 form one class
    assert_ptr_equal(second, first);
    void* third = base_allocate(&self->pool.allocator, 896);
    assert_ptr_not_equal(third, first);
    base_release(&self->pool.allocator, second, 900);
    base_release(&self->pool.allocator, third, 896);
    assert_int_equal(self->parent.calls, 2);
}

static void expect_fit(size_t size) {
    pond at, *self = &at;
    pond_open(self);
    void* block = base_allocate(&self->pool.allocator, size);
    memset(block, 0xab, size);
    assert_in_range(self->parent.bytes, size, size <= 64 ? 64 : size + size / 4);
    base_release(&self->pool.allocator, block, size);
    assert_int_equal(self->parent.blocks, 1); // the pool keeps it
    pond_close(self);
}

CASE(blocks_are_at_most_a_quarter_larger) {
    for (size_t size = 1; size < NET_POOL_BLOCK_BYTES_MAX; size += 1 + size / 300)
        expect_fit(size);
    expect_fit(NET_POOL_BLOCK_BYTES_MAX - 1);
    expect_fit(NET_POOL_BLOCK_BYTES_MAX);
}

POND_CASE(what_is_larger_is_the_parents_at_once) {
    void* block = base_allocate(&self->pool.allocator, NET_POOL_BLOCK_BYTES_MAX + 1);
    assert_int_equal(self->parent.bytes, NET_POOL_BLOCK_BYTES_MAX + 1);
    base_release(&self->pool.allocator, block, NET_POOL_BLOCK_BYTES_MAX + 1);
    assert_int_equal(self->parent.blocks, 0);
}

// Blocks of random sizes, each filled with its own byte, do not overlap. The second round repeats
// the same requests and takes nothing from the parent.
static void expect_apart(net_pool* pool, const scarce_memory* parent) {
    enum { COUNT = 300 };
    uint64_t asked = 0;
    for (uint32_t round = 0; round < 2; round++) {
        base_rng rng = base_rng_make(7, 1);
        uint8_t* blocks[COUNT];
        size_t sizes[COUNT];
        for (uint32_t i = 0; i < COUNT; i++) {
            sizes[i] = 1 + base_rng_below(&rng, 5000);
            blocks[i] = base_allocate(&pool->allocator, sizes[i]);
            memset(blocks[i], (int)(i & 0xff), sizes[i]);
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            for (size_t at = 0; at < sizes[i]; at++)
                assert_int_equal(blocks[i][at], i & 0xff);
            base_release(&pool->allocator, blocks[i], sizes[i]);
        }
        if (round == 0) asked = parent->calls;
    }
    assert_int_equal(parent->calls, asked);
}

POND_CASE(blocks_do_not_overlap_and_a_second_round_asks_for_nothing) {
    expect_apart(&self->pool, &self->parent);
}

POND_CASE(trimming_gives_back_half_of_what_nobody_needs) {
    enum { PEAK = 33, ALL_THE_TIME = 5 };
    net_pool_trim(&self->pool);
    void* blocks[PEAK];
    for (uint32_t i = 0; i < PEAK; i++)
        blocks[i] = base_allocate(&self->pool.allocator, 100);
    for (uint32_t i = 0; i < PEAK; i++)
        base_release(&self->pool.allocator, blocks[i], 100);
    net_pool_trim(&self->pool); // all were needed since the last call
    assert_int_equal(self->parent.blocks, PEAK);
    int64_t left = PEAK - ALL_THE_TIME;
    for (uint32_t round = 0; round < 8; round++) {
        const uint64_t before = self->parent.calls;
        for (uint32_t i = 0; i < ALL_THE_TIME; i++)
            blocks[i] = base_allocate(&self->pool.allocator, 100);
        for (uint32_t i = 0; i < ALL_THE_TIME; i++)
            base_release(&self->pool.allocator, blocks[i], 100);
        assert_int_equal(self->parent.calls, before);
        net_pool_trim(&self->pool);
        left /= 2;
        assert_int_equal(self->parent.blocks, left + ALL_THE_TIME);
    }
    assert_int_equal(left, 0);
}

CASE(a_whole_pool_takes_few_regions_and_goes_back_with_its_owner) {
    enum { BLOCKS = 20000, BYTES = 1024 };
    scarce_memory parent;
    scarce_init(&parent);
    base_owner* owner = base_owner_create(&parent.allocator, sizeof *owner);
    net_pool pool;
    net_pool_init_whole(&pool, owner);
    expect_apart(&pool, &parent);
    for (uint32_t i = 0; i < BLOCKS; i++)
        memset(base_allocate(&pool.allocator, BYTES), 0xab, BYTES);
    memset(base_allocate(&pool.allocator, NET_POOL_BLOCK_BYTES_MAX + 1), 0, 1);
    assert_in_range(parent.calls, 10, 20);
    base_owner_destroy(owner);
    assert_int_equal(parent.blocks, 0);
}

CASE(one_trim_gives_back_a_bounded_number) {
    static void* blocks[2 * NET_POOL_TRIM_MAX + 2];
    for (uint32_t more = 0; more <= 2; more++) {
        const uint32_t count = 2 * NET_POOL_TRIM_MAX - 1 + more;
        const uint32_t half = (count + 1) / 2;
        pond at, *self = &at;
        pond_open(self);
        for (uint32_t i = 0; i < count; i++)
            blocks[i] = base_allocate(&self->pool.allocator, 64);
        for (uint32_t i = 0; i < count; i++)
            base_release(&self->pool.allocator, blocks[i], 64);
        net_pool_trim(&self->pool);
        net_pool_trim(&self->pool);
        assert_int_equal(self->parent.blocks,
                         count - (half < NET_POOL_TRIM_MAX ? half : NET_POOL_TRIM_MAX));
        pond_close(self);
    }
}
