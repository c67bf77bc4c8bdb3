// SPDX-License-Identifier: MIT
// Turns canvas units into pixels, and the game's shapes into boxes, patches and triangles.
//
// Upright edges lie on whole pixels: nothing is blurred, neighbours meet without a seam, and a
// graphics card gives the same picture as the software renderer. Round and slanted edges fade over
// one pixel: discs by their patch, lines by two strips whose alpha falls to 0. Letters are drawn at
// the size in which they are shown, and they are on whole pixels.
#include "window/draw_sdl.h"

#include "window/batch.h"
#include "window/font.h"
#include "window/images.h"

#include "base/assert.h"
#include "base/math.h"

#include <math.h>
#include <string.h>

#define LETTER_PIXELS_MIN 4.0f ///< smaller text cannot be read
#define SHARP_SCALE_MIN 2.0f   ///< a picture that is enlarged so far shows its pixels
#define ROUNDING 0.001f        ///< part of a pixel
#define PIXELS_FAR 1e6f        ///< farther pixels cannot be seen, and floats become inexact

// Where coordinates lie: (0, 0) in pixels, and the pixels of a unit.
typedef struct place {
    float left, top, scale;
} place;

typedef struct canvas {
    client_draw* draw;
    place own, at; ///< without a camera, and now
    place pointer; ///< by the first camera
    bool has_camera;
    float width, height;
    SDL_Rect clip;
} canvas;

struct client_draw {
    base_owner owner;
    client_font* font;
    client_atlas atlas;
    client_batch batch;
    client_images images;
    canvas canvases[CLIENT_CANVAS_COUNT];
    uint32_t width, height; // pixels
    client_name_fn find_name;
    void* name_context;
};

client_draw* client_draw_create(const base_allocator* allocator, struct SDL_Renderer* renderer,
                                const base_reporter* reporter) {
    client_draw* draw = base_owner_create(allocator, sizeof *draw);
    allocator = &draw->owner.allocator;
    draw->font = client_font_create(allocator, reporter);
    client_batch_init(&draw->batch, allocator, renderer, &draw->atlas);
    if (!client_atlas_init(&draw->atlas, allocator, renderer, reporter) ||
        !client_images_init(&draw->images, allocator, renderer, reporter)) {
        client_draw_destroy(draw);
        return NULL;
    }
    client_draw_resize(draw, (uint32_t)CLIENT_SCREEN_WIDTH, (uint32_t)CLIENT_SCREEN_HEIGHT, 0, 0);
    return draw;
}

void client_draw_destroy(client_draw* draw) {
    if (!draw) return;
    client_images_deinit(&draw->images);
    if (draw->atlas.texture) SDL_DestroyTexture(draw->atlas.texture);
    base_owner_destroy(draw);
}

// ---- coordinates ----

static void set_place(canvas* one, place own) {
    one->own = one->at = one->pointer = own;
    one->has_camera = false;
    one->clip = (SDL_Rect){(int)own.left, (int)own.top, (int)ceilf(one->width * own.scale - 0.01f),
                           (int)ceilf(one->height * own.scale - 0.01f)};
}

void client_draw_place_view(client_draw* draw, client_area area) {
    BASE_ASSERT(area.left < area.right && area.top < area.bottom);
    canvas* view = &draw->canvases[CLIENT_CANVAS_VIEW];
    const float w = draw->width ? (float)draw->width : 1.0f;
    const float h = draw->height ? (float)draw->height : 1.0f;
    const float wide = (area.right - area.left) * w, high = (area.bottom - area.top) * h;
    const float scale = fminf(wide / view->width, high / view->height);
    set_place(view, (place){floorf(area.left * w + (wide - view->width * scale) * 0.5f),
                            floorf(area.top * h + (high - view->height * scale) * 0.5f), scale});
}

