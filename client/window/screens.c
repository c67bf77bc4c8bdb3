// SPDX-License-Identifier: MIT
// Every screen is a card in the middle: a headline, its subject, and what happens or what the user
// can do.
#include "window/screens.h"

#include "base/math.h"
#include "base/text.h"
#include "base/assert.h"
#include "ecs/geometry.h"
#include "net/draw.h"

#include <string.h>

#define CUT_BYTES 256u ///< of a text that is cut
#define SPINNER_DOTS 12u
#define CARD_WIDTH 520.0f
#define HELP_WIDTH 460.0f
#define HELP_PADS 190.0f ///< more, with the inputs of pads
#define HELP_ROW 22.0f

static const ecs_color white = {240, 244, 255, 255};
static const ecs_color soft = {160, 174, 212, 255};
static const ecs_color accent = {92, 200, 255, 255};
static const ecs_color warm = {255, 178, 92, 255};
static const ecs_color bad = {255, 107, 107, 255};

static void put_text(const net_draw* draw, float x, float y, float height, ecs_color color,
                     const char* text) {
    draw->text(draw->context, x, y, height, color, text);
}

static size_t last_character(const char* text) {
    size_t at = strlen(text);
    while (at > 0 && ((unsigned char)text[--at] & 0xc0) == 0x80) {
    }
    return at;
}

static float width_of(const net_draw* draw, float height, const char* text) {
    return draw->text_width(draw->context, height, text);
}

// Copy text; one that is too wide is cut at a whole character and ends with dots. @return its
// width.
static float fit_text(const net_draw* draw, float height, const char* text, float width_max,
                      char cut[CUT_BYTES]) {
    (void)base_text_copy(cut, CUT_BYTES - sizeof "...", text ? text : "");
    if (width_of(draw, height, cut) > width_max) {
        const float room = width_max - width_of(draw, height, "...");
        while (cut[0] && width_of(draw, height, cut) > room)
            cut[last_character(cut)] = '\0';
        memcpy(cut + strlen(cut), "...", sizeof "...");
    }
    return width_of(draw, height, cut);
}

static void put_cut(const net_draw* draw, float x, float y, float height, ecs_color color,
                    const char* text, float width_max) {
    char cut[CUT_BYTES];
    (void)fit_text(draw, height, text, width_max, cut);
    put_text(draw, x, y, height, color, cut);
}

// Draw text around `x`.
static void put_middle(const net_draw* draw, float x, float y, float height, ecs_color color,
                       const char* text, float width_max) {
    char cut[CUT_BYTES];
    const float width = fit_text(draw, height, text, width_max, cut);
    put_text(draw, x - width * 0.5f, y, height, color, cut);
}

// Draw text in lines of whole words, at most `lines`.
static void put_lines(const net_draw* draw, float x, float y, float height, ecs_color color,
                      const char* text, float width_max, uint32_t lines) {
    char line[256];
    uint32_t count = 0;
    while (text && *text && count + 1 < lines) {
        size_t end = 0, fits = 0;
        while (text[end]) {
            size_t word = end + 1 + strcspn(text + end + 1, " ");
            if (!base_text_format(line, sizeof line, "%.*s", (int)word, text)) break;
            if (width_of(draw, height, line) > width_max) break;
            fits = end = word;
        }
        if (fits == 0) break; // one word is too wide: put_middle cuts it
        (void)base_text_format(line, sizeof line, "%.*s", (int)fits, text);
        put_middle(draw, x, y + (float)count++ * height * 1.35f, height, color, line, width_max);
        text += fits + strspn(text + fits, " ");
    }
    if (text && *text)
        put_middle(draw, x, y + (float)count * height * 1.35f, height, color, text, width_max);
}

static void dim(const net_draw* draw, float width, float height, uint8_t alpha) {
    draw->rect(draw->context, 0.0f, 0.0f, width, height, (ecs_color){4, 6, 14, alpha});
}

static void card(const net_draw* draw, float x, float y, float width, float height,
                 ecs_color edge) {
    draw->rect(draw->context, x + 4.0f, y + 6.0f, width, height, (ecs_color){0, 0, 0, 90});
    draw->rect(draw->context, x, y, width, height, (ecs_color){14, 19, 38, 240});
    draw->rect(draw->context, x, y, width, 3.0f, edge);
}

