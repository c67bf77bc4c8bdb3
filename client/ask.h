// SPDX-License-Identifier: MIT
/// Asks the servers of a list, again and again, which game they run and how many play.
#pragma once

#include "config/servers.h"
#include "program.h"

#define CLIENT_ASK_EVERY_MS 2000u ///< from an answer to the next question
#define CLIENT_ASKS_MAX 8u        ///< servers that are asked at the same time

typedef struct client_ask client_ask;

/// The last answer of one server.
typedef struct client_answer {
    bool has_answer;                    ///< the newest question was answered; `why` otherwise
    char game[NET_GAME_NAME_BYTES_MAX]; ///< untrusted, but a plain name
    net_server_info info;
    char why[128]; ///< ""; or why there is no answer, for a person. Both empty: asked now
} client_answer;

/// `servers` and the program's tokens must outlive it. Names are looked up by a thread of its own.
BASE_MUST_USE client_ask* client_ask_create(client_program* program, const client_servers* servers);
/// NULL does nothing.
void client_ask_destroy(client_ask* ask);
/// Ask, hear answers, set the sockets of the program's loop. Some times a second, and when one of
/// the sockets has something.
void client_ask_service(client_ask* ask, uint64_t now_us);
/// Borrowed.
const client_answer* client_ask_get(const client_ask* ask, uint32_t index);
/// Was each server asked, and did it answer or fail?
bool client_ask_is_done(const client_ask* ask);
/// `shoal-client --list`: ask each server of the list once, print a line for each.
/// @return the exit code: NET_EXIT_CONNECT when no server answered.
BASE_MUST_USE int client_ask_list(client_program* program);
/// Read the list of --servers, or the user's own. @return false: reported.
BASE_MUST_USE bool client_ask_read(client_program* program, client_servers* servers);
