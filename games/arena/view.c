// SPDX-License-Identifier: MIT
// The picture: the ground, the camera, and the events of the server.
//
// The player's own fighter is in the middle, and the view reaches as far as the client gets
// entities. A spectator sees the whole map. Fog covers the rest, because the client knows no entity
// there. All clients know rocks and bases. Events create sparks and beams, which fade by the time
// of the frames; the same frames give the same picture.

#include "arena.h"
#include "view.es.h"
#include "base/text.h"

#define CLOSE_SCALE 8.0f
#define FAR_SCALE 1.38f
#define HURT_S 0.5f

static float burn(float left_s, float dt) {
    return base_max(left_s - dt, 0.0f);
}

static void advance(arena_view* view, float dt) {
    view->hurt_s = burn(view->hurt_s, dt);
    view->banner_s = burn(view->banner_s, dt);
    for (uint32_t i = 0; i < ARENA_SPARKS; i++) {
        arena_spark* spark = &view->sparks[i];
        if (spark->age_s >= spark->life_s) continue;
        spark->age_s += dt;
        spark->x += spark->vx * dt;
        spark->y += spark->vy * dt;
        spark->vx -= spark->vx * base_min(3.0f * dt, 1.0f);
        spark->vy -= spark->vy * base_min(3.0f * dt, 1.0f);
    }
    for (uint32_t i = 0; i < ARENA_BEAMS; i++)
        view->beams[i].left_s = burn(view->beams[i].left_s, dt);
    for (uint32_t i = 0; i < ARENA_NEWS; i++)
        view->news[i].left_s = burn(view->news[i].left_s, dt);
    for (uint32_t i = 0; i < ARENA_BUBBLES; i++)
        view->bubbles[i].left_s = burn(view->bubbles[i].left_s, dt);
}

static void follow(ecs_world* world, arena_game* game, const net_draw* draw) {
    arena_view* view = game->view;
    const ecs_vec2* pos = ecs_find(world, draw->player, game->pos);
    const uint8_t* team = ecs_find(world, draw->player, game->team);
    if (pos) {
        view->camera = *pos;
        view->has_camera = true;
    }
    bool is_ghost = ecs_find(world, draw->player, game->wait_tick) != NULL;
    view->sight = is_ghost ? ARENA_GHOST_SIGHT : ARENA_SIGHT;
    view->player = draw->player;
    view->own_team = team ? *team : 0;
    view->pen = (arena_pen){draw, ARENA_SIZE * 0.5f, ARENA_SIZE * 0.5f, FAR_SCALE};
    if (view->has_camera)
        view->pen = (arena_pen){draw, view->camera.x, view->camera.y, CLOSE_SCALE};
}

