// SPDX-License-Identifier: MIT
/// Turns the keys, the pointer and the game controllers of a person into the game's controls:
/// events in, net_controls out.
///
/// An input that was down between two net_controls, even for a short time, counts once for the game
/// (`pressed`, and `held` for that one). So no tap is lost at any tick rate.
/// Memory: it allocates nothing.
#pragma once

#include "net/limits.h"
#include "window/pads.h"

#define CLIENT_ACTION_KEYS_MAX 8u ///< further keys of an action are ignored, and inputs of pads
#define CLIENT_ACTION_INPUTS_MAX (2 * CLIENT_ACTION_KEYS_MAX)
#define CLIENT_STICK_DEAD 0.2f ///< a stick that is moved less is in its middle

typedef struct client_controls {
    uint32_t action_count;
    int32_t inputs[NET_ACTIONS_MAX][CLIENT_ACTION_INPUTS_MAX]; ///< codes of keys, of pads; 0: none
    uint16_t down[NET_ACTIONS_MAX];                            ///< a bit for each of them
    bool pressed[NET_ACTIONS_MAX];                             ///< since the last take
    bool has_pointer, is_pointer_moved;
    float pointer_x, pointer_y;
    uint32_t buttons, buttons_pressed; ///< a bit for each net_button
    int32_t wheel;
    uint32_t modifiers, modifiers_pressed; ///< now, and with the buttons that were pressed
    float axes[CLIENT_PAD_AXIS_COUNT];
    bool is_half_down[CLIENT_PAD_AXIS_COUNT][2]; ///< to the negative side, to the positive one
    bool is_pad;                                 ///< a pad was used last
    bool held_taken[NET_ACTIONS_MAX], pressed_taken[NET_ACTIONS_MAX]; ///< borrowed by net_controls
} client_controls;

/// Bind the keys and the inputs of pads of a game's actions. Names that SDL does not know are
/// reported and skipped.
void client_controls_init(client_controls* controls, const net_action* actions, uint32_t count,
                          const base_reporter* reporter);
/// Bind others while a person plays: nothing is held then, but where sticks and pointer are stays
/// known. A stick that is held still would send nothing until it moves.
void client_controls_change(client_controls* controls, const net_action* actions, uint32_t count,
                            const base_reporter* reporter);
/// `x`, `y`: the event's pointer, in the coordinates that client_controls_take shall give; unused
/// for others. @return true when the game uses this event.
bool client_controls_see(client_controls* controls, const client_event* event, float x, float y);
/// Take the controls for one input and clear the taps. Borrowed until the next call.
net_controls client_controls_take(client_controls* controls);

/// A line that a person types. While it is open, keys belong to it and not to the game.
typedef struct client_line {
    bool is_open;
    uint32_t size;                 ///< bytes, without the zero
    char text[NET_LINE_BYTES_MAX]; ///< UTF-8 without control characters
} client_line;

typedef enum client_line_result {
    CLIENT_LINE_IGNORED, ///< the event is for others
    CLIENT_LINE_TAKEN,
    CLIENT_LINE_DONE, ///< Enter: the text is whole, and the line is closed
    CLIENT_LINE_LEFT, ///< Escape, or Enter without a text: the line is closed
} client_line_result;

/// Open an empty line.
void client_line_open(client_line* line);
/// Handle an event while the line is open. The ends of key presses are left to others, so that
/// nothing stays held.
client_line_result client_line_see(client_line* line, const client_event* event);
