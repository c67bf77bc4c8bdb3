// SPDX-License-Identifier: MIT
#include "test.h"

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void check_against_strtod(const char* text) {
    const char* next;
    char* expected_next;
    double value = base_text_read_f64(text, text + strlen(text), &next);
    double expected = strtod(text, &expected_next);
    if (bits_of(value) != bits_of(expected) || next != expected_next)
        fail_msg("'%s': %a instead of %a, %td bytes instead of %td", text, value, expected,
                 next - text, expected_next - text);
}

CASE(integers_are_read_whole) {
    int64_t i64;
    uint64_t u64;
    assert_true(base_text_parse_u64("0", &u64) && u64 == 0);
    assert_true(base_text_parse_u64("18446744073709551614", &u64) && u64 == UINT64_MAX - 1);
    assert_true(base_text_parse_u64("18446744073709551615", &u64) && u64 == UINT64_MAX);
    assert_true(base_text_parse_i64("9223372036854775807", &i64) && i64 == INT64_MAX);
    assert_true(base_text_parse_i64("-9223372036854775808", &i64) && i64 == INT64_MIN);
    assert_true(base_text_parse_i64("+5", &i64) && i64 == 5);
    assert_true(base_text_parse_i64("-0", &i64) && i64 == 0);
}

CASE(what_is_no_integer_is_refused_and_leaves_the_value) {
    char u64_wrong[] = "| 1|1 |-1|+1|1x|0x10|1.0|18446744073709551616|99999999999999999999999";
    const char* const i64_wrong[] = {"",   "-", "+", "--1", "9223372036854775808",
                                     "1-", "a", " ", "1\n", "-9223372036854775809"};
    uint64_t u64 = 77;
    int64_t i64 = 77;
    for (char* at = u64_wrong; at;)
        assert_false(base_text_parse_u64(strsep(&at, "|"), &u64));
    for (size_t i = 0; i < BASE_COUNT(i64_wrong); i++)
        assert_false(base_text_parse_i64(i64_wrong[i], &i64));
    assert_true(u64 == 77 && i64 == 77);
}

CASE(whole_text_doubles) {
    double value = 7;
    const char* const wrong[] = {"",    ".",   "-",     "e5",       "1e",  "1.5x", " 1",
                                 "nan", "inf", "1e309", "-1e99999", "0x1", "1,5",  "1e+"};
    for (size_t i = 0; i < BASE_COUNT(wrong); i++)
        assert_false(base_text_parse_f64(wrong[i], &value));
    assert_true(value == 7);
    assert_true(base_text_parse_f64("-1.5e2", &value) && value == -150);
    assert_true(base_text_parse_f64(".5", &value) && value == 0.5);
    assert_true(base_text_parse_f64("5.", &value) && value == 5);
    assert_true(base_text_parse_f64("1e-999999999999", &value) && value == 0);
    assert_true(base_text_parse_f64("1.7976931348623157e308", &value) && value > 1.7e308);
}

CASE(reading_stops_where_the_number_ends) {
    const char text[] = "12.5e3";
    const char* next;
    assert_true(base_text_read_f64(text, text + 2, &next) == 12 && next == text + 2);
    assert_true(base_text_read_f64(text, text + 4, &next) == 12.5 && next == text + 4);
    assert_true(base_text_read_f64(text, text + 5, &next) == 12.5 && next == text + 4);
    assert_true(base_text_read_f64(text, text + 6, &next) == 12500 && next == text + 6);
    assert_true(base_text_read_f64(text, text, &next) == 0 && next == text);
    const char* const others[] = {"1.2.3", "1e5e5", "-", "+.e1", "1-2", "3,4", "--1", "1e-", "0e0"};
    for (size_t i = 0; i < BASE_COUNT(others); i++)
        check_against_strtod(others[i]);
}

CASE(hard_cases_round_correctly) {
    char texts[] =
        "0 -0 0.0e5 1 0.1 123456789012345678 9007199254740993 9007199254740992.999999999999999999"
        " 9007199254740993.000000000000000000001 1e22 1e23 8.5e-323 4.9e-324"
        " 2.4703282292062327e-324 2.4703282292062328e-324 2.2250738585072011e-308"
        " 2.2250738585072014e-308 1.7976931348623157e308 1.7976931348623158e308"
        " 1.7976931348623159e308 1e400 1e-400 6.02214076e23 5e-324 3e-324 2e-324"
        " 179769313486231580793e289"
        " 0.000000000000000000000000000000000000000000000000000000000000001e63"
        " 100000000000000000000000000000000000000000000000000000000000000000e-65 7.0385307e-26"
        " 1090544144181609348835077142190 2.0e-1074";
    for (const char* text = strtok(texts, " "); text; text = strtok(NULL, " "))
        check_against_strtod(text);
}

// Half-way points between neighbours, exactly and one digit beyond: 1 + 2^-53 and its like have all
// of their digits written out.
CASE(half_way_points_go_to_the_even_neighbour) {
    base_rng rng = test_rng(21, 1);
    static char text[2000];
    for (int i = 0; i < 300; i++) {
        // A float and a half of its last bit in long double, which has room for it.
        uint64_t bits = base_rng_u64(&rng) >> 1;
        if (i % 4 == 0) bits >>= 11 + base_rng_below(&rng, 50); // subnormals
        double low, high;
        uint64_t next = bits + 1;
        memcpy(&low, &bits, sizeof low);
        memcpy(&high, &next, sizeof high);
        if (!(high < 1e308)) continue;
        int size = snprintf(text, sizeof text, "%.1200Le", ((long double)low + high) / 2);
        assert_in_range(size, 1, sizeof text - 1);
        check_against_strtod(text);
        char* last = strchr(text, 'e') - 1;
        *last = '1'; // beyond the 800 digits that are looked at one by one
        check_against_strtod(text);
    }
}

CASE(random_texts_agree_with_strtod) {
    base_rng rng = test_rng(22, 1);
    for (int i = 0; i < 30000; i++) {
        char text[128];
        uint32_t size = 0, digits = 1 + base_rng_below(&rng, i % 3 ? 17 : 40);
        if (base_rng_chance(&rng, 0.5)) text[size++] = '-';
        uint32_t point = base_rng_below(&rng, digits + 2);
        for (uint32_t d = 0; d < digits; d++) {
            if (d == point) text[size++] = '.';
            text[size++] = (char)('0' + base_rng_below(&rng, 10));
        }
        text[size] = '\0';
        if (base_rng_chance(&rng, 0.7))
            snprintf(text + size, sizeof text - size, "e%d", base_rng_range(&rng, -345, 312));
        check_against_strtod(text);
    }
}

CASE(very_long_texts_are_read) {
    enum { SIZE = 300000 };
    char* text = malloc(SIZE + 32);
    memset(text, '0', SIZE);
    memcpy(text, "0.", 2);
    snprintf(text + SIZE, 32, "12345e%d", SIZE - 2);
    check_against_strtod(text);
    memset(text, '9', SIZE);
    snprintf(text + SIZE, 32, "e-%d", SIZE);
    check_against_strtod(text);
    free(text);
}

int main(void) {
    (void)setlocale(LC_ALL, "C"); // for strtod
    return test_run();
}
