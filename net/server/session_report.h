// SPDX-License-Identifier: MIT
/// The peer report of a session: opened at welcome, closed once at the end.
#pragma once

#include "server/session.h"

#include "net/result.h"
#include "net/match.h"
#include "net/server.h"

#include "base/shown.h"

/// As every line for the operator names a player: client 2 "Ada". `name` NULL: of one that is gone.
#define NET_WHO_BYTES                                                                              \
    (sizeof "spectator 4294967295 " + BASE_SHOWN_QUOTED_BYTES(NET_PLAYER_NAME_BYTES_MAX))
const char* net_server_who(uint32_t client, const char* name, char text[NET_WHO_BYTES]);
/// Give the session a client number and a peer report. From NET_REPORTS_MAX on, the oldest closed
/// report gives way. @return false when memory ran out; nothing changed then.
bool net_session_open_report(net_server* server, net_session* session);
/// Fill in what the session counts now.
void net_session_fill_report(const net_session* session, net_peer_report* report);
/// "playing"... Static text.
const char* net_session_state_name(net_session_state state);
/// Close the report, add the session's counters to the server's, tell the operator about a session
/// that was dropped, and mark the player to leave the match. Call it before the state changes.
void net_session_close_report(net_server* server, net_session* session, net_end end);
/// Tell the operator that the player of the session joined, and from where.
void net_session_report_joined(net_server* server, const net_session* session);
/// Tell the operator that the session is refused, and why.
void net_session_report_refused(net_server* server, const net_session* session, const char* text);
/// @return The hash of what the client should have at the match's tick, once its report is closed;
///         0: not known.
uint64_t net_session_scope_hash(const net_server* server, const net_session* session);
/// The client closed the connection because its world differs (NET_END_DIFFERS).
void net_session_report_differs(net_server* server, const net_session* session, uint32_t reason);
/// Tell the operator that an entity of a client is not as the server has it.
void net_server_report_difference(net_server* server, uint32_t client, ecs_entity entity);
/// After a step: look at a few values of the world for those that no log and no client has, and
/// tell the operator which system writes them, once for each component. In the last tick at all.
void net_server_look_for_slips(net_server* server, bool is_last);
/// Add what the session's own parts have dropped.
void net_session_add_dropped(const net_session* session, uint64_t dropped[NET_DROP_COUNT]);
/// Has the client acknowledged a packet of the present tick and all before it? Then both sides know
/// the same state of that tick.
bool net_session_has_everything(const net_server* server, const net_session* session);

/// What a server traces of its sessions (net_server_config.session_trace).

/// A change of state, before it happens.
void net_session_trace_state(const net_server* server, const net_session* session,
                             net_session_state to, const char* reason);
/// A packet; `now_us` because the net half has a time of its own. `name`: static text.
void net_session_trace_packet(const net_server* server, const net_session* session, uint64_t now_us,
                              net_trace_kind kind, const char* name, uint32_t number, size_t bytes);
