// SPDX-License-Identifier: MIT
/// A hash table from 64-bit keys to 32-bit values, for indexes into the caller's own arrays.
///
/// Use it for "which slot belongs to this id": store the key, keep the data in an array of your own
/// and put the position into the table. A key may be stored more than once, with different values.
/// That serves hashes of names: the caller walks all values of a hash and compares the names
/// itself. Nothing walks the whole table, so its order decides nothing: programs stay
/// deterministic.
///
/// Units:   16 bytes per slot, at most half of the slots in use: 32 to 64 bytes per pair.
/// Memory:  The allocator is passed to base_table_reserve and base_table_deinit and must be the
///          same one. After a reserve, that many pairs fit and adding cannot fail.
/// Limits:  BASE_TABLE_COUNT_MAX pairs. A value is never BASE_TABLE_NONE.
/// Trust:   Keys are mixed with a fixed multiplier. A peer that chooses keys freely can make them
///          collide; give such keys a secret seed first (base_hash64 with a seed).
#pragma once

#include "base/alloc.h"

BASE_C_BEGIN

/// Not a value: there is no (further) value for the key.
#define BASE_TABLE_NONE UINT32_MAX
/// The largest number of pairs in one table.
#define BASE_TABLE_COUNT_MAX (UINT32_C(1) << 30)

typedef struct base_table_slot {
    uint64_t key;
    uint32_t value; ///< BASE_TABLE_NONE: the slot is empty
    uint32_t unused;
} base_table_slot;

/// Zeroed, it is an empty table. The fields are private; they are here for the inline functions.
typedef struct base_table {
    base_table_slot* slots;
    uint32_t capacity; ///< slots: 0 or a power of two
    uint32_t count;    ///< pairs
} base_table;

/// Make room for `count` pairs in all, at most BASE_TABLE_COUNT_MAX (asserted).
void base_table_reserve(base_table* table, const base_allocator* allocator, uint32_t count);
/// Give the memory back. The table is empty afterwards and may be used again.
void base_table_deinit(base_table* table, const base_allocator* allocator);
/// Remove all pairs, keep the memory.
void base_table_clear(base_table* table);

/// Add a pair. Room must have been reserved (asserted). Does not look for an equal key.
void base_table_add(base_table* table, uint64_t key, uint32_t value);
/// Remove one pair with this key and this value. @return false when there was none.
bool base_table_remove(base_table* table, uint64_t key, uint32_t value);
/// Check the whole structure (asserts): every pair can be found, the count is right. For tests.
void base_table_validate(const base_table* table);

/// Detail: the first slot of a key's probe path. capacity is not 0.
static inline uint32_t base_table_home(const base_table* pairs, uint64_t key) {
    uint64_t mixed = key * UINT64_C(0x9E3779B97F4A7C15); // 2^64 / golden ratio (Knuth 6.4)
    return (uint32_t)(mixed >> (64 - __builtin_ctz(pairs->capacity)));
}

/// The values of a key, one after the other: start with *cursor = 0. Adding and removing end a
/// walk. The order of the values of one key is not defined.
/// @return BASE_TABLE_NONE after the last value.
static inline uint32_t base_table_next(const base_table* pairs, uint64_t key, uint32_t* cursor) {
    if (pairs->capacity == 0) return BASE_TABLE_NONE;
    uint32_t home = base_table_home(pairs, key);
    // The cursor counts steps from home, so it works across the wrap. Half of the slots are empty.
    for (;;) {
        const base_table_slot* slot = &pairs->slots[(home + *cursor) & (pairs->capacity - 1)];
        if (slot->value == BASE_TABLE_NONE) return BASE_TABLE_NONE;
        ++*cursor;
        if (slot->key == key) return slot->value;
    }
}

/// The value of a key that is stored at most once. @return BASE_TABLE_NONE when there is none.
static inline uint32_t base_table_find(const base_table* pairs, uint64_t key) {
    uint32_t cursor = 0;
    return base_table_next(pairs, key, &cursor);
}

BASE_C_END
