// SPDX-License-Identifier: MIT
// A player in a page: net/client with the page's connection, its keys, and what the game draws and
// sounds. The page calls play_frame for each picture; all else happens in there.
#include "web_socket.h"
#include "web_state.h"

#include "base/json.h"
#include "base/text.h"
#include "net/solo.h"

#include <string.h>

static uint64_t us_of(double ms) {
    return (uint64_t)(ms * 1e3);
}

// ---- the person ----

// What was down between two inputs, even for a moment, counts once.
static void think(void* context, const net_player_context* player, void* input) {
    web_play* play = context;
    if (play->input_bytes > 0) {
        memcpy(input, play->input, play->input_bytes);
        return;
    }
    net_controls controls = play->controls;
    if (play->said[0] && play->game->human_text) play->game->human_text(player, play->said);
    play->said[0] = 0;
    for (uint32_t i = 0; i < controls.action_count; i++) {
        play->was_pressed[i] = play->pressed[i];
        play->given[i] = play->held[i] || play->pressed[i];
        play->pressed[i] = false;
    }
    controls.size_bytes = sizeof controls;
    controls.actions = play->given;
    controls.pressed = play->was_pressed;
    controls.buttons |= controls.buttons_pressed;
    controls.pointer_down = (controls.buttons >> NET_BUTTON_LEFT & 1u) != 0;
    // The page knows the view; what the picture's first camera shows there is the game's.
    const web_drawing* drawing = &play->page->drawing;
    if (drawing->zoom != 0.0f) {
        controls.pointer_x = (controls.pointer_x - drawing->left) / drawing->zoom;
        controls.pointer_y = (controls.pointer_y - drawing->top) / drawing->zoom;
    }
    if (play->game->human_input) play->game->human_input(player, &controls, input);
    play->controls.is_pointer_moved = false;
    play->controls.buttons_pressed = 0;
    play->controls.wheel = 0;
}

static const char* name_of_player(const void* client, uint32_t number) {
    return net_client_player_name(client, number);
}

static void note_play(web* self, net_result result) {
    const web_play* play = self->play;
    web_note(self, result);
    if (!play || !play->client) return;
    self->state[WEB_PHASE] = net_client_get_phase(play->client);
    self->state[WEB_END] = net_client_get_end(play->client);
    self->state[WEB_CLIENT] = net_client_number(play->client);
    self->state[WEB_HEARD] = (double)(uintptr_t)play->heard;
}

// ---- opening ----

/// Room for bytes of the next call: texts of play_begin and play_say, a message.
WEB_EXPORT(room) uint8_t* web_room(web* self, uint32_t size);
uint8_t* web_room(web* self, uint32_t size) {
    base_bytes_clear(&self->room);
    return base_bytes_extend(&self->room, size);
}

static net_result create_client(web* self, web_play* play) {
    const base_allocator* memory = &play->memory.allocator;
    net_match_config match = net_match_config_default(self->module);
    match.allocator = memory;
    match.role = NET_ROLE_MIRROR;
    net_result result = net_match_create(&match, &self->reporter, &play->match);
    if (result != NET_OK) return result;
    const net_presenter_config presenter = {
        .allocator = memory, .module = self->module, .is_predicting = true};
    result = net_presenter_create(&presenter, &self->reporter, &play->presenter);
    if (result != NET_OK) return result;
    const net_client_config config = {
        .allocator = memory,
        .match = play->match,
        .transport = play->transport,
        .address = "the page's server:0",
        .name = play->name,
        .input = think,
        .input_context = play,
        .stepped = web_read_stepped,
        .stepped_context = self,
        .presenter = play->presenter,
        .secret = play->has_secret ? play->secret : NULL,
        .solo = &net_solo_part,
        .reporter = &self->reporter,
    };
    play->client = net_client_create(&config);
    return NET_OK;
}

// One text of the room, to its NUL; what does not fit is cut.
static void read_text(base_reader* from, char* text, size_t bytes) {
    size_t size = 0;
    for (uint8_t letter; (letter = base_reader_u8(from)) != 0;)
        if (size + 1 < bytes) text[size++] = (char)letter;
    text[size] = 0;
}

/// Begin to play. The room has the player's name and a token, each with a NUL, and may have the
/// secret of a session that goes on (play_secret). The token may be empty.
WEB_EXPORT(play_begin) void web_play_begin(web* self);
void web_play_begin(web* self) {
    web_clear_answers(self);
    if (self->failure != NET_OK || self->play) {
        web_note(self, self->failure);
        return;
    }
    web_play* play = base_allocate_zero(NULL, sizeof *play);
    self->play = play;
    play->page = self;
    base_reader texts = base_reader_make(self->room.data, self->room.size);
    read_text(&texts, play->name, sizeof play->name);
    read_text(&texts, play->token, sizeof play->token);
    play->has_secret = base_reader_read(&texts, play->secret, sizeof play->secret);
    base_quota_init(&play->memory, NULL, NET_CLIENT_BYTES_MAX);
    play->game = self->module->game;
    play->controls.action_count = play->game->action_count;
    play->transport = web_socket_create(play->token, play->later);
    const net_result result = create_client(self, play);
    if (result != NET_OK) self->failure = result; // this page cannot play
    note_play(self, result);
}

