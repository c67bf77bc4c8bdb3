// SPDX-License-Identifier: MIT
// WIRE.md, "Sessions": numbers that come once, and keys that change.
#include "window.h"

#include <sodium.h>
#include <string.h>

enum { OLD_KEY_S = 5 };

static void derive_next(cf_window* window) {
    crypto_generichash(window->next, 32, (const uint8_t*)"shoal rekey", 11, window->key, 32);
}

void window_begin(cf_window* made, const uint8_t key[32]) {
    *made = (cf_window){.phase = 0};
    memcpy(made->key, key, 32);
    derive_next(made);
}

static uint64_t get(const uint8_t* at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

bool window_decrypt(const uint8_t key[32], uint8_t* bytes, size_t size, size_t head,
                    uint64_t number) {
    uint8_t nonce[12] = {0};
    for (int i = 0; i < 8; i++)
        nonce[4 + i] = (uint8_t)(number >> 8 * i);
    return crypto_aead_chacha20poly1305_ietf_decrypt(bytes + head, NULL, NULL, bytes + head,
                                                     size - head, bytes, head, nonce, key) == 0;
}

// The number of a STATE: its low 16 bits, and nearest to the one after the newest.
static uint64_t state_number(const cf_window* window, const uint8_t* bytes) {
    uint64_t next = window->newest + 1;
    int16_t ahead = (int16_t)(uint16_t)(get(bytes + 1, 2) - next);
    return next + (uint64_t)(int64_t)ahead;
}

static void change_key(cf_window* window, double now_s) {
    memcpy(window->old, window->key, 32);
    memcpy(window->key, window->next, 32);
    derive_next(window);
    window->phase ^= 1;
    window->has_old = true;
    window->changed_s = now_s;
}

static void take_number(cf_window* window, uint64_t number) {
    for (; window->newest < number; window->newest++)
        window->seen[(window->newest + 1) % NUMBERS_KEPT] = false;
    window->seen[number % NUMBERS_KEPT] = true;
}

bool window_open(cf_window* window, uint8_t* bytes, size_t size, double now_s) {
    bool is_state = (bytes[0] & 0xf7) == 17;
    size_t head = is_state ? WINDOW_STATE_HEAD : WINDOW_HEAD;
    uint64_t number = is_state ? state_number(window, bytes) : get(bytes + 5, 6);
    if (number == 0 || number + WINDOW <= window->newest) return false;
    if (number <= window->newest && window->seen[number % NUMBERS_KEPT]) return false;
    bool is_other = (bytes[0] >> 3 & 1) != window->phase;
    bool is_old = is_other && window->has_old && now_s - window->changed_s < OLD_KEY_S;
    const uint8_t* key = !is_other ? window->key : is_old ? window->old : window->next;
    bool is_open = window_decrypt(key, bytes, size, head, number);
    if (is_other && !is_old && is_open) change_key(window, now_s);
    if (is_open) take_number(window, number);
    return is_open;
}
