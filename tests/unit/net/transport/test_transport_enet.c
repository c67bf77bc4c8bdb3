// SPDX-License-Identifier: MIT
// ENet over the virtual wire with honest endpoints: connections, time-outs, sizes, queues,
// creation. Together with test_transport_hostile.c there is one case for each ENet problem that
// net/README.md lists.
#include "enet_world.h"

#include "scarce.h"
#include "names.h"

// ---- normal operation

// ENet walks all peers whenever it works.
WORLD_CASE(packets_of_the_realtime_channel_leave_enet_alone, 4) {
    const net_peer peer = world_connect(at, 0);
    const net_enet_transport* host = host_of(at->server)->peers[0].data;
    enum { MS = 100, ENET_MS = 5 };
    uint32_t worked = 0;
    for (uint32_t ms = 0; ms < MS; ms++) {
        assert_ok(send_number(at->clients[0], peer, NET_CHANNEL_REALTIME, ms));
        at->clients[0]->ops->flush(at->clients[0]);
        at->now_us += 1000;
        wire_advance(at->now_us);
        drain(at->server, at->now_us, &at->at_server);
        worked += host->stepped_us == at->now_us;
    }
    assert_int_equal(at->at_server.realtime_count, MS);
    assert_in_range(worked, MS / ENET_MS - 1, MS / ENET_MS + 1);
    assert_ok(send_number(at->clients[0], peer, NET_CHANNEL_CONTROL, 0)); // at once
    at->clients[0]->ops->flush(at->clients[0]);
    drain(at->server, at->now_us, &at->at_server);
    assert_int_equal(at->at_server.control_count, 1);
}

WORLD_CASE(a_goodbye_comes_after_what_was_queued_and_both_sides_learn_it, 4) {
    world_connect(at, 0);
    net_peer peer = at->at_server.connected;
    for (uint32_t i = 0; i < 20; i++)
        assert_ok(send_number(at->server, peer, NET_CHANNEL_CONTROL, i));
    at->server->ops->disconnect(at->server, peer, 9, false);
    assert_int_equal(send_number(at->server, peer, NET_CHANNEL_CONTROL, 1), NET_ERR_CLOSED);
    run_ms(at, 1000);
    assert_int_equal(at->at_clients[0].control_count, 20);
    assert_int_equal(at->at_clients[0].disconnects, 1);
    assert_int_equal(at->at_clients[0].reason, 9);
    assert_int_equal(at->at_server.disconnects, 1);
    assert_int_equal(at->at_server.disconnected, peer);
}

WORLD_CASE(a_goodbye_at_once_ends_our_side_without_an_event, 4) {
    net_peer peer = world_connect(at, 0);
    at->clients[0]->ops->disconnect(at->clients[0], peer, 5, true);
    assert_int_equal(send_number(at->clients[0], peer, NET_CHANNEL_CONTROL, 1), NET_ERR_CLOSED);
    run_ms(at, 200);
    assert_int_equal(at->at_server.disconnects, 1);
    assert_int_equal(at->at_server.reason, 5);
    assert_int_equal(at->at_clients[0].disconnects, 0);
}

WORLD_CASE(a_reused_slot_has_a_new_peer_and_the_old_one_is_closed, 1) {
    net_peer old_client = world_connect(at, 0), old_server = at->at_server.connected;
    at->clients[0]->ops->disconnect(at->clients[0], old_client, 0, true);
    run_ms(at, 100);
    net_peer peer = world_begin_connect(at, 0, "127.0.0.1:7777");
    run_ms(at, 200);
    assert_int_equal(at->at_server.connects, 2);
    assert_int_not_equal(peer, old_client);
    assert_int_not_equal(at->at_server.connected, old_server);
    assert_int_equal(send_number(at->server, old_server, NET_CHANNEL_CONTROL, 0), NET_ERR_CLOSED);
    assert_int_equal(send_number(at->server, 0, NET_CHANNEL_CONTROL, 0), NET_ERR_CLOSED);
    assert_int_equal(send_number(at->server, UINT32_MAX, NET_CHANNEL_CONTROL, 0), NET_ERR_CLOSED);
    at->server->ops->disconnect(at->server, old_server, 0, true); // this has no effect
    assert_ok(send_number(at->server, at->at_server.connected, NET_CHANNEL_CONTROL, 0));
}

