// SPDX-License-Identifier: MIT
// One side of a connection in the simulated network.
#include "transport/sim_side.h"

#define SIM_GONE_US_MAX UINT64_C(60000000)

enum {
    PEER_GENERATION_MASK = 0xFFFFF,
    GOODBYE_BYTES = 4,
};

net_peer net_sim_peer_make(uint32_t slot, uint32_t* generation) {
    *generation = (*generation + 1) & PEER_GENERATION_MASK;
    if (*generation == 0) *generation = 1;
    return *generation << NET_PEER_SLOT_BITS | slot;
}

void net_sim_take_back(net_sim_endpoint* taker) {
    net_sim_control_free(taker->sim->allocator, taker->borrowed);
    taker->borrowed = NULL;
    if (!taker->borrowed_link) return;
    net_link_pop(taker->borrowed_link->link);
    taker->borrowed_link = NULL;
}

static void hash_datagram(net_sim_client_end* owner, bool is_up, const void* bytes, size_t size) {
    const uint32_t head[3] = {owner->index, is_up, (uint32_t)size};
    owner->hash = base_hash64(bytes, size, base_hash64(head, sizeof head, owner->hash));
}

// Lanes send at the same time; each has its own connections, the counters are of all.
static void count(uint64_t* counter, uint64_t by) {
    (void)__atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

// The tag of a datagram: epoch, and whether it is a goodbye.
static uint64_t realtime_tag(uint32_t epoch, bool is_goodbye) {
    return (uint64_t)epoch << 1 | is_goodbye;
}

net_result net_sim_push_control(net_sim_endpoint* sender, net_sim_path* along,
                                net_sim_control_kind kind, uint32_t epoch, uint32_t reason,
                                const void* bytes, size_t size) {
    net_result result =
        net_sim_path_control_push(along, sender->now_us, kind, epoch, reason, bytes, size);
    if (result != NET_OK) return result;
    count(&sender->stats.sent_datagrams, size > NET_MTU_BYTES ? (size - 1) / NET_MTU_BYTES + 1 : 1);
    count(&sender->stats.sent_bytes, size);
    return NET_OK;
}

net_result net_sim_side_send(net_sim_endpoint* sender, net_sim_client_end* owner,
                             net_sim_side* from, net_channel channel, const void* bytes,
                             size_t size) {
    bool is_up = sender == &owner->endpoint;
    net_sim_path* along = is_up ? &owner->up : &owner->down;
    if (from->state != NET_SIM_SIDE_CONNECTED) return NET_ERR_CLOSED;
    size_t size_max = channel == NET_CHANNEL_CONTROL ? NET_CONTROL_BYTES_MAX : NET_STATE_BYTES_MAX;
    net_result result = NET_OK;
    if (size == 0 || size > size_max) {
        result = NET_ERR_FULL;
    } else if (channel == NET_CHANNEL_CONTROL) {
        result = net_sim_push_control(sender, along, NET_SIM_CONTROL_MESSAGE, from->epoch, 0, bytes,
                                      size);
    } else {
        hash_datagram(owner, is_up, bytes, size);
        // Dropped when the client is destroyed: the pool stays small.
        if (is_up || !owner->is_destroyed)
            net_link_push(along->link, sender->now_us, realtime_tag(from->epoch, false), bytes,
                          size);
        count(&sender->stats.sent_datagrams, 1);
        count(&sender->stats.sent_bytes, size);
    }
    if (result == NET_OK)
        from->sent_bytes += size;
    else
        count(&sender->stats.send_refused, 1);
    return result;
}

void net_sim_side_disconnect(net_sim_endpoint* sender, net_sim_client_end* owner,
                             net_sim_side* from, uint32_t reason, bool now) {
    net_sim_path* along = sender == &owner->endpoint ? &owner->up : &owner->down;
    if (from->state == NET_SIM_SIDE_CONNECTED && !now) {
        from->state = NET_SIM_SIDE_LEAVING;
        from->since_us = sender->now_us;
        if (net_sim_push_control(sender, along, NET_SIM_CONTROL_GOODBYE, from->epoch, reason, NULL,
                                 0) == NET_OK)
            return;
    }
    if (from->state != NET_SIM_SIDE_CLOSED) {
        uint8_t said[GOODBYE_BYTES] = {(uint8_t)reason, (uint8_t)(reason >> 8),
                                       (uint8_t)(reason >> 16), (uint8_t)(reason >> 24)};
        net_link_push(along->link, sender->now_us, realtime_tag(from->epoch, true), said,
                      sizeof said);
    }
    net_sim_path_clear_control(along);
    from->state = NET_SIM_SIDE_CLOSED;
}

bool net_sim_side_close(net_sim_side* of, uint32_t reason, net_transport_event* event) {
    *event = (net_transport_event){
        .kind = NET_TRANSPORT_DISCONNECTED, .peer = of->peer, .reason = reason};
    of->state = NET_SIM_SIDE_CLOSED;
    return true;
}

// Of two arrivals at one instant the control message is first, but a goodbye is last.
bool net_sim_is_control_first(const net_sim_control* message, uint64_t link_us) {
    if (message->kind == NET_SIM_CONTROL_GOODBYE) return message->arrival_us < link_us;
    return message->arrival_us <= link_us;
}

bool net_sim_receive_datagram(net_sim_endpoint* reader, net_sim_path* along, net_sim_side* at,
                              net_transport_event* event) {
    uint64_t tag = 0;
    size_t size = 0;
    const uint8_t* bytes = net_link_peek(along->link, reader->now_us, &tag, &size);
    reader->stats.recv_datagrams++;
    reader->stats.recv_bytes += size;
    bool is_goodbye = tag & 1;
    if (tag >> 1 != at->epoch || at->state == NET_SIM_SIDE_CLOSED ||
        at->state == NET_SIM_SIDE_CONNECTING ||
        (at->state == NET_SIM_SIDE_LEAVING && !is_goodbye)) {
        net_link_pop(along->link);
        return false;
    }
    if (is_goodbye) {
        uint32_t reason = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                          (uint32_t)bytes[3] << 24;
        net_link_pop(along->link);
        return net_sim_side_close(at, reason, event);
    }
    reader->borrowed_link = along;
    *event = (net_transport_event){.kind = NET_TRANSPORT_RECEIVED,
                                   .peer = at->peer,
                                   .channel = NET_CHANNEL_REALTIME,
                                   .bytes = bytes,
                                   .size = size};
    return true;
}

bool net_sim_receive_message(net_sim_endpoint* reader, net_sim_control* message, net_sim_side* at,
                             net_transport_event* event) {
    if (at->state != NET_SIM_SIDE_CONNECTED) return false;
    reader->stats.recv_reliable_bytes += message->size;
    reader->borrowed = message;
    *event = (net_transport_event){.kind = NET_TRANSPORT_RECEIVED,
                                   .peer = at->peer,
                                   .channel = NET_CHANNEL_CONTROL,
                                   .bytes = message->bytes,
                                   .size = message->size};
    return true;
}

bool net_sim_side_is_over(const net_sim_endpoint* here, const net_sim_client_end* owner,
                          const net_sim_path* out, const net_sim_side* at) {
    uint64_t now_us = here->now_us;
    if (at->state == NET_SIM_SIDE_CLOSED) return false;
    if (at->state == NET_SIM_SIDE_LEAVING && !out->first) return true;
    if (at->state != NET_SIM_SIDE_CONNECTED)
        return now_us - at->since_us >= NET_CONNECT_MS_MAX * UINT64_C(1000);
    return now_us >= owner->gone_us && now_us - owner->gone_us >= SIM_GONE_US_MAX;
}
