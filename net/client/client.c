// SPDX-License-Identifier: MIT
// The client: greets, mirrors, sends inputs, delivers events. Wiring of mirror, acknowledgements, queues
// and a match in role MIRROR to a transport; what a packet does to the world stands in mirror.c.
//
//     CONNECTING -> GREETING -> PLAYING -> ENDED
//                                 | ^
//                               RESUMING
//
// Resuming is a new connection for the same session: numbers, acknowledgements, queues and the mirror stay
// as they are, so that nothing but the connection begins anew. Meanwhile no inputs are made.
//
// A goodbye is answered by servicing the connection a little longer (is_closing), so that its
// acknowledgement leaves before the socket does.
//
// Left to others: what comes (client_receive.c).
#include "client/client_internal.h"

#include "base/assert.h"
#include "base/text.h"
#include "session/control.h"

#include <string.h>

#define CLOSE_MS_MAX 1000u
#define EVENT_BYTES_MAX 600u
#define ENVELOPE_BYTES_MAX 70u ///< beside inputs and events, every number at its longest
#define EVENTS_PER_PACKET_MAX 16u

net_result net_client_create(const net_client_config* config, net_client** out) {
    BASE_ASSERT(config && config->transport && config->address && out);
    net_client* client = base_allocate_zero(config->allocator, sizeof *client);
    if (!client) return NET_ERR_MEMORY;
    client->config = *config;
    client->allocator = config->allocator;
    client->rng = base_rng_make(config->seed, 77);
    net_event_outbox_init(&client->outbox, client->allocator);
    net_event_inbox_init(&client->inbox, client->allocator);
    net_roster_init(&client->roster, client->allocator);
    net_ack_receiver_init(&client->received);
    net_pace_init(&client->pace, config->match ? net_match_get_config(config->match)->tick_rate_hz
                                               : NET_TICK_RATE_HZ_DEFAULT);
    net_result result = NET_ERR_MEMORY;
    if (!proto_codec_init(&client->codec, client->allocator, PROTO_UNPACK_BYTES_MAX)) goto fail;
    if (config->match) {
        result =
            net_rows_create(client->allocator, net_match_world(config->match), NULL, &client->rows);
        if (result != NET_OK) goto fail;
    }
    *out = client;
    return NET_OK;
fail:
    net_client_destroy(client);
    return result;
}

void net_client_destroy(net_client* client) {
    if (!client) return;
    net_varsize_receiver_destroy(client->varsize);
    if (client->mirror) net_mirror_destroy(client->mirror);
    if (client->rows) net_rows_destroy(client->rows);
    net_event_outbox_deinit(&client->outbox);
    net_event_inbox_deinit(&client->inbox);
    net_roster_deinit(&client->roster);
    proto_codec_deinit(&client->codec);
    base_release(client->allocator, client, sizeof *client);
}

void net_client_finish(net_client* client, net_client_end end) {
    if (client->phase == NET_CLIENT_ENDED) return;
    if (client->end == NET_CLIENT_END_NONE) client->end = end;
    client->phase = NET_CLIENT_ENDED;
    if (!client->has_peer) return;
    net_transport* transport = client->config.transport;
    transport->ops->disconnect(transport, client->peer, NET_END_LEFT, true);
    client->has_peer = false;
}

void net_client_begin_closing(net_client* client, net_client_end end) {
    if (client->end == NET_CLIENT_END_NONE) client->end = end;
    client->is_closing = true;
    client->closing_us = client->now_us;
}

double net_client_quiet_s(const net_client* client) {
    return client->now_us > client->heard_us ? (double)(client->now_us - client->heard_us) * 1e-6
                                             : 0;
}

// The server is not told: for it the connection is lost, and the session stays.
static void drop_connection(net_client* client) {
    net_transport* transport = client->config.transport;
    if (client->has_peer) transport->ops->disconnect(transport, client->peer, 0, true);
    client->has_peer = false;
    client->retry_us = client->now_us;
}

void net_client_begin_resuming(net_client* client) {
    base_report(client->config.reporter, NULL, 0,
                "note: connection lost: nothing heard for %.1f s, trying again",
                net_client_quiet_s(client));
    client->phase = NET_CLIENT_RESUMING;
    drop_connection(client);
}

