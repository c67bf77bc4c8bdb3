// SPDX-License-Identifier: MIT
// ENet over the virtual wire with unknown addresses and malicious clients: datagrams that the
// project's own sender never writes, and their cost.
#include "enet_world.h"

// security 0.4, platform 5: empty datagrams end the drain, long ones fail the service
WORLD_CASE(empty_and_oversized_datagrams_do_not_stop_the_drain, 4) {
    static const uint8_t bytes[NET_LINK_BYTES_MAX] = {0x0F, 0xFF};
    net_peer peer = world_connect(at, 0);
    for (uint32_t i = 0; i < 60; i++) {
        for (int k = 0; k < 10; k++) {
            assert_true(wire_inject(foreign_host(), 9, PORT, NULL, 0));
            assert_true(wire_inject(foreign_host(), 9, PORT, bytes, NET_DATAGRAM_BYTES_MAX + 1));
            assert_true(wire_inject(foreign_host(), 9, PORT, bytes, sizeof bytes));
        }
        assert_ok(send_number(at->clients[0], peer, NET_CHANNEL_REALTIME, i));
        run_tick(at);
    }
    run_tick(at);
    assert_int_equal(at->at_server.realtime_count, 60);
    net_transport_stats stats = stats_of(at->server);
    assert_int_equal(stats.dropped_empty, 600);
    assert_int_equal(stats.dropped_oversized, 1200);
    assert_int_equal(stats.service_errors + stats.dropped_malformed, 0);
}

static raw noise_for_enet(void) { // for a peer that does not exist: ENet ignores it
    raw noise = raw_begin(0x8003);
    raw_add(&noise, 0x85, 0xFF, 1, "");
    return noise;
}

// security 4.1: one ENet service reads 256 datagrams; without a loop the rest would wait for the
// next tick
WORLD_CASE(a_burst_is_drained_within_one_service, 4) {
    net_peer peer = world_connect(at, 0);
    raw noise = noise_for_enet();
    for (int i = 0; i < 3000; i++)
        inject(&noise);
    assert_ok(send_number(at->clients[0], peer, NET_CHANNEL_REALTIME, 1));
    at->clients[0]->ops->flush(at->clients[0]);
    run_tick(at);
    assert_int_equal(at->at_server.realtime_count, 1);
}

// Each look at this clock takes a tenth of a millisecond.
static uint64_t clock_us;

static uint64_t slow_clock(void* context) {
    return clock_us += 100;
}

static void world_init_timed(world* made, uint32_t service_us_max) {
    clock_us = 1000000;
    world_init_seeded(
        made,
        (net_enet_config){.peers_max = 4, .service_us_max = service_us_max, .wall_us = slow_clock},
        1);
}

#define TIMED_CASE(name, service_us_max)                                                           \
    CASE_WITH(world, at, world_init_timed(at, service_us_max), world_deinit(at), name)

// issue 11, found by attack 1: a service has a budget of wall-clock time, and the rest waits
TIMED_CASE(a_flood_is_read_for_four_milliseconds_and_the_rest_waits, 0) {
    enum { FLOOD = 4000 };
    uint64_t read = 0;
    raw noise = noise_for_enet();
    for (int i = 0; i < FLOOD; i++)
        inject(&noise);
    uint32_t services = 0;
    for (; read < FLOOD && services < FLOOD; services++) {
        uint64_t begin_us = clock_us;
        run_tick(at);
        assert_in_range(clock_us - begin_us, 1, NET_SERVICE_US_MAX + 300);
        assert_true(stats_of(at->server).recv_datagrams > read); // no service is in vain
        read = stats_of(at->server).recv_datagrams;
    }
    assert_int_equal(read, FLOOD);
    assert_in_range(services, 2, FLOOD / 64);
    assert_in_range(stats_of(at->server).services_cut, 1, services);
}

