// SPDX-License-Identifier: MIT
/// WIRE.md, "Outer layer": the handshake with the built-in key, and the datagrams of a session.
#pragma once

#include <enet/enet.h>

#include <stdbool.h>

/// Get a session from a server on this machine, with the socket that ENet uses later.
/// @return false when nothing answers for five seconds.
bool outer_connect(ENetSocket socket, const ENetAddress* server);
/// Has the server closed the session? ENet does not learn it.
bool outer_is_closed(void);
