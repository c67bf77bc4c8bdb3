// SPDX-License-Identifier: MIT
// The server against clients that break the protocol rules, with one honest client beside them.
#include "session_table.h"

#include "swarm.pb-c.h"

typedef struct packed {
    uint8_t bytes[64];
    size_t size;
} packed;

static packed pack(const ProtobufCMessage* message) {
    packed made = {.size = 0};
    made.size = proto_encode(message, made.bytes, sizeof made.bytes);
    return made;
}

static packed steer(int32_t dx, int32_t dy) {
    Swarm__Steer message = SWARM__STEER__INIT;
    message.dx = dx;
    message.dy = dy;
    return pack(&message.base);
}

static packed shout(uint32_t number) {
    Swarm__Shout message = SWARM__SHOUT__INIT;
    message.number = number;
    return pack(&message.base);
}

static const swarm_context* game(const table* at) {
    return net_match_context(at->match);
}

static uint32_t value_of(const table* at, uint32_t client, ecs_component_id component) {
    const ecs_entity player = net_match_player(at->match, client);
    return *(const uint32_t*)ecs_get(net_match_world(at->match), player, component);
}

static uint32_t shouts_of(const table* at, uint32_t client) {
    return value_of(at, client, game(at)->shouts);
}

static uint32_t steered_of(const table* at, uint32_t client) {
    return value_of(at, client, game(at)->steered);
}

static uint64_t malformed(const table* at) {
    return table_counters(at)->dropped[NET_DROP_MALFORMED];
}

static bool is_ended(const table* at, const raw_client* raw) {
    return table_report(at, raw->client)->end != NET_END_NONE;
}

// ---- strikes

GUEST_ROWS(three_malformed_messages_within_ten_seconds_end_the_session, channel, 2, .seed = 1,
           .quiet = 1e9) {
    for (uint32_t i = 0; i < 2; i++) {
        raw_client_garbage(raw, channel);
        table_run_politely(at, 60);
    }
    assert_int_equal(malformed(at), 2);
    assert_false(is_ended(at, raw));
    raw_client_garbage(raw, channel);
    table_run(at, 20);
    assert_int_equal(table_report(at, raw->client)->end, NET_END_FAULT);
    assert_int_equal(raw->goodbye_reason, NET_END_FAULT);
    assert_true(raw->has_goodbye && raw->is_gone);
    assert_int_equal(net_match_player(at->match, raw->client), ECS_ENTITY_NONE);
    assert_int_equal(table_counters(at)->drops, 1);
}

GUEST_CASE(the_ten_seconds_of_strikes_begin_anywhere, .seed = 1) {
    // Faults at seconds 0, 8, 13 and 15: the last three are within ten seconds.
    static const uint32_t PAUSES_S[] = {8, 5, 2};
    for (uint32_t i = 0; i < 3; i++) {
        raw_client_garbage(raw, NET_CHANNEL_REALTIME);
        table_run_politely(at, PAUSES_S[i] * TICKS_PER_SECOND);
        assert_false(is_ended(at, raw));
    }
    raw_client_garbage(raw, NET_CHANNEL_REALTIME);
    table_run(at, 5);
    assert_int_equal(table_report(at, raw->client)->end, NET_END_FAULT);
}

GUEST_CASE(messages_out_of_their_place_are_strikes, .seed = 1) {
    raw_client_hello(raw, NET_PROTOCOL_VERSION, table_schema(at), "swarm", "again");
    table_run(at, 5);
    assert_int_equal(malformed(at), 1);
    raw_client_answer(raw, "template avatar", 1);
    table_run(at, 5);
    assert_int_equal(malformed(at), 2);
    assert_int_equal(net_server_report_count(at->server), 1);
    assert_false(is_ended(at, raw));
}

TABLE_CASE(packets_before_the_welcome_are_ignored, .seed = 1) {
    raw_client* raw = table_raw_client(at);
    table_run(at, 6);
    for (uint32_t i = 0; i < 10; i++) {
        raw_client_garbage(raw, NET_CHANNEL_REALTIME);
        raw_client_inputs(raw, raw_client_packet(raw), 1, 1, "", 0);
        table_step(at);
    }
    assert_int_equal(malformed(at), 0);
    raw_client_hello(raw, NET_PROTOCOL_VERSION, table_schema(at), "swarm", "late");
    table_run(at, 6);
    assert_true(raw->is_welcome);
}

GUEST_CASE(control_messages_of_a_later_release_are_skipped, .seed = 1, .quiet = 1e9) {
    static const uint8_t later[] = {0x32, 2, 8, 1}; // field 6, a message
    for (uint32_t i = 0; i < 8; i++)
        (void)raw_client_send_bytes(raw, NET_CHANNEL_CONTROL, later, sizeof later);
    table_run_politely(at, 5);
    assert_int_equal(malformed(at), 0);
    assert_false(is_ended(at, raw));
}

