// SPDX-License-Identifier: MIT
// The queue of events: post, resolve, clear.
//
// One queue serves all types, since the order of posting over all types is what makes delivery
// deterministic. It is a plain block of runs: events of one type that were posted one after the
// other share a head, so an event of 4 bytes takes 8, and posting it takes two stores. It slides
// down when its front half was used up, so in a steady tick nothing allocates. While events are
// delivered it stays in place, since handlers look at payloads where they lie: it grows into a new
// block at the same offsets then, and the old one is given back afterwards.
//
// A payload is copied field by field where fields do not cover all of it: bytes between fields are
// always zero, in the queue and in exported events.
//
// Invariants: head..ecs_events_tail holds exactly ecs_events_count events; unresolved_count of them
// name placeholders, which is so only between posting and the next application of commands. The
// step decides when to deliver (system/step.c); event_deliver.c does it.
#include "base/assert.h"
#include "base/hash.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "table/row.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

// Event types: registration and look-up.
//
// A type is a copied description in a block of its own, so pointers to it stay valid. The core's
// own types have the numbers after the last that can be registered.

static ecs_event_type find_kind(const ecs_events* events, const char* name) {
    for (uint32_t i = 0; i < ECS_EVENT_KINDS; i++)
        if (events->kinds[i] && strcmp(events->kinds[i]->type.name, name) == 0)
            return (ecs_event_type)(i + 1);
    return ECS_EVENT_NONE;
}

// A type at its number. @return ECS_EVENT_NONE: its fields make no sense.
static ecs_event_type make_kind(ecs_world* world, const ecs_event_desc* desc, uint32_t type) {
    BASE_ASSERT(type >= 1 && type <= ECS_EVENT_KINDS && !world->events->kinds[type - 1]);
    uint32_t align = 1;
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const ecs_field_kind kind = desc->fields[i].kind;
        const uint32_t bytes = kind < ECS_FIELD_KIND_COUNT ? ecs_field_kind_bytes(kind) : 1;
        align = bytes > align ? bytes : align;
    }
    const ecs_type_desc payload = {.name = desc->name,
                                   .size = desc->size,
                                   .align = align,
                                   .fields = desc->fields,
                                   .field_count = desc->field_count};
    ecs_type made;
    if (ecs_type_make(world, &payload, &made)) return ECS_EVENT_NONE;
    ecs_event_kind* kind = base_allocate_zero(world->allocator, sizeof *kind);
    kind->type = made;
    kind->type.layout_hash =
        ecs_fields_hash(base_hash64_text(desc->name), made.fields, made.field_count);
    kind->desc = *desc;
    kind->desc.name = kind->type.name;
    kind->desc.fields = made.fields;
    kind->id = type;
    kind->size = desc->size;
    kind->lead = align > sizeof(ecs_entity) ? 8 : sizeof(ecs_entity);
    kind->stride = (kind->lead + desc->size + 7u) & ~7u;
    kind->is_special = desc->is_exported;
    for (uint32_t i = 0; i < made.field_count; i++)
        kind->has_entities |= made.fields[i].kind == ECS_FIELD_ENTITY;
    if (made.is_dense && !kind->has_entities) kind->key = ecs_event_key((uint16_t)type, desc->size);
    world->events->kinds[type - 1] = kind;
    return (ecs_event_type)type;
}

ecs_result ecs_event_register(ecs_world* world, const ecs_event_desc* desc, ecs_event_type* type) {
    BASE_ASSERT(world && desc && desc->name);
    ecs_events* events = world->events;
    if (world->is_sealed) return ECS_ERR_SEALED;
    if (find_kind(events, desc->name) != ECS_EVENT_NONE) return ECS_ERR_DUPLICATE;
    if (events->kind_count >= ECS_EVENT_TYPES_MAX) return ECS_FULL(world, ECS_EVENT_TYPES_MAX);
    if (strlen(desc->name) >= ECS_NAME_BYTES_MAX) return ECS_FULL(world, ECS_NAME_BYTES_MAX);
    if (desc->size > ECS_EVENT_BYTES_MAX) return ECS_FULL(world, ECS_EVENT_BYTES_MAX);
    if (desc->field_count > ECS_FIELDS_MAX) return ECS_FULL(world, ECS_FIELDS_MAX);
    if (desc->size > 0 && desc->field_count == 0) return ECS_ERR_TYPE;
    ecs_event_type made = make_kind(world, desc, events->kind_count + 1);
    if (made == ECS_EVENT_NONE) return ECS_ERR_TYPE;
    events->kind_count++;
    if (type) *type = made;
    return ECS_OK;
}

