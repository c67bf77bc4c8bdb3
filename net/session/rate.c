// SPDX-License-Identifier: MIT
// Counts what comes. Jitter as in RFC 3550 (6.4.1): a running mean,
// gain 1/16, of how much the time between two arrivals differs from the time between their ticks.
// Only the first packet of a tick counts, and only when its tick is newer than all before: an
// overtaken packet would measure the packet that overtook it.
#include "session/rate.h"

#include "core/fault.h"

#include "base/assert.h"

#include <string.h>

static uint64_t bytes_of_length(size_t length) {
    uint64_t bytes = 1;
    for (; length >= 0x80; length >>= 7)
        bytes++;
    return bytes;
}

void net_meter_state(net_meter* meter, uint64_t now_us, const Shoal__Wire__StatePacket* packet,
                     ecs_tick tick, uint64_t header_bits, uint64_t tick_us) {
    meter->header_bits += header_bits;
    for (size_t i = 0; i < packet->n_events; i++) {
        size_t size = shoal__wire__game_event__get_packed_size(packet->events[i]);
        meter->event_bytes += 1 + bytes_of_length(size) + size;
    }
    if (meter->has_arrival && tick <= meter->tick) return;
    if (meter->has_arrival) {
        double apart_us = (double)(now_us - meter->arrival_us);
        double error_us = apart_us - (double)(tick - meter->tick) * (double)tick_us;
        meter->jitter_us += ((error_us < 0 ? -error_us : error_us) - meter->jitter_us) / 16;
    }
    meter->has_arrival = true;
    meter->arrival_us = now_us;
    meter->tick = tick;
}

// A token bucket with a rate that follows the network.
//
// The rate is changed once per round trip, at least every LOOK_US, and only when LOOK_PACKETS
// packets were acknowledged or lost since: the loss of one in five packets proves nothing. Loss
// above LOSS_PART, or a round trip of more than 1.5 times the smallest of the last windows and 20
// ms (queues are filling), takes 15 %. A second without either adds 4 % if the rate held packets
// back. Before the first cut the rate doubles every half second. A client begins low, because a
// server that hundreds join in one tick sends all of them their first world.
//
// Invariants: NET_RATE_BYTES_MIN <= rate <= rate_max; tokens > -NET_RATE_PACKET_BYTES_MAX if no
// packet is sent while net_rate_left is 0, except for what variable-size components cost
// (session.c) and for what the transport sends by itself (net_rate_charge).

#define LOOK_US 500000u
#define LOOK_PACKETS 40u
#define LOSS_PART 0.05
#define RTT_TIMES 1.5
#define RTT_BEYOND_US 20000.0
#define CUT 0.85
#define RAISE 1.04
#define RAISE_US 1000000u
#define START_RAISE 2.0     // before the first cut, every LOOK_US
#define WINDOW_US 30000000u // the smallest round trip is that of one or two of these
#define BUCKET_PACKETS 2.0
#define USED_S 2.0       // the used rate is a mean over about this time
#define HOLD_US 5000000u // after the beginning
#define HOLD_BYTES_MIN 2000.0

void net_rate_init(net_rate* rate, uint64_t now_us, uint32_t bytes_max, uint32_t requested) {
    if (requested != 0 && requested < bytes_max) bytes_max = requested;
    if (bytes_max < NET_RATE_BYTES_MIN) bytes_max = NET_RATE_BYTES_MIN;
    memset(rate, 0, sizeof *rate);
    rate->rate_max = bytes_max;
    rate->rate = bytes_max < NET_RATE_BYTES_START ? bytes_max : NET_RATE_BYTES_START;
    rate->tokens = BUCKET_PACKETS * NET_RATE_PACKET_BYTES_MAX;
    rate->refill_us = rate->looked_us = rate->clean_us = rate->window_us = now_us;
    rate->hold_us = now_us + HOLD_US;
}

void net_rate_go_on(net_rate* rate, uint32_t bytes) {
    const double known = bytes < rate->rate_max ? bytes : rate->rate_max;
    if (known > rate->rate) rate->rate = known;
}

void net_rate_refill(net_rate* rate, uint64_t now_us) {
    if (now_us <= rate->refill_us) return;
    const double seconds = (double)(now_us - rate->refill_us) * 1e-6;
    const double part = seconds < USED_S ? seconds / USED_S : 1;
    if (rate->held == 0) rate->used += (rate->taken / seconds - rate->used) * part;
    rate->taken = 0;
    double share = seconds * (rate->held > 0 && rate->held < rate->rate ? rate->held : rate->rate);
    rate->refill_us = now_us;
    // A longer pause adds the bytes of one second at most.
    if (share > rate->rate) share = rate->rate;
    double bucket = BUCKET_PACKETS * NET_RATE_PACKET_BYTES_MAX;
    if (share > bucket) bucket = share;
    rate->tokens += share;
    if (rate->tokens > bucket) rate->tokens = bucket;
}

