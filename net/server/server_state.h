// SPDX-License-Identifier: MIT
/// Lanes: the sessions are divided among them as the transport divides its connections, and each
/// has a thread and its own scratch. A lane reads the packets of its sessions and writes theirs.
///
/// While lanes work, each touches its own net_server_lane and its own sessions; everything else is
/// only read. What concerns more than one session is deferred, and done afterwards in the order of
/// client numbers. So neither the number of lanes nor of threads changes a result.
#pragma once

#include "replicate/send_tap.h"
#include "server/session.h"
#include "session/control.h"
#include "session/input_packet.h"

#include "net/match.h"
#include "core/ration.h"
#include "net/server.h"

#include "proto/codec.h"

#include "ecs/inspect.h"

#include "base/rng.h"

/// So few datagrams are received, and packets read, sooner than threads wake up.
#define NET_LANES_LITTLE 64u

typedef struct net_server_lane net_server_lane;
typedef struct net_worker net_worker;
typedef void (*net_server_lane_fn)(net_server_lane* lane);

/// An event of the transport for a session that plays. The bytes of a message follow it.
typedef struct net_lane_event {
    net_session* session;
    net_peer peer;
    uint32_t reason;
    uint32_t size;
    uint8_t kind; ///< net_transport_event_kind
    uint8_t channel;
} net_lane_event;

/// An event that the lane could not finish: its place in the lane's queue.
typedef struct net_lane_deferred {
    uint32_t client;
    uint32_t lane;
    uint32_t at;
    bool is_strike; ///< it was read: its client broke the protocol
} net_lane_deferred;

struct net_server_lane {
    net_server* server;
    uint32_t number;
    net_worker* worker;      ///< its thread; NULL: who starts its work does it
    net_server_lane_fn work; ///< what the thread does
    // Receiving.
    proto_codec codec;
    net_match_reader reader;
    net_ack_result acks;
    net_input_packet_store input_store; ///< scratch
    uint8_t* queue;
    uint32_t queue_size, queue_capacity, queue_count;
    net_lane_deferred* deferred;
    uint32_t deferred_count, deferred_capacity;
    uint64_t resyncs;
    uint32_t differing_client;   ///< 0: none to tell the operator
    ecs_entity differing_entity; ///< that it requested
    uint64_t dropped[NET_DROP_COUNT];
    // Sending.
    uint32_t* places; ///< of net_server_out.sessions, rising
    uint32_t count, capacity;
    uint64_t state_packets, state_bytes, sends_refused;
    uint32_t solo_stopped; ///< clients that get shared code from now on
    uint32_t group_split;  ///< of which a client got a part; 0: none
    uint32_t solo_rows;    ///< for sessions with solo code
    uint8_t packet[NET_STATE_BYTES_MAX];
    uint8_t state[NET_STATE_BYTES_MAX];
};

/// Make the lanes of the transport, and with `is_threaded` a thread for each.
void net_server_open_lanes(net_server* server, bool is_threaded);
/// What a lane reads messages of the match with.
void net_server_open_reader(const net_server* server, net_match_reader* reader);
/// Let a lane do the work, on its thread; at once when it has none.
void net_server_start_lane(net_server_lane* lane, net_server_lane_fn work);
/// Let each lane do the work, the first on the calling thread; returns when all are done.
/// `is_little`: all on the calling thread, since waking others would take longer.
void net_server_run_lanes(net_server* server, net_server_lane_fn work, bool is_little);
/// Add what lanes counted to the server's counters. No lane may be working.
void net_server_count_lanes(net_server* server);

/// The phase of a server, and the goodbye to all clients.

/// Change the phase. Asserts that the new phase is later.
void net_server_set_phase(net_server* server, net_server_phase phase);
/// End all sessions with a goodbye, now: LEAVING. Does nothing when the server is leaving already.
void net_server_say_goodbye(net_server* server);

/// The state of a server, for the files of this room.
///
/// A tick has two halves. The simulation's half runs on the caller's thread and ends with the
/// hand-over (net_server_hand_over), which copies what the net half needs of sessions and match.
/// The net half (server_send.c) runs on the first lane's thread or at once. From the hand-over to
/// net_server_collect it owns net_server_out, the net_session_out of every session, the replicator,
/// interest, variable-size components and the transport. The caller's thread owns everything else
/// and may run the next tick's systems meanwhile. In each half the lanes (server_state.h) share the
/// work that belongs to single sessions.

