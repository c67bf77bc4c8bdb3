// SPDX-License-Identifier: MIT
// The keys that a person chooses: from the file when a game opens, and into it when the screen
// closes.
#include "show.h"

#include "base/text.h"
#include "net/socket.h"

// What is wrong with a name is reported once, although each person has controls.
static void use_bindings(show* on) {
    const base_reporter silent = {0};
    for (uint32_t i = 0; i < CLIENT_PEOPLE_MAX; i++)
        client_controls_change(&on->people[i].controls, on->bindings.actions, on->bindings.count,
                               i == 0 ? &on->program->reporter : &silent);
}

void show_bindings_open(show* on) {
    const net_game_module* game = on->program->module->game;
    char file[NET_GAME_NAME_BYTES_MAX + 8];
    client_bindings_init(&on->bindings, game);
    on->binder.is_open = false;
    on->bindings_file[0] = '\0';
    if (client_players_people(on->program) > 0 && game->action_count > 0 &&
        base_text_format(file, sizeof file, "%s.keys", game->name) &&
        client_config_place(&on->program->config, file, on->bindings_file,
                            sizeof on->bindings_file))
        (void)!client_bindings_read(&on->bindings, on->bindings_file, &on->program->reporter);
    use_bindings(on);
}

bool show_see_binder(show* on, const client_event* event) {
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

void show_open_binder(show* on) {
    on->has_help = false;
    for (uint32_t i = 0; i < on->people_count; i++)
        (void)client_controls_see(&on->people[i].controls,
                                  &(client_event){.kind = CLIENT_EVENT_FOCUS_LOST}, 0.0f, 0.0f);
    client_binder_open(&on->binder);
}