uint32_t net_rate_left(const net_rate* rate) {
    if (net_fault_is_planted(NET_FAULT_OVER_BUDGET)) return NET_RATE_PACKET_BYTES_MAX;
    // Few whole packets cost less than many with a part of the rows.
    if (rate->held > 0 && rate->tokens > 0) return NET_RATE_PACKET_BYTES_MAX;
    return rate->tokens > 0 ? (uint32_t)rate->tokens + 1u : 0;
}

void net_rate_take(net_rate* rate, uint32_t bytes) {
    BASE_ASSERT(bytes <= NET_STATE_BYTES_MAX);
    rate->tokens -= (double)(bytes + NET_RATE_OVERHEAD_BYTES);
    rate->taken += (double)(bytes + NET_RATE_OVERHEAD_BYTES);
    rate->paid += bytes + NET_RATE_SEAL_BYTES;
}

void net_rate_charge(net_rate* rate, uint64_t sent) {
    if (sent <= rate->paid) return;
    rate->tokens -= (double)(sent - rate->paid);
    rate->paid = sent;
    double least = -NET_RATE_DEBT_S * rate->rate;
    if (rate->tokens < least) rate->tokens = least;
}

static double smallest_rtt(const net_rate* rate) {
    double now = rate->rtt_us_min[0], before = rate->rtt_us_min[1];
    if (now == 0) return before;
    return before > 0 && before < now ? before : now;
}

static double bounded(const net_rate* rate, double value) {
    if (value < NET_RATE_BYTES_MIN) return NET_RATE_BYTES_MIN;
    return value > rate->rate_max ? rate->rate_max : value;
}

static void cut(net_rate* rate, uint64_t now_us) {
    rate->rate = bounded(rate, rate->rate * CUT);
    rate->clean_us = now_us;
    rate->was_short = false;
    rate->cuts++;
}

// Late answers hold a client to less than what it used before they were late, until the smallest
// round trip is forgotten: then the way has become longer.
static void hold(net_rate* rate, uint64_t now_us, bool is_slow) {
    const bool is_held = is_slow && now_us >= rate->hold_us;
    if (!is_held || rate->held > 0) {
        if (!is_held) rate->held = 0;
        return;
    }
    rate->held = rate->used * CUT;
    if (rate->held < HOLD_BYTES_MIN) rate->held = HOLD_BYTES_MIN;
    if (rate->tokens > 0) rate->tokens = 0; // the bucket is for bursts of a good line
}

void net_rate_learn(net_rate* rate, uint64_t now_us, uint64_t acked, uint64_t lost,
                    uint64_t rtt_us) {
    if (now_us - rate->window_us > WINDOW_US) {
        rate->window_us = now_us;
        rate->rtt_us_min[1] = rate->rtt_us_min[0];
        rate->rtt_us_min[0] = 0;
    }
    if (rtt_us > 0 && (rate->rtt_us_min[0] == 0 || (double)rtt_us < rate->rtt_us_min[0]))
        rate->rtt_us_min[0] = (double)rtt_us;
    double smallest = smallest_rtt(rate);
    bool is_slow = smallest > 0 && (double)rtt_us > RTT_TIMES * smallest + RTT_BEYOND_US;
    const bool was_held = rate->held > 0;
    hold(rate, now_us, is_slow);
    if (rate->held > 0) {
        // One cut for all of it: what is late now says nothing of the rate.
        if (!was_held) cut(rate, now_us);
        rate->acked = acked;
        rate->lost = lost;
        rate->looked_us = now_us;
        return;
    }
    uint64_t period_us = rtt_us > LOOK_US ? rtt_us : LOOK_US;
    if (now_us - rate->looked_us < period_us) return;
    // A late acknowledgement revokes a loss, perhaps one that was counted in an earlier look.
    uint64_t lost_now = lost > rate->lost ? lost - rate->lost : 0;
    uint64_t known = acked - rate->acked + lost_now;
    bool is_lossy = known >= LOOK_PACKETS && (double)lost_now > LOSS_PART * (double)known;
    if (known >= LOOK_PACKETS || is_slow) {
        rate->acked = acked;
        rate->lost = lost;
        rate->looked_us = now_us;
    }
    if (is_slow || is_lossy) {
        cut(rate, now_us);
        return;
    }
    bool is_starting = rate->cuts == 0;
    if (now_us - rate->clean_us < (is_starting ? LOOK_US : RAISE_US) || !rate->was_short) return;
    rate->rate = bounded(rate, rate->rate * (is_starting ? START_RAISE : RAISE));
    rate->clean_us = now_us;
    rate->was_short = false;
    rate->raises++;
}
