// SPDX-License-Identifier: MIT
/// The world: one façade over entities, components, templates, systems and events.
///
/// Life: create -> register types, load templates, register events, systems, queries -> seal ->
///       create entities, step, step, ... -> destroy. Registration after seal is ECS_ERR_SEALED.
/// Time, chance and memory are arguments; there is no global state: two worlds in a process work.
/// Threads: one thread at a time uses a world.
#pragma once

#include "base/rng.h"
#include "ecs/template.h"

typedef uint64_t ecs_tick;

typedef struct ecs_world_config {
    const base_allocator* allocator; ///< NULL: the heap; must outlive the world
    ecs_limits limits;
    uint64_t seed; ///< of ecs_world_rng
    const char* const*
        tags; ///< which systems and components exist here: "server", "gameClient", "render"
    uint32_t tag_count;
    bool is_mirror; ///< a client's world: replicated handles come from ecs_create_at only
} ecs_world_config;

ecs_world_config ecs_world_config_default(void);
/// @return ECS_OK; ECS_ERR_MEMORY; ECS_ERR_FULL (a limit of the config out of range).
BASE_MUST_USE ecs_result ecs_world_create(const ecs_world_config* config, ecs_world** world);
void ecs_world_destroy(ecs_world* world);

/// Close registration: bind names of systems and queries to components, order the systems.
/// @return ECS_OK; ECS_ERR_TYPE (a system asks for a name with a type that no template or
///         registration gives it); ECS_ERR_UNKNOWN (before/after or event name unknown);
///         ECS_ERR_CYCLE; ECS_ERR_MEMORY. Each is reported by name.
BASE_MUST_USE ecs_result ecs_world_seal(ecs_world* world, const base_reporter* reporter);
bool ecs_world_has_tag(const ecs_world* world, const char* tag);

/// One simulation step.
typedef struct ecs_step {
    ecs_tick tick;
    float dt;   ///< seconds, the same value every tick
    void* user; ///< handed to systems as ecs_stage.user
} ecs_step;

/// Run tick: deliver events that wait, run stage "act" (between systems: commands are applied, events
/// delivered within the budget), then track: exact change list (change.h) and state hash.
void ecs_world_step(ecs_world* world, const ecs_step* step);
/// Run one other stage (by its id from ecs_stage_find) once: no tracking. Commands and events as above.
void ecs_world_run_stage(ecs_world* world, uint32_t stage, const ecs_step* step);
ecs_tick ecs_world_tick(const ecs_world* world); ///< of the last step

/// Destroy every entity, by rising index and as ecs_destroy does it (tracked, told, handles stay stale),
/// between the broadcasts BeforeClear and AfterClear. What waits in the queues of commands and events is
/// dropped, but for what AfterClear's handlers record. Registration, tick, chance and held handles stay.
/// Outside of stages and walks.
void ecs_world_clear(ecs_world* world);

/// The simulation's own chance; part of world_hash and of saves.
base_rng* ecs_world_rng(ecs_world* world);
const base_allocator* ecs_world_allocator(const ecs_world* world);
const ecs_limits* ecs_world_limits(const ecs_world* world); ///< as given at create

/// Zeroed memory that lives as long as the world: a module keeps ids it looked up here, since it
/// holds no globals. Not part of hashes or saves. NULL when memory ran out.
void* ecs_world_context(ecs_world* world, size_t size);

/// Counters; all rise only.
typedef struct ecs_counters {
    uint64_t name_lookups;    ///< must not rise in a tick
    uint64_t bad_transitions; ///< lifecycle transitions that the table does not allow
    uint64_t stale_handles;   ///< commands or events on handles that no longer live
    uint64_t events_delivered;
    uint64_t events_refused;  ///< queue full
    uint64_t events_deferred; ///< put off to the next flush by the budget
    uint64_t commands_applied;
    uint64_t commands_refused;
    uint64_t rows_compared; ///< by tracking
    uint64_t rows_changed;
    uint64_t singletons_refused; ///< second entities of a template marked _singleton
    uint64_t loads_failed;       ///< creations that failed for a resource
    uint64_t events_parked;      ///< to an entity that waits for resources
    uint64_t parents_cut;        ///< entities that lost their parent because it was below them
} ecs_counters;
const ecs_counters* ecs_world_counters(const ecs_world* world);
/// For layers above that see an illegal transition themselves.
void ecs_world_count_bad_transition(ecs_world* world);

uint32_t ecs_world_entity_count(const ecs_world* world); ///< in state CREATED
