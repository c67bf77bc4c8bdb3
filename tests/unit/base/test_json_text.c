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
    base_json_write(&json, "%a", from);
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
    base_json_write(&json, "%d", 7);
    assert_string_equal(text_of(&json), "\"00ff10\",7");
    base_bytes_deinit(&json);
}

CASE(a_format_puts_commas_where_they_belong) {
    base_bytes json = {0};
    const char* volatile none = NULL; // so that no compiler sees it
    base_json_put(&json, "data: ");
    base_json_write(&json, "{a=%s list=[", "x\"y");
    for (unsigned i = 0; i < 2; i++)
        base_json_write(&json, "\n  {n=%u is=%i}", i, i > 0);
    base_json_write(&json, "\n] empty=[] none=null %s=%ju", "k=", UINT64_MAX);
    base_json_write(&json, "text='%u:%u ok' at=", 7u, 1u);
    base_json_hex(&json, "\x01", 1);
    base_json_write(&json, "rounded=[%f %f %f] exact=%a plain=%.1f of=%s}\n", 2.0, -0.0126, 1e13,
                    0.1, 0.25, none);
    assert_string_equal(text_of(&json),
                        "data: {\"a\":\"x\\\"y\",\"list\":[\n  {\"n\":0,\"is\":false},\n  "
                        "{\"n\":1,\"is\":true}\n],\"empty\":[],\"none\":null,\"k=\":"
                        "18446744073709551615,\"text\":\"7:1 ok\",\"at\":\"01\","
                        "\"rounded\":[2,-0.013,10000000000000],\"exact\":0.1,\"plain\":0.2,"
                        "\"of\":\"\"}\n");
    base_bytes_deinit(&json);
}
