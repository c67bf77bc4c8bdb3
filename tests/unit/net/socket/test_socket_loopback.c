// SPDX-License-Identifier: MIT
// Sockets of the kernel: IPv6, both families on one and on two sockets, batches. A machine
// without IPv6 is said on stdout, and its cases are skipped by name.
#include "net/socket.h"
#include "net/transport_enet.h"

#include "transport/enet_peers.h"

#include "test.h"

#include <enet/enet.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 100000, MESSAGES = 40 };

typedef struct world {
    net_transport *server, *client;
    net_peer at_server, at_client;
    uint32_t received;
} world;

static uint64_t now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static bool has_ipv6(void) {
    int probe = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in6 loopback = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    bool has = probe >= 0 && bind(probe, (struct sockaddr*)&loopback, sizeof loopback) == 0;
    if (probe >= 0) (void)close(probe);
    if (!has) printf("IPv6 IS NOT AVAILABLE on this machine: not tested\n");
    return has;
}

static int socket_of(net_transport* transport) {
    return ((ENetHost*)net_transport_enet_host(transport))->socket;
}

static void drain(net_transport* transport, net_peer* connected, world* at) {
    net_transport_event event;
    transport->ops->service(transport, now_us());
    while (transport->ops->next(transport, &event)) {
        if (event.kind == NET_TRANSPORT_CONNECTED) *connected = event.peer;
        if (event.kind == NET_TRANSPORT_RECEIVED && transport == at->server) at->received++;
    }
    transport->ops->flush(transport);
}

static void step(world* at) {
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

// Connect to the server's address number `which`, and send messages.
static void reach(const char* listen, uint32_t which, const char* host) {
    world at = {0};
    net_enet_config server = {
        .listen = listen, .peers_max = 4, .security = {.allow_dev_key = true}};
    net_enet_config client = {.peers_max = 1};
    assert_ok(net_transport_enet_create(&server, &at.server));
    assert_ok(net_transport_enet_create(&client, &at.client));
    net_address bound[NET_SOCKET_ADDRESSES_MAX];
    assert_in_range(which + 1, 1, net_socket_addresses(socket_of(at.server), bound));
    char target[NET_ADDRESS_TEXT_BYTES];
    assert_true(base_text_format(target, sizeof target, "%s:%u", host, bound[which].port));
    net_peer peer = 0;
    assert_ok(at.client->ops->connect(at.client, target, &peer));
    for (int i = 0; i < PATIENCE_MS && (!at.at_server || !at.at_client); i++)
        step(&at);
    assert_int_not_equal(at.at_server, 0);
    for (uint32_t i = 0; i < MESSAGES; i++)
        assert_ok(
            at.client->ops->send(at.client, peer, NET_CHANNEL_CONTROL, target, sizeof target));
    for (int i = 0; i < PATIENCE_MS && at.received < MESSAGES; i++)
        step(&at);
    assert_int_equal(at.received, MESSAGES);
    net_socket_stats stats;
    net_socket_get_stats(socket_of(at.server), &stats);
    assert_int_equal(stats.socket_errors, 0);
    at.client->ops->destroy(at.client);
    at.server->ops->destroy(at.server);
}

CASE(ipv6_alone) {
    if (!has_ipv6()) skip();
    reach("[::1]:0", 0, "[::1]");
}

CASE(one_socket_of_both_families) {
    if (!has_ipv6()) skip();
    reach("[::]:0", 0, "[::1]");
    reach("[::]:0", 0, "127.0.0.1");
}

CASE(two_sockets_under_one_host) {
    if (!has_ipv6()) skip();
    reach("127.0.0.1:0,[::1]:0", 0, "127.0.0.1");
    reach("127.0.0.1:0,[::1]:0", 1, "[::1]");
    reach("[::]:0,0.0.0.0:0", 0, "[::1]");
    reach("[::]:0,0.0.0.0:0", 1, "127.0.0.1");
}

CASE(both_families_at_one_port_on_two_sockets) {
    if (!has_ipv6()) skip();
    net_transport* first = NULL;
    net_enet_config config = {
        .listen = "[::]:0", .peers_max = 1, .security = {.allow_dev_key = true}};
    assert_ok(net_transport_enet_create(&config, &first));
    net_address bound[NET_SOCKET_ADDRESSES_MAX];
    assert_int_equal(net_socket_addresses(socket_of(first), bound), 1);
    first->ops->destroy(first);
    char listen[64];
    assert_true(base_text_format(listen, sizeof listen, "[::]:%u,0.0.0.0:%u", bound[0].port,
                                 bound[0].port));
    reach(listen, 1, "127.0.0.1");
    reach(listen, 0, "[::1]");
}

CASE(ipv4_alone) {
    reach("127.0.0.1:0", 0, "127.0.0.1");
}

CASE(an_address_of_nobody_cannot_be_bound) {
    net_transport* made = NULL;
    net_enet_config config = {.listen = "127.0.0.1:0,[2001:db8::1]:0",
                              .peers_max = 1,
                              .security = {.allow_dev_key = true}};
    net_result result = net_transport_enet_create(&config, &made);
    assert_int_equal(result, NET_ERR_BIND);
    assert_null(made);
}

// One call brings and takes many datagrams.
CASE(datagrams_travel_in_batches) {
    enum { COUNT = 60 };
    net_transport *server = NULL, *other = NULL;
    net_enet_config config = {.listen = "127.0.0.1:0", .peers_max = 1};
    assert_ok(net_transport_enet_create(&config, &server));
    assert_ok(net_transport_enet_create(&config, &other));
    net_address to[NET_SOCKET_ADDRESSES_MAX];
    assert_int_equal(net_socket_addresses(socket_of(other), to), 1);
    for (uint32_t i = 0; i < COUNT; i++)
        net_socket_wire_send(socket_of(server), to, "twelve bytes", 12);
    net_socket_stats stats;
    net_socket_get_stats(socket_of(server), &stats);
    assert_int_equal(stats.send_calls, 0);
    server->ops->flush(server);
    net_socket_get_stats(socket_of(server), &stats);
    assert_int_equal(stats.sent_datagrams, COUNT);
    assert_in_range(stats.send_calls, 1, 2); // two when a route refuses segments
    assert_int_equal(stats.socket_errors, 0);
    for (int i = 0; i < PATIENCE_MS && stats.recv_datagrams < COUNT; i++) {
        world at = {.server = other};
        struct pollfd wait = {.fd = socket_of(other), .events = POLLIN};
        (void)poll(&wait, 1, 1);
        drain(other, &at.at_server, &at);
        net_socket_get_stats(socket_of(other), &stats);
    }
    assert_int_equal(stats.recv_datagrams, COUNT);
    server->ops->destroy(server);
    other->ops->destroy(other);
}
