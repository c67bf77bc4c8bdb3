// SPDX-License-Identifier: MIT
// Responses that come late, and responses that an attacker saw and sends again.
#include "secure/cookie.h"
#include "secure_world.h"

typedef struct response {
    uint8_t bytes[NET_OUTER_HELLO_BYTES];
} response;

// An attempt of a client up to its response, which does not arrive.
static response respond(secure_world* at, net_secure_client* client, const net_address* from) {
    response made;
    begin_client(at, client);
    assert_int_equal(next_hello(at, client, made.bytes), sizeof made.bytes);
    assert_int_equal(to_server(at, from, made.bytes, sizeof made.bytes), NET_OUTER_CHALLENGE_BYTES);
    assert_int_equal(to_client(at, client, at->received.reply, at->received.reply_size),
                     sizeof made.bytes);
    memcpy(made.bytes, at->answer.reply, sizeof made.bytes);
    return made;
}

// @return the size of what the server answers.
static size_t give(secure_world* at, const net_address* from, const response* sent) {
    return to_server(at, from, sent->bytes, sizeof sent->bytes);
}

static void give_and_open(secure_world* at, net_secure_client* client, const net_address* from,
                          const response* sent) {
    carry(at, client, from, sent->bytes, sizeof sent->bytes);
    assert_int_equal(client->state, NET_SECURE_CLIENT_OPEN);
}

static bool is_heard(secure_world* at, net_secure_client* client, const net_address* from) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    net_address to;
    size_t size = net_secure_client_send(client, at->clock.now_us, "alive", 5, out, &to);
    (void)to_server(at, from, out, size);
    return at->received.inner_size == 5;
}

static void leave(secure_world* at, net_secure_client* client, const net_address* from) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    net_address to;
    const uint32_t before = net_secure_server_count(at->server);
    size_t size = net_secure_client_close(client, at->clock.now_us, out, &to);
    (void)to_server(at, from, out, size);
    assert_int_equal(net_secure_server_count(at->server), before - 1);
}

// Another player comes and goes.
static void visit(secure_world* at, uint32_t number) {
    net_token token = make_token(at, 1000 + number);
    net_security security = {.entropy = &at->from.entropy, .token = &token};
    net_secure_client client;
    net_address from = address_of("127.0.0.1:1"); // without budgets of one address
    from.port = (uint16_t)(1 + number);
    net_secure_client_init(&client, &security);
    connect_client(at, &client, &from);
    leave(at, &client, &from);
}

WORLD_CASE(an_old_response_ends_no_newer_session) {
    net_secure_client second;
    response old = respond(at, &at->client, &at->client_address);
    give_and_open(at, &at->client, &at->client_address, &old);
    pass_us(at, 1000000);
    net_secure_client_init(&second, &at->client_security);
    connect_client(at, &second, &at->client_address);
    for (uint32_t i = 0; i < 12; i++) {
        pass_us(at, 250000);
        assert_int_equal(give(at, &at->client_address, &old), 0);
        assert_true(is_heard(at, &second, &at->client_address));
    }
    assert_int_equal(net_secure_server_count(at->server), 1);
    assert_int_equal(count_of(at, NET_SECURE_ACCEPTED), 2);
    assert_int_equal(count_of(at, NET_SECURE_REPLACED), 1);
    assert_int_equal(count_of(at, NET_SECURE_RESPONSE_OLD), 1);
    assert_int_equal(count_of(at, NET_SECURE_COOKIE_SPENT), 11);
}

// Without an attacker: the first response takes a longer way than the whole second attempt.
WORLD_CASE(a_response_that_was_overtaken_has_no_effect) {
    net_secure_client second;
    response late = respond(at, &at->client, &at->client_address);
    net_secure_client_init(&second, &at->client_security);
    connect_client(at, &second, &at->client_address);
    assert_int_equal(give(at, &at->client_address, &late), 0);
    assert_true(is_heard(at, &second, &at->client_address));
    assert_int_equal(count_of(at, NET_SECURE_ACCEPTED), 1);
    assert_int_equal(count_of(at, NET_SECURE_RESPONSE_OLD), 1);
    // The same with the resume token, which has another tag than the token.
    late = respond(at, &second, &at->client_address);
    net_secure_client_deinit(&second);
    net_secure_client_init(&second, &at->client_security);
    connect_client(at, &second, &at->client_address);
    assert_int_equal(give(at, &at->client_address, &late), 0);
    assert_true(is_heard(at, &second, &at->client_address));
    assert_int_equal(count_of(at, NET_SECURE_RESUMED), 0);
}

