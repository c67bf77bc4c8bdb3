// SPDX-License-Identifier: MIT
// Bits by component and cause: the accounts add up to the total, and opening and closing them takes
// and frees their memory.
#include <string.h>

#include "scarce.h"
#include "test.h"

#include "replicate/bandwidth.h"

#define COMPONENTS 5u

CASE(bits_are_summed_by_component_and_cause) {
    net_bandwidth bandwidth;
    assert_true(net_bandwidth_init(&bandwidth, NULL, COMPONENTS));
    net_bandwidth_account account;
    assert_true(net_bandwidth_open(&bandwidth, &account));
    assert_int_equal(net_bandwidth_sum(&account), 0);
    net_bandwidth_add(&account, NET_BANDWIDTH_NONE, NET_COST_HEADER, 39);
    net_bandwidth_add(&account, NET_BANDWIDTH_NONE, NET_COST_HEADER, 41);
    net_bandwidth_add(&account, COMPONENTS - 1, NET_COST_TRANSPORT, UINT64_C(1) << 40);
    assert_int_equal(account.bits[NET_BANDWIDTH_NONE][NET_COST_HEADER], 80);
    assert_true(net_bandwidth_sum(&account) == (UINT64_C(1) << 40) + 80);
    net_bandwidth_close(&bandwidth, &account);
    net_bandwidth_deinit(&bandwidth);
}

CASE(a_closed_account_is_in_the_total) {
    scarce_memory memory;
    scarce_init(&memory, 0, false);
    net_bandwidth bandwidth;
    assert_true(net_bandwidth_init(&bandwidth, &memory.allocator, COMPONENTS));
    int64_t before = memory.bytes;
    net_bandwidth_account accounts[3];
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(net_bandwidth_open(&bandwidth, &accounts[i]));
        for (uint32_t component = 0; component < COMPONENTS; component++) {
            for (uint32_t cost = 0; cost < NET_COST_COUNT; cost++)
                net_bandwidth_add(&accounts[i], component, (net_cost)cost,
                                  i + component * 100 + cost);
        }
    }
    net_bandwidth_account sum;
    assert_true(net_bandwidth_open(&bandwidth, &sum));
    for (uint32_t i = 0; i < 3; i++)
        net_bandwidth_sum_into(&sum, &accounts[i]);
    uint64_t bits = net_bandwidth_sum(&sum);
    assert_true(bits > 0);
    assert_int_equal(net_bandwidth_sum(&bandwidth.total), 0);
    for (uint32_t i = 0; i < 3; i++)
        net_bandwidth_close(&bandwidth, &accounts[i]);
    net_bandwidth_close(&bandwidth, &accounts[0]); // a second close does nothing
    assert_int_equal(net_bandwidth_sum(&bandwidth.total), bits);
    assert_memory_equal(bandwidth.total.bits, sum.bits, COMPONENTS * sizeof *sum.bits);
    net_bandwidth_close(&bandwidth, &sum);
    assert_int_equal(memory.bytes, before);
    net_bandwidth_deinit(&bandwidth);
    assert_int_equal(memory.bytes, 0);
}

CASE(without_memory_no_account_is_open) {
    scarce_memory memory;
    scarce_init(&memory, 1, true);
    net_bandwidth bandwidth;
    assert_false(net_bandwidth_init(&bandwidth, &memory.allocator, COMPONENTS));
    net_bandwidth_deinit(&bandwidth);
    memory.fail_at = memory.calls + 2;
    assert_true(net_bandwidth_init(&bandwidth, &memory.allocator, COMPONENTS));
    net_bandwidth_account account;
    assert_false(net_bandwidth_open(&bandwidth, &account));
    assert_null(account.bits);
    net_bandwidth_close(&bandwidth, &account);
    net_bandwidth_deinit(&bandwidth);
    assert_int_equal(memory.bytes, 0);
}

CASE(every_cause_has_a_name_of_its_own) {
    for (uint32_t a = 0; a < NET_COST_COUNT; a++) {
        assert_true(strlen(net_cost_name((net_cost)a)) > 2);
        for (uint32_t b = 0; b < a; b++)
            assert_string_not_equal(net_cost_name((net_cost)a), net_cost_name((net_cost)b));
    }
}

CASE(a_bandwidth_without_components_is_a_broken_promise) {
    net_bandwidth bandwidth;
    expect_assert_failure((void)!net_bandwidth_init(&bandwidth, NULL, 0));
    expect_assert_failure((void)net_cost_name(NET_COST_COUNT));
}
