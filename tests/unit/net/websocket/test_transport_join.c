// SPDX-License-Identifier: MIT
// Two servers of the simulated network behind one transport.
#include "net/websocket.h"

#include "test.h"

enum { PEERS = 4 };

typedef struct side {
    net_sim* sim;
    net_transport *server, *client;
} side;

static void side_open(side* at, uint64_t seed) {
    const net_link_config link = {.delay_ms = 1};
    net_peer peer;
    at->sim = net_sim_create(NULL, seed);
    assert_ok(net_sim_server(at->sim, PEERS, &at->server));
    at->client = net_sim_client(at->sim, &link);
    assert_ok(at->client->ops->connect(at->client, "x:1", &peer));
}

// A transport whose connections have the slots from PEERS on, as those of a second side have.
static net_transport_ops moved_ops;
static const net_transport_ops* sim_ops;

static bool next_moved(net_transport* transport, net_transport_event* event) {
    if (!sim_ops->next(transport, event)) return false;
    event->peer += PEERS;
    return true;
}
static net_result send_moved(net_transport* transport, net_peer peer, net_channel channel,
                             const void* bytes, size_t size) {
    return sim_ops->send(transport, peer - PEERS, channel, bytes, size);
}
static void disconnect_moved(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    sim_ops->disconnect(transport, peer - PEERS, reason, now);
}

static void side_run(side* at, uint64_t now_us, net_transport_event* newest) {
    net_transport_event event;
    at->client->ops->service(at->client, now_us);
    while (at->client->ops->next(at->client, &event))
        *newest = event;
}

CASE(connections_of_both_are_served_by_one) {
    side sides[2];
    net_transport* join;
    net_transport_event event, newest[2] = {{0}, {0}};
    net_peer peers[2] = {0, 0};
    side_open(&sides[0], 1);
    side_open(&sides[1], 2);
    sim_ops = sides[1].server->ops;
    moved_ops = *sim_ops;
    moved_ops.next = next_moved;
    moved_ops.send = send_moved;
    moved_ops.disconnect = disconnect_moved;
    sides[1].server->ops = &moved_ops;
    join = net_transport_join_create(NULL, sides[0].server, sides[1].server, PEERS);
    uint64_t now_us = 0;
    for (uint32_t i = 0; i < 20; i++) {
        now_us += 1000;
        join->ops->service(join, now_us);
        while (join->ops->next(join, &event))
            if (event.kind == NET_TRANSPORT_CONNECTED)
                peers[(event.peer & (NET_PEER_SLOTS - 1)) >= PEERS] = event.peer;
        for (uint32_t k = 0; k < 2; k++)
            side_run(&sides[k], now_us, &newest[k]);
    }
    assert_true(peers[0] && peers[1]);
    for (uint32_t k = 0; k < 2; k++)
        assert_ok(join->ops->send(join, peers[k], NET_CHANNEL_CONTROL, k == 0 ? "a" : "b", 1));
    join->ops->disconnect(join, peers[1], 5, false);
    join->ops->flush(join);
    for (uint32_t i = 0; i < 20; i++) {
        now_us += 1000;
        join->ops->service(join, now_us);
        while (join->ops->next(join, &event))
            continue;
        for (uint32_t k = 0; k < 2; k++)
            side_run(&sides[k], now_us, &newest[k]);
    }
    assert_int_equal(newest[0].kind, NET_TRANSPORT_RECEIVED);
    assert_int_equal(newest[1].kind, NET_TRANSPORT_DISCONNECTED);
    assert_int_equal(newest[1].reason, 5);
    net_transport_stats sum, one;
    join->ops->stats(join, &sum);
    uint64_t sent = 0;
    for (uint32_t k = 0; k < 2; k++) {
        sides[k].server->ops->stats(sides[k].server, &one);
        sent += one.sent_bytes;
    }
    assert_int_equal(sum.sent_bytes, sent);
    net_peer peer;
    assert_int_equal(join->ops->connect(join, "x:1", &peer), NET_ERR_FULL);
    join->ops->destroy(join);
    sides[1].server->ops = sim_ops;
    for (uint32_t k = 0; k < 2; k++) {
        sides[k].client->ops->destroy(sides[k].client);
        sides[k].server->ops->destroy(sides[k].server);
        net_sim_destroy(sides[k].sim);
    }
}
