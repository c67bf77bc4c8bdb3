// SPDX-License-Identifier: MIT
// The table of used tokens against a plain list.
#include "secure/token_uses.h"
#include "secure_world.h"

enum { TOKENS = 400, CAPACITY = 64 };

static const uint8_t key[16] = "a secret of mine";

static void tag_of(uint32_t number, uint8_t tag[16]) {
    memset(tag, 0, 16);
    memcpy(tag, &number, sizeof number);
}

static net_address host_of(uint32_t number) {
    net_address host = address_of("10.0.0.1:5");
    host.ip[15] = (uint8_t)number;
    host.port = (uint16_t)(number * 7);
    return host;
}

CASE(a_token_belongs_to_the_host_that_used_it_first) {
    net_token_uses* uses = NULL;
    uint8_t tag[16];
    net_address first = host_of(1), other = host_of(2), same = first;
    same.port++;
    tag_of(1, tag);
    uses = net_token_uses_create(NULL, 1, key);
    assert_int_equal(net_token_uses_find(uses, tag, &first), NET_TOKEN_USE_FIRST);
    assert_true(net_token_uses_add(uses, tag, &first, UNIX_S + 45, UNIX_S));
    assert_int_equal(net_token_uses_find(uses, tag, &first), NET_TOKEN_USE_AGAIN);
    assert_int_equal(net_token_uses_find(uses, tag, &same), NET_TOKEN_USE_AGAIN);
    assert_int_equal(net_token_uses_find(uses, tag, &other), NET_TOKEN_USE_OTHER);
    tag_of(2, tag);
    // Full, until no server would accept the first token any more.
    assert_false(net_token_uses_add(uses, tag, &first, UNIX_S + 99, UNIX_S));
    assert_false(
        net_token_uses_add(uses, tag, &first, UNIX_S + 99, UNIX_S + 45 + NET_SECURE_TOLERANCE_S));
    assert_true(net_token_uses_add(uses, tag, &first, UNIX_S + 99,
                                   UNIX_S + 45 + NET_SECURE_TOLERANCE_S + 1));
    assert_int_equal(net_token_uses_find(uses, tag, &other), NET_TOKEN_USE_OTHER);
    tag_of(1, tag);
    assert_int_equal(net_token_uses_find(uses, tag, &other), NET_TOKEN_USE_FIRST);
    base_owner_destroy(uses);
}

typedef struct listed {
    bool is_there;
    uint32_t host;
    uint64_t expiry;
} listed;

// The naive twin: drop the soonest expired when there is no room.
static bool list_add(listed* list, uint32_t token, uint32_t host, uint64_t expiry, uint64_t now) {
    uint32_t count = 0, soonest = TOKENS;
    for (uint32_t i = 0; i < TOKENS; i++) {
        if (!list[i].is_there) continue;
        count++;
        if (soonest == TOKENS || list[i].expiry < list[soonest].expiry) soonest = i;
    }
    if (count == CAPACITY) {
        if (list[soonest].expiry + NET_SECURE_TOLERANCE_S >= now) return false;
        list[soonest].is_there = false;
    }
    list[token] = (listed){true, host, expiry};
    return true;
}

CASE(the_table_equals_a_list) {
    static listed list[TOKENS];
    net_token_uses* uses = NULL;
    base_rng rng = base_rng_make(31, 0);
    uint64_t now = UNIX_S << 20;
    uint32_t refused = 0;
    printf("seed 31\n");
    uses = net_token_uses_create(NULL, CAPACITY, key);
    for (uint32_t i = 0; i < test_scaled(40000, 4000); i++) {
        uint8_t tag[16];
        uint32_t token = base_rng_below(&rng, TOKENS), host = base_rng_below(&rng, 4);
        net_address from = host_of(host);
        tag_of(token, tag);
        net_token_use expected = !list[token].is_there      ? NET_TOKEN_USE_FIRST
                                 : list[token].host == host ? NET_TOKEN_USE_AGAIN
                                                            : NET_TOKEN_USE_OTHER;
        assert_int_equal(net_token_uses_find(uses, tag, &from), expected);
        if (expected == NET_TOKEN_USE_FIRST) {
            // Distinct expiries: which of two equal ones goes first is not defined.
            uint64_t expiry = now + ((uint64_t)base_rng_below(&rng, 300) << 20) + i;
            bool is_added = net_token_uses_add(uses, tag, &from, expiry, now);
            bool is_listed = list_add(list, token, host, expiry, now);
            refused += !is_listed;
            assert_int_equal(is_added, is_listed);
        }
        now += (uint64_t)base_rng_below(&rng, 4) << 20;
    }
    assert_true(refused > 100);
    base_owner_destroy(uses);
}
