// SPDX-License-Identifier: MIT
// A network in one process: one server endpoint, many client endpoints, one seed, virtual time.
//
// Every client has two directions: a link for realtime datagrams, with loss, jitter, duplicates,
// reordering and rate by link.c, and a queue of control messages. Connecting and goodbyes are
// control messages of their own kinds. So a connect takes a round trip, and a goodbye comes after
// everything that was queued.
//
// Nothing happens by itself: a sent datagram gets the time of the endpoint's last service, and
// next() compares arrivals with that of the receiver. Events are ordered by client (in order of
// creation), then arrival time, control before realtime, goodbyes last. So a run is a function of
// the seed and of the calls.
//
// Invariants: `epoch` counts the connects of a client; a message of another epoch than the
// receiving side's is dropped. The server notices an endpoint that is destroyed without a goodbye
// only after GONE_US_MAX, later than any rule of the session layer.
//
// Resending without a protocol: a control message is cut into pieces of one mtu. Pieces that the
// path loses are tried again after one round trip (RETRY_US_MIN at least). The message arrives with
// its last piece, and never before the message before it. Acknowledgements are not simulated: a
// lost one would only cost bytes. The attempts of a message are computed when the receiver looks,
// for all the time that has passed, so a path that loses everything costs nothing.
#include "net/transport.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

#define RETRY_US_MIN UINT64_C(100000)
#define GONE_US_MAX UINT64_C(60000000)

enum {
    QUEUED_BYTES_MAX = 256 * 1024, // of control messages
    PEER_GENERATION_MASK = 0xFFFFF,
    GOODBYE_BYTES = 4,
};

typedef enum sim_control_kind {
    CONTROL_CONNECT,
    CONTROL_ACCEPT,
    CONTROL_MESSAGE,
    CONTROL_GOODBYE,
} sim_control_kind;

typedef struct sim_control {
    struct sim_control* next;
    uint64_t attempt_us; // when the missing pieces were tried last
    uint64_t arrival_us; // UINT64_MAX while pieces are missing
    uint32_t epoch;
    uint32_t missing; // pieces
    uint32_t reason;
    uint32_t size;
    sim_control_kind kind;
    uint8_t bytes[];
} sim_control;

// One direction: a link for realtime datagrams, and a queue of control messages.
typedef struct sim_path {
    const base_allocator* allocator;
    net_link* link;
    net_link_config config;
    base_rng rng; // of the control channel
    sim_control* first;
    sim_control* last;
    size_t queued_bytes;
    uint64_t arrived_us; // of the newest control message that arrived: keeps the order
    uint64_t control_lost;
} sim_path;

typedef enum sim_side_state {
    SIDE_CLOSED,
    SIDE_CONNECTING,
    SIDE_CONNECTED,
    SIDE_LEAVING
} sim_side_state;

// The state of one end of a connection.
typedef struct sim_side {
    sim_side_state state;
    uint32_t epoch;
    net_peer peer;
    uint64_t since_us; // of SIDE_CONNECTING and SIDE_LEAVING
    uint64_t sent_bytes;
} sim_side;

// The common part of endpoints; first member of both kinds.
typedef struct sim_endpoint {
    net_transport base;
    net_sim* sim;
    uint64_t now_us;
    net_transport_stats stats;
    sim_control* borrowed; // given out by next()
    sim_path* borrowed_link;
} sim_endpoint;

typedef struct sim_client {
    sim_endpoint endpoint;
    struct sim_client* next;
    uint32_t index; // in order of creation
    uint32_t generation;
    uint64_t hash; // of its realtime datagrams, in both directions
    sim_path up, down;
    net_peer_identity identity; // what the server learns of it
    sim_side here;              // the client's view
    sim_side there;             // the server's view
    uint64_t gone_us;  // the other side was destroyed without a goodbye; UINT64_MAX: it exists
    bool is_destroyed; // the server still believes in it
} sim_client;

