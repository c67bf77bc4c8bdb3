// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/json.h"

#include <math.h>

static const char* text_of(base_bytes* json) {
    base_bytes_write_u8(json, 0);
    return (const char*)json->data;
}

static void expect_text(const char* from, const char* expected) {
    base_bytes json = {0};
    base_json_text(&json, from);
    assert_string_equal(text_of(&json), expected);
    base_bytes_deinit(&json);
}

CASE(texts_are_quoted_and_stay_valid) {
    expect_text("", "\"\"");
    expect_text("a \"b\" \\", "\"a \\\"b\\\" \\\\\"");
    expect_text("\n\x7f", "\"\\u000a\\u007f\"");
    expect_text("h\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9f",
                "\"h\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9f\"");
    expect_text("\xc3", "\"\\ufffd\"");
    expect_text("\xc0\xaf", "\"\\ufffd\\ufffd\"");
    expect_text("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
}

static void expect_number(double from, const char* expected) {
    base_bytes json = {0};
    base_json_f64(&json, from);
    assert_string_equal(text_of(&json), expected);
    double read = 0;
    if (isfinite(from)) assert_true(base_text_parse_f64(expected, &read) && read == from);
    base_bytes_deinit(&json);
}

CASE(numbers_read_back_as_they_were) {
    expect_number(0, "0");
    expect_number(-3.3, "-3.3");
    expect_number(1.0 / 3, "0.33333333333333331");
    expect_number(1e300, "1e+300");
    expect_number((double)INFINITY, "null");
    expect_number((double)NAN, "null");
}

CASE(bytes_are_hexadecimal) {
    base_bytes json = {0};
    base_json_hex(&json, "\x00\xff\x10", 3);
    base_json_put(&json, ",%d", 7);
    assert_string_equal(text_of(&json), "\"00ff10\",7");
    base_bytes_deinit(&json);
}
