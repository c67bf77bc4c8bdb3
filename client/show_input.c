// SPDX-License-Identifier: MIT
// Keys and pointer: what the game uses belongs to the game, the rest is the window's own.
#include "show.h"

#include "base/text.h"
#include "net/socket.h"

static const char* const key_names[KEY_COUNT] = {"F1",     "F2",     "H",
                                                 "Escape", "Return", "Keypad Enter"};

void show_keys_init(show* on) {
    for (uint32_t i = 0; i < KEY_COUNT; i++)
        on->keys[i] = client_window_key(key_names[i]);
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

// A game controller that comes or goes, also while one plays.
void show_see_pads(show* on, const client_event* event) {
    const bool has_come = event->kind == CLIENT_EVENT_PAD_CAME;
    if (!has_come && event->kind != CLIENT_EVENT_PAD_GONE) return;
    BASE_ASSERT(event->pad < CLIENT_PADS_MAX);
    const uint32_t bit = 1u << event->pad;
    on->pads = has_come ? on->pads | bit : on->pads & ~bit;
    const char* name = client_window_pad_name(on->window, event->pad);
    (void)base_text_format(on->notice, sizeof on->notice, "%s: %s", name ? name : "Game controller",
                           has_come ? "a game controller is here" : "the game controller is gone");
    on->notice_us = net_loop_now_us();
}

void show_see_events(show* on) {
    client_event event;
    on->wants_again = false;
    while (client_window_next_event(on->window, &event)) {
        float x = 0.0f, y = 0.0f;
        client_window_to_canvas(on->window, CLIENT_CANVAS_VIEW, event.x, event.y, &x, &y);
        if (event.kind == CLIENT_EVENT_CLOSE) on->is_closed = on->is_leaving = true;
        show_see_pads(on, &event);
        // A key that the game uses belongs to the game.
        const bool is_used = show_is_watching(on)
                                 ? show_watch_see(on, &event)
                                 : client_controls_see(&on->controls, &event, x, y);
        if (is_used) continue;
        if (event.kind == CLIENT_EVENT_KEY_DOWN && !event.is_repeat) press(on, event.key);
    }
}

void show_think(void* context, const net_player_context* player, void* input) {
    show* on = context;
    const net_game_module* game = on->program->module->game;
    net_controls controls = client_controls_take(&on->controls);
    if (game->human_input) game->human_input(player, &controls, input);
}