#define NET_SERVER_SPARE_SESSIONS 8u ///< slots beyond clients_max, so that a refusal can be sent
#define NET_CLIENT_EVENTS_PER_TICK_MAX 8u ///< events of one client that one tick takes

typedef struct net_interest net_interest;
typedef struct net_replicator net_replicator;
typedef struct net_rows net_rows;
typedef struct net_varsize_source net_varsize_source;

/// A game event of a tick, for every client that sees its target.
typedef struct net_server_event {
    uint32_t message;
    bool is_reliable;
    ecs_entity target;
    uint32_t at, size;                  ///< its payload in event_bytes
    bool is_late;                       ///< net_message.is_delivered_late
    uint32_t entities_at, entity_count; ///< the entities in its payload, in event_entities
    uint32_t next;                      ///< of its chain: number + 1; 0: the last one
} net_server_event;

#define NET_EVENT_CHAINS 256u

/// The work of the net half, and what its lanes share.
typedef struct net_server_out {
    uint64_t now_us;
    ecs_tick tick;
    bool has_stepped;       ///< replication states have to learn of a new step
    bool is_hurried;        ///< another tick is due already: nothing is sent
    bool is_settling;       ///< the match stands still: send until each client has everything
    bool is_uncollected;    ///< handed over, not collected yet
    net_session** sessions; ///< players, then spectators; each by their places in the world
    uint32_t count;
    uint32_t* order; ///< slots of all sessions, by these places
    net_server_event* events;
    uint32_t event_count, event_capacity;
    base_bytes event_bytes;
    ecs_entity* event_entities;
    uint32_t event_entity_count, event_entity_capacity;
    /// Per session a bit per event: the client saw its target before this step, or sees it.
    uint64_t* seen;
    uint32_t seen_capacity, seen_words;
    uint8_t* marks; ///< by index of an entity: 1 for targets
    uint32_t mark_capacity;
    uint32_t chains[NET_EVENT_CHAINS]; ///< events by target's index: number + 1 of the first
} net_server_out;

/// Values that the game writes past their tracking (ecs_inspect_slips): each component is named
/// once.
typedef struct net_server_slips {
    ecs_slip watched; ///< to learn who writes it
    ecs_tick since;
    uint64_t said[ECS_COMPONENTS_MAX / 64 + 1]; ///< a bit per component id
} net_server_slips;

