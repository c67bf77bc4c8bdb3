// SPDX-License-Identifier: MIT
/// The inspector of a playback: all components of one entity of what is shown, as text.
#pragma once

#include "net/game.h"

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