// Once per service: what silence asks for.
static void look_after_connection(net_client* client) {
    const uint64_t now_us = client->now_us;
    const uint64_t quiet_us = now_us > client->heard_us ? now_us - client->heard_us : 0;
    if (client->is_closing || !client->has_resume) return;
    if (client->phase == NET_CLIENT_PLAYING && client->received.has_any &&
        quiet_us > NET_QUIET_MS_MAX * 1000u) {
        net_client_begin_resuming(client);
    }
    if (client->phase != NET_CLIENT_RESUMING) return;
    if (quiet_us > NET_SILENCE_MS_MAX * 1000u) {
        base_report(client->config.reporter, NULL, 0, "connection lost: nobody answers for %.1f s",
                    net_client_quiet_s(client));
        net_client_finish(client, NET_CLIENT_END_LOST);
        return;
    }
    if (client->has_peer && now_us - client->retry_us > NET_CONNECT_MS_MAX * 1000u)
        drop_connection(client);
    if (client->has_peer || now_us < client->retry_us) return;
    net_transport* transport = client->config.transport;
    client->has_peer =
        transport->ops->connect(transport, client->config.address, &client->peer) == NET_OK;
    client->retry_us = client->has_peer ? now_us : now_us + NET_CLIENT_RETRY_MS * 1000u;
}

void net_client_service(net_client* client, uint64_t now_us) {
    client->now_us = now_us;
    net_transport* transport = client->config.transport;
    if (client->phase == NET_CLIENT_ENDED) return;
    transport->ops->service(transport, now_us);
    if (!client->has_peer && client->started_us == 0) {
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
    while (client->phase != NET_CLIENT_ENDED && transport->ops->next(transport, &event)) {
        net_client_take_event(client, &event);
    }
    net_client_answer_varsize(client);
    look_after_connection(client);
    bool is_waiting =
        client->phase == NET_CLIENT_CONNECTING || client->phase == NET_CLIENT_GREETING;
    if (is_waiting && !client->is_closing && now_us > client->started_us &&
        now_us - client->started_us > NET_CONNECT_MS_MAX * 1000u) {
        net_client_finish(client, NET_CLIENT_END_UNREACHABLE);
    }
    // From the first packet on the server sends several times a second; before it, it may wait for others.
    // Who has just come back is given time for the next one.
    const uint64_t state_us =
        client->received.newest_us > client->back_us ? client->received.newest_us : client->back_us;
    if (client->phase == NET_CLIENT_PLAYING && client->received.has_any && now_us > state_us &&
        now_us - state_us > NET_SILENCE_MS_MAX * 1000u) {
        net_client_finish(client, NET_CLIENT_END_LOST);
    }
    if (client->is_closing && now_us - client->closing_us > CLOSE_MS_MAX * 1000u) {
        net_client_finish(client, client->end);
    }
    transport->ops->flush(transport);
}

static bool send_event(void* sender, uint32_t message, const void* payload) {
    return net_client_send_event(sender, message, payload) == NET_OK;
}

static net_player_context make_view(net_client* client) {
    return (net_player_context){
        .size_bytes = sizeof(net_player_context),
        .world = net_match_world(client->config.match),
        .context = net_match_context(client->config.match),
        .player = client->player,
        .client = client->client,
        .tick = net_mirror_tick(client->mirror),
        .dt = net_match_dt(client->config.match),
        .input_number = client->input_number,
        .rng = &client->rng,
        .memory = client->bot_memory,
        .send = send_event,
        .sender = client,
    };
}

// An input is made every client tick from the moment the server told who we are.
static void sample_input(net_client* client) {
    const net_game_module* game = net_match_get_config(client->config.match)->module->game;
    client->input_number++;
    net_sent_input* slot = &client->inputs[client->input_number % NET_INPUT_REDUNDANCY];
    memset(client->input_payload, 0, sizeof client->input_payload);
    net_player_context view = make_view(client);
    net_presenter* presenter = client->config.presenter;
    if (client->config.input) {
        // A bot sees its mirror; whoever plays sees what is shown.
        if (presenter) net_presenter_look(presenter, &view);
        client->config.input(client->config.input_context, &view, client->input_payload);
    } else if (game->bot_think) {
        game->bot_think(&view, client->input_payload);
    }
    slot->number = client->input_number;
    // Only where the game decides by it. Without a presenter it was the mirror's newest tick.
    if (game->is_rewinding)
        client->input_view =
            presenter ? net_presenter_shown(presenter) : net_mirror_tick(client->mirror) * 256;
    size_t size;
    // Longer than an input may be: a resting one goes in its place (size 0), and the number goes on.
    if (net_match_pack(client->config.match, net_match_input_message(client->config.match),
                       client->input_payload, slot->payload, sizeof slot->payload,
                       &size) != NET_OK) {
        client->dropped[NET_DROP_INPUT_LONG]++;
    }
    slot->size = (uint32_t)size;
    if (presenter)
        net_presenter_input(presenter, client->now_us, slot->number, slot->payload, slot->size);
}

// Handles of entities that are still to be asked for. @return how many.
static uint32_t gather_resyncs(net_client* client, uint32_t handles[NET_CLIENT_HEALS_MAX]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < NET_CLIENT_HEALS_MAX; i++) {
        net_client_resync* one = &client->resyncs[i];
        if (one->entity == ECS_ENTITY_NONE) continue;
        ecs_tick tick = 0;
        bool is_here = net_mirror_entity_tick(client->mirror, one->entity, &tick);
        if (!is_here || tick != one->tick || one->tries == NET_CLIENT_HEAL_TRIES) {
            one->entity = ECS_ENTITY_NONE;
            continue;
        }
        if (one->wait > 0) {
            one->wait--;
            continue;
        }
        one->tries++;
        one->wait = NET_CLIENT_HEAL_TICKS;
        client->resyncs_asked++;
        handles[count++] = one->entity;
    }
    return count;
}

