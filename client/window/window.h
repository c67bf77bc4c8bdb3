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
/// Without a display (neither DISPLAY nor WAYLAND_DISPLAY, and SDL_VIDEODRIVER not set), SDL's
/// dummy driver and its software renderer are used; they make the same pictures byte for byte. With
/// the dummy driver the renderer is always the software one. Then no key can come, and
/// client_window_is_interactive returns false.
///
/// Memory: this code allocates nothing in a steady frame. Threads: only the main thread.
#pragma once

#include "window/draw_sdl.h"

#include "base/report.h"

#include <stdio.h>

#define CLIENT_TEXT_BYTES 32u ///< of the text of one event, with the zero at its end
#define CLIENT_PADS_MAX 4u    ///< further game controllers are ignored, and that is reported

typedef struct client_window client_window;

typedef struct client_window_config {
    const base_allocator* allocator;
    const base_reporter* reporter;
    const char* title;
    uint32_t width, height;        ///< pixels
    double fps;                    ///< most frames per second; 0: the rate of the display
    float view_width, view_height; ///< size of the game's view; 0: not known yet
    bool is_fullscreen;            ///< F11 and Alt+Enter change it
} client_window_config;

typedef enum client_event_kind {
    CLIENT_EVENT_CLOSE,        ///< the user closed the window, or the desktop session ends
    CLIENT_EVENT_KEY_DOWN,     ///< `key`; `is_repeat` while it is held
    CLIENT_EVENT_KEY_UP,       ///< `key`
    CLIENT_EVENT_POINTER_MOVE, ///< `x`, `y`
    CLIENT_EVENT_POINTER_DOWN, ///< `x`, `y`: the left button
    CLIENT_EVENT_POINTER_UP,   ///< `x`, `y`
    CLIENT_EVENT_BUTTON_DOWN,  ///< `button`, `x`, `y`: another button of the mouse
    CLIENT_EVENT_BUTTON_UP,    ///< `button`, `x`, `y`
    CLIENT_EVENT_WHEEL,        ///< `wheel`
    CLIENT_EVENT_POINTER_GONE, ///< the pointer left the window
    CLIENT_EVENT_FOCUS_LOST,   ///< for keys that are down now, no KEY_UP will come
    CLIENT_EVENT_TEXT,         ///< `text`, between client_window_type(true) and (false)
    CLIENT_EVENT_PAD_CAME,     ///< `pad`: a game controller, there now (also at the start)
    CLIENT_EVENT_PAD_GONE,     ///< `pad`: nothing of it is held any more
    CLIENT_EVENT_PAD_DOWN,     ///< `pad`, `key`: a button
    CLIENT_EVENT_PAD_UP,       ///< `pad`, `key`
    CLIENT_EVENT_PAD_AXIS,     ///< `pad`, `axis`, `value`
} client_event_kind;

typedef struct client_event {
    client_event_kind kind;
    int32_t key; ///< compare with client_window_key, of a pad with client_pad_input
    bool is_repeat;
    net_button button;
    int32_t wheel;                ///< steps; above 0: away from the person
    uint32_t modifiers;           ///< NET_MODIFIER_..., of any event
    char text[CLIENT_TEXT_BYTES]; ///< typed characters, UTF-8
    uint32_t pad;  ///< below CLIENT_PADS_MAX; a number is free again when its pad has gone
    uint32_t axis; ///< a client_pad_axis
    float value;   ///< -1 to 1; triggers 0 to 1
    float x, y;    ///< pixels of the window's picture; client_draw_to_canvas for coordinates
} client_event;

/// @return NULL when SDL refuses or memory is missing: reported.
BASE_MUST_USE client_window* client_window_create(const client_window_config* config);
void client_window_destroy(client_window* window); ///< may be NULL
/// Set the title and the view when the game is known.
void client_window_set_view(client_window* window, const char* title, float width, float height);

/// What it draws with: names of players, pictures of the game, the places of the canvases
/// (draw_sdl.h). Borrowed.
client_draw* client_window_canvases(client_window* window);

/// Set what marks the pointer; an arrow at first.
void client_window_set_cursor(client_window* window, net_cursor cursor);

/// @return true when a person can use the window.
bool client_window_is_interactive(const client_window* window);
/// @return the code of a key by its SDL name ("Left", "Space", "F1"); 0 for an unknown name.
int32_t client_window_key(const char* name);
/// Is the event's key one of these, "Return,Keypad Enter"?
bool client_event_has_key(const client_event* event, const char* names);
/// Begin or end typing: whether CLIENT_EVENT_TEXT comes. Keys come in any case.
void client_window_type(client_window* window, bool is_typing);
/// @return the name of the game controller that has this number or had it last; NULL: none had it.
const char* client_window_pad_name(const client_window* window, uint32_t pad);
/// Write the name of a key that client_window_key finds again. @return false: it has none.
BASE_MUST_USE bool client_window_key_name(int32_t key, char* name, size_t bytes);
/// @return false when there are no more events. Resizing, hiding and the keys of fullscreen are
///         handled inside.
BASE_MUST_USE bool client_window_next_event(client_window* window, client_event* event);

/// @return when the next frame should begin; UINT64_MAX while the window is hidden.
uint64_t client_window_frame_due_us(const client_window* window);
void client_window_begin_frame(client_window* window, uint64_t now_us);
/// @return the drawing functions, with time_s, frame_dt_s and pixels_per_unit filled in; the caller
///         sets player, names and tick. Both canvases can be used in turn; later calls draw over
///         earlier ones. Valid until client_window_end_frame.
net_draw client_window_draw(client_window* window, client_canvas canvas);
/// Finish the frame and show it. With `shot`, its picture is first written to that file (PNG).
/// @return false when the picture could not be written (reported).
BASE_MUST_USE bool client_window_end_frame(client_window* window, const char* shot);

/// How long drawing the frames took, without the wait for the display.
typedef struct client_window_frames {
    uint64_t count;
    uint32_t us_p50, us_p99, us_last;
} client_window_frames;
client_window_frames client_window_get_frames(const client_window* window);
/// Write the line "frames n=N frame_us_p50=N frame_us_p99=N".
void client_window_write_frames(const client_window* window, FILE* file);
/// Write the current picture of the renderer. The file appears complete or not at all;
/// equal pixels give equal bytes.
/// @return false when the pixels cannot be read or the file cannot be written: reported.
BASE_MUST_USE bool client_shot_write(struct SDL_Renderer* renderer, const char* path,
                                     const base_reporter* reporter);
