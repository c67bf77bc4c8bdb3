// SPDX-License-Identifier: MIT
// What a mirror without a world keeps beside rows: variable-size values that are not the default,
// and the digest over both. A world keeps the values itself.
//
// An entity that changes its template keeps the values of components that it still has, as
// ecs_recreate does.
#include "mirror/snapshot_reader.h"

#include "base/assert.h"
#include "state/digest_source.h"

#include <string.h>

static net_mirror_value* find(const net_mirror* mirror, ecs_entity entity,
                              ecs_component_id component) {
    for (uint32_t i = 0; i < mirror->value_count; i++)
        if (mirror->values[i].entity == entity && mirror->values[i].component == component)
            return &mirror->values[i];
    return NULL;
}

static void drop(net_mirror* mirror, net_mirror_value* value) {
    base_release(&mirror->memory.allocator, value->bytes, value->size);
    *value = mirror->values[--mirror->value_count];
}

void net_mirror_drop_values(net_mirror* mirror, ecs_entity entity,
                            const net_row_template* row_template) {
    for (uint32_t i = mirror->value_count; i-- > 0;) {
        net_mirror_value* value = &mirror->values[i];
        if (value->entity != entity) continue;
        if (row_template && net_row_find_varsize(row_template, value->component)) continue;
        drop(mirror, value);
    }
}

void net_mirror_drop_all_values(net_mirror* mirror) {
    while (mirror->value_count > 0)
        drop(mirror, &mirror->values[mirror->value_count - 1]);
    BASE_ARRAY_RELEASE(&mirror->memory.allocator, mirror->values, mirror->value_capacity);
}

net_result net_mirror_keep_value(net_mirror* mirror, ecs_entity entity, ecs_component_id component,
                                 const void* bytes, uint32_t size) {
    BASE_ASSERT(!mirror->world);
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    // A component that the entity lacks is no fault of the connection.
    if (!slot || !net_row_find_varsize(slot->incarnation.row_template, component)) return NET_OK;
    net_mirror_value* value = find(mirror, entity, component);
    if (value) drop(mirror, value);
    if (!bytes) return NET_OK;
    const base_allocator* memory = &mirror->memory.allocator;
    if (!BASE_ARRAY_RESERVE(memory, mirror->values, mirror->value_capacity,
                            mirror->value_count + 1))
        return NET_ERR_MEMORY;
    uint8_t* copy = size > 0 ? base_allocate(memory, size) : NULL;
    if (size > 0 && !copy) return NET_ERR_MEMORY;
    if (size > 0) memcpy(copy, bytes, size);
    mirror->values[mirror->value_count++] = (net_mirror_value){entity, component, size, copy};
    return NET_OK;
}

// ---- what it has ----

ecs_entity net_mirror_next(const net_mirror* mirror, ecs_entity before) {
    for (uint32_t i = ecs_entity_index(before) + 1; i < mirror->indices.count; i++) {
        uint32_t slot_next = net_mirror_index_of(mirror, i)->slot_next;
        if (slot_next > 0) return net_mirror_slot_of(mirror, slot_next - 1)->handle;
    }
    return ECS_ENTITY_NONE;
}

const net_row_template* net_mirror_row(const net_mirror* mirror, ecs_entity entity, uint64_t* row) {
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    if (!slot) return NULL;
    if (row) net_mirror_unpack(&slot->incarnation, slot->incarnation.ring.count - 1u, row);
    return slot->incarnation.row_template;
}

uint64_t net_mirror_row_changes(const net_mirror* mirror, ecs_entity entity) {
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    BASE_ASSERT(slot && slot->incarnation.ring.count > 0);
    uint64_t before[PROTO_ROW_FIELDS_MAX], row[PROTO_ROW_FIELDS_MAX];
    const uint32_t count = slot->incarnation.ring.count;
    if (count < 2) return UINT64_MAX;
    net_mirror_unpack(&slot->incarnation, count - 2, before);
    net_mirror_unpack(&slot->incarnation, count - 1, row);
    return net_row_changed(slot->incarnation.row_template, before, row);
}

const uint8_t* net_mirror_value_bytes(const net_mirror* mirror, ecs_entity entity,
                                      ecs_component_id component, uint32_t* size) {
    static const uint8_t nothing[1] = {0};
    const net_mirror_value* value = find(mirror, entity, component);
    *size = value ? value->size : 0;
    return !value ? NULL : value->size > 0 ? value->bytes : nothing;
}

// ---- the digest ----

static ecs_entity next_entity(const void* context, ecs_entity previous) {
    return net_mirror_next(context, previous);
}

static const net_row_template* get_row(const void* context, ecs_entity entity, uint64_t* row) {
    return net_mirror_row(context, entity, row);
}

static bool get_value(const void* context, ecs_entity entity, ecs_component_id component,
                      base_bytes* bytes) {
    const net_mirror_value* value = find(context, entity, component);
    if (value) base_bytes_write(bytes, value->bytes, value->size);
    return value != NULL;
}

net_world_digest net_mirror_digest(const net_mirror* mirror, ecs_world* world) {
    BASE_ASSERT(!mirror->world && world);
    const net_digest_source source = {
        .context = mirror, .next = next_entity, .row = get_row, .value = get_value};
    return net_digest_source_walk(&source, world);
}
