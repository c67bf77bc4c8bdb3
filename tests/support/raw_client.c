// SPDX-License-Identifier: MIT
// A client without rules. It packs messages on the stack and sends them at once.
#include "raw_client.h"

#include "session/packet_header.h"

#include "base/text.h"

void raw_client_open(raw_client* raw, net_transport* transport) {
    memset(raw, 0, sizeof *raw);
    raw->transport = transport;
    proto_codec_init(&raw->codec, NULL, PROTO_UNPACK_BYTES_MAX);
}

void raw_client_close(raw_client* raw) {
    proto_codec_deinit(&raw->codec);
}

static void take_roster(raw_client* raw, const Shoal__Wire__Roster* roster) {
    raw->rosters++;
    raw->went += (uint32_t)roster->n_went;
    for (size_t i = 0; i < roster->n_came; i++) {
        raw->came++;
        raw->came_last = roster->came[i]->client;
        (void)base_text_copy(raw->came_name, sizeof raw->came_name, roster->came[i]->name);
    }
}

static void take_control(raw_client* raw, const net_transport_event* event) {
    const Shoal__Wire__ServerControl* control =
        (const Shoal__Wire__ServerControl*)proto_codec_decode(
            &raw->codec, &shoal__wire__server_control__descriptor, event->bytes, event->size,
            NET_CONTROL_BYTES_MAX);
    if (!control) {
        raw->unreadable++;
        return;
    }
    switch (control->kind_case) {
    case SHOAL__WIRE__SERVER_CONTROL__KIND_WELCOME:
        raw->is_welcome = true;
        raw->client = control->welcome->client;
        raw->tick_rate_hz = control->welcome->tick_rate_hz;
        raw->replicated_index_max = control->welcome->replicated_index_max;
        raw->is_resumed = control->welcome->is_resumed;
        raw->setting_count = control->welcome->n_settings;
        for (size_t i = 0; i < raw->setting_count && i < BASE_COUNT(raw->settings); i++)
            raw->settings[i] = control->welcome->settings[i];
        if (control->welcome->resume.len == sizeof raw->resume)
            memcpy(raw->resume, control->welcome->resume.data, sizeof raw->resume);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_ROSTER:
        take_roster(raw, control->roster);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_REFUSED:
        raw->is_refused = true;
        raw->refused_reason = control->refused->reason;
        (void)base_text_copy(raw->refused_text, sizeof raw->refused_text, control->refused->text);
        (void)base_text_copy(raw->refused_game, sizeof raw->refused_game, control->refused->game);
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_SCHEMA_QUESTION:
        raw->is_asked = true;
        break;
    case SHOAL__WIRE__SERVER_CONTROL__KIND_GOODBYE:
        raw->has_goodbye = true;
        raw->goodbye_reason = control->goodbye->reason;
        raw->goodbye_tick = control->goodbye->tick;
        (void)base_text_copy(raw->goodbye_text, sizeof raw->goodbye_text, control->goodbye->text);
        break;
    default:
        raw->unreadable++;
        break;
    }
}

static void take_state(raw_client* raw, const net_transport_event* event) {
    const Shoal__Wire__StatePacket* packet = (const Shoal__Wire__StatePacket*)proto_codec_decode(
        &raw->codec, &shoal__wire__state_packet__descriptor, event->bytes, event->size,
        NET_STATE_BYTES_MAX);
    // It numbers inputs and events itself and only uses low numbers, so low bits are the whole
    // number.
    const net_packet_header_near near = {.tick = raw->state_tick,
                                         .has_tick = raw->states > 0,
                                         .seq = raw->state_seq,
                                         .sent = raw->seq,
                                         .input = raw->input_newest};
    net_packet_header header = {0};
    proto_bit_reader reader = {0};
    if (packet) reader = proto_bit_reader_make(packet->state.data, packet->state.len);
    if (!packet || net_packet_header_read(&reader, &near, &header) != NET_OK) {
        raw->unreadable++;
        return;
    }
    uint16_t seq = header.seq;
    uint16_t ahead = (uint16_t)(seq - raw->state_seq);
    uint16_t behind = (uint16_t)(raw->state_seq - seq);
    if (raw->states == 0) {
        raw->state_seq = seq;
    } else if (ahead != 0 && ahead < 0x8000) {
        raw->state_bits = ahead < 64 ? raw->state_bits << ahead : 0;
        if (ahead <= 64) raw->state_bits |= UINT64_C(1) << (ahead - 1);
        raw->state_seq = seq;
    } else if (behind >= 1 && behind <= 64) {
        raw->state_bits |= UINT64_C(1) << (behind - 1);
    }
    raw->states++;
    raw->state_bytes += event->size;
    raw->state_bodies += header.has_body;
    raw->samples += header.has_probe;
    if (header.tick > raw->state_tick) raw->state_tick = header.tick;
    raw->input_ack = header.input_used + header.input_depth;
    raw->input_depth = header.input_depth;
    if (header.has_event_ack) raw->event_ack = header.event_ack;
    for (size_t i = 0; i < packet->n_events; i++)
        if (packet->events[i]->number == raw->event_newest + 1) raw->event_newest++;
}

