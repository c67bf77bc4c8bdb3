// SPDX-License-Identifier: MIT
// Several ENet hosts behind one address and port. ENet walks all peers of a host for nearly
// everything, and a host belongs to one thread: so connections are divided among hosts.
//
//   kernel -> trunk -> route: handshake? answered here.      -+ service, one thread
//                      Else the slot of its session: a lane.  |
//   lane   -> ring -> decrypt -> ENet -> events               - work, a thread for each lane
//   events -> the user, lane by lane                          - next, one thread
//   lane   <- packets of the user <- encrypt <- batch         - send, flush_lane: lanes at once
//   kernel <- all lanes, through the descriptors of the trunk
//
// The number of a session contains its slot, and slot S belongs to lane S modulo the lanes. So a
// datagram finds its lane whatever address it comes from, and what belongs to no session ends
// before any lane. Peer P of lane L is slot P * lanes + L to the user.
//
// A service takes its time (4 ms, or until the tick is due) for all: the trunk may read for half of
// it, then the lanes work until its end, and for NET_SERVICE_US_MIN at least. When a lane is full
// the trunk reads no further: the rest waits in the kernel, as with one host.
//
// Invariant: events of a lane lie in its list, with their packets, until next gave them out or the
// next service began. When the user disconnects a peer, those of it are dropped.
#include "transport/enet_peers.h"

#include "base/assert.h"

#include <errno.h>
#include <string.h>

// Defined only in programs that link the socket layer; without it no transport is made.
#pragma weak net_socket_pump
#pragma weak net_socket_plan_next
#pragma weak net_socket_flush
#pragma weak net_socket_budget_set
#pragma weak net_socket_trunk_receive
#pragma weak net_socket_lane_has_room
#pragma weak net_socket_lane_push
#pragma weak net_socket_lane_has_rest

enum {
    TRUNK_BATCH = 64,      // datagrams of one system call
    DATAGRAMS_MAX = 16384, // read per service
};

typedef struct stored_event {
    net_transport_event event;
    ENetPacket* packet; // of event.bytes; NULL: none
} stored_event;

typedef struct enet_lane {
    net_enet_transport* host;
    stored_event* events;
    uint32_t event_count, event_capacity;
    uint32_t event_next; // not given out yet
    bool has_worked;     // in this service
} enet_lane;

typedef struct enet_lanes {
    net_transport base;
    base_owner* owner; // of itself, too
    net_enet_secure trunk;
    enet_lane lanes[NET_LANES_MAX];
    uint32_t count;
    uint32_t turn;     // next looks here
    uint64_t now_us;   // of the newest service
    uint64_t until_us; // when it has to end
} enet_lanes;

static const net_transport_ops lanes_ops;

static enet_lanes* lanes_of(net_transport* transport) {
    BASE_ASSERT(transport->ops == &lanes_ops);
    return (enet_lanes*)transport;
}

static net_peer to_user(const enet_lanes* self, uint32_t lane, net_peer peer) {
    uint32_t slot = peer & (NET_PEER_SLOTS - 1);
    return (peer & ~(NET_PEER_SLOTS - 1)) | (slot * self->count + lane);
}

// @return the lane.
static enet_lane* from_user(enet_lanes* self, net_peer* peer) {
    uint32_t slot = *peer & (NET_PEER_SLOTS - 1);
    enet_lane* lane = &self->lanes[slot % self->count];
    if (*peer) *peer = (*peer & ~(NET_PEER_SLOTS - 1)) | slot / self->count;
    return lane;
}

// ---- receiving

static void forget_events(enet_lane* lane) {
    for (uint32_t i = 0; i < lane->event_count; i++)
        if (lane->events[i].packet) enet_packet_destroy(lane->events[i].packet);
    lane->event_count = lane->event_next = 0;
    if (lane->host) net_enet_forget_waiting(lane->host);
}

static bool have_all_room(const enet_lanes* self) {
    for (uint32_t i = 0; i < self->count; i++)
        if (!net_socket_lane_has_room(self->lanes[i].host->host->socket)) return false;
    return true;
}

