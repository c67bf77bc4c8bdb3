// SPDX-License-Identifier: MIT
// What a client sends on the realtime channel: one packet per client tick, with the newest inputs,
// acknowledgements, events, and requests for rows that failed a checksum probe.
#include "client/client_state.h"

#include "client/presenter_face.h"

#include "ecs/debug.h"

#include "base/assert.h"

#include <string.h>

#define EVENT_BYTES_MAX 600u
#define ENVELOPE_BYTES_MAX                                                                         \
    (NET_INPUT_PACKET_BYTES_MAX + 6u) ///< beside inputs and events, each number at its longest
#define EVENTS_PER_PACKET_MAX 16u
#define RESYNC_TRIES_MAX 4u
#define LOSS_MIN 131u         ///< of 65,536 packets
#define RESYNC_WAIT_TICKS 16u ///< between two requests for an entity

static bool send_event(void* sender, uint32_t message, const void* payload) {
    return net_client_send_event(sender, message, payload) == NET_OK;
}

static net_player_context make_context(net_client* client) {
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

static void count_unsent(net_client* client, net_drop reason) {
    client->dropped[reason]++;
    base_report(net_ration_take(&client->ration, NET_RATION_EVENT, client->now_us), NULL,
                NET_FOUND_UNSENT, "warning: a message is not sent: %s",
                net_match_refusal(client->config.match));
}

void net_client_make_input(net_client* client) {
    BASE_ASSERT(client->phase == NET_CLIENT_PLAYING && client->is_player_known);
    const net_game_module* game = net_match_get_config(client->config.match)->module->game;
    client->input_number++;
    net_input* input = &client->inputs[client->input_number % NET_INPUT_REDUNDANCY];
    memset(client->input_payload, 0, sizeof client->input_payload);
    net_player_context player = make_context(client);
    net_presenter* presenter = client->config.presenter;
    if (client->config.input) {
        // A bot sees the mirror; a person sees the world that the presenter shows.
        if (presenter) net_presenter_face_of(presenter)->look(presenter, &player);
        client->config.input(client->config.input_context, &player, client->input_payload);
    } else if (game->bot_think && !client->config.is_thin) {
        ecs_running_call("bot_think");
        game->bot_think(&player, client->input_payload);
    }
    // What a game writes past its memory would change the client.
    for (uint32_t i = 0; i < NET_CLIENT_GUARD_BYTES; i++)
        BASE_ASSERT(client->bot_guard[i] == NET_CLIENT_GUARD &&
                    "the game wrote beyond view->memory: it has 256 bytes");
    ecs_running_call(NULL);
    input->number = client->input_number;
    // Without a presenter the player saw the newest tick of the mirror.
    input->seen = !game->is_rewinding ? 0
                  : presenter         ? net_presenter_face_of(presenter)->shown(presenter)
                                      : net_mirror_tick(client->mirror) * 256;
    size_t size;
    // An input that is too long is replaced by an empty one (size 0); its number is used up.
    if (net_match_pack(client->config.match, net_match_input_message(client->config.match),
                       client->input_payload, input->payload, sizeof input->payload,
                       &size) != NET_OK)
        count_unsent(client, NET_DROP_INPUT_LONG);
    input->size = (uint32_t)size;
    if (presenter)
        net_presenter_face_of(presenter)->input(presenter, client->now_us, input->number,
                                                input->payload, input->size);
}

// Handles of the entities to request now. @return how many.
static uint32_t gather_resyncs(net_client* client, uint32_t handles[NET_CLIENT_RESYNCS_MAX]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < NET_CLIENT_RESYNCS_MAX; i++) {
        net_client_resync* one = &client->resyncs[i];
        if (one->entity == ECS_ENTITY_NONE) continue;
        ecs_tick tick;
        bool is_here = net_mirror_entity_tick(client->mirror, one->entity, &tick);
        bool is_whole = net_mirror_whole_tick(client->mirror, one->entity) > one->tick;
        if (!is_here || is_whole || one->tries == RESYNC_TRIES_MAX) {
            one->entity = ECS_ENTITY_NONE;
            continue;
        }
        if (one->wait > 0) {
            one->wait--;
            continue;
        }
        one->tries++;
        one->wait = RESYNC_WAIT_TICKS;
        client->resyncs_requested++;
        handles[count++] = one->entity;
    }
    return count;
}

// ---- what the server knows

// The packets before `ack` that the server heard to have come.
static uint64_t heard_bits(const net_input_base* base, uint16_t ack) {
    if (!base || !base->has_ack) return 0;
    const uint16_t ahead = (uint16_t)(ack - base->ack);
    if (ahead == 0) return base->ack_bits;
    if (ahead > NET_ACK_BITS) return 0;
    return (ahead < NET_ACK_BITS ? base->ack_bits << ahead : 0) | UINT64_C(1) << (ahead - 1);
}

// ---- the packet

// In how many packets an input goes, while the server may lack it. A line that lost none of the
// last few hundred packets may begin to: 3. Losses come in bursts, so any loss is answered by all.
static uint32_t copies(const net_client* client) {
    const uint32_t up = client->input_loss * 256, down = client->received.loss;
    const bool is_good = client->server_reads_short && up < LOSS_MIN && down < LOSS_MIN;
    return is_good ? 3 : NET_INPUT_REDUNDANCY;
}

