// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/bitset.h"

#define SET_CASE(name)                                                                             \
    CASE_WITH(base_bitset, set, base_bitset_init(set, NULL),                                       \
              BASE_ARRAY_RELEASE(NULL, set->words, set->word_count), name)

SET_CASE(members_are_found_in_order) {
    base_bitset_reserve(set, 200);
    const uint32_t members[] = {0, 1, 63, 64, 127, 199};
    for (size_t i = BASE_COUNT(members); i-- > 0;)
        base_bitset_add(set, members[i]);
    uint32_t bit = base_bitset_next(set, 0);
    for (size_t i = 0; i < BASE_COUNT(members); i++) {
        assert_int_equal(bit, members[i]);
        bit = base_bitset_next(set, bit + 1);
    }
    assert_int_equal(bit, UINT32_MAX);
    assert_int_equal(base_bitset_count(set), 6);
    base_bitset_remove(set, 63);
    base_bitset_remove(set, 63);
    assert_false(base_bitset_has(set, 63));
    assert_int_equal(base_bitset_next(set, 2), 64);
    base_bitset_clear_all(set);
    assert_int_equal(base_bitset_next(set, 0), UINT32_MAX);
}

SET_CASE(growing_keeps_members_and_adds_clear_bits) {
    base_bitset_reserve(set, 1);
    base_bitset_add(set, 0);
    base_bitset_reserve(set, 10000);
    base_bitset_reserve(set, 5);
    assert_int_equal(base_bitset_count(set), 1);
    base_bitset_add(set, 9999);
    assert_int_equal(base_bitset_next(set, 1), 9999);
}

SET_CASE(beyond_the_range_nothing_is_a_member) {
    base_bitset_reserve(set, 64);
    assert_false(base_bitset_has(set, 64));
    assert_false(base_bitset_has(set, UINT32_MAX));
    base_bitset_remove(set, UINT32_MAX);
    assert_int_equal(base_bitset_next(set, UINT32_MAX), UINT32_MAX);
    base_bitset_add(set, 63);
    expect_assert_failure(base_bitset_add(set, 64));
}

SET_CASE(it_agrees_with_an_array_of_bools) {
    enum { BITS = 300, STEPS = 20000 };
    base_rng rng = test_rng(20240, 1);
    bool model[BITS] = {false};
    base_bitset_reserve(set, BITS);
    for (int step = 0; step < STEPS; step++) {
        uint32_t bit = base_rng_below(&rng, BITS);
        model[bit] = base_rng_chance(&rng, 0.5);
        if (model[bit])
            base_bitset_add(set, bit);
        else
            base_bitset_remove(set, bit);
        uint32_t from = base_rng_below(&rng, BITS), set_bit = from;
        while (set_bit < BITS && !model[set_bit])
            set_bit++;
        assert_int_equal(base_bitset_next(set, from), set_bit < BITS ? set_bit : UINT32_MAX);
    }
}
