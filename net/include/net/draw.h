// SPDX-License-Identifier: MIT
/// Pictures of a game: drawing one, the frame of an animation, a camera. Inline, because a module
/// has no functions of net.
///
///     net_draw_sprite(draw, (net_sprite){.image = "runner.png", .x = pos.x, .y = pos.y, .width =
/// 32,
///                                        .columns = 4, .frame = net_frame_at(draw->time_s, 8, 4,
///                                                                            true)});
#pragma once

#include "net/game.h"

BASE_C_BEGIN

/// Draw a picture.
static inline void net_draw_sprite(const net_draw* draw, net_sprite sprite) {
    sprite.size_bytes = sizeof sprite;
    draw->sprite(draw->context, &sprite);
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
