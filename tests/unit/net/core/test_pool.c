// SPDX-License-Identifier: MIT
/// The pool keeps released memory for the next request of about the same size.
#include "test.h"

#include "state/tick_ring.h"

#include "base/rng.h"

#include <inttypes.h>
#include <string.h>

typedef struct counting {
    uint64_t allocations;
    int64_t blocks, bytes;
    bool is_empty; ///< the parent has no memory left
} counting;

static void* counting_allocate(void* context, size_t size, size_t align) {
    counting* counts = context;
    if (counts->is_empty) return NULL;
    counts->allocations++;
    counts->blocks++;
    counts->bytes += (int64_t)size;
    const base_allocator* heap = base_allocator_heap();
    return heap->allocate(heap->context, size, align);
}

static void counting_release(void* context, void* memory, size_t size) {
    counting* counts = context;
    counts->blocks--;
    counts->bytes -= (int64_t)size;
    const base_allocator* heap = base_allocator_heap();
    heap->release(heap->context, memory, size);
}

CASE(a_block_is_used_again_by_who_asks_for_about_as_much) {
    counting counts = {0};
    const base_allocator parent = {counting_allocate, counting_release, &counts};
    net_pool pool;
    net_pool_init(&pool, &parent);
    void* first = base_allocate(&pool.allocator, 1000);
    base_release(&pool.allocator, first, 1000);
    void* second = base_allocate(&pool.allocator, 900); // sizes 897 to 1024 form one class
    assert_ptr_equal(second, first);
    void* third = base_allocate(&pool.allocator, 896);
    assert_ptr_not_equal(third, first);
    base_release(&pool.allocator, second, 900);
    base_release(&pool.allocator, third, 896);
    assert_int_equal(counts.allocations, 2);
    net_pool_deinit(&pool);
    assert_int_equal(counts.blocks, 0);
    assert_int_equal(counts.bytes, 0);
}

// Every size up to the largest one, and one byte more: the block is large enough and at most a
// quarter larger.
CASE(blocks_are_at_most_a_quarter_larger) {
    counting counts = {0};
    const base_allocator parent = {counting_allocate, counting_release, &counts};
    for (size_t size = 1; size <= NET_POOL_BLOCK_BYTES_MAX + 1; size += 1 + size / 61) {
        net_pool pool;
        net_pool_init(&pool, &parent);
        void* block = base_allocate(&pool.allocator, size);
        memset(block, 0xab, size);
        assert_in_range(counts.bytes, size, size <= 64 ? 64 : size + size / 4);
        base_release(&pool.allocator, block, size);
        net_pool_deinit(&pool);
        assert_int_equal(counts.bytes, 0);
    }
    static const size_t edges[] = {
        64, 65, 127, 128, 129, NET_POOL_BLOCK_BYTES_MAX - 1, NET_POOL_BLOCK_BYTES_MAX};
    for (uint32_t i = 0; i < BASE_COUNT(edges); i++) {
        net_pool pool;
        net_pool_init(&pool, &parent);
        void* block = base_allocate(&pool.allocator, edges[i]);
        assert_in_range(counts.bytes, edges[i], edges[i] + edges[i] / 4);
        base_release(&pool.allocator, block, edges[i]);
        assert_int_equal(counts.blocks, 1); // the pool keeps it
        net_pool_deinit(&pool);
        assert_int_equal(counts.bytes, 0);
    }
}

CASE(what_is_larger_is_the_parents_at_once) {
    counting counts = {0};
    const base_allocator parent = {counting_allocate, counting_release, &counts};
    net_pool pool;
    net_pool_init(&pool, &parent);
    void* block = base_allocate(&pool.allocator, NET_POOL_BLOCK_BYTES_MAX + 1);
    assert_int_equal(counts.bytes, NET_POOL_BLOCK_BYTES_MAX + 1);
    base_release(&pool.allocator, block, NET_POOL_BLOCK_BYTES_MAX + 1);
    assert_int_equal(counts.blocks, 0);
    net_pool_deinit(&pool);
}

