// SPDX-License-Identifier: MIT
// The figures of a client: what went through its connection, and its line at the end.
#include "client/client_state.h"
#include "mirror/mirror.h"
#include "state/rows.h"
#include "state/varsize.h"

#include "net/match.h"

#include <inttypes.h>
#include <string.h>

void net_client_get_meter(const net_client* client, net_client_meter* meter) {
    net_transport_stats stats;
    client->config.transport->ops->stats(client->config.transport, &stats);
    *meter = (net_client_meter){
        .in_bytes = stats.recv_bytes,
        .out_bytes = stats.sent_bytes,
        .in_datagrams = stats.recv_datagrams,
        .out_datagrams = stats.sent_datagrams,
        .header_bits = client->meter.header_bits,
        .event_bytes = client->meter.event_bytes,
        .control_bytes = client->meter.control_bytes,
        .rtt_ms = client->sent.has_rtt ? (double)net_ack_sender_rtt_us(&client->sent) / 1000.0 : 0,
        .loss_percent = net_ack_receiver_loss_percent(&client->received),
        .jitter_ms = client->meter.jitter_us / 1000.0,
        .quiet_us = client->now_us > client->received_us ? client->now_us - client->received_us : 0,
        .resumes = client->resumes,
        .input_depth = client->input_depth,
        .pace = client->pace.rate,
    };
    if (!client->mirror) return;
    const net_mirror_counters* counters = net_mirror_get_counters(client->mirror);
    meter->body_bits = counters->body_bits;
    meter->record_bits = counters->head_bits;
}

uint64_t net_client_component_bits(const net_client* client, ecs_component_id component) {
    return client->mirror ? net_mirror_component_bits(client->mirror, component) : 0;
}

static void add_dropped(const net_client* client, uint64_t dropped[NET_DROP_COUNT]) {
    memcpy(dropped, client->dropped, sizeof client->dropped);
    dropped[NET_DROP_DUPLICATE] += client->received.duplicates;
    dropped[NET_DROP_OLD] += client->received.old;
    dropped[NET_DROP_ACK_FORGED] += client->sent.forged;
    dropped[NET_DROP_ACK_STALE] += client->sent.stale;
    dropped[NET_DROP_EVENT_KNOWN] += client->inbox.known;
    dropped[NET_DROP_EVENT_FULL] += client->inbox.full;
    dropped[NET_DROP_EVENT_WAITED] += client->inbox.dropped;
    if (client->rows && !client->config.is_thin) // thin clients share the rows
        dropped[NET_DROP_COMPOSITION] += net_rows_refused(client->rows);
    if (client->mirror)
        dropped[NET_DROP_RECORD_OLD] += net_mirror_get_counters(client->mirror)->stale_records;
    if (!client->varsize) return;
    const net_varsize_receiver_counters* varsize =
        net_varsize_receiver_get_counters(client->varsize);
    dropped[NET_DROP_VARSIZE_KNOWN] += varsize->stale;
    dropped[NET_DROP_VARSIZE_GONE] += varsize->dropped;
    dropped[NET_DROP_VARSIZE_FULL] += varsize->evicted;
}

static net_world_digest digest(net_client* client) {
    ecs_world* world = net_match_world(client->config.match);
    return client->config.is_thin
               ? net_mirror_digest(client->mirror, world)
               : net_world_digest_walk(net_match_schema(client->config.match), world, NULL, NULL);
}

net_client_report net_client_get_report(net_client* client) {
    net_client_report report = {
        .client = client->client, .end = client->end, .differs = client->differs};
    net_transport_stats stats;
    client->config.transport->ops->stats(client->config.transport, &stats);
    report.sim_dropped = stats.sim_dropped;
    report.recv_bytes = stats.recv_bytes;
    report.recv_reliable_bytes = stats.recv_reliable_bytes;
    report.sent_bytes = stats.sent_bytes;
    report.rtt_ms =
        client->sent.has_rtt ? (double)net_ack_sender_rtt_us(&client->sent) / 1000.0 : 0;
    report.loss_percent = net_ack_receiver_loss_percent(&client->received);
    report.packets_malformed = client->dropped[NET_DROP_MALFORMED];
    report.packets_stale = client->dropped[NET_DROP_STALE];
    report.inputs_refused = client->dropped[NET_DROP_INPUT_LONG];
    report.events_received = client->inbox.received;
    report.events_dropped = client->inbox.dropped;
    report.probes = client->probes;
    report.probes_differing = client->probes_differing;
    report.worlds_differing = client->worlds_differing;
    report.resyncs_requested = client->resyncs_requested;
    add_dropped(client, report.dropped);
    if (!client->mirror) return report;
    ecs_world* world = net_match_world(client->config.match);
    report.tick = net_mirror_tick(client->mirror);
    report.updates = net_mirror_get_counters(client->mirror)->updates;
    report.scope = digest(client);
    if (client->config.is_thin) return report;
    report.loading = ecs_handle_count(world, ECS_STATE_LOADING);
    report.allocated = ecs_handle_count(world, ECS_STATE_ALLOCATED);
    report.bad_transitions = ecs_world_counters(world)->bad_transitions;
    return report;
}

uint32_t net_client_compare(net_client* client, uint64_t hash) {
    ecs_world* world = net_match_world(client->config.match);
    if (!client->config.is_thin && ecs_handle_count(world, ECS_STATE_LOADING) > 0)
        return NET_END_GOODBYE;
    if (digest(client).hash == hash) return NET_END_GOODBYE;
    client->differs = true;
    net_mirror_difference found = {client->differing.entity, client->differing.component};
    for (uint32_t i = 0; i < NET_MIRROR_SWEEP_CALLS; i++) {
        net_mirror_difference here;
        if (!net_mirror_sweep(client->mirror, &here)) continue;
        found = here;
        break;
    }
    if (found.entity == ECS_ENTITY_NONE) {
        base_report(client->config.reporter, NULL, 0,
                    "client %" PRIu32 ": our world differs from the server's in tick %" PRIu64
                    ", though we have all as it was sent: the game wrote a value past its tracking",
                    client->client, net_mirror_tick(client->mirror));
        return NET_END_DIFFERS;
    }
    const net_row_template* row_template =
        ecs_is_alive(world, found.entity)
            ? net_rows_find(client->rows, ecs_entity_template(world, found.entity))
            : NULL;
    uint32_t position = 0;
    for (uint32_t c = 0; row_template && c < row_template->layout.component_count; c++)
        if (row_template->layout.components[c].key == found.component) position = c + 1;
    base_report(client->config.reporter, NULL, 0,
                "client %" PRIu32 ": our world differs from the server's in tick %" PRIu64
                ": entity %" PRIu32 ":%" PRIu32 " (%s), component %s",
                client->client, net_mirror_tick(client->mirror), ecs_entity_index(found.entity),
                ecs_entity_generation(found.entity),
                row_template ? ecs_template_get(world, row_template->id)->name : "not known",
                position ? ecs_component_get(world, found.component)->name : "-");
    const uint32_t index = ecs_entity_index(found.entity);
    return NET_END_DIFFERS | (position & 0xff) << 8 | (index <= UINT16_MAX ? index << 16 : 0);
}
