// SPDX-License-Identifier: MIT
// A server of several ENet hosts behind one socket: who is in which lane, events and their order,
// threads. What one host must do is tested by the other files, which are built for lanes too.
#include "enet_world.h"

#include <pthread.h>
#include <time.h>

enum { MEMBERS = CLIENTS_MAX, PATIENCE_MS = 100000 };

// ---- the ring of a lane

static int open_trunk(uint32_t lanes, int* descriptors) {
    wire_set(true, 1);
    net_socket_link_set(NULL);
    net_socket_plan plan = {.listen_count = 1, .batch = 4};
    assert_ok(net_address_parse("127.0.0.1:7777", &plan.listen[0]));
    net_socket_plan_next(&plan);
    const ENetAddress any = {.port = PORT};
    int trunk = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    assert_int_equal(enet_socket_bind(trunk, &any), 0);
    for (uint32_t i = 0; i < lanes; i++) {
        net_socket_plan_next(&(net_socket_plan){.is_lane = true, .trunk = trunk, .batch = 4});
        descriptors[i] = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
        assert_true(descriptors[i] >= NET_SOCKET_LANE_FIRST);
    }
    return trunk;
}

// Sizes follow a sequence, and each datagram says its number: the queue of a twin is two numbers.
static size_t size_of(uint32_t number) {
    return 4 + (number * 2654435761u >> 8) % (NET_SOCKET_OUTER_BYTES_MAX - 3);
}

static void push(int lane, uint32_t number) {
    uint8_t bytes[NET_SOCKET_OUTER_BYTES_MAX];
    memset(bytes, (int)(number % 251), sizeof bytes);
    memcpy(bytes, &number, sizeof number);
    const net_address from = net_address_ipv4(htonl(number), (uint16_t)(1 + number % 60000));
    net_socket_lane_push(lane, &from, bytes, size_of(number));
}

static void pop(int lane, uint32_t expected) {
    net_address from;
    uint8_t* bytes = NULL;
    size_t size = net_socket_lane_receive(net_socket_entry_find(lane), &from, &bytes);
    uint32_t number = 0;
    assert_int_equal(size, size_of(expected));
    memcpy(&number, bytes, sizeof number);
    assert_int_equal(number, expected);
    assert_int_equal(bytes[size - 1], size > 4 ? expected % 251 : bytes[size - 1]);
    assert_int_equal(net_address_ipv4_host(&from), htonl(expected));
    assert_int_equal(from.port, 1 + expected % 60000);
}

CASE(a_lane_gives_datagrams_in_order_and_refuses_when_full) {
    int lane;
    int trunk = open_trunk(1, &lane);
    net_address from;
    uint8_t* bytes = NULL;
    uint32_t pushed = 0, popped = 0, fullest = 0;
    for (uint32_t round = 0; round < 40; round++) {
        while (net_socket_lane_has_room(lane))
            push(lane, pushed++);
        if (pushed - popped > fullest) fullest = pushed - popped;
        assert_true(net_socket_lane_has_rest(lane));
        uint32_t some = round % 5 == 4 ? pushed : popped + 1 + round * 37 % (pushed - popped);
        while (popped < some)
            pop(lane, popped++);
        assert_int_equal(net_socket_lane_has_rest(lane), popped < pushed);
    }
    while (popped < pushed)
        pop(lane, popped++);
    assert_int_equal(net_socket_lane_receive(net_socket_entry_find(lane), &from, &bytes), 0);
    assert_true(fullest > NET_SOCKET_LANE_BYTES / (NET_SOCKET_OUTER_BYTES_MAX + 64));
    enet_socket_destroy(lane);
    enet_socket_destroy(trunk);
    wire_set(false, 0);
}

// ---- many members

typedef struct house {
    world of;
    net_peer peers[MEMBERS]; // of the server's side, by the number that a member sent
    net_peer to_server[MEMBERS];
    uint32_t received[MEMBERS];
    uint32_t connects, disconnects;
} house;

static void serve(house* at, bool with_work) {
    net_transport_event event;
    const net_transport_ops* ops = at->of.server->ops;
    ops->service(at->of.server, at->of.now_us);
    for (uint32_t lane = 0; with_work && lane < net_transport_lanes(at->of.server); lane++)
        ops->work(at->of.server, net_transport_lanes(at->of.server) - 1 - lane);
    while (ops->next(at->of.server, &event)) {
        at->connects += event.kind == NET_TRANSPORT_CONNECTED;
        at->disconnects += event.kind == NET_TRANSPORT_DISCONNECTED;
        if (event.kind != NET_TRANSPORT_RECEIVED) continue;
        uint32_t member;
        assert_int_equal(event.size, sizeof member);
        memcpy(&member, event.bytes, sizeof member);
        assert_true(member < MEMBERS);
        at->peers[member] = event.peer;
        at->received[member]++;
    }
    ops->flush(at->of.server);
}

