// SPDX-License-Identifier: MIT
// The picture of the entities: pick-ups, flags, beacons, shots, fighters and sparks, with the fog
// over them.
//
// Health is exact where the client has it, else it has three steps: a client never gets the exact
// value of another team.

#include "arena.h"
#include "view_play.es.h"
#include "base/text.h"

#define NAME_SCALE 4.0f ///< names are shown from this scale on

static const ecs_color white = {255, 255, 255, 255};

ES_STAGE(render)
ES_TAG(render)
ES_SPAN
static void draw_pickups_es(ES_CONTEXT const arena_game* game, uint32_t count, const ecs_vec2* pos,
                            const uint8_t* kind) {
    static const ecs_color colors[] = {
        {92, 235, 140, 255}, {255, 206, 92, 255}, {206, 120, 255, 255}, {255, 255, 255, 255}};
    const arena_pen* pen = &game->view->pen;
    for (uint32_t i = 0; i < count; i++) {
        ecs_color color = colors[kind[i] & 3];
        arena_glow(pen, pos[i].x, pos[i].y, 3.4f, ecs_color_fade(color, 0.45f));
        arena_disc(pen, pos[i].x, pos[i].y, 1.1f, color);
        if (kind[i] == ARENA_HEALTH_KIT) {
            const ecs_color dark = {12, 60, 30, 255};
            arena_line(pen, pos[i].x - 0.7f, pos[i].y, pos[i].x + 0.7f, pos[i].y, 0.35f, dark);
            arena_line(pen, pos[i].x, pos[i].y - 0.7f, pos[i].x, pos[i].y + 0.7f, 0.35f, dark);
        } else {
            arena_disc(pen, pos[i].x, pos[i].y, 0.5f, (ecs_color){40, 26, 40, 255});
        }
    }
}

