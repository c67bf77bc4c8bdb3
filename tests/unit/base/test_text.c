// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/text.h"

CASE(a_copy_is_cut_and_terminated) {
    char target[4] = "zzz";
    assert_true(base_text_copy(target, sizeof target, ""));
    assert_string_equal(target, "");
    assert_true(base_text_copy(target, sizeof target, "abc"));
    assert_string_equal(target, "abc");
    assert_false(base_text_copy(target, sizeof target, "defg"));
    assert_string_equal(target, "def");
    assert_false(base_text_copy(target, 1, "x"));
    assert_string_equal(target, "");
    assert_false(base_text_copy(NULL, 0, "x"));
}

CASE(a_format_is_cut_and_terminated) {
    char target[6];
    assert_true(base_text_format(target, sizeof target, "%d-%s", 12, "ab"));
    assert_string_equal(target, "12-ab");
    assert_false(base_text_format(target, sizeof target, "%d-%s", 12, "abc"));
    assert_string_equal(target, "12-ab");
    assert_false(base_text_format(NULL, 0, "x"));
}
