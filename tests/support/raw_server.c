// SPDX-License-Identifier: MIT
// A server without rules. It packs messages on the stack and sends them at once.
#include "raw_server.h"

#include "base/text.h"

void raw_server_open(raw_server* raw, net_transport* transport) {
    memset(raw, 0, sizeof *raw);
    raw->transport = transport;
    proto_codec_init(&raw->codec, NULL, PROTO_UNPACK_BYTES_MAX);
}

void raw_server_close(raw_server* raw) {
    proto_codec_deinit(&raw->codec);
}

static void take_control(raw_server* raw, const net_transport_event* event) {
    const Shoal__Wire__ClientControl* control =
        (const Shoal__Wire__ClientControl*)proto_codec_decode(
            &raw->codec, &shoal__wire__client_control__descriptor, event->bytes, event->size,
            NET_CONTROL_BYTES_MAX);
    if (!control) {
        raw->unreadable++;
        return;
    }
    switch (control->kind_case) {
    case SHOAL__WIRE__CLIENT_CONTROL__KIND_HELLO:
        raw->is_greeted = true;
        raw->protocol = control->hello->protocol;
        raw->schema_hash = control->hello->schema_hash;
        raw->is_bot = control->hello->is_bot;
        raw->is_spectator = control->hello->is_spectator;
        raw->rate_bytes_max = control->hello->rate_bytes_max;
        raw->hellos++;
        raw->resume_size = control->hello->resume.len;
        if (raw->resume_size > sizeof raw->resume) raw->resume_size = sizeof raw->resume;
        if (raw->resume_size) memcpy(raw->resume, control->hello->resume.data, raw->resume_size);
        (void)base_text_copy(raw->game, sizeof raw->game, control->hello->game);
        (void)base_text_copy(raw->name, sizeof raw->name, control->hello->name);
        break;
    case SHOAL__WIRE__CLIENT_CONTROL__KIND_SCHEMA_ANSWER:
        raw->is_answered = true;
        raw->answer_items = control->schema_answer->n_items;
        break;
    case SHOAL__WIRE__CLIENT_CONTROL__KIND_WATCH:
        raw->watches++;
        raw->watched = control->watch->client;
        break;
    case SHOAL__WIRE__CLIENT_CONTROL__KIND_GOODBYE:
        raw->has_goodbye = true;
        break;
    default:
        raw->unreadable++;
        break;
    }
}

static bool read_input(raw_server* raw, const net_transport_event* event,
                       net_input_packet_store* store, net_input_packet* input,
                       const Shoal__Wire__InputPacket** packet) {
    // Tests send few packets: low bits are nearest to what it has.
    const net_input_packet_near near = {.has_seq = raw->packets > 0,
                                        .seq = raw->input_seq,
                                        .sent = (uint16_t)(raw->seq - 1),
                                        .input = raw->input_first,
                                        .moment = UINT64_MAX,
                                        .bases = &raw->heard};
    size_t begin = 0;
    proto_bit_reader reader = proto_bit_reader_make(event->bytes, event->size);
    const bool is_short = net_input_packet_is_short(event->bytes, event->size);
    if (is_short) {
        if (net_input_packet_read_short(&reader, &near, store, input) != NET_OK) return false;
        begin = reader.offset_bits / 8;
    }
    *packet = (const Shoal__Wire__InputPacket*)proto_codec_decode(
        &raw->codec, &shoal__wire__input_packet__descriptor, event->bytes + begin,
        event->size - begin, NET_STATE_BYTES_MAX);
    if (!*packet) return false;
    raw->input_bytes = is_short ? begin : (*packet)->input.len;
    if (is_short) return true;
    reader = proto_bit_reader_make((*packet)->input.data, (*packet)->input.len);
    return net_input_packet_read(&reader, &near, store, input) == NET_OK;
}

static void take_input(raw_server* raw, const net_transport_event* event) {
    const Shoal__Wire__InputPacket* packet = NULL;
    net_input_packet_store store;
    net_input_packet input;
    if (!read_input(raw, event, &store, &input, &packet)) {
        raw->unreadable++;
        return;
    }
    net_input_bases_keep(&raw->heard, &input);
    raw->packets++;
    raw->input_seq = input.seq;
    raw->has_ack = input.has_ack;
    // A packet says what is new; older ones were said before.
    const uint16_t ahead = (uint16_t)(input.ack - raw->ack);
    if (!raw->has_acks || ahead >= 64)
        raw->ack_bits = input.ack_bits;
    else
        raw->ack_bits = (raw->ack_bits << ahead) | input.ack_bits |
                        (ahead > 0 ? UINT64_C(1) << (ahead - 1) : 0);
    raw->has_acks = input.has_ack;
    raw->ack = input.ack;
    if (input.has_event_ack) raw->event_ack = input.event_ack;
    raw->input_first = input.input_first;
    raw->input_count = input.input_count;
    raw->resync_count = input.resync_count;
    memcpy(raw->resyncs, input.resyncs, sizeof input.resyncs);
    raw->resyncs_requested += input.resync_count;
    for (size_t i = 0; i < packet->n_events; i++)
        if (packet->events[i]->number == raw->event_newest + 1) raw->event_newest++;
}

