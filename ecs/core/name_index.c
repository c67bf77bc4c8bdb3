// SPDX-License-Identifier: MIT
// Linear probing at a load of at most one half. Nothing is ever removed, so a run of occupied slots
// holds every entry of a hash and an empty slot ends the search. Nobody walks the table: its order
// decides nothing.
#include "core/name_index.h"

#include "base/assert.h"

enum { CAPACITY_MIN = 32 };

static void place(ecs_name_slot* slots, uint32_t capacity, uint64_t hash, uint32_t id) {
    uint32_t at = (uint32_t)hash & (capacity - 1);
    while (slots[at].id)
        at = (at + 1) & (capacity - 1);
    slots[at] = (ecs_name_slot){hash, id};
}

bool ecs_name_index_reserve(ecs_name_index* index, const base_allocator* allocator,
                            uint32_t count) {
    BASE_ASSERT(count <= UINT32_MAX / 4);
    if (count * 2 <= index->capacity) return true;
    uint32_t capacity = index->capacity ? index->capacity : CAPACITY_MIN;
    while (capacity < count * 2)
        capacity *= 2;
    ecs_name_slot* slots = base_allocate_zero(allocator, (size_t)capacity * sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < index->capacity; i++)
        if (index->slots[i].id) place(slots, capacity, index->slots[i].hash, index->slots[i].id);
    base_release(allocator, index->slots, (size_t)index->capacity * sizeof *slots);
    index->slots = slots;
    index->capacity = capacity;
    return true;
}

void ecs_name_index_deinit(ecs_name_index* index, const base_allocator* allocator) {
    base_release(allocator, index->slots, (size_t)index->capacity * sizeof *index->slots);
    *index = (ecs_name_index){0};
}

void ecs_name_index_add(ecs_name_index* index, uint64_t hash, uint32_t id) {
    BASE_ASSERT(id != 0);
    BASE_ASSERT((index->count + 1) * 2 <= index->capacity);
    place(index->slots, index->capacity, hash, id);
    index->count++;
}

uint32_t ecs_name_index_next(const ecs_name_index* index, uint64_t hash, uint32_t* cursor) {
    if (index->capacity == 0) return 0;
    // The cursor counts steps, so it works across the wrap; half of the slots are empty.
    for (;;) {
        const ecs_name_slot* slot =
            &index->slots[((uint32_t)hash + *cursor) & (index->capacity - 1)];
        if (slot->id == 0) return 0;
        ++*cursor;
        if (slot->hash == hash) return slot->id;
    }
}
