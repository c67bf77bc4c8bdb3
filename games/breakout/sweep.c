// SPDX-License-Identifier: MIT
// Geometry: a moving circle against a resting rectangle, and where a falling ball lands.
//
// A circle touches a rectangle exactly when its centre touches the rectangle grown by the radius,
// with round corners. So the question is where the way (a segment) enters the grown rectangle. If
// that point lies beside an edge, the ball hits the edge. If it lies in the square of a corner, the
// arc of the corner decides. The grown rectangle is convex, so a way that misses the arc misses the
// whole shape.
//
//        .--------.      touch on an edge: normal is the axis
//      ( |  box   | )    touch in a corner's square: quadratic equation with the arc
//        '--------'
//
// A centre that is inside at the start (a pad moved onto the ball) touches at once, unless the ball
// moves out. This rule also makes small rounding errors harmless: after a touch the way leads out.

#include "breakout.h"

#include "base/math.h"

static float dot(ecs_vec2 a, ecs_vec2 b) {
    return a.x * b.x + a.y * b.y;
}

// Where a segment enters and leaves the slab low..high along one axis.
static bool clip(float start, float way, float low, float high, float* enter, float* leave) {
    if (way == 0.0f) {
        *enter = -1e30f;
        *leave = 1e30f;
        return start >= low && start <= high;
    }
    float a = (low - start) / way;
    float b = (high - start) / way;
    *enter = base_min(a, b);
    *leave = base_max(a, b);
    return true;
}

// The centre starts within the rounded shape: push it out along the shortest way.
static bool touch_inside(ecs_vec2 centre, ecs_vec2 way, float radius, ecs_vec2 low, ecs_vec2 high,
                         breakout_touch* touch) {
    ecs_vec2 nearest = {base_clamp(centre.x, low.x, high.x), base_clamp(centre.y, low.y, high.y)};
    ecs_vec2 out = {centre.x - nearest.x, centre.y - nearest.y};
    float distance = base_sqrt(dot(out, out));
    if (distance >= radius) return false;
    if (distance > 0.0f) {
        out.x /= distance;
        out.y /= distance;
    } else {
        float left = centre.x - low.x, right = high.x - centre.x;
        float top = centre.y - low.y, bottom = high.y - centre.y;
        float least = base_min(base_min(left, right), base_min(top, bottom));
        out.x = least == left ? -1.0f : least == right ? 1.0f : 0.0f;
        out.y = out.x != 0.0f ? 0.0f : least == top ? -1.0f : 1.0f;
    }
    if (dot(way, out) >= 0.0f) return false;
    *touch = (breakout_touch){.t = 0.0f, .normal = out};
    return true;
}

static bool touch_corner(ecs_vec2 centre, ecs_vec2 way, float radius, ecs_vec2 corner,
                         breakout_touch* touch) {
    ecs_vec2 from = {centre.x - corner.x, centre.y - corner.y};
    float a = dot(way, way);
    float b = dot(from, way); // half of the b in the usual quadratic formula
    float c = dot(from, from) - radius * radius;
    float root = b * b - a * c;
    if (b >= 0.0f || root < 0.0f) return false;
    float t = (-b - base_sqrt(root)) / a;
    if (t > 1.0f) return false;
    t = base_max(t, 0.0f);
    ecs_vec2 normal = {(from.x + way.x * t) / radius, (from.y + way.y * t) / radius};
    float length = base_sqrt(dot(normal, normal));
    if (!(length > 0.0f)) return false;
    normal.x /= length;
    normal.y /= length;
    if (dot(way, normal) >= 0.0f) return false;
    *touch = (breakout_touch){.t = t, .normal = normal};
    return true;
}

bool breakout_sweep(ecs_vec2 centre, ecs_vec2 way, float radius, ecs_vec2 low, ecs_vec2 high,
                    breakout_touch* touch) {
    float enter_x, leave_x, enter_y, leave_y;
    if (!clip(centre.x, way.x, low.x - radius, high.x + radius, &enter_x, &leave_x)) return false;
    if (!clip(centre.y, way.y, low.y - radius, high.y + radius, &enter_y, &leave_y)) return false;
    float enter = base_max(enter_x, enter_y);
    float leave = base_min(leave_x, leave_y);
    if (enter > leave || enter > 1.0f || leave < 0.0f) return false;
    if (touch_inside(centre, way, radius, low, high, touch)) return true;

    // The centre may be inside a corner's square while the arc is still ahead.
    float t = base_max(enter, 0.0f);
    ecs_vec2 at = {centre.x + way.x * t, centre.y + way.y * t};
    bool is_beside_x = at.x < low.x || at.x > high.x;
    bool is_beside_y = at.y < low.y || at.y > high.y;
    if (is_beside_x && is_beside_y) {
        ecs_vec2 corner = {at.x < low.x ? low.x : high.x, at.y < low.y ? low.y : high.y};
        return touch_corner(centre, way, radius, corner, touch);
    }
    if (enter < 0.0f) return false; // the centre is inside, and the ball moves out
    ecs_vec2 normal = {0.0f, 0.0f};
    if (enter_x > enter_y) {
        normal.x = way.x > 0.0f ? -1.0f : 1.0f;
    } else {
        normal.y = way.y > 0.0f ? -1.0f : 1.0f;
    }
    *touch = (breakout_touch){.t = enter, .normal = normal};
    return true;
}

float breakout_landing_x(ecs_vec2 pos, ecs_vec2 vel, float radius, float y) {
    float x = pos.x + vel.x * ((y - pos.y) / vel.y);
    // Unfold the reflections at the side walls: a zigzag of period twice the width.
    float width = BREAKOUT_FIELD_WIDTH - 2.0f * radius;
    float along = (x - radius) / (2.0f * width);
    along = (along - base_floor(along)) * 2.0f; // 0..2
    return radius + (along <= 1.0f ? along : 2.0f - along) * width;
}
