// SPDX-License-Identifier: MIT
/// The screen with the list of servers. It only draws, as the others (screens.h): the same
/// arguments give the same picture.
#pragma once

#include "net/game.h"

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
