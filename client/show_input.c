// SPDX-License-Identifier: MIT
// The people, their keys and pointer: what the game uses is its own, the rest is the window's.
#include "show.h"

#include "base/text.h"
#include "ecs/debug.h"
#include "net/socket.h"

#include <string.h>

// ---- the people: what each of them sees, and what each of them does ----

static void think(void* context, const net_player_context* player, void* input) {
    show_person* person = context;
    const net_game_module* game = person->on->program->module->game;
    ecs_running_call("human_text"); // until the client has looked at the memory
    if (person->said[0] && game->human_text) game->human_text(player, person->said);
    person->said[0] = '\0';
    net_controls controls = client_controls_take(&person->controls);
    // A camera that moves changes where a pointer that rests is in the game.
    client_draw_to_game(client_window_canvases(person->on->window), controls.pointer_x,
                        controls.pointer_y, &controls.pointer_x, &controls.pointer_y);
    ecs_running_call("human_input");
    if (game->human_input) game->human_input(player, &controls, input);
}

// The view of one who sees something.
static net_result open_person(show* on, uint32_t index, client_eyes* eyes) {
    client_program* program = on->program;
    show_person* one = &on->people[index];
    one->on = on;
    one->said[0] = '\0';
    base_quota_init(&one->memory, NULL, NET_CLIENT_BYTES_MAX);
    const net_presenter_config config = {.allocator = &one->memory.allocator,
                                         .module = program->module,
                                         .is_predicting =
                                             !client_player_is_spectator(program, index)};
    *eyes = (client_eyes){.memory = &one->memory, .input = think, .input_context = one};
    net_result result = net_presenter_create(&config, &program->reporter, &one->presenter);
    if (result == NET_OK) eyes->presenter = one->presenter;
    return result;
}

int show_open_people(show* on) {
    client_program* program = on->program;
    const uint32_t people = client_players_people(program);
    const uint32_t count = people > 0 ? people : 1;
    client_eyes eyes[CLIENT_PEOPLE_MAX];
    BASE_ASSERT(count <= CLIENT_PEOPLE_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (open_person(on, i, &eyes[i]) != NET_OK) return NET_EXIT_USAGE;
        on->people_count++;
        if (!client_player_is_person(program, i)) eyes[i].input = NULL;
    }
    return client_players_open(program, eyes, count);
}

static bool open_one_more(show* on) {
    const uint32_t index = on->people_count;
    client_eyes eyes;
    BASE_ASSERT(index > 0 && index < CLIENT_PEOPLE_MAX);
    if (open_person(on, index, &eyes) != NET_OK) return false; // reported
    if (client_players_join(on->program, &eyes) != NET_EXIT_CLEAN) {
        net_presenter_destroy(on->people[index].presenter);
        return false;
    }
    on->people_count++;
    return true;
}

// ---- keys and pointer ----

// Does the game take lines now? One that waits for a tick comes first.
static bool can_talk(const show* on) {
    return on->program->module && on->program->module->game->human_text && on->people_count > 0 &&
           client_player_is_person(on->program, 0) && !on->people[0].said[0] &&
           net_client_get_phase(show_player(on, 0)->client) == NET_CLIENT_PLAYING;
}

void show_close_line(show* on) {
    on->line.is_open = false;
    client_window_type(on->window, false);
}

static bool see_line(show* on, const client_event* event) {
    if (!on->line.is_open) return false;
    const client_line_result result = client_line_see(&on->line, event);
    if (result == CLIENT_LINE_DONE) memcpy(on->people[0].said, on->line.text, sizeof on->line.text);
    if (!on->line.is_open) show_close_line(on);
    return result != CLIENT_LINE_IGNORED;
}

// ---- the keys that a person chooses: from the file when a game opens, and into it when the screen
// closes ----

// What is wrong with a name is reported once, although each person has controls.
static void use_bindings(show* on) {
    const base_reporter silent = {0};
    for (uint32_t i = 0; i < CLIENT_PEOPLE_MAX; i++)
        client_controls_change(&on->people[i].controls, on->bindings.actions, on->bindings.count,
                               i == 0 ? &on->program->reporter : &silent);
}

