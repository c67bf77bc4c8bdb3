// SPDX-License-Identifier: MIT
/// Private: what the files of the test game share.
#pragma once

#include "swarm.h"

/// Components of all places that trail_es and brush_es write.
#define SWARM_TRACES "\"trail:p2\"{ value:p2=0,0 } \"brushes:u32\"{ value:u32=0 }"

ecs_entity swarm_random_entity(ecs_world* world, ecs_query* query);
/// An entity that belongs to no player.
ecs_entity swarm_random_wild_entity(ecs_world* world, const swarm_context* context);

// swarm_wild.c; these do nothing when the components are missing

ecs_result swarm_wild_init(ecs_world* world, swarm_context* context);
void swarm_wild_join(ecs_world* world, swarm_context* context, uint32_t client, ecs_entity player);
void swarm_wild_leave(swarm_context* context, uint32_t client);
/// Run one tick.
void swarm_wild_mutate(ecs_world* world, swarm_context* context);
