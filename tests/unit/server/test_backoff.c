// SPDX-License-Identifier: MIT
// When a lost connection is made again, in virtual time.
#include "fleet/backoff.h"

#include "test.h"

#define MS UINT64_C(1000)

#define BACKOFF_CASE(name) CASE_WITH(server_backoff, backoff, (void)0, (void)0, name)

BACKOFF_CASE(each_failure_doubles_the_wait_up_to_a_limit) {
    uint32_t before = server_backoff_failed(backoff, 1, 0);
    assert_int_equal(before, SERVER_BACKOFF_MS);
    for (uint32_t i = 0; i < 7; i++) {
        const uint32_t ms = server_backoff_failed(backoff, 1, 0);
        assert_int_equal(ms, 2 * before);
        before = ms;
    }
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(server_backoff_failed(backoff, 1, 0), SERVER_BACKOFF_MS_MAX);
}

CASE(chance_takes_up_to_a_half_of_the_wait) {
    bool has_least = false, has_most = false;
    for (uint32_t chance = 0; chance < 400; chance++) {
        server_backoff fresh = {0};
        const uint32_t ms = server_backoff_failed(&fresh, 1, chance);
        assert_in_range(ms, SERVER_BACKOFF_MS / 2, SERVER_BACKOFF_MS);
        has_least = has_least || ms == SERVER_BACKOFF_MS / 2;
        has_most = has_most || ms == SERVER_BACKOFF_MS;
    }
    assert_true(has_least && has_most);
}

BACKOFF_CASE(a_connection_that_ends_soon_resets_nothing) {
    for (uint32_t i = 0; i < 9; i++)
        (void)server_backoff_failed(backoff, MS, 0);
    server_backoff_up(backoff, MS);
    assert_int_equal(server_backoff_failed(backoff, MS + SERVER_BACKOFF_LASTED_US - 1, 0),
                     SERVER_BACKOFF_MS_MAX);
    server_backoff_up(backoff, MS);
    assert_int_equal(server_backoff_failed(backoff, MS + SERVER_BACKOFF_LASTED_US, 0),
                     SERVER_BACKOFF_MS);
}
