// SPDX-License-Identifier: MIT
// What a client sends on the realtime channel: one packet per client tick, with the newest inputs,
// acknowledgements, events, and requests for rows that failed a checksum probe.
#include "client/client_state.h"

#include "mirror/mirror.h"
#include "present/presenter.h"

#include "base/assert.h"
#include "net/match.h"
#include "net/client.h"

#include <string.h>

#define EVENT_BYTES_MAX 600u
#define ENVELOPE_BYTES_MAX 70u ///< beside inputs and events, each number at its longest
#define EVENTS_PER_PACKET_MAX 16u
#define RESYNC_TRIES_MAX 4u
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
        if (presenter) net_presenter_look(presenter, &player);
        client->config.input(client->config.input_context, &player, client->input_payload);
    } else if (game->bot_think && !client->config.is_thin) {
        game->bot_think(&player, client->input_payload);
    }
    input->number = client->input_number;
    // Without a presenter the player saw the newest tick of the mirror.
    input->seen = !game->is_rewinding ? 0
                  : presenter         ? net_presenter_shown(presenter)
                                      : net_mirror_tick(client->mirror) * 256;
    size_t size;
    // An input that is too long is replaced by an empty one (size 0); its number is used up.
    if (net_match_pack(client->config.match, net_match_input_message(client->config.match),
                       client->input_payload, input->payload, sizeof input->payload,
                       &size) != NET_OK) {
        client->dropped[NET_DROP_INPUT_LONG]++;
    }
    input->size = (uint32_t)size;
    if (presenter)
        net_presenter_input(presenter, client->now_us, input->number, input->payload, input->size);
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

// A refused datagram is a lost one.
static void send_packet(net_client* client, uint32_t seq, size_t size) {
    net_transport* transport = client->config.transport;
    if (transport->ops->send(transport, client->peer, NET_CHANNEL_REALTIME, client->packet, size) !=
        NET_OK)
        client->dropped[NET_DROP_SEND]++;
    net_client_trace_packet(client, NET_TRACE_SENT, "input", seq, size);
}

void net_client_send_inputs(net_client* client) {
    BASE_ASSERT(client->phase == NET_CLIENT_PLAYING && client->has_peer);
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
        net_input* input = &client->inputs[(first + i) % NET_INPUT_REDUNDANCY];
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
    packet.seen = client->inputs[client->input_number % NET_INPUT_REDUNDANCY].seen;
    uint32_t resyncs[NET_CLIENT_RESYNCS_MAX];
    packet.n_resync = gather_resyncs(client, resyncs);
    packet.resync = resyncs;
    size_t size = proto_encode(&packet.base, client->packet, sizeof client->packet);
    BASE_ASSERT(size > 0 || proto_encoded_bytes(&packet.base) == 0);
    // A packet with seq 0 and no content has no bytes: not sent. Seq wraps to 0 when the match
    // begins late.
    if (size > 0) send_packet(client, packet.seq, size);
    client->dropped[NET_DROP_EVENT_QUEUE] += net_event_outbox_drop_unreliable(&client->outbox);
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
