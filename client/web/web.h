// SPDX-License-Identifier: MIT
/// What runs in a web page: a game, a playback of its log, and drawing. A page calls the exports of
/// web.c, and gives the imports below (server/inspect/page/game.js does both).
///
/// Bytes of the log stay with the page; a reader asks for pieces. They are untrusted: what they
/// hold is never a reason to trap.
/// Threads: one. Memory: that of the match, which the page ends with its instance.
#pragma once

#include "base/bytes.h"
#include "net/game.h"
#include "net/playback.h"

// ---- imports ----

#define WEB_IMPORT(name) __attribute__((import_module("shoal"), import_name(#name)))
#define WEB_EXPORT(name) __attribute__((export_name(#name)))

/// How many files of the log there are: its segments, then the newest one. At least 1.
WEB_IMPORT(file_count) uint32_t web_file_count(void);
/// Bytes of a file so far. They become more, of the last file alone.
WEB_IMPORT(file_bytes) double web_file_bytes(uint32_t file);
/// Copy bytes that are there.
WEB_IMPORT(file_read) void web_file_read(uint32_t file, double offset, void* target, uint32_t size);
/// Milliseconds of a clock that does not go back.
WEB_IMPORT(now_ms) double web_now_ms(void);
/// Begin a WebSocket connection to the server, in the place of one that is there. Its events come
/// by the exports of web_socket.c.
WEB_IMPORT(socket_open) void web_socket_open(void);
/// Send one message, copied.
WEB_IMPORT(socket_send) void web_socket_send(const void* bytes, uint32_t size);
WEB_IMPORT(socket_close) void web_socket_close(uint32_t reason);
/// Bytes that the browser has not given to its system yet.
WEB_IMPORT(socket_waiting) double web_socket_waiting(void);

// ---- the game, which the build writes ----

/// A file inside: "arena.blk" is the first one, then what it imports, then its files, as
/// ":rules.lua", then "ship.png" of assets/.
typedef struct web_file {
    const char* name;
    const uint8_t* data; ///< a NUL follows, which size does not count
    uint32_t size;
} web_file;

extern const web_file web_files[];
extern const uint32_t web_templates_count; ///< what a pack has: all but pictures
extern const uint32_t web_files_count;

const net_game_module* net_game_module_get(void);

// ---- drawing ----

/// Calls of a picture in the order in which they came. Each is a word with its kind, then words and
/// floats; a text is its bytes, then as many bytes as fill the last word.
typedef enum web_call {
    WEB_CALL_RECT = 1,  ///< color, x, y, width, height
    WEB_CALL_CIRCLE,    ///< color, x, y, radius
    WEB_CALL_LINE,      ///< color, x0, y0, x1, y1, width
    WEB_CALL_TRIANGLES, ///< count, count points, count colors
    WEB_CALL_TEXT,      ///< color, x, y, height, bytes, text
    /// tint, x, y, width, height, angle, columns, rows, frame, four numbers of the part,
    /// flips (1: x, 2: y), bytes, text
    WEB_CALL_SPRITE,
    WEB_CALL_CAMERA, ///< x, y, zoom: from here on 0, 0 is drawn at (x, y) of the view
} web_call;

#define WEB_LETTER_FIRST 32u ///< widths are those of the letters up to the last
#define WEB_LETTER_COUNT 224u

typedef struct web_drawing {
    base_bytes calls;
    uint32_t call_count;
    const void* names; ///< of players, for `name`
    const char* (*name)(const void* names, uint32_t client);
    float widths[WEB_LETTER_COUNT]; ///< in heights; the page fills them in
    float view_width, view_height;
    float pixels_per_unit;
    float scale;           ///< the same, with the camera of now
    float text_pixels;     ///< least height of a text; 0: as the game draws it
    float left, top, zoom; ///< of the first camera in a picture; zoom 0: it has none
} web_drawing;

/// Begin a picture. @return a drawing that borrows it; the caller sets the player.
net_draw web_drawing_begin(web_drawing* drawing, const net_game_module* game,
                           float pixels_per_unit);