TIMED_CASE(a_service_ends_when_the_tick_is_due, 3000) {
    static const struct {
        int64_t due_in_us;
        uint64_t share_us;
    } CASES[] = {{-5000, NET_SERVICE_US_MIN},
                 {0, NET_SERVICE_US_MIN},
                 {NET_SERVICE_US_MIN, NET_SERVICE_US_MIN},
                 {1500, 1400}, // the clock moved while it was asked
                 {2900, 2800},
                 {9000, 3000}};
    raw noise = noise_for_enet();
    for (size_t i = 0; i < BASE_COUNT(CASES); i++) {
        for (int k = 0; k < 4000; k++)
            inject(&noise);
        uint64_t begin_us = clock_us;
        net_transport_enet_due(at->server, (uint64_t)((int64_t)begin_us + CASES[i].due_in_us));
        run_tick(at);
        assert_in_range(clock_us - begin_us, CASES[i].share_us, CASES[i].share_us + 300);
        net_transport_enet_due(at->server, UINT64_MAX);
        run_ms(at, 2000); // the rest
    }
}

TIMED_CASE(events_count_in_the_budget_of_a_service, 1000) {
    enum { MESSAGES = 200 };
    net_peer peer = world_connect(at, 0);
    for (uint32_t i = 0; i < MESSAGES; i++)
        assert_ok(send_number(at->clients[0], peer, NET_CHANNEL_CONTROL, i));
    at->clients[0]->ops->flush(at->clients[0]);
    uint32_t before = 0, services = 0;
    for (; at->at_server.control_count < MESSAGES && services < MESSAGES; services++) {
        run_tick(at);
        assert_in_range(at->at_server.control_count - before, 0, 12);
        before = at->at_server.control_count;
    }
    assert_int_equal(at->at_server.control_count, MESSAGES);
    assert_false(at->at_server.is_out_of_order);
}

// Virtual time asks no clock: the counts of datagrams and of calls are the only bounds.
WORLD_CASE(in_virtual_time_a_service_is_bounded_by_counts, 4) {
    enum { WIRE_MAX = 4096, FLOOD = 5 * WIRE_MAX, DATAGRAMS_MAX = 4 * WIRE_MAX };
    if (WORLD_LANES > 1) skip(); // a trunk reads in service(), not in next()
    raw noise = noise_for_enet();
    net_transport_event event;
    at->server->ops->service(at->server, at->now_us);
    for (int i = 0; i < FLOOD; i++) { // the wire holds less than one service may read
        inject(&noise);
        if (i % WIRE_MAX == WIRE_MAX - 1) assert_false(at->server->ops->next(at->server, &event));
    }
    assert_int_equal(stats_of(at->server).recv_datagrams, DATAGRAMS_MAX);
    assert_int_equal(stats_of(at->server).services_cut, 0);
    run_tick(at);
    assert_int_equal(stats_of(at->server).recv_datagrams, FLOOD);
}

// security 4.1, "duplicate walk": 7.7 s in one call
WORLD_CASE(repeats_of_a_command_reach_enet_as_a_ration, 4) {
    enum { FLOOD = 900, COMMANDS = 32, WAITING = 100 }; // within the budget of a session
    net_peer peer = world_connect(at, 0);
    raw waiting = raw_as_first_client(at, true);
    raw_add(&waiting, 0x86, 0, WAITING, "21", 1, 'x'); // number 1 does not come: it waits
    raw repeats = raw_as_first_client(at, true);
    for (int i = 0; i < COMMANDS; i++)
        raw_add(&repeats, 0x86, 0, WAITING, "21", 1, 'x');
    inject_as_first_client(at, &waiting);
    run_tick(at);
    uint64_t sent_before = stats_of(at->server).sent_bytes;
    for (int i = 0; i < FLOOD; i++)
        inject_as_first_client(at, &repeats);
    run_tick(at);
    net_transport_stats stats = stats_of(at->server);
    assert_int_equal(stats.dropped_repeats, FLOOD - NET_REPEATS_PER_SECOND / COMMANDS);
    assert_in_range(stats.sent_bytes - sent_before, 0, NET_REPEATS_PER_SECOND * 16);
    // Another connection and unsequenced data are not concerned.
    assert_ok(send_number(at->clients[0], peer, NET_CHANNEL_REALTIME, 1));
    world_connect(at, 1);
    assert_int_equal(at->at_server.realtime_count, 1);
}

