// SPDX-License-Identifier: MIT
// Whom a server does not serve, or serves no more, and what that client learns: sessions that give
// their place, CLOSE for each end, and the reasons of a DENY.
#include "secure_world.h"

enum { PLACES = 4 };

static void stranger_init(secure_world* at, guest* made, uint8_t number) {
    player_init(at, made, number);
    made->address.ip[15] = number;
    begin_client(at, made);
}

// Clients that open a session and say nothing inside of it, one after the other.
static void fill(secure_world* at, guest guests[PLACES], uint64_t apart_us) {
    for (uint8_t i = 0; i < PLACES; i++) {
        stranger_init(at, &guests[i], i + 1);
        assert_int_equal(serve_client(at, &guests[i]), NET_SECURE_CLIENT_OPEN);
        at->clock.now_us += apart_us;
    }
    assert_int_equal(net_secure_server_count(at->server), PLACES);
}

// The client takes the CLOSE that the server sent last, which went to its address.
static net_secure_end take_close(secure_world* at, guest* of) {
    assert_int_equal(at->closed.size, NET_OUTER_CLOSE_BYTES);
    assert_true(net_address_equal(&at->closed.to, &of->address));
    (void)to_client(at, of, at->closed.bytes, at->closed.size);
    assert_int_equal(of->client.state, NET_SECURE_CLIENT_ENDED);
    return of->client.end;
}

// ---- places

WORLD_CASE(a_session_that_was_held_keeps_its_place) {
    guest held[PLACES], newcomer;
    fill(at, held, 0);
    hold_all(at);
    pass_us(at, NET_SECURE_OPENING_US);
    stranger_init(at, &newcomer, 9);
    assert_int_equal(serve_client(at, &newcomer), NET_SECURE_CLIENT_ENDED); // at once
    assert_int_equal(newcomer.client.end, NET_SECURE_END_FULL);
    assert_int_equal(at->closed.count, 0);
    assert_int_equal(count_of(at, NET_SECURE_SESSIONS_FULL), 1);
    pass_us(at, NET_SECURE_LINGER_US);
    connect_client(at, &newcomer);
}

// While anyone renews sessions that are never opened, each newcomer gets in.
WORLD_CASE(sessions_that_are_renewed_and_never_opened_keep_no_newcomer_out) {
    enum { NEWCOMERS = 20, IDLE = 3 * PLACES };
    static guest idle[IDLE];
    uint32_t waited_ms_max = 0;
    for (uint8_t i = 0; i < IDLE; i++)
        stranger_init(at, &idle[i], i + 1);
    for (uint8_t n = 0; n < NEWCOMERS; n++) {
        guest newcomer;
        stranger_init(at, &newcomer, 100 + n);
        uint32_t ms = 0;
        for (; ms < 4000 && newcomer.client.state != NET_SECURE_CLIENT_OPEN; ms += 10) {
            for (uint32_t i = 0; i < IDLE; i++) {
                if (idle[i].client.state == NET_SECURE_CLIENT_ENDED) begin_client(at, &idle[i]);
                (void)serve_client(at, &idle[i]);
            }
            (void)serve_client(at, &newcomer);
            pass_us(at, 10000);
        }
        assert_int_equal(newcomer.client.state, NET_SECURE_CLIENT_OPEN);
        if (ms > waited_ms_max) waited_ms_max = ms;
        net_secure_server_stop(at->server, at->clock.now_us);
    }
    printf("a newcomer waited %u ms at most\n", waited_ms_max);
}

// ---- ends

static void end_unopened(secure_world* at) {
    pass_us(at, NET_SECURE_UNOPENED_US + SWEEP_SLACK_US);
}

static void end_lingering(secure_world* at) {
    hold_all(at);
    pass_us(at, NET_SECURE_LINGER_US + SWEEP_SLACK_US);
}

static void end_silent(secure_world* at) {
    for (uint64_t us = 0; us <= NET_SECURE_SILENT_US; us += 1000000) {
        assert_true(hold(at) || us >= NET_SECURE_SILENT_US);
        pass_us(at, 1000000);
    }
}

static void end_replaced(secure_world* at) {
    guest second;
    again_init(at, &second);
    second.address.port++;
    connect_client(at, &second);
}