// ---- acknowledgements

GUEST_CASE(forged_acknowledgements_count_for_nothing_and_are_strikes, .seed = 1, .quiet = 1e9) {
    table_run_politely(at, 10);
    for (uint32_t i = 0; i < 3; i++) {
        net_input_packet forged = raw_client_packet(raw);
        forged.ack = (uint16_t)(raw->state_seq + (i == 0 ? 200 : 30000));
        if (i == 1) forged.ack = 0;
        if (i == 1) forged.ack_bits = UINT64_MAX; // there was no packet before the first one
        assert_false(is_ended(at, raw));
        raw_client_inputs(raw, forged, 0, 0, NULL, 0);
        table_run_politely(at, 5);
        assert_int_equal(table_dropped(at, NET_DROP_ACK_FORGED), i + 1);
    }
    assert_int_equal(table_report(at, raw->client)->end, NET_END_FAULT);
}

GUEST_CASE(forged_acknowledgements_of_events_are_strikes, .seed = 1) {
    net_input_packet forged = raw_client_packet(raw);
    forged.event_ack = 1000;
    raw_client_inputs(raw, forged, 0, 0, NULL, 0);
    table_run_politely(at, 5);
    assert_int_equal(malformed(at), 1);
    // The event with its player; the server repeats it until it is acknowledged.
    assert_int_equal(raw->event_newest, 1);
}

GUEST_ROWS(whoever_never_acknowledges_is_dropped, kind, 3, .seed = 1, .quiet = 600) {
    // 0: the client acknowledges nothing, 1: it always acknowledges the first packet, 2: it sends
    // nothing at all: it may be in a blackout, and gets the whole time of a silent one.
    int64_t bytes_early = 0, bytes_late = 0;
    uint64_t state_bytes = 0;
    uint32_t tick = 0;
    for (; tick < 32 * TICKS_PER_SECOND && !is_ended(at, raw); tick++) {
        net_input_packet packet = raw_client_packet(raw);
        packet.has_ack = kind == 1;
        packet.ack = 0;
        packet.ack_bits = 0;
        packet.event_ack = 0;
        if (kind < 2) raw_client_inputs(raw, packet, 0, 0, NULL, 0);
        table_step(at);
        if (tick == 5 * TICKS_PER_SECOND) bytes_early = at->memory.bytes;
        if (tick == 5 * TICKS_PER_SECOND) state_bytes = raw->state_bytes;
        // At most the least rate, and some packets.
        if (tick == 6 * TICKS_PER_SECOND)
            assert_true(raw->state_bytes - state_bytes <= 8000 + 3 * 1212);
        bytes_late = at->memory.bytes;
    }
    const uint32_t seconds = kind < 2 ? 10 : 30;
    assert_in_range(tick, (seconds - 1) * TICKS_PER_SECOND, seconds * TICKS_PER_SECOND + 20);
    assert_int_equal(table_report(at, raw->client)->end, kind < 2 ? NET_END_DEAF : NET_END_TIMEOUT);
    assert_int_equal(table_dropped(at, NET_DROP_DEAF), kind < 2);
    assert_true(bytes_late <= bytes_early + 256 * 1024);
    table_run(at, 10);
    assert_true(raw->is_gone);
    assert_int_equal(net_match_player(at->match, raw->client), ECS_ENTITY_NONE);
}

GUEST_CASE(a_queue_of_events_that_nobody_acknowledges_ends_the_session, .seed = 1, .quiet = 1e9,
           .seats = 1) {
    // The client acknowledges state but no events. The test game sends about nine pings a second.
    uint32_t tick = 0;
    for (; tick < 60 * TICKS_PER_SECOND && !is_ended(at, raw); tick++) {
        net_input_packet packet = raw_client_packet(raw);
        packet.event_ack = 0;
        raw_client_inputs(raw, packet, 0, 0, NULL, 0);
        table_step(at);
    }
    assert_int_equal(table_report(at, raw->client)->end, NET_END_BEHIND);
    assert_true(table_dropped(at, NET_DROP_EVENT_QUEUE) >= 1);
    assert_int_equal(net_client_get_phase(at->seats[0].client), NET_CLIENT_PLAYING);
    assert_int_equal(((swarm_context*)net_match_context(at->seats[0].match))->ping_faults, 0);
}

