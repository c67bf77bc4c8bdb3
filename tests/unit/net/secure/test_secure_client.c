// SPDX-License-Identifier: MIT
// The client's end: when it asks, whom it believes, and what it says when it fails.
#include "secure_world.h"

// What a client sent while the wire lost everything.
typedef struct dark {
    uint32_t count, times_ms[32]; // after the begin
    net_address to[32];
} dark;

static dark serve_in_the_dark(secure_world* at, uint64_t us) {
    const uint64_t begin_us = at->clock.now_us;
    dark sent = {.count = 0};
    for (; at->clock.now_us - begin_us < us; at->clock.now_us += 1000) {
        uint8_t out[NET_OUTER_HELLO_BYTES];
        if (next_hello(at, &at->me, out) == 0) continue;
        assert_in_range(sent.count, 0, 30);
        sent.to[sent.count] = at->sent_to;
        sent.times_ms[sent.count++] = (uint32_t)((at->clock.now_us - begin_us) / 1000);
    }
    return sent;
}

WORLD_CASE(it_asks_again_with_growing_waits_and_gives_up) {
    static const uint32_t expected_ms[] = {0,    250,  550,  900,  1300, 1750,
                                           2250, 2800, 3400, 4050, 4750};
    at->clock.unix_s += 51; // only a server says that a token has expired
    begin_client(at, &at->me);
    const dark sent = serve_in_the_dark(at, NET_SECURE_ANSWER_US_MAX + 2000);
    assert_int_equal(sent.count, BASE_COUNT(expected_ms));
    assert_memory_equal(sent.times_ms, expected_ms, sizeof expected_ms);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_ENDED);
    assert_int_equal(at->me.client.end, NET_SECURE_END_SILENT);
}

// One that comes back shows its resume token to all, then its token.
WORLD_CASE(all_addresses_are_asked_with_all_tokens_before_it_gives_up) {
    net_address addresses[NET_SECURE_ADDRESSES_MAX];
    for (uint16_t i = 0; i < NET_SECURE_ADDRESSES_MAX; i++)
        addresses[i] = (net_address){.ip = {0x20, 1, 0x0D, 0xB8}, .port = (uint16_t)(i + 1)};
    connect_world(at);
    net_secure_client_begin(&at->me.client, &at->clock, addresses, BASE_COUNT(addresses));
    const dark sent = serve_in_the_dark(at, NET_SECURE_ANSWER_US_MAX);
    assert_in_range(sent.count, 2 * NET_SECURE_ADDRESSES_MAX, 31);
    for (uint32_t i = 0; i < sent.count; i++)
        assert_true(net_address_equal(&sent.to[i], &addresses[i % NET_SECURE_ADDRESSES_MAX]));
    assert_int_equal(sent.times_ms[NET_SECURE_ADDRESSES_MAX - 1], 1750);
    assert_int_equal(sent.times_ms[2 * NET_SECURE_ADDRESSES_MAX - 1], 3750);
}

// The server ends, and another one takes its place.
static void come_to_another(secure_world* at, net_security security) {
    net_secure_server_destroy(at->server);
    server_make(at, security, 4);
    begin_client(at, &at->me);
    for (int i = 0; i < 5 && serve_client(at, &at->me) != NET_SECURE_CLIENT_OPEN; i++)
        pass_us(at, 300000);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_OPEN);
}

// Another process has the keys of the one before, and nothing else. Without keys each process has
// chance of its own.
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
        {{.allow_dev_key = true}, {.allow_dev_key = true}, false},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        secure_world at;
        const bool has_keys = !cases[i].before.allow_dev_key;
        net_security after = cases[i].after;
        world_begin(&at, cases[i].before, has_keys, 4);
        connect_world(&at);
        if (has_keys) after.keys = &at.ring;
        come_to_another(&at, after);
        assert_int_equal(count_of(&at, NET_SECURE_RESUMED), cases[i].is_opened);
        assert_int_equal(count_of(&at, NET_SECURE_TOKEN_FORGED), !cases[i].is_opened);
        world_deinit(&at);
    }
}

static const int64_t hours[] = {-24 * 400, -24 * 8, -30, 0, 30, 24 * 8, 24 * 400};

