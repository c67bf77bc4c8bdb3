// SPDX-License-Identifier: MIT
#include "secure/cookie.h"

#include <sodium.h>

#include <string.h>

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

// All additions expire NET_COOKIE_AGE_US_MAX after a time that has passed, so the oldest addition
// holds none behind it up for longer than that.

static uint64_t hash(const net_spent* spent, const uint8_t name[NET_SPENT_NAME_BYTES]) {
    uint64_t value;
    uint8_t out[crypto_shorthash_BYTES];
    (void)crypto_shorthash(out, name, NET_SPENT_NAME_BYTES, spent->key);
    memcpy(&value, out, sizeof value);
    return value;
}

void net_spent_init(net_spent* spent, const net_entropy* entropy) {
    if (spent->count > 0) memset(spent, 0, sizeof *spent);
    entropy->fill(entropy->context, spent->key, sizeof spent->key);
}

static void drop_first(net_spent* spent) {
    const net_spent_entry* first = &spent->entries[spent->first];
    uint32_t* link = &spent->chains[first->name % NET_SPENT_MAX];
    while (*link != spent->first + 1)
        link = &spent->entries[*link - 1].next;
    *link = first->next;
    spent->first = (spent->first + 1) % NET_SPENT_MAX;
    spent->count--;
}

bool net_spent_add(net_spent* spent, uint64_t now_us, const uint8_t name[NET_SPENT_NAME_BYTES],
                   uint64_t time_us) {
    if (now_us - time_us > NET_COOKIE_AGE_US_MAX) return true; // no cookie of then counts
    while (spent->count > 0 &&
           now_us - spent->entries[spent->first].time_us > NET_COOKIE_AGE_US_MAX)
        drop_first(spent);
    if (spent->count == NET_SPENT_MAX) return false;
    const uint32_t place = (spent->first + spent->count++) % NET_SPENT_MAX;
    const uint64_t hashed = hash(spent, name);
    uint32_t* chain = &spent->chains[hashed % NET_SPENT_MAX];
    spent->entries[place] = (net_spent_entry){hashed, time_us, *chain};
    *chain = place + 1;
    return true;
}

bool net_spent_has(const net_spent* spent, const uint8_t name[NET_SPENT_NAME_BYTES],
                   uint64_t time_us) {
    const uint64_t hashed = hash(spent, name);
    for (uint32_t i = spent->chains[hashed % NET_SPENT_MAX]; i != 0; i = spent->entries[i - 1].next)
        if (spent->entries[i - 1].name == hashed && spent->entries[i - 1].time_us >= time_us)
            return true;
    return false;
}
