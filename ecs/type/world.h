// SPDX-License-Identifier: MIT
/// The world's insides: what all rooms share, and one part for each concern.
///
/// A part is a struct of its room, named here by pointer. A file includes the headers of the parts
/// that it touches, and calls the functions of the other rooms. The world and its parts are one
/// block of memory (world.c), so the pointers never change.
#pragma once

#include "base/report.h"
#include "ecs/detail/fast.h"
#include "ecs/world.h"

struct ecs_world {
    ecs_fast fast; ///< first: what inline functions see
    const base_allocator* allocator;
    ecs_limits limits;
    ecs_counters counters;
    base_rng rng;
    ecs_tick tick;
    bool is_mirror;
    bool is_sealed;
    const char* full; ///< the limit that a registration reached last, by its name; NULL: none
    uint32_t full_max;
    bool has_loader; ///< creations may have to wait for resources
    bool is_view;    ///< a copy that a range of a system gets (system/range.c)
    bool is_part;    ///< such a copy for a part of a shared loop, which records nothing
    uint64_t chance; ///< what ecs_stage_rng begins with in this step
    const base_reporter* write_reporter; ///< ecs_inspect_writes; NULL: nothing is compared
    struct ecs_system* running;          ///< whose turn it is; NULL: none, or an event handler
    const struct ecs_query*
        shared_query;             ///< in a part of a shared loop: whose rows it has; NULL: none
    struct base_workers* workers; ///< NULL: one thread
    char (*tags)[ECS_NAME_BYTES_MAX];
    uint32_t tag_count;

    struct ecs_types* types;         ///< types and components (type/type_registry.h)
    struct ecs_templates* templates; ///< loaded templates (template/template_registry.h)
    struct ecs_storage* storage;     ///< records, chunks, queries (table/storage.h)
    struct ecs_tracker* tracker;     ///< change list, state hash (table/track.h)
    struct ecs_events* events;       ///< event types and the queue (event/event_queue.h)
    struct ecs_commands* commands;   ///< recorded commands (event/command_queue.h)
    struct ecs_systems* systems;     ///< systems, stages, handlers (event/systems.h)
    struct ecs_loading* loading;     ///< entities that wait for resources (structure/loading.h)
    struct ecs_hierarchy* hierarchy; ///< lists of children (structure/hierarchy.h)
};

#define ECS_FULL(world, limit)                                                                     \
    ((world)->full = #limit, (world)->full_max = (uint32_t)(limit), ECS_ERR_FULL)

// world.c sets up each part, all zero before. Memory goes back with the world; *_deinit destroys
// values whose types have functions.
void ecs_types_init(ecs_world* world);
void ecs_types_deinit(ecs_world* world);
void ecs_templates_init(ecs_world* world);
void ecs_templates_deinit(ecs_world* world);
void ecs_systems_init(ecs_world* world);
void ecs_events_init(ecs_world* world);
void ecs_tracker_init(ecs_world* world);

// Seal runs these in this order.
/// Bind the terms of queries to components.
BASE_MUST_USE ecs_result ecs_storage_seal(ecs_world* world, const base_reporter* reporter);
/// Bind systems to events, and order them.
BASE_MUST_USE ecs_result ecs_systems_seal(ecs_world* world, const base_reporter* reporter);
