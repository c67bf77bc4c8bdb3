// SPDX-License-Identifier: MIT
// WIRE.md, "Transport" and "Session": a player that presses buttons and does not look at the match.
//
// One loop receives from ENet and sends an InputPacket once per tick. It ends when the connection
// does, which both sides close after the server's goodbye. Options make it drop datagrams on
// purpose, and change words of its mirror to see them resynced.
#include "mirror.h"
#include "outer.h"
#include "short.h"
#include "values.h"

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
    EVENTS_MAX = 512,
    EVENT_BYTES_MAX = 512,
    MESSAGES_MAX = 16,
    RESYNCS_MAX = 4,
};

typedef struct held_event {
    uint32_t number, message, target;
    uint64_t tick;
    bool is_alone;
    uint32_t waited; // ticks of this client since it arrived
    size_t size;
    uint8_t payload[EVENT_BYTES_MAX];
} held_event;

typedef struct play_counts {
    uint32_t packets, decoded, without_base, doubled, malformed; // state packets
    uint32_t encoded, unequal; // packets encoded again: to equal bytes, to others
    uint64_t bytes;
    uint32_t lost_in, lost_out;      // dropped on purpose
    uint32_t events, events_dropped; // delivered; dropped
    uint32_t own;                    // events that answer an event of this client
    uint32_t probes, differing, corrupted, resynced;
    uint32_t controls;
    uint32_t shorts; // short packets
} play_counts;

typedef struct game_client {
    const play_options* options;
    const game_tables* game;
    ENetHost* host;
    ENetPeer* peer;
    cf_schema* schema;
    cf_mirror* mirror;     // NULL before Welcome
    bool is_solo;          // bodies begin with the head of solo code
    bool has_equal_schema; // our hash equals that of the server
    uint32_t id;
    uint32_t tick_rate_hz;
    bool is_over; // disconnected
    bool has_goodbye;
    uint64_t goodbye_tick;
    uint32_t goodbye_reason;
    uint64_t chance;
    // what is acknowledged
    bool has_received;
    uint16_t newest_seq;
    uint64_t received_bits; // bit i: newest - 1 - i
    double newest_arrival_s;
    uint32_t event_number; // newest reliable one taken
    // what is sent
    uint16_t seq, acked_seq; // acked_seq: newest that the server acknowledged
    bool has_acked;
    uint32_t entity;
    uint32_t input_number; // of the newest; 0: none
    uint32_t input_ack;
    uint32_t input_depth;
    uint8_t inputs[INPUTS_KEPT][INPUT_BYTES_MAX];
    size_t input_sizes[INPUTS_KEPT]; // by number mod INPUTS_KEPT
    bool may_be_short;               // the server reads short packets
    cf_said said[SHORT_KEPT];        // by seq mod SHORT_KEPT
    bool is_event_acked;
    uint32_t resyncs[RESYNCS_MAX], resync_count; // handles for the next packet
    uint32_t corrupted_slot; // slot + 1 of the changed row; 0: none, or it was resynced
    bool is_found;           // a probe found it
    uint32_t ticks;
    held_event* held; // EVENTS_MAX, in order
    uint32_t held_count;
    cf_values values;
    play_counts counts;
} game_client;

enum { SILENCE_S = 90, FAULTS_PRINTED = 5, CORRUPT_FROM_TICK = 60 };

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void fault(game_client* client, const char* what) {
    if (client->counts.malformed++ < FAULTS_PRINTED) fprintf(stderr, "fault: %s\n", what);
}

// @return true: drop the next datagram on purpose.
static bool is_lost(game_client* client) {
    client->chance = client->chance * 6364136223846793005u + 1442695040888963407u;
    return (client->chance >> 33) % 100 < client->options->loss_percent;
}

// ---- packets to the server

