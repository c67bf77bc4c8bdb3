// SPDX-License-Identifier: MIT
/// Shared code for the session tests: a server with the test game, clients, and raw clients. They
/// talk in virtual time, over the simulated network or by ENet over the virtual wire. The memory is
/// counted.
#pragma once

#include "log/log_files.h"
#include "heard.h"
#include "match_made.h"

#include "raw_client.h"
#include "scarce.h"
#include "swarm.h"

#include "net/client.h"
#include "net/explain.h"
#include "net/server.h"
#include "net/solo.h"
#include "virtual_wire.h"

#define TABLE_TICK_US 16667u
#ifndef TABLE_SEATS
#define TABLE_SEATS 6u
#endif
#define TICKS_PER_SECOND 60u
#define TABLE_ADDRESS "127.0.0.1:7777"

static const net_link_config QUIET_LINK = {.delay_ms = 5};
static const net_link_config DEAD_LINK = {.loss_percent = 100, .delay_ms = 5};

/// One client of this project (not a raw client).
typedef struct table_seat {
    scarce_memory memory;
    net_match* match;
    net_transport* transport;
    net_client* client;
} table_seat;

typedef struct table_config {
    net_server_config server; ///< what is not below; the table owns its bans; step_context: a table
    uint64_t seed;
    uint32_t clients_max, clients_min; ///< 0: TABLE_SEATS and 0
    uint32_t spectators_max;
    uint32_t seats, watchers, raws; ///< that sit down at once; raw ones only connect
    uint32_t steps;                 ///< before the case begins
    const net_link_config* link;    ///< of these clients; NULL: QUIET_LINK
    ecs_tick ticks_max;
    double quiet;                ///< a setting of the test game; 0: nothing ever changes
    const net_game_module* game; ///< NULL: the test game unchanged
    const char* templates;       ///< NULL: the templates of the test game
    ecs_system_fn act;           ///< runs in the stage "act" of the server too; NULL: none
    void (*start)(ecs_world* world, void* context,
                  const net_game_start* start); ///< NULL: the game's
    bool is_hosted;                             ///< the match
    bool is_threaded;
    uint32_t lanes; ///< of the transport; 0: one
    bool has_accounts;
    bool has_solo;      ///< of clients
    bool has_no_solo;   ///< of the server
    bool has_log;       ///< in a folder of its own
    bool is_log_manual; ///< it takes controls, and the case pumps it
    uint64_t log_identity;
    uint32_t log_segment_s;
    net_trace_fn seat_trace; ///< of every client
    void* seat_trace_context;
    net_transport* (*wrap)(
        net_transport* transport); ///< replaces the transport of the server; NULL: no replacement
    bool is_enet;                  ///< the server is at TABLE_ADDRESS
    net_security security;         ///< of ENet
    uint32_t peers_per_address_max;
} table_config;

