// SPDX-License-Identifier: MIT
/// Who may come in, how often, and who gives a place when the house is full.
#pragma once

#include "server/session.h"

/// Why a client may not come in.
typedef struct net_refusal {
    Shoal__Wire__RefusedReason reason; ///< REFUSED_NONE: it may
    char text[192];                    ///< one sentence for a person, who can act on it
} net_refusal;

/// Has its address too many connections without a player already? Then this one is closed at once.
bool net_server_is_crowded(const net_server* server, const net_session* session);
/// A slot for a new connection when none is free: the connection that waits longest without a
/// hello gives its own. @return false when no one can.
bool net_server_free_greeting(net_server* server);
/// Check a client that greets, before anything else is looked at: is it banned?
void net_server_check_ban(net_server* server, const net_session* session, net_refusal* refusal);
/// Check a client that wants to join: pace, places of its address, room. May end the session of a
/// member that shows no life.
void net_server_check_join(net_server* server, const net_session* session, net_refusal* refusal);
