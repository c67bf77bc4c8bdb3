// SPDX-License-Identifier: MIT
// The roster of the players, in control messages.
//
// A roster is cut into messages of ROSTER_ITEMS_MAX items: a client adds them up.
#include "server/server_state.h"

#include "game/match.h"

#include "base/assert.h"

// An entry has at most 2 + 6 + 2 + NET_PLAYER_NAME_BYTES_MAX + 2 bytes, the number of a gone
// player 5.
#define ROSTER_ITEMS_MAX 256u
_Static_assert(ROSTER_ITEMS_MAX*(12 + NET_PLAYER_NAME_BYTES_MAX + 5) + 16 <= NET_CONTROL_BYTES_MAX,
               "a message of the roster must fit");

static uint32_t part(uint32_t count, uint32_t from) {
    uint32_t left = count > from ? count - from : 0;
    return left < ROSTER_ITEMS_MAX ? left : ROSTER_ITEMS_MAX;
}

// Send a roster to all of `is_reader`: `come` elements of server->roster are players to add, `gone`
// elements of server->roster_gone are to be removed. Each message is encoded once for all.
static void send_roster(net_server* server, bool (*is_reader)(const net_session* session),
                        uint32_t come, uint32_t gone) {
    BASE_ASSERT(come <= server->roster_capacity && gone <= server->roster_capacity);
    Shoal__Wire__RosterEntry* pointers[ROSTER_ITEMS_MAX];
    for (uint32_t from = 0; from < come || from < gone; from += ROSTER_ITEMS_MAX) {
        uint8_t bytes[NET_CONTROL_BYTES_MAX];
        Shoal__Wire__Roster roster = SHOAL__WIRE__ROSTER__INIT;
        roster.n_came = part(come, from);
        roster.came = pointers;
        for (uint32_t i = 0; i < roster.n_came; i++)
            pointers[i] = &server->roster[from + i];
        roster.n_went = part(gone, from);
        roster.went = server->roster_gone + from;
        const Shoal__Wire__ServerControl control =
            net_control_wrap(&shoal__wire__server_control__descriptor, &roster.base);
        const size_t size = proto_encode(&control.base, bytes, sizeof bytes);
        for (net_session* session = NULL; (session = net_server_next(server, session));) {
            if (session->state != NET_SESSION_PLAYING || !is_reader(session)) continue;
            if (net_session_send_encoded(server, session, "roster", bytes, size) != NET_OK)
                net_session_end(server, session, NET_END_TIMEOUT);
        }
    }
}

static bool is_whole_due(const net_session* session) {
    return session->wants_roster;
}

static void list_player(net_server* server, uint32_t place, uint32_t client, const char* name,
                        bool is_bot) {
    BASE_ASSERT(place < server->roster_capacity);
    Shoal__Wire__RosterEntry* entry = &server->roster[place];
    shoal__wire__roster_entry__init(entry);
    entry->client = client;
    entry->name = (char*)(uintptr_t)name; // encoding only reads it
    entry->is_bot = is_bot;
}

// The players of a match that runs on another server have no sessions here. The roster of
// spectators names them.
static uint32_t list_followed(net_server* server) {
    const net_match* match = server->config.match;
    for (uint32_t i = 0; i < match->player_count; i++)
        list_player(server, i, match->players[i].client, match->players[i].name,
                    match->players[i].is_bot);
    return match->player_count;
}

// The whole roster, to all that want it.
static void send_whole(net_server* server) {
    uint32_t count = 0;
    bool is_wanted = false;
    for (net_session* other = NULL; (other = net_server_next(server, other));) {
        if (!net_session_is_in_match(other)) continue;
        is_wanted = is_wanted || other->wants_roster;
        if (other->is_spectator) continue;
        list_player(server, count++, other->client, other->name, other->is_bot);
    }
    if (!is_wanted) return;
    if (server->config.is_following) count = list_followed(server);
    send_roster(server, is_whole_due, count, 0);
    for (net_session* session = NULL; (session = net_server_next(server, session));)
        session->wants_roster = false;
}

static void want_whole(net_session* session) {
    session->has_roster = session->wants_roster = true;
    session->is_roster_due = false;
}

void net_session_send_roster(net_server* server, net_session* session) {
    want_whole(session);
    send_whole(server);
}

bool net_session_has_resumed_just_now(const net_server* server, const net_session* session) {
    return session->resume_us != 0 &&
           server->now_us - session->resume_us < NET_RESUME_QUIET_MS * UINT64_C(1000);
}

void net_server_send_due_rosters(net_server* server) {
    for (net_session* session = NULL; (session = net_server_next(server, session));) {
        if (session->state != NET_SESSION_PLAYING || !session->is_roster_due ||
            net_session_has_resumed_just_now(server, session))
            continue;
        session->resume_us = server->now_us ? server->now_us : 1;
        want_whole(session);
    }
    send_whole(server);
}

// A roster that is due will have the changes.
static bool takes_changes(const net_session* session) {
    return !session->is_roster_due && session->has_roster;
}

void net_server_send_rosters(net_server* server, const net_tick_inputs* begin) {
    net_server_send_due_rosters(server);
    for (uint32_t i = 0; i < begin->join_count; i++)
        list_player(server, i, begin->joins[i].client, begin->joins[i].name,
                    begin->joins[i].is_bot);
    for (uint32_t i = 0; i < begin->leave_count; i++)
        server->roster_gone[i] = begin->leaves[i].client;
    send_roster(server, takes_changes, begin->join_count, begin->leave_count);
    // Last: this overwrites the scratch.
    for (net_session* session = NULL; (session = net_server_next(server, session));)
        if (session->state == NET_SESSION_PLAYING && !session->is_roster_due &&
            !session->has_roster)
            want_whole(session);
    send_whole(server);
}
