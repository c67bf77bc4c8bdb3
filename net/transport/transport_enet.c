// SPDX-License-Identifier: MIT
// Real sockets by ENet 1.3.17, and everything that must be set,
// clamped, watched or refused so that untrusted peers can reach a server. transport/ENET.md lists
// the traps and the test of each.
//
// Layers below: net/socket checks sizes and turns errors into loss; net/secure authenticates;
// datagram_filter.c checks contents, from ENet's intercept hook. Here: limits of memory, time-outs,
// connections as ids with generations.
//
// service() looks after every peer once: mtu, resend times, leaked accounts, and the watchdog that
// resets a peer that is neither free nor connected for too long. next() then steps ENet itself. It
// returns one event at a time, whose packet lives until the next call of next() or service().
//
// Why resend times are clamped: ENet doubles the wait of a command at every loss without an upper
// bound, and gives up the connection after some losses of the same command. With 20 % loss that
// ends healthy sessions. With a wait of at most RTT + 2 variances + 20 ms (1 s at most) and limits
// of a minute, only a dead path ends a connection.
//
// One connection per session of the outer layer (enet_secure.c). A client first gets a session,
// then its ENet connects inside of it. A peer whose session ended is reset, and the session of a
// peer that is gone ends after 2 s. A client that comes back gets a new session, so nothing that an
// old connection sends reaches a new one.
//
// Invariants: slots[i] describes host->peers[i]. A slot that is not NET_ENET_SLOT_FREE has an id
// that the user may hold. queued_bytes is exact: every packet subtracts itself when ENet frees it.
#include "net/transport.h"

#include "transport/enet_peers.h"

#include "net/socket.h"

#include "base/assert.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

// Defined only in programs that link the socket layer; without it no transport is made.
#pragma weak net_socket_get_stats
#pragma weak net_socket_pump
#pragma weak net_socket_wire_send
#pragma weak net_socket_flush
#pragma weak net_socket_send_packet
#pragma weak net_socket_read_ahead

enum {
    SLOT_BITS = 12,
    GENERATION_MASK = 0xFFFFF,
    QUEUED_BYTES_MAX = 256 * 1024,
    TIMEOUT_LIMIT = 20000, // larger ones overflow 32 bits in ENet
    TIMEOUT_MS_MIN = 15000,
    TIMEOUT_MS_MAX = 60000,
    NAME_BYTES_MAX = 320, // "HOST:PORT"
    ENET_EVERY_US = 5000, // its times are milliseconds
};

static const net_transport_ops enet_ops;

bool net_enet_is_host(const net_transport* transport) {
    return transport->ops == &enet_ops;
}

static net_enet_transport* transport_of(net_transport* transport) {
    return (net_enet_transport*)transport;
}

static uint32_t index_of(const net_enet_transport* owner, const ENetPeer* peer) {
    return (uint32_t)(peer - owner->host->peers);
}

static net_peer peer_id(const net_enet_transport* owner, uint32_t index) {
    return owner->slots[index].generation << SLOT_BITS | index;
}

static void slot_release(net_enet_transport* owner, net_enet_slot* old) {
    if (old->is_lost) owner->lost_count--;
    old->is_lost = false;
    old->state = NET_ENET_SLOT_FREE;
}

static void slot_take(net_enet_transport* owner, net_enet_slot* taken, net_enet_slot_state state) {
    slot_release(owner, taken); // the user does not wait for the end of an older one
    taken->deaf_us = 0;
    taken->is_waiting = false;
    taken->repeats = (net_repeat_ration){0};
    taken->resent_ms = enet_time_get();
    taken->resend_tokens = NET_ENET_RESEND_BYTES_BURST;
    taken->state = state;
    taken->generation = (taken->generation + 1) & GENERATION_MASK;
    if (taken->generation == 0) taken->generation = 1;
}

static net_enet_slot* slot_find(const net_enet_transport* owner, net_peer peer, uint32_t* index) {
    *index = peer & ((1u << SLOT_BITS) - 1);
    if (peer == 0 || *index >= owner->slot_count) return NULL;
    net_enet_slot* found = &owner->slots[*index];
    return found->state != NET_ENET_SLOT_FREE && found->generation == peer >> SLOT_BITS ? found
                                                                                        : NULL;
}

