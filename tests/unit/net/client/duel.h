// SPDX-License-Identifier: MIT
/// A client of ours against a server without rules. Their memory is counted and bounded, and the
/// lines of the client are kept.
#pragma once

#include "raw_server.h"
#include "server/session_table.h"

#include "base/quota.h"

#include "swarm.pb-c.h"

typedef struct duel_config {
    const char* name;      ///< NULL: "dueller"
    const char* templates; ///< NULL: those of the test game
    bool is_spectator;
    bool has_view;    ///< with a presenter, as a client with a window
    size_t bytes_max; ///< 0: NET_CLIENT_BYTES_MAX
} duel_config;

typedef struct duel {
    heard said; ///< by the client
    scarce_memory memory;
    base_quota quota;
    net_module* module;
    net_match* match;
    net_presenter* presenter; ///< or NULL
    net_sim* sim;
    net_transport *here, *there;
    net_client* client;
    raw_server server;
    uint64_t now_us;
} duel;

static inline void duel_open_as(duel* at, duel_config config) {
    memset(at, 0, sizeof *at);
    (void)heard_begin(&at->said);
    scarce_init(&at->memory);
    base_quota_init(&at->quota, &at->memory.allocator,
                    config.bytes_max ? config.bytes_max : NET_CLIENT_BYTES_MAX);
    base_reporter reporter = base_reporter_stderr();
    assert_ok(net_module_wrap(swarm_module_get(),
                              config.templates ? config.templates : swarm_templates(), "swarm.blk",
                              &reporter, &at->module));
    at->match = match_made(at->module,
                           (match_wanted){.allocator = &at->quota.allocator, .is_mirror = true});
    at->sim = net_sim_create(NULL, 1);
    assert_ok(net_sim_server(at->sim, 2, &at->there));
    const net_link_config link = {.delay_ms = 1};
    at->here = net_sim_client(at->sim, &link);
    const net_presenter_config view = {
        .allocator = &at->quota.allocator, .module = at->module, .is_predicting = true};
    if (config.has_view) assert_ok(net_presenter_create(&view, &reporter, &at->presenter));
    net_client_config client = {
        .allocator = &at->quota.allocator,
        .match = at->match,
        .transport = at->here,
        .address = "sim",
        .name = config.name ? config.name : "dueller",
        .seed = 1,
        .is_spectator = config.is_spectator,
        .reporter = &at->said.reporter,
        .presenter = at->presenter,
    };
    at->client = net_client_create(&client);
    raw_server_open(&at->server, at->there);
    at->now_us = 1000000;
}

static inline void duel_open(duel* at) {
    duel_open_as(at, (duel_config){0});
}

static inline void duel_close(duel* at) {
    net_client_destroy(at->client);
    net_presenter_destroy(at->presenter);
    raw_server_close(&at->server);
    at->here->ops->destroy(at->here);
    at->there->ops->destroy(at->there);
    net_sim_destroy(at->sim);
    net_match_destroy(at->match);
    net_module_close(at->module);
    assert_int_equal(at->quota.used_bytes, 0);
    assert_int_equal(at->memory.bytes, 0);
}

static inline void duel_run(duel* at, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        at->now_us += TABLE_TICK_US;
        raw_server_service(&at->server, at->now_us);
        net_client_service(at->client, at->now_us);
        net_client_tick(at->client, at->now_us);
        if (at->presenter) (void)net_presenter_frame(at->presenter, at->now_us);
    }
}

static inline void duel_welcome(duel* at) {
    duel_run(at, 6);
    assert_true(at->server.is_greeted);
    raw_server_welcome(&at->server, 3, 60);
    duel_run(at, 2);
    assert_int_equal(net_client_get_phase(at->client), NET_CLIENT_PLAYING);
}

static inline void duel_expect_phase(const duel* at, net_client_phase phase) {
    assert_int_equal(net_client_get_phase(at->client), phase);
}

/// What a client needs to come back.
static const uint8_t DUEL_SECRET[NET_RESUME_BYTES] = {7, 1, 4, 1, 5, 9, 2, 6,
                                                      5, 3, 5, 8, 9, 7, 9, 3};

static inline Shoal__Wire__Welcome duel_secret_welcome(void) {
    Shoal__Wire__Welcome welcome = SHOAL__WIRE__WELCOME__INIT;
    welcome.client = 3;
    welcome.tick_rate_hz = 60;
    welcome.resume = (ProtobufCBinaryData){sizeof DUEL_SECRET, (uint8_t*)(uintptr_t)DUEL_SECRET};
    return welcome;
}

// Send one valid packet without changes, so that the client goes on.
static inline void duel_send_nothing_new(duel* at, uint64_t tick) {
    raw_server_send_state(&at->server, raw_server_packet(&at->server, tick));
}

/// It plays tick 1.
static inline void duel_play(duel* at, Shoal__Wire__Welcome welcome) {
    duel_run(at, 6);
    raw_server_welcome_as(&at->server, welcome);
    duel_run(at, 3);
    duel_send_nothing_new(at, 1);
    duel_run(at, 3);
    duel_expect_phase(at, NET_CLIENT_PLAYING);
    assert_int_equal(net_client_get_report(at->client).tick, 1);
}

static inline void duel_open_welcomed(duel* at) {
    duel_open(at);
    duel_welcome(at);
}

static inline void duel_expect_end(const duel* at, net_client_end end) {
    assert_int_equal(net_client_get_phase(at->client), NET_CLIENT_ENDED);
    assert_int_equal(net_client_get_end(at->client), end);
}

/// So many ticks later it is in this phase, or has this end.
static inline void duel_phase_after(duel* at, uint32_t ticks, net_client_phase phase) {
    duel_run(at, ticks);
    duel_expect_phase(at, phase);
}

static inline void duel_end_after(duel* at, uint32_t ticks, net_client_end end) {
    duel_run(at, ticks);
    duel_expect_end(at, end);
}

static inline void duel_open_as_welcomed(duel* at, duel_config config) {
    duel_open_as(at, config);
    duel_welcome(at);
}

static inline void duel_open_greeted(duel* at) {
    duel_open(at);
    duel_run(at, 6);
}

/// Send a roster of clients first..first + count - 1, all of one name.
static inline void duel_send_roster(duel* at, uint32_t first, uint32_t count, const char* name) {
    enum { ENTRIES_MAX = 1024 };
    static Shoal__Wire__RosterEntry entries[ENTRIES_MAX];
    static Shoal__Wire__RosterEntry* pointers[ENTRIES_MAX];
    assert_true(count <= ENTRIES_MAX);
    Shoal__Wire__Roster roster = SHOAL__WIRE__ROSTER__INIT;
    for (uint32_t i = 0; i < count; i++) {
        shoal__wire__roster_entry__init(&entries[i]);
        entries[i].client = first + i;
        entries[i].name = (char*)(uintptr_t)name;
        pointers[i] = &entries[i];
    }
    roster.n_came = count;
    roster.came = pointers;
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_ROSTER;
    control.roster = &roster;
    assert_ok(raw_server_send(&at->server, NET_CHANNEL_CONTROL, &control.base));
}

/// Cases with a duel: from its first packet, from the hello, and from the welcome on.
#define GREETED_CASE(name) CASE_WITH(duel, at, duel_open_greeted(at), duel_close(at), name)
#define DUEL_CASE(name) CASE_WITH(duel, at, duel_open(at), duel_close(at), name)
#define WELCOMED_CASE(name) CASE_WITH(duel, at, duel_open_welcomed(at), duel_close(at), name)
