// SPDX-License-Identifier: MIT
/// The picture of cubes: the lens, the data of one frame, and the solids. The simulation never
/// reads it. All parts have fixed sizes and are created once.
#pragma once

#include "cubes.h"

#define CUBES_TILE 2.0f ///< size of a tile of the coverage map, in view units
#define CUBES_TILES_X 480u
#define CUBES_TILES_Y 270u
#define CUBES_BUCKETS 4096u
#define CUBES_BATCH_POINTS 3072u

/// The place and the axes of the eye. Camera space: x to the right, y up, z away from the eye.
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
    ecs_vec3 axes[3]; ///< half a side each; only set for drawn cubes
    float speed;
    uint32_t seed;
} cubes_item;

/// Triangles that are drawn in one call.
typedef struct cubes_batch {
    uint32_t count; ///< points
    float points[CUBES_BATCH_POINTS * 2];
    ecs_color colors[CUBES_BATCH_POINTS];
} cubes_batch;

struct cubes_view {
    cubes_lens lens;
    float part; ///< part of a tick since the newest one, 0..1
    uint32_t item_count, drawn_count;
    cubes_item items[CUBES_COUNT_MAX];
    uint32_t order[CUBES_COUNT_MAX];   ///< nearest first
    uint32_t visible[CUBES_COUNT_MAX]; ///< the drawn cubes of `order`; nothing hides them
    uint32_t buckets[CUBES_BUCKETS + 1];
    uint8_t is_covered[CUBES_TILES_Y][CUBES_TILES_X];
    cubes_batch batch;
};

// solid.c
ecs_vec3 cubes_to_lens(const cubes_lens* lens, ecs_vec3 world);
/// @return view coordinates; needs at.z > 0.
ecs_vec2 cubes_project(const cubes_lens* lens, ecs_vec3 at);
/// @return the colour of the sky at a height of the view.
ecs_color cubes_sky(float y);
/// @return how clear a thing at `depth` is: 1 near the eye, 0 where only sky is seen.
float cubes_clearness(const cubes_lens* lens, float depth);
/// Find its half axes: turn about x, then y, then z.
void cubes_find_axes(const cubes_lens* lens, cubes_item* item);
/// Add the sides of a cube that face the eye.
void cubes_solid(const net_draw* draw, cubes_batch* batch, const cubes_lens* lens,
                 const cubes_item* item);
void cubes_batch_flush(const net_draw* draw, cubes_batch* batch);
