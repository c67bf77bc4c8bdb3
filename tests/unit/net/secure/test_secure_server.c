// SPDX-License-Identifier: MIT
// The server's end: whom it lets in, what it answers, and the life of sessions.
#include "secure/secure_server_state.h"
#include "secure_world.h"

#include "scarce.h"

enum { FORGERIES = (1 << 20) + 2 };

WORLD_CASE(a_client_with_a_token_gets_a_session) {
    connect_world(at);
    net_secure_identity identity;
    assert_true(net_secure_server_identity(at->server, at->peer, &identity));
    assert_true(identity.player_id == 42);
    assert_int_equal(identity.key_id, KEY_ID);
    assert_string_equal((const char*)identity.user_data, "team 42");
    assert_true(net_address_equal(&identity.address, &at->client_address));
    uint8_t out[DATAGRAM_BYTES_MAX];
    net_address to;
    size_t size =
        net_secure_server_send(at->server, at->clock.now_us, at->peer, "welcome", 7, out, &to);
    assert_int_equal(size, 7 + NET_SECURE_OVERHEAD_BYTES);
    assert_true(net_address_equal(&to, &at->client_address));
    (void)to_client(at, &at->client, out, size);
    assert_int_equal(at->answer.inner_size, 7);
    assert_memory_equal(at->client_inner, "welcome", 7);
    assert_int_equal(net_secure_server_count(at->server), 1);
    assert_int_equal(count_of(at, NET_SECURE_ACCEPTED), 1);
    assert_int_equal(count_of(at, NET_SECURE_CHALLENGES), 1);
}

WORLD_CASE(the_largest_datagram_of_enet_fits) {
    connect_world(at);
    uint8_t bytes[1200], out[DATAGRAM_BYTES_MAX];
    memset(bytes, 0x5A, sizeof bytes);
    size_t size = seal_from_client(at, bytes, sizeof bytes, out);
    assert_int_equal(size, 1227);
    (void)to_server(at, &at->client_address, out, size);
    assert_int_equal(at->inner_size, sizeof bytes);
    assert_memory_equal(at->inner, bytes, sizeof bytes);
}

// ---- who is not let in

typedef struct refusal {
    const char* what;
    net_secure_count count;
    net_secure_end reason; // that the server gives; NONE: it is silent
    bool is_signed;
} refusal;

// The first answer of the server to a request with this token from this address.
static size_t ask(secure_world* at, const net_token* token, const char* from) {
    net_security security = {.entropy = &at->from.entropy, .token = token};
    uint8_t out[NET_OUTER_HELLO_BYTES];
    net_secure_client client;
    net_address address = address_of(from);
    security.protocol = token->protocol;
    net_secure_client_init(&client, &security);
    begin_client(at, &client);
    size_t size = next_hello(at, &client, out);
    return to_server(at, &address, out, size);
}

static void expect_refusal(secure_world* at, const net_token* token, const char* from,
                           refusal expected) {
    uint64_t before = count_of(at, expected.count);
    at->clock.now_us += 1000000; // for the budgets
    size_t size = ask(at, token, from), expected_size = NET_OUTER_NOTICE_BYTES;
    if (expected.reason == NET_SECURE_END_NONE) expected_size = 0;
    if (expected.is_signed) expected_size = NET_OUTER_DENY_BYTES;
    if (size != expected_size || count_of(at, expected.count) != before + 1)
        fail_msg("%s: %zu bytes, count %u is %llu", expected.what, size, (unsigned)expected.count,
                 (unsigned long long)count_of(at, expected.count));
    if (size == 0) return;
    net_secure_end reason = NET_SECURE_END_NONE;
    uint32_t version = 0;
    bool is_signed = false;
    assert_true(net_outer_deny_read(at->received.reply, size, at->received.reply + 5,
                                    token->server_key, &reason, &version, &is_signed));
    if (reason != expected.reason || is_signed != expected.is_signed)
        fail_msg("%s: reason %u", expected.what, (unsigned)reason);
}

static net_token token_by(secure_world* at, const net_key* key, net_token_claims claims) {
    net_token token;
    if (claims.expiry_unix_s == 0) claims.expiry_unix_s = UNIX_S + 45;
    assert_ok(net_token_make(key, &claims, &at->from.entropy, &token));
    return token;
}

