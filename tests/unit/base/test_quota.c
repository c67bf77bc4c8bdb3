// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/quota.h"

#define QUOTA_CASE(name, bytes)                                                                    \
    CASE_WITH(base_quota, quota, base_quota_init(quota, NULL, bytes), (void)quota, name)

QUOTA_CASE(the_sum_is_bounded_and_comes_back, 4 * BASE_CACHE_LINE_BYTES) {
    void* three = base_allocate(&quota->allocator, 3 * BASE_CACHE_LINE_BYTES);
    assert_non_null(three);
    assert_null(base_allocate(&quota->allocator, BASE_CACHE_LINE_BYTES + 1));
    void* one = base_allocate(&quota->allocator, BASE_CACHE_LINE_BYTES);
    assert_non_null(one);
    assert_null(base_allocate(&quota->allocator, 0));
    assert_int_equal(quota->used_bytes, quota->bytes_max);
    assert_int_equal(quota->refused, 2);
    base_release(&quota->allocator, one, BASE_CACHE_LINE_BYTES);
    one = base_allocate(&quota->allocator, 1);
    assert_non_null(one);
    base_release(&quota->allocator, one, 1);
    base_release(&quota->allocator, three, 3 * BASE_CACHE_LINE_BYTES);
    assert_int_equal(quota->used_bytes, 0);
    assert_int_equal(quota->used_peak, quota->bytes_max);
}

QUOTA_CASE(small_blocks_count_as_what_they_take, 10 * BASE_CACHE_LINE_BYTES) {
    void* blocks[11] = {NULL};
    uint32_t count = 0;
    while (count < BASE_COUNT(blocks) && (blocks[count] = base_allocate(&quota->allocator, 1)))
        count++;
    assert_int_equal(count, 10);
    while (count > 0)
        base_release(&quota->allocator, blocks[--count], 1);
    assert_int_equal(quota->used_bytes, 0);
}

QUOTA_CASE(sizes_that_would_overflow_are_refused, SIZE_MAX) {
    assert_null(base_allocate(&quota->allocator, SIZE_MAX));
    assert_null(base_allocate(&quota->allocator, SIZE_MAX - BASE_CACHE_LINE_BYTES));
    assert_int_equal(quota->used_bytes, 0);
}

CASE(the_heap_running_out_is_not_counted) {
    base_quota small, large;
    base_quota_init(&small, NULL, BASE_CACHE_LINE_BYTES);
    base_quota_init(&large, &small.allocator, 100 * BASE_CACHE_LINE_BYTES);
    assert_null(base_allocate(&large.allocator, 2 * BASE_CACHE_LINE_BYTES));
    assert_int_equal(large.used_bytes, 0);
    assert_int_equal(large.refused, 0);
    assert_int_equal(small.refused, 1);
}
