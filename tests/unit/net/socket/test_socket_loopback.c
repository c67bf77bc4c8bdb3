// SPDX-License-Identifier: MIT
// Sockets of the kernel: IPv6, both families on one and on two sockets, batches. A machine without
// IPv6 is said on stdout, and its cases are skipped by name.
#include "transport/enet_peers.h"
#include "transport/inbox.h"

#include "net/socket.h"

#include <arpa/inet.h>
#include <enet/enet.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGES = 40, PATIENCE_MS = 100000 };

typedef struct world {
    net_transport *server, *client;
    inbox at_server, at_client;
} world;

static uint64_t now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

// Wait a millisecond at most for one of the two, and let both work.
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
    drain(at->server, now_us(), &at->at_server);
    drain(at->client, now_us(), &at->at_client);
}

// Step until the server has received so many messages, or for a long time.
static void step_until(world* at, uint32_t control, uint32_t realtime) {
    uint64_t end_us = now_us() + PATIENCE_MS * 1000u;
    while ((at->at_server.control_count < control || at->at_server.realtime_count < realtime) &&
           now_us() < end_us)
        step(at);
}

static void world_make(world* made, const char* listen) {
    memset(made, 0, sizeof *made);
    net_enet_config server = {
        .listen = listen, .peers_max = 4, .security = {.allow_dev_key = true}};
    net_enet_config client = {.peers_max = 1};
    assert_ok(net_transport_enet_create(&server, &made->server));
    assert_ok(net_transport_enet_create(&client, &made->client));
}

static void world_connect(world* at, const char* address) {
    net_peer peer = 0;
    assert_ok(at->client->ops->connect(at->client, address, &peer));
    uint64_t end_us = now_us() + PATIENCE_MS * 1000u;
    while ((at->at_server.connects == 0 || at->at_client.connects == 0) && now_us() < end_us)
        step(at);
    assert_int_equal(at->at_client.connected, peer);
    assert_int_not_equal(at->at_server.connected, 0);
}

static void world_deinit(world* old) {
    old->client->ops->destroy(old->client);
    old->server->ops->destroy(old->server);
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

// Connect to the server's address number `which`, and send messages.
static void reach(const char* listen, uint32_t which, const char* host) {
    world at;
    world_make(&at, listen);
    net_address bound[NET_SOCKET_ADDRESSES_MAX];
    assert_in_range(which + 1, 1, net_socket_addresses(socket_of(at.server), bound));
    char target[NET_ADDRESS_TEXT_BYTES];
    assert_true(base_text_format(target, sizeof target, "%s:%u", host, bound[which].port));
    world_connect(&at, target);
    for (uint32_t i = 0; i < MESSAGES; i++)
        assert_ok(at.client->ops->send(at.client, at.at_client.connected, NET_CHANNEL_CONTROL,
                                       target, sizeof target));
    step_until(&at, MESSAGES, 0);
    assert_int_equal(at.at_server.control_count, MESSAGES);
    net_socket_stats stats;
    net_socket_get_stats(socket_of(at.server), &stats);
    assert_int_equal(stats.socket_errors, 0);
    world_deinit(&at);
}

CASE(servers_are_reached_by_their_families) {
    static const struct {
        const char* listen;
        uint32_t which;
        const char* host;
    } rows[] = {
        {"127.0.0.1:0", 0, "127.0.0.1"},
        {"[::1]:0", 0, "[::1]"},
        {"[::]:0", 0, "[::1]"}, // one socket of both
        {"[::]:0", 0, "127.0.0.1"},
        {"127.0.0.1:0,[::1]:0", 0, "127.0.0.1"}, // two sockets of one host
        {"127.0.0.1:0,[::1]:0", 1, "[::1]"},
        {"[::]:0,0.0.0.0:0", 0, "[::1]"},
        {"[::]:0,0.0.0.0:0", 1, "127.0.0.1"},
    };
    const size_t count = has_ipv6() ? BASE_COUNT(rows) : 1;
    for (size_t i = 0; i < count; i++)
        reach(rows[i].listen, rows[i].which, rows[i].host);
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

CASE(an_address_of_nobody_cannot_be_bound) {
    net_transport* made = NULL;
    net_enet_config config = {.listen = "127.0.0.1:0,[2001:db8::1]:0",
                              .peers_max = 1,
                              .security = {.allow_dev_key = true}};
    net_result result = net_transport_enet_create(&config, &made);
    assert_int_equal(result, NET_ERR_BIND);
    assert_null(made);
}

static uint16_t port_of(net_transport* transport) {
    net_address bound[NET_SOCKET_ADDRESSES_MAX];
    assert_int_equal(net_socket_addresses(socket_of(transport), bound), 1);
    return bound[0].port;
}

static void loopback_open(world* at) {
    char address[32];
    world_make(at, "127.0.0.1:0");
    assert_true(net_transport_enet_address(at->server, address, sizeof address));
    world_connect(at, address);
}

#define LOOPBACK_CASE(name) CASE_WITH(world, at, loopback_open(at), world_deinit(at), name)

static void send_both(world* at, uint32_t number) {
    const net_peer peer = at->at_client.connected;
    assert_ok(send_number(at->client, peer, NET_CHANNEL_CONTROL, number));
    assert_ok(send_number(at->client, peer, NET_CHANNEL_REALTIME, number));
}

LOOPBACK_CASE(empty_and_oversized_datagrams_do_not_stop_the_drain) {
    int foreign = socket(AF_INET, SOCK_DGRAM, 0);
    assert_true(foreign >= 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(port_of(at->server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const uint8_t bytes[5000];
    for (uint32_t i = 0; i < 20; i++) {
        (void)sendto(foreign, bytes, 0, 0, (struct sockaddr*)&to, sizeof to);
        (void)sendto(foreign, bytes, sizeof bytes, 0, (struct sockaddr*)&to, sizeof to);
    }
    send_both(at, 1);
    at->client->ops->flush(at->client);
    step_until(at, 1, 1);
    net_transport_stats stats = stats_of(at->server);
    assert_int_equal(at->at_server.realtime_count, 1);
    assert_int_equal(stats.dropped_empty, 20);
    assert_int_equal(stats.dropped_oversized, 20);
    assert_int_equal(stats.service_errors, 0);
    close(foreign);
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
        drain(other, now_us(), &at.at_server);
        net_socket_get_stats(socket_of(other), &stats);
    }
    assert_int_equal(stats.recv_datagrams, COUNT);
    server->ops->destroy(server);
    other->ops->destroy(other);
}

CASE(a_rest_of_the_loop_ends_by_a_signal_and_not_by_what_comes) {
    static net_loop loop;
    int ends[2];
    assert_true(net_loop_init(&loop) && pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    loop.sockets[loop.socket_count++] = ends[0];
    loop.rest_us = UINT64_MAX;
    assert_false(net_loop_wait(&loop, 0));          // its time is over, and nothing was looked at
    assert_int_equal(loop.rest_us, 0);              // there is one rest in a wait
    assert_false(net_loop_wait(&loop, UINT64_MAX)); // ends by what came
    loop.rest_us = UINT64_MAX;
    assert_int_equal(raise(SIGTERM), 0);
    assert_true(net_loop_wait(&loop, UINT64_MAX));
    net_loop_deinit(&loop);
    assert_int_equal(close(ends[0]) | close(ends[1]), 0);
}
