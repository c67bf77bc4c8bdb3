// SPDX-License-Identifier: MIT
// The picture of the ground: plates with the colour of the nearest base, bases, what fights left
// behind, and rocks. All clients know the map, so none of it waits for the server.
//
// Plates and rocks get their looks from generators with fixed seeds, so every frame shows the same
// map. Light comes from the upper left.

#include "arena.h"
#include "view_ground.es.h"

#define PLATE 16.0f ///< side of a plate of the ground
#define FAR_PLATE 64.0f
#define DETAIL_SCALE 4.0f ///< below it there are only large plates
#define ROCK_SIDES 11u
#define TERRITORY 300.0f ///< a base colours the ground as far as this

static ecs_color ground_color(float x, float y, uint32_t noise) {
    const ecs_color plain = {27, 36, 58, 255};
    ecs_color color = ecs_color_shade(plain, (float)(noise % 8) * 0.011f);
    for (uint32_t team = 1; team <= ARENA_TEAMS; team++) {
        const float away = ecs_vec2_distance(arena_map_base(team), (ecs_vec2){x, y});
        color =
            ecs_color_mix(color, arena_team_color(team), 0.08f * ecs_fade(away, 0.0f, TERRITORY));
    }
    return color;
}

static void draw_plate(const arena_pen* pen, uint32_t column, uint32_t row, float side) {
    base_rng rng = base_rng_make(row * 64 + column, 11);
    const float x = (float)column * side, y = (float)row * side;
    const ecs_vec2 low = arena_to_view(pen, x, y), high = arena_to_view(pen, x + side, y + side);
    if (high.x < 0.0f || high.y < 0.0f || low.x > ARENA_VIEW_WIDTH || low.y > ARENA_VIEW_HEIGHT)
        return;
    const uint32_t noise = base_rng_below(&rng, 256);
    const ecs_color color = ground_color(x + side * 0.5f, y + side * 0.5f, noise);
    arena_box(pen->draw, low.x, low.y, high.x - low.x, high.y - low.y, color);
    if (pen->scale < DETAIL_SCALE) return;
    const float seam = 0.16f * pen->scale;
    arena_box(pen->draw, low.x, low.y, high.x - low.x, seam, ecs_color_shade(color, 0.09f));
    arena_box(pen->draw, low.x, low.y, seam, high.y - low.y, ecs_color_shade(color, 0.09f));
    arena_box(pen->draw, low.x, high.y - seam, high.x - low.x, seam, (ecs_color){0, 0, 0, 70});
    arena_box(pen->draw, high.x - seam, low.y, seam, high.y - low.y, (ecs_color){0, 0, 0, 70});
    for (uint32_t i = 0; i < 4; i++) // rivets
        arena_disc(pen, x + (i % 2 ? 1.1f : side - 1.1f), y + (i / 2 ? 1.1f : side - 1.1f), 0.22f,
                   ecs_color_shade(color, 0.16f));
    if (noise % 3) return;
    for (uint32_t i = 0; i < 3; i++) { // stains and pebbles
        const float at_x = x + 2.0f + base_rng_float(&rng) * (side - 4.0f);
        const float at_y = y + 2.0f + base_rng_float(&rng) * (side - 4.0f);
        const float size = base_rng_float(&rng);
        if (noise % 2)
            arena_glow(pen, at_x, at_y, 1.0f + 2.5f * size, (ecs_color){0, 0, 0, 46});
        else
            arena_disc(pen, at_x, at_y, 0.15f + 0.2f * size, ecs_color_shade(color, 0.12f));
    }
}

static void draw_plates(const arena_pen* pen) {
    arena_box(pen->draw, 0.0f, 0.0f, ARENA_VIEW_WIDTH, ARENA_VIEW_HEIGHT,
              (ecs_color){9, 11, 19, 255});
    const float side = pen->scale < DETAIL_SCALE ? FAR_PLATE : PLATE;
    const uint32_t plates = (uint32_t)(ARENA_SIZE / side);
    for (uint32_t i = 0; i < plates * plates; i++)
        draw_plate(pen, i % plates, i / plates, side);
    const float far = ARENA_SIZE;
    const ecs_vec2 corners[] = {{0.0f, 0.0f}, {far, 0.0f}, {far, far}, {0.0f, far}, {0.0f, 0.0f}};
    for (uint32_t i = 0; i < 4; i++) { // the wall around the map
        const ecs_vec2 a = corners[i], b = corners[i + 1];
        arena_line(pen, a.x, a.y, b.x, b.y, 3.0f, (ecs_color){0, 0, 0, 60});
        arena_line(pen, a.x, a.y, b.x, b.y, 1.8f, (ecs_color){74, 86, 118, 255});
        arena_line(pen, a.x, a.y, b.x, b.y, 0.5f, (ecs_color){150, 170, 220, 255});
    }
}