/// What a page shows for keys and sounds, as JSON.
WEB_EXPORT(play_tables) void web_play_tables(web* self);
void web_play_tables(web* self) {
    web_clear_answers(self);
    const net_game_module* game = self->module ? self->module->game : NULL;
    base_bytes* json = &self->answer;
    base_json_write(json, "{actions=[");
    for (uint32_t i = 0; game && i < game->action_count; i++) {
        const net_action* action = &game->actions[i];
        const char* label = self->module->labels[i].text;
        base_json_write(json, "{name=%s label=%s keys=%s pads=%s help=%s}", action->name,
                        label[0] ? label : action->name, action->keys, action->pads,
                        label[0] ? label : action->help);
    }
    base_json_write(json, "] sounds=[");
    for (uint32_t i = 0; game && i < game->sound_count; i++)
        base_json_write(json, "%s", game->sounds[i].file);
    base_json_write(json, "] music=%s musicVolume=%g cursor=%d hasText=%i hasInput=%i}",
                    game ? game->music : NULL, game ? (double)game->music_volume : 0.0,
                    game ? (int)game->cursor : 0, game && game->human_text,
                    game && game->human_input);
    web_note(self, NET_OK);
}

// ---- the connection ----

WEB_EXPORT(socket_opened) void web_opened(web* self);
void web_opened(web* self) {
    if (self->play) web_socket_opened(self->play->transport);
}

/// A message came; it is the room's bytes.
WEB_EXPORT(socket_received) void web_received(web* self);
void web_received(web* self) {
    if (self->play) web_socket_received(self->play->transport, self->room.data, self->room.size);
}

WEB_EXPORT(socket_closed) void web_closed(web* self, uint32_t reason);
void web_closed(web* self, uint32_t reason) {
    if (self->play) web_socket_closed(self->play->transport, reason);
}

// ---- controls ----

WEB_EXPORT(play_action) void web_play_action(web* self, uint32_t action, uint32_t is_down);
void web_play_action(web* self, uint32_t action, uint32_t is_down) {
    web_play* play = self->play;
    if (!play || action >= play->controls.action_count) return;
    if (is_down && !play->held[action]) play->pressed[action] = true;
    play->held[action] = is_down != 0;
    play->controls.is_pad = play->controls.is_pad && !is_down;
}

/// The pointer in view coordinates, bits of net_button and NET_MODIFIER_... `has_pointer` 0: it is
/// not over the picture.
WEB_EXPORT(play_pointer)
void web_play_pointer(web* self, float x, float y, uint32_t buttons, uint32_t modifiers,
                      uint32_t has_pointer);
void web_play_pointer(web* self, float x, float y, uint32_t buttons, uint32_t modifiers,
                      uint32_t has_pointer) {
    web_play* play = self->play;
    if (!play) return;
    net_controls* controls = &play->controls;
    controls->is_pointer_moved |= x != controls->pointer_x || y != controls->pointer_y;
    controls->pointer_x = x;
    controls->pointer_y = y;
    controls->buttons_pressed |= buttons & ~controls->buttons;
    controls->buttons = buttons;
    controls->modifiers = modifiers;
    controls->has_pointer = has_pointer != 0;
    controls->is_pad = false;
}

/// Steps of the wheel; above 0: away from the person.
WEB_EXPORT(play_wheel) void web_play_wheel(web* self, int32_t steps);
void web_play_wheel(web* self, int32_t steps) {
    if (self->play) self->play->controls.wheel += steps;
}

/// The sticks of a controller, or those on the screen: -1 to 1, without what counts as the middle.
WEB_EXPORT(play_sticks)
void web_play_sticks(web* self, float move_x, float move_y, float aim_x, float aim_y);
void web_play_sticks(web* self, float move_x, float move_y, float aim_x, float aim_y) {
    if (!self->play) return;
    net_controls* controls = &self->play->controls;
    controls->move_x = move_x;
    controls->move_y = move_y;
    controls->aim_x = aim_x;
    controls->aim_y = aim_y;
    controls->is_pad =
        controls->is_pad || move_x != 0.0f || move_y != 0.0f || aim_x != 0.0f || aim_y != 0.0f;
}

/// The person wrote the room's bytes: a line of chat.
WEB_EXPORT(play_say) void web_play_say(web* self);
void web_play_say(web* self) {
    web_play* play = self->play;
    if (!play || self->room.size >= sizeof play->said) return;
    size_t size = 0;
    for (size_t i = 0; i < self->room.size; i++)
        if (self->room.data[i] >= 0x20 && self->room.data[i] != 0x7f)
            play->said[size++] = (char)self->room.data[i];
    play->said[size] = 0;
}

// ---- a frame ----

