// SPDX-License-Identifier: MIT
/// Which tokens were used, and by whom, until they expire: a token that was overheard is worth
/// nothing at another address.
///
/// A fixed number of places, ordered by expiry. A place is free again when its token has expired;
/// no other token ever loses its place, since that would allow its second use.
#pragma once

#include "net/token.h"
#include "base/alloc.h"

#define NET_TOKEN_USES_MAX 65536u

typedef struct net_token_uses net_token_uses;

typedef enum net_token_use {
    NET_TOKEN_USE_FIRST, ///< not used until now
    NET_TOKEN_USE_AGAIN, ///< by the same host before
    NET_TOKEN_USE_OTHER, ///< by another host before
} net_token_use;

/// @return NET_OK; NET_ERR_MEMORY. `capacity` is 1..NET_TOKEN_USES_MAX (asserted).
BASE_MUST_USE net_result net_token_uses_create(const base_allocator* allocator, uint32_t capacity,
                                               const uint8_t key[16], net_token_uses** uses);
void net_token_uses_destroy(net_token_uses* uses);
/// Who used the token with this tag (the last 16 bytes of its sealed part)? The port does not
/// count.
net_token_use net_token_uses_find(const net_token_uses* uses, const uint8_t tag[16],
                                  const net_address* from);
/// Remember a first use until the token expires.
/// @return false when no place is free: refuse the token.
BASE_MUST_USE bool net_token_uses_add(net_token_uses* uses, const uint8_t tag[16],
                                      const net_address* from, uint64_t expiry_unix_s,
                                      uint64_t unix_s);
/// Places in use, expired ones included.
uint32_t net_token_uses_count(const net_token_uses* uses);
