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

// ---- the memory of cookies that count no more: as long as they would count, up to its limit

typedef struct memory {
    chance from;
    net_spent spent;
} memory;

static memory* memory_create(void) {
    memory* made = calloc(1, sizeof *made);
    assert_non_null(made);
    chance_init(&made->from, 1);
    net_spent_init(&made->spent, &made->from.entropy);
    return made;
}

#define MEMORY_CASE(name) CASE_MADE(memory, at, memory_create(), free(at), name)

static void name_of(uint32_t number, uint8_t name[NET_SPENT_NAME_BYTES]) {
    memset(name, 0x5A, NET_SPENT_NAME_BYTES);
    memcpy(name, &number, sizeof number);
}

static bool add(memory* at, uint64_t now_us, uint32_t number, uint64_t time_us) {
    uint8_t name[NET_SPENT_NAME_BYTES];
    name_of(number, name);
    return net_spent_add(&at->spent, now_us, name, time_us);
}

static bool has(const memory* at, uint32_t number, uint64_t time_us) {
    uint8_t name[NET_SPENT_NAME_BYTES];
    name_of(number, name);
    return net_spent_has(&at->spent, name, time_us);
}

MEMORY_CASE(it_holds_so_many_names_and_no_more) {
    for (uint32_t i = 0; i < NET_SPENT_MAX - 1; i++)
        assert_true(add(at, i, i, i));
    assert_true(add(at, NET_SPENT_MAX, NET_SPENT_MAX - 1, NET_SPENT_MAX - 1));
    assert_false(add(at, NET_SPENT_MAX, NET_SPENT_MAX, NET_SPENT_MAX));
    assert_false(has(at, NET_SPENT_MAX, NET_SPENT_MAX));
    for (uint32_t i = 0; i < NET_SPENT_MAX; i++)
        assert_true(has(at, i, i));
    // What no cookie is old enough for needs no place.
    assert_true(add(at, NET_SPENT_MAX + NET_COOKIE_AGE_US_MAX, NET_SPENT_MAX, NET_SPENT_MAX - 1));
    assert_false(has(at, NET_SPENT_MAX, NET_SPENT_MAX - 1));
    net_spent_init(&at->spent, &at->from.entropy);
    assert_false(has(at, 0, 0));
}

MEMORY_CASE(a_place_is_free_when_no_cookie_of_its_time_counts) {
    for (uint32_t i = 0; i < NET_SPENT_MAX; i++)
        assert_true(add(at, 1000, i, i < 2 ? 900 : 1000));
    assert_false(add(at, 900 + NET_COOKIE_AGE_US_MAX, 7777777, 1000));
    assert_true(add(at, 901 + NET_COOKIE_AGE_US_MAX, 7777777, 1000));
    assert_true(add(at, 901 + NET_COOKIE_AGE_US_MAX, 7777778, 1000));
    assert_false(add(at, 901 + NET_COOKIE_AGE_US_MAX, 7777779, 1000));
    assert_true(has(at, 7777777, 1000) && has(at, 7777778, 1000) && has(at, 2, 1000));
    assert_false(has(at, 0, 900) || has(at, 1, 900));
}

// Against a list that is never full.
MEMORY_CASE(it_never_forgets_a_name_whose_cookies_count) {
    enum { NAMES = 300 };
    const uint64_t seed = 46;
    base_rng rng = base_rng_make(seed, 0);
    static uint64_t until_us[NAMES]; // 0: never added
    uint64_t now_us = NET_COOKIE_AGE_US_MAX;
    printf("seed %llu\n", (unsigned long long)seed);
    for (uint32_t i = 0; i < test_scaled(400000, 40000); i++) {
        now_us += base_rng_below(&rng, 4000);
        const uint32_t number = base_rng_below(&rng, NAMES);
        const uint64_t time_us = now_us - base_rng_below(&rng, (uint32_t)NET_COOKIE_AGE_US_MAX);
        if (base_rng_below(&rng, 4) == 0) {
            assert_true(add(at, now_us, number, time_us));
            if (until_us[number] < time_us) until_us[number] = time_us;
        } else if (has(at, number, time_us) != (until_us[number] >= time_us)) {
            fail_msg("step %u, name %u", i, number);
        }
    }
}
