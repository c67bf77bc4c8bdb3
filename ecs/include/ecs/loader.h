// SPDX-License-Identifier: MIT
/// Creation that waits for resources: models, sounds, levels.
///
/// A component type names the resources that one of its values needs (ecs_type_ops.request). With a
/// loader set, an entity whose resources are not all there yet is LOADING: its handle is taken and
/// returned at once, ecs_state and ecs_handle_count see it, it has no row and no system meets it.
/// It becomes CREATED in ecs_loading_poll, between ticks. Without a loader, as a world begins,
/// every resource counts as there and all creations are at once.
///
/// Creations wait, nothing else does: a living entity that is set or recreated to what is not there
/// yet goes on living. Create what must not be seen without its resources.
///
/// Shape:  each resource is asked for once and shared by all entities that wait for it. What is
///         ready or has failed is remembered until ecs_resource_forget, so a later creation neither
///         asks nor waits. A resource that nobody waits for any more before it came is cancelled
///         and forgotten.
/// Order:  in one poll entities become CREATED in the order in which they were asked for, whatever
///         the order in which their resources came. With `keep_order` nobody overtakes anybody in
///         later polls either.
/// While LOADING: ecs_set, ecs_recreate and the same commands change the values it will have;
/// ecs_destroy
///         cancels it; ecs_get and ecs_find have nothing to give. Events to it are parked and
///         posted again, in order, when it is CREATED; at most limits.events_queued_max of them in
///         a world, further ones are counted in events_refused.
/// In a recreation of one that waits, components that both templates have keep their values.
/// Failure: counted (loads_failed), told to the reporter, to `failed` and as an event; the handle
///         goes back to NONE, or ALLOCATED while it is referred to; parked events are counted in
///         stale_handles.
/// Saves:  entities LOADING are saved with their values and parked events and are part of
///         ecs_world_hash; how far the loader is, is neither. Restoring asks for their resources
///         again, at the next poll.
/// Determinism: a poll's results are an input of the simulation. A server whose match is logged
///         runs without a loader, or with one whose polls answer from what was recorded, beginning
///         with nothing remembered; else a replay diverges.
/// Threads: the world calls the loader on its own thread only. ecs_loader_thread has one behind it.
#pragma once

#include "ecs/event.h"

/// The loader's answer to a request.
typedef enum ecs_load_answer {
    ECS_LOAD_BUSY,   ///< cannot take it now: it is asked again at the next poll
    ECS_LOAD_BEGUN,  ///< a later poll lists the ticket
    ECS_LOAD_READY,  ///< there already
    ECS_LOAD_FAILED, ///< will never be
} ecs_load_answer;

typedef struct ecs_loaded {
    uint32_t ticket;
    bool is_loaded; ///< false: it failed
} ecs_loaded;

/// What loads. No function may touch the world.
typedef struct ecs_loader {
    void* context;
    /// `resource` is borrowed for the call. A ticket is not 0 and names one request for good.
    ecs_load_answer (*begin)(void* context, uint32_t ticket, const ecs_resource* resource);
    /// Fill in what was finished since the last poll, `capacity` at most. @return how many; fewer
    /// than `capacity`: that is all. Tickets that are not waited for are ignored.
    uint32_t (*poll)(void* context, ecs_loaded* loaded, uint32_t capacity);
    /// Nobody waits for it any more. It may come nevertheless. NULL: not interested.
    void (*cancel)(void* context, uint32_t ticket);
} ecs_loader;

/// Payload of the event for a failure, with fields `entity` and `template_id`.
typedef struct ecs_loading_failure {
    ecs_entity entity; ///< stale by then
    uint16_t template_id;
} ecs_loading_failure;

