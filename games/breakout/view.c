// SPDX-License-Identifier: MIT
// The picture: systems of stage "render", which exist only where the world has that tag.
//
// Back to front: field, bricks, trails, balls, pads, sparks, score board. What moves for beauty's sake
// alone (trails, sparks, flashes) lives in breakout_view, outside of the simulation, and runs on
// presentation time. Sparks are struck by the same events that the server sent to everybody.

#include "breakout.h"

#include "base/math.h"
#include "base/text.h"

#define WIDTH BREAKOUT_FIELD_WIDTH
#define HEIGHT BREAKOUT_FIELD_HEIGHT
#define BOARD_HEIGHT 52.0f

static ecs_color fade(ecs_color color, float part) {
    color.a = (uint8_t)((float)color.a * base_clamp(part, 0.0f, 1.0f));
    return color;
}

// part > 0 towards white, < 0 towards black.
static ecs_color shade(ecs_color color, float part) {
    float goal = part > 0.0f ? 255.0f : 0.0f;
    float weight = base_abs(part);
    color.r = (uint8_t)((float)color.r + (goal - (float)color.r) * weight);
    color.g = (uint8_t)((float)color.g + (goal - (float)color.g) * weight);
    color.b = (uint8_t)((float)color.b + (goal - (float)color.b) * weight);
    return color;
}

static void gradient(const net_draw* draw, float x, float y, float width, float height,
                     ecs_color top, ecs_color bottom) {
    const float points[] = {x, y,          x + width, y, x,         y + height,
                            x, y + height, x + width, y, x + width, y + height};
    const ecs_color colors[] = {top, top, bottom, bottom, top, bottom};
    draw->triangles(draw->context, points, colors, BASE_COUNT(colors));
}

static void text_centred(const net_draw* draw, float x, float y, float height, ecs_color color,
                         const char* text) {
    float width = draw->text_width(draw->context, height, text);
    draw->text(draw->context, x - width * 0.5f, y, height, color, text);
}

static void draw_field(const ecs_stage* stage, const ecs_rows* rows) {
    (void)rows;
    breakout_game* game = stage->context;
    const net_draw* draw = stage->user;
    breakout_view* view = &game->view;
    view->frame++;
    view->flash_s = base_max(view->flash_s - draw->frame_dt_s, 0.0f);
    view->cheer_s = base_max(view->cheer_s - draw->frame_dt_s, 0.0f);
    ecs_color top = {13, 17, 38, 255};
    ecs_color bottom = {32, 24, 58, 255};
    bottom.r = (uint8_t)(bottom.r + (uint8_t)(base_min(view->flash_s, 1.0f) * 90.0f));
    gradient(draw, 0.0f, 0.0f, WIDTH, HEIGHT, top, bottom);
    // A faint grid gives the eye something to measure speed with.
    const ecs_color grid = {255, 255, 255, 9};
    for (float x = 50.0f; x < WIDTH; x += 50.0f) {
        draw->line(draw->context, x, BOARD_HEIGHT, x, HEIGHT, 1.0f, grid);
    }
    for (float y = 100.0f; y < HEIGHT; y += 50.0f) {
        draw->line(draw->context, 0.0f, y, WIDTH, y, 1.0f, grid);
    }
    const ecs_color edge = {90, 110, 190, 120};
    draw->rect(draw->context, 0.0f, 0.0f, 2.0f, HEIGHT, edge);
    draw->rect(draw->context, WIDTH - 2.0f, 0.0f, 2.0f, HEIGHT, edge);
    draw->rect(draw->context, 0.0f, 0.0f, WIDTH, 2.0f, edge);
}

static void draw_bricks(const ecs_stage* stage, const ecs_rows* rows) {
    const net_draw* draw = stage->user;
    const ecs_vec2* positions = rows->columns[0];
    const ecs_vec2* sizes = rows->columns[1];
    const int32_t* hits = rows->columns[2];
    const ecs_color* colors = rows->columns[3];
    for (uint32_t i = 0; i < rows->count; i++) {
        float x = positions[i].x, y = positions[i].y, w = sizes[i].x, h = sizes[i].y;
        ecs_color color = colors[i];
        draw->rect(draw->context, x + 3.0f, y + 4.0f, w, h, (ecs_color){0, 0, 0, 90});
        gradient(draw, x, y, w, h, shade(color, 0.15f), shade(color, -0.2f));
        draw->rect(draw->context, x, y, w, 3.0f, shade(color, 0.5f));
        draw->rect(draw->context, x, y, 3.0f, h, shade(color, 0.3f));
        draw->rect(draw->context, x, y + h - 3.0f, w, 3.0f, shade(color, -0.45f));
        draw->rect(draw->context, x + w - 3.0f, y, 3.0f, h, shade(color, -0.35f));
        // A dot per further hit: strength without reading colours.
        float dot_x = x + w * 0.5f - (float)(hits[i] - 2) * 4.0f;
        for (int32_t dot = 1; dot < hits[i]; dot++) {
            draw->circle(draw->context, dot_x, y + h * 0.5f, 2.0f, shade(color, 0.75f));
            dot_x += 8.0f;
        }
    }
}