// security row 3: the token matrix
CASE(a_token_counts_where_when_and_for_whom_it_was_made) {
    static const char here[] = "203.0.113.9:5000", there[] = "203.0.113.10:5000";
    secure_world at;
    net_address ours[] = {address_of("198.51.100.1:7777"), address_of("[2001:db8::7]:7777")};
    net_security security = {.addresses = ours, .address_count = 2};
    world_begin(&at, security, true, 4);
    const net_key* key = &at.ring.keys[0];
    net_key foreign;
    net_key_make(KEY_ID, &at.from.entropy, &foreign);
    net_key unknown = *key;
    unknown.id = 99;
    // 1 sound, 2 sealed by another key, 3 by a key that is unknown here
    assert_int_equal(ask(&at, &at.token, here), NET_OUTER_CHALLENGE_BYTES);
    net_token token = token_by(&at, &foreign, (net_token_claims){.player_id = 1});
    expect_refusal(&at, &token, here,
                   (refusal){"another key", NET_SECURE_TOKEN_FORGED, NET_SECURE_END_TOKEN, false});
    token = token_by(&at, &unknown, (net_token_claims){.player_id = 1});
    expect_refusal(&at, &token, here,
                   (refusal){"unknown key", NET_SECURE_KEY_UNKNOWN, NET_SECURE_END_TOKEN, false});
    // 4 expired, 5 at the edge of the tolerance
    token = token_by(&at, key, (net_token_claims){.expiry_unix_s = UNIX_S - 6});
    expect_refusal(&at, &token, here,
                   (refusal){"expired", NET_SECURE_TOKEN_EXPIRED, NET_SECURE_END_EXPIRED, true});
    token = token_by(&at, key, (net_token_claims){.expiry_unix_s = UNIX_S - 5});
    assert_int_equal(ask(&at, &token, here), NET_OUTER_CHALLENGE_BYTES);
    // 6 for another game, 7 with an expiry that was made longer
    token = token_by(&at, key, (net_token_claims){.protocol = 5});
    expect_refusal(&at, &token, here,
                   (refusal){"protocol", NET_SECURE_BAD_PROTOCOL, NET_SECURE_END_NONE, false});
    token = token_by(&at, key, (net_token_claims){.expiry_unix_s = UNIX_S - 100});
    token.expiry_unix_s = UNIX_S + 100;
    expect_refusal(&at, &token, here,
                   (refusal){"longer", NET_SECURE_TOKEN_FORGED, NET_SECURE_END_TOKEN, false});
    // 8 for other servers, 9 for this one among others
    net_token_claims claims = {.address_count = 2};
    claims.addresses[0] = address_of("198.51.100.1:7778");
    claims.addresses[1] = address_of("198.51.100.2:7777");
    token = token_by(&at, key, claims);
    expect_refusal(
        &at, &token, here,
        (refusal){"elsewhere", NET_SECURE_TOKEN_ELSEWHERE, NET_SECURE_END_ELSEWHERE, true});
    claims.addresses[1] = ours[1];
    token = token_by(&at, key, claims);
    assert_int_equal(ask(&at, &token, here), NET_OUTER_CHALLENGE_BYTES);
    // 10 the built-in key beside keys
    net_token_claims dev = {.expiry_unix_s = UNIX_S + 45};
    assert_ok(net_token_make_dev(&dev, &at.from.entropy, &token));
    expect_refusal(&at, &token, "127.0.0.1:5",
                   (refusal){"dev", NET_SECURE_KEY_REFUSED, NET_SECURE_END_TOKEN, false});
    // 11 used: again from the same host on another port, 12 from another host
    connect_client(&at, &at.client, &at.client_address);
    assert_int_equal(ask(&at, &at.token, "203.0.113.9:6000"), NET_OUTER_CHALLENGE_BYTES);
    expect_refusal(&at, &at.token, there,
                   (refusal){"used", NET_SECURE_TOKEN_USED, NET_SECURE_END_NONE, false});
    // A resume token of another process is sealed by another key.
    token = at.token;
    token.key_id = NET_KEY_ID_RESUME;
    expect_refusal(&at, &token, here,
                   (refusal){"resume", NET_SECURE_TOKEN_FORGED, NET_SECURE_END_NONE, false});
    world_deinit(&at);
}

