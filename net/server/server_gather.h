// SPDX-License-Identifier: MIT
/// What comes into a tick of a server.
#pragma once

#include "server/server_state.h"

#include "net/log_writer.h"

/// Gather what comes into the tick begin->tick: leaves, joins, and of each session its events and
/// its input. The players that join begin to play: server->joining has their sessions, in the order
/// of begin->joins. The rest of a tick's limits waits. Lists of `begin` are the server's, until the
/// next tick.
void net_server_gather(net_server* server, net_log_begin* begin);
/// List the sessions for which `is_listed` into server->joining, by client number: the one that
/// waits longest comes first. @return how many.
uint32_t net_server_list_sessions(net_server* server,
                                  bool (*is_listed)(const net_session* session));
