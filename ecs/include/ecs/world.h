// SPDX-License-Identifier: MIT
/// The world: it holds entities, components, templates, systems and events.
///
/// Life:    create -> register types, load templates, register events, systems, queries -> seal ->
///          create entities, step, step, ... -> destroy. Registration after seal is ECS_ERR_SEALED.
/// State:   Time, chance and memory are arguments; there is no global state. A process may have
///          several worlds.
/// Threads: One thread at a time uses a world. That holds for every function of ecs/. Workers of a
///          step (ecs_world_set_workers) use views of it, which confined systems get.
#pragma once

#include "base/rng.h"
#include "ecs/template.h"

BASE_C_BEGIN

/// The number of a simulation step, as the caller of ecs_world_step counts it.
typedef uint64_t ecs_tick;

/// What a world is created with. Begin with ecs_world_config_default.
typedef struct ecs_world_config {
    const base_allocator* allocator; ///< NULL: the heap; must outlive the world
    ecs_limits limits;
    uint64_t seed; ///< where ecs_world_rng begins
    /// Which systems and components exist in this world: "server", "gameClient", "render". Copied.
    const char* const* tags;
    uint32_t tag_count;
    bool is_mirror; ///< a client's world: replicated entities come from ecs_create_at only
} ecs_world_config;

/// The heap, default limits, seed 0, no tags, no mirror.
ecs_world_config ecs_world_config_default(void);
/// Create an empty world with the built-in types. The caller destroys it.
/// @return ECS_OK; ECS_ERR_FULL (a limit or the tags of the config are out of range: lower them).
///         *world is set on ECS_OK only.
BASE_MUST_USE ecs_result ecs_world_create(const ecs_world_config* config, ecs_world** world);
/// Destroy a world and all it holds; handlers are not called. NULL is accepted.
void ecs_world_destroy(ecs_world* world);

/// End registration: bind the names in systems and queries to components, and order the systems.
/// Every fault is reported by name; `reporter` may be NULL. After a fault, destroy the world.
/// @return ECS_OK; ECS_ERR_TYPE (a term names a component with another type than it has, or one
///         whose type is not registered); ECS_ERR_UNKNOWN (a required component, or a name in
///         before, after, events, track or an order does not exist); ECS_ERR_CYCLE (the order of
///         systems contradicts itself); ECS_ERR_SEALED (sealed already).
BASE_MUST_USE ecs_result ecs_world_seal(ecs_world* world, const base_reporter* reporter);
/// Was the tag given at create?
bool ecs_world_has_tag(const ecs_world* world, const char* tag);

/// One simulation step.
typedef struct ecs_step {
    ecs_tick tick;
    float dt;   ///< seconds, the same value every tick
    void* user; ///< systems get it as ecs_stage.user
} ecs_step;

/// Run one tick: deliver the events that wait, run stage "act", then track (change list of
/// change.h, state hash of save.h). Between two systems commands are applied and events delivered,
/// up to the budget. The world is sealed, and no stage runs (asserted).
void ecs_world_step(ecs_world* world, const ecs_step* step);
/// Run another stage once, by its id from ecs_stage_find, without tracking. Commands and events as
/// above.
void ecs_world_run_stage(ecs_world* world, uint32_t stage, const ecs_step* step);
ecs_tick ecs_world_tick(const ecs_world* world); ///< the tick of the last step; 0 before the first

/// Destroy every entity, by rising index and as ecs_destroy does it: tracked, with core events, and
/// handles become stale. The broadcasts BeforeClear and AfterClear come around it. Waiting commands
/// and events are dropped, except those that handlers of AfterClear record. Registration, tick,
/// random state and retained handles stay. Outside of stages and walks (asserted).
void ecs_world_clear(ecs_world* world);

/// The random numbers of the simulation; part of the world hash and of saves. Borrowed from the
/// world.
base_rng* ecs_world_rng(ecs_world* world);
/// What the world was created with. Borrowed from the world.
const base_allocator* ecs_world_allocator(const ecs_world* world);
const ecs_limits* ecs_world_limits(const ecs_world* world);

/// Get zeroed memory that is valid until the world is destroyed. A module keeps the ids it found
/// there, since it has no globals. Not part of hashes and saves.
void* ecs_world_context(ecs_world* world, size_t size);

/// Counters since create. They only rise.
typedef struct ecs_counters {
    uint64_t name_lookups;    ///< must not rise in a tick
    uint64_t bad_transitions; ///< transitions of handles that are not allowed
    uint64_t stale_handles;   ///< commands and events for entities that no longer live
    uint64_t events_delivered;
    uint64_t events_refused; ///< queue full
    uint64_t commands_applied;
    uint64_t commands_refused;
    uint64_t rows_compared; ///< by tracking
    uint64_t rows_changed;
    uint64_t singletons_refused; ///< second entities of a template marked _singleton
    uint64_t loads_failed;       ///< creations that failed for a resource
    uint64_t events_parked;      ///< kept for an entity that waits for resources
    uint64_t parents_cut;        ///< entities that lost their parent because it was below them
    uint64_t events_gone;        ///< of stale_handles: exported events whose target no longer lived
    uint32_t event_gone;         ///< the type of the last of them
} ecs_counters;
/// The counters; borrowed from the world and up to date.
const ecs_counters* ecs_world_counters(const ecs_world* world);
/// @return the limit that made a registration return ECS_ERR_FULL last, "ECS_SYSTEMS_MAX", and how
///         large it is; NULL: none did.
const char* ecs_world_full(const ecs_world* world, uint32_t* max);
/// Count a bad transition that a layer above found.
void ecs_world_count_bad_transition(ecs_world* world);

uint32_t ecs_world_entity_count(const ecs_world* world); ///< in state CREATED

BASE_C_END
