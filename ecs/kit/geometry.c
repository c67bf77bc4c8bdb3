// SPDX-License-Identifier: MIT
// A circle touches a rectangle exactly when its centre touches the rectangle grown by the radius,
// with round corners. So the question is where the way (a segment) enters the grown rectangle. If
// that point lies beside an edge, the circle hits the edge. If it lies in the square of a corner,
// the arc of the corner decides. The grown rectangle is convex, so a way that misses the arc misses
// the whole shape.
//
//        .--------.      touch on an edge: normal is the axis
//      ( |  box   | )    touch in a corner's square: quadratic equation with the arc
//        '--------'
//
// A centre that is inside at the start touches at once, unless the circle moves out. This rule also
// makes small rounding errors harmless: after a touch the way leads out.
#include "ecs/geometry.h"

#include "ecs/type.h"

#define TURN (2.0f * BASE_PI)

float ecs_quantise(const ecs_quant* quant, float value) {
    if (quant->bits == 0) return value;
    // The words of proto/quant.h: half away from zero, an angle wraps, NaN gives the smallest.
    const int64_t words = INT64_C(1) << quant->bits;
    double q = ((double)value - quant->min) / quant->step;
    if (ecs_quant_is_angle(quant) && !(q >= 0 && q < (double)words)) {
        if (!(q > -0x1p60 && q < 0x1p60)) return (float)quant->min;
        q -= (double)(base_round_i64(q) / words * words);
        if (q < 0) q += (double)words;
    }
    if (!(q > 0)) return (float)quant->min;
    int64_t whole = q >= (double)words ? words : (int64_t)q;
    whole += q - (double)whole >= 0.5;
    if (whole >= words) whole = ecs_quant_is_angle(quant) ? 0 : words - 1;
    return (float)(quant->min + (double)whole * quant->step);
}

float ecs_angle_wrap(float angle) {
    if (angle >= -BASE_PI && angle < BASE_PI) return angle;
    float wrapped = angle - base_floor((angle + BASE_PI) / TURN) * TURN;
    // Rounding may lead to the end of the range, which is its beginning.
    return wrapped >= -BASE_PI && wrapped < BASE_PI ? wrapped : -BASE_PI;
}

float ecs_angle_between(float from, float to) {
    return ecs_angle_wrap(to - from);
}

float ecs_angle_turn(float from, float to, float step) {
    return ecs_angle_wrap(from + base_clamp(ecs_angle_between(from, to), -step, step));
}

// Unfolded, the walls repeat at every width: the place is a zigzag of period twice the width.
float ecs_fold(float value, float low, float high) {
    const float width = high - low;
    float along = (value - low) / (2.0f * width);
    along = (along - base_floor(along)) * 2.0f; // 0..2
    return low + (along <= 1.0f ? along : 2.0f - along) * width;
}

float ecs_nearest_on_way(ecs_vec2 from, ecs_vec2 way, ecs_vec2 point, float* distance) {
    const ecs_vec2 to = ecs_vec2_sub(point, from);
    const float length = ecs_vec2_dot(way, way);
    const float t = length > 0.0f ? base_clamp(ecs_vec2_dot(to, way) / length, 0.0f, 1.0f) : 0.0f;
    if (distance) *distance = ecs_vec2_length(ecs_vec2_sub(to, ecs_vec2_scale(way, t)));
    return t;
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
                         ecs_touch* touch) {
    ecs_vec2 out = ecs_vec2_sub(centre, ecs_vec2_clamp(centre, low, high));
    float distance = ecs_vec2_length(out);
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
    if (ecs_vec2_dot(way, out) >= 0.0f) return false;
    *touch = (ecs_touch){.t = 0.0f, .normal = out};
    return true;
}

bool ecs_sweep_circle(ecs_vec2 centre, ecs_vec2 way, float radius, ecs_vec2 corner,
                      ecs_touch* touch) {
    ecs_vec2 from = ecs_vec2_sub(centre, corner);
    float a = ecs_vec2_dot(way, way);
    float b = ecs_vec2_dot(from, way); // half of the b in the usual quadratic formula
    float c = ecs_vec2_dot(from, from) - radius * radius;
    float root = b * b - a * c;
    if (b >= 0.0f || root < 0.0f) return false;
    float t = (-b - base_sqrt(root)) / a;
    if (t > 1.0f) return false;
    t = base_max(t, 0.0f);
    ecs_vec2 normal = {(from.x + way.x * t) / radius, (from.y + way.y * t) / radius};
    float length = ecs_vec2_length(normal);
    if (!(length > 0.0f)) return false;
    normal.x /= length;
    normal.y /= length;
    if (ecs_vec2_dot(way, normal) >= 0.0f) return false;
    *touch = (ecs_touch){.t = t, .normal = normal};
    return true;
}

// `distance` to a wall against whose normal the circle moves by `way`.
static bool meet_wall(float distance, float way, ecs_vec2 normal, bool is_touched,
                      ecs_touch* touch) {
    if (way >= 0.0f || distance + way > 0.0f) return is_touched;
    const float t = base_clamp(distance / -way, 0.0f, 1.0f);
    if (!is_touched || t < touch->t) *touch = (ecs_touch){.t = t, .normal = normal};
    return true;
}

bool ecs_sweep_room(ecs_vec2 centre, ecs_vec2 way, float radius, ecs_vec2 low, ecs_vec2 high,
                    ecs_touch* touch) {
    const ecs_vec2 left = {1.0f, 0.0f}, right = {-1.0f, 0.0f};
    const ecs_vec2 down = {0.0f, 1.0f}, up = {0.0f, -1.0f};
    bool is = meet_wall(centre.x - radius - low.x, way.x, left, false, touch);
    is = meet_wall(high.x - radius - centre.x, -way.x, right, is, touch);
    is = meet_wall(centre.y - radius - low.y, way.y, down, is, touch);
    return meet_wall(high.y - radius - centre.y, -way.y, up, is, touch);
}

bool ecs_sweep_box(ecs_vec2 centre, ecs_vec2 way, float radius, ecs_vec2 low, ecs_vec2 high,
                   ecs_touch* touch) {
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
        return ecs_sweep_circle(centre, way, radius, corner, touch);
    }
    if (enter < 0.0f) return false; // the centre is inside, and the circle moves out
    ecs_vec2 normal = {0.0f, 0.0f};
    if (enter_x > enter_y) {
        normal.x = way.x > 0.0f ? -1.0f : 1.0f;
    } else {
        normal.y = way.y > 0.0f ? -1.0f : 1.0f;
    }
    *touch = (ecs_touch){.t = enter, .normal = normal};
    return true;
}