void show_bindings_open(show* on) {
    const net_game_module* game = on->program->module->game;
    const net_label* labels = on->program->module->labels;
    char file[NET_GAME_NAME_BYTES_MAX + 8];
    client_bindings_init(&on->bindings, game);
    for (uint32_t i = 0; i < on->bindings.count; i++)
        if (labels[i].text[0])
            on->bindings.actions[i].name = on->bindings.actions[i].help = labels[i].text;
    on->binder.is_open = false;
    on->bindings_file[0] = '\0';
    if (client_players_people(on->program) > 0 && game->action_count > 0 &&
        base_text_format(file, sizeof file, "%s.keys", game->name) &&
        client_config_place(&on->program->config, file, on->bindings_file,
                            sizeof on->bindings_file))
        (void)!client_bindings_read(&on->bindings, on->bindings_file, &on->program->reporter);
    use_bindings(on);
}

static bool see_binder(show* on, const client_event* event) {
    if (!on->binder.is_open) return false;
    const bool is_taken = client_binder_see(&on->binder, &on->bindings, event);
    if (on->binder.is_open || !on->binder.is_changed) return is_taken;
    use_bindings(on);
    if (!on->bindings_file[0] ||
        !client_bindings_write(&on->bindings, on->bindings_file, &on->program->reporter)) {
        (void)base_text_copy(on->notice, sizeof on->notice,
                             "The keys could not be kept: they are for this session.");
        on->notice_us = net_loop_now_us();
    }
    return is_taken;
}

// ---- what keys do ----

static void press(show* on, const client_event* event) {
    if (client_event_has_key(event, "F1")) {
        on->has_panel = !on->has_panel;
    } else if (client_event_has_key(event, "F2,H")) {
        on->has_help = !on->has_help;
    } else if (client_event_has_key(event, "Escape")) {
        if (!on->has_help) on->is_leaving = true;
        on->has_help = false;
    } else if (client_event_has_key(event, "F3") && on->people_count > 0 &&
               on->bindings.count > 0 && client_player_is_person(on->program, 0)) {
        on->has_help = false;
        for (uint32_t i = 0; i < on->people_count; i++)
            (void)client_controls_see(&on->people[i].controls,
                                      &(client_event){.kind = CLIENT_EVENT_FOCUS_LOST}, 0.0f, 0.0f);
        client_binder_open(&on->binder);
    } else if (can_talk(on) && client_event_has_key(event, "T,Return,Keypad Enter")) {
        // The game's keys are let go: their ends may come while one types.
        (void)client_controls_see(&on->people[0].controls,
                                  &(client_event){.kind = CLIENT_EVENT_FOCUS_LOST}, 0.0f, 0.0f);
        client_line_open(&on->line);
        client_window_type(on->window, true);
    } else if (client_event_has_key(event, "Return,Keypad Enter")) {
        on->wants_again = true;
    } else if (client_event_has_key(event, "M")) {
        client_sound_mute(on->sound);
    }
}

// Whose a new game controller is. The first person has the keys, so the others get one first.
static uint32_t choose_person(const show* on) {
    for (uint32_t person = 1; person < on->program->config.people; person++) {
        bool has_one = false;
        for (uint32_t pad = 0; pad < CLIENT_PADS_MAX; pad++)
            has_one |= (on->pads >> pad & 1u) != 0 && on->pad_person[pad] == person;
        if (!has_one) return person;
    }
    return 0;
}

// Can the pad bring one more person? Not the only one of a person who plays with it.
static bool can_join(const show* on, uint32_t pad, bool is_in_use) {
    bool is_only = true;
    for (uint32_t i = 0; i < CLIENT_PADS_MAX; i++)
        if (i != pad && (on->pads >> i & 1u) != 0 && on->pad_person[i] == 0) is_only = false;
    return on->program->local && on->people_count > 0 && on->people_count < CLIENT_PEOPLE_MAX &&
           on->pad_person[pad] == 0 && !(is_only && is_in_use) &&
           client_player_is_person(on->program, 0) &&
           net_client_get_phase(show_player(on, 0)->client) == NET_CLIENT_PLAYING;
}

static void join(show* on, uint32_t pad) {
    const uint32_t person = on->people_count;
    if (!open_one_more(on)) return;
    on->pad_person[pad] = person;
    client_controls_init(&on->people[person].controls, on->bindings.actions, on->bindings.count,
                         &(base_reporter){0});
    // What the first person held on this pad.
    (void)client_controls_see(&on->people[0].controls,
                              &(client_event){.kind = CLIENT_EVENT_PAD_GONE}, 0.0f, 0.0f);
    (void)base_text_format(on->notice, sizeof on->notice, "%s plays, too",
                           show_player(on, person)->name);
    on->notice_us = net_loop_now_us();
}

