// SPDX-License-Identifier: MIT
// Turns the keys and the pointer of a person into an input. The player's own fighter is always in
// the middle of the picture, so it aims from there to the pointer. With a game controller it aims
// by the right stick; without either in the direction in which it moves.

#include "arena.h"

#include "base/text.h"

void arena_human_input(const net_player_context* view, const net_controls* controls,
                       arena_input* out) {
    uint32_t forgotten = 0;
    uint32_t* aim = view->memory ? view->memory : &forgotten;
    const ecs_vec2 move = net_move(controls, ARENA_ACTION_LEFT, ARENA_ACTION_RIGHT, ARENA_ACTION_UP,
                                   ARENA_ACTION_DOWN);
    const ecs_vec2 stick = net_aim(controls);
    out->move_x = (int32_t)base_round_i64((double)(move.x * 127.0f));
    out->move_y = (int32_t)base_round_i64((double)(move.y * 127.0f));
    float x = controls->pointer_x - ARENA_VIEW_WIDTH * 0.5f;
    float y = controls->pointer_y - ARENA_VIEW_HEIGHT * 0.5f;
    if (stick.x != 0.0f || stick.y != 0.0f)
        *aim = arena_aim_of(stick.x, stick.y);
    else if (controls->has_pointer && !net_is_pad(controls) && (x != 0.0f || y != 0.0f))
        *aim = arena_aim_of(x, y);
    else if (out->move_x || out->move_y)
        *aim = arena_aim_of((float)out->move_x, (float)out->move_y);
    out->aim = *aim;
    out->is_firing = net_is_on(controls, ARENA_ACTION_FIRE) || net_is_pointer_down(controls);
    out->is_raying = net_is_on(controls, ARENA_ACTION_RAY);
    // When a queue is full, the message is lost and the player presses the key again.
    for (uint32_t i = 0; i < ARENA_PICKUP_KINDS; i++)
        if (net_is_pressed(controls, ARENA_ACTION_USE + i))
            (void)arena_send_use(view, &(arena_use){i});
    for (uint32_t i = 0; i < ARENA_PHRASES; i++)
        if (net_is_pressed(controls, ARENA_ACTION_SAY + i))
            (void)arena_send_say(view, &(arena_say){i});
    if (net_is_pressed(controls, ARENA_ACTION_RALLY))
        (void)arena_send_rally(view, &(arena_rally){0});
}

void arena_human_text(const net_player_context* view, const char* text) {
    arena_chat chat = {0};
    (void)base_text_copy(chat.text, sizeof chat.text, text);
    (void)arena_send_chat(view, &chat);
}
