// SPDX-License-Identifier: MIT
/// A feed that gives each tick of a match a fixed time after it was made.
///
/// Records have no time of day. What is known is when they came, and that a server makes no tick
/// sooner than its rate allows. So with tick N, which came at t, tick T before it was made at
/// t - (N - T) ticks or earlier, however late or in batches they come; the ticks come
/// out evenly, one per period. Of a match that began before the follower, old ticks are due at
/// once. After a pause of the match the ticks after it have a time of their own.
///
/// Shape:   the source is read ahead of what was given, AHEAD_S further than the delay, and kept.
///          A delay of a minute is about a megabyte of a match of 8 players.
/// Memory:  grows to what the delay needs, then none.
/// Threads: one.
#pragma once

#include "log/log_feed.h"
#include "net/result.h"

#define NET_LOG_DELAY_AHEAD_S 4u
#define NET_LOG_DELAY_S_MAX 3600u

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

/// `source` is borrowed. `slack_us`: how long a tick may wait in the source, where ticks come in
/// heaps (a file's block); it is added to the delay.
/// @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_delay_create(const base_allocator* allocator,
                                              const net_log_feed* source, uint32_t tick_rate_hz,
                                              uint64_t delay_us, uint64_t slack_us,
                                              net_log_delay** delay);
/// NULL does nothing.
void net_log_delay_destroy(net_log_delay* delay);
/// Read what came; from now on the feed gives what is due at `now_us`.
/// @return NET_OK; NET_ERR_MEMORY (a record is lost: the feed FAILED behind what it has).
BASE_MUST_USE net_result net_log_delay_poll(net_log_delay* delay, uint64_t now_us);
/// When the next tick, or the end, is due; UINT64_MAX: nothing is known. In the past when the
/// follower is behind.
uint64_t net_log_delay_due_us(const net_log_delay* delay);
/// Its records come when their tick is whole and due; of the source's kinds BEGIN, CONTROL, END and
/// CLOSE. Borrowed, with the source's header; its records until the next call or poll.
const net_log_feed* net_log_delay_feed(net_log_delay* delay);
net_log_delay_report net_log_delay_get_report(const net_log_delay* delay);
/// The match goes on elsewhere: from now on the feed gives all that came, at once, also of a tick
/// whose end did not come.
void net_log_delay_open(net_log_delay* delay);