// A struck brick leaves its outline in the wall.
static void draw_rubble(const ecs_stage* stage, const ecs_rows* rows) {
    const net_draw* draw = stage->user;
    const ecs_vec2* positions = rows->columns[0];
    const ecs_vec2* sizes = rows->columns[1];
    for (uint32_t i = 0; i < rows->count; i++) {
        float x = positions[i].x, y = positions[i].y, w = sizes[i].x, h = sizes[i].y;
        ecs_color edge = {96, 108, 128, 70};
        draw->rect(draw->context, x, y, w, h, (ecs_color){96, 108, 128, 22});
        draw->rect(draw->context, x, y, w, 1.0f, edge);
        draw->rect(draw->context, x, y + h - 1.0f, w, 1.0f, edge);
        draw->rect(draw->context, x, y, 1.0f, h, edge);
        draw->rect(draw->context, x + w - 1.0f, y, 1.0f, h, edge);
    }
}

static breakout_trail* find_trail(breakout_view* view, ecs_entity ball) {
    breakout_trail* oldest = &view->trails[0];
    for (uint32_t i = 0; i < BREAKOUT_TRAILS; i++) {
        breakout_trail* trail = &view->trails[i];
        if (trail->ball == ball) return trail;
        if (trail->frame < oldest->frame) oldest = trail;
    }
    oldest->ball = ball;
    oldest->next = oldest->count = 0;
    return oldest;
}

static void draw_balls(const ecs_stage* stage, const ecs_rows* rows) {
    breakout_game* game = stage->context;
    const net_draw* draw = stage->user;
    const ecs_vec2* positions = rows->columns[0];
    const float* radii = rows->columns[1];
    const ecs_color* colors = rows->columns[2];
    for (uint32_t i = 0; i < rows->count; i++) {
        breakout_trail* trail = find_trail(&game->view, rows->entities[i]);
        trail->frame = game->view.frame;
        trail->points[trail->next] = positions[i];
        trail->next = (trail->next + 1) % BREAKOUT_TRAIL_POINTS;
        if (trail->count < BREAKOUT_TRAIL_POINTS) trail->count++;
        // Balls are drawn larger than they are: 5 units are small on a screen.
        float radius = radii[i] * 1.4f;
        for (uint32_t k = 0; k < trail->count; k++) {
            uint32_t at = trail->next + BREAKOUT_TRAIL_POINTS - trail->count + k;
            ecs_vec2 point = trail->points[at % BREAKOUT_TRAIL_POINTS];
            float part = (float)(k + 1) / (float)(trail->count + 1);
            draw->circle(draw->context, point.x, point.y, radius * part,
                         fade(colors[i], part * part * 0.45f));
        }
        ecs_color glow = fade(shade(colors[i], 0.3f), 0.18f);
        draw->circle(draw->context, positions[i].x, positions[i].y, radius * 2.4f, glow);
        draw->circle(draw->context, positions[i].x, positions[i].y, radius,
                     shade(colors[i], 0.35f));
        draw->circle(draw->context, positions[i].x - radius * 0.3f, positions[i].y - radius * 0.3f,
                     radius * 0.4f, (ecs_color){255, 255, 255, 230});
    }
}

static const char* player_name(const net_draw* draw, uint32_t client, char* buffer, size_t bytes) {
    const char* name = draw->player_name ? draw->player_name(draw->context, client) : NULL;
    if (name && name[0]) return name;
    (void)base_text_format(buffer, bytes, "player %u", client);
    return buffer;
}

static void draw_pad(const net_draw* draw, ecs_vec2 pos, ecs_vec2 size, ecs_color color,
                     bool is_own) {
    float radius = size.y * 0.5f;
    float middle = pos.y + radius;
    float right = pos.x + size.x;
    ecs_color dark = shade(color, -0.45f);
    draw->rect(draw->context, pos.x + 4.0f, pos.y + 5.0f, size.x, size.y, (ecs_color){0, 0, 0, 80});
    if (is_own) {
        draw->rect(draw->context, pos.x - 4.0f, pos.y - 4.0f, size.x + 8.0f, size.y + 8.0f,
                   (ecs_color){255, 255, 255, 45});
    }
    draw->circle(draw->context, pos.x + radius, middle, radius, dark);
    draw->circle(draw->context, right - radius, middle, radius, dark);
    gradient(draw, pos.x + radius, pos.y, size.x - size.y, size.y, shade(color, 0.3f), dark);
    draw->rect(draw->context, pos.x + radius, pos.y + 2.0f, size.x - size.y, 2.0f,
               shade(color, 0.7f));
}

