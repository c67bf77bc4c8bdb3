// SPDX-License-Identifier: MIT Open addressing with linear probing, at most half full. A pair lies
// at its home slot or behind it, with no empty slot between. So an empty slot ends every search.
//
// Removal keeps this without tombstones: it moves later pairs of the run back into the hole, when
// their home allows it (Knuth, TAOCP 6.4, algorithm R). So the table never needs a clean-up, and
// its content depends only on the calls made.
#include "base/table.h"

#include "base/assert.h"

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

bool base_table_reserve(base_table* table, const base_allocator* allocator, uint32_t count) {
    BASE_ASSERT(count <= BASE_TABLE_COUNT_MAX);
    if (count <= table->capacity / 2) return true;
    base_table grown = {.capacity = table->capacity ? table->capacity : CAPACITY_MIN,
                        .count = table->count};
    while (grown.capacity / 2 < count)
        grown.capacity *= 2;
    grown.slots = base_allocate(allocator, (size_t)grown.capacity * sizeof *grown.slots);
    if (!grown.slots) return false;
    clear_slots(grown.slots, grown.capacity);
    for (uint32_t i = 0; i < table->capacity; i++) {
        const base_table_slot* slot = &table->slots[i];
        if (slot->value == BASE_TABLE_NONE) continue;
        place(grown.slots, grown.capacity - 1, base_table_home(&grown, slot->key), slot->key,
              slot->value);
    }
    BASE_ARRAY_RELEASE(allocator, table->slots, table->capacity);
    *table = grown;
    return true;
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
        if (steps < ((at - hole) & mask)) continue; // its home lies behind the hole
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