typedef struct sim_server {
    sim_endpoint endpoint;
    uint32_t peers_max;
    sim_client** slots;
    uint32_t* generations;
    sim_client* cursor; // next() goes on here
} sim_server;

struct net_sim {
    const base_allocator* allocator;
    uint64_t seed;
    sim_server* server;
    sim_client* clients;
    uint32_t client_count; // ever
    uint64_t lost_before;  // on links that are gone
    uint64_t hash_before;  // sum of the hashes of clients that are gone
};

// ---- one direction ----

static void path_init(sim_path* made, const base_allocator* allocator, const net_link_config* link,
                      uint64_t seed) {
    *made = (sim_path){.allocator = allocator, .config = *link, .rng = base_rng_make(seed, 1)};
    made->config.seed = seed;
    made->link = net_link_create(allocator, &made->config);
}

static void path_config_set(sim_path* changed, const net_link_config* link) {
    uint64_t seed = changed->config.seed;
    changed->config = *link;
    changed->config.seed = seed;
    net_link_config_set(changed->link, &changed->config);
}

static void control_free(const base_allocator* allocator, sim_control* message) {
    if (message) base_release(allocator, message, sizeof *message + message->size);
}

static void path_clear_control(sim_path* cleared) {
    while (cleared->first) {
        sim_control* message = cleared->first;
        cleared->first = message->next;
        control_free(cleared->allocator, message);
    }
    cleared->last = NULL;
    cleared->queued_bytes = 0;
}

static void path_deinit(sim_path* old) {
    path_clear_control(old);
    base_owner_destroy(old->link);
    old->link = NULL;
}

static uint64_t path_lost(const sim_path* asked) {
    const net_link_stats* stats = net_link_get_stats(asked->link);
    return stats->lost + stats->overflowed + asked->control_lost;
}

static double path_draw(sim_path* drawn) {
    return base_rng_u32(&drawn->rng) * 0x1p-32;
}

