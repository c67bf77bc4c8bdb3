// SPDX-License-Identifier: MIT
/// Ranges: parts of a wave that run at the same time (range.c).
#pragma once

#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "table/query_cache.h"
#include "type/world.h"

/// Rows of a query, one after the other in the order of walks.
typedef struct ecs_cut {
    const uintptr_t* entry; ///< of the query's cache: where they begin
    uint32_t row;           ///< in that chunk
    uint32_t row_count;
} ecs_cut;

/// The queues that one range of a system records into: its own, and the event types of the world.
/// Begin with zero. Placeholders count from 1 in each recorder: no other recorder may name them.
typedef struct ecs_recorder {
    ecs_commands commands;
    ecs_events events;
} ecs_recorder;

/// Some rows of one system, and what belongs to them alone. Kept from tick to tick.
typedef struct ecs_range {
    ecs_world view; ///< what the system gets as its world: a copy with the range's own queues
    ecs_recorder recorder;
    ecs_stage stage;
    ecs_system* system;
    uint32_t position; ///< of the system in its stage: the key of its commands
    uint32_t number;   ///< among the ranges of the system
    ecs_cut rows;
    bool is_open; ///< `view` and `stage` are those of this turn
} ecs_range;

/// The ranges of one wave: the first `count` of ecs_systems.ranges.
typedef struct ecs_wave {
    uint32_t count;
    uint32_t work; ///< what threads would have to do, in units of WAVE_UNIT
} ecs_wave;

/// Add the ranges of a system whose turn it is. @return false when memory ran out: none was added.
BASE_MUST_USE bool ecs_wave_add(ecs_world* world, ecs_wave* wave, uint32_t position,
                                ecs_system* system);
/// Run all ranges, then take what they recorded, in their order.
void ecs_wave_run(ecs_world* world, const ecs_wave* wave, const ecs_stage* stage);
void ecs_ranges_deinit(ecs_world* world);
