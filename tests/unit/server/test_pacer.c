// SPDX-License-Identifier: MIT
// When ticks of the server are due, in virtual time: 50 Hz, so a tick is 20,000 us.
#include "test.h"

#include "net/limits.h"
#include "pacer.h"

#define BEGIN_US 5000000u
#define PERIOD_US 20000u

#define PACER_CASE(name)                                                                           \
    CASE_WITH(server_pacer, pacer, server_pacer_init(pacer, 50, BEGIN_US), (void)0, name)

PACER_CASE(the_first_tick_is_due_at_once_and_the_next_a_period_later) {
    assert_true(server_pacer_is_due(pacer, false, BEGIN_US));
    server_pacer_tick(pacer, false, BEGIN_US);
    assert_false(server_pacer_is_due(pacer, false, BEGIN_US + PERIOD_US - 1));
    assert_true(server_pacer_is_due(pacer, false, BEGIN_US + PERIOD_US));
}

PACER_CASE(a_late_tick_does_not_shift_the_ones_after_it) {
    server_pacer_tick(pacer, false, BEGIN_US + 7000);
    assert_true(pacer->next_us == BEGIN_US + PERIOD_US);
    server_pacer_tick(pacer, false, BEGIN_US + PERIOD_US + 19000);
    assert_true(pacer->next_us == BEGIN_US + 2 * PERIOD_US);
}

PACER_CASE(a_fast_match_is_always_due_and_leaves_no_debt) {
    assert_true(server_pacer_is_due(pacer, true, BEGIN_US - 1));
    for (uint64_t us = BEGIN_US; us < BEGIN_US + 100; us++)
        server_pacer_tick(pacer, true, us);
    assert_true(pacer->next_us == BEGIN_US + 99 + PERIOD_US);
    assert_int_equal(server_pacer_take_lost(pacer, BEGIN_US + 99), 0);
}

// How many ticks are due one after the other at `now_us`.
static uint32_t catch_up(server_pacer* pacer, uint64_t now_us) {
    uint32_t count = 0;
    for (; server_pacer_is_due(pacer, false, now_us); count++)
        server_pacer_tick(pacer, false, now_us);
    return count;
}

PACER_CASE(a_short_stall_is_caught_up) {
    // One tick that is due, and as many late ones as may be caught up.
    uint64_t now_us = BEGIN_US + NET_CATCH_UP_TICKS_MAX * PERIOD_US;
    assert_int_equal(catch_up(pacer, now_us), NET_CATCH_UP_TICKS_MAX + 1);
    assert_int_equal(server_pacer_take_lost(pacer, now_us), 0);
}

PACER_CASE(of_late_ticks_the_last_one_sends) {
    uint64_t now_us = BEGIN_US + 3 * PERIOD_US + 1;
    for (uint32_t i = 0; i < 4; i++, server_pacer_tick(pacer, false, now_us)) {
        server_pacer_received(pacer);
        assert_int_equal(server_pacer_sends(pacer, now_us), i == 3);
    }
    assert_false(server_pacer_is_due(pacer, false, now_us));
}

// Each tick takes too long: one in six is sent.
PACER_CASE(a_server_that_is_always_late_sends_now_and_then) {
    uint64_t now_us = BEGIN_US + 100 * PERIOD_US;
    uint32_t sent = 0;
    for (uint32_t i = 0; i < 60; i++, now_us += 2 * PERIOD_US) {
        sent += server_pacer_sends(pacer, now_us);
        server_pacer_tick(pacer, false, now_us);
    }
    assert_int_equal(sent, 60 / (NET_CATCH_UP_TICKS_MAX + 1));
}

PACER_CASE(a_tick_without_news_of_the_clients_does_not_send) {
    assert_true(server_pacer_sends(pacer, BEGIN_US));
    server_pacer_tick(pacer, false, BEGIN_US);
    assert_false(server_pacer_sends(pacer, BEGIN_US + PERIOD_US));
    server_pacer_tick(pacer, false, BEGIN_US + PERIOD_US);
    server_pacer_received(pacer);
    assert_true(server_pacer_sends(pacer, BEGIN_US + 2 * PERIOD_US));
}

