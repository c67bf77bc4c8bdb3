// SPDX-License-Identifier: MIT
// The window of one player, the first of this process. Other bots of --bots play in the same loop.
//
//     loop: signals -> keys and pointer -> network -> ticks that are due -> a frame that is due
//
// The network waits for the picture no longer than a frame takes. A hidden window draws nothing,
// and the player continues to play. Where a person can be present (a display, no --ticks), the end
// of a session is shown, with the choice to play again. Everywhere else the program ends as it does
// without a window.
#include "program.h"

#include "window/controls.h"
#include "feed.h"
#include "window/screens.h"
#include "window/window.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/socket.h"

#include <inttypes.h>
#include <string.h>

#define EARLY_US 8000u                  ///< half a frame at 60 Hz
#define EVENTS_US 4000u                 ///< longest time between two looks at keys
#define COVERED_FRAME_US 100000         ///< period of updates of a hidden view
#define LOST_PREFIX "connection lost: " ///< first words of the client's report of it
#define PLOTS_ALL ((1u << CLIENT_PLOT_COUNT) - 1u)

typedef enum own_key {
    KEY_PANEL,
    KEY_HELP,
    KEY_HELP_TOO,
    KEY_LEAVE,
    KEY_AGAIN,
    KEY_AGAIN_TOO,
    KEY_COUNT,
} own_key;

static const char* const key_names[KEY_COUNT] = {"F1",     "F2",     "H",
                                                 "Escape", "Return", "Keypad Enter"};
static const client_help_row help_rows[] = {
    {"Mouse", "instead of keys"},
    {"F1", "connection, view and frames as plots"},
    {"F2, H", "this help"},
    {"Escape", "leave"},
};

typedef struct show {
    client_program* program;
    client_window* window;
    net_presenter* presenter;
    base_quota memory; // of presenter and first player
    client_controls controls;
    client_feed feed;
    client_panel panel;
    base_reporter stderr_reporter;
    char last_report[BASE_REPORT_BYTES_MAX]; ///< the reason on the end screen
    int32_t keys[KEY_COUNT];
    bool is_interactive, has_panel, has_help;
    bool is_leaving; ///< the user wants to go
    bool wants_again;
    bool is_shot, has_failed;
    uint32_t shot_count; ///< pictures of --shot-every
    uint64_t covered_us;
} show;

static void keep_report(void* context, const char* file, uint32_t line, const char* message) {
    show* on = context;
    (void)base_text_copy(on->last_report, sizeof on->last_report, message);
    on->stderr_reporter.report(on->stderr_reporter.context, file, line, message);
}

static client_player* first_player(const show* on) {
    BASE_ASSERT(on->program->players && on->program->player_count > 0);
    return &on->program->players[0];
}

static const char* find_name(void* context, uint32_t number) {
    const show* on = context;
    return on->program->players ? net_client_player_name(first_player(on)->client, number) : NULL;
}

static void press(show* on, int32_t key) {
    if (key == on->keys[KEY_PANEL]) {
        on->has_panel = !on->has_panel;
    } else if (key == on->keys[KEY_HELP] || key == on->keys[KEY_HELP_TOO]) {
        on->has_help = !on->has_help;
    } else if (key == on->keys[KEY_LEAVE]) {
        if (!on->has_help) on->is_leaving = true;
        on->has_help = false;
    } else if (key == on->keys[KEY_AGAIN] || key == on->keys[KEY_AGAIN_TOO]) {
        on->wants_again = true;
    }
}

static void see_events(show* on) {
    client_event event;
    on->wants_again = false;
    while (client_window_next_event(on->window, &event)) {
        float x = 0.0f, y = 0.0f;
        client_window_to_canvas(on->window, CLIENT_CANVAS_VIEW, event.x, event.y, &x, &y);
        if (event.kind == CLIENT_EVENT_CLOSE) on->is_leaving = true;
        // A key that the game uses belongs to the game.
        if (client_controls_see(&on->controls, &event, x, y)) continue;
        if (event.kind == CLIENT_EVENT_KEY_DOWN && !event.is_repeat) press(on, event.key);
    }
}

static void think_as_human(void* context, const net_player_context* player, void* input) {
    show* on = context;
    const net_game_module* game = on->program->module->game;
    net_controls controls = client_controls_take(&on->controls);
    if (game->human_input) game->human_input(player, &controls, input);
}

typedef enum picture { PICTURE_CONNECTING, PICTURE_PLAYING, PICTURE_ENDED } picture;

