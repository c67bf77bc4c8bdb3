// SPDX-License-Identifier: MIT
// What a client sends on the realtime channel: one packet per client tick, with the newest inputs,
// acknowledgements, events, and requests for rows that failed a checksum probe.
#include "client/client_state.h"

#include "mirror/mirror.h"
#include "client/presenter_face.h"
#include "session/packet_header.h"

#include "ecs/debug.h"

#include "base/assert.h"

#include <string.h>

#define EVENT_BYTES_MAX 600u
#define ENVELOPE_BYTES_MAX                                                                         \
    (NET_INPUT_PACKET_BYTES_MAX + 6u) ///< beside inputs and events, each number at its longest
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

// What a game writes past its memory would change the client.
static void check_guard(const net_client* client) {
    for (uint32_t i = 0; i < NET_CLIENT_GUARD_BYTES; i++)
        BASE_ASSERT(client->bot_guard[i] == NET_CLIENT_GUARD &&
                    "the game wrote beyond view->memory: it has 256 bytes");
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
    check_guard(client);
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
                       &size) != NET_OK) {
        client->dropped[NET_DROP_INPUT_LONG]++;
    }
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

// A refused datagram is a lost one.
static void send_packet(net_client* client, uint32_t seq, size_t size) {
    net_transport* transport = client->config.transport;
    if (transport->ops->send(transport, client->peer, NET_CHANNEL_REALTIME, client->packet, size) !=
        NET_OK)
        client->dropped[NET_DROP_SEND]++;
    net_client_trace_packet(client, NET_TRACE_SENT, "input", seq, size);
}

// ---- what the server knows

// Of two state packets, both within half the circle of the newest.
static bool is_older(const net_client* client, uint16_t seq, uint16_t than) {
    const uint16_t newest = client->received.newest;
    return (uint16_t)(newest - seq) > (uint16_t)(newest - than);
}

void net_client_record_state(net_client* client, uint16_t seq) {
    net_client_known* known = &client->known;
    if (!known->has_reach || is_older(client, seq, known->reach)) known->reach = seq;
    known->has_reach = true;
}

static bool reaches(uint16_t acked, uint16_t first) {
    return (int16_t)(uint16_t)(acked - first) >= 0;
}

void net_client_learn_known(net_client* client, const net_ack_result* acks) {
    net_client_known* known = &client->known;
    for (uint32_t i = 0; i < acks->acked_count; i++) {
        const uint16_t acked = acks->acked[i];
        if (known->has_mark && reaches(acked, known->mark_seq)) {
            known->has_mark = known->has_mark_reach = false;
            known->has_seq = true;
            known->seq = acked;
        }
        if (reaches(acked, known->event_seq)) known->is_event_known = true;
    }
}

static void mark(net_client* client, uint16_t seq) {
    net_client_known* known = &client->known;
    if (known->has_mark) return;
    known->has_mark = true;
    known->mark_seq = seq;
    known->has_mark_reach = known->has_reach;
    known->mark_reach = known->reach;
    known->has_reach = false;
}

// How many packets before the newest have news for the server.
static uint32_t ack_reach(const net_client* client) {
    const net_client_known* known = &client->known;
    const uint16_t newest = client->received.newest;
    uint32_t reach = known->has_reach ? (uint16_t)(newest - known->reach) : 0;
    const uint32_t marked = known->has_mark_reach ? (uint16_t)(newest - known->mark_reach) : 0;
    if (marked > reach) reach = marked;
    return reach < NET_ACK_BITS ? reach : NET_ACK_BITS;
}

static void fill_acks(net_client* client, net_input_packet* packet) {
    net_client_known* known = &client->known;
    packet->is_whole =
        !known->has_seq || (uint16_t)(packet->seq - known->seq) > NET_PACKET_HEADER_NEAR_MAX;
    mark(client, packet->seq);
    packet->has_ack = client->received.has_any;
    packet->ack = client->received.newest;
    packet->ack_reach = packet->has_ack ? ack_reach(client) : 0;
    packet->ack_bits = client->received.bits;
    packet->ack_delay_us = net_ack_receiver_delay_us(&client->received, client->now_us);
    if (client->inbox.newest != known->event_sent) {
        known->event_sent = client->inbox.newest;
        known->event_seq = packet->seq;
        known->is_event_known = false;
    }
    packet->has_event_ack = known->event_sent != 0 && !known->is_event_known;
    packet->event_ack = known->event_sent;
}

// ---- the packet

// Large inputs are repeated less often, so that events keep their room.
static void fill_inputs(const net_client* client, net_input_packet* packet) {
    const uint64_t budget = 8 * (NET_STATE_BYTES_MAX - EVENT_BYTES_MAX - ENVELOPE_BYTES_MAX);
    uint32_t count = client->input_number - client->input_floor, fitting = 0;
    if (count > NET_INPUT_REDUNDANCY) count = NET_INPUT_REDUNDANCY;
    net_input_bytes newest_first[NET_INPUT_REDUNDANCY];
    for (uint64_t used = 0; fitting < count; fitting++) {
        const net_input* input =
            &client->inputs[(client->input_number - fitting) % NET_INPUT_REDUNDANCY];
        newest_first[fitting] = (net_input_bytes){input->payload, input->size};
        used += net_input_packet_bits(&newest_first[fitting],
                                      fitting ? &newest_first[fitting - 1] : NULL);
        if (used > budget) break;
    }
    packet->input_count = fitting;
    packet->input_first = client->input_number - fitting + 1;
    for (uint32_t i = 0; i < fitting; i++)
        packet->inputs[fitting - 1 - i] = newest_first[i];
    packet->seen = client->inputs[client->input_number % NET_INPUT_REDUNDANCY].seen;
}

void net_client_send_inputs(net_client* client) {
    BASE_ASSERT(client->phase == NET_CLIENT_PLAYING && client->has_peer);
    Shoal__Wire__InputPacket message = SHOAL__WIRE__INPUT_PACKET__INIT;
    Shoal__Wire__GameEvent events[EVENTS_PER_PACKET_MAX];
    Shoal__Wire__GameEvent* pointers[EVENTS_PER_PACKET_MAX];
    size_t event_bytes = 0;
    message.n_events = net_event_outbox_fill(&client->outbox, events, pointers,
                                             EVENTS_PER_PACKET_MAX, EVENT_BYTES_MAX, &event_bytes);
    message.events = pointers;
    net_input_packet packet = {.seq = net_ack_sender_add(&client->sent, client->now_us)};
    fill_acks(client, &packet);
    fill_inputs(client, &packet);
    packet.resync_count = gather_resyncs(client, packet.resyncs);
    uint8_t input[NET_STATE_BYTES_MAX - EVENT_BYTES_MAX];
    proto_bit_writer writer = proto_bit_writer_make(input, sizeof input);
    net_input_packet_write(&writer, &packet);
    BASE_ASSERT(!writer.failed);
    message.input.data = input;
    message.input.len = proto_bit_writer_bytes(&writer);
    const size_t size = proto_encode(&message.base, client->packet, sizeof client->packet);
    BASE_ASSERT(size > 0);
    send_packet(client, packet.seq, size);
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
        client->dropped[NET_DROP_EVENT_LONG]++;
        return result;
    }
    result = net_event_outbox_push(&client->outbox, game->messages[message - 1].is_reliable, false,
                                   message, net_mirror_tick(client->mirror), ECS_ENTITY_NONE, bytes,
                                   (uint32_t)size);
    if (result != NET_OK) client->dropped[NET_DROP_EVENT_QUEUE]++;
    return result;
}
