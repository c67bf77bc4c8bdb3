// SPDX-License-Identifier: MIT
/// Create, change and read single entities.
///
/// Outside of stages everything here is immediate. Inside a system or handler, creating, recreating
/// and destroying assert: record a command instead (command.h). Reading and setting components
/// stays immediate.
#pragma once

#include "ecs/detail/fast.h"
#include "ecs/world.h"

BASE_C_BEGIN

/// A component to override at creation.
typedef struct ecs_init {
    ecs_component_id component;
    /// In the type's memory form; copied. Not a pointer that ecs_get returned: making room for the
    /// new row may move all others first.
    const void* value;
} ecs_init;
/// The two arguments `inits` and `init_count`, for C: ECS_INITS({game->pos, &pos}, {game->vel,
/// &vel}).
#define ECS_INITS(...)                                                                             \
    (const ecs_init[]){__VA_ARGS__},                                                               \
        (uint32_t)(sizeof((const ecs_init[]){__VA_ARGS__}) / sizeof(ecs_init))

/// Create an entity from a template, with other values for the components in `inits`. The index
/// comes from the replicated range when the template has a replicated component and the world is no
/// mirror, else from the local range. With a loader set the entity may be LOADING at first
/// (loader.h).
/// @return ECS_OK, *entity is the handle; on failure nothing changed: ECS_ERR_UNKNOWN (no such
///         template); ECS_ERR_MISSING (an init names a component that the template does not have);
///         ECS_ERR_FULL (no free index, or fewer than ECS_FREE_INDICES_MIN freed ones once all were
///         used: destroy some, or raise the limit); ECS_ERR_TAKEN (an entity of this `_singleton`
///         template lives already; counted in singletons_refused); ECS_ERR_LOAD (a resource that it
///         needs has failed before); ECS_ERR_TEXT (ecs_string_set).
BASE_MUST_USE ecs_result ecs_create(ecs_world* world, ecs_template_id template_id,
                                    const ecs_init* inits, uint32_t init_count, ecs_entity* entity);
/// ecs_create where nothing else is to be done when it fails: a player of a full world watches.
/// @return ECS_ENTITY_NONE on failure.
static inline ecs_entity ecs_try_create(ecs_world* world, ecs_template_id template_id,
                                        const ecs_init* inits, uint32_t init_count) {
    ecs_entity entity = ECS_ENTITY_NONE;
    return ecs_create(world, template_id, inits, init_count, &entity) ? ECS_ENTITY_NONE : entity;
}
/// Create `count` entities with the defaults of one template. `entities` gets the handles and may
/// be NULL.
/// @return ECS_OK; the codes of ecs_create. Where handlers exist or entities wait for resources,
///         those made before a failure stay.
BASE_MUST_USE ecs_result ecs_create_many(ecs_world* world, ecs_template_id template_id,
                                         uint32_t count, ecs_entity* entities);
/// Create the entities of all scenes (`_scene` in ecs/DATABLOCK.md), in the order of the texts:
/// what a match begins with. A mirror has none. Components that this world lacks by their tags are
/// left out. Once, after ecs_world_seal; what was created before a failure stays.
/// @return ECS_OK; the codes of ecs_create (reported, with the file and line of the entity).
BASE_MUST_USE ecs_result ecs_scene_create(ecs_world* world, const base_reporter* reporter);
/// Create an entity with a given handle, in state NONE or ALLOCATED: a mirror does so for
/// replicated entities. Several entities of a `_singleton` template are accepted here: the server
/// decides about that.
/// @return ECS_OK; the codes of ecs_create; ECS_ERR_TAKEN (another generation of the index lives:
///         destroy it first); ECS_ERR_FULL (the index is above limits.replicated_index_max);
///         ECS_ERR_STALE (not a handle).
BASE_MUST_USE ecs_result ecs_create_at(ecs_world* world, ecs_entity handle,
                                       ecs_template_id template_id, const ecs_init* inits,
                                       uint32_t init_count);
/// Destroy an entity; its children first, in their order (hierarchy.h). An entity that is LOADING
/// for resources is cancelled.
/// @return ECS_OK; ECS_ERR_STALE (it does not live: nothing happened).
BASE_MUST_USE ecs_result ecs_destroy(ecs_world* world, ecs_entity entity);
/// Give an entity another template. Components that both templates have keep their values, new ones
/// get the default of the template, the others are removed.
/// @return ECS_OK; the codes of ecs_create; ECS_ERR_STALE (it does not live); ECS_ERR_TYPE (a
///         replicated template for a local entity: the range of its index marks it as local for
///         both sides). On failure nothing changed.
BASE_MUST_USE ecs_result ecs_recreate(ecs_world* world, ecs_entity entity,
                                      ecs_template_id template_id, const ecs_init* inits,
                                      uint32_t init_count);

