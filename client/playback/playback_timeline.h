// SPDX-License-Identifier: MIT
/// The strip below a playback: when who came and went and what was told to everybody, where the playback is.
///
/// It lies in the game's own units, below its view rectangle: the canvas is made so much higher.
#pragma once

#include "net/playback.h"

typedef struct client_timeline {
    float x, y, width, height; ///< of the strip, in view units
} client_timeline;

/// What the strip says besides the playback's marks.
typedef struct client_timeline_look {
    net_playback* playback;
    const net_game_module* game;
    uint32_t tick_rate_hz;
    double speed;
    bool is_playing;
    bool is_pointed; ///< the pointer is at pointer_x, pointer_y (view units)
    float pointer_x, pointer_y;
} client_timeline_look;

client_timeline client_timeline_make(const net_game_module* game);
void client_timeline_draw(const client_timeline* strip, const client_timeline_look* look,
                          const net_draw* draw);
/// The tick at a place of the strip; outside of the bar: its nearest end.
double client_timeline_tick(const client_timeline* strip, const net_playback* playback, float x);
bool client_timeline_has(const client_timeline* strip, float x, float y);
