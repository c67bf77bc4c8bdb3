// SPDX-License-Identifier: MIT
// The picture: systems of stage "render", which run only where the world has that tag.
//
// Drawn from back to front: sky and field, rubble, bricks, list of players, balls with trails,
// pads, sparks and points, score board. breakout_view keeps the animations that only decorate; they
// are no part of the simulation.
//
// There are two clocks. What belongs to the match (trails, the title of a level) uses the shown
// tick: any frame rate shows the same, a paused playback stands still, and a jump in time clears
// it. Effects that only fade (sparks, flashes) use the time of the frames. Events that the server
// sends to all clients create the sparks. The picture has its own random seed, so the same frames
// give the same picture.

#include "breakout.h"
#include "view.es.h"

#include "base/math.h"

#define WIDTH BREAKOUT_FIELD_WIDTH
#define HEIGHT BREAKOUT_FIELD_HEIGHT
#define STARS 64u
#define JUMP_S 0.5  ///< a larger step of time means that the playback was moved
#define LOSS_S 0.6f ///< duration of the flash and the shake after a lost life
#define SHAKE_UNITS 9.0f

// The picture shakes after a lost life, by its camera.
const net_draw* breakout_look(const ecs_stage* stage, bool is_shaking) {
    const breakout_game* game = stage->context;
    const net_draw* draw = stage->user;
    const float left = is_shaking ? game->view.loss_s / LOSS_S : 0.0f;
    const float size = left * left * SHAKE_UNITS;
    net_draw_camera(draw, WIDTH * 0.5f - base_sin(left * 38.0f) * size,
                    HEIGHT * 0.5f - base_sin(left * 29.0f) * size * 0.6f, 1.0f);
    return draw;
}

static float burn(float left_s, float dt) {
    return base_max(left_s - dt, 0.0f);
}

// Called once per frame, before the first shape is drawn.
static void advance(breakout_game* game, const net_draw* draw) {
    breakout_view* view = &game->view;
    float dt = base_clamp(draw->frame_dt_s, 0.0f, 0.25f);
    bool has_tick = draw->size_bytes >= sizeof(net_draw) && draw->tick > 0.0;
    double now_s = has_tick ? draw->tick / (double)game->tick_rate_hz : view->now_s + (double)dt;
    double step = now_s - view->now_s;
    if (view->has_now && (step < 0.0 || step > JUMP_S)) *view = (breakout_view){0};
    if (!view->has_now) view->rng = base_rng_make(1, 1);
    view->now_s = now_s;
    view->has_now = true;
    view->loss_s = burn(view->loss_s, dt);
    view->title_s = burn(view->title_s, dt);
    for (uint32_t i = 0; i < BREAKOUT_SPARKS; i++) {
        if (view->sparks[i].age_s < view->sparks[i].life_s) {
            view->sparks[i].age_s += dt;
            view->sparks[i].vy += 760.0f * dt;
            view->sparks[i].vx -= view->sparks[i].vx * base_min(1.4f * dt, 1.0f);
            view->sparks[i].x += view->sparks[i].vx * dt;
            view->sparks[i].y += view->sparks[i].vy * dt;
        }
    }
    for (uint32_t i = 0; i < BREAKOUT_POPS; i++)
        view->pops[i].left_s = burn(view->pops[i].left_s, dt);
    for (uint32_t i = 0; i < BREAKOUT_BUBBLES; i++)
        view->bubbles[i].left_s = burn(view->bubbles[i].left_s, dt);
    for (uint32_t i = 0; i < BREAKOUT_FLASHES; i++)
        view->flashes[i].left_s = burn(view->flashes[i].left_s, dt);
}

// Three layers of stars, each with its own speed. One fixed seed gives the places.
static void draw_stars(const net_draw* draw, double time_s) {
    base_rng rng = base_rng_make(20, 26);
    for (uint32_t i = 0; i < STARS; i++) {
        uint32_t depth = i % 3;
        double height = (double)base_rng_float(&rng) + time_s * (0.006 + 0.007 * (double)depth);
        float x = base_rng_float(&rng) * (WIDTH - 4.0f);
        float y = (float)(height - (double)(int64_t)height) * (HEIGHT - 4.0f);
        float blink = base_sin((float)(time_s - (double)((int64_t)time_s / 60 * 60)) * 1.3f +
                               base_rng_float(&rng) * 6.0f);
        float size = 1.2f + 0.7f * (float)depth;
        uint8_t alpha = (uint8_t)(50.0f + 34.0f * (float)depth + 22.0f * blink);
        draw->rect(draw->context, x, y, size, size, (ecs_color){190, 215, 255, alpha});
    }
}

