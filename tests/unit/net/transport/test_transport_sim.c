// SPDX-License-Identifier: MIT
#include "inbox.h"

enum { CLIENTS_MAX = 5 };

typedef struct world {
    net_sim* sim;
    net_transport *server, *clients[CLIENTS_MAX];
    inbox at_server, at_clients[CLIENTS_MAX];
    uint64_t now_us;
} world;

static void run_ms(world* at, uint32_t ms) {
    for (uint64_t end_us = at->now_us + ms * UINT64_C(1000); at->now_us < end_us;) {
        at->now_us += 1000;
        if (at->server) drain(at->server, at->now_us, &at->at_server);
        for (uint32_t i = 0; i < CLIENTS_MAX; i++)
            if (at->clients[i]) drain(at->clients[i], at->now_us, &at->at_clients[i]);
    }
}

static void world_init(world* made, uint64_t seed, net_link_config link) {
    memset(made, 0, sizeof *made);
    made->sim = net_sim_create(NULL, seed);
    assert_ok(net_sim_server(made->sim, 4, &made->server));
    made->clients[0] = net_sim_client(made->sim, &link);
}

static void world_connect(world* at) {
    net_peer peer = 0;
    assert_ok(at->clients[0]->ops->connect(at->clients[0], "ignored:1", &peer));
    for (int i = 0; i < 500 && at->at_clients[0].connects == 0; i++)
        run_ms(at, 10);
    assert_int_equal(at->at_clients[0].connected, peer);
    assert_int_equal(at->at_server.connects, 1);
}

static void world_deinit(world* old) {
    for (uint32_t i = 0; i < CLIENTS_MAX; i++)
        if (old->clients[i]) old->clients[i]->ops->destroy(old->clients[i]);
    if (old->server) old->server->ops->destroy(old->server);
    net_sim_destroy(old->sim);
}

#define WORLD_CASE(name, seed, ...)                                                                \
    CASE_WITH(world, at, world_init(at, seed, __VA_ARGS__), world_deinit(at), name)

WORLD_CASE(connecting_takes_a_round_trip, 1, (net_link_config){.delay_ms = 80}) {
    net_peer peer = 0;
    assert_ok(at->clients[0]->ops->connect(at->clients[0], "x:1", &peer));
    assert_int_not_equal(peer, 0);
    assert_int_equal(send_number(at->clients[0], peer, NET_CHANNEL_CONTROL, 1), NET_ERR_CLOSED);
    net_peer second = 0;
    assert_int_equal(at->clients[0]->ops->connect(at->clients[0], "x:1", &second), NET_ERR_FULL);
    run_ms(at, 79);
    assert_int_equal(at->at_server.connects, 0);
    run_ms(at, 1);
    assert_int_equal(at->at_server.connects, 1);
    run_ms(at, 79);
    assert_int_equal(at->at_clients[0].connects, 0);
    run_ms(at, 2);
    assert_int_equal(at->at_clients[0].connects, 1);
}

WORLD_CASE(a_blackout_delays_control_messages_and_loses_datagrams, 7,
           (net_link_config){.delay_ms = 20}) {
    world_connect(at);
    net_sim_link_set(at->clients[0], &(net_link_config){.loss_percent = 100, .delay_ms = 20});
    (void)send_number(at->server, at->at_server.connected, NET_CHANNEL_CONTROL, 1);
    (void)send_number(at->server, at->at_server.connected, NET_CHANNEL_REALTIME, 1);
    run_ms(at, 25000);
    assert_int_equal(at->at_clients[0].control_count, 0);
    net_sim_link_set(at->clients[0], &(net_link_config){.delay_ms = 20});
    run_ms(at, 200);
    assert_int_equal(at->at_clients[0].control_count, 1);
    assert_int_equal(at->at_clients[0].realtime_count, 0);
    assert_int_equal(at->at_clients[0].disconnects + at->at_server.disconnects, 0);
}