WORLD_CASE(a_request_that_is_overheard_takes_no_token_away) {
    uint8_t out[NET_OUTER_HELLO_BYTES];
    net_address thief = address_of("203.0.113.66:1");
    begin_client(at, &at->client);
    assert_int_equal(next_hello(at, &at->client, out), NET_OUTER_HELLO_BYTES);
    // The thief is faster, and gets a challenge that it cannot answer: it has no key of the token.
    assert_int_equal(to_server(at, &thief, out, sizeof out), NET_OUTER_CHALLENGE_BYTES);
    out[0] = NET_OUTER_RESPONSE;
    assert_int_equal(to_server(at, &thief, out, sizeof out), 0);
    carry(at, &at->client, &at->client_address, at->client.hello, sizeof at->client.hello);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
}

WORLD_CASE(no_changed_byte_of_a_request_or_response_is_answered_like_it) {
    net_address from = address_of("127.0.0.1:9"); // without budgets of one address
    begin_client(at, &at->client);
    uint8_t out[NET_OUTER_HELLO_BYTES];
    (void)next_hello(at, &at->client, out);
    for (size_t i = 0; i < sizeof out; i++) {
        bool is_chance = i >= 2 && i < 18, is_protocol = i >= 19 && i < 27;
        bool is_of_token = i >= 18 && i < 571 && !is_protocol;
        out[i] ^= 0x10;
        at->clock.now_us += 2000;
        size_t size = to_server(at, &from, out, sizeof out);
        assert_int_equal(size, is_chance               ? NET_OUTER_CHALLENGE_BYTES
                               : i == 1 || is_of_token ? NET_OUTER_NOTICE_BYTES
                                                       : 0);
        out[i] ^= 0x10;
    }
    for (size_t i = 0; i <= sizeof out; i++) { // a wrong signature spends the cookie
        at->clock.now_us += 1000;
        begin_client(at, &at->client);
        (void)next_hello(at, &at->client, out);
        (void)to_server(at, &from, out, sizeof out);
        (void)take_reply(at);
        assert_int_equal(at->answer.reply_size, NET_OUTER_HELLO_BYTES);
        if (i < sizeof out) at->answer.reply[i] ^= 0x10;
        assert_int_equal(to_server(at, &from, at->answer.reply, sizeof out),
                         i < sizeof out ? 0 : NET_OUTER_ACCEPT_BYTES);
    }
}

CASE(the_built_in_key_counts_for_private_addresses_only) {
    static const struct {
        const char* from;
        bool is_private;
    } cases[] = {
        {"127.0.0.1:5", true},   {"192.168.1.7:5", true},    {"10.9.8.7:5", true},
        {"[::1]:5", true},       {"[fd00::1]:5", true},      {"8.8.8.8:5", false},
        {"172.32.0.1:5", false}, {"[2001:db8::1]:5", false},
    };
    for (int allow = 0; allow < 2; allow++) {
        for (size_t i = 0; i < BASE_COUNT(cases); i++) {
            secure_world at;
            world_begin(&at, (net_security){.allow_dev_key = allow}, false, 4);
            net_address from = address_of(cases[i].from);
            begin_client(&at, &at.client);
            serve_client(&at, &at.client, &from);
            bool is_open = at.client.state == NET_SECURE_CLIENT_OPEN;
            assert_int_equal(is_open, cases[i].is_private || allow);
            assert_int_equal(count_of(&at, NET_SECURE_KEY_REFUSED), !is_open);
            world_deinit(&at);
        }
    }
}

CASE_WITH(secure_world, at, world_begin(at, (net_security){0}, true, 2), world_deinit(at),
          a_full_server_says_so_to_who_has_a_token) {
    for (uint32_t i = 0; i < 3; i++) {
        net_token token = make_token(at, i + 1);
        net_security security = {.entropy = &at->from.entropy, .token = &token};
        net_secure_client client;
        net_secure_client_init(&client, &security);
        begin_client(at, &client);
        serve_client(at, &client, &at->client_address);
        assert_int_equal(client.state, i < 2 ? NET_SECURE_CLIENT_OPEN : NET_SECURE_CLIENT_ENDED);
        assert_int_equal(client.end, i < 2 ? NET_SECURE_END_NONE : NET_SECURE_END_FULL);
        hold_all(at);
    }
    assert_int_equal(count_of(at, NET_SECURE_SESSIONS_FULL), 1);
    pass_us(at, NET_SECURE_LINGER_US);
    connect_client(at, &at->client, &at->client_address);
}

