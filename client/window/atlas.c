// SPDX-License-Identifier: MIT
// Glyphs are side by side on a shelf that is as high as its highest glyph. When a shelf is full,
// the next one begins below it. Discs and the white spot are on the first shelves and stay there.
//
// Each patch has an empty border of one pixel, so that filtering never reads its neighbour.
#include "window/atlas.h"

#include "base/assert.h"

#include <SDL.h>
#include <math.h>
#include <string.h>

#define GLYPH_SLOTS 4096u // a power of two
#define GLYPHS_MAX 3000u
#define GLYPH_PIXELS_MAX 256 // longest side
#define PIXEL_BYTES (sizeof(uint32_t) * CLIENT_ATLAS_PIXELS * CLIENT_ATLAS_PIXELS)

static const float radii[CLIENT_DISCS] = {1.5f,  2.0f,  3.0f,  4.0f,  6.0f,  8.0f,
                                          12.0f, 16.0f, 24.0f, 32.0f, 64.0f, 128.0f};

float client_atlas_disc_radius(uint32_t disc) {
    BASE_ASSERT(disc < CLIENT_DISCS);
    return radii[disc];
}

uint32_t client_atlas_disc_for(float radius) {
    uint32_t disc = 0;
    while (disc + 1 < CLIENT_DISCS && radii[disc] < radius)
        disc++;
    return disc;
}

static bool take_patch(client_atlas* atlas, int32_t width, int32_t height, client_patch* patch) {
    const int32_t side = (int32_t)CLIENT_ATLAS_PIXELS;
    BASE_ASSERT(width > 0 && height > 0);
    if (atlas->shelf_x + width + 1 > side) {
        atlas->shelf_y += atlas->shelf_height + 1;
        atlas->shelf_x = 1;
        atlas->shelf_height = 0;
    }
    if (atlas->shelf_x + width + 1 > side || atlas->shelf_y + height + 1 > side) return false;
    *patch = (client_patch){atlas->shelf_x, atlas->shelf_y, width, height};
    atlas->shelf_x += width + 1;
    if (height > atlas->shelf_height) atlas->shelf_height = height;
    return true;
}

static bool upload(client_atlas* atlas, const client_patch* patch) {
    const SDL_Rect rect = {patch->x, patch->y, patch->width, patch->height};
    return SDL_UpdateTexture(atlas->texture, &rect, atlas->pixels, patch->width * 4) == 0;
}

static uint32_t white(float cover) {
    float part = cover < 0.0f ? 0.0f : cover > 1.0f ? 1.0f : cover;
    return 0x00ffffffu | (uint32_t)(part * 255.0f + 0.5f) << 24;
}

static bool make_disc(client_atlas* atlas, uint32_t disc) {
    int32_t side = 2 * (int32_t)ceilf(radii[disc] + 1.0f);
    client_patch* patch = &atlas->discs[disc];
    if (!take_patch(atlas, side, side, patch)) return false;
    float middle = (float)side * 0.5f;
    for (int32_t y = 0; y < side; y++) {
        for (int32_t x = 0; x < side; x++) {
            float dx = (float)x + 0.5f - middle, dy = (float)y + 0.5f - middle;
            atlas->pixels[y * side + x] = white(radii[disc] + 0.5f - sqrtf(dx * dx + dy * dy));
        }
    }
    return upload(atlas, patch);
}

static bool make_white(client_atlas* atlas) {
    if (!take_patch(atlas, 4, 4, &atlas->white)) return false;
    for (uint32_t i = 0; i < 16; i++)
        atlas->pixels[i] = white(1.0f);
    return upload(atlas, &atlas->white);
}

