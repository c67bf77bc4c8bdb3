// SPDX-License-Identifier: MIT
/// The world's insides: one struct per concern, each in its own private header. A module touches its
/// own part and calls the functions of the others.
#pragma once

#include "ecs/ecs.h"

#include "hierarchy/hierarchy_lists.h" // ecs_hierarchy: children of parents
#include "loading/loading.h"           // ecs_loading: entities that wait for resources

#include "event/event_queue.h" // ecs_events: types, queue, exported events
#include "table/storage.h"     // ecs_storage: records, archetypes, chunks, free indices, queries
#include "system/system_registry.h"     // ecs_systems: descriptions, stages, order, handler tables
#include "template/template_registry.h" // ecs_templates: loaded and composed templates
#include "track/track.h"                // ecs_tracker: change list, state hash per component
#include "type/type_registry.h"         // ecs_types: types and components

struct ecs_world {
    ecs_fast fast; ///< first: what inline functions see
    const base_allocator* allocator;
    ecs_limits limits;
    ecs_counters counters;
    base_rng rng;
    ecs_tick tick;
    bool is_mirror;
    bool is_sealed;
    uint32_t stage_depth; ///< > 0 while a stage runs: structure is deferred
    char (*tags)[ECS_NAME_BYTES_MAX];
    uint32_t tag_count;
    void** contexts; ///< ecs_world_context blocks
    size_t* context_bytes;
    uint32_t context_count;
    uint32_t context_capacity;
    uint32_t context_bytes_capacity;
    ecs_types* types;
    ecs_templates* templates;
    ecs_storage* storage;
    ecs_loading* loading;
    ecs_hierarchy* hierarchy;
    ecs_systems* systems;
    ecs_events* events;
    ecs_tracker* tracker;
};

// Each concern is set up and torn down by world.c, in the order above; *_init returns false when
// memory ran out, *_deinit accepts a zeroed struct.
BASE_MUST_USE bool ecs_types_init(ecs_world* world);
void ecs_types_deinit(ecs_world* world);
BASE_MUST_USE bool ecs_templates_init(ecs_world* world);
void ecs_templates_deinit(ecs_world* world);
BASE_MUST_USE bool ecs_storage_init(ecs_world* world);
void ecs_storage_deinit(ecs_world* world);
BASE_MUST_USE bool ecs_systems_init(ecs_world* world);
void ecs_systems_deinit(ecs_world* world);
BASE_MUST_USE bool ecs_events_init(ecs_world* world);
void ecs_events_deinit(ecs_world* world);
BASE_MUST_USE bool ecs_tracker_init(ecs_world* world);
void ecs_tracker_deinit(ecs_world* world);

// Seal runs these in this order (world.c calls them).
BASE_MUST_USE ecs_result ecs_storage_seal(ecs_world* world,
                                          const base_reporter* reporter); // bind query terms
BASE_MUST_USE ecs_result ecs_systems_seal(ecs_world* world,
                                          const base_reporter* reporter); // bind, order
