// SPDX-License-Identifier: MIT
// A network in one process: one server endpoint, many client endpoints, one seed, virtual time.
//
// Every client has two directions (sim_path.h): a link for realtime datagrams, with loss, jitter,
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
// only after SIM_GONE_US_MAX, later than any rule of the session layer.
#include "net/transport_sim.h"

#include "transport/sim_path.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

#define SIM_GONE_US_MAX UINT64_C(60000000)

enum {
    PEER_SLOT_BITS = 12,
    PEER_GENERATION_MASK = 0xFFFFF,
    GOODBYE_BYTES = 4,
};

typedef enum side_state { SIDE_CLOSED, SIDE_CONNECTING, SIDE_CONNECTED, SIDE_LEAVING } side_state;

// The state of one end of a connection.
typedef struct side {
    side_state state;
    uint32_t epoch;
    net_peer peer;
    uint64_t since_us; // of SIDE_CONNECTING and SIDE_LEAVING
} side;

// The common part of endpoints; first member of both kinds.
typedef struct endpoint {
    net_transport base;
    net_sim* sim;
    uint64_t now_us;
    net_transport_stats stats;
    net_sim_control* borrowed; // given out by next()
    net_sim_path* borrowed_link;
} endpoint;

typedef struct client client;
struct client {
    endpoint endpoint;
    client* next;
    uint32_t index; // in order of creation
    uint32_t generation;
    net_sim_path up, down;
    side here;         // the client's view
    side there;        // the server's view
    uint64_t gone_us;  // when the other side was destroyed without a goodbye; UINT64_MAX: it exists
    bool is_destroyed; // the server still believes in it
};

typedef struct server {
    endpoint endpoint;
    uint32_t peers_max;
    client** slots;
    uint32_t* generations;
    client* cursor; // next() goes on here
} server;

struct net_sim {
    const base_allocator* allocator;
    uint64_t seed;
    server* server;
    client* clients;
    uint32_t client_count; // ever
    uint64_t lost_before;  // on links that are gone
    base_hasher hasher;
};

// ---- both sides

static net_peer peer_make(uint32_t slot, uint32_t* generation) {
    *generation = (*generation + 1) & PEER_GENERATION_MASK;
    if (*generation == 0) *generation = 1;
    return *generation << PEER_SLOT_BITS | slot;
}

// Free what next() gave out, in next(), service() and destroy().
static void endpoint_take_back(endpoint* taker) {
    net_sim_control_free(taker->sim->allocator, taker->borrowed);
    taker->borrowed = NULL;
    if (!taker->borrowed_link) return;
    net_link_pop(taker->borrowed_link->link);
    taker->borrowed_link = NULL;
}

static void hash_datagram(net_sim* sim, const client* owner, bool is_up, const void* bytes,
                          size_t size) {
    uint32_t head[3] = {owner->index, is_up, (uint32_t)size};
    base_hasher_add(&sim->hasher, head, sizeof head);
    base_hasher_add(&sim->hasher, bytes, size);
}

// The tag of a datagram: epoch, and whether it is a goodbye.
static uint64_t realtime_tag(uint32_t epoch, bool is_goodbye) {
    return (uint64_t)epoch << 1 | is_goodbye;
}

static net_result push_control(endpoint* sender, net_sim_path* along, net_sim_control_kind kind,
                               uint32_t epoch, uint32_t reason, const void* bytes, size_t size) {
    net_result result =
        net_sim_path_control_push(along, sender->now_us, kind, epoch, reason, bytes, size);
    if (result != NET_OK) return result;
    sender->stats.sent_datagrams += size > NET_MTU_BYTES ? (size - 1) / NET_MTU_BYTES + 1 : 1;
    sender->stats.sent_bytes += size;
    return NET_OK;
}

static net_result side_send(endpoint* sender, client* owner, side* from, net_channel channel,
                            const void* bytes, size_t size) {
    bool is_up = sender == &owner->endpoint;
    net_sim_path* along = is_up ? &owner->up : &owner->down;
    if (from->state != SIDE_CONNECTED) return NET_ERR_CLOSED;
    size_t size_max = channel == NET_CHANNEL_CONTROL ? NET_CONTROL_BYTES_MAX : NET_STATE_BYTES_MAX;
    net_result result = NET_OK;
    if (size == 0 || size > size_max) {
        result = NET_ERR_FULL;
    } else if (channel == NET_CHANNEL_CONTROL) {
        result = push_control(sender, along, NET_SIM_CONTROL_MESSAGE, from->epoch, 0, bytes, size);
    } else {
        hash_datagram(sender->sim, owner, is_up, bytes, size);
        // Dropped when the client is destroyed: the pool stays small.
        if (is_up || !owner->is_destroyed)
            net_link_push(along->link, sender->now_us, realtime_tag(from->epoch, false), bytes,
                          size);
        sender->stats.sent_datagrams++;
        sender->stats.sent_bytes += size;
    }
    if (result != NET_OK) sender->stats.send_refused++;
    return result;
}

