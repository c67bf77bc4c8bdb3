// SPDX-License-Identifier: MIT
/// How many bytes a client may be sent: a token bucket whose rate follows loss and round trips.
///
/// Tokens are bytes: min(tokens + rate * time, bucket), where the bucket holds two of the largest packets, or
/// what comes in with one call when that is more. A packet may go while tokens are above zero and takes what
/// it costs, so that what was sent never exceeds the rate by more than the bucket and one packet. A plain
/// struct, no memory of its own; time is an argument.
/// Source: additive increase, multiplicative decrease (Chiu and Jain 1989), here a proportional one; growth
/// only where the rate was what held packets back, as RFC 7661 asks of windows. Before the first cut it
/// doubles (slow start, RFC 5681): a crowd that joins at once does not cost one tick everything.
#pragma once

#include "net/limits.h"

#include <stdbool.h>
#include <stdint.h>

#define NET_RATE_OVERHEAD_BYTES 40u ///< of a datagram: ENet's header and command, UDP, IP
#define NET_RATE_PACKET_BYTES_MAX (NET_STATE_BYTES_MAX + NET_RATE_OVERHEAD_BYTES)
#define NET_RATE_BYTES_MIN 8000u    ///< per second
#define NET_RATE_BYTES_START 24000u ///< doubles every half second until something is wrong

typedef struct net_rate {
    double tokens; ///< bytes; below 0 after a packet that was longer than what was left
    double rate;   ///< bytes per second
    double rate_max;
    uint64_t refill_us;
    bool was_short; ///< tokens held a packet back since the rate was raised last
    uint64_t looked_us;
    uint64_t acked, lost; ///< totals when it was looked at last
    uint64_t clean_us;    ///< since when nothing was wrong
    double rtt_us_min[2]; ///< of this and the window before it; 0: none yet
    uint64_t window_us;
    uint64_t cuts, raises;
} net_rate;

/// `bytes_max` of our own, `wish` of the client (0: none); below NET_RATE_BYTES_MIN they count as that.
void net_rate_init(net_rate* rate, uint64_t now_us, uint32_t bytes_max, uint32_t wish);
/// Before packets are sent: time has passed.
void net_rate_refill(net_rate* rate, uint64_t now_us);
/// Bytes that may be sent now; 0: none. What is due then waits.
uint32_t net_rate_left(const net_rate* rate);
/// A packet of `bytes` (a StatePacket, without what carries it) went out.
void net_rate_take(net_rate* rate, uint32_t bytes);
/// Something waits that the tokens do not let out.
void net_rate_short(net_rate* rate);
/// What is known of the way, once per tick: totals of packets that were acknowledged and lost (`lost` may fall
/// when an acknowledgement comes late) and the smoothed round trip, 0 before the first.
void net_rate_learn(net_rate* rate, uint64_t now_us, uint64_t acked, uint64_t lost,
                    uint64_t rtt_us);
