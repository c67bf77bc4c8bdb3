// SPDX-License-Identifier: MIT
/// Creation that waits for resources: models, sounds, levels.
///
/// A component type names the resources that a value needs (ecs_type_ops.request). With a loader
/// set, an entity whose resources are not all ready is LOADING. Its handle is returned at once, and
/// ecs_state and ecs_handle_count know it, but it has no row and systems do not see it.
/// ecs_loading_poll makes it CREATED, between ticks. A new world has no loader: every resource
/// counts as ready, and entities are created at once.
///
/// Only creations wait. A living entity stays CREATED when ecs_set or ecs_recreate gives it a value
/// whose resource is not ready. So create an entity that must not be seen without its resources.
///
/// Shape:   Each resource is requested once, for all entities that wait for it. The world remembers
///          resources that are ready or failed; a later creation does not request them again. A
///          request that no entity waits for any more is cancelled and forgotten.
/// Order:   In one poll, entities become CREATED in the order of their creation calls, not in the
///          order in which their resources arrive. With `keep_order` that holds across polls too.
/// Loading: ecs_set, ecs_recreate and the same commands change the values that a LOADING entity
///          will have. A recreation keeps the values of components that both templates have.
///          ecs_destroy cancels it. ecs_get and ecs_find find nothing. Events to it are parked, and
///          posted in order when it is CREATED: at most limits.events_queued_max in a world, more
///          are counted in events_refused.
/// Failure: A failed load is counted (loads_failed) and reported to the reporter and to `failed`.
///          The handle becomes NONE, or ALLOCATED while it is referred to. Parked events are
///          counted in stale_handles.
/// Saves:   LOADING entities are saved with their values and parked events, and are part of
///          ecs_world_hash. The progress of the loader is not. After a restore the next poll
///          requests the resources again.
/// Determinism: The results of polls are an input of the simulation. A server that logs its match
///          runs without a loader, with ecs_loading_config.load, or with a loader whose polls
///          return recorded results, and begins with no remembered resources. Otherwise a replay
///          diverges.
/// Threads: The world calls the loader on its own thread only. What the loader does after `begin`
///          and `poll`, on threads of its own for example, is its own matter.
#pragma once

#include "ecs/event.h"

BASE_C_BEGIN

/// The loader's answer to a request.
typedef enum ecs_load_answer {
    ECS_LOAD_BUSY,   ///< not now: the world asks again at the next poll
    ECS_LOAD_BEGUN,  ///< a later poll will list the ticket
    ECS_LOAD_READY,  ///< ready at once
    ECS_LOAD_FAILED, ///< it cannot be loaded
} ecs_load_answer;

/// A result of a poll.
typedef struct ecs_loaded {
    uint32_t ticket;
    bool is_loaded; ///< false: it failed
} ecs_loaded;

/// A loader. Its functions must not use the world.
typedef struct ecs_loader {
    void* context;
    /// Begin a request. `resource` is borrowed for the call. A ticket is not 0 and is never used
    /// again.
    ecs_load_answer (*begin)(void* context, uint32_t ticket, const ecs_resource* resource);
    /// List the requests that ended since the last poll, `capacity` at most. @return how many;
    /// fewer than `capacity` means all. The world ignores tickets that it does not wait for.
    uint32_t (*poll)(void* context, ecs_loaded* loaded, uint32_t capacity);
    /// The world does not wait for this request any more; its result may arrive nevertheless. May
    /// be NULL.
    void (*cancel)(void* context, uint32_t ticket);
} ecs_loader;

/// What ecs_loading_set takes.
typedef struct ecs_loading_config {
    /// Copied; its context must outlive the world. NULL: no loader, or `load`.
    const ecs_loader* loader;
    /// Instead of a loader, for what is read at once: called by ecs_loading_poll alone, so never
    /// within a tick, and a run of the log loads at the same ticks. @return false: it failed.
    bool (*load)(void* context, const ecs_resource* resource);
    void* load_context;
    bool keep_order; ///< an entity also waits for all entities whose creation was called before
    base_reporter reporter; ///< gets failures; may be zero
    /// Called when a load fails; the handle is stale by then. Structural changes assert in here.
    /// May be NULL.
    void (*failed)(void* context, ecs_entity entity, ecs_template_id template_id,
                   const ecs_resource* resource);
    void* failed_context;
} ecs_loading_config;

/// Set, replace or remove (config NULL) the loader, outside of stages. Requests to the old one are
/// cancelled, remembered resources are forgotten. LOADING entities stay so until the next poll,
/// which asks the new loader, or creates them when there is none.
void ecs_loading_set(ecs_world* world, const ecs_loading_config* config);

/// Get the results of the loader, repeat the requests it was too busy for, and create the entities
/// whose resources are all ready. Call it between ticks, outside of stages and walks. Handlers of
/// core events run, as for ecs_create. When memory or a limit stops a creation, the entity stays
/// LOADING until a later poll.
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

/// What the world knows about a resource.
typedef enum ecs_resource_state {
    ECS_RESOURCE_UNKNOWN, ///< no entity waits for it, and it is not remembered
    ECS_RESOURCE_WAITING, ///< requested, or requested at the next poll
    ECS_RESOURCE_READY,
    ECS_RESOURCE_FAILED,
} ecs_resource_state;

/// Find out what the world knows about a resource.
ecs_resource_state ecs_resource_find(const ecs_world* world, const ecs_resource* resource);

/// Append which resources are ready or failed. A save of the world does not contain it, and it
/// decides in which tick a creation happens.
void ecs_resources_save(const ecs_world* world, base_bytes* bytes);
/// Make the world know what ecs_resources_save wrote, and nothing else; before ecs_world_restore.
/// The loader is asked for what is ready and unknown here, so that the module has it, at once or
/// some ticks later; the world does not wait for it.
/// @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_FULL. After an error some are known.
BASE_MUST_USE ecs_result ecs_resources_restore(ecs_world* world, base_reader* reader);

BASE_C_END
