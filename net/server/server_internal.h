// SPDX-License-Identifier: MIT
/// The server's insides, shared by server.c (life), server_receive.c (what comes in), server_tick.c (what
/// happens per tick), server_send.c (what goes out), server_resume.c (who comes back) and server_report.c (what
/// is told of it all).
///
/// A tick has two halves. The simulation's, on the caller's thread, ends with the hand-over: what the other
/// half needs of sessions and match is copied into net_session_out.told and net_server_out. The net half
/// (server_send.c), on the server's own thread or at once, owns from then on until net_server_collect:
/// net_server_out, every session's net_session_out, the replicator, interest, large values, the transport. The
/// caller's thread owns everything else and may run the next tick's systems meanwhile.
#pragma once

#include "session/acks.h"
#include "session/event_inbox.h"
#include "session/input_queue.h"
#include "state/varsize.h"
#include "session/event_outbox.h"
#include "session/rate.h"
#include "replicate/replicator.h"
#include "server/worker.h"
#include "replicate/repl_state.h"

#include "base/assert.h"
#include "net/log.h"
#include "net/match.h"
#include "net/server.h"
#include "proto/codec.h"

#define NET_SERVER_SPARE_SESSIONS 8u ///< connections beyond clients_max: to be told why not
#define NET_STATE_PACKETS_PER_TICK_MAX 8u
#define NET_STATE_ENVELOPE_BYTES_MAX                                                               \
    52u ///< all of StatePacket but events and body, as long as it gets
#define NET_EVENT_BYTES_EVERY_PACKET 88u ///< beside a body of NET_SNAPSHOT_BYTES_MIN
#define NET_EVENT_BYTES_OTHER_PACKET 600u
#define NET_EVENTS_PER_PACKET_MAX 32u
#define NET_CLIENT_EVENTS_PER_TICK_MAX 8u
#define NET_STRIKES_MAX 3u ///< malformed messages within NET_STRIKE_MS end a session
#define NET_STRIKE_MS 10000u
#define NET_PACKETS_PER_TICK 4u    ///< of a client, on average: four times what ours sends
#define NET_PACKETS_BURST_MAX 256u ///< after a silence; further ones are dropped unread, counted
#define NET_CONTROL_BYTES_PER_TICK                                                                 \
    512u ///< on channel 0, of who plays; what goes beyond is a strike
#define NET_CONTROL_BYTES_BURST_MAX 65536u
#define NET_INPUT_JUMP_MAX 16384u ///< an input numbered further ahead is not believed
#define NET_LEAVE_MS_MAX 5000u    ///< goodbyes may take so long
#define NET_HEARTBEAT_HZ 10u      ///< packets of who is told nothing new
#define NET_HEARTBEAT_TICKS_MAX 16u
#define NET_SAMPLE_EVERY_PACKETS 8u
#define NET_HEALS_PER_PACKET_MAX 4u
#define NET_HEALS_PER_SECOND 4u
#define NET_HEALS_BURST_MAX 8u
#define NET_RESUME_QUIET_MS                                                                        \
    1000u ///< after a resumption line and roster of the next one wait so long

/// A transport that hands on to the real one and counts.
typedef struct net_server_tap {
    net_transport base;
    struct net_server* server;
} net_server_tap;

typedef enum net_session_state {
    NET_SESSION_FREE,
    NET_SESSION_GREETING, ///< connected, hello outstanding
    NET_SESSION_ASKED,    ///< schema question sent
    NET_SESSION_ACCEPTED, ///< welcomed, joins with the next tick
    NET_SESSION_PLAYING,
    NET_SESSION_AWAY,    ///< playing, but its connection is lost: may come back with its secret
    NET_SESSION_CLOSING, ///< told to go; the transport will say when it is gone
} net_session_state;

