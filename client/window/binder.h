// SPDX-License-Identifier: MIT
/// The screen on which a person changes keys and inputs of game controllers. While it is open, keys
/// and pads belong to it and not to the game.
#pragma once

#include "window/bindings.h"

#define CLIENT_BINDER_ROWS 16u ///< seen at one time

typedef struct client_binder {
    bool is_open, is_waiting; ///< waiting for a key or an input
    bool is_changed;          ///< since it was opened
    uint32_t action;          ///< the chosen one
    const char* note;         ///< why the last key was not taken; NULL: nothing to say
} client_binder;

/// Open it at the first action. The bindings have one at least.
void client_binder_open(client_binder* binder);
/// Handle an event while it is open.
/// @return true: the event is for it. `is_changed` and `is_open` say what came of it. The ends of
///         presses are left to others, so that nothing stays held.
bool client_binder_see(client_binder* binder, client_bindings* bindings, const client_event* event);
void client_binder_draw(const client_binder* binder, const client_bindings* bindings,
                        const net_draw* draw, float width, float height);
