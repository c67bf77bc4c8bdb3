// SPDX-License-Identifier: MIT
/// The private header of cubes: components, settings, ids, and the functions that its files share.
///
/// y points up; the cubes fall within [-100, 100] on each axis. Clients get only `spawn`, `orbit`
/// and `player`. The place of a cube follows from its spawn and the tick: every side computes it
/// with the same functions.
#pragma once

#include "ecs/es.h"
#include "net/controls.h"

#define CUBES_VIEW_WIDTH 960.0f
#define CUBES_VIEW_HEIGHT 540.0f
#define CUBES_COUNT 10000u
#define CUBES_COUNT_MAX 32000u
#define CUBES_HALF 100.0f        ///< random positions lie in [-CUBES_HALF, CUBES_HALF] per axis
#define CUBES_FORCE_MIN (-10.0f) ///< gravity is (0, random in [min, max], 0)
#define CUBES_FORCE_MAX (-1.0f)
#define CUBES_ROTATION_MAX 3.0f ///< radians per axis, from 0
#define CUBES_SCALE_MIN 3.0f    ///< one value for all axes
#define CUBES_SCALE_MAX 5.0f
#define CUBES_NEVER UINT32_MAX

#define CUBES_PITCH_MAX 1.45f
#define CUBES_DISTANCE_MIN 8.0f
#define CUBES_DISTANCE_MAX 400.0f

ES_STRUCT(Gravity)
typedef struct cubes_gravity {
    ecs_vec3 force;
} cubes_gravity;

ES_STRUCT(RigidBody)
typedef struct cubes_body {
    ecs_vec3 velocity, acceleration;
} cubes_body;

ES_STRUCT(Transform)
typedef struct cubes_transform {
    ecs_vec3 position, rotation, scale;
} cubes_transform;

/// All that a client must know about a cube: the seed gives the rest.
ES_STRUCT(CubesSpawn)
typedef struct cubes_spawn {
    uint32_t seed; ///< 0: the values of the template instead of random ones
    uint32_t tick; ///< after this tick the cube is at its start
} cubes_spawn;

/// How far this side has computed a fall.
ES_STRUCT(CubesFall)
typedef struct cubes_fall {
    uint32_t tick; ///< the newest tick that is in Transform and RigidBody
    uint32_t next; ///< after this tick the cube starts again at the top; 0: it has no place yet
} cubes_fall;

/// A camera looks at the position of its Transform from `distance`.
ES_STRUCT(CubesOrbit)
typedef struct cubes_orbit {
    float yaw ES_ANGLE(15);
    float pitch ES_QUANT(-2, 1.0 / 4096, 14); ///< above the horizon
    float distance ES_QUANT(0, 1.0 / 16, 13);
} cubes_orbit;

/// Component "input" of a camera and payload of the event "camera_input". -127..127.
ES_STRUCT(CubesInput)
ES_EVENT(camera_input)
ES_MESSAGE(Cubes__CameraInput, input, kept)
typedef struct cubes_input {
    int32_t yaw, pitch, zoom ES_CLAMP(-127, 127);
} cubes_input;

ES_STRUCT(CubesPlayer)
typedef struct cubes_player {
    uint32_t client;
} cubes_player;

ES_SETTINGS
typedef struct cubes_settings {
    uint32_t cubes ES_SETTING(CUBES_COUNT, 0.0, CUBES_COUNT_MAX, "how many cubes");
    bool fall ES_SETTING(0.0, 0.0, 1.0, "what has a body: 0 the cubes, 1 the cameras (templates)");
    bool respawn ES_SETTING(1.0, 0.0, 1.0, "1: from the bottom back to the top, 0: fall for ever");
} cubes_settings;

ES_ACTIONS
typedef enum cubes_action {
    CUBES_ACTION_LEFT ES_ACTION("left", "Left,A", "fly to the left", "DPLeft,LeftX-"),
    CUBES_ACTION_RIGHT ES_ACTION("right", "Right,D", "fly to the right", "DPRight,LeftX+"),
    CUBES_ACTION_UP ES_ACTION("up", "Up,W", "fly up", "DPUp,LeftY-"),
    CUBES_ACTION_DOWN ES_ACTION("down", "Down,S", "fly down", "DPDown,LeftY+"),
    CUBES_ACTION_NEARER ES_ACTION("nearer", "E,PageUp", "towards the middle", "RightShoulder"),
    CUBES_ACTION_FARTHER ES_ACTION("farther", "Q,PageDown", "away from it", "LeftShoulder"),
    CUBES_ACTION_COUNT,
} cubes_action;

typedef struct cubes_view cubes_view; ///< view.h

/// The context block of one world.
ES_GAME_CONTEXT(cubes)
typedef struct cubes_game {
    ecs_component_id spawn, fall, transform, body, gravity, orbit, input, player;
    ecs_template_id cube_templates[2] ES_NAME(cube, cube_still); ///< index: the setting "fall"
    ecs_template_id camera_templates[2] ES_NAME(camera, camera_falling);
    ecs_quant yaw ES_STEP(camera, orbit.yaw);     ///< yaw, pitch and distance end each tick on
    ecs_quant pitch ES_STEP(camera, orbit.pitch); ///< their grid, so that the predicted values are
    ecs_quant distance ES_STEP(camera, orbit.distance);       ///< those that the server sends
    cubes_transform home ES_VALUE(camera_falling, transform); ///< a camera's start
    cubes_gravity pull ES_VALUE(camera_falling, gravity);
    cubes_settings settings;
    ecs_query*
        cameras ES_QUERY("orbit:CubesOrbit transform:Transform ?body:RigidBody player:CubesPlayer");
    ecs_query* cubes ES_QUERY("spawn:CubesSpawn !orbit:CubesOrbit");
    cubes_view* view ES_IF_TAG(render);
} cubes_game;

#include "cubes.h.es.h"

// fall.c
/// Draw the values of a seed. `gravity` may be NULL.
void cubes_draw(uint32_t seed, cubes_transform* transform, cubes_gravity* gravity);
/// @return the ticks in which a resting body falls `height`; CUBES_NEVER when it never does.
uint32_t cubes_ticks_to_fall(float height, const cubes_gravity* gravity, float dt);

// camera.c
ecs_entity cubes_player_join(ecs_world* world, cubes_game* game, const net_game_player* player);
/// @return the direction from the camera's point to its eye, of length 1.
ecs_vec3 cubes_orbit_direction(const cubes_orbit* orbit);
void cubes_bot_think(const net_player_context* view, cubes_input* input);
void cubes_human_input(const net_player_context* view, const net_controls* controls,
                       cubes_input* input);
