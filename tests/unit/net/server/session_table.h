// SPDX-License-Identifier: MIT
/// Shared code for the session tests: a server with the test game, clients, and raw clients. They
/// talk over the simulated network in virtual time. The memory is counted.
#pragma once

#include <stdio.h>
#include <string.h>

#include "test.h"
#include "match_made.h"

#include "raw_client.h"
#include "scarce.h"
#include "swarm.h"

#include "net/client.h"
#include "net/explain.h"
#include "net/transport.h"
#include "net/log.h"
#include "net/match.h"
#include "net/server.h"
#include "net/solo.h"

#define TABLE_TICK_US 16667u
#ifndef TABLE_SEATS
#define TABLE_SEATS 6u
#endif
#define TICKS_PER_SECOND 60u

/// One client of this project (not a raw client).
typedef struct table_seat {
    scarce_memory memory;
    net_match* match;
    net_transport* transport;
    net_client* client;
} table_seat;

typedef struct table_config {
    uint64_t seed;
    uint32_t clients_max, clients_min; ///< 0: TABLE_SEATS and 0
    uint32_t spectators_max;
    ecs_tick ticks_max;
    double quiet;                ///< a setting of the test game; 0: nothing ever changes
    const net_game_module* game; ///< NULL: the test game unchanged
    const char* templates;       ///< NULL: the templates of the test game
    uint32_t send_divisor, rate_bytes_max;
    net_secret_fn secret; ///< NULL: chance
    bool is_threaded;
    uint32_t lanes; ///< of the transport; 0: one
    bool has_accounts;
    bool has_solo;              ///< of clients
    bool has_no_solo;           ///< of the server
    uint64_t (*clock_us)(void); ///< NULL: no part of a tick is measured
    net_coder coder;
    uint32_t clients_per_address_max;
    net_bans* bans;
    const char* log_file; ///< NULL: the server writes no log
    bool is_log_manual;   ///< it takes controls, and the case pumps it
    uint32_t log_segment_s;
    /// server_trace: for the server; seat_trace: for every client.
    net_trace_fn server_trace, seat_trace;
    void* server_trace_context;
    void* seat_trace_context;
    net_transport* (*wrap)(
        net_transport* transport); ///< replaces the transport of the server; NULL: no replacement
} table_config;

/// What a side printed, a line each. It is kept up to its room and counted beyond.
typedef struct table_said {
    base_reporter reporter;
    uint32_t lines;
    size_t size;
    char text[32768];
} table_said;

typedef struct table {
    table_config config;
    table_said said, seats_said; ///< of the server, and of all clients
    scarce_memory memory;
    net_module* module;
    net_match* match;
    net_sim* sim;
    net_transport* transport;
    net_server* server;
    net_log_writer* log;
    table_seat seats[TABLE_SEATS];
    uint32_t seat_count;
    raw_client raw_clients[TABLE_SEATS];
    uint32_t raw_client_count;
    uint64_t now_us;
} table;

static inline void table_say(void* context, const char* file, uint32_t line, const char* text) {
    table_said* said = context;
    (void)file, (void)line;
    said->lines++;
    if (said->size + strlen(text) + 2 > sizeof said->text) return;
    said->size +=
        (size_t)snprintf(said->text + said->size, sizeof said->text - said->size, "%s\n", text);
}

/// How many times these words were printed.
static inline uint32_t table_heard(const table_said* said, const char* words) {
    uint32_t count = 0;
    for (const char* at = strstr(said->text, words); at; at = strstr(at + 1, words))
        count++;
    return count;
}

static inline void table_open(table* at, table_config config) {
    memset(at, 0, sizeof *at);
    at->said.reporter = (base_reporter){table_say, &at->said};
    at->seats_said.reporter = (base_reporter){table_say, &at->seats_said};
    scarce_init(&at->memory, 0, false);
    at->config = config;
    base_reporter reporter = base_reporter_stderr();
    assert_ok(net_module_wrap(config.game ? config.game : swarm_module_get(),
                              config.templates ? config.templates : swarm_templates(), "swarm.blk",
                              &reporter, &at->module));
    at->match = match_made(at->module, (match_wanted){.allocator = &at->memory.allocator,
                                                      .seed = config.seed,
                                                      .setting = &config.quiet});
    assert_ok(net_sim_create(NULL, config.seed, &at->sim));
    assert_ok(net_sim_server(at->sim, 4 * TABLE_SEATS, &at->transport));
    if (config.lanes) net_sim_lanes_set(at->transport, config.lanes);
    net_log_options log = net_log_options_default();
    log.is_manual = log.has_controls = true;
    log.segments.seconds_max = config.log_segment_s;
    if (config.is_log_manual)
        assert_ok(net_log_writer_create_as(NULL, config.log_file, &log, at->match, "test", 0,
                                           &reporter, &at->log));
    else if (config.log_file)
        assert_ok(net_log_writer_create(NULL, config.log_file, at->match, "test", 0, &reporter,
                                        &at->log));
    net_server_config server = {
        .allocator = &at->memory.allocator,
        .match = at->match,
        .transport = config.wrap ? config.wrap(at->transport) : at->transport,
        .observer = net_log_observer(at->log),
        .clients_per_address_max = config.clients_per_address_max,
        .bans = config.bans,
        .clients_max = config.clients_max ? config.clients_max : TABLE_SEATS,
        .clients_min = config.clients_min,
        .spectators_max = config.spectators_max,
        .coder = config.coder,
        .solo = config.has_no_solo ? NULL : &net_solo_part,
        .ticks_max = config.ticks_max,
        .reporter = &at->said.reporter,
        .send_divisor = config.send_divisor,
        .secret = config.secret,
        .rate_bytes_max = config.rate_bytes_max,
        .is_threaded = config.is_threaded,
        .tap = config.has_accounts ? &net_account_tap : &net_explain_tap,
        .session_trace = config.server_trace,
        .session_trace_context = config.server_trace_context,
        .clock_us = config.clock_us,
    };
    assert_ok(net_server_create(&server, &at->server));
    at->now_us = 1000000;
}