// Those that the server may not have; what stays the same takes a bit. Large inputs are repeated
// less often, so that events keep their room.
static void fill_inputs(const net_client* client, net_input_packet* packet) {
    const uint64_t budget = 8 * (NET_STATE_BYTES_MAX - EVENT_BYTES_MAX - ENVELOPE_BYTES_MAX);
    const uint32_t heard = packet->base ? packet->base->number : 0, wanted = copies(client);
    const uint32_t floor = client->input_floor > heard ? client->input_floor : heard;
    uint32_t count = client->input_number - floor, fitting = 0;
    if (count > NET_INPUT_REDUNDANCY) count = NET_INPUT_REDUNDANCY;
    net_input_bytes newest_first[NET_INPUT_REDUNDANCY];
    for (uint64_t used = 0; fitting < count; fitting++) {
        const net_input* input =
            &client->inputs[(client->input_number - fitting) % NET_INPUT_REDUNDANCY];
        net_input_bytes* one = &newest_first[fitting];
        *one = (net_input_bytes){input->payload, input->size};
        const bool is_same = fitting > 0 && net_input_is_same(one, one - 1);
        used += is_same ? 1 : NET_INPUT_BITS_MAX(one->size);
        if (used > budget || (fitting >= wanted && !is_same)) break;
    }
    packet->input_count = fitting;
    packet->input_first = (fitting ? client->input_number - fitting : heard) + 1;
    for (uint32_t i = 0; i < fitting; i++)
        packet->inputs[fitting - 1 - i] = newest_first[i];
    packet->seen = client->inputs[client->input_number % NET_INPUT_REDUNDANCY].seen;
}

static net_input_packet make_packet(net_client* client) {
    net_input_packet packet = {.seq = net_ack_sender_add(&client->sent, client->now_us)};
    if (client->sent.has_ack)
        packet.base = net_input_base_find(&client->said, client->sent.newest_acked);
    const uint64_t bits = client->received.bits;
    const uint64_t news = bits & ~heard_bits(packet.base, client->received.newest);
    packet.has_ack = client->received.has_any;
    packet.ack = client->received.newest;
    packet.ack_bits = bits;
    packet.ack_reach = news ? NET_ACK_BITS - (uint32_t)__builtin_clzll(news) : 0;
    packet.ack_delay_us = net_ack_receiver_delay_us(&client->received, client->now_us);
    packet.event_ack = client->inbox.newest;
    packet.has_event_ack = packet.event_ack != (packet.base ? packet.base->event_ack : 0);
    fill_inputs(client, &packet);
    packet.resync_count = gather_resyncs(client, packet.resyncs);
    if (packet.base && client->server_reads_short && net_input_packet_fits(&packet, packet.base))
        return packet;
    packet.base = NULL;
    if (packet.input_count == 0) packet.input_first = 1;
    return packet;
}

void net_client_send_inputs(net_client* client) {
    BASE_ASSERT(client->phase == NET_CLIENT_PLAYING && client->has_peer);
    Shoal__Wire__InputPacket message = SHOAL__WIRE__INPUT_PACKET__INIT;
    Shoal__Wire__GameEvent events[EVENTS_PER_PACKET_MAX];
    Shoal__Wire__GameEvent* pointers[EVENTS_PER_PACKET_MAX];
    size_t event_bytes = 0, size = 0;
    message.n_events = net_event_outbox_fill(&client->outbox, events, pointers,
                                             EVENTS_PER_PACKET_MAX, EVENT_BYTES_MAX, &event_bytes);
    message.events = pointers;
    const net_input_packet packet = make_packet(client);
    uint8_t input[NET_STATE_BYTES_MAX - EVENT_BYTES_MAX];
    proto_bit_writer writer = proto_bit_writer_make(input, sizeof input);
    net_input_packet_write(&writer, &packet);
    BASE_ASSERT(!writer.failed);
    if (packet.base) { // the events follow
        size = proto_bit_writer_bytes(&writer);
        memcpy(client->packet, input, size);
    } else {
        message.input = (ProtobufCBinaryData){proto_bit_writer_bytes(&writer), input};
    }
    if (!packet.base || message.n_events > 0)
        size += proto_encode(&message.base, client->packet + size, sizeof client->packet - size);
    BASE_ASSERT(size > 0);
    net_input_bases_keep(&client->said, &packet);
    // A refused datagram is a lost one.
    net_transport* transport = client->config.transport;
    if (transport->ops->send(transport, client->peer, NET_CHANNEL_REALTIME, client->packet, size) !=
        NET_OK)
        client->dropped[NET_DROP_SEND]++;
    net_client_trace_packet(client, NET_TRACE_SENT, "input", packet.seq, size);
    client->dropped[NET_DROP_EVENT_QUEUE] += net_event_outbox_drop_unreliable(&client->outbox);
}

net_result net_client_send_event(net_client* client, uint32_t message, const void* payload) {
    if (client->phase != NET_CLIENT_PLAYING || client->is_closing || client->config.is_spectator)
        return NET_ERR_CLOSED;
    const net_game_module* game = net_match_get_config(client->config.match)->module->game;
    BASE_ASSERT(message >= 1 && message <= game->message_count);
    BASE_ASSERT(game->messages[message - 1].kind == NET_MESSAGE_TO_SERVER);
    uint8_t bytes[NET_EVENT_PAYLOAD_BYTES_MAX];
    size_t size;
    net_result result =
        net_match_pack(client->config.match, message, payload, bytes, sizeof bytes, &size);
    if (result != NET_OK) {
        count_unsent(client, NET_DROP_EVENT_LONG);
        return result;
    }
    result = net_event_outbox_push(&client->outbox, game->messages[message - 1].is_reliable, false,
                                   message, net_mirror_tick(client->mirror), ECS_ENTITY_NONE, bytes,
                                   (uint32_t)size);
    if (result != NET_OK) client->dropped[NET_DROP_EVENT_QUEUE]++;
    return result;
}