// All messages of the oneof are pointers in a union.
static void send_control(game_client* client, Shoal__Wire__ClientControl__KindCase kind,
                         void* content) {
    uint8_t bytes[16384];
    Shoal__Wire__ClientControl message = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    message.kind_case = kind;
    message.hello = content;
    size_t size = shoal__wire__client_control__pack(&message, bytes);
    ENetPacket* packet = enet_packet_create(bytes, size, ENET_PACKET_FLAG_RELIABLE);
    if (enet_peer_send(client->peer, CONTROL, packet) != 0) enet_packet_destroy(packet);
}

static void send_hello(game_client* client) {
    char game[32] = "breakout", name[] = "conformance";
    if (client->game->root) strncpy(game, client->game->name, sizeof game - 1);
    Shoal__Wire__Hello hello = SHOAL__WIRE__HELLO__INIT;
    hello.protocol = 5;
    hello.schema_hash = client->schema->hash;
    hello.game = game;
    hello.name = name;
    hello.is_bot = 1;
    hello.has_solo = client->options->has_solo != 0;
    hello.rate_bytes_max = client->options->rate_bytes_max;
    send_control(client, SHOAL__WIRE__CLIENT_CONTROL__KIND_HELLO, &hello);
}

static void answer_schema_question(game_client* client) {
    Shoal__Wire__SchemaItem items[64];
    Shoal__Wire__SchemaItem* list[64];
    Shoal__Wire__SchemaAnswer answer = SHOAL__WIRE__SCHEMA_ANSWER__INIT;
    answer.n_items = client->schema->item_count;
    answer.items = list;
    for (uint32_t i = 0; i < answer.n_items; i++) {
        shoal__wire__schema_item__init(&items[i]);
        items[i].name = client->schema->items[i].name;
        (void)schema_item(client->schema, items[i].name, &items[i].hash);
        list[i] = &items[i];
    }
    send_control(client, SHOAL__WIRE__CLIENT_CONTROL__KIND_SCHEMA_ANSWER, &answer);
}