static void end_stopped(secure_world* at) {
    net_secure_server_stop(at->server, at->clock.now_us);
}

static const struct {
    const char* what;
    void (*end)(secure_world* at);
    net_secure_count count;
    net_secure_end reason;
} ENDS[] = {
    {"unopened", end_unopened, NET_SECURE_UNOPENED, NET_SECURE_END_CLOSED},
    {"lingering", end_lingering, NET_SECURE_LINGERED, NET_SECURE_END_CLOSED},
    {"silent", end_silent, NET_SECURE_SILENT, NET_SECURE_END_CLOSED},
    {"replaced", end_replaced, NET_SECURE_REPLACED, NET_SECURE_END_REPLACED},
    {"stopped", end_stopped, NET_SECURE_CLOSED, NET_SECURE_END_CLOSED},
};

CASE_ROWS(secure_world, at, world_begin(at, (net_security){0}, true, PLACES), world_deinit(at), i,
          BASE_COUNT(ENDS), a_client_that_is_served_no_more_gets_a_close) {
    connect_world(at);
    ENDS[i].end(at);
    if (count_of(at, ENDS[i].count) != 1 || at->closed.count != 1 ||
        take_close(at, &at->me) != ENDS[i].reason)
        fail_msg("%s: %u closes, reason %u", ENDS[i].what, at->closed.count,
                 (unsigned)at->me.client.end);
}

// ---- reasons

CASE(a_signed_reason_ends_the_attempt_at_once) {
    for (int is_elsewhere = 0; is_elsewhere < 2; is_elsewhere++) {
        secure_world at;
        net_address ours = address_of("198.51.100.1:7777");
        world_begin(&at, (net_security){.addresses = &ours, .address_count = 1}, true, PLACES);
        net_token_claims claims = {.expiry_unix_s = UNIX_S + 45, .address_count = 1};
        claims.addresses[0] = address_of(is_elsewhere ? "198.51.100.2:7777" : "198.51.100.1:7777");
        net_token token;
        assert_ok(net_token_make(&at.ring.keys[0], &claims, &at.from.entropy, &token));
        guest_init(&at, &at.me, &token, "203.0.113.9:5000");
        if (!is_elsewhere) at.clock.unix_s += 51;
        assert_int_equal(try_client(&at, &at.me), NET_SECURE_CLIENT_ENDED);
        assert_int_equal(at.me.client.end,
                         is_elsewhere ? NET_SECURE_END_ELSEWHERE : NET_SECURE_END_EXPIRED);
        assert_int_equal(at.client_bytes, NET_OUTER_HELLO_BYTES);
        assert_int_equal(at.server_bytes, NET_OUTER_DENY_BYTES);
        world_deinit(&at);
    }
}

CASE_ROWS(secure_world, at, world_begin(at, (net_security){0}, true, PLACES), world_deinit(at),
          has_token, 2, a_reason_without_a_signature_is_told_at_once_and_ends_nothing) {
    const net_secure_end reason = has_token ? NET_SECURE_END_TOKEN : NET_SECURE_END_NO_TOKEN;
    net_secure_client* client = &at->me.client;
    const net_key_ring ring = at->ring;
    if (has_token) {
        net_key_make(KEY_ID, &at->from.entropy, &at->ring.keys[0]);
        net_secure_server_keys_set(at->server, &at->ring);
    } else {
        guest_init(at, &at->me, NULL, "203.0.113.9:5000");
    }
    (void)try_client(at, &at->me);
    assert_int_equal(at->server_bytes, NET_OUTER_NOTICE_BYTES);
    assert_int_equal(net_secure_client_take_notice(client), reason);
    assert_int_equal(net_secure_client_take_notice(client), NET_SECURE_END_NONE); // once
    const uint64_t begin_us = at->clock.now_us;
    while (serve_client(at, &at->me) == NET_SECURE_CLIENT_ASKING)
        pass_us(at, 10000);
    assert_int_equal(client->end, reason);
    assert_true(at->clock.now_us - begin_us >= NET_SECURE_ANSWER_US_MAX);
    assert_int_equal(net_secure_client_take_notice(client), NET_SECURE_END_NONE);
    // A server that reads its keys again lets the client in, in the same attempt.
    (void)try_client(at, &at->me);
    assert_int_equal(net_secure_client_take_notice(client), reason);
    net_secure_server_keys_set(at->server, has_token ? &ring : NULL);
    pass_us(at, NET_SECURE_RESEND_US);
    at->me.address = address_of("127.0.0.1:5000"); // where the built-in key counts
    assert_int_equal(serve_client(at, &at->me), NET_SECURE_CLIENT_OPEN);
}

