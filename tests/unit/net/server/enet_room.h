// SPDX-License-Identifier: MIT
/// A server and clients of ours on ENet: the real transport over the virtual wire, in virtual time.
#pragma once

#include "test.h"
#include "match_made.h"

#include "net/client.h"
#include "net/transport.h"
#include "net/match.h"
#include "net/server.h"
#include "transport/socket_state.h"

#include <string.h>

enum { ROOM_TICK_US = 16667, ROOM_SEATS = 3 };

typedef struct room_seat {
    net_match* match;
    net_transport* transport;
    net_client* client;
} room_seat;

typedef struct room_config {
    const net_game_module* game;
    const char* templates;
    uint64_t seed;
    double quiet; ///< the first setting of the game
    uint32_t seats, per_address_max;
    ecs_tick ticks_max;
} room_config;

typedef struct room {
    net_module* module;
    net_match* match;
    net_transport* transport;
    net_server* server;
    room_seat seats[ROOM_SEATS];
    uint32_t watcher; ///< a seat that only watches; 0: there is none
    uint64_t now_us;
} room;

static inline void room_sit(room* at, uint32_t index) {
    room_seat* made = &at->seats[index];
    made->match = match_made(at->module, (match_wanted){.is_mirror = true});
    assert_ok(net_transport_enet_create(&(net_enet_config){.peers_max = 1}, &made->transport));
    net_client_config client = {
        .match = made->match,
        .transport = made->transport,
        .address = "127.0.0.1:7777",
        .name = "member",
        .is_bot = true,
        .is_spectator = index > 0 && index == at->watcher,
        .seed = index + 1,
    };
    assert_ok(net_client_create(&client, &made->client));
}

static inline void room_open(room* at, room_config config) {
    memset(at, 0, sizeof *at);
    net_socket_virtual_set(true, config.seed);
    assert_ok(net_socket_link_set(NULL));
    at->now_us = 1000000;
    net_socket_virtual_advance(at->now_us);
    assert_ok(
        net_module_wrap(config.game, config.templates, "room.blk", test_reporter(), &at->module));
    at->match =
        match_made(at->module, (match_wanted){.seed = config.seed, .setting = &config.quiet});
    net_enet_config listen = {.listen = "127.0.0.1:7777",
                              .peers_max = ROOM_SEATS + 8,
                              .peers_per_address_max = config.per_address_max};
    assert_ok(net_transport_enet_create(&listen, &at->transport));
    net_server_config server = {.match = at->match,
                                .transport = at->transport,
                                .clients_max = ROOM_SEATS,
                                .ticks_max = config.ticks_max};
    assert_ok(net_server_create(&server, &at->server));
    for (uint32_t i = 0; i < config.seats; i++)
        room_sit(at, i);
}

/// End the server; the clients stay.
static inline void room_stop(room* at) {
    if (!at->server) return;
    net_server_destroy(at->server);
    at->transport->ops->destroy(at->transport);
    at->server = NULL;
}

static inline void room_close(room* at) {
    for (uint32_t i = 0; i < ROOM_SEATS && at->seats[i].client; i++) {
        net_client_destroy(at->seats[i].client);
        at->seats[i].transport->ops->destroy(at->seats[i].transport);
        net_match_destroy(at->seats[i].match);
    }
    room_stop(at);
    net_match_destroy(at->match);
    net_module_close(at->module);
    assert_ok(net_socket_link_set(NULL));
    net_socket_virtual_set(false, 0);
}

static inline void room_step(room* at) {
    at->now_us += ROOM_TICK_US;
    net_socket_virtual_advance(at->now_us);
    if (at->server) net_server_service(at->server, at->now_us);
    if (at->server) net_server_tick(at->server, at->now_us);
    for (uint32_t i = 0; i < ROOM_SEATS && at->seats[i].client; i++) {
        net_client_service(at->seats[i].client, at->now_us);
        net_client_tick(at->seats[i].client, at->now_us);
    }
}

/// The server's report of a client; there must be one.
static inline const net_peer_report* server_report_of(const net_server* server, uint32_t client) {
    for (uint32_t i = 0; i < net_server_report_count(server); i++)
        if (net_server_report(server, i)->client == client) return net_server_report(server, i);
    fail_msg("no report of client %u", client);
    return NULL;
}

static inline void room_run(room* at, uint32_t steps) {
    for (uint32_t i = 0; i < steps; i++)
        room_step(at);
}

/// Until the client of a seat ended, for `steps_max` steps at most.
static inline void room_await_end(room* at, uint32_t index, uint32_t steps_max) {
    const net_client* client = at->seats[index].client;
    for (uint32_t i = 0; i < steps_max && net_client_get_phase(client) != NET_CLIENT_ENDED; i++)
        room_step(at);
}

/// Stop the match, for two seconds at most.
static inline void room_end_match(room* at) {
    net_server_stop(at->server, at->now_us);
    for (uint32_t i = 0; i < 120 && net_server_get_phase(at->server) != NET_SERVER_ENDED; i++)
        room_step(at);
}

/// The match ended, and these clients have what the server has.
static inline void seats_agree(const net_server* server, const room_seat* seats, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const net_client_report report = net_client_get_report(seats[i].client);
        const net_peer_report* peer = server_report_of(server, report.client);
        assert_int_equal(report.end, NET_CLIENT_END_GOODBYE);
        assert_true(peer->is_caught_up && peer->scope.hash == report.scope.hash);
        assert_false(report.differs);
        assert_int_equal(report.packets_malformed, 0);
    }
}
