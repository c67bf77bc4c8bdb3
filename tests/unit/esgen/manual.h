// SPDX-License-Identifier: MIT
/// What the examples of ecs/ESGEN.md stand on. Those of its blocks that are not here are in
/// manual.c.
#pragma once

#include "ecs/ecs.h"
#include "ecs/es.h"

#include <protobuf-c/protobuf-c.h>

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

ES_EVENT(cheer)
ES_MESSAGE(Manual__Cheer)
typedef struct manual_cheer {
    uint32_t emote ES_RANGE(0, 7);
    ES_NAME(loud) bool is_loud;
    int32_t x ES_CLAMP(-100, 100);
    uint32_t times ES_LOCAL;
} manual_cheer;

typedef struct manual_game {
    ecs_query* heats;
    uint32_t blows;
    float left;
} manual_game;

ecs_result manual_register_types_of_game(ecs_world* world, const base_reporter* reporter);
ecs_result manual_register(ecs_world* world, manual_game* game);
ecs_result manual_create_queries(ecs_world* world, manual_game* game);
/// What the module's table holds of a message (net/game.h).
typedef struct manual_message {
    const char* event;
    void (*to_wire)(const void* payload, ProtobufCMessage* message);
    bool (*from_wire)(const ProtobufCMessage* message, void* payload);
} manual_message;
extern const manual_message manual_messages[1];

float manual_hottest(ecs_world* world, const manual_game* game);