typedef struct ecs_loading_config {
    const ecs_loader*
        loader;      ///< copied; what it points at must outlive the world. NULL: none, all at once
    bool keep_order; ///< an entity waits for all that were asked for before it
    base_reporter reporter; ///< told of failures; zero: nobody
    /// Broadcast with ecs_loading_failure when a load fails: an event type registered with
    /// ecs_loading_failure_register, or ECS_EVENT_NONE.
    ecs_event_type failed_event;
    /// Called when a load fails, the handle is stale already. Structure asserts in here. NULL:
    /// nobody.
    void (*failed)(void* context, ecs_entity entity, ecs_template_id template_id,
                   const ecs_resource* resource);
    void* failed_context;
} ecs_loading_config;

/// Register the event of failures under a name. @return as ecs_event_register.
BASE_MUST_USE ecs_result ecs_loading_failure_register(ecs_world* world, const char* name,
                                                      ecs_event_type* type);

/// Set, change or take away (config NULL) the loader, outside of stages. What the old one was asked
/// for is cancelled, what was remembered is forgotten; entities LOADING stay so until the next
/// poll, which asks the new one, or without one creates them.
void ecs_loading_set(ecs_world* world, const ecs_loading_config* config);

/// Take the loader's results, ask for what it was too busy to take, and create the entities whose
/// resources are all there. Between ticks: outside of stages and walks. Handlers of core events
/// run, as with ecs_create. An entity for which memory or a limit is lacking stays LOADING until a
/// later poll.
/// @return entities that became CREATED.
uint32_t ecs_loading_poll(ecs_world* world);

/// Is it LOADING because it waits for resources? (A mirror's ecs_handle_load alone does not make it
/// so.)
bool ecs_loading_is_pending(const ecs_world* world, ecs_entity entity);
uint32_t ecs_loading_count(const ecs_world* world); ///< entities that wait for resources
/// The template it will have; ECS_TEMPLATE_NONE when it does not wait.
ecs_template_id ecs_loading_template(const ecs_world* world, ecs_entity entity);
/// A value it will have, in the type's memory form; NULL when it does not wait or lacks the
/// component. Borrowed until the next change of the entity.
const void* ecs_loading_find(const ecs_world* world, ecs_entity entity, ecs_component_id component);

typedef enum ecs_resource_state {
    ECS_RESOURCE_UNKNOWN, ///< nobody waits for it, and it is not remembered
    ECS_RESOURCE_WAITING, ///< asked for, or about to be
    ECS_RESOURCE_READY,
    ECS_RESOURCE_FAILED,
} ecs_resource_state;

ecs_resource_state ecs_resource_find(const ecs_world* world, const ecs_resource* resource);
/// Forget that a resource is ready or failed, so that the next who needs it asks again; entities
/// that wait for others and had this one ask again too. One that is on its way stays so.
void ecs_resource_forget(ecs_world* world, const ecs_resource* resource);

// A thread that loads.

typedef struct ecs_loader_thread ecs_loader_thread;

typedef struct ecs_loader_thread_config {
    const base_allocator* allocator; ///< NULL: the heap
    /// Load one resource; called on the thread, one at a time, may block. @return false: it failed.
    bool (*load)(void* context, const ecs_resource* resource);
    void* context;
} ecs_loader_thread_config;

#define ECS_LOADER_THREAD_REQUESTS_MAX 256u ///< under way at a time; more: ECS_LOAD_BUSY

/// Start a thread. It and the world's thread meet in two bounded single-producer queues; requests
/// are loaded in their order, those cancelled before their turn are not loaded.
/// @return ECS_OK; ECS_ERR_MEMORY; ECS_ERR_FULL (the system has no more threads).
BASE_MUST_USE ecs_result ecs_loader_thread_create(const ecs_loader_thread_config* config,
                                                  ecs_loader_thread** thread);
/// Ends it after the load under way. No world uses it any more. NULL is fine.
void ecs_loader_thread_destroy(ecs_loader_thread* thread);
/// For ecs_loading_config.loader. Used by one thread at a time.
ecs_loader ecs_loader_thread_interface(ecs_loader_thread* thread);