static void acknowledge_value(game_client* client, uint64_t version) {
    Shoal__Wire__VarsizeAck ack = SHOAL__WIRE__VARSIZE_ACK__INIT;
    ack.n_versions = 1;
    ack.versions = &version;
    send_control(client, SHOAL__WIRE__CLIENT_CONTROL__KIND_VARSIZE_ACK, &ack);
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

// What the next packet says: with all inputs that the server may lack.
static cf_short describe_packet(const game_client* client, const cf_said* base) {
    double delay_s = now_s() - client->newest_arrival_s;
    cf_short packet = {.seq = client->seq,
                       .has_ack = client->has_received,
                       .ack = client->newest_seq,
                       .delay = (uint32_t)(delay_s * 1e6) / 512,
                       .ack_bits = client->received_bits,
                       .reach = 64,
                       .has_event_ack = true,
                       .event_ack = client->event_number,
                       .resync_count = client->resync_count,
                       .number = client->input_number};
    memcpy(packet.resyncs, client->resyncs, sizeof packet.resyncs);
    packet.count = packet.number - (base ? base->number : 0);
    if (packet.count > INPUTS_KEPT) packet.count = INPUTS_KEPT;
    for (uint32_t i = 0; i < packet.count; i++) {
        uint32_t slot = (packet.number - packet.count + 1 + i) % INPUTS_KEPT;
        packet.inputs[i] = client->inputs[slot];
        packet.sizes[i] = client->input_sizes[slot];
    }
    return packet;
}

// @return the bytes of a short packet, padded; 0: `input` has the bits of an InputPacket.
static size_t write_packet(game_client* client, uint8_t* bytes, bit_stream* input) {
    const cf_said* base = &client->said[client->acked_seq % SHORT_KEPT];
    bool has_base = client->may_be_short && client->has_acked && base->seq == client->acked_seq;
    bool is_whole = !client->has_acked || (uint16_t)(client->seq - client->acked_seq) > 256;
    cf_short packet = describe_packet(client, has_base ? base : NULL);
    bit_stream bits = bits_over(bytes, PACKET_BYTES_MAX);
    bool is_short = has_base && short_fits(base, &packet);
    if (is_short)
        short_write(&bits, base, &packet);
    else
        input_write(input, &packet, is_whole);
    short_keep(client->said, &packet);
    client->counts.shorts += is_short;
    return (bits.at + 7) / 8;
}

static void send_inputs(game_client* client) {
    Shoal__Wire__InputPacket message = SHOAL__WIRE__INPUT_PACKET__INIT;
    uint8_t input[PACKET_BYTES_MAX] = {0};
    uint8_t payload[INPUT_BYTES_MAX], bytes[PACKET_BYTES_MAX];
    if (client->entity) make_input(client);
    client->seq++; // the first is 1
    bit_stream bits = bits_over(input, sizeof input);
    size_t begin = write_packet(client, bytes, &bits);
    message.input = (ProtobufCBinaryData){(bits.at + 7) / 8, input};

    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    Shoal__Wire__GameEvent* events[] = {&event};
    event.number = 1;
    const message_row* row = find_message(client->game, 1);
    if (row) event.message = (uint32_t)(row - client->game->messages) + 1;
    if (row) event.payload = (ProtobufCBinaryData){message_make(row, 0, payload), payload};
    message.n_events = row && client->input_number > 30 && !client->is_event_acked;
    message.events = events;
    size_t size = begin + shoal__wire__input_packet__pack(&message, bytes + begin);
    client->resync_count = 0;
    if (is_lost(client)) {
        client->counts.lost_out++;
        return;
    }
    outer_send_packet(client->host->socket, bytes, size);
}

// ---- WIRE.md, "Game events": reliable events in order, and each event when its entities are there

enum { HOLD_TICKS = 120 };

static void receive_event(game_client* client, const Shoal__Wire__GameEvent* event) {
    if (event->number != 0 && event->number != client->event_number + 1) return; // it arrives again
    bool is_known = event->message <= client->game->message_count;
    if (!is_known || event->payload.len > EVENT_BYTES_MAX) {
        fault(client, "an impossible event");
        return;
    }
    const message_row* row =
        event->message > 0 ? &client->game->messages[event->message - 1] : NULL;
    if ((row && row->kind != 2) || (event->number != 0) != (!row || row->is_reliable)) {
        fault(client, "an event in the wrong direction or way");
        return;
    }
    if (client->held_count == EVENTS_MAX) return; // a reliable one arrives again
    if (event->number != 0) client->event_number = event->number;
    held_event* held = &client->held[client->held_count++];
    *held = (held_event){.number = event->number,
                         .message = event->message,
                         .target = event->target,
                         .tick = event->tick,
                         .is_alone = event->is_alone,
                         .size = event->payload.len};
    if (event->payload.len > 0) memcpy(held->payload, event->payload.data, event->payload.len);
}

static void deliver_assigned(game_client* client, const held_event* event) {
    Shoal__Wire__PlayerAssigned* assigned =
        shoal__wire__player_assigned__unpack(NULL, event->size, event->payload);
    if (!assigned) {
        fault(client, "a PlayerAssigned that cannot be read");
        return;
    }
    client->entity = assigned->entity;
    shoal__wire__player_assigned__free_unpacked(assigned, NULL);
}

static entity_state worse(entity_state a, entity_state b) {
    return a > b ? a : b;
}

// The server's answer to an event of this client.
static bool is_own(const game_client* client, const message_row* row, const held_event* event) {
    uint64_t who;
    return strcmp(row->name, "Cheered") == 0 &&
           message_read(row, event->payload, event->size, "client", &who) && who == client->id;
}

static entity_state state_of(game_client* client, held_event* event) {
    bool is_late = ++event->waited > HOLD_TICKS;
    entity_state target = ENTITY_HERE, named = ENTITY_HERE;
    if (event->target) target = mirror_find(client->mirror, event->target, event->tick);
    if (target == ENTITY_TO_COME && is_late) target = ENTITY_GONE;
    if (event->message == 0 || target == ENTITY_GONE) return target;
    const message_row* row = &client->game->messages[event->message - 1];
    for (const json* at = row->entities; at && !event->is_alone; at = at->next) {
        uint64_t handle;
        if (strcmp(json_text(at, "kind"), "entity") != 0) continue;
        if (!message_read(row, event->payload, event->size, json_text(at, "name"), &handle)) {
            fault(client, "an event that cannot be read");
            return ENTITY_GONE;
        }
        if (handle)
            named = worse(named, mirror_find(client->mirror, (uint32_t)handle, event->tick));
    }
    if (named == ENTITY_TO_COME && is_late) named = ENTITY_GONE;
    if (named == ENTITY_GONE && row->is_without) named = ENTITY_HERE;
    entity_state state = worse(target, named);
    client->counts.own += state == ENTITY_HERE && is_own(client, row, event);
    return state;
}

static void release_events(game_client* client) {
    uint32_t kept = 0;
    bool is_waiting = false; // a reliable event waits
    for (uint32_t i = 0; i < client->held_count; i++) {
        held_event* event = &client->held[i];
        bool is_behind = event->number != 0 && is_waiting;
        entity_state state = is_behind ? ENTITY_TO_COME : state_of(client, event);
        if (state == ENTITY_TO_COME) {
            is_waiting |= event->number != 0;
            if (kept != i) client->held[kept] = *event;
            kept++;
            continue;
        }
        client->counts.events += state == ENTITY_HERE;
        client->counts.events_dropped += state == ENTITY_GONE;
        if (state == ENTITY_HERE && event->message == 0) deliver_assigned(client, event);
    }
    client->held_count = kept;
}

// ---- packets from the server: each state packet is decoded and encoded again; the bytes must be
// equal

static void receive_welcome(game_client* client, const Shoal__Wire__Welcome* welcome) {
    if (client->mirror || welcome->tick_rate_hz == 0 || welcome->replicated_index_max >= 1 << 22) {
        fault(client, "an impossible welcome");
        return;
    }
    client->id = welcome->client;
    client->tick_rate_hz = welcome->tick_rate_hz;
    schema_set_rate(client->schema, welcome->tick_rate_hz);
    client->mirror = mirror_create(client->schema, welcome->replicated_index_max);
    client->is_solo = welcome->is_solo;
    client->may_be_short = welcome->reads_short;
    if (client->is_solo) mirror_use_solo(client->mirror);
}

static void receive_goodbye(game_client* client, const Shoal__Wire__Goodbye* goodbye) {
    client->has_goodbye = true;
    client->goodbye_tick = goodbye->tick;
    client->goodbye_reason = goodbye->reason;
    enet_peer_disconnect_later(client->peer, 0);
}

static void receive_control(game_client* client, const ENetPacket* packet) {
    Shoal__Wire__ServerControl* message =
        shoal__wire__server_control__unpack(NULL, packet->dataLength, packet->data);
    if (!message) {
        fault(client, "a control message that cannot be read");
        return;
    }
    client->counts.controls++;
    const char* wrong;
    switch (message->kind_case) {
    case SHOAL__WIRE__SERVER_CONTROL__KIND_WELCOME:
        receive_welcome(client, message->welcome);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_SCHEMA_QUESTION:
        answer_schema_question(client);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_REFUSED:
        fprintf(stderr, "refused: %s\n",
                message->refused->text); // the server closes the connection then
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_GOODBYE:
        receive_goodbye(client, message->goodbye);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_VARSIZE:
        wrong = values_take(&client->values, client->schema, client->mirror, message->varsize);
        if (wrong) fault(client, wrong);
        if (!wrong) acknowledge_value(client, message->varsize->version);
        break;
    default:
        break; // the roster, or a message of a later version
    }
    shoal__wire__server_control__free_unpacked(message, NULL);
}

static bool was_received(const game_client* client, uint16_t seq) {
    uint16_t behind = (uint16_t)(client->newest_seq - seq);
    if (!client->has_received || behind > 32767) return false;
    return behind == 0 || (behind <= 64 && (client->received_bits >> (behind - 1) & 1));
}

static void record_received(game_client* client, uint16_t seq) {
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

static void compare_probe(game_client* client, const cf_header* header) {
    probe_result result = mirror_compare_probe(client->mirror, header);
    uint32_t handle = header->has_probe ? mirror_handle(client->mirror, header->probe_slot) : 0;
    bool is_corrupted = header->has_probe && client->corrupted_slot == header->probe_slot + 1;
    client->counts.probes += result == PROBE_EQUAL;
    if (result != PROBE_DIFFERS) return;
    client->counts.differing++;
    if (is_corrupted)
        client->is_found = true;
    else
        fault(client, "a probe differs that should be equal");
    if (client->resync_count < RESYNCS_MAX) client->resyncs[client->resync_count++] = handle;
}

static void use_header(game_client* client, const cf_header* header) {
    if (header->has_ack) {
        client->has_acked = true;
        client->acked_seq = header->ack;
    }
    if (header->has_input && header->input_used + header->input_depth >= client->input_ack) {
        client->input_ack = header->input_used + header->input_depth;
        client->input_depth = header->input_depth;
    }
    if (header->has_event_ack && header->event_ack >= 1) client->is_event_acked = true;
}

// Encode the packet again from what was read: the state by the page, the message around it by
// Protocol Buffers.
static void compare_again(game_client* client, Shoal__Wire__StatePacket* packet, uint8_t* state,
                          const bit_stream* again, const ENetPacket* received) {
    uint8_t bytes[PACKET_BYTES_MAX];
    packet->state.data = state;
    packet->state.len = (again->at + 7) / 8;
    bool is_equal = !again->failed &&
                    shoal__wire__state_packet__get_packed_size(packet) == received->dataLength &&
                    shoal__wire__state_packet__pack(packet, bytes) == received->dataLength &&
                    memcmp(bytes, received->data, received->dataLength) == 0;
    client->counts.encoded += is_equal;
    client->counts.unequal += !is_equal;
    if (!is_equal) fault(client, "a packet that encodes to other bytes");
}

static void receive_body(game_client* client, Shoal__Wire__StatePacket* packet,
                         const ENetPacket* received) {
    bit_stream bits = bits_over(packet->state.data, packet->state.len);
    uint8_t state[PACKET_BYTES_MAX] = {0};
    bit_stream again = bits_over(state, sizeof state);
    cf_known known = {
        .input = client->input_number, .event = 1, .seq = client->newest_seq, .sent = client->seq};
    cf_header header;
    known.has_tick = mirror_tick(client->mirror, &known.tick);
    if (!header_read(&bits, &known, &header)) {
        fault(client, "a header that cannot be read");
        return;
    }
    if (was_received(client, header.seq)) {
        client->counts.doubled++;
        return;
    }
    header_write(&again, &header);
    body_result result = mirror_apply(client->mirror, header.seq, header.tick,
                                      header.has_body ? &bits : NULL, &again);
    if (result == BODY_WITHOUT_BASE) client->counts.without_base++;
    if (result == BODY_MALFORMED) fault(client, "a body that cannot be read");
    if (result != BODY_DECODED) return;
    client->counts.decoded++;
    values_release(&client->values, client->mirror);
    if (client->corrupted_slot && mirror_is_equal(client->mirror, client->corrupted_slot - 1)) {
        client->counts.resynced += client->is_found; // otherwise a change replaced it
        client->is_found = false;
        client->corrupted_slot = 0;
    }
    compare_probe(client, &header);
    record_received(client, header.seq);
    use_header(client, &header);
    for (size_t i = 0; i < packet->n_events; i++)
        receive_event(client, packet->events[i]);
    uint8_t* data = packet->state.data;
    if (!client->is_solo) compare_again(client, packet, state, &again, received);
    packet->state.data = data; // Protocol Buffers frees it
}

static void receive_state(game_client* client, const ENetPacket* received) {
    if (!client->mirror) return;
    Shoal__Wire__StatePacket* packet = NULL;
    client->counts.packets++;
    client->counts.bytes += received->dataLength;
    if (received->dataLength <= PACKET_BYTES_MAX)
        packet = shoal__wire__state_packet__unpack(NULL, received->dataLength, received->data);
    if (!packet) {
        fault(client, "a state packet that cannot be read");
        return;
    }
    receive_body(client, packet, received);
    shoal__wire__state_packet__free_unpacked(packet, NULL);
}

// ---- the loop

// ENet calls this for every datagram before it looks at it. 1 drops the datagram.
static int ENET_CALLBACK intercept(ENetHost* host, ENetEvent* event) {
    game_client* client = host->peers[0].data;
    (void)event;
    if (!client || !client->mirror || !is_lost(client)) return 0;
    client->counts.lost_in++;
    return 1;
}

static void take_packet(void* context, const uint8_t* bytes, size_t size) {
    game_client* client = context;
    if (client->mirror && is_lost(client)) {
        client->counts.lost_in++;
        return;
    }
    const ENetPacket packet = {.data = (uint8_t*)(uintptr_t)bytes, .dataLength = size};
    receive_state(client, &packet);
}

static void receive(game_client* client, uint32_t wait_ms) {
    ENetEvent event;
    while (!client->is_over && enet_host_service(client->host, &event, wait_ms) > 0) {
        wait_ms = 0;
        if (event.type == ENET_EVENT_TYPE_CONNECT) {
            event.peer->mtu = 1200;
            send_hello(client);
        } else if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
            client->is_over = true;
        } else if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            if (event.channelID == CONTROL) receive_control(client, event.packet);
            enet_packet_destroy(event.packet);
        }
    }
}

