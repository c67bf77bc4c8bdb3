// SPDX-License-Identifier: MIT
// The phase of a server: HOLDING -> RUNNING -> SETTLING -> LEAVING -> ENDED. Phases may be left
// out, never come back.
#include "server/server_phase.h"

#include "server/server_state.h"

#include "base/assert.h"
#include "base/text.h"

void net_server_set_phase(net_server* server, net_server_phase phase) {
    BASE_ASSERT(phase > server->phase && phase <= NET_SERVER_ENDED);
    server->phase = phase;
    server->phase_us = server->now_us;
}

void net_server_say_goodbye(net_server* server) {
    if (server->phase == NET_SERVER_LEAVING || server->phase == NET_SERVER_ENDED) return;
    const char* reason = net_match_end_reason(server->config.match);
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session) continue;
        // Of one that ends already the reason stays.
        if (reason && session->end == NET_END_NONE)
            (void)base_text_copy(session->end_reason, sizeof session->end_reason, reason);
        net_session_end(server, session, NET_END_GOODBYE);
    }
    net_server_set_phase(server, NET_SERVER_LEAVING);
    server->config.transport->ops->flush(server->config.transport);
}
