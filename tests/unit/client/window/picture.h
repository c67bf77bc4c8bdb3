// SPDX-License-Identifier: MIT
/// A picture in memory, drawn by SDL's software renderer. It shows what a window would show.
#pragma once

#include "window/draw_sdl.h"
#include "scarce.h"
#include "test.h"

#include <SDL.h>

typedef struct picture {
    scarce_memory memory; ///< counted, so that a test sees that a steady frame allocates nothing
    SDL_Surface* surface;
    SDL_Renderer* renderer;
    client_draw* draw;
    net_draw view, screen;
} picture;

static const ecs_color picture_background = {10, 20, 30, 255};
/// Colours of shapes.
static const ecs_color red = {255, 0, 0, 255}, green = {0, 255, 0, 255}, blue = {0, 0, 255, 255};
/// Colours of our own screens.
static const ecs_color bright_text = {240, 244, 255, 255}, accent = {92, 200, 255, 255};
static const ecs_color warm = {255, 178, 92, 255}, soft = {160, 174, 212, 255};

static inline void picture_begin(picture* p) {
    client_draw_begin(p->draw, picture_background);
    p->view = client_draw_get(p->draw, CLIENT_CANVAS_VIEW);
    p->screen = client_draw_get(p->draw, CLIENT_CANVAS_SCREEN);
}

static inline void picture_open(picture* p, uint32_t width, uint32_t height, float view_width,
                                float view_height) {
    memset(p, 0, sizeof *p);
    scarce_init(&p->memory);
    p->surface =
        SDL_CreateRGBSurfaceWithFormat(0, (int)width, (int)height, 32, SDL_PIXELFORMAT_ARGB8888);
    assert_non_null(p->surface);
    p->renderer = SDL_CreateSoftwareRenderer(p->surface);
    assert_non_null(p->renderer);
    p->draw = client_draw_create(&p->memory.allocator, p->renderer, test_reporter());
    assert_non_null(p->draw);
    client_draw_resize(p->draw, width, height, view_width, view_height);
    picture_begin(p);
}

static inline void picture_close(picture* p) {
    client_draw_destroy(p->draw);
    SDL_DestroyRenderer(p->renderer);
    SDL_FreeSurface(p->surface);
    assert_true(p->memory.bytes == 0);
}

static inline ecs_color picture_pixel(const picture* p, int x, int y) {
    assert_in_range(x, 0, p->surface->w - 1);
    assert_in_range(y, 0, p->surface->h - 1);
    uint32_t pixel;
    memcpy(&pixel, (const uint8_t*)p->surface->pixels + y * p->surface->pitch + x * 4, 4);
    return (ecs_color){(uint8_t)(pixel >> 16), (uint8_t)(pixel >> 8), (uint8_t)pixel, 255};
}

static inline bool picture_is(const picture* p, int x, int y, ecs_color color, int off) {
    ecs_color is = picture_pixel(p, x, y);
    return abs(is.r - color.r) <= off && abs(is.g - color.g) <= off && abs(is.b - color.b) <= off;
}

static inline bool picture_is_background(const picture* p, int x, int y) {
    return picture_is(p, x, y, picture_background, 0);
}

/// Count the pixels of a box that are near a colour.
static inline uint32_t picture_count(const picture* p, int left, int top, int width, int height,
                                     ecs_color color, int off) {
    uint32_t count = 0;
    for (int y = top; y < top + height; y++)
        for (int x = left; x < left + width; x++)
            count += picture_is(p, x, y, color, off);
    return count;
}

/// Count the pixels of a box that are not the background.
static inline uint32_t picture_drawn(const picture* p, int left, int top, int width, int height) {
    uint32_t all = (uint32_t)(width * height);
    return all - picture_count(p, left, top, width, height, picture_background, 0);
}

enum { WIDTH = 960, HEIGHT = 540 };

/// A case with the picture of a screen.
#define SCREEN_CASE(name)                                                                          \
    CASE_WITH(picture, p, picture_open(p, WIDTH, HEIGHT, 1200.0f, 800.0f), picture_close(p), name)

/// Draw a new picture: SHOWN(p, client_screen_help(&p->screen, ...)).
#define SHOWN(p, call)                                                                             \
    do {                                                                                           \
        picture_begin(p);                                                                          \
        call;                                                                                      \
        client_draw_end((p)->draw);                                                                \
    } while (0)
