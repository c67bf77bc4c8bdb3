// SPDX-License-Identifier: MIT
// Entities that wait for resources, as bytes.
//
// Nothing is written when no entity waits: the saved state of handles holds how many do. The state
// of the loader belongs to the process and not to the world: after a restore every resource is
// requested again, unless this process knows it already.
//
//     each: handle, template, values as in commands (components first), parked events
#include "event/event_queue.h"
#include "structure/loading.h"
#include "table/entity.h"
#include "type/world.h"

#include <string.h>

static const ecs_type* type_of(const ecs_world* world, ecs_component_id component) {
    return ecs_type_get(world, ecs_component_get(world, component)->type);
}

static void write_parked(const ecs_world* world, const ecs_pending* pending, base_bytes* bytes) {
    _Alignas(16) uint8_t payload[ECS_EVENT_BYTES_MAX];
    base_bytes_write_varint(bytes, pending->parked_count);
    for (uint32_t at = 0; at < pending->parked_bytes;) {
        ecs_parked_head head;
        memcpy(&head, pending->parked + at, sizeof(head));
        memcpy(payload, pending->parked + at + sizeof(head), head.size);
        base_bytes_write_u16(bytes, head.type);
        ecs_type_write(&world->events->kinds[head.type - 1]->type, payload, bytes);
        at += ecs_parked_bytes(head.size);
    }
}

void ecs_loading_write(const ecs_world* world, base_bytes* bytes) {
    const ecs_loading* loading = world->loading;
    for (uint32_t at = loading->first; at != 0; at = loading->slots[at - 1].next) {
        const ecs_pending* pending = &loading->slots[at - 1];
        base_bytes_write_u32(bytes, pending->entity);
        base_bytes_write_u16(bytes, pending->template_id);
        base_bytes_write_varint(bytes, pending->value_count);
        for (uint32_t i = 0; i < pending->value_count; i++)
            base_bytes_write_u16(bytes, pending->values[i].component);
        for (uint32_t i = 0; i < pending->value_count; i++) {
            ecs_type_write(type_of(world, pending->values[i].component), pending->values[i].cell,
                           bytes);
        }
        write_parked(world, pending, bytes);
    }
}

static ecs_result fault_of(const base_reader* reader) {
    return reader->failed ? ECS_ERR_MALFORMED : ECS_ERR_MEMORY;
}

static ecs_result read_values(ecs_world* world, ecs_pending* pending, base_reader* reader) {
    ecs_type_context context = {world->allocator};
    ecs_component_id components[ECS_TEMPLATE_COMPONENTS_MAX];
    const ecs_template* template_ = ecs_template_get(world, pending->template_id);
    uint64_t count = base_reader_varint(reader);
    if (reader->failed || count > template_->component_count) return ECS_ERR_MALFORMED;
    for (uint32_t i = 0; i < count; i++) {
        components[i] = base_reader_u16(reader);
        bool is_new = true;
        for (uint32_t k = 0; k < i; k++)
            is_new = is_new && components[k] != components[i];
        if (reader->failed || !is_new || !ecs_template_find_component(template_, components[i]))
            return ECS_ERR_MALFORMED;
    }
    for (uint32_t i = 0; i < count; i++) {
        void* cell = ecs_pending_add_value(world, pending, components[i]);
        if (!cell) return ECS_ERR_MEMORY;
        if (!ecs_type_read(type_of(world, components[i]), &context, cell, reader))
            return fault_of(reader);
    }
    return ECS_OK;
}

static ecs_result read_parked(ecs_world* world, ecs_pending* pending, base_reader* reader) {
    ecs_type_context context = {world->allocator};
    uint64_t count = base_reader_varint(reader);
    if (reader->failed || count > world->limits.events_queued_max - world->loading->parked_count)
        return reader->failed ? ECS_ERR_MALFORMED : ECS_ERR_FULL;
    for (uint32_t i = 0; i < count; i++) {
        ecs_event_type type = base_reader_u16(reader);
        if (reader->failed || !ecs_event_is_queued(world->events, type)) return ECS_ERR_MALFORMED;
        _Alignas(16) uint8_t payload[ECS_EVENT_BYTES_MAX] = {0};
        const ecs_type* kind = &world->events->kinds[type - 1]->type;
        if (!ecs_type_read(kind, &context, payload, reader)) return fault_of(reader);
        if (!ecs_pending_park(world, pending, type, payload, kind->size)) return ECS_ERR_MEMORY;
    }
    return ECS_OK;
}

static ecs_result read_one(ecs_world* world, base_reader* reader,
                           ecs_template_id (*map)(const void* context, uint32_t saved),
                           const void* context) {
    ecs_entity entity = base_reader_u32(reader);
    ecs_template_id template_id = map(context, base_reader_u16(reader));
    const ecs_held_handle* entry = reader->failed ? NULL : ecs_held_find(world, entity);
    if (!entry || entry->pending != ECS_PENDING_AWAITED || template_id == ECS_TEMPLATE_NONE)
        return ECS_ERR_MALFORMED;
    ecs_pending* pending = ecs_pending_add(world, entity, template_id);
    if (!pending) return ECS_ERR_MEMORY;
    ecs_result result = read_values(world, pending, reader);
    result = result == ECS_OK ? read_parked(world, pending, reader) : result;
    return result == ECS_OK ? ecs_pending_renew(world, pending) : result;
}

ecs_result ecs_loading_read(ecs_world* world, base_reader* reader,
                            ecs_template_id (*map)(const void* context, uint32_t saved),
                            const void* context) {
    uint32_t count = world->loading->awaited;
    if (count > world->limits.commands_queued_max) return ECS_ERR_FULL;
    for (uint32_t i = 0; i < count; i++) {
        ecs_result result = read_one(world, reader, map, context);
        if (result != ECS_OK) return result;
    }
    world->loading->awaited = 0;
    return ECS_OK;
}
