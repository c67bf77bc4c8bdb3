// SPDX-License-Identifier: MIT
#include "secure/cookie.h"

#include "secure/secure_bytes.h"

#include <sodium.h>

enum { FACTS_BYTES = NET_SECURE_ADDRESS_BYTES + 4 + 16 + 16 + 24 + 8 };

static void sign(const uint8_t key[32], const net_cookie_facts* facts,
                 uint8_t cookie[NET_OUTER_COOKIE_BYTES]) {
    uint8_t bytes[FACTS_BYTES];
    net_secure_cursor to = {bytes};
    net_secure_put_address(&to, facts->from);
    net_secure_put_number(&to, facts->from->scope, 4);
    net_secure_put(&to, facts->token_tag, 16);
    net_secure_put(&to, facts->client_random, NET_OUTER_RANDOM_BYTES);
    net_secure_put(&to, facts->server_random, NET_OUTER_SERVER_RANDOM_BYTES);
    net_secure_put_number(&to, facts->time_us, 8);
    (void)crypto_generichash(cookie, NET_OUTER_COOKIE_BYTES, bytes, sizeof bytes, key, 32);
}

void net_cookie_keys_init(net_cookie_keys* keys, const net_entropy* entropy, uint64_t now_us) {
    entropy->fill(entropy->context, keys->current, sizeof keys->current);
    entropy->fill(entropy->context, keys->previous, sizeof keys->previous);
    keys->rotated_us = now_us;
}

void net_cookie_keys_service(net_cookie_keys* keys, const net_entropy* entropy, uint64_t now_us) {
    if (now_us - keys->rotated_us < NET_COOKIE_ROTATE_US) return;
    memcpy(keys->previous, keys->current, sizeof keys->previous);
    entropy->fill(entropy->context, keys->current, sizeof keys->current);
    keys->rotated_us = now_us;
}

void net_cookie_make(const net_cookie_keys* keys, const net_cookie_facts* facts,
                     uint8_t cookie[NET_OUTER_COOKIE_BYTES]) {
    sign(keys->current, facts, cookie);
}

bool net_cookie_check(const net_cookie_keys* keys, const net_cookie_facts* facts, uint64_t now_us,
                      const uint8_t cookie[NET_OUTER_COOKIE_BYTES]) {
    if (facts->time_us > now_us || now_us - facts->time_us > NET_COOKIE_AGE_US_MAX) return false;
    uint8_t expected[NET_OUTER_COOKIE_BYTES];
    bool is_current = facts->time_us >= keys->rotated_us;
    sign(is_current ? keys->current : keys->previous, facts, expected);
    return sodium_memcmp(expected, cookie, sizeof expected) == 0;
}
