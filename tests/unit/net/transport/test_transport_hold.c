// SPDX-License-Identifier: MIT
// What a transport holds back: in front of the simulated network, with two lanes.
#include "net/transport.h"

#include "test.h"

enum { CLIENTS = 2, NUMBERS_MAX = 64 };

typedef struct got {
    uint32_t numbers[NUMBERS_MAX], count;
    uint32_t ends, reason;
} got;

typedef struct world {
    net_sim* sim;
    net_transport *server, *hold, *clients[CLIENTS];
    net_transport_ops ops; // of the server, with a queue that may be full
    const net_transport_ops* sim_ops;
    net_peer peers[CLIENTS]; // the server's
    got got[CLIENTS];
    uint64_t now_us;
    bool is_full;
} world;

static world* the_world; // a transport has no context of its own

static net_result send_if_room(net_transport* transport, net_peer peer, net_channel channel,
                               const void* bytes, size_t size) {
    if (the_world->is_full) return NET_ERR_FULL;
    return the_world->sim_ops->send(transport, peer, channel, bytes, size);
}

static void take_events(world* at, uint32_t client) {
    net_transport* transport = at->clients[client];
    got* into = &at->got[client];
    net_transport_event event;
    transport->ops->service(transport, at->now_us);
    while (transport->ops->next(transport, &event)) {
        if (event.kind == NET_TRANSPORT_DISCONNECTED) {
            into->ends++;
            into->reason = event.reason;
        }
        if (event.kind != NET_TRANSPORT_RECEIVED) continue;
        assert_in_range(into->count, 0, NUMBERS_MAX - 1);
        memcpy(&into->numbers[into->count++], event.bytes, sizeof(uint32_t));
    }
}

static void run_ms(world* at, uint32_t ms) {
    for (uint32_t i = 0; i < ms; i++) {
        at->now_us += 1000;
        net_transport_event event;
        at->hold->ops->service(at->hold, at->now_us);
        while (at->hold->ops->next(at->hold, &event))
            if (event.kind == NET_TRANSPORT_CONNECTED) at->peers[at->peers[0] != 0] = event.peer;
        for (uint32_t k = 0; k < CLIENTS && at->clients[k]; k++)
            take_events(at, k);
    }
}

static void world_open(world* at) {
    const net_link_config link = {.delay_ms = 1};
    memset(at, 0, sizeof *at);
    the_world = at;
    at->sim = net_sim_create(NULL, 1);
    assert_ok(net_sim_server(at->sim, CLIENTS, &at->server));
    net_sim_lanes_set(at->server, 2);
    at->sim_ops = at->server->ops;
    at->hold = net_transport_hold_create(NULL, at->server);
    at->ops = *at->sim_ops;
    at->ops.send = send_if_room;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        net_peer peer;
        at->clients[i] = net_sim_client(at->sim, &link);
        assert_ok(at->clients[i]->ops->connect(at->clients[i], "x:1", &peer));
        run_ms(at, 10);
    }
    assert_true(at->peers[0] != 0 && at->peers[1] != 0);
    assert_int_not_equal(net_transport_lane(at->hold, at->peers[0]),
                         net_transport_lane(at->hold, at->peers[1]));
}

static void world_close(world* at) {
    at->server->ops = at->sim_ops;
    for (uint32_t i = 0; i < CLIENTS; i++)
        at->clients[i]->ops->destroy(at->clients[i]);
    at->hold->ops->destroy(at->hold);
    at->server->ops->destroy(at->server);
    net_sim_destroy(at->sim);
}

#define HOLD_CASE(name) CASE_WITH(world, at, world_open(at), world_close(at), name)

static net_result send_number(world* at, uint32_t client, net_channel channel, uint32_t number) {
    return at->hold->ops->send(at->hold, at->peers[client], channel, &number, sizeof number);
}

static void flush(world* at) {
    if (at->hold->ops->flush_lane)
        for (uint32_t i = 0; i < 2; i++)
            at->hold->ops->flush_lane(at->hold, i);
    else
        at->hold->ops->flush(at->hold);
    run_ms(at, 5);
}

// What is sent from now on is about tick 8, and what is about 7 is released.
static void hold_tick_8(world* at) {
    at->hold->ops->hold(at->hold, 8);
    net_transport_hold_release(at->hold, 7);
}

#define HAS(client, ...)                                                                           \
    do {                                                                                           \
        const uint32_t wanted[] = {__VA_ARGS__};                                                   \
        assert_int_equal(at->got[client].count, sizeof wanted / sizeof *wanted);                   \
        assert_memory_equal(at->got[client].numbers, wanted, sizeof wanted);                       \
    } while (0)

