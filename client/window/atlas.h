// SPDX-License-Identifier: MIT
/// The one texture: a white spot, soft discs of some sizes, and glyphs, each added at its first
/// use.
///
/// Every pixel is white; its alpha is the part of the pixel that is covered. Discs have a rim of
/// one pixel that fades out.
/// Memory: allocated at creation. When the texture is full, all glyphs are removed and drawn again
/// as needed. Before that the caller draws the triangles that it has collected
/// (client_atlas_is_full).
#pragma once

#include "window/font.h"

#define CLIENT_ATLAS_PIXELS 1024u
#define CLIENT_DISCS 12u
#define CLIENT_GLYPH_HEIGHT_MAX 160u ///< pixels; larger letters are scaled up from this height

struct SDL_Renderer;
struct SDL_Texture;

/// A part of the texture, in pixels.
typedef struct client_patch {
    int32_t x, y, width, height;
} client_patch;

typedef struct client_atlas_glyph {
    uint64_t key; ///< 0: free
    client_patch patch;
    int32_t left, top;
} client_atlas_glyph;

typedef struct client_atlas {
    struct SDL_Texture* texture;
    client_patch white;
    client_patch discs[CLIENT_DISCS]; ///< by rising radius; see client_atlas_disc_radius
    int32_t shelf_x, shelf_y, shelf_height;
    int32_t floor_x, floor_y, floor_height; ///< the shelf where glyphs begin
    client_atlas_glyph* glyphs;
    uint32_t glyph_count;
    uint32_t* pixels; ///< scratch memory
} client_atlas;

/// The memory goes back with the allocator's owner.
BASE_MUST_USE bool client_atlas_init(client_atlas* atlas, const base_allocator* allocator,
                                     struct SDL_Renderer* renderer, const base_reporter* reporter);
/// @return the radius of a disc's solid circle, in the middle of its patch.
float client_atlas_disc_radius(uint32_t disc);
/// @return the smallest disc of at least this radius; the largest disc for larger radii.
uint32_t client_atlas_disc_for(float radius);
/// @return NULL when there is no room: call client_atlas_forget, then try again.
const client_atlas_glyph* client_atlas_find(client_atlas* atlas, const client_font* font,
                                            uint32_t character, uint32_t height);
/// Remove all glyphs. Triangles that use them must be drawn before.
void client_atlas_forget(client_atlas* atlas);