void ecs_events_init(ecs_world* world) {
    static const ecs_field changed[] = {{.name = "component", .kind = ECS_FIELD_U16, .count = 1}};
    static const ecs_event_desc core[] = {
        {.name = "EntityCreated"},
        {.name = "EntityRecreated"},
        {.name = "ComponentsAppear"},
        {.name = "ComponentsDisappear"},
        {.name = "EntityDestroyed"},
        {.name = "ComponentChanged",
         .size = sizeof(ecs_component_changed),
         .fields = changed,
         .field_count = 1},
        {.name = "EsOrderSet"},
        {.name = "BeforeClear"},
        {.name = "AfterClear"},
    };
    _Static_assert(BASE_COUNT(core) == ECS_EVENT_CORE_END - ECS_EVENT_CREATED, "one per type");
    _Static_assert(ECS_HANDLER_LISTS == ECS_EVENT_CORE_END, "a list per type and one for none");
    world->events->maximum = world->limits.events_queued_max;
    for (uint32_t i = 0; i < BASE_COUNT(core); i++)
        (void)make_kind(world, &core[i], ECS_EVENT_CREATED + i);
    world->events->kinds[ECS_EVENT_CHANGED - 1]->is_special = true;
}

const char* ecs_event_hint(const ecs_world* world, const char* name, char hint[BASE_HINT_BYTES]) {
    base_nearest nearest = base_nearest_begin(name);
    for (uint32_t i = 0; i < ECS_EVENT_KINDS; i++)
        if (world->events->kinds[i])
            base_nearest_offer(&nearest, world->events->kinds[i]->desc.name);
    return base_nearest_hint(&nearest, hint);
}

ecs_event_type ecs_event_find(ecs_world* world, const char* name) {
    world->counters.name_lookups++;
    return find_kind(world->events, name);
}

const ecs_event_desc* ecs_event_get(const ecs_world* world, ecs_event_type type) {
    const ecs_event_kind* kind =
        type == ECS_EVENT_NONE || type > ECS_EVENT_KINDS ? NULL : world->events->kinds[type - 1];
    return !kind ? NULL : &kind->desc;
}

uint32_t ecs_event_count(const ecs_world* world) {
    return world->events->kind_count;
}

void ecs_events_close(ecs_events* events) {
    const ecs_event_kind* kind = events->open_kind;
    if (!kind) return;
    events->count = ecs_events_count(events);
    events->tail = ecs_events_tail(events);
    const ecs_event_head head = {
        .count = (uint32_t)((events->tail - events->open - sizeof head) / kind->stride),
        .type = kind->id};
    memcpy(events->queue + events->open, &head, sizeof head);
    events->open_kind = NULL;
    events->view.key = 0;
}

uint8_t* ecs_events_next(const ecs_events* events, ecs_event_walk* walk) {
    const size_t tail = ecs_events_tail(events);
    if (walk->left == 0) {
        if (walk->at == tail) return NULL;
        ecs_event_head head;
        memcpy(&head, events->queue + walk->at, sizeof head);
        walk->kind = events->kinds[head.type - 1];
        walk->left = head.count;
        if (events->open_kind && walk->at == events->open)
            walk->left = (uint32_t)((tail - walk->at - sizeof head) / walk->kind->stride);
        walk->at += sizeof head;
    }
    BASE_ASSERT(walk->left > 0 && walk->at + walk->kind->stride <= tail);
    uint8_t* payload = events->queue + walk->at + walk->kind->lead;
    walk->at += walk->kind->stride;
    walk->left--;
    return payload;
}

void ecs_events_slide(ecs_events* events) {
    BASE_ASSERT(!events->is_delivering && events->head <= ecs_events_tail(events));
    ecs_events_close(events);
    const size_t used = events->tail - events->head;
    if (used > 0) memmove(events->queue, events->queue + events->head, used);
    events->head = 0;
    events->tail = used;
}

void ecs_events_release_retired(ecs_world* world) {
    ecs_events* events = world->events;
    while (events->retired_count > 0) {
        const uint32_t last = --events->retired_count;
        base_release(world->allocator, events->retired[last], events->retired_bytes[last]);
    }
}

static void grow(ecs_world* world) {
    ecs_events* events = world->events;
    const size_t capacity = events->capacity == 0 ? 4096 : events->capacity * 2;
    uint8_t* queue = base_allocate(world->allocator, capacity);
    const size_t head = events->head, used = events->tail - head;
    if (used > 0) memcpy(queue + head, events->queue + head, used);
    BASE_ASSERT(events->retired_count < ECS_EVENT_RETIRED_MAX);
    events->retired_bytes[events->retired_count] = events->capacity;
    events->retired[events->retired_count++] = events->queue;
    if (!events->is_delivering) ecs_events_release_retired(world);
    events->queue = queue;
    events->capacity = capacity;
}

