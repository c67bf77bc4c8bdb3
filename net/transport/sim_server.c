// SPDX-License-Identifier: MIT
// The server's end of the simulated network.
#include "net/transport_sim.h"

#include "transport/sim_side.h"

#include "base/assert.h"

static net_sim_server_end* server_of(net_transport* transport) {
    return (net_sim_server_end*)transport;
}

static uint32_t slot_of(net_peer peer) {
    return peer & (NET_PEER_SLOTS - 1);
}

static net_sim_client_end* server_find(const net_sim_server_end* asked, net_peer peer) {
    uint32_t slot = slot_of(peer);
    if (peer == 0 || slot >= asked->peers_max) return NULL;
    net_sim_client_end* found = asked->slots[slot];
    return found && found->there.peer == peer ? found : NULL;
}

// The server's side of a connection is over: free the slot.
static void server_release(net_sim_server_end* owner, net_sim_client_end* of) {
    uint32_t slot = slot_of(of->there.peer);
    of->there.state = NET_SIM_SIDE_CLOSED;
    if (owner->slots[slot] == of) owner->slots[slot] = NULL;
}

static bool server_accept(net_sim_server_end* owner, net_sim_client_end* from, uint32_t epoch,
                          net_transport_event* event) {
    uint32_t slot = 0;
    while (slot < owner->peers_max && owner->slots[slot])
        slot++;
    if (slot == owner->peers_max) return false; // full: never answered, as with ENet
    owner->slots[slot] = from;
    from->there = (net_sim_side){.state = NET_SIM_SIDE_CONNECTED,
                                 .epoch = epoch,
                                 .peer = net_sim_peer_make(slot, &owner->generations[slot])};
    net_sim_path_clear_control(&from->down);
    (void)net_sim_push_control(&owner->endpoint, &from->down, NET_SIM_CONTROL_ACCEPT, epoch, 0,
                               NULL, 0);
    *event = (net_transport_event){.kind = NET_TRANSPORT_CONNECTED, .peer = from->there.peer};
    return true;
}

static bool server_take_control(net_sim_server_end* owner, net_sim_client_end* from,
                                net_sim_control* message, net_transport_event* event) {
    net_sim_endpoint* here = &owner->endpoint;
    here->stats.recv_datagrams++;
    here->stats.recv_bytes += message->size;
    bool is_event = false;
    if (message->kind == NET_SIM_CONTROL_CONNECT) {
        is_event = server_accept(owner, from, message->epoch, event);
    } else if (message->epoch == from->there.epoch && from->there.state != NET_SIM_SIDE_CLOSED) {
        if (message->kind == NET_SIM_CONTROL_MESSAGE)
            is_event = net_sim_receive_message(here, message, &from->there, event);
        else if (message->kind == NET_SIM_CONTROL_GOODBYE)
            is_event = net_sim_side_close(&from->there, message->reason, event);
    }
    if (here->borrowed != message) net_sim_control_free(here->sim->allocator, message);
    return is_event;
}

static bool server_next_of(net_sim_server_end* owner, net_sim_client_end* from,
                           net_transport_event* event) {
    net_sim_endpoint* here = &owner->endpoint;
    for (;;) {
        uint64_t link_us = net_link_next_us(from->up.link);
        net_sim_control* message = net_sim_path_control_peek(&from->up, here->now_us);
        if (message && net_sim_is_control_first(message, link_us)) {
            // The client connects again and its goodbye was lost: first DISCONNECTED, then
            // CONNECTED.
            if (message->kind == NET_SIM_CONTROL_CONNECT &&
                from->there.state != NET_SIM_SIDE_CLOSED)
                return net_sim_side_close(&from->there, 0, event);
            net_sim_path_control_pop(&from->up);
            if (server_take_control(owner, from, message, event)) return true;
        } else if (link_us <= here->now_us) {
            if (net_sim_receive_datagram(here, &from->up, &from->there, event)) return true;
        } else {
            break;
        }
    }
    if (!net_sim_side_is_over(here, from, &from->down, &from->there)) return false;
    return net_sim_side_close(&from->there, 0, event);
}

static void server_service(net_transport* transport, uint64_t now_us) {
    net_sim_server_end* owner = server_of(transport);
    net_sim_take_back(&owner->endpoint);
    if (now_us > owner->endpoint.now_us) owner->endpoint.now_us = now_us;
    owner->cursor = owner->endpoint.sim->clients;
}

static bool server_next(net_transport* transport, net_transport_event* event) {
    net_sim_server_end* owner = server_of(transport);
    net_sim_take_back(&owner->endpoint);
    while (owner->cursor) {
        net_sim_client_end* from = owner->cursor;
        bool is_event = server_next_of(owner, from, event);
        if (from->there.state == NET_SIM_SIDE_CLOSED && from->there.peer) {
            server_release(owner, from);
            from->there.peer = 0;
        }
        if (is_event) return true;
        owner->cursor = from->next;
        if (from->is_destroyed && from->there.state == NET_SIM_SIDE_CLOSED)
            net_sim_client_free(from);
    }
    return false;
}

