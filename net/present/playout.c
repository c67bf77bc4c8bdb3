// SPDX-License-Identifier: MIT
// A clock behind a connection with jitter.
//
// Each arrival gives an offset: our time minus the tick's time. The smallest offset of the window
// is the connection at its fastest. It follows a server clock that runs 200 ppm wrong, because old
// arrivals leave the window. The lateness of an arrival is its offset minus the smallest one.
//
// The delay is the sum of three parts. First, nearly all lateness. Second, one step, because a
// sample needs the next one for interpolation: a tick, or the ticks that a server leaves out
// between two packets even when there is news; the longer gaps of a client without news do not
// count. Third, as many ticks as are lost in a row more often than RUN_CHANCE. Extrapolation covers
// the rest: to wait for the rare worst case would delay everything else.
//
// Invariants: the shown moment never falls; it is at most newest + NET_EXTRAPOLATE_MS_MAX.
#include "present/playout.h"

#include "base/assert.h"

#include <string.h>

#define SETTLE_US 500000.0 // an error is corrected in about this time, within the rate's bounds
#define DECAY_US 4000000.0 // a delay that is no longer needed shrinks in this time
#define RUN_CHANCE 0.005   // rarer runs of losses are not waited for
#define LATE_PER_MILLE 20u // share of arrivals that may be later than the delay covers
enum {
    LATE_MAX = NET_PLAYOUT_SAMPLES * LATE_PER_MILLE / 1000 + 1,
    RUN_TICKS_MAX = 8,
    LEFT_OUT_MAX = 100000, // of one packet; a larger number is ignored
};

void net_playout_init(net_playout* playout, uint32_t tick_rate_hz, double delay_ms_min) {
    BASE_ASSERT(tick_rate_hz > 0);
    memset(playout, 0, sizeof *playout);
    playout->tick_us = 1e6 / tick_rate_hz;
    playout->delay_us_min = delay_ms_min * 1000.0;
    playout->target_us = 2 * playout->tick_us;
    playout->step = 1;
}

// Times rise; one that does not is taken as no time.
static double us_since(uint64_t now_us, uint64_t then_us) {
    return now_us > then_us ? (double)(now_us - then_us) : 0;
}

static double at_least_ticks(const net_playout* playout, double us, double ticks) {
    return us > ticks * playout->tick_us ? us : ticks * playout->tick_us;
}

static double wanted_delay_us(const net_playout* playout) {
    double chance = playout->loss;
    uint32_t run = 0;
    for (; run < RUN_TICKS_MAX && chance > RUN_CHANCE; run++)
        chance *= playout->loss;
    double wanted = playout->late_us + (playout->step + run) * playout->tick_us;
    if (wanted < playout->delay_us_min) wanted = playout->delay_us_min;
    return wanted < NET_DELAY_MS_MAX * 1000.0 ? wanted : NET_DELAY_MS_MAX * 1000.0;
}

// The `kept` largest so far, falling.
static void keep_largest(double* largest, uint32_t kept, double value) {
    if (value <= largest[kept - 1]) return;
    uint32_t at = kept - 1;
    for (; at > 0 && largest[at - 1] < value; at--)
        largest[at] = largest[at - 1];
    largest[at] = value;
}

static bool is_in_window(const net_playout_sample* sample, uint64_t now_us) {
    return us_since(now_us, sample->now_us) <= NET_PLAYOUT_WINDOW_MS * 1000.0;
}

// How many ticks from `first` to `last` the sender left out before a packet.
static double left_out_within(const net_playout_sample* sample, ecs_tick first, ecs_tick last) {
    double from = (double)sample->tick - sample->left_out, to = (double)sample->tick - 1;
    if (from < (double)first) from = (double)first;
    if (to > (double)last) to = (double)last;
    return to >= from ? to - from + 1 : 0;
}

// The share of ticks that did not arrive. At both ends of the window some were only overtaken.
static double measure_loss(const net_playout* playout, uint64_t now_us, ecs_tick oldest,
                           ecs_tick newest) {
    ecs_tick edge = (ecs_tick)(playout->late_us / playout->tick_us) + 1;
    if (newest - oldest < 2 * edge + 8) return 0;
    const ecs_tick first = oldest + edge, last = newest - edge;
    uint32_t count = 0;
    double left_out = 0;
    for (uint32_t i = 0; i < playout->sample_count; i++) {
        const net_playout_sample* sample = &playout->samples[i];
        if (!is_in_window(sample, now_us)) continue;
        count += sample->tick >= first && sample->tick <= last;
        left_out += left_out_within(sample, first, last);
    }
    double span = (double)(newest - oldest - 2 * edge) + 1.0 - left_out;
    return span > count ? 1.0 - count / span : 0;
}

