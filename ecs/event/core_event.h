// SPDX-License-Identifier: MIT
/// Core events: the calls when an entity is created, destroyed or moved to another archetype.
#pragma once

#include "base/table.h"
#include "table/storage.h"

/// One handler of one core event.
typedef struct ecs_call {
    uint32_t system;
    uint32_t type; ///< event type; unused where members are meant
} ecs_call;

/// All calls of one kind of change, found once and kept.
typedef struct ecs_edge {
    uint32_t before_count, after_count, leave_count, enter_count;
    ecs_call calls[]; ///< handlers before, handlers after, systems it leaves, systems it enters
} ecs_edge;

/// Moves that happened. `table` finds one by the ids of both archetypes.
typedef struct ecs_edges {
    base_table table;
    ecs_edge** items;
    uint32_t count, capacity;
} ecs_edges;

/// Fill `told`, `birth` and `death` of a new archetype. @return false when memory ran out.
BASE_MUST_USE bool ecs_core_event_bind(ecs_world* world, ecs_archetype* archetype);
/// Drop the edges of an archetype that goes away; edges that were found are no longer valid.
void ecs_core_event_unbind(ecs_world* world, ecs_archetype* archetype);
/// The edge of a move. NULL when memory ran out.
ecs_edge* ecs_core_event_move(ecs_world* world, const ecs_archetype* from, const ecs_archetype* to);
/// Room for the entity in the lists of systems that it enters. @return false when memory ran out.
BASE_MUST_USE bool ecs_core_event_reserve(ecs_world* world, const ecs_edge* edge, uint32_t index);
/// Call handlers before the change; call them after it, and list the members that entered and left.
void ecs_core_event_before(ecs_world* world, const ecs_edge* edge, ecs_entity entity);
void ecs_core_event_after(ecs_world* world, const ecs_edge* edge, ecs_entity entity);
/// The change that ecs_core_event_before announced did not happen: what disappeared appears again.
void ecs_core_event_stayed(ecs_world* world, const ecs_edge* edge, ecs_entity entity);
/// Deliver a broadcast at once.
void ecs_core_event_broadcast(ecs_world* world, uint32_t type);
/// Forget all moves (archetypes are numbered again); give the memory back.
void ecs_core_event_clear(ecs_world* world);
void ecs_core_event_deinit(ecs_world* world);
