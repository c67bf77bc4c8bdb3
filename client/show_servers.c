// SPDX-License-Identifier: MIT
// A server of the list is chosen in the window: by keys, by a click on the chosen one, or by a game
// controller.
#include "show.h"

#include "ask.h"

#include "base/text.h"
#include "net/socket.h"

#define EVENTS_US 4000u
#define FRAME_US 250000u ///< between two pictures when nothing is pressed

typedef struct choice {
    show* on;
    client_servers servers;
    client_ask* ask;
    uint32_t chosen, first;
    uint64_t drawn_us; ///< 0: something was pressed since
    bool is_over, is_watching;
    char game[CLIENT_SERVERS_MAX][NET_GAME_NAME_BYTES_MAX]; // texts of the rows
    char players[CLIENT_SERVERS_MAX][32], ping[CLIENT_SERVERS_MAX][16];
    client_servers_row rows[CLIENT_SERVERS_MAX];
} choice;

static void describe(choice* self, uint32_t index) {
    const client_answer* answer = client_ask_get(self->ask, index);
    client_servers_row* row = &self->rows[index];
    *row = (client_servers_row){.name = self->servers.entries[index].name,
                                .address = self->servers.entries[index].address};
    if (!answer->has_answer) {
        row->is_fault = answer->why[0] != '\0';
        row->note = row->is_fault ? answer->why : "asked ...";
        return;
    }
    const net_server_info* info = &answer->info;
    row->game = answer->game;
    row->players = self->players[index];
    row->ping = self->ping[index];
    (void)base_text_format(self->players[index], sizeof self->players[index],
                           info->players_max ? "%u / %u" : "?", info->players, info->players_max);
    (void)base_text_format(self->ping[index], sizeof self->ping[index], "%.0f ms", info->ping_ms);
}

static void draw(choice* self, uint64_t now_us, const char* shot) {
    show* on = self->on;
    float width = 0.0f, height = 0.0f;
    client_window_begin_frame(on->window, now_us);
    const net_draw screen = client_window_draw(on->window, CLIENT_CANVAS_SCREEN);
    client_draw_canvas_size(client_window_canvases(on->window), CLIENT_CANVAS_SCREEN, &width,
                            &height);
    for (uint32_t i = 0; i < self->servers.count; i++)
        describe(self, i);
    self->first = client_servers_scroll(height, self->first, self->servers.count, self->chosen);
    client_servers_draw(
        &screen, width, height, self->rows, self->first, self->servers.count, self->chosen,
        on->pads ? "Up, Down: choose      Enter, A: play      S, X: watch      Esc, B: leave"
                 : "Up, Down: choose      Enter: play      S: watch      Esc: leave");
    if (shot) on->is_shot = true;
    if (!client_window_end_frame(on->window, shot)) on->has_failed = true;
}

static void move(choice* self, int by) {
    const uint32_t count = self->servers.count;
    self->chosen = (self->chosen + (uint32_t)((int)count + by)) % count;
}

static void point(choice* self, const client_event* event) {
    float x = 0.0f, y = 0.0f, width = 0.0f, height = 0.0f;
    client_draw_to_canvas(client_window_canvases(self->on->window), CLIENT_CANVAS_SCREEN, event->x,
                          event->y, &x, &y);
    client_draw_canvas_size(client_window_canvases(self->on->window), CLIENT_CANVAS_SCREEN, &width,
                            &height);
    const uint32_t row =
        client_servers_row_at(width, height, self->first, self->servers.count, x, y);
    if (row == CLIENT_NO_ROW) return;
    self->is_over = row == self->chosen;
    self->chosen = row;
}

static void press(choice* self, const client_event* event) {
    if (client_event_has_key(event, "Up")) move(self, -1);
    if (client_event_has_key(event, "Down")) move(self, 1);
    if (client_event_has_key(event, "Home")) self->chosen = 0;
    if (client_event_has_key(event, "End")) self->chosen = self->servers.count - 1;
    if (event->is_repeat) return;
    self->is_watching = client_event_has_key(event, "S");
    self->is_over = self->is_watching || client_event_has_key(event, "Return,Keypad Enter");
    if (client_event_has_key(event, "Escape")) self->on->is_leaving = true;
}

// A frame may wait for the display, and an answer that comes meanwhile would be late: so there are
// few, and a ping is that of the line.
static bool is_frame_due(const choice* self, uint64_t now_us) {
    return now_us >= client_window_frame_due_us(self->on->window) &&
           (self->drawn_us == 0 || now_us - self->drawn_us >= FRAME_US);
}

static void choose(choice* self) {
    show* on = self->on;
    net_loop* loop = &on->program->loop;
    while (!self->is_over && !on->is_leaving) {
        uint64_t now_us = net_loop_now_us();
        if (net_loop_wait(loop, now_us + EVENTS_US)) on->is_leaving = true;
        client_event event;
        while (!self->is_over && client_window_next_event(self->on->window, &event)) {
            self->drawn_us = 0;
            if (event.kind == CLIENT_EVENT_CLOSE) self->on->is_leaving = true;
            show_see_pads(self->on, &event);
            if (event.kind == CLIENT_EVENT_PAD_DOWN) {
                if (event.key == client_pad_input("DPUp")) move(self, -1);
                if (event.key == client_pad_input("DPDown")) move(self, 1);
                self->is_watching = event.key == client_pad_input("X");
                self->is_over = self->is_watching || event.key == client_pad_input("A");
                if (event.key == client_pad_input("B")) self->on->is_leaving = true;
            }
            if (event.kind == CLIENT_EVENT_POINTER_DOWN) point(self, &event);
            if (event.kind == CLIENT_EVENT_KEY_DOWN) press(self, &event);
        }
        now_us = net_loop_now_us();
        client_ask_service(self->ask, now_us);
        // Without a person: a picture of the list, when all were asked.
        if (!on->is_interactive && client_ask_is_done(self->ask)) {
            draw(self, now_us, on->program->config.shot);
            on->is_leaving = true;
        }
        if (!is_frame_due(self, now_us)) continue;
        self->drawn_us = now_us;
        draw(self, now_us, NULL);
    }
}

int show_choose_server(show* on) {
    client_program* program = on->program;
    choice* self = base_allocate(NULL, sizeof *self);
    *self = (choice){.on = on};
    int code = NET_EXIT_USAGE;
    client_window_set_view(on->window, "Servers", 0.0f, 0.0f);
    if (client_ask_read(program, &self->servers)) {
        if (on->chosen_server < self->servers.count) self->chosen = on->chosen_server;
        self->ask = client_ask_create(program, &self->servers);
        code = NET_EXIT_CLEAN;
    }
    if (self->ask) choose(self);
    client_ask_destroy(self->ask);
    const client_server* chosen = &self->servers.entries[self->chosen];
    (void)base_text_copy(on->address, sizeof on->address, chosen->address);
    on->chosen_server = self->chosen;
    program->config.address = on->address;
    program->config.is_spectating = self->is_watching || on->only_watches;
    base_release(NULL, self, sizeof *self);
    return code;
}
