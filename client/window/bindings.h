// SPDX-License-Identifier: MIT
/// Which keys and which inputs of game controllers do a game's actions: those of its table, or
/// those that a person has chosen, from a file.
///
/// The file has a line for each action, in any order; lines that begin with # are comments:
///     left = Left,A | DPLeft,LeftX-
/// A line of an action that the game does not have is reported and left out. With any other fault
/// the file is reported and ignored, and stays as it is until the person changes something.
/// Memory: it allocates nothing. A client_bindings must not move.
#pragma once

#include "window/pads.h"

#include "net/limits.h"

#define CLIENT_BINDING_BYTES 96u        ///< of the names of an action's keys, with the zero
#define CLIENT_BINDINGS_FILE_MAX 32768u ///< bytes of a file
#define CLIENT_KEY_NAME_BYTES 32u

typedef struct client_bindings {
    const net_action* defaults; ///< the game's
    uint32_t count;
    net_action actions[NET_ACTIONS_MAX]; ///< as the game's; `keys` and `pads` are the texts below
    char keys[NET_ACTIONS_MAX][CLIENT_BINDING_BYTES];
    char pads[NET_ACTIONS_MAX][CLIENT_BINDING_BYTES];
} client_bindings;

/// Those of the game's table, borrowed. Names beyond CLIENT_BINDING_BYTES are left out.
void client_bindings_init(client_bindings* bindings, const net_game_module* game);
/// Give an action its own ones back.
void client_bindings_reset(client_bindings* bindings, uint32_t action);
/// Let one key, or one input of pads, do an action, in the place of those that did it.
void client_bindings_set(client_bindings* bindings, uint32_t action, bool is_pad, const char* name);
/// @return another action that a key of `action` does too, or an input of pads; `count`: there is
///         none.
uint32_t client_bindings_conflict(const client_bindings* bindings, uint32_t action, bool is_pad);

/// Read a file. Without one nothing changes.
/// @return false: it is damaged or cannot be read (reported); nothing changed.
BASE_MUST_USE bool client_bindings_read(client_bindings* bindings, const char* path,
                                        const base_reporter* reporter);
/// The same of a text, which is changed. `file` is its name in reports.
BASE_MUST_USE bool client_bindings_parse(client_bindings* bindings, char* text, const char* file,
                                         const base_reporter* reporter);
/// Write the file in one step, and make its folder where it is missing.
/// @return false after a report; the old file stays.
BASE_MUST_USE bool client_bindings_write(const client_bindings* bindings, const char* path,
                                         const base_reporter* reporter);

#define CLIENT_BINDER_ROWS 16u ///< seen at one time

/// The screen on which a person changes them. While it is open, keys and pads belong to it and not
/// to the game.
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
