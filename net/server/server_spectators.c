// SPDX-License-Identifier: MIT
// Spectators: sessions without a player.
//
// The match does not know them: they are in no roster and no log, and their numbers are none of a
// player's. So a match goes through the same states with and without them, and its log runs again.
// What they may cost is counted apart from players: places, and solo code, which they get on
// request of the operator only. In each tick players come first: in the first scopes of new clients
// (server_tick.c admits by number), and in what is sent.
//
// Each watches one player and sees what that player sees: its scope, its classes, its entity as
// "mine". In a game without rules of interest that is everything.
#include "server/server_state.h"

#include "replicate/repl_state.h"
#include "server/session_report.h"

#include "net/match.h"

#include "base/assert.h"

static bool is_new(const net_session* session) {
    return session->state == NET_SESSION_ACCEPTED && session->is_spectator;
}

void net_spectators_begin(net_server* server) {
    if (server->spectator_count == 0) return;
    const uint32_t waiting = net_server_list_sessions(server, is_new);
    for (uint32_t i = 0; i < waiting && i < NET_JOINS_PER_TICK; i++) {
        net_session* session = server->joining[i];
        net_session_set_state(server, session, NET_SESSION_PLAYING, "watches");
        session->received_us = session->joined_us = server->now_us;
        net_session_report_joined(server, session);
        if (net_interest_add_client(server->interest, session->client))
            net_interest_hold(server->interest, session->client, true);
        else
            net_session_end(server, session, NET_END_FAULT);
    }
}

static bool is_there(const net_server* server, uint32_t client) {
    return client != 0 && net_match_player_name(server->config.match, client) != NULL;
}

void net_spectator_follow(net_server* server, const net_session* session) {
    BASE_ASSERT(session->is_spectator && session->client >= NET_SPECTATOR_FIRST);
    net_interest_follow(server->interest, session->client,
                        is_there(server, session->watched) ? session->watched : session->client);
}

// Each change gathers a scope again, so they are rationed: the newest wish counts.
static bool may_change(const net_server* server, const net_session* session) {
    return session->watch_wanted != session->watched &&
           (session->watch_us == 0 ||
            net_server_is_older(server, session->watch_us, NET_WATCH_MS_MIN));
}

ecs_entity net_spectator_player(net_server* server, net_session* session) {
    if (may_change(server, session)) {
        session->watched = session->watch_wanted;
        session->watch_us = server->now_us ? server->now_us : 1;
    }
    net_spectator_follow(server, session);
    if (!is_there(server, session->watched)) return ECS_ENTITY_NONE;
    return net_match_player(server->config.match, session->watched);
}
