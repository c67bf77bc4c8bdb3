// SPDX-License-Identifier: MIT
// Attackers against the server's end: floods, forgeries, made-up addresses. security.md 2, rows 1,
// 2, 4, 5 and 6.
#include "secure_world.h"

static net_address made_up(base_rng* rng) {
    net_address from = address_of("1.0.0.0:1");
    for (int i = 12; i < 16; i++)
        from.ip[i] = (uint8_t)base_rng_u32(rng);
    if (from.ip[12] == 127) from.ip[12] = 1; // a kernel takes no such datagram from outside
    from.port = (uint16_t)(1 + base_rng_below(rng, 65535));
    return from;
}

// Row 1: no datagram without a key is answered, whatever its size and content.
WORLD_CASE(noise_gets_no_answer) {
    base_rng rng = base_rng_make(41, 0);
    uint8_t bytes[DATAGRAM_BYTES_MAX];
    printf("seed 41\n");
    uint32_t runs = test_scaled(300000, 30000);
    for (uint32_t i = 0; i < runs; i++) {
        size_t size = base_rng_below(&rng, 4) == 0 ? NET_OUTER_HELLO_BYTES
                                                   : base_rng_below(&rng, sizeof bytes);
        for (size_t k = 0; k < size && k < 80; k++)
            bytes[k] = (uint8_t)base_rng_u32(&rng);
        if (base_rng_below(&rng, 2) == 0) bytes[0] &= NET_OUTER_TYPE_MASK | NET_OUTER_PHASE;
        if (base_rng_below(&rng, 2) == 0) bytes[1] = NET_SECURE_VERSION;
        bool is_other_version = size == NET_OUTER_HELLO_BYTES && bytes[0] == NET_OUTER_REQUEST &&
                                bytes[1] != NET_SECURE_VERSION;
        net_address from = made_up(&rng);
        at->clock.now_us += 10;
        size_t answer = to_server(at, &from, bytes, size);
        if (is_other_version) assert_in_range(answer, 0, NET_OUTER_NOTICE_BYTES);
        if (!is_other_version) assert_int_equal(answer, 0);
        assert_int_equal(at->received.inner_size, 0);
    }
    assert_int_equal(net_secure_server_count(at->server), 0);
}

// Row 2: a token owner writes a victim's address on its requests.
WORLD_CASE(a_victim_gets_few_bytes_and_ten_answers_a_second) {
    uint8_t out[NET_OUTER_HELLO_BYTES];
    net_address victim = address_of("192.0.2.99:80");
    uint64_t asked = 0, got = 0, answers = 0;
    request_of(at, &at->me, out);
    const uint32_t seconds = 10;
    for (uint32_t i = 0; i < seconds * 2000; i++) {
        pass_us(at, 500);
        asked += sizeof out;
        size_t size = to_server(at, &victim, out, sizeof out);
        got += size;
        answers += size > 0;
        assert_true(size * 100 <= sizeof out * 35);
    }
    printf("%llu answers, %.5f of the bytes; one answer %.3f of its request\n",
           (unsigned long long)answers, (double)got / (double)asked,
           NET_OUTER_CHALLENGE_BYTES / (double)NET_OUTER_HELLO_BYTES);
    assert_in_range(answers, 10, 10 + 10 * seconds);
    assert_int_equal(net_secure_server_count(at->server), 0);
}