static void pass(house* at, uint32_t ticks, bool with_work) {
    for (uint32_t i = 0; i < ticks; i++) {
        at->of.now_us += TICK_US;
        wire_advance(at->of.now_us);
        serve(at, with_work);
        for (uint32_t k = 0; k < MEMBERS; k++)
            if (at->of.clients[k]) drain(at->of.clients[k], at->of.now_us, &at->of.at_clients[k]);
    }
}

static void open_house(house* at, uint32_t lanes) {
    memset(at, 0, sizeof *at);
    world_init_seeded(&at->of, (net_enet_config){.peers_max = MEMBERS, .lanes = lanes}, 1);
    assert_int_equal(net_transport_lanes(at->of.server), lanes ? lanes : 1);
}

#define HOUSE_CASE(name, lanes)                                                                    \
    CASE_WITH(house, at, open_house(at, lanes), world_deinit(&at->of), name)

static void sit(house* at) {
    for (int i = 0; i < MEMBERS; i++) {
        at->to_server[i] = world_begin_connect(&at->of, i, "127.0.0.1:7777");
        pass(at, 6, i % 2 == 0);
        assert_int_equal(at->of.at_clients[i].connects, 1);
        assert_ok(
            send_number(at->of.clients[i], at->to_server[i], NET_CHANNEL_CONTROL, (uint32_t)i));
    }
    pass(at, 10, true);
    assert_int_equal(at->connects, MEMBERS);
}

static const uint32_t LANES[] = {2, 3, 5, NET_LANES_MAX};

CASE_ROWS(house, at, open_house(at, LANES[l]), world_deinit(&at->of), l, BASE_COUNT(LANES),
          members_are_spread_over_lanes_and_each_talks_to_its_own) {
    uint32_t count[NET_LANES_MAX] = {0};
    sit(at);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        assert_int_equal(at->received[i], 1);
        count[net_transport_lane(at->of.server, at->peers[i])]++;
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(at->peers[i] & (NET_PEER_SLOTS - 1),
                                 at->peers[k] & (NET_PEER_SLOTS - 1));
        // An answer reaches the member that asked.
        for (uint32_t n = 0; n < 3 + i; n++)
            assert_ok(send_number(at->of.server, at->peers[i], NET_CHANNEL_REALTIME, n));
        net_peer_identity identity;
        assert_true(net_transport_identity(at->of.server, at->peers[i], &identity));
    }
    for (uint32_t lane = 0; lane < LANES[l]; lane++) {
        assert_in_range(count[lane], MEMBERS / LANES[l], MEMBERS / LANES[l] + 1);
        at->of.server->ops->flush_lane(at->of.server, lane);
    }
    pass(at, 5, true);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        assert_int_equal(at->of.at_clients[i].realtime_count, 3 + i);
        assert_true(at->of.server->ops->peer_sent_bytes(at->of.server, at->peers[i]) > 0);
    }
    net_transport_stats stats = stats_of(at->of.server);
    assert_int_equal(stats.recv_reliable_bytes, MEMBERS * sizeof(uint32_t));
    assert_int_equal(stats.service_errors + stats.dropped_malformed + stats.socket_errors, 0);
    assert_int_equal(secure_count(at->of.server, NET_SECURE_ACCEPTED), MEMBERS);
}

HOUSE_CASE(a_client_that_moves_stays_in_its_lane, 3) {
    sit(at);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        const net_peer before = at->peers[i];
        assert_true(wire_rebind((int)host_of(at->of.clients[i])->socket));
        assert_ok(send_number(at->of.clients[i], at->to_server[i], NET_CHANNEL_CONTROL, i));
        pass(at, 20, true);
        assert_int_equal(at->received[i], 2);
        assert_int_equal(at->peers[i], before);
    }
    assert_int_equal(secure_count(at->of.server, NET_SECURE_MOVED), MEMBERS);
    assert_int_equal(at->disconnects, 0);
}

