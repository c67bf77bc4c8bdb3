// SPDX-License-Identifier: MIT
/// Events: types, the queue, delivery.
///
/// Idea: one queue for all types, since the order of posting over all types is what makes delivery
/// deterministic. It is a plain block with heads and payloads in a row; it slides down when its front
/// half was used up, so in a steady tick nothing allocates.
/// A payload is copied field by field where fields do not cover all of it: bytes between fields are
/// always zero, in the queue and in what is exported.
/// Invariants: queue_head..queue_tail holds exactly queue_count events; unresolved_count of them name
/// placeholders, which is so only between posting and the next application of commands.
/// Left to others: when to deliver (step.c), what placeholders became (command.c).

#include "base/assert.h"
#include "base/hash.h"
#include "core/world_internal.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "table/archetype.h"
#include "table/bytes.h"
#include "table/chunk.h"
#include "table/query_cache.h"
#include "table/record.h"
#include "table/storage.h"
#include "track/track.h"

#include <string.h>

void ecs_events_deinit(ecs_world* world) {
    ecs_events* events = world->events;
    for (uint32_t i = 0; i < ECS_EVENT_KINDS; i++) {
        base_release(world->allocator, events->kinds[i], sizeof(ecs_event_kind));
    }
    base_release(world->allocator, events->queue, events->queue_capacity);
    base_release(world->allocator, events->exported, sizeof(ecs_event) * events->exported_capacity);
    base_release(world->allocator, events->payloads, events->payload_capacity);
    memset(events, 0, sizeof(*events));
}

// Registration

static uint32_t field_bytes(const ecs_field* field) {
    return ecs_field_kind_bytes(field->kind) * field->count;
}

// Fields must lie within the payload, at rising offsets, without overlap.
static bool fields_are_right(const ecs_event_desc* desc) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const ecs_field* field = &desc->fields[i];
        if (field->name == NULL || strlen(field->name) >= ECS_NAME_BYTES_MAX ||
            (uint32_t)field->kind >= ECS_FIELD_KIND_COUNT || field->count == 0 ||
            field->count > desc->size || field->offset < end ||
            field->offset % ecs_field_kind_bytes(field->kind) != 0) {
            return false;
        }
        end = (uint64_t)field->offset + field_bytes(field);
        if (end > desc->size) {
            return false;
        }
    }
    return desc->size == 0 || desc->field_count > 0;
}

static uint64_t layout_hash(const ecs_event_kind* kind) {
    uint64_t hash = base_hash64_mix(base_hash64_text(kind->name), kind->desc.size);
    for (uint32_t i = 0; i < kind->desc.field_count; i++) {
        const ecs_field* field = &kind->fields[i];
        hash = base_hash64_mix(hash, base_hash64_text(field->name));
        hash = base_hash64_mix(hash, ((uint64_t)field->offset << 32) | field->count);
        hash = base_hash64_mix(hash, (uint64_t)field->kind);
    }
    return hash;
}

static void fill_kind(ecs_event_kind* kind, const ecs_event_desc* desc) {
    memcpy(kind->name, desc->name, strlen(desc->name));
    uint32_t covered = 0;
    uint32_t align = 1;
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const ecs_field* field = &desc->fields[i];
        uint32_t bytes = ecs_field_kind_bytes(field->kind);
        memcpy(kind->field_names[i], field->name, strlen(field->name));
        kind->fields[i] = *field;
        kind->fields[i].name = kind->field_names[i];
        kind->has_entities |= field->kind == ECS_FIELD_ENTITY;
        covered += field_bytes(field);
        align = bytes > align ? bytes : align;
    }
    kind->desc = *desc;
    kind->desc.name = kind->name;
    kind->desc.fields = kind->fields;
    memcpy(kind->type.name, kind->name, sizeof(kind->type.name));
    kind->type.size = desc->size;
    kind->type.object_size = desc->size;
    kind->type.align = align;
    kind->type.field_count = desc->field_count;
    kind->type.fields = kind->fields;
    kind->type.is_dense = covered == desc->size;
    kind->type.layout_hash = layout_hash(kind);
    kind->head.size = desc->size & 0xffffu;
    kind->bytes = ecs_event_bytes(desc->size);
    kind->is_short =
        kind->type.is_dense && !kind->has_entities && (desc->size == 4 || desc->size == 8);
    kind->is_special = desc->is_exported;
}

