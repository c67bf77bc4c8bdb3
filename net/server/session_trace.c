// SPDX-License-Identifier: MIT
// What a server traces of its sessions. Without a trace each call costs one branch.
#include "server/session_trace.h"

#include "server/server_state.h"
#include "session/control.h"

#include "base/assert.h"

const char* net_session_state_name(net_session_state state) {
    static const char* const NAMES[NET_SESSION_STATE_COUNT] = {
        "free", "greeting", "asked", "accepted", "playing", "away", "closing"};
    BASE_ASSERT(state < NET_SESSION_STATE_COUNT);
    return NAMES[state];
}

static void trace(const net_server* server, const net_trace_event* event) {
    server->config.session_trace(server->config.session_trace_context, event);
}

void net_session_trace_state(const net_server* server, const net_session* session,
                             net_session_state to, const char* reason) {
    if (!server->config.session_trace) return;
    trace(server, &(net_trace_event){.kind = NET_TRACE_STATE,
                                     .now_us = server->now_us,
                                     .client = session->client,
                                     .peer = session->peer,
                                     .from = net_session_state_name(session->state),
                                     .to = net_session_state_name(to),
                                     .reason = reason});
}

void net_session_trace_packet(const net_server* server, const net_session* session, uint64_t now_us,
                              net_trace_kind kind, const char* name, uint32_t number,
                              size_t bytes) {
    if (!server->config.session_trace) return;
    trace(server, &(net_trace_event){.kind = kind,
                                     .now_us = now_us,
                                     .client = session->client,
                                     .peer = session->peer,
                                     .name = name,
                                     .number = number,
                                     .bytes = (uint32_t)bytes});
}

void net_session_trace_control(const net_server* server, const net_session* session,
                               net_trace_kind kind, const ProtobufCMessage* message, size_t bytes) {
    if (!server->config.session_trace) return;
    net_session_trace_packet(server, session, server->now_us, kind, net_control_name(message), 0,
                             bytes);
}
