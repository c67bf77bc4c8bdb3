// SPDX-License-Identifier: MIT
// The client's end: when it asks, whom it believes, and what it says when it fails.
#include "secure_world.h"

// Serve a client for a time with a wire that loses everything. @return datagrams sent; their times
// after the begin in ms.
static uint32_t serve_in_the_dark(secure_world* at, uint64_t us, uint32_t times_ms[32],
                                  net_address to[32]) {
    uint64_t begin_us = at->clock.now_us;
    uint32_t count = 0;
    for (; at->clock.now_us - begin_us < us; at->clock.now_us += 1000) {
        uint8_t out[NET_OUTER_HELLO_BYTES];
        if (net_secure_client_service(&at->client, &at->clock, out, &to[count]) == 0) continue;
        times_ms[count++] = (uint32_t)((at->clock.now_us - begin_us) / 1000);
        assert_in_range(count, 1, 31);
    }
    return count;
}

WORLD_CASE(it_asks_again_with_growing_waits_and_gives_up) {
    static const uint32_t expected_ms[] = {0,    250,  550,  900,  1300, 1750,
                                           2250, 2800, 3400, 4050, 4750};
    uint32_t times_ms[32];
    net_address to[32];
    begin_client(at, &at->client);
    uint32_t count = serve_in_the_dark(at, NET_SECURE_ANSWER_US_MAX + 2000, times_ms, to);
    assert_int_equal(count, BASE_COUNT(expected_ms));
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(times_ms[i], expected_ms[i]);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_ENDED);
    assert_int_equal(at->client.end, NET_SECURE_END_SILENT);
}

WORLD_CASE(it_asks_the_addresses_of_a_name_each_250_ms) {
    static const uint32_t expected_ms[] = {0, 250, 500, 750, 1050, 1400, 1800, 2250, 2750};
    uint32_t times_ms[32];
    net_address to[32], addresses[] = {address_of("[2001:db8::1]:7"), address_of("192.0.2.1:7"),
                                       address_of("192.0.2.2:7")};
    net_secure_client_begin(&at->client, &at->clock, addresses, BASE_COUNT(addresses));
    uint32_t count = serve_in_the_dark(at, 3000000, times_ms, to);
    assert_int_equal(count, BASE_COUNT(expected_ms));
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(times_ms[i], expected_ms[i]);
        assert_true(net_address_equal(&to[i], &addresses[i % BASE_COUNT(addresses)]));
    }
}

// One that comes back shows its resume token to all, then its token.
CASE(all_addresses_are_asked_with_all_tokens_before_it_gives_up) {
    secure_world at;
    uint32_t times_ms[32];
    net_address to[32], addresses[NET_SECURE_ADDRESSES_MAX];
    for (uint16_t i = 0; i < NET_SECURE_ADDRESSES_MAX; i++)
        addresses[i] = (net_address){.ip = {0x20, 1, 0x0D, 0xB8}, .port = (uint16_t)(i + 1)};
    world_init(&at);
    connect_world(&at);
    net_secure_client_begin(&at.client, &at.clock, addresses, BASE_COUNT(addresses));
    uint32_t count = serve_in_the_dark(&at, NET_SECURE_ANSWER_US_MAX, times_ms, to);
    assert_in_range(count, 2 * NET_SECURE_ADDRESSES_MAX, 31);
    for (uint32_t i = 0; i < count; i++)
        assert_true(net_address_equal(&to[i], &addresses[i % NET_SECURE_ADDRESSES_MAX]));
    assert_int_equal(times_ms[NET_SECURE_ADDRESSES_MAX - 1], 1750);
    assert_int_equal(times_ms[2 * NET_SECURE_ADDRESSES_MAX - 1], 3750);
    world_deinit(&at);
}

WORLD_CASE(an_answer_to_an_older_request_counts) {
    uint8_t first[NET_OUTER_HELLO_BYTES], second[NET_OUTER_HELLO_BYTES];
    begin_client(at, &at->client);
    (void)next_hello(at, &at->client, first);
    (void)to_server(at, &at->client_address, first, sizeof first);
    pass_us(at, 400000);
    assert_int_equal(next_hello(at, &at->client, second), NET_OUTER_HELLO_BYTES);
    assert_int_equal(take_reply(at), NET_OUTER_HELLO_BYTES);
    carry(at, &at->client, &at->client_address, at->answer.reply, at->answer.reply_size);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
}

