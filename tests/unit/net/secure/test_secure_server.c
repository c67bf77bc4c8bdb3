// SPDX-License-Identifier: MIT
// The server's end: whom it lets in, what it answers, and the life of sessions.
#include "secure/secure_server_state.h"
#include "secure_world.h"

WORLD_CASE(a_client_with_a_token_gets_a_session) {
    connect_world(at);
    net_peer_identity identity;
    assert_true(net_secure_server_identity(at->server, at->peer, &identity));
    assert_true(identity.player == 42);
    assert_int_equal(identity.key, KEY_ID);
    assert_string_equal((const char*)identity.user, "team 42");
    assert_true(net_address_equal(&identity.address, &at->me.address));
    uint8_t out[DATAGRAM_BYTES_MAX];
    size_t size = seal_from_server(at, out);
    assert_int_equal(size, 5 + NET_SECURE_OVERHEAD_BYTES);
    assert_true(net_address_equal(&at->sent_to, &at->me.address));
    (void)to_client(at, &at->me, out, size);
    assert_int_equal(at->answer.inner_size, 5);
    assert_memory_equal(at->client_inner, "state", 5);
    assert_int_equal(net_secure_server_count(at->server), 1);
    assert_int_equal(count_of(at, NET_SECURE_ACCEPTED), 1);
    assert_int_equal(count_of(at, NET_SECURE_CHALLENGES), 1);
}

// ---- who is not let in

// What the first answer of the server to a request with a token is.
typedef struct refusal {
    const char* what;
    net_secure_count count;
    net_secure_end reason; // NONE: it is silent
    bool is_signed;
} refusal;

static const char here[] = "203.0.113.9:5000";

static size_t ask(secure_world* at, const net_token* token, const char* from) {
    uint8_t out[NET_OUTER_HELLO_BYTES];
    guest client;
    at->clock.now_us += 1000000; // for the budgets
    guest_init(at, &client, token, from);
    request_of(at, &client, out);
    return to_server(at, &client.address, out, sizeof out);
}

static void expect_refusal(secure_world* at, const net_token* token, const char* from,
                           refusal expected) {
    uint64_t before = count_of(at, expected.count);
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
    secure_world at;
    net_address ours[] = {address_of("198.51.100.1:7777"), address_of("[2001:db8::7]:7777")};
    world_begin(&at, (net_security){.addresses = ours, .address_count = 2}, true, 4);
    const net_key* key = &at.ring.keys[0];
    net_key foreign, unknown = *key;
    net_key_make(KEY_ID, &at.from.entropy, &foreign);
    unknown.id = 99;
    net_token_claims elsewhere = {.address_count = 2};
    elsewhere.addresses[0] = address_of("198.51.100.1:7778");
    elsewhere.addresses[1] = address_of("198.51.100.2:7777");
    net_token_claims among_others = elsewhere;
    among_others.addresses[1] = ours[1];
    const struct {
        const net_key* key;
        net_token_claims claims;
        refusal expected;
    } rows[] = {
        {&foreign, {0}, {"another key", NET_SECURE_TOKEN_FORGED, NET_SECURE_END_TOKEN, false}},
        {&unknown, {0}, {"unknown key", NET_SECURE_KEY_UNKNOWN, NET_SECURE_END_TOKEN, false}},
        {key,
         {.expiry_unix_s = UNIX_S - 6},
         {"expired", NET_SECURE_TOKEN_EXPIRED, NET_SECURE_END_EXPIRED, true}},
        {key, {.expiry_unix_s = UNIX_S - 5}, {"at the edge of the tolerance", 0, 0, 0}},
        {key,
         {.protocol = 5},
         {"another game", NET_SECURE_BAD_PROTOCOL, NET_SECURE_END_NONE, false}},
        {key, elsewhere, {"elsewhere", NET_SECURE_TOKEN_ELSEWHERE, NET_SECURE_END_ELSEWHERE, true}},
        {key, among_others, {"here among others", 0, 0, 0}},
    };
    for (size_t i = 0; i < BASE_COUNT(rows); i++) {
        const net_token token = token_by(&at, rows[i].key, rows[i].claims);
        if (rows[i].expected.count)
            expect_refusal(&at, &token, here, rows[i].expected);
        else if (ask(&at, &token, here) != NET_OUTER_CHALLENGE_BYTES)
            fail_msg("%s", rows[i].expected.what);
    }
    net_token token = token_by(&at, key, (net_token_claims){.expiry_unix_s = UNIX_S - 100});
    token.expiry_unix_s = UNIX_S + 100;
    expect_refusal(&at, &token, here,
                   (refusal){"longer", NET_SECURE_TOKEN_FORGED, NET_SECURE_END_TOKEN, false});
    // The built-in key beside keys.
    net_token_claims dev = {.expiry_unix_s = UNIX_S + 45};
    assert_ok(net_token_make_dev(&dev, &at.from.entropy, &token));
    expect_refusal(&at, &token, "127.0.0.1:5",
                   (refusal){"dev", NET_SECURE_KEY_REFUSED, NET_SECURE_END_TOKEN, false});
    // Used: again from the same host on another port, and from another host.
    connect_client(&at, &at.me);
    assert_int_equal(ask(&at, &at.me.token, "203.0.113.9:6000"), NET_OUTER_CHALLENGE_BYTES);
    expect_refusal(&at, &at.me.token, "203.0.113.10:5000",
                   (refusal){"used", NET_SECURE_TOKEN_USED, NET_SECURE_END_NONE, false});
    // A resume token of another process is sealed by another key.
    token = at.me.token;
    token.key_id = NET_KEY_ID_RESUME;
    expect_refusal(&at, &token, here,
                   (refusal){"resume", NET_SECURE_TOKEN_FORGED, NET_SECURE_END_NONE, false});
    world_deinit(&at);
}

