// SPDX-License-Identifier: MIT
// Shapes over net_draw. A shape without area or alpha, or outside of the view, is not drawn.

#include "arena.h"

#include "base/math.h"

#define RING_SIDES 64u

ecs_color arena_team_color(uint32_t team) {
    static const ecs_color colors[] = {{190, 196, 210, 255},
                                       {255, 92, 92, 255},
                                       {74, 158, 255, 255},
                                       {88, 214, 120, 255},
                                       {255, 196, 64, 255}};
    return colors[team < BASE_COUNT(colors) ? team : 0];
}

ecs_vec2 arena_to_view(const arena_pen* pen, float x, float y) {
    return (ecs_vec2){(x - pen->x) * pen->scale + ARENA_VIEW_WIDTH * 0.5f,
                      (y - pen->y) * pen->scale + ARENA_VIEW_HEIGHT * 0.5f};
}

bool arena_is_shown(ecs_vec2 at, float reach) {
    return at.x > -reach && at.y > -reach && at.x < ARENA_VIEW_WIDTH + reach &&
           at.y < ARENA_VIEW_HEIGHT + reach;
}

void arena_disc(const arena_pen* pen, float x, float y, float radius, ecs_color color) {
    ecs_vec2 at = arena_to_view(pen, x, y);
    radius *= pen->scale;
    if (color.a == 0 || !(radius > 0.0f) || !arena_is_shown(at, radius)) return;
    pen->draw->circle(pen->draw->context, at.x, at.y, radius, color);
}

void arena_line(const arena_pen* pen, float x0, float y0, float x1, float y1, float width,
                ecs_color color) {
    ecs_vec2 from = arena_to_view(pen, x0, y0), to = arena_to_view(pen, x1, y1);
    if (color.a == 0) return;
    pen->draw->line(pen->draw->context, from.x, from.y, to.x, to.y, width * pen->scale, color);
}

void arena_streak(const arena_pen* pen, ecs_vec2 head, ecs_vec2 tail, float width,
                  ecs_color color) {
    ecs_vec2 to = arena_to_view(pen, head.x, head.y), from = arena_to_view(pen, tail.x, tail.y);
    if (!arena_is_shown(to, 100.0f)) return;
    float x = to.x - from.x, y = to.y - from.y;
    float length = base_sqrt(x * x + y * y);
    if (!(length > 0.01f)) return;
    float half = width * pen->scale * 0.5f;
    float side_x = -y / length * half, side_y = x / length * half;
    const float points[] = {to.x + side_x, to.y + side_y, to.x - side_x,
                            to.y - side_y, from.x,        from.y};
    const ecs_color colors[] = {color, color, ecs_color_fade(color, 0.0f)};
    pen->draw->triangles(pen->draw->context, points, colors, BASE_COUNT(colors));
}

void arena_glow(const arena_pen* pen, float x, float y, float radius, ecs_color color) {
    ecs_vec2 at = arena_to_view(pen, x, y);
    radius *= pen->scale;
    if (color.a == 0 || !(radius > 0.0f) || !arena_is_shown(at, radius)) return;
    net_draw_glow(pen->draw, at.x, at.y, radius, radius, color);
}

void arena_ring(const arena_pen* pen, float x, float y, float inner, float outer,
                ecs_color inner_color, ecs_color outer_color) {
    static const uint8_t corners[] = {0, 1, 2, 2, 1, 3}; // end * 2 + (1: outer)
    float points[RING_SIDES * 12];
    ecs_color colors[RING_SIDES * 6];
    ecs_vec2 at = arena_to_view(pen, x, y);
    float radii[] = {inner * pen->scale, outer * pen->scale};
    if (!arena_is_shown(at, radii[1])) return;
    for (uint32_t i = 0; i < RING_SIDES; i++) {
        for (uint32_t k = 0; k < BASE_COUNT(corners); k++) {
            float angle = (float)(i + corners[k] / 2) * (2.0f * BASE_PI / (float)RING_SIDES);
            uint32_t side = corners[k] % 2, to = i * 6 + k;
            points[to * 2] = at.x + base_cos(angle) * radii[side];
            points[to * 2 + 1] = at.y + base_sin(angle) * radii[side];
            colors[to] = side ? outer_color : inner_color;
        }
    }
    pen->draw->triangles(pen->draw->context, points, colors, BASE_COUNT(colors));
}

void arena_facet(const arena_pen* pen, ecs_vec2 a, ecs_vec2 b, ecs_vec2 c, ecs_color color) {
    const ecs_vec2 corners[] = {arena_to_view(pen, a.x, a.y), arena_to_view(pen, b.x, b.y),
                                arena_to_view(pen, c.x, c.y)};
    const float points[] = {corners[0].x, corners[0].y, corners[1].x,
                            corners[1].y, corners[2].x, corners[2].y};
    const ecs_color colors[] = {color, color, color};
    pen->draw->triangles(pen->draw->context, points, colors, BASE_COUNT(colors));
}

ecs_vec2 arena_part(const arena_figure* figure, float x, float y) {
    return (ecs_vec2){figure->pos.x + figure->way.x * x - figure->way.y * y,
                      figure->pos.y + figure->way.y * x + figure->way.x * y};
}

void arena_limb(const arena_figure* figure, float x0, float y0, float x1, float y1, float width,
                ecs_color color) {
    const ecs_vec2 from = arena_part(figure, x0, y0), to = arena_part(figure, x1, y1);
    arena_line(figure->pen, from.x, from.y, to.x, to.y, width, color);
}

void arena_knob(const arena_figure* figure, float x, float y, float radius, ecs_color color) {
    const ecs_vec2 at = arena_part(figure, x, y);
    arena_disc(figure->pen, at.x, at.y, radius, color);
}

void arena_box(const net_draw* draw, float x, float y, float width, float height, ecs_color color) {
    if (color.a == 0 || !(width > 0.0f) || !(height > 0.0f)) return;
    draw->rect(draw->context, x, y, width, height, color);
}
