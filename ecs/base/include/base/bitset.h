// SPDX-License-Identifier: MIT
/// A growing set of small numbers: one bit each, in 64-bit words, walked upwards.
#pragma once

#include "base/alloc.h"

BASE_C_BEGIN

/// The set. Bit b is bit b % 64 of words[b / 64]. Readers may walk the words themselves.
typedef struct base_bitset {
    const base_allocator* allocator;
    uint64_t* words;
    uint32_t word_count;
} base_bitset;

/// Make an empty set without memory. The allocator, of an owner, has its memory to the end.
void base_bitset_init(base_bitset* set, const base_allocator* allocator);
/// Make room for bits [0, bit_count); new bits are 0.
void base_bitset_reserve(base_bitset* set, uint32_t bit_count);
/// Remove all members, keep the memory.
void base_bitset_clear_all(base_bitset* set);
/// Count the members. O(words).
uint32_t base_bitset_count(const base_bitset* set);

/// Add, remove or look for one member. For add, `bit` must lie in the reserved range (asserted);
/// remove and has accept every number.
void base_bitset_add(base_bitset* set, uint32_t bit);
void base_bitset_remove(base_bitset* set, uint32_t bit);
static inline bool base_bitset_has(const base_bitset* set, uint32_t bit) {
    return bit / 64 < set->word_count && (set->words[bit / 64] >> (bit % 64) & 1);
}
/// First set bit at or after `from`; UINT32_MAX when there is none.
uint32_t base_bitset_next(const base_bitset* set, uint32_t from);

/// The position of the lowest set bit. `word` is not 0.
static inline uint32_t base_bit_lowest(uint64_t word) {
    return (uint32_t)__builtin_ctzll(word);
}

BASE_C_END