// A refused datagram is a lost one.
static void send_packet(net_client* client, size_t size) {
    net_transport* transport = client->config.transport;
    if (transport->ops->send(transport, client->peer, NET_CHANNEL_REALTIME, client->packet, size) !=
        NET_OK)
        client->dropped[NET_DROP_SEND]++;
}

static void send_inputs(net_client* client) {
    Shoal__Wire__InputPacket packet = SHOAL__WIRE__INPUT_PACKET__INIT;
    ProtobufCBinaryData inputs[NET_INPUT_REDUNDANCY];
    Shoal__Wire__GameEvent events[EVENTS_PER_PACKET_MAX];
    Shoal__Wire__GameEvent* pointers[EVENTS_PER_PACKET_MAX];
    uint32_t count = client->input_number - client->input_floor;
    if (count > NET_INPUT_REDUNDANCY) count = NET_INPUT_REDUNDANCY;
    // Large inputs are repeated less often, so that events keep their room.
    size_t budget = NET_STATE_BYTES_MAX - EVENT_BYTES_MAX - ENVELOPE_BYTES_MAX;
    size_t used = 0;
    uint32_t fitting = 0;
    while (fitting < count) {
        uint32_t number = client->input_number - fitting;
        size_t bytes = client->inputs[number % NET_INPUT_REDUNDANCY].size + 3;
        if (used + bytes > budget) break;
        used += bytes;
        fitting++;
    }
    uint32_t first = client->input_number - fitting + 1;
    for (uint32_t i = 0; i < fitting; i++) {
        net_sent_input* input = &client->inputs[(first + i) % NET_INPUT_REDUNDANCY];
        inputs[i].data = input->payload;
        inputs[i].len = input->size;
    }
    size_t event_bytes = 0;
    packet.n_events = net_event_outbox_fill(&client->outbox, events, pointers,
                                            EVENTS_PER_PACKET_MAX, EVENT_BYTES_MAX, &event_bytes);
    packet.events = pointers;
    packet.seq = net_ack_sender_add(&client->sent, client->now_us);
    packet.has_ack = client->received.has_any;
    packet.ack = client->received.newest;
    packet.ack_bits = client->received.bits;
    packet.ack_delay_us = net_ack_receiver_delay_us(&client->received, client->now_us);
    packet.event_ack = client->inbox.newest;
    packet.input_first = fitting ? first : 0;
    packet.n_inputs = fitting;
    packet.inputs = inputs;
    packet.seen = client->input_view;
    uint32_t resyncs[NET_CLIENT_HEALS_MAX];
    packet.n_resync = gather_resyncs(client, resyncs);
    packet.resync = resyncs;
    size_t size = proto_encode(&packet.base, client->packet, sizeof client->packet);
    BASE_ASSERT(size > 0 || proto_encoded_bytes(&packet.base) == 0);
    // Without bytes: seq 0 and nothing to say. It comes back to 0 for who waits long for a match to begin.
    if (size > 0) send_packet(client, size);
    client->dropped[NET_DROP_EVENT_QUEUE] += net_event_outbox_drop_unreliable(&client->outbox);
}