ES_STAGE(render)
ES_TAG(render)
static void draw_field_es(const ecs_stage* stage, ES_CONTEXT breakout_game* game) {
    advance(game, stage->user);
    const net_draw* draw = breakout_look(stage, false);
    const ecs_color top = {9, 12, 34, 255}, middle = {33, 22, 70, 255}, bottom = {12, 10, 30, 255};
    net_draw_gradient(draw, 0.0f, 0.0f, WIDTH, HEIGHT * 0.6f, top, middle, false);
    net_draw_gradient(draw, 0.0f, HEIGHT * 0.6f, WIDTH, HEIGHT * 0.4f, middle, bottom, false);
    draw_stars(draw, draw->time_s > 0.0 ? draw->time_s : 0.0);
    // The field is darker at its upper and lower edge. The line of pads has its own light.
    net_draw_gradient(draw, 0.0f, HEIGHT - 60.0f, WIDTH, 60.0f, (ecs_color){0, 0, 0, 0},
                      (ecs_color){0, 0, 0, 130}, false);
    (void)breakout_look(stage, true);
    draw->rect(draw->context, 0.0f, BREAKOUT_PAD_TOP + 18.0f, WIDTH, 1.5f,
               (ecs_color){96, 165, 255, 40});
    static const float widths[] = {2.0f, 5.0f, 10.0f, 18.0f};
    static const uint8_t alphas[] = {170, 46, 22, 12};
    for (uint32_t i = 0; i < BASE_COUNT(widths); i++) {
        ecs_color light = {96, 165, 255, alphas[i]};
        draw->rect(draw->context, 0.0f, 0.0f, widths[i], HEIGHT, light);
        draw->rect(draw->context, WIDTH - widths[i], 0.0f, widths[i], HEIGHT, light);
    }
    (void)breakout_look(stage, false);
    float loss = game->view.loss_s / LOSS_S;
    net_draw_gradient(draw, 0.0f, HEIGHT * 0.45f, WIDTH, HEIGHT * 0.55f,
                      (ecs_color){255, 40, 60, 0},
                      (ecs_color){255, 40, 60, (uint8_t)(loss * 150.0f)}, false);
}

// A brick that was destroyed leaves a shadow in the wall.
ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(rubble : tag)
ES_SPAN
static void draw_rubble_es(const ecs_stage* stage, uint32_t count, const ecs_vec2* pos,
                           ES_NAME(rectSize) const ecs_vec2* size) {
    const net_draw* draw = breakout_look(stage, true);
    for (uint32_t i = 0; i < count; i++)
        draw->rect(draw->context, pos[i].x, pos[i].y, size[i].x, size[i].y,
                   (ecs_color){130, 150, 220, 15});
    for (uint32_t i = 0; i < count; i++)
        draw->rect(draw->context, pos[i].x, pos[i].y + size[i].y - 1.0f, size[i].x, 1.0f,
                   (ecs_color){130, 150, 220, 34});
}