void client_screen_background(const net_draw* draw, float width, float height) {
    const ecs_color top = {11, 15, 32, 255}, bottom = {30, 24, 56, 255};
    net_draw_gradient(draw, 0.0f, 0.0f, width, height, top, bottom, false);
}

// One turn per second; the part of a second is taken first, so that hours keep their precision.
static void spinner(const net_draw* draw, float x, float y, float radius, ecs_color color,
                    double time_s) {
    double whole = (double)(int64_t)time_s;
    float part = base_clamp((float)(time_s - whole), 0.0f, 1.0f);
    for (uint32_t i = 0; i < SPINNER_DOTS; i++) {
        float place = (float)i / (float)SPINNER_DOTS;
        float behind = part - place;
        if (behind < 0.0f) behind += 1.0f;
        float angle = place * 2.0f * BASE_PI;
        ecs_color dot = color;
        dot.a = (uint8_t)(40.0f + 215.0f * (1.0f - behind) * (1.0f - behind));
        draw->circle(draw->context, x + base_sin(angle) * radius, y - base_cos(angle) * radius,
                     radius * 0.17f, dot);
    }
}

static void waiting_card(const net_draw* draw, float width, float height, const char* headline,
                         const char* detail, const char* more, double time_s) {
    float middle = width * 0.5f, top = height * 0.5f - 110.0f;
    client_screen_background(draw, width, height);
    card(draw, middle - CARD_WIDTH * 0.5f, top, CARD_WIDTH, 220.0f, accent);
    spinner(draw, middle, top + 66.0f, 26.0f, accent, time_s);
    put_middle(draw, middle, top + 116.0f, 26.0f, white, headline, CARD_WIDTH - 40.0f);
    put_middle(draw, middle, top + 156.0f, 16.0f, soft, detail, CARD_WIDTH - 40.0f);
    put_middle(draw, middle, top + 184.0f, 13.0f, soft, more, CARD_WIDTH - 40.0f);
}

void client_screen_connecting(const net_draw* draw, float width, float height, const char* address,
                              const char* game, double time_s) {
    char headline[96];
    (void)base_text_format(headline, sizeof headline, "Connecting to %s", game ? game : "a game");
    waiting_card(draw, width, height, headline, address, "Esc: leave", time_s);
}

void client_screen_going_on(const net_draw* draw, float width, float height, const char* address,
                            double time_s) {
    waiting_card(draw, width, height, "Going on to another match", address, "Esc: leave", time_s);
}

void client_screen_waiting(const net_draw* draw, float width, float height, const char* game,
                           double time_s) {
    waiting_card(draw, width, height, "Waiting for players", game,
                 "The match begins when enough of them are here.   Esc: leave", time_s);
}

void client_screen_resuming(const net_draw* draw, float width, float height, double quiet_s,
                            double left_s, double time_s) {
    char text[96];
    float middle = width * 0.5f, top = height * 0.5f - 60.0f;
    dim(draw, width, height, 150);
    card(draw, middle - CARD_WIDTH * 0.5f, top, CARD_WIDTH, 120.0f, warm);
    spinner(draw, middle - CARD_WIDTH * 0.5f + 56.0f, top + 61.0f, 22.0f, warm, time_s);
    float x = middle - CARD_WIDTH * 0.5f + 104.0f;
    (void)base_text_format(text, sizeof text, "Connection lost %.0f s ago", quiet_s);
    put_text(draw, x, top + 30.0f, 22.0f, white, text);
    (void)base_text_format(text, sizeof text, "trying again (%.0f s left)", left_s);
    put_text(draw, x, top + 66.0f, 16.0f, soft, text);
}

