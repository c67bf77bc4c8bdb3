// SPDX-License-Identifier: MIT
// The slot of a connection tells whose it is. Lanes of the first divide the connections of both by
// the same rule, so a lane's thread sends for its connections of either.
#include "net/websocket.h"

#include "base/assert.h"

typedef struct join {
    net_transport base;
    net_transport_ops ops;
    const base_allocator* allocator;
    net_transport* sides[2];
    uint32_t slot_first; // of the second
} join;

static join* join_of(net_transport* transport) {
    return (join*)transport;
}

static net_transport* side_of(const net_transport* transport, net_peer peer) {
    const join* self = (const join*)transport;
    return self->sides[(peer & (NET_PEER_SLOTS - 1)) >= self->slot_first];
}

static void join_service(net_transport* transport, uint64_t now_us) {
    transport->waiting = 0;
    for (uint32_t i = 0; i < 2; i++) {
        net_transport* side = join_of(transport)->sides[i];
        side->ops->service(side, now_us);
        transport->waiting += side->waiting;
    }
}

// The second first: it has what came, while the first goes on reading until its time is over.
static bool join_next(net_transport* transport, net_transport_event* event) {
    net_transport* const* sides = join_of(transport)->sides;
    return sides[1]->ops->next(sides[1], event) || sides[0]->ops->next(sides[0], event);
}

static net_result join_send(net_transport* transport, net_peer peer, net_channel channel,
                            const void* bytes, size_t size) {
    net_transport* side = side_of(transport, peer);
    return side->ops->send(side, peer, channel, bytes, size);
}

static net_result join_connect(net_transport* transport, const char* address, net_peer* peer) {
    (void)transport, (void)address, (void)peer;
    return NET_ERR_FULL; // it is a server's
}

static void join_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    net_transport* side = side_of(transport, peer);
    side->ops->disconnect(side, peer, reason, now);
}

static void join_flush(net_transport* transport) {
    for (uint32_t i = 0; i < 2; i++) {
        net_transport* side = join_of(transport)->sides[i];
        side->ops->flush(side);
    }
}

static void join_work(net_transport* transport, uint32_t lane) {
    net_transport* first = join_of(transport)->sides[0];
    if (first->ops->work) first->ops->work(first, lane);
}

static void join_flush_lane(net_transport* transport, uint32_t lane) {
    for (uint32_t i = 0; i < 2; i++) {
        net_transport* side = join_of(transport)->sides[i];
        if (side->ops->flush_lane) side->ops->flush_lane(side, lane);
    }
}

static void join_stats(const net_transport* transport, net_transport_stats* stats) {
    const join* self = (const join*)transport;
    net_transport_stats second;
    self->sides[0]->ops->stats(self->sides[0], stats);
    self->sides[1]->ops->stats(self->sides[1], &second);
    net_transport_stats_add(stats, &second);
}

static uint32_t join_sockets(const net_transport* transport, int* descriptors, uint32_t capacity) {
    const join* self = (const join*)transport;
    const uint32_t count = self->sides[0]->ops->sockets(self->sides[0], descriptors, capacity);
    return count +
           self->sides[1]->ops->sockets(self->sides[1], descriptors + count, capacity - count);
}

static bool join_identity(const net_transport* transport, net_peer peer,
                          net_peer_identity* identity) {
    return net_transport_identity(side_of(transport, peer), peer, identity);
}

static uint64_t join_peer_sent_bytes(const net_transport* transport, net_peer peer) {
    const net_transport* side = side_of(transport, peer);
    return side->ops->peer_sent_bytes ? side->ops->peer_sent_bytes(side, peer) : 0;
}

static void join_destroy(net_transport* transport) {
    base_release(join_of(transport)->allocator, transport, sizeof(join));
}

net_transport* net_transport_join_create(const base_allocator* allocator, net_transport* first,
                                         net_transport* second, uint32_t slot_first) {
    BASE_ASSERT(first && second && slot_first < NET_PEER_SLOTS);
    join* self = base_allocate_zero(allocator, sizeof *self);
    BASE_ASSERT(!first->ops->hold && !second->ops->hold); // what holds back is around both
    self->ops = (net_transport_ops){.service = join_service,
                                    .next = join_next,
                                    .send = join_send,
                                    .connect = join_connect,
                                    .disconnect = join_disconnect,
                                    .flush = join_flush,
                                    .work = first->ops->work ? join_work : NULL,
                                    .flush_lane = first->ops->flush_lane ? join_flush_lane : NULL,
                                    .stats = join_stats,
                                    .sockets = join_sockets,
                                    .destroy = join_destroy,
                                    .identity = join_identity,
                                    .peer_sent_bytes = join_peer_sent_bytes};
    self->base = (net_transport){.ops = &self->ops, .around = first, .lanes = first->lanes};
    self->allocator = allocator;
    self->sides[0] = first;
    self->sides[1] = second;
    self->slot_first = slot_first;
    return &self->base;
}
