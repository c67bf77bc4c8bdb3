// SPDX-License-Identifier: MIT
// Layout, little-endian: player u64, client key 32, server key 32, user data 256, origin key u8,
// origin tag 16, count u8, count addresses of 18, zeros up to 496; then the tag of 16.
#include "secure/token.h"

#include "secure/outer.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/text.h"

#include <sodium.h>

#include <string.h>

enum { HEAD_BYTES = 18, PLAIN_BYTES = NET_TOKEN_SEALED_BYTES - 16, ADDRESSES_AT = 346 };

static void associated_data(const net_token* token, uint8_t data[HEAD_BYTES]) {
    net_secure_cursor to = {data};
    net_secure_put_number(&to, NET_SECURE_VERSION, 1);
    net_secure_put_number(&to, token->protocol, 8);
    net_secure_put_number(&to, token->expiry_unix_s, 8);
    net_secure_put_number(&to, token->key_id, 1);
}

void net_token_seal(const uint8_t key[NET_KEY_BYTES], const net_token_private* opened,
                    net_token* token) {
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
    associated_data(token, data);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(token->sealed, NULL, plain, sizeof plain, data,
                                                     sizeof data, NULL, token->nonce, key);
    sodium_memzero(plain, sizeof plain);
}

void net_token_seal_fresh(const uint8_t key[NET_KEY_BYTES], const net_entropy* entropy,
                          net_token_private* opened, net_token* token) {
    entropy->fill(entropy->context, token->nonce, sizeof token->nonce);
    entropy->fill(entropy->context, token->client_key, NET_KEY_BYTES);
    entropy->fill(entropy->context, token->server_key, NET_KEY_BYTES);
    memcpy(opened->client_key, token->client_key, NET_KEY_BYTES);
    memcpy(opened->server_key, token->server_key, NET_KEY_BYTES);
    net_token_seal(key, opened, token);
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

bool net_token_open(const uint8_t key[NET_KEY_BYTES], const net_token* token,
                    net_token_private* opened) {
    uint8_t plain[PLAIN_BYTES], data[HEAD_BYTES];
    associated_data(token, data);
    bool is_ours = crypto_aead_xchacha20poly1305_ietf_decrypt(
                       plain, NULL, NULL, token->sealed, sizeof token->sealed, data, sizeof data,
                       token->nonce, key) == 0 &&
                   read_plain(plain, opened);
    sodium_memzero(plain, sizeof plain);
    return is_ours;
}

const uint8_t* net_token_dev_key(void) {
    static const uint8_t key[NET_KEY_BYTES] = "shoal dev key: this is no secret"; // without NUL
    return key;
}

// Keys as text and in memory. A report never quotes the text of a line: it may be half a key.

enum { HEX_DIGITS = 2 * NET_KEY_BYTES, ID_LAST = NET_KEY_ID_RESUME - 1 };

static void fill_from_system(void* context, void* bytes, size_t size) {
    (void)context;
    randombytes_buf(bytes, size);
}

const net_entropy* net_entropy_system(void) {
    static const net_entropy system = {.fill = fill_from_system};
    BASE_ASSERT(sodium_init() >= 0);
    return &system;
}

void net_key_make(uint8_t id, const net_entropy* entropy, net_key* key) {
    BASE_ASSERT(id != NET_KEY_ID_DEV && id != NET_KEY_ID_RESUME);
    key->id = id;
    entropy->fill(entropy->context, key->bytes, sizeof key->bytes);
}

bool net_key_print(const net_key* key, char* text, size_t text_bytes) {
    if (text_bytes < NET_KEY_TEXT_BYTES) return false;
    char digits[HEX_DIGITS + 1];
    sodium_bin2hex(digits, sizeof digits, key->bytes, sizeof key->bytes);
    bool is_whole = base_text_format(text, text_bytes, "%u %s", (unsigned)key->id, digits);
    sodium_memzero(digits, sizeof digits);
    return is_whole;
}

void net_key_wipe(net_key* key) {
    sodium_memzero(key, sizeof *key);
}

void net_key_derive(const net_key* key, const char* purpose, uint64_t identity, uint64_t number,
                    void* secret, size_t size) {
    uint8_t text[64];
    const size_t length = strlen(purpose) + 1;
    BASE_ASSERT(length <= sizeof text - 16);
    BASE_ASSERT(size >= crypto_generichash_BYTES_MIN && size <= crypto_generichash_BYTES_MAX);
    memcpy(text, purpose, length);
    for (size_t i = 0; i < 8; i++) {
        text[length + i] = (uint8_t)(identity >> 8 * i);
        text[length + 8 + i] = (uint8_t)(number >> 8 * i);
    }
    (void)crypto_generichash(secret, size, text, length + 16, key->bytes, sizeof key->bytes);
}

void net_key_ring_wipe(net_key_ring* ring) {
    sodium_memzero(ring, sizeof *ring);
}

const net_key* net_key_ring_find(const net_key_ring* ring, uint8_t id) {
    for (uint32_t i = 0; i < ring->count; i++)
        if (ring->keys[i].id == id) return &ring->keys[i];
    return NULL;
}

static bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

// "ID HEX64" without blanks around it. @return NULL, or what is wrong.
static const char* parse_key(const char* text, size_t size, net_key* key) {
    uint32_t id = 0;
    size_t at = 0;
    while (at < size && at < 3 && text[at] >= '0' && text[at] <= '9')
        id = id * 10 + (uint32_t)(text[at++] - '0');
    if (at == 0 || at == size || !is_blank(text[at])) return "write ID and 64 hexadecimal digits";
    if (id == NET_KEY_ID_DEV || id > ID_LAST) return "the id of a key is 1 to 254";
    while (at < size && is_blank(text[at]))
        at++;
    size_t got = 0;
    const char* end = NULL;
    key->id = (uint8_t)id;
    if (size - at != HEX_DIGITS ||
        sodium_hex2bin(key->bytes, sizeof key->bytes, text + at, size - at, NULL, &got, &end) !=
            0 ||
        got != NET_KEY_BYTES || end != text + size)
        return "a key has 64 hexadecimal digits";
    return NULL;
}

static const char* add_line(net_key_ring* ring, const char* line, size_t size) {
    const char* comment = memchr(line, '#', size);
    if (comment) size = (size_t)(comment - line);
    while (size > 0 && is_blank(line[size - 1]))
        size--;
    while (size > 0 && is_blank(line[0])) {
        line++;
        size--;
    }
    if (size == 0) return NULL;
    if (ring->count == NET_KEYS_MAX) return "too many keys: 16 at most";
    net_key* key = &ring->keys[ring->count];
    const char* wrong = parse_key(line, size, key);
    if (wrong) return wrong;
    if (net_key_ring_find(ring, key->id)) return "the id was used above";
    ring->count++;
    return NULL;
}

net_result net_key_ring_parse(net_key_ring* ring, const char* file, const char* text, size_t size,
                              const base_reporter* reporter) {
    memset(ring, 0, sizeof *ring);
    uint32_t number = 1;
    const char* wrong = NULL;
    for (size_t at = 0; at < size && !wrong; number++) {
        const char* end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        wrong = add_line(ring, text + at, length);
        if (wrong) base_report(reporter, file, number, "%s", wrong);
        at += length + (end ? 1 : 0);
    }
    if (!wrong && ring->count == 0) {
        wrong = "there is no key in it: write ID and 64 hexadecimal digits";
        base_report(reporter, file, 0, "%s", wrong);
    }
    if (!wrong) return NET_OK;
    net_key_ring_wipe(ring);
    return NET_ERR_TOKEN;
}

// Tokens as the back end makes them, and their text. The bytes below the base64: version u8, key id
// u8, protocol u64, expiry u64, nonce 24, sealed 512, client key 32, server key 32, count u8, count
// addresses of 18.

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
    *token = (net_token){.key_id = key_id,
                         .protocol = claims->protocol ? claims->protocol : NET_TOKEN_PROTOCOL,
                         .expiry_unix_s = claims->expiry_unix_s,
                         .address_count = claims->address_count};
    memcpy(opened.user_data, claims->user_data, NET_TOKEN_USER_BYTES);
    memcpy(opened.addresses, claims->addresses, sizeof opened.addresses);
    memcpy(token->addresses, claims->addresses, claims->address_count * sizeof(net_address));
    net_token_seal_fresh(key, entropy, &opened, token);
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

// libsodium 1.0.18 accepts some bytes above 127 as letters of its alphabet.
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
    if (token->address_count > NET_TOKEN_ADDRESSES_MAX) return false;
    if (base_reader_left(&from) != (size_t)token->address_count * NET_SECURE_ADDRESS_BYTES)
        return false;
    for (uint32_t i = 0; i < token->address_count; i++)
        token->addresses[i] =
            net_secure_get_address(base_reader_skip(&from, NET_SECURE_ADDRESS_BYTES));
    return true;
}

net_result net_token_parse_any(const char* text, net_token* token) {
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

net_result net_token_parse(const char* text, net_token* token) {
    net_token read;
    const net_result result = net_token_parse_any(text, &read);
    if (result != NET_OK) return result;
    const bool is_resume = read.key_id == NET_KEY_ID_RESUME; // no back end makes them
    if (!is_resume) *token = read;
    net_token_wipe(&read);
    return is_resume ? NET_ERR_TOKEN : NET_OK;
}

void net_token_wipe(net_token* token) {
    sodium_memzero(token, sizeof *token);
}
