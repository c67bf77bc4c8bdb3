// SPDX-License-Identifier: MIT
// Sessions outlive their connections, and everybody hears who plays.
//
//     PLAYING --(the transport lost it)--> AWAY --(30 s)--> gone
//        ^  |                               |
//        |  +--(hello with its secret)--+   |
//        +------------------------------+---+
//
// While it is away a session keeps all it knows: player, view, acknowledgements, queues. Nothing is sent;
// what was under way counts as lost, so that its view sends it again, against bases that the client
// still has. A client may come back before its old connection is noticed to be dead: a secret counts
// more than a connection.
//
// Secrets are compared in a time that does not depend on them. Invariant: an AWAY session has no peer.
#include "server/server_internal.h"

#include "core/fault.h"

#include "session/control.h"

#include <string.h>

static double seconds_since(const net_server* server, uint64_t since_us) {
    return server->now_us > since_us ? (double)(server->now_us - since_us) * 1e-6 : 0;
}

void net_session_make_secret(net_server* server, net_session* session) {
    if (server->config.entropy) {
        server->config.entropy(server->config.entropy_context, session->resume,
                               sizeof session->resume);
        return;
    }
    for (uint32_t i = 0; i < sizeof session->resume; i++)
        session->resume[i] = (uint8_t)(base_rng_u32(&server->rng) >> 24);
}

bool net_session_welcome(net_server* server, net_session* session, bool is_resumed) {
    net_match* match = server->config.match;
    const net_match_config* config = net_match_get_config(match);
    double settings[NET_SETTINGS_MAX];
    memcpy(settings, config->settings, sizeof settings);
    Shoal__Wire__Welcome welcome = SHOAL__WIRE__WELCOME__INIT;
    welcome.client = session->client;
    welcome.tick_rate_hz = config->tick_rate_hz;
    welcome.replicated_index_max = ecs_world_limits(net_match_world(match))->replicated_index_max;
    welcome.n_settings = config->module->game->setting_count;
    welcome.settings = settings;
    welcome.resume = (ProtobufCBinaryData){sizeof session->resume, session->resume};
    welcome.is_resumed = is_resumed;
    if (net_control_send_welcome(net_server_transport(server), session->peer, &welcome) == NET_OK)
        return true;
    net_session_end(server, session, NET_END_TIMEOUT);
    return false;
}

// Whatever flies will not arrive any more, or not be told.
static void lose_packets(net_server* server, net_session* session) {
    const uint64_t later_us = server->now_us + UINT64_C(1000) * NET_SILENCE_MS_MAX;
    net_ack_sender_expire(&session->out.sent, later_us, server->tick_us, &server->acks);
    for (uint32_t i = 0; i < server->acks.lost_count; i++) {
        (void)net_repl_state_lost(session->out.repl, server->acks.lost[i]);
    }
    net_varsize_sender_resume(session->out.varsize);
}

static void say_quiet(net_server* server, net_session* session, const char* why) {
    if (session->is_quiet) return;
    session->is_quiet = true;
    base_report(server->config.reporter, NULL, 0, "note: client %u (%s) is away: %s",
                session->client, session->name, why);
}

void net_session_lose(net_server* server, net_session* session) {
    BASE_ASSERT(session->state == NET_SESSION_PLAYING);
    say_quiet(server, session, "its connection is lost");
    lose_packets(server, session);
    session->state = NET_SESSION_AWAY;
    session->since_us = server->now_us;
    net_session_set_peer(server, session, 0);
}

static void say_back(net_server* server, const net_session* session) {
    base_report(server->config.reporter, NULL, 0, "note: client %u (%s) is back after %.1f s",
                session->client, session->name, seconds_since(server, session->heard_us));
}

void net_session_hear(net_server* server, net_session* session) {
    if (session->is_quiet) say_back(server, session);
    session->is_quiet = false;
    session->heard_us = server->now_us;
}