typedef struct table {
    table_config config;
    heard said, seats_said; ///< of the server, and of all clients
    scarce_memory memory;
    log_files files;
    net_game_module game;
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

static ecs_system_fn table_act; ///< of the table that was opened last

static inline ecs_result table_register(ecs_world* world, void** context,
                                        const base_reporter* reporter) {
    static const char* const SERVER[] = {"server"};
    ecs_result result = swarm_module_get()->register_systems(world, context, reporter);
    const ecs_system_desc desc = {.name = "act_es",
                                  .stage = "act",
                                  .run = table_act,
                                  .tags = SERVER,
                                  .tag_count = 1,
                                  .context = *context};
    return result == ECS_OK ? ecs_system_register(world, &desc) : result;
}

/// A table_config.act: in tick 100 the match is another one.
static inline void table_disturb(const ecs_stage* stage, const ecs_rows* rows) {
    if (stage->tick == 100)
        (void)ecs_command_create(stage->world, ecs_template_find(stage->world, "mote"), NULL, 0);
}

/// All but the match and its server.
static inline void table_prepare(table* at, table_config config) {
    memset(at, 0, sizeof *at);
    (void)heard_begin(&at->said);
    (void)heard_begin(&at->seats_said);
    scarce_init(&at->memory);
    at->config = config;
    at->now_us = 1000000;
    at->game = config.game ? *config.game : *swarm_module_get();
    if (config.act) at->game.register_systems = table_register;
    if (config.act) table_act = config.act;
    if (config.start) at->game.start = config.start;
    assert_ok(net_module_wrap(&at->game, config.templates ? config.templates : swarm_templates(),
                              "swarm.blk", test_reporter(), &at->module));
    if (config.has_log) files_open(&at->files);
    if (!config.is_enet) at->sim = net_sim_create(NULL, config.seed);
    if (!config.is_enet) return;
    wire_set(true, config.seed);
    net_socket_link_set(NULL);
    wire_advance(at->now_us);
}

/// Listen at this address, and be a server of the match. Each result is the first that is not OK.
static inline net_result table_listen(table* at, const char* listen) {
    const table_config* config = &at->config;
    const net_enet_config enet = {.listen = listen,
                                  .peers_max = 4 * TABLE_SEATS,
                                  .peers_per_address_max = config->peers_per_address_max,
                                  .security = config->security};
    net_result result = config->is_enet ? net_transport_enet_create(&enet, &at->transport)
                                        : net_sim_server(at->sim, 4 * TABLE_SEATS, &at->transport);
    if (result != NET_OK) return result;
    if (config->lanes) net_sim_lanes_set(at->transport, config->lanes);
    net_server_config server = config->server;
    server.allocator = &at->memory.allocator;
    server.match = at->match;
    server.transport = config->wrap ? config->wrap(at->transport) : at->transport;
    server.observer = net_log_observer(at->log);
    server.clients_max = config->clients_max ? config->clients_max : TABLE_SEATS;
    server.clients_min = config->clients_min;
    server.spectators_max = config->spectators_max;
    server.solo = config->has_no_solo ? NULL : &net_solo_part;
    server.ticks_max = config->ticks_max;
    server.reporter = &at->said.reporter;
    server.is_threaded = config->is_threaded;
    server.tap = config->has_accounts ? &net_account_tap : &net_explain_tap;
    server.step_context = at;
    return net_server_create(&server, &at->server);
}

/// Begin the log of the match, and serve it.
static inline void table_serve(table* at) {
    net_log_options log = net_log_options_default();
    log.is_manual = log.has_controls = at->config.is_log_manual;
    log.identity = at->config.log_identity;
    log.segments.seconds_max = at->config.log_segment_s;
    if (at->config.has_log)
        assert_ok(net_log_writer_create(NULL, at->files.log, &log, at->match, "test", 0,
                                        test_reporter(), &at->log));
    assert_ok(table_listen(at, TABLE_ADDRESS));
}

/// End the server; the clients stay.
static inline void table_stop(table* at) {
    net_server_destroy(at->server);
    if (at->transport) at->transport->ops->destroy(at->transport);
    at->server = NULL;
    at->transport = NULL;
}

/// The transport of a client by ENet. With keys it has a token, which names this player.
static inline net_result seat_line(const net_key_ring* keys, uint64_t player,
                                   net_transport** made) {
    const net_token_claims claims = {.player_id = player, .expiry_unix_s = UINT64_C(1) << 40};
    net_enet_config enet = {.peers_max = 1};
    net_token token;
    if (keys && keys->count > 0) {
        assert_ok(net_token_make(&keys->keys[0], &claims, net_entropy_system(), &token));
        enet.security.token = &token;
    }
    return net_transport_enet_create(&enet, made);
}

/// Give a seat that has a transport a client; `module` NULL: one that asks for the server's game.
static inline net_result seat_meet(table_seat* seat, const net_module* module,
                                   net_client_config client) {
    if (!client.allocator) client.allocator = &seat->memory.allocator;
    client.transport = seat->transport;
    net_result result = NET_OK;
    if (module) {
        net_match_config match = net_match_config_default(module);
        match.allocator = client.allocator;
        match.role = NET_ROLE_MIRROR;
        result = net_match_create(&match, test_reporter(), &seat->match);
    }
    client.match = seat->match;
    if (result == NET_OK) seat->client = net_client_create(&client);
    return result;
}

/// Take its client away; the transport stays.
static inline void seat_part(table_seat* seat) {
    net_client_destroy(seat->client);
    net_match_destroy(seat->match);
    seat->client = NULL;
    seat->match = NULL;
    assert_int_equal(seat->memory.bytes, 0);
}

static inline void seat_close(table_seat* seat) {
    seat_part(seat);
    if (seat->transport) seat->transport->ops->destroy(seat->transport);
}

static inline void seats_step(table_seat* seats, uint32_t count, uint64_t now_us) {
    for (uint32_t i = 0; i < count; i++) {
        if (!seats[i].client) continue;
        net_client_service(seats[i].client, now_us);
        net_client_tick(seats[i].client, now_us);
    }
}

/// How the next client is made that sits down.
static inline net_client_config table_client(const table* at, const char* name) {
    return (net_client_config){
        .address = TABLE_ADDRESS,
        .name = name,
        .solo = at->config.has_solo ? &net_solo_part : NULL,
        .is_bot = true,
        .reporter = &at->seats_said.reporter,
        .seed = at->seat_count + 1,
        .session_trace = at->config.seat_trace,
        .session_trace_context = at->config.seat_trace_context,
    };
}

/// Give a seat its transport.
static inline net_result table_line(table* at, table_seat* seat, const net_link_config* link) {
    if (!at->config.is_enet) {
        seat->transport = net_sim_client(at->sim, link ? link : &QUIET_LINK);
        return NET_OK;
    }
    return seat_line(at->config.security.keys, at->seat_count, &seat->transport);
}

/// Add a client with its own module. It begins to connect with the next step.
static inline table_seat* table_sit_in(table* at, const net_module* module,
                                       const net_link_config* link, net_client_config client) {
    assert_true(at->seat_count < TABLE_SEATS);
    table_seat* seat = &at->seats[at->seat_count++];
    scarce_init(&seat->memory);
    assert_ok(table_line(at, seat, link));
    assert_ok(seat_meet(seat, module, client));
    return seat;
}

static inline table_seat* table_sit_as(table* at, const net_link_config* link, const char* name) {
    return table_sit_in(at, at->module, link, table_client(at, name));
}

static inline table_seat* table_watch(table* at, const net_link_config* link) {
    net_client_config client = table_client(at, "watcher");
    client.is_bot = false;
    client.is_spectator = true;
    return table_sit_in(at, at->module, link, client);
}

static inline table_seat* table_sit(table* at, const net_link_config* link) {
    return table_sit_as(at, link, "member");
}

/// Add a raw client.
static inline raw_client* table_raw_client(table* at) {
    assert_true(at->raw_client_count < TABLE_SEATS);
    raw_client* raw = &at->raw_clients[at->raw_client_count++];
    net_transport* transport = NULL;
    transport = net_sim_client(at->sim, &QUIET_LINK);
    raw_client_open(raw, transport);
    return raw;
}

/// Wait until the thread of the server is done: only one thread at a time may use the simulated
/// network.
static inline void table_wait_sent(table* at) {
    (void)net_server_wait_sent(at->server, UINT64_MAX);
}

/// A step in which the server runs so many ticks.
static inline void table_step_by(table* at, uint32_t ticks) {
    at->now_us += TABLE_TICK_US;
    if (at->config.is_enet) wire_advance(at->now_us);
    if (at->server) net_server_service(at->server, at->now_us);
    for (uint32_t i = 0; i < ticks && at->server; i++) {
        net_server_hurry(at->server, i + 1 < ticks); // as the loop of a program
        net_server_tick(at->server, at->now_us);
    }
    if (at->server) table_wait_sent(at);
    seats_step(at->seats, at->seat_count, at->now_us);
    for (uint32_t i = 0; i < at->raw_client_count; i++)
        raw_client_service(&at->raw_clients[i], at->now_us);
}

static inline void table_step(table* at) {
    table_step_by(at, 1);
}

static inline void table_run(table* at, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++)
        table_step(at);
}

