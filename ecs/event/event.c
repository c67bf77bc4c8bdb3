// SPDX-License-Identifier: MIT
// The queue of events: post, resolve, clear.
//
// One queue serves all types, since the order of posting over all types is what makes delivery
// deterministic. It is a plain block with heads and payloads in a row. It slides down when its
// front half was used up, so in a steady tick nothing allocates.
//
// A payload is copied field by field where fields do not cover all of it: bytes between fields are
// always zero, in the queue and in what is exported.
//
// Invariants: queue_head..queue_tail holds exactly queue_count events; unresolved_count of them
// name placeholders, which is so only between posting and the next application of commands. The
// step decides when to deliver (system/step.c); event_deliver.c does it.
#include "base/assert.h"
#include "core/world_internal.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "table/bytes.h"

#include <string.h>

// Room for `bytes` at the tail: slide down when that frees at least half, else grow.
__attribute__((noinline)) static bool queue_reserve(ecs_world* world, size_t bytes) {
    BASE_ASSERT(bytes > 0 && world->events->queue_head <= world->events->queue_tail);
    ecs_events* events = world->events;
    if (events->queue_tail + bytes <= events->queue_capacity) return true;
    size_t used = events->queue_tail - events->queue_head;
    if (events->queue_head < events->queue_capacity / 2 || used + bytes > events->queue_capacity) {
        size_t capacity = events->queue_capacity == 0 ? 4096 : events->queue_capacity * 2;
        uint8_t* queue =
            base_reallocate(world->allocator, events->queue, events->queue_capacity, capacity);
        if (!queue) return false;
        events->queue = queue;
        events->queue_capacity = capacity;
    }
    memmove(events->queue, events->queue + events->queue_head, used);
    events->queue_head = 0;
    events->queue_tail = used;
    return true;
}

// Copy what the fields cover into zeroed memory.
static void copy_fields(const ecs_event_kind* kind, uint8_t* target, const void* payload) {
    BASE_ASSERT(!kind->type.is_dense);
    for (uint32_t i = 0; i < kind->type.field_count; i++) {
        const ecs_field* field = &kind->type.fields[i];
        memcpy(target + field->offset, (const uint8_t*)payload + field->offset,
               ecs_event_field_bytes(field));
    }
}

// Replace placeholders in the handle fields of a payload. @return whether there was one.
static bool visit_fields(const ecs_world* world, const ecs_event_kind* kind, uint8_t* payload,
                         bool resolve) {
    BASE_ASSERT(kind->has_entities);
    bool found = false;
    for (uint32_t i = 0; i < kind->type.field_count; i++) {
        const ecs_field* field = &kind->fields[i];
        for (uint32_t k = 0; k < field->count && field->kind == ECS_FIELD_ENTITY; k++) {
            ecs_entity entity;
            uint8_t* place = payload + field->offset + k * sizeof(entity);
            memcpy(&entity, place, sizeof(entity));
            if (ecs_entity_is_placeholder(entity)) {
                found = true;
                entity = resolve ? ecs_command_resolve(world, entity) : entity;
                memcpy(place, &entity, sizeof(entity));
            }
        }
    }
    return found;
}

static inline bool visit_placeholders(const ecs_world* world, const ecs_event_kind* kind,
                                      uint8_t* payload, bool resolve) {
    return kind->has_entities && visit_fields(world, kind, payload, resolve);
}

// Payload and head of an event whose room is there. Apart, so that the common case saves no
// registers.
__attribute__((noinline)) static void write_event(ecs_world* world, const ecs_event_kind* kind,
                                                  ecs_entity target, const void* payload) {
    BASE_ASSERT(world->events->queue_tail + kind->bytes <= world->events->queue_capacity);
    ecs_events* events = world->events;
    uint8_t* record = events->queue + events->queue_tail;
    uint8_t* copy = record + sizeof(ecs_event_head);
    if (kind->type.is_dense) {
        ecs_bytes_copy(copy, payload, kind->type.size);
    } else {
        memset(record, 0, kind->bytes);
        copy_fields(kind, copy, payload);
    }
    bool unresolved = ecs_entity_is_placeholder(target);
    unresolved |= visit_placeholders(world, kind, copy, false);
    ecs_event_head head = kind->head;
    head.target = target;
    head.unresolved = unresolved;
    memcpy(record, &head, sizeof(head));
    events->unresolved_count += unresolved;
}

// Whatever is not the common case, apart, so that the common case saves no registers.
__attribute__((noinline)) static bool post_any(ecs_world* world, ecs_entity target,
                                               const ecs_event_kind* kind, const void* payload) {
    ecs_events* events = world->events;
    BASE_ASSERT(payload || kind->head.size == 0);
    if (events->queue_count >= world->limits.events_queued_max ||
        (events->queue_tail + kind->bytes > events->queue_capacity &&
         !queue_reserve(world, kind->bytes))) {
        world->counters.events_refused++;
        return false;
    }
    write_event(world, kind, target, payload);
    events->queue_tail += kind->bytes;
    events->queue_count++;
    return true;
}