static void draw_pads(const ecs_stage* stage, const ecs_rows* rows) {
    breakout_game* game = stage->context;
    const net_draw* draw = stage->user;
    const ecs_vec2* positions = rows->columns[0];
    const ecs_vec2* sizes = rows->columns[1];
    const ecs_color* colors = rows->columns[2];
    const breakout_player* players = rows->columns[3];
    uint32_t count = ecs_query_count(stage->world, game->pads);
    for (uint32_t i = 0; i < rows->count; i++) {
        bool is_own = rows->entities[i] == draw->player;
        draw_pad(draw, positions[i], sizes[i], colors[i], is_own);
        float middle = positions[i].x + sizes[i].x * 0.5f;
        // In a crowd only the own name can be read.
        if (count <= 12 || is_own) {
            char buffer[32];
            const char* name = player_name(draw, players[i].client, buffer, sizeof buffer);
            text_centred(draw, middle, positions[i].y + sizes[i].y + 6.0f, 14.0f,
                         is_own ? (ecs_color){255, 255, 255, 255} : fade(colors[i], 0.85f), name);
        }
        if (game->view.cheer_s > 0.0f && game->view.cheer_client == players[i].client) {
            static const char* const emotes[BREAKOUT_EMOTES] = {"hi!",   "nice!", "wow!", "oops!",
                                                                "mine!", "gg",    "help", "thanks"};
            text_centred(draw, middle, positions[i].y - 26.0f - 20.0f * (1.5f - game->view.cheer_s),
                         18.0f, fade((ecs_color){255, 255, 255, 255}, game->view.cheer_s),
                         emotes[game->view.cheer_emote % BREAKOUT_EMOTES]);
        }
    }
}

static void draw_sparks(const ecs_stage* stage, const ecs_rows* rows) {
    (void)rows;
    breakout_game* game = stage->context;
    const net_draw* draw = stage->user;
    float dt = draw->frame_dt_s;
    for (uint32_t i = 0; i < BREAKOUT_SPARKS; i++) {
        breakout_spark* spark = &game->view.sparks[i];
        if (spark->age_s >= spark->life_s) continue;
        spark->age_s += dt;
        spark->vy += 500.0f * dt;
        spark->x += spark->vx * dt;
        spark->y += spark->vy * dt;
        float left = 1.0f - spark->age_s / spark->life_s;
        float size = 2.0f + 3.0f * base_max(left, 0.0f);
        draw->rect(draw->context, spark->x - size * 0.5f, spark->y - size * 0.5f, size, size,
                   fade(spark->color, left));
    }
}

static void draw_board(const ecs_stage* stage, const ecs_rows* rows) {
    const net_draw* draw = stage->user;
    const breakout_match* match = rows->columns[0];
    if (rows->count == 0) return;
    const ecs_color white = {255, 255, 255, 255};
    const ecs_color soft = {170, 185, 230, 255};
    char text[64];
    draw->rect(draw->context, 0.0f, 0.0f, WIDTH, BOARD_HEIGHT, (ecs_color){0, 0, 0, 90});
    draw->text(draw->context, 20.0f, 8.0f, 13.0f, soft, "SCORE");
    (void)base_text_format(text, sizeof text, "%06d", match->score);
    draw->text(draw->context, 20.0f, 22.0f, 24.0f, white, text);
    (void)base_text_format(text, sizeof text, "BEST %06d", match->best);
    draw->text(draw->context, 160.0f, 28.0f, 15.0f, soft, text);
    (void)base_text_format(text, sizeof text, "LEVEL %d", match->level);
    text_centred(draw, WIDTH * 0.5f, 10.0f, 24.0f, white, text);
    (void)base_text_format(text, sizeof text, "%d bricks", match->bricks);
    text_centred(draw, WIDTH * 0.5f, 35.0f, 12.0f, soft, text);
    int32_t shown = match->lives < 8 ? match->lives : 8;
    for (int32_t life = 0; life < shown; life++) {
        float x = WIDTH - 28.0f - (float)life * 24.0f;
        draw->circle(draw->context, x, 26.0f, 8.0f, (ecs_color){235, 87, 87, 255});
        draw->circle(draw->context, x - 2.5f, 23.5f, 2.5f, (ecs_color){255, 200, 200, 255});
    }
    if (match->phase == BREAKOUT_PLAYING) return;
    const char* title = match->phase == BREAKOUT_CLEARED ? "LEVEL CLEARED"
                        : match->phase == BREAKOUT_LOST  ? "BALL LOST"
                                                         : "GAME OVER";
    float wave = base_sin((float)(draw->time_s - (double)(int64_t)draw->time_s) * 2.0f * BASE_PI);
    draw->rect(draw->context, 0.0f, 420.0f, WIDTH, 110.0f, (ecs_color){0, 0, 0, 130});
    text_centred(draw, WIDTH * 0.5f, 440.0f, 48.0f + wave * 2.0f, white, title);
    (void)base_text_format(text, sizeof text, "score %d   lives %d", match->score, match->lives);
    text_centred(draw, WIDTH * 0.5f, 500.0f, 18.0f, soft, text);
}