void client_draw_resize(client_draw* draw, uint32_t width, uint32_t height, float view_width,
                        float view_height) {
    float w = width ? (float)width : 1.0f, h = height ? (float)height : 1.0f;
    draw->width = width;
    draw->height = height;
    float screen = fminf(w / CLIENT_SCREEN_WIDTH, h / CLIENT_SCREEN_HEIGHT);
    draw->canvases[CLIENT_CANVAS_SCREEN] = (canvas){.width = w / screen, .height = h / screen};
    if (!(view_width > 0.0f) || !(view_height > 0.0f)) {
        view_width = CLIENT_SCREEN_WIDTH;
        view_height = CLIENT_SCREEN_HEIGHT;
    }
    draw->canvases[CLIENT_CANVAS_VIEW] = (canvas){.width = view_width, .height = view_height};
    for (uint32_t i = 0; i < CLIENT_CANVAS_COUNT; i++)
        draw->canvases[i].draw = draw;
    set_place(&draw->canvases[CLIENT_CANVAS_SCREEN], (place){0.0f, 0.0f, screen});
    client_draw_place_view(draw, (client_area){0.0f, 0.0f, 1.0f, 1.0f});
}

void client_draw_canvas_size(const client_draw* draw, client_canvas id, float* width,
                             float* height) {
    BASE_ASSERT((uint32_t)id < CLIENT_CANVAS_COUNT);
    *width = draw->canvases[id].width;
    *height = draw->canvases[id].height;
}

void client_draw_to_canvas(const client_draw* draw, client_canvas id, float pixel_x, float pixel_y,
                           float* x, float* y) {
    BASE_ASSERT((uint32_t)id < CLIENT_CANVAS_COUNT);
    const place* own = &draw->canvases[id].own;
    *x = (pixel_x - own->left) / own->scale;
    *y = (pixel_y - own->top) / own->scale;
}

void client_draw_to_game(const client_draw* draw, float pixel_x, float pixel_y, float* x,
                         float* y) {
    const place* by = &draw->canvases[CLIENT_CANVAS_VIEW].pointer;
    *x = (pixel_x - by->left) / by->scale;
    *y = (pixel_y - by->top) / by->scale;
}

// Clamp a coordinate. NaN becomes -PIXELS_FAR.
static float within(float pixels) {
    return pixels > -PIXELS_FAR ? fminf(pixels, PIXELS_FAR) : -PIXELS_FAR;
}

static float place_x(const canvas* on, float x) {
    return within(on->at.left + x * on->at.scale);
}
static float place_y(const canvas* on, float y) {
    return within(on->at.top + y * on->at.scale);
}
static float snap(float pixels) {
    return floorf(pixels + 0.5f);
}

// A box is at least one pixel wide and high, so that thin shapes do not vanish.
static client_box snap_box(float left, float top, float right, float bottom) {
    client_box box = {snap(left), snap(top), snap(right), snap(bottom)};
    if (box.right <= box.left) box.right = box.left + 1.0f;
    if (box.bottom <= box.top) box.bottom = box.top + 1.0f;
    return box;
}

static bool is_outside(const canvas* on, client_box box) {
    return box.right <= (float)on->clip.x || box.bottom <= (float)on->clip.y ||
           box.left >= (float)(on->clip.x + on->clip.w) ||
           box.top >= (float)(on->clip.y + on->clip.h);
}

static client_batch* enter(const canvas* on) {
    client_batch_clip(&on->draw->batch, &on->clip);
    return &on->draw->batch;
}

// ---- net_draw ----

static float move_camera(void* context, float x, float y, float zoom) {
    canvas* on = context;
    const float scale = on->own.scale * zoom;
    const place at = {on->own.left + (on->width * 0.5f * on->own.scale - x * scale),
                      on->own.top + (on->height * 0.5f * on->own.scale - y * scale), scale};
    // Written so that NaN is none.
    if (!(scale > 0.0f && scale < PIXELS_FAR && fabsf(at.left) < PIXELS_FAR * PIXELS_FAR &&
          fabsf(at.top) < PIXELS_FAR * PIXELS_FAR))
        return on->at.scale;
    if (!on->has_camera) on->pointer = at;
    on->has_camera = true;
    on->at = at;
    return scale;
}