// Room for `bytes` at the tail of a queue without an open run: slide down when that frees at least
// half, else grow.
static void queue_reserve(ecs_world* world, size_t bytes) {
    ecs_events* events = world->events;
    BASE_ASSERT(bytes > 0 && !events->open_kind);
    while (events->tail + bytes > events->capacity) {
        if (!events->is_delivering && events->head > 0 && events->head >= events->capacity / 2)
            ecs_events_slide(events);
        else
            grow(world);
    }
}

// Begin a run of a type, or go on with the one that is open, in more memory when there is no room
// for another event. @return false: the queue is full.
static __attribute__((noinline)) bool open_run(ecs_world* world, const ecs_event_kind* kind) {
    ecs_events* events = world->events;
    const bool goes_on = events->open_kind == kind;
    ecs_event_view* view = &events->view;
    ecs_events_close(events);
    if (events->count >= events->maximum) return false;
    const size_t before = events->head, head_bytes = goes_on ? 0 : sizeof(ecs_event_head);
    queue_reserve(world, head_bytes + kind->stride);
    if (goes_on) {
        events->open -= before - events->head; // it slid along
    } else {
        const ecs_event_head head = {.type = kind->id};
        memcpy(events->queue + events->tail, &head, sizeof head);
        events->open = events->tail;
    }
    __atomic_store_n(&events->kinds[kind->id - 1]->sender,
                     world->running ? world->running->name : NULL, __ATOMIC_RELAXED);
    const size_t left = (events->capacity - events->tail - head_bytes) / kind->stride;
    const uint32_t most = events->maximum - events->count;
    events->open_kind = kind;
    events->open_first = events->tail + head_bytes;
    view->next = events->queue + events->open_first + kind->lead;
    view->end = view->next + kind->stride * (left < most ? left : most);
    view->stride = kind->stride;
    view->key = kind->key;
    return true;
}

bool ecs_event_is_unresolved(const ecs_event_kind* kind, uint8_t* payload) {
    return ecs_entity_is_placeholder(ecs_event_target(payload)) ||
           (kind->has_entities && ecs_handles_visit(NULL, &kind->type, payload, false));
}

// Target and payload of an event whose room is there.
static void write_event(ecs_events* events, const ecs_event_kind* kind, ecs_entity target,
                        const void* payload) {
    BASE_ASSERT(events->open_kind == kind && events->view.next < events->view.end);
    uint8_t* copy = events->view.next;
    if (kind->type.is_dense) {
        ecs_bytes_copy(copy, payload, kind->size);
    } else {
        memset(copy, 0, kind->size);
        // Copy what the fields cover into zeroed memory.
        BASE_ASSERT(!kind->type.is_dense);
        for (uint32_t i = 0; i < kind->type.field_count; i++) {
            const ecs_field* field = &kind->type.fields[i];
            memcpy(copy + field->offset, (const uint8_t*)payload + field->offset,
                   ecs_event_field_bytes(field));
        }
    }
    memcpy(copy - sizeof target, &target, sizeof target);
    events->unresolved_count += ecs_event_is_unresolved(kind, copy);
    events->view.next += kind->stride;
}

bool ecs_event_post(ecs_world* world, ecs_entity target, ecs_event_type type, const void* payload) {
    ecs_events* events = world->events;
    const ecs_event_kind* kind = events->kinds[type - 1];
    BASE_ASSERT(payload || kind->size == 0);
    if ((events->open_kind != kind || events->view.next >= events->view.end) &&
        !open_run(world, kind)) {
        world->counters.events_refused++;
        return false;
    }
    write_event(events, kind, target, payload);
    return true;
}

bool ecs_detail_event_send(ecs_world* world, ecs_entity target, ecs_event_type type,
                           const void* payload) {
    BASE_ASSERT(!world->is_part && "a part of a shared loop sends no events");
    BASE_ASSERT(type - 1u < world->events->kind_count); // refuses ECS_EVENT_NONE too: it wraps
    if (target != ECS_ENTITY_NONE) return ecs_event_post(world, target, type, payload);
    world->counters.stale_handles++; // not a broadcast by accident: no entity has this handle
    return true;
}

