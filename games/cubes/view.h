// SPDX-License-Identifier: MIT
/// The picture of cubes: lens, what one frame gathers, and the solids that it draws. Never read by
/// the simulation; all of it bounded and made once.
#pragma once

#include "cubes.h"

#define CUBES_TILE 2.0f ///< view units: of the coverage map
#define CUBES_TILES_X 480u
#define CUBES_TILES_Y 270u
#define CUBES_BUCKETS 4096u
#define CUBES_BATCH_POINTS 3072u

/// Where it looks from: camera space has x to the right, y up, z away from the eye.
typedef struct cubes_lens {
    ecs_vec3 eye, right, up, forward;
    float focal; ///< view units at distance 1
    float distance;
} cubes_lens;

/// A cube in camera space.
typedef struct cubes_item {
    ecs_vec3 at;
    float scale;
    ecs_vec3 rotation;
    ecs_vec3 axes[3]; ///< half a side each; of those that are drawn
    float speed;
    uint32_t seed;
} cubes_item;

/// Triangles that wait to be handed on together.
typedef struct cubes_batch {
    uint32_t count; ///< points
    float points[CUBES_BATCH_POINTS * 2];
    ecs_color colors[CUBES_BATCH_POINTS];
} cubes_batch;

struct cubes_view {
    cubes_lens lens;
    float part; ///< of a tick since the newest one
    uint32_t item_count, drawn_count;
    cubes_item items[CUBES_COUNT_MAX];
    uint32_t order[CUBES_COUNT_MAX];   ///< nearest first
    uint32_t visible[CUBES_COUNT_MAX]; ///< of those, what nothing hides
    uint32_t buckets[CUBES_BUCKETS + 1];
    uint8_t is_covered[CUBES_TILES_Y][CUBES_TILES_X];
    cubes_batch batch;
};

// solid.c
ecs_vec3 cubes_to_lens(const cubes_lens* lens, ecs_vec3 world);
/// View coordinates; needs at.z > 0.
ecs_vec2 cubes_project(const cubes_lens* lens, ecs_vec3 at);
/// The sky at a height of the view.
ecs_color cubes_sky(float y);
/// `color` as seen through `depth` units of air, before the sky at `y`.
ecs_color cubes_air(const cubes_lens* lens, ecs_color color, float depth, float y);
/// How much of a thing is left at `depth`: 1 near by, 0 where only sky is seen.
float cubes_clearness(const cubes_lens* lens, float depth);
/// Turn its axes, about x, then y, then z.
void cubes_find_axes(const cubes_lens* lens, cubes_item* item);
/// Add the sides of a cube that are turned to the eye.
void cubes_solid(const net_draw* draw, cubes_batch* batch, const cubes_lens* lens,
                 const cubes_item* item);
void cubes_batch_flush(const net_draw* draw, cubes_batch* batch);