void client_screen_ended(const net_draw* draw, float width, float height, bool is_fault,
                         const char* headline, const char* reason, const char* hint) {
    float middle = width * 0.5f, top = height * 0.5f - 95.0f;
    dim(draw, width, height, 190);
    card(draw, middle - CARD_WIDTH * 0.5f, top, CARD_WIDTH, 190.0f, is_fault ? bad : accent);
    put_middle(draw, middle, top + 30.0f, 28.0f, white, headline, CARD_WIDTH - 40.0f);
    put_lines(draw, middle, top + 76.0f, 15.0f, soft, reason, CARD_WIDTH - 40.0f, 3);
    put_middle(draw, middle, top + 150.0f, 14.0f, accent, hint, CARD_WIDTH - 40.0f);
}

void client_screen_watching(const net_draw* draw, float width, float height, const char* text,
                            const char* hint) {
    const float gap = hint && hint[0] ? 24.0f : 0.0f;
    const float text_wide = width_of(draw, 15.0f, text);
    const float hint_wide = gap > 0.0f ? width_of(draw, 13.0f, hint) : 0.0f;
    const float wide = text_wide + gap + hint_wide + 28.0f;
    const float x = (width - wide) * 0.5f, y = height - CLIENT_WATCHING_HEIGHT + 5.0f;
    draw->rect(draw->context, 0.0f, height - CLIENT_WATCHING_HEIGHT, width, CLIENT_WATCHING_HEIGHT,
               (ecs_color){6, 8, 20, 220});
    draw->rect(draw->context, x, y, 3.0f, 26.0f, accent);
    put_text(draw, x + 14.0f, y + 5.0f, 15.0f, white, text);
    if (gap > 0.0f) put_text(draw, x + 14.0f + text_wide + gap, y + 6.5f, 13.0f, soft, hint);
}

// Write "Left,A" as "Left, A".
static void put_names(const net_draw* draw, float x, float y, float height, ecs_color color,
                      const char* names) {
    char text[64];
    size_t used = 0;
    for (const char* at = names; at && *at && used + 3 < sizeof text; at++) {
        text[used++] = *at;
        if (*at == ',' && at[1] != ' ') text[used++] = ' ';
    }
    text[used] = '\0';
    put_text(draw, x, y, height, color, text);
}

// How large a card of this size is drawn: a small window has smaller letters, and nothing is cut.
static float fit(float width, float height, float wide, float tall) {
    return base_min(1.0f, base_min(width / wide, height / tall));
}

void client_screen_help(const net_draw* draw, float width, float height, const char* title,
                        const net_action* actions, uint32_t action_count,
                        const client_help_row* rows, uint32_t row_count, bool has_pads) {
    const float wide = HELP_WIDTH + (has_pads ? HELP_PADS : 0.0f);
    const float tall = 84.0f + HELP_ROW * (float)(action_count + row_count) + 12.0f;
    const float size = fit(width, height, wide, tall), row = HELP_ROW * size;
    const float help = (150.0f + (has_pads ? HELP_PADS : 0.0f)) * size, letters = 14.0f * size;
    float x = (width - wide * size) * 0.5f, y = (height - tall * size) * 0.5f;
    card(draw, x, y, wide * size, tall * size, accent);
    x += 28.0f * size;
    put_text(draw, x, y + 22.0f * size, 22.0f * size, white, title);
    float at = y + 64.0f * size;
    for (uint32_t i = 0; i < action_count; i++, at += row) {
        put_names(draw, x, at, letters, accent, actions[i].keys);
        if (has_pads) put_names(draw, x + 150.0f * size, at, letters, warm, actions[i].pads);
        put_text(draw, x + help, at, letters, white,
                 actions[i].help ? actions[i].help : actions[i].name);
    }
    draw->rect(draw->context, x, at + 4.0f * size, (wide - 56.0f) * size, 1.0f,
               (ecs_color){160, 174, 212, 60});
    at += 12.0f * size;
    for (uint32_t i = 0; i < row_count; i++, at += row) {
        put_names(draw, x, at, letters, accent, rows[i].keys);
        put_text(draw, x + help, at, letters, white, rows[i].help);
    }
}

#define BINDINGS_WIDTH 720.0f

