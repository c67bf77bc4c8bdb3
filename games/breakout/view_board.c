// SPDX-License-Identifier: MIT
// The picture of the results: score board, list of players, titles.
//
// The board is drawn without the shake of the field, so that it can be read.

#include "breakout.h"
#include "view_board.es.h"

#include "base/math.h"
#include "base/text.h"

#define WIDTH BREAKOUT_FIELD_WIDTH
#define BOARD_HEIGHT 56.0f
#define ROWS_MAX 8u
#define ROW_HEIGHT 23.0f
#define LIST_WIDTH 214.0f
#define LIST_LEFT 22.0f
#define LIST_BOTTOM 728.0f

static const ecs_color white = {255, 255, 255, 255};
static const ecs_color soft = {160, 182, 240, 255};

typedef struct entry {
    breakout_player player;
    ecs_color color;
    bool is_own;
} entry;

typedef struct ranking {
    entry entries[ROWS_MAX]; ///< the best players, the best one first
    uint32_t count;
    uint32_t players, own_rank; ///< 0: the player only watches
    entry own;
} ranking;

// Among equal scores the player that joined first comes first.
static bool is_before(const breakout_player* a, const breakout_player* b) {
    return a->score != b->score ? a->score > b->score : a->client < b->client;
}

static void rank(ranking* list, const entry* candidate) {
    uint32_t at = list->count;
    while (at > 0 && is_before(&candidate->player, &list->entries[at - 1].player))
        at--;
    if (at == ROWS_MAX) return;
    if (list->count < ROWS_MAX) list->count++;
    for (uint32_t i = list->count - 1; i > at; i--)
        list->entries[i] = list->entries[i - 1];
    list->entries[at] = *candidate;
}

static void find_ranking(ecs_world* world, const breakout_game* game, ecs_entity own,
                         ranking* list) {
    *list = (ranking){.count = 0};
    const breakout_player* self = ecs_find(world, own, game->player);
    if (self) list->own_rank = 1;
    ecs_query_iter it = ecs_query_begin(world, game->pads);
    while (ecs_query_next(&it)) {
        const breakout_player* players = it.rows.columns[2];
        for (uint32_t i = 0; i < it.rows.count; i++) {
            entry candidate = {players[i], breakout_player_color(players[i].slot),
                               it.rows.entities[i] == own};
            list->players++;
            if (candidate.is_own)
                list->own = candidate;
            else if (self && is_before(&players[i], self))
                list->own_rank++;
            rank(list, &candidate);
        }
    }
}

static void draw_row(const net_draw* draw, float y, uint32_t place, const entry* row) {
    char text[32], buffer[32];
    if (row->is_own)
        draw->rect(draw->context, LIST_LEFT, y, LIST_WIDTH, ROW_HEIGHT,
                   (ecs_color){255, 255, 255, 26});
    draw->rect(draw->context, LIST_LEFT, y + 2.0f, 4.0f, ROW_HEIGHT - 4.0f, row->color);
    (void)base_text_format(text, sizeof text, "%u", place);
    net_draw_text(draw, LIST_LEFT + 30.0f, y + 3.0f, 15.0f, soft, NET_ALIGN_RIGHT, text);
    const char* name = net_player_name(draw, row->player.client, buffer, sizeof buffer);
    char cut[20]; // a long name must not run into the points
    (void)base_text_copy(cut, sizeof cut, name);
    net_draw_text(draw, LIST_LEFT + 40.0f, y + 3.0f, 15.0f,
                  row->is_own ? white : ecs_color_shade(row->color, 0.35f), NET_ALIGN_LEFT, cut);
    (void)base_text_format(text, sizeof text, "%d", row->player.score);
    net_draw_text(draw, LIST_LEFT + LIST_WIDTH - 8.0f, y + 3.0f, 15.0f, white, NET_ALIGN_RIGHT,
                  text);
}

// The best players in the lower left corner, behind the balls. The player's own row is added at the
// end when it is not among them.
ES_STAGE(render)
ES_TAG(render)
static void draw_players_es(const ecs_stage* stage, ES_CONTEXT const breakout_game* game) {
    const net_draw* draw = breakout_look(stage, false);
    ranking list;
    find_ranking(stage->world, game, draw->player, &list);
    if (list.players < 2) return;
    bool is_apart = list.own_rank > list.count;
    uint32_t count = list.count;
    float height = (float)count * ROW_HEIGHT;
    float y = LIST_BOTTOM - height;
    draw->rect(draw->context, LIST_LEFT, y - 4.0f, LIST_WIDTH, height + 8.0f,
               (ecs_color){6, 8, 26, 120});
    for (uint32_t i = 0; i < count; i++) {
        bool is_last_own = is_apart && i == count - 1;
        draw_row(draw, y + (float)i * ROW_HEIGHT, is_last_own ? list.own_rank : i + 1,
                 is_last_own ? &list.own : &list.entries[i]);
    }
}

