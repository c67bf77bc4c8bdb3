// SPDX-License-Identifier: MIT
// Pending entities: slots in the order of request, values, and the resources that the values need.
//
// A pending entity keeps only the values that were given. The others are those of its template, and
// the template stays. It also keeps the events that were sent to it.
//
// Invariants: the held handle of a pending entity is LOADING and knows the slot and the template;
// slots are chained in the order of request; each value's component is in the template.
#include "base/assert.h"
#include "loading/pending.h"

#include "event/event_queue.h"
#include "loading/loading.h"
#include "structure/transition.h"
#include "table/entity.h"
#include "table/row.h"
#include "table/storage.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

static const ecs_type* type_of(const ecs_world* world, ecs_component_id component) {
    return ecs_type_get(world, ecs_component_get(world, component)->type);
}

bool ecs_pending_allows(const ecs_world* world, ecs_template_id template_id,
                        ecs_component_id component) {
    const ecs_template* template_ = ecs_template_get(world, template_id);
    return template_ && ecs_template_find_component(template_, component);
}

ecs_pending* ecs_pending_find(const ecs_world* world, ecs_entity entity) {
    if (world->loading->count == 0) return NULL;
    const ecs_held_handle* entry = ecs_held_find(world, entity);
    bool waits = entry && entry->pending != 0 && entry->pending != ECS_PENDING_AWAITED;
    return waits ? &world->loading->slots[entry->pending - 1] : NULL;
}

static uint32_t number_of(const ecs_loading* loading, const ecs_pending* pending) {
    return (uint32_t)(pending - loading->slots) + 1;
}

bool ecs_pending_reserve(ecs_world* world) {
    ecs_loading* loading = world->loading;
    return loading->slot_free != 0 ||
           BASE_ARRAY_RESERVE(world->allocator, loading->slots, loading->slot_capacity,
                              loading->slot_count + 1);
}

ecs_pending* ecs_pending_settle(ecs_world* world, const ecs_pending* pending) {
    BASE_ASSERT(pending->entity != ECS_ENTITY_NONE);
    ecs_loading* loading = world->loading;
    uint32_t number = loading->slot_free;
    if (number == 0)
        number = ++loading->slot_count;
    else
        loading->slot_free = loading->slots[number - 1].next;
    ecs_pending* slot = &loading->slots[number - 1];
    *slot = *pending;
    slot->previous = loading->last;
    slot->next = 0;
    if (loading->last != 0)
        loading->slots[loading->last - 1].next = number;
    else
        loading->first = number;
    loading->last = number;
    loading->count++;
    ecs_held_handle* entry = ecs_held_find(world, pending->entity);
    entry->pending = number;
    entry->pending_template = pending->template_id;
    return slot;
}

ecs_pending* ecs_pending_add(ecs_world* world, ecs_entity entity, ecs_template_id template_id) {
    ecs_pending pending = {.entity = entity, .template_id = template_id};
    return ecs_pending_reserve(world) ? ecs_pending_settle(world, &pending) : NULL;
}

static void free_cell(ecs_world* world, ecs_component_id component, void* cell) {
    BASE_ASSERT(cell);
    const ecs_type* type = type_of(world, component);
    ecs_cell_destroy(world, type, cell);
    base_release(world->allocator, cell, type->size);
}

void ecs_pending_free_content(ecs_world* world, ecs_pending* pending) {
    for (uint32_t i = 0; i < pending->value_count; i++)
        free_cell(world, pending->values[i].component, pending->values[i].cell);
    ecs_requests_release(world, pending->requests, pending->request_count);
    BASE_ARRAY_RELEASE(world->allocator, pending->values, pending->value_capacity);
    BASE_ARRAY_RELEASE(world->allocator, pending->requests, pending->request_capacity);
    base_release(world->allocator, pending->parked, pending->parked_capacity);
    world->loading->parked_count -= pending->parked_count;
}

void ecs_pending_unsettle(ecs_world* world, ecs_pending* pending) {
    BASE_ASSERT(world->loading->count > 0);
    ecs_loading* loading = world->loading;
    uint32_t number = number_of(loading, pending);
    ecs_held_handle* entry = ecs_held_find(world, pending->entity);
    if (entry) entry->pending = 0;
    uint32_t* before =
        pending->previous != 0 ? &loading->slots[pending->previous - 1].next : &loading->first;
    uint32_t* behind =
        pending->next != 0 ? &loading->slots[pending->next - 1].previous : &loading->last;
    *before = pending->next;
    *behind = pending->previous;
    loading->count--;
    *pending = (ecs_pending){.next = loading->slot_free};
    loading->slot_free = number;
}

ecs_pending_value* ecs_pending_find_value(const ecs_pending* pending, ecs_component_id component) {
    for (uint32_t i = 0; i < pending->value_count; i++)
        if (pending->values[i].component == component) return &pending->values[i];
    return NULL;
}

