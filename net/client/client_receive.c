// SPDX-License-Identifier: MIT
// What comes to a client: events of the connection, state packets and the game events in them.
//
// All of it is untrusted until it is decoded and checked. A packet that breaks the protocol is
// counted, dropped and not acknowledged. What a snapshot does to the world is in
// mirror/mirror.c.
//
// A state packet is handled in this order: its acknowledgement (valid even if the snapshot is not),
// the snapshot, the checksum probe, what presenter and clock learn of it, game events. Only then is
// it marked as received.
//
// Packets do not come with every tick: a server without news sends ten times a second, and a send
// divisor leaves out ticks. Sequence numbers tell ticks that were left out from packets that were
// lost.
#include "client/client_state.h"

#include "client/presenter_face.h"
#include "session/packet_header.h"
#include "state/varsize.h"

#include "ecs/inspect.h"

#include "base/assert.h"
#include "net/token.h"

#include <inttypes.h>

#define RESYNC_MS_MIN 250u ///< between two entities that are requested

// Message 0 belongs to the session layer, the others to the module.
static void deliver_event(net_client* client, const net_event* event) {
    if (event->message == 0) {
        const Shoal__Wire__PlayerAssigned* assigned =
            (const Shoal__Wire__PlayerAssigned*)proto_codec_decode(
                &client->codec, &shoal__wire__player_assigned__descriptor, event->payload,
                event->size, NET_EVENT_PAYLOAD_BYTES_MAX);
        if (assigned) {
            client->player = assigned->entity;
            client->is_player_known = true;
            if (client->config.presenter)
                net_presenter_face_of(client->config.presenter)
                    ->player(client->config.presenter, client->player);
        } else {
            net_client_malformed(client);
        }
        return;
    }
    if (client->config.is_thin) return;
    if (net_match_server_event(client->config.match, event->message, event->target, event->payload,
                               event->size) != NET_OK) {
        net_client_malformed(client);
    }
}

void net_client_deliver_events(net_client* client) {
    BASE_ASSERT(client->mirror);
    const ecs_world* world = net_match_world(client->config.match);
    const net_event* event;
    if (client->config.is_thin) world = NULL;
    while ((event = net_event_inbox_next(&client->inbox, world)) != NULL)
        deliver_event(client, event);
}

// The presenter delivers game events at times of its own. Message 0 is no game event.
static void receive_game_event(net_client* client, Shoal__Wire__GameEvent* event) {
    const net_result joined = net_event_inbox_join(&client->inbox, event);
    if (joined == NET_ERR_MALFORMED) net_client_malformed(client);
    if (joined != NET_OK) return;
    net_event_needs needs;
    needs.is_late = false;
    needs.count = 0;
    bool is_new = event->number == 0 || event->number == client->inbox.newest + 1;
    if (is_new && event->message != 0 && !client->config.is_thin)
        net_event_needs_of(client->config.match, event->message, event->payload.data,
                           event->payload.len, &needs);
    const net_event* queued = net_event_inbox_push(&client->inbox, event, &needs);
    if (!queued || event->message == 0) return;
    if (event->number != 0) {
        client->event_count = event->tick == client->event_tick ? client->event_count + 1 : 1;
        client->event_tick = event->tick;
    }
    if (!client->config.presenter) return;
    net_presenter_face_of(client->config.presenter)->event(client->config.presenter, queued);
}

// Ticks between the previous newest packet and this one for which the server sent no packet, by the
// sequence numbers.
static uint32_t ticks_left_out(net_client* client, const net_packet_header* header) {
    if (!client->has_tick_newest || header->tick > client->tick_newest) {
        uint16_t numbers = (uint16_t)(header->seq - client->tick_seq);
        ecs_tick ticks = header->tick - client->tick_newest;
        bool has_gap = client->has_tick_newest && ticks > numbers && ticks < UINT32_MAX;
        client->has_tick_newest = true;
        client->tick_newest = header->tick;
        client->tick_seq = header->seq;
        return has_gap ? (uint32_t)(ticks - numbers) : 0;
    }
    // One of several packets of a tick: the next tick is counted from the last of them.
    if (header->tick == client->tick_newest &&
        (uint16_t)(header->seq - client->tick_seq) <= NET_ACK_JUMP_MAX)
        client->tick_seq = header->seq;
    return 0;
}

static void show_packet(net_client* client, const net_packet_header* header) {
    uint32_t left_out = ticks_left_out(client, header);
    if (!client->config.presenter) return;
    ecs_tick row_tick;
    bool has_player_row = net_mirror_entity_tick(client->mirror, client->player, &row_tick) &&
                          row_tick + header->player_age >= header->tick;
    net_presenter_face_of(client->config.presenter)
        ->packet(client->config.presenter, client->now_us, header->tick, left_out,
                 header->input_used, header->input_repeats, has_player_row);
}

