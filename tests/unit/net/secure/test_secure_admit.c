// SPDX-License-Identifier: MIT
// Tokens of connections that TLS encrypts, of browsers. Each end, and who comes again.
#include "secure_world.h"

typedef struct admitted {
    net_secure_end end;
    net_peer_identity identity;
    net_token resume, later;
} admitted;

static admitted admit(secure_world* at, const net_token* token, const char* from) {
    admitted got = {0};
    const net_address address = address_of(from);
    got.end = net_secure_server_admit(at->server, &at->clock, &address, token, &got.identity,
                                      &got.resume, &got.later);
    return got;
}

static net_token dev_token(secure_world* at) {
    const net_token_claims claims = {.player_id = 9, .expiry_unix_s = UINT64_MAX};
    net_token token;
    assert_ok(net_token_make_dev(&claims, &at->from.entropy, &token));
    return token;
}

// Both ways: it is one list.
WORLD_CASE(a_token_that_was_used_by_datagrams_counts_nowhere_else) {
    connect_world(at);
    assert_int_equal(admit(at, &at->me.token, "203.0.113.8:1").end, NET_SECURE_END_TOKEN);
    assert_int_equal(admit(at, &at->me.token, "203.0.113.9:1").end, NET_SECURE_END_NONE);
    const net_token token = make_token(at, 43);
    assert_int_equal(admit(at, &token, "203.0.113.8:1").end, NET_SECURE_END_NONE);
    guest late;
    guest_init(at, &late, &token, "203.0.113.9:5000");
    assert_true(try_client(at, &late) != NET_SECURE_CLIENT_OPEN);
    net_secure_client_deinit(&late.client);
}

WORLD_CASE(a_resume_token_brings_its_player_from_any_address) {
    const net_token token = make_token(at, 42);
    admitted got = admit(at, &token, "203.0.113.9:5000");
    at->clock.unix_s += 3600; // the first one is long over
    for (uint32_t i = 0; i < 3; i++) {
        const net_token resume = got.resume;
        got = admit(at, &resume, i ? "198.51.100.77:1" : "[2001:db8::1]:1");
        assert_int_equal(got.end, NET_SECURE_END_NONE);
        assert_int_equal(got.identity.player, 42);
        assert_int_equal(got.identity.key, KEY_ID);
        assert_memory_equal(got.identity.user, "team 42", 7);
    }
    assert_int_equal(count_of(at, NET_SECURE_RESUMED), 3);
    // It is the same player's by datagrams, too.
    assert_int_equal(admit(at, &token, "203.0.113.9:5000").end, NET_SECURE_END_EXPIRED);
}

// Where the first token was for, and from then on for so long, whatever match runs there.
CASE(who_was_let_in_by_a_token_may_join_later_matches_of_its_servers) {
    secure_world first, later, *at = &first, *next = &later;
    const net_address here = address_of("198.51.100.1:7777");
    net_security security = {
        .addresses = &here, .address_count = 1, .identity = 5, .again_s = 3600};
    world_begin(at, security, true, 4);
    net_token_claims claims = {.player_id = 42, .expiry_unix_s = UNIX_S + 45, .address_count = 1};
    net_token token;
    claims.addresses[0] = here;
    assert_ok(net_token_make(&at->ring.keys[0], &claims, &at->from.entropy, &token));
    const admitted got = admit(at, &token, "203.0.113.9:1");
    security.identity = 6;
    world_begin(next, security, true, 4);
    next->clock.unix_s += 3600;
    assert_int_equal(admit(next, &got.resume, "203.0.113.9:1").end, NET_SECURE_END_TOKEN);
    const admitted again = admit(next, &got.later, "198.51.100.77:1");
    assert_int_equal(again.end, NET_SECURE_END_NONE);
    assert_int_equal(again.identity.player, 42);
    assert_int_equal(again.identity.key, KEY_ID);
    assert_int_equal(again.resume.key_id, NET_KEY_ID_RESUME);
    assert_int_equal(again.later.key_id, 0); // it is not renewed
    assert_int_equal(admit(at, &got.resume, "203.0.113.9:1").later.key_id, 0);
    next->clock.unix_s += NET_SECURE_TOLERANCE_S + 1;
    assert_int_equal(admit(next, &got.later, "203.0.113.9:1").end, NET_SECURE_END_EXPIRED);
    world_deinit(next);
    const net_address there = address_of("198.51.100.2:7777");
    security.addresses = &there;
    world_begin(next, security, true, 4);
    assert_int_equal(admit(next, &got.later, "203.0.113.9:1").end, NET_SECURE_END_ELSEWHERE);
    world_deinit(next);
    security.addresses = &here;
    security.again_s = 0;
    world_begin(next, security, true, 4);
    assert_int_equal(admit(next, &got.later, "203.0.113.9:1").end, NET_SECURE_END_TOKEN);
    assert_int_equal(admit(next, &token, "203.0.113.9:1").later.key_id, 0);
    world_deinit(next);
    world_deinit(at);
}

