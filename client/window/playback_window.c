// SPDX-License-Identifier: MIT
// A playback in a window: keys and pointer move it, the clock plays it, and the strip below shows
// the position.
//
// A picture (--shot) is one frame after a seek, so that equal moments give equal bytes. It shows
// the game only, in the size that players see; with --window panel it shows the strip too.
#include "window/playback_play.h"

#include "window/playback_timeline.h"
#include "window/screens.h"
#include "window/window.h"

#include "host/output.h"

#include <stdio.h>

#define SPEED_MIN 0.1
#define SPEED_MAX 64.0
#define JUMP_S 5.0
#define JUMP_FAR_S 30.0
#define STEP_FAR_TICKS 10.0
#define EVENTS_US 5000u ///< between two looks at events while no frame is due
#define FRAME_S_MAX 0.1 ///< a longer pause of the program is not caught up

static const client_help_row help_rows[] = {
    {"Space", "play, pause"},
    {"Left,Right", "playing: 5 s; paused: one tick"},
    {"with Shift", "playing: 30 s; paused: ten ticks"},
    {"Up,Down", "faster, slower (also + and -)"},
    {"Home,End", "first tick, last tick"},
    {"Pointer", "go there; on a mark: what it was"},
    {"C", "the next view, at last of none"},
    {"I", "an entity's components"},
    {"Tab", "those of the next one (Shift: back)"},
    {"F11", "fullscreen"},
    {"H,F1", "this"},
    {"Escape", "leave"},
};

typedef struct show {
    client_playback* self;
    client_window* window;
    client_timeline strip;
    client_inspector inspector;
    uint32_t client; // whose view is shown; 0: that of a spectator
    bool is_shift_down, is_dragging, is_pointed, has_help;
    bool is_playing, is_done;
    float pointer_x, pointer_y; // view units
    double speed;
    double seek; // tick of the next frame; negative: continue
    uint64_t last_us;
} show;

static const char* find_name(void* context, uint32_t client) {
    return net_playback_player_name(((const show*)context)->self->playback, client);
}

static double rate(const show* on) {
    return net_log_reader_info(on->self->reader)->tick_rate_hz;
}

// Several key presses in one frame give one seek.
static double wanted(const show* on) {
    return on->seek >= 0.0 ? on->seek : net_playback_tick(on->self->playback);
}

static void seek(show* on, double tick) {
    double last = (double)net_playback_tick_last(on->self->playback);
    on->seek = tick > 0.0 ? tick < last ? tick : last : 0.0;
}

static void move(show* on, double direction) {
    if (on->is_playing) {
        seek(on, wanted(on) + direction * (on->is_shift_down ? JUMP_FAR_S : JUMP_S) * rate(on));
        return;
    }
    double steps = on->is_shift_down ? STEP_FAR_TICKS : 1.0;
    double whole = (double)(uint64_t)wanted(on); // a step ends on a whole tick
    bool is_between = whole < wanted(on);
    seek(on, whole + direction * steps + (is_between && direction < 0.0 ? 1.0 : 0.0));
}

static void change_speed(show* on, bool is_faster) {
    static const double speeds[] = {0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0};
    const double before = on->speed;
    for (uint32_t i = 0; i < BASE_COUNT(speeds); i++) {
        const double speed = speeds[is_faster ? BASE_COUNT(speeds) - 1 - i : i];
        if (is_faster ? speed > before : speed < before) on->speed = speed; // the nearest is last
    }
}

static void inspect(show* on, bool opens) {
    net_match* match = net_playback_match(on->self->playback);
    if (!match) return;
    if (opens) on->inspector.is_open = !on->inspector.is_open;
    bool is_missing = !ecs_is_alive(net_match_world(match), on->inspector.entity);
    if (on->inspector.is_open && (!opens || is_missing))
        client_inspector_step(&on->inspector, net_match_world(match), !on->is_shift_down);
}

static bool is_at_end(const show* on) {
    return wanted(on) >= (double)net_playback_tick_last(on->self->playback);
}

