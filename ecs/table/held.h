// SPDX-License-Identifier: MIT
/// The table of held handles (held.c).
#pragma once

#include "table/storage.h"

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
/// Take an entry out. Entries behind it may move.
void ecs_held_remove(ecs_held_handles* held, ecs_held_handle* entry);
