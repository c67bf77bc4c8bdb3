// SPDX-License-Identifier: MIT
/// A line that a person types. While it is open, keys belong to it and not to the game.
/// Memory: it allocates nothing.
#pragma once

#include "window/window.h"

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