// The server ends, and another one takes its place.
static void come_to_another(secure_world* at, const net_security* security) {
    net_security with = *security;
    with.entropy = &at->from.entropy;
    net_secure_server_destroy(at->server);
    net_secure_server_config config = {
        .sessions_max = 4, .security = with, .now_us = at->clock.now_us};
    assert_ok(net_secure_server_create(&config, &at->server));
    begin_client(at, &at->client);
    for (int i = 0; i < 5 && at->client.state != NET_SECURE_CLIENT_OPEN; i++) {
        serve_client(at, &at->client, &at->client_address);
        pass_us(at, 300000);
    }
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
}

WORLD_CASE(it_comes_back_with_its_resume_token_or_with_its_token) {
    connect_world(at);
    connect_client(at, &at->client, &at->client_address);
    assert_int_equal(at->client.shown->head.key_id, NET_KEY_ID_RESUME);
    assert_int_equal(count_of(at, NET_SECURE_RESUMED), 1);
    // A server with another first key does not open it, and the token counts still.
    const net_key_ring ring = {.keys = {{9, "another key"}, at->ring.keys[0]}, .count = 2};
    come_to_another(at, &(net_security){.keys = &ring});
    assert_int_equal(at->client.shown->head.key_id, KEY_ID);
    assert_int_equal(count_of(at, NET_SECURE_TOKEN_FORGED), 1);
}

// Another process has the keys of the one before, and nothing else.
CASE(its_resume_token_opens_at_the_next_process_with_the_key) {
    const net_address here = address_of("198.51.100.1:7777"), there = address_of("198.51.100.2:7");
    const struct {
        net_security before, after;
        bool is_opened;
    } cases[] = {
        {{0}, {0}, false},
        {{.identity = 5}, {.identity = 5}, true},
        {{.identity = 5}, {.identity = 6}, false},
        {{.identity = 5}, {.identity = 0}, false},
        {{.addresses = &here, .address_count = 1}, {.addresses = &here, .address_count = 1}, false},
        {{.identity = 5, .addresses = &here, .address_count = 1},
         {.identity = 5, .addresses = &there, .address_count = 1},
         true},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        secure_world at;
        world_begin(&at, cases[i].before, true, 4);
        connect_world(&at);
        net_security after = cases[i].after;
        after.keys = &at.ring;
        come_to_another(&at, &after);
        assert_int_equal(count_of(&at, NET_SECURE_RESUMED), cases[i].is_opened);
        assert_int_equal(count_of(&at, NET_SECURE_TOKEN_FORGED), !cases[i].is_opened);
        world_deinit(&at);
    }
    // Without keys each process has chance of its own.
    secure_world at;
    world_begin(&at, (net_security){.allow_dev_key = true}, false, 4);
    connect_world(&at);
    come_to_another(&at, &(net_security){.allow_dev_key = true});
    assert_int_equal(count_of(&at, NET_SECURE_RESUMED), 0);
    assert_int_equal(count_of(&at, NET_SECURE_TOKEN_FORGED), 1);
    world_deinit(&at);
}

// It measures durations; what day it is, the server knows.
CASE(a_wall_clock_that_is_wrong_keeps_no_client_out) {
    static const int64_t hours[] = {-24 * 400, -24 * 8, -30, 0, 30, 24 * 8, 24 * 400};
    for (uint32_t has_keys = 0; has_keys < 2; has_keys++)
        for (uint32_t i = 0; i < BASE_COUNT(hours); i++) {
            secure_world at;
            world_begin(&at, (net_security){.allow_dev_key = true}, has_keys, 4);
            at.client_ahead_s = (uint64_t)(hours[i] * 3600);
            connect_world(&at);
            at.clock.unix_s += 3600; // a token of the back end has expired
            connect_client(&at, &at.client, &at.client_address);
            assert_int_equal(at.client.shown->head.key_id, NET_KEY_ID_RESUME);
            world_deinit(&at);
        }
}

