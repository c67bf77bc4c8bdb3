// SPDX-License-Identifier: MIT
/// net_draw over SDL's renderer.
///
/// One picture has two canvases:
///     VIEW    the game's view rectangle, as large as fits, in the middle; clips its content
///     SCREEN  the whole picture, scaled so that 960 x 540 units fit: panels, screens, help;
///             client_draw_canvas_size gives its real size
///
/// All shapes become triangles, which are drawn in few calls; the order is kept across canvases.
/// The same calls at the same size give the same bytes with SDL's software renderer.
///
/// Memory: buffers grow to the largest frame and stay. A glyph is drawn into the texture at its
/// first use. Threads: only the renderer's thread.
#pragma once

#include "base/alloc.h"
#include "base/report.h"
#include "net/game.h"

#define CLIENT_SCREEN_WIDTH 960.0f
#define CLIENT_SCREEN_HEIGHT 540.0f

struct SDL_Renderer;
typedef struct client_draw client_draw;

typedef enum client_canvas { CLIENT_CANVAS_VIEW, CLIENT_CANVAS_SCREEN } client_canvas;
#define CLIENT_CANVAS_COUNT 2u

/// @return NULL when textures are missing (reported).
BASE_MUST_USE client_draw* client_draw_create(const base_allocator* allocator,
                                              struct SDL_Renderer* renderer,
                                              const base_reporter* reporter);
void client_draw_destroy(client_draw* draw); ///< may be NULL; before the renderer

/// Set the sizes of the picture in pixels and of the game's view (0: the same as SCREEN).
void client_draw_resize(client_draw* draw, uint32_t width, uint32_t height, float view_width,
                        float view_height);
/// Give VIEW a part of the picture instead of all, until the next client_draw_resize. What was
/// drawn stays.
typedef struct client_area {
    float left, top, right, bottom; ///< 0 to 1 of the picture
} client_area;
void client_draw_place_view(client_draw* draw, client_area area);
/// Begin a picture.
void client_draw_begin(client_draw* draw, ecs_color background);
/// Draw the rest. The picture is then complete in the renderer, but not yet shown.
void client_draw_end(client_draw* draw);
/// Finds the name of a player; may be NULL. `context` must stay valid while pictures are drawn.
typedef const char* (*client_name_fn)(void* context, uint32_t client);
void client_draw_set_names(client_draw* draw, client_name_fn find, void* context);
/// Forget all pictures of sprites and take those of this folder, which must outlive its use; NULL:
/// none. Between two pictures.
void client_draw_set_assets(client_draw* draw, const char* folder);
/// Load pictures whose files changed; between two pictures, as often as one likes.
void client_draw_look(client_draw* draw, uint64_t now_us);
/// @return a net_draw with functions and pixels_per_unit filled in, without a camera; the caller
///         sets the rest. Valid until client_draw_destroy.
net_draw client_draw_get(client_draw* draw, client_canvas canvas);

void client_draw_canvas_size(const client_draw* draw, client_canvas canvas, float* width,
                             float* height);
/// Convert pixels to coordinates of a canvas; both may lie outside of it.
void client_draw_to_canvas(const client_draw* draw, client_canvas canvas, float pixel_x,
                           float pixel_y, float* x, float* y);
/// Convert pixels to the coordinates of the game's pointer: those of VIEW, seen by the first camera
/// since it was placed.
void client_draw_to_game(const client_draw* draw, float pixel_x, float pixel_y, float* x, float* y);
uint32_t client_draw_batches(const client_draw* draw); ///< draw calls of the last picture
