// SPDX-License-Identifier: MIT
// Messages wait as they were given, before ENet and the encryption. Held below them, ENet's
// acknowledgements would wait too, and clients would think the server dead; and what is sealed
// has a packet number, which is too old after a second.
//
// What waits belongs to its lane: the lane's thread adds and removes it, or the caller's
// while no lane works. Only `released` and `bytes` are for all threads.
#include "net/transport.h"

#include "base/assert.h"

#include <stdatomic.h>

typedef struct entry {
    uint64_t tick;
    net_peer peer;
    uint32_t size;    // of the bytes after it
    uint32_t reason;  // of a disconnect
    uint32_t channel; // net_channel, or DISCONNECT
} entry;

enum { DISCONNECT = 2, ALIGN = 8 };

typedef struct hold_lane {
    uint8_t* bytes;
    uint32_t capacity, used;
} hold_lane;

typedef struct hold {
    net_transport base;
    net_transport_ops ops;
    base_owner* owner; // of itself, too
    uint64_t tick;     // of the message sent now
    _Atomic uint64_t released;
    _Atomic uint64_t bytes;
    hold_lane lanes[NET_LANES_MAX];
} hold;

static hold* hold_of(net_transport* transport) {
    return (hold*)transport;
}

// ---- what waits ----

static uint32_t stride_of(const entry* at) {
    return ((uint32_t)sizeof *at + at->size + ALIGN - 1) & ~(ALIGN - 1u);
}

static entry* entry_at(const hold_lane* lane, uint32_t at) {
    return (entry*)(void*)(lane->bytes + at);
}

static bool has_entries(const hold_lane* lane, uint32_t until, net_peer peer) {
    for (uint32_t at = 0; at < until; at += stride_of(entry_at(lane, at)))
        if (entry_at(lane, at)->peer == peer) return true;
    return false;
}

static bool push_entry(hold* self, hold_lane* lane, const entry* head, const void* bytes) {
    const uint32_t stride = stride_of(head);
    const uint32_t room =
        head->channel == NET_CHANNEL_REALTIME ? NET_HOLD_PACKET_BYTES_MAX : NET_HOLD_BYTES_MAX;
    if (lane->used + stride > room) return false;
    BASE_ARRAY_RESERVE(&self->owner->allocator, lane->bytes, lane->capacity, lane->used + stride);
    memcpy(lane->bytes + lane->used, head, sizeof *head);
    if (head->size > 0) memcpy(lane->bytes + lane->used + sizeof *head, bytes, head->size);
    lane->used += stride;
    atomic_fetch_add_explicit(&self->bytes, stride, memory_order_relaxed);
    return true;
}

// @return false: the other transport has no room for it yet.
static bool give(const hold* self, const entry* at) {
    net_transport* other = self->base.around;
    if (at->channel == DISCONNECT) {
        other->ops->disconnect(other, at->peer, at->reason, false);
        return true;
    }
    // A packet that is refused is a lost one; a message is not.
    return other->ops->send(other, at->peer, (net_channel)at->channel, at + 1, at->size) !=
               NET_ERR_FULL ||
           at->channel == NET_CHANNEL_REALTIME;
}

// Send what may leave; what stays moves to the front.
static void release_lane(hold* self, hold_lane* lane) {
    const uint64_t released = atomic_load_explicit(&self->released, memory_order_acquire);
    uint32_t kept = 0;
    for (uint32_t at = 0, stride; at < lane->used; at += stride) {
        const entry* next = entry_at(lane, at);
        stride = stride_of(next);
        const bool is_behind =
            next->channel != NET_CHANNEL_REALTIME && has_entries(lane, kept, next->peer);
        if (next->peer == 0 || (next->tick <= released && !is_behind && give(self, next))) continue;
        if (kept < at) memmove(lane->bytes + kept, next, stride);
        kept += stride;
    }
    atomic_fetch_sub_explicit(&self->bytes, lane->used - kept, memory_order_relaxed);
    lane->used = kept;
}

// ---- the interface ----

static net_result hold_send(net_transport* transport, net_peer peer, net_channel channel,
                            const void* bytes, size_t size) {
    hold* self = hold_of(transport);
    hold_lane* lane = &self->lanes[net_transport_lane(transport, peer)];
    const bool is_released =
        self->tick <= atomic_load_explicit(&self->released, memory_order_acquire);
    if (self->tick == 0 || (is_released && lane->used == 0))
        return self->base.around->ops->send(self->base.around, peer, channel, bytes, size);
    if (size == 0 || size > NET_CONTROL_BYTES_MAX) return NET_ERR_FULL;
    const entry head = {
        .tick = self->tick, .peer = peer, .size = (uint32_t)size, .channel = channel};
    return push_entry(self, lane, &head, bytes) ? NET_OK : NET_ERR_FULL;
}

