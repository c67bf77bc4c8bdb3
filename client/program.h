// SPDX-License-Identifier: MIT
/// What the parts of shoal-client share: the program's state, its players, its exit codes.
#pragma once

#include "config.h"

#include "net/client.h"
#include "net/loop.h"
#include "net/presenter.h"

#include <stdio.h>

enum {
    CLIENT_EXIT_CLEAN = 0,
    CLIENT_EXIT_RUNTIME = 1,
    CLIENT_EXIT_USAGE = 2,
    CLIENT_EXIT_MISMATCH = 4,
    CLIENT_EXIT_CONNECT = 6,
};

typedef struct client_player {
    char name[NET_PLAYER_NAME_BYTES_MAX];
    net_match* match;
    net_transport* transport;
    net_client* client;
    uint64_t ticks; ///< with a state of the match
} client_player;

typedef struct client_program {
    client_config config;
    base_reporter reporter;
    net_loop loop;
    net_module* module;
    char game[NET_GAME_NAME_BYTES_MAX]; ///< as the server says
    client_player* players;
    uint32_t player_count;
    FILE* trace;
} client_program;

/// Called now and then while nothing else happens. @return false: the user wants to stop.
typedef struct client_idle {
    bool (*call)(void* context);
    void* context;
} client_idle;

/// Who looks through the first player's eyes and moves its hands.
typedef struct client_eyes {
    net_presenter* presenter;
    net_client_input_fn input; ///< NULL: the game's bot
    void* input_context;
} client_eyes;

/// Open the module: the one of --game, or the one that the server names when asked. `idle` may be NULL.
/// @return CLIENT_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int client_program_open_game(client_program* program, const client_idle* idle);

/// Make all players; `eyes` (may be NULL) are the first one's. @return as above.
BASE_MUST_USE int client_players_open(client_program* program, const client_eyes* eyes);
/// Let go of them; without a word to the server.
void client_players_close(client_program* program);
/// @return false when every session has ended.
BASE_MUST_USE bool client_players_service(client_program* program, uint64_t now_us);
/// When there is something to do for the players, as far as is known at `now_us`.
uint64_t client_players_due_us(const client_program* program, uint64_t now_us);
/// Tick whoever is due within `early_us`; players who had their --ticks leave.
void client_players_tick(client_program* program, uint64_t now_us, uint64_t early_us);
void client_players_leave(client_program* program, uint64_t now_us);
/// Play until all sessions have ended.
void client_players_run(client_program* program);
/// After the end: what is still under way, the line of each, --dump-world. @return the exit code.
BASE_MUST_USE int client_players_finish(client_program* program);
