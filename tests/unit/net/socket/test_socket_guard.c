// SPDX-License-Identifier: MIT
// A guard between the virtual wire and ENet, and addresses of both families on that wire.
#include "socket/plain_guard.h"
#include "transport/connect_gate.h"
#include "transport/enet_world.h"

enum { UNMARKED = 3 };

static const char foreign[] = "[2001:db8::9]:666";

static net_address parsed(const char* text) {
    net_address address = {0};
    assert_int_equal(net_address_parse(text, &address), NET_OK);
    return address;
}

typedef struct guarded_world {
    world base;
    plain_guard at_server, at_clients[CLIENTS_MAX];
} guarded_world;

static void guarded_init(guarded_world* made, const char* listen) {
    memset(made, 0, sizeof *made);
    net_socket_virtual_set(true, 1);
    assert_int_equal(net_socket_link_set(NULL), NET_OK);
    made->base.now_us = 1000000;
    net_socket_virtual_advance(made->base.now_us);
    net_enet_config config = {.listen = listen, .peers_max = 4, .is_insecure_allowed = true};
    assert_int_equal(net_transport_enet_create(&config, &made->base.server), NET_OK);
    plain_guard_set(&made->at_server, (int)host_of(made->base.server)->socket);
}

// The client's guard knows one address, its number 0.
static bool guarded_connect(guarded_world* at, int index, const char* target) {
    world* base = &at->base;
    net_peer peer = 0;
    if (!base->clients[index]) base->clients[index] = client_make();
    plain_guard_set(&at->at_clients[index], (int)host_of(base->clients[index])->socket);
    net_address to = parsed(target);
    (void)plain_number(&at->at_clients[index], &to);
    assert_int_equal(base->clients[index]->ops->connect(base->clients[index], "10.0.0.0:7", &peer),
                     NET_OK);
    run_ms(base, 1000);
    return base->at_clients[index].connects > 0;
}

static void a_guard_opens_and_seals_everything_that_enet_says(void** state) {
    (void)state;
    guarded_world at;
    guarded_init(&at, "127.0.0.1:7777");
    assert_true(net_socket_is_guarded((int)host_of(at.base.server)->socket));
    assert_true(guarded_connect(&at, 0, "127.0.0.1:7777"));
    assert_int_equal(first_peer(at.base.server)->address.host, htonl(0x0A000000));
    assert_int_equal(
        send_number(at.base.clients[0], at.base.at_clients[0].connected, NET_CHANNEL_CONTROL, 0),
        NET_OK);
    run_ms(&at.base, 200);
    assert_int_equal(at.base.at_server.control_count, 1);
    assert_int_equal(at.at_server.refused, 0);
    world_deinit(&at.base);
}

static void what_the_guard_keeps_never_reaches_enet(void** state) {
    (void)state;
    guarded_world at;
    guarded_init(&at, "127.0.0.1:7777");
    raw connect = raw_connect(1200, 2, 77);
    for (int i = 0; i < UNMARKED; i++)
        inject(&connect); // without the mark
    run_ms(&at.base, 100);
    net_socket_stats stats;
    net_socket_get_stats((int)host_of(at.base.server)->socket, &stats);
    assert_int_equal(stats.guard_kept, UNMARKED);
    assert_int_equal(stats.recv_datagrams, UNMARKED);
    assert_int_equal(stats.sent_datagrams, 0);
    assert_int_equal(at.at_server.refused, UNMARKED);
    assert_int_equal(first_peer(at.base.server)->state, ENET_PEER_STATE_DISCONNECTED);
    assert_int_equal(stats_of(at.base.server).dropped_malformed, 0);
    world_deinit(&at.base);
}

static void without_a_guard_again_enet_sees_the_wire(void** state) {
    (void)state;
    guarded_world at;
    guarded_init(&at, "127.0.0.1:7777");
    int descriptor = (int)host_of(at.base.server)->socket;
    net_socket_guard_set(descriptor, NULL);
    assert_false(net_socket_is_guarded(descriptor));
    world_connect(&at.base, 0);
    world_deinit(&at.base);
}

static void ipv6_needs_a_guard(void** state) {
    (void)state;
    guarded_world at;
    guarded_init(&at, "[::]:7777");
    net_socket_guard_set((int)host_of(at.base.server)->socket, NULL);
    net_address from = parsed(foreign);
    raw connect = raw_connect(1200, 2, 77);
    assert_true(net_socket_virtual_inject_from(&from, PORT, connect.bytes, connect.size));
    run_ms(&at.base, 100);
    assert_int_equal(stats_of(at.base.server).socket_errors, 1);
    assert_int_equal(first_peer(at.base.server)->state, ENET_PEER_STATE_DISCONNECTED);
    inject(&connect); // IPv4 at the same socket
    run_ms(&at.base, 100);
    assert_int_not_equal(first_peer(at.base.server)->state, ENET_PEER_STATE_DISCONNECTED);
    world_deinit(&at.base);
}

