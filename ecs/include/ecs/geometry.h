// SPDX-License-Identifier: MIT
/// What games compute again and again in the plane: lengths, angles, a grid for values, and what a
/// moving circle or a ray meets; and with colors. The same bits on every machine (base/math.h).
///
/// Units: angles are in radians, from the right; a positive angle turns towards +y.
/// Memory: nothing is allocated. Threads: any.
#pragma once

#include "base/math.h"
#include "ecs/value.h"

BASE_C_BEGIN

/// @return a + b.
static inline ecs_vec2 ecs_vec2_add(ecs_vec2 a, ecs_vec2 b) {
    const ecs_vec2 made = {a.x + b.x, a.y + b.y};
    return made;
}

/// @return a - b.
static inline ecs_vec2 ecs_vec2_sub(ecs_vec2 a, ecs_vec2 b) {
    const ecs_vec2 made = {a.x - b.x, a.y - b.y};
    return made;
}

/// @return value * factor.
static inline ecs_vec2 ecs_vec2_scale(ecs_vec2 value, float factor) {
    const ecs_vec2 made = {value.x * factor, value.y * factor};
    return made;
}

/// @return the scalar product.
static inline float ecs_vec2_dot(ecs_vec2 a, ecs_vec2 b) {
    return a.x * b.x + a.y * b.y;
}

/// @return the length.
static inline float ecs_vec2_length(ecs_vec2 value) {
    return base_sqrt(ecs_vec2_dot(value, value));
}

/// @return the length of b - a.
static inline float ecs_vec2_distance(ecs_vec2 a, ecs_vec2 b) {
    return ecs_vec2_length(ecs_vec2_sub(a, b));
}

/// @return the nearest multiple of `step`, the larger one of two. A value that ends each tick on
///         the `_step` of its component is what clients get, so they continue from the same number.
static inline float ecs_snap(float value, float step) {
    return base_floor(value / step + 0.5f) * step;
}

/// ecs_snap of both numbers.
static inline ecs_vec2 ecs_vec2_snap(ecs_vec2 value, float step) {
    const ecs_vec2 made = {ecs_snap(value.x, step), ecs_snap(value.y, step)};
    return made;
}

/// @return `value`, thrown back by a wall of that normal (of length 1).
static inline ecs_vec2 ecs_vec2_reflect(ecs_vec2 value, ecs_vec2 normal) {
    const float along = 2.0f * ecs_vec2_dot(value, normal);
    const ecs_vec2 made = {value.x - along * normal.x, value.y - along * normal.y};
    return made;
}

/// @return 1 at `low` and below, 0 at `high` and above, and no corner between: for weights of what
///         is shown.
static inline float ecs_fade(float value, float low, float high) {
    const float part = base_clamp((high - value) / (high - low), 0.0f, 1.0f);
    return part * part * (3.0f - 2.0f * part);
}

/// @return the color with `part` (0 to 1) of its alpha.
static inline ecs_color ecs_color_fade(ecs_color color, float part) {
    color.a = (uint8_t)((float)color.a * base_clamp(part, 0.0f, 1.0f));
    return color;
}

/// @return the color `part` of the way to white (up to 1), or to black (down to -1).
static inline ecs_color ecs_color_shade(ecs_color color, float part) {
    const float goal = part > 0.0f ? 255.0f : 0.0f;
    const float weight = base_min(base_abs(part), 1.0f);
    color.r = (uint8_t)((float)color.r + (goal - (float)color.r) * weight);
    color.g = (uint8_t)((float)color.g + (goal - (float)color.g) * weight);
    color.b = (uint8_t)((float)color.b + (goal - (float)color.b) * weight);
    return color;
}

/// @return the color `part` (0 to 1) of the way from one to another, alpha too.
static inline ecs_color ecs_color_mix(ecs_color from, ecs_color to, float part) {
    from.r = (uint8_t)((float)from.r + ((float)to.r - (float)from.r) * part + 0.5f);
    from.g = (uint8_t)((float)from.g + ((float)to.g - (float)from.g) * part + 0.5f);
    from.b = (uint8_t)((float)from.b + ((float)to.b - (float)from.b) * part + 0.5f);
    from.a = (uint8_t)((float)from.a + ((float)to.a - (float)from.a) * part + 0.5f);
    return from;
}

/// base_clamp of both numbers.
static inline ecs_vec2 ecs_vec2_clamp(ecs_vec2 value, ecs_vec2 low, ecs_vec2 high) {
    const ecs_vec2 made = {base_clamp(value.x, low.x, high.x), base_clamp(value.y, low.y, high.y)};
    return made;
}

/// @return a vector of length 1.
static inline ecs_vec2 ecs_direction(float angle) {
    const ecs_vec2 made = {base_cos(angle), base_sin(angle)};
    return made;
}

/// @return the same angle within [-pi, pi), the range of a component with `_angle`.
float ecs_angle_wrap(float angle);
/// @return the short way from one angle to another, within [-pi, pi).
float ecs_angle_between(float from, float to);
/// @return `from`, turned the short way towards `to` by `step` at most; within [-pi, pi).
float ecs_angle_turn(float from, float to, float step);

/// @return where a straight way that leads to `value` ends when walls at `low` and `high` throw it
///         back, as often as it takes.
float ecs_fold(float value, float low, float high);

/// The first touch of something that moves.
typedef struct ecs_touch {
    float t;         ///< part of the way, 0..1
    ecs_vec2 normal; ///< of length 1, away from the touched shape
} ecs_touch;

/// A moving circle and a resting rectangle.
/// @return false when the circle does not touch the rectangle on this way, or only moves away.
bool ecs_sweep_box(ecs_vec2 centre, ecs_vec2 way, float radius, ecs_vec2 low, ecs_vec2 high,
                   ecs_touch* touch);
/// The rectangle that a moving circle stays in: of many boxes, four comparisons skip nearly all.
static inline void ecs_sweep_reach(ecs_vec2 centre, ecs_vec2 way, float radius, ecs_vec2* low,
                                   ecs_vec2* high) {
    low->x = centre.x - radius + base_min(way.x, 0.0f);
    low->y = centre.y - radius + base_min(way.y, 0.0f);
    high->x = centre.x + radius + base_max(way.x, 0.0f);
    high->y = centre.y + radius + base_max(way.y, 0.0f);
}
/// A moving circle and the walls of the room that it is in; a side that is open lies far away.
/// @return false when it reaches no wall on this way. Of two at once: left, right, low y, high y.
bool ecs_sweep_room(ecs_vec2 centre, ecs_vec2 way, float radius, ecs_vec2 low, ecs_vec2 high,
                    ecs_touch* touch);
/// A moving circle and a resting one; `radius` is the sum of both radii. A ray or a shot is a
/// circle of radius 0.
/// @return false when the circles do not touch on this way, or only move away.
bool ecs_sweep_circle(ecs_vec2 from, ecs_vec2 way, float radius, ecs_vec2 centre, ecs_touch* touch);
/// @return the part 0..1 of the way that is nearest to `point`; `distance` (may be NULL) becomes
///         the distance there.
float ecs_nearest_on_way(ecs_vec2 from, ecs_vec2 way, ecs_vec2 point, float* distance);

BASE_C_END