// A head and a payload of one or two words that holds no handles, to a target that is no
// placeholder.
static inline bool post(ecs_world* world, ecs_entity target, ecs_event_type type,
                        const void* payload) {
    ecs_events* events = world->events;
    const ecs_event_kind* kind = events->kinds[type - 1];
    const size_t tail = events->queue_tail, end = tail + kind->bytes;
    if (!kind->is_short || !payload || ecs_entity_is_placeholder(target) ||
        end > events->queue_capacity || events->queue_count >= world->limits.events_queued_max)
        return post_any(world, target, kind, payload);
    uint8_t* record = events->queue + tail;
    ecs_event_head head = kind->head;
    head.target = target;
    memcpy(record, &head, sizeof(head));
    if (head.size == 4)
        memcpy(record + sizeof(head), payload, 4);
    else
        memcpy(record + sizeof(head), payload, 8);
    events->queue_tail = end;
    events->queue_count++;
    return true;
}

bool ecs_event_post(ecs_world* world, ecs_entity target, ecs_event_type type, const void* payload) {
    return post(world, target, type, payload);
}

// Not a broadcast by accident: no entity has this handle.
__attribute__((noinline)) static bool send_to_nobody(ecs_world* world) {
    world->counters.stale_handles++;
    return true;
}

// Aligned: its jumps are close together, and some CPUs are slow where one crosses 32 bytes.
__attribute__((aligned(64))) bool ecs_event_send(ecs_world* world, ecs_entity target,
                                                 ecs_event_type type, const void* payload) {
    BASE_ASSERT(type - 1u < world->events->kind_count); // refuses ECS_EVENT_NONE too: it wraps
    return target == ECS_ENTITY_NONE ? send_to_nobody(world) : post(world, target, type, payload);
}

bool ecs_event_broadcast(ecs_world* world, ecs_event_type type, const void* payload) {
    BASE_ASSERT(type != ECS_EVENT_NONE && type <= world->events->kind_count);
    return ecs_event_post(world, ECS_ENTITY_NONE, type, payload);
}

// A target whose creation failed becomes this: no living handle, and no broadcast either.
#define DEAD_TARGET ecs_entity_make(0, 1)

void ecs_events_resolve(ecs_world* world) {
    ecs_events* events = world->events;
    for (size_t at = events->queue_head; events->unresolved_count > 0;) {
        BASE_ASSERT(at < events->queue_tail);
        ecs_event_head head;
        memcpy(&head, events->queue + at, sizeof(head));
        if (head.unresolved != 0) {
            if (ecs_entity_is_placeholder(head.target)) {
                ecs_entity target = ecs_command_resolve(world, head.target);
                head.target = target == ECS_ENTITY_NONE ? DEAD_TARGET : target;
            }
            visit_placeholders(world, events->kinds[head.type - 1],
                               events->queue + at + sizeof(head), true);
            head.unresolved = 0;
            memcpy(events->queue + at, &head, sizeof(head));
            events->unresolved_count--;
        }
        at += ecs_event_bytes(head.size);
    }
}

// Bytes of the first `count` events that wait in a queue; `unresolved` is how many of them name
// placeholders.
static size_t bytes_of_first(const ecs_events* events, uint32_t count, uint32_t* unresolved) {
    BASE_ASSERT(count <= events->queue_count);
    *unresolved = events->unresolved_count;
    if (count == events->queue_count) return events->queue_tail - events->queue_head;
    size_t at = events->queue_head;
    *unresolved = 0;
    for (uint32_t i = 0; i < count; i++) {
        ecs_event_head head;
        memcpy(&head, events->queue + at, sizeof(head));
        at += ecs_event_bytes(head.size);
        *unresolved += head.unresolved;
    }
    return at - events->queue_head;
}

// queue_reserve doubles once per call.
static bool reserve_bytes(ecs_world* world, size_t bytes) {
    while (world->events->queue_tail + bytes > world->events->queue_capacity)
        if (!queue_reserve(world, bytes)) return false;
    return true;
}

void ecs_events_append(ecs_world* world, ecs_events* from) {
    ecs_events* events = world->events;
    BASE_ASSERT(from != events);
    if (from->queue_count == 0) return;
    const uint32_t room = world->limits.events_queued_max - events->queue_count;
    uint32_t count = from->queue_count < room ? from->queue_count : room, unresolved = 0;
    const size_t bytes = bytes_of_first(from, count, &unresolved);
    if (count > 0 && !reserve_bytes(world, bytes)) count = 0;
    world->counters.events_refused += from->queue_count - count;
    if (count > 0) {
        memcpy(events->queue + events->queue_tail, from->queue + from->queue_head, bytes);
        events->queue_tail += bytes;
        events->queue_count += count;
        events->unresolved_count += unresolved;
    }
    from->queue_head = from->queue_tail = 0;
    from->queue_count = from->unresolved_count = 0;
}

void ecs_events_clear_queue(ecs_world* world) {
    ecs_events* events = world->events;
    events->queue_head = events->queue_tail = 0;
    events->queue_count = events->unresolved_count = 0;
}

void ecs_events_clear_exported(ecs_world* world) {
    world->events->exported_count = 0;
    world->events->payload_bytes = 0;
}

void ecs_events_clear(ecs_world* world) {
    ecs_events_clear_queue(world);
    ecs_events_clear_exported(world);
}
