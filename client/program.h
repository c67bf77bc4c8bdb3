// SPDX-License-Identifier: MIT
/// What the parts of shoal-client share: the program's state and its players.
#pragma once

#include "config/config.h"

#include "base/quota.h"
#include "host/output.h"
#include "host/keys.h"
#include "host/sentry.h"
#include "net/client.h"
#include "net/socket.h"
#include "net/match.h"

#include <stdio.h>

typedef struct client_player {
    char name[NET_PLAYER_NAME_BYTES_MAX];
    base_quota* memory; ///< of all that the server makes it keep; NULL with client_eyes.memory
    net_match* match;   ///< NULL: it is thin
    net_transport* transport;
    net_client* client;
    uint32_t watched; ///< of a spectator that comes back
    bool has_secret;  ///< another version of the game goes on: this player comes back with it
    uint8_t secret[NET_RESUME_BYTES];
    uint64_t ticks;     ///< ticks since the first state of the match came
    net_module* module; ///< the program's; NULL: its first one
    bool has_eyes;      ///< a window shows it; all such players follow a transfer together
    bool is_asking;     ///< asks the next server for its game
    bool is_stuck;      ///< it cannot go on
    net_transfers transfers;
    char address[NET_TRANSFER_ADDRESS_BYTES]; ///< after a transfer, as
    net_token token;
    bool has_token;
} client_player;

#define CLIENT_GAMES_MAX 16u ///< that players of one process go on to

typedef struct client_local client_local;   ///< local.c
typedef struct client_faults client_faults; ///< show_picture.c

typedef struct client_program {
    base_owner owner;
    const struct client_parts* parts;
    client_config config;
    base_reporter reporter;
    net_loop loop;
    net_sentry* sentry; ///< NULL: none could be had
    net_module* module;
    client_local* local;   ///< NULL: the server is elsewhere
    client_faults* faults; ///< for its window; NULL: there is none
    bool wants_reload; ///< the server goes on with another version of the game: close the players,
                       ///< then client_program_reload, then open them again
    bool wants_follow; ///< with wants_reload: the window follows a transfer
    net_module* reloaded;                ///< with wants_reload: another version of this game
    net_module* games[CLIENT_GAMES_MAX]; ///< besides `module`, that players went on to
    uint32_t game_count;
    net_match* like; ///< of the first player: other matches of its game have its schema
    int code;        ///< the worst exit code of the sessions that players went on from
    bool has_failed; ///< so the program ends
    uint64_t dropped[NET_DROP_COUNT];   ///< of all sessions that are over
    char game[NET_GAME_NAME_BYTES_MAX]; ///< the name that the server sent
    net_host_tokens tokens;
    net_match* thin_match;  ///< of all thin bots; NULL: there are none
    client_player* players; ///< the thin bots are the last
    uint32_t player_count, player_capacity;
    void* trace;                   ///< FILE*; NULL: no --trace
    struct net_log_writer* record; ///< NULL: nothing is recorded yet
    ecs_tick recorded_tick;        ///< the newest
    bool has_record_failed;
    void* session_trace; ///< FILE*; NULL: no --debug trace-session
} client_program;

/// Who sees what a player sees. A person at the window gives its inputs too.
typedef struct client_eyes {
    net_presenter* presenter;
    base_quota* memory;        ///< of presenter and player
    net_client_input_fn input; ///< NULL: the game's bot gives the inputs
    void* input_context;
} client_eyes;

/// Open the game of --game, or ask the server for its game and open that. `idle` is called about
/// every 10 ms meanwhile, and says false when the user wants to stop; NULL: nothing is.
/// @return NET_EXIT_CLEAN; any other exit code: the error has been reported, and the program ends.
BASE_MUST_USE int client_program_open_game(client_program* program, bool (*idle)(void* context),
                                           void* context);

/// Open a socket for player `index`, with its token.
/// @return as net_transport_enet_create.
BASE_MUST_USE net_result client_program_open_transport(const client_program* program,
                                                       uint32_t index, net_transport** transport);
/// From now on the loop waits for the sockets of `transport` too.
void client_program_gather(net_loop* loop, net_transport* transport);
/// Go on with the game's files as they are now, or with wants_follow with the game of the server to
/// which the first player goes. The players are closed. `idle` as above.
/// @return as above.
BASE_MUST_USE int client_program_reload(client_program* program, bool (*idle)(void* context),
                                        void* context);