WORLD_CASE(a_client_that_vanishes_is_noticed_only_after_a_minute, 8,
           (net_link_config){.delay_ms = 20}) {
    world_connect(at);
    at->clients[0]->ops->destroy(at->clients[0]);
    at->clients[0] = NULL;
    for (uint32_t i = 0; i < 59; i++) {
        run_ms(at, 1000);
        assert_ok(send_number(at->server, at->at_server.connected, NET_CHANNEL_REALTIME, i));
    }
    assert_int_equal(at->at_server.disconnects, 0);
    run_ms(at, 1500);
    assert_int_equal(at->at_server.disconnects, 1);
    assert_int_equal(at->at_server.reason, 0);
}

WORLD_CASE(nobody_answers_and_the_connect_ends, 9, (net_link_config){.delay_ms = 20}) {
    at->server->ops->destroy(at->server);
    at->server = NULL;
    net_peer peer = 0;
    assert_ok(at->clients[0]->ops->connect(at->clients[0], "x:1", &peer));
    run_ms(at, NET_CONNECT_MS_MAX - 1);
    assert_int_equal(at->at_clients[0].disconnects, 0);
    run_ms(at, 1);
    assert_int_equal(at->at_clients[0].disconnects, 1);
    assert_int_equal(at->at_clients[0].disconnected, peer);
}

WORLD_CASE(a_full_server_does_not_answer_until_a_slot_is_free, 1, (net_link_config){0}) {
    enum { LAST = CLIENTS_MAX - 1 };
    net_transport* another = NULL;
    net_peer peer = 0;
    assert_int_equal(net_sim_server(at->sim, 2, &another), NET_ERR_FULL);
    for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
        if (i > 0) at->clients[i] = net_sim_client(at->sim, &(net_link_config){0});
        assert_ok(at->clients[i]->ops->connect(at->clients[i], "", &peer));
    }
    run_ms(at, 6000);
    assert_int_equal(at->at_server.connects, LAST);
    assert_int_equal(at->at_clients[LAST].connects, 0);
    assert_int_equal(at->at_clients[LAST].disconnects, 1);
    at->clients[0]->ops->disconnect(at->clients[0], at->at_clients[0].connected, 0, false);
    assert_ok(at->clients[LAST]->ops->connect(at->clients[LAST], "", &peer));
    run_ms(at, 1000);
    assert_int_equal(at->at_clients[LAST].connects, 1);
    assert_int_equal(at->at_server.connects, LAST + 1);
}

CASE(a_server_has_a_number_of_slots) {
    static const uint32_t counts[] = {0, NET_CLIENTS_MAX + 1};
    net_sim* sim = NULL;
    net_transport* server = NULL;
    sim = net_sim_create(NULL, 1);
    for (size_t i = 0; i < BASE_COUNT(counts); i++)
        assert_int_equal(net_sim_server(sim, counts[i], &server), NET_ERR_FULL);
    net_sim_destroy(sim);
}

WORLD_CASE(the_bytes_of_an_event_outlive_sending_them_on, 11, (net_link_config){.delay_ms = 20}) {
    world_connect(at);
    (void)send_number(at->clients[0], at->at_clients[0].connected, NET_CHANNEL_CONTROL, 0);
    (void)send_number(at->clients[0], at->at_clients[0].connected, NET_CHANNEL_REALTIME, 42);
    at->now_us += 50000;
    net_transport_event event;
    at->server->ops->service(at->server, at->now_us);
    for (uint32_t count = 0; at->server->ops->next(at->server, &event); count++) {
        uint32_t number = 0;
        assert_ok(
            at->server->ops->send(at->server, event.peer, event.channel, event.bytes, event.size));
        at->server->ops->flush(at->server);
        if (event.channel == NET_CHANNEL_REALTIME)
            at->server->ops->disconnect(at->server, event.peer, 0, false);
        memcpy(&number, event.bytes, sizeof number);
        assert_int_equal(number, event.channel == NET_CHANNEL_CONTROL ? 0 : 42);
    }
    run_ms(at, 100);
    assert_int_equal(at->at_clients[0].control_count, 1);
    assert_int_equal(at->at_clients[0].realtime_count, 1);
    assert_false(at->at_clients[0].is_out_of_order);
}