static void report_difference(net_client* client, const net_mirror_difference* difference) {
    const base_reporter* reporter =
        net_ration_take(&client->ration, NET_RATION_DIFFERS, client->now_us);
    if (!reporter) return;
    ecs_world* world = net_match_world(client->config.match);
    const ecs_entity entity = difference->entity;
    const char* is_a = ecs_entity_template_name(world, entity);
    const ecs_component* component = difference->component != ECS_COMPONENT_NONE
                                         ? ecs_component_get(world, difference->component)
                                         : NULL;
    ecs_user writer = {0};
    if (component) (void)ecs_inspect_user(world, component->id, ECS_USE_WRITE, &writer);
    base_report(reporter, NULL, NET_FOUND_DIFFERS | (uint32_t)difference->component << 8,
                "note: client %" PRIu32 ": entity %" PRIu32 ":%" PRIu32 " (%s)%s%s is not as the "
                "server has it, in tick %" PRIu64 ": requested again%s%s%s",
                client->client, ecs_entity_index(entity), ecs_entity_generation(entity),
                is_a ? is_a : "gone here", component ? ": component " : "",
                component ? component->name : "", net_mirror_tick(client->mirror),
                writer.name ? "; system " : "", writer.name ? writer.name : "",
                writer.name ? " of the client writes it, and only the server may: ES_TAG(server)"
                            : "");
}

// The entity differs from the server's: request the whole of it, and say so.
static void resync(net_client* client, const net_mirror_difference* difference) {
    const ecs_entity entity = difference->entity;
    BASE_ASSERT(entity != ECS_ENTITY_NONE);
    net_client_resync* place = NULL;
    for (uint32_t i = 0; i < NET_CLIENT_RESYNCS_MAX; i++) {
        net_client_resync* one = &client->resyncs[i];
        if (one->entity == entity) return;
        if (one->entity == ECS_ENTITY_NONE && !place) place = one;
    }
    client->differing = *difference;
    // The server answers 4 a second, and takes more for a flood.
    if (client->now_us < client->resync_us) return;
    if (!place) return; // probes go round: this one comes again
    client->resync_us = client->now_us + RESYNC_MS_MIN * 1000u;
    *place = (net_client_resync){.entity = entity};
    (void)net_mirror_entity_tick(client->mirror, entity, &place->tick);
    report_difference(client, difference);
}

static void check_probe(net_client* client, const net_packet_header* header) {
    net_mirror_difference difference;
    if (net_mirror_sweep(client->mirror, &difference)) {
        client->worlds_differing++;
        resync(client, &difference);
    }
    if (!header->has_probe) return;
    switch (net_mirror_check_probe(client->mirror, header->probe_slot,
                                   header->tick - header->probe_age, header->probe_hash,
                                   &difference)) {
    case NET_MIRROR_UNKNOWN:
        return;
    case NET_MIRROR_EQUAL:
        break;
    case NET_MIRROR_DIFFERS:
        client->probes_differing++;
        resync(client, &difference);
        break;
    }
    client->probes++;
}

// @return false when the packet must not be acknowledged.
static bool receive_state(net_client* client, const Shoal__Wire__StatePacket* packet,
                          const net_packet_header* header, proto_bit_reader* body) {
    if (header->has_ack) {
        // The acknowledgement counts even when the snapshot is malformed.
        net_result acked = net_ack_sender_receive(&client->sent, client->now_us, header->ack, 0,
                                                  header->ack_delay_us, &client->acks);
        if (acked != NET_OK && acked != NET_ERR_STALE) {
            net_client_malformed(client);
            return false;
        }
    }
    net_result result =
        net_mirror_read(client->mirror, header->seq, header->tick, header->has_body ? body : NULL);
    switch (result) {
    case NET_OK:
        break;
    case NET_ERR_STALE:
        client->dropped[NET_DROP_STALE]++;
        return false;
    case NET_ERR_MALFORMED:
        net_client_malformed(client);
        return false;
    default:
        net_client_overrun(client, result);
        return false;
    }
    net_varsize_receiver_tick(client->varsize);
    if (packet->input_loss) client->input_loss = packet->input_loss - 1;
    check_probe(client, header);
    show_packet(client, header);
    if (header->has_input && header->input_used > 0) {
        net_pace_report(&client->pace, client->now_us, header->tick, header->input_depth,
                        header->input_repeats, net_ack_sender_rtt_us(&client->sent),
                        net_ack_receiver_loss_percent(
                            &client->received)); // an estimate: the loss of the other direction
    }
    if (header->has_input && header->tick >= net_mirror_tick(client->mirror))
        client->input_depth = header->input_depth;
    if (header->has_event_ack && !net_event_outbox_acked(&client->outbox, header->event_ack))
        net_client_malformed(client);
    for (size_t i = 0; i < packet->n_events; i++)
        receive_game_event(client, packet->events[i]);
    return true;
}

