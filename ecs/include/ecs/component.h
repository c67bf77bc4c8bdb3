// SPDX-License-Identifier: MIT
/// Making, changing and reading single entities.
///
/// Outside of stages everything here is immediate. Inside a system or handler use command.h for
/// structure (these assert); reading and setting components stays immediate.
#pragma once

#include "ecs/detail/fast.h"
#include "ecs/world.h"

/// A component to override at creation.
typedef struct ecs_init {
    ecs_component_id component;
    const void*
        value; ///< in the type's memory form; copied. Not what ecs_get returned: making room for
               ///< the new row may move all others first
} ecs_init;

/// Make an entity. The index comes from the replicated range when the template has a replicated
/// component and the world is no mirror, else from the local range.
/// @return ECS_OK; ECS_ERR_UNKNOWN (template); ECS_ERR_MISSING (an init names a component that the
///         template lacks); ECS_ERR_FULL (no free index, or fewer than ECS_FREE_INDICES_MIN freed ones
///         after all were used once); ECS_ERR_MEMORY; ECS_ERR_TAKEN (a `_singleton` template of which one
///         lives; counted in singletons_refused); ECS_ERR_LOAD (a resource that it needs has failed before,
///         see loader.h). On failure nothing changed. With a loader set the entity may be LOADING.
BASE_MUST_USE ecs_result ecs_create(ecs_world* world, ecs_template_id template_id,
                                    const ecs_init* inits, uint32_t init_count, ecs_entity* entity);
/// Make `count` entities from one template's defaults. `entities` may be NULL. Running out of memory in
/// the middle of values that own memory destroys those made so far, as ecs_destroy does where
/// somebody was told of them.
BASE_MUST_USE ecs_result ecs_create_many(ecs_world* world, ecs_template_id template_id,
                                         uint32_t count, ecs_entity* entities);
/// Make an entity with a given handle (a mirror's replicated entity). The handle may be NONE or
/// ALLOCATED. @return as ecs_create; ECS_ERR_TAKEN when its index holds another living generation;
///         ECS_ERR_FULL (beyond limits.replicated_index_max); ECS_ERR_STALE (not a handle). Singletons are
///         the authority's business: here a second one is accepted.
BASE_MUST_USE ecs_result ecs_create_at(ecs_world* world, ecs_entity handle,
                                       ecs_template_id template_id, const ecs_init* inits,
                                       uint32_t init_count);
/// Its children go first, in their order (hierarchy.h). One that is LOADING for resources is cancelled.
/// @return ECS_OK; ECS_ERR_STALE (reported, not undefined).
BASE_MUST_USE ecs_result ecs_destroy(ecs_world* world, ecs_entity entity);
/// Change the template: components that both have keep their values, missing ones are added with the
/// template's default, superfluous ones removed. Same archetype: only the template changes.
/// @return as ecs_create; ECS_ERR_STALE; ECS_ERR_TYPE (a replicated template for a local entity: the
///         index tells both sides which it is, so it never turns into a replicated one).
BASE_MUST_USE ecs_result ecs_recreate(ecs_world* world, ecs_entity entity,
                                      ecs_template_id template_id, const ecs_init* inits,
                                      uint32_t init_count);

/// The living entity of a template marked `_singleton`; ECS_ENTITY_NONE when there is none. One look-up.
/// Where a mirror holds several it is the one made last, or else the first in the order of rows.
ecs_entity ecs_singleton(const ecs_world* world, ecs_template_id template_id);

/// One array look-up; any 32 bits may be asked about.
static inline bool ecs_is_alive(const ecs_world* world, ecs_entity entity) {
    return ecs_fast_record(ecs_fast_of(world), entity) != NULL;
}
ecs_entity_state ecs_state(const ecs_world* world, ecs_entity entity);
/// ECS_TEMPLATE_NONE when not alive.
ecs_template_id ecs_entity_template(const ecs_world* world, ecs_entity entity);
/// "ball", "ball+fast"; "empty" for an entity without components; NULL when not alive.
const char* ecs_entity_template_name(const ecs_world* world, ecs_entity entity);

/// References to handles that may not live yet: NONE -> ALLOCATED; the last release of a dead one
/// goes back to NONE. Counted per handle; its index is not given out meanwhile.
/// @return ECS_OK; ECS_ERR_STALE (not a handle of this world's ranges); ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_handle_retain(ecs_world* world, ecs_entity entity);
void ecs_handle_release(ecs_world* world, ecs_entity entity);
/// NONE/ALLOCATED -> LOADING: its creation is on the way, as the caller knows (a creation that waits for
/// resources does this itself).
/// @return ECS_OK; ECS_ERR_TAKEN (LOADING or CREATED already); ECS_ERR_STALE; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_handle_load(ecs_world* world, ecs_entity entity);
/// LOADING -> ALLOCATED or NONE: the creation will not happen.
void ecs_handle_unload(ecs_world* world, ecs_entity entity);
/// Handles in a state; 0 for ECS_STATE_NONE.
uint32_t ecs_handle_count(const ecs_world* world, ecs_entity_state state);

/// Pointers below are borrowed: they die at the next structural change or step.
/// get: the entity lives and has the component (asserted). find: NULL otherwise.
static inline const void* ecs_find(const ecs_world* world, ecs_entity entity,
                                   ecs_component_id component) {
    return ecs_fast_cell(world, entity, component, false);
}
static inline const void* ecs_get(const ecs_world* world, ecs_entity entity,
                                  ecs_component_id component) {
    const void* cell = ecs_fast_cell(world, entity, component, false);
    BASE_ASSERT(cell && "the entity is dead or lacks the component: use ecs_find");
    return cell;
}
/// ecs_find for many at once: cells[i] is that of entities[i], NULL where there is none. In random order
/// several times as fast as one by one, since it asks for memory ahead.
void ecs_find_many(const ecs_world* world, ecs_component_id component, const ecs_entity* entities,
                   uint32_t count, const void** cells);
/// For writing: marks the row for tracking.
static inline void* ecs_find_mut(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    return ecs_fast_cell(world, entity, component, true);
}
static inline void* ecs_get_mut(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    void* cell = ecs_fast_cell(world, entity, component, true);
    BASE_ASSERT(cell && "the entity is dead or lacks the component: use ecs_find_mut");
    return cell;
}
/// Copy a value in; of an entity that is LOADING for resources, the value it will have.
/// @return ECS_OK; ECS_ERR_STALE; ECS_ERR_MISSING; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_set(ecs_world* world, ecs_entity entity, ecs_component_id component,
                                 const void* value);

/// Walk living entities by rising index: pass ECS_ENTITY_NONE first; ECS_ENTITY_NONE ends it.
ecs_entity ecs_entity_next(const ecs_world* world, ecs_entity after);
