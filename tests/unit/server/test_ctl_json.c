// SPDX-License-Identifier: MIT
// What a server sends is checked before it is walked.
#include "test.h"

#include "ctl/json.h"

static ctl_value check(const char* text) {
    return ctl_json_check(text, strlen(text));
}

CASE(members_and_elements_are_found_in_their_order) {
    const ctl_value object =
        check(" {\"a\" : 1.5,\"b\":[1, \"x\", {\"c\":null}] , \"empty\":{}, \"t\":\"12\"}\n");
    assert_true(ctl_is_object(object));
    assert_true(ctl_json_number(ctl_json_find(object, "a")) == 1.5);
    assert_true(ctl_json_number(ctl_json_find(object, "t")) == 12);
    assert_null(ctl_json_find(object, "c").at);
    assert_null(ctl_json_find(ctl_json_find(object, "a"), "a").at);
    const ctl_value list = ctl_json_find(object, "b");
    ctl_value key, value;
    char text[16];
    size_t offset = 0;
    uint32_t count = 0;
    while (ctl_json_next(list, &offset, &key, &value)) {
        assert_null(key.at);
        if (count++ == 1) assert_string_equal(ctl_json_text(value, text, sizeof text), "x");
    }
    assert_int_equal(count, 3);
    offset = 0;
    assert_false(ctl_json_next(ctl_json_find(object, "empty"), &offset, &key, &value));
}

CASE(a_text_loses_its_escapes_and_what_a_terminal_obeys) {
    char text[32];
    const ctl_value value = check("\"a\\\"b\\\\c\\u0041\\u001b[2J\\n\\u00fc\xc3\xbc\"");
    assert_string_equal(ctl_json_text(value, text, sizeof text), "a\"b\\cA?[2J?\xc3\xbc");
    assert_string_equal(ctl_json_text(value, text, 5), "a\"b\\");
    assert_string_equal(ctl_json_text((ctl_value){.at = NULL}, text, sizeof text), "");
}

CASE(what_is_no_json_is_refused) {
    static const char* const wrong[] = {
        "",       " ",   "{",        "}", "[1,]", "{\"a\"}",  "{a:1}",    "[1 2]", "\"a",
        "\"\\\"", "1 1", "{\"a\":}", "[", "[1",   "{\"a\":1", "\"a\nb\"", "[1]]",  "{,}"};
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++)
        if (check(wrong[i]).at) fail_msg("accepted: %s", wrong[i]);
    assert_null(ctl_json_check("[1]\0", 4).at);
    char deep[2 * CTL_JSON_DEPTH_MAX + 8];
    for (uint32_t depth = CTL_JSON_DEPTH_MAX - 1; depth <= CTL_JSON_DEPTH_MAX + 1; depth++) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        assert_int_equal(ctl_json_check(deep, 2 * (size_t)depth).at != NULL,
                         depth <= CTL_JSON_DEPTH_MAX);
    }
}

CASE(any_piece_of_an_answer_is_read_within_its_bytes) {
    static const char whole[] = "{\"a\":[{\"b\":\"x\\\"y\\u00e4\",\"c\":-1.5e3},{\"b\":true}],"
                                "\"d\":{},\"e\":[],\"f\":\"\"}";
    base_rng rng = test_rng(3, 3);
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        char* piece = malloc(size + 1); // a sanitizer sees what lies behind
        memcpy(piece, whole, size);
        assert_null(ctl_json_check(piece, size).at);
        free(piece);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        char* text = malloc(sizeof whole - 1);
        memcpy(text, whole, sizeof whole - 1);
        for (uint32_t k = 0; k < 3; k++)
            text[base_rng_below(&rng, sizeof whole - 1)] =
                whole[base_rng_below(&rng, sizeof whole - 1)];
        const ctl_value value = ctl_json_check(text, sizeof whole - 1);
        ctl_value key, member;
        size_t offset = 0;
        char out[8];
        if (ctl_is_object(value) || ctl_is_array(value))
            while (ctl_json_next(value, &offset, &key, &member))
                (void)ctl_json_text(member, out, sizeof out);
        free(text);
    }
}