static inline void table_open(table* at, table_config config) {
    table_prepare(at, config);
    at->match = match_made(at->module, (match_wanted){.allocator = &at->memory.allocator,
                                                      .seed = config.seed,
                                                      .is_hosted = config.is_hosted,
                                                      .setting = &config.quiet});
    table_serve(at);
    for (uint32_t i = 0; i < config.seats; i++)
        (void)table_sit(at, config.link);
    for (uint32_t i = 0; i < config.watchers; i++)
        (void)table_watch(at, config.link);
    for (uint32_t i = 0; i < config.raws; i++)
        (void)table_raw_client(at);
    table_run(at, config.steps);
}

/// A client sits down, and this many steps are run.
static inline table_seat* table_sit_for(table* at, uint32_t steps) {
    table_seat* seat = table_sit(at, NULL);
    table_run(at, steps);
    return seat;
}

/// A seat has this line, for so many steps and later.
static inline void table_line_for(table* at, uint32_t seat, const net_link_config* link,
                                  uint32_t steps) {
    net_sim_link_set(at->seats[seat].transport, link);
    table_run(at, steps);
}

/// After so many steps the server is in this phase.
static inline void table_runs_to(table* at, uint32_t steps, net_server_phase phase) {
    table_run(at, steps);
    assert_int_equal(net_server_get_phase(at->server), phase);
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

static inline void table_hello(const table* at, raw_client* raw, const char* name) {
    raw_client_hello(raw, NET_PROTOCOL_VERSION, table_schema(at), at->game.name, name);
}

/// Let a raw client connect, and join by a valid hello. @return is it welcome?
static inline bool table_join(table* at, raw_client* raw, const char* name) {
    if (!table_connect(at, raw)) return false;
    table_hello(at, raw, name);
    for (uint32_t i = 0; i < 20 && raw->states == 0 && !raw->is_refused && !raw->is_gone; i++)
        table_step(at);
    return raw->is_welcome;
}

static inline bool raw_joins(table* at, raw_client* raw) {
    return table_join(at, raw, "someone");
}

/// Add a raw client that joined.
static inline raw_client* table_guest(table* at) {
    raw_client* raw = table_raw_client(at);
    assert_true(table_join(at, raw, "guest"));
    return raw;
}

/// Let a raw client connect, and go on with the session of this secret, if it can.
static inline raw_client* table_resume(table* at, raw_client* raw, const void* secret,
                                       size_t size) {
    (void)table_connect(at, raw);
    raw_client_hello_again(raw, table_schema(at), at->game.name, secret, size);
    table_run(at, 10);
    return raw;
}

/// The connection of a raw client ends; `reason` 0: it is lost.
static inline void table_cut(raw_client* raw, uint32_t reason) {
    raw->transport->ops->disconnect(raw->transport, raw->peer, reason, true);
}

/// So many steps in which raw clients that joined send what honest clients send.
static inline void table_run_politely(table* at, uint32_t ticks) {
    for (uint32_t tick = 0; tick < ticks; tick++, table_step(at))
        for (uint32_t i = 0; i < at->raw_client_count; i++) {
            raw_client* raw = &at->raw_clients[i];
            if (raw->is_welcome && !raw->is_gone)
                raw_client_inputs(raw, raw_client_packet(raw), 0, 0, NULL, 0);
        }
}

/// Let a raw client forget its last connection, so that it connects once more.
static inline void table_again(raw_client* raw) {
    raw->peer = 0;
    raw->is_connected = raw->is_gone = raw->is_welcome = raw->is_refused = raw->is_asked = false;
    raw->states = 0;
}

/// The server and all clients have ended.
static inline bool table_is_over(const table* at) {
    bool is_over = net_server_get_phase(at->server) == NET_SERVER_ENDED;
    for (uint32_t i = 0; i < at->seat_count && is_over; i++)
        is_over =
            !at->seats[i].client || net_client_get_phase(at->seats[i].client) == NET_CLIENT_ENDED;
    return is_over;
}

static inline void table_run_out(table* at, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks && !table_is_over(at); i++)
        table_step(at);
}

