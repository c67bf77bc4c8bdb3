// SPDX-License-Identifier: MIT
// Shapes over net_draw. A shape without area or alpha is not drawn.

#include "paint.h"

#include "base/math.h"

#define BAR_SLICES 8u

void breakout_rect(const breakout_pen* pen, float x, float y, float width, float height,
                   ecs_color color) {
    if (color.a == 0 || !(width > 0.0f) || !(height > 0.0f)) return;
    pen->draw->rect(pen->draw->context, x + pen->x, y + pen->y, width, height, color);
}

void breakout_gradient(const breakout_pen* pen, float x, float y, float width, float height,
                       ecs_color top, ecs_color bottom) {
    net_draw_gradient(pen->draw, x + pen->x, y + pen->y, width, height, top, bottom, false);
}

void breakout_circle(const breakout_pen* pen, float x, float y, float radius, ecs_color color) {
    if (color.a == 0 || !(radius > 0.0f)) return;
    pen->draw->circle(pen->draw->context, x + pen->x, y + pen->y, radius, color);
}

void breakout_glow(const breakout_pen* pen, float x, float y, float radius_x, float radius_y,
                   ecs_color color) {
    net_draw_glow(pen->draw, x + pen->x, y + pen->y, radius_x, radius_y, color);
}

// The bar consists of slices from top to bottom. Their ends lie on the round ends of the bar.
void breakout_bar(const breakout_pen* pen, float x, float y, float width, float height,
                  ecs_color top, ecs_color bottom) {
    if (!(height > 0.0f) || !(width >= height)) return;
    float points[BAR_SLICES * 12];
    ecs_color colors[BAR_SLICES * 6];
    float radius = height * 0.5f;
    for (uint32_t i = 0; i < BAR_SLICES; i++) {
        float edges[2][3]; // left, right, y
        ecs_color tints[2];
        for (uint32_t end = 0; end < 2; end++) {
            float angle = (float)(i + end) * (BASE_PI / (float)BAR_SLICES);
            float inset = radius - base_sin(angle) * radius;
            float part = (1.0f - base_cos(angle)) * 0.5f;
            edges[end][0] = x + inset + pen->x;
            edges[end][1] = x + width - inset + pen->x;
            edges[end][2] = y + part * height + pen->y;
            tints[end] = ecs_color_mix(top, bottom, part);
        }
        // The index of a corner is end * 2 + side.
        static const uint8_t corners[] = {0, 1, 2, 2, 1, 3};
        for (uint32_t k = 0; k < BASE_COUNT(corners); k++) {
            uint32_t end = corners[k] / 2, at = i * 6 + k;
            points[at * 2] = edges[end][corners[k] % 2];
            points[at * 2 + 1] = edges[end][2];
            colors[at] = tints[end];
        }
    }
    pen->draw->triangles(pen->draw->context, points, colors, BASE_COUNT(colors));
}

void breakout_text(const breakout_pen* pen, float x, float y, float height, ecs_color color,
                   net_align align, const char* text) {
    if (color.a == 0 || !(height > 0.0f)) return;
    net_draw_text(pen->draw, x + pen->x, y + pen->y, height, color, align, text);
}