void client_screen_bindings(const net_draw* draw, float width, float height,
                            const client_binding_row* rows, uint32_t row_count, uint32_t chosen,
                            bool is_waiting, const char* hint) {
    const float tall = 110.0f + HELP_ROW * (float)row_count;
    const float size = fit(width, height, BINDINGS_WIDTH, tall), row = HELP_ROW * size;
    const float wide = BINDINGS_WIDTH * size, letters = 14.0f * size;
    const float left = (width - wide) * 0.5f, top = (height - tall * size) * 0.5f;
    dim(draw, width, height, 110);
    card(draw, left, top, wide, tall * size, accent);
    const float x = left + 28.0f * size;
    put_text(draw, x, top + 22.0f * size, 22.0f * size, white, "Keys and game controllers");
    float y = top + 64.0f * size;
    for (uint32_t i = 0; i < row_count; i++, y += row) {
        const bool is_chosen = i == chosen;
        if (is_chosen)
            draw->rect(draw->context, left + 14.0f * size, y - 3.0f * size, wide - 28.0f * size,
                       row, (ecs_color){50, 66, 120, 255});
        put_text(draw, x, y, letters, white, rows[i].name);
        if (is_chosen && is_waiting) {
            put_text(draw, x + 150.0f * size, y, letters, warm, "...");
        } else {
            put_names(draw, x + 150.0f * size, y, letters, rows[i].is_key_shared ? bad : accent,
                      rows[i].keys);
            put_names(draw, x + 330.0f * size, y, letters, rows[i].is_pad_shared ? bad : warm,
                      rows[i].pads);
        }
        if (rows[i].conflict) put_text(draw, x + 540.0f * size, y, letters, bad, rows[i].conflict);
    }
    put_text(draw, x, y + 14.0f * size, 13.0f * size, soft, hint);
}

// ---- the legend ----

#define LEGEND_LETTERS 13.0f
#define LEGEND_ROW 19.0f
#define LEGEND_ROWS 2u
#define LEGEND_GAP 16.0f ///< between two actions
#define LEGEND_EDGE 14.0f

// One of several names: of keys the shortest, "A" of "Left,A"; of inputs of pads the first.
static void pick_name(const char* names, bool is_first, char* name, size_t bytes) {
    size_t least = SIZE_MAX;
    name[0] = '\0';
    for (size_t size; names && *names; names += size + (names[size] == ',')) {
        size = strcspn(names, ",");
        if (size == 0 || size >= least) continue;
        least = is_first ? 0 : size;
        (void)base_text_format(name, bytes, "%.*s", (int)size, names);
    }
}

typedef struct legend_entry {
    char key[32], pad[32];
    const char* name;
    float key_width, pad_width, width; ///< with the gap between them
} legend_entry;

static legend_entry read_entry(const net_draw* draw, const net_action* action, bool has_pads) {
    legend_entry entry = {.name = action->name};
    pick_name(action->keys, false, entry.key, sizeof entry.key);
    if (has_pads) pick_name(action->pads, true, entry.pad, sizeof entry.pad);
    const float gap = 5.0f;
    if (entry.key[0]) entry.key_width = width_of(draw, LEGEND_LETTERS, entry.key) + gap;
    if (entry.pad[0]) entry.pad_width = width_of(draw, LEGEND_LETTERS, entry.pad) + gap;
    entry.width =
        entry.key_width + entry.pad_width + width_of(draw, LEGEND_LETTERS, entry.name) + LEGEND_GAP;
    return entry;
}

// Lay the actions out; with `part` > 0 draw them too. @return the rows that they take.
static uint32_t lay_legend(const net_draw* draw, float width, float top, const net_action* actions,
                           uint32_t action_count, bool has_pads, float part) {
    const char* const more = "F2: all";
    const float more_width = width_of(draw, LEGEND_LETTERS, more);
    float x = LEGEND_EDGE;
    uint32_t row = 0;
    for (uint32_t i = 0; i < action_count; i++) {
        const legend_entry entry = read_entry(draw, &actions[i], has_pads);
        if (x + entry.width + (row + 1 == LEGEND_ROWS ? more_width : 0.0f) > width - LEGEND_EDGE) {
            if (row + 1 == LEGEND_ROWS) break;
            row++;
            x = LEGEND_EDGE;
        }
        const float y = top + (float)row * LEGEND_ROW;
        if (part > 0.0f) {
            put_text(draw, x, y, LEGEND_LETTERS, ecs_color_fade(accent, part), entry.key);
            put_text(draw, x + entry.key_width, y, LEGEND_LETTERS, ecs_color_fade(warm, part),
                     entry.pad);
            put_text(draw, x + entry.key_width + entry.pad_width, y, LEGEND_LETTERS,
                     ecs_color_fade(white, part), entry.name);
        }
        x += entry.width;
    }
    if (part > 0.0f)
        put_text(draw, width - LEGEND_EDGE - more_width, top + (float)row * LEGEND_ROW,
                 LEGEND_LETTERS, ecs_color_fade(soft, part), more);
    return row + 1;
}