/// What a packet says of its session, as it stands at the hand-over.
typedef struct net_session_told {
    uint32_t client;
    bool is_away;  ///< nothing is sent, reliable events are kept
    bool is_quiet; ///< one packet per tick will do
    ecs_entity player;
    bool has_ack;
    uint16_t ack;
    uint64_t ack_us; ///< when it came
    uint32_t input_used, input_repeats, input_depth;
    uint64_t input_fates; ///< inputs that met another fate than to be used in time
    uint32_t event_ack;
} net_session_told;

/// What the net half owns of a session.
typedef struct net_session_out {
    net_session_told told;
    net_repl_state* repl;        ///< NULL before the session plays
    net_varsize_sender* varsize; ///< with `view`
    double varsize_debt;         ///< bytes that tokens did not pay for yet
    net_ack_sender sent;
    net_event_outbox outbox;
    net_rate rate;
    uint32_t packet_count; ///< state packets, for alternating event budgets and samples
    uint32_t silent_count; ///< hand-overs in a row without a packet
    ecs_tick tick_sent;    ///< newest tick that went out
    uint16_t tick_seq;     ///< the first packet of it
    // Ticks are whole until the client surely decoded one that is near enough.
    bool has_mark, has_tick_known;
    uint16_t mark_seq; ///< when it is acknowledged, mark_tick is known
    ecs_tick mark_tick, tick_known;
    // An acknowledgement of events is repeated until a packet with it was acknowledged.
    uint32_t event_ack_told;
    uint16_t event_ack_seq; ///< the first packet with it
    bool is_event_ack_known;
    bool is_input_told; ///< that there are any
    uint32_t input_repeats_told;
    uint64_t input_fates_told;
    uint64_t events_unseen, events_refused;
    bool has_failed; ///< to be ended when the half is collected
} net_session_out;

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
    uint32_t control_credit;             ///< bytes on channel 0; grows with each tick
    uint32_t resync_credit;              ///< entities, times 1000000; grows with time
    uint64_t resync_us;
    uint32_t rate_wish;               ///< of its hello, bytes per second; 0: none
    uint64_t since_us;                ///< of the state
    uint64_t heard_us;                ///< when anything came from it
    bool is_quiet;                    ///< nothing for NET_QUIET_MS_MAX, or away; said so
    bool has_roster;                  ///< told of everybody who plays
    uint64_t resume_us;               ///< when its last resumption was told of; 0: never
    bool is_roster_due;               ///< ... and the roster waits since
    uint8_t resume[NET_RESUME_BYTES]; ///< its secret, from welcome on
    net_end end;
    uint32_t report; ///< index of its peer report, UINT32_MAX before welcome
    net_ack_receiver received;
    net_event_inbox inbox;
    net_input_queue inputs;
    net_session_out out;
} net_session;

/// A game event of a tick, on its way to everybody who sees what it is about.
typedef struct net_server_event {
    uint32_t message;
    bool is_reliable;
    ecs_entity target;
    uint32_t size;
    uint8_t payload[NET_EVENT_PAYLOAD_BYTES_MAX];
    bool is_late;          ///< net_message.is_delivered_late
    uint32_t entity_count; ///< whom it names
    ecs_entity entities[NET_EVENT_ENTITIES_MAX];
} net_server_event;

/// What the net half has to do, and its scratch.
typedef struct net_server_out {
    uint64_t now_us;
    ecs_tick tick;
    bool has_stepped; ///< views are told of a new step
    bool is_settling; ///< nothing changes any more: everybody is sent to
    bool is_uncollected;
    net_session** sessions; ///< session_count pointers
    uint32_t count;
    net_server_event* events;
    uint32_t event_count, event_capacity;
    uint64_t* seen; ///< per session, a bit per event: its target was seen before this step
    uint32_t seen_capacity, seen_words;
    uint64_t state_packets, state_bytes, sends_refused;
    net_ack_result acks;
    uint8_t packet[NET_STATE_BYTES_MAX];
    uint8_t state[NET_STATE_BYTES_MAX];
} net_server_out;

