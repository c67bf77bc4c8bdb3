// SPDX-License-Identifier: MIT
// Event types: registration and look-up.
//
// A type is a copied description in a block of its own, so pointers to it stay valid. The core's
// own types have the numbers behind the last that can be registered.
#include "base/assert.h"
#include "base/hash.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "type/world.h"

#include <string.h>

void ecs_events_deinit(ecs_world* world) {
    ecs_events* events = world->events;
    for (uint32_t i = 0; i < ECS_EVENT_KINDS; i++) {
        ecs_event_kind* kind = events->kinds[i];
        if (kind)
            base_release(world->allocator, kind, ecs_event_kind_bytes(kind->desc.field_count));
    }
    base_release(world->allocator, events->queue, events->capacity);
    BASE_ARRAY_RELEASE(world->allocator, events->exported, events->exported_capacity);
    base_release(world->allocator, events->payloads, events->payload_capacity);
    memset(events, 0, sizeof(*events));
}

// Fields must lie within the payload, at rising offsets, without overlap.
static bool fields_are_right(const ecs_event_desc* desc) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const ecs_field* field = &desc->fields[i];
        if (!field->name || strlen(field->name) >= ECS_NAME_BYTES_MAX ||
            (uint32_t)field->kind >= ECS_FIELD_KIND_COUNT || field->count == 0 ||
            field->count > desc->size || field->offset < end ||
            field->offset % ecs_field_kind_bytes(field->kind) != 0)
            return false;
        end = (uint64_t)field->offset + ecs_event_field_bytes(field);
        if (end > desc->size) return false;
    }
    return desc->size == 0 || desc->field_count > 0;
}

static uint64_t layout_hash(const ecs_event_kind* kind) {
    uint64_t hash = base_hash64_text(kind->name);
    for (uint32_t i = 0; i < kind->desc.field_count; i++) {
        const ecs_field* field = &kind->fields[i];
        hash = base_hash64_mix(hash, base_hash64_text(field->name));
        hash = base_hash64_mix(hash, (uint64_t)field->kind << 32 | field->count);
    }
    return hash;
}

static void fill_kind(ecs_event_kind* kind, const ecs_event_desc* desc) {
    BASE_ASSERT(desc->size <= ECS_EVENT_BYTES_MAX && desc->field_count <= ECS_FIELDS_MAX);
    memcpy(kind->name, desc->name, strlen(desc->name));
    uint32_t covered = 0;
    uint32_t align = 1;
    char* name = (char*)(kind->fields + desc->field_count);
    for (uint32_t i = 0; i < desc->field_count; i++) {
        const ecs_field* field = &desc->fields[i];
        uint32_t bytes = ecs_field_kind_bytes(field->kind);
        memcpy(name, field->name, strlen(field->name));
        kind->fields[i] = *field;
        kind->fields[i].name = name;
        name += ECS_NAME_BYTES_MAX;
        kind->has_entities |= field->kind == ECS_FIELD_ENTITY;
        covered += ecs_event_field_bytes(field);
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
    kind->size = desc->size;
    kind->lead = align > sizeof(ecs_entity) ? 8 : sizeof(ecs_entity);
    kind->stride = (kind->lead + desc->size + 7u) & ~7u;
    kind->is_special = desc->is_exported;
}

static ecs_event_type find_kind(const ecs_events* events, const char* name) {
    for (uint32_t i = 0; i < ECS_EVENT_KINDS; i++)
        if (events->kinds[i] && strcmp(events->kinds[i]->name, name) == 0)
            return (ecs_event_type)(i + 1);
    return ECS_EVENT_NONE;
}

// A type at its number. ECS_EVENT_NONE when memory ran out.
static ecs_event_type make_kind(ecs_world* world, const ecs_event_desc* desc, uint32_t type) {
    BASE_ASSERT(type >= 1 && type <= ECS_EVENT_KINDS && !world->events->kinds[type - 1]);
    ecs_event_kind* kind =
        base_allocate_zero(world->allocator, ecs_event_kind_bytes(desc->field_count));
    if (!kind) return ECS_EVENT_NONE;
    fill_kind(kind, desc);
    kind->id = type;
    if (kind->type.is_dense && !kind->has_entities)
        kind->key = ecs_event_key((uint16_t)type, desc->size);
    world->events->kinds[type - 1] = kind;
    return (ecs_event_type)type;
}

ecs_result ecs_event_register(ecs_world* world, const ecs_event_desc* desc, ecs_event_type* type) {
    BASE_ASSERT(world && desc && desc->name);
    ecs_events* events = world->events;
    if (world->is_sealed) return ECS_ERR_SEALED;
    if (find_kind(events, desc->name) != ECS_EVENT_NONE) return ECS_ERR_DUPLICATE;
    if (events->kind_count >= ECS_EVENT_TYPES_MAX || strlen(desc->name) >= ECS_NAME_BYTES_MAX ||
        desc->size > ECS_EVENT_BYTES_MAX || desc->field_count > ECS_FIELDS_MAX)
        return ECS_ERR_FULL;
    if (!fields_are_right(desc)) return ECS_ERR_TYPE;
    ecs_event_type made = make_kind(world, desc, events->kind_count + 1);
    if (made == ECS_EVENT_NONE) return ECS_ERR_MEMORY;
    events->kind_count++;
    if (type) *type = made;
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
    world->events->maximum = world->limits.events_queued_max;
    for (uint32_t i = 0; i < BASE_COUNT(core); i++)
        if (make_kind(world, &core[i], ECS_EVENT_CREATED + i) == ECS_EVENT_NONE) return false;
    world->events->kinds[ECS_EVENT_CHANGED - 1]->is_special = true;
    return true;
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
