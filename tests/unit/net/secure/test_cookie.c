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

typedef struct baker {
    chance from;
    net_cookie_keys keys;
    uint8_t cookie[NET_OUTER_COOKIE_BYTES];
} baker;

static void baker_init(baker* made) {
    chance_init(&made->from, 1);
    net_cookie_keys_init(&made->keys, &made->from.entropy, 0);
}

#define COOKIE_CASE(name) CASE_GIVEN(baker, at, baker_init(at), (void)0, given, right, some(), name)

COOKIE_CASE(a_cookie_counts_for_its_facts_only) {
    net_cookie_facts facts = facts_of(&right, 2000);
    net_cookie_make(&at->keys, &facts, at->cookie);
    assert_true(net_cookie_check(&at->keys, &facts, 2000, at->cookie));
    for (uint32_t bit = 0; bit < 8 * sizeof(given); bit++) {
        given wrong = right;
        size_t byte = bit / 8;
        ((uint8_t*)&wrong)[byte] ^= (uint8_t)(1u << bit % 8);
        if (memcmp(&wrong.from.ip, &right.from.ip, 16) == 0 && wrong.from.port == right.from.port &&
            wrong.from.scope == right.from.scope && byte < offsetof(given, tag))
            continue; // padding of the struct
        net_cookie_facts changed = facts_of(&wrong, 2000);
        assert_false(net_cookie_check(&at->keys, &changed, 2000, at->cookie));
    }
    net_cookie_facts later = facts_of(&right, 2001);
    assert_false(net_cookie_check(&at->keys, &later, 2001, at->cookie));
    for (uint32_t bit = 0; bit < 8 * sizeof at->cookie; bit++) {
        at->cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(net_cookie_check(&at->keys, &facts, 2000, at->cookie));
        at->cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

COOKIE_CASE(a_cookie_lives_for_ten_seconds_across_a_change_of_the_secret) {
    for (uint64_t made_us = 0; made_us < 3 * NET_COOKIE_ROTATE_US; made_us += 1234567) {
        net_cookie_keys_service(&at->keys, &at->from.entropy, made_us);
        net_cookie_facts facts = facts_of(&right, made_us);
        net_cookie_make(&at->keys, &facts, at->cookie);
        net_cookie_keys aged = at->keys;
        uint64_t ages[] = {0, 5000000, NET_COOKIE_AGE_US_MAX, NET_COOKIE_AGE_US_MAX + 1};
        for (size_t i = 0; i < BASE_COUNT(ages); i++) {
            net_cookie_keys_service(&aged, &at->from.entropy, made_us + ages[i]);
            assert_int_equal(net_cookie_check(&aged, &facts, made_us + ages[i], at->cookie),
                             ages[i] <= NET_COOKIE_AGE_US_MAX);
        }
    }
}

COOKIE_CASE(a_cookie_of_the_future_or_of_another_process_is_forged) {
    net_cookie_keys others;
    net_cookie_keys_init(&others, &at->from.entropy, 0);
    net_cookie_facts facts = facts_of(&right, 500);
    net_cookie_make(&at->keys, &facts, at->cookie);
    assert_true(net_cookie_check(&at->keys, &facts, 500, at->cookie));
    assert_false(net_cookie_check(&at->keys, &facts, 499, at->cookie));
    assert_false(net_cookie_check(&others, &facts, 500, at->cookie));
}