/// Close its games.
void client_program_close_games(client_program* program);
/// Where a player plays.
const char* client_player_address(const client_program* program, uint32_t index);

/// Is player `index` played by a person at the window?
bool client_player_is_person(const client_program* program, uint32_t index);
/// Does player `index` only watch?
bool client_player_is_spectator(const client_program* program, uint32_t index);
/// @return how many people play or watch at the window.
uint32_t client_players_people(const client_program* program);
/// Create all players and connect them. `eyes` belong to the first `eyes_count` players.
/// @return NET_EXIT_CLEAN; any other exit code: the error has been reported, and the program ends.
BASE_MUST_USE int client_players_open(client_program* program, const client_eyes* eyes,
                                      uint32_t eyes_count);
/// With --local one more person comes while the others play: the last of the people.
/// @return as above; after an error the others go on.
BASE_MUST_USE int client_players_join(client_program* program, const client_eyes* eyes);
/// Destroy all players; those that come back (wants_reload) keep their connections and secrets. The
/// server gets no goodbye: call client_players_leave first.
void client_players_close(client_program* program);
/// Receive packets for all players. @return false when every session has ended.
BASE_MUST_USE bool client_players_service(client_program* program, uint64_t now_us);
/// @return the time at which the players need the next call, at most 10 ms after `now_us`.
uint64_t client_players_due_us(const client_program* program, uint64_t now_us);
/// Run the ticks that are due until `now_us` + `early_us`. A player that has played its --ticks
/// leaves.
void client_players_tick(client_program* program, uint64_t now_us, uint64_t early_us);
/// Tell the server that all players leave. Their sessions end when the server has answered.
void client_players_leave(client_program* program, uint64_t now_us);
/// Play until all sessions have ended.
void client_players_run(client_program* program);
/// Call it after the sessions have ended: send the packets that are still under way, print the line
/// of each client, write --dump-world. @return the exit code.
BASE_MUST_USE int client_players_finish(client_program* program);

/// `shoal-client ADDR --render`: what one player sees, in a window or drawn without a display.
/// @return the exit code of the program.
BASE_MUST_USE int client_window_play(client_program* program);
/// From now on the program keeps the faults in the game's files that it reports, from any thread.
void client_window_keep_faults(client_program* program);
void client_window_clear_faults(client_faults* faults); ///< another version begins

/// --record: what the first player sees, as a log. A net_client_stepped_fn.
bool client_record_step(void* program);
/// Before the first match goes. @return NET_EXIT_CLEAN; NET_EXIT_RUNTIME: the record is not whole
/// (reported).
int client_record_close(client_program* program);

// --local: a server of its own in this process, on a free port of loopback. The players connect to
// it as to any server, over real sockets, so what is seen is what a network game does. It has a
// thread of its own. When the game's files changed and are quiet again, the match goes on with
// them, and its players are asked again. Files with a fault change nothing: it is reported.

/// Open the server of --game, and let the program's players connect to it. The caller closes it
/// after the players and before the module.
/// @return NET_EXIT_CLEAN; any other exit code: the error has been reported, and the program ends.
BASE_MUST_USE int client_local_open(client_program* program, client_local** local);
/// Wait for its thread; `loop` says when the user will not. A tick that does not come back ends the
/// process then (reported). NULL does nothing.
void client_local_close(client_local* local, net_loop* loop);
/// The game with which the match goes on. The players have the one before until they are closed;
/// the caller closes that one then. NULL: it is still theirs.
net_module* client_local_take(client_local* local);

/// What this client has beside the core. NULL: that part is left out.
typedef struct client_parts {
    const struct net_solo* solo;
    bool (*record_step)(void* program); ///< log
    int (*close_record)(client_program* program);
    int (*replay)(const client_config* config, const base_reporter* reporter, net_loop* loop);
    int (*list)(client_program* program);
    int (*open_local)(client_program* program, client_local** local);
    void (*close_local)(client_local* local, net_loop* loop);
    net_module* (*take_local)(client_local* local);
    int (*show)(client_program* program);
    void (*keep_faults)(client_program* program);
    void (*clear_faults)(client_faults* faults);
} client_parts;
extern const client_parts client_parts_here; ///< parts.c
