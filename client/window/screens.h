// SPDX-License-Identifier: MIT
/// The screens before, during and after a game: connecting, waiting, lost, the end, help. They only
/// draw: the same arguments give the same picture.
///
/// They are drawn on CLIENT_CANVAS_SCREEN; `width` and `height` are the size of that canvas. All
/// texts are borrowed for the call; NULL and "" are skipped.
#pragma once

#include "net/game.h"

/// `game` may be NULL while the client asks for it. `time_s` turns the spinner.
void client_screen_connecting(const net_draw* draw, float width, float height, const char* address,
                              const char* game, double time_s);
/// The client follows a transfer, and asks the next server for its game.
void client_screen_going_on(const net_draw* draw, float width, float height, const char* address,
                            double time_s);
/// The client has joined a match that has not begun.
void client_screen_waiting(const net_draw* draw, float width, float height, const char* game,
                           double time_s);
/// Drawn over the dimmed last picture: no packet has come for `quiet_s` seconds; the client tries
/// for another `left_s` seconds.
void client_screen_resuming(const net_draw* draw, float width, float height, double quiet_s,
                            double left_s, double time_s);
/// Drawn over the last picture, or over client_screen_background. `headline` is what happened,
/// `reason` is why, `hint` is what the user can do. A fault is red.
void client_screen_ended(const net_draw* draw, float width, float height, bool is_fault,
                         const char* headline, const char* reason, const char* hint);
#define CLIENT_FAULTS_MAX 6u    ///< lines that are shown
#define CLIENT_FAULT_BYTES 160u ///< of a line, with the NUL
/// A build failed: its first lines, over the game, which goes on. `count` 0: nothing.
void client_screen_faults(const net_draw* draw, float width, const char* const* lines,
                          uint32_t count);
#define CLIENT_WATCHING_HEIGHT 36.0f
/// A strip at the lower edge: one line, and after it what the user can do.
void client_screen_watching(const net_draw* draw, float width, float height, const char* text,
                            const char* hint);
/// The background where there is no picture of the game.
void client_screen_background(const net_draw* draw, float width, float height);
/// The keys of the game and of the client; each row has a key and its meaning.
typedef struct client_help_row {
    const char* keys;
    const char* help;
} client_help_row;
/// With inputs of game controllers beside the keys where `has_pads`.
void client_screen_help(const net_draw* draw, float width, float height, const char* title,
                        const net_action* actions, uint32_t action_count,
                        const client_help_row* rows, uint32_t row_count, bool has_pads);
/// The keys and inputs of actions, for changing them. `chosen` is the row that changes; with
/// `is_waiting` it waits for a key.
typedef struct client_binding_row {
    const char *name, *keys, *pads;
    const char* conflict; ///< which action has one of them too; NULL: none
    bool is_key_shared, is_pad_shared;
} client_binding_row;
void client_screen_bindings(const net_draw* draw, float width, float height,
                            const client_binding_row* rows, uint32_t row_count, uint32_t chosen,
                            bool is_waiting, const char* hint);
/// A strip at the bottom with the first things to know: what an action is called, one of its keys,
/// and with `has_pads` one of its inputs of a game controller. What has no place is left to the
/// help. `part`: 0 is not seen, 1 is whole.
/// @return how high the strip is.
float client_screen_legend(const net_draw* draw, float width, float height,
                           const net_action* actions, uint32_t action_count, bool has_pads,
                           float part);
/// A small text with a dark ground: whose part of the window it is.
void client_screen_tag(const net_draw* draw, float x, float y, const char* text, float part);
/// The line that a person types, in the place of a notice; its end is seen.
void client_screen_line(const net_draw* draw, float width, float height, const char* text,
                        double time_s);
/// One line above the place of the legend, about what just happened.
void client_screen_notice(const net_draw* draw, float width, float height, const char* text,
                          float part);

/// The list of servers.
#define CLIENT_NO_ROW UINT32_MAX

/// A row; all texts are borrowed for the call, and a text too long for its column is cut.
typedef struct client_servers_row {
    const char *name, *address;
    const char *game, *players, *ping; ///< its answer
    const char* note;                  ///< in place of an answer: that it is asked, or why not
    bool is_fault;                     ///< the note is a fault
} client_servers_row;

/// This many rows fit.
uint32_t client_servers_rows_max(float height);
/// The row that is shown at this place, of `count` from `first` on; CLIENT_NO_ROW: none is.
uint32_t client_servers_row_at(float width, float height, uint32_t first, uint32_t count, float x,
                               float y);
/// The first row to show so that `chosen` is among the shown ones, near `first`.
uint32_t client_servers_scroll(float height, uint32_t first, uint32_t count, uint32_t chosen);
/// `hint`: what the user can do.
void client_servers_draw(const net_draw* draw, float width, float height,
                         const client_servers_row* rows, uint32_t first, uint32_t count,
                         uint32_t chosen, const char* hint);
