// SPDX-License-Identifier: MIT
/// The compare of a step on several threads (track_lanes.c).
#pragma once

#include "track/track.h"
#include "type/world.h"

#define ECS_TRACK_LANES_MAX 16u

/// One tracked column of one chunk that was opened for writing, or some of its rows.
typedef struct ecs_track_item {
    ecs_chunk* chunk;
    uint32_t track;
    uint32_t first; ///< row, of a part
    uint32_t rows;  ///< to compare; about, when it is the whole
    bool is_part;
} ecs_track_item;

/// Some items in a row, and what they come to. Kept from step to step.
typedef struct ecs_track_lane {
    ecs_world view;      ///< a copy of the world whose tracker is the lane's
    ecs_tracker own;     ///< a copy too, with hashes and lists of its own
    uint32_t first, end; ///< items
} ecs_track_lane;

/// Compare everything that is marked, by lanes, when there are threads and enough to do.
/// @return false: nothing was done.
bool ecs_track_by_lanes(ecs_world* world);
void ecs_track_lanes_deinit(ecs_world* world);