// Row 2: the answers of one blind handshake. The attacker never sees a challenge.
WORLD_CASE(a_blind_handshake_ends_with_its_first_answer) {
    uint8_t out[NET_OUTER_HELLO_BYTES];
    base_rng rng = base_rng_make(42, 0);
    net_address victim = address_of("192.0.2.99:80");
    request_of(at, &at->me, out);
    assert_int_equal(to_server(at, &victim, out, sizeof out), NET_OUTER_CHALLENGE_BYTES);
    net_outer_hello hello;
    net_outer_hello_read(out, &hello);
    for (uint32_t i = 0; i < test_scaled(100000, 10000); i++) {
        net_outer_proof guess = {.time_us = at->clock.now_us};
        for (size_t k = 0; k < sizeof guess.cookie; k++)
            guess.cookie[k] = (uint8_t)base_rng_u32(&rng);
        uint8_t response[NET_OUTER_HELLO_BYTES];
        net_outer_response_write(hello.client_random, &at->me.token, &guess, response);
        assert_int_equal(to_server(at, &victim, response, sizeof response), 0);
    }
    assert_int_equal(at->server_bytes, NET_OUTER_CHALLENGE_BYTES);
    assert_int_equal(net_secure_server_count(at->server), 0);
}

// Row 4: requests with random addresses; the budgets are those of a second, however fast they come.
WORLD_CASE(a_flood_of_requests_stays_within_its_budgets) {
    uint8_t out[NET_OUTER_HELLO_BYTES], copy[DATAGRAM_BYTES_MAX];
    base_rng rng = base_rng_make(43, 0);
    request_of(at, &at->me, out);
    enum { PER_MS = 200 };
    const uint32_t ms = 2000;
    for (uint32_t i = 0; i < ms * PER_MS; i++) {
        net_address from = made_up(&rng);
        if (i % PER_MS == 0) pass_us(at, 1000);
        memcpy(copy, out, sizeof out);
        copy[100] ^= (uint8_t)(i % 10 != 0); // one of ten has a sound token
        net_secure_server_receive(at->server, &at->clock, &from, copy, sizeof out, &at->received);
    }
    uint64_t opened = count_of(at, NET_SECURE_TOKEN_FORGED) + count_of(at, NET_SECURE_CHALLENGES);
    printf("of %u requests %llu decrypted, %llu answered\n", ms * PER_MS,
           (unsigned long long)opened, (unsigned long long)count_of(at, NET_SECURE_CHALLENGES));
    assert_in_range(opened, 1, 20000 * ms / 1000 + 2000);
    assert_in_range(count_of(at, NET_SECURE_CHALLENGES), 1, 2000 * ms / 1000 + 200);
    assert_int_equal(net_secure_server_count(at->server), 0);
}

WORLD_CASE(one_address_has_ten_requests_a_second_and_loopback_has_no_limit) {
    uint8_t out[NET_OUTER_HELLO_BYTES];
    net_address far = address_of("203.0.113.9:1"), near = address_of("127.0.0.1:1");
    request_of(at, &at->me, out);
    for (uint32_t i = 0; i < 100; i++) {
        far.port++;
        (void)to_server(at, &far, out, sizeof out);
        assert_int_equal(at->received.reply_size > 0, i < 10);
        (void)to_server(at, &near, out, sizeof out);
        assert_true(at->received.reply_size > 0);
    }
    assert_int_equal(count_of(at, NET_SECURE_ADDRESS_BUDGET), 80);
    assert_int_equal(count_of(at, NET_SECURE_REPLY_BUDGET), 10);
}

// Row 5: fuzz_outer has every kind of forgery by an attacker who saw all datagrams of a session.
WORLD_CASE(no_number_of_forgeries_ends_a_session) {
    enum { FORGERIES = (1 << 20) + 2 };
    uint8_t forged[DATAGRAM_BYTES_MAX];
    net_address anywhere = address_of("192.0.2.66:6");
    connect_world(at);
    size_t size = seal_by(at, &at->me, "", 0, forged);
    forged[size - 1] ^= 1;
    for (uint32_t i = 0; i < FORGERIES; i++) {
        (void)to_server(at, i % 2 ? &at->me.address : &anywhere, forged, size);
        if (at->received.reply_size + at->received.inner_size > 0) fail_msg("forgery %u", i);
    }
    assert_int_equal(count_of(at, NET_SECURE_DATA_FORGED), FORGERIES);
    assert_true(is_heard(at, &at->me));
    assert_int_equal(count_of(at, NET_SECURE_MOVED), 0);
}
