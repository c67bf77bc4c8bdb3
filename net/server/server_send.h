// SPDX-License-Identifier: MIT
/// The net half of a tick, and its beginning and end on the caller's thread.
#pragma once

#include "server/session.h"

#define NET_STATE_PACKETS_PER_TICK_MAX 8u ///< to one client

/// Copy what the net half needs and let it run, on its thread if the server has one. After
/// net_server_collect. `has_stepped`: the match has stepped since the last hand-over.
void net_server_hand_over(net_server* server, bool has_stepped);
/// Wait for the net half and take over its results. Call it before touching the transport, a
/// net_session_out, the replicator or variable-size components. Does nothing when nothing was
/// handed over.
void net_server_collect(net_server* server);
/// The net half itself; `context` is the server. For net_worker_create.
void net_server_send(void* context);