HOUSE_CASE(who_leaves_makes_room_in_its_lane, 4) {
    sit(at);
    // All of one lane leave; who comes then gets their places, since all others are taken.
    uint32_t left = 0;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        if (net_transport_lane(at->of.server, at->peers[i]) != 2) continue;
        at->of.clients[i]->ops->disconnect(at->of.clients[i], at->to_server[i], 1, true);
        left++;
    }
    assert_int_equal(left, MEMBERS / 4);
    pass(at, 200, true);
    assert_int_equal(at->disconnects, left);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        if (net_transport_lane(at->of.server, at->peers[i]) != 2) continue;
        const net_peer before = at->peers[i];
        assert_ok(at->of.clients[i]->ops->connect(at->of.clients[i], "127.0.0.1:7777",
                                                  &at->to_server[i]));
        pass(at, 30, true);
        assert_int_equal(at->of.at_clients[i].connects, 2);
        assert_ok(send_number(at->of.clients[i], at->to_server[i], NET_CHANNEL_CONTROL, i));
        pass(at, 5, true);
        assert_int_not_equal(at->peers[i], before);
        assert_int_equal(net_transport_lane(at->of.server, at->peers[i]), 2);
    }
    assert_int_equal(at->connects, MEMBERS + left);
}

// Several events of one peer wait when the user disconnects it.
CASE_ROWS(house, at, open_house(at, 2), world_deinit(&at->of), is_now, 2,
          a_disconnected_peer_has_no_more_events) {
    sit(at);
    for (uint32_t i = 0; i < MEMBERS; i++)
        for (uint32_t n = 0; n < 4; n++)
            (void)send_number(at->of.clients[i], at->to_server[i], NET_CHANNEL_REALTIME, i);
    for (uint32_t i = 0; i < MEMBERS; i++)
        at->of.clients[i]->ops->flush(at->of.clients[i]);
    const net_transport_ops* ops = at->of.server->ops;
    net_transport_event event;
    at->of.now_us += TICK_US;
    wire_advance(at->of.now_us);
    ops->service(at->of.server, at->of.now_us);
    assert_in_range(at->of.server->waiting, MEMBERS, 4 * MEMBERS);
    ops->work(at->of.server, 1);
    net_peer gone = 0;
    uint32_t others = 0;
    while (ops->next(at->of.server, &event)) {
        assert_int_equal(event.kind, NET_TRANSPORT_RECEIVED);
        assert_int_not_equal(event.peer, gone);
        others++;
        if (gone) continue;
        gone = event.peer;
        ops->disconnect(at->of.server, gone, 7, is_now);
    }
    assert_int_equal(others, 4 * MEMBERS - 3);
    assert_int_equal(send_number(at->of.server, gone, NET_CHANNEL_REALTIME, 0), NET_ERR_CLOSED);
    pass(at, 30, true);
    assert_int_equal(at->disconnects, is_now ? 0 : 1);
}

// A member floods its own lane: the others are served, and no service reads without bound.
HOUSE_CASE(a_flood_of_one_member_fills_one_lane, 3) {
    sit(at);
    const net_transport_stats before = stats_of(at->of.server);
    uint8_t forged[NET_SOCKET_OUTER_BYTES_MAX] = {0};
    raw sealed = {.size = 0};
    net_address to;
    // A true head with a wrong end: it is routed, and found to be forged in the lane.
    sealed.size = net_secure_client_send(&secure_of(at->of.clients[0])->client, at->of.now_us,
                                         NET_OUTER_DATA, forged, 1100, sealed.bytes, &to);
    assert_true(sealed.size > 1000);
    sealed.bytes[sealed.size - 1] ^= 1;
    for (uint32_t i = 0; i < 4000; i++)
        inject_from(htonl(INADDR_LOOPBACK), (uint16_t)(1000 + i), &sealed);
    for (uint32_t i = 1; i < MEMBERS; i++)
        assert_ok(send_number(at->of.clients[i], at->to_server[i], NET_CHANNEL_CONTROL, i));
    at->of.now_us += TICK_US;
    wire_advance(at->of.now_us);
    serve(at, true);
    // What a ring holds, and not more.
    const uint64_t read = stats_of(at->of.server).recv_datagrams - before.recv_datagrams;
    assert_in_range(read, 500, NET_SOCKET_LANE_BYTES / sealed.size + 1);
    pass(at, 40, true);
    assert_in_range(secure_count(at->of.server, NET_SECURE_DATA_FORGED), 3900, 4000);
    for (uint32_t i = 1; i < MEMBERS; i++)
        assert_int_equal(at->received[i], 2);
    assert_int_equal(at->disconnects, 0);
}

