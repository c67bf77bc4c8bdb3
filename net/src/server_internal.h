// SPDX-License-Identifier: MIT
/// The server's insides, shared by server.c (life), server_receive.c (what comes in), server_tick.c (what
/// happens per tick) and server_send.c (what goes out).
#pragma once

#include "acks.h"
#include "history.h"
#include "inbox.h"
#include "inputs.h"
#include "outbox.h"
#include "view.h"

#include "base/assert.h"
#include "net/server.h"
#include "proto/codec.h"

#define NET_SERVER_SPARE_SESSIONS 8u ///< connections beyond clients_max: to be told why not
#define NET_STATE_PACKETS_PER_TICK_MAX 4u
#define NET_STATE_ENVELOPE_BYTES_MAX 52u ///< all fields of StatePacket but events and body
#define NET_EVENT_BYTES_EVERY_PACKET 88u ///< beside a body of NET_BODY_BYTES_MIN
#define NET_EVENT_BYTES_OTHER_PACKET 600u
#define NET_EVENTS_PER_PACKET_MAX 32u
#define NET_CLIENT_EVENTS_PER_TICK_MAX 8u
#define NET_STRIKES_MAX 3u ///< malformed messages within NET_STRIKE_MS end a session
#define NET_STRIKE_MS 10000u
#define NET_PACKETS_PER_TICK 4u    ///< of a client, on average: four times what ours sends
#define NET_PACKETS_BURST_MAX 256u ///< after a silence; further ones are dropped unread, counted
#define NET_INPUT_JUMP_MAX 16384u  ///< an input numbered further ahead is not believed
#define NET_LEAVE_MS_MAX 5000u     ///< goodbyes may take so long

typedef enum net_session_state {
    NET_SESSION_FREE,
    NET_SESSION_GREETING, ///< connected, hello outstanding
    NET_SESSION_ASKED,    ///< schema question sent
    NET_SESSION_ACCEPTED, ///< welcomed, joins with the next tick
    NET_SESSION_PLAYING,
    NET_SESSION_AWAY,    ///< playing, but its connection is lost: may come back with its secret
    NET_SESSION_CLOSING, ///< told to go; the transport will say when it is gone
} net_session_state;

typedef struct net_session {
    net_session_state state;
    net_peer peer;
    uint32_t client; ///< 0 before welcome
    char name[NET_PLAYER_NAME_BYTES_MAX];
    bool is_bot;
    bool must_leave_match; ///< it joined the match and is gone: leaves with the next tick
    bool has_player_told;
    ecs_entity player_told;
    uint32_t strikes;
    uint64_t strike_us[NET_STRIKES_MAX]; ///< of the last of them, by strikes % NET_STRIKES_MAX
    uint32_t packet_credit;              ///< datagrams that will be looked at; grows with each tick
    uint64_t since_us;                   ///< of the state
    uint64_t heard_us;                   ///< when anything came from it
    bool is_quiet;                       ///< nothing for NET_QUIET_MS_MAX, or away; said so
    bool has_roster;                     ///< told of everybody who plays
    uint8_t resume[NET_RESUME_BYTES];    ///< its secret, from welcome on
    uint32_t packet_count;               ///< state packets, for alternating event budgets
    ecs_tick tick_sent;                  ///< newest tick that went out
    uint16_t tick_seq;                   ///< the first packet of it
    net_end end;
    uint32_t report; ///< index of its peer report, UINT32_MAX before welcome
    net_view* view;
    net_acks_send sent;
    net_acks_recv received;
    net_outbox outbox;
    net_inbox inbox;
    net_inputs inputs;
} net_session;

struct net_server {
    net_server_config config;
    const base_allocator* allocator;
    net_server_phase phase;
    uint64_t phase_us; ///< since when
    uint64_t settle_ms_max;
    bool is_settle_prolonged; ///< for who came back meanwhile; once
    uint64_t now_us;
    uint64_t tick_us;
    net_session** sessions; ///< session_count pointers, made on first use
    uint32_t session_count;
    uint32_t clients_named; ///< client numbers given so far
    base_rng rng;           ///< of secrets, without a source of better ones
    net_rows* rows;
    net_history* history;
    net_peer_report* reports;
    uint32_t report_count, report_capacity;
    uint32_t report_next; ///< where to look for one that may give way
    proto_codec codec;
    net_server_counters counters;
    net_acks_result acks;  // scratch
    net_log_leave* leaves; // scratch of a tick, session_count each
    net_log_join* joins;
    net_log_input* inputs;
    Shoal__Wire__RosterEntry* roster;
    uint32_t* went;
    net_log_event* events; // session_count * NET_CLIENT_EVENTS_PER_TICK_MAX
    net_outbox_entry* event_copies;
    uint8_t packet[NET_STATE_BYTES_MAX];
    uint8_t body[NET_STATE_BYTES_MAX];
};

/// End a session: goodbye to the peer when it still listens, the peer report filled, its share of the
/// match marked to leave. The slot is free once the transport says so.
void net_session_end(net_server* server, net_session* session, net_end end);
/// The transport has no such connection any more.
void net_session_gone(net_server* server, net_session* session);
/// Too many of these end the session.
void net_session_strike(net_server* server, net_session* session);
net_session* net_server_find_session(net_server* server, net_peer peer);
net_session* net_server_add_session(net_server* server,
                                    net_peer peer); ///< NULL when there is no slot
bool net_session_is_in_match(const net_session* session);
/// It acknowledged a packet of the present tick and all that came before: both sides can name that tick.
bool net_session_has_everything(const net_server* server, const net_session* session);
/// Goodbye to all, now.
void net_server_say_goodbye(net_server* server);

/// Accept after hello: number, report, welcome. @return false when memory ran out.
bool net_session_accept(net_server* server, net_session* session);

// server_resume.c

/// Make its secret.
void net_session_make_secret(net_server* server, net_session* session);
/// Its connection is lost: it stays in the match and may come back.
void net_session_lose(net_server* server, net_session* session);
/// Something came from it.
void net_session_hear(net_server* server, net_session* session);
/// Once per tick: say so when nothing comes any more.
void net_session_watch(net_server* server, net_session* session);
/// Whose secret this is, NULL when nobody's who plays.
net_session* net_server_find_secret(net_server* server, const uint8_t* secret);
/// It goes on with the connection of `greeting`, whose slot is free afterwards.
void net_session_resume(net_server* server, net_session* session, net_session* greeting);
/// Welcome, the first one or again. @return false when the session ended by it.
bool net_session_welcome(net_server* server, net_session* session, bool is_resumed);
/// After joins and leaves of a tick: who was not told yet hears of everybody, the others of the changes.
void net_server_tell_roster(net_server* server, const net_log_begin* begin);

/// Send this tick's packets to one client.
void net_session_send(net_server* server, net_session* session);
/// Declare losses, tell the view.
void net_session_expire(net_server* server, net_session* session);