static void learn(net_playout* playout, uint64_t now_us) {
    double largest[LATE_MAX];
    for (uint32_t i = 0; i < LATE_MAX; i++)
        largest[i] = -1e300;
    double smallest = 1e300;
    ecs_tick oldest = UINT64_MAX, newest = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < playout->sample_count; i++) {
        const net_playout_sample* sample = &playout->samples[i];
        if (!is_in_window(sample, now_us)) continue;
        count++;
        if (sample->offset_us < smallest) smallest = sample->offset_us;
        keep_largest(largest, LATE_MAX, sample->offset_us);
        if (sample->tick < oldest) oldest = sample->tick;
        if (sample->tick > newest) newest = sample->tick;
    }
    playout->offset_us = smallest;
    playout->late_us = largest[count * LATE_PER_MILLE / 1000u] - smallest;
    playout->loss = measure_loss(playout, now_us, oldest, newest);
    // The smallest step of the window. A step as long as a server's silence is ignored.
    uint32_t least = NET_SEND_DIVISOR_MAX;
    for (uint32_t i = 0; i < playout->sample_count; i++) {
        const net_playout_sample* sample = &playout->samples[i];
        if (is_in_window(sample, now_us) && sample->left_out < least) least = sample->left_out;
    }
    if (least < NET_SEND_DIVISOR_MAX) playout->step = 1.0 + least;
}

void net_playout_packet(net_playout* playout, uint64_t now_us, ecs_tick tick, uint32_t left_out) {
    BASE_ASSERT(playout->tick_us > 0);
    if (tick > NET_SCENE_TICK_MAX) return;
    if (left_out > LEFT_OUT_MAX) left_out = LEFT_OUT_MAX;
    double gap_us = at_least_ticks(playout, NET_PLAYOUT_GAP_MS * 1000.0, 4);
    if (playout->has_packet && us_since(now_us, playout->packet_us) > gap_us)
        playout->sample_count = playout->sample_next = 0;
    playout->samples[playout->sample_next] =
        (net_playout_sample){.now_us = now_us,
                             .offset_us = (double)now_us - (double)tick * playout->tick_us,
                             .tick = tick,
                             .left_out = left_out};
    playout->sample_next = (playout->sample_next + 1) % NET_PLAYOUT_SAMPLES;
    if (playout->sample_count < NET_PLAYOUT_SAMPLES) playout->sample_count++;
    playout->packet_us = now_us;
    if (tick > playout->newest) playout->newest = tick;
    playout->has_packet = true;
    learn(playout, now_us);
}

static void adapt(net_playout* playout, double passed_us) {
    double wanted = wanted_delay_us(playout);
    if (wanted >= playout->target_us) {
        playout->target_us = wanted;
        return;
    }
    double part = passed_us < DECAY_US ? passed_us / DECAY_US : 1.0;
    playout->target_us -= (playout->target_us - wanted) * part;
}

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

bool net_playout_advance(net_playout* playout, uint64_t now_us) {
    if (!playout->has_packet) return false;
    double passed_us = playout->has_shown ? us_since(now_us, playout->shown_us) : 0;
    adapt(playout, passed_us);
    double latest = ((double)now_us - playout->offset_us) / playout->tick_us;
    double aim = latest - playout->target_us / playout->tick_us;
    double shown = playout->shown;
    double before = shown;
    if (!playout->has_shown) {
        shown = aim;
    } else {
        double step = passed_us / playout->tick_us;
        double error = aim - (shown + step);
        if (error * playout->tick_us > at_least_ticks(playout, NET_PLAYOUT_GAP_MS * 1000.0, 4)) {
            shown = aim;
        } else {
            double part = passed_us < SETTLE_US ? passed_us / SETTLE_US : 1.0;
            double bound = NET_PLAYOUT_RATE * step;
            shown += step + clamp(error * part, -bound, bound);
        }
    }
    // A connection that suddenly became much faster leaves us too far behind.
    double behind_max = at_least_ticks(playout, NET_DELAY_MS_MAX * 1000.0, 2) / playout->tick_us;
    if (shown < latest - behind_max) shown = latest - behind_max;
    double ahead_max = (double)playout->newest + NET_EXTRAPOLATE_MS_MAX * 1000.0 / playout->tick_us;
    if (shown > ahead_max) shown = ahead_max;
    if (shown < before) shown = before;
    if (shown < 0) shown = 0;
    playout->shown = shown;
    playout->shown_us = now_us;
    playout->has_shown = true;
    return true;
}

double net_playout_delay_ms(const net_playout* playout) {
    if (!playout->has_shown) return 0;
    double latest_us = (double)playout->shown_us - playout->offset_us;
    return (latest_us - playout->shown * playout->tick_us) / 1000.0;
}