WORLD_CASE(a_response_takes_no_place_after_its_player_has_left) {
    net_secure_client second;
    response first = respond(at, &at->client, &at->client_address);
    net_secure_client_init(&second, &at->client_security);
    response newest = respond(at, &second, &at->client_address);
    give_and_open(at, &second, &at->client_address, &newest);
    leave(at, &second, &at->client_address);
    for (uint32_t i = 0; i < 10; i++) { // others take its slot, and leave
        assert_int_equal(give(at, &at->client_address, &first), 0);
        assert_int_equal(give(at, &at->client_address, &newest), 0);
        assert_int_equal(net_secure_server_count(at->server), 0);
        visit(at, i);
        pass_us(at, 900000);
    }
    assert_int_equal(count_of(at, NET_SECURE_RESPONSE_OLD), 2);
    assert_int_equal(count_of(at, NET_SECURE_COOKIE_SPENT), 18);
    pass_us(at, 1100000); // now the cookies are too old
    assert_int_equal(give(at, &at->client_address, &first), 0);
    assert_int_equal(give(at, &at->client_address, &newest), 0);
    assert_int_equal(count_of(at, NET_SECURE_COOKIE_FORGED), 2);
    connect_client(at, &at->client, &at->client_address); // the player comes back
}

CASE_WITH(secure_world, at, world_begin(at, (net_security){0}, true, 1), world_deinit(at),
          a_session_that_was_replaced_leaves_nothing_behind) {
    net_secure_client second;
    response first = respond(at, &at->client, &at->client_address);
    give_and_open(at, &at->client, &at->client_address, &first);
    net_secure_client_init(&second, &at->client_security);
    response newest = respond(at, &second, &at->client_address);
    give_and_open(at, &second, &at->client_address, &newest); // in the same slot
    leave(at, &second, &at->client_address);
    visit(at, 1);
    assert_int_equal(give(at, &at->client_address, &first), 0);
    assert_int_equal(give(at, &at->client_address, &newest), 0);
    assert_int_equal(net_secure_server_count(at->server), 0);
}

CASE(of_two_cookies_with_one_time_the_first_that_comes_counts) {
    for (int i = 0; i < 2; i++) {
        secure_world at;
        net_secure_client clients[2];
        response sent[2];
        world_init(&at);
        for (int k = 0; k < 2; k++) {
            at.clock.now_us = 2000000;
            net_secure_client_init(&clients[k], &at.client_security);
            sent[k] = respond(&at, &clients[k], &at.client_address);
        }
        give_and_open(&at, &clients[i], &at.client_address, &sent[i]);
        assert_int_equal(give(&at, &at.client_address, &sent[!i]), 0);
        assert_true(is_heard(&at, &clients[i], &at.client_address));
        leave(&at, &clients[i], &at.client_address);
        assert_int_equal(give(&at, &at.client_address, &sent[!i]), 0);
        assert_int_equal(count_of(&at, NET_SECURE_RESPONSE_OLD), 1);
        assert_int_equal(count_of(&at, NET_SECURE_COOKIE_SPENT), 1);
        world_deinit(&at);
    }
}

