// SPDX-License-Identifier: MIT
// Messages of a hostile client into a live server that has one honest client, and messages of a
// hostile server into a live client, over the simulated network.
//
// An input is {u8 mode} and a list of records {u8 operation, u8 size, bytes[size]}. Even modes are
// against the server, odd ones against the client; with bit 1 the client has a presenter, as one
// with a window; with bit 2 the hostile client, or the attacked one, only watches. Operation % 8:
//   0  bytes on the control channel, 1: on the realtime channel
//   2  a good hello (server) or a good welcome (client). With bytes: a resuming hello with the
//   bytes as secret
//      (one byte means its own secret, over a new connection); a welcome whose first byte is
//      is_resumed, with up to 16 bytes of secret and settings of 8 bytes each
//   3  an input packet (server) or a state packet (client) around the bytes: the next seq, a true
//      acknowledgement, the bytes as input or as body
//   4  the same with an event: the first two bytes are number and message, the rest its payload.
//      With bit 7 of the number a part: of the rest the first three bytes are whole_bytes and part,
//      and the others are repeated up to the length that such a part has, or one byte more or less
//   5  fields of such a packet from the bytes, four bytes each: seq, ack, ack_bits, event_ack,
//      input_first or tick
//   6  the first byte is the number of ticks that pass
//   7  a good goodbye; of a server with bytes: the reason, then the address, the token and the page
//      of a transfer, between them a space
// One record in four or more is followed by a tick.
//
// Invariants for any input: nothing aborts, the server's counters add up, the honest client equals
// the server at the end, the world of the attacked client is whole.
#include "match_stage.h"

#include "raw_client.h"
#include "raw_server.h"

enum { END_TICKS_MAX = 300 };

typedef struct stage {
    net_module* module;
    net_match *server_match, *client_match;
    net_sim* sim;
    net_transport *server_transport, *client_transport, *intruder_transport;
    net_server* server;
    net_client* client;
    net_presenter* presenter; // or NULL
    base_quota memory;        // of the client, its match and its presenter
    raw_client intruder;
    raw_server hostile;
    bool is_against_client, is_spectator;
    uint64_t now_us;
    uint32_t ticks;
} stage;

// One input is at most 64 records of 255 bytes: far from what a session may take.
#define CLIENT_BYTES_MAX ((size_t)64 << 20)

static const net_link_config LINK = {.delay_ms = 1};

static void open_client(stage* at, bool has_view) {
    base_quota_init(&at->memory, NULL, CLIENT_BYTES_MAX);
    at->client_match = stage_match(at->module, NET_ROLE_MIRROR, &at->memory.allocator, NULL);
    at->client_transport = net_sim_client(at->sim, &LINK);
    if (has_view) at->presenter = stage_presenter(at->module, &at->memory.allocator);
    const net_client_config client = {
        .allocator = &at->memory.allocator,
        .presenter = at->presenter,
        .match = at->client_match,
        .transport = at->client_transport,
        .address = "sim",
        .name = "beside",
        .is_bot = true,
        .is_spectator = at->is_spectator && at->is_against_client,
        .seed = 1,
    };
    at->client = net_client_create(&client);
}

static void open_server(stage* at) {
    at->server_match = stage_match(at->module, NET_ROLE_SERVER, NULL, NULL);
    const net_server_config server = {.match = at->server_match,
                                      .transport = at->server_transport,
                                      .clients_max = 2,
                                      .spectators_max = 1};
    FUZZ_CHECK(net_server_create(&server, &at->server) == NET_OK);
    at->intruder_transport = net_sim_client(at->sim, &LINK);
    raw_client_open(&at->intruder, at->intruder_transport);
    at->intruder.is_spectator = at->is_spectator;
}

static void tick_after(stage* at, uint32_t us) {
    at->now_us += us;
    if (at->is_against_client) {
        raw_server_service(&at->hostile, at->now_us);
    } else {
        net_server_service(at->server, at->now_us);
        net_server_tick(at->server, at->now_us);
        raw_client_service(&at->intruder, at->now_us);
    }
    net_client_service(at->client, at->now_us);
    net_client_tick(at->client, at->now_us);
    if (at->presenter) (void)net_presenter_frame(at->presenter, at->now_us);
}

