// SPDX-License-Identifier: MIT
// The names of the drop reasons: each is unique and fits into a line as "name=count".
#include <string.h>

#include "test.h"

#include "net/result.h"

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