static void press(show* on, const client_event* event) {
    if (client_event_has_key(event, "Left")) move(on, -1.0);
    if (client_event_has_key(event, "Right")) move(on, 1.0);
    if (client_event_has_key(event, "Tab")) inspect(on, false);
    if (event->is_repeat) return;
    if (client_event_has_key(event, "Space")) {
        if (!on->is_playing && is_at_end(on)) seek(on, 0.0);
        on->is_playing = !on->is_playing;
    }
    if (client_event_has_key(event, "Up,=,Keypad +")) change_speed(on, true);
    if (client_event_has_key(event, "Down,-,Keypad -")) change_speed(on, false);
    if (client_event_has_key(event, "Home")) seek(on, 0.0);
    if (client_event_has_key(event, "End")) {
        seek(on, (double)net_playback_tick_last(on->self->playback));
        on->is_playing = false;
    }
    if (client_event_has_key(event, "H,F1")) on->has_help = !on->has_help;
    if (client_event_has_key(event, "C")) {
        // The next client that has an entity at this moment, by its number; 0 after the last.
        uint32_t count, next = 0;
        const net_log_player* players = net_playback_players(on->self->playback, &count);
        for (uint32_t i = 0; i < count && next == 0; i++)
            if (players[i].client > on->client && players[i].entity != ECS_ENTITY_NONE)
                next = players[i].client;
        on->client = next;
    }
    if (client_event_has_key(event, "I")) inspect(on, true);
    if (client_event_has_key(event, "Escape")) on->is_done = true;
}

static void take_key(show* on, const client_event* event) {
    const bool is_down = event->kind == CLIENT_EVENT_KEY_DOWN;
    if (client_event_has_key(event, "Left Shift,Right Shift")) on->is_shift_down = is_down;
    if (is_down) press(on, event);
}

static void take_pointer(show* on, const client_event* event) {
    client_draw_to_canvas(client_window_canvases(on->window), CLIENT_CANVAS_VIEW, event->x,
                          event->y, &on->pointer_x, &on->pointer_y);
    on->is_pointed = true;
    if (event->kind == CLIENT_EVENT_POINTER_UP) on->is_dragging = false;
    if (event->kind == CLIENT_EVENT_POINTER_DOWN)
        on->is_dragging = client_timeline_has(&on->strip, on->pointer_x, on->pointer_y);
    if (on->is_dragging)
        seek(on, client_timeline_tick(&on->strip, on->self->playback, on->pointer_x));
}

static void take_events(show* on) {
    client_event event;
    while (client_window_next_event(on->window, &event)) {
        switch (event.kind) {
        case CLIENT_EVENT_CLOSE:
            on->is_done = true;
            break;
        case CLIENT_EVENT_KEY_DOWN:
        case CLIENT_EVENT_KEY_UP:
            take_key(on, &event);
            break;
        case CLIENT_EVENT_POINTER_MOVE:
        case CLIENT_EVENT_POINTER_DOWN:
        case CLIENT_EVENT_POINTER_UP:
            take_pointer(on, &event);
            break;
        case CLIENT_EVENT_POINTER_GONE:
            on->is_pointed = false;
            break;
        case CLIENT_EVENT_FOCUS_LOST:
            on->is_shift_down = on->is_dragging = false;
            break;
        default: // game controllers play no log
            break;
        }
    }
}

// --replay follow=S shows the tick S seconds before the last one. The log is read again when half
// of that time is left.
static bool is_late(const show* on) {
    double left = (double)net_playback_tick_last(on->self->playback) - wanted(on);
    return left < on->self->config->follow_s * rate(on) / 2;
}

/// @return false when the playback cannot continue.
static bool advance(show* on, uint64_t now_us) {
    double passed_s = on->last_us ? (double)(now_us - on->last_us) * 1e-6 : 0.0;
    if (passed_s > FRAME_S_MAX) passed_s = FRAME_S_MAX;
    on->last_us = now_us;
    net_result result = NET_OK;
    if (on->seek >= 0.0) {
        result = net_playback_seek(on->self->playback, on->seek);
    } else if (on->is_playing && !on->is_dragging) {
        result = net_playback_advance(on->self->playback, passed_s * on->speed * rate(on));
    }
    on->seek = -1.0;
    if (on->is_playing && is_late(on)) {
        if (!client_playback_record(on->self, result)) return false;
        result = client_playback_refresh(on->self, now_us);
    }
    if (on->is_playing && is_at_end(on) && !client_playback_is_open(on->self))
        on->is_playing = false;
    return client_playback_record(on->self, result);
}

static void draw_strip(show* on) {
    uint32_t keyframe_count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(on->self->reader, &keyframe_count);
    const client_timeline_look look = {
        .playback = on->self->playback,
        .keyframes = keyframes,
        .keyframe_count = keyframe_count,
        .player = on->client ? net_playback_player_name(on->self->playback, on->client) : NULL,
        .game = on->self->module->game,
        .tick_rate_hz = net_log_reader_info(on->self->reader)->tick_rate_hz,
        .speed = on->speed,
        .is_playing = on->is_playing,
        .is_pointed = on->is_pointed,
        .pointer_x = on->pointer_x,
        .pointer_y = on->pointer_y,
    };
    net_draw draw = client_window_draw(on->window, CLIENT_CANVAS_VIEW);
    client_timeline_draw(&on->strip, &look, &draw);
}

