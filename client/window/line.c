// SPDX-License-Identifier: MIT
#include "window/line.h"

#include "base/assert.h"

#include <string.h>

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

static void erase(client_line* line) {
    while (line->size > 0 && ((unsigned char)line->text[--line->size] & 0xc0) == 0x80) {
    }
    line->text[line->size] = '\0';
}

static client_line_result see_key(client_line* line, const client_event* event) {
    if (event->key == client_window_key("Backspace")) {
        erase(line);
        return CLIENT_LINE_TAKEN;
    }
    const bool is_enter = event->key == client_window_key("Return") ||
                          event->key == client_window_key("Keypad Enter");
    if ((!is_enter && event->key != client_window_key("Escape")) || event->is_repeat)
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