float client_screen_legend(const net_draw* draw, float width, float height,
                           const net_action* actions, uint32_t action_count, bool has_pads,
                           float part) {
    if (action_count == 0) return 0.0f;
    const uint32_t rows = lay_legend(draw, width, 0.0f, actions, action_count, has_pads, 0.0f);
    const float tall = (float)rows * LEGEND_ROW + 8.0f;
    if (!(part > 0.0f)) return tall;
    draw->rect(draw->context, 0.0f, height - tall, width, tall,
               ecs_color_fade((ecs_color){6, 8, 20, 220}, part));
    (void)lay_legend(draw, width, height - tall + 5.0f, actions, action_count, has_pads, part);
    return tall;
}

void client_screen_notice(const net_draw* draw, float width, float height, const char* text,
                          float part) {
    if (!text || !text[0] || !(part > 0.0f)) return;
    const float wide = width_of(draw, 15.0f, text) + 36.0f;
    const float x = (width - wide) * 0.5f;
    const float y = height - 84.0f - (float)LEGEND_ROWS * LEGEND_ROW;
    draw->rect(draw->context, x, y, wide, 30.0f,
               ecs_color_fade((ecs_color){14, 19, 38, 225}, part));
    draw->rect(draw->context, x, y, 3.0f, 30.0f, ecs_color_fade(warm, part));
    put_middle(draw, width * 0.5f, y + 6.0f, 15.0f, ecs_color_fade(white, part), text,
               width - 40.0f);
}

void client_screen_faults(const net_draw* draw, float width, const char* const* lines,
                          uint32_t count) {
    const float wide = base_clamp(width - 80.0f, 0.0f, 860.0f), x = (width - wide) * 0.5f;
    if (count == 0) return;
    card(draw, x, 44.0f, wide, 48.0f + 20.0f * (float)count, bad);
    put_text(draw, x + 18.0f, 56.0f, 15.0f, bad, "Faults: the match continues");
    for (uint32_t i = 0; i < count; i++)
        put_cut(draw, x + 18.0f, 80.0f + 20.0f * (float)i, 13.0f, white, lines[i], wide - 36.0f);
}

void client_screen_tag(const net_draw* draw, float x, float y, const char* text, float part) {
    if (!(part > 0.0f)) return;
    const float wide = width_of(draw, 13.0f, text) + 16.0f;
    draw->rect(draw->context, x, y, wide, 20.0f,
               ecs_color_fade((ecs_color){14, 19, 38, 225}, part));
    put_text(draw, x + 8.0f, y + 3.0f, 13.0f, ecs_color_fade(warm, part), text);
}

void client_screen_line(const net_draw* draw, float width, float height, const char* text,
                        double time_s) {
    const float wide = width * 0.6f, left = (width - wide) * 0.5f;
    const float y = height - 84.0f - (float)LEGEND_ROWS * LEGEND_ROW;
    const char* const hint = "Enter: say it     Esc: leave it";
    draw->rect(draw->context, left, y - 4.0f, wide, 52.0f, (ecs_color){10, 14, 30, 235});
    draw->rect(draw->context, left, y - 4.0f, wide, 2.0f, accent);
    while (*text && width_of(draw, 16.0f, text) > wide - 32.0f)
        do
            text++;
        while (((unsigned char)*text & 0xc0) == 0x80);
    put_text(draw, left + 12.0f, y + 6.0f, 16.0f, white, text);
    const float end = left + 12.0f + width_of(draw, 16.0f, text);
    if (time_s - (double)(int64_t)time_s < 0.6)
        draw->rect(draw->context, end + 1.0f, y + 5.0f, 2.0f, 18.0f, accent);
    put_text(draw, left + 12.0f, y + 30.0f, 11.0f, soft, hint);
}

