// SPDX-License-Identifier: MIT
// The picture: the floor, crates, cars.

#include "crates.h"

#include "view.es.h"

static const ecs_color dark = {24, 32, 48, 255}, wood = {196, 146, 84, 255};

// A part of a turned box: of its length and width, moved `ahead` by a part of its length.
static void draw_part(const net_draw* draw, ecs_vec2 pos, float angle, ecs_vec2 size, float length,
                      float width, float ahead, ecs_color color) {
    static const float corners[6][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, -1}, {1, 1}, {-1, 1}};
    const ecs_color colors[6] = {color, color, color, color, color, color};
    const ecs_vec2 front = ecs_direction(angle);
    float points[12];
    for (uint32_t i = 0; i < 6; i++) {
        const float x = (ahead + corners[i][0] * length / 2.0f) * size.x;
        const float y = corners[i][1] * width / 2.0f * size.y;
        points[2 * i] = pos.x + front.x * x - front.y * y;
        points[2 * i + 1] = pos.y + front.y * x + front.x * y;
    }
    draw->triangles(draw->context, points, colors, 6);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_floor_es(const ecs_stage* stage) {
    const net_draw* draw = stage->user;
    const ecs_color color = {58, 62, 70, 255};
    draw->rect(draw->context, 0.0f, 0.0f, CRATES_WIDTH, CRATES_HEIGHT, color);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_body_es(const ecs_stage* stage, ecs_entity entity, ecs_vec2 pos, float angle,
                         const crates_box* box, ES_OPTIONAL const uint32_t* owner) {
    const net_draw* draw = stage->user;
    const ecs_color own = {255, 196, 64, 255}, other = {90, 170, 255, 255};
    const ecs_color color = owner ? (entity == draw->player ? own : other)
                                  : ecs_color_mix(wood, dark, box->mass > 1.0f ? 0.5f : 0.0f);
    const ecs_color rim = ecs_color_mix(color, dark, owner ? 0.0f : 0.5f);
    draw_part(draw, pos, angle, box->size, 1.0f, 1.0f, 0.0f, rim);
    draw_part(draw, pos, angle, box->size, 0.8f, 0.8f, 0.0f, color);
    draw_part(draw, pos, angle, box->size, 0.2f, 0.8f, owner ? 0.15f : 0.0f, owner ? dark : rim);
    if (!owner) return;
    char buffer[64];
    const char* name = net_player_name(draw, *owner, buffer, sizeof buffer);
    net_draw_text(draw, pos.x, pos.y - 4.0f, 2.0f, color, NET_ALIGN_MIDDLE, name);
}
