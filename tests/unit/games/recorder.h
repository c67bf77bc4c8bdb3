// SPDX-License-Identifier: MIT
/// A picture, drawn into counters and a list of texts instead of a window.
#pragma once

#include "test.h"

#include "base/hash.h"
#include "base/math.h"
#include "net/match.h"

#define RECORDER_TEXTS_MAX 256u

typedef struct recorder {
    uint32_t rects, circles, lines, points, texts, sprites, cameras;
    uint32_t shapes;                    ///< places that something was drawn at
    uint64_t hash;                      ///< of all that was drawn
    float low_x, low_y, high_x, high_y; ///< their bounds
    char text[RECORDER_TEXTS_MAX][64];
} recorder;

static inline void recorder_add(recorder* r, const void* data, size_t size) {
    r->hash = base_hash64(data, size, r->hash);
}

static inline void recorder_see(recorder* r, float x, float y) {
    // no NaN may reach the screen
    assert_true(x == x && y == y && base_abs(x) < 1e5f && base_abs(y) < 1e5f);
    r->shapes++;
    recorder_add(r, (float[]){x, y}, 2 * sizeof x);
    if (x < r->low_x) r->low_x = x;
    if (y < r->low_y) r->low_y = y;
    if (x > r->high_x) r->high_x = x;
    if (y > r->high_y) r->high_y = y;
}

static inline void recorder_rect(void* context, float x, float y, float width, float height,
                                 ecs_color color) {
    recorder* r = context;
    r->rects++;
    assert_true(width > 0.0f && height > 0.0f);
    recorder_see(r, x, y);
    recorder_see(r, x + width, y + height);
    recorder_add(r, &color, sizeof color);
}

static inline void recorder_circle(void* context, float x, float y, float radius, ecs_color color) {
    recorder* r = context;
    r->circles++;
    assert_true(radius > 0.0f);
    recorder_see(r, x, y);
    recorder_add(r, &radius, sizeof radius);
    recorder_add(r, &color, sizeof color);
}

static inline void recorder_line(void* context, float x0, float y0, float x1, float y1, float width,
                                 ecs_color color) {
    recorder* r = context;
    r->lines++;
    assert_true(width > 0.0f);
    recorder_see(r, x0, y0);
    recorder_see(r, x1, y1);
    recorder_add(r, &width, sizeof width);
    recorder_add(r, &color, sizeof color);
}

static inline void recorder_triangles(void* context, const float* points, const ecs_color* colors,
                                      uint32_t count) {
    recorder* r = context;
    assert_int_equal(count % 3, 0);
    r->points += count;
    for (uint32_t i = 0; i < count; i++)
        recorder_see(r, points[i * 2], points[i * 2 + 1]);
    recorder_add(r, colors, count * sizeof *colors);
}

static inline void recorder_text(void* context, float x, float y, float height, ecs_color color,
                                 const char* text) {
    recorder* r = context;
    assert_true(height > 0.0f && text[0] != '\0');
    recorder_see(r, x, y);
    if (r->texts < RECORDER_TEXTS_MAX) snprintf(r->text[r->texts++], sizeof r->text[0], "%s", text);
    recorder_add(r, &height, sizeof height);
    recorder_add(r, &color, sizeof color);
    recorder_add(r, text, strlen(text));
}

static inline float recorder_text_width(void* context, float height, const char* text) {
    return (float)strlen(text) * height * 0.5f;
}

static inline void recorder_sprite(void* context, const net_sprite* sprite) {
    recorder* r = context;
    assert_true(net_asset_name_is_valid(sprite->image));
    assert_true(sprite->width >= 0.0f && sprite->height >= 0.0f);
    recorder_see(r, sprite->x, sprite->y);
    r->sprites++;
}

static inline float recorder_camera(void* context, float x, float y, float zoom) {
    recorder* r = context;
    assert_true(x == x && y == y && zoom > 0.0f);
    r->cameras++;
    return zoom;
}

static inline const char* recorder_player_name(void* context, uint32_t client) {
    return client == 1 ? "Ada" : NULL;
}

/// What draws into an empty recorder.
static inline net_draw recorder_draw(recorder* r, ecs_entity player, double tick) {
    memset(r, 0, sizeof *r);
    return (net_draw){
        .size_bytes = sizeof(net_draw),
        .context = r,
        .rect = recorder_rect,
        .circle = recorder_circle,
        .line = recorder_line,
        .triangles = recorder_triangles,
        .text = recorder_text,
        .text_width = recorder_text_width,
        .player = player,
        .player_name = recorder_player_name,
        .tick = tick,
        .pixels_per_unit = 1.0f,
        .sprite = recorder_sprite,
        .camera = recorder_camera,
    };
}

static inline void recorder_run(net_match* match, net_draw* draw) {
    ecs_world* world = net_match_world(match);
    ecs_step step = {.tick = net_match_tick(match), .dt = net_match_dt(match), .user = draw};
    ecs_world_run_stage(world, ecs_stage_find(world, "render"), &step);
}

static inline bool recorder_has_text(const recorder* r, const char* text) {
    for (uint32_t i = 0; i < r->texts; i++)
        if (strcmp(r->text[i], text) == 0) return true;
    return false;
}
