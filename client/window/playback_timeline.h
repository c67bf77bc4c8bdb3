// SPDX-License-Identifier: MIT
/// The strip below a playback: joins, leaves and events of all clients over time, and the current
/// position.
///
/// It uses the game's units and lies below the game's view rectangle, so the canvas is higher by
/// its height.
#pragma once

#include "net/playback.h"

typedef struct client_timeline {
    float x, y, width, height; ///< place of the strip, in view units
} client_timeline;

/// What the strip shows besides the playback's marks.
typedef struct client_timeline_look {
    net_playback* playback;
    const net_game_module* game;
    uint32_t tick_rate_hz;
    const net_log_keyframe* keyframes; ///< marks below the bar
    uint32_t keyframe_count;
    const char* player; ///< whose view it is; NULL: that of a spectator
    double speed;
    bool is_playing;
    bool is_pointed; ///< the pointer is at pointer_x, pointer_y (view units)
    float pointer_x, pointer_y;
} client_timeline_look;

/// @return the place of the strip for a game's view.
client_timeline client_timeline_make(const net_game_module* game);
/// Draw the strip on CLIENT_CANVAS_VIEW.
void client_timeline_draw(const client_timeline* strip, const client_timeline_look* look,
                          const net_draw* draw);
/// @return the tick at `x`; left or right of the bar, the tick of its nearest end.
double client_timeline_tick(const client_timeline* strip, const net_playback* playback, float x);
/// @return true when the point lies on the strip.
bool client_timeline_has(const client_timeline* strip, float x, float y);

/// The inspector: all components of one entity of what is shown, as text.
typedef struct client_inspector {
    bool is_open;
    ecs_entity entity; ///< NONE: the first one
} client_inspector;

/// Go to the next entity by index, or to the one before; beyond the last comes the first.
/// O(entities): for a key press.
void client_inspector_step(client_inspector* inspector, const ecs_world* world, bool is_forward);
/// Draw it on CLIENT_CANVAS_SCREEN, with its upper left corner at x, y. An entity that is gone is
/// named so.
void client_inspector_draw(const client_inspector* inspector, const ecs_world* world,
                           const net_draw* draw, float x, float y);
