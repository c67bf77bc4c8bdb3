// SPDX-License-Identifier: MIT
// One malicious member beside honest ones, in ten ways: what it costs the server, what the others
// get, and when it is dropped.
//
// Work is counted, not timed: messages that the server decodes, packets that it builds, bytes of
// its memory. Each way is compared with a run in which the same member is honest.
#include "session_table.h"

#include "swarm.pb-c.h"

#define SECONDS 20u
#define GONE_S_MAX 12u
#define MEMORY_BYTES_MAX (1 << 20)

typedef enum way {
    HONEST,
    NEVER_ACKS,
    FORGES_ACKS,
    FLOODS_CONTROL,
    FLOODS_INPUTS,
    FLOODS_EVENTS,
    FLOODS_RESYNCS,
    GREETS_AGAIN,
    COMES_AND_GOES,
    NEVER_READS,
    SENDS_GARBAGE,
    WAYS
} way;

typedef struct work {
    uint32_t member;          // client number of the member; 0: not yet
    uint64_t decoded;         // messages of the member, good or malformed
    uint64_t packets_for_all; // packets to the honest clients
    uint64_t bytes_for_all;
    int64_t memory_most;
    uint32_t gone_tick; // 0: it is still there
    uint64_t joins;
} work;

static void count_work(void* context, const net_trace_event* event) {
    work* of = context;
    bool is_honest = event->client == 1 || event->client == 2;
    if (event->kind == NET_TRACE_RECEIVED && !is_honest) of->decoded++;
    if (event->kind == NET_TRACE_SENT && is_honest) {
        of->packets_for_all++;
        of->bytes_for_all += event->bytes;
    }
}

static void send_events(raw_client* raw) {
    uint8_t bytes[16];
    Swarm__Shout shout = SWARM__SHOUT__INIT;
    shout.number = 1;
    size_t size = proto_encode(&shout.base, bytes, sizeof bytes);
    // More reliable events that no tick took yet than the server keeps.
    for (uint32_t i = 0; i < 5; i++) {
        Shoal__Wire__GameEvent events[60];
        Shoal__Wire__GameEvent* pointers[60];
        for (uint32_t k = 0; k < BASE_COUNT(events); k++) {
            shoal__wire__game_event__init(&events[k]);
            events[k].number = raw->event_ack + i * 60 + k + 1;
            events[k].message = 4;
            events[k].payload = (ProtobufCBinaryData){size, bytes};
            pointers[k] = &events[k];
        }
        net_input_packet packet = raw_client_packet(raw);
        uint8_t all[NET_CONTROL_BYTES_MAX];
        (void)raw_client_send_bytes(
            raw, NET_CHANNEL_REALTIME, all,
            raw_client_pack(&packet, pointers, BASE_COUNT(events), all, sizeof all));
    }
}

static void misbehave(table* at, raw_client* raw, way how, uint32_t tick) {
    static uint8_t large[NET_CONTROL_BYTES_MAX - 64];
    static const uint32_t handles[4] = {1, 2, 3, 4};
    net_input_packet packet = raw_client_packet(raw);
    if (how == NEVER_ACKS) packet.has_ack = false;
    if (how == NEVER_READS) packet.ack = 0;
    if (how == NEVER_READS) packet.ack_bits = 0;
    if (how == NEVER_ACKS || how == NEVER_READS) packet.event_ack = 0;
    if (how == FORGES_ACKS) packet.ack = (uint16_t)(packet.ack + 3000);
    if (how != FLOODS_INPUTS && how != FLOODS_EVENTS && how != SENDS_GARBAGE)
        raw_client_inputs(raw, packet, tick + 1, 1, "", 0);
    if (how == GREETS_AGAIN) table_hello(at, raw, "again");
    if (how == FLOODS_EVENTS) send_events(raw);
    for (uint32_t i = 0; i < 4 && how == FLOODS_CONTROL; i++)
        (void)raw_client_send_bytes(raw, NET_CHANNEL_CONTROL, large, sizeof large);
    for (uint32_t i = 0; i < 100 && how == FLOODS_INPUTS; i++)
        raw_client_inputs(raw, raw_client_packet(raw), (tick * 100 + i) * 8 % 4000000 + 1, 8, "",
                          0);
    for (uint32_t i = 0; i < 4 && how == FLOODS_RESYNCS; i++) {
        packet = raw_client_packet(raw);
        memcpy(packet.resyncs, handles, sizeof handles);
        packet.resync_count = BASE_COUNT(handles);
        raw_client_inputs(raw, packet, 0, 0, NULL, 0);
    }
    for (uint32_t i = 0; i < 20 && how == SENDS_GARBAGE; i++)
        raw_client_garbage(raw, i % 2 ? NET_CHANNEL_CONTROL : NET_CHANNEL_REALTIME);
}

