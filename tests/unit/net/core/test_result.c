// SPDX-License-Identifier: MIT
// Texts of the network layer's results, of the ends of sessions and of drops, of which a
// line has "name=count".
#include "test.h"

#include "net/result.h"

CASE(every_result_has_its_own_number_and_an_advice) {
    static const net_result ALL[] = {
#define NET_RESULT_VALUE(name, value, text) name,
        NET_RESULT_LIST(NET_RESULT_VALUE)
#undef NET_RESULT_VALUE
    };
    for (size_t i = 0; i < BASE_COUNT(ALL); i++) {
        assert_true(strlen(net_result_text(ALL[i])) > 5);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(ALL[i], ALL[k]);
    }
}

CASE(an_address_without_keys_or_name_says_what_to_do) {
    assert_non_null(strstr(net_result_text(NET_ERR_REFUSED), "--key-file FILE"));
    assert_non_null(strstr(net_result_text(NET_ERR_ADDRESS), "correct the name"));
}

CASE(a_number_that_is_no_result_is_named_as_such) {
    assert_string_equal(net_result_text((net_result)-1000), "unknown result");
}

CASE(every_end_of_a_session_has_its_own_word_and_its_own_text) {
    for (net_end a = NET_END_NONE; a < NET_END_COUNT; a++)
        for (net_end b = NET_END_NONE; b < a; b++) {
            assert_string_not_equal(net_end_name(a), net_end_name(b));
            assert_string_not_equal(net_end_text(a), net_end_text(b));
        }
    assert_string_equal(net_end_name(NET_END_GOODBYE), "goodbye");
    assert_string_equal(net_end_name((net_end)NET_END_COUNT), "none");
}

CASE(every_reason_has_a_name_of_its_own) {
    for (uint32_t a = 0; a < NET_DROP_COUNT; a++) {
        const char* name = net_drop_name((net_drop)a);
        assert_true(strlen(net_drop_text((net_drop)a)) > 10);
        assert_true(strlen(name) >= 3);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        for (uint32_t b = 0; b < a; b++)
            assert_string_not_equal(name, net_drop_name((net_drop)b));
    }
}

CASE(beyond_the_last_there_is_none) {
    expect_assert_failure((void)net_drop_name(NET_DROP_COUNT));
    expect_assert_failure((void)net_drop_text(NET_DROP_COUNT));
}

CASE(the_text_names_what_has_a_count_and_is_cut_to_its_room) {
    uint64_t dropped[NET_DROP_COUNT] = {0};
    char text[32];
    net_drops_text(dropped, text, sizeof text);
    assert_string_equal(text, "");
    dropped[NET_DROP_FLOOD] = 3;
    dropped[NET_DROP_STALE] = 12;
    net_drops_text(dropped, text, sizeof text);
    assert_string_equal(text, " flood=3 stale=12");
    net_drops_text(dropped, text, 8);
    assert_int_equal(strlen(text), 7);
}