static void take_back(net_enet_transport* owner) {
    if (owner->borrowed) enet_packet_destroy(owner->borrowed);
    owner->borrowed = NULL;
}

void net_enet_host_service(net_enet_transport* owner, uint64_t now_us, uint64_t until_us) {
    take_back(owner);
    // A flood can wake the program thousands of times in a second; to look at all peers as often as
    // ENet does is enough.
    if (owner->checked_us == 0 || now_us - owner->checked_us >= ENET_EVERY_US) {
        net_enet_check_peers(owner, now_us);
        owner->checked_us = now_us;
    }
    net_enet_secure_service(&owner->secure);
    owner->now_us = now_us;
    owner->is_read = false;
    net_enet_budget_begin(owner, until_us);
}

static void enet_transport_service(net_transport* transport, uint64_t now_us) {
    net_enet_transport* owner = transport_of(transport);
    const uint64_t until_us = net_enet_budget_until(owner);
    net_socket_pump();
    net_enet_host_service(owner, now_us, until_us);
}

// What ENet sent waits in the batch of the socket layer. Every function that lets ENet send ends
// with this.
static void push_out(const net_enet_transport* owner) {
    net_socket_flush(owner->host->socket);
}

// ---- events

static bool take_lost(net_enet_transport* owner, net_transport_event* event) {
    for (uint32_t i = 0; owner->lost_count > 0 && i < owner->slot_count; i++) {
        net_enet_slot* lost = &owner->slots[i];
        if (!lost->is_lost) continue;
        *event = (net_transport_event){.kind = NET_TRANSPORT_DISCONNECTED,
                                       .peer = peer_id(owner, i),
                                       .reason = lost->lost_reason};
        slot_release(owner, lost);
        return true;
    }
    return false;
}

static bool take_connect(net_enet_transport* owner, ENetPeer* peer, net_transport_event* event) {
    uint32_t index = index_of(owner, peer);
    net_enet_slot* taken = &owner->slots[index];
    if (peer->channelCount != NET_ENET_CHANNELS) {
        enet_peer_reset(peer);
        net_enet_lose(owner, taken, 0);
        return false;
    }
    if (taken->state == NET_ENET_SLOT_CONNECTING)
        taken->state = NET_ENET_SLOT_CONNECTED;
    else
        slot_take(owner, taken, NET_ENET_SLOT_CONNECTED);
    peer->mtu = NET_MTU_BYTES;
    enet_peer_timeout(peer, TIMEOUT_LIMIT, TIMEOUT_MS_MIN, TIMEOUT_MS_MAX);
    // net_enet_secure_find finds the peer by its made-up address; 0 is none.
    uint32_t slot = NET_SECURE_PEER_SLOT(net_enet_secure_peer(peer->address.host, 0));
    if (slot < owner->secure.session_count) owner->secure.peers[slot] = (uint16_t)(index + 1);
    taken->sent_before = net_enet_secure_sent_bytes(&owner->secure, peer->address.host);
    *event = (net_transport_event){.kind = NET_TRANSPORT_CONNECTED, .peer = peer_id(owner, index)};
    return true;
}

static bool take_disconnect(net_enet_transport* owner, const ENetEvent* from,
                            net_transport_event* event) {
    uint32_t index = index_of(owner, from->peer);
    net_enet_slot* left = &owner->slots[index];
    if (left->state == NET_ENET_SLOT_FREE) return false;
    *event = (net_transport_event){
        .kind = NET_TRANSPORT_DISCONNECTED, .peer = peer_id(owner, index), .reason = from->data};
    // Our own reason comes back when both sides close; the other side's is news.
    if (left->state == NET_ENET_SLOT_LEAVING && from->data == left->reason) event->reason = 0;
    slot_release(owner, left);
    return true;
}

void net_enet_forget_waiting(net_enet_transport* owner) {
    owner->waiting_next = owner->waiting_count = owner->bytes_count = 0;
}

bool net_enet_take_waiting(net_enet_transport* owner, net_transport_event* event) {
    while (owner->waiting_next < owner->waiting_count) {
        const net_enet_waiting* waiting = &owner->waiting[owner->waiting_next++];
        if (owner->slots[waiting->index].state != NET_ENET_SLOT_CONNECTED ||
            owner->host->peers[waiting->index].connectID != waiting->connect_id)
            continue;
        *event = (net_transport_event){.kind = NET_TRANSPORT_RECEIVED,
                                       .peer = peer_id(owner, waiting->index),
                                       .channel = NET_CHANNEL_REALTIME,
                                       .bytes = owner->bytes + waiting->at,
                                       .size = waiting->size};
        return true;
    }
    net_enet_forget_waiting(owner);
    return false;
}

