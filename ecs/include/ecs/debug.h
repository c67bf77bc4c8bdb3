// SPDX-License-Identifier: MIT
/// Looking inside: dumps as text, whole-structure checks.
#pragma once

#include "ecs/world.h"

/// Gets one line without the newline.
typedef void (*ecs_line_fn)(void* context, const char* line);
/// One line per component of one entity: "entity=5:1 template=ball component=pos type=p2
/// value=600,700".
void ecs_dump_entity(const ecs_world* world, ecs_entity entity, ecs_line_fn line, void* context);
/// All entities by rising index, and a line per archetype first when `with_storage`.
void ecs_dump_world(const ecs_world* world, bool with_storage, ecs_line_fn line, void* context);
/// Check every invariant of the storage (records, rows, columns' tails, query caches, free
/// indices). Asserts on the first that does not hold. O(world).
void ecs_world_validate(const ecs_world* world);
