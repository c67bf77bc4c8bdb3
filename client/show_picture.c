// SPDX-License-Identifier: MIT
// What a frame shows: the game, and over it the screens, the panel and the help.
#include "show.h"

#include "base/math.h"
#include "base/text.h"

#include <string.h>

#define LOST_PREFIX "connection lost: " ///< first words of the client's report of it

static const client_help_row help_rows[] = {
    {"Mouse", "instead of keys"},
    {"F1", "connection, view and frames as plots"},
    {"F11", "fullscreen, and back"},
    {"F2, H", "this help"},
    {"Escape", "leave"},
};

static void draw_game(show* on) {
    net_draw draw = client_window_draw(on->window, CLIENT_CANVAS_VIEW);
    draw.player = net_client_player(show_first_player(on)->client);
    draw.tick = net_presenter_tick(on->presenter);
    net_presenter_draw(on->presenter, &draw);
}

static const char* title_of(const show* on) {
    return on->program->module ? on->program->module->game->title : NULL;
}

static void draw_session(show* on, const net_draw* draw, float width, float height,
                         bool has_picture) {
    const net_client* client = show_first_player(on)->client;
    const char* address = on->program->config.address;
    net_client_meter meter;
    switch (net_client_get_phase(client)) {
    case NET_CLIENT_CONNECTING:
    case NET_CLIENT_GREETING:
        client_screen_connecting(draw, width, height, address, title_of(on), draw->time_s);
        break;
    case NET_CLIENT_RESUMING: {
        net_client_get_meter(client, &meter);
        double quiet_s = (double)meter.quiet_us * 1e-6;
        double left_s = NET_SILENCE_MS_MAX / 1000.0 - quiet_s;
        client_screen_resuming(draw, width, height, quiet_s, left_s > 0.0 ? left_s : 0.0,
                               draw->time_s);
        break;
    }
    case NET_CLIENT_PLAYING:
    case NET_CLIENT_ENDED:
        if (!has_picture) client_screen_waiting(draw, width, height, title_of(on), draw->time_s);
        break;
    }
    if (has_picture && show_is_watching(on)) show_watch_draw(on, draw, width, height);
    if (on->has_panel) client_panel_draw(&on->panel, draw);
    if (on->has_help) {
        const net_game_module* game = on->program->module->game;
        if (show_is_watching(on))
            client_screen_help(draw, width, height, game->title, NULL, 0, show_watch_help,
                               SHOW_WATCH_HELP_ROWS, false);
        else
            client_screen_help(draw, width, height, game->title, game->actions, game->action_count,
                               help_rows, BASE_COUNT(help_rows), on->pads != 0);
    }
}

// 1 until `length_s` are over, then down to 0 within a second.
static float part_of(uint64_t since_us, uint64_t now_us, double length_s) {
    const double left_s = length_s + 1.0 - (double)(now_us - since_us) * 1e-6;
    return base_clamp((float)left_s, 0.0f, 1.0f);
}

// How much of the legend is seen.
static float legend_part(const show* on, uint64_t now_us) {
    if (!client_player_is_person(on->program, 0) || on->has_help) return 0.0f;
    return on->playing_us ? part_of(on->playing_us, now_us, SHOW_LEGEND_S) : 1.0f;
}

static float draw_legend(show* on, const net_draw* draw, float width, float height, float part) {
    const net_game_module* game = on->program->module->game;
    return client_screen_legend(draw, width, height, game->actions, game->action_count,
                                on->pads != 0, part);
}

// The legend has a strip of its own below the game's picture, which has texts there too.
static void place_game(show* on, uint64_t now_us) {
    float width = 0.0f, height = 0.0f;
    const net_draw draw = client_window_draw(on->window, CLIENT_CANVAS_SCREEN);
    client_window_canvas_size(on->window, CLIENT_CANVAS_SCREEN, &width, &height);
    float strip = 0.0f;
    if (show_is_watching(on))
        strip = CLIENT_WATCHING_HEIGHT;
    else if (legend_part(on, now_us) > 0.0f)
        strip = draw_legend(on, &draw, width, height, 0.0f);
    client_window_place_view(on->window, (client_area){0.0f, 0.0f, 1.0f, 1.0f - strip / height});
}

