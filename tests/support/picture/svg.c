// SPDX-License-Identifier: MIT
// Writes SVG directly: a picture has a few hundred elements, so each is written at once. A run of
// equal shapes (a grid, the edges of a brick) is one path, which keeps the file small.
#include "svg.h"

#include "base/math.h"

#include <string.h>

// Widths of Helvetica in thousandths of its size, from space to tilde.
static const uint16_t glyph_widths[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

_Static_assert(sizeof glyph_widths / sizeof *glyph_widths == 95, "a width for each glyph");

static bool is_same_color(ecs_color a, ecs_color b) {
    return a.r == b.r && a.g == b.g && a.b == b.b && a.a == b.a;
}

// Tenths without a trailing ".0": "12", "-3.5".
static void put_number(FILE* file, float value) {
    int32_t tenths = (int32_t)(value * 10.0f + (value < 0.0f ? -0.5f : 0.5f));
    uint32_t size = tenths < 0 ? 0u - (uint32_t)tenths : (uint32_t)tenths;
    fprintf(file, "%s%u", tenths < 0 ? "-" : "", size / 10);
    if (size % 10) fprintf(file, ".%u", size % 10);
}

static void put_attribute(FILE* file, const char* name, float value) {
    fprintf(file, " %s=\"", name);
    put_number(file, value);
    fputc('"', file);
}

static void put_color(FILE* file, const char* name, ecs_color color) {
    fprintf(file, " %s=\"#%02x%02x%02x\"", name, color.r, color.g, color.b);
    uint32_t thousandths = (color.a * 1000u + 127u) / 255u;
    bool is_stop = strcmp(name, "stop-color") == 0; // its opacity is called stop-opacity
    if (color.a < 255) fprintf(file, " %s-opacity=\".%03u\"", is_stop ? "stop" : name, thousandths);
}

static void close_element(svg* picture) {
    if (picture->open != SVG_NOTHING) fputs("\"/>\n", picture->file);
    picture->open = SVG_NOTHING;
}

static void put_rect_path(FILE* file, float x, float y, float width, float height) {
    fputc('M', file);
    put_number(file, x);
    fputc(' ', file);
    put_number(file, y);
    fputc('h', file);
    put_number(file, width);
    fputc('v', file);
    put_number(file, height);
    fputc('h', file);
    put_number(file, -width);
    fputc('z', file);
}

static void draw_rect(void* context, float x, float y, float width, float height, ecs_color color) {
    svg* picture = context;
    if (!picture->file || color.a == 0) return;
    if (picture->open != SVG_RECTS || !is_same_color(picture->color, color)) {
        close_element(picture);
        fputs("<path", picture->file);
        put_color(picture->file, "fill", color);
        fputs(" d=\"", picture->file);
        picture->open = SVG_RECTS;
        picture->color = color;
    }
    put_rect_path(picture->file, x, y, width, height);
}

static void draw_circle(void* context, float x, float y, float radius, ecs_color color) {
    svg* picture = context;
    if (!picture->file || color.a == 0) return;
    close_element(picture);
    fputs("<circle", picture->file);
    put_attribute(picture->file, "cx", x);
    put_attribute(picture->file, "cy", y);
    put_attribute(picture->file, "r", radius);
    put_color(picture->file, "fill", color);
    fputs("/>\n", picture->file);
}

static void draw_line(void* context, float x0, float y0, float x1, float y1, float width,
                      ecs_color color) {
    svg* picture = context;
    if (!picture->file || color.a == 0) return;
    bool is_open = picture->open == SVG_LINES && is_same_color(picture->color, color) &&
                   picture->line_width == width;
    if (!is_open) {
        close_element(picture);
        fputs("<path fill=\"none\"", picture->file);
        put_color(picture->file, "stroke", color);
        put_attribute(picture->file, "stroke-width", width);
        fputs(" d=\"", picture->file);
        picture->open = SVG_LINES;
        picture->color = color;
        picture->line_width = width;
    }
    const float numbers[] = {x0, y0, x1, y1};
    for (uint32_t i = 0; i < 4; i++) {
        fputc(i == 0 ? 'M' : i == 2 ? 'L' : ' ', picture->file);
        put_number(picture->file, numbers[i]);
    }
}

// Get the number of a gradient. Its first use writes it into the file. @return SVG_GRADIENTS_MAX:
// none is free.
static uint32_t find_gradient(svg* picture, ecs_color top, ecs_color bottom, bool is_radial) {
    for (uint32_t i = 0; i < picture->gradient_count; i++) {
        const svg_gradient* known = &picture->gradients[i];
        if (known->is_radial == is_radial && is_same_color(known->top, top) &&
            is_same_color(known->bottom, bottom))
            return i;
    }
    if (picture->gradient_count == SVG_GRADIENTS_MAX) return SVG_GRADIENTS_MAX;
    uint32_t number = picture->gradient_count++;
    picture->gradients[number] = (svg_gradient){top, bottom, is_radial};
    close_element(picture);
    const char* kind = is_radial ? "radial" : "linear";
    fprintf(picture->file, "<%sGradient id=\"g%u\"%s><stop", kind, number,
            is_radial ? "" : " x2=\"0\" y2=\"1\"");
    put_color(picture->file, "stop-color", top);
    fputs("/><stop offset=\"1\"", picture->file);
    put_color(picture->file, "stop-color", bottom);
    fprintf(picture->file, "/></%sGradient>\n", kind);
    return number;
}

// Two triangles that cover an upright rectangle, one colour along its top, one along its bottom.
static bool draw_gradient(svg* picture, const float* points, const ecs_color* colors) {
    float left = points[0], right = points[0], top = points[1], bottom = points[1];
    for (uint32_t i = 0; i < 6; i++) {
        float x = points[i * 2], y = points[i * 2 + 1];
        left = x < left ? x : left;
        right = x > right ? x : right;
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
    }
    uint32_t corners[2] = {0, 0}; // which of the four corners a triangle touches
    const ecs_color* top_color = NULL;
    const ecs_color* bottom_color = NULL;
    for (uint32_t i = 0; i < 6; i++) {
        float x = points[i * 2], y = points[i * 2 + 1];
        if ((x != left && x != right) || (y != top && y != bottom)) return false;
        corners[i / 3] |= 1u << ((x == right) + 2 * (y == bottom));
        const ecs_color** side = y == top ? &top_color : &bottom_color;
        if (*side && !is_same_color(**side, colors[i])) return false;
        *side = &colors[i];
    }
    // Together they have all corners, and share the two of a diagonal; else they overlap.
    uint32_t shared = corners[0] & corners[1];
    bool is_whole = left < right && top < bottom && (corners[0] | corners[1]) == 15u;
    if (!is_whole || (shared != 6u && shared != 9u)) return false;
    uint32_t gradient = find_gradient(picture, *top_color, *bottom_color, false);
    if (gradient == SVG_GRADIENTS_MAX) return false;
    close_element(picture);
    fputs("<rect", picture->file);
    put_attribute(picture->file, "x", left);
    put_attribute(picture->file, "y", top);
    put_attribute(picture->file, "width", right - left);
    put_attribute(picture->file, "height", bottom - top);
    fprintf(picture->file, " fill=\"url(#g%u)\"/>\n", gradient);
    return true;
}

// Triangles around one point, from one colour there to another at all other points: an ellipse of
// light.
static bool draw_fan(svg* picture, const float* points, const ecs_color* colors, uint32_t count) {
    if (count < 18 || !is_same_color(colors[1], colors[2])) return false;
    float left = points[0], right = points[0], top = points[1], bottom = points[1];
    for (uint32_t i = 0; i < count; i++) {
        float x = points[i * 2], y = points[i * 2 + 1];
        if (i % 3 == 0 && (x != points[0] || y != points[1])) return false;
        if (!is_same_color(colors[i], colors[i % 3 == 0 ? 0 : 1])) return false;
        left = x < left ? x : left;
        right = x > right ? x : right;
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
    }
    uint32_t gradient = find_gradient(picture, colors[0], colors[1], true);
    if (gradient == SVG_GRADIENTS_MAX) return false;
    close_element(picture);
    fputs("<ellipse", picture->file);
    put_attribute(picture->file, "cx", points[0]);
    put_attribute(picture->file, "cy", points[1]);
    put_attribute(picture->file, "rx", (right - left) * 0.5f);
    put_attribute(picture->file, "ry", (bottom - top) * 0.5f);
    fprintf(picture->file, " fill=\"url(#g%u)\"/>\n", gradient);
    return true;
}

static uint8_t mean(uint8_t a, uint8_t b, uint8_t c) {
    return (uint8_t)((a + b + c) / 3);
}

static void draw_polygon(svg* picture, const float* points, const ecs_color* colors) {
    close_element(picture);
    ecs_color color = {
        mean(colors[0].r, colors[1].r, colors[2].r), mean(colors[0].g, colors[1].g, colors[2].g),
        mean(colors[0].b, colors[1].b, colors[2].b), mean(colors[0].a, colors[1].a, colors[2].a)};
    fputs("<polygon", picture->file);
    put_color(picture->file, "fill", color);
    fputs(" points=\"", picture->file);
    for (uint32_t i = 0; i < 6; i++) {
        if (i > 0) fputc(' ', picture->file);
        put_number(picture->file, points[i]);
    }
    fputs("\"/>\n", picture->file);
}

static void draw_triangles(void* context, const float* points, const ecs_color* colors,
                           uint32_t count) {
    svg* picture = context;
    if (!picture->file || draw_fan(picture, points, colors, count)) return;
    for (uint32_t i = 0; i + 3 <= count;) {
        bool is_rect = i + 6 <= count && draw_gradient(picture, points + i * 2, colors + i);
        if (!is_rect) draw_polygon(picture, points + i * 2, colors + i);
        i += is_rect ? 6 : 3;
    }
}

static void put_text(FILE* file, const char* text) {
    for (const char* at = text; *at; at++)
        if (*at == '<')
            fputs("&lt;", file);
        else if (*at == '&')
            fputs("&amp;", file);
        else if ((unsigned char)*at >= ' ' && (unsigned char)*at < 127)
            fputc(*at, file);
        else
            fputc('?', file); // players choose names
}

// x, y is the upper left corner, as for rectangles.
static void draw_text(void* context, float x, float y, float height, ecs_color color,
                      const char* text) {
    svg* picture = context;
    if (!picture->file || color.a == 0 || !text[0]) return;
    close_element(picture);
    fputs("<text", picture->file);
    put_attribute(picture->file, "x", x);
    put_attribute(picture->file, "y", y + height * 0.8f);
    put_attribute(picture->file, "font-size", height);
    put_color(picture->file, "fill", color);
    fputc('>', picture->file);
    put_text(picture->file, text);
    fputs("</text>\n", picture->file);
}

// The frame of a sheet is a window of 1 x 1 over a picture of columns x rows. The size of a file is
// not known here, so sprites without a size of their own, and parts in pixels, are not drawn.
static void draw_sprite(void* context, const net_sprite* sprite) {
    svg* picture = context;
    const float width = sprite->width > 0.0f ? sprite->width : sprite->height;
    const float height = sprite->height > 0.0f ? sprite->height : sprite->width;
    if (!picture->file || !(width > 0.0f) || sprite->part_width > 0.0f || !sprite->image) return;
    const uint32_t columns = sprite->columns ? sprite->columns : 1;
    const uint32_t rows = sprite->rows ? sprite->rows : 1;
    const uint32_t frame = sprite->frame % (columns * rows);
    FILE* file = picture->file;
    close_element(picture);
    fputs("<g transform=\"translate(", file);
    put_number(file, sprite->x);
    fputc(' ', file);
    put_number(file, sprite->y);
    fputs(") rotate(", file);
    put_number(file, sprite->angle * 180.0f / BASE_PI);
    fprintf(file, ") scale(%d %d)\"><svg", sprite->flip_x ? -1 : 1, sprite->flip_y ? -1 : 1);
    put_attribute(file, "x", -width * 0.5f);
    put_attribute(file, "y", -height * 0.5f);
    put_attribute(file, "width", width);
    put_attribute(file, "height", height);
    fprintf(file,
            " viewBox=\"%u %u 1 1\" preserveAspectRatio=\"none\"><image width=\"%u\" height=\"%u\" "
            "preserveAspectRatio=\"none\" href=\"",
            frame % columns, frame / columns, columns, rows);
    put_text(file, sprite->image);
    fputs("\"/></svg></g>\n", file);
}

static float text_width(void* context, float height, const char* text) {
    (void)context;
    uint32_t thousandths = 0;
    for (const char* at = text; *at; at++) {
        uint32_t glyph = (unsigned char)*at;
        bool is_known = glyph >= ' ' && glyph < 127;
        thousandths += is_known ? glyph_widths[glyph - ' '] : glyph_widths['?' - ' '];
    }
    return (float)thousandths * height * 0.001f;
}

void svg_begin(svg* picture, FILE* file, float width, float height, const char* title) {
    *picture = (svg){.file = file};
    if (!file) return;
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", file);
    put_number(file, width);
    fputc(' ', file);
    put_number(file, height);
    fputs("\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n<title>", file);
    put_text(file, title);
    fputs("</title>\n", file);
}

bool svg_end(svg* picture) {
    if (!picture->file) return true;
    close_element(picture);
    fputs("</svg>\n", picture->file);
    return fflush(picture->file) == 0 && !ferror(picture->file);
}

static const char* player_name(void* context, uint32_t client) {
    const net_playback* playback = ((const svg*)context)->playback;
    return playback ? net_playback_player_name(playback, client) : NULL;
}

net_draw svg_draw(svg* picture) {
    return (net_draw){.size_bytes = sizeof(net_draw),
                      .context = picture,
                      .rect = draw_rect,
                      .circle = draw_circle,
                      .line = draw_line,
                      .triangles = draw_triangles,
                      .text = draw_text,
                      .text_width = text_width,
                      .player_name = player_name,
                      .sprite = draw_sprite};
}
