// SPDX-License-Identifier: MIT
// The picture of moving things: balls with their trails, pads with names and cheers, sparks.
//
// A trail holds the places where a ball was shown, at most one per TRAIL_STEP_S of the match. It
// fades by age, so it has the same length at any frame rate. Where a trail turns upwards near the
// line of pads, the pad there flashes. The flash is read from the picture and not from events, so
// it fits predicted and interpolated balls.

#include "breakout.h"
#include "view_play.es.h"

#include "base/math.h"
#include "base/text.h"

#define TRAIL_S 0.24
#define TRAIL_STEP_S 0.016 ///< BREAKOUT_TRAIL_POINTS steps are longer than TRAIL_S
#define TRAIL_JUMP 100.0f  ///< a ball that moved farther than this starts a new trail
#define BALL_SCALE 1.5f    ///< balls are drawn larger than they are: 5 units are small on a screen
#define NAMES_MAX 12u      ///< with more pads only the player's own pad shows a name

static ecs_vec2 trail_point(const breakout_trail* trail, uint32_t age) {
    uint32_t at = trail->next + 2 * BREAKOUT_TRAIL_POINTS - 1 - age;
    return trail->points[at % BREAKOUT_TRAIL_POINTS];
}

static double trail_time(const breakout_trail* trail, uint32_t age) {
    uint32_t at = trail->next + 2 * BREAKOUT_TRAIL_POINTS - 1 - age;
    return trail->times_s[at % BREAKOUT_TRAIL_POINTS];
}

static breakout_trail* find_trail(breakout_view* view, ecs_entity ball) {
    breakout_trail* oldest = &view->trails[0];
    for (uint32_t i = 0; i < BREAKOUT_TRAILS; i++) {
        breakout_trail* trail = &view->trails[i];
        if (trail->ball == ball) return trail;
        if (trail->seen_s < oldest->seen_s) oldest = trail;
    }
    *oldest = (breakout_trail){.ball = ball};
    return oldest;
}

static void flash_pad(ecs_world* world, breakout_game* game, ecs_vec2 at) {
    breakout_view* view = &game->view;
    ecs_entity nearest = ECS_ENTITY_NONE;
    float best = 24.0f; // how far from the pad's edge a touch may be
    ecs_query_iter it = ecs_query_begin(world, game->pads);
    while (ecs_query_next(&it)) {
        const ecs_vec2* positions = it.rows.columns[0];
        const ecs_vec2* sizes = it.rows.columns[1];
        for (uint32_t i = 0; i < it.rows.count; i++) {
            float half = sizes[i].x * 0.5f;
            float beyond = base_abs(at.x - positions[i].x - half) - half;
            if (beyond >= best) continue;
            best = beyond;
            nearest = it.rows.entities[i];
        }
    }
    if (nearest == ECS_ENTITY_NONE) return;
    (void)ecs_event_broadcast(world, game->bounced, &(breakout_bounced){0});
    view->flashes[view->flash_next] = (breakout_flash){nearest, BREAKOUT_FLASH_S};
    view->flash_next = (view->flash_next + 1) % BREAKOUT_FLASHES;
}

static void follow(ecs_world* world, breakout_game* game, breakout_trail* trail, ecs_vec2 pos) {
    double now_s = game->view.now_s;
    trail->seen_s = now_s;
    if (trail->count > 0) {
        ecs_vec2 last = trail_point(trail, 0);
        if (now_s - trail_time(trail, 0) < TRAIL_STEP_S) return;
        if (base_abs(pos.x - last.x) + base_abs(pos.y - last.y) > TRAIL_JUMP) trail->count = 0;
    }
    trail->points[trail->next] = pos;
    trail->times_s[trail->next] = now_s;
    trail->next = (trail->next + 1) % BREAKOUT_TRAIL_POINTS;
    if (trail->count < BREAKOUT_TRAIL_POINTS) trail->count++;
    if (trail->count < 3) return;
    ecs_vec2 turn = trail_point(trail, 1);
    bool is_up = pos.y<turn.y, was_down = turn.y> trail_point(trail, 2).y;
    if (is_up && was_down && turn.y > BREAKOUT_PAD_TOP - 60.0f) flash_pad(world, game, turn);
}

