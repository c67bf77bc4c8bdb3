// SPDX-License-Identifier: MIT
/// Pending entities one by one (pending.c), for loading.c and its saves.
#pragma once

#include "loading/loading.h"
#include "table/storage.h"

/// NULL when the entity does not wait for resources.
ecs_pending* ecs_pending_find(const ecs_world* world, ecs_entity entity);
/// Room for one more slot. @return false when memory ran out.
BASE_MUST_USE bool ecs_pending_reserve(ecs_world* world);
/// Put what `pending` holds into a slot at the end of the order. Room was reserved, and the handle
/// is LOADING.
ecs_pending* ecs_pending_settle(ecs_world* world, const ecs_pending* pending);
/// Take a slot out of the order; the state of the handle stays.
void ecs_pending_unsettle(ecs_world* world, ecs_pending* pending);
/// Reserve and settle an entity without values. NULL when memory ran out.
ecs_pending* ecs_pending_add(ecs_world* world, ecs_entity entity, ecs_template_id template_id);
/// Free values, resources and parked events; the slot stays.
void ecs_pending_free_content(ecs_world* world, ecs_pending* pending);

/// Has the template a component of that id?
bool ecs_pending_allows(const ecs_world* world, ecs_template_id template_id,
                        ecs_component_id component);
/// A value that was given; NULL when the template's default holds.
ecs_pending_value* ecs_pending_find_value(const ecs_pending* pending, ecs_component_id component);
/// The value that the entity will have; NULL when it will not have the component.
const void* ecs_pending_value_of(const ecs_world* world, const ecs_pending* pending,
                                 ecs_component_id component);
/// A value's cell, as the type makes it. NULL when memory ran out.
void* ecs_pending_add_value(ecs_world* world, ecs_pending* pending, ecs_component_id component);
/// Keep a copy of a value in place of the one there is. @return false when memory ran out: nothing
/// changed.
BASE_MUST_USE bool ecs_pending_put_value(ecs_world* world, ecs_pending* pending,
                                         ecs_component_id component, const void* value);
BASE_MUST_USE bool ecs_pending_put_values(ecs_world* world, ecs_pending* pending,
                                          const ecs_init* inits, uint32_t init_count);
/// Note all resources that the values need, in the order of components. `inits` come before the
/// values.
/// @return ECS_OK; ECS_ERR_FULL, ECS_ERR_MEMORY (what was noted stays noted).
BASE_MUST_USE ecs_result ecs_pending_note_resources(ecs_world* world, const ecs_binding* binding,
                                                    const ecs_init* inits, uint32_t init_count,
                                                    ecs_pending* pending);
/// Note again what the values need; the next poll requests it. On an error the entity needs what it
/// needed before.
BASE_MUST_USE ecs_result ecs_pending_renew(ecs_world* world, ecs_pending* pending);
/// In front of each parked payload.
typedef struct ecs_parked_head {
    ecs_entity target;
    ecs_event_type type;
    uint16_t size; ///< of the payload
} ecs_parked_head;
/// Bytes of a head and its payload: a multiple of 8.
static inline uint32_t ecs_parked_bytes(uint32_t payload_bytes) {
    return ((uint32_t)sizeof(ecs_parked_head) + payload_bytes + 7u) & ~7u;
}
/// Keep an event, a head and a payload. @return false when memory ran out.
BASE_MUST_USE bool ecs_pending_park(ecs_world* world, ecs_pending* pending, ecs_event_type type,
                                    const void* payload, uint32_t size);
