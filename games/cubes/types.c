// SPDX-License-Identifier: MIT
// The structs of cubes as the core sees them: fields, how they are rounded on the wire, and the one event.

#include "cubes.h"

#include <stddef.h>

#define OFFSET(type, field) ((uint32_t)offsetof(type, field))

static const ecs_field gravity_fields[] = {
    {"force", OFFSET(cubes_gravity, force), ECS_FIELD_F32, 3, {0, 0, 0}},
};

static const ecs_field body_fields[] = {
    {"velocity", OFFSET(cubes_body, velocity), ECS_FIELD_F32, 3, {0, 0, 0}},
    {"acceleration", OFFSET(cubes_body, acceleration), ECS_FIELD_F32, 3, {0, 0, 0}},
};

static const ecs_field transform_fields[] = {
    {"position", OFFSET(cubes_transform, position), ECS_FIELD_F32, 3, {0, 0, 0}},
    {"rotation", OFFSET(cubes_transform, rotation), ECS_FIELD_F32, 3, {0, 0, 0}},
    {"scale", OFFSET(cubes_transform, scale), ECS_FIELD_F32, 3, {0, 0, 0}},
};

static const ecs_field spawn_fields[] = {
    {"seed", OFFSET(cubes_spawn, seed), ECS_FIELD_U32, 1, {0, 0, 0}},
    {"tick", OFFSET(cubes_spawn, tick), ECS_FIELD_U32, 1, {0, 0, 0}},
};

static const ecs_field fall_fields[] = {
    {"tick", OFFSET(cubes_fall, tick), ECS_FIELD_U32, 1, {0, 0, 0}},
    {"next", OFFSET(cubes_fall, next), ECS_FIELD_U32, 1, {0, 0, 0}},
};

static const ecs_field orbit_fields[] = {
    {"yaw", OFFSET(cubes_orbit, yaw), ECS_FIELD_F32, 1, {-4, CUBES_ANGLE_GRID, 15}},
    {"pitch", OFFSET(cubes_orbit, pitch), ECS_FIELD_F32, 1, {-2, CUBES_ANGLE_GRID, 14}},
    {"distance", OFFSET(cubes_orbit, distance), ECS_FIELD_F32, 1, {0, CUBES_DISTANCE_GRID, 13}},
};

static const ecs_field input_fields[] = {
    {"yaw", OFFSET(cubes_input, yaw), ECS_FIELD_I32, 1, {-127, 1, 8}},
    {"pitch", OFFSET(cubes_input, pitch), ECS_FIELD_I32, 1, {-127, 1, 8}},
    {"zoom", OFFSET(cubes_input, zoom), ECS_FIELD_I32, 1, {-127, 1, 8}},
};

static const ecs_field player_fields[] = {
    {"client", OFFSET(cubes_player, client), ECS_FIELD_U32, 1, {0, 0, 0}},
};

static const ecs_type_desc types[] = {
    {"Gravity", sizeof(cubes_gravity), _Alignof(cubes_gravity), gravity_fields,
     BASE_COUNT(gravity_fields), NULL},
    {"RigidBody", sizeof(cubes_body), _Alignof(cubes_body), body_fields, BASE_COUNT(body_fields),
     NULL},
    {"Transform", sizeof(cubes_transform), _Alignof(cubes_transform), transform_fields,
     BASE_COUNT(transform_fields), NULL},
    {"CubesSpawn", sizeof(cubes_spawn), _Alignof(cubes_spawn), spawn_fields,
     BASE_COUNT(spawn_fields), NULL},
    {"CubesFall", sizeof(cubes_fall), _Alignof(cubes_fall), fall_fields, BASE_COUNT(fall_fields),
     NULL},
    {"CubesOrbit", sizeof(cubes_orbit), _Alignof(cubes_orbit), orbit_fields,
     BASE_COUNT(orbit_fields), NULL},
    {"CubesInput", sizeof(cubes_input), _Alignof(cubes_input), input_fields,
     BASE_COUNT(input_fields), NULL},
    {"CubesPlayer", sizeof(cubes_player), _Alignof(cubes_player), player_fields,
     BASE_COUNT(player_fields), NULL},
};

ecs_result cubes_register_types(ecs_world* world, const base_reporter* reporter) {
    for (uint32_t i = 0; i < BASE_COUNT(types); i++) {
        ecs_type_id id;
        ecs_result result = ecs_type_register(world, &types[i], &id);
        if (result) {
            base_report(reporter, NULL, 0, "type %s: %s", types[i].name, ecs_result_text(result));
            return result;
        }
    }
    static const ecs_event_desc input = {"camera_input", sizeof(cubes_input), input_fields,
                                         BASE_COUNT(input_fields), false};
    ecs_event_type id;
    return ecs_event_register(world, &input, &id);
}
