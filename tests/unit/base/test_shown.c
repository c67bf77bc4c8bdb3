// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/shown.h"

static void check(const char* source, const char* expected) {
    char target[64];
    (void)base_shown_copy(target, sizeof target, source);
    assert_string_equal(target, expected);
}

CASE(plain_text_of_any_script_stays) {
    check("Bo", "Bo");
    check("J\xC3\xB6rg \xE2\x82\xAC \xF0\x9F\x90\x9F", "J\xC3\xB6rg \xE2\x82\xAC \xF0\x9F\x90\x9F");
    check("\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D", "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D"); // Hebrew letters
    check("\xF4\x8F\xBF\xBD", "\xF4\x8F\xBF\xBD");                                 // U+10FFFD
    check("", "");
}

CASE(what_a_terminal_obeys_goes) {
    check("\x1B[31mred\x07\r\n\t\x7F", "[31mred");
    check("a\xC2\x9B"
          "31mb",
          "a31mb"); // CSI as one character, C1
    check("\xC2\x80\xC2\x9F\xC2\xA0", "\xC2\xA0");
}

CASE(what_turns_text_round_or_hides_in_it_goes) {
    check("\xE2\x80\xAE"
          "bob",
          "bob"); // U+202E
    check("a\xE2\x81\xA6"
          "b\xE2\x81\xA9"
          "c",
          "abc");                                      // U+2066, U+2069
    check("\xE2\x80\x8F\xD8\x9C\xE2\x80\x8Bx", "x");   // U+200F, U+061C, U+200B
    check("bo\xC2\xAD\xEF\xBB\xBF\xE2\x81\xA0", "bo"); // U+00AD, U+FEFF, U+2060
    check("\xF3\xA0\x81\x81x", "x");                   // U+E0041, a tag
    check("\xE2\x80\x8A\xE2\x80\x90\xE2\x80\xAF\xE2\x81\xB0",
          "\xE2\x80\x8A\xE2\x80\x90\xE2\x80\xAF\xE2\x81\xB0"); // beside the ranges
}

CASE(bytes_that_are_no_characters_go) {
    check("a\xFF\xFE"
          "b\xC3",
          "ab");
    check("\xC0\xAF\xE0\x80\xAFx", "x");             // overlong
    check("\xED\xA0\x80x", "x");                     // a surrogate
    check("\xF4\x90\x80\x80x\xF5\x80\x80\x80", "x"); // above U+10FFFF
    check("\xE2\x82", "");
}

CASE(it_is_cut_at_whole_characters) {
    char target[6];
    assert_true(base_shown_copy(target, sizeof target, "abc\xE2\x82\xACz"));
    assert_string_equal(target, "abc");
    assert_true(base_shown_copy(target, sizeof target, "ab\xE2\x82\xACz"));
    assert_string_equal(target, "ab\xE2\x82\xAC");
    assert_true(base_shown_copy(target, 1, "") == false);
    assert_string_equal(target, "");
    assert_false(base_shown_copy(target, 0, "x"));
}

CASE(blanks_alone_are_nothing_to_see) {
    char target[8];
    assert_false(base_shown_copy(target, sizeof target, "  \xE2\x80\x8B "));
    assert_string_equal(target, "   ");
    assert_true(base_shown_copy(target, sizeof target, " x"));
}

static void quote(size_t bytes, const char* source, const char* expected) {
    char target[64];
    memset(target, 'x', sizeof target);
    assert_ptr_equal(base_shown_quote(target, bytes, source), target);
    assert_string_equal(target, expected);
    assert_int_equal(target[bytes], 'x');
}

CASE(a_quoted_name_ends_at_its_quote) {
    quote(63, "Ada", "\"Ada\"");
    quote(63, "", "\"\"");
    quote(63, "x) left status tick=1 (", "\"x) left status tick=1 (\"");
    quote(63, "a\" left", "\"a\\\" left\"");
    quote(63, "a\\", "\"a\\\\\"");
    quote(63, "a\n\x1B[31m\xE2\x80\xAE\xFFz", "\"a[31mz\"");
}

CASE(a_quoted_name_has_a_limit_and_both_quotes) {
    quote(3, "abc", "\"\"");
    quote(5, "abc", "\"ab\"");
    quote(6, "abc", "\"abc\"");
    quote(5, "a\"", "\"a\"");
    quote(6, "a\"", "\"a\\\"\"");
    quote(6, "a\xE2\x82\xACz", "\"a\"");
    quote(BASE_SHOWN_QUOTED_BYTES(sizeof "\"\\\"\\"), "\"\\\"\\", "\"\\\"\\\\\\\"\\\\\"");
}
