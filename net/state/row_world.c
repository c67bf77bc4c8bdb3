// SPDX-License-Identifier: MIT
// A row becomes components: at a creation over the template's values, later component by component,
// so that an unchanged component is not marked as written.
//
// Left to others: which row is due, and what the row of an entity was before (mirror, scene).
#include "state/row_world.h"

#include "core/fault.h"
#include "base/alloc.h"

#include "base/assert.h"

#include <string.h>

enum { VALUE_ALIGN = 16 };

_Static_assert(PROTO_ROW_COMPONENTS_MAX <= 64, "a bit per component");

void net_row_world_deinit(net_row_world* target) {
    base_release(target->allocator, target->values, target->value_capacity);
    target->values = NULL;
    target->value_capacity = 0;
}

static bool is_reference(const net_row_world* target, uint64_t word) {
    uint32_t index = ecs_entity_index((ecs_entity)word);
    return index >= 1 && index <= target->index_max && ecs_entity_generation((ecs_entity)word) >= 1;
}

net_result net_row_world_retain(net_row_world* target, const net_row_template* row_template,
                                const uint64_t* row) {
    BASE_ASSERT(row_template && row);
    net_result result = NET_OK;
    if (!target->world || row_template->entity_field_count == 0) return result;
    for (uint32_t f = 0; f < row_template->layout.field_count; f++) {
        if (row_template->layout.fields[f].quant.kind != PROTO_ENTITY) continue;
        if (!is_reference(target, row[f])) continue;
        if (ecs_handle_retain(target->world, (ecs_entity)row[f]) != ECS_OK) result = NET_ERR_MEMORY;
    }
    return result;
}

void net_row_world_release(net_row_world* target, const net_row_template* row_template,
                           const uint64_t* row) {
    if (!target->world || row_template->entity_field_count == 0 ||
        net_fault_is_planted(NET_FAULT_LEAK_REFERENCE))
        return;
    for (uint32_t f = 0; f < row_template->layout.field_count; f++) {
        if (row_template->layout.fields[f].quant.kind != PROTO_ENTITY) continue;
        if (is_reference(target, row[f])) ecs_handle_release(target->world, (ecs_entity)row[f]);
    }
}

// Values of all replicated components: the template's bytes with the row's fields over them.
static bool make_values(net_row_world* target, const net_row_template* row_template,
                        const uint64_t* row, ecs_init* inits) {
    BASE_ASSERT(row_template->layout.component_count <= PROTO_ROW_COMPONENTS_MAX);
    if (!BASE_ARRAY_RESERVE(target->allocator, target->values, target->value_capacity,
                            row_template->value_bytes + VALUE_ALIGN))
        return false;
    const ecs_template* source = ecs_template_get(target->world, row_template->id);
    uint8_t* memory = target->values;
    for (uint32_t i = 0; i < row_template->layout.component_count; i++) {
        ecs_component_id id = (ecs_component_id)row_template->layout.components[i].key;
        uint32_t size =
            ecs_type_get(target->world, ecs_component_get(target->world, id)->type)->size;
        const void* value = ecs_template_find_component(source, id)->value;
        if (value && size > 0)
            memcpy(memory, value, size);
        else
            memset(memory, 0, size);
        proto_row_write_component(&row_template->layout, i, row, memory);
        inits[i] = (ecs_init){id, memory};
        memory += (size + VALUE_ALIGN - 1) & ~(uint32_t)(VALUE_ALIGN - 1);
    }
    return true;
}

static net_result from_ecs(ecs_result result) {
    if (result == ECS_OK) return NET_OK;
    return result == ECS_ERR_MEMORY ? NET_ERR_MEMORY : NET_ERR_FULL;
}

// An entity whose resources are missing is LOADING afterwards, and later rows change what it will
// be. An entity whose resources cannot be loaded is not shown; that is no fault of the connection.
net_result net_row_world_create(net_row_world* target, ecs_entity handle,
                                const net_row_template* row_template, const uint64_t* row) {
    BASE_ASSERT(handle != ECS_ENTITY_NONE && row_template && row);
    if (!target->world) return NET_OK;
    ecs_init inits[PROTO_ROW_COMPONENTS_MAX];
    if (!make_values(target, row_template, row, inits)) return NET_ERR_MEMORY;
    if (ecs_loading_is_pending(target->world, handle))
        return from_ecs(ecs_recreate(target->world, handle, row_template->id, inits,
                                     row_template->layout.component_count));
    ecs_result result = ecs_handle_load(target->world, handle);
    if (result != ECS_OK) return from_ecs(result);
    result = ecs_create_at(target->world, handle, row_template->id, inits,
                           row_template->layout.component_count);
    if (result != ECS_OK) ecs_handle_unload(target->world, handle);
    return result == ECS_ERR_LOAD ? NET_OK : from_ecs(result);
}

net_result net_row_world_recreate(net_row_world* target, ecs_entity handle,
                                  const net_row_template* row_template, const uint64_t* row) {
    BASE_ASSERT(handle != ECS_ENTITY_NONE && row_template && row);
    if (!target->world) return NET_OK;
    ecs_init inits[PROTO_ROW_COMPONENTS_MAX];
    if (!make_values(target, row_template, row, inits)) return NET_ERR_MEMORY;
    return from_ecs(ecs_recreate(target->world, handle, row_template->id, inits,
                                 row_template->layout.component_count));
}

void net_row_world_destroy(net_row_world* target, ecs_entity handle) {
    if (!target->world) return;
    // The world's own systems must not destroy it; if one did, it is gone already.
    if (ecs_is_alive(target->world, handle) || ecs_loading_is_pending(target->world, handle))
        (void)(ecs_destroy(target->world, handle) == ECS_OK);
}

uint64_t net_row_changed(const net_row_template* row_template, const uint64_t* old_row,
                         const uint64_t* row) {
    const proto_layout* layout = &row_template->layout;
    uint64_t changed = 0;
    for (uint32_t i = 0; i < layout->component_count; i++) {
        const proto_row_component* component = &layout->components[i];
        size_t bytes = component->field_count * sizeof *row;
        if (memcmp(old_row + component->field_first, row + component->field_first, bytes) != 0)
            changed |= UINT64_C(1) << i;
    }
    return changed;
}

bool net_row_world_write(net_row_world* target, ecs_entity handle,
                         const net_row_template* row_template, const uint64_t* row,
                         uint64_t components) {
    const proto_layout* layout = &row_template->layout;
    uint64_t all =
        layout->component_count < 64 ? (UINT64_C(1) << layout->component_count) - 1 : UINT64_MAX;
    bool is_whole = true;
    if (!target->world) return is_whole;
    for (uint64_t left = components & all; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        ecs_component_id id = (ecs_component_id)layout->components[i].key;
        void* memory = ecs_find_mut(target->world, handle, id);
        if (memory)
            proto_row_write_component(layout, i, row, memory);
        else
            is_whole = false;
    }
    return is_whole;
}

bool net_row_world_read(const net_row_world* target, ecs_entity handle,
                        const net_row_template* row_template, uint64_t* row) {
    BASE_ASSERT(target->world);
    const proto_layout* layout = &row_template->layout;
    for (uint32_t i = 0; i < layout->component_count; i++) {
        const void* memory =
            ecs_find(target->world, handle, (ecs_component_id)layout->components[i].key);
        if (!memory) return false;
        proto_row_read_component(layout, i, memory, row);
    }
    return true;
}