static bool take_packet(net_enet_transport* owner, const ENetEvent* from,
                        net_transport_event* event) {
    uint32_t index = index_of(owner, from->peer);
    owner->borrowed = from->packet;
    if (owner->slots[index].state != NET_ENET_SLOT_CONNECTED) {
        take_back(owner);
        return false;
    }
    if (from->channelID == NET_CHANNEL_CONTROL)
        owner->stats.recv_reliable_bytes += from->packet->dataLength;
    *event = (net_transport_event){.kind = NET_TRANSPORT_RECEIVED,
                                   .peer = peer_id(owner, index),
                                   .channel = (net_channel)from->channelID,
                                   .bytes = from->packet->data,
                                   .size = from->packet->dataLength};
    return true;
}

// Has ENet something to do? A datagram of its own came, it has further events, or its times are
// due.
static bool is_enet_due(net_enet_transport* owner) {
    if (!net_socket_read_ahead(owner->host->socket) && !owner->has_events &&
        owner->now_us - owner->stepped_us < ENET_EVERY_US)
        return false;
    owner->stepped_us = owner->now_us;
    return true;
}

// One step of ENet, which walks all peers for it, twice. @return 1 with an event; 0 when there is
// none, when the service is over, or when a connection was replaced: its DISCONNECTED must come
// before the CONNECTED of the new one.
static int step(net_enet_transport* owner, ENetEvent* event) {
    while (!owner->is_read && owner->lost_count == 0 && !net_enet_budget_is_over(owner)) {
        enet_uint32 before = owner->host->totalReceivedPackets;
        int result = is_enet_due(owner) ? enet_host_service(owner->host, event, 0) : 0;
        owner->has_events = result > 0;
        if (result > 0) return 1;
        if (result < 0)
            owner->stats.service_errors++;
        else
            owner->is_read = owner->host->totalReceivedPackets == before;
        if (owner->is_read) (void)net_enet_budget_is_over(owner); // counts it when it is
    }
    return 0;
}

// The outer layer of a client has an answer: ENet may connect, or the attempt has failed.
static void go_on_connecting(net_enet_transport* owner) {
    net_enet_secure* secure = &owner->secure;
    net_enet_slot* slot = &owner->slots[0]; // a client has one
    if (!secure->is_connecting) return;
    if (secure->client.state == NET_SECURE_CLIENT_OPEN) {
        secure->is_connecting = false;
        ENetAddress where = {.host = net_enet_secure_server_host(), .port = secure->attempt};
        ENetPeer* begun = enet_host_connect(owner->host, &where, NET_ENET_CHANNELS, 0);
        if (begun) {
            enet_peer_timeout(begun, TIMEOUT_LIMIT, TIMEOUT_MS_MIN, TIMEOUT_MS_MAX);
            enet_host_flush(owner->host);
        } else {
            net_enet_lose(owner, slot, 0); // ENet has no memory
        }
    } else if (secure->client.state == NET_SECURE_CLIENT_ENDED) {
        secure->is_connecting = false;
        net_secure_end end = secure->client.end;
        net_enet_lose(owner, slot,
                      end == NET_SECURE_END_SILENT ? 0 : NET_TRANSPORT_SECURE + (uint32_t)end);
    }
}

static bool take_notice(net_enet_transport* owner, net_transport_event* event) {
    net_enet_secure* secure = &owner->secure;
    if (!secure->is_connecting) return false;
    const net_secure_end why = net_secure_client_take_notice(&secure->client);
    if (why == NET_SECURE_END_NONE) return false;
    *event = (net_transport_event){.kind = NET_TRANSPORT_NOTICE,
                                   .peer = peer_id(owner, 0),
                                   .reason = NET_TRANSPORT_SECURE + (uint32_t)why};
    return true;
}

