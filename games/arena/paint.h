// SPDX-License-Identifier: MIT
/// Shapes over net_draw, in units of the map or of the view.
#pragma once

#include "ecs/geometry.h"
#include "net/game.h"

/// The map's point (x, y) is in the middle of the view; one unit of the map is `scale` units wide.
typedef struct arena_pen {
    const net_draw* draw;
    float x, y, scale;
} arena_pen;

ecs_color arena_team_color(uint32_t team);

ecs_vec2 arena_to_view(const arena_pen* pen, float x, float y);

// These shapes use units of the map.
void arena_disc(const arena_pen* pen, float x, float y, float radius, ecs_color color);
void arena_line(const arena_pen* pen, float x0, float y0, float x1, float y1, float width,
                ecs_color color);
/// A streak that fades from colour `color` at its head to transparent at its tail.
void arena_streak(const arena_pen* pen, ecs_vec2 head, ecs_vec2 tail, float width, ecs_color color);
/// A light: `color` in the middle, transparent at the edge.
void arena_glow(const arena_pen* pen, float x, float y, float radius, ecs_color color);
/// The area between two circles; the inner edge has one colour, the outer edge another.
void arena_ring(const arena_pen* pen, float x, float y, float inner, float outer,
                ecs_color inner_color, ecs_color outer_color);

// These shapes use units of the view.
void arena_box(const net_draw* draw, float x, float y, float width, float height, ecs_color color);
void arena_text(const net_draw* draw, float x, float y, float height, ecs_color color,
                const char* text);
void arena_text_centred(const net_draw* draw, float x, float y, float height, ecs_color color,
                        const char* text);
void arena_text_right(const net_draw* draw, float x, float y, float height, ecs_color color,
                      const char* text);
