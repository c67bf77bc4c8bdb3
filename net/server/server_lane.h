// SPDX-License-Identifier: MIT
/// Lanes: the sessions are divided among them as the transport divides its connections, and each
/// has a thread and its own scratch. A lane reads the packets of its sessions and writes theirs.
///
/// While lanes work, each touches its own net_server_lane and its own sessions; everything else is
/// only read. What concerns more than one session is deferred, and done afterwards in the order of
/// client numbers. So neither the number of lanes nor of threads changes a result.
#pragma once

#include "server/session.h"

#include "net/match_messages.h"
#include "proto/codec.h"

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
    net_worker* worker;      ///< NULL: another thread does its work
    net_server_lane_fn work; ///< what the worker does
    // Receiving.
    proto_codec codec;
    bool has_codec;
    net_match_reader reader;
    net_ack_result acks;
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
    uint8_t packet[NET_STATE_BYTES_MAX];
    uint8_t state[NET_STATE_BYTES_MAX];
};

static inline void net_lane_drop(net_server_lane* lane, net_drop reason, uint64_t count) {
    lane->dropped[reason] += count;
}

/// Make the lanes of the transport, and with `is_threaded` a thread for each but the first, whose
/// work the calling thread does. @return NET_OK; NET_ERR_MEMORY: close them.
BASE_MUST_USE net_result net_server_open_lanes(net_server* server, bool is_threaded);
void net_server_close_lanes(net_server* server);
/// Let each lane do the work, on the threads when there are; returns when all are done.
/// `is_little`: on the calling thread, since waking others would take longer.
void net_server_run_lanes(net_server* server, net_server_lane_fn work, bool is_little);
/// Add what lanes counted to the server's counters. No lane may be working.
void net_server_count_lanes(net_server* server);