WORLD_CASE(no_changed_byte_of_a_request_or_response_is_answered_like_it) {
    at->me.address = address_of("127.0.0.1:9"); // without budgets of one address
    uint8_t out[NET_OUTER_HELLO_BYTES];
    request_of(at, &at->me, out);
    for (size_t i = 0; i < sizeof out; i++) {
        bool is_chance = i >= 2 && i < 18, is_protocol = i >= 19 && i < 27;
        bool is_of_token = i >= 18 && i < 571 && !is_protocol;
        out[i] ^= 0x10;
        at->clock.now_us += 2000;
        assert_int_equal(give(at, out), is_chance               ? NET_OUTER_CHALLENGE_BYTES
                                        : i == 1 || is_of_token ? NET_OUTER_NOTICE_BYTES
                                                                : 0);
        out[i] ^= 0x10;
    }
    for (size_t i = 0; i <= sizeof out; i++) { // a wrong signature spends the cookie
        at->clock.now_us += 1000;
        response_of(at, &at->me, out);
        if (i < sizeof out) out[i] ^= 0x10;
        assert_int_equal(give(at, out), i < sizeof out ? 0 : NET_OUTER_ACCEPT_BYTES);
    }
}

// ---- the life of a session

WORLD_CASE(a_response_that_comes_again_begins_nothing_new) {
    uint8_t response[NET_OUTER_HELLO_BYTES];
    response_of(at, &at->me, response);
    assert_int_equal(give(at, response), NET_OUTER_ACCEPT_BYTES);
    const net_secure_received first = at->received;
    assert_int_equal(give(at, response), NET_OUTER_ACCEPT_BYTES);
    assert_memory_equal(first.reply + 1, at->received.reply + 1, 4);     // one session
    assert_memory_not_equal(first.reply + 5, at->received.reply + 5, 6); // another number
    assert_int_equal(give(at, response), 0);
    assert_int_equal(net_secure_server_count(at->server), 1);
    // The client takes either, and the other one inside of the session.
    (void)to_client(at, &at->me, first.reply, first.reply_size);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_OPEN);
    pass_us(at, 200000);
    (void)give(at, response);
    (void)take_reply(at, &at->me);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_OPEN);
    // Nor does it after the end of the session.
    pass_us(at, NET_SECURE_UNOPENED_US);
    assert_int_equal(net_secure_server_count(at->server), 0);
    assert_int_equal(give(at, response), 0);
    assert_int_equal(net_secure_server_count(at->server), 0);
}

