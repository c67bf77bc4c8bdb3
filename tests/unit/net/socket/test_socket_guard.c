// SPDX-License-Identifier: MIT
// A guard between the virtual wire and ENet, and addresses of both families on that wire.
#include "address_of.h"
#include "transport/enet_world.h"

enum { FOREIGN = 3 };

static void listen_init(world* made, const char* listen) {
    world_init(made, 4);
    world_serve(made, (net_enet_config){
                          .listen = listen, .peers_max = 4, .security = {.allow_dev_key = true}});
}

#define LISTEN_CASE(name, listen)                                                                  \
    CASE_WITH(world, at, listen_init(at, listen), world_deinit(at), name)

static bool connect_to(world* at, int index, const char* target) {
    (void)world_begin_connect(at, index, target);
    run_ms(at, 1000);
    return at->at_clients[index].connects > 0;
}

WORLD_CASE(without_a_guard_enet_sees_the_wire, 4) {
    int descriptor = (int)host_of(at->server)->socket;
    net_socket_guard_set(descriptor, NULL);
    assert_false(wire_is_guarded(descriptor));
    raw noise = {.bytes = {1}, .size = 1};
    inject(&noise);
    run_ms(at, 100);
    assert_int_equal(stats_of(at->server).dropped_malformed, 1); // by the filter
}

LISTEN_CASE(ipv6_needs_a_guard, "[::]:7777") {
    static const char foreign[] = "[2001:db8::9]:666";
    net_address from;
    net_socket_guard_set((int)host_of(at->server)->socket, NULL);
    assert_ok(net_address_parse(foreign, &from));
    raw connect = raw_connect(1200, 2, 77);
    assert_true(wire_inject_from(&from, PORT, connect.bytes, connect.size));
    run_ms(at, 100);
    assert_int_equal(stats_of(at->server).socket_errors, 1);
    assert_int_equal(first_peer(at->server)->state, ENET_PEER_STATE_DISCONNECTED);
}

static const struct {
    const char* listen;
    const char* target;
    bool is_reached;
} FAMILIES[] = {
    {"[::1]:7777", "[::1]:7777", true},
    {"[::1]:7777", "127.0.0.1:7777", false},
    {"[::]:7777", "[::1]:7777", true},
    {"[::]:7777", "127.0.0.1:7777", true},
    {"0.0.0.0:7777", "127.0.0.1:7777", true},
    {"0.0.0.0:7777", "[::1]:7777", false},
    {"127.0.0.1:7777,[::1]:7778", "127.0.0.1:7777", true},
    {"127.0.0.1:7777,[::1]:7778", "[::1]:7778", true},
    {"127.0.0.1:7777,[::1]:7778", "[::1]:7777", false},
    {"[2001:db8::1]:7777,10.1.2.3:7777", "[2001:db8::1]:7777", true},
    {"[2001:db8::1]:7777,10.1.2.3:7777", "10.1.2.3:7777", true},
};

CASE_ROWS(world, at, listen_init(at, FAMILIES[i].listen), world_deinit(at), i, BASE_COUNT(FAMILIES),
          servers_listen_on_one_or_two_families) {
    char text[NET_ENET_ADDRESS_TEXT_BYTES];
    assert_true(net_transport_enet_address(at->server, text, sizeof text));
    assert_string_equal(text, FAMILIES[i].listen);
    assert_false(net_transport_enet_address(at->server, text, strlen(FAMILIES[i].listen)));
    if (connect_to(at, 0, FAMILIES[i].target) != FAMILIES[i].is_reached)
        fail_msg("%s from %s", FAMILIES[i].listen, FAMILIES[i].target);
}

LISTEN_CASE(many_hosts_of_ipv6_keep_their_names_on_a_delayed_wire, "[::]:7777") {
    net_link_config slow = {.delay_ms = 50};
    net_socket_link_set(&slow);
    for (int i = 0; i < 4; i++)
        assert_true(connect_to(at, i, i % 2 == 0 ? "[::1]:7777" : "127.0.0.1:7777"));
    assert_int_equal(at->at_server.connects, 4);
    assert_int_equal(secure_count(at->server, NET_SECURE_ACCEPTED), 4);
}

LISTEN_CASE(a_delayed_wire_says_while_it_holds_something, "[::1]:7777") {
    enum { DELAY_MS = 50 };
    at->clients[0] = client_make();
    net_link_config slow = {.delay_ms = DELAY_MS};
    net_socket_link_set(&slow);
    const net_address server = address_of("[::1]:7777");
    net_socket_pump();
    assert_false(net_socket_is_sending());
    net_socket_wire_send((int)host_of(at->clients[0])->socket, &server, "x", 1);
    assert_true(net_socket_is_sending());
    wire_advance(net_socket_now_us() + DELAY_MS * 1000 - 1);
    net_socket_pump();
    assert_true(net_socket_is_sending());
    wire_advance(net_socket_now_us() + 1);
    net_socket_pump();
    assert_false(net_socket_is_sending());
    net_socket_link_set(NULL);
}

LISTEN_CASE(a_guard_answers_by_itself, "[::1]:7777") {
    at->clients[0] = client_make();
    const net_address server = address_of("[::1]:7777");
    uint8_t longest[NET_SOCKET_OUTER_BYTES_MAX] = {1};
    int descriptor = (int)host_of(at->clients[0])->socket;
    net_socket_wire_send(descriptor, &server, longest, sizeof longest);
    net_socket_wire_send(123456, &server, longest, 1); // unknown: nothing
    run_ms(at, 50);
    assert_int_equal(stats_of(at->clients[0]).sent_bytes, sizeof longest);
    assert_int_equal(stats_of(at->server).recv_bytes, sizeof longest);
    expect_assert_failure(net_socket_wire_send(descriptor, &server, longest, sizeof longest + 1));
    expect_assert_failure(net_socket_guard_set(123456, NULL));
}

// A CONNECT as the client's own session would seal it.
static void inject_connect(const world* at, uint32_t connect_id) {
    raw connect = raw_connect(1200, 2, connect_id);
    inject_as_first_client(at, &connect);
}

WORLD_CASE(a_session_with_a_connected_peer_begins_no_other_connection, 4) {
    net_peer peer = world_connect(at, 0);
    for (uint32_t i = 0; i < 3; i++) {
        inject_connect(at, htonl(0x1000 * (i + 1)));
        run_ms(at, 1000);
        assert_int_equal(stats_of(at->server).dropped_connects, i + 1);
    }
    assert_int_equal(at->at_server.connects, 1);
    assert_int_equal(at->at_server.disconnects, 0);
    assert_ok(send_number(at->clients[0], peer, NET_CHANNEL_CONTROL, 0));
    run_ms(at, 200);
    assert_int_equal(at->at_server.control_count, 1);
}

// issue 11, found by attack 2: ENet walks all peers for each CONNECT
WORLD_CASE(a_flood_of_connects_from_a_session_reaches_enet_a_few_times, 4) {
    enum { FLOOD = 900 }; // within the budget of a session
    world_open_session(at, 0);
    for (uint32_t i = 0; i < FLOOD; i++)
        inject_connect(at, htonl(0x1000 * (i + 1)));
    run_ms(at, 20);
    assert_int_equal(stats_of(at->server).dropped_connects, FLOOD - NET_SESSION_CONNECTS_BURST);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < 4; i++)
        taken += host_of(at->server)->peers[i].state != ENET_PEER_STATE_DISCONNECTED;
    assert_int_equal(taken, 1); // a session has one connection
}
