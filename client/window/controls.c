// SPDX-License-Identifier: MIT
#include "window/controls.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

#define KEY_NAME_BYTES 32u

static void take_keys(client_controls* controls, uint32_t action, const char* names,
                      const base_reporter* reporter) {
    uint32_t count = 0;
    while (names && *names && count < CLIENT_ACTION_KEYS_MAX) {
        const char* end = strchr(names, ',');
        size_t length = end ? (size_t)(end - names) : strlen(names);
        char name[KEY_NAME_BYTES];
        (void)base_text_format(name, sizeof name, "%.*s", (int)length, names);
        int32_t key = client_window_key(name);
        if (key)
            controls->keys[action][count++] = key;
        else
            base_report(reporter, NULL, 0, "'%s' is no key", name);
        names = end ? end + 1 : NULL;
    }
}

void client_controls_init(client_controls* controls, const net_game_module* game,
                          const base_reporter* reporter) {
    memset(controls, 0, sizeof *controls);
    controls->action_count =
        game->action_count < NET_ACTIONS_MAX ? game->action_count : NET_ACTIONS_MAX;
    for (uint32_t i = 0; i < controls->action_count; i++)
        take_keys(controls, i, game->actions[i].keys, reporter);
}

static bool see_key(client_controls* controls, const client_event* event) {
    BASE_STATIC_ASSERT(CLIENT_ACTION_KEYS_MAX <= 8 * sizeof *controls->down, "a bit for each key");
    bool is_known = false;
    for (uint32_t action = 0; action < controls->action_count; action++) {
        for (uint32_t i = 0; i < CLIENT_ACTION_KEYS_MAX; i++) {
            if (event->key == 0 || controls->keys[action][i] != event->key) continue;
            uint8_t bit = (uint8_t)(1u << i);
            is_known = true;
            if (event->kind == CLIENT_EVENT_KEY_UP) {
                controls->down[action] &= (uint8_t)~bit;
            } else {
                if (!event->is_repeat) controls->pressed[action] = true;
                controls->down[action] |= bit;
            }
        }
    }
    return is_known;
}

bool client_controls_see(client_controls* controls, const client_event* event, float view_x,
                         float view_y) {
    switch (event->kind) {
    case CLIENT_EVENT_KEY_DOWN:
    case CLIENT_EVENT_KEY_UP:
        return see_key(controls, event);
    case CLIENT_EVENT_POINTER_MOVE:
    case CLIENT_EVENT_POINTER_DOWN:
    case CLIENT_EVENT_POINTER_UP:
        controls->has_pointer = true;
        controls->pointer_x = view_x;
        controls->pointer_y = view_y;
        controls->is_pointer_moved |= event->kind == CLIENT_EVENT_POINTER_MOVE;
        if (event->kind == CLIENT_EVENT_POINTER_DOWN)
            controls->is_pointer_down = controls->is_pointer_pressed = true;
        else if (event->kind == CLIENT_EVENT_POINTER_UP)
            controls->is_pointer_down = false;
        return true;
    case CLIENT_EVENT_POINTER_GONE:
        controls->has_pointer = false;
        return true;
    case CLIENT_EVENT_FOCUS_LOST:
        memset(controls->down, 0, sizeof controls->down);
        controls->is_pointer_down = false;
        return true;
    default:
        return false;
    }
}

net_controls client_controls_take(client_controls* controls) {
    BASE_ASSERT(controls->action_count <= NET_ACTIONS_MAX);
    for (uint32_t i = 0; i < controls->action_count; i++) {
        controls->pressed_taken[i] = controls->pressed[i];
        controls->held_taken[i] = controls->down[i] != 0 || controls->pressed[i];
        controls->pressed[i] = false;
    }
    net_controls taken = {
        .size_bytes = sizeof taken,
        .actions = controls->held_taken,
        .action_count = controls->action_count,
        .has_pointer = controls->has_pointer,
        .pointer_x = controls->pointer_x,
        .pointer_y = controls->pointer_y,
        .pointer_down = controls->is_pointer_down || controls->is_pointer_pressed,
        .pressed = controls->pressed_taken,
        .is_pointer_moved = controls->is_pointer_moved,
    };
    controls->is_pointer_pressed = controls->is_pointer_moved = false;
    return taken;
}
