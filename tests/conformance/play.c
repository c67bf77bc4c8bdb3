// SPDX-License-Identifier: MIT
// WIRE.md: "Transport" and "Session", as a player of breakout who presses buttons without looking.
//
// One loop: hear what ENet has, and once per tick send an InputPacket. Ends with the server's goodbye.
#include "conform.h"

#include "breakout.pb-c.h"
#include "wire.pb-c.h"

#include <enet/enet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CONTROL = 0,
    REALTIME = 1,
    PACKET_BYTES_MAX = 1172,
    INPUTS_KEPT = 8,
    INPUT_BYTES_MAX = 64,
    SILENCE_S = 60,
    FAULTS_PRINTED = 5,
    CHEER_POSITION = 1, // in the module's table
};

typedef struct game_client {
    ENetHost* host;
    ENetPeer* peer;
    cf_schema* schema;
    cf_mirror* mirror;     // NULL before Welcome
    bool has_equal_schema; // our own computation gives the server's hash
    uint32_t id;
    uint32_t tick_rate_hz;
    bool is_over; // nothing more is heard
    bool has_goodbye;
    uint64_t goodbye_tick;
    uint32_t goodbye_reason;
    // what is acknowledged
    bool has_received;
    uint16_t newest_seq;
    uint64_t received_bits; // bit i: newest - 1 - i
    double newest_arrival_s;
    uint32_t event_number; // newest reliable one taken
    // what is sent
    uint16_t seq;
    uint32_t entity;
    uint32_t input_number; // of the newest; 0: none
    uint32_t input_ack;
    uint32_t input_depth;
    uint8_t inputs[INPUTS_KEPT][INPUT_BYTES_MAX];
    size_t input_sizes[INPUTS_KEPT]; // by number mod INPUTS_KEPT
    bool is_cheer_acked;
    // what was seen
    uint32_t packets, refused, malformed, doubled, events, cheered, samples;
} game_client;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void fault(game_client* client, const char* what) {
    if (client->malformed++ < FAULTS_PRINTED) fprintf(stderr, "fault: %s\n", what);
}

static void send_control(game_client* client, const Shoal__Wire__ClientControl* message) {
    uint8_t bytes[16384];
    size_t size = shoal__wire__client_control__pack(message, bytes);
    ENetPacket* packet = enet_packet_create(bytes, size, ENET_PACKET_FLAG_RELIABLE);
    if (enet_peer_send(client->peer, CONTROL, packet) != 0) enet_packet_destroy(packet);
}

static void say_hello(game_client* client) {
    char game[] = "breakout", name[] = "conformance";
    Shoal__Wire__Hello hello = SHOAL__WIRE__HELLO__INIT;
    hello.protocol = 3;
    hello.schema_hash = schema_hash(client->schema);
    hello.game = game;
    hello.name = name;
    hello.is_bot = 1;
    Shoal__Wire__ClientControl message = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    message.kind_case = SHOAL__WIRE__CLIENT_CONTROL__KIND_HELLO;
    message.hello = &hello;
    send_control(client, &message);
}

