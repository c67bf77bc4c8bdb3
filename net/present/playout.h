// SPDX-License-Identifier: MIT
/// The render clock: which moment of the server's time is shown now, a little behind what has
/// arrived.
///
/// It learns from the arrivals of ticks. The fastest arrival within NET_PLAYOUT_WINDOW_MS gives the
/// offset of the server's clock. The lateness of the others and the number of lost ones give the
/// delay. The shown tick advances at the server's rate, at most NET_PLAYOUT_RATE faster or slower
/// while the delay adapts: up at once, down slowly. It never goes back; a long gap is closed by one
/// jump. Without packets it stops NET_EXTRAPOLATE_MS_MAX after the newest tick.
/// Source: Ramjee et al., "Adaptive playout mechanisms for packetized audio" (quantile of
/// lateness). No memory, no clock: times are arguments and rise.
#pragma once

#include "ecs/ecs.h"
#include "net/client.h"
#include "present/scene.h"

#define NET_PLAYOUT_SAMPLES 256u
#define NET_PLAYOUT_WINDOW_MS 2000.0
#define NET_PLAYOUT_RATE 0.05
#define NET_PLAYOUT_GAP_MS 500.0 ///< or four ticks: after such a silence it learns again from zero

typedef struct net_playout_sample {
    uint64_t now_us;
    double offset_us; ///< arrival - tick * period
    ecs_tick tick;
    uint32_t left_out; ///< ticks right before it that had no packet
} net_playout_sample;

typedef struct net_playout {
    double tick_us;
    double delay_us_min;
    net_playout_sample samples[NET_PLAYOUT_SAMPLES]; ///< ring by `sample_next`
    uint32_t sample_next, sample_count;
    uint64_t packet_us; ///< of the newest packet
    ecs_tick newest;
    bool has_packet, has_shown;
    double offset_us; ///< of the fastest arrivals
    double late_us;   ///< a high quantile of how much slower others were
    double loss;      ///< 0..1 of the window's ticks that had a packet
    double step;      ///< ticks from one packet to the next where they come as fast as they do
    double target_us; ///< the delay that is aimed at
    double shown;     ///< tick
    uint64_t shown_us;
} net_playout;

/// Begin. `delay_ms_min`: the least delay; 0: the measured delay alone.
void net_playout_init(net_playout* playout, uint32_t tick_rate_hz, double delay_ms_min);
/// Note the arrival of a packet of `tick`; in any order, each once. A tick above NET_SCENE_TICK_MAX
/// is ignored. `left_out`: this many ticks before it had no packet, which is not a loss.
void net_playout_packet(net_playout* playout, uint64_t now_us, ecs_tick tick, uint32_t left_out);
/// Advance to `now_us`. @return false before the first packet.
bool net_playout_advance(net_playout* playout, uint64_t now_us);
/// @return How far the shown moment is behind the newest tick that could have arrived, at the last
///          advance.
double net_playout_delay_ms(const net_playout* playout);
