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

/// Which cookies are sound and count no more: a name and a time; cookies of that name that were
/// made until then are spent. The name is a cookie, or the tag of a player's first token when a
/// session of it has ended. A fixed number of places: one is free when no cookie of its time
/// counts.

#define NET_SPENT_MAX 8192u ///< a full server ends all its sessions at once, and half remains

enum { NET_SPENT_NAME_BYTES = 16 };

typedef struct net_spent_entry {
    uint64_t name; ///< keyed hash
    uint64_t time_us;
    uint32_t next; ///< of the chain: place + 1; 0: none
} net_spent_entry;

typedef struct net_spent {
    uint8_t key[16];       ///< secret: no attacker can choose names that share a chain
    uint32_t first, count; ///< a ring, the oldest addition first
    net_spent_entry entries[NET_SPENT_MAX];
    uint32_t chains[NET_SPENT_MAX];
} net_spent;

/// `spent` is all zero, or was in use: then it begins again.
void net_spent_init(net_spent* spent, const net_entropy* entropy);
/// Cookies of this name that were made until `time_us` count no more. `now_us` is no earlier.
/// @return false when no place is free: change the secret of all cookies, then begin again.
BASE_MUST_USE bool net_spent_add(net_spent* spent, uint64_t now_us,
                                 const uint8_t name[NET_SPENT_NAME_BYTES], uint64_t time_us);
/// Is a cookie of this name, made at `time_us`, spent?
bool net_spent_has(const net_spent* spent, const uint8_t name[NET_SPENT_NAME_BYTES],
                   uint64_t time_us);