// A client that requests rows with every packet gets a few per second. It gets a few changes less
// for them.
GUEST_CASE(a_flood_of_requests_for_rows_is_rationed, .seed = 1, .ticks_max = 900, .quiet = 400,
           .seats = 1) {
    table_run_politely(at, 60);
    uint64_t bytes = raw->state_bytes;
    ecs_entity player = net_match_player(at->match, raw->client);
    ecs_entity other = net_match_player(at->match, 3 - raw->client);
    const uint32_t handles[4] = {player, other, player, 0x3FFFFF};
    for (uint32_t tick = 0; tick < 10 * TICKS_PER_SECOND; tick++) {
        for (uint32_t i = 0; i < 4; i++) {
            net_input_packet packet = raw_client_packet(raw);
            memcpy(packet.resyncs, handles, sizeof handles);
            packet.resync_count = BASE_COUNT(handles);
            raw_client_inputs(raw, packet, 0, 0, NULL, 0);
        }
        table_step(at);
    }
    const net_server_counters* counters = table_counters(at);
    assert_in_range(counters->resyncs + table_dropped(at, NET_DROP_RESYNC_UNKNOWN), 40, 8 + 41);
    assert_true(counters->resyncs >= 20);
    assert_true(table_dropped(at, NET_DROP_RESYNC_UNKNOWN) > 0);
    assert_true(table_dropped(at, NET_DROP_RESYNC_LIMIT) > 9000);
    assert_true(raw->state_bytes - bytes < 10 * 16000);
    assert_int_equal(malformed(at), 0);
    assert_false(is_ended(at, raw));
    table_ends(at, 2000);
}

// ---- inputs

GUEST_CASE(input_payloads_that_the_game_refuses_are_strikes, .seed = 1, .quiet = 1e9) {
    packed fast = steer(6, 0);
    raw_client_inputs(raw, raw_client_packet(raw), 1, 1, fast.bytes, fast.size);
    table_run_politely(at, 5);
    raw_client_inputs(raw, raw_client_packet(raw), 1, 1, "\xFF\xFF", 2);
    table_run_politely(at, 5);
    assert_int_equal(malformed(at), 2);
    assert_int_equal(table_report(at, raw->client)->inputs_malformed, 2);
    assert_int_equal(steered_of(at, raw->client), 0);
    assert_int_equal(raw->input_ack, 0);
}

static const struct {
    uint32_t first, count;
    bool is_good;
} INPUTS[] = {
    {0, 1, false},          {0, 0, true},           {UINT32_MAX, 0, true}, // it refers to no input
    {UINT32_MAX, 1, false}, {UINT32_MAX, 2, false}, {UINT32_MAX - 6, 8, false},
    {1, 8, true},           {16384, 1, true},       {16385, 1, false},
};

GUEST_ROWS(numbers_of_inputs_do_not_wrap_or_leap, i, BASE_COUNT(INPUTS), .seed = 1) {
    raw_client_inputs(raw, raw_client_packet(raw), INPUTS[i].first, INPUTS[i].count, "", 0);
    table_run_politely(at, 4);
    assert_int_equal(malformed(at), !INPUTS[i].is_good);
    uint32_t newest =
        INPUTS[i].is_good && INPUTS[i].count ? INPUTS[i].first + INPUTS[i].count - 1 : 0;
    assert_int_equal(raw->input_ack, newest);
}

GUEST_CASE(a_flood_of_inputs_is_bounded_and_hurts_nobody, .seed = 1, .ticks_max = 400, .quiet = 1e9,
           .seats = 1) {
    static const char limited[] =
        "note: client 2 \"guest\" is rate-limited: it sends more than is read\n";
    uint32_t number = 1;
    for (uint32_t tick = 0; tick < 200; tick++) {
        assert_true(tick >= 100 || heard_count(&at->said, limited) == 0);
        for (uint32_t i = 0; i < 100; i++) {
            raw_client_inputs(raw, raw_client_packet(raw), number, 8, "", 0);
            number += 8;
        }
        table_step(at);
        assert_true(raw->input_depth <= 64);
    }
    const net_server_counters* counters = table_counters(at);
    assert_true(counters->dropped[NET_DROP_FLOOD] > 200 * 90);
    assert_true(table_dropped(at, NET_DROP_INPUT_SKIPPED) > 0);
    assert_true(steered_of(at, raw->client) <= 220);      // one input per tick, as for all clients
    assert_int_equal(heard_count(&at->said, limited), 1); // one line for the operator
    table_ends(at, 1500);
}