// ---- the list of servers ----
//
// A table in a card: name and address in two lines, then game, players and ping. All places are
// made of the size of the canvas and of these numbers, so that a click and a picture agree.

#define EDGE 24.0f // between card and window
#define HEAD 78.0f // above the first row
#define FOOT 44.0f // below the last one
#define ROW 46.0f
#define CARD_MAX 820.0f
#define INSET 24.0f

typedef struct server_table {
    float x, y, width, height;
    float game, players, ping; // right edges of the columns; of `game` the left one
} server_table;

static server_table table_of(float width, float height) {
    server_table made = {.y = EDGE, .width = width - 2 * EDGE, .height = height - 2 * EDGE};
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
    const server_table at = table_of(width, height);
    const float below = y - at.y - HEAD;
    if (x < at.x || x >= at.x + at.width || below < 0.0f) return CLIENT_NO_ROW;
    const uint32_t place = (uint32_t)(below / ROW);
    if (place >= client_servers_rows_max(height) || first + place >= count) return CLIENT_NO_ROW;
    return first + place;
}

static void put_right(const net_draw* draw, float right, float y, float height, ecs_color color,
                      const char* text) {
    if (text) net_draw_text(draw, right, y, height, color, NET_ALIGN_RIGHT, text);
}

static void draw_row(const net_draw* draw, const server_table* at, float y,
                     const client_servers_row* row, bool is_chosen) {
    const float left = at->x + INSET;
    if (is_chosen) {
        draw->rect(draw->context, at->x, y, at->width, ROW, (ecs_color){44, 62, 110, 200});
        draw->rect(draw->context, at->x, y, 4.0f, ROW, accent);
    }
    put_cut(draw, left, y + 6.0f, 17.0f, white, row->name, at->game - left - 12.0f);
    put_cut(draw, left, y + 27.0f, 12.0f, soft, row->address, at->game - left - 12.0f);
    if (row->note) {
        put_cut(draw, at->game, y + 14.0f, 14.0f, row->is_fault ? warm : soft, row->note,
                at->ping - at->game);
        return;
    }
    put_cut(draw, at->game, y + 13.0f, 16.0f, white, row->game, at->players - at->game - 100.0f);
    put_right(draw, at->players, y + 13.0f, 16.0f, white, row->players);
    put_right(draw, at->ping, y + 13.0f, 16.0f, white, row->ping);
}

static void draw_head(const net_draw* draw, const server_table* at) {
    const float y = at->y + 54.0f;
    draw->rect(draw->context, at->x, at->y, at->width, at->height, (ecs_color){14, 19, 38, 240});
    draw->rect(draw->context, at->x, at->y, at->width, 3.0f, accent);
    put_text(draw, at->x + INSET, at->y + 18.0f, 24.0f, white, "Servers");
    put_text(draw, at->game, y, 12.0f, soft, "game");
    put_right(draw, at->players, y, 12.0f, soft, "players");
    put_right(draw, at->ping, y, 12.0f, soft, "ping");
    draw->rect(draw->context, at->x + INSET, at->y + HEAD - 4.0f, at->width - 2 * INSET, 1.0f,
               (ecs_color){160, 174, 212, 60});
}

// A bar at the right edge shows which part of a long list is seen.
static void draw_bar(const net_draw* draw, const server_table* at, uint32_t first, uint32_t shown,
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
    const server_table at = table_of(width, height);
    const uint32_t shown = client_servers_rows_max(height);
    client_screen_background(draw, width, height);
    draw_head(draw, &at);
    for (uint32_t i = first; i < count && i < first + shown; i++)
        draw_row(draw, &at, at.y + HEAD + (float)(i - first) * ROW, &rows[i], i == chosen);
    draw_bar(draw, &at, first, shown, count);
    put_cut(draw, at.x + INSET, at.y + at.height - 30.0f, 14.0f, accent, hint,
            at.width - 2 * INSET);
}