/// Receive, run the ticks that are due, and draw when `pixels_per_unit` is not 0; below 0 the page
/// draws what it reads (read.c). While a page is hidden it calls this some times a second, without
/// a picture. A text has `text_pixels` at least. `is_upright`: the upright view is shown. The
/// answer is the events that came.
WEB_EXPORT(play_frame)
void web_play_frame(web* self, double now_ms, double pixels_per_unit, double text_pixels,
                    uint32_t is_upright);
void web_play_frame(web* self, double now_ms, double pixels_per_unit, double text_pixels,
                    uint32_t is_upright) {
    web_play* play = self->play;
    web_clear_answers(self);
    if (!play || self->failure != NET_OK) {
        web_note(self, self->failure);
        return;
    }
    const uint64_t now_us = us_of(now_ms);
    if (play->begun_ms == 0.0) play->begun_ms = play->drawn_ms = now_ms;
    net_client_service(play->client, now_us);
    net_client_catch_up(play->client, now_us);
    const bool has_picture = pixels_per_unit != 0.0 && net_presenter_frame(play->presenter, now_us);
    self->state[WEB_HEARD_COUNT] = 0;
    self->drawing.text_pixels = (float)text_pixels;
    if (has_picture && pixels_per_unit > 0.0) {
        const net_heard* heard;
        const uint32_t count = net_match_hear(net_presenter_match(play->presenter),
                                              net_client_player(play->client), &heard);
        for (uint32_t i = 0; i < count; i++) {
            play->heard[2 * i] = (float)heard[i].sound;
            play->heard[2 * i + 1] = heard[i].volume;
        }
        self->state[WEB_HEARD_COUNT] = count;
        const double since_ms = now_ms - play->drawn_ms;
        net_draw draw = web_drawing_begin(&self->drawing, play->game, (float)pixels_per_unit);
        if (is_upright) {
            draw.view_width = self->drawing.view_width = play->game->upright_width;
            draw.view_height = self->drawing.view_height = play->game->upright_height;
        }
        draw.player = net_client_player(play->client);
        draw.time_s = (now_ms - play->begun_ms) * 1e-3;
        draw.frame_dt_s = since_ms < 100.0 ? (float)since_ms * 1e-3f : 0.1f;
        draw.tick = net_presenter_tick(play->presenter);
        self->drawing.names = play->client;
        self->drawing.name = name_of_player;
        play->drawn_ms = now_ms;
        net_presenter_draw(play->presenter, &draw);
    }
    note_play(self, NET_OK); // with what the picture reported
    self->state[WEB_IS_READY] = has_picture;
    self->state[WEB_TICK] = (double)net_client_tick_newest(play->client);
}

/// The secret of the session, by which the next page continues it; nothing while there is none.
WEB_EXPORT(play_secret) void web_play_secret(web* self);
void web_play_secret(web* self) {
    uint8_t secret[NET_RESUME_BYTES];
    web_clear_answers(self);
    if (self->play && self->play->client && net_client_secret(self->play->client, secret))
        base_bytes_write(&self->answer, secret, sizeof secret);
    note_play(self, NET_OK);
}

/// Say goodbye; frames go on until the end.
WEB_EXPORT(play_leave) void web_play_leave(web* self, double now_ms);
void web_play_leave(web* self, double now_ms) {
    web_clear_answers(self);
    if (self->play && self->play->client) net_client_leave(self->play->client, us_of(now_ms));
    note_play(self, NET_OK);
}

// ---- what there is to know ----

/// What a person reads now, as JSON: why it ended, that the match stands still, how the line is.
WEB_EXPORT(play_about) void web_play_about(web* self);
void web_play_about(web* self) {
    web_clear_answers(self);
    web_play* play = self->play;
    if (!play || !play->client) {
        note_play(self, self->failure);
        return;
    }
    char text[256];
    net_client_meter meter;
    net_presenter_meter shown;
    base_bytes* json = &self->answer;
    const net_transfer* to = net_client_get_transfer(play->client);
    net_client_get_meter(play->client, &meter);
    net_presenter_get_meter(play->presenter, &shown);
    (void)net_client_refusal(play->client, text, sizeof text);
    base_json_write(
        json,
        "{transfer={page=%s token=%s why=%s} refusal=%s still=%s token=%s later=%s rttMs=%.1f "
        "lossPercent=%.2f inBytes=%ju "
        "outBytes=%ju resumes=%u delayMs=%.1f leadMs=%.1f corrections=%ju frames=%ju stalls=%ju}",
        to ? to->page : "", to ? to->token : "", to ? to->why : "", text,
        net_client_still(play->client), play->token, play->later, meter.rtt_ms, meter.loss_percent,
        meter.in_bytes, meter.out_bytes, meter.resumes, shown.delay_ms, shown.lead_ms,
        shown.corrections, shown.frames, shown.stalls);
    note_play(self, NET_OK);
}

/// The line that programs print of a client at its end, in the answer.
WEB_EXPORT(play_line) void web_play_line(web* self);
void web_play_line(web* self) {
    web_clear_answers(self);
    char line[NET_CLIENT_LINE_BYTES];
    if (self->play && self->play->client && net_client_line(self->play->client, line, sizeof line))
        base_bytes_write(&self->answer, line, strlen(line));
    note_play(self, NET_OK);
}