WORLD_CASE(new_keys_count_at_once_and_sessions_stay) {
    connect_world(at);
    net_key_ring ring = {.count = 2};
    net_key_make(8, &at->from.entropy, &ring.keys[0]);
    ring.keys[1] = at->ring.keys[0];
    net_secure_server_keys_set(at->server, &ring);
    net_token old = make_token(at, 5);
    assert_int_equal(ask(at, &old, "203.0.113.7:1"), NET_OUTER_CHALLENGE_BYTES);
    net_token young = token_by(at, &ring.keys[0], (net_token_claims){.player_id = 6});
    assert_int_equal(ask(at, &young, "203.0.113.8:1"), NET_OUTER_CHALLENGE_BYTES);
    ring.count = 1;
    net_secure_server_keys_set(at->server, &ring);
    expect_refusal(at, &old, "203.0.113.7:1",
                   (refusal){"old key", NET_SECURE_KEY_UNKNOWN, NET_SECURE_END_TOKEN, false});
    net_secure_server_keys_set(at->server, NULL);
    expect_refusal(at, &young, "203.0.113.7:1",
                   (refusal){"no keys", NET_SECURE_KEY_UNKNOWN, NET_SECURE_END_TOKEN, false});
    assert_true(net_secure_server_hold(at->server, at->clock.now_us, at->peer));
}

// ---- the life of a session

WORLD_CASE(a_response_that_comes_again_begins_nothing_new) {
    net_secure_received first, second;
    begin_client(at, &at->client);
    uint8_t out[NET_OUTER_HELLO_BYTES];
    (void)next_hello(at, &at->client, out);
    (void)to_server(at, &at->client_address, out, sizeof out);
    (void)take_reply(at);
    uint8_t response[NET_OUTER_HELLO_BYTES];
    memcpy(response, at->answer.reply, sizeof response);
    assert_int_equal(to_server(at, &at->client_address, response, sizeof response),
                     NET_OUTER_ACCEPT_BYTES);
    first = at->received;
    assert_int_equal(to_server(at, &at->client_address, response, sizeof response),
                     NET_OUTER_ACCEPT_BYTES);
    second = at->received;
    assert_memory_equal(first.reply + 1, second.reply + 1, 4);     // one session
    assert_memory_not_equal(first.reply + 5, second.reply + 5, 6); // another number
    assert_int_equal(to_server(at, &at->client_address, response, sizeof response), 0);
    assert_int_equal(net_secure_server_count(at->server), 1);
    // The client takes either, and the other one inside of the session.
    (void)to_client(at, &at->client, first.reply, first.reply_size);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
    pass_us(at, 200000);
    (void)to_server(at, &at->client_address, response, sizeof response);
    (void)take_reply(at);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_OPEN);
    // Nor does it after the end of the session.
    pass_us(at, NET_SECURE_UNOPENED_US);
    assert_int_equal(net_secure_server_count(at->server), 0);
    assert_int_equal(to_server(at, &at->client_address, response, sizeof response), 0);
    assert_int_equal(net_secure_server_count(at->server), 0);
}

WORLD_CASE(a_token_that_is_used_again_gives_other_keys) {
    uint8_t first[DATAGRAM_BYTES_MAX], second[DATAGRAM_BYTES_MAX];
    connect_client(at, &at->client, &at->client_address);
    size_t size = seal_from_client(at, "the same text", 13, first);
    net_secure_client_deinit(&at->client);
    net_secure_client_init(&at->client, &at->client_security);
    connect_client(at, &at->client, &at->client_address);
    assert_int_equal(seal_from_client(at, "the same text", 13, second), size);
    assert_memory_not_equal(first + NET_OUTER_HEAD_BYTES, second + NET_OUTER_HEAD_BYTES, 13);
    assert_int_equal(net_secure_server_count(at->server), 1); // one token, one session
    assert_int_equal(count_of(at, NET_SECURE_REPLACED), 1);
}