// The session lost its connection long after the token expired, and a slow line lets the client
// show both before the first answer comes.
WORLD_CASE(an_expired_token_is_no_end_of_a_resume_token) {
    uint8_t resume[NET_OUTER_HELLO_BYTES], token[NET_OUTER_HELLO_BYTES];
    connect_world(at);
    at->clock.unix_s += 51;
    request_of(at, &at->me, resume);
    pass_us(at, NET_SECURE_RESEND_US);
    assert_int_equal(next_hello(at, &at->me, token), NET_OUTER_HELLO_BYTES);
    assert_int_equal(token[18], KEY_ID);
    assert_int_equal(give(at, token), NET_OUTER_DENY_BYTES);
    (void)take_reply(at, &at->me);
    assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_ASKING);
    for (int i = 0; i < 3; i++) { // from now on it shows the resume token alone
        pass_us(at, NET_SECURE_RESEND_US_MAX);
        assert_int_equal(next_hello(at, &at->me, token), NET_OUTER_HELLO_BYTES);
        assert_int_equal(token[18], NET_KEY_ID_RESUME);
    }
    assert_int_equal(carry(at, &at->me, resume, sizeof resume), NET_SECURE_CLIENT_OPEN);
}

// Who overheard a request may show it to another server that has the key, and send that answer on.
WORLD_CASE(a_reason_about_a_token_counts_before_the_challenge_only) {
    uint8_t response[NET_OUTER_HELLO_BYTES], deny[NET_OUTER_DENY_BYTES];
    response_of(at, &at->me, response);
    for (int reason = NET_SECURE_END_EXPIRED; reason <= NET_SECURE_END_ELSEWHERE; reason++) {
        size_t size = net_outer_deny_write((net_secure_end)reason, at->me.client.random,
                                           at->me.token.server_key, deny);
        (void)to_client(at, &at->me, deny, size);
        assert_int_equal(at->me.client.state, NET_SECURE_CLIENT_PROVING);
    }
    assert_int_equal(carry(at, &at->me, response, sizeof response), NET_SECURE_CLIENT_OPEN);
}

// Wrong tokens and other versions get 500 answers a second, and sound ones theirs beside them.
WORLD_CASE(a_flood_of_wrong_tokens_takes_no_challenge_away) {
    enum { SECONDS = 2, PER_MS = 8 };
    uint8_t sound[NET_OUTER_HELLO_BYTES], wrong[NET_OUTER_HELLO_BYTES];
    uint64_t challenges = 0, denied = 0;
    net_address from = address_of("10.0.0.1:5");
    request_of(at, &at->me, sound);
    memcpy(wrong, sound, sizeof wrong);
    wrong[100] ^= 1;
    for (uint32_t ms = 0; ms < SECONDS * 1000; ms++) {
        pass_us(at, 1000);
        for (uint32_t i = 0; i < PER_MS; i++) {
            memcpy(from.ip + 12, &(uint32_t){0x01000000 + ms * PER_MS + i}, 4);
            wrong[1] = i % 2 ? NET_SECURE_VERSION : NET_SECURE_VERSION + 1;
            size_t size = to_server(at, &from, wrong, sizeof wrong);
            denied += size > 0;
            assert_true(size <= NET_OUTER_NOTICE_BYTES);
        }
        memcpy(from.ip + 12, &(uint32_t){0x02000000 + ms}, 4);
        challenges += to_server(at, &from, sound, sizeof sound) == NET_OUTER_CHALLENGE_BYTES;
    }
    assert_int_equal(challenges, SECONDS * 1000);
    assert_in_range(denied, 500 * SECONDS, 500 * SECONDS + 100);
}
