// SPDX-License-Identifier: MIT
/// What game.c and players.c share.
#pragma once

#include "program.h"

BASE_MUST_USE net_result client_transport_open(net_transport** transport);
/// The loop waits for its sockets too.
void client_transport_gather(net_loop* loop, net_transport* transport);
/// Why a session did not come about. @return the exit code.
int client_say_refused(client_program* program, const net_client* client);
int client_say_unreachable(client_program* program, const net_client* client);