PACER_CASE(a_long_stall_is_given_up_and_every_tick_of_it_reported_once) {
    uint64_t now_us = BEGIN_US + 1000 * PERIOD_US;
    uint32_t ran = catch_up(pacer, now_us);
    assert_in_range(ran, NET_CATCH_UP_TICKS_MAX, NET_CATCH_UP_TICKS_MAX + 2);
    uint64_t lost = server_pacer_take_lost(pacer, now_us);
    assert_int_equal(pacer->given_up, lost);
    assert_int_equal(ran + lost, 1001); // ticks 0 to 1000
    assert_int_equal(server_pacer_take_lost(pacer, now_us), 0);
}

CASE(a_clock_that_jumps_gives_at_most_the_ticks_of_a_short_stall) {
    static const uint64_t jumps_us[] = {1000000, 40000000, UINT64_C(3600000000)};
    for (size_t i = 0; i < BASE_COUNT(jumps_us); i++) {
        server_pacer pacer;
        server_pacer_init(&pacer, 60, 0);
        server_pacer_tick(&pacer, false, 0);
        // The tick that was late, those that are caught up, and the one that is due now.
        assert_in_range(catch_up(&pacer, jumps_us[i]), 1, 1 + NET_CATCH_UP_TICKS_MAX + 1);
    }
}

PACER_CASE(stalls_are_reported_at_once_and_then_once_a_minute) {
    uint64_t now_us = BEGIN_US + 1000 * PERIOD_US;
    (void)catch_up(pacer, now_us);
    assert_true(server_pacer_take_lost(pacer, now_us) > 0);
    uint64_t again_us = now_us + 500000;
    (void)catch_up(pacer, again_us);
    assert_int_equal(server_pacer_take_lost(pacer, again_us), 0);
    assert_int_equal(server_pacer_take_lost(pacer, now_us + 59999999), 0);
    assert_true(server_pacer_take_lost(pacer, now_us + 60000000) > 0);
}

PACER_CASE(a_server_that_is_always_late_receives_every_few_ticks) {
    uint64_t now_us = BEGIN_US;
    for (uint32_t i = 0; i < SERVER_UNHEARD_TICKS_MAX; i++) {
        assert_false(server_pacer_must_receive(pacer));
        server_pacer_tick(pacer, false, now_us += 1000000);
    }
    assert_true(server_pacer_must_receive(pacer));
    server_pacer_tick(pacer, false, now_us += 1000000);
    assert_true(server_pacer_must_receive(pacer));
    server_pacer_received(pacer);
    assert_false(server_pacer_must_receive(pacer));
}

PACER_CASE(a_tick_before_its_time_is_a_mistake) {
    expect_assert_failure(server_pacer_tick(pacer, false, BEGIN_US - 1));
    expect_assert_failure(server_pacer_init(pacer, 0, BEGIN_US));
}

CASE(percentiles_are_within_three_percent) {
    static server_timing timing;
    assert_int_equal(server_timing_percentile(&timing, 50), 0);
    for (uint64_t us = 1; us <= 10000; us++)
        server_timing_add(&timing, us);
    assert_in_range(server_timing_percentile(&timing, 50), 5000, 5160);
    assert_in_range(server_timing_percentile(&timing, 99), 9900, 10210);
    assert_int_equal(server_timing_percentile(&timing, 0), 1);
    server_timing_add(&timing, UINT64_MAX);
    assert_true(server_timing_percentile(&timing, 100) > 10000);
    server_timing_remove(&timing, UINT64_MAX);
    assert_in_range(server_timing_percentile(&timing, 100), 10000, 10310);
    for (uint64_t us = 1; us <= 10000; us++)
        server_timing_remove(&timing, us);
    assert_int_equal(server_timing_percentile(&timing, 100), 0);
    expect_assert_failure(server_timing_remove(&timing, 1));
}

CASE(a_tick_costs_its_share_of_all_threads_time) {
    static server_timing timing = {.cpu_us = 700};
    assert_int_equal(server_timing_cpu_us(&timing, 9000), 0); // no tick ran
    for (uint64_t us = 1; us <= 4; us++)
        server_timing_add(&timing, us); // less than the process took: threads beside the loop's
    assert_int_equal(server_timing_cpu_us(&timing, 9000), (9000 - 700) / 4);
    expect_assert_failure((void)server_timing_cpu_us(&timing, 699));
}