WORLD_CASE(a_session_lives_while_it_is_held) {
    connect_world(at);
    uint8_t out[DATAGRAM_BYTES_MAX];
    net_address to;
    pass_us(at, NET_SECURE_UNOPENED_US - 1);
    for (int i = 0; i < 50; i++) {
        assert_true(net_secure_server_hold(at->server, at->clock.now_us, at->peer));
        pass_us(at, NET_SECURE_LINGER_US - 1);
        (void)say(at, &at->client_address, "x", 1);
    }
    assert_int_equal(net_secure_server_count(at->server), 1);
    pass_us(at, SWEEP_SLACK_US);
    assert_int_equal(net_secure_server_count(at->server), 0);
    assert_int_equal(count_of(at, NET_SECURE_LINGERED), 1);
    assert_false(net_secure_server_hold(at->server, at->clock.now_us, at->peer));
    assert_int_equal(
        net_secure_server_send(at->server, at->clock.now_us, at->peer, "x", 1, out, &to), 0);
    net_secure_identity identity;
    assert_false(net_secure_server_identity(at->server, at->peer, &identity));
}

WORLD_CASE(a_session_that_nobody_opens_ends_after_five_seconds) {
    connect_client(at, &at->client, &at->client_address);
    pass_us(at, NET_SECURE_UNOPENED_US - 1);
    assert_int_equal(net_secure_server_count(at->server), 1);
    pass_us(at, SWEEP_SLACK_US);
    assert_int_equal(net_secure_server_count(at->server), 0);
    assert_int_equal(count_of(at, NET_SECURE_UNOPENED), 1);
}

WORLD_CASE(a_silent_session_ends_after_a_minute) {
    connect_world(at);
    uint64_t end_us = at->clock.now_us + NET_SECURE_SILENT_US;
    while (at->clock.now_us < end_us) {
        assert_true(net_secure_server_hold(at->server, at->clock.now_us, at->peer));
        pass_us(at, 1000000);
    }
    assert_false(net_secure_server_hold(at->server, at->clock.now_us, at->peer));
    assert_int_equal(count_of(at, NET_SECURE_SILENT), 1);
}

CASE_WITH(secure_world, at, world_begin(at, (net_security){0}, true, 1), world_deinit(at),
          a_slot_that_is_used_again_has_another_name) {
    connect_world(at);
    net_secure_peer old = at->peer;
    uint8_t kept[DATAGRAM_BYTES_MAX];
    size_t size = seal_from_client(at, "late", 4, kept);
    pass_us(at, NET_SECURE_UNOPENED_US);
    connect_world(at);
    assert_int_equal(NET_SECURE_PEER_SLOT(at->peer), NET_SECURE_PEER_SLOT(old));
    assert_int_not_equal(at->peer, old);
    assert_false(net_secure_server_hold(at->server, at->clock.now_us, old));
    (void)to_server(at, &at->client_address, kept, size);
    assert_int_equal(at->received.inner_size, 0);
    assert_int_equal(count_of(at, NET_SECURE_SESSION_UNKNOWN), 1);
}

WORLD_CASE(either_side_closes_with_a_reason) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    net_address to;
    connect_world(at);
    size_t size = net_secure_server_close(at->server, at->clock.now_us, at->peer,
                                          NET_SECURE_END_BANNED, out, &to);
    assert_int_equal(size, NET_OUTER_CLOSE_BYTES);
    assert_int_equal(net_secure_server_count(at->server), 0);
    (void)to_client(at, &at->client, out, size);
    assert_int_equal(at->client.state, NET_SECURE_CLIENT_ENDED);
    assert_int_equal(at->client.end, NET_SECURE_END_BANNED);
    assert_int_equal(net_secure_server_close(at->server, at->clock.now_us, at->peer,
                                             NET_SECURE_END_BANNED, out, &to),
                     0);
    connect_world(at);
    size = net_secure_client_close(&at->client, at->clock.now_us, out, &to);
    assert_int_equal(at->client.end, NET_SECURE_END_CLOSED);
    (void)to_server(at, &at->client_address, out, size);
    assert_int_equal(net_secure_server_count(at->server), 0);
    assert_int_equal(count_of(at, NET_SECURE_CLOSED), 2);
    assert_int_equal(net_secure_client_close(&at->client, at->clock.now_us, out, &to), 0);
}

