// SPDX-License-Identifier: MIT
// The game's calls as words that the page reads at once: a picture costs one call between wasm and
// JavaScript, not thousands.
#include "web.h"

#include <string.h>

#define LETTER_OTHER 0.6f     ///< the width of a letter without one of its own
#define TEXT_SHRINKS_MAX 5.0f ///< a text that is smaller by more stays as it is

typedef union word {
    uint32_t whole;
    float real;
    ecs_color color;
} word;

static word* begin_call(web_drawing* drawing, web_call kind, size_t words) {
    word* at = (word*)(void*)base_bytes_extend(&drawing->calls, (1 + words) * sizeof *at);
    drawing->call_count++;
    at->whole = (uint32_t)kind;
    return at + 1;
}

static size_t text_words(const char* text) {
    return 1 + (strlen(text) + sizeof(word) - 1) / sizeof(word);
}

static void put_text(word* at, const char* text) {
    const size_t size = strlen(text), words = text_words(text) - 1;
    at->whole = (uint32_t)size;
    if (words > 0) at[words].whole = 0;
    memcpy(at + 1, text, size);
}

static void put_floats(word* at, const float* values, uint32_t count) {
    memcpy(at, values, count * sizeof *values);
}

static void rect(void* context, float x, float y, float width, float height, ecs_color color) {
    word* at = begin_call(context, WEB_CALL_RECT, 5);
    at->color = color;
    put_floats(at + 1, (const float[]){x, y, width, height}, 4);
}

static void circle(void* context, float x, float y, float radius, ecs_color color) {
    word* at = begin_call(context, WEB_CALL_CIRCLE, 4);
    at->color = color;
    put_floats(at + 1, (const float[]){x, y, radius}, 3);
}

static void line(void* context, float x0, float y0, float x1, float y1, float width,
                 ecs_color color) {
    word* at = begin_call(context, WEB_CALL_LINE, 6);
    at->color = color;
    put_floats(at + 1, (const float[]){x0, y0, x1, y1, width}, 5);
}

static void triangles(void* context, const float* points, const ecs_color* colors, uint32_t count) {
    count -= count % 3;
    word* at = begin_call(context, WEB_CALL_TRIANGLES, 1 + (size_t)count * 3);
    at->whole = count;
    put_floats(at + 1, points, count * 2);
    memcpy(at + 1 + (size_t)count * 2, colors, count * sizeof *colors);
}

// What a small screen makes too small; a game that makes it smaller still wants none to be read.
static float text_height(const web_drawing* drawing, float height) {
    const float least = drawing->text_pixels / drawing->scale;
    return height < least && height * TEXT_SHRINKS_MAX > least ? least : height;
}

static void text(void* context, float x, float y, float height, ecs_color color, const char* what) {
    const float shown = text_height(context, height);
    word* at = begin_call(context, WEB_CALL_TEXT, 4 + text_words(what));
    at->color = color;
    put_floats(at + 1, (const float[]){x, y - (shown - height) * 0.5f, shown}, 3);
    put_text(at + 4, what);
}

static void sprite(void* context, const net_sprite* given) {
    net_sprite shown = {0};
    memcpy(&shown, given, given->size_bytes < sizeof shown ? given->size_bytes : sizeof shown);
    if (!shown.image) return;
    word* at = begin_call(context, WEB_CALL_SPRITE, 14 + text_words(shown.image));
    at[0].color = shown.tint;
    put_floats(at + 1, (const float[]){shown.x, shown.y, shown.width, shown.height, shown.angle},
               5);
    at[6].whole = shown.columns;
    at[7].whole = shown.rows;
    at[8].whole = shown.frame;
    put_floats(at + 9,
               (const float[]){shown.part_x, shown.part_y, shown.part_width, shown.part_height}, 4);
    at[13].whole = (uint32_t)shown.flip_x + 2u * (uint32_t)shown.flip_y;
    put_text(at + 14, shown.image);
}

static float camera(void* context, float x, float y, float zoom) {
    web_drawing* drawing = context;
    const float left = drawing->view_width * 0.5f - x * zoom;
    const float top = drawing->view_height * 0.5f - y * zoom;
    // Written so that NaN is none. The page keeps the camera before then.
    word* at = zoom > 0.0f && zoom < 1e6f ? begin_call(context, WEB_CALL_CAMERA, 3) : NULL;
    if (!at) return drawing->pixels_per_unit;
    put_floats(at, (const float[]){left, top, zoom}, 3);
    drawing->scale = drawing->pixels_per_unit * zoom;
    if (drawing->zoom == 0.0f) {
        drawing->left = left;
        drawing->top = top;
        drawing->zoom = zoom;
    }
    return drawing->pixels_per_unit * zoom;
}

// Of UTF-8 the letters of Latin-1 have widths of their own, which take one or two bytes.
static float text_width(void* context, float height, const char* what) {
    const web_drawing* drawing = context;
    const uint8_t* at = (const uint8_t*)what;
    float width = 0.0f;
    for (; *at; at++) {
        if ((*at & 0xc0u) == 0x80u) continue;
        uint32_t letter = *at;
        if ((letter & 0xe0u) == 0xc0u) letter = ((letter & 0x1fu) << 6) | (at[1] & 0x3fu);
        const uint32_t place = letter - WEB_LETTER_FIRST;
        width += place < WEB_LETTER_COUNT ? drawing->widths[place] : LETTER_OTHER;
    }
    return width * text_height(drawing, height);
}

static const char* player_name(void* context, uint32_t client) {
    const web_drawing* drawing = context;
    return drawing->name ? drawing->name(drawing->names, client) : NULL;
}

net_draw web_drawing_begin(web_drawing* drawing, const net_game_module* game,
                           float pixels_per_unit) {
    drawing->view_width = game ? game->view_width : 1.0f;
    drawing->view_height = game ? game->view_height : 1.0f;
    drawing->pixels_per_unit = drawing->scale = pixels_per_unit;
    drawing->zoom = 0.0f;
    base_bytes_clear(&drawing->calls);
    drawing->call_count = 0;
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
        .pixels_per_unit = pixels_per_unit,
        .view_width = drawing->view_width,
        .view_height = drawing->view_height,
        .sprite = sprite,
        .camera = camera,
    };
}