// Change one word of the mirror, as a fault would. A probe must find it.
static void corrupt(game_client* client) {
    uint32_t interval = client->options->corrupt_ticks;
    if (interval == 0 || client->corrupted_slot || client->ticks < CORRUPT_FROM_TICK) return;
    if (client->ticks % interval != 0 || client->counts.resynced > 0) return;
    for (uint32_t slot = client->counts.corrupted; slot < 64; slot++) {
        if (!mirror_corrupt(client->mirror, slot)) continue;
        client->corrupted_slot = slot + 1;
        client->counts.corrupted++;
        return;
    }
}

static void run(game_client* client) {
    double start = now_s(), next = start;
    while (!client->is_over && !outer_is_closed() && now_s() - start < SILENCE_S) {
        double rest_ms = (next - now_s()) * 1000;
        receive(client, rest_ms > 1 ? (uint32_t)rest_ms : 0);
        if (now_s() < next) continue;
        // Run a little slower while inputs wait at the server, and a little faster while none wait.
        double rate = client->tick_rate_hz ? client->tick_rate_hz : 60;
        next += (client->input_depth > 3 ? 1.02 : client->input_depth < 2 ? 0.98 : 1) / rate;
        if (!client->mirror || client->has_goodbye) continue;
        client->ticks++;
        release_events(client);
        corrupt(client);
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
    bool is_open = client->host && outer_connect(client->host->socket, &address);
    client->peer = is_open ? enet_host_connect(client->host, &address, 2, 0) : NULL;
    if (!client->peer) return false;
    client->peer->data = client;
    outer_set_packet(take_packet, client);
    enet_peer_timeout(client->peer, 20000, 15000, 60000);
    if (client->options->loss_percent > 0) client->host->intercept = intercept;
    return true;
}

static void report_rows(const mirror_counts* counts, const play_counts* own) {
    printf("conformance rows=%" PRIu64 " words=%" PRIu64 " creates=%" PRIu32 " recreates=%" PRIu32
           " destroys=%" PRIu32 " updates=%" PRIu32 " bases=%" PRIu32 " from_packet=%" PRIu32
           " absent=%" PRIu32 " second_rows=%" PRIu32 " settled=%" PRIu32 " from_default=%" PRIu32
           " late=%" PRIu32 " decoded=%" PRIu32 " encoded_again=%" PRIu32 " unequal=%" PRIu32
           " bytes=%" PRIu64 " solo=%" PRIu32 " third_rows=%" PRIu32 "\n",
           counts->rows, counts->words, counts->creates, counts->recreates, counts->destroys,
           counts->updates, counts->bases, counts->from_packet, counts->absent, counts->second_rows,
           counts->settled, counts->from_default, counts->late, own->decoded, own->encoded,
           own->unequal, own->bytes, counts->solo, counts->third_rows);
}

static bool report(const game_client* client) {
    uint32_t entities;
    uint64_t hash = mirror_scope_hash(client->mirror, &entities);
    mirror_counts counts = client->mirror->counts;
    const play_counts* own = &client->counts;
    report_rows(&counts, own);
    printf("conformance id=%" PRIu32 " tick=%" PRIu64 " entities=%" PRIu32 " scope_hash=%016" PRIx64
           " game=%s schema=%s reason=%" PRIu32 " packets=%" PRIu32 " refused=%" PRIu32
           " doubled=%" PRIu32 " malformed=%" PRIu32 " lost_in=%" PRIu32 " lost_out=%" PRIu32
           " events=%" PRIu32 " events_dropped=%" PRIu32 " own_events=%" PRIu32
           " inputs_acked=%" PRIu32 " probes=%" PRIu32 " differing=%" PRIu32 " corrupted=%" PRIu32
           " resynced=%" PRIu32 " values=%" PRIu32 " shorts=%" PRIu32 "\n",
           client->id, client->goodbye_tick, entities, hash, client->game->name,
           client->has_equal_schema ? "equal" : "other", client->goodbye_reason, own->packets,
           own->without_base, own->doubled, own->malformed, own->lost_in, own->lost_out,
           own->events, own->events_dropped, own->own, client->input_ack, own->probes,
           own->differing, own->corrupted, own->resynced, client->values.applied, own->shorts);
    return own->malformed == 0;
}

static int play_with(game_client* client) {
    uint64_t hash = client->schema->hash;
    client->has_equal_schema = hash == strtoull(client->options->schema_hash, NULL, 16);
    // Play in any case: the refusal names the item that differs.
    if (!client->has_equal_schema)
        fprintf(stderr, "schema %016" PRIx64 " is not the server's\n", hash);
    if (enet_initialize() != 0 || !connect_to(client, client->options->address)) return 1;
    run(client);
    if (client->mirror && client->has_goodbye) return report(client) ? 0 : 1;
    fprintf(stderr, "no goodbye\n");
    return 1;
}

int play(const play_options* options) {
    cf_tables* tables = tables_read(options->folder);
    bool is_own = strcmp(options->game, "vectors") == 0; // to see another schema refused
    game_tables* read = tables && !is_own ? game_read(options->game) : NULL;
    const game_tables* game = is_own ? game_find("vectors") : read;
    cf_schema* schema = tables && game ? schema_create(game, tables) : NULL;
    int code = 2;
    if (schema) {
        game_client client = {
            .options = options, .game = schema->game, .schema = schema, .chance = options->seed};
        client.held = calloc(EVENTS_MAX, sizeof *client.held);
        if (!client.held) abort();
        code = play_with(&client);
        if (client.host) enet_host_destroy(client.host);
        if (client.mirror) mirror_destroy(client.mirror);
        values_end(&client.values);
        free(client.held);
        schema_destroy(schema);
    } else if (tables) {
        fprintf(stderr, "no schema in %s\n", options->game);
    }
    game_free(read);
    free(tables);
    return code;
}