static void read_trunk(enet_lanes* self) {
    net_address from;
    const uint8_t* bytes = NULL;
    self->base.waiting = 0;
    for (uint32_t i = 0; i < self->count; i++)
        if (net_socket_lane_has_rest(self->lanes[i].host->host->socket))
            self->base.waiting += DATAGRAMS_MAX;
    while (have_all_room(self)) {
        size_t size = net_socket_trunk_receive(self->trunk.descriptor, &from, &bytes);
        if (size == 0) break;
        uint32_t slot =
            net_enet_secure_route(&self->trunk, &from, (uint8_t*)(uintptr_t)bytes, size);
        if (slot == UINT32_MAX) continue;
        self->base.waiting++;
        net_socket_lane_push(self->lanes[slot % self->count].host->host->socket, &from, bytes,
                             size);
    }
    net_socket_flush(self->trunk.descriptor);
}

static void lanes_service(net_transport* transport, uint64_t now_us) {
    enet_lanes* self = lanes_of(transport);
    net_enet_transport* first = self->lanes[0].host;
    const uint64_t until_us = net_enet_budget_until(first);
    net_socket_budget budget = {
        .datagrams = DATAGRAMS_MAX, .wall_us = first->wall_us, .context = first->wall_context};
    if (first->wall_us) {
        uint64_t wall_us = first->wall_us(first->wall_context);
        budget.until_us = until_us > wall_us ? wall_us + (until_us - wall_us) / 2 : wall_us;
    }
    for (uint32_t i = 0; i < self->count; i++) {
        forget_events(&self->lanes[i]);
        self->lanes[i].has_worked = false;
    }
    self->now_us = now_us;
    self->until_us = until_us;
    self->turn = 0;
    net_socket_pump();
    net_enet_secure_service_trunk(&self->trunk);
    net_socket_budget_set(self->trunk.descriptor, &budget);
    read_trunk(self);
}

static void lanes_work(net_transport* transport, uint32_t number) {
    enet_lanes* self = lanes_of(transport);
    BASE_ASSERT(number < self->count && !self->lanes[number].has_worked);
    enet_lane* lane = &self->lanes[number];
    net_enet_transport* host = lane->host;
    uint64_t until_us = self->until_us;
    if (host->wall_us) {
        uint64_t least_us = host->wall_us(host->wall_context) + NET_SERVICE_US_MIN;
        if (until_us < least_us) until_us = least_us;
    }
    lane->has_worked = true;
    net_enet_host_service(host, self->now_us, until_us);
    // Collect the events of a host with their packets.
    net_transport_event event;
    while (host->base.ops->next(&host->base, &event)) {
        BASE_ARRAY_RESERVE(&self->owner->allocator, lane->events, lane->event_capacity,
                           lane->event_count + 1);
        event.peer = to_user(self, number, event.peer);
        lane->events[lane->event_count++] = (stored_event){event, host->borrowed};
        host->borrowed = NULL;
    }
}

static bool lanes_next(net_transport* transport, net_transport_event* event) {
    enet_lanes* self = lanes_of(transport);
    for (; self->turn < self->count; self->turn++) {
        enet_lane* lane = &self->lanes[self->turn];
        if (!lane->has_worked) lanes_work(transport, self->turn);
        while (lane->event_next < lane->event_count) {
            *event = lane->events[lane->event_next++].event;
            if (event->peer != 0) return true;
        }
        if (net_enet_take_waiting(lane->host, event)) {
            event->peer = to_user(self, self->turn, event->peer);
            return true;
        }
    }
    return false;
}

// ---- sending, connections

static net_result lanes_send(net_transport* transport, net_peer peer, net_channel channel,
                             const void* bytes, size_t size) {
    net_enet_transport* host = from_user(lanes_of(transport), &peer)->host;
    return host->base.ops->send(&host->base, peer, channel, bytes, size);
}

static void lanes_flush_lane(net_transport* transport, uint32_t number) {
    enet_lanes* self = lanes_of(transport);
    BASE_ASSERT(number < self->count);
    net_enet_transport* host = self->lanes[number].host;
    host->base.ops->flush(&host->base);
}

static void lanes_flush(net_transport* transport) {
    const enet_lanes* self = lanes_of(transport);
    for (uint32_t i = 0; i < self->count; i++)
        lanes_flush_lane(transport, i);
    net_socket_flush(self->trunk.descriptor);
}

static net_result lanes_connect(net_transport* transport, const char* address, net_peer* peer) {
    (void)transport, (void)address;
    *peer = 0;
    return NET_ERR_FULL;
}