// Room for a value and memory for its cell, not created. NULL when memory ran out.
static void* reserve_value(ecs_world* world, ecs_pending* pending, const ecs_type* type) {
    if (!BASE_ARRAY_RESERVE(world->allocator, pending->values, pending->value_capacity,
                            pending->value_count + 1))
        return NULL;
    return base_allocate_zero(world->allocator, type->size);
}

void* ecs_pending_add_value(ecs_world* world, ecs_pending* pending, ecs_component_id component) {
    const ecs_type* type = type_of(world, component);
    ecs_type_context context = {world->allocator};
    void* cell = reserve_value(world, pending, type);
    if (!cell) return NULL;
    if (!ecs_value_create(type, &context, cell)) {
        ecs_value_destroy(type, &context, cell);
        base_release(world->allocator, cell, type->size);
        return NULL;
    }
    pending->values[pending->value_count++] = (ecs_pending_value){component, cell};
    return cell;
}

bool ecs_pending_put_value(ecs_world* world, ecs_pending* pending, ecs_component_id component,
                           const void* value) {
    const ecs_type* type = type_of(world, component);
    void* cell = reserve_value(world, pending, type);
    if (!cell) return false;
    if (!ecs_cell_copy(world, type, cell, value)) {
        base_release(world->allocator, cell, type->size);
        return false;
    }
    ecs_pending_value* found = ecs_pending_find_value(pending, component);
    if (found) {
        free_cell(world, component, found->cell);
        found->cell = cell;
    } else {
        pending->values[pending->value_count++] = (ecs_pending_value){component, cell};
    }
    return true;
}

bool ecs_pending_put_values(ecs_world* world, ecs_pending* pending, const ecs_init* inits,
                            uint32_t init_count) {
    for (uint32_t i = 0; i < init_count; i++)
        if (!ecs_pending_put_value(world, pending, inits[i].component, inits[i].value))
            return false;
    return true;
}

const void* ecs_pending_value_of(const ecs_world* world, const ecs_pending* pending,
                                 ecs_component_id component) {
    const ecs_pending_value* found = ecs_pending_find_value(pending, component);
    if (found) return found->cell;
    const ecs_template_component* part =
        ecs_template_find_component(ecs_template_get(world, pending->template_id), component);
    return !part ? NULL : part->value;
}

static bool names_resources(const ecs_type* type) {
    return type->ops && type->ops->request;
}

ecs_result ecs_pending_note_resources(ecs_world* world, const ecs_binding* binding,
                                      const ecs_init* inits, uint32_t init_count,
                                      ecs_pending* pending) {
    BASE_ASSERT(binding->archetype && (inits || init_count == 0));
    const ecs_archetype* archetype = binding->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        const ecs_column* column = &archetype->columns[i];
        if (!names_resources(column->type)) continue;
        const ecs_pending_value* own = ecs_pending_find_value(pending, column->component);
        const void* cell = own ? own->cell : binding->defaults[i];
        for (uint32_t k = 0; k < init_count; k++)
            cell = inits[k].component == column->component ? inits[k].value : cell;
        ecs_result result = ecs_requests_note(world, column->type, cell, pending);
        if (result != ECS_OK) return result;
    }
    return ECS_OK;
}

ecs_result ecs_pending_renew(ecs_world* world, ecs_pending* pending) {
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, pending->template_id, &binding);
    if (result != ECS_OK) return result;
    ecs_pending fresh = *pending;
    fresh.requests = NULL;
    fresh.request_count = fresh.request_capacity = 0;
    result = ecs_pending_note_resources(world, binding, NULL, 0, &fresh);
    ecs_pending* kept = result == ECS_OK ? &fresh : pending;
    ecs_pending* dropped = result == ECS_OK ? pending : &fresh;
    ecs_requests_release(world, dropped->requests, dropped->request_count);
    BASE_ARRAY_RELEASE(world->allocator, dropped->requests, dropped->request_capacity);
    *pending = *kept;
    return result;
}

bool ecs_pending_park(ecs_world* world, ecs_pending* pending, ecs_event_type type,
                      const void* payload, uint32_t size) {
    BASE_ASSERT(size <= ECS_EVENT_BYTES_MAX && (payload || size == 0));
    uint32_t bytes = ecs_parked_bytes(size);
    if (!BASE_ARRAY_RESERVE(world->allocator, pending->parked, pending->parked_capacity,
                            pending->parked_bytes + bytes))
        return false;
    const ecs_parked_head head = {.target = pending->entity, .type = type, .size = (uint16_t)size};
    memset(pending->parked + pending->parked_bytes, 0, bytes);
    memcpy(pending->parked + pending->parked_bytes, &head, sizeof(head));
    if (size > 0) memcpy(pending->parked + pending->parked_bytes + sizeof(head), payload, size);
    pending->parked_bytes += bytes;
    pending->parked_count++;
    world->loading->parked_count++;
    return true;
}
