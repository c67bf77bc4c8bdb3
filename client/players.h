// SPDX-License-Identifier: MIT
/// What game.c and players.c share: sockets of clients, and reports about sessions that did not
/// begin.
#pragma once

#include "program.h"

/// Open a socket for player `index`. Players take the tokens of --token-file in turn; without one
/// they have the built-in key.
/// @return NET_OK; NET_ERR_SOCKET (no socket, or the socket layer does not work); NET_ERR_MEMORY.
BASE_MUST_USE net_result client_transport_open(client_program* program, uint32_t index,
                                               net_transport** transport);
/// From now on the loop waits for the sockets of `transport` too.
void client_transport_gather(net_loop* loop, net_transport* transport);
/// Call it when sessions have ended, before their sockets close. With --net the last
/// acknowledgements are still on their way, and the server waits for them: send them, for 1 s at
/// most. The loop forgets all sockets.
void client_transport_finish(net_loop* loop);
/// Report why a session did not begin. @return the exit code.
int client_report_refused(client_program* program, const net_client* client);
int client_report_unreachable(client_program* program, const net_client* client);