static void lanes_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    net_peer inner = peer;
    enet_lane* lane = from_user(lanes_of(transport), &inner);
    if (peer == 0) return;
    for (uint32_t i = lane->event_next; i < lane->event_count; i++) {
        stored_event* stored = &lane->events[i];
        if (stored->event.peer == peer && (now || stored->event.kind == NET_TRANSPORT_RECEIVED))
            stored->event.peer = 0;
    }
    lane->host->base.ops->disconnect(&lane->host->base, inner, reason, now);
}

static bool lanes_identity(const net_transport* transport, net_peer peer,
                           net_peer_identity* identity) {
    const net_transport* host =
        &from_user(lanes_of((net_transport*)(uintptr_t)transport), &peer)->host->base;
    return host->ops->identity(host, peer, identity);
}

static uint64_t lanes_peer_sent_bytes(const net_transport* transport, net_peer peer) {
    const net_transport* host =
        &from_user(lanes_of((net_transport*)(uintptr_t)transport), &peer)->host->base;
    return host->ops->peer_sent_bytes(host, peer);
}

// ---- the whole

static void lanes_stats(const net_transport* transport, net_transport_stats* stats) {
    const enet_lanes* self = lanes_of((net_transport*)(uintptr_t)transport);
    *stats = (net_transport_stats){0};
    net_enet_read_socket(&self->trunk, stats);
    for (uint32_t i = 0; i < self->count; i++) {
        const net_transport* host = &self->lanes[i].host->base;
        net_transport_stats part;
        host->ops->stats(host, &part);
        net_transport_stats_add(stats, &part);
    }
}

static uint32_t lanes_sockets(const net_transport* transport, int* descriptors, uint32_t capacity) {
    const enet_lanes* self = lanes_of((net_transport*)(uintptr_t)transport);
    return net_enet_list_descriptors(self->trunk.descriptor, descriptors, capacity);
}

// The hosts first: their sockets send through the trunk's.
static void lanes_destroy(net_transport* transport) {
    enet_lanes* self = lanes_of(transport);
    net_enet_secure_stop(&self->trunk);
    for (uint32_t i = 0; i < self->count; i++) {
        enet_lane* lane = &self->lanes[i];
        forget_events(lane);
        if (lane->host) lane->host->base.ops->destroy(&lane->host->base);
    }
    if (self->trunk.descriptor >= 0) enet_socket_destroy(self->trunk.descriptor);
    net_enet_secure_deinit(&self->trunk);
    base_owner_destroy(self->owner);
}

static const net_transport_ops lanes_ops = {
    .service = lanes_service,
    .next = lanes_next,
    .send = lanes_send,
    .connect = lanes_connect,
    .disconnect = lanes_disconnect,
    .flush = lanes_flush,
    .work = lanes_work,
    .flush_lane = lanes_flush_lane,
    .stats = lanes_stats,
    .sockets = lanes_sockets,
    .destroy = lanes_destroy,
    .identity = lanes_identity,
    .peer_sent_bytes = lanes_peer_sent_bytes,
};

static net_result open_trunk(const net_enet_config* config, int* descriptor) {
    net_socket_plan plan = {.batch = TRUNK_BATCH};
    net_result result = net_enet_plan_listen(config, &plan);
    if (result != NET_OK) return result;
    if (!net_enet_is_ready()) return NET_ERR_SOCKET;
    const ENetAddress address = {.port = plan.listen[0].port}; // the plan has all of it
    net_socket_plan_next(&plan);
    errno = 0;
    *descriptor = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    if (*descriptor >= 0 && enet_socket_bind(*descriptor, &address) == 0) {
        (void)enet_socket_set_option(*descriptor, ENET_SOCKOPT_NONBLOCK, 1);
        net_enet_size_buffers(*descriptor);
        return NET_OK;
    }
    return errno == ENOMEM ? NET_ERR_MEMORY : NET_ERR_BIND;
}