/// Add a client with its own module. It begins to connect with the next step.
static inline table_seat* table_sit_in(table* at, const net_module* module,
                                       const net_link_config* link, const char* name,
                                       bool is_spectator) {
    static const net_link_config QUIET = {.delay_ms = 5};
    assert_true(at->seat_count < TABLE_SEATS);
    table_seat* seat = &at->seats[at->seat_count++];
    scarce_init(&seat->memory, 0, false);
    if (module) {
        seat->match = match_made(
            module, (match_wanted){.allocator = &seat->memory.allocator, .is_mirror = true});
    }
    assert_ok(net_sim_client(at->sim, link ? link : &QUIET, &seat->transport));
    net_client_config client = {
        .allocator = &seat->memory.allocator,
        .match = seat->match,
        .transport = seat->transport,
        .address = "sim",
        .name = name,
        .solo = at->config.has_solo ? &net_solo_part : NULL,
        .is_bot = !is_spectator,
        .is_spectator = is_spectator,
        .reporter = &at->seats_said.reporter,
        .seed = at->seat_count,
        .session_trace = at->config.seat_trace,
        .session_trace_context = at->config.seat_trace_context,
    };
    assert_ok(net_client_create(&client, &seat->client));
    return seat;
}

static inline table_seat* table_sit_as(table* at, const net_module* module,
                                       const net_link_config* link, const char* name) {
    return table_sit_in(at, module, link, name, false);
}

static inline table_seat* table_watch(table* at, const net_link_config* link) {
    return table_sit_in(at, at->module, link, "watcher", true);
}

static inline table_seat* table_sit(table* at, const net_link_config* link) {
    return table_sit_as(at, at->module, link, "member");
}

/// Add a raw client.
static inline raw_client* table_raw_client(table* at) {
    static const net_link_config QUIET = {.delay_ms = 5};
    assert_true(at->raw_client_count < TABLE_SEATS);
    raw_client* raw = &at->raw_clients[at->raw_client_count++];
    net_transport* transport = NULL;
    assert_ok(net_sim_client(at->sim, &QUIET, &transport));
    raw_client_open(raw, transport);
    return raw;
}

/// Wait until the thread of the server is done: only one thread at a time may use the simulated
/// network.
static inline void table_wait_sent(table* at) {
    (void)net_server_wait_sent(at->server, UINT64_MAX);
}

static inline void table_step(table* at) {
    at->now_us += TABLE_TICK_US;
    net_server_service(at->server, at->now_us);
    net_server_tick(at->server, at->now_us);
    table_wait_sent(at);
    for (uint32_t i = 0; i < at->seat_count; i++) {
        net_client_service(at->seats[i].client, at->now_us);
        net_client_tick(at->seats[i].client, at->now_us);
    }
    for (uint32_t i = 0; i < at->raw_client_count; i++)
        raw_client_service(&at->raw_clients[i], at->now_us);
}

static inline void table_run(table* at, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++)
        table_step(at);
}

static inline uint64_t table_schema(const table* at) {
    return net_schema_hash(net_match_schema(at->match));
}

/// Let a raw client connect, if it can.
static inline bool table_connect(table* at, raw_client* raw) {
    for (uint32_t i = 0; i < 20 && !raw->is_connected && !raw->is_gone; i++)
        table_step(at);
    return raw->is_connected;
}

/// Add a raw client that joined with a valid hello.
static inline raw_client* table_guest(table* at) {
    raw_client* raw = table_raw_client(at);
    (void)table_connect(at, raw);
    raw_client_hello(raw, NET_PROTOCOL_VERSION, table_schema(at), "swarm", "guest");
    for (uint32_t i = 0; i < 20 && raw->states == 0; i++)
        table_step(at);
    assert_true(raw->is_welcome);
    return raw;
}

