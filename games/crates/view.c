// SPDX-License-Identifier: MIT
// The picture: floor, walls, crates, cars.

#include "crates.h"

#include "view.es.h"

static const ecs_color floor_color = {58, 62, 70, 255}, line_color = {66, 71, 80, 255};
static const ecs_color crate_color = {196, 146, 84, 255}, heavy_color = {120, 130, 148, 255};
static const ecs_color own_color = {255, 196, 64, 255}, other_color = {90, 170, 255, 255};
static const ecs_color dark = {24, 32, 48, 255};

// A part of a turned rectangle: of its `length` and `width`, moved `ahead` by a part of its length.
static void draw_part(const net_draw* draw, ecs_vec2 pos, float angle, ecs_vec2 size, float length,
                      float width, float ahead, ecs_color color) {
    const ecs_vec2 front = ecs_vec2_scale(ecs_direction(angle), size.x);
    const ecs_vec2 side = {-front.y * size.y / size.x, front.x * size.y / size.x};
    static const float corners[6][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, -1}, {1, 1}, {-1, 1}};
    float points[12];
    for (uint32_t i = 0; i < 6; i++) {
        const float x = ahead + corners[i][0] * length / 2.0f, y = corners[i][1] * width / 2.0f;
        points[2 * i] = pos.x + front.x * x + side.x * y;
        points[2 * i + 1] = pos.y + front.y * x + side.y * y;
    }
    const ecs_color colors[6] = {color, color, color, color, color, color};
    draw->triangles(draw->context, points, colors, 6);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_floor_es(const ecs_stage* stage) {
    const net_draw* draw = stage->user;
    draw->rect(draw->context, 0.0f, 0.0f, CRATES_WIDTH, CRATES_HEIGHT, floor_color);
    for (float x = 10.0f; x < CRATES_WIDTH; x += 10.0f)
        draw->line(draw->context, x, 0.0f, x, CRATES_HEIGHT, 0.2f, line_color);
    for (float y = 10.0f; y < CRATES_HEIGHT; y += 10.0f)
        draw->line(draw->context, 0.0f, y, CRATES_WIDTH, y, 0.2f, line_color);
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE_NOT(owner : u32)
static void draw_crate_es(const ecs_stage* stage, ecs_vec2 pos, float angle,
                          const crates_box* box) {
    const net_draw* draw = stage->user;
    const ecs_color color = box->mass > 1.0f ? heavy_color : crate_color;
    draw_part(draw, pos, angle, box->size, 1.0f, 1.0f, 0.0f, ecs_color_mix(color, dark, 0.5f));
    draw_part(draw, pos, angle, box->size, 0.8f, 0.8f, 0.0f, color);
    draw_part(draw, pos, angle, box->size, 0.8f, 0.2f, 0.0f, ecs_color_mix(color, dark, 0.25f));
}

ES_STAGE(render)
ES_TAG(render)
static void draw_car_es(const ecs_stage* stage, ecs_entity entity, ecs_vec2 pos, float angle,
                        const crates_box* box, uint32_t owner) {
    const net_draw* draw = stage->user;
    const ecs_color color = entity == draw->player ? own_color : other_color;
    draw_part(draw, pos, angle, box->size, 1.0f, 1.0f, 0.0f, color);
    draw_part(draw, pos, angle, box->size, 0.2f, 0.8f, 0.15f, dark);
    char buffer[64];
    const char* name = net_player_name(draw, owner, buffer, sizeof buffer);
    const float half = draw->text_width(draw->context, 2.0f, name) / 2.0f;
    draw->text(draw->context, pos.x - half, pos.y - 4.0f, 2.0f, color, name);
}