static void draw_game(show* on) {
    net_draw draw = client_window_draw(on->window, CLIENT_CANVAS_VIEW);
    draw.player = net_client_player(first_player(on)->client);
    draw.tick = net_presenter_tick(on->presenter);
    net_presenter_draw(on->presenter, &draw);
}

static const char* title_of(const show* on) {
    return on->program->module ? on->program->module->game->title : NULL;
}

static void draw_session(show* on, const net_draw* draw, float width, float height,
                         bool has_picture) {
    const net_client* client = first_player(on)->client;
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
    if (on->has_panel) client_panel_draw(&on->panel, draw);
    if (on->has_help) {
        const net_game_module* game = on->program->module->game;
        client_screen_help(draw, width, height, game->title, game->actions, game->action_count,
                           help_rows, BASE_COUNT(help_rows));
    }
}

static void draw_end(show* on, const net_draw* draw, float width, float height, bool has_picture) {
    const client_player* one = on->program->players ? first_player(on) : NULL;
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
                        "Enter: once more      Esc: leave");
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

static void draw_frame(show* on, uint64_t now_us, picture what, const char* shot) {
    float width = 0.0f, height = 0.0f;
    client_window_begin_frame(on->window, now_us);
    net_sentry_busy(on->program->sentry);
    bool has_picture = on->presenter && net_presenter_frame(on->presenter, now_us);
    if (has_picture) draw_game(on);
    net_sentry_rest(on->program->sentry);
    net_draw draw = client_window_draw(on->window, CLIENT_CANVAS_SCREEN);
    client_window_canvas_size(on->window, CLIENT_CANVAS_SCREEN, &width, &height);
    if (what == PICTURE_CONNECTING) {
        client_screen_connecting(&draw, width, height, on->program->config.address, title_of(on),
                                 draw.time_s);
    } else if (what == PICTURE_ENDED) {
        draw_end(on, &draw, width, height, has_picture);
    } else {
        draw_session(on, &draw, width, height, has_picture);
    }
    char path[1024];
    if (!shot && has_picture) shot = find_shot(on, path, sizeof path);
    if (shot) on->is_shot = true;
    if (!client_window_end_frame(on->window, shot)) on->has_failed = true;
}

// Draw a frame when it is due. A hidden window only keeps its view up to date.
static void show_playing(show* on, uint64_t now_us) {
    uint64_t due_us = client_window_frame_due_us(on->window);
    if (now_us >= due_us) {
        draw_frame(on, now_us, PICTURE_PLAYING, NULL);
    } else if (due_us == UINT64_MAX && now_us >= on->covered_us) {
        (void)net_presenter_frame(on->presenter, now_us);
        on->covered_us = now_us + COVERED_FRAME_US;
    }
}