static void receive_realtime(net_client* client, const uint8_t* bytes, size_t size) {
    if (client->phase != NET_CLIENT_PLAYING) {
        client->dropped[NET_DROP_UNTIMELY]++;
        return;
    }
    const Shoal__Wire__StatePacket* packet = (const Shoal__Wire__StatePacket*)proto_codec_decode(
        &client->codec, &shoal__wire__state_packet__descriptor, bytes, size, NET_STATE_BYTES_MAX);
    if (!packet) {
        net_client_trace_packet(client, NET_TRACE_RECEIVED, "malformed", 0, size);
        net_client_malformed(client);
        return;
    }
    BASE_ASSERT(client->mirror && client->varsize);
    const net_packet_header_near near = {
        .tick = net_mirror_tick(client->mirror),
        .has_tick = client->received.has_any,
        .seq = client->received.newest,
        .sent = (uint16_t)(client->sent.next - 1),
        .input = client->input_number,
        .event = client->outbox.number_next - 1,
    };
    proto_bit_reader reader = proto_bit_reader_make(packet->state.data, packet->state.len);
    net_packet_header header;
    if (net_packet_header_read(&reader, &near, &header) != NET_OK) {
        net_client_trace_packet(client, NET_TRACE_RECEIVED, "malformed", 0, size);
        net_client_malformed(client);
        return;
    }
    net_client_trace_packet(client, NET_TRACE_RECEIVED, "state", header.seq, size);
    if (net_ack_receiver_check(&client->received, header.seq) != NET_ACK_NEW) return;
    net_meter_state(&client->meter, client->now_us, packet, header.tick, reader.offset_bits,
                    (uint64_t)(net_match_dt(client->config.match) * 1e6f));
    const uint64_t faults = client->faults.count;
    if (!receive_state(client, packet, &header, &reader)) return;
    net_ack_receiver_mark(&client->received, header.seq, client->now_us);
    client->has_played = true;
    if (client->faults.count == faults) client->faults.is_only = false;
    net_client_deliver_events(client);
}

// What the outer layer says about the connection; NULL: nothing.
static const char* secure_text(const net_transport_event* event) {
    const uint32_t end = event->reason - NET_TRANSPORT_SECURE;
    return event->reason > NET_TRANSPORT_SECURE && end <= NET_SECURE_END_NOT_NOW
               ? net_secure_end_text(end)
               : NULL;
}

static void receive_notice(net_client* client, const net_transport_event* event) {
    const char* why = secure_text(event);
    if (why)
        base_report(net_ration_take(&client->ration, NET_RATION_LOST, client->now_us), NULL, 0,
                    "note: %s: %s; trying again", client->config.address, why);
}

static void receive_disconnected(net_client* client, const net_transport_event* event) {
    const char* why = secure_text(event);
    client->has_peer = false;
    if (client->phase == NET_CLIENT_RESUMING && !client->is_closing) {
        if (why)
            base_report(net_ration_take(&client->ration, NET_RATION_LOST, client->now_us), NULL, 0,
                        "connection ended: %s", why);
        client->retry_us = client->now_us + NET_CLIENT_RETRY_MS * 1000u;
        return;
    }
    // Without a reason the connection was lost, not closed.
    if (client->phase == NET_CLIENT_PLAYING && !client->is_closing && event->reason == 0 &&
        client->has_resume && client->has_played) {
        net_client_begin_resuming(client);
        client->was_closed = true;
        return;
    }
    if (why && !client->is_closing) net_client_give_up(client, why);
    net_client_finish(client, client->phase == NET_CLIENT_PLAYING ? NET_CLIENT_END_LOST
                                                                  : NET_CLIENT_END_UNREACHABLE);
}

static void receive_message(net_client* client, const net_transport_event* event) {
    if (client->is_closing) {
        client->dropped[NET_DROP_UNTIMELY]++;
        return;
    }
    if (client->phase != NET_CLIENT_RESUMING) client->received_us = client->now_us;
    if (event->channel == NET_CHANNEL_CONTROL) {
        const uint64_t faults = client->faults.count;
        client->meter.control_bytes += event->size;
        net_client_receive_control(client, event->bytes, event->size);
        if (client->faults.count == faults) client->faults.is_only = false;
    } else {
        receive_realtime(client, event->bytes, event->size);
    }
}

void net_client_receive(net_client* client, const net_transport_event* event) {
    BASE_ASSERT(client->phase != NET_CLIENT_ENDED);
    switch (event->kind) {
    case NET_TRANSPORT_CONNECTED: {
        bool is_resuming = client->phase == NET_CLIENT_RESUMING;
        if (client->phase != NET_CLIENT_CONNECTING && !is_resuming) break;
        if (!is_resuming) net_client_set_phase(client, NET_CLIENT_GREETING, "connected");
        // The server answers: the greeting has a time limit of its own.
        client->started_us = client->retry_us = client->now_us;
        client->is_reached = true;
        net_client_greet(client);
        break;
    }
    case NET_TRANSPORT_DISCONNECTED:
        receive_disconnected(client, event);
        break;
    case NET_TRANSPORT_RECEIVED:
        receive_message(client, event);
        break;
    case NET_TRANSPORT_NOTICE:
        receive_notice(client, event);
        break;
    case NET_TRANSPORT_FOUND: // another server has the match: resume there
        if (client->phase == NET_CLIENT_PLAYING && !client->is_closing && client->has_resume &&
            client->has_played)
            net_client_begin_resuming(client);
        break;
    }
}
