// SPDX-License-Identifier: MIT
/// A range coder with models that learn: for columns of numbers that are nearly known. The standard
/// is proto/LOG.md, "Range code".
///
/// Shape:   one function codes in both directions: it returns what was coded. When it reads, its
///          argument has no meaning, so writer and reader of a column are the same lines.
/// Memory:  the caller's; nothing is allocated.
/// Threads: one thread at a time.
#pragma once

#include "base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How likely a bit is 1. net_log_model_begin before its first use.
typedef struct net_log_model {
    uint16_t one;  ///< of 65,536
    uint16_t seen; ///< bits so far, up to a limit
} net_log_model;

/// A number of 64 bits: its length, then its bits below the first.
#define NET_LOG_LENGTH_MODELS 128u ///< a tree of 7 bits
#define NET_LOG_BITS_MODELS 704u   ///< trees of lengths 2..8, and the first 3 bits of longer ones
typedef struct net_log_number_models {
    net_log_model length[NET_LOG_LENGTH_MODELS];
    net_log_model bits[NET_LOG_BITS_MODELS];
} net_log_number_models;

typedef struct net_log_range {
    bool is_reading;
    bool failed; ///< writing: it does not fit; reading: no writer writes this
    uint8_t* target;
    const uint8_t* source;
    size_t size;     ///< written; reading: taken, with bytes behind the end
    size_t capacity; ///< of target, or the bytes of source
    uint32_t range;
    uint32_t code; ///< reading
    uint64_t low;  ///< writing
    uint8_t held;  ///< the byte in front of those that a carry may change
    uint64_t held_count;
} net_log_range;

void net_log_range_write(net_log_range* range, uint8_t* target, size_t capacity);
void net_log_range_read(net_log_range* range, const uint8_t* source, size_t size);
/// End what was begun. Writing: range->size has the bytes. @return false: it failed; reading also:
/// bytes are left.
BASE_MUST_USE bool net_log_range_end(net_log_range* range);

/// Make models new that lie side by side.
void net_log_model_begin(void* models, size_t bytes);
/// @return the bit.
uint32_t net_log_range_bit(net_log_range* range, net_log_model* model, uint32_t bit);
/// A symbol of `bits` bits; `tree` has 1 << bits models.
uint32_t net_log_range_tree(net_log_range* range, net_log_model* tree, uint32_t bits,
                            uint32_t symbol);
uint64_t net_log_range_number(net_log_range* range, net_log_number_models* models, uint64_t number);
/// What a bit or a number would take, in about 1/256 bits.
uint32_t net_log_model_price(const net_log_model* model, uint32_t bit);
uint32_t net_log_number_price(const net_log_number_models* models, uint64_t number);

/// A difference of both signs as a number: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
static inline uint64_t net_log_fold(uint64_t difference) {
    return difference << 1 ^ (0 - (difference >> 63));
}
static inline uint64_t net_log_unfold(uint64_t number) {
    return number >> 1 ^ (0 - (number & 1));
}