// security 0.5: a peer at port 0 cannot be answered; the refusal of the kernel is a service error
WORLD_CASE(datagrams_from_port_zero_never_reach_enet, 4) {
    raw connect = raw_connect(1200, 2, 7);
    inject_from(foreign_host(), 0, &connect);
    run_ms(at, 100);
    assert_int_equal(first_peer(at->server)->state, ENET_PEER_STATE_DISCONNECTED);
    assert_int_equal(stats_of(at->server).service_errors, 0);
    assert_int_equal(stats_of(at->server).socket_errors, 1);
}

// platform: the server accepts the client's mtu up to 4096; 255 channels cost 20 KB
WORLD_CASE(a_connect_with_a_large_mtu_or_many_channels_is_clamped, 8) {
    static const uint32_t mtus[] = {576, 1400, 4096, UINT32_MAX};
    if (WORLD_LANES > 1) skip(); // it looks into one host
    for (uint32_t i = 0; i < BASE_COUNT(mtus); i++) {
        world_open_session(at, (int)i);
        raw connect = raw_connect(mtus[i], 255, i + 1);
        inject_as_client(at, (int)i, &connect);
    }
    run_ms(at, 50);
    for (uint32_t i = 0; i < BASE_COUNT(mtus); i++) {
        const ENetPeer* peer = &host_of(at->server)->peers[i];
        assert_int_equal(peer->state, ENET_PEER_STATE_ACKNOWLEDGING_CONNECT);
        assert_int_equal(peer->mtu, NET_MTU_BYTES);
        assert_int_equal(peer->channelCount, 2);
    }
}

WORLD_CASE(every_peer_starts_with_our_mtu, 8) {
    for (size_t i = 0; i < host_of(at->server)->peerCount; i++)
        assert_int_equal(host_of(at->server)->peers[i].mtu, NET_MTU_BYTES);
    world_connect(at, 0);
    assert_int_equal(first_peer(at->clients[0])->mtu, NET_MTU_BYTES);
    assert_int_equal(first_peer(at->server)->mtu, NET_MTU_BYTES);
    assert_int_equal(host_of(at->server)->maximumPacketSize, NET_CONTROL_BYTES_MAX);
    assert_int_equal(host_of(at->server)->maximumWaitingData, 64 * 1024);
    assert_null(host_of(at->server)->compressor.context);
    assert_int_equal(host_of(at->server)->incomingBandwidth, 0);
    assert_int_equal(host_of(at->server)->outgoingBandwidth, 0);
}

static int read_nothing(ENetHost* host, ENetEvent* event) {
    return 1;
}

// security 0.1, 0.2: a spoofed connect takes a slot of ENet and is answered five times over
WORLD_CASE(a_connect_without_a_session_takes_nothing_and_gets_nothing, 1) {
    raw connect = raw_connect(1200, 2, 7), ack = raw_begin(0x8000);
    raw_add(&ack, 0x01, 0xFF, 1, "22", 1, 0);
    inject(&connect);
    for (int i = 0; i < 4; i++)
        inject(&ack); // the blind handshake
    run_ms(at, 5000);
    assert_int_equal(first_peer(at->server)->state, ENET_PEER_STATE_DISCONNECTED);
    net_transport_stats stats = stats_of(at->server);
    assert_int_equal(stats.sent_bytes, 0);
    assert_int_equal(stats.peers_reset, 0);
    assert_int_equal(at->at_server.connects + at->at_server.disconnects, 0);
    world_connect(at, 0);
}

