// SPDX-License-Identifier: MIT
// The client: connects, mirrors, sends inputs, delivers events. This file wires the parts together.
//
// Where to read on: client_session.c (phases, silence, resumption), client_control.c (greeting and
// goodbye), client_receive.c (state packets), client_send.c (input packets). What a
// state packet does to the world is in mirror/mirror.c.

#include "client/client_state.h"
#include "state/rows.h"
#include "state/schema.h"
#include "state/varsize.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

net_client* net_client_create(const net_client_config* config) {
    BASE_ASSERT(config && config->transport && config->address);
    BASE_ASSERT(!config->match || net_match_get_config(config->match)->role == NET_ROLE_MIRROR);
    BASE_ASSERT(!config->presenter || config->match);
    BASE_ASSERT(!config->is_thin || (config->match && !config->presenter && !config->input));
    BASE_ASSERT(config->is_spectator || config->watched == 0);
    BASE_ASSERT(config->rate_bytes_max <= NET_RATE_BYTES_LIMIT);
    net_client* client = base_owner_create(config->allocator, sizeof *client);
    const base_allocator* allocator = &client->owner.allocator;
    client->config = *config;
    client->watched = config->watched;
    net_ration_init(&client->ration, config->reporter);
    client->rng = base_rng_make(config->seed, 77);
    memset(client->bot_guard, NET_CLIENT_GUARD, sizeof client->bot_guard);
    net_event_outbox_init(&client->outbox, allocator);
    net_event_inbox_init(&client->inbox, allocator);
    net_roster_init(&client->roster, allocator);
    if (config->secret) {
        memcpy(client->resume, config->secret, NET_RESUME_BYTES);
        client->has_resume = true;
        client->phase = NET_CLIENT_RESUMING;
    }
    net_pace_init(&client->pace, config->match ? net_match_get_config(config->match)->tick_rate_hz
                                               : NET_TICK_RATE_HZ_DEFAULT);
    if (config->match) client->rows = net_schema_rows(net_match_schema(config->match));
    proto_codec_init(&client->codec, allocator, PROTO_UNPACK_SERVER_BYTES_MAX);
    return client;
}

void net_client_destroy(net_client* client) {
    if (!client) return;
    net_ration_end(&client->ration);
    base_owner_destroy(client->varsize);
    if (client->mirror) net_mirror_destroy(client->mirror);
    base_owner_destroy(client);
}

void net_client_service(net_client* client, uint64_t now_us) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    client->now_us = now_us;
    net_transport* transport = client->config.transport;
    if (client->phase == NET_CLIENT_ENDED) return;
    transport->ops->service(transport, now_us);
    if (client->started_us == 0 && client->phase == NET_CLIENT_RESUMING) {
        // The transport may still end the connection before.
        client->started_us = client->received_us = client->retry_us = now_us ? now_us : 1;
    } else if (!client->has_peer && client->phase == NET_CLIENT_CONNECTING &&
               now_us >= client->started_us) {
        client->started_us = now_us ? now_us : 1;
        net_result result =
            transport->ops->connect(transport, client->config.address, &client->peer);
        if (result != NET_OK) {
            base_text_copy(client->refusal_text, sizeof client->refusal_text,
                           net_result_text(result));
            net_client_finish(client, NET_CLIENT_END_UNREACHABLE);
            return;
        }
        client->has_peer = true;
    }
    net_transport_event event;
    // What is left comes with the next service: a flood must not keep the program from its ticks.
    for (uint32_t i = 0; i < NET_CLIENT_MESSAGES_MAX; i++) {
        if (client->phase == NET_CLIENT_ENDED || client->has_enough) break;
        if (!transport->ops->next(transport, &event)) break;
        net_client_receive(client, &event);
        net_client_check_memory(client);
    }
    net_client_ack_varsize(client);
    net_client_check_connection(client);
    transport->ops->flush(transport);
}

// The mirror's own systems (effects, sounds). They must not change mirrored rows.
// @return false: the session ended.
static bool step_mirror(net_client* client) {
    net_match_step_at(client->config.match, net_mirror_tick(client->mirror));
    if (!client->config.stepped || client->config.stepped(client->config.stepped_context))
        ecs_changes_clear(net_match_world(client->config.match));
    net_client_check_memory(client);
    return client->phase != NET_CLIENT_ENDED;
}

void net_client_tick(net_client* client, uint64_t now_us) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    client->now_us = now_us;
    net_ration_report(&client->ration, now_us);
    net_pace_tick(&client->pace, now_us);
    if (client->phase != NET_CLIENT_PLAYING || client->is_closing) return;
    BASE_ASSERT(client->mirror && client->varsize && client->has_peer);
    uint64_t tick_us = (uint64_t)(net_match_dt(client->config.match) * 1e6f);
    net_ack_sender_expire(&client->sent, now_us, tick_us, &client->acks);
    net_client_deliver_events(client);
    net_event_inbox_age(&client->inbox);
    if (!client->config.is_thin && !step_mirror(client)) return;
    if (client->config.is_spectator)
        net_client_choose_watched(client);
    else if (client->is_player_known && client->player != ECS_ENTITY_NONE)
        net_client_make_input(client);
    net_client_send_inputs(client);
    client->config.transport->ops->flush(client->config.transport);
}

void net_client_catch_up(net_client* client, uint64_t now_us) {
    for (uint32_t i = 0; i < NET_CATCH_UP_TICKS_MAX; i++) {
        if (client->phase == NET_CLIENT_ENDED || net_client_next_tick_us(client) > now_us) return;
        net_client_tick(client, now_us);
    }
}