static void hold_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    hold* self = hold_of(transport);
    hold_lane* lane = &self->lanes[net_transport_lane(transport, peer)];
    const bool waits = peer != 0 && has_entries(lane, lane->used, peer);
    if (waits && !now) {
        const entry head = {
            .tick = self->tick, .peer = peer, .reason = reason, .channel = DISCONNECT};
        if (push_entry(self, lane, &head, NULL)) return;
    }
    for (uint32_t at = 0; waits && at < lane->used; at += stride_of(entry_at(lane, at)))
        if (entry_at(lane, at)->peer == peer) entry_at(lane, at)->peer = 0;
    self->base.around->ops->disconnect(self->base.around, peer, reason, now);
}

static void hold_flush(net_transport* transport) {
    hold* self = hold_of(transport);
    for (uint32_t i = 0; i < net_transport_lanes(&self->base); i++)
        release_lane(self, &self->lanes[i]);
    self->base.around->ops->flush(self->base.around);
}

static void hold_flush_lane(net_transport* transport, uint32_t lane) {
    hold* self = hold_of(transport);
    release_lane(self, &self->lanes[lane]);
    self->base.around->ops->flush_lane(self->base.around, lane);
}

static uint64_t hold_tick(net_transport* transport, uint64_t tick) {
    hold* self = hold_of(transport);
    const uint64_t released = atomic_load_explicit(&self->released, memory_order_acquire);
    self->tick = tick;
    return tick > released ? tick - released : 0;
}

static void hold_service(net_transport* transport, uint64_t now_us) {
    transport->around->ops->service(transport->around, now_us);
    transport->waiting = transport->around->waiting;
}

static bool hold_next(net_transport* transport, net_transport_event* event) {
    return transport->around->ops->next(transport->around, event);
}

static net_result hold_connect(net_transport* transport, const char* address, net_peer* peer) {
    return transport->around->ops->connect(transport->around, address, peer);
}

static void hold_work(net_transport* transport, uint32_t lane) {
    transport->around->ops->work(transport->around, lane);
}

static void hold_stats(const net_transport* transport, net_transport_stats* stats) {
    transport->around->ops->stats(transport->around, stats);
}

static uint32_t hold_sockets(const net_transport* transport, int* descriptors, uint32_t capacity) {
    return transport->around->ops->sockets(transport->around, descriptors, capacity);
}

static bool hold_identity(const net_transport* transport, net_peer peer,
                          net_peer_identity* identity) {
    return transport->around->ops->identity(transport->around, peer, identity);
}

static uint64_t hold_peer_sent_bytes(const net_transport* transport, net_peer peer) {
    return transport->around->ops->peer_sent_bytes(transport->around, peer);
}

static void hold_destroy(net_transport* transport) {
    base_owner_destroy(hold_of(transport)->owner);
}

net_transport* net_transport_hold_create(const base_allocator* allocator, net_transport* other) {
    BASE_ASSERT(other);
    base_owner* owner = base_owner_create(allocator, sizeof *owner);
    hold* self = base_allocate_zero(&owner->allocator, sizeof *self);
    // It can what the other one can. A server asks no others.
    self->ops = (net_transport_ops){.service = hold_service,
                                    .next = hold_next,
                                    .send = hold_send,
                                    .connect = hold_connect,
                                    .disconnect = hold_disconnect,
                                    .flush = hold_flush,
                                    .work = other->ops->work ? hold_work : NULL,
                                    .flush_lane = other->ops->flush_lane ? hold_flush_lane : NULL,
                                    .stats = hold_stats,
                                    .sockets = hold_sockets,
                                    .destroy = hold_destroy,
                                    .identity = other->ops->identity ? hold_identity : NULL,
                                    .peer_sent_bytes =
                                        other->ops->peer_sent_bytes ? hold_peer_sent_bytes : NULL,
                                    .hold = hold_tick};
    self->base = (net_transport){.ops = &self->ops, .around = other, .lanes = other->lanes};
    self->owner = owner;
    atomic_init(&self->released, UINT64_MAX);
    return &self->base;
}

void net_transport_hold_release(net_transport* transport, uint64_t tick) {
    BASE_ASSERT(transport->ops->hold == hold_tick);
    atomic_store_explicit(&hold_of(transport)->released, tick, memory_order_release);
}

uint64_t net_transport_hold_bytes(const net_transport* transport) {
    BASE_ASSERT(transport->ops->hold == hold_tick);
    return atomic_load_explicit(&((const hold*)transport)->bytes, memory_order_relaxed);
}