// Try the missing pieces of one message as often as there was time for.
static void control_try(sim_path* along, sim_control* message, uint64_t now_us) {
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
static sim_control* path_control_peek(sim_path* along, uint64_t now_us) {
    for (sim_control* message = along->first; message; message = message->next)
        control_try(along, message, now_us);
    sim_control* first = along->first;
    if (!first || first->arrival_us == UINT64_MAX) return NULL;
    if (first->arrival_us < along->arrived_us) first->arrival_us = along->arrived_us;
    return first->arrival_us <= now_us ? first : NULL;
}

static void path_control_pop(sim_path* along) {
    sim_control* message = along->first;
    along->first = message->next;
    if (!along->first) along->last = NULL;
    along->queued_bytes -= message->size;
    along->arrived_us = message->arrival_us;
}

// ---- one side of a connection ----

static net_peer peer_make(uint32_t slot, uint32_t* generation) {
    *generation = (*generation + 1) & PEER_GENERATION_MASK;
    if (*generation == 0) *generation = 1;
    return *generation << NET_PEER_SLOT_BITS | slot;
}

static void take_back(sim_endpoint* taker) {
    control_free(taker->sim->allocator, taker->borrowed);
    taker->borrowed = NULL;
    if (!taker->borrowed_link) return;
    net_link_pop(taker->borrowed_link->link);
    taker->borrowed_link = NULL;
}

// Lanes send at the same time; each has its own connections, the counters are of all.
static void count(uint64_t* counter, uint64_t by) {
    (void)__atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

// Both ends of a connection run through the same functions: a client's end names itself.
static bool is_client(const sim_endpoint* end, const sim_client* of) {
    return end == &of->endpoint;
}

static sim_side* side_of(const sim_endpoint* end, sim_client* of) {
    return is_client(end, of) ? &of->here : &of->there;
}

static sim_path* path_out(const sim_endpoint* end, sim_client* of) {
    return is_client(end, of) ? &of->up : &of->down;
}

// The tag of a datagram: epoch, and whether it is a goodbye.
static net_link_tag realtime_tag(uint32_t epoch, bool is_goodbye) {
    return (net_link_tag){.number = (uint64_t)epoch << 1 | is_goodbye};
}

// Queue a control message, copied, and count it. @return NET_OK; NET_ERR_FULL (QUEUED_BYTES_MAX
// wait).
static net_result push_control(sim_endpoint* sender, sim_client* owner, sim_control_kind kind,
                               uint32_t epoch, uint32_t reason, const void* bytes, size_t size) {
    sim_path* along = path_out(sender, owner);
    if (along->queued_bytes + size > QUEUED_BYTES_MAX) return NET_ERR_FULL;
    sim_control* message = base_allocate(along->allocator, sizeof *message + size);
    const uint32_t pieces = size > NET_MTU_BYTES ? (uint32_t)(size - 1) / NET_MTU_BYTES + 1 : 1;
    *message = (sim_control){.attempt_us = sender->now_us,
                             .arrival_us = UINT64_MAX,
                             .epoch = epoch,
                             .missing = pieces,
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
    count(&sender->stats.sent_datagrams, pieces);
    count(&sender->stats.sent_bytes, size);
    return NET_OK;
}

static net_result side_send(sim_endpoint* sender, sim_client* owner, net_channel channel,
                            const void* bytes, size_t size) {
    sim_side* from = side_of(sender, owner);
    const bool is_up = is_client(sender, owner);
    if (from->state != SIDE_CONNECTED) return NET_ERR_CLOSED;
    size_t size_max = channel == NET_CHANNEL_CONTROL ? NET_CONTROL_BYTES_MAX : NET_STATE_BYTES_MAX;
    net_result result = NET_OK;
    if (size == 0 || size > size_max) {
        result = NET_ERR_FULL;
    } else if (channel == NET_CHANNEL_CONTROL) {
        result = push_control(sender, owner, CONTROL_MESSAGE, from->epoch, 0, bytes, size);
    } else {
        const uint32_t head[3] = {owner->index, is_up, (uint32_t)size};
        owner->hash = base_hash64(bytes, size, base_hash64(head, sizeof head, owner->hash));
        // Dropped when the client is destroyed: the pool stays small.
        if (is_up || !owner->is_destroyed)
            net_link_push(path_out(sender, owner)->link, sender->now_us,
                          realtime_tag(from->epoch, false), bytes, size);
        count(&sender->stats.sent_datagrams, 1);
        count(&sender->stats.sent_bytes, size);
    }
    if (result == NET_OK)
        from->sent_bytes += size;
    else
        count(&sender->stats.send_refused, 1);
    return result;
}

static void side_disconnect(sim_endpoint* sender, sim_client* owner, uint32_t reason, bool now) {
    sim_side* from = side_of(sender, owner);
    sim_path* along = path_out(sender, owner);
    if (from->state == SIDE_CONNECTED && !now) {
        from->state = SIDE_LEAVING;
        from->since_us = sender->now_us;
        if (push_control(sender, owner, CONTROL_GOODBYE, from->epoch, reason, NULL, 0) == NET_OK)
            return;
    }
    if (from->state != SIDE_CLOSED) {
        uint8_t said[GOODBYE_BYTES] = {(uint8_t)reason, (uint8_t)(reason >> 8),
                                       (uint8_t)(reason >> 16), (uint8_t)(reason >> 24)};
        net_link_push(along->link, sender->now_us, realtime_tag(from->epoch, true), said,
                      sizeof said);
    }
    path_clear_control(along);
    from->state = SIDE_CLOSED;
}

// Close the side and write its DISCONNECTED. @return true.
static bool side_close(sim_side* of, uint32_t reason, net_transport_event* event) {
    *event = (net_transport_event){
        .kind = NET_TRANSPORT_DISCONNECTED, .peer = of->peer, .reason = reason};
    of->state = SIDE_CLOSED;
    return true;
}

// A connect or a goodbye took too long, the other end was destroyed, or the goodbye of this side
// has arrived.
static bool side_is_over(const sim_endpoint* here, sim_client* owner) {
    const sim_side* at = side_of(here, owner);
    uint64_t now_us = here->now_us;
    if (at->state == SIDE_CLOSED) return false;
    if (at->state == SIDE_LEAVING && !path_out(here, owner)->first) return true;
    if (at->state != SIDE_CONNECTED)
        return now_us - at->since_us >= NET_CONNECT_MS_MAX * UINT64_C(1000);
    return now_us >= owner->gone_us && now_us - owner->gone_us >= GONE_US_MAX;
}

// ---- receiving ----

// Of two arrivals at one instant the control message is first, but a goodbye is last.
static bool is_control_first(const sim_control* message, uint64_t link_us) {
    if (message->kind == CONTROL_GOODBYE) return message->arrival_us < link_us;
    return message->arrival_us <= link_us;
}

static bool receive_datagram(sim_endpoint* reader, sim_path* along, sim_side* at,
                             net_transport_event* event) {
    net_link_tag tag;
    size_t size = 0;
    const uint8_t* bytes = net_link_peek(along->link, reader->now_us, &tag, &size);
    reader->stats.recv_datagrams++;
    reader->stats.recv_bytes += size;
    bool is_goodbye = tag.number & 1;
    if (tag.number >> 1 != at->epoch || at->state == SIDE_CLOSED || at->state == SIDE_CONNECTING ||
        (at->state == SIDE_LEAVING && !is_goodbye)) {
        net_link_pop(along->link);
        return false;
    }
    if (is_goodbye) {
        uint32_t reason = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                          (uint32_t)bytes[3] << 24;
        net_link_pop(along->link);
        return side_close(at, reason, event);
    }
    reader->borrowed_link = along;
    *event = (net_transport_event){.kind = NET_TRANSPORT_RECEIVED,
                                   .peer = at->peer,
                                   .channel = NET_CHANNEL_REALTIME,
                                   .bytes = bytes,
                                   .size = size};
    return true;
}

static bool receive_message(sim_endpoint* reader, sim_control* message, const sim_side* at,
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

static bool server_accept(sim_server* owner, sim_client* from, uint32_t epoch,
                          net_transport_event* event) {
    uint32_t slot = 0;
    while (slot < owner->peers_max && owner->slots[slot])
        slot++;
    if (slot == owner->peers_max) return false; // full: never answered, as with ENet
    owner->slots[slot] = from;
    from->there = (sim_side){.state = SIDE_CONNECTED,
                             .epoch = epoch,
                             .peer = peer_make(slot, &owner->generations[slot])};
    path_clear_control(&from->down);
    (void)push_control(&owner->endpoint, from, CONTROL_ACCEPT, epoch, 0, NULL, 0);
    *event = (net_transport_event){.kind = NET_TRANSPORT_CONNECTED, .peer = from->there.peer};
    return true;
}

// Only clients get ACCEPT, and only the server gets CONNECT.
static bool take_control(sim_endpoint* here, sim_client* of, sim_control* message,
                         net_transport_event* event) {
    sim_side* at = side_of(here, of);
    here->stats.recv_datagrams++;
    here->stats.recv_bytes += message->size;
    bool is_event = false;
    if (message->kind == CONTROL_CONNECT) {
        is_event = server_accept((sim_server*)here, of, message->epoch, event);
    } else if (message->epoch == at->epoch && at->state != SIDE_CLOSED) {
        if (message->kind == CONTROL_ACCEPT && at->state == SIDE_CONNECTING) {
            at->state = SIDE_CONNECTED;
            *event = (net_transport_event){.kind = NET_TRANSPORT_CONNECTED, .peer = at->peer};
            is_event = true;
        } else if (message->kind == CONTROL_MESSAGE) {
            is_event = receive_message(here, message, at, event);
        } else if (message->kind == CONTROL_GOODBYE) {
            is_event = side_close(at, message->reason, event);
        }
    }
    if (here->borrowed != message) control_free(here->sim->allocator, message);
    return is_event;
}

static bool side_next(sim_endpoint* here, sim_client* of, net_transport_event* event) {
    sim_side* at = side_of(here, of);
    sim_path* along = is_client(here, of) ? &of->down : &of->up;
    for (;;) {
        uint64_t link_us = net_link_next_us(along->link);
        sim_control* message = path_control_peek(along, here->now_us);
        if (message && is_control_first(message, link_us)) {
            // The client connects again and its goodbye was lost: first DISCONNECTED, then
            // CONNECTED.
            if (message->kind == CONTROL_CONNECT && at->state != SIDE_CLOSED)
                return side_close(at, 0, event);
            path_control_pop(along);
            if (take_control(here, of, message, event)) return true;
        } else if (link_us <= here->now_us) {
            if (receive_datagram(here, along, at, event)) return true;
        } else {
            break;
        }
    }
    return side_is_over(here, of) && side_close(at, 0, event);
}

static void service(net_transport* transport, uint64_t now_us) {
    sim_endpoint* here = (sim_endpoint*)transport;
    take_back(here);
    if (now_us > here->now_us) here->now_us = now_us;
}

// ---- the network ----

net_sim* net_sim_create(const base_allocator* allocator, uint64_t seed) {
    net_sim* made = base_allocate_zero(allocator, sizeof *made);
    made->allocator = allocator;
    made->seed = seed;
    return made;
}

void net_sim_destroy(net_sim* sim) {
    if (!sim) return;
    BASE_ASSERT(!sim->server && !sim->clients);
    base_release(sim->allocator, sim, sizeof *sim);
}

// Free a client's end that neither side needs any more.
static void free_client(sim_client* old) {
    net_sim* sim = old->endpoint.sim;
    sim_client** at = &sim->clients;
    while (*at != old)
        at = &(*at)->next;
    *at = old->next;
    if (sim->server && sim->server->cursor == old) sim->server->cursor = old->next;
    if (sim->server && sim->server->endpoint.borrowed_link == &old->up)
        sim->server->endpoint.borrowed_link = NULL;
    sim->lost_before += path_lost(&old->up) + path_lost(&old->down);
    sim->hash_before += old->hash;
    path_deinit(&old->up);
    path_deinit(&old->down);
    base_release(sim->allocator, old, sizeof *old);
}

// The flush of both ends: nothing, because sending is immediate.
static void flush(net_transport* transport) {
    (void)transport;
}

// The descriptors of both ends: none. @return 0.
static uint32_t no_sockets(const net_transport* transport, int* descriptors, uint32_t capacity) {
    (void)transport, (void)descriptors, (void)capacity;
    return 0;
}

uint64_t net_sim_datagram_hash(const net_sim* sim) {
    BASE_ASSERT(sim);
    uint64_t sum = sim->hash_before;
    for (const sim_client* each = sim->clients; each; each = each->next)
        sum += each->hash;
    return sum;
}

// ---- a client's end ----

static sim_client* client_of(net_transport* transport) {
    return (sim_client*)transport;
}

static bool client_next(net_transport* transport, net_transport_event* event) {
    sim_client* owner = client_of(transport);
    take_back(&owner->endpoint);
    return side_next(&owner->endpoint, owner, event);
}

static net_result client_send(net_transport* transport, net_peer peer, net_channel channel,
                              const void* bytes, size_t size) {
    sim_client* owner = client_of(transport);
    if (peer == 0 || peer != owner->here.peer) return NET_ERR_CLOSED;
    return side_send(&owner->endpoint, owner, channel, bytes, size);
}

static net_result client_connect(net_transport* transport, const char* address, net_peer* peer) {
    sim_client* owner = client_of(transport);
    (void)address;
    *peer = 0;
    if (owner->here.state != SIDE_CLOSED) return NET_ERR_FULL;
    sim_side begun = {.state = SIDE_CONNECTING,
                      .epoch = owner->here.epoch + 1,
                      .since_us = owner->endpoint.now_us};
    net_result result =
        push_control(&owner->endpoint, owner, CONTROL_CONNECT, begun.epoch, 0, NULL, 0);
    if (result != NET_OK) return result;
    begun.peer = peer_make(0, &owner->generation);
    owner->gone_us = owner->endpoint.sim->server ? UINT64_MAX : owner->endpoint.now_us;
    owner->here = begun;
    *peer = begun.peer;
    return NET_OK;
}

static void client_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    sim_client* owner = client_of(transport);
    if (peer == 0 || peer != owner->here.peer) return;
    side_disconnect(&owner->endpoint, owner, reason, now);
}

static void client_stats(const net_transport* transport, net_transport_stats* stats) {
    const sim_client* owner = (const sim_client*)transport;
    *stats = owner->endpoint.stats;
    stats->sim_dropped = path_lost(&owner->up) + path_lost(&owner->down);
}

// Messages on their way still arrive: the endpoint is destroyed, its paths stay until the server
// has closed the connection.
static void client_destroy(net_transport* transport) {
    sim_client* owner = client_of(transport);
    take_back(&owner->endpoint);
    owner->is_destroyed = true;
    owner->here = (sim_side){0};
    if (owner->gone_us == UINT64_MAX) owner->gone_us = owner->endpoint.now_us;
    bool is_idle = owner->there.state == SIDE_CLOSED && !owner->up.first;
    if (!owner->endpoint.sim->server || is_idle) free_client(owner);
}

static const net_transport_ops client_ops = {
    .service = service,
    .next = client_next,
    .send = client_send,
    .connect = client_connect,
    .disconnect = client_disconnect,
    .flush = flush,
    .stats = client_stats,
    .sockets = no_sockets,
    .destroy = client_destroy,
};

net_transport* net_sim_client(net_sim* sim, const net_link_config* link) {
    BASE_ASSERT(sim && link);
    sim_client* made = base_allocate_zero(sim->allocator, sizeof *made);
    made->endpoint = (sim_endpoint){.base = {.ops = &client_ops}, .sim = sim};
    made->index = sim->client_count++;
    made->gone_us = UINT64_MAX;
    // Each client has a host of its own, in the network for benchmarks (RFC 2544).
    const uint8_t host[4] = {198, (uint8_t)(18 + (made->index >> 16 & 1)),
                             (uint8_t)(made->index >> 8), (uint8_t)made->index};
    uint32_t network;
    memcpy(&network, host, sizeof network);
    made->identity.address = net_address_ipv4(network, 40000);
    uint64_t seed = base_hash64_mix(base_hash64_mix(sim->seed, link->seed), made->index);
    path_init(&made->up, sim->allocator, link, base_hash64_mix(seed, 1));
    path_init(&made->down, sim->allocator, link, base_hash64_mix(seed, 2));
    made->hash = seed;
    sim_client** at = &sim->clients;
    while (*at)
        at = &(*at)->next;
    *at = made;
    return &made->endpoint.base;
}

void net_sim_link_set_pair(net_transport* transport, const net_link_pair* pair) {
    BASE_ASSERT(transport && transport->ops == &client_ops && pair);
    sim_client* owner = client_of(transport);
    path_config_set(&owner->up, &pair->up);
    path_config_set(&owner->down, &pair->down);
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

// ---- the server's end ----

static sim_server* server_of(net_transport* transport) {
    return (sim_server*)transport;
}

static sim_client* server_find(const sim_server* asked, net_peer peer) {
    uint32_t slot = peer & (NET_PEER_SLOTS - 1);
    if (peer == 0 || slot >= asked->peers_max) return NULL;
    sim_client* found = asked->slots[slot];
    return found && found->there.peer == peer ? found : NULL;
}

// The server's side of a connection is over: free the slot.
static void server_release(sim_server* owner, sim_client* of) {
    uint32_t slot = of->there.peer & (NET_PEER_SLOTS - 1);
    of->there.state = SIDE_CLOSED;
    of->there.peer = 0;
    if (owner->slots[slot] == of) owner->slots[slot] = NULL;
}

static void server_service(net_transport* transport, uint64_t now_us) {
    sim_server* owner = server_of(transport);
    service(transport, now_us);
    owner->cursor = owner->endpoint.sim->clients;
}

static bool server_next(net_transport* transport, net_transport_event* event) {
    sim_server* owner = server_of(transport);
    take_back(&owner->endpoint);
    while (owner->cursor) {
        sim_client* from = owner->cursor;
        bool is_event = side_next(&owner->endpoint, from, event);
        if (from->there.state == SIDE_CLOSED && from->there.peer) server_release(owner, from);
        if (is_event) return true;
        owner->cursor = from->next;
        if (from->is_destroyed && from->there.state == SIDE_CLOSED) free_client(from);
    }
    return false;
}

static net_result server_send(net_transport* transport, net_peer peer, net_channel channel,
                              const void* bytes, size_t size) {
    sim_server* owner = server_of(transport);
    sim_client* to = server_find(owner, peer);
    return to ? side_send(&owner->endpoint, to, channel, bytes, size) : NET_ERR_CLOSED;
}

static net_result server_connect(net_transport* transport, const char* address, net_peer* peer) {
    (void)transport, (void)address;
    *peer = 0;
    return NET_ERR_FULL;
}

static void server_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    sim_server* owner = server_of(transport);
    sim_client* to = server_find(owner, peer);
    if (!to) return;
    side_disconnect(&owner->endpoint, to, reason, now);
    if (to->there.state == SIDE_CLOSED) server_release(owner, to);
}

static void server_stats(const net_transport* transport, net_transport_stats* stats) {
    const sim_server* owner = (const sim_server*)transport;
    *stats = owner->endpoint.stats;
    stats->sim_dropped = owner->endpoint.sim->lost_before;
    for (const sim_client* each = owner->endpoint.sim->clients; each; each = each->next)
        stats->sim_dropped += path_lost(&each->up) + path_lost(&each->down);
}

static void server_destroy(net_transport* transport) {
    sim_server* owner = server_of(transport);
    net_sim* sim = owner->endpoint.sim;
    take_back(&owner->endpoint);
    sim->server = NULL;
    for (sim_client *each = sim->clients, *next; each; each = next) {
        next = each->next;
        each->there = (sim_side){0};
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
    const sim_client* of = server_find((const sim_server*)transport, peer);
    *identity = of ? of->identity : (net_peer_identity){.player = 0};
    return of != NULL;
}

static uint64_t server_peer_sent_bytes(const net_transport* transport, net_peer peer) {
    const sim_client* of = server_find((const sim_server*)transport, peer);
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
    sim_server* made = base_allocate_zero(sim->allocator, sizeof *made);
    made->endpoint = (sim_endpoint){.base = {.ops = &server_ops}, .sim = sim};
    made->peers_max = peers_max;
    made->slots = base_allocate_zero(sim->allocator, peers_max * sizeof *made->slots);
    made->generations = base_allocate_zero(sim->allocator, peers_max * sizeof *made->generations);
    sim->server = made;
    *transport = &made->endpoint.base;
    return NET_OK;
}

void net_sim_lanes_set(net_transport* transport, uint32_t lanes) {
    BASE_ASSERT(transport && transport->ops == &server_ops);
    BASE_ASSERT(lanes >= 1 && lanes <= NET_LANES_MAX);
    transport->lanes = lanes;
}