static const struct {
    const char* address;
    uint32_t ms_min, ms_max;
} NAMED[] = {
    {"four.first:7777", 0, 150}, {"six.first:7777", 250, 400}, {"many.sixes:7777", 250, 400}};

// RFC 8305: one address each 250 ms, the families in turn; the server has 127.0.0.1 alone.
CASE_ROWS(world, at, world_init(at, 1), world_deinit(at), i, BASE_COUNT(NAMED),
          the_first_address_of_a_name_that_answers_is_the_server) {
    const net_enet_config config = {.peers_max = 1, .resolver = &names};
    assert_ok(net_transport_enet_create(&config, &at->clients[0]));
    const net_peer peer = world_begin_connect(at, 0, NAMED[i].address);
    run_ms(at, NAMED[i].ms_min);
    assert_int_equal(at->at_server.connects, 0);
    run_ms(at, NAMED[i].ms_max - NAMED[i].ms_min);
    assert_int_equal(at->at_server.connects, 1);
    assert_int_equal(at->at_clients[0].connected, peer);
}

WORLD_CASE(a_connect_that_nobody_answers_ends_after_five_seconds, 1) {
    net_peer peer = world_begin_connect(at, 0, "127.0.0.1:9");
    run_ms(at, NET_CONNECT_MS_MAX - 50);
    assert_int_equal(at->at_clients[0].disconnects, 0);
    run_ms(at, 100);
    assert_int_equal(at->at_clients[0].disconnects, 1);
    assert_int_equal(at->at_clients[0].disconnected, peer);
}

// ---- what the outer layer tells

WORLD_CASE(a_server_that_is_gone_has_closed_its_connections, 4) {
    for (int i = 0; i < 3; i++)
        world_connect(at, i);
    at->server->ops->destroy(at->server);
    at->server = NULL;
    run_ms(at, 100);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(at->at_clients[i].disconnects, 1);
        assert_int_equal(at->at_clients[i].reason, 0); // as when it was lost
    }
}

// ENet says goodbye at once in one datagram, which is lost here.
WORLD_CASE(a_connection_that_a_server_dropped_is_closed_when_the_line_is_back, 4) {
    world_connect(at, 0);
    net_socket_link_set(&(net_link_config){.loss_percent = 100});
    at->server->ops->disconnect(at->server, at->at_server.connected, 9, true);
    run_ms(at, 100);
    net_socket_link_set(NULL);
    run_ms(at, 2500);
    assert_int_equal(at->at_clients[0].disconnects, 1);
    assert_int_equal(at->at_clients[0].reason, 0);
}

WORLD_CASE(a_client_without_a_token_learns_at_once_that_it_needs_one, 4) {
    const net_key_ring ring = {.keys = {{.id = 1}}, .count = 1};
    net_transport_enet_keys_set(at->server, &ring);
    (void)world_begin_connect(at, 0, "127.0.0.1:7777");
    run_ms(at, 100);
    assert_int_equal(at->at_clients[0].disconnects, 0);
    assert_int_equal(at->at_clients[0].notices, 1);
    assert_int_equal(at->at_clients[0].reason, NET_TRANSPORT_SECURE + NET_SECURE_END_NO_TOKEN);
    run_ms(at, NET_CONNECT_MS_MAX);
    assert_int_equal(at->at_clients[0].notices, 1);
    assert_int_equal(at->at_clients[0].disconnects, 1);
    assert_int_equal(at->at_clients[0].reason, NET_TRANSPORT_SECURE + NET_SECURE_END_NO_TOKEN);
}

