// SPDX-License-Identifier: MIT
/// What a client counts for net_client_meter. A plain struct.
#pragma once

#include "net/limits.h"

#include "ecs/ecs.h"

#include "wire.pb-c.h"

typedef struct net_meter {
    uint64_t header_bits; ///< of state packets that were read, probes included
    uint64_t event_bytes, control_bytes;
    double jitter_us;    ///< mean deviation of arrivals from their ticks
    uint64_t arrival_us; ///< of the newest tick's first packet; with has_arrival
    ecs_tick tick;
    bool has_arrival; ///< false again when a session is resumed
} net_meter;

/// Count a state packet of `tick` that is new and could be read.
void net_meter_state(net_meter* meter, uint64_t now_us, const Shoal__Wire__StatePacket* packet,
                     ecs_tick tick, uint64_t header_bits, uint64_t tick_us);

/// How many bytes a client may be sent: a token bucket whose rate follows loss and round trips.
///
/// Tokens are bytes: min(tokens + rate * time, bucket). The bucket holds two of the largest
/// packets, or what one refill brings when that is more. A packet may be sent while tokens are
/// above zero, and takes its size. So the sent bytes never exceed the rate by more than the bucket
/// and one packet. A plain struct; time is an argument. Sources: additive increase, multiplicative
/// decrease (Chiu and Jain 1989), here a proportional increase; growth only when the rate held
/// packets back (RFC 7661); doubling before the first cut (slow start, RFC 5681), so that many
/// clients that join at once do not take all bytes of one tick.

#define NET_RATE_OVERHEAD_BYTES 40u ///< of a datagram: the outer layer, UDP, IP
#define NET_RATE_SEAL_BYTES 19u     ///< of those, what the transport counts of a packet
#define NET_RATE_PACKET_BYTES_MAX (NET_STATE_BYTES_MAX + NET_RATE_OVERHEAD_BYTES)
#define NET_RATE_DEBT_S 2.0         ///< seconds that a charge can make a client wait
#define NET_RATE_BYTES_MIN 8000u    ///< per second
#define NET_RATE_BYTES_START 24000u ///< doubles every half second until packets are lost or late

typedef struct net_rate {
    double tokens; ///< bytes; below 0 after a packet that was longer than what was left
    double rate;   ///< bytes per second
    double rate_max;
    uint64_t refill_us;
    bool was_short; ///< tokens held data back since the rate was raised last
    uint64_t looked_us;
    uint64_t acked, lost; ///< totals at the last look
    uint64_t clean_us;    ///< since when no packets were lost or late
    double rtt_us_min[2]; ///< of this and the window before it; 0: none yet
    uint64_t window_us;
    uint64_t cuts, raises;
    double used;      ///< bytes a second that were sent lately
    double taken;     ///< bytes since `used` was measured
    uint64_t hold_us; ///< before this time nothing is held: the used rate is not known yet
    double held;      ///< while acknowledgements are late: bytes a second; 0: they are not
    /// Bytes of the transport's count that tokens paid for. Begin with its present count: what was
    /// sent before is free (greeting, first roster).
    uint64_t paid;
} net_rate;

/// `bytes_max` is the configured limit, `requested` the client's (0: none), in bytes a second. Both
/// count as NET_RATE_BYTES_MIN when they are below.
void net_rate_init(net_rate* rate, uint64_t now_us, uint32_t bytes_max, uint32_t requested);
/// It is known that this many bytes a second arrive: begin with them.
void net_rate_go_on(net_rate* rate, uint32_t bytes);
/// Add the tokens of the time that has passed. Call it before packets are sent.
void net_rate_refill(net_rate* rate, uint64_t now_us);
/// Bytes that may be sent now; 0: packets must wait.
uint32_t net_rate_left(const net_rate* rate);
/// A packet of `bytes` was sent (of a StatePacket, without the headers below it).
void net_rate_take(net_rate* rate, uint32_t bytes);
/// Take tokens for what the transport has sent beyond what was paid, once per tick. Tokens do not
/// fall below NET_RATE_DEBT_S seconds of the rate: a client that comes back is not silenced for
/// long.
void net_rate_charge(net_rate* rate, uint64_t sent);
/// Report the network, once per tick: totals of packets that were acknowledged and lost (`lost` may
/// fall when an acknowledgement comes late), and the smoothed round trip, 0 before the first, or
/// the time that the oldest packet without an answer has waited when that is more. While that is
/// late no more is sent than before: older bases make longer rows, and longer rows later answers.
void net_rate_learn(net_rate* rate, uint64_t now_us, uint64_t acked, uint64_t lost,
                    uint64_t rtt_us);
