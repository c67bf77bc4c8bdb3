// SPDX-License-Identifier: MIT
/// The sealed part of a token: what only the back end writes and only a server reads.
#pragma once

#include "net/token.h"

#define NET_TOKEN_TAG_BYTES 16u ///< the last bytes of a sealed part: its name

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

/// Write token->sealed. The seal covers the open part too, so that no third party can change it:
/// version, protocol, expiry and id of the key are the associated data.
void net_token_seal(const uint8_t key[NET_KEY_BYTES], const net_token_private* opened,
                    net_token* token);
/// The same with a nonce and keys from chance, which both parts get.
void net_token_seal_fresh(const uint8_t key[NET_KEY_BYTES], const net_entropy* entropy,
                          net_token_private* opened, net_token* token);
/// Reads the open part and `sealed` of a token.
/// @return false when the key did not seal exactly this; `opened` is not to be used then.
bool net_token_open(const uint8_t key[NET_KEY_BYTES], const net_token* token,
                    net_token_private* opened);

/// The built-in key. It is public, so it protects nothing: it makes development work without keys.
const uint8_t* net_token_dev_key(void);