void net_session_watch(net_server* server, net_session* session) {
    const uint64_t limit_us = UINT64_C(1000) * NET_QUIET_MS_MAX;
    if (server->now_us > session->heard_us && server->now_us - session->heard_us > limit_us)
        say_quiet(server, session, "nothing heard");
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

static void tell_everybody(net_server* server, net_session* session) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* other = server->sessions[i];
        if (!other || !net_session_is_in_match(other)) continue;
        Shoal__Wire__RosterEntry* entry = &server->roster[count++];
        shoal__wire__roster_entry__init(entry);
        entry->client = other->client;
        entry->name = other->name;
        entry->is_bot = other->is_bot;
    }
    session->has_roster = true;
    session->is_roster_due = false;
    if (net_control_send_roster(net_server_transport(server), session->peer, server->roster, count,
                                server->went, 0) != NET_OK)
        net_session_end(server, session, NET_END_TIMEOUT);
}

// Whoever comes back again and again costs a welcome each time, but neither a line nor a roster.
static bool is_too_soon(const net_server* server, const net_session* session) {
    return session->resume_us != 0 &&
           server->now_us - session->resume_us < NET_RESUME_QUIET_MS * UINT64_C(1000);
}

void net_session_resume(net_server* server, net_session* session, net_session* greeting) {
    BASE_ASSERT(net_session_is_in_match(session) && greeting->state == NET_SESSION_GREETING);
    if (session->state == NET_SESSION_PLAYING) {
        net_transport* transport = net_server_transport(server);
        transport->ops->disconnect(transport, session->peer, NET_END_TIMEOUT, true);
        if (session->out.repl) lose_packets(server, session);
    }
    const net_peer peer = greeting->peer;
    net_session_set_peer(server, greeting, 0);
    session->state = NET_SESSION_PLAYING;
    net_session_set_peer(server, session, peer);
    session->since_us = server->now_us;
    session->packet_credit = NET_PACKETS_BURST_MAX;
    greeting->state = NET_SESSION_CLOSING;
    net_session_gone(server, greeting);
    server->counters.resumes++;
    bool is_quiet = is_too_soon(server, session);
    if (!is_quiet) say_back(server, session); // also when nobody had noticed
    session->is_quiet = false;
    session->heard_us = server->now_us;
    if (server->phase == NET_SERVER_SETTLING && !server->is_settle_prolonged) {
        server->is_settle_prolonged = true;
        server->phase_us = server->now_us;
    }
    if (!net_session_welcome(server, session, true)) return;
    if (is_quiet) {
        session->is_roster_due = true;
        net_server_drop(server, NET_DROP_RESUME_QUIET, 1);
        return;
    }
    session->resume_us = server->now_us ? server->now_us : 1;
    tell_everybody(server, session);
}

void net_server_tell_due_rosters(net_server* server) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || session->state != NET_SESSION_PLAYING || !session->is_roster_due ||
            is_too_soon(server, session))
            continue;
        session->resume_us = server->now_us ? server->now_us : 1;
        tell_everybody(server, session);
    }
}

void net_server_tell_roster(net_server* server, const net_log_begin* begin) {
    net_server_tell_due_rosters(server);
    if (begin->join_count == 0 && begin->leave_count == 0) return;
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (session && session->is_roster_due) continue; // it will hear of all of them
        if (session && session->state == NET_SESSION_PLAYING && !session->has_roster)
            tell_everybody(server, session);
        else if (session && session->state == NET_SESSION_PLAYING)
            session->has_roster = false; // told below
    }
    for (uint32_t i = 0; i < begin->join_count; i++) {
        shoal__wire__roster_entry__init(&server->roster[i]);
        server->roster[i].client = begin->joins[i].client;
        server->roster[i].name = (char*)(uintptr_t)begin->joins[i].name;
        server->roster[i].is_bot = begin->joins[i].is_bot;
    }
    for (uint32_t i = 0; i < begin->leave_count; i++)
        server->went[i] = begin->leaves[i].client;
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || session->state != NET_SESSION_PLAYING || session->has_roster ||
            session->is_roster_due)
            continue;
        session->has_roster = true;
        if (net_control_send_roster(net_server_transport(server), session->peer, server->roster,
                                    begin->join_count, server->went, begin->leave_count) != NET_OK)
            net_session_end(server, session, NET_END_TIMEOUT);
    }
}
