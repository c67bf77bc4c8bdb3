// SPDX-License-Identifier: MIT
// Budgets, and the table that remembers them by address.
#include "secure/token_uses.h"
#include "secure_world.h"

static const net_budget_rate ten = {100000, 20}; // 10 a second, 20 at once

static net_address numbered(uint32_t number) {
    net_address made = address_of("0.0.0.0:1");
    for (uint32_t i = 0; i < 4; i++)
        made.ip[12 + i] = (uint8_t)(number >> 8 * i);
    return made;
}

// The naive twin counts whole events that come back one by one.
CASE(a_budget_equals_a_counter_that_is_refilled) {
    net_budget budget = {0};
    base_rng rng = base_rng_make(3, 0);
    uint64_t now_us = 1000, twin_level = 20 * 100000, twin_us = now_us;
    for (uint32_t i = 0; i < 100000; i++) {
        now_us += base_rng_below(&rng, 4) == 0 ? base_rng_below(&rng, 400000) : 0;
        twin_level += now_us - twin_us;
        twin_us = now_us;
        if (twin_level > 20 * 100000) twin_level = 20 * 100000;
        bool is_expected = twin_level >= 100000;
        assert_int_equal(net_budget_has(&budget, ten, now_us), is_expected);
        assert_int_equal(net_budget_take(&budget, ten, now_us), is_expected);
        if (is_expected) twin_level -= 100000;
    }
}

CASE(an_address_is_found_again_without_its_port_and_one_home_of_ipv6_is_one) {
    static const char* const homes[][3] = {
        {"192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1"},
        {"[2001:db8:0:1::1]:1", "[2001:db8:0:1:ffff::9]:2", "[2001:db8:0:2::1]:1"}};
    for (size_t i = 0; i < BASE_COUNT(homes); i++) {
        static net_address_table table;
        net_address a = address_of(homes[i][0]), b = address_of(homes[i][1]);
        net_address other = address_of(homes[i][2]);
        net_address_entry* entry = net_address_table_get(&table, &a, 10);
        assert_ptr_equal(net_address_table_get(&table, &b, 20), entry);
        assert_ptr_not_equal(net_address_table_get(&table, &other, 20), entry);
        assert_int_equal(entry->seen_us, 20);
    }
}

// Between two visits of a friend come 500 other addresses, so nearly always its set has room for
// it.
CASE(a_flood_of_addresses_pushes_out_the_silent_ones_only) {
    static net_address_table table;
    enum { FRIENDS = 50, ROUNDS = 400, OTHERS = 500 };
    memcpy(table.key, "0123456789abcdef", 16);
    uint64_t now_us = 1;
    uint32_t kept = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t f = 0; f < FRIENDS; f++) {
            net_address friend = numbered(f);
            net_address_entry* entry = net_address_table_get(&table, &friend, now_us++);
            kept += entry->requests.full_us != 0;
            entry->requests.full_us = 1;
        }
        for (uint32_t i = 0; i < OTHERS; i++) {
            net_address other = numbered(0x10000 + round * OTHERS + i);
            (void)net_address_table_get(&table, &other, now_us++);
        }
    }
    printf("kept %u of %d\n", kept, FRIENDS * (ROUNDS - 1));
    assert_true(kept >= FRIENDS * (ROUNDS - 1) * 99 / 100);
}

CASE(another_secret_gives_other_sets) {
    static net_address_table a, b;
    uint32_t same = 0;
    memcpy(b.key, "another secret..", 16);
    for (uint32_t i = 0; i < 1000; i++) {
        net_address host = numbered(i);
        size_t in_a = (size_t)(net_address_table_get(&a, &host, i) - a.entries[0]);
        size_t in_b = (size_t)(net_address_table_get(&b, &host, i) - b.entries[0]);
        same += in_a / NET_ADDRESS_WAYS == in_b / NET_ADDRESS_WAYS;
    }
    assert_true(same < 20);
}
