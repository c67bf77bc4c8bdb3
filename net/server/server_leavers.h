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
/// May a scope of so many entities be walked now, for the report of a session that ends? Counts the
/// walk.
bool net_server_may_walk(net_server* server, uint32_t entities);
