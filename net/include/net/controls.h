// SPDX-License-Identifier: MIT
/// A human's controls, the name of a player, the usual prediction. Inline, as net/draw.h.
#pragma once

#include "base/text.h"
#include "net/game.h"

BASE_C_BEGIN

/// Was the action's key pressed since the last input, even for a moment?
static inline bool net_is_pressed(const net_controls* controls, uint32_t action) {
    return controls->pressed && action < controls->action_count && controls->pressed[action];
}

/// Is the action's key down, or was it pressed since the last input?
static inline bool net_is_on(const net_controls* controls, uint32_t action) {
    return action < controls->action_count &&
           (controls->actions[action] || net_is_pressed(controls, action));
}

/// @return -1, 0 or 1: two keys against each other.
static inline int32_t net_axis(const net_controls* controls, uint32_t less, uint32_t more) {
    return (int32_t)net_is_on(controls, more) - (int32_t)net_is_on(controls, less);
}

/// Does the player use a game controller now, not keys or the pointer?
static inline bool net_is_pad(const net_controls* controls) {
    return controls->is_pad;
}

/// @return the way in which the player wants to go, each part -1 to 1; y points down. It is the
///         left stick where that is moved, else the four keys.
static inline ecs_vec2 net_move(const net_controls* controls, uint32_t left, uint32_t right,
                                uint32_t up, uint32_t down) {
    const ecs_vec2 stick = {controls->move_x, controls->move_y};
    const ecs_vec2 keys = {(float)net_axis(controls, left, right),
                           (float)net_axis(controls, up, down)};
    return net_is_pad(controls) && (stick.x != 0.0f || stick.y != 0.0f) ? stick : keys;
}

/// @return the way to which the player aims with the right stick; 0, 0 where that rests.
static inline ecs_vec2 net_aim(const net_controls* controls) {
    const ecs_vec2 way = {controls->aim_x, controls->aim_y}, rest = {0.0f, 0.0f};
    return net_is_pad(controls) ? way : rest;
}

/// Is the pointer's button down?
static inline bool net_is_pointer_down(const net_controls* controls) {
    return controls->has_pointer && controls->pointer_down;
}

/// Is the button of the mouse down, or was it pressed since the last input?
static inline bool net_is_button(const net_controls* controls, net_button button) {
    return ((controls->buttons | controls->buttons_pressed) >> button & 1u) != 0;
}

/// Was the button pressed since the last input, even for a moment?
static inline bool net_is_button_pressed(const net_controls* controls, net_button button) {
    return (controls->buttons_pressed >> button & 1u) != 0;
}

/// @return the steps of the wheel since the last input; above 0: away from the person.
static inline int32_t net_wheel(const net_controls* controls) {
    return controls->wheel;
}

/// Is one of these held: NET_MODIFIER_SHIFT | NET_MODIFIER_CTRL?
static inline bool net_is_modified(const net_controls* controls, uint32_t modifiers) {
    return (controls->modifiers & modifiers) != 0;
}

/// The client's own block (net_game_module.block_bytes): the picture has the same one.
/// @return NULL in bot_think, and where a program has none.
static inline void* net_player_block(const net_player_context* player) {
    return player->block;
}

/// Does the player use the pointer now?
static inline bool net_is_pointer_used(const net_controls* controls) {
    return controls->has_pointer && (controls->is_pointer_moved || controls->pointer_down);
}

/// The name of a player as a picture shows it. @return "player 3", in `buffer`, when the name is
///         unknown; else borrowed from the program until the frame ends.
static inline const char* net_player_name(const net_draw* draw, uint32_t client, char* buffer,
                                          size_t bytes) {
    const char* name = draw->player_name ? draw->player_name(draw->context, client) : NULL;
    if (name && name[0]) return name;
    (void)base_text_format(buffer, bytes, "player %u", client);
    return buffer;
}

/// The usual body of `predict`: the player's own entity, as its inputs put it.
/// @return the number of entities.
static inline uint32_t net_predict_own(ecs_world* world, ecs_entity player, net_predicted* entities,
                                       uint32_t capacity) {
    if (capacity == 0 || !ecs_is_alive(world, player)) return 0;
    entities[0].entity = player;
    entities[0].weight = 1.0f;
    return 1;
}

BASE_C_END