static uint64_t run_of(uint64_t seed) {
    world at;
    world_init_seeded(&at, (net_enet_config){.peers_max = 4}, seed);
    net_link_config link = {.loss_percent = 10, .delay_ms = 30, .jitter_ms = 20, .seed = seed};
    net_socket_link_set(&link);
    net_peer peer = world_connect(&at, 0);
    for (uint32_t i = 0; i < 300; i++) {
        (void)send_number(at.clients[0], peer, NET_CHANNEL_REALTIME, i);
        (void)send_number(at.server, at.at_server.connected, NET_CHANNEL_CONTROL, i);
        run_tick(&at);
    }
    net_transport_stats server = stats_of(at.server), client = stats_of(at.clients[0]);
    uint64_t run = host_of(at.server)->randomSeed * UINT64_C(31) + first_peer(at.server)->connectID;
    const uint64_t parts[] = {server.sent_bytes,  server.recv_bytes,          server.sent_datagrams,
                              client.sent_bytes,  client.recv_bytes,          client.sim_dropped,
                              server.sim_dropped, at.at_server.realtime_count};
    for (size_t i = 0; i < BASE_COUNT(parts); i++)
        run = run * UINT64_C(1000003) + parts[i];
    world_deinit(&at);
    return run;
}

// platform 7, security 4.3: also the host's address in its random seed
CASE(the_same_seed_gives_the_same_run) {
    assert_true(run_of(5) == run_of(5));
    assert_true(run_of(5) != run_of(6));
}

// ---- time-outs

// platform 3, security 4.3
WORLD_CASE(ten_minutes_of_twenty_percent_loss_end_nothing, 4) {
    net_peer peer = world_connect(at, 0);
    net_link_config link = {.loss_percent = 20, .delay_ms = 50, .jitter_ms = 10, .seed = 4};
    net_socket_link_set(&link);
    uint32_t sent = 0;
    for (uint32_t tick = 0; tick < 60 * 600; tick++) {
        (void)send_number(at->clients[0], peer, NET_CHANNEL_REALTIME, tick);
        (void)send_number(at->server, at->at_server.connected, NET_CHANNEL_REALTIME, tick);
        if (tick % 6 == 0)
            sent += send_number(at->server, at->at_server.connected, NET_CHANNEL_CONTROL, sent) ==
                    NET_OK;
        run_tick(at);
    }
    assert_int_equal(at->at_server.disconnects + at->at_clients[0].disconnects, 0);
    // Both directions of either socket lose datagrams, so 64 % of them arrive.
    assert_in_range(at->at_server.realtime_count, 36000 * 62 / 100, 36000 * 66 / 100);
    net_socket_link_set(NULL);
    run_ms(at, 5000);
    assert_int_equal(sent, 6000);
    assert_int_equal(at->at_clients[0].control_count, sent);
    assert_false(at->at_clients[0].is_out_of_order);
    assert_int_equal(stats_of(at->server).peers_reset, 0);
}

// security 4.3: no wait of a reliable command grows beyond a second
WORLD_CASE(resends_come_at_least_once_a_second_in_a_blackout, 4) {
    world_connect(at, 0);
    net_link_config dark = {.loss_percent = 100};
    net_socket_link_set(&dark);
    assert_ok(send_number(at->server, at->at_server.connected, NET_CHANNEL_CONTROL, 0));
    for (uint32_t second = 0; second < 25; second++) {
        uint64_t before = stats_of(at->server).sent_datagrams;
        run_ms(at, 1100);
        assert_true(stats_of(at->server).sent_datagrams > before);
    }
    net_socket_link_set(NULL);
    run_ms(at, 1500);
    assert_int_equal(at->at_clients[0].control_count, 1);
    assert_int_equal(at->at_server.disconnects, 0);
}

