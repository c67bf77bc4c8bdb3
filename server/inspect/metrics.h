// SPDX-License-Identifier: MIT
/// What a Prometheus server reads: GET /metrics, in its text form 0.0.4.
///
/// Everything is summed up over the match; no line has a label for one client or entity. Counters
/// are those that net keeps anyway. What it does not keep is observed here: each tick, and of each
/// client and entity about once a second, some of them in each pass of the loop.
///
/// Threads: the loop's.
/// Memory:  All of it is taken in create.
#pragma once

#include "verbs.h"

#include "base/bytes.h"

#define SERVER_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define SERVER_METRICS_BOUNDS_MAX 9u
#define SERVER_METRICS_TEMPLATES_MAX 256u ///< further ones are template="other"
#define SERVER_METRICS_CLIENTS_PASS 32u   ///< that a pass looks at, at most
#define SERVER_METRICS_ENTITIES_PASS 4096u
#define SERVER_METRICS_ROUND_US UINT64_C(1000000) ///< from one look at a client to the next

/// Observations in millionths: of a second, or of 1.
typedef struct server_histogram {
    const uint32_t* bounds; ///< rising, SERVER_METRICS_BOUNDS_MAX; an observation may equal one
    uint64_t counts[SERVER_METRICS_BOUNDS_MAX + 1]; ///< the last one: above all bounds
    uint64_t sum;
} server_histogram;

void server_histogram_add(server_histogram* histogram, uint64_t millionths);

/// The caller destroys it (base_owner_destroy).
server_metrics* server_metrics_create(void);
/// A tick of the match took so long, and began so late.
void server_metrics_tick(server_metrics* metrics, const net_server* server, uint64_t took_us,
                         uint64_t late_us);
/// Look at some clients and entities. Call it where the server's threads have sent the last tick.
void server_metrics_pass(server_metrics* metrics, const server_subject* subject, uint64_t now_us);
/// Entities of a template at the newest whole count; of the present one, before there was one.
uint32_t server_metrics_entities(const server_metrics* metrics, ecs_template_id id);
/// Was the world counted as a whole once?
bool server_metrics_has_counted(const server_metrics* metrics);
/// Append the lines that need no loop, of one that made no pass for so long. From any thread.
void server_metrics_write_stalled(uint64_t stalled_us, const server_inspect_counts* http,
                                  base_bytes* text);
