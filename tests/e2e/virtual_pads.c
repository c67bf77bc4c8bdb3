// SPDX-License-Identifier: MIT
// Game controllers without hardware, for a program with a window that was not made for a test:
// LD_PRELOAD=virtual_pads.so gives SDL one for each word of VIRTUAL_PADS. A word is what is held on
// it from the second look at events on: "left", "right" (the left stick), "start" (again and
// again), or "none".
#define _GNU_SOURCE
#include <SDL.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { PADS_MAX = 8, WORD_BYTES = 16 };

static struct {
    SDL_Joystick* joysticks[PADS_MAX];
    char words[PADS_MAX][WORD_BYTES];
    int count, looks;
} pads;

static void plug(void) {
    const char* words = getenv("VIRTUAL_PADS");
    // A window without a display has no focus, and SDL finds no real pads beside these.
    SDL_SetHint(SDL_HINT_JOYSTICK_ALLOW_BACKGROUND_EVENTS, "1");
    SDL_SetHint(SDL_HINT_JOYSTICK_HIDAPI, "0");
    if (!words || SDL_InitSubSystem(SDL_INIT_GAMECONTROLLER) != 0) abort();
    for (int used = 0; sscanf(words, "%15s%n", pads.words[pads.count], &used) == 1; words += used) {
        const SDL_VirtualJoystickDesc desc = {.version = SDL_VIRTUAL_JOYSTICK_DESC_VERSION,
                                              .type = SDL_JOYSTICK_TYPE_GAMECONTROLLER,
                                              .naxes = SDL_CONTROLLER_AXIS_MAX,
                                              .nbuttons = SDL_CONTROLLER_BUTTON_MAX,
                                              .name = "Virtual Pad"};
        pads.joysticks[pads.count] = SDL_JoystickOpen(SDL_JoystickAttachVirtualEx(&desc));
        if (!pads.joysticks[pads.count] || ++pads.count == PADS_MAX) break;
    }
}

static void hold(SDL_Joystick* joystick, const char* word) {
    if (strcmp(word, "left") == 0 || strcmp(word, "right") == 0)
        SDL_JoystickSetVirtualAxis(joystick, SDL_CONTROLLER_AXIS_LEFTX,
                                   word[0] == 'l' ? INT16_MIN : INT16_MAX);
    if (strcmp(word, "start") == 0)
        SDL_JoystickSetVirtualButton(joystick, SDL_CONTROLLER_BUTTON_START,
                                     pads.looks / 32 % 2 != 0);
}

int SDL_PollEvent(SDL_Event* event) {
    int (*next)(SDL_Event*);
    void* found = dlsym(RTLD_NEXT, "SDL_PollEvent");
    memcpy(&next, &found, sizeof next);
    if (pads.looks++ == 0) plug();
    for (int i = 0; i < pads.count && pads.looks > 1; i++)
        hold(pads.joysticks[i], pads.words[i]);
    return next(event);
}