static void side_disconnect(endpoint* sender, client* owner, side* from, uint32_t reason,
                            bool now) {
    net_sim_path* along = sender == &owner->endpoint ? &owner->up : &owner->down;
    if (from->state == SIDE_CONNECTED && !now) {
        from->state = SIDE_LEAVING;
        from->since_us = sender->now_us;
        if (push_control(sender, along, NET_SIM_CONTROL_GOODBYE, from->epoch, reason, NULL, 0) ==
            NET_OK)
            return;
    }
    if (from->state != SIDE_CLOSED) {
        uint8_t said[GOODBYE_BYTES] = {(uint8_t)reason, (uint8_t)(reason >> 8),
                                       (uint8_t)(reason >> 16), (uint8_t)(reason >> 24)};
        net_link_push(along->link, sender->now_us, realtime_tag(from->epoch, true), said,
                      sizeof said);
    }
    net_sim_path_clear_control(along);
    from->state = SIDE_CLOSED;
}

static bool event_disconnected(side* of, uint32_t reason, net_transport_event* event) {
    *event = (net_transport_event){
        .kind = NET_TRANSPORT_DISCONNECTED, .peer = of->peer, .reason = reason};
    of->state = SIDE_CLOSED;
    return true;
}

// Of two arrivals at one instant the control message is first, but a goodbye is last.
static bool is_control_first(const net_sim_control* message, uint64_t link_us) {
    if (message->kind == NET_SIM_CONTROL_GOODBYE) return message->arrival_us < link_us;
    return message->arrival_us <= link_us;
}

// Receive a datagram that has arrived. @return false when it belongs to no open connection.
static bool receive_datagram(endpoint* reader, net_sim_path* along, side* at,
                             net_transport_event* event) {
    uint64_t tag = 0;
    size_t size = 0;
    const uint8_t* bytes = net_link_peek(along->link, reader->now_us, &tag, &size);
    reader->stats.recv_datagrams++;
    reader->stats.recv_bytes += size;
    bool is_goodbye = tag & 1;
    if (tag >> 1 != at->epoch || at->state == SIDE_CLOSED || at->state == SIDE_CONNECTING ||
        (at->state == SIDE_LEAVING && !is_goodbye)) {
        net_link_pop(along->link);
        return false;
    }
    if (is_goodbye) {
        uint32_t reason = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                          (uint32_t)bytes[3] << 24;
        net_link_pop(along->link);
        return event_disconnected(at, reason, event);
    }
    reader->borrowed_link = along;
    *event = (net_transport_event){.kind = NET_TRANSPORT_RECEIVED,
                                   .peer = at->peer,
                                   .channel = NET_CHANNEL_REALTIME,
                                   .bytes = bytes,
                                   .size = size};
    return true;
}

static bool receive_message(endpoint* reader, net_sim_control* message, side* at,
                            net_transport_event* event) {
    if (at->state != SIDE_CONNECTED) return false;
    reader->stats.recv_reliable_bytes += message->size;
    reader->borrowed = message;
    *event = (net_transport_event){.kind = NET_TRANSPORT_RECEIVED,
                                   .peer = at->peer,
                                   .channel = NET_CHANNEL_CONTROL,
                                   .bytes = message->bytes,
                                   .size = message->size};
    return true;
}

// ---- the server's end

static server* server_of(net_transport* transport) {
    return (server*)transport;
}

static uint32_t slot_of(net_peer peer) {
    return peer & ((1u << PEER_SLOT_BITS) - 1);
}

static client* server_find(const server* asked, net_peer peer) {
    uint32_t slot = slot_of(peer);
    if (peer == 0 || slot >= asked->peers_max) return NULL;
    client* found = asked->slots[slot];
    return found && found->there.peer == peer ? found : NULL;
}

static void client_unlink_and_free(client* old) {
    net_sim* sim = old->endpoint.sim;
    client** at = &sim->clients;
    while (*at != old)
        at = &(*at)->next;
    *at = old->next;
    if (sim->server && sim->server->cursor == old) sim->server->cursor = old->next;
    if (sim->server && sim->server->endpoint.borrowed_link == &old->up)
        sim->server->endpoint.borrowed_link = NULL;
    sim->lost_before += net_sim_path_lost(&old->up) + net_sim_path_lost(&old->down);
    net_sim_path_deinit(&old->up);
    net_sim_path_deinit(&old->down);
    base_release(sim->allocator, old, sizeof *old);
}

