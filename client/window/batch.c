// SPDX-License-Identifier: MIT
#include "window/batch.h"

#include "base/assert.h"

#include <string.h>

void client_batch_init(client_batch* batch, const base_allocator* allocator, SDL_Renderer* renderer,
                       const client_atlas* atlas) {
    BASE_ASSERT(renderer && atlas);
    memset(batch, 0, sizeof *batch);
    SDL_RendererInfo info = {0};
    batch->is_software =
        SDL_GetRendererInfo(renderer, &info) == 0 && (info.flags & SDL_RENDERER_SOFTWARE) != 0;
    batch->renderer = renderer;
    batch->atlas = atlas;
    batch->vertices = base_allocate(allocator, sizeof *batch->vertices * CLIENT_BATCH_VERTICES);
    batch->indices = base_allocate(allocator, sizeof *batch->indices * CLIENT_BATCH_INDICES);
}

void client_batch_flush(client_batch* batch) {
    BASE_ASSERT(batch->vertex_count <= CLIENT_BATCH_VERTICES);
    BASE_ASSERT(batch->index_count <= CLIENT_BATCH_INDICES && batch->index_count % 3 == 0);
    if (batch->index_count > 0) {
        // It fails when the window is gone; the events report that too.
        (void)SDL_SetRenderDrawBlendMode(batch->renderer, SDL_BLENDMODE_BLEND);
        (void)SDL_RenderGeometry(batch->renderer, batch->texture, batch->vertices,
                                 (int)batch->vertex_count, batch->indices, (int)batch->index_count);
        batch->calls++;
    }
    batch->vertex_count = batch->index_count = 0;
}

void client_batch_clip(client_batch* batch, const SDL_Rect* clip) {
    bool is_same = batch->has_clip == (clip != NULL) &&
                   (!clip || memcmp(clip, &batch->clip, sizeof *clip) == 0);
    if (is_same) return;
    client_batch_flush(batch);
    batch->has_clip = clip != NULL;
    if (clip) batch->clip = *clip;
    (void)SDL_RenderSetClipRect(batch->renderer, clip);
}

// @return where the next vertices go. There is room for all of them. A graphics card gets the
// texture of the atlas for plain colours too.
static SDL_Vertex* make_room(client_batch* batch, SDL_Texture* texture, uint32_t vertices,
                             uint32_t indices) {
    BASE_ASSERT(vertices <= CLIENT_BATCH_VERTICES && indices <= CLIENT_BATCH_INDICES);
    if (!batch->is_software && !texture) texture = batch->atlas->texture;
    if (texture != batch->texture || batch->vertex_count + vertices > CLIENT_BATCH_VERTICES ||
        batch->index_count + indices > CLIENT_BATCH_INDICES) {
        client_batch_flush(batch);
        batch->texture = texture;
    }
    return batch->vertices + batch->vertex_count;
}

static SDL_Vertex plain(const client_batch* batch, float x, float y, ecs_color color) {
    const client_patch* white = &batch->atlas->white;
    const float side = (float)CLIENT_ATLAS_PIXELS;
    return (SDL_Vertex){
        .position = {x, y},
        .color = {color.r, color.g, color.b, color.a},
        .tex_coord = {((float)white->x + 2.0f) / side, ((float)white->y + 2.0f) / side}};
}

// Four vertices around a quadrilateral become two triangles.
static void take_quad(client_batch* batch) {
    static const int order[6] = {0, 1, 2, 0, 2, 3};
    for (uint32_t i = 0; i < 6; i++)
        batch->indices[batch->index_count++] = (int)batch->vertex_count + order[i];
    batch->vertex_count += 4;
}

void client_batch_quad(client_batch* batch, const float* points, const ecs_color* colors) {
    SDL_Vertex* to = make_room(batch, NULL, 4, 6);
    for (uint32_t i = 0; i < 4; i++)
        to[i] = plain(batch, points[i * 2], points[i * 2 + 1], colors[i]);
    take_quad(batch);
}

static void put_box(client_batch* batch, client_box box, ecs_color top, ecs_color bottom) {
    const float points[8] = {box.left,  box.top,    box.right, box.top,
                             box.right, box.bottom, box.left,  box.bottom};
    const ecs_color colors[4] = {top, top, bottom, bottom};
    client_batch_quad(batch, points, colors);
}

static uint8_t mix(uint8_t from, uint8_t to, int32_t step, int32_t steps) {
    return (uint8_t)(from + (to - from) * step / steps);
}

static bool is_same(ecs_color a, ecs_color b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

void client_batch_gradient(client_batch* batch, client_box box, ecs_color top, ecs_color bottom) {
    if (!batch->is_software || is_same(top, bottom)) {
        put_box(batch, box, top, bottom);
        return;
    }
    // Neighbouring rows of one colour are joined.
    int32_t rows = (int32_t)(box.bottom - box.top);
    ecs_color color = top;
    int32_t begin = 0;
    for (int32_t row = 0; row <= rows; row++) {
        int32_t steps = rows > 1 ? rows - 1 : 1;
        ecs_color next = {mix(top.r, bottom.r, row, steps), mix(top.g, bottom.g, row, steps),
                          mix(top.b, bottom.b, row, steps), mix(top.a, bottom.a, row, steps)};
        if (row == 0) color = next;
        if (row < rows && is_same(next, color)) continue;
        if (row > begin)
            put_box(batch,
                    (client_box){box.left, box.top + (float)begin, box.right,
                                 row < rows ? box.top + (float)row : box.bottom},
                    color, color);
        color = next;
        begin = row;
    }
}

void client_batch_patch(client_batch* batch, client_box box, const client_patch* patch,
                        ecs_color color) {
    const float side = (float)CLIENT_ATLAS_PIXELS;
    float u0 = (float)patch->x / side, u1 = (float)(patch->x + patch->width) / side;
    float v0 = (float)patch->y / side, v1 = (float)(patch->y + patch->height) / side;
    SDL_Color mod = {color.r, color.g, color.b, color.a};
    SDL_Vertex* to = make_room(batch, batch->atlas->texture, 4, 6);
    to[0] = (SDL_Vertex){{box.left, box.top}, mod, {u0, v0}};
    to[1] = (SDL_Vertex){{box.right, box.top}, mod, {u1, v0}};
    to[2] = (SDL_Vertex){{box.right, box.bottom}, mod, {u1, v1}};
    to[3] = (SDL_Vertex){{box.left, box.bottom}, mod, {u0, v1}};
    take_quad(batch);
}

void client_batch_sprite(client_batch* batch, SDL_Texture* texture, const float* points,
                         const float* places, ecs_color color) {
    const SDL_Color mod = {color.r, color.g, color.b, color.a};
    SDL_Vertex* to = make_room(batch, texture, 4, 6);
    for (uint32_t i = 0; i < 4; i++) {
        const bool is_right = i == 1 || i == 2, is_lower = i >= 2;
        to[i] = (SDL_Vertex){{points[i * 2], points[i * 2 + 1]},
                             mod,
                             {places[is_right ? 2 : 0], places[is_lower ? 3 : 1]}};
    }
    take_quad(batch);
}

void client_batch_triangle(client_batch* batch, const float* points, const ecs_color* colors) {
    SDL_Vertex* to = make_room(batch, NULL, 3, 3);
    for (uint32_t i = 0; i < 3; i++) {
        to[i] = plain(batch, points[i * 2], points[i * 2 + 1], colors[i]);
        batch->indices[batch->index_count++] = (int)(batch->vertex_count + i);
    }
    batch->vertex_count += 3;
}