/// Get the living entity of a `_singleton` template. One look-up. When a mirror has several, it is
/// the one that was created last, or if that one is gone, the first in the order of rows.
/// @return ECS_ENTITY_NONE when there is none.
ecs_entity ecs_singleton(const ecs_world* world, ecs_template_id template_id);

/// Does the entity live (state CREATED)? One array look-up; any 32 bits are accepted.
static inline bool ecs_is_alive(const ecs_world* world, ecs_entity entity) {
    return ecs_fast_record(ecs_fast_of(world), entity) != NULL;
}
/// The state of a handle; any 32 bits are accepted.
ecs_entity_state ecs_state(const ecs_world* world, ecs_entity entity);
/// The template of a living entity. @return ECS_TEMPLATE_NONE when it does not live.
ecs_template_id ecs_entity_template(const ecs_world* world, ecs_entity entity);
/// The name of its template: "ball", "ball+fast"; "empty" for an entity without components.
/// Borrowed, valid until the end of the world. @return NULL when it does not live.
const char* ecs_entity_template_name(const ecs_world* world, ecs_entity entity);

/// Count a reference to a handle that may not live yet or no longer. A handle in state NONE becomes
/// ALLOCATED; the last release of a handle that does not live makes it NONE again. The world does
/// not give out the index meanwhile. Each retain needs one release.
/// @return ECS_OK; ECS_ERR_STALE (not in the ranges of this world; counted in bad_transitions);
///         ECS_ERR_FULL (2^32 - 1 references).
BASE_MUST_USE ecs_result ecs_handle_retain(ecs_world* world, ecs_entity entity);
void ecs_handle_release(ecs_world* world, ecs_entity entity);
/// NONE or ALLOCATED -> LOADING: the caller knows that the creation will come. A creation that
/// waits for resources does this itself.
/// @return ECS_OK; ECS_ERR_TAKEN (LOADING or CREATED already); ECS_ERR_STALE (not in the ranges of
///         this world). The first two are counted in bad_transitions.
BASE_MUST_USE ecs_result ecs_handle_load(ecs_world* world, ecs_entity entity);
/// LOADING -> ALLOCATED or NONE: the creation will not come.
void ecs_handle_unload(ecs_world* world, ecs_entity entity);
/// Count the handles in a state; 0 for ECS_STATE_NONE.
uint32_t ecs_handle_count(const ecs_world* world, ecs_entity_state state);

/// Detail: the assertion of get, with the names of entity and component.
__attribute__((noreturn, cold)) void ecs_detail_missing(const ecs_world* world, ecs_entity entity,
                                                        ecs_component_id component);

/// Read or write the value of one component. The pointer is borrowed: it is valid until the next
/// structural change or step. find returns NULL when the entity does not live or does not have the
/// component; get asserts that it does. The mut functions mark the row for tracking.
static inline const void* ecs_find(const ecs_world* world, ecs_entity entity,
                                   ecs_component_id component) {
    return ecs_fast_cell(world, entity, component, false);
}
static inline const void* ecs_get(const ecs_world* world, ecs_entity entity,
                                  ecs_component_id component) {
    const void* cell = ecs_fast_cell(world, entity, component, false);
    if (!cell) ecs_detail_missing(world, entity, component);
    return cell;
}
/// ecs_find for many entities: cells[i] belongs to entities[i], NULL where there is none. For
/// entities in random order it is several times as fast as single calls, since it prefetches.
void ecs_find_many(const ecs_world* world, ecs_component_id component, const ecs_entity* entities,
                   uint32_t count, const void** cells);
static inline void* ecs_find_mut(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    return ecs_fast_cell(world, entity, component, true);
}
static inline void* ecs_get_mut(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    void* cell = ecs_fast_cell(world, entity, component, true);
    if (!cell) ecs_detail_missing(world, entity, component);
    return cell;
}
/// Copy a value into a component. For an entity that is LOADING for resources, it is the value it
/// will have. A value of 16 bytes or less may be copied byte by byte first: a type whose objects
/// point into themselves is written by ecs_get_mut.
/// @return ECS_OK; ECS_ERR_STALE (neither alive nor LOADING); ECS_ERR_MISSING (no such component);
///         ECS_ERR_TEXT (ecs_string_set) (the old value stays).
BASE_MUST_USE static inline __attribute__((always_inline)) ecs_result
ecs_set(ecs_world* world, ecs_entity entity, ecs_component_id component, const void* value) {
    const uint32_t words = ecs_words_of(__builtin_object_size(value, 0));
    if (words > 0) return ecs_fast_set(world, entity, component, value, words);
    return ecs_detail_set(world, entity, component, value);
}

/// Walk living entities by rising index: pass ECS_ENTITY_NONE first, then the last result.
/// @return ECS_ENTITY_NONE at the end.
ecs_entity ecs_entity_next(const ecs_world* world, ecs_entity after);

BASE_C_END
