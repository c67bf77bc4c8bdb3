// SPDX-License-Identifier: MIT
// Turns the keys and the pointer of a person into an input. The player's own fighter is always in
// the middle of the picture, so it aims from there to the pointer. Without a pointer it aims in the
// direction in which it moves.

#include "arena.h"

#include <stddef.h>

typedef struct human_memory {
    uint32_t aim;
} human_memory;
_Static_assert(sizeof(human_memory) <= NET_BOT_MEMORY_BYTES, "a player has only so much memory");

static bool is_pressed(const net_controls* controls, uint32_t action) {
    bool has_pressed = controls->size_bytes >= offsetof(net_controls, is_pointer_moved);
    return action < controls->action_count && has_pressed && controls->pressed &&
           controls->pressed[action];
}

static bool is_on(const net_controls* controls, uint32_t action) {
    return action < controls->action_count &&
           (controls->actions[action] || is_pressed(controls, action));
}

static int32_t axis(const net_controls* controls, uint32_t less, uint32_t more) {
    return 127 * ((int32_t)is_on(controls, more) - (int32_t)is_on(controls, less));
}

void arena_human_input(const net_player_context* view, const net_controls* controls, void* input) {
    arena_input* out = input;
    human_memory forgotten = {0};
    human_memory* memory = view->memory ? view->memory : &forgotten;
    out->move_x = axis(controls, ARENA_ACTION_LEFT, ARENA_ACTION_RIGHT);
    out->move_y = axis(controls, ARENA_ACTION_UP, ARENA_ACTION_DOWN);
    float x = controls->pointer_x - ARENA_VIEW_WIDTH * 0.5f;
    float y = controls->pointer_y - ARENA_VIEW_HEIGHT * 0.5f;
    if (controls->has_pointer && (x != 0.0f || y != 0.0f))
        memory->aim = arena_aim_of(x, y);
    else if (out->move_x || out->move_y)
        memory->aim = arena_aim_of((float)out->move_x, (float)out->move_y);
    out->aim = memory->aim;
    out->is_firing =
        is_on(controls, ARENA_ACTION_FIRE) || (controls->has_pointer && controls->pointer_down);
    out->is_raying = is_on(controls, ARENA_ACTION_RAY);
    // When a queue is full, the message is lost and the player presses the key again.
    for (uint32_t i = 0; view->send && i < ARENA_PICKUP_KINDS; i++) {
        const arena_use use = {i};
        if (is_pressed(controls, ARENA_ACTION_USE + i))
            (void)view->send(view->sender, ARENA_MESSAGE_USE + 1, &use);
    }
    for (uint32_t i = 0; view->send && i < ARENA_PHRASES; i++) {
        const arena_say say = {i};
        if (is_pressed(controls, ARENA_ACTION_SAY + i))
            (void)view->send(view->sender, ARENA_MESSAGE_SAY + 1, &say);
    }
    if (view->send && is_pressed(controls, ARENA_ACTION_RALLY)) {
        const arena_rally rally = {0};
        (void)view->send(view->sender, ARENA_MESSAGE_RALLY + 1, &rally);
    }
}