// Only a server says that a token has expired.
WORLD_CASE(silence_is_no_expired_token) {
    uint32_t times_ms[32];
    net_address to[32];
    at->clock.unix_s += 51;
    begin_client(at, &at->client);
    (void)serve_in_the_dark(at, NET_SECURE_ANSWER_US_MAX + 2000, times_ms, to);
    assert_int_equal(at->client.end, NET_SECURE_END_SILENT);
}

// What an older client learns: it cannot read our answers, and this one never changes.
WORLD_CASE(another_version_is_named_when_nothing_else_answers) {
    uint8_t out[NET_OUTER_HELLO_BYTES];
    begin_client(at, &at->client);
    (void)next_hello(at, &at->client, out);
    out[1] = NET_SECURE_VERSION + 1; // as if the server were of another version
    assert_int_equal(to_server(at, &at->client_address, out, sizeof out), NET_OUTER_NOTICE_BYTES);
    assert_int_equal(at->received.reply[0], NET_OUTER_DENY);
    assert_int_equal(at->received.reply[1], NET_SECURE_VERSION);
    assert_int_equal(at->received.reply[4], NET_SECURE_END_VERSION);
    assert_memory_equal(at->received.reply + 5, out + 2, NET_OUTER_RANDOM_BYTES);
    // A notice of our own version is no reason to stop.
    (void)take_reply(at);
    assert_int_equal(net_secure_client_take_notice(&at->client), NET_SECURE_END_NONE);
    at->received.reply[1] = NET_SECURE_VERSION + 1;
    (void)take_reply(at);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_ASKING);
    uint32_t times_ms[32];
    net_address to[32];
    (void)serve_in_the_dark(at, NET_SECURE_ANSWER_US_MAX + 2000, times_ms, to);
    assert_int_equal(at->client.end, NET_SECURE_END_VERSION);
    // And a notice does not keep a client from a server that answers after all.
    begin_client(at, &at->client);
    (void)next_hello(at, &at->client, out);
    memcpy(at->received.reply + 5, out + 2, NET_OUTER_RANDOM_BYTES);
    (void)to_client(at, &at->client, at->received.reply, NET_OUTER_NOTICE_BYTES);
    carry(at, &at->client, &at->client_address, out, sizeof out);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
}

WORLD_CASE(it_believes_no_forged_answer) {
    uint8_t out[NET_OUTER_HELLO_BYTES], deny[NET_OUTER_DENY_BYTES];
    begin_client(at, &at->client);
    (void)next_hello(at, &at->client, out);
    size_t size =
        net_outer_deny_write(NET_SECURE_END_BANNED, at->client.random, at->token.client_key,
                             deny); // the wrong one of the two
    (void)to_client(at, &at->client, deny, size);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_ASKING);
    (void)to_server(at, &at->client_address, out, sizeof out);
    for (size_t i = 0; i < NET_OUTER_CHALLENGE_BYTES; i++) {
        at->received.reply[i] ^= 4;
        (void)take_reply(at);
        assert_int_equal(at->client.state, NET_SECURE_CLIENT_ASKING);
        assert_int_equal(at->answer.reply_size, 0);
        at->received.reply[i] ^= 4;
    }
    (void)take_reply(at);
    (void)take_answer(at);
    for (size_t i = 0; i < NET_OUTER_ACCEPT_BYTES; i++) {
        at->received.reply[i] ^= 4;
        (void)take_reply(at);
        assert_int_equal(at->client.state, NET_SECURE_CLIENT_PROVING);
        at->received.reply[i] ^= 4;
    }
    (void)take_reply(at);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
}

static size_t seal_from_server(secure_world* at, uint8_t out[DATAGRAM_BYTES_MAX]) {
    net_address to;
    return net_secure_server_send(at->server, at->clock.now_us, at->peer, "state", 5, out, &to);
}

