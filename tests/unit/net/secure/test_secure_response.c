// SPDX-License-Identifier: MIT
// Responses that come late, and responses that an attacker saw and sends again.
#include "secure/cookie.h"
#include "secure_world.h"

typedef struct response {
    uint8_t bytes[NET_OUTER_HELLO_BYTES];
} response;

// An attempt of a client up to its response, which does not arrive.
static response respond(secure_world* at, guest* client) {
    response made;
    response_of(at, client, made.bytes);
    return made;
}

static void give_and_open(secure_world* at, guest* client, const response* sent) {
    assert_int_equal(carry(at, client, sent->bytes, sizeof sent->bytes), NET_SECURE_CLIENT_OPEN);
}

static void leave(secure_world* at, guest* client) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    const uint32_t before = net_secure_server_count(at->server);
    (void)to_server(at, &client->address, out, close_client(at, client, out));
    assert_int_equal(net_secure_server_count(at->server), before - 1);
}

// Another player comes and goes.
static void visit(secure_world* at, uint32_t number) {
    guest client;
    player_init(at, &client, 1000 + number);
    client.address = address_of("127.0.0.1:1"); // without budgets of one address
    client.address.port = (uint16_t)(1 + number);
    connect_client(at, &client);
    leave(at, &client);
}

// What the server cannot remember it does not accept: all cookies of before count no more.
WORLD_CASE_FOR(a_full_memory_ends_all_cookies_and_no_session, 2) {
    guest member, honest;
    player_init(at, &member, 43);
    connect_client(at, &member);
    response old = respond(at, &at->me);
    give_and_open(at, &at->me, &old);
    leave(at, &at->me);
    assert_int_equal(give(at, old.bytes), 0); // one is remembered: its cookie
    // A visit adds the one before, whose slot it takes.
    for (uint32_t count = 2; count <= NET_SPENT_MAX; count++) {
        pass_us(at, 500);
        visit(at, count);
        if (count < NET_SPENT_MAX - 1) continue;
        assert_int_equal(give(at, old.bytes), 0); // at max - 1 and at max
        assert_int_equal(count_of(at, NET_SECURE_SPENT_FULL), 0);
    }
    assert_int_equal(count_of(at, NET_SECURE_COOKIE_SPENT), 2);
    player_init(at, &honest, 44);
    response honest_one = respond(at, &honest);
    visit(at, NET_SPENT_MAX + 1);
    assert_int_equal(count_of(at, NET_SECURE_SPENT_FULL), 1);
    assert_int_equal(give(at, old.bytes), 0);
    assert_int_equal(count_of(at, NET_SECURE_COOKIE_FORGED), 1);
    assert_true(is_heard(at, &member));
    // An honest client that was answered just before gives up after 5 s, and comes in when it tries
    // again.
    assert_int_equal(give(at, honest_one.bytes), 0);
    for (uint32_t i = 0; i < 21; i++) {
        pass_us(at, 250000);
        (void)serve_client(at, &honest);
    }
    assert_int_equal(honest.client.end, NET_SECURE_END_SILENT);
    connect_client(at, &honest);
}

// ---- what a response may cost

WORLD_CASE(a_wrong_signature_spends_its_cookie) {
    at->me.address = address_of("127.0.0.1:9"); // without budgets of one address
    for (uint32_t attempt = 1; attempt <= 100; attempt++) {
        response sent = respond(at, &at->me);
        for (uint32_t i = 0; i < 50; i++) {
            sent.bytes[sizeof sent.bytes - 1]++; // another one each time
            assert_int_equal(give(at, sent.bytes), 0);
        }
        assert_int_equal(count_of(at, NET_SECURE_RESPONSE_FORGED), attempt);
        sent.bytes[sizeof sent.bytes - 1] -= 50;
        assert_int_equal(give(at, sent.bytes), 0); // the right one, too late
        assert_int_equal(count_of(at, NET_SECURE_COOKIE_SPENT), attempt * 50);
        pass_us(at, 1000);
    }
    assert_int_equal(net_secure_server_count(at->server), 0);
    connect_client(at, &at->me); // the next attempt has a cookie of its own
}

WORLD_CASE(a_response_with_a_token_of_another_host_spends_its_cookie) {
    guest second;
    guest_init(at, &second, &at->me.token, "203.0.113.10:5000");
    response first = respond(at, &at->me);
    response sent = respond(at, &second); // the token was not used yet
    give_and_open(at, &at->me, &first);
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(to_server(at, &second.address, sent.bytes, sizeof sent.bytes), 0);
    assert_int_equal(count_of(at, NET_SECURE_TOKEN_USED), 1);
    assert_int_equal(count_of(at, NET_SECURE_COOKIE_SPENT), 49);
}

static const struct {
    const char* from;
    uint32_t at_once, after_a_second;
} budgets[] = {
    {"203.0.113.9:5000", 20, 10},
    {"[2001:db8::9]:5000", 20, 10},
    {"127.0.0.1:5000", 100, 100},
};

CASE_ROWS(secure_world, at, world_begin(at, (net_security){0}, true, 1), world_deinit(at), i,
          BASE_COUNT(budgets), an_address_has_ten_responses_a_second) {
    guest member;
    player_init(at, &member, 43);
    member.address = address_of("203.0.113.10:5000");
    at->me.address = address_of(budgets[i].from);
    connect_client(at, &member);
    hold_all(at);
    response sent = respond(at, &at->me); // genuine, and the server is full
    uint32_t answers[2] = {0};
    for (uint32_t k = 0; k < 200; k++) {
        if (k == 100) pass_us(at, 1000000);
        answers[k / 100] += give(at, sent.bytes) == NET_OUTER_DENY_BYTES;
    }
    assert_int_equal(answers[0], budgets[i].at_once);
    assert_int_equal(answers[1], budgets[i].after_a_second);
    assert_int_equal(count_of(at, NET_SECURE_RESPONSE_BUDGET), 200 - answers[0] - answers[1]);
}
