// SPDX-License-Identifier: MIT
/// Event types, the queue of events that wait, and the exported events of the change list.
#pragma once

#include "ecs/detail/queues.h"
#include "ecs/event.h"
#include "ecs/system.h"

#include <string.h>

/// Core events are the types after the last that can be registered.
enum {
    ECS_EVENT_CREATED = ECS_EVENT_TYPES_MAX + 1,
    ECS_EVENT_RECREATED,
    ECS_EVENT_APPEAR,
    ECS_EVENT_DISAPPEAR,
    ECS_EVENT_DESTROYED,
    ECS_EVENT_CHANGED,
    ECS_EVENT_ORDER_SET,
    ECS_EVENT_BEFORE_CLEAR,
    ECS_EVENT_AFTER_CLEAR,
    ECS_EVENT_CORE_END,
    ECS_EVENT_KINDS = ECS_EVENT_CORE_END - 1,
    ECS_EVENT_RETIRED_MAX = 32, ///< each is twice as large as the one before
};

/// Before each run of events of one type in the queue. After it lie the events, each a target
/// and, right after that, a payload:
///
///     | count, type | target payload | target payload | ... | count, type | target payload | ...
typedef struct ecs_event_head {
    uint32_t count; ///< not up to date while the run is open
    uint32_t type;
} ecs_event_head;
_Static_assert(sizeof(ecs_event_head) == 8, "payloads keep the alignment of the heads");

/// One registered type. Lives in its own block, so that pointers to it stay valid.
typedef struct ecs_event_kind {
    uint32_t id;       ///< of the type
    uint32_t size;     ///< of a payload
    uint32_t lead;     ///< bytes before a payload: its target, and 4 more where it is aligned to 8
    uint32_t stride;   ///< from one event to the next
    uint32_t key;      ///< ecs_event_key when sending may do without a call; else 0
    bool has_entities; ///< a field holds handles, which may be placeholders
    bool is_special;   ///< delivery does more than call handlers: exported, or by component
    ecs_event_desc desc; ///< its name and fields are in `type`
    ecs_type type;       ///< the payload as a type: canonical bytes, text
    const char* sender;  ///< system that sent some last; NULL: not known; written by any thread
} ecs_event_kind;

/// Bytes that a field takes in a payload.
static inline uint32_t ecs_event_field_bytes(const ecs_field* field) {
    return ecs_field_kind_bytes(field->kind) * field->count;
}

/// FIFO over all types: the order of posting is the order of delivery.
typedef struct ecs_events {
    ecs_event_view view;                    ///< first: what inline functions see
    ecs_event_kind* kinds[ECS_EVENT_KINDS]; ///< [type - 1]; NULL: no such type
    uint32_t kind_count;                    ///< registered ones; core events are not counted
    /// Takes an event whose target does not live, for later. @return false: the event is stale.
    bool (*park)(ecs_world* world, const ecs_event* event);

    uint8_t* queue; ///< runs of events
    size_t capacity;
    size_t head;                     ///< the runs that wait lie in [head, ecs_events_tail)
    size_t tail;                     ///< when no run is open
    size_t open;                     ///< head of the open run
    size_t open_first;               ///< its events from here on are not in `count`
    uint32_t count;                  ///< see ecs_events_count
    const ecs_event_kind* open_kind; ///< of its type; NULL: no run is open
    uint32_t maximum;                ///< of events that wait
    uint32_t unresolved_count;
    bool is_delivering;                      ///< payloads are borrowed: the queue stays in place
    uint8_t* retired[ECS_EVENT_RETIRED_MAX]; ///< queues that were outgrown meanwhile
    size_t retired_bytes[ECS_EVENT_RETIRED_MAX];
    uint32_t retired_count;

    ecs_event* exported; ///< delivered events for ecs_changes
    uint32_t exported_count;
    uint32_t exported_capacity;
    uint8_t* payloads; ///< payloads of `exported`, each at a multiple of 16
    size_t payload_bytes;
    size_t payload_capacity;
} ecs_events;

/// Applying commands ends with this at the end of applying the command queue, while
/// ecs_command_resolve still knows the placeholders: queued events that name placeholders get the
/// real handles.
void ecs_events_resolve(ecs_world* world);
/// Append to the queue; ECS_ENTITY_NONE is a broadcast. @return false when it is full (counted).
bool ecs_event_post(ecs_world* world, ecs_entity target, ecs_event_type type, const void* payload);
/// Move all that waits in another queue of the same types to the end of the world's. What its limit
/// does not allow is refused (counted).
void ecs_events_append(ecs_world* world, ecs_events* from);
/// Types that may wait in the queue: registered ones and two of the core's.
static inline bool ecs_event_is_queued(const ecs_events* events, uint32_t type) {
    return (type != ECS_EVENT_NONE && type <= events->kind_count) || type == ECS_EVENT_CHANGED ||
           type == ECS_EVENT_ORDER_SET;
}
/// Give back what ecs_events_deliver could not.
void ecs_events_release_retired(ecs_world* world);
/// The end of what waits.
static inline size_t ecs_events_tail(const ecs_events* events) {
    return events->open_kind ? (size_t)(events->view.next - events->queue) - events->open_kind->lead
                             : events->tail;
}
/// How many events wait.
static inline uint32_t ecs_events_count(const ecs_events* events) {
    const ecs_event_kind* kind = events->open_kind;
    if (!kind) return events->count;
    return events->count +
           (uint32_t)((ecs_events_tail(events) - events->open_first) / kind->stride);
}
/// No more events join the last run, and its head is up to date.
void ecs_events_close(ecs_events* events);

/// A walk over the events that wait, in their order: begin with {.at = events->head}. Nothing is
/// posted meanwhile.
typedef struct ecs_event_walk {
    size_t at;     ///< of the next event; of the next run when none is left
    uint32_t left; ///< events of its run
    const ecs_event_kind* kind;
} ecs_event_walk;
/// The next event. @return its payload, with the target in the word before it; NULL at the end.
uint8_t* ecs_events_next(const ecs_events* events, ecs_event_walk* walk);
/// The target of an event in the queue.
static inline ecs_entity ecs_event_target(const uint8_t* payload) {
    ecs_entity target;
    memcpy(&target, payload - sizeof target, sizeof target);
    return target;
}
/// Does its target or a handle in its payload name a placeholder?
bool ecs_event_is_unresolved(const ecs_event_kind* kind, uint8_t* payload);
/// Slide what waits to the front of the queue.
void ecs_events_slide(ecs_events* events);
/// Deliver up to `count` events from the front of the queue to their handlers.
void ecs_events_deliver(ecs_world* world, const ecs_stage* stage, uint32_t count);
/// Copy an event for the change list.
void ecs_events_export(ecs_world* world, const ecs_event* event);
/// Forget the exported events (ecs_changes_clear).
void ecs_events_clear_exported(ecs_world* world);
/// Forget what waits; exported events stay.
void ecs_events_clear_queue(ecs_world* world);
/// Forget waiting and exported events (restore).
void ecs_events_clear(ecs_world* world);
