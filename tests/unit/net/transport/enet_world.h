// SPDX-License-Identifier: MIT
// A server and clients on ENet over the virtual wire, their virtual time, and hand-written
// datagrams.
#pragma once

#include "virtual_wire.h"
#include "transport/enet_peers.h"

#include "raw_datagram.h"
#include "inbox.h"

#include <arpa/inet.h>
#include <enet/enet.h>

// The same cases hold for a server of several ENet hosts.
#ifndef WORLD_LANES
#define WORLD_LANES 1
#endif

enum { PORT = 7777, STRANGER_PORT = 666, TICK_US = 16667, CLIENTS_MAX = 12 };

typedef struct world {
    net_transport* server;
    net_transport* clients[CLIENTS_MAX];
    inbox at_server, at_clients[CLIENTS_MAX];
    uint64_t now_us;
} world;

static inline uint32_t foreign_host(void) {
    return htonl(0x0A000001);
}

static inline void run_tick(world* at) {
    at->now_us += TICK_US;
    wire_advance(at->now_us);
    if (at->server) drain(at->server, at->now_us, &at->at_server);
    for (int i = 0; i < CLIENTS_MAX; i++)
        if (at->clients[i]) drain(at->clients[i], at->now_us, &at->at_clients[i]);
}

static inline void run_ms(world* at, uint32_t ms) {
    for (uint64_t end_us = at->now_us + ms * UINT64_C(1000); at->now_us < end_us;)
        run_tick(at);
}

static inline net_transport* client_make(void) {
    net_transport* made = NULL;
    assert_ok(net_transport_enet_create(&(net_enet_config){.peers_max = 1}, &made));
    return made;
}

/// The world gets another server.
static inline void world_serve(world* at, net_enet_config config) {
    if (at->server) at->server->ops->destroy(at->server);
    if (!config.listen) config.listen = "127.0.0.1:7777";
    assert_ok(net_transport_enet_create(&config, &at->server));
}

static inline void world_init_seeded(world* made, net_enet_config config, uint64_t seed) {
    memset(made, 0, sizeof *made);
    wire_set(true, seed);
    net_socket_link_set(NULL);
    made->now_us = 1000000;
    wire_advance(made->now_us);
    world_serve(made, config);
}

static inline void world_init(world* made, uint32_t peers_max) {
    const uint32_t lanes = WORLD_LANES < peers_max ? WORLD_LANES : peers_max;
    world_init_seeded(made, (net_enet_config){.peers_max = peers_max, .lanes = lanes}, 1);
}

/// A client begins to connect, a new one where there is none.
static inline net_peer world_begin_connect(world* at, int index, const char* address) {
    net_peer peer = 0;
    if (!at->clients[index]) at->clients[index] = client_make();
    assert_ok(at->clients[index]->ops->connect(at->clients[index], address, &peer));
    return peer;
}

static inline void world_remove_client(world* at, int index) {
    at->clients[index]->ops->destroy(at->clients[index]);
    at->clients[index] = NULL;
}

static inline net_peer world_connect(world* at, int index) {
    const net_peer peer = world_begin_connect(at, index, "127.0.0.1:7777");
    for (int i = 0; i < 300 && at->at_clients[index].connects == 0; i++)
        run_tick(at);
    assert_int_equal(at->at_clients[index].connected, peer);
    run_ms(at, 100); // the server's event needs one more one-way trip
    return peer;
}

static inline void world_deinit(world* old) {
    for (int i = 0; i < CLIENTS_MAX; i++)
        if (old->clients[i]) world_remove_client(old, i);
    if (old->server) old->server->ops->destroy(old->server);
    net_socket_link_set(NULL);
    wire_set(false, 0);
}

/// A case with a server for so many clients.
#define WORLD_CASE(name, peers_max)                                                                \
    CASE_WITH(world, at, world_init(at, peers_max), world_deinit(at), name)

static inline ENetHost* host_of(net_transport* transport) {
    return net_transport_enet_host(transport);
}

static inline ENetPeer* first_peer(net_transport* transport) {
    return &host_of(transport)->peers[0];
}

// ---- the outer layer below it

static inline net_enet_secure* secure_of(net_transport* transport) {
    return &((net_enet_transport*)transport)->secure;
}

static inline uint64_t secure_count(const net_transport* transport, net_secure_count count) {
    net_secure_stats stats;
    net_transport_enet_secure_stats(transport, &stats);
    return stats.counts[count];
}

// A member of the server whose ENet says nothing by itself: a session and no connection.
static inline void world_open_session(world* at, int index) {
    net_address server;
    at->clients[index] = client_make();
    net_enet_secure* secure = secure_of(at->clients[index]);
    assert_ok(net_address_parse("127.0.0.1:7777", &server));
    net_enet_secure_connect(secure, &server, 1);
    secure->is_connecting = false;
    for (int i = 0; i < 60 && secure->client.state != NET_SECURE_CLIENT_OPEN; i++)
        run_tick(at);
    assert_int_equal(secure->client.state, NET_SECURE_CLIENT_OPEN);
}

// ---- raw datagrams

static inline uint16_t port_of(net_transport* transport) {
    return wire_port((int)host_of(transport)->socket);
}

static inline void inject_from(uint32_t host, uint16_t port, const raw* datagram) {
    assert_true(wire_inject(host, port, PORT, datagram->bytes, datagram->size));
}

static inline void inject(const raw* datagram) {
    inject_from(foreign_host(), STRANGER_PORT, datagram);
}

// The head of a datagram that the server accepts as one of its first peer.
static inline raw raw_as_first_client(const world* at, bool is_timed) {
    const ENetPeer* peer = first_peer(at->server);
    return raw_begin((uint32_t)peer->incomingSessionID << 12 | (is_timed ? 0x8000u : 0));
}

// A malicious member seals what its ENet would never write.
static inline void inject_as_client(const world* at, int index, const raw* datagram) {
    net_transport* client = at->clients[index];
    raw sealed;
    net_address to;
    sealed.size = net_secure_client_send(&secure_of(client)->client, at->now_us, NET_OUTER_DATA,
                                         datagram->bytes, datagram->size, sealed.bytes, &to);
    assert_true(sealed.size > 0);
    inject_from(htonl(INADDR_LOOPBACK), port_of(client), &sealed);
}

static inline void inject_as_first_client(const world* at, const raw* datagram) {
    inject_as_client(at, 0, datagram);
}