typedef struct net_server_account {
    uint32_t client;
    net_bandwidth_account account;
} net_server_account;

struct net_server {
    net_server_config config;
    const base_allocator* allocator;
    net_server_phase phase;
    uint64_t phase_us; ///< since when
    uint64_t settle_ms_max;
    bool is_settle_prolonged; ///< for who came back meanwhile; once
    uint64_t now_us;
    uint64_t tick_us;
    uint32_t heartbeat_ticks;
    uint32_t send_divisor;
    uint16_t seq_first;     ///< of everybody's state packets: 0, in tests near the wrap
    net_session** sessions; ///< session_count pointers, made on first use
    uint32_t session_count;
    net_session** by_slot;  ///< of peers: NET_PEER_SLOTS pointers
    uint32_t clients_named; ///< client numbers given so far
    base_rng rng;           ///< of secrets, without a source of better ones
    net_rows* rows;
    net_interest* interest;
    net_replicator* replicator;
    net_varsize_source* varsize;
    net_peer_report* reports;
    uint32_t report_count, report_capacity;
    uint32_t report_next; ///< where to look for one that may give way
    proto_codec codec;
    net_server_counters counters;
    net_server_tap tap;
    bool has_bandwidth;
    net_bandwidth bandwidth;
    net_bandwidth_account bandwidth_rest;  ///< what no client's account has: greetings, goodbyes
    net_server_account* bandwidth_clients; ///< of sessions that are over
    uint32_t bandwidth_client_count, bandwidth_client_capacity;
    net_ack_result acks;   // scratch
    net_log_leave* leaves; // scratch of a tick, session_count each
    net_log_join* joins;
    net_log_input* inputs;
    Shoal__Wire__RosterEntry* roster;
    uint32_t* went;
    net_log_event* events; // session_count * NET_CLIENT_EVENTS_PER_TICK_MAX
    net_event_outbox_entry* event_copies;
    net_server_out out;
    net_worker* worker; ///< NULL: the net half runs at once
};

/// Wait for the net half and take over what it found. Before anything touches transport, views or queues.
void net_server_collect(net_server* server);
/// Let the net half run, on its thread if there is one. After net_server_collect.
void net_server_hand_over(net_server* server, bool has_stepped);
/// The net half itself. `context` is the server.
void net_server_send(void* context);

/// End a session: goodbye to the peer when it still listens, the peer report filled, its share of the
/// match marked to leave. The slot is free once the transport says so.
void net_session_end(net_server* server, net_session* session, net_end end);
/// The transport has no such connection any more.
void net_session_gone(net_server* server, net_session* session);
/// Too many of these end the session.
void net_session_strike(net_server* server, net_session* session);
net_session* net_server_find_session(net_server* server, net_peer peer);
/// It speaks through this connection from now on; 0: through none.
void net_session_set_peer(net_server* server, net_session* session, net_peer peer);
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
/// Who came back too soon after the last time hears of everybody now.
void net_server_tell_due_rosters(net_server* server);

// server_varsize.c

/// After its view. @return false when memory ran out.
bool net_session_open_varsize(net_server* server, net_session* session);
/// In the net half, once per tick.
void net_session_send_varsize(net_server* server, net_session* session);
/// @return false for what was never sent.
bool net_session_take_varsize_ack(net_session* session, const Shoal__Wire__VarsizeAck* ack);

// server_report.c

void net_server_tap_init(net_server* server);
/// The transport as the server sends through it: control messages are counted.
net_transport* net_server_transport(net_server* server);
void net_server_drop(net_server* server, net_drop reason, uint64_t count);
/// Fill the report of a session that ends; its counters go to the server's.
void net_session_report(net_server* server, net_session* session, net_end end);
/// Its view is about to go: its part of the bandwidth stays.
void net_server_keep_account(net_server* server, const net_session* session);
void net_server_close_bandwidth(net_server* server);