WORLD_CASE(a_client_that_comes_back_replaces_its_session) {
    connect_world(at);
    net_secure_peer old = at->peer;
    at->clock.unix_s += 100000; // the token expired long ago
    net_address elsewhere = address_of("[2001:db8::5]:9");
    connect_client(at, &at->client, &elsewhere);
    assert_false(net_secure_server_hold(at->server, at->clock.now_us, old));
    assert_int_equal(net_secure_server_count(at->server), 1);
    assert_int_equal(count_of(at, NET_SECURE_RESUMED), 1);
    assert_int_equal(count_of(at, NET_SECURE_REPLACED), 1);
    at->client_address = elsewhere;
    (void)say(at, &elsewhere, "x", 1);
    net_secure_identity identity;
    assert_true(net_secure_server_identity(at->server, at->peer, &identity));
    assert_true(identity.player_id == 42);
    assert_int_equal(identity.key_id, KEY_ID);
    assert_string_equal((const char*)identity.user_data, "team 42");
    // And again.
    connect_client(at, &at->client, &elsewhere);
    assert_int_equal(net_secure_server_count(at->server), 1);
    assert_int_equal(count_of(at, NET_SECURE_REPLACED), 2);
}

// ---- moving

WORLD_CASE(a_session_follows_its_client_to_an_address_that_answers) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    net_address elsewhere = address_of("203.0.113.9:5001"), to;
    connect_world(at);
    size_t size = seal_from_client(at, "moved", 5, out);
    assert_int_equal(to_server(at, &elsewhere, out, size), NET_OUTER_PATH_BYTES);
    assert_true(net_address_equal(&at->received.reply_to, &elsewhere));
    assert_int_equal(at->received.inner_size, 5); // what it says counts at once
    (void)net_secure_server_send(at->server, at->clock.now_us, at->peer, "x", 1, out, &to);
    assert_true(net_address_equal(&to, &at->client_address));
    assert_int_equal(take_reply(at), NET_OUTER_PATH_BYTES);
    (void)to_server(at, &elsewhere, at->answer.reply, at->answer.reply_size);
    assert_int_equal(at->received.inner_size + at->received.reply_size, 0);
    (void)net_secure_server_send(at->server, at->clock.now_us, at->peer, "x", 1, out, &to);
    assert_true(net_address_equal(&to, &elsewhere));
    assert_int_equal(count_of(at, NET_SECURE_MOVED), 1);
}

WORLD_CASE(an_address_that_does_not_answer_gets_only_questions) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    net_address victim = address_of("192.0.2.99:80"), to;
    connect_world(at);
    uint64_t before = at->server_bytes;
    for (int i = 0; i < 1000; i++) { // one second of spoofed datagrams of a malicious member
        pass_us(at, 1000);
        (void)net_secure_server_hold(at->server, at->clock.now_us, at->peer);
        size_t size = seal_from_client(at, "spoof", 5, out);
        (void)to_server(at, &victim, out, size);
        (void)net_secure_server_send(at->server, at->clock.now_us, at->peer, "x", 1, out, &to);
        assert_true(net_address_equal(&to, &at->client_address));
    }
    assert_true(at->server_bytes - before <= 5 * NET_OUTER_PATH_BYTES);
    assert_true(count_of(at, NET_SECURE_MOVE_BUDGET) > 900);
    assert_int_equal(count_of(at, NET_SECURE_MOVED), 0);
}

WORLD_CASE(an_old_datagram_from_elsewhere_moves_nothing) {
    uint8_t old[DATAGRAM_BYTES_MAX];
    net_address elsewhere = address_of("203.0.113.9:5001");
    connect_world(at);
    size_t old_size = seal_from_client(at, "old", 3, old);
    (void)say(at, &at->client_address, "new", 3);
    assert_int_equal(to_server(at, &elsewhere, old, old_size), 0);
    assert_int_equal(at->received.inner_size, 3);
}

WORLD_CASE(an_answer_for_another_address_moves_nothing) {
    net_address asked = address_of("203.0.113.9:5001"), other = address_of("203.0.113.9:5002");
    connect_world(at);
    (void)say(at, &asked, "x", 1);
    (void)take_reply(at);
    (void)to_server(at, &other, at->answer.reply, at->answer.reply_size);
    assert_int_equal(count_of(at, NET_SECURE_MOVED), 0);
}

// ---- limits