static void draw_rect(void* context, float x, float y, float width, float height, ecs_color color) {
    const canvas* on = context;
    if (color.a == 0 || !(width > 0.0f) || !(height > 0.0f)) return;
    client_box box =
        snap_box(place_x(on, x), place_y(on, y), place_x(on, x + width), place_y(on, y + height));
    if (!is_outside(on, box)) client_batch_gradient(enter(on), box, color, color);
}

static void draw_circle(void* context, float x, float y, float radius, ecs_color color) {
    const canvas* on = context;
    float pixels = within(radius * on->at.scale);
    if (color.a == 0 || !(pixels > 0.0f)) return;
    uint32_t disc = client_atlas_disc_for(pixels);
    const client_patch* patch = &on->draw->atlas.discs[disc];
    float half = (float)patch->width * 0.5f * pixels / client_atlas_disc_radius(disc);
    float middle_x = place_x(on, x), middle_y = place_y(on, y);
    client_box box = {middle_x - half, middle_y - half, middle_x + half, middle_y + half};
    if (!is_outside(on, box)) client_batch_patch(enter(on), box, patch, color);
}

static void draw_slanted(const canvas* on, float x0, float y0, float x1, float y1, float width,
                         ecs_color color) {
    float length = sqrtf((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0));
    if (!(length > 0.0f)) return;
    float normal_x = (y0 - y1) / length, normal_y = (x1 - x0) / length;
    float half = width * 0.5f;
    if (half < 0.5f) {
        color.a = (uint8_t)((float)color.a * half * 2.0f);
        half = 0.5f;
    }
    ecs_color clear = color;
    clear.a = 0;
    const float sides[4] = {-half - 0.5f, -half + 0.5f, half - 0.5f, half + 0.5f};
    const ecs_color colors[4] = {clear, color, color, clear};
    for (uint32_t strip = 0; strip < 3; strip++) {
        float a = sides[strip], b = sides[strip + 1];
        if (b <= a) continue;
        const float points[8] = {x0 + normal_x * a, y0 + normal_y * a, x1 + normal_x * a,
                                 y1 + normal_y * a, x1 + normal_x * b, y1 + normal_y * b,
                                 x0 + normal_x * b, y0 + normal_y * b};
        const ecs_color corners[4] = {colors[strip], colors[strip], colors[strip + 1],
                                      colors[strip + 1]};
        client_batch_quad(enter(on), points, corners);
    }
}

static void draw_line(void* context, float x0, float y0, float x1, float y1, float width,
                      ecs_color color) {
    const canvas* on = context;
    float pixels = within(width * on->at.scale);
    if (color.a == 0 || !(pixels > 0.0f)) return;
    float left = place_x(on, fminf(x0, x1)), right = place_x(on, fmaxf(x0, x1));
    float top = place_y(on, fminf(y0, y1)), bottom = place_y(on, fmaxf(y0, y1));
    float half = pixels * 0.5f;
    client_box around = {left - half - 1.0f, top - half - 1.0f, right + half + 1.0f,
                         bottom + half + 1.0f};
    if (is_outside(on, around)) return;
    if (x0 == x1 || y0 == y1) {
        float thick_x = x0 == x1 ? half : 0.0f, thick_y = x0 == x1 ? 0.0f : half;
        if (x0 == x1 && y0 == y1) return;
        client_batch_gradient(
            enter(on), snap_box(left - thick_x, top - thick_y, right + thick_x, bottom + thick_y),
            color, color);
        return;
    }
    draw_slanted(on, place_x(on, x0), place_y(on, y0), place_x(on, x1), place_y(on, y1), pixels,
                 color);
}