// What a person reads at the lower edge: how to play, and what happened to the game controllers.
static void draw_hints(show* on, const net_draw* draw, float width, float height, uint64_t now_us) {
    if (!on->playing_us) on->playing_us = now_us;
    (void)draw_legend(on, draw, width, height, legend_part(on, now_us));
    if (on->notice_us)
        client_screen_notice(draw, width, height, on->notice,
                             part_of(on->notice_us, now_us, SHOW_NOTICE_S));
}

static void draw_end(show* on, const net_draw* draw, float width, float height, bool has_picture) {
    const client_player* one = on->program->players ? show_first_player(on) : NULL;
    const char* headline = "No connection";
    const char* reason = on->last_report;
    bool is_fault = true;
    switch (one && one->client ? net_client_get_end(one->client) : NET_CLIENT_END_UNREACHABLE) {
    case NET_CLIENT_END_GOODBYE:
        headline = "The match is over";
        reason = "The server said goodbye.";
        is_fault = false;
        break;
    case NET_CLIENT_END_LOST:
        headline = "The connection is lost";
        // Without such a report, the server ended the session.
        if (strncmp(reason, LOST_PREFIX, strlen(LOST_PREFIX)) == 0)
            reason += strlen(LOST_PREFIX);
        else
            reason = "The server ended the session.";
        break;
    case NET_CLIENT_END_REFUSED:
        headline = "The server refuses";
        break;
    default:
        break;
    }
    if (!has_picture) client_screen_background(draw, width, height);
    client_screen_ended(draw, width, height, is_fault, headline, reason,
                        on->program->config.is_choosing ? "Enter: once more      Esc: servers"
                                                        : "Enter: once more      Esc: leave");
}

// The file of the picture that is due at the shown tick; NULL: none is.
static const char* find_shot(show* on, char* path, size_t bytes) {
    const client_config* config = &on->program->config;
    if (!config->shot || !config->shot_tick || (on->is_shot && !config->shot_every)) return NULL;
    uint64_t due = config->shot_tick + config->shot_every * on->shot_count;
    if (net_presenter_tick(on->presenter) < (double)due) return NULL;
    if (!config->shot_every) return config->shot;
    const char* dot = strrchr(config->shot, '.');
    int stem = (int)(dot ? dot - config->shot : (ptrdiff_t)strlen(config->shot));
    bool fits =
        base_text_format(path, bytes, "%.*s-%04u.png", stem, config->shot, ++on->shot_count);
    return fits ? path : NULL;
}

void show_draw(show* on, uint64_t now_us, show_picture what, const char* shot) {
    float width = 0.0f, height = 0.0f;
    client_window_begin_frame(on->window, now_us);
    net_sentry_busy(on->program->sentry);
    bool has_picture = on->presenter && net_presenter_frame(on->presenter, now_us);
    if (on->program->module) place_game(on, now_us);
    if (has_picture) draw_game(on);
    net_sentry_rest(on->program->sentry);
    net_draw draw = client_window_draw(on->window, CLIENT_CANVAS_SCREEN);
    client_window_canvas_size(on->window, CLIENT_CANVAS_SCREEN, &width, &height);
    if (what == SHOW_CONNECTING) {
        client_screen_connecting(&draw, width, height, on->program->config.address, title_of(on),
                                 draw.time_s);
    } else if (what == SHOW_ENDED) {
        draw_end(on, &draw, width, height, has_picture);
    } else {
        if (has_picture) draw_hints(on, &draw, width, height, now_us);
        draw_session(on, &draw, width, height, has_picture);
    }
    char path[1024];
    if (!shot && has_picture) shot = find_shot(on, path, sizeof path);
    if (shot) on->is_shot = true;
    if (!client_window_end_frame(on->window, shot)) on->has_failed = true;
}
