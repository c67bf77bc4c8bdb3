// SPDX-License-Identifier: MIT
// Keys as text and in memory. A report never quotes the text of a line: it may be half a key.
#include "net/token.h"

#include "base/assert.h"
#include "base/text.h"

#include <sodium.h>

#include <string.h>

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

bool net_key_equal(const net_key* a, const net_key* b) {
    return a->id == b->id && sodium_memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
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
    return letter == ' ' || letter == '\t' || letter == '\r';
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
