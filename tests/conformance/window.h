// SPDX-License-Identifier: MIT
/// Private: "Sessions": what a client keeps to read the datagrams of a session.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WINDOW = 1024,
    NUMBERS_KEPT = 2 * WINDOW,
    WINDOW_HEAD = 11,
    WINDOW_STATE_HEAD = 3,
    WINDOW_TAG = 16
};

typedef struct cf_window {
    uint8_t key[32], next[32], old[32];
    uint8_t phase; ///< of `key`
    bool has_old;
    double changed_s;
    uint64_t newest;
    bool seen[NUMBERS_KEPT]; ///< by number mod NUMBERS_KEPT
} cf_window;

void window_begin(cf_window* window, const uint8_t key[32]);
/// Open a datagram in place: DATA, STATE, CLOSE or PATH, at least head and tag. @return false: drop
/// it.
bool window_open(cf_window* window, uint8_t* bytes, size_t size, double now_s);
/// Open it with a key; `number` is that in its head.
bool window_decrypt(const uint8_t key[32], uint8_t* bytes, size_t size, size_t head,
                    uint64_t number);
