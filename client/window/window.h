// SPDX-License-Identifier: MIT
/// One window, with or without a display: opening, events, frames, pictures.
///
///     window = client_window_create(&config);
///     loop:  while (client_window_next_event(window, &event)) ...
///            if (now >= client_window_frame_due_us(window)) {
///                client_window_begin_frame(window, now);
///                net_draw view = client_window_draw(window, CLIENT_CANVAS_VIEW);
///                ... the game's picture, then what lies over it on CLIENT_CANVAS_SCREEN ...
///                client_window_end_frame(window, shot_or_NULL);
///            }
///
/// No display (neither DISPLAY nor WAYLAND_DISPLAY, and SDL_VIDEODRIVER not set): SDL's dummy
/// driver and its software renderer, which make the same pictures byte for byte. With the dummy
/// driver the renderer is always the software one. No key can come then:
/// client_window_is_interactive is false.
///
/// Memory: this code allocates nothing in a steady frame. Threads: only the main thread.
#pragma once

#include "window/draw_sdl.h"

#include "base/report.h"

#include <stdio.h>

typedef struct client_window client_window;

typedef struct client_window_config {
    const base_allocator* allocator;
    const base_reporter* reporter;
    const char* title;
    uint32_t width, height;        ///< pixels
    double fps;                    ///< frames per second at most; 0: those of the display
    float view_width, view_height; ///< size of the game's view; 0: not known yet
} client_window_config;

typedef enum client_event_kind {
    CLIENT_EVENT_CLOSE,        ///< the window's cross, or the session ends
    CLIENT_EVENT_KEY_DOWN,     ///< `key`; `is_repeat` while it is held
    CLIENT_EVENT_KEY_UP,       ///< `key`
    CLIENT_EVENT_POINTER_MOVE, ///< `x`, `y`
    CLIENT_EVENT_POINTER_DOWN, ///< `x`, `y`
    CLIENT_EVENT_POINTER_UP,   ///< `x`, `y`
    CLIENT_EVENT_POINTER_GONE, ///< it left the window
    CLIENT_EVENT_FOCUS_LOST,   ///< keys that are down will not say when they come up
} client_event_kind;

typedef struct client_event {
    client_event_kind kind;
    int32_t key; ///< compare with client_window_key
    bool is_repeat;
    float x, y; ///< pixels of the window's picture; client_window_to_canvas for coordinates
} client_event;

/// @return NULL when SDL refuses or memory is missing: reported.
BASE_MUST_USE client_window* client_window_create(const client_window_config* config);
void client_window_destroy(client_window* window); ///< may be NULL
/// Once the game is known.
void client_window_set_view(client_window* window, const char* title, float width, float height);

/// For net_draw's player_name.
void client_window_set_names(client_window* window, client_name_fn find, void* context);

/// A person can sit in front of it.
bool client_window_is_interactive(const client_window* window);
/// The code of a key by its SDL name ("Left", "Space", "F1"); 0 for a name that SDL does not know.
int32_t client_window_key(const char* name);
/// @return false when no more events are there. Resizing and hiding are dealt with inside.
BASE_MUST_USE bool client_window_next_event(client_window* window, client_event* event);
/// From pixels to coordinates of a canvas; both may lie outside of it.
void client_window_to_canvas(const client_window* window, client_canvas canvas, float pixel_x,
                             float pixel_y, float* x, float* y);

/// When the next frame should begin; UINT64_MAX while the window is hidden.
uint64_t client_window_frame_due_us(const client_window* window);
void client_window_begin_frame(client_window* window, uint64_t now_us);
/// The drawing functions, with time_s, frame_dt_s and pixels_per_unit filled in; player, names and
/// tick are the caller's. Both canvases can be used in turn; later calls lie above earlier ones.
/// Until client_window_end_frame.
net_draw client_window_draw(client_window* window, client_canvas canvas);
void client_window_canvas_size(const client_window* window, client_canvas canvas, float* width,
                               float* height);
/// Finish the frame and show it; with `shot` its picture is written there first (PNG).
/// @return false when the picture could not be written (reported).
BASE_MUST_USE bool client_window_end_frame(client_window* window, const char* shot);

/// How long frames took to draw, without waiting for the display.
typedef struct client_window_frames {
    uint64_t count;
    uint32_t us_p50, us_p99, us_last;
    uint32_t batches_last; ///< draw calls of the last frame
} client_window_frames;
client_window_frames client_window_get_frames(const client_window* window);
/// "frames n=N frame_us_p50=N frame_us_p99=N"
void client_window_write_frames(const client_window* window, FILE* file);