// What the server cannot remember it does not accept: all cookies of before count no more.
CASE_WITH(secure_world, at, world_begin(at, (net_security){0}, true, 2), world_deinit(at),
          a_full_memory_ends_all_cookies_and_no_session) {
    net_secure_client member, honest;
    net_token token = make_token(at, 43);
    net_security security = {.entropy = &at->from.entropy, .token = &token};
    net_secure_client_init(&member, &security);
    connect_client(at, &member, &at->client_address);
    response old = respond(at, &at->client, &at->client_address);
    give_and_open(at, &at->client, &at->client_address, &old);
    leave(at, &at->client, &at->client_address);
    assert_int_equal(give(at, &at->client_address, &old), 0); // one is remembered: its cookie
    // A visit adds the one before, whose slot it takes.
    for (uint32_t count = 2; count <= NET_SPENT_MAX; count++) {
        pass_us(at, 500);
        visit(at, count);
        if (count < NET_SPENT_MAX - 1) continue;
        assert_int_equal(give(at, &at->client_address, &old), 0); // at max - 1 and at max
        assert_int_equal(count_of(at, NET_SECURE_SPENT_FULL), 0);
    }
    assert_int_equal(count_of(at, NET_SECURE_COOKIE_SPENT), 2);
    token = make_token(at, 44);
    net_secure_client_init(&honest, &security);
    response honest_one = respond(at, &honest, &at->client_address);
    visit(at, NET_SPENT_MAX + 1);
    assert_int_equal(count_of(at, NET_SECURE_SPENT_FULL), 1);
    assert_int_equal(give(at, &at->client_address, &old), 0);
    assert_int_equal(count_of(at, NET_SECURE_COOKIE_FORGED), 1);
    assert_true(is_heard(at, &member, &at->client_address));
    // An honest client that was answered just before gives up after 5 s, and comes in when it tries
    // again.
    assert_int_equal(give(at, &at->client_address, &honest_one), 0);
    for (uint32_t i = 0; i < 21; i++) {
        pass_us(at, 250000);
        serve_client(at, &honest, &at->client_address);
    }
    assert_int_equal(honest.end, NET_SECURE_END_SILENT);
    connect_client(at, &honest, &at->client_address);
}

// ---- what a response may cost

WORLD_CASE(a_wrong_signature_spends_its_cookie) {
    net_address from = address_of("127.0.0.1:9"); // without budgets of one address
    for (uint32_t attempt = 1; attempt <= 100; attempt++) {
        response sent = respond(at, &at->client, &from);
        for (uint32_t i = 0; i < 50; i++) {
            sent.bytes[sizeof sent.bytes - 1]++; // another one each time
            assert_int_equal(give(at, &from, &sent), 0);
        }
        assert_int_equal(count_of(at, NET_SECURE_RESPONSE_FORGED), attempt);
        sent.bytes[sizeof sent.bytes - 1] -= 50;
        assert_int_equal(give(at, &from, &sent), 0); // the right one, too late
        assert_int_equal(count_of(at, NET_SECURE_COOKIE_SPENT), attempt * 50);
        pass_us(at, 1000);
    }
    assert_int_equal(net_secure_server_count(at->server), 0);
    connect_client(at, &at->client, &from); // the next attempt has a cookie of its own
}

WORLD_CASE(a_response_with_a_token_of_another_host_spends_its_cookie) {
    net_secure_client second;
    net_address elsewhere = address_of("203.0.113.10:5000");
    net_secure_client_init(&second, &at->client_security);
    response first = respond(at, &at->client, &at->client_address);
    response sent = respond(at, &second, &elsewhere); // the token was not used yet
    give_and_open(at, &at->client, &at->client_address, &first);
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(give(at, &elsewhere, &sent), 0);
    assert_int_equal(count_of(at, NET_SECURE_TOKEN_USED), 1);
    assert_int_equal(count_of(at, NET_SECURE_COOKIE_SPENT), 49);
}

CASE(an_address_has_ten_responses_a_second) {
    static const struct {
        const char* from;
        uint32_t at_once, after_a_second;
    } cases[] = {
        {"203.0.113.9:5000", 20, 10},
        {"[2001:db8::9]:5000", 20, 10},
        {"127.0.0.1:5000", 100, 100},
    };
    for (size_t i = 0; i < BASE_COUNT(cases); i++) {
        secure_world at;
        world_begin(&at, (net_security){0}, true, 1);
        net_token token = make_token(&at, 43);
        net_security security = {.entropy = &at.from.entropy, .token = &token};
        net_secure_client member;
        net_address elsewhere = address_of("203.0.113.10:5000"), from = address_of(cases[i].from);
        net_secure_client_init(&member, &security);
        connect_client(&at, &member, &elsewhere);
        hold_all(&at);
        response sent = respond(&at, &at.client, &from); // genuine, and the server is full
        uint32_t answers[2] = {0};
        for (uint32_t k = 0; k < 200; k++) {
            if (k == 100) pass_us(&at, 1000000);
            answers[k / 100] += give(&at, &from, &sent) == NET_OUTER_DENY_BYTES;
        }
        assert_int_equal(answers[0], cases[i].at_once);
        assert_int_equal(answers[1], cases[i].after_a_second);
        assert_int_equal(count_of(&at, NET_SECURE_RESPONSE_BUDGET), 200 - answers[0] - answers[1]);
        world_deinit(&at);
    }
}
