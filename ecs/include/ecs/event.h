// SPDX-License-Identifier: MIT
/// Typed events: queued, for one entity or for all systems that handle them, with a budget of
/// events.
///
/// Core events exist in every world by name, and systems handle them like any other:
///
///     EntityCreated, EntityRecreated  right after; values can be read and written
///     ComponentsAppear, "on_appear"   after; only to systems whose terms it now matches, but not
///                                     before; a creation is an appearance from nothing
///     ComponentsDisappear, "on_disappear"  before; the reverse, with destructions
///     EntityDestroyed                 right before: it still lives, and values can be read
///     ComponentChanged                payload ecs_component_changed: tracking found a new value;
///                                     queued by the step that tracks, delivered at the first flush
///                                     point of the next step, to systems that track the component
///     EsOrderSet                      broadcast once after seal
///     BeforeClear, AfterClear         broadcast around ecs_world_clear
///
/// All but ComponentChanged and EsOrderSet are not queued: handlers run at once, in the order of
/// systems. A batch sends the same events as single calls would. A creation sends Created, then
/// Appear; a recreation sends Disappear, then (when done) Recreated and Appear; a destruction sends
/// Disappear, then Destroyed. Structural changes are deferred in handlers, as in systems: inside a
/// flush point they are applied at its end, outside of stages they wait for the next flush. Core
/// events have one target, so a system without terms gets those of all entities, with count 0.
/// stage->dt and user are those of the current step; 0 and NULL outside of stages. Restoring and
/// copying a world send no events.
#pragma once

#include "ecs/detail/queues.h"
#include "ecs/world.h"

BASE_C_BEGIN

typedef uint16_t ecs_event_type;
#define ECS_EVENT_NONE 0u

/// What a caller registers.
typedef struct ecs_event_desc {
    const char* name;        ///< "brick_hit"
    uint32_t size;           ///< of the payload struct, 0..ECS_EVENT_BYTES_MAX
    const ecs_field* fields; ///< for logs, dumps and hashes; copied
    uint32_t field_count;
    bool is_exported; ///< delivered events of this type are listed in ecs_changes.events
} ecs_event_desc;

/// The payload of ComponentChanged.
typedef struct ecs_component_changed {
    uint16_t component; ///< ecs_component_id
} ecs_component_changed;

/// Register an event type, before ecs_world_seal. The description is copied.
/// @return ECS_OK, *type is the new type; ECS_ERR_DUPLICATE (the name is used, perhaps by a core
///         event); ECS_ERR_FULL (ECS_EVENT_TYPES_MAX types); ECS_ERR_TYPE (the name, the size or a
///         field is not valid: correct the description); ECS_ERR_SEALED (register earlier).
BASE_MUST_USE ecs_result ecs_event_register(ecs_world* world, const ecs_event_desc* desc,
                                            ecs_event_type* type);
/// Find an event type by name. Counted as a name look-up. @return ECS_EVENT_NONE when there is
/// none.
ecs_event_type ecs_event_find(ecs_world* world, const char* name);
/// Get the description of a type, borrowed from the world. @return NULL for an unknown type.
const ecs_event_desc* ecs_event_get(const ecs_world* world, ecs_event_type type);
/// Count the registered types; they are numbered 1..count. Core events have much higher numbers and
/// are not counted.
uint32_t ecs_event_count(const ecs_world* world);

/// Detail: what the inline function leaves to a call.
bool ecs_detail_event_send(ecs_world* world, ecs_entity target, ecs_event_type type,
                           const void* payload);

/// Queue an event for one entity or placeholder. The payload is copied. Events are delivered in the
/// order of sending. An event whose target no longer lives at delivery is dropped (counted in
/// stale_handles). Core events cannot be sent (asserted).
/// @return false when the queue is full (counted in events_refused).
static inline __attribute__((always_inline)) bool
ecs_event_send(ecs_world* world, ecs_entity target, ecs_event_type type, const void* payload) {
    const uint32_t count = ecs_words_of(__builtin_object_size(payload, 0));
    if (count > 0) {
        uint32_t word[ECS_SLOT_WORDS_MAX];
        ecs_words_load(word, payload, count);
        if (ecs_detail_event_join(ecs_fast_of(world)->events, target, type, word, count))
            return true;
        const ecs_words copy = ecs_words_kept(word, count);
        return ecs_detail_event_send(world, target, type, &copy);
    }
    return ecs_detail_event_send(world, target, type, payload);
}
/// Queue an event for every system that handles it.
/// @return false when the queue is full (counted in events_refused).
bool ecs_event_broadcast(ecs_world* world, ecs_event_type type, const void* payload);

/// An event as a handler gets it. The payload is borrowed for the call.
typedef struct ecs_event {
    ecs_event_type type;
    ecs_entity target; ///< ECS_ENTITY_NONE for a broadcast
    uint32_t size;
    const void* payload;
} ecs_event;

/// Events of one type to entities of one chunk, in the order of sending. Borrowed for the call.
typedef struct ecs_event_run {
    ecs_event_type type;
    uint32_t size; ///< of a payload
    uint32_t count;
    const uint32_t* rows;       ///< by event: row of its target
    const ecs_entity* entities; ///< by row
    void* const* columns;       ///< one per term, each begins at row 0; NULL where an optional
                                ///< component is missing
    const uint8_t* payloads;    ///< of the first event
    uint32_t stride;            ///< bytes from one payload to the next
} ecs_event_run;

/// The payload of an event of a run.
static inline const void* ecs_event_run_payload(const ecs_event_run* run, uint32_t i) {
    return run->payloads + (size_t)run->stride * i;
}

BASE_C_END