struct net_server {
    base_owner owner;
    net_server_config config;
    const base_allocator* allocator; ///< of its owner; replication has that of the config
    net_server_phase phase;
    uint64_t phase_us; ///< when the phase began
    uint64_t epoch;
    uint8_t standbys[NET_STANDBYS_MAX * NET_CONTROL_ADDRESS_BYTES]; ///< as on the wire
    size_t standby_bytes;
    char refusal[NET_END_TEXT_BYTES];    ///< of new clients; "": they may come in
    char end_reason[NET_END_TEXT_BYTES]; ///< net_server_say_why; empty: none
    bool has_failed;                     ///< the match could not be stepped, and ended
    uint64_t settle_ms_max;
    uint64_t ticks_to_pause;        ///< while RUNNING; UINT64_MAX: it does not pause
    char still[NET_END_TEXT_BYTES]; ///< why no tick begins; "": they do
    uint64_t still_us;              ///< when it stood still, newest
    uint64_t still_said_us;         ///< when players read why, newest
    uint64_t end_us;                ///< requested: when it ends, with or without answers; 0: none
    bool is_settle_prolonged;       ///< for a client that came back while settling; once per match
    uint64_t now_us;
    uint64_t alive_us; ///< when the log got the newest tick, or alive record
    net_idle idle;     ///< of the newest alive record; 0: a tick came after it
    uint64_t tick_us;
    uint32_t heartbeat_ticks; ///< a client gets a packet at least every so many ticks
    uint32_t deaf_ticks;      ///< a client that acknowledges nothing gets a packet once in so many
    uint32_t send_divisor;
    bool is_hurried;        ///< out.is_hurried of the ticks that follow
    uint64_t held_ticks;    ///< whose packets the transport holds
    uint16_t seq_first;     ///< of state packets to each client: 0; tests begin near the wrap
    net_session** sessions; ///< session_count pointers; a session is made on first use
    uint32_t session_count;
    net_name_key* name_keys;   ///< session_count; of players, by place
    net_session** by_slot;     ///< by slot of net_peer: NET_PEER_SLOTS pointers
    uint32_t clients_named;    ///< client numbers given so far; none is used twice
    uint32_t spectators_named; ///< the same of spectators
    base_rng rng;              ///< of secrets, when the config has no source of entropy
    net_rows* rows;
    net_interest* interest;
    net_replicator* replicator;
    net_varsize_source* varsize;
    bool is_recalling;       ///< it follows, or a player of another server is not rebased here yet
    net_event_outbox recent; ///< while it is so: reliable events of the last ticks, for all clients
    net_admission* admission;
    net_repl_state** leavers; ///< of sessions that are over, oldest first; session_count places
    uint32_t leaver_count;
    int64_t join_credit[2]; ///< entities that joins of players, and of spectators, may walk; below
                            ///< 0: later joins pay
    uint64_t walk_credit;   ///< entities that reports may still walk, as of walk_tick
    ecs_tick walk_tick;
    net_peer_report* reports;
    uint32_t report_count, report_capacity;
    uint32_t report_next; ///< where the search for the oldest closed report begins
    net_server_lane* lanes;
    uint32_t lane_count;
    uint32_t little; ///< NET_LANES_LITTLE; tests let threads do all
    proto_codec codec;
    proto_codec answer_codec; ///< of schema answers, the only long messages of clients
    net_ration ration;        ///< of lines that clients can cause
    net_server_counters counters;
    uint64_t solo_rows; ///< of a tick on the average, times NET_SOLO_AVERAGE_TICKS
    // Scratch of a tick; session_count elements each.
    net_ack_result acks;
    net_tick_leave* leaves;
    net_game_player* joins;
    net_session** joining;
    net_tick_input* inputs;
    Shoal__Wire__RosterEntry* roster;
    uint32_t* roster_gone;
    uint32_t roster_capacity;
    uint32_t homeless;      ///< players of the match with is_homeless
    net_tick_event* events; ///< of clients; payloads lie in their inboxes, and in sight_bytes
    uint32_t event_capacity;
    base_bytes sight_bytes;
    net_server_out out;
    net_server_slips slips;
    uint64_t events_gone;                                ///< as the world counts them
    uint64_t gone_said[(ECS_EVENT_TYPES_MAX + 63) / 64]; ///< by event type - 1
    bool is_split_said;                                  ///< that a group is larger than a packet
    void* tapped;                                        ///< what config.tap keeps
    uint64_t part_us[NET_PART_COUNT];                    ///< of the newest tick
};

enum {
    NET_SOLO_AVERAGE_TICKS = 64,
    NET_SOLO_KNOWN_MS = 2000, ///< how long a client plays until its rows say what it costs
};

/// Bytes a second that a client may get, at most.
static inline uint32_t net_server_rate_max(const net_server* server) {
    return server->config.rate_bytes_max ? server->config.rate_bytes_max : NET_RATE_BYTES_DEFAULT;
}

/// Rows for sessions with solo code.
static inline uint64_t net_server_solo_rows_per_s(const net_server* server) {
    return server->solo_rows * 1000000u / server->tick_us / NET_SOLO_AVERAGE_TICKS;
}

/// May one client more have solo code, beside `count` of which `known` cost so many rows?
static inline bool net_solo_has_room(uint32_t count, uint32_t known, uint64_t rows_per_s) {
    return count < NET_SOLO_CLIENTS_LEAST ||
           (known > 0 && rows_per_s * (count + 1) <= (uint64_t)NET_SOLO_ROWS_PER_S_MAX * known);
}

/// Walk the sessions: the one after `session`, NULL: the first. They are made in the order of their
/// places. @return NULL at the end.
static inline net_session* net_server_next(const net_server* server, const net_session* session) {
    const uint32_t place = session ? session->place + 1 : 0;
    return place < server->session_count ? server->sessions[place] : NULL;
}

static inline void net_server_drop(net_server* server, net_drop reason, uint64_t count) {
    server->counters.dropped[reason] += count;
}

/// Bytes that the transport sent to the present connection of a session.
static inline uint64_t net_server_sent_bytes(const net_server* server, const net_session* session) {
    const net_transport* transport = server->config.transport;
    return transport->ops->peer_sent_bytes
               ? transport->ops->peer_sent_bytes(transport, session->peer)
               : 0;
}