// The server's side of a connection is over: free the slot.
static void server_release(server* owner, client* of) {
    uint32_t slot = slot_of(of->there.peer);
    of->there.state = SIDE_CLOSED;
    if (owner->slots[slot] == of) owner->slots[slot] = NULL;
}

static bool server_accept(server* owner, client* from, uint32_t epoch, net_transport_event* event) {
    uint32_t slot = 0;
    while (slot < owner->peers_max && owner->slots[slot])
        slot++;
    if (slot == owner->peers_max) return false; // full: never answered, as with ENet
    owner->slots[slot] = from;
    from->there = (side){.state = SIDE_CONNECTED,
                         .epoch = epoch,
                         .peer = peer_make(slot, &owner->generations[slot])};
    net_sim_path_clear_control(&from->down);
    (void)push_control(&owner->endpoint, &from->down, NET_SIM_CONTROL_ACCEPT, epoch, 0, NULL, 0);
    *event = (net_transport_event){.kind = NET_TRANSPORT_CONNECTED, .peer = from->there.peer};
    return true;
}

static bool server_take_control(server* owner, client* from, net_sim_control* message,
                                net_transport_event* event) {
    endpoint* here = &owner->endpoint;
    here->stats.recv_datagrams++;
    here->stats.recv_bytes += message->size;
    bool is_event = false;
    if (message->kind == NET_SIM_CONTROL_CONNECT) {
        is_event = server_accept(owner, from, message->epoch, event);
    } else if (message->epoch == from->there.epoch && from->there.state != SIDE_CLOSED) {
        if (message->kind == NET_SIM_CONTROL_MESSAGE)
            is_event = receive_message(here, message, &from->there, event);
        else if (message->kind == NET_SIM_CONTROL_GOODBYE)
            is_event = event_disconnected(&from->there, message->reason, event);
    }
    if (here->borrowed != message) net_sim_control_free(here->sim->allocator, message);
    return is_event;
}

// Is the connection over: a connect or a goodbye took too long, the other end was destroyed, or our
// goodbye has arrived?
static bool side_is_over(const endpoint* here, const client* owner, const net_sim_path* out,
                         const side* at) {
    uint64_t now_us = here->now_us;
    if (at->state == SIDE_CLOSED) return false;
    if (at->state == SIDE_LEAVING && !out->first) return true;
    if (at->state != SIDE_CONNECTED)
        return now_us - at->since_us >= NET_CONNECT_MS_MAX * UINT64_C(1000);
    return now_us >= owner->gone_us && now_us - owner->gone_us >= SIM_GONE_US_MAX;
}

static bool server_next_of(server* owner, client* from, net_transport_event* event) {
    endpoint* here = &owner->endpoint;
    for (;;) {
        uint64_t link_us = net_link_next_us(from->up.link);
        net_sim_control* message = net_sim_path_control_peek(&from->up, here->now_us);
        if (message && is_control_first(message, link_us)) {
            // The client connects again and its goodbye was lost: first DISCONNECTED, then
            // CONNECTED.
            if (message->kind == NET_SIM_CONTROL_CONNECT && from->there.state != SIDE_CLOSED)
                return event_disconnected(&from->there, 0, event);
            net_sim_path_control_pop(&from->up);
            if (server_take_control(owner, from, message, event)) return true;
        } else if (link_us <= here->now_us) {
            if (receive_datagram(here, &from->up, &from->there, event)) return true;
        } else {
            break;
        }
    }
    if (!side_is_over(here, from, &from->down, &from->there)) return false;
    return event_disconnected(&from->there, 0, event);
}

static void server_service(net_transport* transport, uint64_t now_us) {
    server* owner = server_of(transport);
    endpoint_take_back(&owner->endpoint);
    if (now_us > owner->endpoint.now_us) owner->endpoint.now_us = now_us;
    owner->cursor = owner->endpoint.sim->clients;
}

static bool server_next(net_transport* transport, net_transport_event* event) {
    server* owner = server_of(transport);
    endpoint_take_back(&owner->endpoint);
    while (owner->cursor) {
        client* from = owner->cursor;
        bool is_event = server_next_of(owner, from, event);
        if (from->there.state == SIDE_CLOSED && from->there.peer) {
            server_release(owner, from);
            from->there.peer = 0;
        }
        if (is_event) return true;
        owner->cursor = from->next;
        if (from->is_destroyed && from->there.state == SIDE_CLOSED) client_unlink_and_free(from);
    }
    return false;
}

