// SPDX-License-Identifier: MIT
/// What is remembered of addresses without a session: their budgets. A fixed table, so that a flood
/// from any number of addresses costs no memory. An address that comes first in a full set takes
/// the place of the one that was silent for the longest time.
#pragma once

#include "core/ration.h"

#include "net/token.h"

#include "base/alloc.h"

#define NET_ADDRESS_SETS 1024u
#define NET_ADDRESS_WAYS 4u

typedef struct net_address_entry {
    uint64_t name; ///< keyed hash of the address; 0: none
    uint64_t seen_us;
    net_budget requests, replies, responses;
} net_address_entry;

typedef struct net_address_table {
    uint8_t key[16]; ///< secret: no attacker can choose addresses that share a set
    net_address_entry entries[NET_ADDRESS_SETS][NET_ADDRESS_WAYS];
} net_address_table;

/// The entry of an address, made when there is none: the port does not count, and of IPv6 the first
/// 64 bits count, since one home has all the others. Valid until the next call.
net_address_entry* net_address_table_get(net_address_table* table, const net_address* address,
                                         uint64_t now_us);

/// Which tokens were used, and by whom, until they expire: a token that was overheard is worth
/// nothing at another address.
///
/// A fixed number of places, ordered by expiry. A place is free again when its token has expired;
/// no other token ever loses its place, since that would allow its second use.

#define NET_TOKEN_USES_MAX 65536u

typedef struct net_token_uses net_token_uses;

typedef enum net_token_use {
    NET_TOKEN_USE_FIRST, ///< not used until now
    NET_TOKEN_USE_AGAIN, ///< by the same host before
    NET_TOKEN_USE_OTHER, ///< by another host before
} net_token_use;

/// `capacity` is 1..NET_TOKEN_USES_MAX (asserted). It is an owner's: base_owner_destroy.
BASE_MUST_USE net_token_uses* net_token_uses_create(const base_allocator* allocator,
                                                    uint32_t capacity, const uint8_t key[16]);
/// Who used the token with this tag (the last 16 bytes of its sealed part)? The port does not
/// count.
net_token_use net_token_uses_find(const net_token_uses* uses, const uint8_t tag[16],
                                  const net_address* from);
/// Remember a first use until the token expires.
/// @return false when no place is free: refuse the token.
BASE_MUST_USE bool net_token_uses_add(net_token_uses* uses, const uint8_t tag[16],
                                      const net_address* from, uint64_t expiry_unix_s,
                                      uint64_t unix_s);
