// SPDX-License-Identifier: MIT
// A minute of ticks: a ring of samples, and for each part a histogram of what is in the ring. So a
// tick costs a few additions, and a percentile one walk over the buckets.
#include "meter.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "ecs/inspect.h"
#include "net/socket.h"

#include <time.h>

struct server_meter {
    base_owner owner;
    server_timing parts[SERVER_METER_PARTS];
    uint64_t sums[SERVER_METER_PARTS];
    server_timing second; ///< of the whole tick, since the last second was closed
    uint64_t next_us;     ///< when the second is over; 0: none has begun
    uint64_t sent_bytes, recv_bytes;
    server_second seconds[SERVER_METER_SECONDS];
    uint64_t second_count; ///< ever closed
    uint64_t tick_count;
    ecs_world* watched; ///< NULL: no systems are measured
    uint64_t watch_us, watch_asked_us;
    net_host_usage usage;
    uint32_t samples_max;
    uint32_t samples[]; ///< [tick % samples_max][part]
};

server_meter* server_meter_create(uint32_t tick_rate_hz) {
    BASE_ASSERT(tick_rate_hz > 0);
    const uint32_t samples_max = tick_rate_hz * SERVER_METER_SECONDS;
    server_meter* meter = base_owner_create(
        NULL, sizeof *meter + samples_max * sizeof *meter->samples * SERVER_METER_PARTS);
    meter->samples_max = samples_max;
    return meter;
}

static uint32_t cut_to_u32(uint64_t value) {
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

void server_meter_tick(server_meter* meter, uint64_t took_us,
                       const uint64_t part_us[NET_PART_COUNT]) {
    uint32_t* sample =
        meter->samples + (size_t)(meter->tick_count % meter->samples_max) * SERVER_METER_PARTS;
    const bool is_full = meter->tick_count++ >= meter->samples_max;
    for (uint32_t i = 0; i < SERVER_METER_PARTS; i++) {
        if (is_full) {
            server_timing_remove(&meter->parts[i], sample[i]);
            meter->sums[i] -= sample[i];
        }
        sample[i] = cut_to_u32(i == 0 ? took_us : part_us[i - 1]);
        server_timing_add(&meter->parts[i], sample[i]);
        meter->sums[i] += sample[i];
    }
    server_timing_add(&meter->second, took_us);
}

void server_meter_pass(server_meter* meter, net_server* server, const net_transport* transport,
                       ecs_world* world, uint64_t now_us) {
    if (now_us < meter->next_us) return;
    const bool is_asked = now_us < meter->watch_asked_us + SERVER_METER_WATCH_S * UINT64_C(1000000);
    if (meter->watched && (meter->watched != world || !is_asked)) {
        if (meter->watched == world) ecs_inspect_times(world, NULL);
        meter->watched = NULL;
    }
    const uint64_t cpu_us = net_loop_cpu_us();
    net_transport_stats stats;
    transport->ops->stats(transport, &stats);
    if (meter->next_us) {
        server_second* second = &meter->seconds[meter->second_count++ % SERVER_METER_SECONDS];
        *second = (server_second){
            .p50_us = cut_to_u32(server_timing_percentile(&meter->second, 50)),
            .p99_us = cut_to_u32(server_timing_percentile(&meter->second, 99)),
            .max_us = cut_to_u32(server_timing_percentile(&meter->second, 100)),
            .cpu_us = cut_to_u32(server_timing_cpu_us(&meter->second, cpu_us)),
            .sent_bytes = cut_to_u32(stats.sent_bytes - meter->sent_bytes),
            .recv_bytes = cut_to_u32(stats.recv_bytes - meter->recv_bytes),
            .clients = net_server_get_counters(server)->clients,
            .entities = ecs_world_entity_count(world),
        };
    }
    meter->usage = net_host_get_usage();
    meter->second = (server_timing){.cpu_us = cpu_us};
    meter->sent_bytes = stats.sent_bytes;
    meter->recv_bytes = stats.recv_bytes;
    meter->next_us += 1000000;
    if (meter->next_us <= now_us) meter->next_us = now_us + 1000000; // the first, or a stall
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t server_meter_watch(server_meter* meter, ecs_world* world, uint64_t now_us) {
    meter->watch_asked_us = now_us;
    const bool is_old = now_us - meter->watch_us > SERVER_METER_SECONDS * UINT64_C(1000000);
    if (meter->watched != world || is_old) {
        ecs_inspect_times(world, now_ns);
        meter->watched = world;
        meter->watch_us = now_us;
    }
    return now_us - meter->watch_us;
}

const server_timing* server_meter_part(const server_meter* meter, uint32_t part, double* share) {
    BASE_ASSERT(part < SERVER_METER_PARTS);
    *share = meter->sums[0] ? (double)meter->sums[part] / (double)meter->sums[0] : 0;
    return &meter->parts[part];
}

const net_host_usage* server_meter_usage(const server_meter* meter) {
    return &meter->usage;
}

uint32_t server_meter_seconds(const server_meter* meter) {
    return meter->second_count < SERVER_METER_SECONDS ? (uint32_t)meter->second_count
                                                      : SERVER_METER_SECONDS;
}

const server_second* server_meter_second(const server_meter* meter, uint32_t index) {
    BASE_ASSERT(index < server_meter_seconds(meter));
    const uint64_t first = meter->second_count - server_meter_seconds(meter);
    return &meter->seconds[(first + index) % SERVER_METER_SECONDS];
}