static bool take_offer(net_enet_transport* owner, net_transport_event* event) {
    if (owner->is_server || !net_secure_client_take_offer(&owner->secure.client)) return false;
    *event = (net_transport_event){.kind = NET_TRANSPORT_FOUND, .peer = peer_id(owner, 0)};
    return true;
}

static bool enet_transport_next(net_transport* transport, net_transport_event* event) {
    net_enet_transport* owner = transport_of(transport);
    take_back(owner);
    ENetEvent from;
    for (;;) {
        if (owner->lost_count > 0 && take_lost(owner, event)) return true;
        if (!owner->is_lane && net_enet_take_waiting(owner, event)) return true;
        if (step(owner, &from) == 0) {
            go_on_connecting(owner);
            if (owner->lost_count > 0 || (owner->waiting_count > 0 && !owner->is_lane)) continue;
            if (take_notice(owner, event) || take_offer(owner, event)) return true;
            owner->is_read = false;
            push_out(owner);
            return false;
        }
        bool is_event = false;
        if (from.type == ENET_EVENT_TYPE_CONNECT)
            is_event = take_connect(owner, from.peer, event);
        else if (from.type == ENET_EVENT_TYPE_DISCONNECT)
            is_event = take_disconnect(owner, &from, event);
        else if (from.type == ENET_EVENT_TYPE_RECEIVE)
            is_event = take_packet(owner, &from, event);
        if (is_event) return true;
    }
}

// ---- sending

static void ENET_CALLBACK packet_is_free(ENetPacket* packet) {
    net_enet_slot* sender = packet->userData;
    sender->queued_bytes -= packet->dataLength;
}

static net_result send_packet(net_enet_transport* owner, uint32_t index, net_channel channel,
                              const void* bytes, size_t size) {
    net_enet_slot* from = &owner->slots[index];
    size_t size_max = channel == NET_CHANNEL_CONTROL ? NET_CONTROL_BYTES_MAX : NET_STATE_BYTES_MAX;
    if (size == 0 || size > size_max) return NET_ERR_FULL;
    if (channel == NET_CHANNEL_REALTIME) {
        const ENetAddress* to = &owner->host->peers[index].address;
        net_socket_send_packet(owner->host->socket, to->host, to->port, bytes, size);
        return NET_OK;
    }
    if (from->queued_bytes + size > QUEUED_BYTES_MAX) return NET_ERR_FULL;
    ENetPacket* packet = enet_packet_create(bytes, size, ENET_PACKET_FLAG_RELIABLE);
    if (!packet) return NET_ERR_FULL;
    packet->userData = from;
    packet->freeCallback = packet_is_free;
    from->queued_bytes += size;
    owner->has_queued = true;
    if (enet_peer_send(&owner->host->peers[index], (enet_uint8)channel, packet) == 0) return NET_OK;
    enet_packet_destroy(packet); // still ours
    return NET_ERR_FULL;
}

static net_result enet_transport_send(net_transport* transport, net_peer peer, net_channel channel,
                                      const void* bytes, size_t size) {
    net_enet_transport* owner = transport_of(transport);
    uint32_t index = 0;
    const net_enet_slot* from = slot_find(owner, peer, &index);
    net_result result = NET_ERR_CLOSED;
    if (from && from->state == NET_ENET_SLOT_CONNECTED &&
        owner->host->peers[index].state == ENET_PEER_STATE_CONNECTED) {
        result = send_packet(owner, index, channel, bytes, size);
        if (result != NET_OK) owner->stats.send_refused++;
    }
    return result;
}

static void enet_transport_flush(net_transport* transport) {
    net_enet_transport* owner = transport_of(transport);
    if (owner->has_queued) enet_host_flush(owner->host);
    owner->has_queued = false;
    push_out(owner);
}

// ---- connections

// "HOST:PORT" or some with commas between them. A name that is not found is no reason to leave out
// the others. @return how many.
static uint32_t find_addresses(const net_enet_transport* owner, const char* list,
                               net_address found[NET_SECURE_ADDRESSES_MAX]) {
    uint32_t count = 0;
    while (*list && count < NET_SECURE_ADDRESSES_MAX) {
        char one[NAME_BYTES_MAX];
        const size_t length = strcspn(list, ",");
        uint32_t more = 0;
        if (base_text_format(one, sizeof one, "%.*s", (int)length, list) &&
            net_address_resolve(owner->resolver, one, found + count,
                                NET_SECURE_ADDRESSES_MAX - count, &more) == NET_OK &&
            found[count].port != 0)
            count += more;
        list += length + (list[length] == ',');
    }
    return count;
}

