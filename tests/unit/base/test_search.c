// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/search.h"

static const uint32_t numbers[] = {2, 3, 3, 3, 7, 9};

static uint32_t lower(uint32_t count, uint32_t key) {
    base_search search = base_search_begin(count);
    while (base_search_next(&search))
        base_search_step(&search, numbers[search.middle] < key);
    return search.low;
}

static uint32_t upper(uint32_t count, uint32_t key) {
    base_search search = base_search_begin(count);
    while (base_search_next(&search))
        base_search_step(&search, numbers[search.middle] <= key);
    return search.low;
}

CASE(it_agrees_with_a_walk_for_every_length_and_key) {
    for (uint32_t count = 0; count <= BASE_COUNT(numbers); count++) {
        for (uint32_t key = 0; key <= 10; key++) {
            uint32_t below = 0, not_above = 0;
            for (uint32_t i = 0; i < count; i++) {
                below += numbers[i] < key;
                not_above += numbers[i] <= key;
            }
            assert_int_equal(lower(count, key), below);
            assert_int_equal(upper(count, key), not_above);
        }
    }
}

CASE(the_largest_count_does_not_overflow) {
    base_search search = base_search_begin(UINT32_MAX);
    uint32_t steps = 0;
    for (; base_search_next(&search); steps++)
        base_search_step(&search, search.middle < UINT32_MAX - 1);
    assert_int_equal(search.low, UINT32_MAX - 1);
    assert_in_range(steps, 31, 32);
}