// A ribbon behind the ball: the older a part is, the narrower and fainter it is.
static void draw_trail(const net_draw* draw, const breakout_trail* trail, double now_s,
                       ecs_vec2 head, float radius, ecs_color color) {
    float points[BREAKOUT_TRAIL_POINTS * 12];
    ecs_color colors[BREAKOUT_TRAIL_POINTS * 6];
    uint32_t count = 0;
    ecs_vec2 from = head, side = {0.0f, 0.0f};
    float width = radius;
    ecs_color tint = ecs_color_fade(color, 0.62f);
    for (uint32_t age = 0; age < trail->count; age++) {
        ecs_vec2 to = trail_point(trail, age);
        float left = 1.0f - (float)((now_s - trail_time(trail, age)) / TRAIL_S);
        if (left <= 0.0f) break;
        float dx = from.x - to.x, dy = from.y - to.y;
        float length = base_sqrt(dx * dx + dy * dy);
        if (length < 0.5f) continue;
        ecs_vec2 across = {-dy / length, dx / length};
        if (count == 0) side = across;
        float end_width = radius * left;
        ecs_color end_tint = ecs_color_fade(color, left * left * 0.62f);
        const float quad[] = {from.x + side.x * width,     from.y + side.y * width,
                              from.x - side.x * width,     from.y - side.y * width,
                              to.x + across.x * end_width, to.y + across.y * end_width,
                              to.x - across.x * end_width, to.y - across.y * end_width};
        static const uint8_t corners[] = {0, 1, 2, 2, 1, 3};
        for (uint32_t i = 0; i < BASE_COUNT(corners); i++) {
            points[count * 2] = quad[corners[i] * 2];
            points[count * 2 + 1] = quad[corners[i] * 2 + 1];
            colors[count] = corners[i] < 2 ? tint : end_tint;
            count++;
        }
        from = to;
        side = across;
        width = end_width;
        tint = end_tint;
    }
    if (count > 0) draw->triangles(draw->context, points, colors, count);
}

// Dots run along the way that a held ball will take.
static void draw_aim(const net_draw* draw, ecs_vec2 from, const breakout_launch* launch,
                     double now_s, ecs_color color) {
    float phase = (float)(now_s * 2.0 - (double)(int64_t)(now_s * 2.0));
    for (uint32_t i = 0; i < 6; i++) {
        float part = ((float)i + phase) / 6.0f;
        ecs_vec2 way = breakout_direction(breakout_launch_angle(launch), 18.0f + 110.0f * part);
        draw->circle(draw->context, from.x + way.x, from.y + way.y, 3.2f - 1.6f * part,
                     ecs_color_fade(color, 0.9f * (1.0f - part)));
    }
}

ES_STAGE(render)
ES_TAG(render)
static void draw_balls_es(const ecs_stage* stage, ES_CONTEXT breakout_game* game, ecs_entity entity,
                          ecs_vec2 pos, float radius, ecs_color color, const breakout_owner* owner,
                          const breakout_launch* launch) {
    const net_draw* draw = breakout_look(stage, true);
    double now_s = game->view.now_s;
    float size = radius * BALL_SCALE;
    const ecs_color* whose = ecs_find(stage->world, owner->pad, game->color);
    ecs_color tint = whose ? *whose : color;
    breakout_trail* trail = find_trail(&game->view, entity);
    follow(stage->world, game, trail, pos);
    if (owner->is_held) {
        bool is_own = whose && owner->pad == draw->player;
        if (whose) draw_aim(draw, pos, launch, now_s, ecs_color_fade(tint, is_own ? 1.0f : 0.4f));
        if (is_own) {
            net_draw_text(draw, pos.x, pos.y - 168.0f, 17.0f, (ecs_color){255, 255, 255, 190},
                          NET_ALIGN_MIDDLE, "Space or click to launch");
        }
    } else {
        draw_trail(draw, trail, now_s, pos, size, tint);
    }
    net_draw_glow(draw, pos.x, pos.y, size * 4.0f, size * 4.0f, ecs_color_fade(tint, 0.42f));
    draw->circle(draw->context, pos.x, pos.y, size, ecs_color_shade(color, 0.45f));
    draw->circle(draw->context, pos.x - size * 0.25f, pos.y - size * 0.25f, size * 0.5f,
                 (ecs_color){255, 255, 255, 240});
}

