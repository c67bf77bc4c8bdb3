// SPDX-License-Identifier: MIT
// A hash table: open addressing with linear probing, at most half full. A pair lies at its home
// slot or after it, with no empty slot between. So an empty slot ends every search.
//
// Removal keeps this without tombstones: it moves later pairs of the run back into the hole, when
// their home allows it (Knuth, TAOCP 6.4, algorithm R). So the table never needs a clean-up, and
// its content depends only on the calls made.
#include "base/table.h"

#include "base/assert.h"
#include "base/bitset.h"

#include <string.h>

// A set of small numbers as bits. A walk goes upwards and skips 64 absent numbers per step. So code
// that walks a set does its work in the same order on every machine.

enum { WORD_BITS = 64 };

void base_bitset_init(base_bitset* set, const base_allocator* allocator) {
    *set = (base_bitset){.allocator = allocator};
}

void base_bitset_reserve(base_bitset* set, uint32_t bit_count) {
    uint32_t needed = bit_count / WORD_BITS + (bit_count % WORD_BITS != 0);
    if (needed <= set->word_count) return;
    // Word counts stay below 2^27, so doubling does not overflow.
    uint32_t grown = set->word_count * 2 > needed ? set->word_count * 2 : needed;
    set->words = base_reallocate(set->allocator, set->words, set->word_count * sizeof(uint64_t),
                                 grown * sizeof(uint64_t));
    set->word_count = grown;
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

uint32_t base_bitset_next(const base_bitset* set, uint32_t from) {
    uint64_t allowed = ~UINT64_C(0) << (from % WORD_BITS);
    for (uint32_t i = from / WORD_BITS; i < set->word_count; i++) {
        uint64_t word = set->words[i] & allowed;
        if (word) return i * WORD_BITS + base_bit_lowest(word);
        allowed = ~UINT64_C(0);
    }
    return UINT32_MAX;
}

// The table.

enum { CAPACITY_MIN = 32 };

static void place(base_table_slot* slots, uint32_t mask, uint32_t home, uint64_t key,
                  uint32_t value) {
    uint32_t at = home;
    while (slots[at].value != BASE_TABLE_NONE)
        at = (at + 1) & mask;
    slots[at] = (base_table_slot){.key = key, .value = value};
}

static void clear_slots(base_table_slot* slots, uint32_t capacity) {
    for (uint32_t i = 0; i < capacity; i++)
        slots[i] = (base_table_slot){.value = BASE_TABLE_NONE};
}

void base_table_reserve(base_table* table, const base_allocator* allocator, uint32_t count) {
    BASE_ASSERT(count <= BASE_TABLE_COUNT_MAX);
    if (count <= table->capacity / 2) return;
    base_table grown = {.capacity = table->capacity ? table->capacity : CAPACITY_MIN,
                        .count = table->count};
    while (grown.capacity / 2 < count)
        grown.capacity *= 2;
    grown.slots = base_allocate(allocator, (size_t)grown.capacity * sizeof *grown.slots);
    clear_slots(grown.slots, grown.capacity);
    for (uint32_t i = 0; i < table->capacity; i++) {
        const base_table_slot* slot = &table->slots[i];
        if (slot->value == BASE_TABLE_NONE) continue;
        place(grown.slots, grown.capacity - 1, base_table_home(&grown, slot->key), slot->key,
              slot->value);
    }
    BASE_ARRAY_RELEASE(allocator, table->slots, table->capacity);
    *table = grown;
}

void base_table_deinit(base_table* table, const base_allocator* allocator) {
    BASE_ARRAY_RELEASE(allocator, table->slots, table->capacity);
    *table = (base_table){0};
}

void base_table_clear(base_table* table) {
    clear_slots(table->slots, table->capacity);
    table->count = 0;
}

void base_table_add(base_table* table, uint64_t key, uint32_t value) {
    BASE_ASSERT(value != BASE_TABLE_NONE);
    BASE_ASSERT(table->count < table->capacity / 2);
    place(table->slots, table->capacity - 1, base_table_home(table, key), key, value);
    table->count++;
}

bool base_table_remove(base_table* table, uint64_t key, uint32_t value) {
    BASE_ASSERT(value != BASE_TABLE_NONE);
    if (table->capacity == 0) return false;
    base_table_slot* slots = table->slots;
    uint32_t mask = table->capacity - 1;
    uint32_t hole = base_table_home(table, key);
    while (slots[hole].key != key || slots[hole].value != value) {
        if (slots[hole].value == BASE_TABLE_NONE) return false;
        hole = (hole + 1) & mask;
    }
    for (uint32_t at = (hole + 1) & mask; slots[at].value != BASE_TABLE_NONE;
         at = (at + 1) & mask) {
        uint32_t steps = (at - base_table_home(table, slots[at].key)) & mask;
        if (steps < ((at - hole) & mask)) continue; // its home lies after the hole
        slots[hole] = slots[at];
        hole = at;
    }
    slots[hole] = (base_table_slot){.value = BASE_TABLE_NONE};
    table->count--;
    return true;
}

void base_table_validate(const base_table* table) {
    BASE_ASSERT((table->capacity & (table->capacity - 1)) == 0);
    BASE_ASSERT(table->count <= table->capacity / 2);
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].value == BASE_TABLE_NONE) continue;
        count++;
        uint32_t at = base_table_home(table, table->slots[i].key);
        for (; at != i; at = (at + 1) & (table->capacity - 1))
            BASE_ASSERT(table->slots[at].value != BASE_TABLE_NONE);
    }
    BASE_ASSERT(count == table->count);
}
