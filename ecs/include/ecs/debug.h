// SPDX-License-Identifier: MIT
/// Debugging: dumps as text, checks of the whole structure.
#pragma once

#include "ecs/world.h"

/// Receives one line without its newline; valid during the call.
typedef void (*ecs_line_fn)(void* context, const char* line);
/// Dump an entity, one line per component: "entity=5:1 template=ball component=pos type=p2
/// value=600,700".
void ecs_dump_entity(const ecs_world* world, ecs_entity entity, ecs_line_fn line, void* context);
/// Dump all entities by rising index; with `with_storage`, a line per archetype first.
void ecs_dump_world(const ecs_world* world, bool with_storage, ecs_line_fn line, void* context);
/// Check every invariant of the storage: records, rows, tails of columns, query caches, free
/// indices. Asserts the first that does not hold. O(world).
void ecs_world_validate(const ecs_world* world);
