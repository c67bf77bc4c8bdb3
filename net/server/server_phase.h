// SPDX-License-Identifier: MIT
/// The phase of a server, and the goodbye to all clients.
#pragma once

#include "server/session.h"

#include "net/server.h"

/// Change the phase. Asserts that the new phase is later.
void net_server_set_phase(net_server* server, net_server_phase phase);
/// End all sessions with a goodbye, now: LEAVING. Does nothing when the server is leaving already.
void net_server_say_goodbye(net_server* server);
