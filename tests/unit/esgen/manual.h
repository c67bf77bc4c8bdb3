// SPDX-License-Identifier: MIT
/// What the examples of ecs/ESGEN.md stand on. Those of its blocks that are not here are in manual.c.
#pragma once

#include "ecs/ecs.h"
#include "ecs/es.h"

#define MANUAL_PATCHES 3

ES_STRUCT(ManualHull)
typedef struct manual_hull {
    float strength ES_QUANT(0, 0.0625, 5);
    int32_t patches[MANUAL_PATCHES];
    ecs_vec2 hole;
} manual_hull;

ES_EVENT(struck)
typedef struct manual_blow {
    float force;
} manual_blow;

typedef struct manual_game {
    ecs_query* heats;
    uint32_t blows;
    float left;
} manual_game;

ecs_result manual_register_types_of_game(ecs_world* world, const base_reporter* reporter);
ecs_result manual_register(ecs_world* world, manual_game* game);
ecs_result manual_create_queries(ecs_world* world, manual_game* game);
float manual_hottest(ecs_world* world, const manual_game* game);