static net_result enet_transport_connect(net_transport* transport, const char* address,
                                         net_peer* peer) {
    net_enet_transport* owner = transport_of(transport);
    *peer = 0;
    net_address found[NET_SECURE_ADDRESSES_MAX];
    if (owner->is_server) return NET_ERR_FULL;
    const net_secure_client* secure = &owner->secure.client;
    const net_address* offered = net_secure_client_offer(secure, &owner->secure.clock);
    const uint32_t count = offered ? 1 : find_addresses(owner, address, found);
    if (offered) found[0] = *offered; // no name has to be looked up
    if (count == 0) return NET_ERR_ADDRESS;
    if (owner->secure.is_connecting || owner->host->peers[0].state != ENET_PEER_STATE_DISCONNECTED)
        return NET_ERR_FULL;
    slot_take(owner, &owner->slots[0], NET_ENET_SLOT_CONNECTING);
    net_enet_secure_connect(&owner->secure, found, count);
    push_out(owner);
    *peer = peer_id(owner, 0);
    return NET_OK;
}

static void enet_transport_disconnect(net_transport* transport, net_peer peer, uint32_t reason,
                                      bool now) {
    net_enet_transport* owner = transport_of(transport);
    uint32_t index = 0;
    net_enet_slot* left = slot_find(owner, peer, &index);
    if (!left) return;
    ENetPeer* to = &owner->host->peers[index];
    if (!now && left->state == NET_ENET_SLOT_LEAVING) return;
    if (!now && left->state == NET_ENET_SLOT_CONNECTED && to->state == ENET_PEER_STATE_CONNECTED) {
        left->state = NET_ENET_SLOT_LEAVING;
        left->reason = reason;
        owner->has_queued = true;
        enet_peer_disconnect_later(to, reason);
        return;
    }
    owner->secure.is_connecting = false;
    enet_peer_disconnect_now(to, reason);
    push_out(owner);
    slot_release(owner, left);
}

static void enet_transport_ask(net_transport* transport, const net_address* others,
                               uint32_t count) {
    net_enet_transport* owner = transport_of(transport);
    BASE_ASSERT(count <= NET_STANDBYS_MAX);
    for (uint32_t i = 0; !owner->is_server && i < count; i++) {
        uint8_t out[NET_OUTER_HELLO_BYTES];
        const size_t size = net_secure_client_ask(&owner->secure.client, &others[i], out);
        if (size > 0) net_socket_wire_send(owner->secure.descriptor, &others[i], out, size);
    }
    push_out(owner);
}

// Opening: from the configuration of a transport to an ENet host, bound, with its limits set.
// transport/ENET.md says why each limit is set.

// Defined only in programs that link the socket layer; without it no transport is made.
#pragma weak net_socket_is_installed
#pragma weak net_socket_plan_next
#pragma weak net_socket_descriptors

enum {
    WAITING_BYTES_MAX = 64 * 1024,
    SERVER_BATCH = 64, // datagrams of one system call
    CLIENT_BATCH = 8,
    LISTEN_BYTES_MAX = 600, // of two addresses as text
};

uint32_t net_enet_list_descriptors(int descriptor, int* descriptors, uint32_t capacity) {
    int found[NET_SOCKET_ADDRESSES_MAX];
    uint32_t count = net_socket_descriptors(descriptor, found);
    if (count > capacity) count = capacity;
    if (count > 0) memcpy(descriptors, found, count * sizeof *found);
    return count;
}

void net_enet_size_buffers(int descriptor) {
    (void)enet_socket_set_option(descriptor, ENET_SOCKOPT_RCVBUF, NET_ENET_SOCKET_BYTES);
    (void)enet_socket_set_option(descriptor, ENET_SOCKOPT_SNDBUF, NET_ENET_SOCKET_BYTES);
}