// security 5.3: suspended for 40 s
WORLD_CASE(a_stall_of_forty_seconds_ends_nothing, 4) {
    world_connect(at, 0);
    (void)send_number(at->server, at->at_server.connected, NET_CHANNEL_CONTROL, 0);
    at->server->ops->flush(at->server);
    at->now_us += 40000000;
    run_ms(at, 2000);
    assert_int_equal(at->at_server.disconnects + at->at_clients[0].disconnects, 0);
    assert_int_equal(at->at_clients[0].control_count, 1);
}

// security 4.3: the millisecond clock wraps after 49 days
WORLD_CASE(the_wrap_of_the_millisecond_clock_is_not_noticed, 4) {
    at->now_us = (UINT64_C(1) << 32) * 1000 - 5000000;
    wire_advance(at->now_us);
    net_peer peer = world_connect(at, 0);
    for (uint32_t i = 0; i < 600; i++) {
        assert_ok(send_number(at->clients[0], peer, NET_CHANNEL_CONTROL, i));
        run_tick(at);
    }
    run_ms(at, 500);
    assert_true(at->now_us > (UINT64_C(1) << 32) * 1000);
    assert_int_equal(at->at_server.control_count, 600);
    assert_int_equal(at->at_server.disconnects + at->at_clients[0].disconnects, 0);
}

WORLD_CASE(a_peer_that_vanishes_is_given_up_within_a_minute, 4) {
    world_connect(at, 0);
    world_remove_client(at, 0);
    run_ms(at, 30000);
    // The silence rule of the session layer applies first.
    assert_int_equal(at->at_server.disconnects, 0);
    run_ms(at, 35000);
    assert_int_equal(at->at_server.disconnects, 1);
    assert_int_equal(at->at_server.reason, 0);
}

// ---- sizes and queues

// platform: unreliable fragments; design "Packet size"
WORLD_CASE(the_largest_state_packet_is_one_datagram_and_a_larger_one_is_refused, 4) {
    static const uint8_t bytes[NET_STATE_BYTES_MAX + 1] = {1};
    world_connect(at, 0);
    net_peer peer = at->at_server.connected;
    uint64_t before = stats_of(at->server).sent_datagrams;
    assert_ok(at->server->ops->send(at->server, peer, NET_CHANNEL_REALTIME, bytes,
                                    NET_STATE_BYTES_MAX - 1));
    assert_ok(
        at->server->ops->send(at->server, peer, NET_CHANNEL_REALTIME, bytes, NET_STATE_BYTES_MAX));
    assert_int_equal(at->server->ops->send(at->server, peer, NET_CHANNEL_REALTIME, bytes,
                                           NET_STATE_BYTES_MAX + 1),
                     NET_ERR_FULL);
    at->server->ops->flush(at->server);
    assert_int_equal(stats_of(at->server).sent_datagrams, before + 2);
    assert_true(
        enet_list_empty(&first_peer(at->server)->sentReliableCommands)); // not made reliable
    run_ms(at, 100);
    assert_int_equal(at->at_clients[0].realtime_count, 2);
    assert_int_equal(at->at_clients[0].largest, NET_STATE_BYTES_MAX);
}

// security 0.7, 4.1: zero-length packets; maximumPacketSize
WORLD_CASE(empty_and_oversized_messages_are_refused, 4) {
    static const uint8_t bytes[NET_CONTROL_BYTES_MAX + 1] = {0};
    net_peer peer = world_connect(at, 0);
    net_transport* client = at->clients[0];
    assert_int_equal(client->ops->send(client, peer, NET_CHANNEL_CONTROL, bytes, 0), NET_ERR_FULL);
    assert_int_equal(client->ops->send(client, peer, NET_CHANNEL_REALTIME, bytes, 0), NET_ERR_FULL);
    assert_int_equal(
        client->ops->send(client, peer, NET_CHANNEL_CONTROL, bytes, NET_CONTROL_BYTES_MAX + 1),
        NET_ERR_FULL);
    assert_int_equal(stats_of(client).send_refused, 3);
    assert_ok(client->ops->send(client, peer, NET_CHANNEL_CONTROL, bytes, NET_CONTROL_BYTES_MAX));
    run_ms(at, 500);
    assert_int_equal(at->at_server.control_count, 1);
    assert_int_equal(at->at_server.largest, NET_CONTROL_BYTES_MAX);
}

