// SPDX-License-Identifier: MIT
// The care of ENet's peers, and the check of every datagram before ENet sees it.
//
// Resends of control messages, once per service: how long they wait, what they cost, and whether
// the other side acknowledges any.
//
// The wait is clamped so that loss does not end healthy connections (transport_enet.c). A peer that
// acknowledges nothing would get its whole window again and again, many times the operator's rate.
// So resends that are clamped are paid from a bucket; when it is empty ENet doubles the waits as it
// likes. Who is heard but leaves the oldest message without an acknowledgement for NET_DEAF_MS_MAX
// loses the connection. A peer in a blackout is not heard, so this time stands still.
#include "transport/enet_peers.h"

#include <string.h>

// Defined only in programs that link the socket layer; without it no transport is made.
#pragma weak net_socket_now_us

#define STUCK_US_MAX UINT64_C(5000000)

enum {
    RESEND_SLACK_MS = 20,
    RESEND_MS_MAX = 1000,
};

#define RESEND_BYTES_PER_SECOND 32768.0
#define OVERHEAD_BYTES                                                                             \
    (12u + NET_SECURE_OVERHEAD_BYTES)  // ENet's of a message, and the outer layer's
#define HEARD_US_MAX UINT64_C(1000000) // a peer is heard for so long after a datagram
#define STEP_US_MAX UINT64_C(250000)   // a stall of this process counts as so much

typedef struct outstanding {
    uint32_t resent_bytes; // resends since the last look
    uint16_t oldest;       // sequence number of the oldest control message
    bool has_oldest;
} outstanding;

static void look_at(outstanding* all, const ENetOutgoingCommand* command, uint32_t looked_ms) {
    bool is_new = (int32_t)(command->sentTime - looked_ms) >= 0;
    if (command->sendAttempts > 1 && is_new)
        all->resent_bytes += command->fragmentLength + OVERHEAD_BYTES;
    uint16_t number = command->reliableSequenceNumber;
    if (command->command.header.channelID != NET_CHANNEL_CONTROL || command->sendAttempts == 0)
        return;
    if (!all->has_oldest || (int16_t)(uint16_t)(number - all->oldest) < 0) all->oldest = number;
    all->has_oldest = true;
}

// A list of ENet in which resent commands are before new ones.
static void look_through(outstanding* all, ENetList* list, uint32_t looked_ms) {
    for (ENetListIterator at = enet_list_begin(list); at != enet_list_end(list);
         at = enet_list_next(at)) {
        const ENetOutgoingCommand* command = (const ENetOutgoingCommand*)(const void*)at;
        if (command->sendAttempts == 0) break;
        look_at(all, command, looked_ms);
    }
}

// All that is not acknowledged: sent, or sent before and waiting to be sent again. ENet keeps the
// latter in another list in each of its versions.
static outstanding look(ENetPeer* peer, uint32_t looked_ms) {
    outstanding all = {.has_oldest = false};
    for (ENetListIterator at = enet_list_begin(&peer->sentReliableCommands);
         at != enet_list_end(&peer->sentReliableCommands); at = enet_list_next(at))
        look_at(&all, (const ENetOutgoingCommand*)(const void*)at, looked_ms);
#if ENET_VERSION < ENET_VERSION_CREATE(1, 3, 14)
    look_through(&all, &peer->outgoingReliableCommands, looked_ms); // Ubuntu 22.04
#else
    look_through(&all, &peer->outgoingCommands, looked_ms);
#endif
#if ENET_VERSION >= ENET_VERSION_CREATE(1, 3, 18)
    look_through(&all, &peer->outgoingSendReliableCommands, looked_ms);
#endif
    return all;
}

static void clamp_waits(ENetPeer* peer) {
    if (enet_list_empty(&peer->sentReliableCommands)) return;
    enet_uint32 wait_ms = peer->roundTripTime + 2 * peer->roundTripTimeVariance + RESEND_SLACK_MS;
    if (wait_ms > RESEND_MS_MAX) wait_ms = RESEND_MS_MAX;
    bool is_first = true;
    for (ENetListIterator at = enet_list_begin(&peer->sentReliableCommands);
         at != enet_list_end(&peer->sentReliableCommands); at = enet_list_next(at)) {
        ENetOutgoingCommand* command = (ENetOutgoingCommand*)(void*)at;
        if (command->roundTripTimeout > wait_ms) command->roundTripTimeout = wait_ms;
        enet_uint32 due = command->sentTime + command->roundTripTimeout;
        if (is_first || (int32_t)(due - peer->nextTimeout) < 0) peer->nextTimeout = due;
        is_first = false;
    }
}

