// SPDX-License-Identifier: MIT
/// A session: one player or bot of a server, from its first connection to its end.
///
/// It outlives its connection: a client whose connection is lost may come back with its secret.
/// Only net_session_set_state changes the state, so each change is checked, timed and traced.
#pragma once

#include "core/ration.h"
#include "session/acks.h"
#include "session/event_queue.h"
#include "session/input_packet.h"
#include "session/pace.h"
#include "session/rate.h"

#include "net/match.h"
#include "net/result.h"
#include "net/server.h"
#include "net/transport.h"

#include "base/shown.h"

typedef struct net_repl_state net_repl_state;         ///< replicate/repl_state.h
typedef struct net_varsize_sender net_varsize_sender; ///< state/varsize.h

#define NET_STRIKES_MAX 3u ///< malformed messages within NET_STRIKE_MS end a session
#define NET_STRIKE_MS 10000u
#define NET_PACKETS_PER_TICK 4u    ///< packets that are read of a client, on average
#define NET_PACKETS_BURST_MAX 256u ///< after a silence; more are dropped unread and counted
#define NET_CONTROL_BYTES_PER_TICK                                                                 \
    512u ///< of control messages of a playing client; more is a strike
#define NET_CONTROL_BYTES_BURST_MAX 65536u
#define NET_RESYNCS_BURST_MAX 8u
#define NET_LEAVE_MS_MAX 5000u ///< time for goodbyes to be acknowledged

typedef enum net_session_state {
    NET_SESSION_FREE,
    NET_SESSION_GREETING, ///< connected; the hello is outstanding
    NET_SESSION_ASKED,    ///< the schemas differ; the answer to the schema question is outstanding
    NET_SESSION_ACCEPTED, ///< welcomed; it joins the match with the next tick
    NET_SESSION_PLAYING,
    NET_SESSION_AWAY,    ///< in the match, but its connection is lost: it may come back
    NET_SESSION_CLOSING, ///< goodbye is sent; the transport reports the end of the connection
    NET_SESSION_STATE_COUNT
} net_session_state;

/// The part of a session that its packets contain, copied at the hand-over: the next tick changes
/// it.
typedef struct net_session_summary {
    uint32_t client;
    bool is_away;  ///< nothing is sent; reliable events are kept
    bool is_deaf;  ///< it acknowledges nothing: a packet now and then, so that it can
    bool is_quiet; ///< nothing came for NET_QUIET_MS_MAX: one packet per tick is enough
    ecs_entity player;
    bool has_ack;
    uint16_t ack;
    uint64_t ack_us;     ///< arrival of the packet `ack`
    uint32_t input_loss; ///< of 256 packets of the client
    uint32_t input_used, input_repeats, input_depth;
    uint64_t input_fates; ///< inputs that were not used in time
    uint32_t event_ack;
} net_session_summary;

/// What came into the sight of a client, or left it, and was not said to the match yet.
typedef struct net_sights {
    net_sight* items;
    uint32_t count, capacity;
} net_sights;

/// The part of a session that the net half owns, see server/server_state.h.
typedef struct net_session_out {
    net_session_summary summary;
    net_repl_state* repl;        ///< NULL before the session plays
    net_varsize_sender* varsize; ///< exists together with `repl`
    double varsize_debt;         ///< bytes of variable-size components that no tokens paid for yet
    net_ack_sender sent;
    net_event_outbox outbox;
    net_rate rate;
    uint32_t packet_count; ///< state packets; alternates event budgets and spaces checksum probes
    uint32_t silent_count; ///< hand-overs in a row without a packet
    ecs_tick tick_sent;    ///< newest tick that was sent
    uint16_t tick_seq;     ///< first packet of tick_sent
    // A header has all bits of its tick until the client has certainly decoded a near tick.
    bool has_mark, has_tick_known;
    uint16_t mark_seq; ///< its acknowledgement makes it and mark_tick known
    uint16_t seq_known;
    ecs_tick mark_tick, tick_known;
    // An acknowledgement of events is repeated until a packet with it is acknowledged.
    uint32_t event_ack_sent;
    uint16_t event_ack_seq; ///< first packet with event_ack_sent
    bool is_event_ack_known;
    // The newest values that a packet contained.
    bool is_input_sent;
    uint32_t input_repeats_sent;
    uint64_t input_fates_sent;
    uint64_t events_unseen, events_refused;
    net_server* server;     ///< for the callbacks of `repl`
    net_sights sights;      ///< since the last net_server_collect
    bool has_failed;        ///< net_server_collect ends the session
    uint32_t event_refused; ///< message of the reliable event that had no room; 0: none
} net_session_out;