static bool is_same(ecs_color a, ecs_color b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

// Two triangles may form an upright box with a gradient; such a box is drawn as one shape.
static bool draw_gradient(const canvas* on, const float* points, const ecs_color* colors) {
    float left = points[0], right = points[0], top = points[1], bottom = points[1];
    for (uint32_t i = 1; i < 6; i++) {
        left = fminf(left, points[i * 2]);
        right = fmaxf(right, points[i * 2]);
        top = fminf(top, points[i * 2 + 1]);
        bottom = fmaxf(bottom, points[i * 2 + 1]);
    }
    uint32_t corners[2] = {0, 0}; // which of the four corners a triangle touches
    const ecs_color* sides[2] = {NULL, NULL};
    for (uint32_t i = 0; i < 6; i++) {
        float x = points[i * 2], y = points[i * 2 + 1];
        if ((x != left && x != right) || (y != top && y != bottom)) return false;
        corners[i / 3] |= 1u << ((x == right) + 2 * (y == bottom));
        const ecs_color** side = &sides[y == bottom];
        if (*side && !is_same(**side, colors[i])) return false;
        *side = &colors[i];
    }
    // Together they touch all corners, and they share the two of a diagonal; else they overlap.
    uint32_t shared = corners[0] & corners[1];
    bool is_whole = left < right && top < bottom && (corners[0] | corners[1]) == 15u;
    if (!is_whole || (shared != 6u && shared != 9u)) return false;
    client_box box =
        snap_box(place_x(on, left), place_y(on, top), place_x(on, right), place_y(on, bottom));
    if (is_outside(on, box)) return true;
    client_batch_gradient(enter(on), box, *sides[0], *sides[1]);
    return true;
}

static void draw_triangles(void* context, const float* points, const ecs_color* colors,
                           uint32_t count) {
    const canvas* on = context;
    for (uint32_t i = 0; i + 3 <= count;) {
        if (i + 6 <= count && draw_gradient(on, points + i * 2, colors + i)) {
            i += 6;
            continue;
        }
        float placed[6];
        for (uint32_t k = 0; k < 3; k++) {
            placed[k * 2] = place_x(on, points[(i + k) * 2]);
            placed[k * 2 + 1] = place_y(on, points[(i + k) * 2 + 1]);
        }
        client_batch_triangle(enter(on), placed, colors + i);
        i += 3;
    }
}

// ---- sprites ----

// The drawn part of a picture, in its pixels.
typedef struct part {
    float left, top, width, height;
} part;

// @return false when it has no area within the picture.
static bool find_part(const net_sprite* sprite, const client_image* image, part* found) {
    part all = {sprite->part_x, sprite->part_y, sprite->part_width, sprite->part_height};
    const float width = (float)image->width, height = (float)image->height;
    if (image->is_broken || all.width == 0.0f || all.height == 0.0f)
        all = (part){0.0f, 0.0f, width, height};
    bool is_inside = all.left >= 0.0f && all.top >= 0.0f && all.width > 0.0f && all.height > 0.0f &&
                     all.left + all.width <= width && all.top + all.height <= height;
    if (!is_inside) return false;
    if (!image->is_broken && (sprite->columns > 1 || sprite->rows > 1)) {
        const uint64_t columns = sprite->columns ? sprite->columns : 1;
        const uint64_t rows = sprite->rows ? sprite->rows : 1;
        const uint64_t frame = sprite->frame % (columns * rows);
        all.width /= (float)columns;
        all.height /= (float)rows;
        all.left += all.width * (float)(frame % columns);
        all.top += all.height * (float)(frame / columns);
    }
    *found = all;
    return true;
}

// The size in pixels of the screen.
static void size_sprite(const canvas* on, const net_sprite* sprite, const part* shown, float* width,
                        float* height) {
    *width = sprite->width * on->at.scale;
    *height = sprite->height * on->at.scale;
    if (sprite->width == 0.0f && sprite->height == 0.0f) {
        *width = shown->width * on->at.scale;
        *height = shown->height * on->at.scale;
    } else if (sprite->width == 0.0f) {
        *width = *height * shown->width / shown->height;
    } else if (sprite->height == 0.0f) {
        *height = *width * shown->height / shown->width;
    }
    *width = within(*width);
    *height = within(*height);
}

// Upright sprites have whole pixels as rectangles have, so that tiles meet without a seam.
static bool place_sprite(const canvas* on, const net_sprite* sprite, float width, float height,
                         float* points) {
    const float x = place_x(on, sprite->x), y = place_y(on, sprite->y);
    const float half_x = width * 0.5f, half_y = height * 0.5f;
    client_box box = {x - half_x, y - half_y, x + half_x, y + half_y};
    if (sprite->angle == 0.0f) {
        box = snap_box(box.left, box.top, box.right, box.bottom);
        const float corners[8] = {box.left,  box.top,    box.right, box.top,
                                  box.right, box.bottom, box.left,  box.bottom};
        memcpy(points, corners, sizeof corners);
        return !is_outside(on, box);
    }
    const float along = base_cos(sprite->angle), across = base_sin(sprite->angle);
    if (along != along) return false;
    static const float signs[8] = {-1, -1, 1, -1, 1, 1, -1, 1};
    for (uint32_t i = 0; i < 8; i += 2) {
        const float to_x = signs[i] * half_x, to_y = signs[i + 1] * half_y;
        points[i] = x + to_x * along - to_y * across;
        points[i + 1] = y + to_x * across + to_y * along;
    }
    const float reach = half_x + half_y;
    return !is_outside(on, (client_box){x - reach, y - reach, x + reach, y + reach});
}

// The places of the part in its texture. Smoothing must not mix in the pixels beside the part. The
// software renderer cuts whole pixels out and rounds down, so its places lie a little beyond.
static void place_part(const client_draw* draw, const client_image* image, const part* shown,
                       bool is_smooth, const net_sprite* sprite, float* places) {
    const float low = draw->batch.is_software || !is_smooth ? ROUNDING : 0.5f;
    const float high = draw->batch.is_software ? -ROUNDING : low;
    const float width = (float)image->width, height = (float)image->height;
    const float left = (shown->left + low) / width, top = (shown->top + low) / height;
    const float right = fminf((shown->left + shown->width - high) / width, 1.0f);
    const float bottom = fminf((shown->top + shown->height - high) / height, 1.0f);
    places[0] = sprite->flip_x ? right : left;
    places[1] = sprite->flip_y ? bottom : top;
    places[2] = sprite->flip_x ? left : right;
    places[3] = sprite->flip_y ? top : bottom;
}

static void draw_sprite(void* context, const net_sprite* given) {
    const canvas* on = context;
    net_sprite sprite = {0};
    memcpy(&sprite, given, given->size_bytes < sizeof sprite ? given->size_bytes : sizeof sprite);
    ecs_color tint = sprite.tint;
    if (is_same(tint, (ecs_color){0, 0, 0, 0})) tint = (ecs_color){255, 255, 255, 255};
    client_images* images = &on->draw->images;
    const client_image* image = client_images_find(images, sprite.image);
    part shown;
    float width = 0.0f, height = 0.0f, points[8], places[4];
    if (tint.a == 0 || !find_part(&sprite, image, &shown)) return;
    size_sprite(on, &sprite, &shown, &width, &height);
    if (!(width > 0.0f) || !(height > 0.0f)) return;
    if (!place_sprite(on, &sprite, width, height, points)) return;
    const bool is_smooth =
        width < shown.width * SHARP_SCALE_MIN || height < shown.height * SHARP_SCALE_MIN;
    place_part(on->draw, image, &shown, is_smooth, &sprite, places);
    client_batch_sprite(enter(on), client_images_texture(images, image, is_smooth), points, places,
                        tint);
}

void client_draw_look(client_draw* draw, uint64_t now_us) {
    client_images_look(&draw->images, now_us);
}

void client_draw_set_assets(client_draw* draw, const char* folder) {
    client_images_open(&draw->images, folder);
}

// ---- text ----

// When the texture is full, the collected triangles are drawn before all glyphs are removed.
static const client_atlas_glyph* find_glyph(client_draw* draw, uint32_t character,
                                            uint32_t height) {
    const client_atlas_glyph* glyph =
        client_atlas_find(&draw->atlas, draw->font, character, height);
    if (glyph) return glyph;
    client_batch_flush(&draw->batch);
    client_atlas_forget(&draw->atlas);
    return client_atlas_find(&draw->atlas, draw->font, character, height);
}

static void draw_text(void* context, float x, float y, float height, ecs_color color,
                      const char* text) {
    const canvas* on = context;
    float pixels = within(height * on->at.scale);
    if (color.a == 0 || !(pixels >= LETTER_PIXELS_MIN)) return;
    bool is_enlarged = pixels > (float)CLIENT_GLYPH_HEIGHT_MAX;
    uint32_t size = is_enlarged ? CLIENT_GLYPH_HEIGHT_MAX : (uint32_t)snap(pixels);
    float grow = is_enlarged ? pixels / (float)size : 1.0f;
    float pen = place_x(on, x), top = snap(place_y(on, y));
    for (uint32_t character; (character = client_font_next(&text)) != 0;) {
        const client_atlas_glyph* glyph = find_glyph(on->draw, character, size);
        if (glyph && glyph->patch.width > 0) {
            float left = snap(pen) + (float)glyph->left * grow;
            float high = top + (float)glyph->top * grow;
            client_box box = {left, high, left + (float)glyph->patch.width * grow,
                              high + (float)glyph->patch.height * grow};
            if (!is_outside(on, box)) client_batch_patch(enter(on), box, &glyph->patch, color);
        }
        pen += client_font_advance(on->draw->font, character, pixels);
    }
}

static float text_width(void* context, float height, const char* text) {
    const canvas* on = context;
    return client_font_width(on->draw->font, height, text);
}

// The one context of net_draw is the canvas.
static const char* player_name(void* context, uint32_t client) {
    const client_draw* draw = ((const canvas*)context)->draw;
    return draw->find_name ? draw->find_name(draw->name_context, client) : NULL;
}

void client_draw_set_names(client_draw* draw, client_name_fn find, void* context) {
    draw->find_name = find;
    draw->name_context = context;
}

net_draw client_draw_get(client_draw* draw, client_canvas id) {
    BASE_ASSERT((uint32_t)id < CLIENT_CANVAS_COUNT);
    draw->canvases[id].at = draw->canvases[id].own;
    return (net_draw){.size_bytes = sizeof(net_draw),
                      .context = &draw->canvases[id],
                      .rect = draw_rect,
                      .circle = draw_circle,
                      .line = draw_line,
                      .triangles = draw_triangles,
                      .text = draw_text,
                      .text_width = text_width,
                      .player_name = player_name,
                      .pixels_per_unit = draw->canvases[id].own.scale,
                      .sprite = draw_sprite,
                      .camera = move_camera,
                      .view_width = draw->canvases[id].width,
                      .view_height = draw->canvases[id].height};
}

// ---- a picture ----

void client_draw_begin(client_draw* draw, ecs_color background) {
    BASE_ASSERT(draw->batch.index_count == 0);
    draw->batch.calls = 0;
    draw->batch.has_clip = false;
    (void)SDL_RenderSetClipRect(draw->batch.renderer, NULL);
    SDL_Renderer* renderer = draw->batch.renderer;
    (void)SDL_SetRenderDrawColor(renderer, background.r, background.g, background.b, 255);
    (void)SDL_RenderClear(renderer);
}

void client_draw_end(client_draw* draw) {
    client_batch_flush(&draw->batch);
    (void)SDL_RenderFlush(draw->batch.renderer);
}

uint32_t client_draw_batches(const client_draw* draw) {
    return draw->batch.calls;
}