WORLD_CASE(sizes_and_queues_beyond_their_limits_are_refused, 10,
           (net_link_config){.delay_ms = 20}) {
    static const uint8_t bytes[NET_CONTROL_BYTES_MAX + 1] = {1};
    world_connect(at);
    net_peer peer = at->at_clients[0].connected;
    static const struct {
        net_channel channel;
        size_t size;
        net_result result;
    } cases[] = {
        {NET_CHANNEL_REALTIME, 0, NET_ERR_FULL},
        {NET_CHANNEL_REALTIME, NET_STATE_BYTES_MAX - 1, NET_OK},
        {NET_CHANNEL_REALTIME, NET_STATE_BYTES_MAX, NET_OK},
        {NET_CHANNEL_REALTIME, NET_STATE_BYTES_MAX + 1, NET_ERR_FULL},
        {NET_CHANNEL_CONTROL, 0, NET_ERR_FULL},
        {NET_CHANNEL_CONTROL, NET_CONTROL_BYTES_MAX - 1, NET_OK},
        {NET_CHANNEL_CONTROL, NET_CONTROL_BYTES_MAX, NET_OK},
        {NET_CHANNEL_CONTROL, NET_CONTROL_BYTES_MAX + 1, NET_ERR_FULL},
    };
    for (size_t i = 0; i < BASE_COUNT(cases); i++)
        assert_int_equal(
            at->clients[0]->ops->send(at->clients[0], peer, cases[i].channel, bytes, cases[i].size),
            cases[i].result);
    net_result result = NET_OK;
    uint32_t queued = 2;
    while ((result = at->clients[0]->ops->send(at->clients[0], peer, NET_CHANNEL_CONTROL, bytes,
                                               NET_CONTROL_BYTES_MAX)) == NET_OK)
        queued++;
    assert_int_equal(result, NET_ERR_FULL);
    assert_in_range(queued, 15, 16);
    net_transport_stats stats = stats_of(at->clients[0]);
    assert_int_equal(stats.send_refused, 5);
    run_ms(at, 1000);
    assert_int_equal(at->at_server.control_count, queued);
}

WORLD_CASE(the_server_knows_the_address_and_the_player_of_an_endpoint, 1,
           (net_link_config){.delay_ms = 5}) {
    net_peer peer;
    assert_ok(at->clients[0]->ops->connect(at->clients[0], "sim", &peer));
    run_ms(at, 30);
    net_peer_identity identity;
    assert_true(net_transport_identity(at->server, at->at_server.connected, &identity));
    char text[NET_ADDRESS_TEXT_BYTES];
    assert_true(net_address_print(&identity.address, text, sizeof text));
    assert_string_equal(text, "198.18.0.0:40000");
    assert_true(identity.player == 0 && identity.key == 0 && identity.user_bytes == 0);
    identity.player = 77;
    net_sim_identity_set(at->clients[0], &identity);
    net_peer_identity again;
    assert_true(net_transport_identity(at->server, at->at_server.connected, &again));
    assert_true(again.player == 77);
    assert_true(at->server->ops->peer_sent_bytes(at->server, at->at_server.connected) == 0);
    assert_ok(at->server->ops->send(at->server, at->at_server.connected, NET_CHANNEL_CONTROL,
                                    "12345", 5));
    assert_true(at->server->ops->peer_sent_bytes(at->server, at->at_server.connected) == 5);
    // A client's end knows nothing of its server. An unknown peer has no identity.
    assert_false(net_transport_identity(at->clients[0], peer, &again));
    assert_false(net_transport_identity(at->server, 1u << 20 | 5, &again));
    assert_true(again.player == 0);
    assert_true(at->server->ops->peer_sent_bytes(at->server, 0) == 0);
}