/// What the hello of a client says that comes back from another server of the match.
typedef struct net_session_memory {
    ecs_tick tick; ///< its newest; 0: it starts again
    ecs_tick event_tick;
    uint32_t events; ///< reliable ones of event_tick that it has
    uint32_t rate_bytes;
} net_session_memory;

typedef struct net_session {
    net_session_state state;
    uint32_t place;   ///< in net_server.sessions
    net_peer peer;    ///< 0: no connection
    uint32_t lane;    ///< of its newest connection
    bool is_deferred; ///< its lane left an event to the server's thread
    uint32_t client;  ///< 0 before welcome
    char name[NET_PLAYER_NAME_BYTES_MAX];
    bool is_bot;
    bool is_spectator;                    ///< no player: see server_gather.c
    uint32_t watched;                     ///< of a spectator: client number of a player; 0: none
    uint32_t watch_wanted;                ///< by its newest Watch
    uint64_t watch_us;                    ///< when `watched` changed
    const Shoal__Wire__Goodbye* transfer; ///< where it goes on, while its goodbye is sent
    bool must_leave_match; ///< the session is over; its player leaves the match with the next tick
    bool has_player_sent;
    bool is_renewed;  ///< another match goes on, and its client starts again: until a packet comes
    bool is_expected; ///< it joined elsewhere: what it said there is not known until it is back
    net_session_memory memory; ///< of its newest hello
    bool is_rebasing;          ///< Welcome said is_rebased, and Rebased is not sent yet
    bool was_rebased;          ///< it is; a connection that was lost may have had it
    ecs_entity player_sent;
    uint32_t strikes;
    char refusal[NET_END_TEXT_BYTES];    ///< the newest message that was refused, and why; "": none
    uint64_t strike_us[NET_STRIKES_MAX]; ///< ring by strikes % NET_STRIKES_MAX
    uint32_t packet_credit;              ///< datagrams that are still read; grows with each tick
    uint32_t control_credit;             ///< bytes of control messages; grows with each tick
    net_budget resyncs;                  ///< entities that it may request
    bool has_solo;                       ///< in the hello: it reads solo code
    bool is_solo;                        ///< its packets are coded so
    uint32_t rate_requested;             ///< in the hello, bytes per second; 0: no limit requested
    uint64_t since_us;                   ///< when the state was entered
    uint64_t received_us;                ///< arrival of the newest datagram
    bool is_quiet;                       ///< away, or silent for NET_QUIET_MS_MAX; reported
    bool has_roster;                     ///< the client has the whole roster
    bool wants_roster;                   ///< the whole roster is sent with the next ones
    bool is_roster_due;                  ///< the roster was withheld after a quick resumption
    uint64_t resume_us;                  ///< newest resumption with a roster; 0: there was none
    uint8_t resume[NET_RESUME_BYTES];    ///< the secret, from welcome on
    net_peer_identity identity;          ///< of its newest connection
    uint64_t origin;                     ///< of its address, for limits; 0: not counted
    uint64_t joined_us;                  ///< when it joined the match, or began again
    net_budget pace;                     ///< of resumptions, see session.c
    uint32_t retry_ms;                   ///< refused: it may come in after this time; 0: not known
    bool is_flooding;                    ///< more came in this tick than a client may send
    bool is_flood_reported;              ///< until flood_us is 0 again
    uint64_t flood_us;                   ///< for so long; falls while it sends less
    uint64_t deaf_us;                    ///< heard for so long without a new acknowledgement
    uint64_t deaf_ack_us;                ///< the newest acknowledgement that deaf_us knows
    net_end end;
    char end_reason[NET_END_TEXT_BYTES]; ///< of the game; empty: none
    uint32_t report;                     ///< index of its peer report; UINT32_MAX before welcome
    net_ack_receiver received;
    net_input_bases heard;
    net_event_inbox inbox;
    net_input_queue inputs;
    net_sights sights;       ///< wait for a tick
    ecs_entity sight_player; ///< to whom they are said
    net_session_out out;
} net_session;

