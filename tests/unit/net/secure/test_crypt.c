// SPDX-License-Identifier: MIT
// One direction of a session: numbers, new keys over time, what is not accepted, and the replay
// window against a set of all numbers that came.
#include "secure_world.h"

typedef struct line {
    net_crypt_sender sender;
    net_crypt_receiver receiver;
    uint64_t now_us;
} line;

static void line_init(line* made) {
    uint8_t key[NET_KEY_BYTES] = {1, 2, 3};
    made->now_us = 1000000;
    net_crypt_sender_init(&made->sender, key, made->now_us);
    net_crypt_receiver_init(&made->receiver, key);
}

static size_t seal(line* at, const char* text, uint8_t out[DATAGRAM_BYTES_MAX]) {
    net_crypt_plain plain = {
        .type = NET_OUTER_DATA, .session = 0xABCDE001, .bytes = text, .size = strlen(text)};
    return net_crypt_seal(&at->sender, at->now_us, &plain, out);
}

static net_crypt_result open_copy(line* at, const uint8_t* bytes, size_t size, const char* text) {
    uint8_t copy[DATAGRAM_BYTES_MAX], *inner = NULL;
    size_t inner_size = 0;
    bool is_newest = false;
    memcpy(copy, bytes, size);
    net_crypt_result result =
        net_crypt_open(&at->receiver, at->now_us, copy, size, 0, &inner, &inner_size, &is_newest);
    if (result != NET_CRYPT_OK) return result;
    assert_int_equal(inner_size, strlen(text));
    assert_memory_equal(inner, text, inner_size);
    return result;
}

// A datagram of this text that arrives.
static net_crypt_result pass(line* at, const char* text) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    return open_copy(at, out, seal(at, text, out), text);
}

#define LINE_CASE(name) CASE_WITH(line, at, line_init(at), (void)0, name)