WORLD_CASE(a_token_that_is_used_again_gives_other_keys) {
    uint8_t first[DATAGRAM_BYTES_MAX], second[DATAGRAM_BYTES_MAX];
    guest again;
    again_init(at, &again);
    connect_client(at, &at->me);
    connect_client(at, &again);
    size_t size = seal_by(at, &at->me, "the same text", 13, first);
    assert_int_equal(seal_by(at, &again, "the same text", 13, second), size);
    assert_memory_not_equal(first + NET_OUTER_HEAD_BYTES, second + NET_OUTER_HEAD_BYTES, 13);
    assert_int_equal(net_secure_server_count(at->server), 1); // one token, one session
    assert_int_equal(count_of(at, NET_SECURE_REPLACED), 1);
}

WORLD_CASE(a_session_lives_while_it_is_held) {
    connect_world(at);
    uint8_t out[DATAGRAM_BYTES_MAX];
    pass_us(at, NET_SECURE_UNOPENED_US - 1);
    for (int i = 0; i < 50; i++) {
        assert_true(hold(at));
        pass_us(at, NET_SECURE_LINGER_US - 1);
        (void)is_heard(at, &at->me);
    }
    assert_int_equal(net_secure_server_count(at->server), 1);
    pass_us(at, SWEEP_SLACK_US);
    assert_int_equal(net_secure_server_count(at->server), 0);
    assert_int_equal(count_of(at, NET_SECURE_LINGERED), 1);
    assert_false(hold(at));
    assert_int_equal(seal_from_server(at, out), 0);
    net_peer_identity identity;
    assert_false(net_secure_server_identity(at->server, at->peer, &identity));
}

WORLD_CASE_FOR(a_slot_that_is_used_again_has_another_name, 1) {
    connect_world(at);
    net_secure_peer old = at->peer;
    uint8_t kept[DATAGRAM_BYTES_MAX];
    size_t size = seal_by(at, &at->me, "late", 4, kept);
    pass_us(at, NET_SECURE_UNOPENED_US);
    connect_world(at);
    assert_int_equal(NET_SECURE_PEER_SLOT(at->peer), NET_SECURE_PEER_SLOT(old));
    assert_int_not_equal(at->peer, old);
    assert_false(net_secure_server_hold(at->server, at->clock.now_us, old));
    (void)to_server(at, &at->me.address, kept, size);
    assert_int_equal(at->received.inner_size, 0);
    assert_int_equal(count_of(at, NET_SECURE_SESSION_UNKNOWN), 1);
}

WORLD_CASE(either_side_closes_with_a_reason) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    connect_world(at);
    net_secure_session_close(at->server, at->clock.now_us,
                             &at->server->sessions[NET_SECURE_PEER_SLOT(at->peer)],
                             NET_SECURE_CLOSED, NET_SECURE_END_BANNED);
    assert_int_equal(at->closed.size, NET_OUTER_CLOSE_BYTES);
    assert_int_equal(net_secure_server_count(at->server), 0);
    (void)to_client(at, &at->me, at->closed.bytes, at->closed.size);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_ENDED);
    assert_int_equal(at->me.client.end, NET_SECURE_END_BANNED);
    connect_world(at);
    const size_t size = close_client(at, &at->me, out);
    assert_int_equal(size, NET_OUTER_CLOSE_BYTES);
    (void)to_server(at, &at->me.address, out, size);
    assert_int_equal(net_secure_server_count(at->server), 0);
    assert_int_equal(count_of(at, NET_SECURE_CLOSED), 2);
    net_secure_server_stop(at->server, at->clock.now_us);
    assert_int_equal(at->closed.count, 1); // who closed gets no CLOSE
}

// ---- moving

// Where the server sends to the client.
static net_address place_of(secure_world* at) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    (void)seal_from_server(at, out);
    return at->sent_to;
}

static void expect_place(secure_world* at, const net_address* expected) {
    const net_address place = place_of(at);
    assert_true(net_address_equal(&place, expected));
}