// A member that begins to connect and does not go on: its slot is free after five seconds.
WORLD_CASE(a_lone_connect_of_a_member_holds_its_slot_for_five_seconds, 1) {
    world_open_session(at, 0);
    host_of(at->clients[0])->intercept = read_nothing;
    raw connect = raw_connect(1200, 2, 7);
    inject_as_client(at, 0, &connect);
    run_ms(at, 4900);
    assert_int_equal(first_peer(at->server)->state, ENET_PEER_STATE_ACKNOWLEDGING_CONNECT);
    run_ms(at, 300);
    assert_int_equal(first_peer(at->server)->state, ENET_PEER_STATE_DISCONNECTED);
    assert_int_equal(stats_of(at->server).peers_reset, 1);
    // The layer above never learned of the peer.
    assert_int_equal(at->at_server.connects + at->at_server.disconnects, 0);
    run_ms(at, 3000); // its session ends
    world_remove_client(at, 0);
    world_connect(at, 0);
}

// security 0.3: when the slot leak sticks a peer after all, the watchdog frees it and reports it
WORLD_CASE(the_watchdog_frees_a_stuck_peer_and_tells, 1) {
    world_connect(at, 0);
    net_peer peer = at->at_server.connected;
    host_of(at->server)->intercept = NULL; // as if the filter had let it through
    raw leak = raw_as_first_client(at, false);
    raw_add(&leak, 0x84, 0xFF, 5, "4", 0);
    inject_as_first_client(at, &leak);
    run_ms(at, 1000);
    assert_int_equal(first_peer(at->server)->state, ENET_PEER_STATE_ACKNOWLEDGING_DISCONNECT);
    assert_int_equal(send_number(at->server, peer, NET_CHANNEL_CONTROL, 0), NET_ERR_CLOSED);
    run_ms(at, 5000);
    assert_int_equal(first_peer(at->server)->state, ENET_PEER_STATE_DISCONNECTED);
    assert_int_equal(at->at_server.disconnects, 1);
    assert_int_equal(at->at_server.disconnected, peer);
    assert_int_equal(stats_of(at->server).peers_reset, 1);
}

// security 0.6: 1.3.17 never subtracts the bytes of dropped unreliable messages from its account;
// after 64 KB the peer would receive nothing for good
WORLD_CASE(a_leaked_account_of_waiting_data_is_repaired, 1) {
    net_peer client = world_connect(at, 0);
    host_of(at->server)->intercept = NULL; // the project's filter refuses the commands that leak
    size_t leaked = 0;
    for (uint32_t i = 1; i <= 100; i++) {
        raw half = raw_as_first_client(at, false);
        // The first of two unreliable fragments; the other never comes.
        raw_add(&half, 12, 1, 0, "224444", 2 * i, 1000, 2, 0, 2000, 0);
        half.size += 1000;
        raw whole = raw_as_first_client(at, false);
        // A newer message: ENet drops the incomplete one.
        raw_add(&whole, 7, 1, 0, "224", 2 * i + 1, 4, i);
        inject_as_first_client(at, &half);
        inject_as_first_client(at, &whole);
        run_tick(at);
        leaked += first_peer(at->server)->totalWaitingData;
    }
    assert_int_equal(leaked, 100 * 2000); // the value after each tick, before the next repair
    assert_int_equal(at->at_server.realtime_count, 100);
    run_ms(at, 100);
    assert_int_equal(first_peer(at->server)->totalWaitingData, 0);
    assert_ok(send_number(at->clients[0], client, NET_CHANNEL_CONTROL, 0));
    run_ms(at, 100);
    assert_int_equal(at->at_server.control_count, 1);
}

// security 0.1: a sender that knew address, peer and session could end a connection of plain ENet
WORLD_CASE(a_forged_disconnect_has_no_effect, 4) {
    world_connect(at, 0);
    for (uint32_t session = 0; session < 4; session++) {
        raw forged = raw_begin(session << 12);
        raw_add(&forged, 0x44, 0xFF, 0, "4", 0);
        inject(&forged);
        inject_from(htonl(INADDR_LOOPBACK), port_of(at->clients[0]),
                    &forged); // from the client's own port
    }
    run_ms(at, 100);
    assert_int_equal(at->at_server.disconnects, 0);
    assert_int_equal(first_peer(at->server)->state, ENET_PEER_STATE_CONNECTED);
    raw own = raw_as_first_client(at, false);
    raw_add(&own, 0x44, 0xFF, 0, "4", 0);
    inject_as_first_client(at, &own); // sealed by the client itself
    run_ms(at, 100);
    assert_int_equal(at->at_server.disconnects, 1);
}