/// Change the state. Asserts that the state machine has this arrow. `reason`: static text, for the
/// trace.
void net_session_set_state(net_server* server, net_session* session, net_session_state to,
                           const char* reason);

/// Fill bytes that no client can guess, with the config's entropy.
void net_server_draw(net_server* server, void* bytes, size_t size);
/// Open a session for a new connection. @return NULL when no slot is free.
net_session* net_server_add_session(net_server* server, net_peer peer);
/// The same without a connection: of a player that is AWAY. Only its number and name are known.
net_session* net_server_add_away(net_server* server, uint32_t client, const char* name);
/// @return NULL when no session has this connection.
net_session* net_server_find_session(net_server* server, net_peer peer);
/// @return NULL when no session has this client number.
net_session* net_server_find_number(const net_server* server, uint32_t client);
/// Connect the session through `peer` from now on; 0: it has no connection.
void net_session_set_peer(net_server* server, net_session* session, net_peer peer);
/// PLAYING or AWAY: its player is in the match, or it watches.
static inline bool net_session_is_in_match(const net_session* session) {
    return session->state == NET_SESSION_PLAYING || session->state == NET_SESSION_AWAY;
}
/// The same, or accepted: it has a name and a place.
static inline bool net_session_is_member(const net_session* session) {
    return session->state == NET_SESSION_ACCEPTED || net_session_is_in_match(session);
}
static inline bool net_session_is_player(const net_session* session) {
    return net_session_is_member(session) && !session->is_spectator;
}
static inline bool net_session_is_spectator(const net_session* session) {
    return net_session_is_member(session) && session->is_spectator;
}
/// Its player is in the match.
static inline bool net_session_has_player(const net_session* session) {
    return net_session_is_in_match(session) && !session->is_spectator;
}

/// Take what the net half saw.
void net_session_collect_sights(net_server* server, net_session* session);
/// Send a control message, count its bytes and trace it.
/// @return what net_transport send returns (a failure is counted as NET_DROP_SEND); NET_ERR_FULL
/// also
///         when the message is longer than NET_CONTROL_BYTES_MAX.
net_result net_session_send_control(net_server* server, net_session* session,
                                    const ProtobufCMessage* message);
/// The same for one that is encoded already, of this name.
net_result net_session_send_encoded(net_server* server, net_session* session, const char* name,
                                    const uint8_t* bytes, size_t size);

/// Accept after the hello: client number, peer report, secret, welcome.
void net_session_accept(net_server* server, net_session* session);
/// Choose the code of its packets, by what its hello said.
void net_session_choose_code(net_server* server, net_session* session);
/// How a session begins, for its client.
typedef enum net_session_start {
    NET_SESSION_NEW,
    NET_SESSION_RESUMED, ///< all is as it was
    NET_SESSION_REBASED, ///< entities stay, and are sent again
} net_session_start;
/// Send the welcome. @return false when that failed: the session has ended.
bool net_session_welcome(net_server* server, net_session* session, net_session_start start);

/// End a session: close its peer report, say goodbye when the peer may still listen, and mark its
/// player to leave the match. Does nothing when the session is over already.
void net_session_end(net_server* server, net_session* session, net_end end);
/// Another match goes on: who plays loses its connection, not its place, and starts again when it
/// comes back. Who does not play yet is asked to come again.
void net_session_ask_again(net_server* server, net_session* session);
/// Forget what its client sent and has. A session that plays waits for a replication state.
void net_session_renew(net_server* server, net_session* session);
/// The transport has no such connection any more: free the slot.
void net_session_gone(net_server* server, net_session* session, const char* reason);
/// The client broke the protocol. NET_STRIKES_MAX of these within NET_STRIKE_MS end the session.
void net_session_strike(net_server* server, net_session* session);

/// Where a session comes from, and how often one player or one address may open a session.

