// SPDX-License-Identifier: MIT
// The loopback of the kernel instead of the virtual wire: tests that need real sockets. The file is
// built twice, with the socket layer and without it (as a program that embeds the library).
#include "net/socket.h"
#include "net/transport_enet.h"

#include "test.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#pragma weak net_socket_is_installed
#pragma weak net_socket_link_set

enum { MESSAGES = 64, PATIENCE_MS = 100000 };

typedef struct world {
    net_transport *server, *client;
    net_peer at_server, at_client;
    uint32_t control, realtime;
    uint16_t port;
} world;

static uint64_t now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void drain(net_transport* transport, net_peer* connected, world* at) {
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

static void step(world* at) {
    struct pollfd waits[2] = {{.events = POLLIN}, {.events = POLLIN}};
    assert_int_equal(at->server->ops->sockets(at->server, &waits[0].fd, 1), 1);
    assert_int_equal(at->client->ops->sockets(at->client, &waits[1].fd, 1), 1);
    (void)poll(waits, 2, 1);
    drain(at->server, &at->at_server, at);
    drain(at->client, &at->at_client, at);
}

static void world_init(world* made) {
    memset(made, 0, sizeof *made);
    net_enet_config server = {.listen = "127.0.0.1:0", .peers_max = 4};
    net_enet_config client = {.peers_max = 1};
    assert_ok(net_transport_enet_create(&server, &made->server));
    assert_ok(net_transport_enet_create(&client, &made->client));
    char address[32];
    assert_true(net_transport_enet_address(made->server, address, sizeof address));
    uint64_t port = 0;
    assert_true(base_text_parse_u64(strchr(address, ':') + 1, &port));
    made->port = (uint16_t)port;
    net_peer peer = 0;
    assert_ok(made->client->ops->connect(made->client, address, &peer));
    uint64_t end_us = now_us() + PATIENCE_MS * 1000u;
    while ((made->at_server == 0 || made->at_client == 0) && now_us() < end_us)
        step(made);
    assert_int_equal(made->at_client, peer);
    assert_int_not_equal(made->at_server, 0);
}

static void world_deinit(world* old) {
    old->client->ops->destroy(old->client);
    old->server->ops->destroy(old->server);
}

#define WORLD_CASE(name) CASE_WITH(world, at, world_init(at), world_deinit(at), name)

static void send_both(world* at, uint32_t number) {
    net_transport* client = at->client;
    assert_ok(
        client->ops->send(client, at->at_client, NET_CHANNEL_CONTROL, &number, sizeof number));
    assert_ok(
        client->ops->send(client, at->at_client, NET_CHANNEL_REALTIME, &number, sizeof number));
}

CASE(without_the_socket_layer_no_transport_is_made) {
    if (net_socket_is_installed) skip();
    net_enet_config config = {.listen = "127.0.0.1:0", .peers_max = 4};
    net_transport* made = NULL;
    assert_int_equal(net_transport_enet_create(&config, &made), NET_ERR_SOCKET);
    config.listen = NULL;
    config.peers_max = 1;
    assert_int_equal(net_transport_enet_create(&config, &made), NET_ERR_SOCKET);
    assert_null(made);
}

CASE(messages_cross_the_loopback) {
    if (!net_socket_is_installed) skip();
    world at;
    world_init(&at);
    for (uint32_t i = 0; i < MESSAGES; i++)
        send_both(&at, i);
    uint64_t end_us = now_us() + PATIENCE_MS * 1000u;
    while ((at.control < MESSAGES || at.realtime < MESSAGES) && now_us() < end_us)
        step(&at);
    assert_int_equal(at.control, MESSAGES);
    assert_int_equal(at.realtime, MESSAGES);
    net_transport_stats stats;
    at.server->ops->stats(at.server, &stats);
    assert_true(stats.recv_bytes > MESSAGES * 8 && stats.recv_datagrams > 0);
    assert_int_equal(stats.service_errors + stats.dropped_malformed, 0);
    world_deinit(&at);
}

CASE(a_port_in_use_cannot_be_bound) {
    if (!net_socket_is_installed) skip();
    world at;
    world_init(&at);
    char address[32];
    assert_true(net_transport_enet_address(at.server, address, sizeof address));
    net_enet_config config = {.listen = address, .peers_max = 1};
    net_transport* second = NULL;
    assert_int_equal(net_transport_enet_create(&config, &second), NET_ERR_BIND);
    assert_null(second);
    world_deinit(&at);
}

CASE(empty_and_oversized_datagrams_do_not_stop_the_drain) {
    if (!net_socket_is_installed) skip(); // this tests the purpose of the layer
    world at;
    world_init(&at);
    int foreign = socket(AF_INET, SOCK_DGRAM, 0);
    assert_true(foreign >= 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(at.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const uint8_t bytes[5000];
    for (uint32_t i = 0; i < 20; i++) {
        (void)sendto(foreign, bytes, 0, 0, (struct sockaddr*)&to, sizeof to);
        (void)sendto(foreign, bytes, sizeof bytes, 0, (struct sockaddr*)&to, sizeof to);
    }
    send_both(&at, 1);
    at.client->ops->flush(at.client);
    uint64_t end_us = now_us() + PATIENCE_MS * 1000u;
    while ((at.control < 1 || at.realtime < 1) && now_us() < end_us)
        step(&at);
    net_transport_stats stats;
    at.server->ops->stats(at.server, &stats);
    assert_int_equal(at.realtime, 1);
    assert_int_equal(stats.dropped_empty, 20);
    assert_int_equal(stats.dropped_oversized, 20);
    assert_int_equal(stats.service_errors, 0);
    close(foreign);
    world_deinit(&at);
}

CASE(the_bad_network_plays_on_real_sockets) {
    if (!net_socket_link_set) skip();
    world at;
    world_init(&at);
    net_link_config link = {.loss_percent = 30, .delay_ms = 2, .seed = 1};
    assert_ok(net_socket_link_set(&link));
    for (uint32_t i = 0; i < MESSAGES; i++) {
        send_both(&at, i);
        at.client->ops->flush(at.client);
        step(&at);
    }
    uint64_t end_us = now_us() + PATIENCE_MS * 1000u;
    while (at.control < MESSAGES && now_us() < end_us)
        step(&at);
    assert_int_equal(at.control, MESSAGES);
    assert_true(at.realtime < MESSAGES);
    net_transport_stats stats;
    at.client->ops->stats(at.client, &stats);
    assert_true(stats.sim_dropped > 0);
    assert_ok(net_socket_link_set(NULL));
    world_deinit(&at);
}

int main(void) {
    printf("socket layer: %s\n", net_socket_is_installed ? "ours" : "ENet's own");
    return test_run();
}
