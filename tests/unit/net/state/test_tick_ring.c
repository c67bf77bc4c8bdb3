// SPDX-License-Identifier: MIT
/// Entries by tick: order, growth, the limit, longer entries, and faults that validation finds.
#include "test.h"

#include "net/limits.h"
#include "state/tick_ring.h"

#include <string.h>

static bool put(net_tick_ring* ring, uint64_t tick, const uint64_t* entry) {
    return net_tick_ring_put(ring, NULL, NET_ROW_HISTORY_MAX, tick, entry, sizeof *entry);
}

static void a_ring_puts_late_rows_in_their_place(void** state) {
    (void)state;
    net_tick_ring ring = {0};
    net_tick_ring_reset(&ring, sizeof(uint64_t));
    const uint64_t ticks[] = {10, 30, 20, 5, 40, 30};
    for (uint32_t i = 0; i < BASE_COUNT(ticks); i++)
        assert_true(put(&ring, ticks[i], &ticks[i]));
    assert_int_equal(ring.count, 5);
    const uint64_t expected[] = {5, 10, 20, 30, 40};
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(net_tick_ring_tick(&ring, i), expected[i]);
        assert_int_equal(*(uint64_t*)net_tick_ring_entry(&ring, i), expected[i]);
    }
    assert_int_equal(net_tick_ring_find(&ring, 4), UINT32_MAX);
    assert_int_equal(net_tick_ring_find(&ring, 29), 2);
    net_tick_ring_drop(&ring, 2);
    assert_int_equal(net_tick_ring_tick(&ring, 0), 20);
    for (uint64_t tick = 100; tick < 100 + NET_ROW_HISTORY_MAX; tick++)
        assert_true(put(&ring, tick, &tick));
    assert_int_equal(ring.count, NET_ROW_HISTORY_MAX);
    assert_int_equal(net_tick_ring_tick(&ring, 0), 100);
    // Older than all entries of a full ring.
    assert_true(put(&ring, 50, &ticks[0]));
    assert_int_equal(net_tick_ring_tick(&ring, 0), 100);
    net_tick_ring_deinit(&ring, NULL);
}

static void entries_keep_their_bytes_when_they_become_longer(void** state) {
    (void)state;
    net_tick_ring ring = {0};
    net_tick_ring_reset(&ring, 4);
    for (uint32_t tick = 1; tick <= 6; tick++)
        assert_true(net_tick_ring_put(&ring, NULL, 4, tick, &tick, sizeof tick));
    assert_int_equal(ring.count, 4); // this is the limit
    assert_true(net_tick_ring_widen(&ring, NULL, 16));
    net_tick_ring_validate(&ring);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t value;
        memcpy(&value, net_tick_ring_entry(&ring, i), sizeof value);
        assert_int_equal(value, i + 3);
        assert_int_equal(net_tick_ring_tick(&ring, i), i + 3);
    }
    assert_int_equal(ring.stride_bytes, 16);
    net_tick_ring_deinit(&ring, NULL);
}

static void an_entry_that_was_not_closed_was_never_there(void** state) {
    (void)state;
    net_tick_ring ring = {0};
    net_tick_ring_reset(&ring, 8);
    assert_non_null(net_tick_ring_open(&ring, NULL, 4));
    assert_int_equal(ring.count, 0);
    assert_non_null(net_tick_ring_open(&ring, NULL, 4));
    net_tick_ring_close(&ring, 7);
    assert_int_equal(ring.count, 1);
    assert_int_equal(net_tick_ring_find(&ring, 7), 0);
    net_tick_ring_deinit(&ring, NULL);
}

static void validating_finds_ticks_that_do_not_rise(void** state) {
    (void)state;
    net_tick_ring ring = {0};
    net_tick_ring_reset(&ring, sizeof(uint64_t));
    for (uint64_t tick = 1; tick <= 3; tick++)
        assert_true(put(&ring, tick, &tick));
    net_tick_ring_validate(&ring);
    ring.ticks[1] = 3;
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure(net_tick_ring_validate(&ring));
    base_assert_handler_set(NULL);
    net_tick_ring_deinit(&ring, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_ring_puts_late_rows_in_their_place),
        TEST(entries_keep_their_bytes_when_they_become_longer),
        TEST(an_entry_that_was_not_closed_was_never_there),
        TEST(validating_finds_ticks_that_do_not_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
