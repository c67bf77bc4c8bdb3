// SPDX-License-Identifier: MIT
// Held handles: handles that are referenced or loading. A table finds them by index, so one walk
// sees all generations of an index.
#include "table/held.h"

#include "base/assert.h"
#include "table/storage.h"
#include "type/world.h"

ecs_held_handle* ecs_held_find(const ecs_world* world, ecs_entity handle) {
    const ecs_held_handles* held = &world->storage->held;
    if (held->count == 0 || handle == ECS_ENTITY_NONE) return NULL;
    uint32_t cursor = 0, at;
    while ((at = base_table_next(&held->table, ecs_entity_index(handle), &cursor)) !=
           BASE_TABLE_NONE)
        if (held->items[at].handle == handle) return &held->items[at];
    return NULL;
}

bool ecs_held_has_index(const ecs_world* world, uint32_t index) {
    return base_table_find(&world->storage->held.table, index) != BASE_TABLE_NONE;
}

ecs_held_handle* ecs_held_add(ecs_held_handles* held, ecs_entity handle) {
    BASE_ASSERT(held->count < held->capacity && handle != ECS_ENTITY_NONE);
    base_table_add(&held->table, ecs_entity_index(handle), held->count);
    ecs_held_handle* entry = &held->items[held->count++];
    *entry = (ecs_held_handle){.handle = handle};
    return entry;
}

bool ecs_held_reserve(ecs_world* world) {
    ecs_held_handles* held = &world->storage->held;
    return base_table_reserve(&held->table, world->allocator, held->count + 1) &&
           BASE_ARRAY_RESERVE(world->allocator, held->items, held->capacity, held->count + 1);
}

void ecs_held_remove(ecs_held_handles* held, ecs_held_handle* entry) {
    BASE_ASSERT(held->count > 0 && entry < held->items + held->count);
    const uint32_t at = (uint32_t)(entry - held->items), last = --held->count;
    bool is_there = base_table_remove(&held->table, ecs_entity_index(entry->handle), at);
    if (at != last) { // the last one takes its place
        *entry = held->items[last];
        is_there &= base_table_remove(&held->table, ecs_entity_index(entry->handle), last);
        base_table_add(&held->table, ecs_entity_index(entry->handle), at);
    }
    BASE_ASSERT(is_there);
}

void ecs_held_deinit(ecs_world* world) {
    ecs_held_handles* held = &world->storage->held;
    base_table_deinit(&held->table, world->allocator);
    BASE_ARRAY_RELEASE(world->allocator, held->items, held->capacity);
    *held = (ecs_held_handles){0};
}

bool ecs_held_has_pending(const ecs_world* world, ecs_template_id template_id) {
    const ecs_held_handles* held = &world->storage->held;
    for (uint32_t i = 0; i < held->count; i++)
        if (held->items[i].pending != 0 && held->items[i].pending_template == template_id)
            return true;
    return false;
}
