// SPDX-License-Identifier: MIT
// Sessions outlive their connections.
//
//     PLAYING --(the transport lost it)--> AWAY --(30 s)--> gone
//        ^  |                               |
//        |  +--(hello with its secret)--+   |
//        +------------------------------+---+
//
// An AWAY session keeps its player, replication state, acknowledgements and queues. Nothing is
// sent. Packets in flight count as lost, so the replication state sends their rows again, against
// bases that the client still has. A client may come back before the server notices that its old
// connection is lost: a secret counts more than a connection.
//
// Secrets are compared in a time that does not depend on them. Invariant: an AWAY session has no
// peer.
#include "server/server_resume.h"

#include "core/fault.h"
#include "replicate/repl_state.h"
#include "server/server_roster.h"
#include "server/server_state.h"
#include "server/session_report.h"
#include "state/varsize.h"

#include "base/assert.h"

#define HEARD_MS 1000u      // a client is heard for so long after a datagram
#define FLOOD_TOLD_MS 2000u // of too much, before the operator is informed

static double seconds_since(const net_server* server, uint64_t since_us) {
    return server->now_us > since_us ? (double)(server->now_us - since_us) * 1e-6 : 0;
}

// Packets in flight count as lost: they do not arrive, or no acknowledgement does.
static void lose_packets(net_server* server, net_session* session) {
    BASE_ASSERT(session->out.repl && session->out.varsize);
    const uint64_t later_us = server->now_us + UINT64_C(1000) * NET_SILENCE_MS_MAX;
    net_ack_sender_expire(&session->out.sent, later_us, server->tick_us, &server->acks);
    for (uint32_t i = 0; i < server->acks.lost_count; i++) {
        (void)net_repl_state_lost(session->out.repl, server->acks.lost[i]);
    }
    net_varsize_sender_resume(session->out.varsize);
}

static void report_away(net_server* server, net_session* session, const char* why) {
    if (session->is_quiet) return;
    session->is_quiet = true;
    char who[NET_WHO_BYTES];
    base_report(net_ration_take(&server->ration, NET_RATION_AWAY, server->now_us), NULL, 0,
                "note: %s is away: %s", net_server_who(session->client, session->name, who), why);
}

void net_session_lose(net_server* server, net_session* session) {
    BASE_ASSERT(session->state == NET_SESSION_PLAYING);
    report_away(server, session, "its connection is lost");
    if (session->out.repl) lose_packets(server, session);
    net_session_set_peer(server, session, 0);
    net_session_set_state(server, session, NET_SESSION_AWAY, "connection_lost");
}

static void report_back(net_server* server, const net_session* session) {
    char who[NET_WHO_BYTES];
    base_report(net_ration_take(&server->ration, NET_RATION_BACK, server->now_us), NULL, 0,
                "note: %s is back after %.1f s",
                net_server_who(session->client, session->name, who),
                seconds_since(server, session->received_us));
}

void net_session_mark_received(net_server* server, net_session* session) {
    if (session->is_quiet) report_back(server, session);
    session->is_quiet = false;
    session->received_us = server->now_us;
}

// Time counts only while its datagrams come: a client in a blackout is not deaf. A resumption does
// not help, an acknowledgement of something new does.
static void count_deaf(net_server* server, net_session* session) {
    const uint64_t heard_us = UINT64_C(1000) * HEARD_MS;
    if (session->deaf_ack_us != session->out.sent.last_ack_us) session->deaf_us = 0;
    session->deaf_ack_us = session->out.sent.last_ack_us;
    bool is_heard = server->now_us - session->received_us <= heard_us;
    const net_ack_sender* sent = &session->out.sent;
    bool has_newest = sent->has_ack && (uint16_t)(sent->newest_acked + 1) == sent->next;
    if (is_heard && sent->count > 0 && !has_newest) session->deaf_us += server->tick_us;
}

static void report_flood(net_server* server, net_session* session) {
    if (session->flood_us == 0) session->is_flood_told = false;
    if (session->is_flood_told || session->flood_us < FLOOD_TOLD_MS * 1000u) return;
    session->is_flood_told = true;
    char who[NET_WHO_BYTES];
    base_report(net_ration_take(&server->ration, NET_RATION_LIMITED, server->now_us), NULL, 0,
                "note: %s is rate-limited: it sends more than is read",
                net_server_who(session->client, session->name, who));
}

// A burst is forgiven: its time is paid back while less comes.
static void count_flood(net_server* server, net_session* session) {
    if (session->is_flooding)
        session->flood_us += server->tick_us;
    else
        session->flood_us -=
            session->flood_us < server->tick_us ? session->flood_us : server->tick_us;
    session->is_flooding = false;
    report_flood(server, session);
}

void net_session_watch(net_server* server, net_session* session) {
    count_deaf(server, session);
    count_flood(server, session);
    const uint64_t limit_us = UINT64_C(1000) * NET_QUIET_MS_MAX;
    if (server->now_us > session->received_us && server->now_us - session->received_us > limit_us)
        report_away(server, session, "nothing received");
}

net_session* net_server_find_secret(net_server* server, const uint8_t* secret) {
    if (net_fault_is_planted(NET_FAULT_NO_SESSION)) return NULL;
    net_session* found = NULL;
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || !net_session_is_in_match(session)) continue;
        uint32_t difference = 0;
        for (uint32_t k = 0; k < NET_RESUME_BYTES; k++)
            difference |= (uint32_t)(session->resume[k] ^ secret[k]);
        if (difference == 0) found = session;
    }
    return found;
}

void net_session_resume(net_server* server, net_session* session, net_session* greeting) {
    BASE_ASSERT(net_session_is_in_match(session) && greeting->state == NET_SESSION_GREETING);
    if (session->state == NET_SESSION_PLAYING) {
        net_transport* transport = server->config.transport;
        transport->ops->disconnect(transport, session->peer, NET_END_TIMEOUT, true);
        if (session->out.repl) lose_packets(server, session);
        net_session_set_peer(server, session, 0);
        net_session_set_state(server, session, NET_SESSION_AWAY, "connection_replaced");
    }
    const net_peer peer = greeting->peer;
    net_session_set_state(server, greeting, NET_SESSION_CLOSING, "resumed_another");
    net_session_set_peer(server, greeting, 0);
    net_session_set_peer(server, session, peer);
    session->identity = greeting->identity;
    session->origin = greeting->origin;
    net_session_set_state(server, session, NET_SESSION_PLAYING, "resumed");
    session->packet_credit = NET_PACKETS_BURST_MAX;
    net_session_gone(server, greeting, "resumed_another");
    server->counters.resumes++;
    // A client that resumes again and again gets a welcome each time, but no line is printed and no
    // roster sent.
    bool is_quiet = net_session_has_resumed_just_now(server, session);
    if (!is_quiet) report_back(server, session); // also when the loss was not noticed
    session->is_quiet = false;
    session->received_us = server->now_us;
    if (server->phase == NET_SERVER_SETTLING && !server->is_settle_prolonged) {
        server->is_settle_prolonged = true;
        server->phase_us = server->now_us;
    }
    if (!net_session_welcome(server, session, true)) return;
    net_rate_begin(&session->out.rate, net_server_sent_bytes(server, session));
    if (is_quiet) {
        session->is_roster_due = true;
        net_server_drop(server, NET_DROP_RESUME_QUIET, 1);
        return;
    }
    session->resume_us = server->now_us ? server->now_us : 1;
    net_session_send_roster(server, session);
}
