// SPDX-License-Identifier: MIT
// A network in one process: one server endpoint, many client endpoints, one seed, virtual time.
//
// Every client has two directions (sim_side.h): a link for realtime datagrams, with loss, jitter,
// duplicates, reordering and rate by link.c, and a queue of control messages. Connecting and
// goodbyes are control messages of their own kinds. So a connect takes a round trip, and a goodbye
// comes after everything that was queued.
//
// Nothing happens by itself: a sent datagram gets the time of the endpoint's last service, and
// next() compares arrivals with that of the receiver. Events are ordered by client (in order of
// creation), then arrival time, control before realtime, goodbyes last. So a run is a function of
// the seed and of the calls.
//
// Invariants: `epoch` counts the connects of a client; a message of another epoch than the
// receiving side's is dropped. The server notices an endpoint that is destroyed without a goodbye
// only after SIM_GONE_US_MAX (sim_side.c), later than any rule of the session layer.
#include "net/transport.h"

#include "simulate/sim_side.h"

#include "base/assert.h"

#include <string.h>

net_result net_sim_create(const base_allocator* allocator, uint64_t seed, net_sim** sim) {
    BASE_ASSERT(sim);
    net_sim* made = base_allocate_zero(allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = allocator;
    made->seed = seed;
    *sim = made;
    return NET_OK;
}

void net_sim_destroy(net_sim* sim) {
    if (!sim) return;
    BASE_ASSERT(!sim->server && !sim->clients);
    base_release(sim->allocator, sim, sizeof *sim);
}

// Free a client's end that neither side needs any more.
static void free_client(net_sim_client_end* old) {
    net_sim* sim = old->endpoint.sim;
    net_sim_client_end** at = &sim->clients;
    while (*at != old)
        at = &(*at)->next;
    *at = old->next;
    if (sim->server && sim->server->cursor == old) sim->server->cursor = old->next;
    if (sim->server && sim->server->endpoint.borrowed_link == &old->up)
        sim->server->endpoint.borrowed_link = NULL;
    sim->lost_before += net_sim_path_lost(&old->up) + net_sim_path_lost(&old->down);
    sim->hash_before += old->hash;
    net_sim_path_deinit(&old->up);
    net_sim_path_deinit(&old->down);
    base_release(sim->allocator, old, sizeof *old);
}

// The flush of both ends: nothing, because sending is immediate.
static void flush(net_transport* transport) {
    (void)transport;
}

// The descriptors of both ends: none. @return 0.
static uint32_t no_sockets(const net_transport* transport, int* descriptors, uint32_t capacity) {
    (void)transport;
    (void)descriptors;
    (void)capacity;
    return 0;
}

uint64_t net_sim_datagram_hash(const net_sim* sim) {
    BASE_ASSERT(sim);
    uint64_t sum = sim->hash_before;
    for (const net_sim_client_end* each = sim->clients; each; each = each->next)
        sum += each->hash;
    return sum;
}

// ---- a client's end ----

static net_sim_client_end* client_of(net_transport* transport) {
    return (net_sim_client_end*)transport;
}

static void client_service(net_transport* transport, uint64_t now_us) {
    net_sim_client_end* owner = client_of(transport);
    net_sim_take_back(&owner->endpoint);
    if (now_us > owner->endpoint.now_us) owner->endpoint.now_us = now_us;
}

static bool client_take_control(net_sim_client_end* owner, net_sim_control* message,
                                net_transport_event* event) {
    net_sim_endpoint* here = &owner->endpoint;
    net_sim_side* at = &owner->here;
    here->stats.recv_datagrams++;
    here->stats.recv_bytes += message->size;
    bool is_event = false;
    if (message->epoch == at->epoch && at->state != NET_SIM_SIDE_CLOSED) {
        if (message->kind == NET_SIM_CONTROL_ACCEPT && at->state == NET_SIM_SIDE_CONNECTING) {
            at->state = NET_SIM_SIDE_CONNECTED;
            *event = (net_transport_event){.kind = NET_TRANSPORT_CONNECTED, .peer = at->peer};
            is_event = true;
        } else if (message->kind == NET_SIM_CONTROL_MESSAGE) {
            is_event = net_sim_receive_message(here, message, at, event);
        } else if (message->kind == NET_SIM_CONTROL_GOODBYE) {
            is_event = net_sim_side_close(at, message->reason, event);
        }
    }
    if (here->borrowed != message) net_sim_control_free(here->sim->allocator, message);
    return is_event;
}

static bool client_next(net_transport* transport, net_transport_event* event) {
    net_sim_client_end* owner = client_of(transport);
    net_sim_endpoint* here = &owner->endpoint;
    net_sim_take_back(here);
    for (;;) {
        uint64_t link_us = net_link_next_us(owner->down.link);
        net_sim_control* message = net_sim_path_control_peek(&owner->down, here->now_us);
        if (message && net_sim_is_control_first(message, link_us)) {
            net_sim_path_control_pop(&owner->down);
            if (client_take_control(owner, message, event)) return true;
        } else if (link_us <= here->now_us) {
            if (net_sim_receive_datagram(here, &owner->down, &owner->here, event)) return true;
        } else {
            break;
        }
    }
    if (!net_sim_side_is_over(here, owner, &owner->up, &owner->here)) return false;
    return net_sim_side_close(&owner->here, 0, event);
}

static net_result client_send(net_transport* transport, net_peer peer, net_channel channel,
                              const void* bytes, size_t size) {
    net_sim_client_end* owner = client_of(transport);
    net_result result = NET_ERR_CLOSED;
    if (peer != 0 && peer == owner->here.peer)
        result = net_sim_side_send(&owner->endpoint, owner, &owner->here, channel, bytes, size);
    return result;
}

static net_result client_connect(net_transport* transport, const char* address, net_peer* peer) {
    net_sim_client_end* owner = client_of(transport);
    (void)address;
    *peer = 0;
    if (owner->here.state != NET_SIM_SIDE_CLOSED) return NET_ERR_FULL;
    net_sim_side begun = {.state = NET_SIM_SIDE_CONNECTING,
                          .epoch = owner->here.epoch + 1,
                          .since_us = owner->endpoint.now_us};
    net_result result = net_sim_push_control(&owner->endpoint, &owner->up, NET_SIM_CONTROL_CONNECT,
                                             begun.epoch, 0, NULL, 0);
    if (result != NET_OK) return result;
    begun.peer = net_sim_peer_make(0, &owner->generation);
    owner->gone_us = owner->endpoint.sim->server ? UINT64_MAX : owner->endpoint.now_us;
    owner->here = begun;
    *peer = begun.peer;
    return NET_OK;
}

static void client_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    net_sim_client_end* owner = client_of(transport);
    if (peer == 0 || peer != owner->here.peer) return;
    net_sim_side_disconnect(&owner->endpoint, owner, &owner->here, reason, now);
}