CASE(without_memory_there_is_no_block_and_nothing_breaks) {
    counting counts = {.is_empty = true};
    const base_allocator parent = {counting_allocate, counting_release, &counts};
    net_pool pool;
    net_pool_init(&pool, &parent);
    assert_null(base_allocate(&pool.allocator, 100));
    assert_null(base_allocate(&pool.allocator, NET_POOL_BLOCK_BYTES_MAX + 1));
    counts.is_empty = false;
    void* block = base_allocate(&pool.allocator, 100);
    base_release(&pool.allocator, block, 100);
    counts.is_empty = true;
    assert_ptr_equal(base_allocate(&pool.allocator, 100), block);
    base_release(&pool.allocator, block, 100);
    net_pool_deinit(&pool);
    assert_int_equal(counts.blocks, 0);
}

// Blocks of random sizes, each filled with its own byte, do not overlap. The second round repeats
// the same requests and takes nothing from the parent.
CASE(blocks_do_not_overlap_and_a_second_round_asks_for_nothing) {
    enum { COUNT = 300 };
    counting counts = {0};
    const base_allocator parent = {counting_allocate, counting_release, &counts};
    net_pool pool;
    net_pool_init(&pool, &parent);
    uint64_t asked = 0;
    for (uint32_t round = 0; round < 2; round++) {
        base_rng rng = base_rng_make(7, 1);
        uint8_t* blocks[COUNT];
        size_t sizes[COUNT];
        for (uint32_t i = 0; i < COUNT; i++) {
            sizes[i] = 1 + base_rng_below(&rng, 5000);
            blocks[i] = base_allocate(&pool.allocator, sizes[i]);
            memset(blocks[i], (int)(i & 0xff), sizes[i]);
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            for (size_t at = 0; at < sizes[i]; at++)
                assert_int_equal(blocks[i][at], i & 0xff);
            base_release(&pool.allocator, blocks[i], sizes[i]);
        }
        if (round == 0) asked = counts.allocations;
    }
    assert_int_equal(counts.allocations, asked);
    net_pool_deinit(&pool);
    assert_int_equal(counts.blocks, 0);
}

CASE(trimming_gives_back_half_of_what_nobody_needs) {
    enum { PEAK = 33, ALL_THE_TIME = 5 };
    counting counts = {0};
    const base_allocator parent = {counting_allocate, counting_release, &counts};
    net_pool pool;
    net_pool_init(&pool, &parent);
    net_pool_trim(&pool);
    void* blocks[PEAK];
    for (uint32_t i = 0; i < PEAK; i++)
        blocks[i] = base_allocate(&pool.allocator, 100);
    for (uint32_t i = 0; i < PEAK; i++)
        base_release(&pool.allocator, blocks[i], 100);
    net_pool_trim(&pool); // all were needed since the last call
    assert_int_equal(counts.blocks, PEAK);
    int64_t left = PEAK - ALL_THE_TIME;
    for (uint32_t round = 0; round < 8; round++) {
        const uint64_t before = counts.allocations;
        for (uint32_t i = 0; i < ALL_THE_TIME; i++)
            blocks[i] = base_allocate(&pool.allocator, 100);
        for (uint32_t i = 0; i < ALL_THE_TIME; i++)
            base_release(&pool.allocator, blocks[i], 100);
        assert_int_equal(counts.allocations, before);
        net_pool_trim(&pool);
        left /= 2;
        assert_int_equal(counts.blocks, left + ALL_THE_TIME);
    }
    assert_int_equal(left, 0);
    net_pool_deinit(&pool);
    assert_int_equal(counts.blocks, 0);
}

CASE(one_trim_gives_back_a_bounded_number) {
    static void* blocks[2 * NET_POOL_TRIM_MAX + 2];
    for (uint32_t more = 0; more <= 2; more++) {
        const uint32_t count = 2 * NET_POOL_TRIM_MAX - 1 + more;
        const uint32_t half = (count + 1) / 2;
        counting counts = {0};
        const base_allocator parent = {counting_allocate, counting_release, &counts};
        net_pool pool;
        net_pool_init(&pool, &parent);
        for (uint32_t i = 0; i < count; i++)
            blocks[i] = base_allocate(&pool.allocator, 64);
        for (uint32_t i = 0; i < count; i++)
            base_release(&pool.allocator, blocks[i], 64);
        net_pool_trim(&pool);
        net_pool_trim(&pool);
        assert_int_equal(counts.blocks,
                         count - (half < NET_POOL_TRIM_MAX ? half : NET_POOL_TRIM_MAX));
        net_pool_deinit(&pool);
    }
}
