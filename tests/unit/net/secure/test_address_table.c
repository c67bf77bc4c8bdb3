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
