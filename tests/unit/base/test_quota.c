// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/quota.h"

CASE(blocks_count_as_what_they_take_and_come_back) {
    base_quota quota;
    base_quota_init(&quota, NULL, 4 * BASE_CACHE_LINE_BYTES);
    void* three = base_allocate(&quota.allocator, 3 * BASE_CACHE_LINE_BYTES);
    void* one = base_allocate(&quota.allocator, 0);
    assert_int_equal(quota.used_bytes, quota.bytes_max);
    assert_false(base_quota_is_over(&quota.allocator));
    void* two = base_allocate(&quota.allocator, BASE_CACHE_LINE_BYTES + 1);
    assert_int_equal(quota.used_bytes, 6 * BASE_CACHE_LINE_BYTES);
    assert_true(base_quota_is_over(&quota.allocator));
    base_release(&quota.allocator, two, BASE_CACHE_LINE_BYTES + 1);
    assert_false(base_quota_is_over(&quota.allocator));
    base_release(&quota.allocator, one, 0);
    base_release(&quota.allocator, three, 3 * BASE_CACHE_LINE_BYTES);
    assert_int_equal(quota.used_bytes, 0);
    assert_int_equal(quota.used_peak, 6 * BASE_CACHE_LINE_BYTES);
}

CASE(only_a_quota_is_over) {
    assert_false(base_quota_is_over(NULL));
    assert_false(base_quota_is_over(base_allocator_heap()));
}