static void tick(stage* at) {
    at->ticks++;
    tick_after(at, STAGE_TICK_US);
}

static void begin(stage* at, uint8_t mode) {
    const bool is_against_client = mode & 1, has_view = mode >> 1 & 1;
    *at = (stage){
        .is_against_client = is_against_client, .is_spectator = mode >> 2 & 1, .now_us = 1000000};
    at->module = stage_module();
    at->sim = net_sim_create(NULL, 1);
    FUZZ_CHECK(net_sim_server(at->sim, 8, &at->server_transport) == NET_OK);
    if (is_against_client)
        raw_server_open(&at->hostile, at->server_transport);
    else
        open_server(at);
    open_client(at, has_view);
    for (int i = 0; i < 10 && net_client_get_phase(at->client) != NET_CLIENT_PLAYING; i++)
        tick(at);
}

static void end(stage* at) {
    net_client_destroy(at->client);
    net_presenter_destroy(at->presenter);
    at->client_transport->ops->destroy(at->client_transport);
    if (at->is_against_client) {
        raw_server_close(&at->hostile);
    } else {
        raw_client_close(&at->intruder);
        at->intruder_transport->ops->destroy(at->intruder_transport);
        net_server_destroy(at->server);
        net_match_destroy(at->server_match);
    }
    at->server_transport->ops->destroy(at->server_transport);
    net_sim_destroy(at->sim);
    net_match_destroy(at->client_match);
    FUZZ_CHECK(at->memory.used_bytes == 0);
    net_module_close(at->module);
}