static float pad_flash(const breakout_view* view, ecs_entity pad) {
    float left = 0.0f;
    for (uint32_t i = 0; i < BREAKOUT_FLASHES; i++) {
        if (view->flashes[i].pad == pad) left = base_max(left, view->flashes[i].left_s);
    }
    return left / BREAKOUT_FLASH_S;
}

#define BAR_SLICES 8u

// A bar with round ends and a gradient from the top to the bottom: slices, whose ends lie on the
// round ends.
static void draw_bar(const net_draw* draw, float x, float y, float width, float height,
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
            edges[end][0] = x + inset;
            edges[end][1] = x + width - inset;
            edges[end][2] = y + part * height;
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
    draw->triangles(draw->context, points, colors, BASE_COUNT(colors));
}

// With many players there are as many pads as bricks; then `is_plain` draws a simpler pad.
static void draw_pad(const net_draw* draw, ecs_vec2 pos, ecs_vec2 size, ecs_color color,
                     bool is_own, bool is_plain, float flash) {
    float y = pos.y + flash * 3.0f; // the pad moves down a little when a ball touches it
    if (is_own || flash > 0.0f) {
        float strength = (is_own ? 0.3f : 0.0f) + flash * 0.4f;
        net_draw_glow(draw, pos.x + size.x * 0.5f, y + size.y * 0.5f, size.x * 0.7f, 36.0f,
                      ecs_color_fade(ecs_color_shade(color, 0.3f), strength));
    }
    if (!is_plain)
        draw_bar(draw, pos.x + 2.0f, y + 4.0f, size.x, size.y, (ecs_color){0, 0, 0, 110},
                 (ecs_color){0, 0, 0, 110});
    if (is_own)
        draw_bar(draw, pos.x - 2.5f, y - 2.5f, size.x + 5.0f, size.y + 5.0f,
                 (ecs_color){255, 255, 255, 235}, (ecs_color){255, 255, 255, 150});
    draw_bar(draw, pos.x, y, size.x, size.y, ecs_color_shade(color, 0.3f + 0.5f * flash),
             ecs_color_shade(color, -0.5f + 0.6f * flash));
    if (is_plain) return;
    draw_bar(draw, pos.x + 5.0f, y + 2.5f, size.x - 10.0f, size.y * 0.3f,
             ecs_color_fade(ecs_color_shade(color, 0.85f), 0.85f),
             ecs_color_fade(ecs_color_shade(color, 0.7f), 0.25f));
}

static void draw_bubble(const net_draw* draw, float middle, float y,
                        const breakout_bubble* bubble) {
    static const char* const emotes[BREAKOUT_EMOTES] = {"hi!",   "nice!", "wow!",  "oops!",
                                                        "mine!", "gg",    "help!", "thanks"};
    const char* text = emotes[bubble->emote % BREAKOUT_EMOTES];
    float grown = base_min((BREAKOUT_BUBBLE_S - bubble->left_s) * 8.0f, 1.0f);
    float part = base_min(bubble->left_s * 3.0f, 1.0f);
    float height = 20.0f * (0.6f + 0.4f * grown);
    float width = draw->text_width(draw->context, height, text) + 18.0f;
    float x = base_clamp(middle - width * 0.5f, 4.0f, BREAKOUT_FIELD_WIDTH - width - 4.0f);
    float top = y - 58.0f - 8.0f * grown;
    ecs_color paper = ecs_color_fade((ecs_color){245, 248, 255, 235}, part);
    draw->rect(draw->context, x + 3.0f, top, width - 6.0f, height + 12.0f, paper);
    draw->rect(draw->context, x, top + 3.0f, 3.0f, height + 6.0f, paper);
    draw->rect(draw->context, x + width - 3.0f, top + 3.0f, 3.0f, height + 6.0f, paper);
    float foot = top + height + 12.0f, point = middle;
    const float points[] = {point - 7.0f, foot, point + 7.0f, foot, point, foot + 9.0f};
    const ecs_color colors[] = {paper, paper, paper};
    draw->triangles(draw->context, points, colors, 3);
    net_draw_text(draw, x + 9.0f, top + 5.0f, height,
                  ecs_color_fade((ecs_color){24, 22, 54, 255}, part), NET_ALIGN_LEFT, text);
}