/// Let a raw client forget its last connection, so that it connects once more.
static inline void table_again(raw_client* raw) {
    raw->peer = 0;
    raw->is_connected = raw->is_gone = raw->is_welcome = raw->is_refused = raw->is_asked = false;
    raw->states = 0;
}

/// Run until all clients have ended, at most `ticks`.
static inline void table_run_out(table* at, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        bool is_over = net_server_get_phase(at->server) == NET_SERVER_ENDED;
        for (uint32_t k = 0; k < at->seat_count; k++)
            is_over = is_over && net_client_get_phase(at->seats[k].client) == NET_CLIENT_ENDED;
        if (is_over) return;
        table_step(at);
    }
}

static inline const net_peer_report* table_report(const table* at, uint32_t client) {
    for (uint32_t i = 0; i < net_server_report_count(at->server); i++) {
        const net_peer_report* report = net_server_report(at->server, i);
        if (report->client == client) return report;
    }
    fail_msg("no report of client %u", client);
    return NULL;
}

/// Every client of ours ended with a goodbye, and what it has is what the server gave it.
static inline void table_agrees(const table* at) {
    for (uint32_t i = 0; i < at->seat_count; i++) {
        net_client_report report = net_client_get_report(at->seats[i].client);
        assert_int_equal(report.end, NET_CLIENT_END_GOODBYE);
        const net_peer_report* peer = table_report(at, report.client);
        assert_int_equal(peer->end, NET_END_GOODBYE);
        assert_true(peer->is_caught_up);
        assert_int_equal(peer->tick, report.tick);
        assert_true(peer->scope.hash == report.scope.hash);
        assert_int_equal(peer->scope.entities, report.scope.entities);
        assert_int_equal(peer->scope.components, report.scope.components);
        assert_int_equal(report.loading, 0);
        assert_int_equal(report.bad_transitions, 0);
        assert_int_equal(report.packets_malformed, 0);
    }
}

/// What the server dropped so far for this reason.
static inline uint64_t table_dropped(const table* at, net_drop reason) {
    uint64_t dropped[NET_DROP_COUNT];
    net_server_dropped(at->server, dropped);
    return dropped[reason];
}

static inline void table_close(table* at) {
    for (uint32_t i = 0; i < at->seat_count; i++) {
        table_seat* seat = &at->seats[i];
        net_client_destroy(seat->client);
        seat->transport->ops->destroy(seat->transport);
        if (seat->match) net_match_destroy(seat->match);
        assert_int_equal(seat->memory.bytes, 0);
    }
    for (uint32_t i = 0; i < at->raw_client_count; i++) {
        raw_client_close(&at->raw_clients[i]);
        at->raw_clients[i].transport->ops->destroy(at->raw_clients[i].transport);
    }
    if (at->log) assert_ok(net_log_writer_destroy(at->log));
    net_server_destroy(at->server);
    at->transport->ops->destroy(at->transport);
    net_sim_destroy(at->sim);
    net_match_destroy(at->match);
    net_module_close(at->module);
    assert_int_equal(at->memory.bytes, 0);
}

/// Register the systems of the test game, and one more that the server runs in the stage "act".
static inline ecs_result table_register(ecs_world* world, void** context,
                                        const base_reporter* reporter, const char* name,
                                        ecs_system_fn run) {
    static const char* const SERVER[] = {"server"};
    ecs_result result = swarm_module_get()->register_systems(world, context, reporter);
    const ecs_system_desc desc = {.name = name,
                                  .stage = "act",
                                  .run = run,
                                  .tags = SERVER,
                                  .tag_count = 1,
                                  .context = *context};
    return result == ECS_OK ? ecs_system_register(world, &desc) : result;
}

/// Let some calls of a transport pass through others: tap->ops is a copy to change, tap->below has
/// the calls that are replaced.
typedef struct table_tap {
    net_transport_ops ops;
    const net_transport_ops* below;
} table_tap;

static inline void table_tap_set(table_tap* tap, net_transport* transport) {
    tap->below = transport->ops;
    tap->ops = *transport->ops;
    transport->ops = &tap->ops;
}

/// A case with a table of this config: TABLE_CASE(name, .seed = 1).
#define TABLE_CASE(name, ...)                                                                      \
    CASE_WITH(table, at, table_open(at, (table_config){__VA_ARGS__}), table_close(at), name)
/// The same with a raw client that joined.
#define GUEST_CASE(name, ...)                                                                      \
    CASE_GIVEN(table, at, table_open(at, (table_config){__VA_ARGS__}), table_close(at),            \
               raw_client*, raw, table_guest(at), name)