static void answer_schema_question(game_client* client) {
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

static void hear_welcome(game_client* client, const Shoal__Wire__Welcome* welcome) {
    if (client->mirror || welcome->tick_rate_hz == 0 || welcome->replicated_index_max >= 1 << 22) {
        fault(client, "a welcome that cannot be");
        return;
    }
    client->id = welcome->client;
    client->tick_rate_hz = welcome->tick_rate_hz;
    schema_set_rate(client->schema, welcome->tick_rate_hz);
    client->mirror = mirror_create(client->schema, welcome->replicated_index_max);
}

static void hear_goodbye(game_client* client, const Shoal__Wire__Goodbye* goodbye) {
    client->has_goodbye = true;
    client->goodbye_tick = goodbye->tick;
    client->goodbye_reason = goodbye->reason;
}

static void hear_control(game_client* client, const ENetPacket* packet) {
    Shoal__Wire__ServerControl* message =
        shoal__wire__server_control__unpack(NULL, packet->dataLength, packet->data);
    if (!message) {
        fault(client, "a control message that cannot be read");
        return;
    }
    switch (message->kind_case) {
    case SHOAL__WIRE__SERVER_CONTROL__KIND_WELCOME:
        hear_welcome(client, message->welcome);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_SCHEMA_QUESTION:
        answer_schema_question(client);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_REFUSED:
        fprintf(stderr, "refused: %s\n", message->refused->text); // and closes the connection
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_GOODBYE:
        hear_goodbye(client, message->goodbye);
        break;
    default:
        break; // a later version's
    }
    shoal__wire__server_control__free_unpacked(message, NULL);
}

static bool was_received(const game_client* client, uint16_t seq) {
    uint16_t behind = (uint16_t)(client->newest_seq - seq);
    if (!client->has_received || behind > 32767) return false;
    return behind == 0 || (behind <= 64 && (client->received_bits >> (behind - 1) & 1));
}

static void note_received(game_client* client, uint16_t seq) {
    uint16_t ahead = (uint16_t)(seq - client->newest_seq);
    uint16_t behind = (uint16_t)(client->newest_seq - seq);
    if (!client->has_received || (ahead > 0 && ahead <= 32767)) {
        uint64_t before = client->has_received ? UINT64_C(1) : 0;
        client->received_bits = (ahead < 64 ? client->received_bits << ahead : 0) |
                                (ahead > 0 && ahead <= 64 ? before << (ahead - 1) : 0);
        client->has_received = true;
        client->newest_seq = seq;
        client->newest_arrival_s = now_s();
    } else if (behind > 0 && behind <= 64) {
        client->received_bits |= UINT64_C(1) << (behind - 1);
    }
}

static void hear_assigned(game_client* client, const Shoal__Wire__GameEvent* event) {
    Shoal__Wire__PlayerAssigned* assigned =
        shoal__wire__player_assigned__unpack(NULL, event->payload.len, event->payload.data);
    if (!assigned) {
        fault(client, "a PlayerAssigned that cannot be read");
        return;
    }
    client->entity = assigned->entity;
    shoal__wire__player_assigned__free_unpacked(assigned, NULL);
}

static void hear_event(game_client* client, const Shoal__Wire__GameEvent* event) {
    if (event->number != 0 && event->number != client->event_number + 1) return; // comes again
    if (event->number != 0) client->event_number = event->number;
    client->events++;
    if (event->message == 0) {
        hear_assigned(client, event);
        return;
    }
    if (event->message != 6) return; // only Cheered is of interest here
    Breakout__Cheered* cheered =
        breakout__cheered__unpack(NULL, event->payload.len, event->payload.data);
    if (!cheered)
        fault(client, "a Cheered that cannot be read");
    else if (cheered->client == client->id && cheered->emote == 3)
        client->cheered++;
    if (cheered) breakout__cheered__free_unpacked(cheered, NULL);
}

static void take_events(game_client* client, const Shoal__Wire__StatePacket* packet,
                        const cf_header* header) {
    for (size_t i = 0; i < packet->n_events; i++)
        hear_event(client, packet->events[i]);
    if (header->has_input && header->input_used + header->input_depth >= client->input_ack) {
        client->input_ack = header->input_used + header->input_depth;
        client->input_depth = header->input_depth;
    }
    if (header->has_event_ack && header->event_ack >= 1) client->is_cheer_acked = true;
}

static void take_state(game_client* client, const Shoal__Wire__StatePacket* packet) {
    bit_stream bits = bits_over(packet->state.data, packet->state.len);
    cf_known known = {.input = client->input_number, .event = 1};
    cf_header header;
    client->packets++;
    known.has_tick = mirror_tick(client->mirror, &known.tick);
    if (!header_read(&bits, &known, &header)) {
        fault(client, "a header that cannot be read");
        return;
    }
    if (was_received(client, header.seq)) {
        client->doubled++;
        return;
    }
    body_result result =
        mirror_take(client->mirror, header.seq, header.tick, header.has_body ? &bits : NULL, NULL);
    if (result == BODY_WITHOUT_BASE) client->refused++;
    if (result == BODY_MALFORMED) fault(client, "a body that cannot be read");
    if (result != BODY_DECODED) return;
    sample_result sample = mirror_sample(client->mirror, &header);
    client->samples += sample == SAMPLE_EQUAL;
    if (sample == SAMPLE_DIFFERS) fault(client, "a sample of something else");
    note_received(client, header.seq);
    take_events(client, packet, &header);
}

static void hear_state(game_client* client, const ENetPacket* received) {
    if (!client->mirror) return;
    Shoal__Wire__StatePacket* packet = NULL;
    if (received->dataLength <= PACKET_BYTES_MAX)
        packet = shoal__wire__state_packet__unpack(NULL, received->dataLength, received->data);
    if (!packet) {
        fault(client, "a state packet that cannot be read");
    } else {
        take_state(client, packet);
    }
    if (packet) shoal__wire__state_packet__free_unpacked(packet, NULL);
}

// Left and right by turns, letting go of the ball now and then.
static void make_input(game_client* client) {
    client->input_number++;
    Breakout__PadInput input = BREAKOUT__PAD_INPUT__INIT;
    input.move = client->input_number / 40 % 2 ? 100 : -100;
    input.launch = client->input_number % 64 == 0;
    uint32_t slot = client->input_number % INPUTS_KEPT;
    client->input_sizes[slot] = breakout__pad_input__pack(&input, client->inputs[slot]);
}

static void send_inputs(game_client* client) {
    Shoal__Wire__InputPacket message = SHOAL__WIRE__INPUT_PACKET__INIT;
    ProtobufCBinaryData inputs[INPUTS_KEPT];
    message.seq = client->seq++;
    message.has_ack = client->has_received;
    if (client->has_received) {
        message.ack = client->newest_seq;
        message.ack_bits = client->received_bits;
        message.ack_delay_us = (uint32_t)((now_s() - client->newest_arrival_s) * 1e6);
    }
    message.event_ack = client->event_number;
    uint32_t count = client->input_number < INPUTS_KEPT ? client->input_number : INPUTS_KEPT;
    message.input_first = client->input_number - count + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = (message.input_first + i) % INPUTS_KEPT;
        inputs[i] = (ProtobufCBinaryData){client->input_sizes[slot], client->inputs[slot]};
    }
    message.n_inputs = count;
    message.inputs = inputs;

    uint8_t payload[16], bytes[PACKET_BYTES_MAX];
    Breakout__Cheer cheer = BREAKOUT__CHEER__INIT;
    cheer.emote = 3;
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    Shoal__Wire__GameEvent* events[] = {&event};
    event.number = 1;
    event.message = CHEER_POSITION + 1;
    event.payload = (ProtobufCBinaryData){breakout__cheer__pack(&cheer, payload), payload};
    message.n_events = client->input_number > 30 && !client->is_cheer_acked;
    message.events = events;
    size_t size = shoal__wire__input_packet__pack(&message, bytes);
    ENetPacket* packet = enet_packet_create(bytes, size, ENET_PACKET_FLAG_UNSEQUENCED);
    if (enet_peer_send(client->peer, REALTIME, packet) != 0) enet_packet_destroy(packet);
}