static net_result server_send(net_transport* transport, net_peer peer, net_channel channel,
                              const void* bytes, size_t size) {
    server* owner = server_of(transport);
    client* to = server_find(owner, peer);
    net_result result =
        to ? side_send(&owner->endpoint, to, &to->there, channel, bytes, size) : NET_ERR_CLOSED;
    return result;
}

static net_result server_connect(net_transport* transport, const char* address, net_peer* peer) {
    (void)transport;
    (void)address;
    *peer = 0;
    return NET_ERR_FULL;
}

static void server_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    server* owner = server_of(transport);
    client* to = server_find(owner, peer);
    if (!to) return;
    side_disconnect(&owner->endpoint, to, &to->there, reason, now);
    if (to->there.state != SIDE_CLOSED) return;
    server_release(owner, to);
    to->there.peer = 0;
}

static void sim_flush(net_transport* transport) {
    (void)transport; // sending is immediate
}

static uint32_t sim_sockets(const net_transport* transport, int* descriptors, uint32_t capacity) {
    (void)transport;
    (void)descriptors;
    (void)capacity;
    return 0;
}

static void server_stats(const net_transport* transport, net_transport_stats* stats) {
    const server* owner = (const server*)transport;
    *stats = owner->endpoint.stats;
    stats->sim_dropped = owner->endpoint.sim->lost_before;
    for (const client* each = owner->endpoint.sim->clients; each; each = each->next)
        stats->sim_dropped += net_sim_path_lost(&each->up) + net_sim_path_lost(&each->down);
}

static void server_destroy(net_transport* transport) {
    server* owner = server_of(transport);
    net_sim* sim = owner->endpoint.sim;
    endpoint_take_back(&owner->endpoint);
    sim->server = NULL;
    for (client *each = sim->clients, *next; each; each = next) {
        next = each->next;
        each->there = (side){0};
        if (each->gone_us == UINT64_MAX) each->gone_us = owner->endpoint.now_us;
        if (each->is_destroyed) client_unlink_and_free(each);
    }
    const base_allocator* allocator = sim->allocator;
    base_release(allocator, owner->slots, owner->peers_max * sizeof *owner->slots);
    base_release(allocator, owner->generations, owner->peers_max * sizeof *owner->generations);
    base_release(allocator, owner, sizeof *owner);
}

static const net_transport_ops server_ops = {
    .service = server_service,
    .next = server_next,
    .send = server_send,
    .connect = server_connect,
    .disconnect = server_disconnect,
    .flush = sim_flush,
    .stats = server_stats,
    .sockets = sim_sockets,
    .destroy = server_destroy,
};

// ---- a client's end

static client* client_of(net_transport* transport) {
    return (client*)transport;
}

static void client_service(net_transport* transport, uint64_t now_us) {
    client* owner = client_of(transport);
    endpoint_take_back(&owner->endpoint);
    if (now_us > owner->endpoint.now_us) owner->endpoint.now_us = now_us;
}

static bool client_take_control(client* owner, net_sim_control* message,
                                net_transport_event* event) {
    endpoint* here = &owner->endpoint;
    side* at = &owner->here;
    here->stats.recv_datagrams++;
    here->stats.recv_bytes += message->size;
    bool is_event = false;
    if (message->epoch == at->epoch && at->state != SIDE_CLOSED) {
        if (message->kind == NET_SIM_CONTROL_ACCEPT && at->state == SIDE_CONNECTING) {
            at->state = SIDE_CONNECTED;
            *event = (net_transport_event){.kind = NET_TRANSPORT_CONNECTED, .peer = at->peer};
            is_event = true;
        } else if (message->kind == NET_SIM_CONTROL_MESSAGE) {
            is_event = receive_message(here, message, at, event);
        } else if (message->kind == NET_SIM_CONTROL_GOODBYE) {
            is_event = event_disconnected(at, message->reason, event);
        }
    }
    if (here->borrowed != message) net_sim_control_free(here->sim->allocator, message);
    return is_event;
}

static bool client_next(net_transport* transport, net_transport_event* event) {
    client* owner = client_of(transport);
    endpoint* here = &owner->endpoint;
    endpoint_take_back(here);
    for (;;) {
        uint64_t link_us = net_link_next_us(owner->down.link);
        net_sim_control* message = net_sim_path_control_peek(&owner->down, here->now_us);
        if (message && is_control_first(message, link_us)) {
            net_sim_path_control_pop(&owner->down);
            if (client_take_control(owner, message, event)) return true;
        } else if (link_us <= here->now_us) {
            if (receive_datagram(here, &owner->down, &owner->here, event)) return true;
        } else {
            break;
        }
    }
    if (!side_is_over(here, owner, &owner->up, &owner->here)) return false;
    return event_disconnected(&owner->here, 0, event);
}