static void draw_base(const arena_pen* pen, uint32_t team) {
    const ecs_vec2 base = arena_map_base(team), stand = arena_map_stand(team);
    const ecs_color color = arena_team_color(team);
    const float radius = ARENA_BASE_RADIUS;
    arena_disc(pen, base.x, base.y, radius, ecs_color_fade(color, 0.08f));
    arena_ring(pen, base.x, base.y, radius - 5.0f, radius, ecs_color_fade(color, 0.0f),
               ecs_color_fade(color, 0.2f));
    arena_ring(pen, base.x, base.y, radius - 0.5f, radius, ecs_color_fade(color, 0.8f),
               ecs_color_fade(color, 0.8f));
    arena_ring(pen, base.x, base.y, 7.0f, 7.5f, ecs_color_fade(color, 0.4f),
               ecs_color_fade(color, 0.4f));
    for (uint32_t i = 0; i < 12; i++) { // marks towards the middle
        const ecs_vec2 way = ecs_direction((float)i * (BASE_PI / 6.0f));
        arena_line(pen, base.x + way.x * (radius - 4.0f), base.y + way.y * (radius - 4.0f),
                   base.x + way.x * (radius - 1.5f), base.y + way.y * (radius - 1.5f), 0.8f,
                   ecs_color_fade(color, 0.6f));
    }
    arena_disc(pen, stand.x + 0.3f, stand.y + 0.4f, 4.2f, (ecs_color){0, 0, 0, 80});
    arena_disc(pen, stand.x, stand.y, 4.0f, (ecs_color){44, 50, 66, 255});
    arena_ring(pen, stand.x, stand.y, 3.3f, 4.0f, ecs_color_fade(color, 0.9f),
               ecs_color_fade(color, 0.5f));
    arena_disc(pen, stand.x, stand.y, 1.2f, ecs_color_shade(color, -0.5f));
}

// A stone with a flat top: each side has the light that its direction gets.
static void draw_rock(const arena_pen* pen, arena_rock rock, uint32_t number) {
    static const ecs_vec2 light = {-0.6f, -0.8f};
    const ecs_color stone = {112, 120, 142, 255};
    base_rng rng = base_rng_make(number, 7);
    ecs_vec2 foot[ROCK_SIDES], top[ROCK_SIDES];
    const ecs_vec2 middle = {rock.x - rock.radius * 0.05f, rock.y - rock.radius * 0.07f};
    for (uint32_t i = 0; i < ROCK_SIDES; i++) {
        const ecs_vec2 way = ecs_direction((float)i * (2.0f * BASE_PI / (float)ROCK_SIDES));
        const float wide = rock.radius * (0.94f + 0.1f * base_rng_float(&rng));
        const float flat = rock.radius * (0.52f + 0.2f * base_rng_float(&rng));
        foot[i] = (ecs_vec2){rock.x + way.x * wide, rock.y + way.y * wide};
        top[i] = (ecs_vec2){middle.x + way.x * flat, middle.y + way.y * flat};
    }
    arena_disc(pen, rock.x + 1.3f, rock.y + 1.7f, rock.radius * 1.02f, (ecs_color){0, 0, 0, 110});
    for (uint32_t i = 0; i < ROCK_SIDES; i++) {
        const uint32_t next = (i + 1) % ROCK_SIDES;
        const ecs_vec2 out = ecs_direction(((float)i + 0.5f) * (2.0f * BASE_PI / ROCK_SIDES));
        const float lit = ecs_vec2_dot(out, light);
        const ecs_color side = ecs_color_shade(stone, -0.42f + 0.36f * lit);
        arena_line(pen, foot[i].x, foot[i].y, foot[next].x, foot[next].y, 0.35f,
                   (ecs_color){24, 27, 38, 255});
        arena_facet(pen, foot[i], foot[next], top[i], side);
        arena_facet(pen, top[i], foot[next], top[next], side);
        arena_facet(pen, middle, top[i], top[next], ecs_color_shade(stone, 0.02f + 0.05f * lit));
        arena_line(pen, top[i].x, top[i].y, top[next].x, top[next].y, 0.22f,
                   ecs_color_shade(stone, lit > 0.0f ? 0.4f : -0.2f));
    }
    arena_line(pen, middle.x, middle.y, top[3].x, top[3].y, 0.2f, ecs_color_shade(stone, -0.3f));
    arena_line(pen, middle.x, middle.y, top[8].x, top[8].y, 0.2f, ecs_color_shade(stone, -0.3f));
}

ES_STAGE(render)
ES_TAG(render)
static void draw_ground_es(ES_CONTEXT const arena_game* game) {
    const arena_pen* pen = &game->view->pen;
    draw_plates(pen);
    for (uint32_t team = 1; team <= ARENA_TEAMS; team++)
        draw_base(pen, team);
    for (uint32_t i = 0; i < ARENA_SCARS; i++) {
        const arena_scar* scar = &game->view->scars[i];
        const ecs_color soot = ecs_color_fade((ecs_color){6, 6, 10, 95}, scar->left_s * 0.3f);
        if (scar->left_s <= 0.0f) continue;
        arena_glow(pen, scar->x, scar->y, scar->size, soot);
        arena_glow(pen, scar->x + 0.4f, scar->y - 0.3f, scar->size * 0.5f, soot);
    }
    for (uint32_t i = 0; i < ARENA_ROCK_CELLS * ARENA_ROCK_CELLS; i++) {
        const arena_rock rock = arena_map_rock(i % ARENA_ROCK_CELLS, i / ARENA_ROCK_CELLS);
        const ecs_vec2 at = arena_to_view(pen, rock.x, rock.y);
        const float reach = (rock.radius + 4.0f) * pen->scale;
        if (rock.radius > 0.0f && arena_is_shown(at, reach)) draw_rock(pen, rock, i);
    }
}