// Each type has a head of its own, and packets do not have the whole number.
LINE_CASE(a_datagram_is_opened_whole_and_once) {
    static const struct {
        net_outer_type type;
        size_t overhead;
        uint32_t session; // of which the server knows so much
    } types[] = {{NET_OUTER_DATA, NET_SECURE_OVERHEAD_BYTES, 0xABCDE001},
                 {NET_OUTER_INPUT, NET_OUTER_INPUT_BYTES + NET_OUTER_TAG_BYTES, 0xE001},
                 {NET_OUTER_STATE, NET_OUTER_STATE_BYTES + NET_OUTER_TAG_BYTES, 0}};
    // Before and after the low bits wrap around, with others lost in between.
    const uint64_t numbers[] = {1, 2, 30000, 62000, 65535, 65536, 65537, 98303, 131000};
    for (uint32_t k = 0; k < BASE_COUNT(types) * BASE_COUNT(numbers); k++) {
        const uint32_t t = k / BASE_COUNT(numbers), i = k % BASE_COUNT(numbers);
        uint8_t out[DATAGRAM_BYTES_MAX];
        if (i == 0) line_init(at);
        const net_crypt_plain plain = {
            .type = types[t].type, .session = 0xABCDE001, .bytes = "run", .size = 3};
        at->sender.number = numbers[i] - 1;
        const size_t size = net_crypt_seal(&at->sender, at->now_us, &plain, out);
        const uint64_t newest = at->receiver.replay.newest;
        assert_int_equal(size, 3 + types[t].overhead);
        if (types[t].session) assert_int_equal(net_crypt_session(out), types[t].session);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            out[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (net_crypt_head_bytes(out[0]) + NET_OUTER_TAG_BYTES <= size)
                assert_int_not_equal(open_copy(at, out, size, ""), NET_CRYPT_OK);
            out[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (size_t cut = types[t].overhead; cut < size; cut++)
            assert_int_equal(open_copy(at, out, cut, ""), NET_CRYPT_FORGED);
        assert_int_equal(at->receiver.replay.newest, newest); // a forgery moves no window
        assert_int_equal(open_copy(at, out, size, "run"), NET_CRYPT_OK);
        assert_int_equal(at->receiver.replay.newest, numbers[i]);
        assert_int_equal(open_copy(at, out, size, ""), NET_CRYPT_REPLAYED);
    }
    assert_int_equal(pass(at, ""), NET_CRYPT_OK);
}

LINE_CASE(the_key_changes_by_time_and_overtaken_datagrams_still_count) {
    uint8_t overtaken[DATAGRAM_BYTES_MAX], late[DATAGRAM_BYTES_MAX], out[DATAGRAM_BYTES_MAX];
    uint8_t first_key[NET_KEY_BYTES];
    memcpy(first_key, at->sender.key, sizeof first_key);
    at->now_us += NET_CRYPT_REKEY_US - 1;
    size_t overtaken_size = seal(at, "a", overtaken), late_size = seal(at, "b", late);
    assert_false(at->sender.phase);
    at->now_us++;
    size_t size = seal(at, "c", out);
    assert_true(at->sender.phase);
    assert_true(out[0] & NET_OUTER_PHASE);
    assert_memory_not_equal(at->sender.key, first_key, sizeof first_key);
    assert_int_equal(open_copy(at, out, size, "c"), NET_CRYPT_OK);
    at->now_us += NET_CRYPT_OLD_KEY_US - 1;
    assert_int_equal(open_copy(at, overtaken, overtaken_size, "a"), NET_CRYPT_OK);
    at->now_us++;
    assert_int_equal(open_copy(at, late, late_size, "b"), NET_CRYPT_FORGED);
    static const uint8_t nothing[NET_KEY_BYTES];
    assert_memory_equal(at->receiver.old.bytes, nothing, sizeof nothing); // and is overwritten
    assert_int_equal(pass(at, "d"), NET_CRYPT_OK);
}

LINE_CASE(the_key_changes_by_number_but_not_twice_in_ten_seconds) {
    static const struct {
        uint64_t wait_us, datagrams;
        bool phase;
    } steps[] = {{0, NET_CRYPT_REKEY_DATAGRAMS - 1, false}, // the session is too young
                 {0, 0, false},
                 {2 * NET_CRYPT_OLD_KEY_US, 0, true},
                 {0, NET_CRYPT_REKEY_DATAGRAMS, true},
                 {2 * NET_CRYPT_OLD_KEY_US, 0, false}};
    for (size_t i = 0; i < BASE_COUNT(steps); i++) {
        at->now_us += steps[i].wait_us;
        at->sender.number += steps[i].datagrams;
        assert_int_equal(pass(at, "a"), NET_CRYPT_OK);
        assert_int_equal(at->sender.phase, steps[i].phase);
    }
}

LINE_CASE(many_changes_of_the_key_lose_nothing) {
    uint8_t held[DATAGRAM_BYTES_MAX], out[DATAGRAM_BYTES_MAX];
    base_rng rng = base_rng_make(8, 0);
    for (uint32_t i = 0; i < 2000; i++) {
        size_t held_size = seal(at, "held", held); // it is overtaken by the next one
        at->now_us += base_rng_below(&rng, 4000000);
        if (base_rng_below(&rng, 10) == 0) at->now_us += NET_CRYPT_REKEY_US;
        size_t size = seal(at, "next", out);
        assert_int_equal(open_copy(at, out, size, "next"), NET_CRYPT_OK);
        at->now_us += base_rng_below(&rng, (uint32_t)NET_CRYPT_OLD_KEY_US);
        assert_int_equal(open_copy(at, held, held_size, "held"), NET_CRYPT_OK);
    }
}

LINE_CASE(a_key_opens_nothing_after_2_to_36_forgeries) {
    uint8_t forged[DATAGRAM_BYTES_MAX], out[DATAGRAM_BYTES_MAX];
    assert_true(NET_CRYPT_FORGED_MAX == UINT64_C(1) << 36);
    at->receiver.key.forged = NET_CRYPT_FORGED_MAX - 2;
    size_t forged_size = seal(at, "forged", forged);
    forged[forged_size - 1] ^= 1;
    assert_int_equal(open_copy(at, forged, forged_size, ""), NET_CRYPT_FORGED);
    assert_int_equal(pass(at, "at max - 1"), NET_CRYPT_OK);
    assert_int_equal(open_copy(at, forged, forged_size, ""), NET_CRYPT_FORGED);
    size_t size = seal(at, "at max", out);
    assert_int_equal(open_copy(at, out, size, ""), NET_CRYPT_WORN);
    assert_int_equal(open_copy(at, forged, forged_size, ""), NET_CRYPT_WORN);
    assert_true(at->receiver.key.forged == NET_CRYPT_FORGED_MAX);
}

LINE_CASE(forgeries_count_for_the_key_that_they_met) {
    uint8_t forged[DATAGRAM_BYTES_MAX], late[DATAGRAM_BYTES_MAX];
    size_t forged_size = seal(at, "forged", forged), late_size = seal(at, "late", late);
    forged[forged_size - 1] ^= 1;
    at->receiver.key.forged = NET_CRYPT_FORGED_MAX;
    forged[0] ^= NET_OUTER_PHASE;
    assert_int_equal(open_copy(at, forged, forged_size, ""), NET_CRYPT_FORGED); // the next key
    at->now_us += NET_CRYPT_REKEY_US;
    assert_int_equal(pass(at, "new key"), NET_CRYPT_OK);
    assert_true(at->receiver.key.forged == 1 && at->receiver.next.forged == 0);
    assert_int_equal(open_copy(at, late, late_size, ""), NET_CRYPT_WORN); // the old key stays worn
    assert_int_equal(open_copy(at, forged, forged_size, ""), NET_CRYPT_FORGED);
    assert_true(at->receiver.key.forged == 2);
}

LINE_CASE(the_last_number_is_used_and_then_nothing_is_sealed) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    at->sender.number = NET_CRYPT_NUMBER_LAST - 1;
    at->sender.rekeyed_number = at->sender.number;
    assert_int_equal(pass(at, "last"), NET_CRYPT_OK);
    assert_int_equal(seal(at, "one more", out), 0);
}

CASE(directions_and_chances_give_different_keys) {
    uint8_t token[NET_KEY_BYTES] = {1}, server[24] = {2}, client[16] = {3}, session[16] = {4};
    uint8_t keys[5][NET_KEY_BYTES];
    net_crypt_derive(token, NET_CRYPT_TO_SERVER, server, client, session, keys[0]);
    net_crypt_derive(token, NET_CRYPT_TO_CLIENT, server, client, session, keys[1]);
    server[23] ^= 1;
    net_crypt_derive(token, NET_CRYPT_TO_SERVER, server, client, session, keys[2]);
    client[0] ^= 1;
    net_crypt_derive(token, NET_CRYPT_TO_SERVER, server, client, session, keys[3]);
    session[15] ^= 1;
    net_crypt_derive(token, NET_CRYPT_TO_SERVER, server, client, session, keys[4]);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < i; k++)
            assert_memory_not_equal(keys[i], keys[k], NET_KEY_BYTES);
}

// ---- the replay window

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