static net_result client_send(net_transport* transport, net_peer peer, net_channel channel,
                              const void* bytes, size_t size) {
    client* owner = client_of(transport);
    net_result result = NET_ERR_CLOSED;
    if (peer != 0 && peer == owner->here.peer)
        result = side_send(&owner->endpoint, owner, &owner->here, channel, bytes, size);
    return result;
}

static net_result client_connect(net_transport* transport, const char* address, net_peer* peer) {
    client* owner = client_of(transport);
    (void)address;
    *peer = 0;
    if (owner->here.state != SIDE_CLOSED) return NET_ERR_FULL;
    side begun = {.state = SIDE_CONNECTING,
                  .epoch = owner->here.epoch + 1,
                  .since_us = owner->endpoint.now_us};
    net_result result = push_control(&owner->endpoint, &owner->up, NET_SIM_CONTROL_CONNECT,
                                     begun.epoch, 0, NULL, 0);
    if (result != NET_OK) return result;
    begun.peer = peer_make(0, &owner->generation);
    owner->gone_us = owner->endpoint.sim->server ? UINT64_MAX : owner->endpoint.now_us;
    owner->here = begun;
    *peer = begun.peer;
    return NET_OK;
}

static void client_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    client* owner = client_of(transport);
    if (peer == 0 || peer != owner->here.peer) return;
    side_disconnect(&owner->endpoint, owner, &owner->here, reason, now);
}

static void client_stats(const net_transport* transport, net_transport_stats* stats) {
    const client* owner = (const client*)transport;
    *stats = owner->endpoint.stats;
    stats->sim_dropped = net_sim_path_lost(&owner->up) + net_sim_path_lost(&owner->down);
}

// Messages on their way still arrive: the endpoint is destroyed, its paths stay until the server
// has closed the connection.
static void client_destroy(net_transport* transport) {
    client* owner = client_of(transport);
    endpoint_take_back(&owner->endpoint);
    owner->is_destroyed = true;
    owner->here = (side){0};
    if (owner->gone_us == UINT64_MAX) owner->gone_us = owner->endpoint.now_us;
    bool is_idle = owner->there.state == SIDE_CLOSED && !owner->up.first;
    if (!owner->endpoint.sim->server || is_idle) client_unlink_and_free(owner);
}

static const net_transport_ops client_ops = {
    .service = client_service,
    .next = client_next,
    .send = client_send,
    .connect = client_connect,
    .disconnect = client_disconnect,
    .flush = sim_flush,
    .stats = client_stats,
    .sockets = sim_sockets,
    .destroy = client_destroy,
};

// ---- the whole

net_result net_sim_create(const base_allocator* allocator, uint64_t seed, net_sim** sim) {
    BASE_ASSERT(sim);
    net_sim* made = base_allocate_zero(allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = allocator;
    made->seed = seed;
    base_hasher_init(&made->hasher, 0);
    *sim = made;
    return NET_OK;
}

void net_sim_destroy(net_sim* sim) {
    if (!sim) return;
    BASE_ASSERT(!sim->server && !sim->clients);
    base_release(sim->allocator, sim, sizeof *sim);
}

net_result net_sim_server(net_sim* sim, uint32_t peers_max, net_transport** transport) {
    BASE_ASSERT(sim && transport);
    if (sim->server || peers_max == 0 || peers_max > NET_CLIENTS_MAX) return NET_ERR_FULL;
    server* made = base_allocate_zero(sim->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->endpoint = (endpoint){.base = {&server_ops}, .sim = sim};
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

net_result net_sim_client(net_sim* sim, const net_link_config* link, net_transport** transport) {
    BASE_ASSERT(sim && link && transport);
    client* made = base_allocate_zero(sim->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->endpoint = (endpoint){.base = {&client_ops}, .sim = sim};
    made->index = sim->client_count;
    made->gone_us = UINT64_MAX;
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
    client** at = &sim->clients;
    while (*at)
        at = &(*at)->next;
    *at = made;
    *transport = &made->endpoint.base;
    return NET_OK;
}

void net_sim_link_set(net_transport* transport, const net_link_config* link) {
    BASE_ASSERT(transport && transport->ops == &client_ops && link);
    client* owner = client_of(transport);
    net_sim_path_config_set(&owner->up, link);
    net_sim_path_config_set(&owner->down, link);
}

uint64_t net_sim_datagram_hash(const net_sim* sim) {
    BASE_ASSERT(sim);
    return base_hasher_end(&sim->hasher);
}