static void draw_player(const net_draw* draw, const breakout_game* game, ecs_entity entity,
                        ecs_vec2 pos, ecs_vec2 size, ecs_color color, uint32_t client,
                        bool has_name) {
    bool is_own = entity == draw->player;
    draw_pad(draw, pos, size, color, is_own, !has_name && !is_own, pad_flash(&game->view, entity));
    float middle = pos.x + size.x * 0.5f;
    if (has_name || is_own) {
        char buffer[32];
        const char* name = net_player_name(draw, client, buffer, sizeof buffer);
        net_draw_text(draw, middle, pos.y + size.y + 6.0f, 15.0f,
                      is_own ? (ecs_color){255, 255, 255, 255}
                             : ecs_color_shade(ecs_color_fade(color, 0.9f), 0.25f),
                      NET_ALIGN_MIDDLE, name);
    }
    for (uint32_t k = 0; k < BREAKOUT_BUBBLES; k++) {
        const breakout_bubble* bubble = &game->view.bubbles[k];
        if (bubble->left_s > 0.0f && bubble->client == client)
            draw_bubble(draw, middle, pos.y, bubble);
    }
}

ES_STAGE(render)
ES_TAG(render)
ES_SPAN
static void draw_pads_es(const ecs_stage* stage, ES_CONTEXT const breakout_game* game,
                         uint32_t count, const ecs_entity* entities, const ecs_vec2* pos,
                         ES_NAME(rectSize) const ecs_vec2* size, const ecs_color* color,
                         const breakout_player* player) {
    const net_draw* draw = breakout_look(stage, true);
    bool has_names = ecs_query_count(stage->world, game->pads) <= NAMES_MAX;
    // The player's own pad comes last, so it lies over all others.
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < count; i++) {
            bool is_own = entities[i] == draw->player;
            if (is_own != (round == 1)) continue;
            draw_player(draw, game, entities[i], pos[i], size[i], color[i], player[i].client,
                        has_names);
        }
    }
}

ES_STAGE(render)
ES_TAG(render)
static void draw_effects_es(const ecs_stage* stage, ES_CONTEXT const breakout_game* game) {
    const net_draw* draw = breakout_look(stage, true);
    for (uint32_t i = 0; i < BREAKOUT_SPARKS; i++) {
        const breakout_spark* spark = &game->view.sparks[i];
        if (spark->age_s >= spark->life_s) continue;
        // A spark outside of the field is removed.
        if (spark->y > BREAKOUT_FIELD_HEIGHT || spark->x < 0.0f ||
            spark->x > BREAKOUT_FIELD_WIDTH) {
            continue;
        }
        float left = 1.0f - spark->age_s / spark->life_s;
        float size = 2.0f + 4.0f * left;
        draw->rect(draw->context, spark->x - size * 0.5f, spark->y - size * 0.5f, size, size,
                   ecs_color_fade(spark->color, left * 1.5f));
    }
    for (uint32_t i = 0; i < BREAKOUT_POPS; i++) {
        const breakout_pop* pop = &game->view.pops[i];
        if (pop->left_s <= 0.0f) continue;
        char text[16];
        (void)base_text_format(text, sizeof text, "+%d", pop->score);
        net_draw_text(draw, pop->x, pop->y - 10.0f - 44.0f * (0.8f - pop->left_s), 17.0f,
                      ecs_color_fade(pop->color, pop->left_s * 2.0f), NET_ALIGN_MIDDLE, text);
    }
}
