// SPDX-License-Identifier: MIT
// The picture of the results: a band with the last rounds, the points of the teams, the clock and
// the own score; below it the best players and the news; then the chat, the state of the player, a
// map.
//
// All of it is drawn last and on plates of its own, so that no fighter runs through a letter.

#include "arena.h"
#include "view_board.es.h"
#include "base/hash.h"
#include "base/text.h"

#define BAND 50.0f ///< height of the band at the top
#define SCORE_WIDTH 122.0f
#define CLOCK_WIDTH 108.0f
#define ROUNDS_SHOWN 3u
#define ROWS_MAX 6u
#define CHAT_S 15.0f ///< a line is seen for so long
#define MAP_SIZE 168.0f
#define MAP_LEFT (ARENA_VIEW_WIDTH - MAP_SIZE - 16.0f)
#define MAP_TOP (ARENA_VIEW_HEIGHT - MAP_SIZE - 16.0f)

static const ecs_color white = {255, 255, 255, 255};
static const ecs_color soft = {170, 186, 224, 255};
static const ecs_color panel = {8, 11, 22, 215};
static const ecs_color line = {120, 140, 190, 90};
static const char* const team_names[] = {"none", "red", "blue", "green", "yellow"};

ES_STAGE(render)
ES_TAG(render)
static void draw_band_es(ES_CONTEXT const arena_game* game) {
    const net_draw* draw = game->view->pen.draw;
    net_draw_gradient(draw, 0.0f, 0.0f, ARENA_VIEW_WIDTH, BAND, (ecs_color){16, 20, 38, 250},
                      (ecs_color){8, 11, 22, 240}, false);
    arena_box(draw, 0.0f, BAND, ARENA_VIEW_WIDTH, 1.5f, line);
    net_draw_gradient(draw, 0.0f, BAND + 1.5f, ARENA_VIEW_WIDTH, 10.0f, (ecs_color){0, 0, 0, 110},
                      (ecs_color){0, 0, 0, 0}, false);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_scores_es(ES_CONTEXT const arena_game* game, const arena_score* score) {
    const net_draw* draw = game->view->pen.draw;
    if (score->team < 1 || score->team > (int32_t)ARENA_TEAMS) return;
    // Two teams on each side of the clock.
    const float half = score->team <= 2 ? -0.5f * CLOCK_WIDTH : 0.5f * CLOCK_WIDTH;
    const float x = ARENA_VIEW_WIDTH * 0.5f + half + (float)(score->team - 3) * SCORE_WIDTH;
    const ecs_color color = arena_team_color((uint32_t)score->team);
    const bool is_own = score->team == game->view->own_team;
    char text[32];
    arena_box(draw, x + 3.0f, 0.0f, SCORE_WIDTH - 6.0f, BAND,
              ecs_color_fade(color, is_own ? 0.26f : 0.1f));
    arena_box(draw, x + 3.0f, BAND - 4.0f, SCORE_WIDTH - 6.0f, 4.0f, color);
    (void)base_text_format(text, sizeof text, "%d", arena_points(score));
    net_draw_text(draw, x + 11.0f, 8.0f, 30.0f, ecs_color_shade(color, 0.2f), NET_ALIGN_LEFT, text);
    net_draw_text(draw, x + SCORE_WIDTH - 10.0f, 10.0f, 12.0f, is_own ? white : soft,
                  NET_ALIGN_RIGHT, is_own ? "you" : team_names[score->team]);
    (void)base_text_format(text, sizeof text, "%d flag%s", score->captures,
                           score->captures == 1 ? "" : "s");
    net_draw_text(draw, x + SCORE_WIDTH - 10.0f, 26.0f, 12.0f, soft, NET_ALIGN_RIGHT, text);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_clock_es(ES_CONTEXT const arena_game* game, const arena_match* match) {
    const net_draw* draw = game->view->pen.draw;
    char text[48];
    double left = ((double)match->end_tick - draw->tick) / (double)game->tick_rate_hz;
    uint32_t left_s = left > 0.0 ? (uint32_t)left : 0;
    (void)base_text_format(text, sizeof text, "ROUND %d", match->round);
    net_draw_text(draw, ARENA_VIEW_WIDTH * 0.5f, 5.0f, 12.0f, soft, NET_ALIGN_MIDDLE, text);
    (void)base_text_format(text, sizeof text, "%u:%02u", left_s / 60, left_s % 60);
    net_draw_text(draw, ARENA_VIEW_WIDTH * 0.5f, 18.0f, 25.0f,
                  left_s < 20 ? (ecs_color){255, 120, 100, 255} : white, NET_ALIGN_MIDDLE, text);
}

// The last rounds, the newest one on the right: "red 120" over "Ann".
ES_STAGE(render)
ES_TAG(render)
static void draw_rounds_es(ES_CONTEXT const arena_game* game, const ecs_array* rounds) {
    const net_draw* draw = game->view->pen.draw;
    const uint32_t count = ecs_array_count(rounds);
    float x = 18.0f;
    for (uint32_t i = count > ROUNDS_SHOWN ? count - ROUNDS_SHOWN : 0; i < count; i++) {
        const ecs_object* round = ecs_array_find(rounds, i, ECS_ELEMENT_OBJECT);
        const int32_t* winner = round ? ecs_object_find(round, "winner", ECS_ELEMENT_I) : NULL;
        const int32_t* points = round ? ecs_object_find(round, "points", ECS_ELEMENT_I) : NULL;
        const ecs_string* best = round ? ecs_object_find(round, "best", ECS_ELEMENT_T) : NULL;
        if (!winner || !points || !best || *winner < 0 || *winner > (int32_t)ARENA_TEAMS) continue;
        char text[64];
        arena_box(draw, x, 9.0f, 3.0f, 32.0f, arena_team_color((uint32_t)*winner));
        (void)base_text_format(text, sizeof text, "%s won %d", team_names[*winner], *points);
        net_draw_text(draw, x + 9.0f, 8.0f, 13.0f, white, NET_ALIGN_LEFT, text);
        (void)base_text_format(text, sizeof text, "best: %.10s", ecs_string_text(best));
        net_draw_text(draw, x + 9.0f, 25.0f, 12.0f, soft, NET_ALIGN_LEFT, text);
        x += 110.0f;
    }
}

// The chat, the newest line at the bottom. It fades when no new line has come for a while.
ES_STAGE(render)
ES_TAG(render)
static void draw_chat_es(ES_CONTEXT arena_game* game, ES_LIST(t) const ecs_list* chat) {
    const net_draw* draw = game->view->pen.draw;
    const uint32_t count = ecs_list_count(chat);
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) {
        const char* text = ecs_string_text(ecs_list_get(chat, i));
        hash = base_hash64_mix(hash, base_hash64_text(text));
    }
    game->view->chat_s += draw->frame_dt_s;
    if (hash != game->view->chat_hash) game->view->chat_s = 0.0f;
    game->view->chat_hash = hash;
    const float part = base_clamp(CHAT_S + 1.0f - game->view->chat_s, 0.0f, 1.0f);
    for (uint32_t i = 0; i < count; i++) {
        const char* text = ecs_string_text(ecs_list_get(chat, i));
        const float y = ARENA_VIEW_HEIGHT - 136.0f - 20.0f * (float)(count - 1 - i);
        arena_box(draw, 16.0f, y - 1.0f, draw->text_width(draw->context, 15.0f, text) + 12.0f,
                  19.0f, ecs_color_fade((ecs_color){6, 8, 16, 150}, part));
        net_draw_text(draw, 22.0f, y, 15.0f, ecs_color_fade(soft, part), NET_ALIGN_LEFT, text);
    }
}

typedef struct ranking {
    const arena_entry* rows[ROWS_MAX];
    const ecs_string* names[ROWS_MAX];
    uint32_t count, players;
} ranking;

static void rank(ranking* list, const arena_entry* entry, const ecs_string* name) {
    uint32_t at = list->count;
    list->players++;
    while (at > 0 && arena_is_before(entry, list->rows[at - 1]))
        at--;
    if (at == ROWS_MAX) return;
    if (list->count < ROWS_MAX) list->count++;
    for (uint32_t i = list->count - 1; i > at; i--) {
        list->rows[i] = list->rows[i - 1];
        list->names[i] = list->names[i - 1];
    }
    list->rows[at] = entry;
    list->names[at] = name;
}

ES_STAGE(render)
ES_TAG(render)
static void draw_players_es(const ecs_stage* stage, ES_CONTEXT const arena_game* game) {
    const net_draw* draw = game->view->pen.draw;
    ranking list = {.count = 0};
    ecs_query_iter it = ecs_query_begin(stage->world, game->entries);
    while (ecs_query_next(&it)) {
        const arena_entry* entries = it.rows.columns[0];
        const ecs_string* names = it.rows.columns[1];
        for (uint32_t i = 0; i < it.rows.count; i++)
            rank(&list, &entries[i], &names[i]);
    }
    if (list.count == 0) return;
    float x = ARENA_VIEW_WIDTH - 236.0f, y = BAND + 14.0f;
    char text[48], buffer[32];
    arena_box(draw, x - 10.0f, y - 6.0f, 232.0f, 28.0f + 19.0f * (float)list.count, panel);
    (void)base_text_format(text, sizeof text, "best of %u player%s", list.players,
                           list.players == 1 ? "" : "s");
    net_draw_text(draw, x, y, 12.0f, soft, NET_ALIGN_LEFT, text);
    net_draw_text(draw, x + 212.0f, y, 12.0f, soft, NET_ALIGN_RIGHT, "kills / deaths");
    for (uint32_t i = 0; i < list.count; i++) {
        const arena_entry* entry = list.rows[i];
        y += 19.0f;
        bool is_own = entry->player == draw->player && draw->player != ECS_ENTITY_NONE;
        ecs_color color = arena_team_color((uint32_t)entry->team);
        const char* name = list.names[i]->size
                               ? ecs_string_text(list.names[i])
                               : net_player_name(draw, entry->client, buffer, sizeof buffer);
        (void)base_text_format(text, sizeof text, "%.20s", name);
        if (is_own)
            arena_box(draw, x - 10.0f, y - 1.0f, 232.0f, 19.0f, ecs_color_fade(color, 0.3f));
        arena_box(draw, x, y + 2.0f, 4.0f, 12.0f, color);
        net_draw_text(draw, x + 10.0f, y, 14.0f, is_own ? white : ecs_color_shade(color, 0.4f),
                      NET_ALIGN_LEFT, text);
        (void)base_text_format(text, sizeof text, "%d / %d", entry->kills, entry->deaths);
        net_draw_text(draw, x + 212.0f, y, 14.0f, white, NET_ALIGN_RIGHT, text);
    }
}

// The own score, at the right end of the band.
ES_STAGE(render)
ES_TAG(render)
static void draw_own_score_es(ES_CONTEXT const arena_game* game, const arena_entry* entry) {
    const net_draw* draw = game->view->pen.draw;
    if (draw->player == ECS_ENTITY_NONE || entry->player != draw->player) return;
    char text[64], buffer[32];
    net_draw_text(draw, ARENA_VIEW_WIDTH - 18.0f, 7.0f, 15.0f, white, NET_ALIGN_RIGHT,
                  net_player_name(draw, entry->client, buffer, sizeof buffer));
    (void)base_text_format(text, sizeof text, "%d kills   %d deaths   %d flags", entry->kills,
                           entry->deaths, entry->captures);
    net_draw_text(draw, ARENA_VIEW_WIDTH - 18.0f, 26.0f, 13.0f, soft, NET_ALIGN_RIGHT, text);
}

static void draw_bar(const net_draw* draw, float y, float part, ecs_color color, const char* text) {
    const float width = 220.0f * base_clamp(part, 0.0f, 1.0f);
    arena_box(draw, 24.0f, y, 220.0f, 20.0f, (ecs_color){0, 0, 0, 150});
    net_draw_gradient(draw, 24.0f, y, width, 20.0f, ecs_color_shade(color, 0.15f),
                      ecs_color_shade(color, -0.3f), false);
    arena_box(draw, 24.0f, y, width, 2.0f, ecs_color_shade(color, 0.4f));
    net_draw_text(draw, 32.0f, y + 2.0f, 14.0f, white, NET_ALIGN_LEFT, text);
}

static void draw_pack(const net_draw* draw, const ecs_object* pack) {
    static const char* const names[] = {"kit", "box", "power"};
    float x = 24.0f;
    if (!pack || ecs_object_count(pack) == 0) return;
    arena_box(draw, 16.0f, ARENA_VIEW_HEIGHT - 116.0f, 236.0f, 22.0f, panel);
    for (uint32_t kind = 0; kind < ARENA_PICKUP_KINDS; kind++) {
        char text[32];
        const int32_t count = arena_pack_count(pack, kind);
        (void)base_text_format(text, sizeof text, "[%u] %s x%d", kind + 1, names[kind], count);
        net_draw_text(draw, x, ARENA_VIEW_HEIGHT - 112.0f, 13.0f, count ? white : line,
                      NET_ALIGN_LEFT, text);
        x += 72.0f;
    }
}

// Red edges after a hit on the own fighter.
static void draw_hurt(const net_draw* draw, float part) {
    const float wide = ARENA_VIEW_WIDTH, high = ARENA_VIEW_HEIGHT, edge = 110.0f;
    const ecs_color red = {255, 30, 30, (uint8_t)(part * 130.0f)}, clear = {255, 30, 30, 0};
    net_draw_gradient(draw, 0.0f, 0.0f, wide, edge, red, clear, false);
    net_draw_gradient(draw, 0.0f, high - edge, wide, edge, clear, red, false);
    net_draw_gradient(draw, 0.0f, 0.0f, edge, high, red, clear, true);
    net_draw_gradient(draw, wide - edge, 0.0f, edge, high, clear, red, true);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_own_es(const ecs_stage* stage, ES_CONTEXT const arena_game* game) {
    const net_draw* draw = game->view->pen.draw;
    const uint8_t* health = ecs_find(stage->world, draw->player, game->health);
    const arena_gun* gun = ecs_find(stage->world, draw->player, game->gun);
    const uint32_t* wait = ecs_find(stage->world, draw->player, game->wait_tick);
    float bottom = ARENA_VIEW_HEIGHT;
    char text[64];
    if (wait) {
        double left = ((double)*wait - draw->tick) / (double)game->tick_rate_hz;
        (void)base_text_format(text, sizeof text, "back in %.1f s", left > 0.0 ? left : 0.0);
        arena_box(draw, ARENA_VIEW_WIDTH * 0.5f - 130.0f, bottom * 0.62f - 8.0f, 260.0f, 44.0f,
                  panel);
        net_draw_text(draw, ARENA_VIEW_WIDTH * 0.5f, bottom * 0.62f, 26.0f, white, NET_ALIGN_MIDDLE,
                      text);
    }
    if (game->view->hurt_s > 0.0f) draw_hurt(draw, game->view->hurt_s * 2.0f);
    if (!health || !gun) return;
    arena_box(draw, 16.0f, bottom - 92.0f, 236.0f, 80.0f, panel);
    (void)base_text_format(text, sizeof text, "health %u", *health);
    draw_bar(draw, bottom - 86.0f, (float)*health / (float)ARENA_HEALTH,
             *health > 33 ? (ecs_color){58, 178, 92, 255} : (ecs_color){220, 70, 60, 255}, text);
    (void)base_text_format(text, sizeof text, "shots %d", gun->ammo);
    draw_bar(draw, bottom - 62.0f, (float)gun->ammo / (float)ARENA_AMMO_MAX,
             (ecs_color){206, 148, 44, 255}, text);
    double ray = ((double)gun->ray_tick - draw->tick) / (double)game->tick_rate_hz;
    bool is_ready = ray <= 0.0 && gun->ammo >= ARENA_RAY_AMMO;
    draw_bar(draw, bottom - 38.0f, is_ready ? 1.0f : 1.0f - (float)ray,
             (ecs_color){88, 112, 232, 255}, is_ready ? "ray (E)" : "ray ...");
    draw_pack(draw, ecs_find(stage->world, draw->player, game->pack));
}

static void map_dot(const net_draw* draw, ecs_vec2 pos, float size, ecs_color color) {
    float x = MAP_LEFT + pos.x / ARENA_SIZE * MAP_SIZE, y = MAP_TOP + pos.y / ARENA_SIZE * MAP_SIZE;
    arena_box(draw, x - size * 0.5f, y - size * 0.5f, size, size, color);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_map_es(const ecs_stage* stage, ES_CONTEXT const arena_game* game) {
    const arena_view* view = game->view;
    const net_draw* draw = view->pen.draw;
    if (!view->has_camera) return;
    arena_box(draw, MAP_LEFT - 2.0f, MAP_TOP - 2.0f, MAP_SIZE + 4.0f, MAP_SIZE + 4.0f,
              (ecs_color){120, 140, 190, 90});
    arena_box(draw, MAP_LEFT, MAP_TOP, MAP_SIZE, MAP_SIZE, (ecs_color){8, 11, 22, 235});
    for (uint32_t team = 1; team <= ARENA_TEAMS; team++)
        map_dot(draw, arena_map_base(team), 14.0f, ecs_color_fade(arena_team_color(team), 0.35f));
    for (uint32_t i = 0; i < ARENA_ROCK_CELLS * ARENA_ROCK_CELLS; i++) {
        const arena_rock rock = arena_map_rock(i % ARENA_ROCK_CELLS, i / ARENA_ROCK_CELLS);
        map_dot(draw, (ecs_vec2){rock.x, rock.y}, rock.radius * 0.55f,
                (ecs_color){70, 78, 100, 255});
    }
    ecs_query_iter it = ecs_query_begin(stage->world, game->fighters);
    while (ecs_query_next(&it)) {
        const ecs_vec2* pos = it.rows.columns[0];
        const uint8_t* team = it.rows.columns[2];
        for (uint32_t i = 0; i < it.rows.count; i++)
            map_dot(draw, pos[i], 2.0f, arena_team_color(team[i]));
    }
    it = ecs_query_begin(stage->world, game->flags);
    while (ecs_query_next(&it)) {
        const ecs_vec2* pos = it.rows.columns[0];
        const uint8_t* team = it.rows.columns[1];
        for (uint32_t i = 0; i < it.rows.count; i++)
            map_dot(draw, pos[i], 6.0f, ecs_color_shade(arena_team_color(team[i]), 0.4f));
    }
    it = ecs_query_begin(stage->world, game->beacons);
    while (ecs_query_next(&it)) {
        const ecs_vec2* pos = it.rows.columns[0];
        for (uint32_t i = 0; i < it.rows.count; i++)
            map_dot(draw, pos[i], 5.0f, (ecs_color){255, 255, 255, 200});
    }
    // What the view shows of it, and the own place.
    const float unit = MAP_SIZE / ARENA_SIZE / view->pen.scale;
    const float wide = ARENA_VIEW_WIDTH * unit, high = ARENA_VIEW_HEIGHT * unit;
    const float left = base_max(view->camera.x / ARENA_SIZE * MAP_SIZE - wide * 0.5f, 0.0f);
    const float top = base_max(view->camera.y / ARENA_SIZE * MAP_SIZE - high * 0.5f, 0.0f);
    arena_box(draw, MAP_LEFT + left, MAP_TOP + top, base_min(wide, MAP_SIZE - left),
              base_min(high, MAP_SIZE - top), (ecs_color){255, 255, 255, 22});
    map_dot(draw, view->camera, 6.0f, (ecs_color){0, 0, 0, 255});
    map_dot(draw, view->camera, 4.0f, white);
}

// A line of news on a plate, each name in the colour of its team.
static void draw_line_of_news(const net_draw* draw, const arena_news* news, float y) {
    static const char* const what[] = {"took", "lost", "brought back", "captured"};
    char who_buffer[32], whom_buffer[32], texts[3][ARENA_NEWS_BYTES];
    const bool is_kill = news->flag_what == ARENA_NEWS_KILL;
    const char* who = news->who ? net_player_name(draw, news->who, who_buffer, sizeof who_buffer)
                                : team_names[news->team];
    const char* whom = news->whom
                           ? net_player_name(draw, news->whom, whom_buffer, sizeof whom_buffer)
                           : team_names[news->other_team];
    // The format cuts long names, so any name fits.
    (void)base_text_format(texts[0], sizeof texts[0], "%.20s", who);
    (void)base_text_format(texts[1], sizeof texts[1], "%s",
                           is_kill ? "shot" : what[news->flag_what]);
    (void)base_text_format(texts[2], sizeof texts[2], is_kill ? "%.20s" : "the %.20s flag", whom);
    const ecs_color colors[] = {ecs_color_shade(arena_team_color(news->team), 0.35f), soft,
                                ecs_color_shade(arena_team_color(news->other_team), 0.35f)};
    float width = 12.0f;
    for (uint32_t i = 0; i < 3; i++)
        width += draw->text_width(draw->context, 14.0f, texts[i]) + 6.0f;
    arena_box(draw, 16.0f, y, width, 20.0f,
              ecs_color_fade((ecs_color){6, 8, 16, 190}, news->left_s));
    arena_box(draw, 16.0f, y, 3.0f, 20.0f,
              ecs_color_fade(arena_team_color(news->team), news->left_s));
    float x = 27.0f;
    for (uint32_t i = 0; i < 3; i++) {
        net_draw_text(draw, x, y + 2.0f, 14.0f, ecs_color_fade(colors[i], news->left_s),
                      NET_ALIGN_LEFT, texts[i]);
        x += draw->text_width(draw->context, 14.0f, texts[i]) + 6.0f;
    }
}

ES_STAGE(render)
ES_TAG(render)
static void draw_news_es(ES_CONTEXT const arena_game* game) {
    const arena_view* view = game->view;
    const net_draw* draw = view->pen.draw;
    // The newest line comes first, at the top.
    for (uint32_t i = 0; i < ARENA_NEWS; i++) {
        const arena_news* news = &view->news[(view->news_next + ARENA_NEWS - 1 - i) % ARENA_NEWS];
        if (news->left_s > 0.0f) draw_line_of_news(draw, news, BAND + 10.0f + 24.0f * (float)i);
    }
    if (view->banner_s <= 0.0f) return;
    float part = base_min(view->banner_s, 1.0f);
    arena_box(draw, 0.0f, 190.0f, ARENA_VIEW_WIDTH, 70.0f,
              ecs_color_fade((ecs_color){6, 8, 20, 200}, part));
    net_draw_text(draw, ARENA_VIEW_WIDTH * 0.5f, 206.0f, 36.0f,
                  ecs_color_fade(view->banner_color, part), NET_ALIGN_MIDDLE, view->banner);
}
