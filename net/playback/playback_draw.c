// SPDX-License-Identifier: MIT
// A net_draw has one context for all its functions, and names come from another place than lines.
#include "playback/playback_draw.h"

#include "base/assert.h"
#include <string.h>

// Width of a glyph where nothing is drawn, in heights.
#define GLYPH_WIDTH 0.55f

static void rect(void* context, float x, float y, float width, float height, ecs_color color) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) draw->rect(draw->context, x, y, width, height, color);
}

static void circle(void* context, float x, float y, float radius, ecs_color color) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) draw->circle(draw->context, x, y, radius, color);
}

static void line(void* context, float x0, float y0, float x1, float y1, float width,
                 ecs_color color) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) draw->line(draw->context, x0, y0, x1, y1, width, color);
}

static void triangles(void* context, const float* points, const ecs_color* colors, uint32_t count) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) draw->triangles(draw->context, points, colors, count);
}

static void text(void* context, float x, float y, float height, ecs_color color, const char* what) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) draw->text(draw->context, x, y, height, color, what);
}

static float text_width(void* context, float height, const char* what) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) return draw->text_width(draw->context, height, what);
    return (float)strlen(what) * height * GLYPH_WIDTH;
}

static const char* player_name(void* context, uint32_t client) {
    const net_playback_drawing* drawing = context;
    const char* name = net_playback_marks_name(drawing->marks, client);
    return name || !drawing->match ? name : net_match_player_name(drawing->match, client);
}

net_draw net_playback_drawing_make(net_playback_drawing* drawing) {
    BASE_ASSERT(drawing && drawing->marks);
    return (net_draw){
        .size_bytes = sizeof(net_draw),
        .context = drawing,
        .rect = rect,
        .circle = circle,
        .line = line,
        .triangles = triangles,
        .text = text,
        .text_width = text_width,
        .player_name = player_name,
        .player = drawing->draw ? drawing->draw->player : ECS_ENTITY_NONE,
        .pixels_per_unit = drawing->draw ? drawing->draw->pixels_per_unit : 1.0f,
    };
}