// platform 6, security 0.3, 0.7, row 10 and section 4.1
WORLD_CASE(what_no_sender_of_ours_writes_never_reaches_enet, 4) {
    world_connect(at, 0);
    raw cases[11];
    size_t count = 0;
    cases[count] = raw_begin(0x4FFF); // compressed
    raw_put(&cases[count++], 0, 4);
    cases[count] = raw_as_first_client(at, false); // sequenced unreliable
    raw_add(&cases[count++], 7, 1, 0, "221", 1, 1, 0);
    cases[count] = raw_as_first_client(at, false); // the slot leak: acknowledged, without a time
    raw_add(&cases[count++], 0x84, 0xFF, 5, "4", 0);
    cases[count] = raw_as_first_client(at, true); // reliable without payload
    raw_add(&cases[count++], 0x86, 0, 1, "2", 0);
    cases[count] = raw_as_first_client(at, true); // reliable on the other channel
    raw_add(&cases[count++], 0x86, 1, 1, "21", 1, 0);
    cases[count] = raw_as_first_client(at, true); // far ahead
    raw_add(&cases[count++], 0x86, 0, 300, "21", 1, 0);
    cases[count] = raw_as_first_client(at, true); // a fragment of 32 MB
    raw_add(&cases[count++], 0x88, 0, 1, "2244441", 1, 1, 2, 0, 32 * 1024 * 1024, 0, 0);
    cases[count] = raw_as_first_client(at, true); // 33 pings
    for (int i = 0; i < 33; i++)
        raw_add(&cases[count], 0x85, 0xFF, 1, "");
    count++;
    cases[count] = raw_as_first_client(at, false); // an unsequenced message without payload
    raw_add(&cases[count++], 0x49, 1, 0, "22", 9, 0);
    cases[count] = raw_connect(1200, 2, 9); // a connect together with another command
    raw_add(&cases[count++], 0x85, 0xFF, 1, "");
    cases[count] = raw_as_first_client(at, true); // cut in the middle of a command
    raw_add(&cases[count++], 0x86, 0, 1, "");
    for (size_t i = 0; i < count; i++) {
        inject_as_first_client(at, &cases[i]);
        run_tick(at);
        assert_int_equal(stats_of(at->server).dropped_malformed, i + 1);
    }
    run_ms(at, 500);
    assert_int_equal(at->at_server.control_count + at->at_server.realtime_count, 0);
    assert_int_equal(at->at_server.disconnects, 0);
    assert_int_equal(first_peer(at->server)->state, ENET_PEER_STATE_CONNECTED);
    assert_int_equal(first_peer(at->server)->totalWaitingData, 0);
}

WORLD_CASE(a_client_cannot_be_connected_to, 1) {
    net_peer peer = world_begin_connect(at, 0, "127.0.0.1:9");
    run_ms(at, 50); // its socket has a port now
    at->clients[0]->ops->disconnect(at->clients[0], peer, 0, true);
    raw connect = raw_connect(1200, 2, 7);
    const uint32_t hosts[] = {foreign_host(), htonl(INADDR_LOOPBACK)};
    for (size_t i = 0; i < BASE_COUNT(hosts); i++)
        assert_true(wire_inject(hosts[i], 9, port_of(at->clients[0]), connect.bytes, connect.size));
    run_ms(at, 50);
    assert_int_equal(first_peer(at->clients[0])->state, ENET_PEER_STATE_DISCONNECTED);
    assert_int_equal(secure_count(at->clients[0], NET_SECURE_OTHER_ADDRESS), 1);
    assert_int_equal(secure_count(at->clients[0], NET_SECURE_BAD_TYPE), 1);
    assert_int_equal(at->server->ops->connect(at->server, "127.0.0.1:9", &peer), NET_ERR_FULL);
}

