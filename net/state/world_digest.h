// SPDX-License-Identifier: MIT
/// The world digest (net/match.h) of entities that are in no world.
#pragma once

#include "state/rows.h"

#include "net/match.h"

#include "base/bytes.h"

typedef struct net_digest_source {
    const void* context;
    /// The entity with the next higher index; the first after ECS_ENTITY_NONE, NONE at the end.
    ecs_entity (*next)(const void* context, ecs_entity previous);
    /// Fill in the row of an entity.
    const net_row_template* (*row)(const void* context, ecs_entity entity, uint64_t* row);
    /// Append a variable-size value, encoded. @return false: it is the template's default.
    bool (*value)(const void* context, ecs_entity entity, ecs_component_id component,
                  base_bytes* bytes);
} net_digest_source;

/// Walk the entities of a source. `world` knows templates and components by the ids in their rows.
net_world_digest net_digest_source_walk(const net_digest_source* source, ecs_world* world);
