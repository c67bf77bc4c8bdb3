// SPDX-License-Identifier: MIT
/// The sealed part of a token: what only the back end writes and only a server reads.
#pragma once

#include "net/token.h"

#define NET_TOKEN_TAG_BYTES 16u ///< the last bytes of a sealed part: its name

/// The open part, which the seal covers too: no third party can change it. Version, protocol,
/// expiry and id of the key are the associated data.
typedef struct net_token_head {
    uint8_t key_id;
    uint64_t protocol;
    uint64_t expiry_unix_s;
    uint8_t nonce[NET_TOKEN_NONCE_BYTES];
} net_token_head;

typedef struct net_token_private {
    uint64_t player_id;
    uint8_t client_key[NET_KEY_BYTES];
    uint8_t server_key[NET_KEY_BYTES];
    uint8_t user_data[NET_TOKEN_USER_BYTES];
    uint8_t origin_key_id; ///< resume tokens: of the token with which the player came first
    uint8_t origin_tag[NET_TOKEN_TAG_BYTES]; ///< resume tokens: the tag of that token; else zero
    net_address addresses[NET_TOKEN_ADDRESSES_MAX];
    uint32_t address_count;
} net_token_private;

void net_token_seal(const uint8_t key[NET_KEY_BYTES], const net_token_head* head,
                    const net_token_private* opened, uint8_t sealed[NET_TOKEN_SEALED_BYTES]);
/// @return false when the key did not seal exactly this; `opened` is not to be used then.
bool net_token_open(const uint8_t key[NET_KEY_BYTES], const net_token_head* head,
                    const uint8_t sealed[NET_TOKEN_SEALED_BYTES], net_token_private* opened);

/// The built-in key. It is public, so it protects nothing: it makes development work without keys.
const uint8_t* net_token_dev_key(void);