// Make one of config->lanes hosts, at least 2. @return as net_transport_enet_create.
static net_result create_lanes(const net_enet_config* config, net_transport** transport) {
    BASE_ASSERT(config->lanes >= 2 && config->lanes <= NET_LANES_MAX);
    base_owner* owner = base_owner_create(config->allocator, sizeof *owner);
    enet_lanes* made = base_allocate_zero(&owner->allocator, sizeof *made);
    made->base = (net_transport){.ops = &lanes_ops, .lanes = config->lanes};
    made->owner = owner;
    made->count = config->lanes;
    made->trunk.descriptor = -1;
    int descriptor = -1;
    net_result result = open_trunk(config, &descriptor);
    made->trunk.descriptor = descriptor;
    net_enet_config own = *config;
    own.allocator = &owner->allocator;
    if (result == NET_OK) net_enet_secure_init(&made->trunk, descriptor, &own, false);
    for (uint32_t i = 0; result == NET_OK && i < made->count; i++)
        result = net_enet_host_create(config, &made->trunk, i, &made->lanes[i].host);
    if (result != NET_OK) {
        const int error = errno;
        lanes_destroy(&made->base);
        errno = error; // says why a port cannot be bound
        return result;
    }
    *transport = &made->base;
    return NET_OK;
}

// net/transport.h: one ENet host (transport_enet.c), or several behind one socket.

// Defined only in programs that link the socket layer; without it no transport is made.
#pragma weak net_socket_addresses

net_result net_transport_enet_create(const net_enet_config* config, net_transport** transport) {
    BASE_ASSERT(config && transport && config->lanes <= NET_LANES_MAX);
    if (config->peers_max == 0 || config->peers_max > NET_CLIENTS_MAX) return NET_ERR_FULL;
    BASE_ASSERT(config->lanes <= config->peers_max && (config->lanes <= 1 || config->listen));
    if (config->lanes > 1) return create_lanes(config, transport);
    net_enet_transport* made = NULL;
    net_result result = net_enet_host_create(config, NULL, 0, &made);
    if (result == NET_OK) *transport = &made->base;
    return result;
}

static bool print_addresses(int descriptor, char* text, size_t text_bytes) {
    net_address at[NET_SOCKET_ADDRESSES_MAX];
    uint32_t count = net_socket_addresses(descriptor, at);
    for (uint32_t i = 0; i < count; i++) {
        if (!net_address_print(&at[i], text, text_bytes)) return false;
        size_t size = strlen(text);
        text += size;
        text_bytes -= size;
        if (i + 1 == count) return true;
        if (text_bytes < 2) return false;
        *text++ = ',';
        text_bytes--;
    }
    return false;
}

static const net_enet_secure* secure_of(const net_transport* transport) {
    if (transport->ops == &lanes_ops) return &((const enet_lanes*)transport)->trunk;
    BASE_ASSERT(net_enet_is_host(transport));
    return &((const net_enet_transport*)transport)->secure;
}

static net_secure_server* server_of(const net_transport* transport) {
    BASE_ASSERT(secure_of(transport)->server);
    return secure_of(transport)->server;
}

// Of several the first.
static net_enet_transport* host_of(net_transport* transport) {
    if (transport->ops == &lanes_ops) return lanes_of(transport)->lanes[0].host;
    BASE_ASSERT(net_enet_is_host(transport));
    return (net_enet_transport*)transport;
}

bool net_transport_enet_address(const net_transport* transport, char* text, size_t text_bytes) {
    const net_enet_secure* secure = secure_of(transport);
    return secure->server && print_addresses(secure->descriptor, text, text_bytes);
}

void net_transport_enet_due(net_transport* transport, uint64_t due_us) {
    host_of(transport)->due_us = due_us;
}

void net_transport_enet_secure_stats(const net_transport* transport, net_secure_stats* stats) {
    const net_enet_secure* secure = secure_of(transport);
    *stats = secure->server ? *net_secure_server_stats(secure->server) : secure->client.stats;
}

void net_transport_enet_keys_set(net_transport* transport, const net_key_ring* keys) {
    net_secure_server_keys_set(server_of(transport), keys);
}

net_secure_end net_transport_enet_admit(net_transport* transport, const net_address* from,
                                        const net_token* token, net_peer_identity* identity,
                                        net_token* resume, net_token* later) {
    const net_secure_clock* clock = &secure_of(transport)->clock;
    return net_secure_server_admit(server_of(transport), clock, from, token, identity, resume,
                                   later);
}

void net_transport_enet_standby_set(net_transport* transport, bool is_standby) {
    net_secure_server_set_standby(server_of(transport), is_standby);
}

void* net_transport_enet_host(net_transport* transport) {
    return host_of(transport)->host;
}
