// SPDX-License-Identifier: MIT
// A set of small numbers as bits. A walk goes upwards and skips 64 absent numbers per step. So code
// that walks a set does its work in the same order on every machine.
#include "base/bitset.h"

#include "base/assert.h"

#include <string.h>

enum { WORD_BITS = 64 };

void base_bitset_init(base_bitset* set, const base_allocator* allocator) {
    *set = (base_bitset){.allocator = allocator};
}

void base_bitset_deinit(base_bitset* set) {
    BASE_ARRAY_RELEASE(set->allocator, set->words, set->word_count);
    *set = (base_bitset){.allocator = set->allocator};
}

bool base_bitset_reserve(base_bitset* set, uint32_t bit_count) {
    uint32_t needed = bit_count / WORD_BITS + (bit_count % WORD_BITS != 0);
    if (needed <= set->word_count) return true;
    // Word counts stay below 2^27, so doubling does not overflow.
    uint32_t grown = set->word_count * 2 > needed ? set->word_count * 2 : needed;
    uint64_t* words = base_reallocate(set->allocator, set->words,
                                      set->word_count * sizeof(uint64_t), grown * sizeof(uint64_t));
    if (!words) return false;
    set->words = words;
    set->word_count = grown;
    return true;
}

void base_bitset_clear_all(base_bitset* set) {
    if (set->words) memset(set->words, 0, set->word_count * sizeof(uint64_t));
}

uint32_t base_bitset_count(const base_bitset* set) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->word_count; i++)
        count += (uint32_t)__builtin_popcountll(set->words[i]);
    return count;
}

void base_bitset_add(base_bitset* set, uint32_t bit) {
    // UINT32_MAX means "none" in walks, so it cannot be a member.
    BASE_ASSERT(bit / WORD_BITS < set->word_count && bit != UINT32_MAX);
    set->words[bit / WORD_BITS] |= UINT64_C(1) << (bit % WORD_BITS);
}

void base_bitset_remove(base_bitset* set, uint32_t bit) {
    if (bit / WORD_BITS >= set->word_count) return;
    set->words[bit / WORD_BITS] &= ~(UINT64_C(1) << (bit % WORD_BITS));
}

bool base_bitset_has(const base_bitset* set, uint32_t bit) {
    return bit / WORD_BITS < set->word_count &&
           (set->words[bit / WORD_BITS] >> (bit % WORD_BITS) & 1);
}

uint32_t base_bitset_next(const base_bitset* set, uint32_t from) {
    uint64_t allowed = ~UINT64_C(0) << (from % WORD_BITS);
    for (uint32_t i = from / WORD_BITS; i < set->word_count; i++) {
        uint64_t word = set->words[i] & allowed;
        if (word) return i * WORD_BITS + base_bit_lowest(word);
        allowed = ~UINT64_C(0);
    }
    return UINT32_MAX;
}