WORLD_CASE(what_is_no_token_of_this_server_is_refused) {
    net_token token = make_token(at, 42);
    token.sealed[3] ^= 1;
    assert_int_equal(admit(at, &token, "203.0.113.9:1").end, NET_SECURE_END_TOKEN);
    assert_int_equal(count_of(at, NET_SECURE_TOKEN_FORGED), 1);
    token = make_token(at, 42);
    token.key_id = KEY_ID + 1;
    assert_int_equal(admit(at, &token, "203.0.113.9:1").end, NET_SECURE_END_TOKEN);
    assert_int_equal(count_of(at, NET_SECURE_KEY_UNKNOWN), 1);
    token = make_token(at, 42);
    token.protocol++;
    assert_int_equal(admit(at, &token, "203.0.113.9:1").end, NET_SECURE_END_TOKEN);
    assert_int_equal(count_of(at, NET_SECURE_BAD_PROTOCOL), 1);
    token = make_token(at, 42);
    token.key_id = NET_KEY_ID_RESUME; // sealed with another key
    assert_int_equal(admit(at, &token, "203.0.113.9:1").end, NET_SECURE_END_TOKEN);
    token = make_token(at, 42);
    at->clock.unix_s = token.expiry_unix_s + NET_SECURE_TOLERANCE_S;
    assert_int_equal(admit(at, &token, "203.0.113.9:1").end, NET_SECURE_END_NONE);
    at->clock.unix_s++;
    const admitted got = admit(at, &token, "203.0.113.9:1");
    assert_int_equal(got.end, NET_SECURE_END_EXPIRED);
    assert_int_equal(got.identity.player, 0); // nothing of it is said
    const net_token none = {0};
    assert_memory_equal(&got.resume, &none, sizeof none);
    token = dev_token(at);
    assert_int_equal(admit(at, &token, "127.0.0.1:1").end, NET_SECURE_END_TOKEN); // there are keys
    assert_int_equal(count_of(at, NET_SECURE_ACCEPTED), 1);
}

WORLD_CASE(a_standby_says_not_now_and_uses_up_nothing) {
    const net_token token = make_token(at, 42);
    net_secure_server_set_standby(at->server, true);
    assert_int_equal(admit(at, &token, "203.0.113.9:1").end, NET_SECURE_END_NOT_NOW);
    net_secure_server_set_standby(at->server, false);
    assert_int_equal(admit(at, &token, "203.0.113.8:1").end, NET_SECURE_END_NONE);
}

CASE(the_built_in_key_counts_for_addresses_of_no_internet) {
    secure_world world, *at = &world;
    world_begin(at, (net_security){0}, false, 4);
    const net_token token = dev_token(at);
    assert_int_equal(admit(at, &token, "203.0.113.9:1").end, NET_SECURE_END_TOKEN);
    assert_int_equal(count_of(at, NET_SECURE_KEY_REFUSED), 1);
    const admitted got = admit(at, &token, "192.168.1.7:1");
    assert_int_equal(got.end, NET_SECURE_END_NONE);
    assert_int_equal(got.identity.key, NET_KEY_ID_DEV);
    assert_int_equal(admit(at, &token, "127.0.0.1:1").end, NET_SECURE_END_NONE); // any number
    world_deinit(at);
    world_begin(at, (net_security){.allow_dev_key = true}, false, 4);
    assert_int_equal(admit(at, &token, "203.0.113.9:1").end, NET_SECURE_END_NONE);
    world_deinit(at);
}

CASE(without_room_for_another_token_it_says_so) {
    secure_world world, *at = &world;
    world_begin(at, (net_security){0}, true, 4);
    net_secure_server_destroy(at->server);
    const net_secure_server_config config = {
        .sessions_max = 4,
        .security = {.keys = &at->ring, .entropy = &at->from.entropy},
        .now_us = at->clock.now_us,
        .token_uses_max = 1};
    at->server = net_secure_server_create(&config);
    const net_token first = make_token(at, 1), second = make_token(at, 2);
    assert_int_equal(admit(at, &first, "203.0.113.9:1").end, NET_SECURE_END_NONE);
    assert_int_equal(admit(at, &second, "203.0.113.9:1").end, NET_SECURE_END_FULL);
    assert_int_equal(count_of(at, NET_SECURE_TOKENS_FULL), 1);
    assert_int_equal(admit(at, &first, "203.0.113.9:1").end, NET_SECURE_END_NONE);
    world_deinit(at);
}