// It measures durations; what day it is, the server knows.
CASE_ROWS(secure_world, at, world_begin(at, (net_security){.allow_dev_key = true}, i % 2, 4),
          world_deinit(at), i, 2 * BASE_COUNT(hours),
          a_wall_clock_that_is_wrong_keeps_no_client_out) {
    at->client_ahead_s = (uint64_t)(hours[i / 2] * 3600);
    connect_world(at);
    at->clock.unix_s += 3600; // a token of the back end has expired
    connect_client(at, &at->me);
    assert_int_equal(at->me.client.shown->token.key_id, NET_KEY_ID_RESUME);
}

// What an older client learns: it cannot read our answers, and this one never changes.
WORLD_CASE(another_version_is_named_when_nothing_else_answers) {
    uint8_t out[NET_OUTER_HELLO_BYTES];
    request_of(at, &at->me, out);
    out[1] = NET_SECURE_VERSION + 1; // as if the server were of another version
    assert_int_equal(give(at, out), NET_OUTER_NOTICE_BYTES);
    assert_int_equal(at->received.reply[0], NET_OUTER_DENY);
    assert_int_equal(at->received.reply[1], NET_SECURE_VERSION);
    assert_int_equal(at->received.reply[4], NET_SECURE_END_VERSION);
    assert_memory_equal(at->received.reply + 5, out + 2, NET_OUTER_RANDOM_BYTES);
    // A notice of our own version is no reason to stop.
    (void)take_reply(at, &at->me);
    assert_int_equal(net_secure_client_take_notice(&at->me.client), NET_SECURE_END_NONE);
    at->received.reply[1] = NET_SECURE_VERSION + 1;
    (void)take_reply(at, &at->me);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_ASKING);
    (void)serve_in_the_dark(at, NET_SECURE_ANSWER_US_MAX + 2000);
    assert_int_equal(at->me.client.end, NET_SECURE_END_VERSION);
    // And a notice does not keep a client from a server that answers after all.
    request_of(at, &at->me, out);
    memcpy(at->received.reply + 5, out + 2, NET_OUTER_RANDOM_BYTES);
    (void)to_client(at, &at->me, at->received.reply, NET_OUTER_NOTICE_BYTES);
    assert_int_equal(carry(at, &at->me, out, sizeof out), NET_SECURE_CLIENT_OPEN);
}

// The client takes the server's last reply with each of its bytes changed, then the reply.
static void take_forged_replies(secure_world* at, size_t size, net_secure_client_state before,
                                net_secure_client_state after) {
    assert_int_equal(at->received.reply_size, size);
    for (size_t i = 0; i < size; i++) {
        at->received.reply[i] ^= 4;
        assert_int_equal(take_reply(at, &at->me), 0);
        assert_int_equal(at->me.client.state, before);
        at->received.reply[i] ^= 4;
    }
    (void)take_reply(at, &at->me);
    assert_int_equal(at->me.client.state, after);
}

WORLD_CASE(it_believes_no_forged_answer) {
    uint8_t out[NET_OUTER_HELLO_BYTES], deny[NET_OUTER_DENY_BYTES];
    request_of(at, &at->me, out);
    size_t size =
        net_outer_deny_write(NET_SECURE_END_BANNED, at->me.client.random, at->me.token.client_key,
                             deny); // the wrong one of the two
    (void)to_client(at, &at->me, deny, size);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_ASKING);
    (void)give(at, out);
    take_forged_replies(at, NET_OUTER_CHALLENGE_BYTES, NET_SECURE_CLIENT_ASKING,
                        NET_SECURE_CLIENT_PROVING);
    (void)take_answer(at, &at->me);
    take_forged_replies(at, NET_OUTER_ACCEPT_BYTES, NET_SECURE_CLIENT_PROVING,
                        NET_SECURE_CLIENT_OPEN);
}

// @return whether the client hears what the server says.
static bool hears_server(secure_world* at) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    (void)to_client(at, &at->me, out, seal_from_server(at, out));
    return at->answer.inner_size == 5;
}