static bool draw_frame(show* on, uint64_t now_us, bool has_strip, const char* shot) {
    client_window_begin_frame(on->window, now_us);
    net_draw draw = client_window_draw(on->window, CLIENT_CANVAS_VIEW);
    net_match* match = net_playback_match(on->self->playback);
    if (on->client) draw.player = net_playback_player(on->self->playback, on->client);
    net_playback_draw(on->self->playback, &draw);
    if (has_strip) draw_strip(on);
    float width = 0.0f, height = 0.0f;
    net_draw screen = client_window_draw(on->window, CLIENT_CANVAS_SCREEN);
    if (match) client_inspector_draw(&on->inspector, net_match_world(match), &screen, 12.0f, 12.0f);
    client_draw_canvas_size(client_window_canvases(on->window), CLIENT_CANVAS_SCREEN, &width,
                            &height);
    if (on->has_help)
        client_screen_help(&screen, width, height, "Playback", NULL, 0, help_rows,
                           BASE_COUNT(help_rows), false);
    return client_window_end_frame(on->window, shot);
}

/// @return false when this was the last frame.
static bool show_frame(show* on) {
    uint64_t now_us = net_loop_now_us();
    return advance(on, now_us) && draw_frame(on, now_us, true, NULL);
}

static void play(show* on) {
    const client_config* config = on->self->config;
    double behind = config->follow_s * rate(on);
    double end = (double)net_playback_tick_last(on->self->playback);
    seek(on, config->at > 0.0 || behind <= 0.0 ? config->at : end - behind);
    on->is_playing = config->at <= 0.0;
    bool is_watched = client_window_is_interactive(on->window);
    // The first frame sets the layout that pointer positions refer to.
    on->is_done = !show_frame(on);
    while (!on->is_done) {
        uint64_t due_us = client_window_frame_due_us(on->window);
        uint64_t wake_us = net_loop_now_us() + EVENTS_US;
        if (net_loop_wait(on->self->loop, due_us < wake_us ? due_us : wake_us)) break;
        take_events(on);
        if (on->is_done || net_loop_now_us() < client_window_frame_due_us(on->window)) continue;
        on->is_done = !show_frame(on);
        // Without a display no key can come, so a playback that stands still has ended.
        if (!is_watched && !on->is_playing) on->is_done = true;
    }
    client_window_write_frames(on->window, stdout);
}

static bool take_shot(show* on) {
    const client_config* config = on->self->config;
    double tick = config->at > 0.0        ? config->at
                  : config->shot_tick > 0 ? (double)config->shot_tick
                                          : (double)net_playback_tick_last(on->self->playback);
    return client_playback_record(on->self, net_playback_seek(on->self->playback, tick)) &&
           draw_frame(on, net_loop_now_us(), config->has_panel, config->shot);
}

static double speed_of(const client_config* config) {
    if (!(config->speed > 0.0)) return 1.0;
    return config->speed < SPEED_MIN   ? SPEED_MIN
           : config->speed > SPEED_MAX ? SPEED_MAX
                                       : config->speed;
}

int client_playback_show(client_playback* self) {
    const client_config* config = self->config;
    const net_game_module* game = self->module->game;
    show on = {.self = self,
               .client = (uint32_t)config->client,
               .inspector.entity = (ecs_entity)config->entity,
               .seek = -1.0,
               .speed = speed_of(config)};
    on.inspector.is_open = config->entity != 0;
    on.strip = client_timeline_make(game);
    bool has_strip = !config->shot || config->has_panel;
    const client_window_config window = {
        .reporter = self->reporter,
        .title = game->title,
        .width = config->width,
        .height = config->height,
        .fps = config->fps,
        .is_fullscreen = config->is_fullscreen,
        .view_width = game->view_width,
        .view_height = game->view_height + (has_strip ? on.strip.height : 0.0f),
    };
    on.window = client_window_create(&window);
    if (!on.window) return NET_EXIT_RUNTIME;
    client_draw_set_assets(client_window_canvases(on.window), self->module->asset_folder);
    client_draw_set_names(client_window_canvases(on.window), find_name, &on);
    bool is_right = true;
    if (config->shot) {
        is_right = take_shot(&on);
    } else {
        play(&on);
    }
    client_window_destroy(on.window);
    return is_right ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME;
}
