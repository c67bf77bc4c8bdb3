// SPDX-License-Identifier: MIT
/// Variable-size components of one client of a server.
#pragma once

#include "server/session.h"

/// Begin. After the session's replication state was made. @return false when memory ran out.
bool net_session_open_varsize(net_server* server, net_session* session);
/// In the net half, once per tick: send the values whose turn it is.
void net_session_send_varsize(net_server* server, net_session* session);
/// Versions that the client has, or has lost. @return false for a version that was never sent.
bool net_session_apply_varsize_ack(net_session* session, const Shoal__Wire__VarsizeAck* ack);