WORLD_CASE(connections_per_address_have_an_optional_limit, 4) {
    world_serve(at, (net_enet_config){.peers_max = 4, .peers_per_address_max = 2});
    for (int i = 0; i < 2; i++)
        world_connect(at, i);
    (void)world_begin_connect(at, 2, "127.0.0.1:7777");
    run_ms(at, 100);
    assert_int_equal(at->at_clients[2].disconnects, 1);
    assert_int_equal(at->at_clients[2].reason, NET_TRANSPORT_SECURE + NET_SECURE_END_FULL);
    assert_int_equal(at->at_server.connects, 2);
    at->clients[0]->ops->disconnect(at->clients[0], at->at_clients[0].connected, 0, true);
    run_ms(at, 2500);
    (void)world_begin_connect(at, 2, "127.0.0.1:7777");
    run_ms(at, 200);
    assert_int_equal(at->at_clients[2].connects, 1);
}

// A client that was silent comes back with its resume token: one connection remains.
WORLD_CASE(a_client_that_comes_back_ends_its_old_connection, 2) {
    for (int i = 0; i < 5; i++) {
        net_peer old = at->at_server.connected;
        if (i == 0) {
            world_connect(at, 0);
            continue;
        }
        enet_peer_reset(first_peer(at->clients[0])); // without a word
        run_tick(at);
        (void)world_begin_connect(at, 0, "127.0.0.1:7777");
        run_ms(at, 200);
        assert_int_equal(at->at_server.connects, i + 1);
        assert_int_equal(at->at_server.disconnects, i);
        assert_int_equal(at->at_server.disconnected, old);
        assert_int_equal(at->at_server.reason, 0);
        assert_int_equal(send_number(at->server, old, NET_CHANNEL_CONTROL, 0), NET_ERR_CLOSED);
        uint32_t taken = 0;
        const size_t peer_count = host_of(at->server)->peerCount;
        for (size_t k = 0; k < 2 && k < peer_count; k++)
            taken += host_of(at->server)->peers[k].state != ENET_PEER_STATE_DISCONNECTED;
        assert_int_equal(taken, 1);
    }
    assert_int_equal(secure_count(at->server, NET_SECURE_RESUMED), 4);
}

// platform: THROTTLE_CONFIGURE and BANDWIDTH_LIMIT let the client set the server's parameters
WORLD_CASE(a_client_cannot_choose_our_throttle_or_bandwidth, 4) {
    world_connect(at, 0);
    ENetPeer* peer = first_peer(at->server);
    raw evil = raw_as_first_client(at, true);
    uint16_t next = (uint16_t)(peer->outgoingReliableSequenceNumber + 1);
    raw_add(&evil, 0x8B, 0xFF, next, "444", 1, 0, 32); // throttle configure
    raw_add(&evil, 0x8A, 0xFF, next + 1u, "44", 1, 1); // bandwidth limit
    inject_as_first_client(at, &evil);
    run_ms(at, 3000);
    assert_int_equal(peer->state, ENET_PEER_STATE_CONNECTED);
    assert_int_equal(peer->packetThrottleInterval, 5000);
    assert_int_equal(peer->packetThrottleAcceleration, ENET_PEER_PACKET_THROTTLE_SCALE);
    assert_int_equal(peer->packetThrottleDeceleration, 0);
    assert_int_equal(peer->incomingBandwidth + peer->outgoingBandwidth, 0);
    assert_int_equal(peer->windowSize, ENET_PROTOCOL_MAXIMUM_WINDOW_SIZE);
}

// ---- who acknowledges nothing

