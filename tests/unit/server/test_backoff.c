// SPDX-License-Identifier: MIT
// When a lost connection is made again, in virtual time.
#include "fleet/backoff.h"

#include "test.h"

#define MS UINT64_C(1000)
#define ANSWER_MS 2000u // an attempt without an answer takes so long

// Attempts within `ms` that each fail after `attempt_ms`, with the least or the most of each wait.
static uint32_t attempts_within(server_backoff* backoff, uint32_t attempt_ms, uint64_t ms,
                                uint32_t chance) {
    uint32_t count = 0;
    for (uint64_t now_ms = 1; now_ms <= ms; count++) {
        now_ms += attempt_ms;
        now_ms += server_backoff_failed(backoff, now_ms * MS, chance);
    }
    return count;
}

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

BACKOFF_CASE(a_full_machine_and_a_port_that_closes_at_once_are_asked_a_few_times) {
    // 200 servers made 4,100 connections in two minutes: 20 each.
    assert_in_range(attempts_within(backoff, ANSWER_MS, 120000, 0), 8, 12);
    *backoff = (server_backoff){0};
    assert_in_range(attempts_within(backoff, 0, 120000, 0), 8, 12);
    // Each further hour at most twice as often as the longest wait.
    assert_in_range(attempts_within(backoff, 0, 3600000, 0), 120, 121);
}

BACKOFF_CASE(a_broker_that_starts_over_in_a_second_is_found_in_about_two) {
    for (uint32_t chance = 0; chance < 2; chance++) {
        uint64_t now_ms = 1;
        *backoff = (server_backoff){.failures = 9};
        server_backoff_up(backoff, now_ms * MS);
        now_ms += SERVER_BACKOFF_LASTED_US / MS;
        const uint64_t lost_ms = now_ms;
        while (now_ms < lost_ms + 1000)
            now_ms += server_backoff_failed(backoff, now_ms * MS, chance ? SERVER_BACKOFF_MS : 0);
        assert_true(now_ms <= lost_ms + 2250);
    }
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