// Look after the resends to one peer: bytes, waits. `before_us`: the last time.
// @return true: it is heard and acknowledges nothing, for too long.
static bool watch_resends(net_enet_slot* slot, ENetPeer* peer, uint64_t now_us, uint64_t before_us,
                          uint32_t now_ms) {
    uint64_t step_us = now_us > before_us ? now_us - before_us : 0;
    if (step_us > STEP_US_MAX) step_us = STEP_US_MAX;
    const outstanding all = look(peer, slot->resent_ms);
    slot->resent_ms = now_ms;
    slot->resend_tokens += RESEND_BYTES_PER_SECOND * (double)step_us * 1e-6 - all.resent_bytes;
    if (slot->resend_tokens > NET_ENET_RESEND_BYTES_BURST)
        slot->resend_tokens = NET_ENET_RESEND_BYTES_BURST;
    if (slot->resend_tokens > 0) clamp_waits(peer);
    // Was it heard for NET_DEAF_MS_MAX, and did not acknowledge the oldest message?
    if (!all.has_oldest || !slot->is_waiting || all.oldest != slot->waits_for) slot->deaf_us = 0;
    slot->is_waiting = all.has_oldest;
    slot->waits_for = all.oldest;
    if (all.has_oldest && now_us - slot->heard_us <= HEARD_US_MAX) slot->deaf_us += step_us;
    return slot->deaf_us >= NET_DEAF_MS_MAX * UINT64_C(1000);
}

// ENet 1.3.17 never subtracts dropped messages from this account. When no message waits the true
// value is zero.
static void repair_waiting_data(ENetPeer* peer) {
    if (peer->totalWaitingData == 0 || !enet_list_empty(&peer->dispatchedCommands)) return;
    for (size_t i = 0; i < peer->channelCount; i++) {
        ENetChannel* channel = &peer->channels[i];
        if (!enet_list_empty(&channel->incomingReliableCommands) ||
            !enet_list_empty(&channel->incomingUnreliableCommands))
            return;
    }
    peer->totalWaitingData = 0;
}

void net_enet_lose(net_enet_transport* owner, net_enet_slot* lost, uint32_t reason) {
    if (lost->state == NET_ENET_SLOT_FREE || lost->is_lost) return;
    lost->is_lost = true;
    lost->lost_reason = reason;
    owner->lost_count++;
}

static bool is_stuck(net_enet_slot* watched, const ENetPeer* peer, uint64_t now_us) {
    if (peer->state == ENET_PEER_STATE_CONNECTED || peer->state == ENET_PEER_STATE_DISCONNECTED) {
        watched->stuck_us = NET_ENET_NEVER_US;
        return false;
    }
    if (watched->stuck_us == NET_ENET_NEVER_US || watched->connect_id != peer->connectID) {
        watched->connect_id = peer->connectID;
        watched->stuck_us = now_us;
    }
    return now_us >= watched->stuck_us && now_us - watched->stuck_us >= STUCK_US_MAX;
}

// Has the session of this connection ended? Asking keeps it alive. ENet reports a peer that became
// a zombie, with a reason.
static bool is_over(net_enet_transport* owner, const ENetPeer* peer, uint64_t socket_us) {
    return peer->state != ENET_PEER_STATE_DISCONNECTED && peer->state != ENET_PEER_STATE_ZOMBIE &&
           !net_enet_secure_hold(&owner->secure, socket_us, peer->address.host, peer->address.port);
}

// A server that only says that it closed has lost the connection, or ends: the user comes back as
// after a silence.
static uint32_t end_reason(const net_enet_transport* owner) {
    net_secure_end end = owner->is_server ? NET_SECURE_END_NONE : owner->secure.client.end;
    bool is_lost = end == NET_SECURE_END_NONE || end == NET_SECURE_END_CLOSED;
    return is_lost ? 0 : NET_TRANSPORT_SECURE + (uint32_t)end;
}