static void hear(game_client* client, uint32_t wait_ms) {
    ENetEvent event;
    while (!client->is_over && enet_host_service(client->host, &event, wait_ms) > 0) {
        wait_ms = 0;
        if (event.type == ENET_EVENT_TYPE_CONNECT) {
            event.peer->mtu = 1200;
            enet_peer_throttle_configure(event.peer, 5000, 32, 0);
            say_hello(client);
        } else if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
            client->is_over = true;
        } else if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            if (event.channelID == CONTROL) hear_control(client, event.packet);
            if (event.channelID == REALTIME) hear_state(client, event.packet);
            enet_packet_destroy(event.packet);
        }
    }
}

static void run(game_client* client) {
    double start = now_s(), next = start;
    while (!client->is_over && now_s() - start < SILENCE_S) {
        double rest_ms = (next - now_s()) * 1000;
        hear(client, rest_ms > 1 ? (uint32_t)rest_ms : 0);
        if (now_s() < next) continue;
        // A little slower while inputs wait at the server, a little faster while none do.
        double rate = client->tick_rate_hz ? client->tick_rate_hz : 60;
        next += (client->input_depth > 3 ? 1.02 : client->input_depth < 2 ? 0.98 : 1) / rate;
        if (!client->mirror || client->has_goodbye) continue;
        if (client->entity) make_input(client);
        send_inputs(client);
    }
}

