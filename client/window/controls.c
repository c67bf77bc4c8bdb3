// SPDX-License-Identifier: MIT
#include "window/controls.h"

#include "base/assert.h"
#include "base/math.h"
#include "base/text.h"

#include <string.h>

#define NAME_BYTES 32u
#define HALF_DOWN 0.5f ///< an axis moved so far is a press...
#define HALF_UP 0.4f   ///< ...and below this it is let go

static uint32_t take_inputs(client_controls* controls, uint32_t action, uint32_t count,
                            const char* names, bool is_pad, const base_reporter* reporter) {
    const uint32_t end_count = count + CLIENT_ACTION_KEYS_MAX;
    while (names && *names && count < end_count) {
        const char* end = strchr(names, ',');
        size_t length = end ? (size_t)(end - names) : strlen(names);
        char name[NAME_BYTES];
        (void)base_text_format(name, sizeof name, "%.*s", (int)length, names);
        int32_t code = is_pad ? client_pad_input(name) : client_window_key(name);
        if (code)
            controls->inputs[action][count++] = code;
        else
            base_report(reporter, NULL, 0, "'%s' names no %s", name,
                        is_pad ? "input of a game controller (\"A\", \"DPLeft\", \"RightTrigger\", "
                                 "\"LeftX-\")"
                               : "key");
        names = end ? end + 1 : NULL;
    }
    return count;
}

void client_controls_init(client_controls* controls, const net_action* actions, uint32_t count,
                          const base_reporter* reporter) {
    memset(controls, 0, sizeof *controls);
    controls->action_count = count < NET_ACTIONS_MAX ? count : NET_ACTIONS_MAX;
    for (uint32_t i = 0; i < controls->action_count; i++) {
        uint32_t taken = take_inputs(controls, i, 0, actions[i].keys, false, reporter);
        (void)take_inputs(controls, i, taken, actions[i].pads, true, reporter);
    }
}

void client_controls_change(client_controls* controls, const net_action* actions, uint32_t count,
                            const base_reporter* reporter) {
    const client_controls before = *controls;
    client_controls_init(controls, actions, count, reporter);
    memcpy(controls->axes, before.axes, sizeof controls->axes);
    controls->is_pad = before.is_pad;
    controls->has_pointer = before.has_pointer;
    controls->pointer_x = before.pointer_x;
    controls->pointer_y = before.pointer_y;
}

static bool see_input(client_controls* controls, int32_t code, bool is_down, bool is_repeat) {
    BASE_STATIC_ASSERT(CLIENT_ACTION_INPUTS_MAX <= 8 * sizeof *controls->down, "a bit for each");
    bool is_known = false;
    for (uint32_t action = 0; action < controls->action_count; action++) {
        for (uint32_t i = 0; i < CLIENT_ACTION_INPUTS_MAX; i++) {
            if (code == 0 || controls->inputs[action][i] != code) continue;
            uint16_t bit = (uint16_t)(1u << i);
            is_known = true;
            if (!is_down) {
                controls->down[action] &= (uint16_t)~bit;
            } else {
                if (!is_repeat) controls->pressed[action] = true;
                controls->down[action] |= bit;
            }
        }
    }
    return is_known;
}

// ---- game controllers ----

// The two axes of a stick; a circle around the middle counts as the middle, and behind it the way
// begins at 0.
static void read_stick(const client_controls* controls, uint32_t axis, float* x, float* y) {
    const float from_x = controls->axes[axis], from_y = controls->axes[axis + 1];
    const float length = base_sqrt(from_x * from_x + from_y * from_y);
    *x = *y = 0.0f;
    if (length <= CLIENT_STICK_DEAD) return;
    const float full = length < 1.0f ? length : 1.0f;
    const float factor = (full - CLIENT_STICK_DEAD) / (1.0f - CLIENT_STICK_DEAD) / length;
    *x = from_x * factor;
    *y = from_y * factor;
}

static bool see_axis(client_controls* controls, uint32_t axis, float value) {
    BASE_ASSERT(axis < CLIENT_PAD_AXIS_COUNT);
    bool is_known = axis < CLIENT_PAD_LEFT_TRIGGER; // net_controls has the sticks
    controls->axes[axis] = value;
    for (uint32_t positive = 0; positive < 2; positive++) {
        bool* is_down = &controls->is_half_down[axis][positive];
        const float way = positive ? value : -value;
        const bool is_now = way >= (*is_down ? HALF_UP : HALF_DOWN);
        if (is_now != *is_down)
            is_known |= see_input(controls, client_pad_half(axis, positive), is_now, false);
        *is_down = is_now;
    }
    // A stick that trembles in its middle is not used.
    if (value > CLIENT_STICK_DEAD || value < -CLIENT_STICK_DEAD) controls->is_pad = true;
    return is_known;
}

static bool see_pad(client_controls* controls, const client_event* event) {
    switch (event->kind) {
    case CLIENT_EVENT_PAD_DOWN:
        controls->is_pad = true;
        return see_input(controls, event->key, true, false);
    case CLIENT_EVENT_PAD_UP:
        return see_input(controls, event->key, false, false);
    case CLIENT_EVENT_PAD_AXIS:
        return see_axis(controls, event->axis, event->value);
    case CLIENT_EVENT_PAD_GONE:
        memset(controls->axes, 0, sizeof controls->axes);
        memset(controls->is_half_down, 0, sizeof controls->is_half_down);
        controls->is_pad = false;
        for (uint32_t action = 0; action < controls->action_count; action++)
            for (uint32_t i = 0; i < CLIENT_ACTION_INPUTS_MAX; i++)
                if (controls->inputs[action][i] < 0)
                    controls->down[action] &= (uint16_t) ~(1u << i);
        return false;
    default:
        return false;
    }
}

