// SPDX-License-Identifier: MIT
// The picture of the results: points of the teams, the best players, the state of the player, a map
// and the news.

#include "arena.h"
#include "view_board.es.h"
#include "base/text.h"

#define ROWS_MAX 8u
#define MAP_SIZE 168.0f
#define MAP_LEFT (ARENA_VIEW_WIDTH - MAP_SIZE - 16.0f)
#define MAP_TOP (ARENA_VIEW_HEIGHT - MAP_SIZE - 16.0f)

static const ecs_color white = {255, 255, 255, 255};
static const ecs_color soft = {170, 186, 224, 255};
static const ecs_color panel = {8, 11, 22, 215};

ES_STAGE(render)
ES_TAG(render)
static void draw_scores_es(ES_CONTEXT const arena_game* game, const arena_score* score) {
    const net_draw* draw = game->view->pen.draw;
    if (score->team < 1 || score->team > (int32_t)ARENA_TEAMS) return;
    float x = ARENA_VIEW_WIDTH * 0.5f - 244.0f + (float)(score->team - 1) * 122.0f;
    ecs_color color = arena_team_color((uint32_t)score->team);
    bool is_own = score->team == game->view->own_team;
    char text[32];
    arena_box(draw, x, 10.0f, 116.0f, 40.0f, panel);
    arena_box(draw, x, is_own ? 46.0f : 48.0f, 116.0f, is_own ? 4.0f : 2.0f, color);
    (void)base_text_format(text, sizeof text, "%d", arena_points(score));
    arena_text(draw, x + 10.0f, 15.0f, 26.0f, color, text);
    (void)base_text_format(text, sizeof text, "%d flag%s", score->captures,
                           score->captures == 1 ? "" : "s");
    arena_text_right(draw, x + 108.0f, 27.0f, 12.0f, soft, text);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_clock_es(ES_CONTEXT const arena_game* game, const arena_match* match) {
    const net_draw* draw = game->view->pen.draw;
    char text[48];
    double left = ((double)match->end_tick - draw->tick) / (double)game->tick_rate_hz;
    uint32_t left_s = left > 0.0 ? (uint32_t)left : 0;
    (void)base_text_format(text, sizeof text, "round %d    %u:%02u", match->round, left_s / 60,
                           left_s % 60);
    arena_text_centred(draw, ARENA_VIEW_WIDTH * 0.5f, 55.0f, 13.0f, soft, text);
}

// The last rounds, the newest one on the right: "red 120 (Ann)".
ES_STAGE(render)
ES_TAG(render)
static void draw_rounds_es(ES_CONTEXT const arena_game* game, const ecs_array* rounds) {
    static const char* const teams[] = {"none", "red", "blue", "green", "yellow"};
    const net_draw* draw = game->view->pen.draw;
    float x = ARENA_VIEW_WIDTH * 0.5f - 244.0f;
    for (uint32_t i = 0; i < ecs_array_count(rounds); i++) {
        const ecs_object* round = ecs_array_find(rounds, i, ECS_ELEMENT_OBJECT);
        const int32_t* winner = round ? ecs_object_find(round, "winner", ECS_ELEMENT_I) : NULL;
        const int32_t* points = round ? ecs_object_find(round, "points", ECS_ELEMENT_I) : NULL;
        const ecs_string* best = round ? ecs_object_find(round, "best", ECS_ELEMENT_T) : NULL;
        if (!winner || !points || !best || *winner < 0 || *winner > (int32_t)ARENA_TEAMS) continue;
        char text[64];
        (void)base_text_format(text, sizeof text, "%s %d (%.16s)", teams[*winner], *points,
                               ecs_string_text(best));
        arena_text(draw, x, 72.0f, 11.0f, arena_team_color((uint32_t)*winner), text);
        x += 122.0f;
    }
}

// The chat, the newest line at the bottom.
ES_STAGE(render)
ES_TAG(render)
static void draw_chat_es(ES_CONTEXT const arena_game* game, ES_LIST(t) const ecs_list* chat) {
    const net_draw* draw = game->view->pen.draw;
    uint32_t count = ecs_list_count(chat);
    for (uint32_t i = 0; i < count; i++) {
        const ecs_string* line = ecs_list_get(chat, i);
        arena_text(draw, 22.0f, ARENA_VIEW_HEIGHT - 130.0f - 16.0f * (float)(count - 1 - i), 12.0f,
                   soft, ecs_string_text(line));
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
    float x = ARENA_VIEW_WIDTH - 236.0f, y = 12.0f;
    char text[48], buffer[32];
    arena_box(draw, x - 8.0f, y - 4.0f, 230.0f, 24.0f + 18.0f * (float)list.count, panel);
    (void)base_text_format(text, sizeof text, "%u player%s", list.players,
                           list.players == 1 ? "" : "s");
    arena_text(draw, x, y, 12.0f, soft, text);
    arena_text_right(draw, x + 214.0f, y, 12.0f, soft, "kills / deaths");
    for (uint32_t i = 0; i < list.count; i++) {
        const arena_entry* entry = list.rows[i];
        y += 18.0f;
        bool is_own = entry->player == draw->player && draw->player != ECS_ENTITY_NONE;
        ecs_color color = arena_team_color((uint32_t)entry->team);
        const char* name = list.names[i]->size
                               ? ecs_string_text(list.names[i])
                               : net_player_name(draw, entry->client, buffer, sizeof buffer);
        (void)base_text_format(text, sizeof text, "%.20s", name);
        arena_box(draw, x, y + 2.0f, 4.0f, 11.0f, color);
        arena_text(draw, x + 10.0f, y, 13.0f, is_own ? white : ecs_color_shade(color, 0.4f), text);
        (void)base_text_format(text, sizeof text, "%d / %d", entry->kills, entry->deaths);
        arena_text_right(draw, x + 214.0f, y, 13.0f, white, text);
    }
}

static void draw_bar(const net_draw* draw, float y, float part, ecs_color color, const char* text) {
    arena_box(draw, 22.0f, y, 220.0f, 18.0f, (ecs_color){0, 0, 0, 160});
    arena_box(draw, 22.0f, y, 220.0f * base_clamp(part, 0.0f, 1.0f), 18.0f, color);
    arena_text(draw, 28.0f, y + 2.0f, 13.0f, white, text);
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
        arena_text_centred(draw, ARENA_VIEW_WIDTH * 0.5f, bottom * 0.62f, 26.0f, white, text);
    }
    if (!health || !gun) return;
    (void)base_text_format(text, sizeof text, "health %u", *health);
    draw_bar(draw, bottom - 72.0f, (float)*health / (float)ARENA_HEALTH,
             *health > 33 ? (ecs_color){70, 190, 100, 220} : (ecs_color){220, 70, 60, 220}, text);
    (void)base_text_format(text, sizeof text, "shots %d", gun->ammo);
    draw_bar(draw, bottom - 50.0f, (float)gun->ammo / (float)ARENA_AMMO_MAX,
             (ecs_color){190, 140, 50, 220}, text);
    double ray = ((double)gun->ray_tick - draw->tick) / (double)game->tick_rate_hz;
    bool is_ready = ray <= 0.0 && gun->ammo >= ARENA_RAY_AMMO;
    draw_bar(draw, bottom - 28.0f, is_ready ? 1.0f : 1.0f - (float)ray,
             (ecs_color){90, 110, 220, 220}, is_ready ? "ray (E)" : "ray ...");
    const ecs_object* pack = ecs_find(stage->world, draw->player, game->pack);
    if (pack && ecs_object_count(pack) > 0) {
        (void)base_text_format(text, sizeof text, "1 kit x%d   2 box x%d   3 power x%d",
                               arena_pack_count(pack, ARENA_HEALTH_KIT),
                               arena_pack_count(pack, ARENA_AMMO_BOX),
                               arena_pack_count(pack, ARENA_POWER));
        arena_text(draw, 22.0f, bottom - 96.0f, 13.0f, white, text);
    }
    float hurt = game->view->hurt_s * 2.0f;
    arena_box(draw, 0.0f, 0.0f, ARENA_VIEW_WIDTH, ARENA_VIEW_HEIGHT,
              (ecs_color){255, 30, 30, (uint8_t)(hurt * 50.0f)});
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
    map_dot(draw, view->camera, 4.0f, white);
}

static void describe(const net_draw* draw, const arena_news* news, char* text, size_t bytes) {
    static const char* const teams[] = {"none", "red", "blue", "green", "yellow"};
    static const char* const what[] = {"has", "lost", "brought back", "captured"};
    char who_buffer[32], whom_buffer[32];
    const char* who = news->who ? net_player_name(draw, news->who, who_buffer, sizeof who_buffer)
                                : teams[news->team];
    const char* whom = news->whom
                           ? net_player_name(draw, news->whom, whom_buffer, sizeof whom_buffer)
                           : teams[news->other_team];
    // The format cuts long names, so any name fits.
    if (news->flag_what == ARENA_NEWS_KILL)
        (void)base_text_format(text, bytes, "%.28s got %.28s", who, whom);
    else
        (void)base_text_format(text, bytes, "%.28s %s the flag of %s", who, what[news->flag_what],
                               whom);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_news_es(ES_CONTEXT const arena_game* game) {
    const arena_view* view = game->view;
    const net_draw* draw = view->pen.draw;
    // The newest line comes first, at the top.
    for (uint32_t i = 0; i < ARENA_NEWS; i++) {
        const arena_news* news = &view->news[(view->news_next + ARENA_NEWS - 1 - i) % ARENA_NEWS];
        if (news->left_s <= 0.0f) continue;
        char text[ARENA_NEWS_BYTES];
        describe(draw, news, text, sizeof text);
        ecs_color color = ecs_color_shade(arena_team_color(news->team), 0.35f);
        arena_text(draw, 18.0f, 14.0f + 18.0f * (float)i, 13.0f,
                   ecs_color_fade(color, news->left_s), text);
    }
    if (view->banner_s <= 0.0f) return;
    float part = base_min(view->banner_s, 1.0f);
    arena_box(draw, 0.0f, 190.0f, ARENA_VIEW_WIDTH, 70.0f,
              ecs_color_fade((ecs_color){6, 8, 20, 200}, part));
    arena_text_centred(draw, ARENA_VIEW_WIDTH * 0.5f, 206.0f, 36.0f,
                       ecs_color_fade(view->banner_color, part), view->banner);
}