static uint32_t word(const uint8_t* bytes, size_t size, size_t index) {
    uint32_t value = 0;
    for (size_t i = 4 * index; i < 4 * index + 4 && i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

static void strike_hello(stage* at, const uint8_t* bytes, size_t size) {
    raw_client* from = &at->intruder;
    const uint64_t schema = net_schema_hash(net_match_schema(at->server_match));
    if (size == 0) {
        raw_client_hello(from, NET_PROTOCOL_VERSION, schema, "swarm", "intruder");
        return;
    }
    if (size > 1) {
        raw_client_hello_again(from, schema, "swarm", bytes, size);
        return;
    }
    if (from->peer) from->transport->ops->disconnect(from->transport, from->peer, 0, true);
    from->peer = 0;
    from->is_connected = from->is_gone = false;
    for (uint32_t i = 0; i < 5 && !from->is_connected; i++)
        tick(at);
    raw_client_hello_again(from, schema, "swarm", from->resume, sizeof from->resume);
}

static void strike_welcome(stage* at, const uint8_t* bytes, size_t size) {
    enum { SECRET_FIRST = 1, SETTINGS_FIRST = 17 };
    double settings[32] = {0};
    Shoal__Wire__Welcome welcome = SHOAL__WIRE__WELCOME__INIT;
    welcome.client = 1;
    welcome.tick_rate_hz = 60;
    welcome.is_spectator = at->is_spectator;
    if (size > SECRET_FIRST) {
        welcome.is_resumed = bytes[0] & 1;
        welcome.resume.data = (uint8_t*)(uintptr_t)bytes + SECRET_FIRST;
        welcome.resume.len = (size < SETTINGS_FIRST ? size : SETTINGS_FIRST) - SECRET_FIRST;
    }
    if (size > SETTINGS_FIRST) {
        memcpy(settings, bytes + SETTINGS_FIRST, size - SETTINGS_FIRST);
        welcome.n_settings = (size - SETTINGS_FIRST) / sizeof *settings;
        welcome.settings = settings;
    }
    raw_server_welcome_as(&at->hostile, welcome);
}

// The event of operation 4, with its payload.
static Shoal__Wire__GameEvent event_of(const uint8_t* bytes, size_t size,
                                       uint8_t payload[NET_EVENT_PART_BYTES_MAX + 1]) {
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    event.number = bytes[0] & 0x7f;
    event.message = bytes[1];
    event.payload = (ProtobufCBinaryData){size - 2, (uint8_t*)(uintptr_t)bytes + 2};
    if (!(bytes[0] & 0x80) || size < 6) return event;
    event.whole_bytes = (uint32_t)bytes[2] << 8 | bytes[3];
    event.part = bytes[4] & 0x3f;
    const uint32_t from = event.part * NET_EVENT_PART_BYTES_MAX;
    const uint32_t left = event.whole_bytes > from ? event.whole_bytes - from : 1;
    event.payload.len = left < NET_EVENT_PART_BYTES_MAX ? left : NET_EVENT_PART_BYTES_MAX;
    event.payload.len += (size_t)(bytes[4] >> 6 == 1) - (bytes[4] >> 6 == 2);
    event.payload.data = payload;
    for (size_t i = 0; i < event.payload.len; i++)
        payload[i] = bytes[5 + i % (size - 5)];
    return event;
}

static void strike_server(stage* at, uint8_t operation, const uint8_t* bytes, size_t size) {
    raw_client* from = &at->intruder;
    net_input_packet packet;
    uint8_t payload[NET_EVENT_PART_BYTES_MAX + 1];
    switch (operation) {
    case 2:
        strike_hello(at, bytes, size);
        break;
    case 3:
        packet = raw_client_packet(from);
        raw_client_inputs(from, packet, packet.seq, size ? 1 + bytes[0] % 8u : 1, bytes, size);
        break;
    case 4:
        packet = raw_client_packet(from);
        if (size >= 2) {
            Shoal__Wire__GameEvent event = event_of(bytes, size, payload);
            raw_client_send_event(from, packet, &event);
        }
        break;
    case 5:
        packet = raw_client_packet(from);
        packet.seq = (uint16_t)word(bytes, size, 0);
        packet.has_ack = true;
        packet.ack = (uint16_t)word(bytes, size, 1);
        packet.ack_bits = (uint64_t)word(bytes, size, 2) << 32 | word(bytes, size, 3);
        packet.event_ack = word(bytes, size, 4);
        raw_client_inputs(from, packet, word(bytes, size, 5), word(bytes, size, 6) % 9, "", 0);
        break;
    default:
        raw_client_goodbye(from);
        break;
    }
}

static void say_goodbye(raw_server* from, const uint8_t* bytes, size_t size) {
    char words[UINT8_MAX + 1] = "", *rest = words;
    const char* parts[3];
    for (size_t i = 1; i < size; i++)
        words[i - 1] = bytes[i] && bytes[i] < 0x80 ? (char)bytes[i] : '?';
    for (uint32_t i = 0; i < BASE_COUNT(parts); i++) {
        parts[i] = rest;
        rest += strcspn(rest, " ");
        if (*rest) *rest++ = '\0';
    }
    raw_server_transfer(from, size ? bytes[0] : 1, parts[0], parts[1], parts[2]);
}

static void strike_client(stage* at, uint8_t operation, const uint8_t* bytes, size_t size) {
    raw_server* from = &at->hostile;
    raw_state packet;
    uint8_t payload[NET_EVENT_PART_BYTES_MAX + 1];
    switch (operation) {
    case 2:
        strike_welcome(at, bytes, size);
        break;
    case 3:
        packet = raw_server_packet(from, at->now_us / STAGE_TICK_US);
        packet.body = bytes;
        packet.body_size = size;
        raw_server_send_state(from, packet);
        break;
    case 4:
        packet = raw_server_packet(from, at->now_us / STAGE_TICK_US);
        if (size >= 2) {
            Shoal__Wire__GameEvent event = event_of(bytes, size, payload);
            event.target = word(bytes, size, 1);
            event.tick = packet.header.tick;
            raw_server_send_event(from, packet, &event);
        }
        break;
    case 5:
        packet = raw_server_packet(from, 0);
        packet.header.seq = (uint16_t)word(bytes, size, 0);
        packet.header.has_ack = true;
        packet.header.ack = (uint16_t)word(bytes, size, 1);
        packet.header.ack_delay_us = word(bytes, size, 2);
        packet.header.has_event_ack = true;
        packet.header.event_ack = word(bytes, size, 3);
        packet.header.tick = (uint64_t)word(bytes, size, 4) << 32 | word(bytes, size, 5);
        packet.header.is_whole = !(word(bytes, size, 0) >> 16 & 1);
        packet.header.has_probe = word(bytes, size, 0) >> 17 & 1;
        packet.header.probe_slot = word(bytes, size, 6);
        packet.header.probe_age = word(bytes, size, 7);
        raw_server_send_state(from, packet);
        break;
    default:
        say_goodbye(from, bytes, size);
        break;
    }
}

static void run_record(stage* at, uint8_t operation, const uint8_t* bytes, size_t size) {
    operation %= 8;
    if (operation <= 1) {
        net_channel channel = operation ? NET_CHANNEL_REALTIME : NET_CHANNEL_CONTROL;
        if (at->is_against_client)
            (void)raw_server_send_bytes(&at->hostile, channel, bytes, size);
        else
            (void)raw_client_send_bytes(&at->intruder, channel, bytes, size);
    } else if (operation == 6) {
        for (uint32_t i = 0; size > 0 && i < bytes[0] && at->ticks < STAGE_TICKS_MAX; i++)
            tick(at);
    } else if (at->is_against_client) {
        strike_client(at, operation, bytes, size);
    } else {
        strike_server(at, operation, bytes, size);
    }
}

// The hostile client did no harm: the honest client has everything and gets its goodbye.
static void check_server(stage* at) {
    net_server_stop(at->server, at->now_us);
    uint32_t left = END_TICKS_MAX;
    while (left > 0 && (net_server_get_phase(at->server) != NET_SERVER_ENDED ||
                        net_client_get_phase(at->client) != NET_CLIENT_ENDED)) {
        tick_after(at, STAGE_END_US);
        left--;
    }
    FUZZ_CHECK(left > 0);
    net_client_report report = net_client_get_report(at->client);
    FUZZ_CHECK(report.end == NET_CLIENT_END_GOODBYE);
    FUZZ_CHECK(report.dropped[NET_DROP_MALFORMED] == 0 && report.bad_transitions == 0);
    const net_server_counters* counters = net_server_get_counters(at->server);
    FUZZ_CHECK(counters->clients == 0 && counters->clients_peak <= 2);
    FUZZ_CHECK(counters->spectators == 0);
    for (uint32_t i = 0; i < net_server_report_count(at->server); i++)
        FUZZ_CHECK(net_server_report(at->server, i)->end != NET_END_NONE);
    const swarm_context* context = net_match_context(at->client_match);
    FUZZ_CHECK(context->ping_faults == 0);
}

static void check_client(stage* at) {
    ecs_world_validate(net_match_world(at->client_match));
    net_client_report report = net_client_get_report(at->client);
    FUZZ_CHECK(report.bad_transitions == 0 && !base_quota_is_over(&at->memory.allocator));
    net_client_leave(at->client, at->now_us);
    uint32_t left = END_TICKS_MAX;
    while (left > 0 && net_client_get_phase(at->client) != NET_CLIENT_ENDED) {
        tick_after(at, STAGE_END_US);
        left--;
    }
    FUZZ_CHECK(left > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    stage at;
    begin(&at, *data++);
    size--;
    fuzz_record next;
    for (uint32_t number = 0;
         number < STAGE_RECORDS_MAX && at.ticks < STAGE_TICKS_MAX && fuzz_next(&data, &size, &next);
         number++) {
        run_record(&at, next.operation, next.bytes, next.size);
        if (number % 4 == 3) tick(&at);
    }
    tick(&at);
    if (at.is_against_client)
        check_client(&at);
    else
        check_server(&at);
    end(&at);
    return 0;
}
