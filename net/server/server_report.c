// SPDX-License-Identifier: MIT
// What an operator can read of a server: peer reports, counters, drops, digests, where the bits
// went.
#include "replicate/repl_state.h"

#include "server/server_state.h"
#include "server/session_report.h"
#include "state/varsize.h"

#include "net/match.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void net_server_dropped(net_server* server, uint64_t dropped[NET_DROP_COUNT]) {
    net_server_collect(server);
    memcpy(dropped, server->counters.dropped, sizeof server->counters.dropped);
    dropped[NET_DROP_VARSIZE_LONG] += net_varsize_source_get_counters(server->varsize)->values_long;
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (session && session->state != NET_SESSION_FREE && session->end == NET_END_NONE)
            net_session_add_dropped(session, dropped);
    }
}

uint32_t net_server_report_count(const net_server* server) {
    return server->report_count;
}

const net_peer_report* net_server_report(const net_server* server, uint32_t index) {
    BASE_ASSERT(index < server->report_count);
    return &server->reports[index];
}

const net_server_counters* net_server_get_counters(const net_server* server) {
    return &server->counters;
}

net_world_digest net_server_scope(net_server* server, uint32_t client, ecs_line_fn line,
                                  void* context) {
    net_server_collect(server);
    return net_session_scope(server, client, line, context);
}

// ---- bandwidth

typedef struct bandwidth_place {
    uint64_t bits;
    uint32_t component;
    net_cost cost;
} bandwidth_place;

// Most bits first; equal ones by component, then by cause.
static int compare_places(const void* a, const void* b) {
    const bandwidth_place* x = a;
    const bandwidth_place* y = b;
    if (x->bits != y->bits) return x->bits > y->bits ? -1 : 1;
    if (x->component != y->component) return x->component < y->component ? -1 : 1;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

static void list_account(net_server* server, const net_bandwidth_account* account, uint32_t client,
                         uint32_t lines_max, bandwidth_place* places, net_bandwidth_line_fn line,
                         void* context) {
    ecs_world* world = net_match_world(server->config.match);
    uint32_t count = 0;
    for (uint32_t component = 0; component < account->component_count; component++) {
        for (uint32_t cost = 0; cost < NET_COST_COUNT; cost++) {
            uint64_t bits = account->bits[component][cost];
            if (bits) places[count++] = (bandwidth_place){bits, component, (net_cost)cost};
        }
    }
    qsort(places, count, sizeof *places, compare_places);
    uint64_t sum = net_bandwidth_sum(account);
    for (uint32_t i = 0; i < count && i < lines_max; i++) {
        const net_bandwidth_line one = {
            .client = client,
            .component =
                places[i].component == NET_BANDWIDTH_NONE
                    ? "-"
                    : ecs_component_get(world, (ecs_component_id)places[i].component)->name,
            .cause = net_cost_name(places[i].cost),
            .bits = places[i].bits,
            .share = (double)places[i].bits / (double)sum,
        };
        line(context, &one);
    }
}

// Sum up all that was sent: closed accounts, open ones, and the bytes that the transport added.
static void sum_up(net_server* server, net_bandwidth_account* all) {
    BASE_ASSERT(server->has_bandwidth && !server->out.is_uncollected);
    net_bandwidth_sum_into(all, &server->bandwidth.total);
    net_bandwidth_sum_into(all, &server->bandwidth_rest);
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (session && session->out.repl)
            net_bandwidth_sum_into(all, net_repl_state_account(session->out.repl));
    }
    net_transport_stats stats;
    server->config.transport->ops->stats(server->config.transport, &stats);
    uint64_t ours = net_bandwidth_sum(all);
    if (8 * stats.sent_bytes > ours)
        net_bandwidth_add(all, NET_BANDWIDTH_NONE, NET_COST_TRANSPORT, 8 * stats.sent_bytes - ours);
}

bool net_server_bandwidth(net_server* server, uint32_t client_lines_max, net_bandwidth_line_fn line,
                          void* context) {
    net_server_collect(server);
    if (!server->has_bandwidth) return true;
    net_bandwidth_account all;
    if (!net_bandwidth_open(&server->bandwidth, &all)) return false;
    size_t place_bytes = (size_t)all.component_count * NET_COST_COUNT * sizeof(bandwidth_place);
    bandwidth_place* places = base_allocate(server->allocator, place_bytes);
    if (places) {
        sum_up(server, &all);
        list_account(server, &all, 0, UINT32_MAX, places, line, context);
        for (uint32_t i = 0; i < server->session_count; i++) {
            const net_session* session = server->sessions[i];
            if (!session || !session->out.repl) continue;
            list_account(server, net_repl_state_account(session->out.repl), session->client,
                         client_lines_max, places, line, context);
        }
        for (uint32_t i = 0; i < server->bandwidth_client_count; i++)
            list_account(server, &server->bandwidth_clients[i].account,
                         server->bandwidth_clients[i].client, client_lines_max, places, line,
                         context);
        base_release(server->allocator, places, place_bytes);
    }
    base_release(server->allocator, all.bits,
                 (size_t)all.component_count * NET_COST_COUNT * sizeof(uint64_t));
    return places != NULL;
}

// The phase of a server: HOLDING -> RUNNING -> SETTLING -> LEAVING -> ENDED. Phases may be left
// out, never come back.

void net_server_set_phase(net_server* server, net_server_phase phase) {
    BASE_ASSERT(phase > server->phase && phase <= NET_SERVER_ENDED);
    server->phase = phase;
    server->phase_us = server->now_us;
}

void net_server_say_goodbye(net_server* server) {
    if (server->phase == NET_SERVER_LEAVING || server->phase == NET_SERVER_ENDED) return;
    const char* reason = net_match_end_reason(server->config.match);
    if (!reason && server->end_reason[0]) reason = server->end_reason;
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session) continue;
        // Of one that ends already the reason stays.
        if (reason && session->end == NET_END_NONE)
            (void)base_text_copy(session->end_reason, sizeof session->end_reason, reason);
        net_session_end(server, session, NET_END_GOODBYE);
    }
    net_server_set_phase(server, NET_SERVER_LEAVING);
    server->config.transport->ops->flush(server->config.transport);
}