ES_STAGE(render)
ES_TAG(render)
static void draw_beacons_es(ES_CONTEXT const arena_game* game, ecs_vec2 pos, uint8_t team,
                            uint32_t beacon_tick) {
    (void)beacon_tick;
    const arena_pen* pen = &game->view->pen;
    ecs_color color = arena_team_color(team);
    arena_ring(pen, pos.x, pos.y, 4.4f, 5.0f, ecs_color_fade(color, 0.9f),
               ecs_color_fade(color, 0.2f));
    arena_ring(pen, pos.x, pos.y, 7.0f, 7.4f, ecs_color_fade(color, 0.5f),
               ecs_color_fade(color, 0.1f));
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(shot : ArenaShot)
ES_SPAN
static void draw_shots_es(ES_CONTEXT const arena_game* game, uint32_t count, const ecs_vec2* pos,
                          const ecs_vec2* vel, const uint8_t* team) {
    const arena_pen* pen = &game->view->pen;
    for (uint32_t i = 0; i < count; i++) {
        ecs_color color = ecs_color_shade(arena_team_color(team[i]), 0.45f);
        const ecs_vec2 tail = {pos[i].x - vel[i].x * 0.11f, pos[i].y - vel[i].y * 0.11f};
        arena_streak(pen, pos[i], tail, 0.8f, ecs_color_fade(color, 0.8f));
        arena_disc(pen, pos[i].x, pos[i].y, 0.45f, white);
    }
}

static void draw_health(const arena_pen* pen, ecs_vec2 pos, float part, bool is_exact) {
    ecs_vec2 at = arena_to_view(pen, pos.x - 1.8f, pos.y - 2.9f);
    float width = 3.6f * pen->scale, height = 0.5f * pen->scale;
    ecs_color color = part > 0.66f   ? (ecs_color){100, 230, 120, 255}
                      : part > 0.33f ? (ecs_color){255, 210, 80, 255}
                                     : (ecs_color){255, 90, 80, 255};
    arena_box(pen->draw, at.x, at.y, width, height, (ecs_color){0, 0, 0, 150});
    arena_box(pen->draw, at.x, at.y, width * part, height,
              ecs_color_fade(color, is_exact ? 1.0f : 0.7f));
}

static void draw_name(const arena_pen* pen, ecs_vec2 pos, uint32_t client, ecs_color color) {
    char buffer[32];
    ecs_vec2 at = arena_to_view(pen, pos.x, pos.y + 1.9f);
    arena_text_centred(pen->draw, at.x, at.y, 12.0f, color,
                       net_player_name(pen->draw, client, buffer, sizeof buffer));
}

static void draw_body(const arena_pen* pen, ecs_vec2 pos, ecs_vec2 facing, ecs_color color,
                      bool is_player) {
    arena_disc(pen, pos.x + 0.3f, pos.y + 0.4f, ARENA_RADIUS, (ecs_color){0, 0, 0, 90});
    arena_line(pen, pos.x, pos.y, pos.x + facing.x * 2.3f, pos.y + facing.y * 2.3f, 0.7f,
               ecs_color_shade(color, 0.3f));
    arena_disc(pen, pos.x, pos.y, ARENA_RADIUS, is_player ? white : ecs_color_shade(color, -0.35f));
    arena_disc(pen, pos.x, pos.y, ARENA_RADIUS * 0.82f, color);
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE_NOT(tank : tag)
static void draw_fighters_es(ES_CONTEXT const arena_game* game, ecs_entity entity, ecs_vec2 pos,
                             ecs_vec2 vel, uint8_t team, uint32_t owner, uint8_t health,
                             uint8_t condition, uint32_t together,
                             ES_OPTIONAL const uint32_t* boost_tick, ES_OPTIONAL const float* aim) {
    const arena_pen* pen = &game->view->pen;
    if (condition == 0) return;
    bool is_own = entity == pen->draw->player;
    ecs_color color = arena_team_color(team);
    float speed = ecs_vec2_length(vel);
    ecs_vec2 facing = {0.0f, 0.0f};
    if (speed > 0.1f) facing = (ecs_vec2){vel.x / speed, vel.y / speed};
    if (is_own && aim) facing = ecs_direction(*aim);
    if (boost_tick) arena_glow(pen, pos.x, pos.y, 4.6f, (ecs_color){206, 120, 255, 150});
    if (together)
        arena_glow(pen, pos.x, pos.y, 6.0f, ecs_color_fade(arena_team_color(together), 0.6f));
    if (is_own) arena_ring(pen, pos.x, pos.y, 2.1f, 2.5f, white, (ecs_color){255, 255, 255, 40});
    draw_body(pen, pos, facing, color, owner != 0);
    if (pen->scale < NAME_SCALE) return;
    bool is_exact = team == game->view->own_team;
    float part = is_exact ? (float)health / (float)ARENA_HEALTH : (float)condition / 3.0f;
    if (part < 1.0f || is_own) draw_health(pen, pos, base_min(part, 1.0f), is_exact);
    if (owner) draw_name(pen, pos, owner, is_own ? white : ecs_color_shade(color, 0.4f));
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(tank : tag)
static void draw_hulls_es(ES_CONTEXT const arena_game* game, ecs_vec2 pos, ecs_vec2 vel,
                          uint8_t team, uint8_t condition) {
    const arena_pen* pen = &game->view->pen;
    float speed = base_max(ecs_vec2_length(vel), 0.1f);
    const ecs_vec2 way = {vel.x / speed * 2.6f, vel.y / speed * 2.6f};
    arena_line(pen, pos.x - way.x, pos.y - way.y, pos.x + way.x, pos.y + way.y, 4.4f,
               (ecs_color){40, 44, 56, 255});
    arena_disc(pen, pos.x, pos.y, 2.2f, ecs_color_shade(arena_team_color(team), -0.4f));
    if (pen->scale >= NAME_SCALE) draw_health(pen, pos, (float)condition / 3.0f, false);
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(ecs.parent : eid)
static void draw_turrets_es(ES_CONTEXT const arena_game* game, ecs_vec2 pos, uint8_t team,
                            float heading) {
    const arena_pen* pen = &game->view->pen;
    const ecs_vec2 way = ecs_direction(heading);
    ecs_color color = arena_team_color(team);
    arena_line(pen, pos.x, pos.y, pos.x + way.x * 4.2f, pos.y + way.y * 4.2f, 0.9f,
               ecs_color_shade(color, 0.2f));
    arena_disc(pen, pos.x, pos.y, 1.4f, color);
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(wait_tick : u32)
static void draw_ghosts_es(ES_CONTEXT const arena_game* game, ecs_vec2 pos, uint8_t team) {
    const arena_pen* pen = &game->view->pen;
    ecs_color color = arena_team_color(team);
    arena_ring(pen, pos.x, pos.y, 0.9f, ARENA_RADIUS, ecs_color_fade(color, 0.1f),
               ecs_color_fade(color, 0.6f));
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(flag : ArenaFlag)
static void draw_flags_es(ES_CONTEXT const arena_game* game, ecs_vec2 pos, uint8_t team) {
    const arena_pen* pen = &game->view->pen;
    ecs_color color = arena_team_color(team);
    arena_line(pen, pos.x + 0.8f, pos.y + 0.5f, pos.x + 0.8f, pos.y - 5.5f, 0.35f, white);
    for (uint32_t i = 0; i < 5; i++) {
        float x = pos.x + 1.0f + (float)i * 0.7f;
        float low = pos.y - 5.4f + (float)i * 0.12f, high = pos.y - 3.1f - (float)i * 0.12f;
        arena_line(pen, x, low, x, high, 0.75f, color);
    }
}

ES_STAGE(render)
ES_TAG(render)
static void draw_effects_es(ES_CONTEXT const arena_game* game) {
    const arena_view* view = game->view;
    const arena_pen* pen = &view->pen;
    for (uint32_t i = 0; i < ARENA_BEAMS; i++) {
        const arena_beam* beam = &view->beams[i];
        if (beam->left_s <= 0.0f) continue;
        float left = beam->left_s / ARENA_BEAM_S;
        arena_line(pen, beam->from_x, beam->from_y, beam->to_x, beam->to_y, 1.2f * left,
                   ecs_color_fade(beam->color, 0.5f * left));
        arena_line(pen, beam->from_x, beam->from_y, beam->to_x, beam->to_y, 0.4f * left,
                   ecs_color_fade(white, left));
        arena_glow(pen, beam->to_x, beam->to_y, 2.5f, ecs_color_fade(beam->color, left));
    }
    for (uint32_t i = 0; i < ARENA_SPARKS; i++) {
        const arena_spark* spark = &view->sparks[i];
        if (spark->age_s >= spark->life_s) continue;
        float left = 1.0f - spark->age_s / spark->life_s;
        arena_disc(pen, spark->x, spark->y, 0.2f + 0.35f * left,
                   ecs_color_fade(spark->color, left * 1.4f));
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
        ecs_vec2 at = arena_to_view(pen, pos->x, pos->y - 5.0f);
        arena_text_centred(pen->draw, at.x, at.y, 15.0f, ecs_color_fade(white, bubble->left_s),
                           arena_phrase(bubble->phrase));
    }
}

// Cover the area beyond sight with fog.
ES_STAGE(render)
ES_TAG(render)
static void draw_fog_es(ES_CONTEXT const arena_game* game) {
    const arena_view* view = game->view;
    if (!view->has_camera) return;
    const ecs_color clear = {10, 13, 22, 0}, haze = {10, 13, 22, 205}, dark = {7, 9, 15, 235};
    float x = view->camera.x, y = view->camera.y, sight = view->sight;
    arena_ring(&view->pen, x, y, sight - 9.0f, sight, clear, haze);
    arena_ring(&view->pen, x, y, sight, sight * 1.6f, haze, dark);
    arena_ring(&view->pen, x, y, sight - 0.15f, sight + 0.15f, (ecs_color){130, 160, 220, 70},
               (ecs_color){130, 160, 220, 70});
}
