// SPDX-License-Identifier: MIT
/// A client's clock: when its next tick is due, so that inputs reach the server just before their
/// tick.
///
/// A plain struct; time is an argument. The program may tick at other times than advised.
#pragma once

#include "net/limits.h"

#include <stdbool.h>
#include <stdint.h>

#define NET_PACE_DEPTH_MIN 1.0 ///< smallest target: inputs that wait on the server after its tick
#define NET_PACE_DEPTH_MAX 8.0
#define NET_PACE_RATE_MAX 0.05 ///< this much faster or slower than the server at most

typedef struct net_pace {
    double tick_us; ///< of the server
    double next_us; ///< when the next tick is due
    bool has_next;
    bool has_depth;
    double depth;      ///< smoothed; owed ticks count as negative
    double jitter;     ///< mean deviation of depth
    double raised;     ///< ticks that were added because inputs came late
    double loss_depth; ///< ticks that losses on the way need
    double target;
    double rate; ///< own ticks per server tick, 0.95..1.05
    uint64_t tick_newest;
    uint32_t repeats;      ///< as reported last
    double raise_us;       ///< when it was raised last
    double settle_us;      ///< after a jump: reports until then are ignored
    uint32_t sample_count; ///< since then
} net_pace;

void net_pace_init(net_pace* pace, uint32_t tick_rate_hz);
/// The state packet of server tick `tick` came, with its report. `rtt_us`: time until a change of
/// rate is visible; `loss_percent`: of packets to the server. Older packets than the newest are
/// ignored.
void net_pace_report(net_pace* pace, uint64_t now_us, uint64_t tick, uint32_t depth,
                     uint32_t repeats, uint64_t rtt_us, double loss_percent);
/// The session was resumed: forget the reports.
void net_pace_restart(net_pace* pace);
/// A tick was made.
void net_pace_tick(net_pace* pace, uint64_t now_us);
/// When the next tick is due. 0 before the first: at once.
uint64_t net_pace_next_us(const net_pace* pace);
