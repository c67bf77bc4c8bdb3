// SPDX-License-Identifier: MIT
/// The server's side: sessions, inputs, replication, log; wiring of a match to a transport.
///
/// The caller owns the loop and the clock: net_server_service between ticks as often as datagrams come,
/// net_server_tick once per tick. Threads: one calls; with is_threaded the server has one of its own, which
/// builds and sends the datagrams of a tick while the caller's runs the systems of the next. Calls other than
/// net_server_tick wait for it, so do not service while net_server_wait_sent is false and a tick is due. The
/// datagrams are the same either way.
#pragma once

#include "net/drops.h"
#include "net/end.h"
#include "net/trace.h"
#include "net/transport.h"
#include "net/world_digest.h"

typedef struct net_match net_match;           ///< net/match.h
typedef struct net_log_writer net_log_writer; ///< net/log_writer.h

/// Bytes that nobody can guess.
typedef void (*net_entropy_fn)(void* context, void* bytes, size_t size);

typedef struct net_server_config {
    /// With is_threaded both threads use it, at the same time.
    const base_allocator* allocator;
    net_match* match;         ///< owned by the caller
    net_transport* transport; ///< owned by the caller
    net_log_writer* log;      ///< NULL: none; owned by the caller
    uint32_t clients_max;
    uint32_t clients_min; ///< hold tick 1 until so many are in
    ecs_tick ticks_max;   ///< 0: no end
    const base_reporter*
        reporter; ///< operator messages (who is away, was dropped and why); may be NULL
    /// For secrets that bring clients back. NULL: from the match's seed, so that a test repeats itself; to a
    /// stranger such secrets are no secrets.
    net_entropy_fn entropy;
    void* entropy_context;
    uint32_t rate_bytes_max; ///< per client and second, at most; 0: NET_RATE_BYTES_DEFAULT
    uint32_t
        send_divisor; ///< client c is sent to at ticks that are c mod this; 0 or 1: at every tick
    bool is_threaded; ///< a thread of its own for what goes out, if there can be one
    /// Called for each packet and each change of a session's state; NULL: no trace. With is_threaded both threads
    /// call it, possibly at the same time.
    net_trace_fn session_trace;
    void* session_trace_context;
    bool has_bandwidth; ///< count every bit by client, component and cause
} net_server_config;

typedef struct net_server net_server;

typedef enum net_server_phase {
    NET_SERVER_HOLDING, ///< waits for clients_min
    NET_SERVER_RUNNING,
    NET_SERVER_SETTLING, ///< after ticks_max: stands still until every client acknowledged everything
    NET_SERVER_LEAVING, ///< goodbyes are on their way
    NET_SERVER_ENDED,
} net_server_phase;

BASE_MUST_USE net_result net_server_create(const net_server_config* config, net_server** server);
void net_server_destroy(net_server* server);
/// Receive: drain the transport, decode, queue. Any number of times between ticks.
void net_server_service(net_server* server, uint64_t now_us);
/// One tick: log, step, track, log, replicate, send. While holding or settling
/// nothing is simulated, datagrams still flow.
void net_server_tick(net_server* server, uint64_t now_us);
/// Ask for an orderly end (signals): the world stands still, at most NET_STOP_MS_MAX for everyone to
/// acknowledge everything, then goodbye to all, then ENDED. A second call says goodbye at once.
void net_server_stop(net_server* server, uint64_t now_us);
net_server_phase net_server_get_phase(const net_server* server);

/// Per client, living or gone: the peer line.
typedef struct net_peer_report {
    uint32_t client;
    ecs_tick tick; ///< at the end of its session; 0 when it is not known to hold all of that tick
    net_world_digest scope; ///< of the world at that tick; empty with tick 0
    net_end end;
    bool is_caught_up; ///< had acknowledged everything
    uint64_t packets_sent, packets_lost, state_bytes;
    uint64_t inputs_received, inputs_late, inputs_repeated, inputs_malformed;
    double rtt_ms;
    uint64_t
        inputs_missing; ///< of inputs_late: never came, although repeated NET_INPUT_REDUNDANCY times
    uint64_t
        inputs_skipped; ///< of inputs_late: dropped to bound the latency; the rest was used late
    uint64_t inputs_settled; ///< came late, but said what had been repeated in their place
} net_peer_report;
uint32_t net_server_report_count(const net_server* server);
const net_peer_report* net_server_report(const net_server* server, uint32_t index);

typedef struct net_server_counters {
    uint32_t clients; ///< now
    uint32_t clients_peak;
    uint64_t joins, refusals, drops; ///< drops: sessions that ended by silence or a fault
    uint64_t resumes;                ///< sessions that went on with another connection
    uint64_t state_packets, state_bytes;
    uint64_t resyncs;                 ///< rows that clients asked for
    uint64_t dropped[NET_DROP_COUNT]; ///< of sessions that are over, and what is no session's
} net_server_counters;
/// As of the last call that is not net_server_tick. What living sessions dropped is in net_server_dropped.
const net_server_counters* net_server_get_counters(const net_server* server);
/// Everything that was dropped so far, by reason.
void net_server_dropped(net_server* server, uint64_t dropped[NET_DROP_COUNT]);
/// Has all that was ticked gone out? Waits until a time of CLOCK_MONOTONIC (net_loop_now_us) at most; 0: does
/// not wait, UINT64_MAX: as long as it takes.
bool net_server_wait_sent(net_server* server, uint64_t until_us);
/// A line of the bandwidth: client 0 is all of them; without a component "-".
typedef struct net_bandwidth_line {
    uint32_t client;
    const char* component;
    const char* cause;
    uint64_t bits;
    double share; ///< of the client's sum
} net_bandwidth_line;
typedef void (*net_bandwidth_line_fn)(void* context, const net_bandwidth_line* line);
/// What was sent, most first: all together, then `client_lines_max` lines of each client, living or gone (of
/// 4,096 at most). The sum of all together is 8 times the transport's sent_bytes, exactly; what ENet adds is told
/// there only, as "transport". Nothing without has_bandwidth. @return false when memory ran out.
bool net_server_bandwidth(net_server* server, uint32_t client_lines_max, net_bandwidth_line_fn line,
                          void* context);
/// Walk the world as client `client` should see it, into text (--dump-world); 0, or one who does not play: all
/// that is replicated.
net_world_digest net_server_scope(net_server* server, uint32_t client, ecs_line_fn line,
                                  void* context);
