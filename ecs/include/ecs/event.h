// SPDX-License-Identifier: MIT
/// Typed events: deferred, to one entity or to all interested systems, with a budget in events.
#pragma once

#include "ecs/world.h"

typedef uint16_t ecs_event_type;
#define ECS_EVENT_NONE 0u

typedef struct ecs_event_desc {
    const char* name;        ///< "brick_hit"
    uint32_t size;           ///< of the payload struct, 0..ECS_EVENT_BYTES_MAX
    const ecs_field* fields; ///< for logs, dumps and hashes; copied
    uint32_t field_count;
    bool is_exported;        ///< delivered events of this type are listed in ecs_changes.events
} ecs_event_desc;

/// @return ECS_OK; ECS_ERR_DUPLICATE; ECS_ERR_FULL; ECS_ERR_TYPE (fields); ECS_ERR_SEALED.
BASE_MUST_USE ecs_result ecs_event_register(ecs_world* world, const ecs_event_desc* desc,
                                            ecs_event_type* type);
ecs_event_type ecs_event_find(ecs_world* world, const char* name);
const ecs_event_desc* ecs_event_get(const ecs_world* world, ecs_event_type type);
uint32_t ecs_event_count(const ecs_world* world);

/// Queue an event for one entity (or placeholder). FIFO. A target that is dead at delivery drops it
/// (counted). @return false when the queue is full (counted in events_refused).
bool ecs_event_send(ecs_world* world, ecs_entity target, ecs_event_type type, const void* payload);
/// Queue an event for every interested system.
bool ecs_event_broadcast(ecs_world* world, ecs_event_type type, const void* payload);

/// What a handler sees.
typedef struct ecs_event {
    ecs_event_type type;
    ecs_entity target; ///< ECS_ENTITY_NONE for a broadcast
    uint32_t size;
    const void* payload;
} ecs_event;