CASE(lanes_and_peers_are_checked) {
    wire_set(true, 1);
    net_transport *made = NULL, *second = NULL;
    net_enet_config config = {.listen = "127.0.0.1:7777", .peers_max = 3, .lanes = 3};
    assert_ok(net_transport_enet_create(&config, &made));
    char text[NET_ENET_ADDRESS_TEXT_BYTES];
    assert_true(net_transport_enet_address(made, text, sizeof text));
    assert_string_equal(text, "127.0.0.1:7777");
    assert_int_equal(net_transport_enet_create(&config, &second), NET_ERR_BIND);
    net_peer peer = 1;
    assert_int_equal(made->ops->connect(made, "127.0.0.1:1", &peer), NET_ERR_FULL);
    assert_int_equal(peer, 0);
    net_peer_identity identity;
    assert_false(net_transport_identity(made, 0, &identity));
    assert_false(net_transport_identity(made, 1u << NET_PEER_SLOT_BITS | 2, &identity));
    made->ops->disconnect(made, 0, 0, true);
    made->ops->disconnect(made, 1u << NET_PEER_SLOT_BITS | 7, 0, true);
    made->ops->destroy(made);
    config.listen = "nowhere";
    assert_int_equal(net_transport_enet_create(&config, &made), NET_ERR_ADDRESS);
    config.listen = "0.0.0.0:7777";
    assert_int_equal(net_transport_enet_create(&config, &made), NET_ERR_REFUSED);
    wire_set(false, 0);
}

// ---- threads, over the kernel's loopback

typedef struct lane_thread {
    net_transport* transport;
    const net_peer* peers;
    uint32_t lane;
    bool is_sending;
} lane_thread;

// What a lane may do while others do the same.
static void* run_lane(void* context) {
    const lane_thread* self = context;
    const net_transport_ops* ops = self->transport->ops;
    if (!self->is_sending) {
        ops->work(self->transport, self->lane);
        return NULL;
    }
    for (uint32_t i = 0; i < MEMBERS; i++) {
        if (self->peers[i] == 0 ||
            net_transport_lane(self->transport, self->peers[i]) != self->lane)
            continue;
        uint8_t bytes[NET_STATE_BYTES_MAX] = {0};
        (void)ops->send(self->transport, self->peers[i], NET_CHANNEL_REALTIME, bytes, sizeof bytes);
        (void)ops->peer_sent_bytes(self->transport, self->peers[i]);
    }
    ops->flush_lane(self->transport, self->lane);
    return NULL;
}

static void run_lanes(house* at, bool is_sending) {
    pthread_t threads[NET_LANES_MAX];
    lane_thread lanes[NET_LANES_MAX];
    const uint32_t count = net_transport_lanes(at->of.server);
    for (uint32_t i = 0; i < count; i++) {
        lanes[i] = (lane_thread){at->of.server, at->peers, i, is_sending};
        assert_int_equal(pthread_create(&threads[i], NULL, run_lane, &lanes[i]), 0);
    }
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static uint64_t wall_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

CASE(lanes_work_at_the_same_time) {
    house at = {.connects = 0};
    world_serve(&at.of,
                (net_enet_config){.listen = "127.0.0.1:0", .peers_max = MEMBERS, .lanes = 4});
    char address[NET_ENET_ADDRESS_TEXT_BYTES];
    assert_true(net_transport_enet_address(at.of.server, address, sizeof address));
    for (int i = 0; i < MEMBERS; i++)
        at.to_server[i] = world_begin_connect(&at.of, i, address);
    const uint64_t end_us = wall_us() + PATIENCE_MS * UINT64_C(1000);
    uint32_t least = 0;
    while (least < 40 && wall_us() < end_us) {
        net_transport_event event;
        at.of.server->ops->service(at.of.server, wall_us());
        run_lanes(&at, false);
        while (at.of.server->ops->next(at.of.server, &event)) {
            if (event.kind != NET_TRANSPORT_RECEIVED) continue;
            uint32_t member;
            memcpy(&member, event.bytes, sizeof member);
            at.peers[member] = event.peer;
        }
        run_lanes(&at, true);
        least = UINT32_MAX;
        for (uint32_t i = 0; i < MEMBERS; i++) {
            drain(at.of.clients[i], wall_us(), &at.of.at_clients[i]);
            if (at.of.at_clients[i].connects > 0)
                (void)send_number(at.of.clients[i], at.to_server[i], NET_CHANNEL_REALTIME, i);
            at.of.clients[i]->ops->flush(at.of.clients[i]);
            if (at.of.at_clients[i].realtime_count < least)
                least = at.of.at_clients[i].realtime_count;
        }
    }
    assert_true(least >= 40);
    for (uint32_t i = 0; i < MEMBERS; i++)
        assert_int_equal(at.of.at_clients[i].disconnects, 0);
    world_deinit(&at.of);
}