static void servers_listen_on_one_or_two_families(void** state) {
    (void)state;
    static const struct {
        const char* listen;
        const char* target;
        bool is_reached;
    } CASES[] = {
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
    for (size_t i = 0; i < BASE_COUNT(CASES); i++) {
        guarded_world at;
        guarded_init(&at, CASES[i].listen);
        char text[NET_ENET_ADDRESS_TEXT_BYTES];
        assert_true(net_transport_enet_address(at.base.server, text, sizeof text));
        assert_string_equal(text, CASES[i].listen);
        assert_false(net_transport_enet_address(at.base.server, text, strlen(CASES[i].listen)));
        if (guarded_connect(&at, 0, CASES[i].target) != CASES[i].is_reached)
            fail_msg("%s from %s", CASES[i].listen, CASES[i].target);
        world_deinit(&at.base);
    }
}

static void many_hosts_of_ipv6_keep_their_names_on_a_delayed_wire(void** state) {
    (void)state;
    guarded_world at;
    guarded_init(&at, "[::]:7777");
    net_link_config slow = {.delay_ms = 50};
    assert_int_equal(net_socket_link_set(&slow), NET_OK);
    for (int i = 0; i < CLIENTS_MAX; i++)
        assert_true(guarded_connect(&at, i, i % 2 == 0 ? "[::1]:7777" : "127.0.0.1:7777"));
    assert_int_equal(at.base.at_server.connects, CLIENTS_MAX);
    assert_int_equal(at.at_server.count, CLIENTS_MAX);
    assert_int_equal(at.at_server.refused, 0);
    world_deinit(&at.base);
}

static void a_guard_answers_by_itself(void** state) {
    (void)state;
    guarded_world at;
    guarded_init(&at, "[::1]:7777");
    at.base.clients[0] = client_make();
    plain_guard_set(&at.at_clients[0], (int)host_of(at.base.clients[0])->socket);
    net_address server = parsed("[::1]:7777");
    uint8_t longest[NET_SOCKET_OUTER_BYTES_MAX] = {1};
    int descriptor = (int)host_of(at.base.clients[0])->socket;
    net_socket_wire_send(descriptor, &server, longest, sizeof longest);
    net_socket_wire_send(123456, &server, longest, 1); // unknown: nothing
    run_ms(&at.base, 50);
    assert_int_equal(at.at_server.refused, 1);
    assert_int_equal(stats_of(at.base.clients[0]).sent_bytes, sizeof longest);
    assert_int_equal(stats_of(at.base.server).recv_bytes, sizeof longest);
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure(net_socket_wire_send(descriptor, &server, longest, sizeof longest + 1));
    expect_assert_failure(net_socket_guard_set(123456, NULL));
    base_assert_handler_set(NULL);
    world_deinit(&at.base);
}

// A CONNECT as the client's own session would seal it.
static void inject_connect(const guarded_world* at, uint32_t session, uint32_t connect_id) {
    raw connect = raw_connect(1200, 2, connect_id);
    raw sealed = {.size = connect.size + 1};
    sealed.bytes[0] = PLAIN_MARK;
    for (size_t i = 0; i < connect.size; i++)
        sealed.bytes[i + 1] = connect.bytes[i] ^ 0xFF;
    assert_true(net_socket_virtual_inject_from(&at->at_server.known[session], PORT, sealed.bytes,
                                               sealed.size));
}

static void a_session_with_a_connected_peer_begins_no_other_connection(void** state) {
    (void)state;
    guarded_world at;
    guarded_init(&at, "127.0.0.1:7777");
    assert_true(guarded_connect(&at, 0, "127.0.0.1:7777"));
    for (uint32_t i = 0; i < 3; i++) {
        inject_connect(&at, 0, htonl(0x1000 * (i + 1)));
        run_ms(&at.base, 1000);
        assert_int_equal(stats_of(at.base.server).dropped_connects, i + 1);
    }
    assert_int_equal(at.base.at_server.connects, 1);
    assert_int_equal(at.base.at_server.disconnects, 0);
    assert_int_equal(
        send_number(at.base.clients[0], at.base.at_clients[0].connected, NET_CHANNEL_CONTROL, 0),
        NET_OK);
    run_ms(&at.base, 200);
    assert_int_equal(at.base.at_server.control_count, 1);
    world_deinit(&at.base);
}

// issue 11, found by attack 2: ENet walks all peers for each CONNECT
static void a_flood_of_connects_from_a_session_reaches_enet_a_few_times(void** state) {
    (void)state;
    enum { FLOOD = 3000 };
    guarded_world at;
    guarded_init(&at, "127.0.0.1:7777");
    net_address from = parsed(foreign);
    (void)plain_number(&at.at_server, &from);
    for (uint32_t i = 0; i < FLOOD; i++)
        inject_connect(&at, 0, htonl(0x1000 * (i + 1)));
    run_ms(&at.base, 20);
    net_transport_stats stats = stats_of(at.base.server);
    assert_int_equal(stats.dropped_connects, FLOOD - NET_SESSION_CONNECTS_BURST);
    world_deinit(&at.base);
}

static void a_new_session_ends_the_connection_of_the_old_one_of_its_number(void** state) {
    (void)state;
    guarded_world at;
    guarded_init(&at, "127.0.0.1:7777");
    assert_true(guarded_connect(&at, 0, "127.0.0.1:7777"));
    at.at_server.generation = 1; // a new session from the same place
    inject_connect(&at, 0, htonl(0x5000));
    run_ms(&at.base, 100);
    assert_int_equal(at.base.at_server.disconnects, 1);
    assert_int_equal(stats_of(at.base.server).dropped_connects, 0);
    world_deinit(&at.base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_guard_opens_and_seals_everything_that_enet_says),
        TEST(what_the_guard_keeps_never_reaches_enet),
        TEST(without_a_guard_again_enet_sees_the_wire),
        TEST(ipv6_needs_a_guard),
        TEST(servers_listen_on_one_or_two_families),
        TEST(many_hosts_of_ipv6_keep_their_names_on_a_delayed_wire),
        TEST(a_guard_answers_by_itself),
        TEST(a_session_with_a_connected_peer_begins_no_other_connection),
        TEST(a_flood_of_connects_from_a_session_reaches_enet_a_few_times),
        TEST(a_new_session_ends_the_connection_of_the_old_one_of_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