// platform: enet_peer_send -1, memory of dead peers; security row 13
WORLD_CASE(a_queue_has_a_limit_and_is_freed_with_its_peer, 4) {
    static const uint8_t bytes[16000] = {0};
    world_connect(at, 0);
    net_peer peer = at->at_server.connected;
    net_link_config dark = {.loss_percent = 100};
    net_socket_link_set(&dark);
    uint32_t queued = 0;
    while (at->server->ops->send(at->server, peer, NET_CHANNEL_CONTROL, bytes, sizeof bytes) ==
           NET_OK)
        queued++;
    assert_int_equal(queued, 256 * 1024 / sizeof bytes);
    at->server->ops->disconnect(at->server, peer, 0, true);
    net_socket_link_set(NULL);
    run_ms(at, 100);
    world_remove_client(at, 0);
    memset(&at->at_clients[0], 0, sizeof at->at_clients[0]);
    world_connect(at, 0); // the same slot, and its account is zero again
    for (uint32_t i = 0; i < queued; i++)
        assert_ok(at->server->ops->send(at->server, at->at_server.connected, NET_CHANNEL_CONTROL,
                                        bytes, sizeof bytes));
}

// ---- creating

static net_result create_and_destroy(const net_enet_config* config) {
    net_transport* made = NULL;
    net_result result = net_transport_enet_create(config, &made);
    if (result == NET_OK) made->ops->destroy(made);
    return result;
}

CASE(addresses_and_limits_are_checked) {
    static const struct {
        uint32_t peers_max;
        bool allow_dev_key;
        net_result result;
        const char* listen; // several, with spaces between
    } rows[] = {
        {0, false, NET_ERR_FULL, "127.0.0.1:7000"},
        {1, false, NET_OK,
         "127.0.0.1:7000 six.first:7000 127.9.9.9:7000 10.0.0.1:7000 127.0.0.1:65535 [::1]:7000 "
         "127.0.0.1:7000,[::1]:7000"},
        {NET_CLIENTS_MAX - 1, false, NET_OK, "127.0.0.1:7000"},
        {NET_CLIENTS_MAX, false, NET_OK, "127.0.0.1:7000"},
        {NET_CLIENTS_MAX + 1, false, NET_ERR_FULL, "127.0.0.1:7000"},
        {1, false, NET_ERR_REFUSED,
         "public:7000 0.0.0.0:7000 192.0.2.1:7000 [::]:7000 127.0.0.1:7000,[::]:7000"},
        {1, false, NET_ERR_ADDRESS,
         "unknown:7000 127.0.0.1 :7000 127.0.0.1: 127.0.0.1:65536 127.0.0.1:7x ::1:7000 "
         "127.0.0.1:7000,127.0.0.1:7001 [::1]:7000,[::1]:7001 127.0.0.1:7000, ,127.0.0.1:7000 "
         "127.0.0.1:7000,[::1]:7000,[::1]:7001"},
        {1, true, NET_OK, "192.0.2.1:7000 0.0.0.0:7000 [::]:7000"},
    };
    wire_set(true, 1);
    for (size_t i = 0; i < BASE_COUNT(rows); i++) {
        char listen[64];
        int used = 0;
        for (const char* at = rows[i].listen; sscanf(at, "%63s%n", listen, &used) == 1;
             at += used) {
            const net_enet_config config = {.listen = listen,
                                            .peers_max = rows[i].peers_max,
                                            .resolver = &names,
                                            .security = {.allow_dev_key = rows[i].allow_dev_key}};
            const net_result result = create_and_destroy(&config);
            if (result != rows[i].result)
                fail_msg("%s, %u peers: %d", listen, config.peers_max, (int)result);
        }
    }
    const net_enet_config nowhere = {.listen = "", .peers_max = 1};
    assert_int_equal(create_and_destroy(&nowhere), NET_ERR_ADDRESS);
    net_transport* client = client_make();
    net_peer peer = 1;
    assert_int_equal(client->ops->connect(client, "nowhere", &peer), NET_ERR_ADDRESS);
    assert_int_equal(client->ops->connect(client, "127.0.0.1:0", &peer), NET_ERR_ADDRESS);
    assert_int_equal(peer, 0);
    assert_ok(client->ops->connect(client, "127.0.0.1:1", &peer));
    assert_int_equal(client->ops->connect(client, "127.0.0.1:1", &peer), NET_ERR_FULL);
    client->ops->destroy(client);
    wire_set(false, 0);
}

