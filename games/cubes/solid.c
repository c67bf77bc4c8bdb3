// SPDX-License-Identifier: MIT
// A cube as triangles: turned, projected, with flat light on the three sides that face the eye, and
// with the colour of the air in front of it.
//
// All computations are in camera space with three half axes: the normal of a side is an axis, and
// its corners are sums of axes. The colour shows the speed: slow cubes are blue, fast cubes glow.

#include "view.h"

#include "base/math.h"
#include "ecs/geometry.h"

#define AIR_BEGINS 0.4f  ///< clear part of the distance to the middle
#define AIR_UNITS 305.0f ///< from there to the depth at which only sky is seen
#define SPEED_FULL 46.0f
#define DOT_UNITS 1.5f ///< below this half side on the picture a cube is one square

ecs_vec3 cubes_to_lens(const cubes_lens* lens, ecs_vec3 world) {
    float x = world.x - lens->eye.x, y = world.y - lens->eye.y, z = world.z - lens->eye.z;
    return (ecs_vec3){x * lens->right.x + y * lens->right.y + z * lens->right.z,
                      x * lens->up.x + y * lens->up.y + z * lens->up.z,
                      x * lens->forward.x + y * lens->forward.y + z * lens->forward.z};
}

ecs_vec2 cubes_project(const cubes_lens* lens, ecs_vec3 at) {
    float factor = lens->focal / at.z;
    return (ecs_vec2){CUBES_VIEW_WIDTH * 0.5f + at.x * factor,
                      CUBES_VIEW_HEIGHT * 0.5f - at.y * factor};
}

// The colour at `part` (0..1) of a row of colours.
static ecs_color along(const ecs_color* colors, uint32_t count, float part) {
    float at = base_clamp(part, 0.0f, 1.0f) * (float)(count - 1);
    uint32_t first = (uint32_t)at;
    if (first >= count - 1) return colors[count - 1];
    return ecs_color_mix(colors[first], colors[first + 1], at - (float)first);
}

ecs_color cubes_sky(float y) {
    static const ecs_color colors[] = {{7, 10, 30, 255},
                                       {22, 22, 58, 255},
                                       {62, 42, 92, 255},
                                       {34, 26, 62, 255},
                                       {10, 9, 24, 255}};
    return along(colors, BASE_COUNT(colors), y / CUBES_VIEW_HEIGHT);
}

float cubes_clearness(const cubes_lens* lens, float depth) {
    float part = base_clamp((depth - lens->distance * AIR_BEGINS) / AIR_UNITS, 0.0f, 1.0f);
    return 1.0f - part * (0.35f + 0.65f * part);
}

// @return `color` as seen through `depth` units of air, in front of the sky at `y`.
static ecs_color air(const cubes_lens* lens, ecs_color color, float depth, float y) {
    return ecs_color_mix(cubes_sky(y), color, cubes_clearness(lens, depth));
}

void cubes_batch_flush(const net_draw* draw, cubes_batch* batch) {
    if (batch->count) draw->triangles(draw->context, batch->points, batch->colors, batch->count);
    batch->count = 0;
}

static void add_quad(cubes_batch* batch, const ecs_vec2* corners, ecs_color color) {
    static const uint8_t order[] = {0, 1, 2, 0, 2, 3};
    for (uint32_t i = 0; i < BASE_COUNT(order); i++) {
        batch->points[batch->count * 2] = corners[order[i]].x;
        batch->points[batch->count * 2 + 1] = corners[order[i]].y;
        batch->colors[batch->count++] = color;
    }
}

static ecs_vec3 turn_to_lens(const cubes_lens* lens, ecs_vec3 v, float length) {
    return (ecs_vec3){(v.x * lens->right.x + v.y * lens->right.y + v.z * lens->right.z) * length,
                      (v.x * lens->up.x + v.y * lens->up.y + v.z * lens->up.z) * length,
                      (v.x * lens->forward.x + v.y * lens->forward.y + v.z * lens->forward.z) *
                          length};
}

