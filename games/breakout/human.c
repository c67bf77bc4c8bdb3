// SPDX-License-Identifier: MIT
// Turns the keys and the pointer of a person into an input.
//
// With prediction, the world here is the predicted one: "towards the pointer" starts at the pad
// that the player sees. A short tap between two inputs counts. The pointer controls the pad from
// the moment it moves until the player presses a key. `memory` keeps which of the two is in
// control.

#include "breakout.h"

#include <stddef.h>

typedef struct human_memory {
    uint32_t is_pointing;
} human_memory;
_Static_assert(sizeof(human_memory) <= NET_BOT_MEMORY_BYTES, "a player has only so much memory");

// The key is held now, or it was pressed since the last input.
static bool is_on(const net_controls* controls, uint32_t action) {
    if (action >= controls->action_count) return false;
    bool has_pressed = controls->size_bytes >= offsetof(net_controls, is_pointer_moved);
    return controls->actions[action] ||
           (has_pressed && controls->pressed && controls->pressed[action]);
}

// A program that does not report pointer moves is treated as if the pointer always moves.
static bool is_moved(const net_controls* controls) {
    if (!controls->has_pointer) return false;
    if (controls->size_bytes < sizeof(net_controls)) return true;
    return controls->is_pointer_moved || controls->pointer_down;
}

static void cheer(const net_player_context* view, const net_controls* controls) {
    bool has_pressed = controls->size_bytes >= offsetof(net_controls, is_pointer_moved);
    if (!view->send || !has_pressed || !controls->pressed) return;
    for (uint32_t emote = 0; emote < BREAKOUT_EMOTES; emote++) {
        uint32_t action = BREAKOUT_ACTION_CHEER + emote;
        if (action >= controls->action_count || !controls->pressed[action]) continue;
        const breakout_cheer payload = {.emote = emote};
        // When the queue is full, the emote is lost.
        (void)view->send(view->sender, BREAKOUT_MESSAGE_CHEER + 1, &payload);
    }
}

void breakout_human_input(const net_player_context* view, const net_controls* controls,
                          void* input) {
    const breakout_game* game = view->context;
    breakout_input* out = input;
    human_memory forgotten = {0};
    human_memory* memory = view->memory ? view->memory : &forgotten;
    cheer(view, controls);
    bool is_left = is_on(controls, BREAKOUT_ACTION_LEFT);
    bool is_right = is_on(controls, BREAKOUT_ACTION_RIGHT);
    out->is_launching = is_on(controls, BREAKOUT_ACTION_LAUNCH) ||
                        (controls->has_pointer && controls->pointer_down);
    if (is_moved(controls)) memory->is_pointing = 1;
    if (is_left || is_right) {
        memory->is_pointing = 0;
        out->move = is_left == is_right ? 0 : is_left ? -127 : 127;
        return;
    }
    if (!memory->is_pointing || !controls->has_pointer) return;
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    const ecs_vec2* size = ecs_find(view->world, view->player, game->rect_size);
    if (!pos || !size) return;
    out->move = breakout_move_towards(view, pos->x + size->x * 0.5f, controls->pointer_x);
}
