// SPDX-License-Identifier: MIT
// The picture of what lies over the fighters: flags, beams, blasts, sparks, what hits took, what
// players say, and the fog.

#include "arena.h"
#include "view_effect.es.h"
#include "base/text.h"

#define CLOTH 7u ///< strips of a flag

static const ecs_color white = {255, 255, 255, 255};

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(flag : ArenaFlag)
static void draw_flags_es(ES_CONTEXT const arena_game* game, ecs_vec2 pos, uint8_t team) {
    const arena_pen* pen = &game->view->pen;
    const ecs_color color = arena_team_color(team);
    const float wind = (float)pen->draw->tick * 0.2f;
    arena_line(pen, pos.x + 0.8f, pos.y + 0.5f, pos.x + 4.4f, pos.y + 2.7f, 0.4f,
               (ecs_color){0, 0, 0, 80});
    arena_line(pen, pos.x + 0.8f, pos.y + 0.5f, pos.x + 0.8f, pos.y - 6.5f, 0.35f, white);
    arena_disc(pen, pos.x + 0.8f, pos.y - 6.6f, 0.35f, (ecs_color){255, 220, 120, 255});
    for (uint32_t i = 0; i < CLOTH; i++) {
        const float along = (float)i * 0.6f, next = along + 0.6f;
        const float rise = base_sin(wind - along) * 0.09f * along;
        const float fall = base_sin(wind - next) * 0.09f * next;
        const float x = pos.x + 0.95f + along, y = pos.y - 6.3f;
        const ecs_vec2 a = {x, y + rise}, b = {x + 0.6f, y + fall};
        const ecs_vec2 c = {x + 0.6f, y + 2.6f + fall}, d = {x, y + 2.6f + rise};
        const ecs_color lit = ecs_color_shade(color, 0.22f * base_cos(wind - along));
        arena_facet(pen, a, b, c, lit);
        arena_facet(pen, a, c, d, lit);
    }
}

static void draw_beam(const arena_pen* pen, const arena_beam* beam) {
    const float left = beam->left_s / ARENA_BEAM_S;
    arena_line(pen, beam->from_x, beam->from_y, beam->to_x, beam->to_y, 1.8f * left,
               ecs_color_fade(beam->color, 0.45f * left));
    arena_line(pen, beam->from_x, beam->from_y, beam->to_x, beam->to_y, 0.5f * left,
               ecs_color_fade(white, left));
    arena_glow(pen, beam->from_x, beam->from_y, 2.5f, ecs_color_fade(beam->color, left));
    arena_glow(pen, beam->to_x, beam->to_y, 3.5f, ecs_color_fade(beam->color, left));
}

static void draw_blast(const arena_pen* pen, const arena_blast* blast) {
    const float part = blast->age_s / blast->life_s, left = 1.0f - part, x = blast->x, y = blast->y;
    if (blast->size <= 0.0f) {
        arena_glow(pen, x, y, 2.6f, ecs_color_fade((ecs_color){255, 235, 190, 230}, left));
        return;
    }
    const float size = blast->size, grown = base_sqrt(part) * size;
    const ecs_color smoke = {30, 32, 42, 190}, fire = {255, 150, 50, 235},
                    hot = {255, 236, 170, 255};
    for (uint32_t i = 0; i < 6; i++) {
        const ecs_vec2 way = ecs_direction((float)i * (BASE_PI / 3.0f) + x);
        arena_glow(pen, x + way.x * 3.0f * grown, y + way.y * 3.0f * grown, size * (1.6f + part),
                   ecs_color_fade(smoke, left));
        arena_glow(pen, x + way.x * 1.7f * grown, y + way.y * 1.7f * grown, size * 1.9f * left,
                   ecs_color_fade(fire, left));
    }
    arena_glow(pen, x, y, size * 4.5f * left, ecs_color_fade(fire, left));
    arena_glow(pen, x, y, size * 2.6f * left, ecs_color_fade(hot, left * 1.5f));
    arena_ring(pen, x, y, 5.5f * grown, 5.5f * grown + 0.7f * left * size,
               ecs_color_fade(blast->color, 0.0f), ecs_color_fade(blast->color, left * 0.9f));
}

