// SPDX-License-Identifier: MIT
/// Datagrams of ENet's wire, written by hand.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct raw {
    uint8_t bytes[2048];
    size_t size;
} raw;

static inline void raw_put(raw* to, uint32_t value, size_t size) {
    while (size-- > 0)
        to->bytes[to->size++] = (uint8_t)(value >> 8 * size);
}

/// The head: flags and number of the peer, and the time of sending where the flags say so.
static inline raw raw_begin(uint32_t head) {
    raw made = {.size = 0};
    raw_put(&made, head, 2);
    if (head & 0x8000) raw_put(&made, 0, 2);
    return made;
}

/// Add a command. `widths` has a digit per field behind its head: how many bytes it takes.
static inline void raw_add(raw* to, uint32_t command, uint32_t channel, uint32_t sequence,
                           const char* widths, ...) {
    va_list fields;
    raw_put(to, command, 1);
    raw_put(to, channel, 1);
    raw_put(to, sequence, 2);
    va_start(fields, widths);
    for (; *widths; widths++)
        raw_put(to, va_arg(fields, uint32_t), (size_t)(*widths - '0'));
    va_end(fields);
}

static inline raw raw_connect(uint32_t mtu, uint32_t channels, uint32_t connect_id) {
    raw made = raw_begin(0x8FFF);
    raw_add(&made, 0x82, 0xFF, 1, "2114444444444", 0, 0xFF, 0xFF, mtu, 65536, channels, 0, 0, 5000,
            2, 2, connect_id, 0);
    return made;
}