static bool connect_to(game_client* client, const char* text) {
    char name[64];
    const char* colon = strrchr(text, ':');
    ENetAddress address;
    if (!colon || (size_t)(colon - text) >= sizeof name) return false;
    memcpy(name, text, (size_t)(colon - text));
    name[colon - text] = 0;
    if (enet_address_set_host(&address, name) != 0) return false;
    address.port = (uint16_t)atoi(colon + 1);
    client->host = enet_host_create(NULL, 1, 2, 0, 0);
    client->peer = client->host ? enet_host_connect(client->host, &address, 2, 0) : NULL;
    return client->peer != NULL;
}

static bool report(const game_client* client) {
    uint32_t entities;
    uint64_t hash = mirror_scope_hash(client->mirror, &entities);
    mirror_counts counts = mirror_count(client->mirror);
    printf("conformance id=%" PRIu32 " tick=%" PRIu64 " entities=%" PRIu32 " scope_hash=%016" PRIx64
           " schema=%s reason=%" PRIu32 " packets=%" PRIu32 " refused=%" PRIu32 " doubled=%" PRIu32
           " malformed=%" PRIu32 " events=%" PRIu32 " cheered=%" PRIu32 " inputs_acked=%" PRIu32
           " creates=%" PRIu32 " recreates=%" PRIu32 " destroys=%" PRIu32 " updates=%" PRIu32
           " bases=%" PRIu32 " from_packet=%" PRIu32 " second_rows=%" PRIu32 " settled=%" PRIu32
           " from_default=%" PRIu32 " late=%" PRIu32 " samples=%" PRIu32 "\n",
           client->id, client->goodbye_tick, entities, hash,
           client->has_equal_schema ? "equal" : "other", client->goodbye_reason, client->packets,
           client->refused, client->doubled, client->malformed, client->events, client->cheered,
           client->input_ack, counts.creates, counts.recreates, counts.destroys, counts.updates,
           counts.bases, counts.from_packet, counts.second_rows, counts.settled,
           counts.from_default, counts.late, client->samples);
    return client->malformed == 0;
}

int play(const char* page_path, const char* address, const char* expected_schema_hash,
         const char* game) {
    cf_tables* tables = tables_read(page_path);
    if (!tables) return 2;
    game_client client = {.schema = schema_create(game, tables)};
    if (!client.schema) {
        fprintf(stderr, "no tables of the game %s\n", game);
        return 2;
    }
    uint64_t hash = schema_hash(client.schema);
    client.has_equal_schema = hash == strtoull(expected_schema_hash, NULL, 16);
    // Go on without: the refusal names the item that differs.
    if (!client.has_equal_schema)
        fprintf(stderr, "schema %016" PRIx64 " is not the server's\n", hash);
    int code = 1;
    if (enet_initialize() == 0 && connect_to(&client, address)) {
        run(&client);
        if (client.mirror && client.has_goodbye)
            code = report(&client) ? 0 : 1;
        else
            fprintf(stderr, "no goodbye\n");
    }
    if (client.host) enet_host_destroy(client.host);
    if (client.mirror) mirror_destroy(client.mirror);
    schema_destroy(client.schema);
    free(tables);
    return code;
}