WORLD_CASE(no_number_of_forgeries_ends_its_session) {
    enum { FORGERIES = (1 << 20) + 2 };
    uint8_t forged[DATAGRAM_BYTES_MAX];
    connect_world(at);
    size_t size = seal_from_server(at, forged);
    forged[size - 1] ^= 1;
    for (uint32_t i = 0; i < FORGERIES; i++)
        (void)to_client(at, &at->me, forged, size);
    assert_int_equal(at->me.client.stats.counts[NET_SECURE_DATA_FORGED], FORGERIES);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_OPEN);
    assert_true(hears_server(at));
    // At the bound of the AEAD the session is lost, not closed: the client comes back.
    at->me.client.receiver.key.forged = NET_CRYPT_FORGED_MAX - 1;
    (void)to_client(at, &at->me, forged, size);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_OPEN);
    assert_false(hears_server(at));
    assert_int_equal(at->answer.inner_size, 0);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_ENDED);
    assert_int_equal(at->me.client.end, NET_SECURE_END_NONE);
    assert_int_equal(at->me.client.stats.counts[NET_SECURE_FORGERY_LIMIT], 1);
    connect_world(at);
    assert_int_equal(count_of(at, NET_SECURE_RESUMED), 1);
}

// The client takes the server's last reply from other addresses, then from the server's.
static void take_from_others(secure_world* at, net_secure_client_state before,
                             net_secure_client_state after) {
    const net_address right = at->server_address;
    static const char* const wrong[] = {"198.51.100.1:7778", "198.51.100.2:7777",
                                        "[2001:db8::1]:7777"};
    const uint8_t* bytes = at->received.reply;
    const size_t size = at->received.reply_size;
    for (size_t i = 0; i < BASE_COUNT(wrong); i++) {
        at->server_address = address_of(wrong[i]);
        assert_int_equal(to_client(at, &at->me, bytes, size) + at->answer.inner_size, 0);
        assert_int_equal(at->me.client.state, before);
    }
    at->server_address = right;
    (void)to_client(at, &at->me, bytes, size);
    assert_int_equal(at->me.client.state, after);
}

WORLD_CASE(it_drops_what_is_not_from_its_server) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    request_of(at, &at->me, out);
    (void)give(at, out);
    take_from_others(at, NET_SECURE_CLIENT_ASKING, NET_SECURE_CLIENT_PROVING);
    (void)take_answer(at, &at->me);
    take_from_others(at, NET_SECURE_CLIENT_PROVING, NET_SECURE_CLIENT_OPEN);
    (void)is_heard(at, &at->me);
    at->received.reply_size = seal_from_server(at, at->received.reply);
    take_from_others(at, NET_SECURE_CLIENT_OPEN, NET_SECURE_CLIENT_OPEN);
    assert_int_equal(at->me.client.stats.counts[NET_SECURE_OTHER_ADDRESS], 3 * 3);
    assert_int_equal(at->answer.inner_size, 5);
}

// "0.0.0.0" and "[::]" reach this machine, which answers from another address.
WORLD_CASE(it_takes_the_answer_of_a_wildcard) {
    at->server_address = address_of("0.0.0.0:7777");
    begin_client(at, &at->me);
    at->server_address = address_of("127.0.0.1:7777");
    assert_int_equal(serve_client(at, &at->me), NET_SECURE_CLIENT_OPEN);
}

WORLD_CASE(an_idle_client_takes_and_sends_nothing) {
    uint8_t out[DATAGRAM_BYTES_MAX] = {NET_OUTER_DATA};
    assert_int_equal(next_hello(at, &at->me, out), 0);
    assert_int_equal(seal_by(at, &at->me, "x", 1, out), 0);
    for (uint32_t type = 0; type < 256; type++) {
        memset(out, 0, sizeof out);
        out[0] = (uint8_t)type;
        assert_int_equal(to_client(at, &at->me, out, NET_OUTER_ACCEPT_BYTES), 0);
    }
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_IDLE);
}

CASE_WITH(secure_world, at, world_begin(at, (net_security){.allow_dev_key = true}, false, 4),
          world_deinit(at), without_a_token_it_has_one_token_for_all_its_sessions) {
    for (int i = 0; i < 3; i++) {
        at->me.client.resume.is_there = false;
        connect_client(at, &at->me);
        assert_int_equal(net_secure_server_count(at->server), 1);
    }
    assert_int_equal(count_of(at, NET_SECURE_REPLACED), 2);
}
