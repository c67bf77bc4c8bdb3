// SPDX-License-Identifier: MIT
#include "window/binder.h"

#include "window/screens.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

#define PRESSED 0.7f ///< an axis that is moved so far is meant

void client_binder_open(client_binder* binder) {
    *binder = (client_binder){.is_open = true};
}

static void bind(client_binder* binder, client_bindings* bindings, bool is_pad, const char* name) {
    client_bindings_set(bindings, binder->action, is_pad, name);
    binder->is_waiting = false;
    binder->is_changed = true;
}

static void take_key(client_binder* binder, client_bindings* bindings, int32_t key) {
    char name[CLIENT_KEY_NAME_BYTES];
    if (key == client_window_key("Escape"))
        binder->is_waiting = false;
    else if (client_window_key_name(key, name, sizeof name))
        bind(binder, bindings, false, name);
    else
        binder->note = "This key has no name: take another one.";
}

static void press(client_binder* binder, client_bindings* bindings, int32_t key) {
    const uint32_t last = bindings->count - 1;
    if (key == client_window_key("Up")) {
        binder->action = binder->action > 0 ? binder->action - 1 : last;
    } else if (key == client_window_key("Down")) {
        binder->action = binder->action < last ? binder->action + 1 : 0;
    } else if (key == client_window_key("Return") || key == client_window_key("Keypad Enter")) {
        binder->is_waiting = true;
    } else if (key == client_window_key("Backspace") || key == client_window_key("Delete")) {
        client_bindings_reset(bindings, binder->action);
        binder->is_changed = true;
    } else if (key == client_window_key("Escape") || key == client_window_key("F3")) {
        binder->is_open = false;
    }
}

static void take_input(client_binder* binder, client_bindings* bindings, int32_t code) {
    char name[CLIENT_PAD_NAME_BYTES];
    if (client_pad_input_name(code, name, sizeof name) && client_pad_input(name) == code)
        bind(binder, bindings, true, name);
    else
        binder->note = "This button has no name: take another one.";
}

bool client_binder_see(client_binder* binder, client_bindings* bindings,
                       const client_event* event) {
    BASE_ASSERT(binder->is_open && binder->action < bindings->count);
    switch (event->kind) {
    case CLIENT_EVENT_KEY_DOWN:
        if (event->is_repeat && binder->is_waiting) return true;
        binder->note = NULL;
        if (binder->is_waiting)
            take_key(binder, bindings, event->key);
        else
            press(binder, bindings, event->key);
        return true;
    case CLIENT_EVENT_PAD_DOWN:
        if (binder->is_waiting) take_input(binder, bindings, event->key);
        return true;
    case CLIENT_EVENT_PAD_AXIS:
        if (!binder->is_waiting || (event->value < PRESSED && event->value > -PRESSED))
            return binder->is_waiting;
        take_input(binder, bindings, client_pad_half(event->axis, event->value > 0.0f));
        return true;
    default:
        return false;
    }
}

void client_binder_draw(const client_binder* binder, const client_bindings* bindings,
                        const net_draw* draw, float width, float height) {
    client_binding_row rows[CLIENT_BINDER_ROWS];
    char conflicts[CLIENT_BINDER_ROWS][64];
    uint32_t first = 0, count = bindings->count;
    if (count > CLIENT_BINDER_ROWS) {
        const uint32_t half = CLIENT_BINDER_ROWS / 2, end = count - CLIENT_BINDER_ROWS;
        first = binder->action > half ? binder->action - half : 0;
        if (first > end) first = end;
        count = CLIENT_BINDER_ROWS;
    }
    for (uint32_t i = 0; i < count; i++) {
        const net_action* action = &bindings->actions[first + i];
        const uint32_t by_key = client_bindings_conflict(bindings, first + i, false);
        const uint32_t by_pad = client_bindings_conflict(bindings, first + i, true);
        const uint32_t other = by_key < bindings->count ? by_key : by_pad;
        rows[i] = (client_binding_row){.name = action->name,
                                       .keys = action->keys,
                                       .pads = action->pads,
                                       .is_key_shared = by_key < bindings->count,
                                       .is_pad_shared = by_pad < bindings->count};
        if (other == bindings->count) continue;
        (void)base_text_format(conflicts[i], sizeof conflicts[i], "also %s",
                               bindings->actions[other].name);
        rows[i].conflict = conflicts[i];
    }
    const char* hint =
        "Up, Down: choose     Enter: change     Backspace: as the game has it     Esc: done";
    if (binder->is_waiting) hint = "Press a key, or use a game controller.     Esc: leave it";
    client_screen_bindings(draw, width, height, rows, count, binder->action - first,
                           binder->is_waiting, binder->note ? binder->note : hint);
}
