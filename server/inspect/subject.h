// SPDX-License-Identifier: MIT
/// What verbs look at and change: a match and what is around it. The owner of the loop fills it,
/// again whenever one of them is exchanged (a reload); only the loop's thread uses it.
#pragma once

#include "config.h"
#include "lines.h"
#include "meter.h"

#include "base/options.h"
#include "base/report.h"
#include "net/log.h"
#include "net/match.h"
#include "net/server.h"
#include "net/stream.h"
#include "net/token.h"
#include "net/transport.h"
#include "stream/follow.h"
#include "stream/standby.h"

#define SERVER_DRAIN_S_DEFAULT 3600u ///< of the verb

typedef struct server_metrics server_metrics; ///< metrics.h

/// What the inspector did so far.
typedef struct server_inspect_counts {
    uint32_t connections;  ///< now
    uint64_t responses[6]; ///< by the first digit of their status
    uint64_t frames_lost;  ///< of streams, that slow readers did not get
    uint64_t lacks;        ///< connections that came while no descriptor was left
    uint64_t cuts;         ///< answers that lack something, because their time was over
} server_inspect_counts;

/// What the stream of the match did so far (server/fleet/stream.c).
typedef struct server_stream_counts {
    net_stream_status status;
    uint64_t records; ///< that the log appended, of the kinds that the stream has
    uint64_t reconnects;
    uint64_t waiting_bytes; ///< of records, in memory
    uint32_t waiting;       ///< messages that came from the broker and were not looked at
    uint32_t takeovers;     ///< of the match, by this server
    net_stream_safety safety;
    uint64_t held_bytes; ///< for clients, until what they are about is stored
    uint64_t still_us;   ///< the match stood still so long, in all
} server_stream_counts;

typedef struct server_subject {
    net_match* match;
    uint64_t identity; ///< of the match, that of its log and stream
    net_server* server;
    net_transport* transport;
    net_log_writer* log;                ///< NULL: no log
    bool lacks_log;                     ///< it should have one: the disk took none
    const char* log_file;               ///< "none": no log has a file
    const server_stream_counts* stream; ///< NULL: no --stream
    const base_reporter* reporter;
    server_lines* lines;
    bool is_served; ///< over HTTP
    server_inspect_counts http;
    server_metrics* metrics;
    uint64_t start_us; ///< of the loop, net_loop_now_us
    uint64_t tick_rate_hz;
    uint64_t ticks_given_up; ///< that were due while the machine was busy
    server_meter* meter;
    const net_standby_report* standby; ///< NULL: it stands by no match, or has it
    const net_follow_report* follow;   ///< of a match that runs elsewhere; NULL: it runs here
    const base_options* options;       ///< with their sources
    uint32_t clients_max, spectators_max;
    uint64_t reader_delay_s; ///< so late readers see the match; 0: live
    bool is_paused;
    bool is_empty;   ///< paused until a player comes (--pause-when-empty)
    bool is_unready; ///< no player may join now: the match is elsewhere, or behind
    bool may_edit;   ///< set and put may change the match
    net_bans* bans;
    bool has_controls; ///< the log takes what an operator does to the match, or there is no log
    // Set by verbs; the loop does it and sets it back.
    bool is_end_asked;
    bool is_reload_asked;
    bool is_handover_asked;
    bool is_restream_asked;
    uint64_t drain_s_asked; ///< 0: not asked
} server_subject;

/// What the log did so far. A match whose disk took no log loses each of its ticks.
static inline net_log_counters server_subject_log(const server_subject* subject) {
    if (subject->log) return net_log_get_counters(subject->log);
    return (net_log_counters){.ticks_lost =
                                  subject->lacks_log ? net_match_tick(subject->match) : 0};
}
