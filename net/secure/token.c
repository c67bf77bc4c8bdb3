// SPDX-License-Identifier: MIT
// Tokens as the back end makes them, and their text. The bytes below the base64: version u8, key id
// u8, protocol u64, expiry u64, nonce 24, sealed 512, client key 32, server key 32, count u8, count
// addresses of 18.
#include "secure/token_seal.h"

#include "secure/secure_bytes.h"

#include "net/security.h"

#include "base/assert.h"
#include "base/bytes.h"

#include <sodium.h>

enum {
    FIXED_BYTES =
        1 + 1 + 8 + 8 + NET_TOKEN_NONCE_BYTES + NET_TOKEN_SEALED_BYTES + 2 * NET_KEY_BYTES + 1,
    BYTES_MAX = FIXED_BYTES + NET_TOKEN_ADDRESSES_MAX * NET_SECURE_ADDRESS_BYTES,
    BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
};

_Static_assert(NET_TOKEN_TEXT_BYTES >= (BYTES_MAX * 4 + 2) / 3 + 1, "the text of a token fits");

static net_result make(uint8_t key_id, const uint8_t key[NET_KEY_BYTES],
                       const net_token_claims* claims, const net_entropy* entropy,
                       net_token* token) {
    BASE_ASSERT(claims && entropy && token && sodium_init() >= 0);
    if (claims->address_count > NET_TOKEN_ADDRESSES_MAX) return NET_ERR_TOKEN;
    net_token_private opened = {.player_id = claims->player_id,
                                .origin_key_id = key_id,
                                .address_count = claims->address_count};
    net_token_head head = {.key_id = key_id,
                           .protocol = claims->protocol ? claims->protocol : NET_TOKEN_PROTOCOL,
                           .expiry_unix_s = claims->expiry_unix_s};
    entropy->fill(entropy->context, head.nonce, sizeof head.nonce);
    entropy->fill(entropy->context, opened.client_key, NET_KEY_BYTES);
    entropy->fill(entropy->context, opened.server_key, NET_KEY_BYTES);
    memcpy(opened.user_data, claims->user_data, NET_TOKEN_USER_BYTES);
    memcpy(opened.addresses, claims->addresses, sizeof opened.addresses);
    memset(token, 0, sizeof *token);
    token->key_id = head.key_id;
    token->protocol = head.protocol;
    token->expiry_unix_s = head.expiry_unix_s;
    memcpy(token->nonce, head.nonce, sizeof token->nonce);
    memcpy(token->client_key, opened.client_key, NET_KEY_BYTES);
    memcpy(token->server_key, opened.server_key, NET_KEY_BYTES);
    memcpy(token->addresses, claims->addresses, claims->address_count * sizeof(net_address));
    token->address_count = claims->address_count;
    net_token_seal(key, &head, &opened, token->sealed);
    sodium_memzero(&opened, sizeof opened);
    return NET_OK;
}

net_result net_token_make(const net_key* key, const net_token_claims* claims,
                          const net_entropy* entropy, net_token* token) {
    BASE_ASSERT(key && key->id != NET_KEY_ID_DEV && key->id != NET_KEY_ID_RESUME);
    return make(key->id, key->bytes, claims, entropy, token);
}

net_result net_token_make_dev(const net_token_claims* claims, const net_entropy* entropy,
                              net_token* token) {
    return make(NET_KEY_ID_DEV, net_token_dev_key(), claims, entropy, token);
}

bool net_token_print(const net_token* token, char* text, size_t text_bytes) {
    BASE_ASSERT(token->address_count <= NET_TOKEN_ADDRESSES_MAX);
    uint8_t bytes[BYTES_MAX];
    net_secure_cursor to = {bytes};
    net_secure_put_number(&to, NET_SECURE_VERSION, 1);
    net_secure_put_number(&to, token->key_id, 1);
    net_secure_put_number(&to, token->protocol, 8);
    net_secure_put_number(&to, token->expiry_unix_s, 8);
    net_secure_put(&to, token->nonce, sizeof token->nonce);
    net_secure_put(&to, token->sealed, sizeof token->sealed);
    net_secure_put(&to, token->client_key, NET_KEY_BYTES);
    net_secure_put(&to, token->server_key, NET_KEY_BYTES);
    net_secure_put_number(&to, token->address_count, 1);
    for (uint32_t i = 0; i < token->address_count; i++)
        net_secure_put_address(&to, &token->addresses[i]);
    size_t size = (size_t)(to.at - bytes);
    bool fits = text_bytes >= sodium_base64_encoded_len(size, BASE64);
    if (fits)
        (void)sodium_bin2base64(text, text_bytes, bytes, size, BASE64);
    else if (text_bytes > 0)
        text[0] = '\0';
    sodium_memzero(bytes, sizeof bytes);
    return fits;
}

static bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

// libsodium 1.0.18 takes some bytes above 127 for letters of its alphabet.
static bool is_ascii(const char* text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((uint8_t)text[i] > 127) return false;
    return true;
}

static bool read_bytes(const uint8_t* bytes, size_t size, net_token* token) {
    base_reader from = base_reader_make(bytes, size);
    uint8_t version = base_reader_u8(&from);
    token->key_id = base_reader_u8(&from);
    token->protocol = base_reader_u64(&from);
    token->expiry_unix_s = base_reader_u64(&from);
    (void)base_reader_read(&from, token->nonce, sizeof token->nonce);
    (void)base_reader_read(&from, token->sealed, sizeof token->sealed);
    (void)base_reader_read(&from, token->client_key, NET_KEY_BYTES);
    (void)base_reader_read(&from, token->server_key, NET_KEY_BYTES);
    token->address_count = base_reader_u8(&from);
    if (from.failed || version != NET_SECURE_VERSION) return false;
    if (token->key_id == NET_KEY_ID_RESUME) return false; // no back end makes them
    if (token->address_count > NET_TOKEN_ADDRESSES_MAX) return false;
    if (base_reader_left(&from) != (size_t)token->address_count * NET_SECURE_ADDRESS_BYTES)
        return false;
    for (uint32_t i = 0; i < token->address_count; i++)
        token->addresses[i] =
            net_secure_get_address(base_reader_skip(&from, NET_SECURE_ADDRESS_BYTES));
    return true;
}

net_result net_token_parse(const char* text, net_token* token) {
    BASE_ASSERT(text && token);
    while (is_blank(*text))
        text++;
    size_t length = strlen(text), size = 0;
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    uint8_t bytes[BYTES_MAX];
    const char* end = NULL;
    net_token read = {0};
    bool is_sound =
        is_ascii(text, length) &&
        sodium_base642bin(bytes, sizeof bytes, text, length, NULL, &size, &end, BASE64) == 0 &&
        end == text + length && read_bytes(bytes, size, &read);
    if (is_sound) *token = read;
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(&read, sizeof read);
    return is_sound ? NET_OK : NET_ERR_TOKEN;
}

void net_token_wipe(net_token* token) {
    sodium_memzero(token, sizeof *token);
}