bool ecs_event_broadcast(ecs_world* world, ecs_event_type type, const void* payload) {
    BASE_ASSERT(!world->is_part && "a part of a shared loop sends no events");
    BASE_ASSERT(type != ECS_EVENT_NONE && type <= world->events->kind_count);
    return ecs_event_post(world, ECS_ENTITY_NONE, type, payload);
}

// A target whose creation failed becomes this: no living handle, and no broadcast either.
#define DEAD_TARGET ecs_entity_make(0, 1)

void ecs_events_resolve(ecs_world* world) {
    ecs_events* events = world->events;
    ecs_event_walk walk = {.at = events->head};
    while (events->unresolved_count > 0) {
        uint8_t* payload = ecs_events_next(events, &walk);
        BASE_ASSERT(payload);
        if (!ecs_event_is_unresolved(walk.kind, payload)) continue;
        ecs_entity target = ecs_event_target(payload);
        if (ecs_entity_is_placeholder(target)) {
            target = ecs_command_resolve(world, target);
            if (target == ECS_ENTITY_NONE) target = DEAD_TARGET;
            memcpy(payload - sizeof target, &target, sizeof target);
        }
        (void)ecs_handles_visit(world, &walk.kind->type, payload, true);
        events->unresolved_count--;
    }
}

// Cut a queue without an open run off after its first `count` events.
static void cut_queue(ecs_events* events, uint32_t count) {
    BASE_ASSERT(!events->open_kind && count < events->count);
    ecs_event_walk walk = {.at = events->head};
    size_t run = events->head;
    uint32_t of_run = 0;
    events->unresolved_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (walk.left == 0) {
            run = walk.at;
            of_run = 0;
        }
        uint8_t* payload = ecs_events_next(events, &walk);
        BASE_ASSERT(payload);
        events->unresolved_count += ecs_event_is_unresolved(walk.kind, payload);
        of_run++;
    }
    if (count > 0) memcpy(events->queue + run, &of_run, sizeof of_run); // the head's first word
    events->count = count;
    events->tail = walk.at;
}

void ecs_events_append(ecs_world* world, ecs_events* from) {
    ecs_events* events = world->events;
    BASE_ASSERT(from != events);
    ecs_events_close(from);
    if (from->count == 0) return;
    ecs_events_close(events);
    const uint32_t posted = from->count, room = events->maximum - events->count;
    if (posted > room) cut_queue(from, room);
    const size_t bytes = from->tail - from->head;
    world->counters.events_refused += posted - from->count;
    if (from->count > 0) {
        queue_reserve(world, bytes);
        memcpy(events->queue + events->tail, from->queue + from->head, bytes);
        events->tail += bytes;
        events->count += from->count;
        events->unresolved_count += from->unresolved_count;
    }
    from->head = from->tail = 0;
    from->count = from->unresolved_count = 0;
}

void ecs_events_clear_queue(ecs_world* world) {
    ecs_events* events = world->events;
    ecs_events_close(events);
    events->head = events->tail = 0;
    events->count = events->unresolved_count = 0;
}

// Payloads move when their memory grows, so the list's pointers are moved along.
static void reserve_exported(ecs_world* world, size_t bytes) {
    ecs_events* events = world->events;
    if (events->payloads && events->payload_bytes + bytes <= events->payload_capacity) return;
    size_t capacity = events->payload_capacity == 0 ? 4096 : events->payload_capacity * 2;
    uint8_t* moved =
        base_reallocate(world->allocator, events->payloads, events->payload_capacity, capacity);
    events->payloads = moved;
    events->payload_capacity = capacity;
    for (uint32_t i = 0; i < events->exported_count; i++) {
        events->exported[i].payload = moved;
        moved += ((size_t)events->exported[i].size + 15u) & ~(size_t)15u;
    }
}

void ecs_events_export(ecs_world* world, const ecs_event* event) {
    ecs_events* events = world->events;
    size_t bytes = ((size_t)event->size + 15u) & ~(size_t)15u;
    BASE_ARRAY_RESERVE(world->allocator, events->exported, events->exported_capacity,
                       events->exported_count + 1);
    reserve_exported(world, bytes);
    uint8_t* place = events->payloads + events->payload_bytes;
    if (event->size > 0) memcpy(place, event->payload, event->size);
    events->payload_bytes += bytes;
    ecs_event* copy = &events->exported[events->exported_count++];
    *copy = *event;
    copy->payload = place;
}

void ecs_events_clear_exported(ecs_world* world) {
    world->events->exported_count = 0;
    world->events->payload_bytes = 0;
}

void ecs_events_clear(ecs_world* world) {
    ecs_events_clear_queue(world);
    ecs_events_clear_exported(world);
}
