// SPDX-License-Identifier: MIT
/// A match that runs on another server, run again here: its records come from a log that grows or
/// from a stream, a delay later. Each hash is compared. What a relay is made of, without sockets
/// and clocks: time is an argument.
#pragma once

#include "log/log_feed.h"
#include "net/log.h"
#include "net/match.h"
#include "net/server.h"
#include "net/stream.h"

/// A stream as a feed, as a file is one. The header must be there (net_stream_follower_header,
/// asserted). Each call of `next` polls the follower when it has no record, at the time of the
/// newest poll, so a loop until NOTHING takes all that came. Lives as long as the follower; FAILED
/// is not reported: see net_stream_follower_info.text.
net_log_feed net_stream_follower_feed(net_stream_follower* follower);

typedef struct net_follow_config {
    const base_allocator* allocator; ///< NULL: the heap
    const char* file;         ///< the log, of a server that writes it or is gone; or its name
    const net_log_feed* feed; ///< records from its first one on, which outlives it; NULL: the file
    const net_broker* broker; ///< of a stream with these records; NULL: no stream. Outlives it
    uint64_t who; ///< with `broker`: the relay in its reports, drawn at random; 0: none are sent
    uint64_t delay_us; ///< at most NET_FOLLOW_DELAY_S_MAX
    bool is_whole;     ///< from tick 1 on; else from the newest keyframe that is due
    /// With `broker` or `feed`: a log of the match, whose newest keyframe that is due comes first;
    /// NULL: tick 1 does.
    const char* begin_file;
    const base_reporter* reporter;
} net_follow_config;
#define NET_FOLLOW_DELAY_S_MAX 3600u

typedef enum net_follow_state {
    NET_FOLLOW_WAITS,    ///< no tick is due
    NET_FOLLOW_RAN,      ///< a tick ran
    NET_FOLLOW_ENDED,    ///< the match ended: its server closed the log
    NET_FOLLOW_LOST,     ///< its server is gone, and closed nothing
    NET_FOLLOW_DIVERGED, ///< the run here is not the match: reported
    NET_FOLLOW_FAILED,   ///< reported: a record that the match cannot take, damage
} net_follow_state;

typedef struct net_follow net_follow;

/// Open the source; its header is read. The caller owns the follower; texts outlive it.
/// @return NET_OK; what net_log_reader_create returns (reported); of a feed NET_ERR_VERSION,
///         NET_ERR_DAMAGED (reported: its header).
BASE_MUST_USE net_result net_follow_create(const net_follow_config* config, net_follow** follow);
/// NULL does nothing.
void net_follow_destroy(net_follow* follow);
/// Has the first message of the stream come? Before any other call, of a follower with a broker.
/// @return NET_ERR_FULL: ask again; NET_OK; NET_ERR_VERSION, NET_ERR_DAMAGED (reported: it is no
///         stream of a match).
BASE_MUST_USE net_result net_follow_find(net_follow* follow, uint64_t now_us);
/// The follower of the stream, of a follower with a broker. Borrowed.
net_stream_follower* net_follow_stream(net_follow* follow);
/// What its header says.
const net_log_info* net_follow_info(const net_follow* follow);
/// Make the match, at the tick with which it begins here. The caller owns it; the module outlives
/// both.
/// @return as net_log_replay_create, for begin_file too; NET_ERR_MODULE also for a log after a
///         reload (reported); NET_ERR_DIVERGED: begin_file is of another match (reported).
BASE_MUST_USE net_result net_follow_make_match(net_follow* follow, const net_module* module,
                                               net_match** match);
/// Run the next tick of the match on its server (is_following), if it is due.
net_follow_state net_follow_run(net_follow* follow, net_server* server, uint64_t now_us);
/// When the next tick is due; UINT64_MAX: it has not come.
uint64_t net_follow_due_us(const net_follow* follow);

/// How far from the source's end, which is not what has come: of a stream its broker says where
/// that is. When it says nothing, the match is taken to go on. Of the delay nothing counts.
typedef struct net_follow_report {
    ecs_tick newest;     ///< tick that has come from the source; 0: none
    ecs_tick tick;       ///< newest that ran here; 0: none
    ecs_tick end;        ///< newest tick that the source has, as last heard
    uint64_t behind_us;  ///< so much of the match should have run here, and did not
    uint64_t silent_us;  ///< since the newest that came
    uint64_t kept_bytes; ///< of ticks that wait
    net_idle reason;     ///< why no tick came last; 0: one did
    bool is_cut;         ///< the stream's broker does not answer
    bool is_waiting;     ///< its server waits for the broker
} net_follow_report;
net_follow_report net_follow_get_report(const net_follow* follow, uint64_t now_us);

/// The server of the match is gone for certain, and no other one goes on with it: the match goes on
/// here. A tick that it began and did not end is run with what entered it, then the players have
/// places here (net_server_take_over). All that came must have run (net_follow_run: WAITS).
/// @return NET_OK; NET_ERR_DAMAGED (reported: it cannot go on);
///         NET_ERR_FULL (reported: more players than places).
BASE_MUST_USE net_result net_follow_take_over(net_follow* follow, net_server* server,
                                              uint64_t now_us);

// ---- when a tick is due ----

// A feed that gives each tick of a match a fixed time after it was made.
//
// Records have no time of day. What is known is when they came, and that a server makes no tick
// sooner than its rate allows. So with tick N, which came at t, tick T before it was made at
// t - (N - T) ticks or earlier, however late or in batches they come; the ticks come
// out evenly, one per period. Of a match that began before the follower, old ticks are due at
// once. After a pause of the match the ticks after it have a time of their own.
//
// Shape:   the source is read ahead of what was given, AHEAD_S further than the delay, and kept.
//          A delay of a minute is about a megabyte of a match of 8 players.
// Memory:  grows to what the delay needs, then none.
// Threads: one.

#define NET_LOG_DELAY_AHEAD_S 4u

typedef struct net_log_delay net_log_delay;

/// What a follower knows of its source. Ticks of the delay count as read.
typedef struct net_log_delay_report {
    ecs_tick newest;          ///< last tick of which all was read; 0: none
    ecs_tick given;           ///< last tick that was given; 0: none
    uint64_t came_us;         ///< when anything came last, ALIVE too
    uint64_t bytes;           ///< that are kept
    uint32_t alive;           ///< reason of the newest ALIVE, when nothing came after it; 0: none
    net_log_feed_state state; ///< of the source: NOTHING, END, FAILED
} net_log_delay_report;

/// `source` is borrowed; base_owner_destroy gives the rest back. `slack_us`: how long a tick may
/// wait in the source, where ticks come in heaps (a file's block); it is added to the delay.
BASE_MUST_USE net_log_delay* net_log_delay_create(const base_allocator* allocator,
                                                  const net_log_feed* source, uint32_t tick_rate_hz,
                                                  uint64_t delay_us, uint64_t slack_us);
/// Read what came; from now on the feed gives what is due at `now_us`.
void net_log_delay_poll(net_log_delay* delay, uint64_t now_us);
/// When the next tick, or the end, is due; UINT64_MAX: nothing is known. In the past when the
/// follower is behind.
uint64_t net_log_delay_due_us(const net_log_delay* delay);
/// Its records come when their tick is whole and due; of the source's kinds BEGIN, CONTROL, END and
/// CLOSE. Borrowed, with the source's header; its records until the next call or poll.
const net_log_feed* net_log_delay_feed(net_log_delay* delay);
net_log_delay_report net_log_delay_get_report(const net_log_delay* delay);
