// SPDX-License-Identifier: MIT
// Texts of tokens, sealed parts and key files.
//
// An input is u8 operation, bytes:
//   0  the text of a token        what is read is printed as the same text
//   1  a key file                 what is read is printed and read as the same keys
//   2  the sealed part of a token opens only when it is the part that was made

#include "outer_world.h"

#include "base/text.h"

static void fuzz_text(const uint8_t* data, size_t size) {
    char text[2 * NET_TOKEN_TEXT_BYTES], again[NET_TOKEN_TEXT_BYTES];
    net_token token, second;
    if (size >= sizeof text) return;
    memcpy(text, data, size);
    text[size] = '\0';
    if (net_token_parse(text, &token) != NET_OK) return;
    FUZZ_CHECK(net_token_print(&token, again, sizeof again));
    FUZZ_CHECK(strstr(text, again) != NULL); // blanks around it aside
    FUZZ_CHECK(net_token_parse(again, &second) == NET_OK);
    FUZZ_CHECK(memcmp(&token, &second, sizeof token) == 0);
}

static void fuzz_keys(const uint8_t* data, size_t size) {
    net_key_ring ring, again;
    char text[NET_KEYS_MAX * (NET_KEY_TEXT_BYTES + 1)] = "";
    if (net_key_ring_parse(&ring, "keys", (const char*)data, size, NULL) != NET_OK) {
        FUZZ_CHECK(ring.count == 0);
        return;
    }
    FUZZ_CHECK(ring.count >= 1 && ring.count <= NET_KEYS_MAX);
    for (uint32_t i = 0; i < ring.count; i++) {
        size_t used = strlen(text);
        FUZZ_CHECK(net_key_print(&ring.keys[i], text + used, sizeof text - used));
        FUZZ_CHECK(base_text_copy(text + strlen(text), 2, "\n"));
    }
    FUZZ_CHECK(net_key_ring_parse(&again, "keys", text, strlen(text), NULL) == NET_OK);
    FUZZ_CHECK(again.count == ring.count);
    for (uint32_t i = 0; i < ring.count; i++)
        FUZZ_CHECK(memcmp(&ring.keys[i], &again.keys[i], sizeof(net_key)) == 0);
}

static void fuzz_sealed(const uint8_t* data, size_t size) {
    static const uint8_t key[NET_KEY_BYTES] = {9};
    net_token_private token = {.player_id = 3}, opened;
    net_token made = {.key_id = 1};
    net_token_seal(key, &token, &made);
    net_token changed = made;
    for (size_t i = 0; i < size && i < sizeof changed.sealed; i++)
        changed.sealed[i] = (uint8_t)(changed.sealed[i] + data[i]);
    bool is_same = memcmp(made.sealed, changed.sealed, sizeof made.sealed) == 0;
    FUZZ_CHECK(net_token_open(key, &changed, &opened) == is_same);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    void (*const targets[])(const uint8_t*, size_t) = {fuzz_text, fuzz_keys, fuzz_sealed};
    targets[data[0] % 3](data + 1, size - 1);
    return 0;
}
