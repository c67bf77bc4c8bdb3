// SPDX-License-Identifier: MIT
/// Pictures of a game: sprites, the frame of an animation, a camera, lights; texts and tables at
/// edges of the view. Inline, because a module has no functions of net.
///
///     const uint32_t frame = net_frame_at(draw->time_s, 8, 4, true);
///     net_draw_sprite(draw, (net_sprite){.image = "runner.png", .columns = 4, .frame = frame});
#pragma once

#include "base/math.h"
#include "net/game.h"

BASE_C_BEGIN

/// Draw a picture.
static inline void net_draw_sprite(const net_draw* draw, net_sprite sprite) {
    sprite.size_bytes = sizeof sprite;
    draw->sprite(draw->context, &sprite);
}

/// Draw a box whose colour changes from top to bottom, or from left to right.
static inline void net_draw_gradient(const net_draw* draw, float x, float y, float width,
                                     float height, ecs_color from, ecs_color to, bool is_across) {
    if ((from.a | to.a) == 0 || !(width > 0.0f) || !(height > 0.0f)) return;
    const float points[] = {x, y,          x + width, y, x,         y + height,
                            x, y + height, x + width, y, x + width, y + height};
    const ecs_color second = is_across ? to : from, third = is_across ? from : to;
    const ecs_color colors[] = {from, second, third, third, second, to};
    draw->triangles(draw->context, points, colors, 6);
}

/// Draw a light: `color` in the middle, transparent at the edge of an ellipse.
static inline void net_draw_glow(const net_draw* draw, float x, float y, float radius_x,
                                 float radius_y, ecs_color color) {
    enum { SIDES = 14 };
    if (color.a == 0 || !(radius_x > 0.0f) || !(radius_y > 0.0f)) return;
    float points[SIDES * 6];
    ecs_color colors[SIDES * 3];
    for (uint32_t i = 0; i < SIDES * 3; i++) { // the middle, and both ends of a side
        const float angle = (float)(i / 3 + i % 3 - 1) * (2.0f * BASE_PI / (float)SIDES);
        points[i * 2] = i % 3 == 0 ? x : x + base_cos(angle) * radius_x;
        points[i * 2 + 1] = i % 3 == 0 ? y : y + base_sin(angle) * radius_y;
        colors[i] = color;
        colors[i].a = i % 3 == 0 ? color.a : 0;
    }
    draw->triangles(draw->context, points, colors, SIDES * 3);
}

/// Look at (x, y): it is in the middle of the view from here on, and everything is `zoom` times as
/// large, texts too. pixels_per_unit follows. The view's own middle with zoom 1 is as before: for
/// what lies over the picture. A frame begins without a camera; the pointer is in the coordinates
/// of its first one. Numbers that make no sense (a zoom that is not above 0) change nothing.
static inline void net_draw_camera(const net_draw* draw, float x, float y, float zoom) {
    // A program's net_draw is no constant: the picture alone has it as one.
    ((net_draw*)(uintptr_t)draw)->pixels_per_unit = draw->camera(draw->context, x, y, zoom);
}

/// The client's own block (net_game_module.block_bytes): human_input has the same one.
/// @return NULL where a program has none.
static inline void* net_draw_block(const net_draw* draw) {
    return draw->block;
}

/// Where a text stands: x is its beginning, its middle or its end.
typedef enum net_align { NET_ALIGN_LEFT, NET_ALIGN_MIDDLE, NET_ALIGN_RIGHT } net_align;

/// Draw a text.
static inline void net_draw_text(const net_draw* draw, float x, float y, float height,
                                 ecs_color color, net_align align, const char* text) {
    if (align) x -= draw->text_width(draw->context, height, text) * 0.5f * (float)align;
    draw->text(draw->context, x, y, height, color, text);
}

/// A corner, an edge or the middle of the view.
typedef enum net_anchor {
    NET_TOP_LEFT,
    NET_TOP,
    NET_TOP_RIGHT,
    NET_LEFT,
    NET_MIDDLE,
    NET_RIGHT,
    NET_BOTTOM_LEFT,
    NET_BOTTOM,
    NET_BOTTOM_RIGHT
} net_anchor;

/// @return where the upper left corner of a rectangle is that stands there, `margin` from the
///         edges. Without a camera, or after the one of the view itself.
static inline ecs_vec2 net_anchor_place(const net_draw* draw, net_anchor anchor, float width,
                                        float height, float margin) {
    const float across = (float)(anchor % 3) * 0.5f, down = (float)(anchor / 3) * 0.5f;
    const ecs_vec2 place = {margin + (draw->view_width - 2.0f * margin - width) * across,
                            margin + (draw->view_height - 2.0f * margin - height) * down};
    return place;
}

/// Draw a text at an edge of the view.
static inline void net_draw_text_at(const net_draw* draw, net_anchor anchor, float margin,
                                    float height, ecs_color color, const char* text) {
    const float width = draw->text_width(draw->context, height, text);
    const ecs_vec2 place = net_anchor_place(draw, anchor, width, height, margin);
    draw->text(draw->context, place.x, place.y, height, color, text);
}

/// A line of a table or, without a value, of a list.
typedef struct net_row {
    const char* name;  ///< on the left
    const char* value; ///< on the right; NULL: none
    ecs_color color;
} net_row;

/// Draw a score table, a list of the last lines: rows of text on a ground of `ground`.
static inline void net_draw_rows(const net_draw* draw, net_anchor anchor, float margin,
                                 float height, ecs_color ground, const net_row* rows,
                                 uint32_t count) {
    float name = 0.0f, value = 0.0f; // the widest
    for (uint32_t i = 0; i < count; i++) {
        name = base_max(name, draw->text_width(draw->context, height, rows[i].name));
        if (!rows[i].value) continue;
        value = base_max(value, draw->text_width(draw->context, height, rows[i].value) + height);
    }
    const float width = name + value + height, line = height * 1.3f;
    const float tall = line * (float)count + height * 0.5f;
    const ecs_vec2 place = net_anchor_place(draw, anchor, width, tall, margin);
    if (count > 0) draw->rect(draw->context, place.x, place.y, width, tall, ground);
    for (uint32_t i = 0; i < count; i++) {
        const float y = place.y + height * 0.3f + line * (float)i, left = place.x + height * 0.5f;
        draw->text(draw->context, left, y, height, rows[i].color, rows[i].name);
        if (rows[i].value)
            net_draw_text(draw, left + name + value, y, height, rows[i].color, NET_ALIGN_RIGHT,
                          rows[i].value);
    }
}

/// The frame of an animation that has run for so long.
/// @return 0 to count - 1. Looping it begins again; else it stays at the last frame. Before its
///         beginning, and for values that make no sense (count 0, NaN), it is 0.
static inline uint32_t net_frame_at(double since_s, double frames_per_s, uint32_t count,
                                    bool is_looping) {
    const double frames = since_s * frames_per_s;
    if (count == 0 || !(frames >= 0.0)) return 0;
    if (!is_looping) return frames < (double)count ? (uint32_t)frames : count - 1;
    return frames < 0x1p53 ? (uint32_t)((uint64_t)frames % count) : 0;
}

BASE_C_END
