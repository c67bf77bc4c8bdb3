// SPDX-License-Identifier: MIT
// A client's source port changes under its descriptor, on the virtual wire and in the kernel.
#include "test.h"

#include "virtual_wire.h"

#include <enet/enet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { SERVER_PORT = 7777, SENDS = 400, MS_PER_SEND = 10 };

static uint16_t port_of(ENetSocket socket) {
    ENetAddress address = {0};
    assert_int_equal(enet_socket_get_address(socket, &address), 0);
    return address.port;
}

static void send_to(ENetSocket socket, uint16_t port) {
    ENetAddress to = {.port = port};
    assert_int_equal(enet_address_set_host_ip(&to, "127.0.0.1"), 0);
    ENetBuffer buffer = {.data = "x", .dataLength = 1};
    assert_int_equal(enet_socket_send(socket, &to, &buffer, 1), 1);
}

static ENetSocket make_server(uint16_t port) {
    ENetSocket made = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    ENetAddress at = {.port = port};
    assert_int_equal(enet_address_set_host_ip(&at, "127.0.0.1"), 0);
    assert_int_equal(enet_socket_bind(made, &at), 0);
    return made;
}

// Send at 100 Hz over a line that asks for a new port each second. @return the changes of the port.
static uint32_t count_changes(ENetSocket from, uint16_t to) {
    net_link_pair line = {.up = {.rebind_ms = 1000, .seed = 1}};
    wire_link_set_one(from, &line);
    uint32_t changes = 0;
    uint16_t port = 0;
    for (uint64_t i = 1; i <= SENDS; i++) {
        wire_advance(i * MS_PER_SEND * 1000);
        send_to(from, to);
        net_socket_pump();
        changes += port != 0 && wire_port(from) != port;
        port = wire_port(from);
    }
    return changes;
}

CASE(a_client_on_the_virtual_wire_gets_new_ports) {
    wire_set(true, 1);
    ENetSocket server = make_server(SERVER_PORT);
    ENetSocket client = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    assert_in_range(count_changes(client, SERVER_PORT), 2, 7);
    // All of them were received, from as many ports.
    uint32_t received = 0, ports = 0;
    uint16_t last = 0;
    ENetAddress from = {0};
    uint8_t bytes[64];
    ENetBuffer buffer = {.data = bytes, .dataLength = sizeof bytes};
    while (enet_socket_receive(server, &from, &buffer, 1) == 1) {
        received++;
        ports += from.port != last;
        last = from.port;
    }
    assert_int_equal(received, SENDS);
    assert_in_range(ports, 3, 8);
    enet_socket_destroy(client);
    enet_socket_destroy(server);
    wire_set(false, 0);
}

CASE(a_server_keeps_its_port) {
    wire_set(true, 1);
    ENetSocket server = make_server(SERVER_PORT);
    ENetSocket other = make_server(SERVER_PORT + 1);
    assert_int_equal(count_changes(server, SERVER_PORT + 1), 0);
    assert_int_equal(port_of(server), SERVER_PORT);
    enet_socket_destroy(server);
    enet_socket_destroy(other);
    wire_set(false, 0);
}

static uint16_t kernel_port_of(ENetSocket socket) {
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    assert_int_equal(getsockname(socket, (struct sockaddr*)&address, &size), 0);
    return ntohs(address.sin_port);
}

static int option_of(ENetSocket socket, int option) {
    int value = 0;
    socklen_t size = sizeof value;
    assert_int_equal(getsockopt(socket, SOL_SOCKET, option, &value, &size), 0);
    return value;
}

CASE(a_real_socket_gets_a_new_port_under_its_descriptor) {
    wire_set(false, 0);
    ENetSocket server = make_server(0);
    uint16_t port = port_of(server);
    ENetSocket client = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    assert_int_equal(enet_socket_set_option(client, ENET_SOCKOPT_NONBLOCK, 1), 0);
    assert_int_equal(enet_socket_set_option(client, ENET_SOCKOPT_RCVBUF, 100000), 0);
    send_to(client, port);
    net_socket_flush(client);
    uint16_t before = kernel_port_of(client);
    assert_int_not_equal(before, 0);
    int buffer = option_of(client, SO_RCVBUF);

    net_socket_rebind(net_socket_entry_find(client));
    send_to(client, port);
    net_socket_flush(client);
    assert_int_not_equal(kernel_port_of(client), 0);
    assert_int_not_equal(kernel_port_of(client), before);
    assert_true(fcntl(client, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(client, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(option_of(client, SO_RCVBUF), buffer);

    net_socket_rebind(net_socket_entry_find(server));
    assert_int_equal(kernel_port_of(server), port);
    enet_socket_destroy(client);
    enet_socket_destroy(server);
}
