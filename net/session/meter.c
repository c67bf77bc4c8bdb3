// SPDX-License-Identifier: MIT Counts what comes. Jitter as in RFC 3550 (6.4.1): a running mean,
// gain 1/16, of how much the time between two arrivals differs from the time between their ticks.
// Only the first packet of a tick counts, and only when its tick is newer than all before: an
// overtaken packet would measure the packet that overtook it.
#include "session/meter.h"

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

void net_meter_restart(net_meter* meter) {
    meter->has_arrival = false;
}
