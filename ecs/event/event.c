// SPDX-License-Identifier: MIT
// The queue of events: post, resolve, clear.
//
// One queue serves all types, since the order of posting over all types is what makes delivery
// deterministic. It is a plain block with heads and payloads in a row. It slides down when its
// front half was used up, so in a steady tick nothing allocates. While events are delivered it
// stays in place, since handlers look at payloads where they lie: it grows into a new block at the
// same offsets then, and the old one is given back afterwards.
//
// A payload is copied field by field where fields do not cover all of it: bytes between fields are
// always zero, in the queue and in what is exported.
//
// Invariants: queue_head..view.tail holds exactly view.count events; unresolved_count of them name
// placeholders, which is so only between posting and the next application of commands. The step
// decides when to deliver (system/step.c); event_deliver.c does it.
#include "base/assert.h"
#include "core/world_internal.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "table/bytes.h"

#include <string.h>

void ecs_events_slide(ecs_events* events) {
    BASE_ASSERT(!events->is_delivering && events->queue_head <= events->view.tail);
    const size_t used = events->view.tail - events->queue_head;
    if (used > 0) memmove(events->view.queue, events->view.queue + events->queue_head, used);
    events->queue_head = 0;
    events->view.tail = used;
}

void ecs_events_release_retired(ecs_world* world) {
    ecs_events* events = world->events;
    while (events->retired_count > 0) {
        const uint32_t last = --events->retired_count;
        base_release(world->allocator, events->retired[last], events->retired_bytes[last]);
    }
}

static bool grow(ecs_world* world) {
    ecs_events* events = world->events;
    const size_t capacity = events->view.capacity == 0 ? 4096 : events->view.capacity * 2;
    uint8_t* queue = base_allocate(world->allocator, capacity);
    if (!queue) return false;
    const size_t head = events->queue_head, used = events->view.tail - head;
    if (used > 0) memcpy(queue + head, events->view.queue + head, used);
    BASE_ASSERT(events->retired_count < ECS_EVENT_RETIRED_MAX);
    events->retired_bytes[events->retired_count] = events->view.capacity;
    events->retired[events->retired_count++] = events->view.queue;
    if (!events->is_delivering) ecs_events_release_retired(world);
    events->view.queue = queue;
    events->view.capacity = capacity;
    return true;
}

// Room for `bytes` at the tail: slide down when that frees at least half, else grow.
__attribute__((noinline)) static bool queue_reserve(ecs_world* world, size_t bytes) {
    ecs_events* events = world->events;
    BASE_ASSERT(bytes > 0);
    if (!events->is_delivering && events->queue_head > 0 &&
        events->queue_head >= events->view.capacity / 2)
        ecs_events_slide(events);
    return events->view.tail + bytes <= events->view.capacity || grow(world);
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

// Payload and head of an event whose room is there.
static void write_event(ecs_world* world, const ecs_event_kind* kind, ecs_entity target,
                        const void* payload) {
    BASE_ASSERT(world->events->view.tail + kind->bytes <= world->events->view.capacity);
    ecs_events* events = world->events;
    uint8_t* record = events->view.queue + events->view.tail;
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

static bool post_any(ecs_world* world, ecs_entity target, const ecs_event_kind* kind,
                     const void* payload) {
    ecs_events* events = world->events;
    BASE_ASSERT(payload || kind->head.size == 0);
    if (events->view.count >= world->limits.events_queued_max ||
        (events->view.tail + kind->bytes > events->view.capacity &&
         !queue_reserve(world, kind->bytes))) {
        world->counters.events_refused++;
        return false;
    }
    write_event(world, kind, target, payload);
    events->view.tail += kind->bytes;
    events->view.count++;
    return true;
}

bool ecs_event_post(ecs_world* world, ecs_entity target, ecs_event_type type, const void* payload) {
    return post_any(world, target, world->events->kinds[type - 1], payload);
}

bool ecs_detail_event_send(ecs_world* world, ecs_entity target, ecs_event_type type,
                           const void* payload) {
    BASE_ASSERT(type - 1u < world->events->kind_count); // refuses ECS_EVENT_NONE too: it wraps
    if (target != ECS_ENTITY_NONE) return ecs_event_post(world, target, type, payload);
    world->counters.stale_handles++; // not a broadcast by accident: no entity has this handle
    return true;
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
        BASE_ASSERT(at < events->view.tail);
        ecs_event_head head;
        memcpy(&head, events->view.queue + at, sizeof(head));
        if (head.unresolved != 0) {
            if (ecs_entity_is_placeholder(head.target)) {
                ecs_entity target = ecs_command_resolve(world, head.target);
                head.target = target == ECS_ENTITY_NONE ? DEAD_TARGET : target;
            }
            visit_placeholders(world, events->kinds[head.type - 1],
                               events->view.queue + at + sizeof(head), true);
            head.unresolved = 0;
            memcpy(events->view.queue + at, &head, sizeof(head));
            events->unresolved_count--;
        }
        at += ecs_event_bytes(head.size);
    }
}

// Bytes of the first `count` events that wait in a queue; `unresolved` is how many of them name
// placeholders.
static size_t bytes_of_first(const ecs_events* events, uint32_t count, uint32_t* unresolved) {
    BASE_ASSERT(count <= events->view.count);
    *unresolved = events->unresolved_count;
    if (count == events->view.count) return events->view.tail - events->queue_head;
    size_t at = events->queue_head;
    *unresolved = 0;
    for (uint32_t i = 0; i < count; i++) {
        ecs_event_head head;
        memcpy(&head, events->view.queue + at, sizeof(head));
        at += ecs_event_bytes(head.size);
        *unresolved += head.unresolved;
    }
    return at - events->queue_head;
}

// queue_reserve doubles once per call.
static bool reserve_bytes(ecs_world* world, size_t bytes) {
    while (world->events->view.tail + bytes > world->events->view.capacity)
        if (!queue_reserve(world, bytes)) return false;
    return true;
}

void ecs_events_append(ecs_world* world, ecs_events* from) {
    ecs_events* events = world->events;
    BASE_ASSERT(from != events);
    if (from->view.count == 0) return;
    const uint32_t room = world->limits.events_queued_max - events->view.count;
    uint32_t count = from->view.count < room ? from->view.count : room, unresolved = 0;
    const size_t bytes = bytes_of_first(from, count, &unresolved);
    if (count > 0 && !reserve_bytes(world, bytes)) count = 0;
    world->counters.events_refused += from->view.count - count;
    if (count > 0) {
        memcpy(events->view.queue + events->view.tail, from->view.queue + from->queue_head, bytes);
        events->view.tail += bytes;
        events->view.count += count;
        events->unresolved_count += unresolved;
    }
    from->queue_head = from->view.tail = 0;
    from->view.count = from->unresolved_count = 0;
}

void ecs_events_clear_queue(ecs_world* world) {
    ecs_events* events = world->events;
    events->queue_head = events->view.tail = 0;
    events->view.count = events->unresolved_count = 0;
}

void ecs_events_clear_exported(ecs_world* world) {
    world->events->exported_count = 0;
    world->events->payload_bytes = 0;
}

void ecs_events_clear(ecs_world* world) {
    ecs_events_clear_queue(world);
    ecs_events_clear_exported(world);
}
