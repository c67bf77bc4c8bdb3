// SPDX-License-Identifier: MIT
// Any sequence of public calls on a server and two clients of ours, over the simulated network:
// services without ticks, ticks without services, time that stands still or jumps, clients that
// leave, go and come at any moment, the end at any moment.
//
// An input is {u8 config} and a list of records {u8 operation, u8 argument}. Left out is what the
// contracts assert: wrong roles, a clock that goes back, messages that the module does not have.
//
// Invariants for any input: nothing aborts; neither side ever sees a malformed message, because
// both are ours; no more clients than places; after the end of the server every session is over;
// every byte comes back.
#include "match_stage.h"

#include "net/explain.h"

enum { CLIENTS = 2, END_TICKS_MAX = 500 };
#define BYTES_MAX ((size_t)256 << 20)

typedef struct seat {
    net_match* match;
    net_presenter* presenter;
    net_transport* transport;
    net_client* client;
} seat;

typedef struct stage {
    base_quota memory;
    net_module* module;
    net_sim* sim;
    net_match *match, *like; // like: all mirrors have its schema
    net_transport* transport;
    net_server* server;
    seat seats[CLIENTS];
    uint64_t now_us;
    uint32_t ticks;
    uint8_t config;
} stage;

static void open_seat(stage* at, seat* one) {
    static const net_link_config links[] = {
        {.delay_ms = 1},
        {.delay_ms = 60, .jitter_ms = 40, .loss_percent = 20, .reorder_percent = 5}};
    one->match = stage_match(at->module, NET_ROLE_MIRROR, &at->memory.allocator, at->like);
    if (at->config & 1) one->presenter = stage_presenter(at->module, &at->memory.allocator);
    one->transport = net_sim_client(at->sim, &links[at->config >> 1 & 1]);
    const net_client_config client = {.allocator = &at->memory.allocator,
                                      .match = one->match,
                                      .transport = one->transport,
                                      .address = "sim",
                                      .is_bot = true,
                                      .presenter = one->presenter,
                                      .rate_bytes_max = at->config & 4 ? 20000 : 0};
    one->client = net_client_create(&client);
}

static void close_seat(seat* one) {
    const net_client_report report = net_client_get_report(one->client);
    FUZZ_CHECK(report.dropped[NET_DROP_MALFORMED] == 0 && report.bad_transitions == 0);
    net_client_destroy(one->client);
    net_presenter_destroy(one->presenter);
    net_match_destroy(one->match);
    one->transport->ops->destroy(one->transport);
    *one = (seat){0};
}

static void open_server(stage* at) {
    at->match = stage_match(at->module, NET_ROLE_SERVER, &at->memory.allocator, NULL);
    FUZZ_CHECK(net_sim_server(at->sim, 2 * CLIENTS, &at->transport) == NET_OK);
    const net_server_config server = {.allocator = &at->memory.allocator,
                                      .match = at->match,
                                      .transport = at->transport,
                                      .clients_max = at->config & 8 ? 1 : CLIENTS,
                                      .clients_min = at->config & 16 ? 1 : 0,
                                      .ticks_max = at->config & 32 ? 40 : 0,
                                      .send_divisor = at->config & 64 ? 3 : 0,
                                      .tap = at->config >> 7 ? &net_account_tap : NULL};
    FUZZ_CHECK(net_server_create(&server, &at->server) == NET_OK);
}

static void begin(stage* at, uint8_t config) {
    *at = (stage){.config = config, .now_us = 1000000};
    base_quota_init(&at->memory, NULL, BYTES_MAX);
    at->module = stage_module();
    at->sim = net_sim_create(&at->memory.allocator, 1);
    open_server(at);
    at->like = stage_match(at->module, NET_ROLE_MIRROR, &at->memory.allocator, NULL);
    for (uint32_t i = 0; i < CLIENTS; i++)
        open_seat(at, &at->seats[i]);
}

static void tick_all(stage* at, uint32_t us) {
    at->ticks++;
    at->now_us += us;
    net_server_service(at->server, at->now_us);
    net_server_tick(at->server, at->now_us);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        net_client_service(at->seats[i].client, at->now_us);
        net_client_tick(at->seats[i].client, at->now_us);
        if (at->seats[i].presenter) (void)net_presenter_frame(at->seats[i].presenter, at->now_us);
    }
}