static ecs_event_type find_kind(const ecs_events* events, const char* name) {
    for (uint32_t i = 0; i < ECS_EVENT_KINDS; i++) {
        if (events->kinds[i] != NULL && strcmp(events->kinds[i]->name, name) == 0) {
            return (ecs_event_type)(i + 1);
        }
    }
    return ECS_EVENT_NONE;
}

// A type at its number. ECS_EVENT_NONE when memory ran out.
static ecs_event_type make_kind(ecs_world* world, const ecs_event_desc* desc, uint32_t type) {
    ecs_event_kind* kind = base_allocate_zero(world->allocator, sizeof(ecs_event_kind));
    if (kind == NULL) {
        return ECS_EVENT_NONE;
    }
    fill_kind(kind, desc);
    kind->head.type = type & 0x7fffu;
    world->events->kinds[type - 1] = kind;
    return (ecs_event_type)type;
}

ecs_result ecs_event_register(ecs_world* world, const ecs_event_desc* desc, ecs_event_type* type) {
    BASE_ASSERT(world != NULL && desc != NULL && desc->name != NULL);
    ecs_events* events = world->events;
    if (world->is_sealed) {
        return ECS_ERR_SEALED;
    }
    if (find_kind(events, desc->name) != ECS_EVENT_NONE) {
        return ECS_ERR_DUPLICATE;
    }
    if (events->kind_count >= ECS_EVENT_TYPES_MAX || strlen(desc->name) >= ECS_NAME_BYTES_MAX ||
        desc->size > ECS_EVENT_BYTES_MAX || desc->field_count > ECS_FIELDS_MAX) {
        return ECS_ERR_FULL;
    }
    if (!fields_are_right(desc)) {
        return ECS_ERR_TYPE;
    }
    ecs_event_type made = make_kind(world, desc, events->kind_count + 1);
    if (made == ECS_EVENT_NONE) {
        return ECS_ERR_MEMORY;
    }
    events->kind_count++;
    if (type != NULL) {
        *type = made;
    }
    return ECS_OK;
}

bool ecs_events_init(ecs_world* world) {
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
    memset(world->events, 0, sizeof *world->events);
    for (uint32_t i = 0; i < BASE_COUNT(core); i++) {
        if (make_kind(world, &core[i], ECS_EVENT_CREATED + i) == ECS_EVENT_NONE) {
            return false;
        }
    }
    world->events->kinds[ECS_EVENT_CHANGED - 1]->is_special = true;
    return true;
}

ecs_event_type ecs_event_find(ecs_world* world, const char* name) {
    world->counters.name_lookups++;
    return find_kind(world->events, name);
}

const ecs_event_desc* ecs_event_get(const ecs_world* world, ecs_event_type type) {
    const ecs_event_kind* kind =
        type == ECS_EVENT_NONE || type > ECS_EVENT_KINDS ? NULL : world->events->kinds[type - 1];
    return kind == NULL ? NULL : &kind->desc;
}

uint32_t ecs_event_count(const ecs_world* world) {
    return world->events->kind_count;
}

// The queue

