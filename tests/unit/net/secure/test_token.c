// SPDX-License-Identifier: MIT
// Tokens: what is in them, their text, and that the server's key opens exactly what was sealed.
#include "secure_world.h"

static net_token_claims claims_with(uint32_t address_count) {
    net_token_claims claims = {.player_id = UINT64_MAX - 5,
                               .protocol = 77,
                               .expiry_unix_s = UNIX_S,
                               .address_count = address_count};
    for (uint32_t i = 0; i < address_count && i < NET_TOKEN_ADDRESSES_MAX; i++)
        claims.addresses[i] = address_of(i % 2 ? "[2001:db8::1]:7777" : "192.0.2.1:1");
    memset(claims.user_data, 0xA5, sizeof claims.user_data);
    return claims;
}

#define CHANCE_CASE(name, seed) CASE_WITH(chance, from, chance_init(from, seed), (void)0, name)

CHANCE_CASE(the_server_reads_what_the_back_end_said, 1) {
    net_key key;
    net_key_make(9, &from->entropy, &key);
    for (uint32_t count = 0; count <= NET_TOKEN_ADDRESSES_MAX; count++) {
        net_token_claims claims = claims_with(count);
        net_token token;
        net_token_private opened;
        assert_ok(net_token_make(&key, &claims, &from->entropy, &token));
        assert_true(net_token_open(key.bytes, &token, &opened));
        assert_true(opened.player_id == claims.player_id);
        assert_int_equal(opened.origin_key_id, 9);
        assert_int_equal(opened.address_count, count);
        for (uint32_t i = 0; i < count; i++)
            assert_true(net_address_equal(&opened.addresses[i], &claims.addresses[i]));
        assert_memory_equal(opened.user_data, claims.user_data, sizeof claims.user_data);
        assert_memory_equal(opened.client_key, token.client_key, NET_KEY_BYTES);
        assert_memory_equal(opened.server_key, token.server_key, NET_KEY_BYTES);
    }
    net_token_claims claims = claims_with(NET_TOKEN_ADDRESSES_MAX + 1);
    net_token token;
    assert_int_equal(net_token_make(&key, &claims, &from->entropy, &token), NET_ERR_TOKEN);
}

WORLD_CASE(two_tokens_of_the_same_claims_share_nothing) {
    net_token a = make_token(at, 1), b = make_token(at, 1);
    assert_memory_not_equal(a.nonce, b.nonce, sizeof a.nonce);
    assert_memory_not_equal(a.sealed, b.sealed, sizeof a.sealed);
    assert_memory_not_equal(a.client_key, b.client_key, NET_KEY_BYTES);
    assert_memory_not_equal(a.client_key, a.server_key, NET_KEY_BYTES);
    assert_true(a.protocol == NET_TOKEN_PROTOCOL);
    net_token_wipe(&a);
    assert_int_equal(a.sealed[3] + a.client_key[0] + a.server_key[31], 0);
}

CHANCE_CASE(the_text_of_a_token_gives_the_same_token, 2) {
    net_key key;
    net_key_make(9, &from->entropy, &key);
    for (uint32_t count = 0; count <= NET_TOKEN_ADDRESSES_MAX; count++) {
        net_token_claims claims = claims_with(count);
        net_token token, read;
        char text[NET_TOKEN_TEXT_BYTES + 8] = " \n", small[NET_TOKEN_TEXT_BYTES];
        assert_ok(net_token_make(&key, &claims, &from->entropy, &token));
        assert_true(net_token_print(&token, text + 2, NET_TOKEN_TEXT_BYTES));
        size_t length = strlen(text + 2);
        assert_false(net_token_print(&token, small, length));
        assert_string_equal(small, "");
        assert_true(net_token_print(&token, small, length + 1));
        strcpy(text + 2 + length, "\t\r\n ");
        assert_ok(net_token_parse(text, &read));
        assert_memory_equal(&read, &token, sizeof token);
    }
}

WORLD_CASE(a_text_that_was_cut_or_changed_is_no_token) {
    char text[NET_TOKEN_TEXT_BYTES], changed[NET_TOKEN_TEXT_BYTES + 4];
    net_token read = {.key_id = 99};
    assert_true(net_token_print(&at->me.token, text, sizeof text));
    size_t length = strlen(text);
    for (size_t cut = 0; cut < length; cut++) {
        memcpy(changed, text, cut);
        changed[cut] = '\0';
        assert_int_equal(net_token_parse(changed, &read), NET_ERR_TOKEN);
    }
    static const char* const tails[] = {"A", "AA", "AAAA", "=", " A", "*"};
    for (size_t i = 0; i < BASE_COUNT(tails); i++) {
        snprintf(changed, sizeof changed, "%s%s", text, tails[i]);
        assert_int_equal(net_token_parse(changed, &read), NET_ERR_TOKEN);
    }
    strcpy(changed, text);
    changed[0] = text[0] == 'A' ? 'B' : (char)(text[0] + 1); // another version
    assert_int_equal(net_token_parse(changed, &read), NET_ERR_TOKEN);
    strcpy(changed, text);
    changed[2] = (char)0xC6; // libsodium alone takes it for '_'
    assert_int_equal(net_token_parse(changed, &read), NET_ERR_TOKEN);
    strcpy(changed, text);
    changed[100] = '+'; // of the other alphabet
    assert_int_equal(net_token_parse(changed, &read), NET_ERR_TOKEN);
    assert_int_equal(read.key_id, 99);
}