WORLD_CASE(a_session_follows_its_client_to_an_address_that_answers) {
    const net_address before = at->me.address;
    connect_world(at);
    at->me.address = address_of("203.0.113.9:5001");
    assert_true(is_heard(at, &at->me)); // what it says counts at once
    assert_int_equal(at->received.reply_size, NET_OUTER_PATH_BYTES);
    assert_true(net_address_equal(&at->received.reply_to, &at->me.address));
    expect_place(at, &before);
    assert_int_equal(take_reply(at, &at->me), NET_OUTER_PATH_BYTES);
    assert_int_equal(take_answer(at, &at->me) + at->received.inner_size, 0);
    expect_place(at, &at->me.address);
    assert_int_equal(count_of(at, NET_SECURE_MOVED), 1);
}

WORLD_CASE(an_address_that_does_not_answer_gets_only_questions) {
    const net_address before = at->me.address;
    connect_world(at);
    at->me.address = address_of("192.0.2.99:80");
    uint64_t sent_before = at->server_bytes;
    for (int i = 0; i < 1000; i++) { // one second of spoofed datagrams of a malicious member
        pass_us(at, 1000);
        (void)hold(at);
        (void)is_heard(at, &at->me);
        expect_place(at, &before);
    }
    assert_true(at->server_bytes - sent_before <= 5 * NET_OUTER_PATH_BYTES);
    assert_true(count_of(at, NET_SECURE_MOVE_BUDGET) > 900);
    assert_int_equal(count_of(at, NET_SECURE_MOVED), 0);
}

WORLD_CASE(an_old_datagram_from_elsewhere_moves_nothing) {
    uint8_t old[DATAGRAM_BYTES_MAX];
    net_address elsewhere = address_of("203.0.113.9:5001");
    connect_world(at);
    size_t old_size = seal_by(at, &at->me, "old", 3, old);
    (void)is_heard(at, &at->me);
    assert_int_equal(to_server(at, &elsewhere, old, old_size), 0);
    assert_int_equal(at->received.inner_size, 3);
}

WORLD_CASE(an_answer_for_another_address_moves_nothing) {
    connect_world(at);
    at->me.address.port++;
    (void)is_heard(at, &at->me);
    (void)take_reply(at, &at->me);
    at->me.address.port++;
    (void)take_answer(at, &at->me);
    assert_int_equal(count_of(at, NET_SECURE_MOVED), 0);
}

// ---- limits

WORLD_CASE(a_session_has_a_budget_of_datagrams) {
    static const uint32_t passes[] = {959, 480};
    connect_world(at); // takes one
    for (int second = 0; second < 2; second++) {
        uint32_t passed = 0;
        for (int i = 0; i < 2000; i++)
            passed += is_heard(at, &at->me);
        assert_int_equal(passed, passes[second]);
        pass_us(at, 1000000);
    }
    assert_int_equal(count_of(at, NET_SECURE_DATA_BUDGET), 4000 - passes[0] - passes[1]);
}

// At the bound of the AEAD the client gets no CLOSE: it comes back, as after silence.
WORLD_CASE(a_session_ends_without_a_word_when_its_key_is_worn) {
    uint8_t forged[DATAGRAM_BYTES_MAX];
    connect_world(at);
    size_t size = seal_by(at, &at->me, "", 0, forged);
    forged[size - 1] ^= 1;
    net_secure_session* session = net_secure_session_find(at->server, at->me.client.session);
    session->receiver.key.forged = NET_CRYPT_FORGED_MAX - 1;
    assert_int_equal(to_server(at, &at->me.address, forged, size), 0);
    assert_int_equal(net_secure_server_count(at->server), 1);
    assert_false(is_heard(at, &at->me));
    assert_int_equal(at->received.reply_size + at->received.inner_size, 0);
    assert_int_equal(net_secure_server_count(at->server), 0);
    assert_int_equal(count_of(at, NET_SECURE_FORGERY_LIMIT), 1);
    connect_world(at);
    assert_int_equal(count_of(at, NET_SECURE_RESUMED), 1);
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
