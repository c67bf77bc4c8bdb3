// SPDX-License-Identifier: MIT
/// The memory that a server gives away: a signature over who asked, when, and with which token. The
/// client brings it back, so the server keeps nothing before that.
#pragma once

#include "secure/outer.h"

#define NET_COOKIE_ROTATE_US UINT64_C(60000000) ///< a new secret; the previous one counts as long
#define NET_COOKIE_AGE_US_MAX UINT64_C(10000000)

typedef struct net_cookie_keys {
    uint8_t current[32], previous[32];
    uint64_t rotated_us;
} net_cookie_keys;

/// What a cookie signs.
typedef struct net_cookie_facts {
    const net_address* from;
    const uint8_t* token_tag;     ///< 16 bytes
    const uint8_t* client_random; ///< 16 bytes
    const uint8_t* server_random; ///< 24 bytes
    uint64_t time_us;             ///< when it was made
} net_cookie_facts;

void net_cookie_keys_init(net_cookie_keys* keys, const net_entropy* entropy, uint64_t now_us);
/// Make a new secret when it is time.
void net_cookie_keys_service(net_cookie_keys* keys, const net_entropy* entropy, uint64_t now_us);
void net_cookie_make(const net_cookie_keys* keys, const net_cookie_facts* facts,
                     uint8_t cookie[NET_OUTER_COOKIE_BYTES]);
/// Did this server make it for exactly these facts, in the last 10 s?
bool net_cookie_check(const net_cookie_keys* keys, const net_cookie_facts* facts, uint64_t now_us,
                      const uint8_t cookie[NET_OUTER_COOKIE_BYTES]);