static void draw_band(const net_draw* draw, const breakout_match* match) {
    char text[64];
    net_draw_gradient(draw, 0.0f, 0.0f, WIDTH, BOARD_HEIGHT, (ecs_color){4, 6, 20, 235},
                      (ecs_color){10, 12, 36, 190}, false);
    draw->rect(draw->context, 0.0f, BOARD_HEIGHT - 1.5f, WIDTH, 1.5f,
               (ecs_color){96, 165, 255, 110});
    net_draw_text(draw, 22.0f, 8.0f, 12.0f, soft, NET_ALIGN_LEFT, "SCORE");
    (void)base_text_format(text, sizeof text, "%06d", match->score);
    net_draw_text(draw, 22.0f, 21.0f, 28.0f, white, NET_ALIGN_LEFT, text);
    net_draw_text(draw, 170.0f, 8.0f, 12.0f, soft, NET_ALIGN_LEFT, "BEST");
    (void)base_text_format(text, sizeof text, "%06d", match->best);
    net_draw_text(draw, 170.0f, 25.0f, 22.0f, soft, NET_ALIGN_LEFT, text);
    (void)base_text_format(text, sizeof text, "LEVEL %d", match->level);
    net_draw_text(draw, WIDTH * 0.5f, 7.0f, 26.0f, white, NET_ALIGN_MIDDLE, text);
    (void)base_text_format(text, sizeof text, "%d brick%s left", match->bricks,
                           match->bricks == 1 ? "" : "s");
    net_draw_text(draw, WIDTH * 0.5f, 35.0f, 13.0f, soft, NET_ALIGN_MIDDLE, text);
    net_draw_text(draw, WIDTH - 22.0f, 8.0f, 12.0f, soft, NET_ALIGN_RIGHT, "LIVES");
    int32_t shown = match->lives < 8 ? match->lives : 8;
    for (int32_t life = 0; life < shown; life++) {
        float x = WIDTH - 30.0f - (float)life * 23.0f;
        draw->circle(draw->context, x, 36.0f, 8.0f, (ecs_color){255, 82, 110, 255});
        draw->circle(draw->context, x - 2.5f, 33.5f, 2.8f, (ecs_color){255, 214, 222, 255});
    }
    if (match->lives > shown) {
        (void)base_text_format(text, sizeof text, "%d", match->lives);
        net_draw_text(draw, WIDTH - 30.0f - 8.0f * 23.0f, 27.0f, 20.0f, white, NET_ALIGN_RIGHT,
                      text);
    }
}

// `veil` 0..1 darkens the field behind the banner, `part` fades the whole banner.
static void draw_banner(const net_draw* draw, const char* title, const char* text, ecs_color color,
                        float veil, float part) {
    const ecs_color clear = {6, 8, 28, 0};
    ecs_color dark = ecs_color_fade((ecs_color){6, 8, 28, 255}, veil * part);
    net_draw_gradient(draw, 0.0f, 425.0f, WIDTH, 40.0f, clear, dark, false);
    draw->rect(draw->context, 0.0f, 465.0f, WIDTH, 70.0f, dark);
    net_draw_gradient(draw, 0.0f, 535.0f, WIDTH, 40.0f, dark, clear, false);
    net_draw_text(draw, WIDTH * 0.5f + 2.0f, 455.0f, 56.0f,
                  ecs_color_fade((ecs_color){0, 0, 0, 160}, part), NET_ALIGN_MIDDLE, title);
    net_draw_text(draw, WIDTH * 0.5f, 452.0f, 56.0f, ecs_color_fade(color, part), NET_ALIGN_MIDDLE,
                  title);
    net_draw_text(draw, WIDTH * 0.5f, 517.0f, 20.0f, ecs_color_fade(soft, part), NET_ALIGN_MIDDLE,
                  text);
}

ES_STAGE(render)
ES_TAG(render)
ES_AFTER(draw_effects_es)
static void draw_board_es(const ecs_stage* stage, ES_CONTEXT breakout_game* game,
                          const breakout_match* match) {
    const net_draw* draw = breakout_look(stage, false);
    breakout_view* view = &game->view;
    // A level has a title when it begins. A level that was running before the first frame has none.
    bool is_first = view->level == 0;
    bool is_begun = match->phase == BREAKOUT_PLAYING &&
                    (match->level != view->level || view->phase == BREAKOUT_OVER);
    float since_s = (float)base_min((float)view->now_s, BREAKOUT_TITLE_S);
    if (is_first)
        view->title_s = match->phase == BREAKOUT_PLAYING ? BREAKOUT_TITLE_S - since_s : 0.0f;
    else if (is_begun)
        view->title_s = BREAKOUT_TITLE_S;
    view->level = match->level;
    view->phase = match->phase;
    draw_band(draw, match);
    char title[32], text[64];
    const ecs_color good = {130, 240, 190, 255}, bad = {255, 120, 140, 255};
    if (match->phase == BREAKOUT_PLAYING) {
        if (view->title_s <= 0.0f) return;
        (void)base_text_format(title, sizeof title, "LEVEL %d", match->level);
        (void)base_text_format(text, sizeof text, "%d bricks", match->bricks);
        float part = base_min(view->title_s * 2.5f, 1.0f);
        draw_banner(draw, title, text, white, 0.35f, part); // the balls fly already
        return;
    }
    bool is_cleared = match->phase == BREAKOUT_CLEARED, is_lost = match->phase == BREAKOUT_LOST;
    (void)base_text_format(text, sizeof text, "score %d    best %d    lives %d", match->score,
                           match->best, match->lives);
    draw_banner(draw,
                is_cleared ? "LEVEL CLEARED"
                : is_lost  ? "BALL LOST"
                           : "GAME OVER",
                text, is_cleared ? good : bad, 0.85f, 1.0f);
}