void raw_server_service(raw_server* raw, uint64_t now_us) {
    const net_transport_ops* ops = raw->transport->ops;
    ops->service(raw->transport, now_us);
    net_transport_event event;
    while (ops->next(raw->transport, &event)) {
        if (event.kind == NET_TRANSPORT_CONNECTED) {
            raw->peer = event.peer;
            raw->is_connected = true;
        } else if (event.kind == NET_TRANSPORT_DISCONNECTED) {
            raw->is_gone = true;
            raw->gone_reason = event.reason;
        } else if (event.channel == NET_CHANNEL_CONTROL) {
            take_control(raw, &event);
        } else {
            take_input(raw, &event);
        }
    }
    ops->flush(raw->transport);
}

net_result raw_server_send_bytes(raw_server* raw, net_channel channel, const void* bytes,
                                 size_t size) {
    return raw->transport->ops->send(raw->transport, raw->peer, channel, bytes, size);
}

net_result raw_server_send(raw_server* raw, net_channel channel, const ProtobufCMessage* message) {
    uint8_t bytes[NET_CONTROL_BYTES_MAX];
    size_t size = proto_encode(message, bytes, sizeof bytes);
    return raw_server_send_bytes(raw, channel, bytes, size);
}

// All messages of the oneof are pointers in a union.
static void report(raw_server* raw, Shoal__Wire__ServerControl__KindCase kind, void* message) {
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = kind;
    control.welcome = message;
    (void)raw_server_send(raw, NET_CHANNEL_CONTROL, &control.base);
}

// Strings of protobuf-c are not const, but packing only reads them.
static char* borrowed(const char* text) {
    return (char*)(uintptr_t)text;
}

void raw_server_welcome(raw_server* raw, uint32_t client, uint32_t tick_rate_hz) {
    Shoal__Wire__Welcome welcome = SHOAL__WIRE__WELCOME__INIT;
    welcome.client = client;
    welcome.tick_rate_hz = tick_rate_hz;
    report(raw, SHOAL__WIRE__SERVER_CONTROL__KIND_WELCOME, &welcome);
}

void raw_server_welcome_as(raw_server* raw, Shoal__Wire__Welcome welcome) {
    report(raw, SHOAL__WIRE__SERVER_CONTROL__KIND_WELCOME, &welcome);
}

void raw_server_refuse(raw_server* raw, Shoal__Wire__RefusedReason reason, const char* text,
                       const char* game) {
    Shoal__Wire__Refused refused = SHOAL__WIRE__REFUSED__INIT;
    refused.reason = reason;
    refused.text = borrowed(text);
    refused.game = borrowed(game);
    report(raw, SHOAL__WIRE__SERVER_CONTROL__KIND_REFUSED, &refused);
}

void raw_server_ask(raw_server* raw) {
    Shoal__Wire__SchemaQuestion question = SHOAL__WIRE__SCHEMA_QUESTION__INIT;
    report(raw, SHOAL__WIRE__SERVER_CONTROL__KIND_SCHEMA_QUESTION, &question);
}

void raw_server_goodbye(raw_server* raw, uint32_t reason) {
    raw_server_transfer(raw, reason, "", "", "");
}

void raw_server_transfer(raw_server* raw, uint32_t reason, const char* address, const char* token,
                         const char* page) {
    Shoal__Wire__Goodbye goodbye = SHOAL__WIRE__GOODBYE__INIT;
    goodbye.reason = reason;
    goodbye.address = borrowed(address);
    goodbye.token = borrowed(token);
    goodbye.page = borrowed(page);
    report(raw, SHOAL__WIRE__SERVER_CONTROL__KIND_GOODBYE, &goodbye);
}

raw_state raw_server_packet(raw_server* raw, uint64_t tick) {
    return (raw_state){
        .header =
            {
                .seq = raw->seq++,
                .is_whole = true,
                .tick = tick,
                .has_ack = raw->packets > 0,
                .ack = raw->input_seq,
                .has_event_ack = raw->event_newest > 0,
                .event_ack = raw->event_newest,
            },
    };
}

static void send_packet(raw_server* raw, raw_state state, Shoal__Wire__GameEvent** events,
                        size_t event_count) {
    uint8_t bits[NET_CONTROL_BYTES_MAX];
    proto_bit_writer writer = proto_bit_writer_make(bits, sizeof bits);
    state.header.has_body = state.body != NULL;
    net_packet_header_write(&writer, &state.header);
    proto_bit_reader body = proto_bit_reader_make(state.body, state.body_size);
    uint64_t left = state.body_bits ? state.body_bits : 8 * (uint64_t)state.body_size;
    for (uint32_t count; left > 0; left -= count) {
        count = left < 8 ? (uint32_t)left : 8;
        proto_bits_write(&writer, proto_bits_read(&body, count), count);
    }
    Shoal__Wire__StatePacket packet = SHOAL__WIRE__STATE_PACKET__INIT;
    packet.state = (ProtobufCBinaryData){proto_bit_writer_bytes(&writer), bits};
    packet.n_events = event_count;
    packet.events = events;
    packet.input_loss = raw->input_loss;
    (void)raw_server_send(raw, NET_CHANNEL_REALTIME, &packet.base);
}

void raw_server_send_state(raw_server* raw, raw_state packet) {
    send_packet(raw, packet, NULL, 0);
}

void raw_server_event(raw_server* raw, raw_state packet, uint32_t number, uint32_t message,
                      uint32_t target, const void* payload, size_t size) {
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    event.number = number;
    event.message = message;
    event.target = target;
    event.tick = packet.header.tick;
    event.payload.data = (uint8_t*)(uintptr_t)payload;
    event.payload.len = size;
    raw_server_send_event(raw, packet, &event);
}

void raw_server_send_event(raw_server* raw, raw_state packet, Shoal__Wire__GameEvent* event) {
    send_packet(raw, packet, &event, 1);
}