static void client_stats(const net_transport* transport, net_transport_stats* stats) {
    const net_sim_client_end* owner = (const net_sim_client_end*)transport;
    *stats = owner->endpoint.stats;
    stats->sim_dropped = net_sim_path_lost(&owner->up) + net_sim_path_lost(&owner->down);
}

// Messages on their way still arrive: the endpoint is destroyed, its paths stay until the server
// has closed the connection.
static void client_destroy(net_transport* transport) {
    net_sim_client_end* owner = client_of(transport);
    net_sim_take_back(&owner->endpoint);
    owner->is_destroyed = true;
    owner->here = (net_sim_side){0};
    if (owner->gone_us == UINT64_MAX) owner->gone_us = owner->endpoint.now_us;
    bool is_idle = owner->there.state == NET_SIM_SIDE_CLOSED && !owner->up.first;
    if (!owner->endpoint.sim->server || is_idle) free_client(owner);
}

static const net_transport_ops client_ops = {
    .service = client_service,
    .next = client_next,
    .send = client_send,
    .connect = client_connect,
    .disconnect = client_disconnect,
    .flush = flush,
    .stats = client_stats,
    .sockets = no_sockets,
    .destroy = client_destroy,
};

// Each client has a host of its own, in the network for benchmarks (RFC 2544).
static net_address address_of(uint32_t index) {
    const uint8_t host[4] = {198, (uint8_t)(18 + (index >> 16 & 1)), (uint8_t)(index >> 8),
                             (uint8_t)index};
    uint32_t network;
    memcpy(&network, host, sizeof network);
    return net_address_ipv4(network, 40000);
}

net_result net_sim_client(net_sim* sim, const net_link_config* link, net_transport** transport) {
    BASE_ASSERT(sim && link && transport);
    net_sim_client_end* made = base_allocate_zero(sim->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->endpoint = (net_sim_endpoint){.base = {.ops = &client_ops}, .sim = sim};
    made->index = sim->client_count;
    made->gone_us = UINT64_MAX;
    made->identity.address = address_of(made->index);
    uint64_t seed = base_hash64_mix(base_hash64_mix(sim->seed, link->seed), made->index);
    net_result result =
        net_sim_path_init(&made->up, sim->allocator, link, base_hash64_mix(seed, 1));
    if (result == NET_OK) {
        result = net_sim_path_init(&made->down, sim->allocator, link, base_hash64_mix(seed, 2));
        if (result != NET_OK) net_link_destroy(made->up.link);
    }
    if (result != NET_OK) {
        base_release(sim->allocator, made, sizeof *made);
        return result;
    }
    sim->client_count++;
    made->hash = seed;
    net_sim_client_end** at = &sim->clients;
    while (*at)
        at = &(*at)->next;
    *at = made;
    *transport = &made->endpoint.base;
    return NET_OK;
}

void net_sim_link_set_pair(net_transport* transport, const net_link_pair* pair) {
    BASE_ASSERT(transport && transport->ops == &client_ops && pair);
    net_sim_client_end* owner = client_of(transport);
    net_sim_path_config_set(&owner->up, &pair->up);
    net_sim_path_config_set(&owner->down, &pair->down);
}

void net_sim_link_set(net_transport* transport, const net_link_config* link) {
    BASE_ASSERT(link);
    net_sim_link_set_pair(transport, &(net_link_pair){.up = *link, .down = *link});
}

void net_sim_identity_set(net_transport* transport, const net_peer_identity* identity) {
    BASE_ASSERT(transport && transport->ops == &client_ops && identity);
    BASE_ASSERT(identity->user_bytes <= NET_USER_BYTES_MAX);
    client_of(transport)->identity = *identity;
}

// The server's end of the simulated network.

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
        if (from->is_destroyed && from->there.state == NET_SIM_SIDE_CLOSED) free_client(from);
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
        if (each->is_destroyed) free_client(each);
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
    .flush = flush,
    .stats = server_stats,
    .sockets = no_sockets,
    .destroy = server_destroy,
    .identity = server_identity,
    .peer_sent_bytes = server_peer_sent_bytes,
};

net_result net_sim_server(net_sim* sim, uint32_t peers_max, net_transport** transport) {
    BASE_ASSERT(sim && transport);
    if (sim->server || peers_max == 0 || peers_max > NET_CLIENTS_MAX) return NET_ERR_FULL;
    net_sim_server_end* made = base_allocate_zero(sim->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->endpoint = (net_sim_endpoint){.base = {.ops = &server_ops}, .sim = sim};
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