static void draw_floor(const arena_pen* pen) {
    arena_box(pen->draw, 0.0f, 0.0f, ARENA_VIEW_WIDTH, ARENA_VIEW_HEIGHT,
              (ecs_color){8, 10, 18, 255});
    ecs_vec2 low = arena_to_view(pen, 0.0f, 0.0f);
    arena_box(pen->draw, low.x, low.y, ARENA_SIZE * pen->scale, ARENA_SIZE * pen->scale,
              (ecs_color){24, 30, 46, 255});
    float width = 1.0f / pen->scale;
    for (uint32_t i = 0; i <= 32; i++) {
        float at = (float)i * 16.0f;
        ecs_color color = {255, 255, 255, i % 4 ? 9 : 22};
        arena_line(pen, at, 0.0f, at, ARENA_SIZE, width, color);
        arena_line(pen, 0.0f, at, ARENA_SIZE, at, width, color);
    }
    const ecs_color edge = {120, 140, 190, 200};
    arena_line(pen, 0.0f, 0.0f, ARENA_SIZE, 0.0f, 0.6f, edge);
    arena_line(pen, 0.0f, ARENA_SIZE, ARENA_SIZE, ARENA_SIZE, 0.6f, edge);
    arena_line(pen, 0.0f, 0.0f, 0.0f, ARENA_SIZE, 0.6f, edge);
    arena_line(pen, ARENA_SIZE, 0.0f, ARENA_SIZE, ARENA_SIZE, 0.6f, edge);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_ground_es(const ecs_stage* stage, ES_CONTEXT arena_game* game) {
    const net_draw* draw = stage->user;
    advance(game->view, base_clamp(draw->frame_dt_s, 0.0f, 0.25f));
    follow(stage->world, game, draw);
    const arena_pen* pen = &game->view->pen;
    draw_floor(pen);
    for (uint32_t team = 1; team <= ARENA_TEAMS; team++) {
        ecs_vec2 base = arena_map_base(team);
        ecs_color color = arena_team_color(team);
        arena_disc(pen, base.x, base.y, ARENA_BASE_RADIUS, ecs_color_fade(color, 0.12f));
        arena_ring(pen, base.x, base.y, ARENA_BASE_RADIUS - 0.8f, ARENA_BASE_RADIUS,
                   ecs_color_fade(color, 0.5f), ecs_color_fade(color, 0.15f));
    }
    for (uint32_t team = 1; team <= ARENA_TEAMS; team++) {
        ecs_vec2 stand = arena_map_stand(team);
        ecs_color color = arena_team_color(team);
        arena_ring(pen, stand.x, stand.y, 3.6f, 4.0f, ecs_color_fade(color, 0.6f),
                   ecs_color_fade(color, 0.2f));
    }
    for (uint32_t i = 0; i < ARENA_ROCK_CELLS * ARENA_ROCK_CELLS; i++) {
        arena_rock rock = arena_map_rock(i % ARENA_ROCK_CELLS, i / ARENA_ROCK_CELLS);
        if (!(rock.radius > 0.0f)) continue;
        arena_disc(pen, rock.x + 0.7f, rock.y + 0.9f, rock.radius, (ecs_color){0, 0, 0, 90});
        arena_disc(pen, rock.x, rock.y, rock.radius, (ecs_color){66, 74, 96, 255});
        arena_disc(pen, rock.x - rock.radius * 0.15f, rock.y - rock.radius * 0.2f,
                   rock.radius * 0.75f, (ecs_color){84, 94, 120, 255});
    }
}

// ---- events of the server ----

static void spark(arena_view* view, float x, float y, float speed, float life_s, ecs_color color) {
    arena_spark* made = &view->sparks[view->spark_next];
    view->spark_next = (view->spark_next + 1) % ARENA_SPARKS;
    // One random number per statement: their order is part of the picture.
    float angle = base_rng_float(&view->rng) * 2.0f * BASE_PI;
    float part = base_rng_float(&view->rng);
    made->life_s = life_s * (0.5f + base_rng_float(&view->rng));
    made->x = x;
    made->y = y;
    made->vx = base_cos(angle) * speed * part;
    made->vy = base_sin(angle) * speed * part;
    made->age_s = 0.0f;
    made->color = color;
}

static void add_news(arena_view* view, arena_news news) {
    news.left_s = ARENA_NEWS_S;
    view->news[view->news_next] = news;
    view->news_next = (view->news_next + 1) % ARENA_NEWS;
}

ES_TAG(render)
ES_ON_EVENT(hit)
static void hear_hit_es_event_handler(const ecs_stage* stage, ES_CONTEXT arena_game* game,
                                      const ecs_event* event) {
    const arena_hit* hit = event->payload;
    const uint8_t* team = ecs_find(stage->world, event->target, game->team);
    const ecs_vec2* pos = ecs_find(stage->world, event->target, game->pos);
    float x = pos ? pos->x : (float)hit->x, y = pos ? pos->y : (float)hit->y;
    ecs_color color = ecs_color_shade(arena_team_color(team ? *team : 0), 0.3f);
    uint32_t count = hit->is_fatal ? 26 : 6;
    for (uint32_t i = 0; i < count; i++)
        spark(game->view, x, y, hit->is_fatal ? 22.0f : 12.0f, hit->is_fatal ? 0.7f : 0.35f, color);
    if (event->target == game->view->player) game->view->hurt_s = HURT_S;
}

ES_TAG(render)
ES_ON_EVENT(ray)
static void hear_ray_es_event_handler(const ecs_stage* stage, ES_CONTEXT arena_game* game,
                                      const ecs_event* event) {
    const arena_ray* ray = event->payload;
    const uint8_t* team = ecs_find(stage->world, event->target, game->team);
    arena_view* view = game->view;
    view->beams[view->beam_next] = (arena_beam){(float)ray->from_x * 0.25f,
                                                (float)ray->from_y * 0.25f,
                                                (float)ray->to_x * 0.25f,
                                                (float)ray->to_y * 0.25f,
                                                ARENA_BEAM_S,
                                                arena_team_color(team ? *team : 0)};
    view->beam_next = (view->beam_next + 1) % ARENA_BEAMS;
}

ES_TAG(render)
ES_ON_EVENT(said)
static void hear_said_es_event_handler(ES_CONTEXT arena_game* game, const ecs_event* event) {
    const arena_said* said = event->payload;
    arena_view* view = game->view;
    view->bubbles[view->bubble_next] = (arena_bubble){event->target, said->phrase, ARENA_BUBBLE_S};
    view->bubble_next = (view->bubble_next + 1) % ARENA_BUBBLES;
}

ES_TAG(render)
ES_ON_EVENT(killed)
static void hear_kill_es_event_handler(ES_CONTEXT arena_game* game, const arena_killed* event) {
    const arena_news news = {.who = event->killer_client,
                             .whom = event->victim_client,
                             .team = event->killer_team,
                             .other_team = event->victim_team,
                             .flag_what = ARENA_NEWS_KILL};
    add_news(game->view, news);
}

ES_TAG(render)
ES_ON_EVENT(flag_moved)
static void hear_flag_es_event_handler(ES_CONTEXT arena_game* game, const arena_flag_moved* event) {
    const arena_news news = {.who = event->by_client,
                             .team = event->by_team,
                             .other_team = event->team,
                             .flag_what = event->what};
    add_news(game->view, news);
}

ES_TAG(render)
ES_ON_EVENT(round_over)
static void hear_end_es_event_handler(ES_CONTEXT arena_game* game, const arena_round_over* event) {
    static const char* const teams[] = {"NONE", "RED", "BLUE", "GREEN", "YELLOW"};
    arena_view* view = game->view;
    (void)base_text_format(view->banner, sizeof view->banner, "%s WINS ROUND %u WITH %u",
                           teams[event->winner], event->round, event->points);
    view->banner_color = arena_team_color(event->winner);
    view->banner_s = ARENA_BANNER_S;
}