void raw_client_service(raw_client* raw, uint64_t now_us) {
    const net_transport_ops* ops = raw->transport->ops;
    raw->now_us = now_us;
    ops->service(raw->transport, now_us);
    if (!raw->peer) BASE_ASSERT(ops->connect(raw->transport, "sim", &raw->peer) == NET_OK);
    net_transport_event event;
    while (ops->next(raw->transport, &event)) {
        if (event.kind == NET_TRANSPORT_CONNECTED) {
            raw->is_connected = true;
        } else if (event.kind == NET_TRANSPORT_DISCONNECTED) {
            raw->is_gone = true;
            raw->gone_reason = event.reason;
        } else if (event.channel == NET_CHANNEL_CONTROL) {
            take_control(raw, &event);
        } else {
            take_state(raw, &event);
        }
    }
    ops->flush(raw->transport);
}

net_result raw_client_send_bytes(raw_client* raw, net_channel channel, const void* bytes,
                                 size_t size) {
    return raw->transport->ops->send(raw->transport, raw->peer, channel, bytes, size);
}

net_result raw_client_send(raw_client* raw, net_channel channel, const ProtobufCMessage* message) {
    uint8_t bytes[NET_CONTROL_BYTES_MAX];
    size_t size = proto_encode(message, bytes, sizeof bytes);
    return raw_client_send_bytes(raw, channel, bytes, size);
}

// All messages of the oneof are pointers in a union.
static void report(raw_client* raw, Shoal__Wire__ClientControl__KindCase kind, void* message) {
    Shoal__Wire__ClientControl control = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    control.kind_case = kind;
    control.hello = message;
    (void)raw_client_send(raw, NET_CHANNEL_CONTROL, &control.base);
}

// Strings of protobuf-c are not const, but packing only reads them.
static char* borrowed(const char* text) {
    return (char*)(uintptr_t)text;
}

void raw_client_hello(raw_client* raw, uint32_t protocol, uint64_t schema_hash, const char* game,
                      const char* name) {
    Shoal__Wire__Hello hello = SHOAL__WIRE__HELLO__INIT;
    hello.protocol = protocol;
    hello.schema_hash = schema_hash;
    hello.game = borrowed(game);
    hello.name = borrowed(name);
    hello.is_spectator = raw->is_spectator;
    hello.rate_bytes_max = raw->rate_bytes_max;
    report(raw, SHOAL__WIRE__CLIENT_CONTROL__KIND_HELLO, &hello);
}

void raw_client_hello_again(raw_client* raw, uint64_t schema_hash, const char* game,
                            const void* secret, size_t secret_size) {
    Shoal__Wire__Hello hello = SHOAL__WIRE__HELLO__INIT;
    hello.protocol = NET_PROTOCOL_VERSION;
    hello.schema_hash = schema_hash;
    hello.game = borrowed(game);
    hello.resume.data = (uint8_t*)(uintptr_t)secret;
    hello.resume.len = secret_size;
    report(raw, SHOAL__WIRE__CLIENT_CONTROL__KIND_HELLO, &hello);
}