/// More than `ms` since `since_us`?
static inline bool net_server_is_older(const net_server* server, uint64_t since_us, uint64_t ms) {
    return server->now_us > since_us && server->now_us - since_us > ms * 1000u;
}

/// Who may come in, how often, and who gives a place when the house is full.

/// Why a client may not come in.
typedef struct net_refusal {
    Shoal__Wire__RefusedReason reason; ///< REFUSED_NONE: it may
    char text[192];                    ///< one sentence for a person, who can act on it
} net_refusal;

/// Has its address too many connections without a player already? Then this one is closed at once.
bool net_server_is_crowded(const net_server* server, const net_session* session);
/// A slot for a new connection when none is free: the connection that waits longest without a
/// hello gives its own. @return false when no one can.
bool net_server_free_greeting(net_server* server);
/// Check a client that greets, before anything else is looked at: is it banned?
void net_server_check_ban(net_server* server, const net_session* session, net_refusal* refusal);
/// Check a client that wants to join: pace, places of its address, room. May end the session of a
/// member that shows no life.
void net_server_check_join(net_server* server, net_session* session, bool is_here,
                           net_refusal* refusal);

/// Lost connections of sessions, and the way back.

/// The connection of a PLAYING session is lost: it becomes AWAY.
void net_session_lose(net_server* server, net_session* session);
/// A datagram of the session came.
void net_session_mark_received(net_server* server, net_session* session);
/// Once per tick: report a session from which nothing came for NET_QUIET_MS_MAX.
void net_session_watch(net_server* server, net_session* session);
/// @return the session in the match that owns these NET_RESUME_BYTES; NULL when there is none.
/// `is_elsewhere`: it owned them before its player joined elsewhere.
net_session* net_server_find_secret(net_server* server, const uint8_t* secret, bool* is_elsewhere);
/// @return the member with the same player as `greeting`, certainly; NULL when there is none.
net_session* net_server_find_same(net_server* server, const net_session* greeting);
/// The player of `first` joined elsewhere, as `greeting`. @return true: it goes on there, with its
/// entity, and the slot of `greeting` is free; false: it was not in the match yet: `first` ended.
bool net_session_take_place(net_server* server, net_session* first, net_session* greeting);
/// Continue `session` with the connection of `greeting`, whose slot is free afterwards.
void net_session_resume(net_server* server, net_session* session, net_session* greeting);
/// The same for a client that has nothing of the session but its secret.
void net_session_resume_anew(net_server* server, net_session* session, net_session* greeting);

/// Players that were at another server of the match (server_rebase.c).

/// An event of this tick is for clients: keep it for those that are not here.
void net_server_keep_event(net_server* server, const net_server_event* event);
/// The session has a replication state: go on where its client was.
/// @return false when it cannot: end the session.
bool net_session_begin_rebase(net_server* server, net_session* session);
/// Once per tick, after the net half was collected: inform the clients that have everything.
void net_server_end_rebases(net_server* server);
void net_session_send_rebased(net_server* server, net_session* session);

/// Spectators: sessions without a player.

/// Once per tick, after the net half was collected and players were held: those that were accepted
/// begin to watch.
void net_spectators_begin(net_server* server);
/// Let it see what the player sees that it watches, when that one is in the match.
void net_spectator_follow(net_server* server, const net_session* session);
/// Once per tick. @return the entity of the player that it watches.
ecs_entity net_spectator_player(net_server* server, net_session* session);

/// Replication states of clients that left: destroyed bit by bit.

/// Once per tick, after the net half was collected: destroy a few.
void net_server_destroy_leavers(net_server* server);
/// Destroy all, at the end.
void net_server_close_leavers(net_server* server);

/// What comes into a tick of a server.

/// Gather what comes into the tick begin->tick: leaves, joins, and of each session its events and
/// its input. The players that join begin to play: server->joining has their sessions, in the order
/// of begin->joins. The rest of a tick's limits waits. Lists of `begin` are the server's, until the
/// next tick.
void net_server_gather(net_server* server, net_tick_inputs* begin);
/// Ask net_server_config.admit for a player that was accepted; it is described.
bool net_session_is_admitted(const net_server* server, const net_session* session,
                             net_game_player* player);