void net_client_tick(net_client* client, uint64_t now_us) {
    client->now_us = now_us;
    net_pace_tick(&client->pace, now_us);
    if (client->phase != NET_CLIENT_PLAYING || client->is_closing) return;
    uint64_t tick_us = (uint64_t)(net_match_dt(client->config.match) * 1e6f);
    net_ack_sender_expire(&client->sent, now_us, tick_us, &client->acks);
    net_client_deliver_events(client);
    net_event_inbox_age(&client->inbox);
    // The mirror's own systems (effects, sounds); what they change of mirrored rows is theirs to answer for.
    net_match_step_at(client->config.match, net_mirror_tick(client->mirror));
    ecs_changes_clear(net_match_world(client->config.match));
    if (client->is_player_told && client->player != ECS_ENTITY_NONE) sample_input(client);
    send_inputs(client);
    client->config.transport->ops->flush(client->config.transport);
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
    send_inputs(client); // the last acknowledgements: the server then knows what we have
    (void)net_control_send_goodbye(transport, client->peer, false, 0, NET_END_LEFT);
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

const char* net_client_refusal_game(const net_client* client) {
    return client->refusal_game;
}

net_result net_client_send_event(net_client* client, uint32_t message, const void* payload) {
    if (client->phase != NET_CLIENT_PLAYING || client->is_closing) return NET_ERR_CLOSED;
    const net_game_module* game = net_match_get_config(client->config.match)->module->game;
    BASE_ASSERT(message >= 1 && message <= game->message_count);
    BASE_ASSERT(game->messages[message - 1].kind == NET_MESSAGE_TO_SERVER);
    uint8_t bytes[NET_EVENT_PAYLOAD_BYTES_MAX];
    size_t size;
    net_result result =
        net_match_pack(client->config.match, message, payload, bytes, sizeof bytes, &size);
    if (result != NET_OK) {
        client->dropped[NET_DROP_EVENT_LONG]++;
        return result;
    }
    result = net_event_outbox_push(&client->outbox, game->messages[message - 1].is_reliable,
                                   message, net_mirror_tick(client->mirror), ECS_ENTITY_NONE, bytes,
                                   (uint32_t)size);
    if (result != NET_OK) client->dropped[NET_DROP_EVENT_QUEUE]++;
    return result;
}

const char* net_client_player_name(const net_client* client, uint32_t number) {
    const net_roster_player* player = net_roster_find(&client->roster, number);
    return player ? player->name : NULL;
}

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
        .quiet_us = client->now_us > client->heard_us ? client->now_us - client->heard_us : 0,
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
    net_client_report report = {.client = client->client, .end = client->end};
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
    report.samples = client->samples;
    report.samples_differing = client->samples_differing;
    report.resyncs_asked = client->resyncs_asked;
    add_dropped(client, report.dropped);
    if (!client->mirror) return report;
    ecs_world* world = net_match_world(client->config.match);
    report.tick = net_mirror_tick(client->mirror);
    report.scope = net_world_digest_walk(net_match_schema(client->config.match), world, NULL, NULL);
    report.loading = ecs_handle_count(world, ECS_STATE_LOADING);
    report.allocated = ecs_handle_count(world, ECS_STATE_ALLOCATED);
    report.bad_transitions = ecs_world_counters(world)->bad_transitions;
    report.updates = net_mirror_get_counters(client->mirror)->updates;
    return report;
}
