// SPDX-License-Identifier: MIT
/// What a client counts for net_client_meter. A plain struct.
#pragma once

#include "ecs/ecs.h"
#include "wire.pb-c.h"

typedef struct net_meter {
    uint64_t header_bits; ///< of state packets that were read, probes included
    uint64_t event_bytes, control_bytes;
    double jitter_us;    ///< mean deviation of arrivals from their ticks
    uint64_t arrival_us; ///< of the newest tick's first packet; with has_arrival
    ecs_tick tick;
    bool has_arrival;
} net_meter;

/// Count a state packet of `tick` that is new and could be read.
void net_meter_state(net_meter* meter, uint64_t now_us, const Shoal__Wire__StatePacket* packet,
                     ecs_tick tick, uint64_t header_bits, uint64_t tick_us);
/// The session was resumed: earlier arrivals do not count for the jitter any more.
void net_meter_restart(net_meter* meter);
