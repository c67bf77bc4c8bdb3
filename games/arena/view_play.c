// SPDX-License-Identifier: MIT
// The picture of what lies below the fighters: pick-ups, beacons and shots.

#include "arena.h"
#include "view_play.es.h"

static const ecs_color white = {255, 255, 255, 255};

static void draw_pickup(const arena_pen* pen, ecs_vec2 pos, uint32_t kind, float beat) {
    static const ecs_color colors[] = {
        {92, 235, 140, 255}, {255, 206, 92, 255}, {206, 120, 255, 255}, {255, 255, 255, 255}};
    const ecs_color color = colors[kind & 3], dark = ecs_color_shade(color, -0.6f);
    const arena_figure box = {pen, {pos.x, pos.y - 0.25f - 0.2f * beat}, {1.0f, 0.0f}};
    arena_glow(pen, pos.x, pos.y, 3.4f + 0.5f * beat, ecs_color_fade(color, 0.4f));
    arena_disc(pen, pos.x + 0.4f, pos.y + 0.7f, 1.1f, (ecs_color){0, 0, 0, 90});
    switch (kind) {
    case ARENA_HEALTH_KIT:
        arena_limb(&box, -1.2f, 0.0f, 1.2f, 0.0f, 2.2f, (ecs_color){235, 242, 240, 255});
        arena_limb(&box, -1.2f, 0.95f, 1.2f, 0.95f, 0.3f, (ecs_color){150, 166, 164, 255});
        arena_limb(&box, -0.85f, 0.0f, 0.85f, 0.0f, 0.6f, (ecs_color){32, 176, 84, 255});
        arena_limb(&box, 0.0f, -0.85f, 0.0f, 0.85f, 0.6f, (ecs_color){32, 176, 84, 255});
        break;
    case ARENA_AMMO_BOX:
        arena_limb(&box, -1.3f, 0.0f, 1.3f, 0.0f, 1.9f, dark);
        arena_limb(&box, -1.15f, 0.2f, 1.15f, 0.2f, 1.1f, ecs_color_shade(color, -0.25f));
        for (float x = -0.75f; x < 1.0f; x += 0.75f) {
            arena_limb(&box, x, -0.1f, x, -1.0f, 0.42f, color);
            arena_knob(&box, x, -1.05f, 0.22f, ecs_color_shade(color, 0.5f));
        }
        break;
    default:
        arena_knob(&box, 0.0f, 0.0f, 1.25f, dark);
        arena_knob(&box, 0.0f, 0.0f, 1.05f, color);
        arena_facet(pen, arena_part(&box, 0.35f, -0.95f), arena_part(&box, -0.6f, 0.15f),
                    arena_part(&box, 0.1f, 0.15f), white); // a stroke of lightning
        arena_facet(pen, arena_part(&box, -0.35f, 0.95f), arena_part(&box, 0.6f, -0.15f),
                    arena_part(&box, -0.1f, -0.15f), white);
        break;
    }
}

ES_STAGE(render)
ES_TAG(render)
ES_SPAN
static void draw_pickups_es(ES_CONTEXT const arena_game* game, uint32_t count, const ecs_vec2* pos,
                            const uint8_t* kind) {
    const arena_pen* pen = &game->view->pen;
    for (uint32_t i = 0; i < count; i++) {
        const float beat = base_sin((float)pen->draw->tick * 0.12f + pos[i].x);
        if (arena_is_shown(arena_to_view(pen, pos[i].x, pos[i].y), 40.0f))
            draw_pickup(pen, pos[i], kind[i], beat);
    }
}

ES_STAGE(render)
ES_TAG(render)
static void draw_beacons_es(ES_CONTEXT const arena_game* game, ecs_vec2 pos, uint8_t team,
                            uint32_t beacon_tick) {
    (void)beacon_tick;
    const arena_pen* pen = &game->view->pen;
    const ecs_color color = arena_team_color(team), clear = ecs_color_fade(color, 0.0f);
    const float wave = (float)pen->draw->tick * 0.04f;
    const float out = 9.0f * (wave - base_floor(wave));
    arena_ring(pen, pos.x, pos.y, out, out + 0.5f, clear, ecs_color_fade(color, 1.0f - out / 9.0f));
    arena_ring(pen, pos.x, pos.y, 4.4f, 5.0f, ecs_color_fade(color, 0.9f),
               ecs_color_fade(color, 0.2f));
    arena_disc(pen, pos.x, pos.y, 0.8f, color);
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(shot : ArenaShot)
ES_SPAN
static void draw_shots_es(ES_CONTEXT const arena_game* game, uint32_t count, const ecs_vec2* pos,
                          const ecs_vec2* vel, const uint8_t* team) {
    const arena_pen* pen = &game->view->pen;
    for (uint32_t i = 0; i < count; i++) {
        const ecs_color color = arena_team_color(team[i]);
        const ecs_vec2 far = {pos[i].x - vel[i].x * 0.14f, pos[i].y - vel[i].y * 0.14f};
        const ecs_vec2 near = {pos[i].x - vel[i].x * 0.05f, pos[i].y - vel[i].y * 0.05f};
        arena_streak(pen, pos[i], far, 1.1f, ecs_color_fade(color, 0.75f));
        arena_streak(pen, pos[i], near, 0.7f, (ecs_color){255, 250, 225, 255});
        arena_glow(pen, pos[i].x, pos[i].y, 1.7f, ecs_color_fade(color, 0.7f));
        arena_disc(pen, pos[i].x, pos[i].y, 0.4f, white);
    }
}
