// SPDX-License-Identifier: MIT
// Packets to the server.
#include "play.h"

#include "outer.h"

#include <string.h>

static void send_control(game_client* client, const Shoal__Wire__ClientControl* message) {
    uint8_t bytes[16384];
    size_t size = shoal__wire__client_control__pack(message, bytes);
    ENetPacket* packet = enet_packet_create(bytes, size, ENET_PACKET_FLAG_RELIABLE);
    if (enet_peer_send(client->peer, CONTROL, packet) != 0) enet_packet_destroy(packet);
}

void send_hello(game_client* client) {
    char game[32] = "breakout", name[] = "conformance";
    if (client->game->root) strncpy(game, client->game->name, sizeof game - 1);
    Shoal__Wire__Hello hello = SHOAL__WIRE__HELLO__INIT;
    hello.protocol = 5;
    hello.schema_hash = schema_hash(client->schema);
    hello.game = game;
    hello.name = name;
    hello.is_bot = 1;
    hello.has_solo = client->options->has_solo != 0;
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

// The last message of this kind. @return NULL: there is none.
static const message_row* find_message(const game_tables* game, uint64_t kind) {
    const message_row* found = NULL;
    for (uint32_t m = 0; m < game->message_count; m++)
        if (game->messages[m].kind == kind) found = &game->messages[m];
    return found;
}

static void make_input(game_client* client) {
    uint32_t number = ++client->input_number, slot = number % INPUTS_KEPT;
    const message_row* input = find_message(client->game, 0);
    client->input_sizes[slot] = message_make(input, number, client->inputs[slot]);
}

static void write_whole(bit_stream* bits, const uint8_t* bytes, size_t size) {
    golomb_write(bits, 3, (uint32_t)size);
    for (size_t i = 0; i < size; i++)
        bits_write(bits, bytes[i], 8);
}

// An input in front of a newer one. This client always writes those that differ whole.
static void write_older(bit_stream* bits, const game_client* client, uint32_t number) {
    uint32_t slot = number % INPUTS_KEPT, newer = (number + 1) % INPUTS_KEPT;
    size_t size = client->input_sizes[slot];
    bool is_same = size == client->input_sizes[newer] &&
                   memcmp(client->inputs[slot], client->inputs[newer], size) == 0;
    bits_write(bits, is_same, 1);
    if (is_same) return;
    bool is_as_long = size == client->input_sizes[newer];
    bits_write(bits, is_as_long, 1);
    if (!is_as_long) write_whole(bits, client->inputs[slot], size);
    for (size_t i = 0; is_as_long && i < size; i++) {
        bool differs = client->inputs[slot][i] != client->inputs[newer][i];
        bits_write(bits, differs, 1);
        if (differs) bits_write(bits, client->inputs[slot][i], 8);
    }
}

static void write_inputs(bit_stream* bits, game_client* client, bool is_whole) {
    if (client->entity) make_input(client);
    uint32_t newest = client->input_number, slot = newest % INPUTS_KEPT;
    uint32_t count = newest < INPUTS_KEPT ? newest : INPUTS_KEPT;
    bits_write(bits, count, 4);
    if (count == 0) return;
    bits_write(bits, is_whole ? newest : newest % 1024, is_whole ? 32 : 10);
    bits_write(bits, 0, 1); // no moment
    write_whole(bits, client->inputs[slot], client->input_sizes[slot]);
    for (uint32_t i = 1; i < count; i++)
        write_older(bits, client, newest - i);
}

static void write_input(bit_stream* bits, game_client* client) {
    uint16_t seq = ++client->seq; // the first is 1
    bool is_whole = !client->has_acked || (uint16_t)(seq - client->acked_seq) > 256;
    bits_write(bits, is_whole, 1);
    bits_write(bits, is_whole ? seq : seq % 1024, is_whole ? 16 : 10);
    bits_write(bits, client->has_received, 1);
    if (client->has_received) {
        double delay_s = now_s() - client->newest_arrival_s;
        bits_write(bits, is_whole ? client->newest_seq : client->newest_seq % 4096,
                   is_whole ? 16 : 12);
        golomb_write(bits, 3, (uint32_t)(delay_s * 1e6) / 512);
        golomb_write(bits, 3, 64);
        bits_write(bits, client->received_bits, 64);
    }
    bits_write(bits, 1, 1);
    bits_write(bits, client->event_number & 65535, 16);
    bits_write(bits, client->resync_count > 0, 1);
    if (client->resync_count > 0) bits_write(bits, client->resync_count - 1, 2);
    for (uint32_t i = 0; i < client->resync_count; i++)
        bits_write(bits, client->resyncs[i], 32);
    write_inputs(bits, client, is_whole);
}

void send_inputs(game_client* client) {
    Shoal__Wire__InputPacket message = SHOAL__WIRE__INPUT_PACKET__INIT;
    uint8_t input[PACKET_BYTES_MAX] = {0};
    bit_stream bits = bits_over(input, sizeof input);
    write_input(&bits, client);
    message.input = (ProtobufCBinaryData){(bits.at + 7) / 8, input};

    uint8_t payload[INPUT_BYTES_MAX], bytes[PACKET_BYTES_MAX];
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    Shoal__Wire__GameEvent* events[] = {&event};
    event.number = 1;
    const message_row* row = find_message(client->game, 1);
    if (row) event.message = (uint32_t)(row - client->game->messages) + 1;
    if (row) event.payload = (ProtobufCBinaryData){message_make(row, 0, payload), payload};
    message.n_events = row && client->input_number > 30 && !client->is_event_acked;
    message.events = events;
    size_t size = shoal__wire__input_packet__pack(&message, bytes);
    client->resync_count = 0;
    if (is_lost(client)) {
        client->counts.lost_out++;
        return;
    }
    outer_send_packet(client->host->socket, bytes, size);
}
