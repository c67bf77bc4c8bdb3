// SPDX-License-Identifier: MIT
// Cameras: a player is a camera in this world. An input turns it about the point of its Transform.
//
// Inputs are events: a tick has none, one or several. A camera must turn exactly once per tick, so
// one system keeps the input and another one turns the camera. A client's prediction runs both as
// the server does. Yaw, pitch and distance end each tick on their grid, so the predicted values
// equal the values that the server sends.

#include "cubes.h"

#include "base/math.h"

#include "camera.es.h"

#define TURN_PER_S 1.6f ///< radians at full speed
#define ZOOM_PER_S 1.2f ///< part of the distance per second
#define FULL 127.0f

static float snap(float value, float grid) {
    return base_floor(value / grid + 0.5f) * grid;
}

ES_ON_EVENT(camera_input)
ES_TAG(server | predict)
static void cubes_input_es_event_handler(const cubes_input* event, cubes_input* input) {
    *input = *event;
}

ES_TAG(server | predict)
static void cubes_turn_es(const ecs_stage* stage, cubes_orbit* orbit, const cubes_input* input) {
    float yaw = orbit->yaw + (float)input->yaw / FULL * TURN_PER_S * stage->dt;
    if (yaw >= BASE_PI) yaw -= 2.0f * BASE_PI;
    if (yaw < -BASE_PI) yaw += 2.0f * BASE_PI;
    float pitch = orbit->pitch + (float)input->pitch / FULL * TURN_PER_S * stage->dt;
    float distance = orbit->distance * (1.0f + (float)input->zoom / FULL * ZOOM_PER_S * stage->dt);
    orbit->yaw = snap(yaw, CUBES_ANGLE_GRID);
    orbit->pitch = snap(base_clamp(pitch, -CUBES_PITCH_MAX, CUBES_PITCH_MAX), CUBES_ANGLE_GRID);
    orbit->distance =
        snap(base_clamp(distance, CUBES_DISTANCE_MIN, CUBES_DISTANCE_MAX), CUBES_DISTANCE_GRID);
}

ecs_vec3 cubes_orbit_direction(const cubes_orbit* orbit) {
    float flat = base_cos(orbit->pitch);
    return (ecs_vec3){base_sin(orbit->yaw) * flat, base_sin(orbit->pitch),
                      -base_cos(orbit->yaw) * flat};
}

ecs_entity cubes_player_join(ecs_world* world, void* context, const net_game_player* player) {
    const cubes_game* game = context;
    uint32_t which = game->settings[CUBES_SETTING_FALL] != 0.0;
    const cubes_spawn spawn = {.seed = 0, .tick = (uint32_t)ecs_world_tick(world)};
    const cubes_player value = {.client = player->client};
    // The golden angle spreads new players around the cubes.
    float yaw = (float)(player->client % 4096u) * 2.3999632f + 0.5f;
    yaw -= base_floor((yaw + BASE_PI) / (2.0f * BASE_PI)) * 2.0f * BASE_PI;
    const cubes_orbit orbit = {snap(yaw, CUBES_ANGLE_GRID), snap(0.3f, CUBES_ANGLE_GRID), 230.0f};
    const ecs_init inits[] = {{game->spawn, &spawn}, {game->player, &value}, {game->orbit, &orbit}};
    ecs_entity entity = ECS_ENTITY_NONE;
    // When the world is full, the new player only watches.
    if (ecs_create(world, game->camera_templates[which], inits, BASE_COUNT(inits), &entity))
        return ECS_ENTITY_NONE;
    return entity;
}

void cubes_player_leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity) {
    (void)context;
    (void)client;
    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);
}

uint32_t cubes_predict(ecs_world* world, void* context, ecs_entity player, net_predicted* entities,
                       uint32_t capacity) {
    (void)context;
    if (capacity == 0 || !ecs_is_alive(world, player)) return 0;
    entities[0] = (net_predicted){player, 1.0f};
    return 1;
}

ecs_result cubes_register_camera(ecs_world* world, cubes_game* game) {
    return camera_register_systems(world, game);
}
