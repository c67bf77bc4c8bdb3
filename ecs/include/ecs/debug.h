// SPDX-License-Identifier: MIT
/// Debugging: dumps as text, checks of the whole structure.
#pragma once

#include "ecs/world.h"

BASE_C_BEGIN

/// Receives one line without its newline; valid during the call.
typedef void (*ecs_line_fn)(void* context, const char* line);
/// Dump an entity, one line per component: "entity=5:1 template=ball component=pos type=p2
/// value=600,700".
void ecs_dump_entity(const ecs_world* world, ecs_entity entity, ecs_line_fn line, void* context);
/// Dump all entities by rising index; with `with_storage`, a line per archetype first.
void ecs_dump_world(const ecs_world* world, bool with_storage, ecs_line_fn line, void* context);
/// Where a running stage is, for a report of a crash or of a system that does not come back.
typedef struct ecs_where {
    ecs_tick tick;
    const char* stage;  ///< NULL: outside of stages; `system` is a function of the game there
    const char* system; ///< or handler; the first of several that run at once; NULL: commands
    ecs_entity entity;  ///< first of the rows that it got last; NONE: it has no rows
} ecs_where;

/// What one thread runs, of whatever world: another thread may look at it.
typedef struct ecs_running ecs_running;
/// Of the calling thread; it lives as long as the thread.
const ecs_running* ecs_running_here(void);
/// Outside of stages: the calling thread calls this function of a game ("bot_think", static); NULL:
/// it is back. @return what it called before.
const char* ecs_running_call(const char* function);
/// Any thread may ask, and a signal handler: it reads a few words without a lock, which may belong
/// to two moments. Texts live as long as the world. @return false: the thread runs neither a stage
/// nor a function of a game.
bool ecs_running_where(const ecs_running* running, ecs_where* where);
/// Check every invariant of the storage: records, rows, tails of columns, query caches, free
/// indices. Asserts the first that does not hold. O(world).
void ecs_world_validate(const ecs_world* world);

BASE_C_END