/// The server's report of a client; there must be one.
static inline const net_peer_report* server_report_of(const net_server* server, uint32_t client) {
    for (uint32_t i = 0; i < net_server_report_count(server); i++)
        if (net_server_report(server, i)->client == client) return net_server_report(server, i);
    fail_msg("no report of client %u", client);
    return NULL;
}

static inline const net_peer_report* table_report(const table* at, uint32_t client) {
    return server_report_of(at->server, client);
}

/// A client was refused for this reason (0: any), in these words.
static inline void seat_refused(const table_seat* seat, uint32_t reason, const char* words) {
    char text[256] = "";
    assert_int_equal(net_client_get_end(seat->client), NET_CLIENT_END_REFUSED);
    const uint32_t given = (uint32_t)net_client_refusal(seat->client, text, sizeof text);
    if (reason) assert_int_equal(given, reason);
    if (!strstr(text, words)) fail_msg("\"%s\" does not say \"%s\"", text, words);
}

/// The same of a raw client.
static inline void raw_refused(const raw_client* raw, uint32_t reason, const char* words) {
    assert_true(raw->is_refused && !raw->is_welcome);
    assert_int_equal(raw->refused_reason, reason);
    if (!strstr(raw->refused_text, words)) fail_msg("\"%s\"", raw->refused_text);
}

static inline bool seat_plays(const table_seat* seat) {
    return net_client_get_phase(seat->client) == NET_CLIENT_PLAYING;
}

