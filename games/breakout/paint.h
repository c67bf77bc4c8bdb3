// SPDX-License-Identifier: MIT
/// A few shapes over net_draw. A pen moves them all by one offset, which makes the picture shake.
#pragma once

#include "ecs/geometry.h"
#include "net/draw.h"

typedef struct breakout_pen {
    const net_draw* draw;
    float x, y; ///< added to every position
} breakout_pen;

void breakout_rect(const breakout_pen* pen, float x, float y, float width, float height,
                   ecs_color color);
/// A rectangle with a gradient from the top to the bottom.
void breakout_gradient(const breakout_pen* pen, float x, float y, float width, float height,
                       ecs_color top, ecs_color bottom);
void breakout_circle(const breakout_pen* pen, float x, float y, float radius, ecs_color color);
/// A light: `color` in the middle, transparent at the edge of the ellipse.
void breakout_glow(const breakout_pen* pen, float x, float y, float radius_x, float radius_y,
                   ecs_color color);
/// A bar with round ends and a gradient from the top to the bottom.
void breakout_bar(const breakout_pen* pen, float x, float y, float width, float height,
                  ecs_color top, ecs_color bottom);
void breakout_text(const breakout_pen* pen, float x, float y, float height, ecs_color color,
                   net_align align, const char* text);