// Joins, leaves at once and joins again, as fast as it can.
static void come_and_go(table* at, raw_client* raw) {
    if (raw->is_gone || raw->is_refused) {
        table_again(raw);
    } else if (raw->is_welcome) {
        raw_client_goodbye(raw);
    } else if (raw->is_connected && !raw->is_asked) {
        raw->is_asked = true;
        table_hello(at, raw, "x");
    }
}

static work run(way how) {
    work of = {.member = 0};
    static table at;
    table_open(&at, (table_config){.seed = 12,
                                   .quiet = 1e9,
                                   .server.clients_per_address_max = NET_ADDRESS_CLIENTS_DEFAULT,
                                   .seats = 2,
                                   .steps = 60,
                                   .ticks_max = (SECONDS + 4) * TICKS_PER_SECOND,
                                   .server.session_trace = count_work,
                                   .server.session_trace_context = &of});
    raw_client* raw = table_guest(&at);
    of.member = raw->client;
    of.decoded = of.packets_for_all = of.bytes_for_all = 0;
    for (uint32_t tick = 0; tick < SECONDS * TICKS_PER_SECOND; tick++) {
        if (how == COMES_AND_GOES)
            come_and_go(&at, raw);
        else if (!raw->is_gone)
            misbehave(&at, raw, how, tick);
        table_step(&at);
        if (at.memory.bytes > of.memory_most) of.memory_most = at.memory.bytes;
        if (of.gone_tick == 0 && table_report(&at, of.member)->end != NET_END_NONE)
            of.gone_tick = tick + 1;
    }
    of.joins = table_counters(&at)->joins;
    table_ends(&at, 2000);
    for (uint32_t i = 0; i < 2; i++) {
        net_client_report report = net_client_get_report(at.seats[i].client);
        assert_true(report.loss_percent < 0.001);
        assert_int_equal(table_report(&at, report.client)->inputs_missing, 0);
    }
    table_close(&at);
    return of;
}

CASE(ten_ways_to_be_malicious_hurt_no_other_member) {
    const work honest = run(HONEST);
    assert_int_equal(honest.gone_tick, 0);
    for (way how = NEVER_ACKS; how < WAYS; how++) {
        work of = run(how);
        printf("way %u: gone after %u ticks, decoded %u\n", how, of.gone_tick,
               (uint32_t)of.decoded);
        assert_in_range(of.gone_tick, 1, GONE_S_MAX * TICKS_PER_SECOND);
        assert_true(of.memory_most <= honest.memory_most + MEMORY_BYTES_MAX);
        // What the server reads of it: the limits of a client that plays, and one burst.
        assert_true(of.decoded <= 5 * honest.decoded + 300);
        // The others get as much as beside an honest member; the world differs a little.
        assert_true(of.packets_for_all * 10 >= honest.packets_for_all * 9);
        assert_true(of.packets_for_all * 10 <= honest.packets_for_all * 11);
        assert_true(of.bytes_for_all * 10 <= honest.bytes_for_all * 11);
        if (how == COMES_AND_GOES)
            assert_true(of.joins <= 3 + NET_SESSIONS_MAX +
                                        SECONDS * 1000 * NET_SESSIONS_MAX / NET_SESSIONS_WINDOW_MS);
    }
}

// ---- resends

static table_tap resending;
static uint64_t resent_bytes;

// As if the first peer acknowledged no control message: its window is sent again in every tick.
static uint64_t with_resends(const net_transport* transport, net_peer peer) {
    return (peer & (NET_PEER_SLOTS - 1)) == 0 ? resent_bytes : 0;
}

static net_transport* wrap_resending(net_transport* transport) {
    table_tap_set(&resending, transport);
    resending.ops.peer_sent_bytes = with_resends;
    return transport;
}

// Bytes below the transport are charged to the client that causes them.
TABLE_CASE(resends_are_charged_to_the_rate_of_their_client, .seed = 8, .quiet = 1e9,
           .wrap = wrap_resending) {
    resent_bytes = 0;
    raw_client* heavy = table_guest(at);
    raw_client* light = table_guest(at);
    uint64_t bytes[2] = {heavy->state_bytes, light->state_bytes};
    for (uint32_t tick = 0; tick < 10 * TICKS_PER_SECOND; tick++) {
        resent_bytes += 5000; // 300 KB a second: more than the highest rate
        table_run_politely(at, 1);
    }
    bytes[0] = heavy->state_bytes - bytes[0];
    bytes[1] = light->state_bytes - bytes[1];
    assert_true(bytes[0] < bytes[1] / 3);
    // It gets a little all the time, and it acknowledges that: it is a member.
    assert_true(heavy->states > 10 * 3);
    assert_int_equal(table_report(at, heavy->client)->end, NET_END_NONE);
}