/// All clients play.
static inline void table_plays(const table* at) {
    for (uint32_t i = 0; i < at->seat_count; i++)
        if (!seat_plays(&at->seats[i])) fail_msg("seat %u does not play", i);
}

/// The match ended. These clients did with a goodbye, and what they have is what the server gave
/// them.
static inline void seats_agree(const net_server* server, const table_seat* seats, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        net_client_report report = net_client_get_report(seats[i].client);
        assert_int_equal(report.end, NET_CLIENT_END_GOODBYE);
        const net_peer_report* peer = server_report_of(server, report.client);
        assert_int_equal(peer->end, NET_END_GOODBYE);
        assert_true(peer->is_caught_up);
        assert_int_equal(peer->tick, report.tick);
        assert_true(peer->scope.hash == report.scope.hash);
        assert_int_equal(peer->scope.entities, report.scope.entities);
        assert_int_equal(peer->scope.components, report.scope.components);
        assert_int_equal(report.loading, 0);
        assert_int_equal(report.bad_transitions, 0);
        assert_int_equal(report.dropped[NET_DROP_MALFORMED], 0);
        assert_false(report.differs);
    }
}

static inline void table_agrees(const table* at) {
    seats_agree(at->server, at->seats, at->seat_count);
}

/// Run until all clients have ended, at most `ticks`: they have what the server has.
static inline void table_ends(table* at, uint32_t ticks) {
    table_run_out(at, ticks);
    table_agrees(at);
}

static inline const net_server_counters* table_counters(const table* at) {
    return net_server_get_counters(at->server);
}

/// What the server dropped so far for this reason.
static inline uint64_t table_dropped(const table* at, net_drop reason) {
    uint64_t dropped[NET_DROP_COUNT];
    net_server_dropped(at->server, dropped);
    return dropped[reason];
}

static inline void table_end_log(table* at) {
    if (!at->log) return;
    net_log_append_close(at->log, at->match);
    assert_ok(net_log_writer_destroy(at->log));
    at->log = NULL;
}

/// The log in this file is closed, and runs again to the state of the match.
static inline net_verify_result log_verify(const char* file, const net_module* module,
                                           net_match* match) {
    net_log_reader* reader = files_reader(file);
    const net_verify_result result = files_verify(reader, module, NET_OK);
    assert_true(net_log_reader_info(reader)->is_closed);
    assert_true(result.state_hash == ecs_world_state_hash(net_match_world(match)));
    net_log_reader_destroy(reader);
    return result;
}

/// End the log of the match: it runs again.
static inline net_verify_result table_verify(table* at) {
    table_end_log(at);
    return log_verify(at->files.log, at->module, at->match);
}

static inline void table_close(table* at) {
    for (uint32_t i = 0; i < at->seat_count; i++)
        seat_close(&at->seats[i]);
    for (uint32_t i = 0; i < at->raw_client_count; i++) {
        raw_client_close(&at->raw_clients[i]);
        at->raw_clients[i].transport->ops->destroy(at->raw_clients[i].transport);
    }
    if (at->log) assert_ok(net_log_writer_destroy(at->log));
    table_stop(at);
    net_sim_destroy(at->sim);
    net_match_destroy(at->match);
    net_module_close(at->module);
    base_owner_destroy(at->config.server.bans);
    if (at->config.is_enet) net_socket_link_set(NULL);
    if (at->config.is_enet) wire_set(false, 0);
    if (at->config.has_log) files_close(&at->files);
    assert_int_equal(at->memory.bytes, 0);
}

/// A secret that another server of the match makes too.
static inline void table_secret(void* context, uint32_t client, void* bytes, size_t size) {
    memset(bytes, (int)(client * 7 & 0xff), size);
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

/// A case for each row: it is run `count` times, with a table and the number of the row: `i`.
#define TABLE_ROWS(name, i, count, ...)                                                            \
    CASE_ROWS(table, at, table_open(at, (table_config){__VA_ARGS__}), table_close(at), i, count,   \
              name)
/// The same with a raw client that joined.
#define GUEST_ROWS(name, i, count, ...)                                                            \
    static void name##_guest(table* at, raw_client* raw, uint32_t i);                              \
    TABLE_ROWS(name, i, count, __VA_ARGS__) {                                                      \
        name##_guest(at, table_guest(at), i);                                                      \
    }                                                                                              \
    static void name##_guest(table* at, raw_client* raw, uint32_t i)
