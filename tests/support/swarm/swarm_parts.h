// SPDX-License-Identifier: MIT
/// Between the files of the test game.
#pragma once

#include "swarm.h"

ecs_entity swarm_random_entity(ecs_world* world, ecs_query* query);
/// None that is a player's.
ecs_entity swarm_random_wild_entity(ecs_world* world, const swarm_context* context);

// swarm_wild.c; all of them do nothing where the components are not there

ecs_result swarm_wild_init(ecs_world* world, swarm_context* context);
void swarm_wild_join(ecs_world* world, swarm_context* context, uint32_t client, ecs_entity player);
void swarm_wild_leave(swarm_context* context, uint32_t client);
/// A tick's worth.
void swarm_wild_mutate(ecs_world* world, swarm_context* context);