// The client's datagrams go on coming, and it reads nothing. The server's control messages for it
// fill the window.
WORLD_CASE(who_never_acknowledges_gets_little_and_is_gone_after_ten_seconds, 2) {
    (void)world_connect(at, 0);
    net_peer peer = at->at_server.connected;
    ENetHost* client = host_of(at->clients[0]);
    client->intercept = read_nothing;
    uint64_t before = stats_of(at->server).sent_bytes;
    uint8_t bytes[1000] = {0};
    uint64_t begin_us = at->now_us, first_s = 0;
    for (uint32_t tick = 0; at->at_server.disconnects == 0 && tick < 60 * 60; tick++) {
        (void)at->server->ops->send(at->server, peer, NET_CHANNEL_CONTROL, bytes, sizeof bytes);
        (void)send_number(at->clients[0], at->at_clients[0].connected, NET_CHANNEL_REALTIME, tick);
        run_tick(at);
        if (tick == 60) first_s = stats_of(at->server).sent_bytes - before;
        uint64_t counted = at->server->ops->peer_sent_bytes(at->server, peer);
        uint64_t sent = stats_of(at->server).sent_bytes - before;
        // Exactly what went over the wire, the last answers of the handshake apart.
        if (at->at_server.disconnects == 0) assert_in_range(counted, sent, sent + 1000);
    }
    uint64_t sent = stats_of(at->server).sent_bytes - before;
    print_message("%llu bytes in the first second, %llu in all, gone after %.1f s\n",
                  (unsigned long long)first_s, (unsigned long long)sent,
                  (double)(at->now_us - begin_us) * 1e-6);
    assert_in_range(at->now_us - begin_us, 10000000, 12000000);
    assert_int_equal(at->at_server.reason, NET_TRANSPORT_DEAF);
    assert_int_equal(stats_of(at->server).peers_deaf, 1);
    assert_true(sent < 900000);
    uint64_t after = stats_of(at->server).sent_bytes;
    run_ms(at, 5000);
    assert_true(stats_of(at->server).sent_bytes - after < 1000);
}

WORLD_CASE(datagrams_of_a_banned_address_are_dropped_unread, 2) {
    net_bans* bans = NULL;
    bans = net_bans_create(NULL);
    world_serve(at, (net_enet_config){.peers_max = 2, .bans = bans});
    (void)world_connect(at, 0);
    net_peer_identity identity;
    assert_true(net_transport_identity(at->server, at->at_server.connected, &identity));
    const net_ban ban = net_ban_of_address(&identity.address, NULL);
    assert_ok(net_bans_add(bans, &ban));
    for (uint32_t i = 0; i < 60; i++) {
        (void)send_number(at->clients[0], at->at_clients[0].connected, NET_CHANNEL_REALTIME, i);
        run_tick(at);
    }
    run_ms(at, 100);
    assert_int_equal(at->at_server.realtime_count, 0);
    assert_true(stats_of(at->server).dropped_banned >= 60);
    // Back at once: the list may change at any time between services.
    assert_true(net_bans_remove(bans, &ban));
    (void)send_number(at->clients[0], at->at_clients[0].connected, NET_CHANNEL_REALTIME, 0);
    run_ms(at, 100);
    assert_int_equal(at->at_server.realtime_count, 1);
    at->server->ops->destroy(at->server);
    at->server = NULL;
    base_owner_destroy(bans);
}

WORLD_CASE(a_blackout_makes_nobody_deaf, 2) {
    (void)world_connect(at, 0);
    net_peer peer = at->at_server.connected;
    const net_link_config dark = {.loss_percent = 100}, bad = {.loss_percent = 40, .delay_ms = 50};
    for (uint32_t round = 0; round < 4; round++) {
        assert_ok(send_number(at->server, peer, NET_CHANNEL_CONTROL, 0));
        net_socket_link_set(round % 2 ? &bad : &dark);
        for (uint32_t tick = 0; tick < 14 * 60; tick++) {
            (void)send_number(at->clients[0], at->at_clients[0].connected, NET_CHANNEL_REALTIME, 0);
            run_tick(at);
        }
        net_socket_link_set(NULL);
        run_ms(at, 3000);
        assert_int_equal(at->at_clients[0].control_count, round + 1);
    }
    assert_int_equal(at->at_server.disconnects, 0);
    assert_int_equal(stats_of(at->server).peers_deaf, 0);
}
