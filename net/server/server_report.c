// SPDX-License-Identifier: MIT
// What an operator can read of a server: peer reports, counters, drops, digests, where the bits
// went.
#include "replicate/repl_state.h"

#include "server/server_state.h"
#include "server/session_report.h"
#include "state/varsize.h"

#include "net/match.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void net_server_dropped(net_server* server, uint64_t dropped[NET_DROP_COUNT]) {
    net_server_collect(server);
    memcpy(dropped, server->counters.dropped, sizeof server->counters.dropped);
    dropped[NET_DROP_VARSIZE_LONG] += net_varsize_source_get_counters(server->varsize)->values_long;
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (session && session->state != NET_SESSION_FREE && session->end == NET_END_NONE)
            net_session_add_dropped(session, dropped);
    }
}

uint32_t net_server_report_count(const net_server* server) {
    return server->report_count;
}

const net_peer_report* net_server_report(const net_server* server, uint32_t index) {
    BASE_ASSERT(index < server->report_count);
    return &server->reports[index];
}

const net_server_counters* net_server_get_counters(const net_server* server) {
    return &server->counters;
}

net_world_digest net_server_scope(net_server* server, uint32_t client, ecs_line_fn line,
                                  void* context) {
    net_server_collect(server);
    return net_session_scope(server, client, line, context);
}

// The phase of a server: HOLDING -> RUNNING -> SETTLING -> LEAVING -> ENDED. Phases may be left
// out, never come back.

void net_server_set_phase(net_server* server, net_server_phase phase) {
    BASE_ASSERT(phase > server->phase && phase <= NET_SERVER_ENDED);
    server->phase = phase;
    server->phase_us = server->now_us;
}

void net_server_say_goodbye(net_server* server) {
    if (server->phase == NET_SERVER_LEAVING || server->phase == NET_SERVER_ENDED) return;
    const char* reason = net_match_end_reason(server->config.match);
    if (!reason && server->end_reason[0]) reason = server->end_reason;
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
