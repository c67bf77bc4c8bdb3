// SPDX-License-Identifier: MIT
/// Game controllers: they come and go while a window is open, and each has a number while it is
/// there. What a person does with them comes as events of the window.
///
/// An input of a pad is a button, or a half of an axis that is moved far enough. It has a code, as
/// a key has; the two never meet.
/// Memory: it allocates nothing itself. Threads: only the main thread.
#pragma once

#include "window/window.h"

union SDL_Event;
struct _SDL_GameController;

#define CLIENT_PAD_NAME_BYTES 32u

typedef enum client_pad_axis {
    CLIENT_PAD_LEFT_X, ///< in the order of SDL's axes
    CLIENT_PAD_LEFT_Y,
    CLIENT_PAD_RIGHT_X,
    CLIENT_PAD_RIGHT_Y,
    CLIENT_PAD_LEFT_TRIGGER,
    CLIENT_PAD_RIGHT_TRIGGER,
    CLIENT_PAD_AXIS_COUNT,
} client_pad_axis;

typedef struct client_pads {
    const base_reporter* reporter;
    struct _SDL_GameController* open[CLIENT_PADS_MAX];  ///< NULL: no pad has this number
    int32_t ids[CLIENT_PADS_MAX];                       ///< SDL_JoystickID
    char names[CLIENT_PADS_MAX][CLIENT_PAD_NAME_BYTES]; ///< of the pad that has or had the number
} client_pads;

/// `is_looking`: ask SDL to look for game controllers. Otherwise those that the process has anyway
/// are taken. Without them a window works as well: SDL's message is reported.
void client_pads_init(client_pads* pads, bool is_looking, const base_reporter* reporter);
/// @return false: it is no event of a pad that has a number.
BASE_MUST_USE bool client_pads_translate(client_pads* pads, const union SDL_Event* from,
                                         client_event* to);

/// @return the code of a pad's input by its name ("A", "DPLeft", "RightTrigger", "LeftX-"), always
///         negative; 0 for an unknown name.
int32_t client_pad_input(const char* name);
/// The code of a half of an axis.
int32_t client_pad_half(uint32_t axis, bool is_positive);
/// Write the name of an input that has `code`. @return false: there is none.
BASE_MUST_USE bool client_pad_input_name(int32_t code, char* name, size_t bytes);
