// SPDX-License-Identifier: MIT
// The loopback of the kernel instead of the virtual wire: tests that need real sockets. The file is
// built twice, with the socket layer and without it (as a program that embeds the library).
#include "loopback_world.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#pragma weak net_socket_is_installed
#pragma weak net_socket_link_set

enum { MESSAGES = 64 };

static uint16_t port; // of the server

static void world_init(world* made) {
    char address[32];
    if (!net_socket_is_installed) skip();
    world_make(made, "127.0.0.1:0");
    assert_true(net_transport_enet_address(made->server, address, sizeof address));
    uint64_t number = 0;
    assert_true(base_text_parse_u64(strchr(address, ':') + 1, &number));
    port = (uint16_t)number;
    world_connect(made, address);
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

WORLD_CASE(messages_cross_the_loopback) {
    for (uint32_t i = 0; i < MESSAGES; i++)
        send_both(at, i);
    step_until(at, MESSAGES, MESSAGES);
    assert_int_equal(at->control, MESSAGES);
    assert_int_equal(at->realtime, MESSAGES);
    net_transport_stats stats;
    at->server->ops->stats(at->server, &stats);
    assert_true(stats.recv_bytes > MESSAGES * 8 && stats.recv_datagrams > 0);
    assert_int_equal(stats.service_errors + stats.dropped_malformed, 0);
}

WORLD_CASE(a_port_in_use_cannot_be_bound) {
    char address[32];
    assert_true(net_transport_enet_address(at->server, address, sizeof address));
    net_enet_config config = {.listen = address, .peers_max = 1};
    net_transport* second = NULL;
    assert_int_equal(net_transport_enet_create(&config, &second), NET_ERR_BIND);
    assert_null(second);
}

WORLD_CASE(empty_and_oversized_datagrams_do_not_stop_the_drain) {
    int foreign = socket(AF_INET, SOCK_DGRAM, 0);
    assert_true(foreign >= 0);
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const uint8_t bytes[5000];
    for (uint32_t i = 0; i < 20; i++) {
        (void)sendto(foreign, bytes, 0, 0, (struct sockaddr*)&to, sizeof to);
        (void)sendto(foreign, bytes, sizeof bytes, 0, (struct sockaddr*)&to, sizeof to);
    }
    send_both(at, 1);
    at->client->ops->flush(at->client);
    step_until(at, 1, 1);
    net_transport_stats stats;
    at->server->ops->stats(at->server, &stats);
    assert_int_equal(at->realtime, 1);
    assert_int_equal(stats.dropped_empty, 20);
    assert_int_equal(stats.dropped_oversized, 20);
    assert_int_equal(stats.service_errors, 0);
    close(foreign);
}

WORLD_CASE(the_bad_network_plays_on_real_sockets) {
    net_link_config link = {.loss_percent = 30, .delay_ms = 2, .seed = 1};
    assert_ok(net_socket_link_set(&link));
    for (uint32_t i = 0; i < MESSAGES; i++) {
        send_both(at, i);
        at->client->ops->flush(at->client);
        step(at);
    }
    step_until(at, MESSAGES, 0);
    assert_int_equal(at->control, MESSAGES);
    assert_true(at->realtime < MESSAGES);
    net_transport_stats stats;
    at->client->ops->stats(at->client, &stats);
    assert_true(stats.sim_dropped > 0);
    assert_ok(net_socket_link_set(NULL));
}

int main(void) {
    printf("socket layer: %s\n", net_socket_is_installed ? "ours" : "ENet's own");
    return test_run();
}