static void see_pointer(client_controls* controls, const client_event* event, float x, float y) {
    const bool is_left =
        event->kind == CLIENT_EVENT_POINTER_DOWN || event->kind == CLIENT_EVENT_POINTER_UP;
    const uint32_t bit = 1u << (is_left ? NET_BUTTON_LEFT : event->button);
    controls->has_pointer = true;
    controls->pointer_x = x;
    controls->pointer_y = y;
    controls->is_pad = false;
    controls->is_pointer_moved |= event->kind == CLIENT_EVENT_POINTER_MOVE;
    if (event->kind == CLIENT_EVENT_POINTER_DOWN || event->kind == CLIENT_EVENT_BUTTON_DOWN) {
        controls->buttons |= bit;
        controls->buttons_pressed |= bit;
        controls->modifiers_pressed |= event->modifiers;
    } else if (event->kind != CLIENT_EVENT_POINTER_MOVE) {
        controls->buttons &= ~bit;
    }
}

bool client_controls_see(client_controls* controls, const client_event* event, float x, float y) {
    controls->modifiers = event->modifiers;
    switch (event->kind) {
    case CLIENT_EVENT_KEY_DOWN:
        controls->is_pad = false;
        return see_input(controls, event->key, true, event->is_repeat);
    case CLIENT_EVENT_KEY_UP:
        return see_input(controls, event->key, false, false);
    case CLIENT_EVENT_POINTER_MOVE:
    case CLIENT_EVENT_POINTER_DOWN:
    case CLIENT_EVENT_POINTER_UP:
    case CLIENT_EVENT_BUTTON_DOWN:
    case CLIENT_EVENT_BUTTON_UP:
        see_pointer(controls, event, x, y);
        return true;
    case CLIENT_EVENT_WHEEL:
        controls->wheel += event->wheel;
        return true;
    case CLIENT_EVENT_POINTER_GONE:
        controls->has_pointer = false;
        return true;
    case CLIENT_EVENT_FOCUS_LOST:
        memset(controls->down, 0, sizeof controls->down);
        controls->buttons = 0;
        return true;
    default:
        return see_pad(controls, event);
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
        .pointer_down =
            ((controls->buttons | controls->buttons_pressed) >> NET_BUTTON_LEFT & 1u) != 0,
        .pressed = controls->pressed_taken,
        .is_pointer_moved = controls->is_pointer_moved,
        .is_pad = controls->is_pad,
        .buttons = controls->buttons | controls->buttons_pressed,
        .buttons_pressed = controls->buttons_pressed,
        .wheel = controls->wheel,
        .modifiers = controls->modifiers | controls->modifiers_pressed,
    };
    read_stick(controls, CLIENT_PAD_LEFT_X, &taken.move_x, &taken.move_y);
    read_stick(controls, CLIENT_PAD_RIGHT_X, &taken.aim_x, &taken.aim_y);
    controls->is_pointer_moved = false;
    controls->buttons_pressed = controls->modifiers_pressed = 0;
    controls->wheel = 0;
    return taken;
}

// ---- a line ----

void client_line_open(client_line* line) {
    *line = (client_line){.is_open = true};
}

static uint32_t character_bytes(const char* at) {
    uint32_t size = 1;
    while (((unsigned char)at[size] & 0xc0) == 0x80)
        size++;
    return size;
}

// What does not fit is left out, by whole characters.
static void add_text(client_line* line, const char* text) {
    for (uint32_t size; *text; text += size) {
        size = character_bytes(text);
        const bool is_control = (unsigned char)*text < 0x20 || *text == 0x7f;
        if (is_control || line->size + size >= sizeof line->text) continue;
        memcpy(line->text + line->size, text, size);
        line->size += size;
    }
    line->text[line->size] = '\0';
}

static client_line_result see_key(client_line* line, const client_event* event) {
    if (client_event_has_key(event, "Backspace")) {
        while (line->size > 0 && ((unsigned char)line->text[--line->size] & 0xc0) == 0x80) {
        }
        line->text[line->size] = '\0';
        return CLIENT_LINE_TAKEN;
    }
    const bool is_enter = client_event_has_key(event, "Return,Keypad Enter");
    if ((!is_enter && !client_event_has_key(event, "Escape")) || event->is_repeat)
        return CLIENT_LINE_TAKEN;
    line->is_open = false;
    return is_enter && line->size > 0 ? CLIENT_LINE_DONE : CLIENT_LINE_LEFT;
}

client_line_result client_line_see(client_line* line, const client_event* event) {
    BASE_ASSERT(line->is_open);
    switch (event->kind) {
    case CLIENT_EVENT_TEXT:
        add_text(line, event->text);
        return CLIENT_LINE_TAKEN;
    case CLIENT_EVENT_KEY_DOWN:
        return see_key(line, event);
    default:
        return CLIENT_LINE_IGNORED;
    }
}
