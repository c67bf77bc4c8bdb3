// SPDX-License-Identifier: MIT
#include "secure/cookie.h"
#include "secure_world.h"

typedef struct given {
    net_address from;
    uint8_t tag[16], client[16], server[24];
} given;

static net_cookie_facts facts_of(const given* of, uint64_t time_us) {
    return (net_cookie_facts){&of->from, of->tag, of->client, of->server, time_us};
}

static given some(void) {
    given made = {.from = address_of("192.0.2.1:7")};
    memset(made.tag, 1, sizeof made.tag);
    memset(made.client, 2, sizeof made.client);
    memset(made.server, 3, sizeof made.server);
    return made;
}

CASE(a_cookie_counts_for_its_facts_only) {
    chance from;
    net_cookie_keys keys;
    uint8_t cookie[NET_OUTER_COOKIE_BYTES];
    chance_init(&from, 1);
    net_cookie_keys_init(&keys, &from.entropy, 1000);
    const given right = some();
    net_cookie_facts facts = facts_of(&right, 2000);
    net_cookie_make(&keys, &facts, cookie);
    assert_true(net_cookie_check(&keys, &facts, 2000, cookie));
    for (uint32_t bit = 0; bit < 8 * sizeof(given); bit++) {
        given wrong = right;
        size_t at = bit / 8;
        ((uint8_t*)&wrong)[at] ^= (uint8_t)(1u << bit % 8);
        if (memcmp(&wrong.from.ip, &right.from.ip, 16) == 0 && wrong.from.port == right.from.port &&
            wrong.from.scope == right.from.scope && at < offsetof(given, tag))
            continue; // padding of the struct
        net_cookie_facts changed = facts_of(&wrong, 2000);
        assert_false(net_cookie_check(&keys, &changed, 2000, cookie));
    }
    net_cookie_facts later = facts_of(&right, 2001);
    assert_false(net_cookie_check(&keys, &later, 2001, cookie));
    for (uint32_t bit = 0; bit < 8 * sizeof cookie; bit++) {
        cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(net_cookie_check(&keys, &facts, 2000, cookie));
        cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

CASE(a_cookie_lives_for_ten_seconds_across_a_change_of_the_secret) {
    chance from;
    net_cookie_keys keys;
    uint8_t cookie[NET_OUTER_COOKIE_BYTES];
    chance_init(&from, 1);
    net_cookie_keys_init(&keys, &from.entropy, 0);
    const given right = some();
    for (uint64_t made_us = 0; made_us < 3 * NET_COOKIE_ROTATE_US; made_us += 1234567) {
        net_cookie_keys_service(&keys, &from.entropy, made_us);
        net_cookie_facts facts = facts_of(&right, made_us);
        net_cookie_make(&keys, &facts, cookie);
        net_cookie_keys aged = keys;
        uint64_t ages[] = {0, 5000000, NET_COOKIE_AGE_US_MAX, NET_COOKIE_AGE_US_MAX + 1};
        for (size_t i = 0; i < BASE_COUNT(ages); i++) {
            net_cookie_keys_service(&aged, &from.entropy, made_us + ages[i]);
            assert_int_equal(net_cookie_check(&aged, &facts, made_us + ages[i], cookie),
                             ages[i] <= NET_COOKIE_AGE_US_MAX);
        }
    }
}

CASE(a_cookie_of_the_future_or_of_another_process_is_forged) {
    chance from;
    net_cookie_keys keys, others;
    uint8_t cookie[NET_OUTER_COOKIE_BYTES];
    chance_init(&from, 1);
    net_cookie_keys_init(&keys, &from.entropy, 0);
    net_cookie_keys_init(&others, &from.entropy, 0);
    const given right = some();
    net_cookie_facts facts = facts_of(&right, 500);
    net_cookie_make(&keys, &facts, cookie);
    assert_true(net_cookie_check(&keys, &facts, 500, cookie));
    assert_false(net_cookie_check(&keys, &facts, 499, cookie));
    assert_false(net_cookie_check(&others, &facts, 500, cookie));
}