static void host_init(net_enet_transport* owner) {
    ENetHost* host = owner->host;
    // ENet adds the host's address in memory, so runs of the same seed would differ.
    host->randomSeed = enet_host_random_seed();
    host->mtu = NET_MTU_BYTES; // for peers that are reset; the others have copies already
    for (uint32_t i = 0; i < owner->slot_count; i++)
        host->peers[i].mtu = NET_MTU_BYTES;
    host->peers[0].data = owner;
    host->maximumPacketSize = NET_CONTROL_BYTES_MAX;
    host->maximumWaitingData = WAITING_BYTES_MAX;
    host->duplicatePeers = 1; // a session has one connection
    host->intercept = net_enet_intercept;
    net_enet_size_buffers(host->socket);
}

// "ADDR:PORT" or "ADDR:PORT,ADDR:PORT": one address, or one of each family.
static net_result listen_resolve(const net_enet_config* config, net_socket_plan* plan) {
    char copy[LISTEN_BYTES_MAX];
    if (!base_text_copy(copy, sizeof copy, config->listen)) return NET_ERR_ADDRESS;
    char* comma = strchr(copy, ',');
    if (comma) *comma = '\0';
    plan->listen_count = comma ? 2 : 1;
    if (net_address_resolve_one(config->resolver, copy, &plan->listen[0]) != NET_OK)
        return NET_ERR_ADDRESS;
    if (!comma) return NET_OK;
    if (net_address_resolve_one(config->resolver, comma + 1, &plan->listen[1]) != NET_OK)
        return NET_ERR_ADDRESS;
    return net_address_is_ipv4(&plan->listen[0]) != net_address_is_ipv4(&plan->listen[1])
               ? NET_OK
               : NET_ERR_ADDRESS;
}

// ENet calls abort by itself. With this its functions return NULL, and each caller in ENet and here
// treats that as a loss: a reliable message that was not accepted is sent again.
static void ENET_CALLBACK go_on_without_memory(void) {}

net_result net_enet_plan_listen(const net_enet_config* config, net_socket_plan* plan) {
    if (listen_resolve(config, plan) != NET_OK) return NET_ERR_ADDRESS;
    // The built-in key is known to all, so alone it is for private addresses.
    bool has_keys = config->security.keys && config->security.keys->count > 0;
    for (uint32_t i = 0; i < plan->listen_count; i++)
        if (!(has_keys || config->security.allow_dev_key ||
              net_address_is_private(&plan->listen[i])))
            return NET_ERR_REFUSED;
    return NET_OK;
}

bool net_enet_is_ready(void) {
    const ENetCallbacks callbacks = {.no_memory = go_on_without_memory};
    if (enet_initialize_with_callbacks(ENET_VERSION, &callbacks) != 0) return false;
    return net_socket_is_installed && net_socket_is_installed();
}

// Open its ENet host with the limits of transport_enet.c. `trunk`: of a lane, else NULL.
// @return as net_transport_enet_create.
static net_result open_host(net_enet_transport* owner, const net_enet_config* config,
                            const net_enet_secure* trunk) {
    net_socket_plan plan = {.batch = config->listen ? SERVER_BATCH : CLIENT_BATCH,
                            .is_lane = trunk != NULL,
                            .trunk = trunk ? trunk->descriptor : -1};
    net_result result = config->listen && !trunk ? net_enet_plan_listen(config, &plan) : NET_OK;
    if (result != NET_OK) return result;
    if (!net_enet_is_ready()) return NET_ERR_SOCKET;
    const net_address* at = &plan.listen[0];
    ENetAddress address = {.host = net_address_ipv4_host(at), .port = at->port};
    net_socket_plan_next(&plan);
    errno = 0;
    owner->host = enet_host_create(config->listen ? &address : NULL, owner->slot_count,
                                   NET_ENET_CHANNELS, 0, 0);
    if (owner->host) {
        host_init(owner);
        net_enet_budget_init(owner, config);
        owner->is_lane = trunk != NULL;
        owner->secure.take_packet = net_enet_take_packet;
        owner->secure.taker = owner;
        if (trunk)
            net_enet_secure_init_lane(&owner->secure, owner->host->socket, trunk);
        else
            net_enet_secure_init(&owner->secure, owner->host->socket, config, true);
        return NET_OK;
    }
    if (errno == ENOMEM) return NET_ERR_MEMORY;
    return config->listen ? NET_ERR_BIND : NET_ERR_SOCKET;
}

// ---- the whole