void raw_client_answer(raw_client* raw, const char* name, uint64_t hash) {
    Shoal__Wire__SchemaItem item = SHOAL__WIRE__SCHEMA_ITEM__INIT;
    item.name = borrowed(name);
    item.hash = hash;
    Shoal__Wire__SchemaItem* items[1] = {&item};
    Shoal__Wire__SchemaAnswer answer = SHOAL__WIRE__SCHEMA_ANSWER__INIT;
    answer.n_items = 1;
    answer.items = items;
    report(raw, SHOAL__WIRE__CLIENT_CONTROL__KIND_SCHEMA_ANSWER, &answer);
}

void raw_client_goodbye(raw_client* raw) {
    Shoal__Wire__Goodbye goodbye = SHOAL__WIRE__GOODBYE__INIT;
    report(raw, SHOAL__WIRE__CLIENT_CONTROL__KIND_GOODBYE, &goodbye);
}

void raw_client_watch(raw_client* raw, uint32_t client) {
    Shoal__Wire__Watch watch = SHOAL__WIRE__WATCH__INIT;
    watch.client = client;
    report(raw, SHOAL__WIRE__CLIENT_CONTROL__KIND_WATCH, &watch);
}

net_input_packet raw_client_packet(raw_client* raw) {
    return (net_input_packet){.seq = ++raw->seq,
                              .has_ack = raw->states > 0,
                              .ack = raw->state_seq,
                              .ack_bits = raw->state_bits,
                              .ack_reach = 64,
                              .has_event_ack = true,
                              .event_ack = raw->event_newest};
}

size_t raw_client_pack(const net_input_packet* packet, Shoal__Wire__GameEvent** events,
                       size_t event_count, uint8_t* bytes, size_t capacity) {
    uint8_t input[NET_STATE_BYTES_MAX];
    proto_bit_writer writer = proto_bit_writer_make(input, sizeof input);
    net_input_packet_write(&writer, packet);
    Shoal__Wire__InputPacket message = SHOAL__WIRE__INPUT_PACKET__INIT;
    message.input.data = input;
    message.input.len = proto_bit_writer_bytes(&writer);
    message.n_events = event_count;
    message.events = events;
    return proto_encode(&message.base, bytes, capacity);
}

void raw_client_send_packet(raw_client* raw, const net_input_packet* packet) {
    uint8_t bytes[NET_CONTROL_BYTES_MAX];
    (void)raw_client_send_bytes(raw, NET_CHANNEL_REALTIME, bytes,
                                raw_client_pack(packet, NULL, 0, bytes, sizeof bytes));
}

void raw_client_inputs(raw_client* raw, net_input_packet packet, uint32_t first, uint32_t count,
                       const void* payload, size_t size) {
    BASE_ASSERT(count <= NET_INPUT_REDUNDANCY);
    for (uint32_t i = 0; i < count; i++)
        packet.inputs[i] = (net_input_bytes){payload, (uint32_t)size};
    packet.input_first = first;
    packet.input_count = count;
    if (count > 0) raw->input_newest = first + count;
    raw_client_send_packet(raw, &packet);
}

void raw_client_event(raw_client* raw, net_input_packet packet, uint32_t number, uint32_t message,
                      const void* payload, size_t size) {
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    event.number = number;
    event.message = message;
    event.payload.data = (uint8_t*)(uintptr_t)payload;
    event.payload.len = size;
    raw_client_send_event(raw, packet, &event);
}

void raw_client_send_event(raw_client* raw, net_input_packet packet,
                           Shoal__Wire__GameEvent* event) {
    Shoal__Wire__GameEvent* events[1] = {event};
    uint8_t bytes[NET_CONTROL_BYTES_MAX];
    (void)raw_client_send_bytes(raw, NET_CHANNEL_REALTIME, bytes,
                                raw_client_pack(&packet, events, 1, bytes, sizeof bytes));
}

// Neither an envelope nor a short packet, which could be a late one.
void raw_client_garbage(raw_client* raw, net_channel channel) {
    static const uint8_t BYTES[] = {0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    (void)raw_client_send_bytes(raw, channel, BYTES, sizeof BYTES);
}
