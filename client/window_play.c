// SPDX-License-Identifier: MIT
// The window of one player, the first of this process. Other bots of --bots play in the same loop.
//
//     loop: signals -> keys and pointer -> network -> ticks that are due -> a frame that is due
//
// The network waits for the picture no longer than a frame takes. A hidden window draws nothing,
// and the player continues to play. Where a person can be present (a display, no --ticks), the end
// of a session is shown, with the choice to play again. Everywhere else the program ends as it does
// without a window.
#include "show.h"

#include "base/text.h"
#include "net/socket.h"
#include "host/setup.h"

#include <inttypes.h>

#define EARLY_US 8000u          ///< half a frame at 60 Hz
#define EVENTS_US 4000u         ///< longest time between two looks at keys
#define COVERED_FRAME_US 100000 ///< period of updates of a hidden view

static void keep_report(void* context, const char* file, uint32_t line, const char* message) {
    show* on = context;
    (void)base_text_copy(on->last_report, sizeof on->last_report, message);
    on->stderr_reporter.report(on->stderr_reporter.context, file, line, message);
}

static const char* find_name(void* context, uint32_t number) {
    const show* on = context;
    return on->program->players ? net_client_player_name(show_player(on, 0)->client, number) : NULL;
}

static uint64_t min_us(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// The client calls this while it asks the server for the game. @return false: the user wants to
// stop.
static bool idle(void* context) {
    show* on = context;
    uint64_t now_us = net_loop_now_us();
    show_see_events(on);
    if (now_us >= client_window_frame_due_us(on->window))
        show_draw(on, now_us, SHOW_CONNECTING, NULL);
    return !on->is_leaving;
}

static void run_window(show* on) {
    client_program* program = on->program;
    const client_feed_sources sources = {.client = show_player(on, 0)->client,
                                         .mirror = show_player(on, 0)->match,
                                         .presenter = on->people[0].presenter,
                                         .window = on->window,
                                         .is_local = program->local != NULL};
    bool is_left = false;
    for (;;) {
        uint64_t now_us = net_loop_now_us();
        uint64_t wake_us = client_players_due_us(program, now_us);
        wake_us = min_us(wake_us, client_window_frame_due_us(on->window));
        if (on->is_interactive) wake_us = min_us(wake_us, now_us + EVENTS_US);
        uint64_t socket_us = net_socket_next_us();
        if (socket_us != UINT64_MAX) wake_us = min_us(wake_us, now_us + socket_us);
        if (net_loop_wait(&program->loop, wake_us)) on->is_closed = on->is_leaving = true;
        show_see_events(on);
        now_us = net_loop_now_us();
        if (on->is_leaving && !is_left) client_players_leave(program, now_us);
        is_left |= on->is_leaving;
        if (!client_players_service(program, now_us)) return;
        // A tick that is nearly due runs before the frame, so that the frame shows its result.
        bool is_frame_due = now_us >= client_window_frame_due_us(on->window);
        client_players_tick(program, now_us, is_frame_due ? EARLY_US : 0);
        client_feed_service(&on->feed, now_us, &sources, &on->panel);
        // Draw a frame when it is due. A hidden window only keeps its view up to date.
        uint64_t due_us = client_window_frame_due_us(on->window);
        if (now_us >= due_us) {
            show_draw(on, now_us, SHOW_PLAYING, NULL);
        } else if (due_us == UINT64_MAX && now_us >= on->covered_us) {
            for (uint32_t i = 0; i < on->people_count; i++)
                (void)net_presenter_frame(on->people[i].presenter, now_us);
            on->covered_us = now_us + COVERED_FRAME_US;
        }
    }
}

static int open_session(show* on) {
    BASE_ASSERT(on->window && on->people_count == 0);
    client_program* program = on->program;
    int code = client_program_open_game(program, idle, on);
    if (code != NET_EXIT_CLEAN) return code;
    const net_game_module* game = program->module->game;
    client_window_set_view(on->window, game->title, game->view_width, game->view_height);
    client_draw_set_assets(client_window_canvases(on->window), program->module->asset_folder);
    client_window_set_cursor(on->window, game->cursor);
    show_bindings_open(on);
    on->playing_us = 0;
    on->feed = (client_feed){0};
    on->panel = (client_panel){0};
    (void)base_text_format(on->panel.facts.title, sizeof on->panel.facts.title, "%.24s  %.36s",
                           game->title, client_player_address(program, 0));
    on->sound = client_sound_create(NULL, program->module, (uint32_t)program->config.volume,
                                    &program->reporter);
    return show_open_people(on);
}

static void close_session(show* on) {
    client_sound_destroy(on->sound);
    on->sound = NULL;
    client_draw_set_assets(client_window_canvases(on->window),
                           NULL);      // the folder's name is the module's
    client_players_close(on->program); // before the presenters, which they write to
    for (; on->people_count > 0; on->people_count--)
        net_presenter_destroy(on->people[on->people_count - 1].presenter);
}

// Write the picture of the last frame, or report that the tick of --shot tick was never shown.
static void shoot_last(show* on) {
    const client_config* config = &on->program->config;
    if (!config->shot || on->is_shot) return;
    if (config->shot_tick) {
        base_report(&on->program->reporter, config->shot, 0,
                    "no picture: tick %" PRIu64 " was not shown, the last one was %.0f",
                    config->shot_tick, net_presenter_tick(on->people[0].presenter));
        on->has_failed = true;
        return;
    }
    show_draw(on, net_loop_now_us(), SHOW_PLAYING, config->shot);
}

// Show the end screen until the user leaves or plays again.
static void show_end(show* on) {
    while (!on->is_leaving && !on->wants_again) {
        uint64_t now_us = net_loop_now_us();
        uint64_t wake_us = min_us(client_window_frame_due_us(on->window), now_us + EVENTS_US);
        if (net_loop_wait(&on->program->loop, wake_us)) on->is_closed = on->is_leaving = true;
        show_see_events(on);
        now_us = net_loop_now_us();
        if (now_us >= client_window_frame_due_us(on->window))
            show_draw(on, now_us, SHOW_ENDED, NULL);
    }
}

static int play_once(show* on) {
    int code = open_session(on);
    if (code == NET_EXIT_CLEAN) {
        run_window(on);
        show_close_line(on);
        if (on->program->wants_reload) {
            close_session(on);
            if (!on->program->local) client_window_clear_faults(on->program->faults);
            code = client_program_reload(on->program, idle, on);
            if (code == NET_EXIT_CLEAN) return code;
            on->program->wants_reload = on->program->wants_follow = false;
            client_players_close(on->program);
            if (on->is_interactive && !on->is_leaving) show_end(on);
            return code;
        }
        shoot_last(on);
        code = client_players_finish(on->program);
    }
    on->program->loop.socket_count = 0;
    if (on->is_interactive && !on->is_leaving) show_end(on);
    close_session(on);
    return code;
}

// Until the user leaves it for good.
static int play(show* on) {
    int code;
    do {
        code = play_once(on);
    } while ((on->program->wants_reload && code == NET_EXIT_CLEAN) ||
             (on->wants_again && !on->is_leaving));
    return code;
}

// From the list of servers into a match and back. What happens there is shown; it is no failure of
// the program.
static int play_chosen(show* on) {
    client_program* program = on->program;
    for (;;) {
        const int code = show_choose_server(on);
        if (code != NET_EXIT_CLEAN || on->is_leaving) return code;
        (void)play(on);
        client_program_close_games(program);
        if (on->is_closed) return NET_EXIT_CLEAN;
        on->is_leaving = on->wants_again = on->has_help = false;
        on->playing_us = 0;
    }
}

int client_window_play(client_program* program) {
    const client_config* config = &program->config;
    BASE_ASSERT(config->is_rendering && !program->players);
    show* on = base_allocate_zero(NULL, sizeof *on);
    on->program = program;
    on->stderr_reporter = program->reporter;
    on->has_panel = config->has_panel;
    on->only_watches = config->is_spectating;
    program->reporter = (base_reporter){.report = keep_report, .context = on};
    const client_window_config wanted = {.reporter = &program->reporter,
                                         .title = "shoal-client",
                                         .width = config->width,
                                         .height = config->height,
                                         .fps = config->fps,
                                         .is_fullscreen = config->is_fullscreen};
    int code = NET_EXIT_RUNTIME;
    on->window = client_window_create(&wanted);
    if (on->window) {
        client_draw_set_names(client_window_canvases(on->window), find_name, on);
        if (!client_window_is_interactive(on->window) && !config->shot)
            base_report(&on->stderr_reporter, NULL, 0,
                        "note: there is no display, so this window is not shown (--headless plays "
                        "without one, --shot FILE.png keeps a picture)");
        on->is_interactive = client_window_is_interactive(on->window) && config->ticks == 0;
        code = config->is_choosing ? play_chosen(on) : play(on);
        client_window_write_frames(on->window, stdout);
        if (on->has_failed && code == NET_EXIT_CLEAN) code = NET_EXIT_RUNTIME;
    }
    client_window_destroy(on->window);
    program->reporter = on->stderr_reporter;
    base_release(NULL, on, sizeof *on);
    return code;
}