// Room for `bytes` at the tail: slide down when that frees at least half, else grow.
__attribute__((noinline)) static bool queue_reserve(ecs_world* world, size_t bytes) {
    ecs_events* events = world->events;
    if (events->queue_tail + bytes <= events->queue_capacity) {
        return true;
    }
    size_t used = events->queue_tail - events->queue_head;
    if (events->queue_head < events->queue_capacity / 2 || used + bytes > events->queue_capacity) {
        size_t capacity = events->queue_capacity == 0 ? 4096 : events->queue_capacity * 2;
        uint8_t* queue =
            base_reallocate(world->allocator, events->queue, events->queue_capacity, capacity);
        if (queue == NULL) {
            return false;
        }
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
    for (uint32_t i = 0; i < kind->type.field_count; i++) {
        const ecs_field* field = &kind->type.fields[i];
        memcpy(target + field->offset, (const uint8_t*)payload + field->offset, field_bytes(field));
    }
}

// Replace placeholders in the handle fields of a payload. @return whether there was one.
static bool visit_fields(const ecs_world* world, const ecs_event_kind* kind, uint8_t* payload,
                         bool resolve) {
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

// Payload and head of an event whose room is there. Apart, so that the common case saves no registers.
__attribute__((noinline)) static void write_event(ecs_world* world, const ecs_event_kind* kind,
                                                  ecs_entity target, const void* payload) {
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
    BASE_ASSERT(payload != NULL || kind->head.size == 0);
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

// A head and a payload of one or two words that holds no handles, to a target that is no placeholder.
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

// Not a broadcast by accident: nobody has this handle.
__attribute__((noinline)) static bool send_to_nobody(ecs_world* world) {
    world->counters.stale_handles++;
    return true;
}

bool ecs_event_send(ecs_world* world, ecs_entity target, ecs_event_type type, const void* payload) {
    BASE_ASSERT(type != ECS_EVENT_NONE && type <= world->events->kind_count);
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

void ecs_events_clear_queue(ecs_world* world) {
    ecs_events* events = world->events;
    events->queue_head = events->queue_tail = 0;
    events->queue_count = events->unresolved_count = 0;
}

void ecs_events_clear(ecs_world* world) {
    ecs_events_clear_queue(world);
    ecs_events_clear_exported(world);
}

// Delivery

// Payloads move when their memory grows, so the list's pointers are moved along.
static uint8_t* export_reserve(ecs_world* world, size_t bytes) {
    ecs_events* events = world->events;
    if (events->payload_bytes + bytes > events->payload_capacity || events->payloads == NULL) {
        size_t capacity = events->payload_capacity == 0 ? 4096 : events->payload_capacity * 2;
        uint8_t* moved =
            base_reallocate(world->allocator, events->payloads, events->payload_capacity, capacity);
        if (moved == NULL) {
            return NULL;
        }
        events->payloads = moved;
        events->payload_capacity = capacity;
        size_t at = 0;
        for (uint32_t i = 0; i < events->exported_count; i++) {
            events->exported[i].payload = moved + at;
            at += ((size_t)events->exported[i].size + 15u) & ~(size_t)15u;
        }
    }
    uint8_t* place = events->payloads + events->payload_bytes;
    events->payload_bytes += bytes;
    return place;
}

static bool keep_exported(ecs_world* world, const ecs_event* event) {
    ecs_events* events = world->events;
    size_t bytes = ((size_t)event->size + 15u) & ~(size_t)15u;
    if (!base_array_reserve(world->allocator, (void**)&events->exported, &events->exported_capacity,
                            events->exported_count + 1, sizeof(ecs_event))) {
        return false;
    }
    uint8_t* place = export_reserve(world, bytes);
    if (place == NULL) {
        return false;
    }
    if (event->size > 0) {
        memcpy(place, event->payload, event->size);
    }
    ecs_event copy = *event;
    copy.payload = place;
    events->exported[events->exported_count++] = copy;
    return true;
}

void ecs_events_clear_exported(ecs_world* world) {
    world->events->exported_count = 0;
    world->events->payload_bytes = 0;
}

// Where the columns of a handler's terms lie in one archetype. Structure stays while events are
// delivered, so the next target there needs no more than its row.
typedef struct handler_spot {
    const ecs_archetype* archetype; // NULL: nothing remembered
    const ecs_system* system;
    bool is_match;
    uint32_t term_count;
    uint32_t mark_count;
    ecs_rows rows;
    ecs_span spans[ECS_QUERY_TERMS_MAX];  // offset 0: no column
    uint16_t tracks[ECS_QUERY_TERMS_MAX]; // columns that a call marks as written
    void* columns[ECS_QUERY_TERMS_MAX];
} handler_spot;

enum { SPOTS = 4 };

static __attribute__((noinline)) void fill_spot(handler_spot* spot, const ecs_system* system,
                                                const ecs_archetype* archetype) {
    const ecs_query* query = system->query;
    spot->archetype = archetype;
    spot->system = system;
    spot->is_match = ecs_query_wants(query, archetype);
    spot->term_count = query->term_count;
    spot->mark_count = 0;
    spot->rows.count = 1;
    spot->rows.columns = spot->columns;
    for (uint32_t i = 0; i < query->term_count && spot->is_match; i++) {
        const ecs_access access = query->access[i];
        spot->spans[i] = (ecs_span){0, 0};
        spot->columns[i] = NULL;
        if (access > ECS_OPTIONAL_WRITE || query->components[i] == ECS_COMPONENT_NONE) {
            continue;
        }
        const ecs_slot* slot = &archetype->lookup[query->components[i]];
        if (slot->column == ECS_SLOT_NONE) {
            continue;
        }
        spot->spans[i] = archetype->spans[slot->column];
        bool is_write = access == ECS_WRITE || access == ECS_OPTIONAL_WRITE;
        if (is_write && slot->track != ECS_SLOT_NONE) {
            spot->tracks[spot->mark_count++] = slot->track;
        }
    }
}

static inline void call_at(ecs_world* world, const ecs_system* system, ecs_stage* stage,
                           const ecs_event* event, const ecs_record* target, handler_spot* spot) {
    const ecs_place* place = &world->storage->places[target->place >> ECS_ROW_BITS];
    const uint32_t row = ecs_record_row(target);
    if (spot->archetype != place->archetype || spot->system != system) {
        fill_spot(spot, system, place->archetype);
    }
    if (!spot->is_match) {
        return;
    }
    spot->rows.entities = place->entities + row;
    for (uint32_t i = 0; i < spot->term_count; i++) {
        const ecs_span span = spot->spans[i];
        if (span.offset != 0) {
            spot->columns[i] = (uint8_t*)place->chunk + span.offset + (size_t)span.size * row;
        }
    }
    for (uint32_t i = 0; i < spot->mark_count; i++) {
        ecs_chunk_mark_row(place->chunk, spot->tracks[i], row);
    }
    system->on_event(stage, event, &spot->rows);
}

void ecs_system_call_rows(ecs_world* world, const ecs_system* system, ecs_stage* stage,
                          const ecs_event* event) {
    stage->context = system->context;
    if (system->query == NULL) {
        const ecs_rows none = {0};
        system->on_event(stage, event, &none);
        return;
    }
    ecs_query_iter iter = ecs_query_begin(world, system->query);
    while (ecs_query_next(&iter)) {
        system->on_event(stage, event, &iter.rows);
    }
}

static inline void call_handler(ecs_world* world, const ecs_system* system, ecs_stage* stage,
                                const ecs_event* event, const ecs_record* target,
                                handler_spot* spot) {
    if (system->query == NULL || target == NULL) {
        ecs_system_call_rows(world, system, stage, event);
        return;
    }
    stage->context = system->context;
    call_at(world, system, stage, event, target, spot);
}

// To the systems that track this component.
static void deliver_changed(ecs_world* world, ecs_stage* stage, const ecs_event* event,
                            const ecs_record* target) {
    const ecs_component_changed* changed = event->payload;
    const ecs_system_order* handlers = &world->systems->handlers[ECS_EVENT_CHANGED];
    handler_spot spot;
    spot.archetype = NULL;
    for (uint32_t i = 0; i < handlers->count && changed->component <= ECS_COMPONENTS_MAX; i++) {
        const ecs_system* system = world->systems->list[handlers->systems[i]];
        if (ecs_component_set_has(&system->tracked, changed->component)) {
            call_handler(world, system, stage, event, target, &spot);
        }
    }
}

static inline void deliver_one(ecs_world* world, ecs_stage* stage, const ecs_event* event,
                               handler_spot* spots) {
    // Structure is deferred until all handlers have run: the record stays.
    const ecs_record* target = ecs_record_find(world->storage, event->target);
    if (event->target != ECS_ENTITY_NONE && target == NULL) {
        world->counters.stale_handles += !world->events->park(world, event);
        return;
    }
    world->counters.events_delivered++;
    if (world->events->kinds[event->type - 1]->is_special) {
        if (event->type == ECS_EVENT_CHANGED) {
            deliver_changed(world, stage, event, target);
            return;
        }
        bool is_kept = keep_exported(world, event);
        BASE_ASSERT(is_kept); // a lost event would be a silent difference on every client
    }
    const ecs_system_order* handlers = &world->systems->handlers[event->type];
    for (uint32_t i = 0; i < handlers->count; i++) {
        call_handler(world, world->systems->list[handlers->systems[i]], stage, event, target,
                     &spots[i % SPOTS]);
    }
}

// Ask for what events some way ahead will need, as if all were as long as this one: the record of the
// target, and nearer, when that has come, the row that the first handler looks at. Where the guess is
// wrong the bytes name no target that matters, and any 32 bits have a record.
static inline void fetch_ahead(const ecs_world* world, uint32_t bytes, const handler_spot* spot) {
    enum { RECORD_AHEAD = 28, ROW_AHEAD = 12 };
    const ecs_events* events = world->events;
    const ecs_storage* storage = world->storage;
    const uint8_t* at = events->queue + events->queue_head;
    ecs_entity target;
    if (events->queue_head + (size_t)bytes * (RECORD_AHEAD + 1) > events->queue_tail) {
        return;
    }
    memcpy(&target, at + (size_t)bytes * RECORD_AHEAD, sizeof(target));
    __builtin_prefetch(ecs_record_at(storage, ecs_entity_index(target)));
    memcpy(&target, at + (size_t)bytes * ROW_AHEAD, sizeof(target));
    const ecs_record* record = ecs_record_at(storage, ecs_entity_index(target));
    const ecs_place* place = &storage->places[record->place >> ECS_ROW_BITS];
    if (place->archetype == spot->archetype && spot->archetype != NULL) {
        __builtin_prefetch((const uint8_t*)place->chunk + spot->spans[0].offset +
                           (size_t)spot->spans[0].size * ecs_record_row(record));
    }
}

// Take the event at the front out of the queue. Handlers post, which may move the queue: they see a copy.
static inline void take_event(ecs_events* events, uint32_t bytes, uint8_t* payload) {
    enum { WORD = sizeof(ecs_event_head) };
    const uint8_t* record = events->queue + events->queue_head;
    for (uint32_t k = WORD; k < bytes; k += WORD) {
        memcpy(payload + k - WORD, record + k, WORD);
    }
    events->queue_head += bytes;
    events->queue_count--;
    if (events->queue_count == 0) {
        events->queue_head = events->queue_tail = 0;
    }
}

// A run of events of one type that a single handler hears, each with a target: the most common traffic.
// @return how many of the `count` at the front it delivered.
static uint32_t deliver_run(ecs_world* world, ecs_stage* stage, ecs_event_head like, uint32_t count,
                            uint8_t* payload, handler_spot* spot) {
    ecs_events* events = world->events;
    const ecs_system_order* handlers = &world->systems->handlers[like.type];
    if (handlers->count != 1 || events->kinds[like.type - 1]->is_special) {
        return 0;
    }
    const ecs_system* system = world->systems->list[handlers->systems[0]];
    if (system->query == NULL) {
        return 0;
    }
    stage->context = system->context;
    ecs_event event = {(ecs_event_type)like.type, like.target, (uint16_t)like.size, payload};
    const uint32_t bytes = ecs_event_bytes(like.size);
    uint32_t done = 0;
    for (; done < count; done++) {
        ecs_event_head head;
        memcpy(&head, events->queue + events->queue_head, sizeof(head));
        event.target = head.target;
        head.target = like.target;
        if (event.target == ECS_ENTITY_NONE || memcmp(&head, &like, sizeof(head)) != 0) {
            break;
        }
        fetch_ahead(world, bytes, spot);
        take_event(events, bytes, payload);
        const ecs_record* target = ecs_record_find(world->storage, event.target);
        if (target == NULL) {
            world->counters.stale_handles += !world->events->park(world, &event);
            continue;
        }
        world->counters.events_delivered++;
        call_at(world, system, stage, &event, target, spot);
    }
    return done;
}

void ecs_events_deliver(ecs_world* world, const ecs_stage* stage, uint32_t count) {
    ecs_events* events = world->events;
    ecs_stage own_stage = *stage;
    _Alignas(16) uint8_t payload[ECS_EVENT_BYTES_MAX + sizeof(ecs_event_head)];
    handler_spot spots[SPOTS];
    for (uint32_t i = 0; i < SPOTS; i++) {
        spots[i].archetype = NULL;
        spots[i].spans[0] = (ecs_span){0, 0};
    }
    for (uint32_t i = 0; i < count;) {
        ecs_event_head head;
        memcpy(&head, events->queue + events->queue_head, sizeof(head));
        BASE_ASSERT(head.unresolved == 0);
        uint32_t done = deliver_run(world, &own_stage, head, count - i, payload, &spots[0]);
        i += done;
        if (done > 0) {
            continue;
        }
        take_event(events, ecs_event_bytes(head.size), payload);
        i++;
        ecs_event event = {(ecs_event_type)head.type, head.target, (uint16_t)head.size, payload};
        deliver_one(world, &own_stage, &event, spots);
    }
}
