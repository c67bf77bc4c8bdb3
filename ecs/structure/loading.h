// SPDX-License-Identifier: MIT
/// Entities that wait for resources (loading.c), and the resources (resource.c).
#pragma once

#include "base/bytes.h"
#include "ecs/component.h"
#include "ecs/loader.h"
#include "table/storage.h"

/// ecs_held_handle.pending while a save is read: the entity is still to come.
#define ECS_PENDING_AWAITED UINT32_MAX

typedef enum ecs_request_state {
    ECS_REQUEST_FREE,    ///< the slot names no resource
    ECS_REQUEST_WAITING, ///< to be asked for
    ECS_REQUEST_READY,
    ECS_REQUEST_FAILED,
} ecs_request_state;

/// One resource. Slots never move to another number while they are used.
typedef struct ecs_request {
    ecs_resource resource;
    uint64_t hash;
    uint32_t asked;      ///< the last poll that asked for it
    uint32_t references; ///< entities LOADING that need it
    uint32_t next;       ///< + 1, in its chain of equal hashes or of free slots; 0 ends it
    ecs_request_state state;
} ecs_request;

#define ECS_REQUEST_CHAINS 1024u

/// One value that an entity will have instead of its template's default.
typedef struct ecs_pending_value {
    ecs_component_id component;
    void* cell; ///< created; a block of the type's size
} ecs_pending_value;

/// An entity LOADING.
typedef struct ecs_pending {
    ecs_entity entity; ///< ECS_ENTITY_NONE: a free slot
    ecs_template_id template_id;
    ecs_pending_value* values;
    uint32_t value_count, value_capacity;
    uint32_t* requests; ///< slots of its resources, each once
    uint32_t request_count, request_capacity;
    uint8_t* parked; ///< events as in the queue: heads and payloads
    uint32_t parked_bytes, parked_capacity, parked_count;
    uint32_t previous, next; ///< in the order of asking; `next` also chains free slots
} ecs_pending;

typedef struct ecs_loading {
    ecs_loading_config config;
    ecs_request* requests;
    uint32_t request_count, request_capacity; ///< slots ever used
    uint32_t request_free;                    ///< chain of free slots + 1; 0: none
    uint32_t* chains;                         ///< hash -> slot + 1; NULL until the first request
    uint32_t polls;                           ///< so far
    ecs_pending* slots;
    uint32_t slot_count, slot_capacity;
    uint32_t slot_free;   ///< + 1; 0: none
    uint32_t first, last; ///< + 1; 0: none
    uint32_t count;
    uint32_t parked_count; ///< events, of all
    uint32_t awaited;      ///< while a save is read: entities whose handles were read, but not they
} ecs_loading;

struct ecs_binding;

// Resources (resource.c).
/// Note every resource that a value needs. @return ECS_OK; ECS_ERR_FULL (more than
/// ECS_RESOURCE_REQUESTS_MAX or ECS_RESOURCES_MAX). What was recorded stays.
BASE_MUST_USE ecs_result ecs_requests_add(ecs_world* world, const ecs_type* type, const void* cell,
                                          ecs_pending* pending);
/// Ask for those that are not known, in order, each once in a poll.
void ecs_requests_ask(ecs_world* world, const ecs_pending* pending);
/// The entity does not need these slots any more.
void ecs_requests_release(ecs_world* world, const uint32_t* requests, uint32_t count);
/// FAILED before WAITING before READY; `failed` gets the first that failed.
ecs_request_state ecs_requests_state(const ecs_world* world, const ecs_pending* pending,
                                     const ecs_request** failed);
/// Forget all answers. Resources that entities need wait to be asked for again.
void ecs_requests_reset(ecs_world* world);
void ecs_requests_validate(const ecs_world* world);

// Entities (loading.c).
/// A creation whose type names resources: when one is missing the entity is LOADING afterwards and
/// *is_put_off is set. `*entity` is the handle to use (a mirror's) or gets the one taken
/// (ECS_ENTITY_NONE). @return ECS_OK; ECS_ERR_MISSING; ECS_ERR_FULL; ECS_ERR_TAKEN; ECS_ERR_LOAD;
/// ECS_ERR_TEXT (ecs_create).
BASE_MUST_USE ecs_result ecs_loading_create(ecs_world* world, ecs_template_id template_id,
                                            const struct ecs_binding* binding,
                                            const ecs_init* inits, uint32_t init_count,
                                            ecs_entity* entity, bool* is_put_off);
/// Destroy one entity, its row or what waits; its children stay. @return ECS_OK; ECS_ERR_STALE (it
/// does not live: nothing happened).
BASE_MUST_USE ecs_result ecs_loading_destroy(ecs_world* world, ecs_entity entity);
/// ecs_set and ecs_recreate of an entity that waits. @return theirs; ECS_ERR_STALE when it does
/// not.
BASE_MUST_USE ecs_result ecs_loading_set_value(ecs_world* world, ecs_entity entity,
                                               ecs_component_id component, const void* value);
BASE_MUST_USE ecs_result ecs_loading_recreate(ecs_world* world, ecs_entity entity,
                                              ecs_template_id template_id, const ecs_init* inits,
                                              uint32_t init_count);
/// Keep an event for an entity that waits. @return false when it does not wait.
bool ecs_loading_park(ecs_world* world, const ecs_event* event);
/// Entities that wait, in the order of asking: pass ECS_ENTITY_NONE first.
ecs_entity ecs_loading_next(const ecs_world* world, ecs_entity after);
/// Cancel all.
void ecs_loading_clear(ecs_world* world);
void ecs_loading_validate(const ecs_world* world);

// Pending entities one by one, for saves.

/// Reserve and settle an entity without values.
ecs_pending* ecs_pending_add(ecs_world* world, ecs_entity entity, ecs_template_id template_id);
/// A value's cell, as the type makes it.
void* ecs_pending_add_value(ecs_world* world, ecs_pending* pending, ecs_component_id component);
/// Note what the values need; the next poll asks for it. @return ECS_OK; ECS_ERR_UNKNOWN,
/// ECS_ERR_FULL: what was recorded stays.
BASE_MUST_USE ecs_result ecs_pending_renew(ecs_world* world, ecs_pending* pending);
/// Before each parked payload.
typedef struct ecs_parked_head {
    ecs_entity target;
    ecs_event_type type;
    uint16_t size; ///< of the payload
} ecs_parked_head;
/// Bytes of a head and its payload: a multiple of 8.
static inline uint32_t ecs_parked_bytes(uint32_t payload_bytes) {
    return ((uint32_t)sizeof(ecs_parked_head) + payload_bytes + 7u) & ~7u;
}
/// Keep an event, a head and a payload.
void ecs_pending_park(ecs_world* world, ecs_pending* pending, ecs_event_type type,
                      const void* payload, uint32_t size);
