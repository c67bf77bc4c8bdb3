// SPDX-License-Identifier: MIT
/// Replication states of clients that left: destroyed bit by bit.
#pragma once

#include "server/session.h"

/// Take over the replication state of a session that ends. The net half must be collected.
void net_server_take_leaver(net_server* server, net_session* session);
/// Once per tick, after the net half was collected: destroy a few.
void net_server_destroy_leavers(net_server* server);
/// Destroy all, at the end.
void net_server_close_leavers(net_server* server);
/// May the scope of a session that ends be walked now, for its report? Counts the walk.
bool net_server_may_walk(net_server* server);
