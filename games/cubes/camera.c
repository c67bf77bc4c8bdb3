// SPDX-License-Identifier: MIT
// Cameras: a player is a camera in this world. An input turns it about the point of its Transform.
//
// Inputs are events: a tick has none, one or several. A camera must turn exactly once per tick, so
// a handler keeps the input (`kept`), and a system turns the camera. A client's prediction runs
// both as the server does. Yaw, pitch and distance end each tick on their grid, so the predicted
// values equal the values that the server sends.

#include "cubes.h"

#include "camera.es.h"

#define TURN_PER_S 1.6f ///< radians at full speed
#define ZOOM_PER_S 1.2f ///< part of the distance per second
#define FULL 127.0f

ES_TAG(server | predict)
static void cubes_turn_es(const ecs_stage* stage, ES_CONTEXT const cubes_game* game,
                          cubes_orbit* orbit, const cubes_input* input) {
    float yaw = orbit->yaw + (float)input->yaw / FULL * TURN_PER_S * stage->dt;
    float pitch = orbit->pitch + (float)input->pitch / FULL * TURN_PER_S * stage->dt;
    float distance = orbit->distance * (1.0f + (float)input->zoom / FULL * ZOOM_PER_S * stage->dt);
    orbit->yaw = ecs_quantise(&game->yaw, yaw);
    orbit->pitch = ecs_quantise(&game->pitch, base_clamp(pitch, -CUBES_PITCH_MAX, CUBES_PITCH_MAX));
    orbit->distance =
        ecs_quantise(&game->distance, base_clamp(distance, CUBES_DISTANCE_MIN, CUBES_DISTANCE_MAX));
}

ecs_vec3 cubes_orbit_direction(const cubes_orbit* orbit) {
    float flat = base_cos(orbit->pitch);
    return (ecs_vec3){base_sin(orbit->yaw) * flat, base_sin(orbit->pitch),
                      -base_cos(orbit->yaw) * flat};
}

ecs_entity cubes_player_join(ecs_world* world, cubes_game* game, const net_game_player* player) {
    const cubes_spawn spawn = {.seed = 0, .tick = (uint32_t)ecs_world_tick(world)};
    const cubes_player value = {.client = player->client};
    // The golden angle spreads new players around the cubes.
    float yaw = (float)(player->client % 4096u) * 2.3999632f + 0.5f;
    const cubes_orbit orbit = {ecs_quantise(&game->yaw, ecs_angle_wrap(yaw)),
                               ecs_quantise(&game->pitch, 0.3f), 230.0f};
    // When the world is full, the new player only watches.
    return ecs_try_create(
        world, game->camera_templates[game->settings.fall],
        ECS_INITS({game->spawn, &spawn}, {game->player, &value}, {game->orbit, &orbit}));
}

// ---- bot ----

// A bot flies around and through the cubes. It keeps a speed of turning for a while, and it moves
// to the pitch and the distance that it chose.
typedef struct bot_memory {
    uint64_t until; ///< the input number at which the bot chooses again
    float pitch, distance;
    int32_t yaw;
} bot_memory;
_Static_assert(sizeof(bot_memory) <= NET_BOT_MEMORY_BYTES, "a bot has only so much memory");

static int32_t towards(float error, float full) {
    return (int32_t)(base_clamp(error / full, -1.0f, 1.0f) * 127.0f);
}

void cubes_bot_think(const net_player_context* view, cubes_input* input) {
    const cubes_game* game = view->context;
    bot_memory* memory = view->memory;
    const cubes_orbit* orbit = ecs_find(view->world, view->player, game->orbit);
    if (!orbit) return;
    if (view->input_number >= memory->until) {
        memory->until = view->input_number + 240 + base_rng_below(view->rng, 360);
        bool is_left = memory->yaw != 0 && base_rng_below(view->rng, 4) == 0;
        memory->yaw = 14 + (int32_t)base_rng_below(view->rng, 20);
        if (is_left) memory->yaw = -memory->yaw;
        memory->pitch = base_rng_float(view->rng) * 0.75f - 0.2f;
        memory->distance = 170.0f + base_rng_float(view->rng) * 110.0f;
    }
    input->yaw = memory->yaw;
    input->pitch = towards(memory->pitch - orbit->pitch, 2.0f);
    input->zoom = towards(memory->distance / orbit->distance - 1.0f, 2.0f);
}

// ---- person ----

// While its button is down, the pointer turns the picture: the farther from the middle, the faster.
static int32_t pull(float at, float size) {
    return (int32_t)(base_clamp(at / size * 2.0f - 1.0f, -1.0f, 1.0f) * 127.0f);
}

void cubes_human_input(const net_player_context* view, const net_controls* controls,
                       cubes_input* input) {
    (void)view;
    input->yaw = 127 * net_axis(controls, CUBES_ACTION_LEFT, CUBES_ACTION_RIGHT);
    input->pitch = 127 * net_axis(controls, CUBES_ACTION_DOWN, CUBES_ACTION_UP);
    input->zoom = 127 * net_axis(controls, CUBES_ACTION_NEARER, CUBES_ACTION_FARTHER);
    if (!net_is_pointer_down(controls)) return;
    if (input->yaw == 0) input->yaw = pull(controls->pointer_x, CUBES_VIEW_WIDTH);
    if (input->pitch == 0) input->pitch = -pull(controls->pointer_y, CUBES_VIEW_HEIGHT);
}