HOLD_CASE(what_is_released_goes_through_at_once) {
    at->hold->ops->hold(at->hold, 7);
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 1));
    net_transport_hold_release(at->hold, 7);
    assert_ok(send_number(at, 0, NET_CHANNEL_REALTIME, 2));
    assert_int_equal(net_transport_hold_bytes(at->hold), 0);
    run_ms(at, 5);
    assert_int_equal(at->got[0].count, 2);
}

HOLD_CASE(what_is_about_a_later_tick_waits_until_a_flush_behind_its_release) {
    hold_tick_8(at);
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 1));
    assert_ok(send_number(at, 1, NET_CHANNEL_REALTIME, 2));
    at->hold->ops->hold(at->hold, 9);
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 3));
    flush(at);
    assert_int_equal(at->got[0].count + at->got[1].count, 0);
    assert_true(net_transport_hold_bytes(at->hold) > 0);
    net_transport_hold_release(at->hold, 8);
    run_ms(at, 5);
    assert_int_equal(at->got[0].count + at->got[1].count, 0);
    flush(at);
    HAS(0, 1);
    HAS(1, 2);
    // Behind what waits, in its order, although its tick is released.
    at->hold->ops->hold(at->hold, 8);
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 4));
    net_transport_hold_release(at->hold, UINT64_MAX);
    flush(at);
    HAS(0, 1, 3, 4);
    assert_int_equal(net_transport_hold_bytes(at->hold), 0);
}

HOLD_CASE(what_is_about_no_tick_passes_what_waits) {
    hold_tick_8(at);
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 1));
    at->hold->ops->hold(at->hold, 0);
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 2));
    run_ms(at, 5);
    HAS(0, 2);
    net_transport_hold_release(at->hold, 8);
    flush(at);
    HAS(0, 2, 1);
}

HOLD_CASE(a_message_without_room_waits_on_and_a_packet_is_lost) {
    hold_tick_8(at);
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 1));
    assert_ok(send_number(at, 0, NET_CHANNEL_REALTIME, 2));
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 3));
    net_transport_hold_release(at->hold, 8);
    at->server->ops = &at->ops;
    at->is_full = true;
    flush(at);
    assert_int_equal(at->got[0].count, 0);
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 4)); // waits behind them
    at->is_full = false;
    flush(at);
    HAS(0, 1, 3, 4);
}

HOLD_CASE(a_disconnect_waits_behind_what_its_peer_shall_get) {
    hold_tick_8(at);
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 1));
    at->hold->ops->disconnect(at->hold, at->peers[0], 5, false);
    at->hold->ops->disconnect(at->hold, at->peers[1], 6, false); // nothing waits for it
    flush(at);
    assert_int_equal(at->got[0].ends, 0);
    assert_int_equal(at->got[1].ends, 1);
    net_transport_hold_release(at->hold, 8);
    flush(at);
    HAS(0, 1);
    assert_int_equal(at->got[0].ends, 1);
    assert_int_equal(at->got[0].reason, 5);
}

HOLD_CASE(a_disconnect_at_once_drops_what_waits) {
    hold_tick_8(at);
    assert_ok(send_number(at, 0, NET_CHANNEL_CONTROL, 1));
    at->hold->ops->disconnect(at->hold, at->peers[0], 5, true);
    flush(at);
    assert_int_equal(at->got[0].ends, 1);
    net_transport_hold_release(at->hold, 8);
    flush(at);
    assert_int_equal(at->got[0].count, 0);
    assert_int_equal(net_transport_hold_bytes(at->hold), 0);
}

HOLD_CASE(a_lane_holds_so_many_bytes_and_refuses_the_next) {
    static uint8_t bytes[NET_STATE_BYTES_MAX];
    hold_tick_8(at);
    net_result result = NET_OK;
    while (result == NET_OK)
        result =
            at->hold->ops->send(at->hold, at->peers[0], NET_CHANNEL_REALTIME, bytes, sizeof bytes);
    assert_int_equal(result, NET_ERR_FULL);
    assert_in_range(net_transport_hold_bytes(at->hold), NET_HOLD_PACKET_BYTES_MAX - 2048,
                    NET_HOLD_PACKET_BYTES_MAX);
    // Messages have a quarter of it for themselves.
    for (result = NET_OK; result == NET_OK;)
        result =
            at->hold->ops->send(at->hold, at->peers[0], NET_CHANNEL_CONTROL, bytes, sizeof bytes);
    assert_int_equal(result, NET_ERR_FULL);
    assert_in_range(net_transport_hold_bytes(at->hold), NET_HOLD_BYTES_MAX - 2048,
                    NET_HOLD_BYTES_MAX);
    assert_ok(send_number(at, 1, NET_CHANNEL_REALTIME, 2)); // of another lane
    // Nothing, or too much, is refused as by any transport.
    assert_int_equal(at->hold->ops->send(at->hold, at->peers[1], NET_CHANNEL_CONTROL, bytes, 0),
                     NET_ERR_FULL);
}