// A game controller that comes or goes, also while one plays.
void show_see_pads(show* on, const client_event* event) {
    const bool has_come = event->kind == CLIENT_EVENT_PAD_CAME;
    if (!has_come && event->kind != CLIENT_EVENT_PAD_GONE) return;
    BASE_ASSERT(event->pad < CLIENT_PADS_MAX);
    if (has_come) on->pad_person[event->pad] = choose_person(on);
    const uint32_t bit = 1u << event->pad;
    on->pads = has_come ? on->pads | bit : on->pads & ~bit;
    const char* name = client_window_pad_name(on->window, event->pad);
    char whose[48] = "";
    if (has_come && can_join(on, event->pad, false))
        (void)base_text_copy(whose, sizeof whose, " (Start: one more player)");
    else if (on->program->config.people > 1)
        (void)base_text_format(whose, sizeof whose, " (player %u)", on->pad_person[event->pad] + 1);
    (void)base_text_format(
        on->notice, sizeof on->notice, "%s: %s%s", name ? name : "Game controller",
        has_come ? "a game controller is here" : "the game controller is gone", whose);
    on->notice_us = net_loop_now_us();
}

// What a person does with the game. Keys and pointer are the first person's.
static bool see_play(show* on, const client_event* event) {
    const bool is_pad = event->kind == CLIENT_EVENT_PAD_GONE ||
                        event->kind == CLIENT_EVENT_PAD_DOWN ||
                        event->kind == CLIENT_EVENT_PAD_UP || event->kind == CLIENT_EVENT_PAD_AXIS;
    const uint32_t person = is_pad ? on->pad_person[event->pad] : 0;
    return client_controls_see(&on->people[person].controls, event, event->x, event->y);
}

// ---- who only watches: another player is chosen, and the game gets no keys ----

bool show_is_watching(const show* on) {
    return client_player_is_spectator(on->program, 0);
}

// 0: there is none.
static uint32_t player_before(const net_client* client, uint32_t number) {
    uint32_t before = 0, last = 0;
    for (uint32_t at = 0; (at = net_client_next_player(client, at)) != 0; last = at)
        if (at < number) before = at;
    return before ? before : last;
}

static uint32_t player_after(const net_client* client, uint32_t number) {
    const uint32_t next = net_client_next_player(client, number);
    return next ? next : net_client_next_player(client, 0);
}

static bool see_watching(show* on, const client_event* event) {
    const bool is_pad = event->kind == CLIENT_EVENT_PAD_DOWN;
    if (!on->program->players || (event->kind != CLIENT_EVENT_KEY_DOWN && !is_pad)) return false;
    net_client* client = show_player(on, 0)->client;
    const uint32_t watched = net_client_watched(client);
    uint32_t wanted = 0;
    if (is_pad ? event->key == client_pad_input("DPRight")
               : client_event_has_key(event, "Right,Tab"))
        wanted = player_after(client, watched);
    else if (is_pad ? event->key == client_pad_input("DPLeft")
                    : client_event_has_key(event, "Left"))
        wanted = player_before(client, watched);
    else
        return false;
    if (wanted && wanted != watched) net_client_watch(client, wanted);
    return true;
}

void show_see_events(show* on) {
    client_event event;
    on->wants_again = false;
    while (client_window_next_event(on->window, &event)) {
        if (event.kind == CLIENT_EVENT_CLOSE) on->is_closed = on->is_leaving = true;
        show_see_pads(on, &event);
        if (see_line(on, &event) || see_binder(on, &event)) continue;
        // A key that the game uses belongs to the game.
        const bool is_pad = on->people[0].controls.is_pad;
        if (show_is_watching(on) ? see_watching(on, &event) : see_play(on, &event)) continue;
        if (event.kind == CLIENT_EVENT_PAD_DOWN && event.key == client_pad_input("Start") &&
            can_join(on, event.pad, is_pad))
            join(on, event.pad);
        if (event.kind == CLIENT_EVENT_KEY_DOWN && !event.is_repeat) press(on, &event);
    }
}
