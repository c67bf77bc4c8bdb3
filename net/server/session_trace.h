// SPDX-License-Identifier: MIT
/// What a server traces of its sessions (net_server_config.session_trace).
#pragma once

#include "server/session.h"

#include "net/trace.h"

/// "playing"... Static text.
const char* net_session_state_name(net_session_state state);
/// A change of state, before it happens.
void net_session_trace_state(const net_server* server, const net_session* session,
                             net_session_state to, const char* reason);
/// A control message of `bytes` that was sent or received at the server's time.
void net_session_trace_control(const net_server* server, const net_session* session,
                               net_trace_kind kind, const ProtobufCMessage* message, size_t bytes);
/// Any other packet; `now_us` because the net half has a time of its own. `name`: static text.
void net_session_trace_packet(const net_server* server, const net_session* session, uint64_t now_us,
                              net_trace_kind kind, const char* name, uint32_t number, size_t bytes);
