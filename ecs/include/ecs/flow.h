// SPDX-License-Identifier: MIT
/// The way of many to the nearest of some goals, as monsters to players: a field of distances over
/// a map of tiles (ecs/tiles.h), from which each reads its next tile.
///
/// A field is computed in parts, one in each tick, and read from ECS_FLOW_TICKS ticks later on. So
/// the match has a `now`, of which the field is read, and a `next`, of which it is made: two tiles
/// per goal and two numbers of gates, in components of the game, tracked (and replicated where a
/// prediction asks). A field follows from these alone: in a match that was restored, and in a
/// prediction, it is made again, at once, and has the same bits.
///
/// Cost: a part is tiles / ECS_FLOW_TICKS; reading is eight tiles. A field whose goals and gates
/// did not change costs nothing.
/// Limits: ECS_FLOW_GOALS_MAX different tiles; of more, those with the lowest numbers count.
/// Memory: of the world's context, 24 bytes per tile. Threads: one at a time; reading: any.
///
/// Groups that go each to a goal of its own (orders) ask a table of flows, `ecs_flows`: a field to
/// one tile, begun when it is first asked for, made as far as who asks is away, and shared by all
/// with this goal. It is no state of the match: with other fields in the table the ways are the
/// same.
#pragma once

#include "ecs/tiles.h"

BASE_C_BEGIN

#define ECS_FLOW_GOALS_MAX 64u
#define ECS_FLOW_TICKS 16u

/// What a field follows from.
typedef struct ecs_flow_key {
    uint64_t open;
    uint32_t count;
    uint32_t goals[ECS_FLOW_GOALS_MAX]; ///< tiles, rising
} ecs_flow_key;

/// Distances of all tiles to the nearest goal.
typedef struct ecs_flow_field {
    ecs_flow_key key;
    uint32_t* distances; ///< per tile; UINT32_MAX: no way
} ecs_flow_field;

/// Only for reading.
typedef struct ecs_flow {
    const ecs_tiles* tiles;
    ecs_flow_key now, next; ///< of this tick, as far as ecs_flow_goal has collected them
    ecs_flow_field read, made;
    // The queue of `made`: lists of tiles by distance, modulo; it is made up to `reached`.
    uint32_t* links;
    uint32_t heads[32], reached, waiting;
    uint8_t costs[128]; ///< of its characters
    uint64_t used;      ///< in a table: when
} ecs_flow;

/// Only for reading.
typedef struct ecs_flows {
    ecs_flow* all;
    uint32_t count;
    uint64_t uses;
} ecs_flows;

/// Begin, after ecs_tiles_read. `tiles` lives as long as the flow.
void ecs_flow_init(ecs_flow* flow, ecs_world* world, const ecs_tiles* tiles);
/// A goal of this tick, before ecs_tiles_flow. `kept` is its component, 0 at first.
void ecs_flow_goal(ecs_flow* flow, ecs_tick tick, ecs_vec2 place, uint64_t* kept);
/// Once a tick, after all goals: make a part of the next field. `now` and `next` are components.
void ecs_tiles_flow(ecs_flow* flow, ecs_tick tick, uint64_t open, uint64_t* now, uint64_t* next);
/// @return false: no goal can be reached from this place, or it is in a goal's tile. Else `to` is
///         the middle of the next tile on the way. Diagonally it goes where both tiles beside are
///         free.
bool ecs_flow_way(const ecs_flow* flow, ecs_vec2 place, ecs_vec2* to);

/// Begin a table of `count` flows, at least 1, after ecs_tiles_read. 20 bytes per tile and flow,
/// which a flow touches when it is first used.
void ecs_flows_init(ecs_flows* flows, ecs_world* world, const ecs_tiles* tiles, uint32_t count);
/// Find the next tile on the way to `goal`. Of more goals than flows, the field that was not used
/// for the longest time is replaced: a whole field costs 16 parts, so ask every few ticks.
/// @return false: there is no way, a place is outside of the map, or both are in one tile. Else
///         `to` is the middle of the next tile.
bool ecs_flows_way(ecs_flows* flows, uint64_t open, ecs_vec2 place, ecs_vec2 goal, ecs_vec2* to);

BASE_C_END
