// SPDX-License-Identifier: MIT
#include "test.h"

static const char* const names[] = {"tick-rate", "seed", "log", "listen", "position", "velocity"};

static const char* nearest_of(const char* word, const char* const* candidates, uint32_t count) {
    base_nearest nearest = base_nearest_begin(word);
    for (uint32_t i = 0; i < count; i++)
        base_nearest_offer(&nearest, candidates[i]);
    return nearest.found;
}

static const char* nearest(const char* word) {
    return nearest_of(word, names, BASE_COUNT(names));
}

CASE(slips_find_their_name) {
    assert_string_equal(nearest("seed"), "seed");
    assert_string_equal(nearest("sede"), "seed");
    assert_string_equal(nearest("tickrate"), "tick-rate");
    assert_string_equal(nearest("tick_rate"), "tick-rate");
    assert_string_equal(nearest("postion"), "position");
    assert_string_equal(nearest("velocityy"), "velocity");
    assert_string_equal(nearest("lgo"), "log");
}

CASE(a_word_of_its_own_finds_none) {
    assert_null(nearest("banana"));
    assert_null(nearest(""));
    assert_null(nearest("x"));
    assert_null(nearest_of("seed", names, 0));
}

CASE(ties_go_to_the_first) {
    const char* const candidates[] = {"cart", "bart", "dart"};
    assert_string_equal(nearest_of("xart", candidates, 3), "cart");
}

CASE(half_of_the_word_may_change_and_no_more) {
    const char* const candidates[] = {"abcd"};
    assert_non_null(nearest_of("abxy", candidates, 1));
    assert_null(nearest_of("axyz", candidates, 1));
}

CASE(long_words_are_left_alone) {
    const char* exact = "0123456789012345678901234567890123456789012345678901234567890123";
    const char* longer = "01234567890123456789012345678901234567890123456789012345678901234";
    const char* const candidates[] = {longer, exact};
    assert_ptr_equal(nearest_of(exact, candidates, 2), exact);
    assert_null(nearest_of(longer, candidates, 2));
}