void cubes_find_axes(const cubes_lens* lens, cubes_item* item) {
    float sx = base_sin(item->rotation.x), cx = base_cos(item->rotation.x);
    float sy = base_sin(item->rotation.y), cy = base_cos(item->rotation.y);
    float sz = base_sin(item->rotation.z), cz = base_cos(item->rotation.z);
    const ecs_vec3 world[3] = {
        {cy * cz, cy * sz, -sy},
        {sx * sy * cz - cx * sz, sx * sy * sz + cx * cz, sx * cy},
        {cx * sy * cz + sx * sz, cx * sy * sz - sx * cz, cx * cy},
    };
    for (uint32_t i = 0; i < 3; i++)
        item->axes[i] = turn_to_lens(lens, world[i], item->scale * 0.5f);
}

static ecs_color color_of(const cubes_item* item) {
    static const ecs_color colors[] = {{74, 120, 214, 255}, {92, 108, 232, 255},
                                       {158, 92, 226, 255}, {236, 88, 150, 255},
                                       {255, 146, 84, 255}, {255, 214, 130, 255}};
    // The seed changes the colour a little from cube to cube.
    float own = (float)(item->seed >> 24) / 255.0f - 0.5f;
    float part = item->speed / SPEED_FULL;
    ecs_color color = along(colors, BASE_COUNT(colors), part + own * 0.22f);
    return ecs_color_mix(color,
                         own > 0.0f ? (ecs_color){255, 255, 255, 255} : (ecs_color){0, 0, 20, 255},
                         base_abs(own) * 0.3f);
}

// The light comes from above, a little from the left, and from behind the eye.
static ecs_color lit(const cubes_lens* lens, ecs_color color, ecs_vec3 normal, float half) {
    const ecs_vec3 sun = {-0.36f, 0.82f, 0.44f};
    const float up = normal.x * lens->right.y + normal.y * lens->up.y + normal.z * lens->forward.y;
    float front = (normal.x * sun.x + normal.y * sun.y - normal.z * sun.z) / half;
    float light = 0.46f + 0.66f * base_max(front, 0.0f) + 0.12f * (up / half);
    if (light <= 1.0f)
        return ecs_color_mix((ecs_color){8, 8, 26, 255}, color, base_max(light, 0.2f));
    return ecs_color_mix(color, (ecs_color){255, 255, 255, 255}, base_min(light - 1.0f, 1.0f));
}

void cubes_solid(const net_draw* draw, cubes_batch* batch, const cubes_lens* lens,
                 const cubes_item* item) {
    if (batch->count + 18 > CUBES_BATCH_POINTS) cubes_batch_flush(draw, batch);
    ecs_vec2 middle = cubes_project(lens, item->at);
    float half = item->scale * 0.5f;
    ecs_color color = color_of(item);
    float seen = half * lens->focal / item->at.z;
    if (seen < DOT_UNITS) {
        const ecs_vec2 corners[4] = {{middle.x - seen, middle.y - seen},
                                     {middle.x + seen, middle.y - seen},
                                     {middle.x + seen, middle.y + seen},
                                     {middle.x - seen, middle.y + seen}};
        add_quad(batch, corners, air(lens, color, item->at.z, middle.y));
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        ecs_vec3 n = item->axes[i], u = item->axes[(i + 1) % 3], v = item->axes[(i + 2) % 3];
        // Choose the side of this axis that faces the eye; a side seen edge on is not drawn.
        float along_n = n.x * item->at.x + n.y * item->at.y + n.z * item->at.z;
        if (along_n > 0.0f) n = (ecs_vec3){-n.x, -n.y, -n.z};
        if (half * half >= base_abs(along_n)) continue;
        ecs_vec2 corners[4];
        static const float signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
        for (uint32_t k = 0; k < 4; k++) {
            float a = signs[k][0], b = signs[k][1];
            corners[k] = cubes_project(lens, (ecs_vec3){item->at.x + n.x + u.x * a + v.x * b,
                                                        item->at.y + n.y + u.y * a + v.y * b,
                                                        item->at.z + n.z + u.z * a + v.z * b});
        }
        add_quad(batch, corners, air(lens, lit(lens, color, n, half), item->at.z, middle.y));
    }
}