static void read_figures(stage* at, const seat* one) {
    net_client_meter meter;
    net_client_get_meter(one->client, &meter);
    char text[16];
    (void)net_client_refusal(one->client, text, sizeof text);
    (void)net_client_player_name(one->client, at->now_us & 3);
    (void)net_client_next_tick_us(one->client);
    FUZZ_CHECK((net_client_get_end(one->client) != NET_CLIENT_END_NONE) ||
               net_client_get_phase(one->client) != NET_CLIENT_ENDED);
    uint64_t dropped[NET_DROP_COUNT];
    net_server_dropped(at->server, dropped);
    FUZZ_CHECK(dropped[NET_DROP_MALFORMED] == 0);
    for (uint32_t i = 0; i < net_server_report_count(at->server); i++)
        FUZZ_CHECK(net_server_report(at->server, i)->client != 0);
    FUZZ_CHECK(net_server_get_counters(at->server)->clients <= CLIENTS);
}

static void send_event(const seat* one, uint8_t argument) {
    const uint32_t number = argument; // a shout; the module counts those that do not follow
    net_result result = net_client_send_event(one->client, 4, &number);
    FUZZ_CHECK(result == NET_OK || result == NET_ERR_CLOSED || result == NET_ERR_FULL);
    FUZZ_CHECK(result != NET_OK || net_client_get_phase(one->client) == NET_CLIENT_PLAYING);
}

static void run(stage* at, uint8_t operation, uint8_t argument) {
    seat* one = &at->seats[argument % CLIENTS];
    switch (operation % 14) {
    case 0:
        at->now_us += (uint64_t)argument * argument * 100; // up to 6.5 s
        break;
    case 1:
        net_server_service(at->server, at->now_us);
        break;
    case 2:
        net_server_tick(at->server, at->now_us);
        break;
    case 3:
        net_client_service(one->client, at->now_us);
        break;
    case 4:
        net_client_tick(one->client, at->now_us);
        break;
    case 5:
        if (one->presenter) (void)net_presenter_frame(one->presenter, at->now_us);
        break;
    case 6:
        send_event(one, argument);
        break;
    case 7:
        net_client_leave(one->client, at->now_us);
        break;
    case 8:
        if (argument < 64) break;
        close_seat(one); // in any phase, without a word
        open_seat(at, one);
        break;
    case 9:
        if (argument > 200) net_server_stop(at->server, at->now_us);
        break;
    case 10:
        read_figures(at, one);
        break;
    default:
        for (uint32_t i = 0; i < argument % 8u; i++)
            tick_all(at, STAGE_TICK_US);
        break;
    }
}

static void end(stage* at) {
    net_server_stop(at->server, at->now_us);
    bool is_over = false;
    for (uint32_t left = END_TICKS_MAX; left > 0 && !is_over; left--) {
        tick_all(at, STAGE_END_US);
        is_over = net_server_get_phase(at->server) == NET_SERVER_ENDED;
        for (uint32_t i = 0; i < CLIENTS; i++)
            is_over = is_over && net_client_get_phase(at->seats[i].client) == NET_CLIENT_ENDED;
    }
    FUZZ_CHECK(is_over);
    FUZZ_CHECK(net_server_get_counters(at->server)->clients == 0);
    read_figures(at, &at->seats[0]);
    for (uint32_t i = 0; i < CLIENTS; i++)
        close_seat(&at->seats[i]);
    net_server_destroy(at->server);
    net_match_destroy(at->like);
    net_match_destroy(at->match);
    at->transport->ops->destroy(at->transport);
    net_sim_destroy(at->sim);
    net_module_close(at->module);
    FUZZ_CHECK(at->memory.used_bytes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    stage at;
    begin(&at, size > 0 ? data[0] : 0);
    for (size_t i = 0; i < STAGE_RECORDS_MAX && 2 * i + 3 <= size && at.ticks < STAGE_TICKS_MAX;
         i++)
        run(&at, data[2 * i + 1], data[2 * i + 2]);
    end(&at);
    return 0;
}