void net_enet_check_peers(net_enet_transport* owner, uint64_t now_us) {
    const uint64_t socket_us = net_socket_now_us();
    const uint32_t now_ms = enet_time_get();
    for (uint32_t i = 0; i < owner->slot_count; i++) {
        ENetPeer* peer = &owner->host->peers[i];
        net_enet_slot* watched = &owner->slots[i];
        if (is_stuck(watched, peer, now_us)) {
            enet_peer_reset(peer);
            owner->stats.peers_reset++;
            watched->stuck_us = NET_ENET_NEVER_US;
            net_enet_lose(owner, watched, 0);
        }
        if (is_over(owner, peer, socket_us)) {
            enet_peer_reset(peer);
            net_enet_lose(owner, watched, end_reason(owner));
        }
        if (peer->state == ENET_PEER_STATE_DISCONNECTED) {
            if (!owner->secure.is_connecting) net_enet_lose(owner, watched, 0);
            continue;
        }
        if (peer->mtu > NET_MTU_BYTES) peer->mtu = NET_MTU_BYTES;
        repair_waiting_data(peer);
        if (!watch_resends(watched, peer, now_us, owner->checked_us, now_ms) || !owner->is_server)
            continue;
        enet_peer_reset(peer);
        owner->stats.peers_deaf++;
        net_enet_lose(owner, watched, NET_TRANSPORT_DEAF);
    }
}

// Has the session that a CONNECT comes from a connected peer? A peer of an older session with the
// same number is lost.
static bool is_session_connected(net_enet_transport* owner, const ENetAddress* from) {
    bool is_connected = false;
    for (uint32_t i = 0; i < owner->slot_count; i++) {
        ENetPeer* peer = &owner->host->peers[i];
        if (peer->state == ENET_PEER_STATE_DISCONNECTED || peer->address.host != from->host)
            continue;
        if (peer->address.port != from->port) {
            enet_peer_reset(peer);
            net_enet_lose(owner, &owner->slots[i], 0);
        } else if (peer->state == ENET_PEER_STATE_CONNECTED ||
                   peer->state == ENET_PEER_STATE_DISCONNECT_LATER) {
            is_connected = true;
        }
    }
    return is_connected;
}

// ENet walks all peers for a CONNECT, so it gets few.
static bool may_knock(net_enet_transport* owner, uint32_t id) {
    const ENetHost* host = owner->host;
    if (!owner->is_server || id != NET_FILTER_NO_PEER) return true;
    return net_connect_gate_pass(owner->gate, host->receivedAddress.host, owner->now_us) &&
           !is_session_connected(owner, &host->receivedAddress);
}

// Does it come from the peer that it names?
static bool is_of_peer(const net_enet_transport* owner, uint32_t id) {
    if (id >= owner->slot_count) return false;
    const ENetHost* host = owner->host;
    const ENetAddress *from = &host->receivedAddress, *of = &host->peers[id].address;
    return from->host == of->host && from->port == of->port;
}

void net_enet_take_packet(void* context, uint32_t host, uint16_t port, const uint8_t* bytes,
                          size_t size) {
    net_enet_transport* owner = context;
    const uint32_t id = net_enet_secure_find(&owner->secure, host);
    if (id >= owner->slot_count || owner->slots[id].state != NET_ENET_SLOT_CONNECTED) return;
    ENetPeer* peer = &owner->host->peers[id];
    if (peer->state != ENET_PEER_STATE_CONNECTED || peer->address.host != host ||
        peer->address.port != port)
        return;
    if (size > NET_STATE_BYTES_MAX) {
        owner->stats.dropped_malformed++;
        return;
    }
    peer->lastReceiveTime = owner->host->serviceTime; // else ENet pings it
    owner->slots[id].heard_us = owner->now_us;
    BASE_ARRAY_RESERVE(owner->allocator, owner->waiting, owner->waiting_capacity,
                       owner->waiting_count + 1);
    BASE_ARRAY_RESERVE(owner->allocator, owner->bytes, owner->bytes_capacity,
                       owner->bytes_count + (uint32_t)size);
    memcpy(owner->bytes + owner->bytes_count, bytes, size);
    owner->waiting[owner->waiting_count++] =
        (net_enet_waiting){owner->bytes_count, (uint32_t)size, id, peer->connectID};
    owner->bytes_count += (uint32_t)size;
}