ES_STAGE(render)
ES_TAG(render)
ES_SPAN
static void draw_bricks_es(const ecs_stage* stage, uint32_t count, const ecs_vec2* pos,
                           ES_NAME(rectSize) const ecs_vec2* size, const int32_t* hits,
                           const ecs_color* color) {
    const net_draw* draw = breakout_look(stage, true);
    // Draw one kind of shape for all bricks, then the next kind, so that similar shapes form
    // batches.
    for (uint32_t i = 0; i < count; i++)
        draw->rect(draw->context, pos[i].x + 3.0f, pos[i].y + 4.0f, size[i].x, size[i].y,
                   (ecs_color){0, 0, 0, 96});
    for (uint32_t i = 0; i < count; i++) {
        float x = pos[i].x, y = pos[i].y, w = size[i].x, h = size[i].y;
        // The middle of a brick has the colour of the brick.
        net_draw_gradient(draw, x, y, w, h, ecs_color_shade(color[i], 0.22f),
                          ecs_color_shade(color[i], -0.22f), false);
        draw->rect(draw->context, x, y, w, 2.0f, ecs_color_shade(color[i], 0.65f));
        draw->rect(draw->context, x, y + 2.0f, 2.0f, h - 2.0f, ecs_color_shade(color[i], 0.4f));
        draw->rect(draw->context, x, y + h - 2.0f, w, 2.0f, ecs_color_shade(color[i], -0.5f));
        // One mark for each further hit: players see the strength without reading colours.
        float pip_x = x + w * 0.5f - (float)(hits[i] - 1) * 5.0f + 1.5f;
        for (int32_t pip = 1; pip < hits[i]; pip++) {
            draw->rect(draw->context, pip_x, y + h - 8.0f, 7.0f, 3.0f,
                       ecs_color_shade(color[i], 0.75f));
            pip_x += 10.0f;
        }
    }
}

// ---- events of the server ----

static void spark(breakout_view* view, ecs_vec2 from, ecs_vec2 spread, float speed, float life_s,
                  ecs_color color) {
    breakout_spark* made = &view->sparks[view->spark_next];
    view->spark_next = (view->spark_next + 1) % BREAKOUT_SPARKS;
    base_rng* rng = &view->rng;
    // One random number per statement: their order is part of the picture.
    made->x = from.x + (base_rng_float(rng) - 0.5f) * spread.x;
    made->y = from.y + (base_rng_float(rng) - 0.5f) * spread.y;
    made->vx = (base_rng_float(rng) - 0.5f) * 2.0f * speed;
    made->vy = (base_rng_float(rng) - 0.72f) * 1.6f * speed;
    made->life_s = life_s * (0.6f + base_rng_float(rng));
    made->age_s = 0.0f;
    made->color = color;
}

static void strike(breakout_view* view, const breakout_brick_hit* hit) {
    uint32_t count = hit->hits_left > 0 ? 7 : 20;
    ecs_color color = breakout_brick_color((int32_t)hit->hits_left + 1);
    ecs_vec2 centre = {(float)hit->x, (float)hit->y};
    for (uint32_t i = 0; i < count; i++)
        spark(view, centre, (ecs_vec2){60.0f, 20.0f}, 230.0f, 0.55f,
              ecs_color_shade(color, i % 3 == 0 ? 0.6f : 0.2f));
    view->pops[view->pop_next] = (breakout_pop){.x = centre.x,
                                                .y = centre.y,
                                                .left_s = 0.8f,
                                                .score = (int32_t)hit->score,
                                                .color = ecs_color_shade(color, 0.55f)};
    view->pop_next = (view->pop_next + 1) % BREAKOUT_POPS;
}

ES_TAG(render)
ES_ON_EVENT(brick_hit)
static void hear_hit_es_event_handler(ES_CONTEXT breakout_game* game,
                                      const breakout_brick_hit* event) {
    strike(&game->view, event);
}

ES_TAG(render)
ES_ON_EVENT(life_lost)
static void hear_loss_es_event_handler(ES_CONTEXT breakout_game* game) {
    game->view.loss_s = LOSS_S;
}

ES_TAG(render)
ES_ON_EVENT(level_cleared)
static void hear_clearing_es_event_handler(ES_CONTEXT breakout_game* game) {
    for (uint32_t i = 0; i < 160; i++) {
        ecs_color color = ecs_color_shade(breakout_player_color((int32_t)i), 0.2f);
        spark(&game->view, (ecs_vec2){WIDTH * 0.5f, 330.0f}, (ecs_vec2){WIDTH * 0.9f, 220.0f},
              340.0f, 1.2f, color);
    }
}

ES_TAG(render)
ES_ON_EVENT(cheered)
static void hear_cheer_es_event_handler(ES_CONTEXT breakout_game* game,
                                        const breakout_cheered* event) {
    breakout_view* view = &game->view;
    view->bubbles[view->bubble_next] =
        (breakout_bubble){event->client, event->emote, BREAKOUT_BUBBLE_S};
    view->bubble_next = (view->bubble_next + 1) % BREAKOUT_BUBBLES;
}
