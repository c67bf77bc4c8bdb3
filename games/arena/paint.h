// SPDX-License-Identifier: MIT
/// Shapes over net_draw, in units of the map or of the view.
#pragma once

#include "ecs/geometry.h"
#include "net/draw.h"

/// The map's point (x, y) is in the middle of the view; one unit of the map is `scale` units wide.
typedef struct arena_pen {
    const net_draw* draw;
    float x, y, scale;
} arena_pen;

ecs_color arena_team_color(uint32_t team);

ecs_vec2 arena_to_view(const arena_pen* pen, float x, float y);
/// @return false when a place of the view is farther than `reach` out of it.
bool arena_is_shown(ecs_vec2 at, float reach);

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

/// A triangle of one colour.
void arena_facet(const arena_pen* pen, ecs_vec2 a, ecs_vec2 b, ecs_vec2 c, ecs_color color);

/// A thing with a direction. Its parts are placed in its own frame: x forward, y to its right.
typedef struct arena_figure {
    const arena_pen* pen;
    ecs_vec2 pos, way; ///< way has length 1
} arena_figure;
ecs_vec2 arena_part(const arena_figure* figure, float x, float y); ///< the place on the map
void arena_limb(const arena_figure* figure, float x0, float y0, float x1, float y1, float width,
                ecs_color color);
void arena_knob(const arena_figure* figure, float x, float y, float radius, ecs_color color);

// These shapes use units of the view.
void arena_box(const net_draw* draw, float x, float y, float width, float height, ecs_color color);