uint64_t net_client_next_tick_us(const net_client* client) {
    return net_pace_next_us(&client->pace);
}

void net_client_leave(net_client* client, uint64_t now_us) {
    client->now_us = now_us;
    if (client->phase == NET_CLIENT_ENDED || client->is_closing) return;
    if (client->phase != NET_CLIENT_PLAYING) {
        net_client_finish(client, NET_CLIENT_END_LEFT);
        return;
    }
    net_transport* transport = client->config.transport;
    net_client_send_inputs(client); // the last acknowledgements, for the server's report
    Shoal__Wire__Goodbye goodbye = SHOAL__WIRE__GOODBYE__INIT;
    goodbye.reason = NET_END_LEFT;
    (void)net_client_send_control(client, &goodbye.base);
    transport->ops->disconnect(transport, client->peer, NET_END_LEFT, false);
    net_client_begin_closing(client, NET_CLIENT_END_LEFT);
    transport->ops->flush(transport);
}

net_client_phase net_client_get_phase(const net_client* client) {
    return client->phase;
}
net_client_end net_client_get_end(const net_client* client) {
    return client->end;
}
uint32_t net_client_number(const net_client* client) {
    return client->client;
}
bool net_client_secret(const net_client* client, uint8_t* secret) {
    const bool is_over =
        client->phase == NET_CLIENT_ENDED && client->end != NET_CLIENT_END_EXCHANGED;
    if (!client->has_resume || !client->has_played || is_over) return false;
    memcpy(secret, client->resume, NET_RESUME_BYTES);
    return true;
}
bool net_client_take_secret(net_client* client, uint8_t* secret) {
    if (!net_client_secret(client, secret)) return false;
    if (client->phase != NET_CLIENT_ENDED) net_client_end_exchanged(client);
    return true;
}
const net_transfer* net_client_get_transfer(const net_client* client) {
    const bool is_over = client->phase == NET_CLIENT_ENDED;
    return is_over && client->end == NET_CLIENT_END_TRANSFERRED ? &client->transfer : NULL;
}
ecs_tick net_client_tick_newest(const net_client* client) {
    return client->mirror ? net_mirror_tick(client->mirror) : 0;
}
ecs_entity net_client_player(const net_client* client) {
    return client->player;
}

uint32_t net_client_refusal(const net_client* client, char* text, size_t text_bytes) {
    base_text_copy(text, text_bytes, client->refusal_text);
    return client->refusal;
}

bool net_client_server_info(const net_client* client, net_server_info* info) {
    *info = client->info;
    return !client->config.match && client->end == NET_CLIENT_END_REFUSED;
}

const char* net_client_refusal_game(const net_client* client) {
    return client->refusal_game;
}

// The figures of a client: what went through its connection, and its line at the end.

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
        dropped[NET_DROP_COMPOSITION] += client->rows->refused_count;
    if (client->mirror)
        dropped[NET_DROP_RECORD_OLD] += net_mirror_get_counters(client->mirror)->stale_records;
    if (!client->varsize) return;
    const net_varsize_receiver_counters* varsize =
        net_varsize_receiver_get_counters(client->varsize);
    dropped[NET_DROP_VARSIZE_KNOWN] += varsize->stale;
    dropped[NET_DROP_VARSIZE_GONE] += varsize->dropped;
    dropped[NET_DROP_VARSIZE_FULL] += varsize->evicted;
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
    report.probes = client->probes;
    report.probes_differing = client->probes_differing;
    report.worlds_differing = client->worlds_differing;
    report.resyncs_requested = client->resyncs_requested;
    add_dropped(client, report.dropped);
    if (!client->mirror) return report;
    ecs_world* world = net_match_world(client->config.match);
    report.tick = net_mirror_tick(client->mirror);
    report.updates = net_mirror_get_counters(client->mirror)->updates;
    report.scope = net_client_digest(client);
    if (client->config.is_thin) return report;
    report.loading = ecs_handle_count(world, ECS_STATE_LOADING);
    report.allocated = ecs_handle_count(world, ECS_STATE_ALLOCATED);
    report.bad_transitions = ecs_world_counters(world)->bad_transitions;
    return report;
}

bool net_client_line(net_client* client, char* line, size_t bytes) {
    const net_client_report report = net_client_get_report(client);
    if (report.client == 0) return false;
    return base_text_format(
        line, bytes,
        "client id=%" PRIu32 " tick=%" PRIu64 " entities=%" PRIu32 " components=%" PRIu32
        " bytes=%" PRIu64 " mirror_hash=%016" PRIx64 " loading=%" PRIu32 " allocated=%" PRIu32
        " bad_transitions=%" PRIu64 " updates=%" PRIu64 " sim_dropped=%" PRIu64
        " recv_bytes=%" PRIu64 " recv_reliable_bytes=%" PRIu64 " sent_bytes=%" PRIu64
        " rtt_ms=%.1f loss_percent=%.2f end=%s",
        report.client, report.tick, report.scope.entities, report.scope.components,
        report.scope.bytes, report.scope.hash, report.loading, report.allocated,
        report.bad_transitions, report.updates, report.sim_dropped, report.recv_bytes,
        report.recv_reliable_bytes, report.sent_bytes, report.rtt_ms, report.loss_percent,
        client->end == NET_CLIENT_END_GOODBYE       ? "goodbye"
        : client->end == NET_CLIENT_END_LEFT        ? "left"
        : client->end == NET_CLIENT_END_TRANSFERRED ? "transferred"
                                                    : "lost");
}