static net_result server_send(net_transport* transport, net_peer peer, net_channel channel,
                              const void* bytes, size_t size) {
    net_sim_server_end* owner = server_of(transport);
    net_sim_client_end* to = server_find(owner, peer);
    net_result result =
        to ? net_sim_side_send(&owner->endpoint, to, &to->there, channel, bytes, size)
           : NET_ERR_CLOSED;
    return result;
}

static net_result server_connect(net_transport* transport, const char* address, net_peer* peer) {
    (void)transport;
    (void)address;
    *peer = 0;
    return NET_ERR_FULL;
}

static void server_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    net_sim_server_end* owner = server_of(transport);
    net_sim_client_end* to = server_find(owner, peer);
    if (!to) return;
    net_sim_side_disconnect(&owner->endpoint, to, &to->there, reason, now);
    if (to->there.state != NET_SIM_SIDE_CLOSED) return;
    server_release(owner, to);
    to->there.peer = 0;
}

static void server_stats(const net_transport* transport, net_transport_stats* stats) {
    const net_sim_server_end* owner = (const net_sim_server_end*)transport;
    *stats = owner->endpoint.stats;
    stats->sim_dropped = owner->endpoint.sim->lost_before;
    for (const net_sim_client_end* each = owner->endpoint.sim->clients; each; each = each->next)
        stats->sim_dropped += net_sim_path_lost(&each->up) + net_sim_path_lost(&each->down);
}

static void server_destroy(net_transport* transport) {
    net_sim_server_end* owner = server_of(transport);
    net_sim* sim = owner->endpoint.sim;
    net_sim_take_back(&owner->endpoint);
    sim->server = NULL;
    for (net_sim_client_end *each = sim->clients, *next; each; each = next) {
        next = each->next;
        each->there = (net_sim_side){0};
        if (each->gone_us == UINT64_MAX) each->gone_us = owner->endpoint.now_us;
        if (each->is_destroyed) net_sim_client_free(each);
    }
    const base_allocator* allocator = sim->allocator;
    base_release(allocator, owner->slots, owner->peers_max * sizeof *owner->slots);
    base_release(allocator, owner->generations, owner->peers_max * sizeof *owner->generations);
    base_release(allocator, owner, sizeof *owner);
}

static bool server_identity(const net_transport* transport, net_peer peer,
                            net_peer_identity* identity) {
    const net_sim_client_end* of = server_find((const net_sim_server_end*)transport, peer);
    *identity = of ? of->identity : (net_peer_identity){.player = 0};
    return of != NULL;
}

static uint64_t server_peer_sent_bytes(const net_transport* transport, net_peer peer) {
    const net_sim_client_end* of = server_find((const net_sim_server_end*)transport, peer);
    return of ? of->there.sent_bytes : 0;
}

static const net_transport_ops server_ops = {
    .service = server_service,
    .next = server_next,
    .send = server_send,
    .connect = server_connect,
    .disconnect = server_disconnect,
    .flush = net_sim_flush,
    .stats = server_stats,
    .sockets = net_sim_sockets,
    .destroy = server_destroy,
    .identity = server_identity,
    .peer_sent_bytes = server_peer_sent_bytes,
};

net_result net_sim_server(net_sim* sim, uint32_t peers_max, net_transport** transport) {
    BASE_ASSERT(sim && transport);
    if (sim->server || peers_max == 0 || peers_max > NET_CLIENTS_MAX) return NET_ERR_FULL;
    net_sim_server_end* made = base_allocate_zero(sim->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->endpoint = (net_sim_endpoint){.base = {&server_ops}, .sim = sim};
    made->peers_max = peers_max;
    made->slots = base_allocate_zero(sim->allocator, peers_max * sizeof *made->slots);
    made->generations = base_allocate_zero(sim->allocator, peers_max * sizeof *made->generations);
    if (!made->slots || !made->generations) {
        base_release(sim->allocator, made->slots, peers_max * sizeof *made->slots);
        base_release(sim->allocator, made->generations, peers_max * sizeof *made->generations);
        base_release(sim->allocator, made, sizeof *made);
        return NET_ERR_MEMORY;
    }
    sim->server = made;
    *transport = &made->endpoint.base;
    return NET_OK;
}

void net_sim_lanes_set(net_transport* transport, uint32_t lanes) {
    BASE_ASSERT(transport && transport->ops == &server_ops);
    BASE_ASSERT(lanes >= 1 && lanes <= NET_LANES_MAX);
    transport->lanes = lanes;
}
