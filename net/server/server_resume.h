// SPDX-License-Identifier: MIT
/// Lost connections of sessions, and the way back.
#pragma once

#include "server/session.h"

/// The connection of a PLAYING session is lost: it becomes AWAY.
void net_session_lose(net_server* server, net_session* session);
/// A datagram of the session came.
void net_session_mark_received(net_server* server, net_session* session);
/// Once per tick: report a session from which nothing came for NET_QUIET_MS_MAX.
void net_session_watch(net_server* server, net_session* session);
/// @return the session in the match that owns these NET_RESUME_BYTES; NULL when there is none.
net_session* net_server_find_secret(net_server* server, const uint8_t* secret);
/// Continue `session` with the connection of `greeting`, whose slot is free afterwards.
void net_session_resume(net_server* server, net_session* session, net_session* greeting);