void net_enet_read_socket(const net_enet_secure* secure, net_transport_stats* stats) {
    net_socket_stats below;
    net_socket_get_stats(secure->descriptor, &below);
    stats->sent_bytes = below.sent_bytes;
    stats->recv_bytes = below.recv_bytes;
    stats->sent_datagrams = below.sent_datagrams;
    stats->recv_datagrams = below.recv_datagrams;
    stats->sim_dropped = below.sim_dropped;
    stats->dropped_empty = below.dropped_empty;
    stats->dropped_oversized = below.dropped_oversized;
    stats->socket_errors = below.socket_errors;
    stats->dropped_banned = secure->dropped_banned;
}

static void enet_transport_stats(const net_transport* transport, net_transport_stats* stats) {
    const net_enet_transport* owner = (const net_enet_transport*)transport;
    *stats = owner->stats;
    net_enet_read_socket(&owner->secure, stats);
}

static uint32_t enet_transport_sockets(const net_transport* transport, int* descriptors,
                                       uint32_t capacity) {
    const net_enet_transport* owner = (const net_enet_transport*)transport;
    return net_enet_list_descriptors(owner->host->socket, descriptors, capacity);
}

static bool enet_transport_identity(const net_transport* transport, net_peer peer,
                                    net_peer_identity* identity) {
    const net_enet_transport* owner = (const net_enet_transport*)transport;
    uint32_t index = 0;
    *identity = (net_peer_identity){.player = 0};
    if (!slot_find(owner, peer, &index)) return false;
    if (!owner->is_server) {
        identity->address = owner->secure.client.server;
        return true;
    }
    const ENetAddress* at = &owner->host->peers[index].address;
    return net_secure_server_identity(owner->secure.server,
                                      net_enet_secure_peer(at->host, at->port), identity);
}

static uint64_t enet_transport_peer_sent_bytes(const net_transport* transport, net_peer peer) {
    const net_enet_transport* owner = (const net_enet_transport*)transport;
    uint32_t index = 0;
    const net_enet_slot* slot = slot_find(owner, peer, &index);
    if (!slot) return 0;
    return net_enet_secure_sent_bytes(&owner->secure, owner->host->peers[index].address.host) -
           slot->sent_before;
}

// The host first: its packets still subtract themselves from the slots.
static void enet_transport_destroy(net_transport* transport) {
    net_enet_transport* owner = transport_of(transport);
    take_back(owner);
    net_enet_secure_stop(&owner->secure);
    if (owner->host) enet_host_destroy(owner->host);
    net_enet_secure_deinit(&owner->secure);
    base_owner_destroy(owner->owner);
}

static const net_transport_ops enet_ops = {
    .service = enet_transport_service,
    .next = enet_transport_next,
    .send = enet_transport_send,
    .connect = enet_transport_connect,
    .disconnect = enet_transport_disconnect,
    .flush = enet_transport_flush,
    .stats = enet_transport_stats,
    .sockets = enet_transport_sockets,
    .destroy = enet_transport_destroy,
    .identity = enet_transport_identity,
    .peer_sent_bytes = enet_transport_peer_sent_bytes,
    .ask = enet_transport_ask,
};

net_result net_enet_host_create(const net_enet_config* config, const net_enet_secure* trunk,
                                uint32_t lane, net_enet_transport** transport) {
    const uint32_t lanes = trunk ? config->lanes : 1;
    base_owner* owner = base_owner_create(config->allocator, sizeof *owner);
    net_enet_transport* made = base_allocate_zero(&owner->allocator, sizeof *made);
    made->base.ops = &enet_ops;
    made->owner = owner;
    made->allocator = &owner->allocator;
    made->resolver = config->resolver;
    made->is_server = config->listen != NULL;
    made->slot_count = (config->peers_max - lane + lanes - 1) / lanes;
    made->slots = base_allocate_zero(made->allocator, made->slot_count * sizeof *made->slots);
    if (made->is_server) made->gate = base_allocate_zero(made->allocator, sizeof *made->gate);
    net_enet_config own = *config;
    own.allocator = made->allocator;
    net_result result = open_host(made, &own, trunk);
    if (result != NET_OK) {
        enet_transport_destroy(&made->base);
        return result;
    }
    for (uint32_t i = 0; i < made->slot_count; i++)
        made->slots[i].stuck_us = NET_ENET_NEVER_US;
    *transport = made;
    return NET_OK;
}
