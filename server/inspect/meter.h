// SPDX-License-Identifier: MIT
/// What a running match took in its last minute: the times of a tick by part, and traffic by
/// second. It has a fixed size and allocates nothing after its creation.
#pragma once

#include "pacer.h"

#include "net/server.h"
#include "net/transport.h"
#include "host/setup.h"

#include "ecs/ecs.h"

#define SERVER_METER_SECONDS 60u
#define SERVER_METER_PARTS (1u + NET_PART_COUNT) ///< 0: the whole tick, then each net_part

/// One second. p50, p99 and max are of the whole tick on the loop's thread; cpu is the processor
/// time of all threads for each tick.
typedef struct server_second {
    uint32_t p50_us, p99_us, max_us, cpu_us;
    uint32_t sent_bytes, recv_bytes;
    uint32_t clients, entities;
} server_second;

typedef struct server_meter server_meter;

/// The caller destroys it (base_owner_destroy).
server_meter* server_meter_create(uint32_t tick_rate_hz);
/// A tick of the match took `took_us`; `part_us` is net_server_get_times.
void server_meter_tick(server_meter* meter, uint64_t took_us,
                       const uint64_t part_us[NET_PART_COUNT]);
/// Once in each pass of the loop, where the server's threads have sent the last tick: it closes a
/// second when one is over.
void server_meter_pass(server_meter* meter, net_server* server, const net_transport* transport,
                       ecs_world* world, uint64_t now_us);

/// Measure the systems of the world from now on, SERVER_METER_WATCH_S beyond the newest call; after
/// SERVER_METER_SECONDS it begins again from zero.
/// @return microseconds since it began; 0: just now.
uint64_t server_meter_watch(server_meter* meter, ecs_world* world, uint64_t now_us);
#define SERVER_METER_WATCH_S 10u

/// Times of a part over the last minute, and the share of the whole that it took, 0..1.
const server_timing* server_meter_part(const server_meter* meter, uint32_t part, double* share);
/// What the process held when the newest second began: to read it takes about 0.1 ms.
const net_host_usage* server_meter_usage(const server_meter* meter);
/// Seconds that are closed, SERVER_METER_SECONDS at most.
uint32_t server_meter_seconds(const server_meter* meter);
/// @return second `index`, 0 is the oldest (below server_meter_seconds, asserted).
const server_second* server_meter_second(const server_meter* meter, uint32_t index);
