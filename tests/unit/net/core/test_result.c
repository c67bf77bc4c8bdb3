// SPDX-License-Identifier: MIT
// Names and texts of the network layer's results, and of the ends of sessions.
#include "test.h"

#include "net/result.h"

#include <string.h>

CASE(every_result_has_its_own_name_and_an_advice) {
    static const net_result ALL[] = {
#define NET_RESULT_VALUE(name, value, text) name,
        NET_RESULT_LIST(NET_RESULT_VALUE)
#undef NET_RESULT_VALUE
    };
    for (size_t i = 0; i < BASE_COUNT(ALL); i++) {
        assert_int_equal(strncmp(net_result_name(ALL[i]), "NET_", 4), 0);
        assert_true(strlen(net_result_text(ALL[i])) > 5);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(ALL[i], ALL[k]);
            assert_string_not_equal(net_result_name(ALL[i]), net_result_name(ALL[k]));
        }
    }
}

CASE(an_address_without_keys_or_name_says_what_to_do) {
    assert_non_null(strstr(net_result_text(NET_ERR_REFUSED), "--key-file FILE"));
    assert_non_null(strstr(net_result_text(NET_ERR_ADDRESS), "correct the name"));
}

CASE(success_is_zero_and_failures_are_negative) {
    assert_int_equal(NET_OK, 0);
    assert_string_equal(net_result_name(NET_ERR_BIND), "NET_ERR_BIND");
    assert_true(NET_ERR_BIND < 0);
}

CASE(a_number_that_is_no_result_is_named_as_such) {
    assert_string_equal(net_result_name((net_result)-1000), "NET_UNKNOWN");
    assert_string_equal(net_result_text((net_result)-1000), "unknown result");
}

CASE(every_end_of_a_session_has_its_own_word_and_its_own_text) {
    for (net_end a = NET_END_NONE; a <= NET_END_ELSEWHERE; a++)
        for (net_end b = NET_END_NONE; b < a; b++) {
            assert_string_not_equal(net_end_name(a), net_end_name(b));
            assert_string_not_equal(net_end_text(a), net_end_text(b));
        }
    assert_string_equal(net_end_name(NET_END_GOODBYE), "goodbye");
    assert_string_equal(net_end_name((net_end)(NET_END_ELSEWHERE + 1)), "none");
}