#define NET_ADMISSION_SETS 1024u ///< of addresses and players that opened a session lately
#define NET_ADMISSION_WAYS 4u

/// A bucket of NET_SESSIONS_MAX sessions, for one player or one address.
typedef struct net_admission_bucket {
    uint64_t key; ///< 0: unused
    net_budget sessions;
} net_admission_bucket;

typedef struct net_admission {
    uint64_t salt; ///< of the places in the table: a client cannot choose collisions
    net_admission_bucket buckets[NET_ADMISSION_SETS][NET_ADMISSION_WAYS];
} net_admission;

/// A session begins: take it from the bucket of its player or address. @return 0; or microseconds
/// to wait: nothing was taken.
uint64_t net_session_take_pace(net_server* server, const net_session* session);
/// May `session` be resumed now? Counts the attempt.
bool net_session_may_resume(net_server* server, net_session* session);

/// Variable-size components of one client of a server.

/// Begin. After the session's replication state was made.
void net_session_open_varsize(net_server* server, net_session* session);
/// In the net half, once per tick: send the values whose turn it is.
void net_session_send_varsize(net_server* server, net_session* session);
/// Versions that the client has, or has lost. @return false for a version that was never sent.
bool net_session_apply_varsize_ack(net_session* session, const Shoal__Wire__VarsizeAck* ack);

/// The peer report of a session: opened at welcome, closed once at the end.

/// As every line for the operator names a player: client 2 "Ada". `name` NULL: of one that is gone.
#define NET_WHO_BYTES                                                                              \
    (sizeof "spectator 4294967295 " + BASE_SHOWN_QUOTED_BYTES(NET_PLAYER_NAME_BYTES_MAX))
const char* net_server_who(uint32_t client, const char* name, char text[NET_WHO_BYTES]);
/// Give the session a client number and a peer report. From NET_REPORTS_MAX on, the oldest closed
/// report is evicted.
void net_session_open_report(net_server* server, net_session* session);
/// How a client sees an entity; 0: not at all. `repl`: its net_repl_state.
uint32_t net_session_classes_seen(void* repl, ecs_entity entity);
/// Fill in what the session counts now.
void net_session_fill_report(const net_session* session, net_peer_report* report);
/// "playing"... Static text.
const char* net_session_state_name(net_session_state state);
/// Close the report, add the session's counters to the server's, tell the operator about a session
/// that was dropped, and mark the player to leave the match. Call it before the state changes.
void net_session_close_report(net_server* server, net_session* session, net_end end);
/// Tell the operator that the player of the session joined, and from where.
void net_session_report_joined(net_server* server, const net_session* session);
/// Tell the operator that the session is refused, and why.
void net_session_report_refused(net_server* server, const net_session* session, const char* text);
/// @return The hash of what the client should have at the match's tick, once its report is closed;
///         0: not known.
uint64_t net_session_scope_hash(const net_server* server, const net_session* session);
/// The client closed the connection because its world differs (NET_END_DIFFERS).
void net_session_report_differs(net_server* server, const net_session* session, uint32_t reason);
/// Tell the operator that an entity of a client is not as the server has it.
void net_server_report_difference(net_server* server, uint32_t client, ecs_entity entity);
/// After a step: look at a few values of the world for those that no log and no client has, and
/// tell the operator which system writes them, once for each component. In the last tick at all.
void net_server_look_for_slips(net_server* server, bool is_last);
/// Add what the session's own parts have dropped.
void net_session_add_dropped(const net_session* session, uint64_t dropped[NET_DROP_COUNT]);
/// Has the client acknowledged a packet of the present tick and all before it? Then both sides know
/// the same state of that tick.
bool net_session_has_everything(const net_server* server, const net_session* session);

/// What a server traces of its sessions (net_server_config.session_trace).

/// A change of state, before it happens.
void net_session_trace_state(const net_server* server, const net_session* session,
                             net_session_state to, const char* reason);
/// A packet; `now_us` because the net half has a time of its own. `name`: static text.
void net_session_trace_packet(const net_server* server, const net_session* session, uint64_t now_us,
                              net_trace_kind kind, const char* name, uint32_t number, size_t bytes);
