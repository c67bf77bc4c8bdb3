// SPDX-License-Identifier: MIT
/// A server that stands by: it runs the match of another server again, out of the stream, compares
/// each hash, and goes on with the match when that server is silent. The stream decides which
/// server has the match: the one whose claim it took. Without sockets and clocks: time is an
/// argument.
#pragma once

#include "net/stream.h"
#include "stream/follow.h"

typedef struct net_standby_config {
    const base_allocator* allocator; ///< NULL: the heap
    net_broker broker;               ///< a user that reads, and that claims
    const char* name;                ///< of the stream, in reports; outlives the standby
    /// Of silence, while the broker answers, until it claims the match; two ticks at least.
    uint64_t takeover_us;
    const base_reporter* reporter;
} net_standby_config;

/// A tick that ended two servers may still be running on the second one.
#define NET_STANDBY_GIVE_UP_MS 10000u

typedef enum net_standby_state {
    NET_STANDBY_WAITS,    ///< nothing is due
    NET_STANDBY_RAN,      ///< a tick of the match ran
    NET_STANDBY_CLAIMS,   ///< the broker did not answer the claim yet
    NET_STANDBY_HAS,      ///< the match goes on here, and the writer has the stream
    NET_STANDBY_ENDED,    ///< the match is over
    NET_STANDBY_DIVERGED, ///< the run here is not the match: reported
    NET_STANDBY_FAILED,   ///< reported
} net_standby_state;

typedef struct net_standby net_standby;

BASE_MUST_USE net_standby* net_standby_create(const net_standby_config* config);
/// NULL does nothing.
void net_standby_destroy(net_standby* standby);
/// What runs the match again: net_follow_find comes first. Borrowed.
net_follow* net_standby_follow(net_standby* standby);
/// What the match goes on with: the tap of this server's own log, which it has from tick 1 on, and
/// a writer with the tap's source and the broker of the config, which is the writer's alone from
/// NET_STANDBY_HAS on. Both are borrowed, and not used by others before net_standby_run returned
/// that. Once, before the first run.
void net_standby_open(net_standby* standby, net_stream_tap* tap, net_stream_writer* writer);
/// Do what is due, at most a tick. Of the states behind NET_STANDBY_CLAIMS none changes again.
net_standby_state net_standby_run(net_standby* standby, net_server* server, uint64_t now_us);
typedef struct net_standby_report {
    ecs_tick newest;       ///< tick that the stream has, as last heard; 0: none
    uint64_t lag_messages; ///< that the stream has and that did not come yet, as last heard
    uint64_t silence_us;   ///< that counts
    uint64_t late_us;      ///< net_stream_follower_info.late_us
    uint64_t epoch;        ///< of the server that has the match; 0: not known
    uint64_t key_id;       ///< net_stream_claim.key_id of that server
    uint64_t compared;     ///< ticks that ran and were the same
    bool is_given_up;      ///< a tick ended two servers
    bool is_connected;     ///< to the broker
    uint64_t reconnects;
    uint32_t waiting; ///< messages of the stream that came and were not looked at
} net_standby_report;
net_standby_report net_standby_get_report(const net_standby* standby);
