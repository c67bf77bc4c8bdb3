// SPDX-License-Identifier: MIT
/// The private header of cubes: components, settings, ids, and the functions that its files share.
///
/// y points up; the cubes fall within [-100, 100] on each axis. Clients get only `spawn`, `orbit`
/// and `player`. The place of a cube follows from its spawn and the tick: every side computes it
/// with the same functions.
#pragma once

#include "ecs/es.h"
#include "net/game.h"

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

#define CUBES_ANGLE_GRID (1.0f / 4096.0f) ///< step of yaw and pitch; both end each tick on it
#define CUBES_DISTANCE_GRID (1.0f / 16.0f)
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
    float yaw ES_QUANT(-4, CUBES_ANGLE_GRID, 15);   ///< [-pi, pi)
    float pitch ES_QUANT(-2, CUBES_ANGLE_GRID, 14); ///< above the horizon
    float distance ES_QUANT(0, CUBES_DISTANCE_GRID, 13);
} cubes_orbit;

/// Component "input" of a camera and payload of the event "camera_input". -127..127.
ES_STRUCT(CubesInput)
ES_EVENT(camera_input)
ES_MESSAGE(Cubes__CameraInput)
typedef struct cubes_input {
    int32_t yaw, pitch, zoom ES_QUANT(-127, 1, 8) ES_CLAMP(-127, 127);
} cubes_input;

ES_STRUCT(CubesPlayer)
typedef struct cubes_player {
    uint32_t client;
} cubes_player;

enum {
    CUBES_SETTING_CUBES,
    CUBES_SETTING_FALL,
    CUBES_SETTING_RESPAWN,
    CUBES_SETTING_COUNT,
};

enum {
    CUBES_ACTION_LEFT,
    CUBES_ACTION_RIGHT,
    CUBES_ACTION_UP,
    CUBES_ACTION_DOWN,
    CUBES_ACTION_NEARER,
    CUBES_ACTION_FARTHER,
    CUBES_ACTION_COUNT,
};

typedef struct cubes_view cubes_view; ///< view.h

/// The context block of one world.
typedef struct cubes_game {
    ecs_component_id spawn, fall, transform, body, gravity, orbit, input, player;
    ecs_template_id cube_templates[2], camera_templates[2]; ///< index: the setting "fall"
    cubes_transform home;                                   ///< the template's start of a camera
    cubes_gravity pull;                                     ///< the template's gravity
    double settings[CUBES_SETTING_COUNT];
    ecs_query* cameras; ///< orbit, transform, body if any, player
    ecs_query* cubes;   ///< spawn, without orbit
    cubes_view* view;   ///< NULL in a world that draws nothing
} cubes_game;

/// @return the module table, which net_game_module_get returns from the .so.
const net_game_module* cubes_module(void);
void cubes_take_settings(cubes_game* game, const net_game_start* start);

// types.c
ecs_result cubes_register_types(ecs_world* world, const base_reporter* reporter);

// fall.c
ecs_result cubes_register_fall(ecs_world* world, cubes_game* game);
/// Draw the values of a seed. `gravity` may be NULL.
void cubes_draw(uint32_t seed, cubes_transform* transform, cubes_gravity* gravity);
/// @return the ticks in which a resting body falls `height`; CUBES_NEVER when it never does.
uint32_t cubes_ticks_to_fall(float height, const cubes_gravity* gravity, float dt);

// camera.c
ecs_result cubes_register_camera(ecs_world* world, cubes_game* game);
ecs_entity cubes_player_join(ecs_world* world, void* context, const net_game_player* player);
void cubes_player_leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity);
uint32_t cubes_predict(ecs_world* world, void* context, ecs_entity player, net_predicted* entities,
                       uint32_t capacity);
/// @return the direction from the camera's point to its eye, of length 1.
ecs_vec3 cubes_orbit_direction(const cubes_orbit* orbit);

// input.c
extern const net_message cubes_messages[1];
void cubes_bot_think(const net_player_context* view, void* input);
void cubes_human_input(const net_player_context* view, const net_controls* controls, void* input);

// view.c
ecs_result cubes_register_view(ecs_world* world, cubes_game* game);