WORLD_CASE(a_session_has_a_budget_of_datagrams) {
    connect_world(at); // takes one
    uint32_t passed = 0;
    for (int i = 0; i < 2000; i++) {
        (void)say(at, &at->client_address, "x", 1);
        passed += at->received.inner_size > 0;
    }
    assert_int_equal(passed, 959);
    assert_int_equal(count_of(at, NET_SECURE_DATA_BUDGET), 2000 - 959);
    pass_us(at, 1000000);
    passed = 0;
    for (int i = 0; i < 2000; i++) {
        (void)say(at, &at->client_address, "x", 1);
        passed += at->received.inner_size > 0;
    }
    assert_int_equal(passed, 480);
}

WORLD_CASE(no_number_of_forgeries_ends_a_session) {
    uint8_t forged[DATAGRAM_BYTES_MAX];
    net_address anywhere = address_of("192.0.2.66:6");
    connect_world(at);
    size_t size = seal_from_client(at, "", 0, forged);
    forged[size - 1] ^= 1;
    for (uint32_t i = 0; i < FORGERIES; i++) {
        (void)to_server(at, i % 2 ? &at->client_address : &anywhere, forged, size);
        if (at->received.reply_size + at->received.inner_size > 0) fail_msg("forgery %u", i);
    }
    assert_int_equal(count_of(at, NET_SECURE_DATA_FORGED), FORGERIES);
    (void)say(at, &at->client_address, "alive", 5);
    assert_int_equal(at->received.inner_size, 5);
}

// At the bound of the AEAD the client gets no CLOSE: it comes back, as after silence.
WORLD_CASE(a_session_ends_without_a_word_when_its_key_is_worn) {
    uint8_t forged[DATAGRAM_BYTES_MAX], out[DATAGRAM_BYTES_MAX];
    connect_world(at);
    size_t size = seal_from_client(at, "", 0, forged);
    forged[size - 1] ^= 1;
    net_secure_session* session = net_secure_session_find(at->server, at->client.session);
    session->receiver.key.forged = NET_CRYPT_FORGED_MAX - 1;
    assert_int_equal(to_server(at, &at->client_address, forged, size), 0);
    assert_int_equal(net_secure_server_count(at->server), 1);
    size = seal_from_client(at, "alive", 5, out);
    assert_int_equal(to_server(at, &at->client_address, out, size), 0);
    assert_int_equal(at->received.inner_size, 0);
    assert_int_equal(net_secure_server_count(at->server), 0);
    assert_int_equal(count_of(at, NET_SECURE_FORGERY_LIMIT), 1);
    connect_world(at);
    assert_int_equal(count_of(at, NET_SECURE_RESUMED), 1);
}

CASE(no_memory_is_said) {
    chance from;
    chance_init(&from, 1);
    uint32_t fails = 0;
    for (;; fails++) {
        scarce_memory scarce;
        scarce_init(&scarce, fails + 1, true);
        net_secure_server* server = NULL;
        net_secure_server_config config = {.allocator = &scarce.allocator,
                                           .sessions_max = 4,
                                           .token_uses_max = 16,
                                           .security = {.entropy = &from.entropy}};
        net_result result = net_secure_server_create(&config, &server);
        if (result == NET_OK) net_secure_server_destroy(server);
        assert_int_equal(scarce.blocks, 0);
        if (result == NET_OK) break;
        assert_int_equal(result, NET_ERR_MEMORY);
    }
    assert_int_equal(fails, 10);
    net_secure_server_destroy(NULL);
}

CASE(counts_and_reasons_have_names) {
    net_secure_stats stats = {.counts = {[NET_SECURE_CHALLENGES] = 2, [NET_SECURE_CLOSED] = 1}};
    char text[64];
    net_secure_stats_text(&stats, text, sizeof text);
    assert_string_equal(text, " challenges=2 closed=1");
    net_secure_stats_text(&stats, text, 10);
    assert_int_equal(strlen(text), 9);
    for (uint32_t i = 0; i < NET_SECURE_COUNTS; i++) {
        stats = (net_secure_stats){0};
        stats.counts[i] = 1;
        net_secure_stats_text(&stats, text, sizeof text);
        assert_true(strlen(text) > strlen(" =1") + 2);
    }
    assert_string_equal(net_secure_end_text(NET_SECURE_END_FULL), "the server is full: try later");
    assert_non_null(strstr(net_secure_end_text(200), "does not know"));
}
