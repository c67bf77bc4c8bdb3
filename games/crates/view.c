// SPDX-License-Identifier: MIT
// The picture: floor, walls, crates, cars.

#include "crates.h"

#include "view.es.h"

static const ecs_color floor_color = {58, 62, 70, 255}, line_color = {66, 71, 80, 255};
static const ecs_color crate_color = {196, 146, 84, 255}, heavy_color = {120, 130, 148, 255};
static const ecs_color board_color = {0, 0, 0, 60};
static const ecs_color own_color = {255, 196, 64, 255}, other_color = {90, 170, 255, 255};
static const ecs_color glass_color = {24, 32, 48, 255};

// A rectangle about `pos`, turned, that covers `low` to `high` of a body: -0.5 to 0.5 are its ends.
static void draw_part(const net_draw* draw, ecs_vec2 pos, float angle, ecs_vec2 size, ecs_vec2 low,
                      ecs_vec2 high, ecs_color color) {
    const ecs_vec2 front = ecs_direction(angle), side = {-front.y, front.x};
    float points[12];
    for (uint32_t i = 0; i < 6; i++) {
        const bool is_right = i == 1 || i == 2 || i == 4, is_below = i == 2 || i == 4 || i == 5;
        const float x = (is_right ? high.x : low.x) * size.x;
        const float y = (is_below ? high.y : low.y) * size.y;
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
    const ecs_vec2 low = {-0.5f, -0.5f}, high = {0.5f, 0.5f};
    const ecs_vec2 board_low = {-0.5f, -0.12f}, board_high = {0.5f, 0.12f};
    draw_part(draw, pos, angle, box->size, low, high, color);
    draw_part(draw, pos, angle, box->size, board_low, board_high, board_color);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_car_es(const ecs_stage* stage, ecs_entity entity, ecs_vec2 pos, float angle,
                        const crates_box* box, uint32_t owner) {
    const net_draw* draw = stage->user;
    const ecs_color color = entity == draw->player ? own_color : other_color;
    const ecs_vec2 low = {-0.5f, -0.5f}, high = {0.5f, 0.5f};
    const ecs_vec2 glass_low = {0.05f, -0.4f}, glass_high = {0.25f, 0.4f};
    draw_part(draw, pos, angle, box->size, low, high, color);
    draw_part(draw, pos, angle, box->size, glass_low, glass_high, glass_color);
    char buffer[64];
    const char* name = net_player_name(draw, owner, buffer, sizeof buffer);
    const float half = draw->text_width(draw->context, 2.0f, name) / 2.0f;
    draw->text(draw->context, pos.x - half, pos.y - 4.0f, 2.0f, color, name);
}