WORLD_CASE(no_number_of_forgeries_ends_its_session) {
    enum { FORGERIES = (1 << 20) + 2 };
    uint8_t forged[DATAGRAM_BYTES_MAX], out[DATAGRAM_BYTES_MAX];
    connect_world(at);
    size_t size = seal_from_server(at, forged);
    forged[size - 1] ^= 1;
    for (uint32_t i = 0; i < FORGERIES; i++)
        (void)to_client(at, &at->client, forged, size);
    assert_int_equal(at->client.stats.counts[NET_SECURE_DATA_FORGED], FORGERIES);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
    (void)to_client(at, &at->client, out, seal_from_server(at, out));
    assert_int_equal(at->answer.inner_size, 5);
    // At the bound of the AEAD the session is lost, not closed: the client comes back.
    at->client.receiver.key.forged = NET_CRYPT_FORGED_MAX - 1;
    (void)to_client(at, &at->client, forged, size);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
    (void)to_client(at, &at->client, out, seal_from_server(at, out));
    assert_int_equal(at->answer.inner_size, 0);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_ENDED);
    assert_int_equal(at->client.end, NET_SECURE_END_NONE);
    assert_int_equal(at->client.stats.counts[NET_SECURE_FORGERY_LIMIT], 1);
    connect_world(at);
    assert_int_equal(count_of(at, NET_SECURE_RESUMED), 1);
}

WORLD_CASE(it_drops_what_is_not_from_its_server) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    net_address right;
    const net_address wrong[] = {address_of("198.51.100.1:7778"), address_of("198.51.100.2:7777"),
                                 address_of("[2001:db8::1]:7777")};
    right = at->server_address;
    begin_client(at, &at->client);
    (void)next_hello(at, &at->client, out);
    (void)to_server(at, &at->client_address, out, NET_OUTER_HELLO_BYTES);
    for (size_t i = 0; i < BASE_COUNT(wrong); i++) {
        at->server_address = wrong[i];
        (void)take_reply(at);
        assert_int_equal(at->client.state, NET_SECURE_CLIENT_ASKING);
    }
    at->server_address = right;
    (void)take_reply(at);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_PROVING);
    (void)take_answer(at);
    for (size_t i = 0; i < BASE_COUNT(wrong); i++) {
        at->server_address = wrong[i];
        (void)take_reply(at);
        assert_int_equal(at->client.state, NET_SECURE_CLIENT_PROVING);
    }
    at->server_address = right;
    (void)take_reply(at);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
    (void)say(at, &at->client_address, "hello", 5);
    size_t size = seal_from_server(at, out);
    for (size_t i = 0; i < BASE_COUNT(wrong); i++) {
        at->server_address = wrong[i];
        (void)to_client(at, &at->client, out, size);
        assert_int_equal(at->answer.inner_size, 0);
    }
    assert_int_equal(at->client.stats.counts[NET_SECURE_OTHER_ADDRESS], 3 * BASE_COUNT(wrong));
    at->server_address = right;
    (void)to_client(at, &at->client, out, size);
    assert_int_equal(at->answer.inner_size, 5);
}

// "0.0.0.0" and "[::]" reach this machine, which answers from another address.
WORLD_CASE(it_takes_the_answer_of_a_wildcard) {
    net_address asked = address_of("0.0.0.0:7777");
    at->server_address = address_of("127.0.0.1:7777");
    at->clock.now_us++;
    net_secure_client_begin(&at->client, &at->clock, &asked, 1);
    serve_client(at, &at->client, &at->client_address);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
}

WORLD_CASE(an_idle_client_takes_and_sends_nothing) {
    uint8_t out[DATAGRAM_BYTES_MAX] = {NET_OUTER_DATA};
    net_address to;
    assert_int_equal(net_secure_client_service(&at->client, &at->clock, out, &to), 0);
    assert_int_equal(net_secure_client_send(&at->client, 1, "x", 1, out, &to), 0);
    for (uint32_t type = 0; type < 256; type++) {
        memset(out, 0, sizeof out);
        out[0] = (uint8_t)type;
        assert_int_equal(to_client(at, &at->client, out, NET_OUTER_ACCEPT_BYTES), 0);
    }
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_IDLE);
}

CASE_WITH(secure_world, at, world_begin(at, (net_security){.allow_dev_key = true}, false, 4),
          world_deinit(at), without_a_token_it_has_one_token_for_all_its_sessions) {
    for (int i = 0; i < 3; i++) {
        at->client.resume.is_there = false;
        connect_client(at, &at->client, &at->client_address);
        assert_int_equal(net_secure_server_count(at->server), 1);
    }
    assert_int_equal(count_of(at, NET_SECURE_REPLACED), 2);
}
