// SPDX-License-Identifier: MIT
#include "window/pads.h"

#include "base/assert.h"
#include "base/text.h"

#include <SDL.h>
#include <string.h>

#define HALVES_FIRST 64 ///< codes above belong to buttons
#define AXIS_FULL 32767.0f

BASE_STATIC_ASSERT((int)CLIENT_PAD_AXIS_COUNT == (int)SDL_CONTROLLER_AXIS_MAX, "SDL's axes");
BASE_STATIC_ASSERT((int)SDL_CONTROLLER_BUTTON_MAX < HALVES_FIRST, "a code for each button");

// ---- names ----

// As games write them; SDL's own are in lower case, and it reads both.
static const char* const axis_names[CLIENT_PAD_AXIS_COUNT] = {
    "LeftX", "LeftY", "RightX", "RightY", "LeftTrigger", "RightTrigger"};
static const char* const button_names[] = {"A",
                                           "B",
                                           "X",
                                           "Y",
                                           "Back",
                                           "Guide",
                                           "Start",
                                           "LeftStick",
                                           "RightStick",
                                           "LeftShoulder",
                                           "RightShoulder",
                                           "DPUp",
                                           "DPDown",
                                           "DPLeft",
                                           "DPRight"};

static bool is_trigger(uint32_t axis) {
    return axis >= CLIENT_PAD_LEFT_TRIGGER;
}

int32_t client_pad_half(uint32_t axis, bool is_positive) {
    BASE_ASSERT(axis < CLIENT_PAD_AXIS_COUNT);
    return -(int32_t)(HALVES_FIRST + 2 * axis + is_positive);
}

int32_t client_pad_input(const char* name) {
    char word[CLIENT_PAD_NAME_BYTES];
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof word) return 0;
    base_text_copy(word, sizeof word, name);
    const char side = word[length - 1];
    const bool has_side = side == '-' || side == '+';
    if (has_side) word[length - 1] = '\0';
    SDL_GameControllerButton button = SDL_GameControllerGetButtonFromString(word);
    if (button != SDL_CONTROLLER_BUTTON_INVALID) return has_side ? 0 : -1 - (int32_t)button;
    // SDL takes a side before an axis; here it is after.
    if (word[0] == '-' || word[0] == '+') return 0;
    SDL_GameControllerAxis axis = SDL_GameControllerGetAxisFromString(word);
    if (axis == SDL_CONTROLLER_AXIS_INVALID || has_side == is_trigger((uint32_t)axis)) return 0;
    return client_pad_half((uint32_t)axis, side != '-');
}

bool client_pad_input_name(int32_t code, char* name, size_t bytes) {
    for (uint32_t axis = 0; axis < CLIENT_PAD_AXIS_COUNT; axis++) {
        for (uint32_t positive = is_trigger(axis); positive < 2; positive++) {
            if (code != client_pad_half(axis, positive)) continue;
            const char* side = is_trigger(axis) ? "" : positive ? "+" : "-";
            return base_text_format(name, bytes, "%s%s", axis_names[axis], side);
        }
    }
    const int32_t button = -1 - code;
    if (button < 0 || button >= SDL_CONTROLLER_BUTTON_MAX) return false;
    const char* text = (uint32_t)button < BASE_COUNT(button_names)
                           ? button_names[button]
                           : SDL_GameControllerGetStringForButton((SDL_GameControllerButton)button);
    return text && base_text_format(name, bytes, "%s", text);
}

// ---- coming and going ----

void client_pads_init(client_pads* pads, bool is_looking, const base_reporter* reporter) {
    *pads = (client_pads){.reporter = reporter};
    if (is_looking && SDL_InitSubSystem(SDL_INIT_GAMECONTROLLER) != 0)
        base_report(reporter, NULL, 0, "no game controllers: %s", SDL_GetError());
}

static bool find_pad(const client_pads* pads, SDL_JoystickID id, uint32_t* pad) {
    for (*pad = 0; *pad < CLIENT_PADS_MAX; ++*pad)
        if (pads->open[*pad] && pads->ids[*pad] == id) return true;
    return false;
}

static bool open_pad(client_pads* pads, int device, uint32_t* pad) {
    if (find_pad(pads, SDL_JoystickGetDeviceInstanceID(device), pad))
        return false; // it is here already
    const char* name = SDL_GameControllerNameForIndex(device);
    for (*pad = 0; *pad < CLIENT_PADS_MAX && pads->open[*pad];)
        ++*pad;
    if (*pad == CLIENT_PADS_MAX)
        return base_report(pads->reporter, NULL, 0,
                           "game controller '%s' is ignored: there are %u already",
                           name ? name : "?", CLIENT_PADS_MAX);
    SDL_GameController* opened = SDL_GameControllerOpen(device);
    if (!opened)
        return base_report(pads->reporter, NULL, 0, "game controller '%s': %s", name ? name : "?",
                           SDL_GetError());
    pads->open[*pad] = opened;
    pads->ids[*pad] = SDL_JoystickInstanceID(SDL_GameControllerGetJoystick(opened));
    base_text_copy(pads->names[*pad], sizeof pads->names[*pad], name && name[0] ? name : "pad");
    return true;
}

bool client_pads_translate(client_pads* pads, const SDL_Event* from, client_event* to) {
    switch (from->type) {
    case SDL_CONTROLLERDEVICEADDED:
        to->kind = CLIENT_EVENT_PAD_CAME;
        return open_pad(pads, from->cdevice.which, &to->pad);
    case SDL_CONTROLLERDEVICEREMOVED:
        to->kind = CLIENT_EVENT_PAD_GONE;
        if (!find_pad(pads, from->cdevice.which, &to->pad)) return false;
        SDL_GameControllerClose(pads->open[to->pad]);
        pads->open[to->pad] = NULL;
        return true;
    case SDL_JOYDEVICEADDED: // SDL cannot tell its buttons
        if (!SDL_IsGameController(from->jdevice.which))
            base_report(pads->reporter, NULL, 0,
                        "'%s' is not a game controller that SDL knows: SDL_GAMECONTROLLERCONFIG "
                        "can describe it",
                        SDL_JoystickNameForIndex(from->jdevice.which));
        return false;
    case SDL_CONTROLLERBUTTONDOWN:
    case SDL_CONTROLLERBUTTONUP:
        to->kind =
            from->type == SDL_CONTROLLERBUTTONDOWN ? CLIENT_EVENT_PAD_DOWN : CLIENT_EVENT_PAD_UP;
        to->key = -1 - (int32_t)from->cbutton.button;
        return find_pad(pads, from->cbutton.which, &to->pad);
    case SDL_CONTROLLERAXISMOTION:
        to->kind = CLIENT_EVENT_PAD_AXIS;
        to->axis = from->caxis.axis;
        to->value = SDL_clamp((float)from->caxis.value / AXIS_FULL, -1.0f, 1.0f);
        return to->axis < CLIENT_PAD_AXIS_COUNT && find_pad(pads, from->caxis.which, &to->pad);
    default:
        return false;
    }
}
