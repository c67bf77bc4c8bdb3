// SPDX-License-Identifier: MIT
/// Typed events: deferred, to one entity or to all interested systems, with a budget in events.
///
/// Core events are there in every world by name, and handled like any other:
///
///     EntityCreated, EntityRecreated           right after; values can be read and written
///     ComponentsAppear    (also "on_appear")   after; only to systems whose terms it now matches and did
///                                              not before; a creation is an appearance from nothing
///     ComponentsDisappear (also "on_disappear") before; the reverse, a destruction included
///     EntityDestroyed                          right before: it still lives, values can be read
///     ComponentChanged                         payload ecs_component_changed: tracking found it different;
///                                              queued by the step that tracks, delivered at the first
///                                              flush point of the next; to systems that track it
///     EsOrderSet                               broadcast once after seal
///     BeforeClear, AfterClear                  broadcast around ecs_world_clear
///
/// All but ComponentChanged and EsOrderSet are not queued: handlers run at the very place, in the
/// order of systems, and what happened in a batch is told as if it had been done one by one. A
/// creation tells Created, then Appear; a recreation Disappear, then (when done) Recreated, Appear;
/// a destruction Disappear, then Destroyed. Structure is deferred in handlers, as in systems:
/// inside a flush point what they record is applied at its end, outside of stages it waits for the
/// next flush. The events have one target, so a system without terms hears of all entities, with
/// count 0. stage->dt and user are those of the step under way, 0 and NULL outside of stages.
/// Restoring and copying worlds tell nothing. A recreation that ran out of memory after Disappear
/// tells Appear again.
#pragma once

#include "ecs/world.h"

typedef uint16_t ecs_event_type;
#define ECS_EVENT_NONE 0u

typedef struct ecs_event_desc {
    const char* name;        ///< "brick_hit"
    uint32_t size;           ///< of the payload struct, 0..ECS_EVENT_BYTES_MAX
    const ecs_field* fields; ///< for logs, dumps and hashes; copied
    uint32_t field_count;
    bool is_exported; ///< delivered events of this type are listed in ecs_changes.events
} ecs_event_desc;

/// What ComponentChanged carries.
typedef struct ecs_component_changed {
    uint16_t component; ///< ecs_component_id
} ecs_component_changed;

/// @return ECS_OK; ECS_ERR_DUPLICATE; ECS_ERR_FULL; ECS_ERR_TYPE (fields); ECS_ERR_SEALED.
BASE_MUST_USE ecs_result ecs_event_register(ecs_world* world, const ecs_event_desc* desc,
                                            ecs_event_type* type);
ecs_event_type ecs_event_find(ecs_world* world, const char* name);
const ecs_event_desc* ecs_event_get(const ecs_world* world, ecs_event_type type);
/// Registered types, numbered 1..count; core events have numbers far above and are not counted.
uint32_t ecs_event_count(const ecs_world* world);

/// Queue an event for one entity (or placeholder). FIFO. A target that is dead at delivery drops it
/// (counted). Core events are sent by the core alone (asserted).
/// @return false when the queue is full (counted in events_refused).
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
