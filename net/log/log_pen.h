// SPDX-License-Identifier: MIT
/// Bits into memory that the caller keeps large enough (WIRE.md, "Bits"): eight bytes are stored at
/// a time, whether they are full or not.
#pragma once

#include "base/bytes.h"

/// Room that must be left behind the last bit.
#define NET_LOG_PEN_SLACK_BYTES 16u

typedef struct net_log_pen {
    uint64_t word;
    uint32_t fill; ///< 0..7 bits of word
    uint8_t* out;
} net_log_pen;

/// Write the low `count` bits, at most 56, of `value`, which has no others.
static inline void net_log_put(net_log_pen* pen, uint64_t value, uint32_t count) {
    uint64_t word = pen->word | value << pen->fill;
    base_store_le64(pen->out, word);
    uint32_t fill = pen->fill + count;
    pen->out += fill >> 3;
    pen->word = word >> (fill & ~7u);
    pen->fill = fill & 7;
}

static inline void net_log_put_golomb(net_log_pen* pen, uint32_t value, uint32_t order) {
    uint64_t u = value + (UINT64_C(1) << order);
    uint32_t low_bits = 63u - (uint32_t)__builtin_clzll(u), zeros = low_bits - order;
    net_log_put(pen, UINT64_C(1) << zeros, zeros + 1);
    net_log_put(pen, u & ((UINT64_C(1) << low_bits) - 1), low_bits);
}

static inline void net_log_put_bytes(net_log_pen* pen, const uint8_t* bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        net_log_put(pen, bytes[i], 8);
}

/// Write bits that stand in groups of eight bytes, as proto_row_encode leaves them.
static inline void net_log_put_code(net_log_pen* pen, const uint8_t* code, uint32_t bits) {
    enum { HALF = 32 };
    for (; bits >= 2 * HALF; bits -= 2 * HALF, code += 8) {
        uint64_t word = base_load_le64(code);
        net_log_put(pen, word & UINT32_MAX, HALF);
        net_log_put(pen, word >> HALF, HALF);
    }
    if (bits == 0) return;
    uint64_t word = base_load_le64(code) & ((UINT64_C(1) << bits) - 1);
    if (bits > HALF) {
        net_log_put(pen, word & UINT32_MAX, HALF);
        word >>= HALF;
        bits -= HALF;
    }
    net_log_put(pen, word, bits);
}

/// Fill the last byte with 0 bits. @return the byte after it.
static inline uint8_t* net_log_pen_end(net_log_pen* pen) {
    if (pen->fill > 0) *pen->out++ = (uint8_t)pen->word;
    pen->fill = 0;
    pen->word = 0;
    return pen->out;
}
