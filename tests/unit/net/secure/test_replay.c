// SPDX-License-Identifier: MIT
// The replay window against a set of all numbers that came.
#include "secure/crypt.h"

#include "test.h"

#include "base/rng.h"

#include <stdio.h>
#include <string.h>

// The naive twin: a bit for each of the numbers base + 1 .. base + TWIN_NUMBERS.
enum { TWIN_NUMBERS = 1 << 16 };

typedef struct twin {
    uint64_t base, newest;
    uint8_t seen[TWIN_NUMBERS + 1];
} twin;

static bool twin_is_new(const twin* at, uint64_t number) {
    if (number <= at->base) return at->newest < number;
    return number > at->newest ||
           (at->newest - number < NET_REPLAY_BITS && !at->seen[number - at->base]);
}

static void twin_add(twin* at, uint64_t number) {
    at->seen[number - at->base] = 1;
    if (number > at->newest) at->newest = number;
}

static void run_against_twin(uint64_t base, uint64_t seed) {
    static twin expected;
    memset(&expected, 0, sizeof expected);
    expected.base = base;
    net_replay window = {0};
    base_rng rng = base_rng_make(seed, 0);
    uint64_t at = base + 1;
    uint32_t accepted = 0, runs = test_scaled(200000, 20000);
    printf("seed %llu, from %llu\n", (unsigned long long)seed, (unsigned long long)base);
    for (uint32_t i = 0; i < runs && at + 5000 < base + TWIN_NUMBERS; i++) {
        uint32_t kind = base_rng_below(&rng, 100);
        uint64_t number = at;
        if (kind < 50)
            number = at;
        else if (kind < 80)
            number = at - base_rng_below(&rng, 40);
        else if (kind < 97)
            number = at - base_rng_below(&rng, NET_REPLAY_BITS + 20);
        else
            number = at + base_rng_below(&rng, kind == 99 ? 3000 : 70);
        if (number <= base || number > base + TWIN_NUMBERS) number = base + 1;
        bool is_new = twin_is_new(&expected, number);
        assert_int_equal(net_replay_is_new(&window, number), is_new);
        if (is_new && kind % 7 != 0) { // the others failed to authenticate
            net_replay_add(&window, number);
            twin_add(&expected, number);
            accepted++;
        }
        if (number >= at) at = number + (kind & 1);
    }
    assert_true(window.newest == expected.newest);
    assert_true(accepted > 1000);
}

CASE(the_window_equals_a_set_of_all_numbers) {
    for (uint64_t seed = 1; seed <= 4; seed++)
        run_against_twin(0, seed);
}

CASE(the_same_holds_at_the_edges_of_32_and_48_and_63_bits) {
    run_against_twin((UINT64_C(1) << 32) - 20000, 11);
    run_against_twin(NET_CRYPT_NUMBER_LAST - 20000, 12);
    run_against_twin((UINT64_C(1) << 63) - 20000, 13);
}

CASE(the_last_number_of_a_session_is_accepted_once) {
    net_replay window = {0};
    assert_false(net_replay_is_new(&window, 0));
    net_replay_add(&window, NET_CRYPT_NUMBER_LAST - 1);
    assert_true(net_replay_is_new(&window, NET_CRYPT_NUMBER_LAST));
    net_replay_add(&window, NET_CRYPT_NUMBER_LAST);
    assert_false(net_replay_is_new(&window, NET_CRYPT_NUMBER_LAST));
    assert_false(net_replay_is_new(&window, NET_CRYPT_NUMBER_LAST - 1));
    assert_false(net_replay_is_new(&window, 1));
}
