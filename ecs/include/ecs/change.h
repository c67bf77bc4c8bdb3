// SPDX-License-Identifier: MIT
/// What happened to the world: the only door through which replication and logs look in.
///
/// The list gathers everything since the last ecs_changes_clear: structure as it happens, component
/// changes when a step tracks. A component appears at most once per step, only when
/// replicateCompare found it different at full precision, and never for an entity that is in
/// `created`.
#pragma once

#include "ecs/event.h"

typedef struct ecs_change {
    ecs_entity entity;
    ecs_component_id component;
} ecs_change;

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

/// Borrowed until the next clear, step or structural change.
ecs_changes ecs_changes_get(const ecs_world* world);
/// Forget what was listed. Call once per step after everyone has looked.
void ecs_changes_clear(ecs_world* world);