int net_enet_intercept(ENetHost* host, ENetEvent* event) {
    (void)event;
    net_enet_transport* owner = host->peers[0].data;
    net_filter_context context = {.is_server = owner->is_server};
    uint32_t id = net_filter_peer(host->receivedData, host->receivedDataLength);
    if (id < owner->slot_count && host->peers[id].channelCount > NET_CHANNEL_CONTROL)
        context.reliable_sequence =
            host->peers[id].channels[NET_CHANNEL_CONTROL].incomingReliableSequenceNumber;
    if (!net_filter_check(host->receivedData, host->receivedDataLength, &context)) {
        owner->stats.dropped_malformed++;
        return 1;
    }
    if (!may_knock(owner, id)) {
        owner->stats.dropped_connects++;
        return 1;
    }
    if (!is_of_peer(owner, id)) return 0; // ENet drops it; that costs the peer nothing
    if (!net_repeat_ration_pass(&owner->slots[id].repeats, host->receivedData,
                                host->receivedDataLength, &context, owner->now_us)) {
        owner->stats.dropped_repeats++;
        return 1;
    }
    owner->slots[id].heard_us = owner->now_us;
    return 0;
}

// A flood must not hold up the tick: what comes is read and handed out for a limited time, and no
// longer than until the tick is due. The socket layer asks the clock while it reads, the transport
// at each call of ENet. Unread datagrams stay in the kernel's buffer, those that ENet has read in
// its queues. In virtual time two counts are the bounds, so that a run is a function of its seed.

#pragma weak net_socket_budget_set
#pragma weak net_socket_wall_us

enum {
    PASSES_MAX = 16384,    // calls of ENet per service, events included
    DATAGRAMS_MAX = 16384, // read per service
};

static uint64_t default_wall_us(void* context) {
    (void)context;
    return net_socket_wall_us();
}

void net_enet_budget_init(net_enet_transport* owner, const net_enet_config* config) {
    const bool is_lane = owner->host->socket >= NET_SOCKET_LANE_FIRST;
    owner->service_us_max =
        config->service_us_max > 0 ? config->service_us_max : NET_SERVICE_US_MAX;
    owner->due_us = UINT64_MAX;
    owner->wall_us = config->wall_us;
    owner->wall_context = config->wall_context;
    if (!owner->wall_us && net_socket_wall_us && !is_lane) owner->wall_us = default_wall_us;
}

uint64_t net_enet_budget_until(const net_enet_transport* owner) {
    if (!owner->wall_us) return UINT64_MAX;
    uint64_t now_us = owner->wall_us(owner->wall_context);
    uint64_t share_us = owner->due_us > now_us ? owner->due_us - now_us : 0;
    if (share_us < NET_SERVICE_US_MIN) share_us = NET_SERVICE_US_MIN;
    if (share_us > owner->service_us_max) share_us = owner->service_us_max;
    return now_us + share_us;
}

void net_enet_budget_begin(net_enet_transport* owner, uint64_t until_us) {
    const net_socket_budget budget = {.datagrams = DATAGRAMS_MAX,
                                      .until_us = until_us,
                                      .wall_us = owner->wall_us,
                                      .context = owner->wall_context};
    owner->passes_left = PASSES_MAX;
    owner->until_us = until_us;
    if (net_socket_budget_set) net_socket_budget_set(owner->host->socket, &budget);
}

bool net_enet_budget_is_over(net_enet_transport* owner) {
    if (owner->passes_left > 0 &&
        (!owner->wall_us || owner->wall_us(owner->wall_context) < owner->until_us)) {
        owner->passes_left--;
        return false;
    }
    if (owner->passes_left > 0) owner->stats.services_cut++;
    owner->passes_left = 0;
    return true;
}
