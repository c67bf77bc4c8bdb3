// SPDX-License-Identifier: MIT
/// What changed in the world: replication and logs read the world through this list only.
///
/// The list collects everything since the last ecs_changes_clear: structural changes when they
/// happen, changed components when a step tracks. A component appears at most once per step, only
/// when its value differs at full precision, and never for an entity that is in `created`.
#pragma once

#include "ecs/event.h"

BASE_C_BEGIN

/// A tracked component of an entity that has another value now.
typedef struct ecs_change {
    ecs_entity entity;
    ecs_component_id component;
} ecs_change;

/// The change list. The arrays are borrowed, see ecs_changes_get.
typedef struct ecs_changes {
    const ecs_entity* created; ///< in order of creation; may also be in destroyed
    uint32_t created_count;
    const ecs_entity* destroyed; ///< in order of destruction
    uint32_t destroyed_count;
    const ecs_entity* recreated; ///< their template changed
    uint32_t recreated_count;
    const ecs_change* changed; ///< by archetype, chunk, component, row: a fixed order
    uint32_t changed_count;
    const ecs_event* events; ///< exported events in order of delivery; payloads borrowed
    uint32_t event_count;
} ecs_changes;

/// Get the list. Its arrays are valid until the next clear, step or structural change.
ecs_changes ecs_changes_get(const ecs_world* world);
/// Empty the list. Call it once per step, after every reader.
void ecs_changes_clear(ecs_world* world);

BASE_C_END
