// SPDX-License-Identifier: MIT
// What a person does who only watches: another player is chosen, and its name is at the lower
// edge. The game gets no keys.
#include "show.h"

#include "base/text.h"

const client_help_row show_watch_help[SHOW_WATCH_HELP_ROWS] = {
    {"Right, Tab", "the next player"},
    {"Left", "the one before"},
    {"F1", "connection, view and frames as plots"},
    {"F2, H", "this help"},
    {"Escape", "leave"},
};

bool show_is_watching(const show* on) {
    return client_player_is_spectator(on->program, 0);
}

static uint32_t last_player(const net_client* client) {
    uint32_t last = 0;
    for (uint32_t at = 0; (at = net_client_next_player(client, at)) != 0;)
        last = at;
    return last;
}

// 0: there is none.
static uint32_t player_before(const net_client* client, uint32_t number) {
    uint32_t before = 0;
    for (uint32_t at = 0; (at = net_client_next_player(client, at)) != 0 && at < number;)
        before = at;
    return before ? before : last_player(client);
}

static uint32_t player_after(const net_client* client, uint32_t number) {
    const uint32_t next = net_client_next_player(client, number);
    return next ? next : net_client_next_player(client, 0);
}

bool show_watch_see(show* on, const client_event* event) {
    const bool is_pad = event->kind == CLIENT_EVENT_PAD_DOWN;
    if (!on->program->players || (event->kind != CLIENT_EVENT_KEY_DOWN && !is_pad)) return false;
    net_client* client = show_player(on, 0)->client;
    const uint32_t watched = net_client_watched(client);
    uint32_t wanted = 0;
    const bool is_tab = event->key == client_window_key("Tab");
    if (event->key == (is_pad ? client_pad_input("DPRight") : client_window_key("Right")) || is_tab)
        wanted = player_after(client, watched);
    else if (event->key == (is_pad ? client_pad_input("DPLeft") : client_window_key("Left")))
        wanted = player_before(client, watched);
    else
        return false;
    if (wanted && wanted != watched) net_client_watch(client, wanted);
    return true;
}

void show_watch_draw(const show* on, const net_draw* draw, float width, float height) {
    const net_client* client = show_player(on, 0)->client;
    const uint32_t watched = net_client_watched(client);
    const char* name = net_client_player_name(client, watched);
    uint32_t count = 0, place = 0;
    for (uint32_t at = 0; (at = net_client_next_player(client, at)) != 0;) {
        count++;
        place += at <= watched;
    }
    char text[128];
    if (name)
        (void)base_text_format(text, sizeof text, "Watching %s (%u of %u)", name, place, count);
    else
        (void)base_text_copy(text, sizeof text, "No player is here");
    client_screen_watching(draw, width, height, text, count > 1 ? "Left, Right: another" : "");
}