ES_STAGE(render)
ES_TAG(render)
static void draw_effects_es(ES_CONTEXT const arena_game* game) {
    const arena_view* view = game->view;
    const arena_pen* pen = &view->pen;
    for (uint32_t i = 0; i < ARENA_BEAMS; i++)
        if (view->beams[i].left_s > 0.0f) draw_beam(pen, &view->beams[i]);
    for (uint32_t i = 0; i < ARENA_BLASTS; i++)
        if (view->blasts[i].age_s < view->blasts[i].life_s) draw_blast(pen, &view->blasts[i]);
    for (uint32_t i = 0; i < ARENA_SPARKS; i++) {
        const arena_spark* spark = &view->sparks[i];
        if (spark->age_s >= spark->life_s) continue;
        const float left = 1.0f - spark->age_s / spark->life_s;
        arena_line(pen, spark->x, spark->y, spark->x - spark->vx * 0.05f,
                   spark->y - spark->vy * 0.05f, 0.2f + 0.3f * left,
                   ecs_color_fade(spark->color, left * 1.4f));
    }
    for (uint32_t i = 0; i < ARENA_POPUPS; i++) {
        const arena_popup* popup = &view->popups[i];
        if (popup->left_s <= 0.0f) continue;
        const float left = popup->left_s / ARENA_POPUP_S;
        const ecs_vec2 at = arena_to_view(pen, popup->x, popup->y - 3.0f - 3.0f * (1.0f - left));
        char text[16];
        (void)base_text_format(text, sizeof text, popup->is_fatal ? "+1" : "%u", popup->amount);
        const ecs_color color =
            popup->is_fatal ? (ecs_color){255, 226, 110, 255} : (ecs_color){255, 255, 255, 230};
        net_draw_text(pen->draw, at.x, at.y, popup->is_fatal ? 26.0f : 17.0f,
                      ecs_color_fade(color, left * 1.5f), NET_ALIGN_MIDDLE, text);
    }
}

ES_STAGE(render)
ES_TAG(render)
static void draw_bubbles_es(const ecs_stage* stage, ES_CONTEXT const arena_game* game) {
    const arena_pen* pen = &game->view->pen;
    for (uint32_t i = 0; i < ARENA_BUBBLES; i++) {
        const arena_bubble* bubble = &game->view->bubbles[i];
        const ecs_vec2* pos = ecs_find(stage->world, bubble->speaker, game->pos);
        if (bubble->left_s <= 0.0f || !pos) continue;
        const ecs_vec2 at = arena_to_view(pen, pos->x, pos->y - 4.0f);
        const char* text = arena_phrase(bubble->phrase);
        const float half = pen->draw->text_width(pen->draw->context, 15.0f, text) * 0.5f + 8.0f;
        const ecs_color paper = ecs_color_fade((ecs_color){236, 240, 250, 235}, bubble->left_s);
        arena_box(pen->draw, at.x - half, at.y - 26.0f, half * 2.0f, 22.0f, paper);
        arena_facet(pen, (ecs_vec2){pos->x - 0.6f, pos->y - 4.4f},
                    (ecs_vec2){pos->x + 0.6f, pos->y - 4.4f}, (ecs_vec2){pos->x, pos->y - 3.4f},
                    paper);
        net_draw_text(pen->draw, at.x, at.y - 24.0f, 15.0f,
                      ecs_color_fade((ecs_color){20, 24, 40, 255}, bubble->left_s),
                      NET_ALIGN_MIDDLE, text);
    }
}

// Cover the area beyond sight with fog.
ES_STAGE(render)
ES_TAG(render)
static void draw_fog_es(ES_CONTEXT const arena_game* game) {
    const arena_view* view = game->view;
    if (!view->has_camera) return;
    const ecs_color clear = {10, 13, 22, 0}, haze = {10, 13, 22, 205}, dark = {7, 9, 15, 235};
    const float x = view->camera.x, y = view->camera.y, sight = view->sight;
    arena_ring(&view->pen, x, y, sight - 14.0f, sight, clear, haze);
    arena_ring(&view->pen, x, y, sight, sight * 1.6f, haze, dark);
}
