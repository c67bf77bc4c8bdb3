// SPDX-License-Identifier: MIT
/// Collects triangles for few SDL_RenderGeometry calls and keeps the order in which they were
/// given.
///
/// A graphics card gets one call per clip rectangle: plain colours come from the white spot of the
/// texture. SDL's software renderer is several times faster without a texture. For it, plain and
/// textured triangles are collected separately, and upright gradients become bands of one colour.
///
/// Memory: allocated at creation. A full batch is drawn, then it is empty again.
#pragma once

#include "window/atlas.h"
#include "ecs/ecs.h"

#include <SDL.h>

#define CLIENT_BATCH_VERTICES 16384u
#define CLIENT_BATCH_INDICES (CLIENT_BATCH_VERTICES * 3u)

typedef struct client_batch {
    SDL_Renderer* renderer;
    const client_atlas* atlas;
    SDL_Vertex* vertices;
    int* indices;
    uint32_t vertex_count, index_count;
    SDL_Texture* texture; ///< of the collected triangles; NULL: none
    bool is_software;
    bool has_clip;
    SDL_Rect clip;
    uint32_t calls; ///< since client_draw_begin
} client_batch;

typedef struct client_box {
    float left, top, right, bottom; ///< pixels
} client_box;

/// The memory goes back with the allocator's owner.
void client_batch_init(client_batch* batch, const base_allocator* allocator, SDL_Renderer* renderer,
                       const client_atlas* atlas);
void client_batch_flush(client_batch* batch);
/// Draw only inside of the rectangle; NULL: everywhere.
void client_batch_clip(client_batch* batch, const SDL_Rect* clip);

/// A box of one colour, or with a gradient from the top to the bottom.
void client_batch_gradient(client_batch* batch, client_box box, ecs_color top, ecs_color bottom);
void client_batch_patch(client_batch* batch, client_box box, const client_patch* patch,
                        ecs_color color);
/// A part of a picture, `places` (left, top, right, bottom) of 0 to 1, on a quadrilateral; `points`
/// holds its corners: those of the part's upper left, upper right, lower right, lower left.
void client_batch_sprite(client_batch* batch, SDL_Texture* texture, const float* points,
                         const float* places, ecs_color color);
/// `points` holds x, y for each of the three points.
void client_batch_triangle(client_batch* batch, const float* points, const ecs_color* colors);
/// A quadrilateral; `points` holds its corners in the order around it.
void client_batch_quad(client_batch* batch, const float* points, const ecs_color* colors);
