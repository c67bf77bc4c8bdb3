// SPDX-License-Identifier: MIT
// A table in a card: name and address in two lines, then game, players and ping. All places are
// made of the size of the canvas and of these numbers, so that a click and a picture agree.
#include "window/servers.h"

#include "window/screens.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

#define EDGE 24.0f // between card and window
#define HEAD 78.0f // above the first row
#define FOOT 44.0f // below the last one
#define ROW 46.0f
#define CARD_MAX 820.0f
#define INSET 24.0f

static const ecs_color white = {240, 244, 255, 255};
static const ecs_color soft = {160, 174, 212, 255};
static const ecs_color accent = {92, 200, 255, 255};
static const ecs_color warm = {255, 178, 92, 255};

typedef struct card {
    float x, y, width, height;
    float game, players, ping; // right edges of the columns; of `game` the left one
} card;

static card card_of(float width, float height) {
    card made = {.y = EDGE, .width = width - 2 * EDGE, .height = height - 2 * EDGE};
    if (made.width > CARD_MAX) made.width = CARD_MAX;
    made.x = (width - made.width) * 0.5f;
    made.ping = made.x + made.width - INSET;
    made.players = made.ping - 90.0f;
    made.game = made.x + made.width * 0.54f;
    return made;
}

uint32_t client_servers_rows_max(float height) {
    const float room = height - 2 * EDGE - HEAD - FOOT;
    return room > ROW ? (uint32_t)(room / ROW) : 1;
}

uint32_t client_servers_scroll(float height, uint32_t first, uint32_t count, uint32_t chosen) {
    const uint32_t shown = client_servers_rows_max(height);
    if (chosen < first) first = chosen;
    if (chosen >= first + shown) first = chosen - shown + 1;
    const uint32_t last = count > shown ? count - shown : 0;
    return first < last ? first : last;
}

uint32_t client_servers_row_at(float width, float height, uint32_t first, uint32_t count, float x,
                               float y) {
    const card at = card_of(width, height);
    const float below = y - at.y - HEAD;
    if (x < at.x || x >= at.x + at.width || below < 0.0f) return CLIENT_NO_ROW;
    const uint32_t place = (uint32_t)(below / ROW);
    if (place >= client_servers_rows_max(height) || first + place >= count) return CLIENT_NO_ROW;
    return first + place;
}

static float width_of(const net_draw* draw, float height, const char* text) {
    return draw->text_width(draw->context, height, text);
}

// Cut at a whole character, with dots.
static void put_text(const net_draw* draw, float x, float y, float height, ecs_color color,
                     const char* text, float width_max) {
    char cut[160];
    (void)base_text_copy(cut, sizeof cut, text ? text : "");
    size_t size = strlen(cut);
    const float dots = width_of(draw, height, "...");
    if (width_of(draw, height, cut) > width_max) {
        while (size > 0 && width_of(draw, height, cut) + dots > width_max) {
            while (size > 0 && ((unsigned char)cut[--size] & 0xc0) == 0x80) {
            }
            cut[size] = '\0';
        }
        draw->text(draw->context, x + width_of(draw, height, cut), y, height, color, "...");
    }
    draw->text(draw->context, x, y, height, color, cut);
}

static void put_right(const net_draw* draw, float right, float y, float height, ecs_color color,
                      const char* text) {
    if (text)
        draw->text(draw->context, right - width_of(draw, height, text), y, height, color, text);
}

static void draw_row(const net_draw* draw, const card* at, float y, const client_servers_row* row,
                     bool is_chosen) {
    const float left = at->x + INSET;
    if (is_chosen) {
        draw->rect(draw->context, at->x, y, at->width, ROW, (ecs_color){44, 62, 110, 200});
        draw->rect(draw->context, at->x, y, 4.0f, ROW, accent);
    }
    put_text(draw, left, y + 6.0f, 17.0f, white, row->name, at->game - left - 12.0f);
    put_text(draw, left, y + 27.0f, 12.0f, soft, row->address, at->game - left - 12.0f);
    if (row->note) {
        put_text(draw, at->game, y + 14.0f, 14.0f, row->is_fault ? warm : soft, row->note,
                 at->ping - at->game);
        return;
    }
    put_text(draw, at->game, y + 13.0f, 16.0f, white, row->game, at->players - at->game - 100.0f);
    put_right(draw, at->players, y + 13.0f, 16.0f, white, row->players);
    put_right(draw, at->ping, y + 13.0f, 16.0f, white, row->ping);
}

static void draw_head(const net_draw* draw, const card* at) {
    const float y = at->y + 54.0f;
    draw->rect(draw->context, at->x, at->y, at->width, at->height, (ecs_color){14, 19, 38, 240});
    draw->rect(draw->context, at->x, at->y, at->width, 3.0f, accent);
    draw->text(draw->context, at->x + INSET, at->y + 18.0f, 24.0f, white, "Servers");
    draw->text(draw->context, at->game, y, 12.0f, soft, "game");
    put_right(draw, at->players, y, 12.0f, soft, "players");
    put_right(draw, at->ping, y, 12.0f, soft, "ping");
    draw->rect(draw->context, at->x + INSET, at->y + HEAD - 4.0f, at->width - 2 * INSET, 1.0f,
               (ecs_color){160, 174, 212, 60});
}

// A bar at the right edge shows which part of a long list is seen.
static void draw_bar(const net_draw* draw, const card* at, uint32_t first, uint32_t shown,
                     uint32_t count) {
    if (count <= shown) return;
    const float tall = (float)shown * ROW, part = tall / (float)count;
    draw->rect(draw->context, at->x + at->width - 6.0f, at->y + HEAD + (float)first * part, 3.0f,
               part * (float)shown, (ecs_color){160, 174, 212, 120});
}

void client_servers_draw(const net_draw* draw, float width, float height,
                         const client_servers_row* rows, uint32_t first, uint32_t count,
                         uint32_t chosen, const char* hint) {
    BASE_ASSERT(first <= count);
    const card at = card_of(width, height);
    const uint32_t shown = client_servers_rows_max(height);
    client_screen_background(draw, width, height);
    draw_head(draw, &at);
    for (uint32_t i = first; i < count && i < first + shown; i++)
        draw_row(draw, &at, at.y + HEAD + (float)(i - first) * ROW, &rows[i], i == chosen);
    draw_bar(draw, &at, first, shown, count);
    put_text(draw, at.x + INSET, at.y + at.height - 30.0f, 14.0f, accent, hint,
             at.width - 2 * INSET);
}