bool client_atlas_init(client_atlas* atlas, const base_allocator* allocator,
                       struct SDL_Renderer* renderer, const base_reporter* reporter) {
    memset(atlas, 0, sizeof *atlas);
    atlas->shelf_x = atlas->shelf_y = 1;
    atlas->glyphs = base_allocate_zero(allocator, sizeof *atlas->glyphs * GLYPH_SLOTS);
    atlas->pixels = base_allocate_zero(allocator, PIXEL_BYTES);
    atlas->texture = SDL_CreateTexture(renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STATIC,
                                       (int)CLIENT_ATLAS_PIXELS, (int)CLIENT_ATLAS_PIXELS);
    bool is_made =
        atlas->texture && SDL_SetTextureBlendMode(atlas->texture, SDL_BLENDMODE_BLEND) == 0 &&
        SDL_SetTextureScaleMode(atlas->texture, SDL_ScaleModeLinear) == 0 &&
        SDL_UpdateTexture(atlas->texture, NULL, atlas->pixels, (int)CLIENT_ATLAS_PIXELS * 4) == 0;
    is_made = is_made && make_white(atlas);
    for (uint32_t i = 0; is_made && i < CLIENT_DISCS; i++)
        is_made = make_disc(atlas, i);
    if (!is_made) base_report(reporter, NULL, 0, "no texture: %s", SDL_GetError());
    atlas->floor_x = atlas->shelf_x;
    atlas->floor_y = atlas->shelf_y;
    atlas->floor_height = atlas->shelf_height;
    return is_made;
}

void client_atlas_forget(client_atlas* atlas) {
    memset(atlas->glyphs, 0, sizeof *atlas->glyphs * GLYPH_SLOTS);
    atlas->glyph_count = 0;
    atlas->shelf_x = atlas->floor_x;
    atlas->shelf_y = atlas->floor_y;
    atlas->shelf_height = atlas->floor_height;
}

static bool make_glyph(client_atlas* atlas, const client_font* font, uint32_t character,
                       uint32_t height, client_atlas_glyph* glyph) {
    client_glyph size = client_font_measure(font, character, height);
    *glyph = (client_atlas_glyph){.left = size.left, .top = size.top};
    if (size.width == 0) return true;
    // A single character can be very wide in some scripts. Names are untrusted input, so such a
    // character is not drawn.
    if (size.width > GLYPH_PIXELS_MAX || size.height > GLYPH_PIXELS_MAX) return true;
    // The border inside the patch must be empty too: removed neighbours may have left pixels there.
    if (!take_patch(atlas, size.width + 2, size.height + 2, &glyph->patch)) return false;
    uint32_t count = (uint32_t)(glyph->patch.width * glyph->patch.height);
    uint32_t stride = (uint32_t)glyph->patch.width;
    // The coverage is written at the end of the scratch memory, then spread over its beginning.
    BASE_ASSERT(count <= PIXEL_BYTES / sizeof *atlas->pixels);
    uint8_t* cover = (uint8_t*)atlas->pixels + PIXEL_BYTES - count;
    memset(cover, 0, count);
    client_font_raster(font, character, height, cover + stride + 1, stride);
    for (uint32_t i = 0; i < count; i++)
        atlas->pixels[i] = 0x00ffffffu | (uint32_t)cover[i] << 24;
    glyph->left--;
    glyph->top--;
    return upload(atlas, &glyph->patch);
}

const client_atlas_glyph* client_atlas_find(client_atlas* atlas, const client_font* font,
                                            uint32_t character, uint32_t height) {
    BASE_STATIC_ASSERT(GLYPHS_MAX < GLYPH_SLOTS, "a search ends at a free slot");
    BASE_ASSERT(height > 0 && height <= CLIENT_GLYPH_HEIGHT_MAX);
    uint64_t key = (uint64_t)height << 32 | character;
    uint32_t slot = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40) & (GLYPH_SLOTS - 1);
    while (atlas->glyphs[slot].key && atlas->glyphs[slot].key != key)
        slot = (slot + 1) & (GLYPH_SLOTS - 1);
    client_atlas_glyph* glyph = &atlas->glyphs[slot];
    if (glyph->key) return glyph;
    if (atlas->glyph_count == GLYPHS_MAX) return NULL;
    if (!make_glyph(atlas, font, character, height, glyph)) {
        glyph->key = 0;
        return NULL;
    }
    glyph->key = key;
    atlas->glyph_count++;
    return glyph;
}
