// SPDX-License-Identifier: MIT
// The picture: the camera, and the events of the server.
//
// The player's own fighter is in the middle, and the view's corners are as far as the client gets
// entities. A spectator sees the whole map below the band of the scores. Fog covers the rest,
// because the client knows no entity there. Events create sparks, blasts and beams, which fade by
// the time of the frames; the same frames give the same picture.

#include "arena.h"
#include "view.es.h"
#include "base/text.h"

#define CLOSE_SCALE 10.0f
#define FAR_SCALE 1.28f
#define FAR_MIDDLE 240.0f ///< in the middle of the view of a spectator; the scores need room
#define HURT_S 0.5f
#define BAR_S 3.0f ///< how long health is shown after a hit
#define TANK_SIZE 2.2f

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
    for (uint32_t i = 0; i < ARENA_BLASTS; i++)
        view->blasts[i].age_s += dt;
    for (uint32_t i = 0; i < ARENA_SCARS; i++)
        view->scars[i].left_s = burn(view->scars[i].left_s, dt);
    for (uint32_t i = 0; i < ARENA_POPUPS; i++)
        view->popups[i].left_s = burn(view->popups[i].left_s, dt);
    for (uint32_t i = 0; i < ARENA_POSES; i++) {
        arena_pose* pose = &view->poses[i];
        pose->aim_s = burn(pose->aim_s, dt);
        pose->flash_s = burn(pose->flash_s, dt);
        pose->hurt_s = burn(pose->hurt_s, dt);
    }
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
    const uint32_t* owner = ecs_find(world, draw->player, game->owner);
    view->own_client = owner ? *owner : 0;
    view->pen = (arena_pen){draw, ARENA_SIZE * 0.5f, FAR_MIDDLE, FAR_SCALE};
    if (view->has_camera)
        view->pen = (arena_pen){draw, view->camera.x, view->camera.y, CLOSE_SCALE};
}

ES_STAGE(render)
ES_TAG(render)
static void look_es(const ecs_stage* stage, ES_CONTEXT arena_game* game) {
    const net_draw* draw = stage->user;
    advance(game->view, base_clamp(draw->frame_dt_s, 0.0f, 0.25f));
    follow(stage->world, game, draw);
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

// A blast of size 0 is the flash of a hit; a larger one burns, and leaves soot.
static void add_blast(arena_view* view, float x, float y, float size, ecs_color color) {
    const float life_s = size > 0.0f ? 0.5f + 0.2f * size : 0.16f;
    view->blasts[view->blast_next] = (arena_blast){x, y, size, 0.0f, life_s, color};
    view->blast_next = (view->blast_next + 1) % ARENA_BLASTS;
    if (size <= 0.0f) return;
    view->scars[view->scar_next] = (arena_scar){x, y, 2.8f * size, ARENA_SCAR_S};
    view->scar_next = (view->scar_next + 1) % ARENA_SCARS;
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
    const uint32_t* together = ecs_find(stage->world, event->target, game->together);
    const float size = together && *together > ARENA_TEAMS ? TANK_SIZE : 1.0f;
    arena_view* view = game->view;
    ecs_color color = ecs_color_shade(arena_team_color(team ? *team : 0), 0.3f);
    uint32_t count = hit->is_fatal ? (uint32_t)(26.0f * size) : 7;
    for (uint32_t i = 0; i < count; i++)
        spark(view, x, y, hit->is_fatal ? 30.0f * size : 18.0f, hit->is_fatal ? 0.7f : 0.3f, color);
    if (hit->is_fatal && pos)
        (void)ecs_event_send(stage->world, event->target, game->blasted, &(arena_blasted){0});
    add_blast(view, x, y, hit->is_fatal ? size : 0.0f, color);
    arena_pose_of(view, event->target, 0.0f)->hurt_s = BAR_S;
    if (hit->client && hit->client == view->own_client) {
        view->popups[view->popup_next] =
            (arena_popup){x, y, ARENA_POPUP_S, hit->amount, hit->is_fatal};
        view->popup_next = (view->popup_next + 1) % ARENA_POPUPS;
    }
    if (event->target == view->player) view->hurt_s = HURT_S;
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
