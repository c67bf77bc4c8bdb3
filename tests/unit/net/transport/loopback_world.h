// SPDX-License-Identifier: MIT
/// A server and a client on the loopback of the kernel, in real time.
#pragma once

#include "net/socket.h"
#include "net/transport.h"

#include "test.h"

#include "base/text.h"

#include <poll.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_MS = 100000 };

typedef struct world {
    net_transport *server, *client;
    net_peer at_server, at_client;
    uint32_t control, realtime; ///< messages that the server received
} world;

static inline uint64_t now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static inline void drain(net_transport* transport, net_peer* connected, world* at) {
    net_transport_event event;
    transport->ops->service(transport, now_us());
    while (transport->ops->next(transport, &event)) {
        if (event.kind == NET_TRANSPORT_CONNECTED) *connected = event.peer;
        if (event.kind != NET_TRANSPORT_RECEIVED || transport != at->server) continue;
        at->control += event.channel == NET_CHANNEL_CONTROL;
        at->realtime += event.channel == NET_CHANNEL_REALTIME;
    }
    transport->ops->flush(transport);
}

/// Wait a millisecond at most for one of the two, and let both work.
static inline void step(world* at) {
    struct pollfd waits[2 * NET_SOCKET_ADDRESSES_MAX] = {{.fd = -1}};
    uint32_t count = 0;
    net_transport* const both[] = {at->server, at->client};
    for (size_t i = 0; i < BASE_COUNT(both); i++) {
        int descriptors[NET_SOCKET_ADDRESSES_MAX];
        uint32_t found = both[i]->ops->sockets(both[i], descriptors, NET_SOCKET_ADDRESSES_MAX);
        assert_in_range(found, 1, NET_SOCKET_ADDRESSES_MAX);
        for (uint32_t k = 0; k < found; k++)
            waits[count++] = (struct pollfd){.fd = descriptors[k], .events = POLLIN};
    }
    (void)poll(waits, count, 1);
    drain(at->server, &at->at_server, at);
    drain(at->client, &at->at_client, at);
}

/// Step until the server has received so many messages, or for a long time.
static inline void step_until(world* at, uint32_t control, uint32_t realtime) {
    uint64_t end_us = now_us() + PATIENCE_MS * 1000u;
    while ((at->control < control || at->realtime < realtime) && now_us() < end_us)
        step(at);
}

static inline void world_make(world* made, const char* listen) {
    memset(made, 0, sizeof *made);
    net_enet_config server = {
        .listen = listen, .peers_max = 4, .security = {.allow_dev_key = true}};
    net_enet_config client = {.peers_max = 1};
    assert_ok(net_transport_enet_create(&server, &made->server));
    assert_ok(net_transport_enet_create(&client, &made->client));
}

static inline void world_connect(world* at, const char* address) {
    net_peer peer = 0;
    assert_ok(at->client->ops->connect(at->client, address, &peer));
    uint64_t end_us = now_us() + PATIENCE_MS * 1000u;
    while ((at->at_server == 0 || at->at_client == 0) && now_us() < end_us)
        step(at);
    assert_int_equal(at->at_client, peer);
    assert_int_not_equal(at->at_server, 0);
}

static inline void world_deinit(world* old) {
    old->client->ops->destroy(old->client);
    old->server->ops->destroy(old->server);
}
