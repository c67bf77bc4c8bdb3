// SPDX-License-Identifier: MIT
/// When the next tick is due, in wall time, and how long ticks take. Pure arithmetic: time is an
/// argument.
#pragma once

#include "base/macros.h"

/// Ticks that a late server may run one after the other without receiving.
#define SERVER_UNHEARD_TICKS_MAX 3u
#define SERVER_TIMING_BUCKETS 1024u

typedef struct server_pacer {
    uint64_t period_us;
    uint64_t next_us;     ///< when the next tick is due
    uint64_t reported_us; ///< when a stall was reported last
    uint64_t given_up;    ///< ticks, in all
    uint64_t reported;    ///< of these
    uint32_t unheard;     ///< ticks since the server received
    uint32_t unsent;      ///< ticks since the server sent
} server_pacer;

/// The first tick is due at once. `tick_rate_hz` is 1 or more.
void server_pacer_init(server_pacer* pacer, uint32_t tick_rate_hz, uint64_t now_us);
/// @return true when a tick may run. `is_fast`: a tick is always due.
bool server_pacer_is_due(const server_pacer* pacer, bool is_fast, uint64_t now_us);
/// Should the tick that is due at `now_us` send? Not when the next one is due already, or when
/// nothing was received since the last one sent: old acknowledgements make long rows, and late
/// packets. One in a few does all the same. Once per tick, before it is counted.
bool server_pacer_sends(server_pacer* pacer, uint64_t now_us);
/// Count a tick that was due at `now_us`. At most NET_CATCH_UP_TICKS_MAX late ticks stay due; later
/// ones are given up.
void server_pacer_tick(server_pacer* pacer, bool is_fast, uint64_t now_us);
/// @return the ticks that were given up and not yet reported; 0 when there are none, or when the
/// last report is less than a minute ago. The caller reports them.
uint64_t server_pacer_take_lost(server_pacer* pacer, uint64_t now_us);
/// The server received what came.
void server_pacer_received(server_pacer* pacer);
/// @return true when it must receive before the next tick, however late that is: a server that is
/// late at every tick would lose all its clients.
bool server_pacer_must_receive(const server_pacer* pacer);

/// A histogram of microseconds with a resolution of 3 % and a fixed size.
typedef struct server_timing {
    uint64_t buckets[SERVER_TIMING_BUCKETS];
    uint64_t count;
    uint64_t cpu_us; ///< net_loop_cpu_us when the first of them began
} server_timing;

/// Count one tick that took `us`. Times above the last bucket count in the last bucket.
void server_timing_add(server_timing* timing, uint64_t us);
/// Forget one that was counted (asserted).
void server_timing_remove(server_timing* timing, uint64_t us);
/// The value below which `percent` of the samples lie (upper edge of its bucket); 0 without
/// samples.
uint64_t server_timing_percentile(const server_timing* timing, double percent);
/// Processor time of the process for each sample, all threads; 0 without samples. `cpu_us`: until
/// now.
uint64_t server_timing_cpu_us(const server_timing* timing, uint64_t cpu_us);
