// SPDX-License-Identifier: MIT
/// Held handles: handles that are referenced or loading (held.c).
#pragma once

#include "base/table.h"
#include "ecs/template.h"

/// A handle that is referenced or loading.
typedef struct ecs_held_handle {
    ecs_entity handle;
    uint32_t references;
    uint32_t pending; ///< slot + 1 in ecs_loading.slots; 0: it waits for no resources
    ecs_template_id pending_template; ///< with `pending`: of the entity that waits
    bool is_loading;
} ecs_held_handle;

typedef struct ecs_held_handles {
    base_table table; ///< positions in `items` by index
    ecs_held_handle* items;
    uint32_t count, capacity;
    uint32_t allocated_count; ///< in state ALLOCATED
    uint32_t loading_count;   ///< in state LOADING
} ecs_held_handles;

/// The entry of a handle; NULL when it is not held.
ecs_held_handle* ecs_held_find(const ecs_world* world, ecs_entity handle);
/// Is a handle of this index held, of whichever generation?
bool ecs_held_has_index(const ecs_world* world, uint32_t index);
/// Does an entity of this template wait for resources?
bool ecs_held_has_pending(const ecs_world* world, ecs_template_id template_id);
/// Room for one more. @return false when memory ran out.
BASE_MUST_USE bool ecs_held_reserve(ecs_world* world);
/// A new entry for a handle that has none. Room was reserved.
ecs_held_handle* ecs_held_add(ecs_held_handles* held, ecs_entity handle);
/// Take an entry out. The last entry may move.
void ecs_held_remove(ecs_held_handles* held, ecs_held_handle* entry);
/// Forget all; give the memory back.
void ecs_held_deinit(ecs_world* world);