/// Does a player wait for it?
bool net_server_has_unadmitted(const net_server* server);
/// List the sessions for which `is_listed` into server->joining, by client number: the one that
/// waits longest comes first. @return how many.
uint32_t net_server_list_sessions(net_server* server,
                                  bool (*is_listed)(const net_session* session));

/// Game events of a tick on their way to clients.

/// Keep an event of the world for all clients that see its target, when the module exports its
/// type. On the caller's thread, after the step. Counts an event that does not fit.
void net_server_add_event(net_server* server, const ecs_event* event);
/// Count events to clients that no client gets: the entity that they are about died in the same
/// tick.
void net_server_count_gone(net_server* server, ecs_event_type type, uint64_t count);
/// In the net half, before the replicator publishes: index the events by their targets, and note
/// which clients see the targets that this tick destroyed. They still get the events about them.
void net_server_mark_seen(net_server* server);
/// In the net half, after the replicator published: queue the events that session `place` of the
/// hand-over may see. A full queue of reliable events marks the session as failed: none may be lost
/// silently.
void net_server_queue_events(net_server* server, uint32_t place);

/// Packets of sessions that play: queued by lane, read by the lanes.

/// Queue an event for a session that plays, with a copy of its bytes. @return false when the
/// lane's queue is full: nothing was queued.
bool net_server_queue_event(net_server* server, net_session* session,
                            const net_transport_event* event);
/// Let the lanes read what is queued. Then their lists of deferred events, the first lane's before
/// the second's, are in the order of clients; the caller empties the queues.
/// @return false: nothing was queued.
bool net_server_read_queues(net_server* server);
/// An event of a lane's queue.
const net_lane_event* net_lane_event_at(const net_server_lane* lane, uint32_t at);
/// Why an event has no effect now: its session ended or changed its connection since it was queued.
/// @return NET_DROP_COUNT: it has one.
net_drop net_lane_check_event(const net_lane_event* event);
/// Take a packet with the scratch of a lane. @return false when the client broke the protocol.
bool net_lane_take_packet(net_server_lane* lane, net_session* session, const uint8_t* bytes,
                          size_t size);

/// The roster: each client knows number, name and kind of all players.

#define NET_RESUME_QUIET_MS                                                                        \
    1000u ///< after a resumption, roster and line of the next one wait so long

/// Send the whole roster to one client. Ends the session when that fails.
void net_session_send_roster(net_server* server, net_session* session);
/// Was the last resumption with a roster less than NET_RESUME_QUIET_MS ago?
bool net_session_has_resumed_just_now(const net_server* server, const net_session* session);
/// After the joins and leaves of a tick: new players get the whole roster, all others the changes.
void net_server_send_rosters(net_server* server, const net_tick_inputs* begin);
/// Send the rosters that were withheld after quick resumptions, when it is time.
void net_server_send_due_rosters(net_server* server);

/// Does no tick begin now, although the match is not over?
static inline bool net_server_is_still(const net_server* server) {
    return server->still[0] != '\0' && server->phase <= NET_SERVER_RUNNING;
}
/// In a tick that does not begin: say why again, when it is time.
void net_server_say_still(net_server* server);
/// Does the client get a packet in this tick, when there is something for it?
bool net_server_is_turn(const net_server* server, uint32_t client);
/// What is sent from now on is of this tick; 0: of none.
static inline void net_server_hold(net_server* server, ecs_tick tick) {
    net_transport* transport = server->config.transport;
    server->held_ticks = transport->ops->hold ? transport->ops->hold(transport, tick) : 0;
}

/// The net half of a tick, and its beginning and end on the caller's thread.

#define NET_STATE_PACKETS_PER_TICK_MAX 8u ///< to one client
/// A further packet of a tick costs a header, so its rows wait for the next tick unless they fill
/// so much. Lines of 64 and 100 kbit/s carry 13 and 35 % more rows for it.
#define NET_FURTHER_BYTES_MIN 400u

/// Copy what the net half needs and let it run, on the first lane's thread if it has one. After
/// net_server_collect. `has_stepped`: the match has stepped since the last hand-over.
void net_server_hand_over(net_server* server, bool has_stepped);
/// Wait for the net half and take over its results. Call it before touching the transport, a
/// net_session_out, the replicator or variable-size components. Does nothing when nothing was
/// handed over.
void net_server_collect(net_server* server);
