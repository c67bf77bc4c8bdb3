// SPDX-License-Identifier: MIT
/// The roster: each client knows number, name and kind of all players.
#pragma once

#include "server/session.h"

#define NET_RESUME_QUIET_MS                                                                        \
    1000u ///< after a resumption, roster and line of the next one wait so long

typedef struct net_log_begin net_log_begin; ///< net/log_writer.h

/// Send the whole roster to one client. Ends the session when that fails.
void net_session_send_roster(net_server* server, net_session* session);
/// Was the last resumption with a roster less than NET_RESUME_QUIET_MS ago?
bool net_session_has_resumed_just_now(const net_server* server, const net_session* session);
/// After the joins and leaves of a tick: new players get the whole roster, all others the changes.
void net_server_send_rosters(net_server* server, const net_log_begin* begin);
/// Send the rosters that were withheld after quick resumptions, when it is time.
void net_server_send_due_rosters(net_server* server);
