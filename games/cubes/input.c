// SPDX-License-Identifier: MIT
// Inputs come from the wire, from a bot or from a person.

#include "cubes.h"

#include "base/math.h"
#include "cubes.pb-c.h"

#include "input.es.h"

#include <stddef.h>

// ---- wire ----

ES_MESSAGES

const net_message cubes_messages[1] = {
    {"CameraInput", &cubes__camera_input__descriptor, "camera_input", NET_MESSAGE_INPUT, false,
     camera_input_to_wire, camera_input_from_wire, false},
};

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

void cubes_bot_think(const net_player_context* view, void* input) {
    const cubes_game* game = view->context;
    cubes_input* out = input;
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
    out->yaw = memory->yaw;
    out->pitch = towards(memory->pitch - orbit->pitch, 2.0f);
    out->zoom = towards(memory->distance / orbit->distance - 1.0f, 2.0f);
}

// ---- person ----

static bool is_on(const net_controls* controls, uint32_t action) {
    if (action >= controls->action_count) return false;
    bool has_pressed = controls->size_bytes >= offsetof(net_controls, is_pointer_moved);
    return controls->actions[action] ||
           (has_pressed && controls->pressed && controls->pressed[action]);
}

static int32_t axis(const net_controls* controls, uint32_t less, uint32_t more) {
    return 127 * ((int32_t)is_on(controls, more) - (int32_t)is_on(controls, less));
}

// While its button is down, the pointer turns the picture: the farther from the middle, the faster.
static int32_t pull(float at, float size) {
    return (int32_t)(base_clamp(at / size * 2.0f - 1.0f, -1.0f, 1.0f) * 127.0f);
}

void cubes_human_input(const net_player_context* view, const net_controls* controls, void* input) {
    (void)view;
    cubes_input* out = input;
    out->yaw = axis(controls, CUBES_ACTION_LEFT, CUBES_ACTION_RIGHT);
    out->pitch = axis(controls, CUBES_ACTION_DOWN, CUBES_ACTION_UP);
    out->zoom = axis(controls, CUBES_ACTION_NEARER, CUBES_ACTION_FARTHER);
    if (!controls->has_pointer || !controls->pointer_down) return;
    if (out->yaw == 0) out->yaw = pull(controls->pointer_x, CUBES_VIEW_WIDTH);
    if (out->pitch == 0) out->pitch = -pull(controls->pointer_y, CUBES_VIEW_HEIGHT);
}
