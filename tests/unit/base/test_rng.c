// SPDX-License-Identifier: MIT
#include "test.h"

CASE(the_reference_sequence_holds) {
    // First numbers of the author's demo program, seed 42, stream 54.
    const uint32_t expected[] = {0xA15C02B7, 0x7B47F409, 0xBA1D3330,
                                 0x83D2F293, 0xBFA4784B, 0xCBED606E};
    base_rng rng = base_rng_make(42, 54);
    for (int i = 0; i < 6; i++)
        assert_int_equal(base_rng_u32(&rng), expected[i]);
    rng = base_rng_make(42, 54);
    assert_true(base_rng_u64(&rng) == UINT64_C(0xA15C02B77B47F409));
}

CASE(streams_differ) {
    base_rng a = base_rng_make(1, 1), b = base_rng_make(1, 2);
    assert_true(base_rng_u64(&a) != base_rng_u64(&b));
}

CASE(numbers_below_a_bound_are_even) {
    enum { BOUND = 7, DRAWS = 70000 };
    base_rng rng = base_rng_make(5, 5);
    uint32_t counts[BOUND] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint32_t value = base_rng_below(&rng, BOUND);
        assert_true(value < BOUND);
        counts[value]++;
    }
    for (int i = 0; i < BOUND; i++)
        assert_in_range(counts[i], 9600, 10400);
    for (int i = 0; i < 100; i++)
        assert_int_equal(base_rng_below(&rng, 1), 0);
    for (int i = 0; i < 100; i++)
        assert_true(base_rng_below(&rng, UINT32_MAX) < UINT32_MAX);
}

CASE(ranges_are_inclusive) {
    base_rng rng = base_rng_make(6, 6);
    bool low = false, high = false;
    for (int i = 0; i < 1000; i++) {
        int32_t value = base_rng_range(&rng, -2, 2);
        assert_true(value >= -2 && value <= 2);
        low = low || value == -2;
        high = high || value == 2;
    }
    assert_true(low && high);
    assert_int_equal(base_rng_range(&rng, 9, 9), 9);
    bool negative = false, positive = false;
    for (int i = 0; i < 100; i++) {
        int32_t value = base_rng_range(&rng, INT32_MIN, INT32_MAX);
        negative = negative || value < 0;
        positive = positive || value > 0;
    }
    assert_true(negative && positive);
}

CASE(floats_lie_in_the_unit_interval) {
    base_rng rng = base_rng_make(7, 7);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        float value = base_rng_float(&rng);
        assert_true(value >= 0 && value < 1);
        sum += value;
    }
    assert_true(sum > 4900 && sum < 5100);
}

CASE(chance_follows_the_probability) {
    base_rng rng = base_rng_make(8, 8);
    int hits = 0;
    for (int i = 0; i < 10000; i++) {
        assert_false(base_rng_chance(&rng, 0));
        assert_true(base_rng_chance(&rng, 1));
        hits += base_rng_chance(&rng, 0.3);
    }
    assert_in_range(hits, 2850, 3150);
}

CASE(impossible_requests_are_mistakes) {
    base_rng rng = base_rng_make(1, 1);
    expect_assert_failure((void)base_rng_below(&rng, 0));
    expect_assert_failure((void)base_rng_range(&rng, 1, 0));
}
