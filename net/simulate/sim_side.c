// SPDX-License-Identifier: MIT
// Resending without a protocol. A control message is cut into pieces
// of one mtu. Pieces that the path loses are tried again after one round trip (RETRY_US_MIN at
// least). The message arrives with its last piece, and never before the message before it.
// Acknowledgements are not simulated: a lost one would only cost bytes. The attempts of a message
// are computed when the receiver looks, for all the time that has passed, so a path that loses
// everything costs nothing.
#include "simulate/sim_side.h"

#include "net/limits.h"

#include <string.h>

#define RETRY_US_MIN UINT64_C(100000)

net_result net_sim_path_init(net_sim_path* made, const base_allocator* allocator,
                             const net_link_config* link, uint64_t seed) {
    *made = (net_sim_path){.allocator = allocator, .config = *link, .rng = base_rng_make(seed, 1)};
    made->config.seed = seed;
    return net_link_create(allocator, &made->config, &made->link);
}

void net_sim_path_config_set(net_sim_path* changed, const net_link_config* link) {
    uint64_t seed = changed->config.seed;
    changed->config = *link;
    changed->config.seed = seed;
    net_link_config_set(changed->link, &changed->config);
}

void net_sim_control_free(const base_allocator* allocator, net_sim_control* message) {
    if (message) base_release(allocator, message, sizeof *message + message->size);
}

void net_sim_path_clear_control(net_sim_path* cleared) {
    while (cleared->first) {
        net_sim_control* message = cleared->first;
        cleared->first = message->next;
        net_sim_control_free(cleared->allocator, message);
    }
    cleared->last = NULL;
    cleared->queued_bytes = 0;
}

void net_sim_path_deinit(net_sim_path* old) {
    net_sim_path_clear_control(old);
    net_link_destroy(old->link);
    old->link = NULL;
}

uint64_t net_sim_path_lost(const net_sim_path* asked) {
    const net_link_stats* stats = net_link_get_stats(asked->link);
    return stats->lost + stats->overflowed + asked->control_lost;
}

static double path_draw(net_sim_path* drawn) {
    return base_rng_u32(&drawn->rng) * 0x1p-32;
}

// Try the missing pieces of one message as often as there was time for.
static void control_try(net_sim_path* along, net_sim_control* message, uint64_t now_us) {
    const net_link_config* config = &along->config;
    uint64_t retry_us = (uint64_t)((2 * config->delay_ms + config->jitter_ms) * 1000.0);
    if (retry_us < RETRY_US_MIN) retry_us = RETRY_US_MIN;
    while (message->missing > 0 && message->attempt_us <= now_us) {
        uint32_t lost = 0;
        for (uint32_t i = 0; i < message->missing; i++)
            lost += path_draw(along) * 100.0 < config->loss_percent;
        if (net_link_is_out(along->link, message->attempt_us)) lost = message->missing;
        along->control_lost += lost;
        message->missing = lost;
        if (lost > 0) {
            message->attempt_us += retry_us;
            continue;
        }
        double way_ms = config->delay_ms + path_draw(along) * config->jitter_ms;
        message->arrival_us = message->attempt_us + (uint64_t)(way_ms * 1000.0 + 0.5);
    }
}

// The control message that has arrived by now, NULL when none has.
net_sim_control* net_sim_path_control_peek(net_sim_path* along, uint64_t now_us) {
    for (net_sim_control* message = along->first; message; message = message->next)
        control_try(along, message, now_us);
    net_sim_control* first = along->first;
    if (!first || first->arrival_us == UINT64_MAX) return NULL;
    if (first->arrival_us < along->arrived_us) first->arrival_us = along->arrived_us;
    return first->arrival_us <= now_us ? first : NULL;
}

void net_sim_path_control_pop(net_sim_path* along) {
    net_sim_control* message = along->first;
    along->first = message->next;
    if (!along->first) along->last = NULL;
    along->queued_bytes -= message->size;
    along->arrived_us = message->arrival_us;
}

// Queue a control message, copied. @return NET_OK; NET_ERR_FULL (NET_SIM_CONTROL_QUEUED_BYTES_MAX
// wait, or memory ran
//         out: nothing was queued).
static net_result net_sim_path_control_push(net_sim_path* along, uint64_t now_us,
                                            net_sim_control_kind kind, uint32_t epoch,
                                            uint32_t reason, const void* bytes, size_t size) {
    if (along->queued_bytes + size > NET_SIM_CONTROL_QUEUED_BYTES_MAX) return NET_ERR_FULL;
    net_sim_control* message = base_allocate(along->allocator, sizeof *message + size);
    if (!message) return NET_ERR_FULL;
    uint32_t pieces = (uint32_t)((size + NET_MTU_BYTES - 1) / NET_MTU_BYTES);
    *message = (net_sim_control){.attempt_us = now_us,
                                 .arrival_us = UINT64_MAX,
                                 .epoch = epoch,
                                 .missing = pieces > 0 ? pieces : 1,
                                 .reason = reason,
                                 .size = (uint32_t)size,
                                 .kind = kind};
    if (size > 0) memcpy(message->bytes, bytes, size);
    if (along->last)
        along->last->next = message;
    else
        along->first = message;
    along->last = message;
    along->queued_bytes += size;
    return NET_OK;
}

// One side of a connection in the simulated network.

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
