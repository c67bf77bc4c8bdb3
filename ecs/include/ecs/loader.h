// SPDX-License-Identifier: MIT
/// Creation that waits for resources: models, sounds, levels.
///
/// A component type names the resources that a value needs (ecs_type_ops.request). With a loader
/// set, an entity whose resources are not all known to be ready is LOADING. Its handle is returned
/// at once, and ecs_state and ecs_handle_count know it, but it has no row and systems do not see
/// it. ecs_loading_poll makes it CREATED, between ticks. A new world has no loader: every resource
/// counts as ready, and entities are created at once.
///
/// Only creations wait. A living entity stays CREATED when ecs_set or ecs_recreate gives it a value
/// whose resource is not ready. So create an entity that must not be seen without its resources.
///
/// Shape:   The world remembers resources that are ready or failed; a later creation does not ask
///          for them again. A resource that no entity waits for any more is forgotten, unless it is
///          known.
/// Order:   In one poll, entities become CREATED in the order of their creation calls, not in the
///          order in which their resources arrive.
/// Loading: ecs_set, ecs_recreate and the same commands change the values that a LOADING entity
///          will have. A recreation keeps the values of components that both templates have.
///          ecs_destroy cancels it. ecs_get and ecs_find find nothing. Events to it are parked, and
///          posted in order when it is CREATED: at most limits.events_queued_max in a world, more
///          are counted in events_refused.
/// Failure: A failed load is counted (loads_failed) and reported. The handle becomes NONE, or
///          ALLOCATED while it is referred to. Parked events are counted in stale_handles.
/// Saves:   LOADING entities are saved with their values and parked events, and are part of
///          ecs_world_hash. The progress of the loader is not. After a restore the next poll
///          asks for the resources again.
/// Determinism: The answers of the loader are an input of the simulation. A server that logs its
///          match answers at the first poll (READY or FAILED, nothing on a thread), or with
///          recorded answers, and begins with no remembered resources. Otherwise a replay diverges.
#pragma once

#include "ecs/event.h"

BASE_C_BEGIN

/// How far a resource is.
typedef enum ecs_load_answer {
    ECS_LOAD_FAILED, ///< it cannot be loaded
    ECS_LOAD_READY,
    ECS_LOAD_BUSY, ///< not yet: the world asks again at the next poll
} ecs_load_answer;

/// What ecs_loading_set takes.
typedef struct ecs_loading_config {
    /// Load a resource, or begin to on a thread of its own, without the world. ecs_loading_poll
    /// alone calls it, so never within a tick, and a run of the log loads at the same ticks: once
    /// in a poll for each resource that an entity waits for. `resource` is borrowed for the call.
    ecs_load_answer (*load)(void* context, const ecs_resource* resource);
    void* load_context;     ///< must outlive the world
    base_reporter reporter; ///< gets failures; may be zero
} ecs_loading_config;

/// Set, replace or remove (config NULL) the loader, outside of stages. Remembered resources are
/// forgotten. LOADING entities stay so until the next poll, which asks the new loader, or creates
/// them when there is none.
void ecs_loading_set(ecs_world* world, const ecs_loading_config* config);

/// Ask the loader for what entities wait for, and create those whose resources are all ready. Call
/// it between ticks, outside of stages and walks. Handlers of core events run, as for ecs_create.
/// When a limit stops a creation, the entity stays LOADING until a later poll.
/// @return the number of entities that became CREATED.
uint32_t ecs_loading_poll(ecs_world* world);

/// Is the entity LOADING because it waits for resources? (ecs_handle_load alone does not make it
/// so.)
bool ecs_loading_is_pending(const ecs_world* world, ecs_entity entity);
uint32_t ecs_loading_count(const ecs_world* world); ///< entities that wait for resources
/// The template that a waiting entity will have; ECS_TEMPLATE_NONE when it does not wait.
ecs_template_id ecs_loading_template(const ecs_world* world, ecs_entity entity);
/// A value that a waiting entity will have, in the type's memory form, borrowed until the next
/// change of the entity. @return NULL when it does not wait or does not have the component.
const void* ecs_loading_find(const ecs_world* world, ecs_entity entity, ecs_component_id component);

/// Append which resources are ready or failed. A save of the world does not contain it, and it
/// decides in which tick a creation happens.
void ecs_resources_save(const ecs_world* world, base_bytes* bytes);
/// Make the world know what ecs_resources_save wrote, and nothing else; before ecs_world_restore.
/// The loader is called for each ready resource that this world does not know, so that the module
/// has it, at once or some ticks later. The world does not wait for it.
/// @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_FULL. After an error some are known.
BASE_MUST_USE ecs_result ecs_resources_restore(ecs_world* world, base_reader* reader);

BASE_C_END
