// SPDX-License-Identifier: MIT
// Layout, little-endian: player u64, client key 32, server key 32, user data 256, origin key u8,
// origin tag 16, count u8, count addresses of 18, zeros up to 496; then the tag of 16.
#include "secure/token_seal.h"

#include "secure/secure_bytes.h"

#include "net/security.h"

#include <sodium.h>

enum { HEAD_BYTES = 18, PLAIN_BYTES = NET_TOKEN_SEALED_BYTES - 16, ADDRESSES_AT = 346 };

static void associated_data(const net_token_head* head, uint8_t data[HEAD_BYTES]) {
    net_secure_cursor to = {data};
    net_secure_put_number(&to, NET_SECURE_VERSION, 1);
    net_secure_put_number(&to, head->protocol, 8);
    net_secure_put_number(&to, head->expiry_unix_s, 8);
    net_secure_put_number(&to, head->key_id, 1);
}

void net_token_seal(const uint8_t key[NET_KEY_BYTES], const net_token_head* head,
                    const net_token_private* opened, uint8_t sealed[NET_TOKEN_SEALED_BYTES]) {
    uint8_t plain[PLAIN_BYTES] = {0}, data[HEAD_BYTES];
    net_secure_cursor to = {plain};
    net_secure_put_number(&to, opened->player_id, 8);
    net_secure_put(&to, opened->client_key, NET_KEY_BYTES);
    net_secure_put(&to, opened->server_key, NET_KEY_BYTES);
    net_secure_put(&to, opened->user_data, NET_TOKEN_USER_BYTES);
    net_secure_put_number(&to, opened->origin_key_id, 1);
    net_secure_put(&to, opened->origin_tag, NET_TOKEN_TAG_BYTES);
    net_secure_put_number(&to, opened->address_count, 1);
    for (uint32_t i = 0; i < opened->address_count; i++)
        net_secure_put_address(&to, &opened->addresses[i]);
    associated_data(head, data);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(sealed, NULL, plain, sizeof plain, data,
                                                     sizeof data, NULL, head->nonce, key);
    sodium_memzero(plain, sizeof plain);
}

static bool read_plain(const uint8_t plain[PLAIN_BYTES], net_token_private* opened) {
    const uint8_t* at = plain;
    opened->player_id = net_secure_get_number(at, 8);
    memcpy(opened->client_key, at + 8, NET_KEY_BYTES);
    memcpy(opened->server_key, at + 40, NET_KEY_BYTES);
    memcpy(opened->user_data, at + 72, NET_TOKEN_USER_BYTES);
    opened->origin_key_id = at[328];
    memcpy(opened->origin_tag, at + 329, NET_TOKEN_TAG_BYTES);
    opened->address_count = at[345];
    if (opened->address_count > NET_TOKEN_ADDRESSES_MAX) return false;
    for (uint32_t i = 0; i < opened->address_count; i++)
        opened->addresses[i] =
            net_secure_get_address(at + ADDRESSES_AT + (size_t)i * NET_SECURE_ADDRESS_BYTES);
    return true;
}

bool net_token_open(const uint8_t key[NET_KEY_BYTES], const net_token_head* head,
                    const uint8_t sealed[NET_TOKEN_SEALED_BYTES], net_token_private* opened) {
    uint8_t plain[PLAIN_BYTES], data[HEAD_BYTES];
    associated_data(head, data);
    bool is_ours = crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, sealed,
                                                              NET_TOKEN_SEALED_BYTES, data,
                                                              sizeof data, head->nonce, key) == 0 &&
                   read_plain(plain, opened);
    sodium_memzero(plain, sizeof plain);
    return is_ours;
}

const uint8_t* net_token_dev_key(void) {
    static const uint8_t key[NET_KEY_BYTES] = "shoal dev key: this is no secret"; // without NUL
    return key;
}
