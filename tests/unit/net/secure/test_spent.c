// SPDX-License-Identifier: MIT
// The memory of cookies that count no more: as long as they would count, up to its limit.
#include "secure/cookie.h"
#include "secure_world.h"

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
