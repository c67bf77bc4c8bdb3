// SPDX-License-Identifier: MIT
/// Turns the keys and the pointer of a person into the game's controls: events in, net_controls
/// out.
///
/// A key that was down between two inputs, even for a short time, counts once for the game
/// (`pressed`, and `held` for that one input). So no tap is lost at any tick rate.
/// Memory: it allocates nothing.
#pragma once

#include "net/limits.h"
#include "window/window.h"

#define CLIENT_ACTION_KEYS_MAX 8u ///< further default keys of an action are ignored

typedef struct client_controls {
    uint32_t action_count;
    int32_t keys[NET_ACTIONS_MAX][CLIENT_ACTION_KEYS_MAX]; ///< 0: none
    uint8_t down[NET_ACTIONS_MAX];                         ///< a bit per key
    bool pressed[NET_ACTIONS_MAX];                         ///< since the last take
    bool has_pointer, is_pointer_down, is_pointer_pressed, is_pointer_moved;
    float pointer_x, pointer_y;
    bool held_taken[NET_ACTIONS_MAX], pressed_taken[NET_ACTIONS_MAX]; ///< borrowed by net_controls
} client_controls;

/// Bind the keys of a module's actions. Key names that SDL does not know are reported and skipped.
void client_controls_init(client_controls* controls, const net_game_module* game,
                          const base_reporter* reporter);
/// `view_x`, `view_y`: the event's pointer in view coordinates; unused for keys.
/// @return true when the game uses this event.
bool client_controls_see(client_controls* controls, const client_event* event, float view_x,
                         float view_y);
/// Take the controls for one input and clear the taps. Borrowed until the next call.
net_controls client_controls_take(client_controls* controls);