WORLD_CASE(a_port_in_use_is_said_and_port_zero_finds_a_free_one, 1) {
    net_enet_config config = {.listen = "127.0.0.1:7777", .peers_max = 1};
    assert_int_equal(create_and_destroy(&config), NET_ERR_BIND);
    config.listen = "127.0.0.1:0";
    net_transport* other = NULL;
    assert_ok(net_transport_enet_create(&config, &other));
    char text[32];
    assert_true(net_transport_enet_address(other, text, sizeof text));
    assert_string_equal(text, "127.0.0.1:49152");
    assert_true(net_transport_enet_address(at->server, text, sizeof text));
    assert_string_equal(text, "127.0.0.1:7777");
    assert_false(net_transport_enet_address(at->server, text, 5));
    at->clients[0] = client_make();
    assert_false(net_transport_enet_address(at->clients[0], text, sizeof text));
    int descriptor = -1;
    assert_int_equal(other->ops->sockets(other, &descriptor, 1), 0); // there is nothing to wait on
    other->ops->destroy(other);
}

static uint64_t enet_calls; // for memory

void* enet_malloc(size_t size) {
    enet_calls++;
    return malloc(size);
}

static void exchange_packets(world* at, net_peer peer, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        assert_ok(send_number(at->clients[0], peer, NET_CHANNEL_REALTIME, i));
        assert_ok(send_number(at->server, at->at_server.connected, NET_CHANNEL_REALTIME, i));
        run_tick(at);
    }
}

WORLD_CASE(packets_need_memory_once, 4) {
    static scarce_memory memory; // the server ends after this case
    scarce_init(&memory);
    const net_enet_config config = {.allocator = &memory.allocator,
                                    .listen = "127.0.0.1:7777",
                                    .peers_max = 4,
                                    .lanes = WORLD_LANES};
    at->server->ops->destroy(at->server);
    assert_ok(net_transport_enet_create(&config, &at->server));
    net_peer peer = world_connect(at, 0);
    exchange_packets(at, peer, 120); // a second after a connect ENet says its bandwidth, once
    const uint64_t calls = memory.calls, calls_of_enet = enet_calls;
    assert_true(calls_of_enet > 0);
    exchange_packets(at, peer, 200);
    assert_int_equal(memory.calls, calls);
    assert_int_equal(enet_calls, calls_of_enet);
    run_ms(at, 100);
    assert_int_equal(at->at_server.realtime_count, 320);
    assert_int_equal(at->at_clients[0].realtime_count, 320);
}

// platform 7: the self-test
CASE(libenet_calls_our_socket_layer) {
    assert_true(net_socket_is_installed());
    wire_set(true, 1);
    assert_true(net_socket_is_installed());
    wire_set(false, 0);
    net_socket_stats stats = {.sent_bytes = 1};
    net_socket_get_stats(123456, &stats);
    assert_int_equal(stats.sent_bytes, 0);
    net_socket_flush(123456);
    net_socket_budget_set(123456, NULL);
    assert_false(wire_is_guarded(123456));
    assert_true(net_socket_next_us() == UINT64_MAX);
}
