// SPDX-License-Identifier: MIT
/// The state of a server, for the files of this room.
///
/// A tick has two halves. The simulation's half runs on the caller's thread and ends with the
/// hand-over (net_server_hand_over), which copies what the net half needs of sessions and match.
/// The net half (server_send.c) runs on the server's own thread or at once. From the hand-over to
/// net_server_collect it owns net_server_out, the net_session_out of every session, the replicator,
/// interest, variable-size components and the transport. The caller's thread owns everything else
/// and may run the next tick's systems meanwhile. In each half the lanes (server_lane.h) share the
/// work that belongs to single sessions.
#pragma once

#include "replicate/bandwidth.h"
#include "server/server_lane.h"
#include "server/session.h"
#include "session/names.h"

#include "base/rng.h"
#include "net/ration.h"
#include "net/server.h"
#include "proto/codec.h"

#define NET_SERVER_SPARE_SESSIONS 8u ///< slots beyond clients_max, so that a refusal can be sent
#define NET_CLIENT_EVENTS_PER_TICK_MAX 8u ///< events of one client that one tick takes

typedef struct net_admission net_admission; ///< server/session_origin.h
typedef struct net_interest net_interest;
typedef struct net_log_event net_log_event;
typedef struct net_log_input net_log_input;
typedef struct net_log_leave net_log_leave;
typedef struct net_replicator net_replicator;
typedef struct net_rows net_rows;
typedef struct net_varsize_source net_varsize_source;
typedef struct net_worker net_worker;

/// A game event of a tick, for every client that sees its target.
typedef struct net_server_event {
    uint32_t message;
    bool is_reliable;
    ecs_entity target;
    uint32_t size;
    uint8_t payload[NET_EVENT_PAYLOAD_BYTES_MAX];
    bool is_late; ///< net_message.is_delivered_late
    uint32_t entity_count;
    ecs_entity entities[NET_EVENT_ENTITIES_MAX]; ///< entities in the payload
} net_server_event;

/// The work of the net half, and what its lanes share.
typedef struct net_server_out {
    uint64_t now_us;
    ecs_tick tick;
    bool has_stepped;    ///< replication states have to learn of a new step
    bool is_settling;    ///< the match stands still: send until each client has everything
    bool is_uncollected; ///< handed over, not collected yet
    net_session** sessions;
    uint32_t count;
    net_server_event* events;
    uint32_t event_count, event_capacity;
    uint64_t* seen; ///< per session a bit per event: the client saw its target before this step
    uint32_t seen_capacity, seen_words;
} net_server_out;

/// The bandwidth account of a session that is over.
typedef struct net_server_account {
    uint32_t client;
    net_bandwidth_account account;
} net_server_account;

struct net_server {
    net_server_config config;
    const base_allocator* allocator;
    net_server_phase phase;
    uint64_t phase_us; ///< when the phase began
    bool has_failed;   ///< memory ran out, and so the match ended
    uint64_t settle_ms_max;
    uint64_t end_us;          ///< requested: when it ends, with or without answers; 0: none
    bool is_settle_prolonged; ///< for a client that came back while settling; once per match
    uint64_t now_us;
    uint64_t alive_us; ///< when the log got the newest tick, or alive record
    uint64_t tick_us;
    uint32_t heartbeat_ticks; ///< a client gets a packet at least every so many ticks
    uint32_t deaf_ticks;      ///< a client that acknowledges nothing gets a packet once in so many
    uint32_t send_divisor;
    uint16_t seq_first;     ///< of state packets to each client: 0; tests begin near the wrap
    net_session** sessions; ///< session_count pointers; a session is made on first use
    uint32_t session_count;
    net_name_key* name_keys; ///< session_count; of players, by place
    uint32_t player_count;   ///< net_session_is_player
    net_session** by_slot;   ///< by slot of net_peer: NET_PEER_SLOTS pointers
    uint32_t clients_named;  ///< client numbers given so far; none is used twice
    base_rng rng;            ///< of secrets, when the config has no source of entropy
    net_rows* rows;
    net_interest* interest;
    net_replicator* replicator;
    net_varsize_source* varsize;
    net_admission* admission;
    net_repl_state** leavers; ///< of sessions that are over, oldest first; session_count places
    uint32_t leaver_count;
    int64_t join_credit;  ///< entities that joins may walk; below 0: later joins pay
    uint64_t walk_credit; ///< entities that reports may still walk, as of walk_tick
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
    bool has_bandwidth;
    net_bandwidth bandwidth;
    net_bandwidth_account bandwidth_rest;  ///< of no client's account: greetings, goodbyes
    net_server_account* bandwidth_clients; ///< of sessions that are over
    uint32_t bandwidth_client_count, bandwidth_client_capacity;
    // Scratch of a tick; session_count elements each.
    net_ack_result acks;
    net_log_leave* leaves;
    net_game_player* joins;
    net_session** joining;
    net_log_input* inputs;
    Shoal__Wire__RosterEntry* roster;
    uint32_t* roster_gone;
    net_log_event* events; ///< session_count * NET_CLIENT_EVENTS_PER_TICK_MAX
    net_event_outbox_entry* event_copies;
    net_server_out out;
    net_worker* worker; ///< NULL: the net half runs at once
};

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
