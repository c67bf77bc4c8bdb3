// SPDX-License-Identifier: MIT
// The people at the window: what each of them sees, and what each of them does.
#include "show.h"

#include "ecs/debug.h"

#include "base/assert.h"

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
    *eyes = (client_eyes){.memory = &one->memory, .input = show_think, .input_context = one};
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
        net_result result = open_person(on, i, &eyes[i]);
        if (result != NET_OK) return result == NET_ERR_MEMORY ? NET_EXIT_RUNTIME : NET_EXIT_USAGE;
        on->people_count++;
        if (!client_player_is_person(program, i)) eyes[i].input = NULL;
    }
    return client_players_open(program, eyes, count);
}

bool show_join(show* on) {
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

void show_think(void* context, const net_player_context* player, void* input) {
    show_person* person = context;
    const net_game_module* game = person->on->program->module->game;
    ecs_running_call("human_text"); // until the client has looked at the memory
    if (person->said[0] && game->human_text) game->human_text(player, person->said);
    person->said[0] = '\0';
    net_controls controls = client_controls_take(&person->controls);
    ecs_running_call("human_input");
    if (game->human_input) game->human_input(player, &controls, input);
}
