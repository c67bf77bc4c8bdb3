// SPDX-License-Identifier: MIT
// Packets to the server.
#include "play.h"

#include <string.h>

static void send_control(game_client* client, const Shoal__Wire__ClientControl* message) {
    uint8_t bytes[16384];
    size_t size = shoal__wire__client_control__pack(message, bytes);
    ENetPacket* packet = enet_packet_create(bytes, size, ENET_PACKET_FLAG_RELIABLE);
    if (enet_peer_send(client->peer, CONTROL, packet) != 0) enet_packet_destroy(packet);
}

void send_hello(game_client* client) {
    char game[32] = "breakout", name[] = "conformance";
    if (client->game->make_input) strncpy(game, client->game->name, sizeof game - 1);
    Shoal__Wire__Hello hello = SHOAL__WIRE__HELLO__INIT;
    hello.protocol = 4;
    hello.schema_hash = schema_hash(client->schema);
    hello.game = game;
    hello.name = name;
    hello.is_bot = 1;
    hello.rate_bytes_max = client->options->rate_bytes_max;
    Shoal__Wire__ClientControl message = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    message.kind_case = SHOAL__WIRE__CLIENT_CONTROL__KIND_HELLO;
    message.hello = &hello;
    send_control(client, &message);
}

void answer_schema_question(game_client* client) {
    Shoal__Wire__SchemaItem items[64];
    Shoal__Wire__SchemaItem* list[64];
    Shoal__Wire__SchemaAnswer answer = SHOAL__WIRE__SCHEMA_ANSWER__INIT;
    answer.n_items = schema_item_count(client->schema);
    answer.items = list;
    for (uint32_t i = 0; i < answer.n_items; i++) {
        shoal__wire__schema_item__init(&items[i]);
        items[i].name = (char*)(uintptr_t)schema_item_name(client->schema, i);
        (void)schema_item(client->schema, items[i].name, &items[i].hash);
        list[i] = &items[i];
    }
    Shoal__Wire__ClientControl message = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    message.kind_case = SHOAL__WIRE__CLIENT_CONTROL__KIND_SCHEMA_ANSWER;
    message.schema_answer = &answer;
    send_control(client, &message);
}

void acknowledge_value(game_client* client, uint64_t version) {
    Shoal__Wire__VarsizeAck ack = SHOAL__WIRE__VARSIZE_ACK__INIT;
    ack.n_versions = 1;
    ack.versions = &version;
    Shoal__Wire__ClientControl message = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    message.kind_case = SHOAL__WIRE__CLIENT_CONTROL__KIND_VARSIZE_ACK;
    message.varsize_ack = &ack;
    send_control(client, &message);
}

static void make_input(game_client* client) {
    uint32_t number = ++client->input_number, slot = number % INPUTS_KEPT;
    client->input_sizes[slot] = client->game->make_input(number, client->inputs[slot]);
}

static void add_inputs(game_client* client, Shoal__Wire__InputPacket* message,
                       ProtobufCBinaryData* inputs) {
    if (client->entity) make_input(client);
    uint32_t count = client->input_number < INPUTS_KEPT ? client->input_number : INPUTS_KEPT;
    message->input_first = client->input_number - count + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = (message->input_first + i) % INPUTS_KEPT;
        inputs[i] = (ProtobufCBinaryData){client->input_sizes[slot], client->inputs[slot]};
    }
    message->n_inputs = count;
    message->inputs = inputs;
}

void send_inputs(game_client* client) {
    Shoal__Wire__InputPacket message = SHOAL__WIRE__INPUT_PACKET__INIT;
    ProtobufCBinaryData inputs[INPUTS_KEPT];
    message.seq = ++client->seq; // the first is 1
    message.has_ack = client->has_received;
    if (client->has_received) {
        message.ack = client->newest_seq;
        message.ack_bits = client->received_bits;
        message.ack_delay_us = (uint32_t)((now_s() - client->newest_arrival_s) * 1e6);
    }
    message.event_ack = client->event_number;
    message.n_resync = client->resync_count;
    message.resync = client->resyncs;
    add_inputs(client, &message, inputs);

    uint8_t payload[INPUT_BYTES_MAX], bytes[PACKET_BYTES_MAX];
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    Shoal__Wire__GameEvent* events[] = {&event};
    event.number = 1;
    event.message = client->game->event_position + 1;
    event.payload = (ProtobufCBinaryData){client->game->make_event(payload), payload};
    message.n_events = client->input_number > 30 && !client->is_event_acked;
    message.events = events;
    size_t size = shoal__wire__input_packet__pack(&message, bytes);
    client->resync_count = 0;
    if (is_lost(client)) {
        client->counts.lost_out++;
        return;
    }
    ENetPacket* packet = enet_packet_create(bytes, size, ENET_PACKET_FLAG_UNSEQUENCED);
    if (enet_peer_send(client->peer, REALTIME, packet) != 0) enet_packet_destroy(packet);
}