GUEST_CASE(a_flood_of_control_messages_ends_the_session_and_hurts_nobody, .seed = 1,
           .ticks_max = 400, .quiet = 1e9, .seats = 1) {
    // A VarsizeAck without versions, with an unknown field of 10,000 bytes.
    static const uint8_t bytes[6 + 10000] = {0x22, 0x93, 0x4e, 0x7a, 0x90, 0x4e};
    for (uint32_t i = 0; i < 6; i++)
        assert_ok(raw_client_send_bytes(raw, NET_CHANNEL_CONTROL, bytes, sizeof bytes));
    table_run_politely(at, 30);
    assert_int_equal(table_dropped(at, NET_DROP_FLOOD), 0);
    assert_false(is_ended(at, raw));
    for (uint32_t i = 0; i < 6; i++)
        assert_ok(raw_client_send_bytes(raw, NET_CHANNEL_CONTROL, bytes, sizeof bytes));
    table_run_politely(at, 30);
    assert_true(table_dropped(at, NET_DROP_FLOOD) > 0);
    assert_true(is_ended(at, raw));
    table_ends(at, 1500);
}

// ---- events

static const struct {
    uint32_t number, message;
    const char* payload;
} FORGED_EVENTS[] = {
    {1, 0, "\x08\x01"}, // only the server may send PlayerAssigned
    {1, 1, "\x08\x01"}, // an input is no event
    {1, 2, "\x08\x01"}, // only the server may send a ping
    {1, 5, "\x08\x01"}, // the number is beyond the table
    {1, UINT32_MAX, "\x08\x01"},
    {0, 4, "\x08\x01"}, // a shout must be reliable
    {1, 4, "\xFF"},
};

GUEST_ROWS(forged_events_are_strikes, i, BASE_COUNT(FORGED_EVENTS), .seed = 1, .quiet = 1e9) {
    const char* payload = FORGED_EVENTS[i].payload;
    raw_client_event(raw, raw_client_packet(raw), FORGED_EVENTS[i].number, FORGED_EVENTS[i].message,
                     payload, strlen(payload));
    table_run_politely(at, 4);
    assert_int_equal(malformed(at), 1);
    assert_int_equal(shouts_of(at, raw->client), 0);
    assert_int_equal(raw->event_ack, 0);
}

// An event that names an entity.
static void shout_about(raw_client* raw, ecs_entity target) {
    packed text = shout(1);
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    event.number = 1;
    event.message = 4;
    event.target = target;
    event.payload.data = text.bytes;
    event.payload.len = text.size;
    Shoal__Wire__GameEvent* events[1] = {&event};
    net_input_packet packet = raw_client_packet(raw);
    uint8_t bytes[NET_STATE_BYTES_MAX];
    (void)raw_client_send_bytes(raw, NET_CHANNEL_REALTIME, bytes,
                                raw_client_pack(&packet, events, 1, bytes, sizeof bytes));
}

// The server ignores the target in a client's event: the event is about the client's own entity and
// waits for no other entity.
TABLE_CASE(a_client_speaks_for_its_own_entity_only, .seed = 1, .quiet = 1e9) {
    raw_client* other = table_guest(at);
    const ecs_entity targets[] = {net_match_player(at->match, other->client),
                                  ecs_entity_make(1000, 7)}; // there is no such entity
    for (uint32_t i = 0; i < 2; i++) {
        raw_client* raw = table_guest(at);
        shout_about(raw, targets[i]);
        table_run(at, 4);
        assert_int_equal(shouts_of(at, other->client), 0);
        assert_int_equal(shouts_of(at, raw->client), 1);
    }
}

// ---- all other clients

static bool refuse_nothing(const ProtobufCMessage* message, void* payload) {
    return protobuf_c_message_get_packed_size(message) > 0 &&
           swarm_module_get()->messages[0].from_wire(message, payload);
}

static const net_game_module* refusing(void) {
    static net_game_module refuses;
    static net_message messages[NET_MESSAGES_MAX];
    refuses = *swarm_module_get();
    memcpy(messages, refuses.messages, refuses.message_count * sizeof *messages);
    for (uint32_t i = 0; i < refuses.message_count; i++)
        if (messages[i].kind == NET_MESSAGE_INPUT) messages[i].from_wire = refuse_nothing;
    refuses.messages = messages;
    return &refuses;
}

// The server then has no input to repeat: a client that sends nothing has no input at all.
GUEST_CASE(a_module_may_refuse_even_the_input_of_who_does_nothing, .seed = 31, .quiet = 1e9,
           .game = refusing()) {
    raw_client_inputs(raw, raw_client_packet(raw), 1, 1, "\x08\x02", 2);
    table_run_politely(at, TICKS_PER_SECOND);
    assert_int_equal(malformed(at), 0);
    raw_client_goodbye(raw);
    table_run(at, 5);
    const net_peer_report* report = table_report(at, raw->client);
    assert_int_equal(report->inputs_received, 1);
    assert_true(report->inputs_repeated > 0);
}