static uint64_t min_us(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// The client calls this while it asks the server for the game. @return false: the user wants to
// stop.
static bool idle(void* context) {
    show* on = context;
    uint64_t now_us = net_loop_now_us();
    see_events(on);
    if (now_us >= client_window_frame_due_us(on->window))
        draw_frame(on, now_us, PICTURE_CONNECTING, NULL);
    return !on->is_leaving;
}

static void run(show* on) {
    client_program* program = on->program;
    const client_feed_sources sources = {.client = first_player(on)->client,
                                         .mirror = first_player(on)->match,
                                         .presenter = on->presenter,
                                         .window = on->window};
    bool is_left = false;
    for (;;) {
        uint64_t now_us = net_loop_now_us();
        uint64_t wake_us = client_players_due_us(program, now_us);
        wake_us = min_us(wake_us, client_window_frame_due_us(on->window));
        if (on->is_interactive) wake_us = min_us(wake_us, now_us + EVENTS_US);
        uint64_t socket_us = net_socket_next_us();
        if (socket_us != UINT64_MAX) wake_us = min_us(wake_us, now_us + socket_us);
        if (net_loop_wait(&program->loop, wake_us)) on->is_leaving = true;
        see_events(on);
        now_us = net_loop_now_us();
        if (on->is_leaving && !is_left) client_players_leave(program, now_us);
        is_left |= on->is_leaving;
        if (program->local) client_local_reload(program, now_us);
        if (!client_players_service(program, now_us)) return;
        // A tick that is nearly due runs before the frame, so that the frame shows its result.
        bool is_frame_due = now_us >= client_window_frame_due_us(on->window);
        client_players_tick(program, now_us, is_frame_due ? EARLY_US : 0);
        client_feed_service(&on->feed, now_us, &sources, &on->panel);
        show_playing(on, now_us);
    }
}

static int open_session(show* on) {
    BASE_ASSERT(on->window && !on->presenter);
    client_program* program = on->program;
    const client_idle while_asking = {.call = idle, .context = on};
    int code = client_program_open_game(program, &while_asking);
    if (code != NET_EXIT_CLEAN) return code;
    const net_game_module* game = program->module->game;
    client_window_set_view(on->window, game->title, game->view_width, game->view_height);
    client_controls_init(&on->controls, game, &program->reporter);
    client_feed_init(&on->feed);
    client_panel_init(&on->panel, PLOTS_ALL);
    (void)base_text_format(on->panel.facts.title, sizeof on->panel.facts.title, "%.24s  %.36s",
                           game->title, program->config.address);
    base_quota_init(&on->memory, NULL, NET_CLIENT_BYTES_MAX);
    const net_presenter_config config = {
        .allocator = &on->memory.allocator, .module = program->module, .is_predicting = true};
    net_result result = net_presenter_create(&config, &program->reporter, &on->presenter);
    if (result != NET_OK) return result == NET_ERR_MEMORY ? NET_EXIT_RUNTIME : NET_EXIT_USAGE;
    const client_eyes eyes = {.presenter = on->presenter,
                              .memory = &on->memory,
                              .input = client_player_is_person(program, 0) ? think_as_human : NULL,
                              .input_context = on};
    return client_players_open(program, &eyes);
}

static void close_session(show* on) {
    client_players_close(on->program); // before the presenter, which they write to
    net_presenter_destroy(on->presenter);
    on->presenter = NULL;
}

// Write the picture of the last frame, or report that the tick of --shot-tick was never shown.
static void shoot_last(show* on) {
    const client_config* config = &on->program->config;
    if (!config->shot || on->is_shot) return;
    if (config->shot_tick) {
        base_report(&on->program->reporter, config->shot, 0,
                    "no picture: tick %" PRIu64 " was not shown, the last one was %.0f",
                    config->shot_tick, net_presenter_tick(on->presenter));
        on->has_failed = true;
        return;
    }
    draw_frame(on, net_loop_now_us(), PICTURE_PLAYING, config->shot);
}

// Show the end screen until the user leaves or plays again.
static void show_end(show* on) {
    while (!on->is_leaving && !on->wants_again) {
        uint64_t now_us = net_loop_now_us();
        uint64_t wake_us = min_us(client_window_frame_due_us(on->window), now_us + EVENTS_US);
        if (net_loop_wait(&on->program->loop, wake_us)) on->is_leaving = true;
        see_events(on);
        now_us = net_loop_now_us();
        if (now_us >= client_window_frame_due_us(on->window))
            draw_frame(on, now_us, PICTURE_ENDED, NULL);
    }
}

static int play_once(show* on) {
    int code = open_session(on);
    if (code == NET_EXIT_CLEAN) {
        run(on);
        if (on->program->wants_reload) {
            close_session(on);
            return client_program_reload(on->program);
        }
        shoot_last(on);
        code = client_players_finish(on->program);
    }
    on->program->loop.socket_count = 0;
    if (on->is_interactive && !on->is_leaving) show_end(on);
    close_session(on);
    return code;
}

int client_window_play(client_program* program) {
    const client_config* config = &program->config;
    BASE_ASSERT(config->is_rendering && !program->players);
    show* on = base_allocate_zero(NULL, sizeof *on);
    if (!on) return NET_EXIT_RUNTIME;
    on->program = program;
    on->stderr_reporter = program->reporter;
    on->has_panel = config->has_panel;
    program->reporter = (base_reporter){.report = keep_report, .context = on};
    const client_window_config wanted = {.reporter = &program->reporter,
                                         .title = "shoal-client",
                                         .width = config->width,
                                         .height = config->height,
                                         .fps = config->fps};
    int code = NET_EXIT_RUNTIME;
    on->window = client_window_create(&wanted);
    if (on->window) {
        client_window_set_names(on->window, find_name, on);
        on->is_interactive = client_window_is_interactive(on->window) && config->ticks == 0;
        for (uint32_t i = 0; i < KEY_COUNT; i++)
            on->keys[i] = client_window_key(key_names[i]);
        do {
            code = play_once(on);
        } while ((program->wants_reload && code == NET_EXIT_CLEAN) ||
                 (on->wants_again && !on->is_leaving));
        client_window_write_frames(on->window, stdout);
        if (on->has_failed && code == NET_EXIT_CLEAN) code = NET_EXIT_RUNTIME;
    }
    client_window_destroy(on->window);
    program->reporter = on->stderr_reporter;
    base_release(NULL, on, sizeof *on);
    return code;
}
