// SPDX-License-Identifier: MIT
// The table of held handles: handles that are referenced or loading.
//
// Open addressing. The hash looks at the index alone, so all generations of an index share a probe
// path, and "is any handle of this index held" is the same short walk.
#include "table/held.h"

#include "base/assert.h"
#include "core/world_internal.h"
#include "table/storage.h"

enum { SLOTS_MIN = 16 };

static uint32_t slot_of(const ecs_held_handles* held, ecs_entity handle) {
    return (ecs_entity_index(handle) * 2654435769u) >> (32 - __builtin_ctz(held->capacity));
}

ecs_held_handle* ecs_held_find(const ecs_world* world, ecs_entity handle) {
    const ecs_held_handles* held = &world->storage->held;
    if (held->count == 0 || handle == ECS_ENTITY_NONE) return NULL;
    for (uint32_t i = slot_of(held, handle);; i = (i + 1) & (held->capacity - 1)) {
        if (held->slots[i].handle == handle) return &held->slots[i];
        if (held->slots[i].handle == ECS_ENTITY_NONE) return NULL;
    }
}

bool ecs_held_has_index(const ecs_world* world, uint32_t index) {
    const ecs_held_handles* held = &world->storage->held;
    if (held->count == 0) return false;
    for (uint32_t i = slot_of(held, index);; i = (i + 1) & (held->capacity - 1)) {
        if (held->slots[i].handle == ECS_ENTITY_NONE) return false;
        if (ecs_entity_index(held->slots[i].handle) == index) return true;
    }
}

ecs_held_handle* ecs_held_add(ecs_held_handles* held, ecs_entity handle) {
    BASE_ASSERT(held->count < held->capacity && handle != ECS_ENTITY_NONE);
    uint32_t i = slot_of(held, handle);
    while (held->slots[i].handle != ECS_ENTITY_NONE)
        i = (i + 1) & (held->capacity - 1);
    held->slots[i] = (ecs_held_handle){.handle = handle};
    held->count++;
    return &held->slots[i];
}

bool ecs_held_reserve(ecs_world* world) {
    ecs_held_handles* held = &world->storage->held;
    if ((held->count + 1) * 2 <= held->capacity) return true;
    ecs_held_handles grown = *held;
    grown.count = 0;
    grown.capacity = held->capacity ? held->capacity * 2 : SLOTS_MIN;
    grown.slots = base_allocate_zero(world->allocator, grown.capacity * sizeof *grown.slots);
    if (!grown.slots) return false;
    for (uint32_t i = 0; i < held->capacity; i++) {
        if (held->slots[i].handle == ECS_ENTITY_NONE) continue;
        *ecs_held_add(&grown, held->slots[i].handle) = held->slots[i];
    }
    BASE_ARRAY_RELEASE(world->allocator, held->slots, held->capacity);
    *held = grown;
    return true;
}

// Close the gap so that probe paths stay unbroken (Knuth, TAOCP 6.4, algorithm R).
void ecs_held_remove(ecs_held_handles* held, ecs_held_handle* entry) {
    uint32_t mask = held->capacity - 1;
    uint32_t hole = (uint32_t)(entry - held->slots);
    BASE_ASSERT(held->count > 0 && hole < held->capacity);
    for (uint32_t i = (hole + 1) & mask; held->slots[i].handle != ECS_ENTITY_NONE;
         i = (i + 1) & mask) {
        uint32_t home = slot_of(held, held->slots[i].handle);
        if (((i - home) & mask) < ((i - hole) & mask)) continue;
        held->slots[hole] = held->slots[i];
        hole = i;
    }
    held->slots[hole] = (ecs_held_handle){0};
    held->count--;
}

bool ecs_held_has_pending(const ecs_world* world, ecs_template_id template_id) {
    const ecs_held_handles* held = &world->storage->held;
    for (uint32_t i = 0; i < held->capacity; i++) {
        const ecs_held_handle* entry = &held->slots[i];
        if (entry->pending != 0 && entry->pending_template == template_id) return true;
    }
    return false;
}