// ---- what the server told everybody ----

static void strike(breakout_view* view, const breakout_brick_hit* hit) {
    uint32_t count = hit->hits_left > 0 ? 6 : 16;
    ecs_color color = shade(breakout_brick_color(hit->hits_left + 1), 0.3f);
    for (uint32_t i = 0; i < count; i++) {
        breakout_spark* spark = &view->sparks[view->spark_next];
        view->spark_next = (view->spark_next + 1) % BREAKOUT_SPARKS;
        *spark = (breakout_spark){
            .x = (float)hit->x + (base_rng_float(&view->rng) - 0.5f) * 60.0f,
            .y = (float)hit->y + (base_rng_float(&view->rng) - 0.5f) * 20.0f,
            .vx = (base_rng_float(&view->rng) - 0.5f) * 360.0f,
            .vy = (base_rng_float(&view->rng) - 0.7f) * 300.0f,
            .life_s = 0.35f + base_rng_float(&view->rng) * 0.5f,
            .color = color,
        };
    }
}

static void hear(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)rows;
    breakout_game* game = stage->context;
    breakout_view* view = &game->view;
    if (event->type == game->brick_hit) {
        strike(view, event->payload);
    } else if (event->type == game->life_lost) {
        view->flash_s = 0.6f;
    } else if (event->type == game->cheered) {
        const breakout_cheered* cheered = event->payload;
        view->cheer_client = cheered->client;
        view->cheer_emote = cheered->emote;
        view->cheer_s = 1.5f;
    }
}

ecs_result breakout_register_view(ecs_world* world, breakout_game* game) {
    static const char* const tags[] = {"render"};
    static const char* const events[] = {"brick_hit", "life_lost", "cheered"};
    static const ecs_term bricks[] = {{"pos", "p2", ECS_READ},
                                      {"rectSize", "p2", ECS_READ},
                                      {"hits", "i", ECS_READ},
                                      {"color", "c", ECS_READ}};
    static const ecs_term rubble[] = {
        {"pos", "p2", ECS_READ}, {"rectSize", "p2", ECS_READ}, {"rubble", "tag", ECS_REQUIRE}};
    static const ecs_term balls[] = {{"pos", "p2", ECS_READ},
                                     {"radius", "r", ECS_READ},
                                     {"color", "c", ECS_READ},
                                     {"owner", "BreakoutOwner", ECS_REQUIRE}};
    static const ecs_term pads[] = {{"pos", "p2", ECS_READ},
                                    {"rectSize", "p2", ECS_READ},
                                    {"color", "c", ECS_READ},
                                    {"player", "BreakoutPlayer", ECS_READ}};
    static const ecs_term matches[] = {{"match", "BreakoutMatch", ECS_READ}};
    const struct {
        const char* name;
        ecs_system_fn run;
        const ecs_term* terms;
        uint32_t term_count;
    } systems[] = {
        {"breakout_draw_field", draw_field, NULL, 0},
        {"breakout_draw_rubble", draw_rubble, rubble, BASE_COUNT(rubble)},
        {"breakout_draw_bricks", draw_bricks, bricks, BASE_COUNT(bricks)},
        {"breakout_draw_balls", draw_balls, balls, BASE_COUNT(balls)},
        {"breakout_draw_pads", draw_pads, pads, BASE_COUNT(pads)},
        {"breakout_draw_sparks", draw_sparks, NULL, 0},
        {"breakout_draw_board", draw_board, matches, BASE_COUNT(matches)},
    };
    game->view.rng = base_rng_make(1, 1);
    for (uint32_t i = 0; i < BASE_COUNT(systems); i++) {
        const ecs_system_desc desc = {.name = systems[i].name,
                                      .stage = "render",
                                      .run = systems[i].run,
                                      .terms = systems[i].terms,
                                      .term_count = systems[i].term_count,
                                      .tags = tags,
                                      .tag_count = 1,
                                      .context = game};
        ecs_result result = ecs_system_register(world, &desc);
        if (result) return result;
    }
    const ecs_system_desc ear = {.name = "breakout_hear",
                                 .events = events,
                                 .event_count = BASE_COUNT(events),
                                 .on_event = hear,
                                 .tags = tags,
                                 .tag_count = 1,
                                 .context = game};
    return ecs_system_register(world, &ear);
}
