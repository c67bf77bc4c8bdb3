// SPDX-License-Identifier: MIT
// Two buckets for each attempt: its session's and the one of all. Sessions have neighbouring hosts,
// so the low bits are the place in the table, and no two sessions of one server share a place.
#include "transport/enet_secure.h"

#include "net/socket.h"

#include "base/assert.h"

#include <arpa/inet.h>

bool net_connect_gate_pass(net_connect_gate* gate, uint32_t host, uint64_t now_us) {
    static const net_budget_rate of_all = {1000000 / NET_CONNECTS_PER_SECOND,
                                           NET_CONNECTS_PER_SECOND};
    static const net_budget_rate of_one = {1000000 / NET_SESSION_CONNECTS_PER_SECOND,
                                           NET_SESSION_CONNECTS_BURST};
    const uint32_t place = ntohl(host) % NET_CONNECT_PLACES;
    net_budget* session = &gate->sessions[place].budget;
    if (gate->sessions[place].host != host) *session = (net_budget){0};
    gate->sessions[place].host = host;
    return net_budget_has(&gate->all, of_all, now_us) && net_budget_take(session, of_one, now_us) &&
           net_budget_take(&gate->all, of_all, now_us);
}

// Defined only in programs that link the socket layer; without it no transport is made.
#pragma weak net_socket_now_us
#pragma weak net_socket_unix_s
#pragma weak net_socket_fill
#pragma weak net_socket_guard_set
#pragma weak net_socket_wire_send
#pragma weak net_socket_flush

#define HOST_FIRST 0x0A000000u

enum { SLOT_MASK = 0xFFF, SLOT_BITS = 12 };

net_secure_peer net_enet_secure_peer(uint32_t host, uint16_t port) {
    return (uint32_t)port << SLOT_BITS | ((ntohl(host) - HOST_FIRST) & SLOT_MASK);
}

uint32_t net_enet_secure_server_host(void) {
    return htonl(HOST_FIRST);
}

// ---- between the wire and ENet: at the time of the service, since a clock costs as much as a
// short packet

// @return the bytes for ENet.
static size_t share(net_enet_secure* secure, bool is_packet, uint32_t host, uint16_t port,
                    const uint8_t* inner, size_t size) {
    if (!is_packet || size == 0) return size;
    secure->take_packet(secure->taker, host, port, inner, size);
    return 0;
}

static bool is_banned(net_enet_secure* secure, const net_address* from) {
    const bool is_found = net_bans_find_address(secure->bans, from);
    secure->dropped_banned += is_found;
    return is_found;
}

static void take_datagram(net_enet_secure* secure, const net_address* from, uint8_t* bytes,
                          size_t size, net_secure_received* received) {
    net_secure_server_receive(secure->server, &secure->clock, from, bytes, size, received);
    if (received->reply_size > 0)
        net_socket_wire_send(secure->descriptor, &received->reply_to, received->reply,
                             received->reply_size);
}

static size_t server_receive(void* context, const net_address* from, uint8_t* bytes, size_t size,
                             const uint8_t** inner, uint32_t* host, uint16_t* port) {
    net_enet_secure* secure = context;
    if (is_banned(secure, from)) return 0;
    net_secure_received received;
    take_datagram(secure, from, bytes, size, &received);
    *inner = received.inner;
    *host = htonl(HOST_FIRST | NET_SECURE_PEER_SLOT(received.peer));
    *port = (uint16_t)NET_SECURE_PEER_GENERATION(received.peer);
    return share(secure, received.is_packet, *host, *port, received.inner, received.inner_size);
}

uint32_t net_enet_secure_route(net_enet_secure* trunk, const net_address* from, uint8_t* bytes,
                               size_t size) {
    if (is_banned(trunk, from)) return UINT32_MAX;
    uint32_t slot = net_secure_server_route(trunk->server, bytes, size);
    if (slot == NET_SECURE_NOWHERE) return UINT32_MAX;
    if (slot != NET_SECURE_HELLO) return slot;
    net_secure_received received;
    take_datagram(trunk, from, bytes, size, &received);
    return UINT32_MAX;
}

static size_t server_send(void* context, bool is_packet, uint32_t host, uint16_t port,
                          const uint8_t* bytes, size_t size, uint8_t* out, net_address* to) {
    net_enet_secure* secure = context;
    if (size + NET_SECURE_OVERHEAD_BYTES > NET_SOCKET_OUTER_BYTES_MAX) return 0;
    const net_secure_peer peer = net_enet_secure_peer(host, port);
    const uint32_t slot = NET_SECURE_PEER_SLOT(peer);
    const size_t sent =
        net_secure_server_send(secure->server, secure->clock.now_us, peer,
                               is_packet ? NET_OUTER_STATE : NET_OUTER_DATA, bytes, size, out, to);
    if (slot < secure->session_count) secure->sent_bytes[slot] += sent;
    return sent;
}

uint32_t net_enet_secure_find(const net_enet_secure* secure, uint32_t host) {
    if (!secure->server) return 0; // a client has one
    uint32_t slot = NET_SECURE_PEER_SLOT(net_enet_secure_peer(host, 0));
    return slot < secure->session_count ? secure->peers[slot] - 1u : UINT32_MAX;
}

uint64_t net_enet_secure_sent_bytes(const net_enet_secure* secure, uint32_t host) {
    uint32_t slot = NET_SECURE_PEER_SLOT(net_enet_secure_peer(host, 0));
    return slot < secure->session_count ? secure->sent_bytes[slot] : 0;
}

static void server_send_alone(void* context, const net_address* to, const uint8_t* bytes,
                              size_t size) {
    const net_enet_secure* secure = context;
    net_socket_wire_send(secure->descriptor, to, bytes, size);
}

static size_t client_receive(void* context, const net_address* from, uint8_t* bytes, size_t size,
                             const uint8_t** inner, uint32_t* host, uint16_t* port) {
    net_enet_secure* secure = context;
    net_secure_answer answer;
    net_secure_client_receive(&secure->client, &secure->clock, from, bytes, size, &answer);
    if (answer.reply_size > 0)
        net_socket_wire_send(secure->descriptor, &answer.reply_to, answer.reply, answer.reply_size);
    *inner = answer.inner;
    *host = net_enet_secure_server_host();
    *port = secure->attempt;
    return share(secure, answer.is_packet, *host, *port, answer.inner, answer.inner_size);
}

static size_t client_send(void* context, bool is_packet, uint32_t host, uint16_t port,
                          const uint8_t* bytes, size_t size, uint8_t* out, net_address* to) {
    net_enet_secure* secure = context;
    (void)host;
    if (port != secure->attempt || size + NET_SECURE_OVERHEAD_BYTES > NET_SOCKET_OUTER_BYTES_MAX)
        return 0;
    return net_secure_client_send(&secure->client, secure->clock.now_us,
                                  is_packet ? NET_OUTER_INPUT : NET_OUTER_DATA, bytes, size, out,
                                  to);
}

// ---- its life

static void read_clock(net_enet_secure* secure) {
    secure->clock.now_us = net_socket_now_us();
    secure->clock.unix_s =
        secure->unix_s ? secure->unix_s(secure->unix_context) : net_socket_unix_s();
}

static void set_guard(net_enet_secure* secure, bool is_server) {
    const net_socket_guard guard = {.context = secure,
                                    .receive = is_server ? server_receive : client_receive,
                                    .send = is_server ? server_send : client_send};
    net_socket_guard_set(secure->descriptor, &guard);
}

void net_enet_secure_init(net_enet_secure* secure, int descriptor, const net_enet_config* config,
                          bool has_guard) {
    net_security own = config->security;
    secure->entropy = own.entropy ? *own.entropy : (net_entropy){.fill = net_socket_fill};
    own.entropy = &secure->entropy;
    secure->unix_s = own.unix_s;
    secure->unix_context = own.unix_context;
    secure->descriptor = descriptor;
    secure->bans = config->bans;
    read_clock(secure);
    if (has_guard) set_guard(secure, config->listen != NULL);
    if (!config->listen) {
        net_secure_client_init(&secure->client, &own);
        return;
    }
    const net_secure_server_config server = {.allocator = config->allocator,
                                             .sessions_max = config->peers_max,
                                             .lanes = config->lanes,
                                             .per_address_max = config->peers_per_address_max,
                                             .security = own,
                                             .now_us = secure->clock.now_us,
                                             .send = server_send_alone,
                                             .send_context = secure};
    secure->sent_bytes =
        base_allocate_zero(config->allocator, config->peers_max * sizeof *secure->sent_bytes);
    secure->peers =
        base_allocate_zero(config->allocator, config->peers_max * sizeof *secure->peers);
    secure->session_count = config->peers_max;
    secure->server = net_secure_server_create(&server);
}

void net_enet_secure_init_lane(net_enet_secure* secure, int descriptor,
                               const net_enet_secure* trunk) {
    BASE_ASSERT(trunk->server);
    secure->is_lane = true;
    secure->descriptor = descriptor;
    secure->unix_s = trunk->unix_s;
    secure->unix_context = trunk->unix_context;
    secure->server = trunk->server;
    secure->sent_bytes = trunk->sent_bytes;
    secure->peers = trunk->peers;
    secure->session_count = trunk->session_count;
    read_clock(secure);
    set_guard(secure, true);
}

void net_enet_secure_stop(net_enet_secure* secure) {
    if (!secure->server || secure->is_lane) return;
    net_secure_server_stop(secure->server, net_socket_now_us());
    net_socket_flush(secure->descriptor);
}

void net_enet_secure_deinit(net_enet_secure* secure) {
    if (secure->is_lane) return;
    net_secure_server_destroy(secure->server);
    net_secure_client_deinit(&secure->client);
}

void net_enet_secure_service(net_enet_secure* secure) {
    read_clock(secure);
    if (secure->is_lane) return; // its trunk does the rest
    if (secure->server) {
        net_secure_server_service(secure->server, secure->clock.now_us, secure->clock.now_us);
        return;
    }
    uint8_t out[NET_OUTER_HELLO_BYTES];
    net_address to;
    size_t size = net_secure_client_service(&secure->client, &secure->clock, out, &to);
    if (size > 0) net_socket_wire_send(secure->descriptor, &to, out, size);
}

void net_enet_secure_service_trunk(net_enet_secure* secure) {
    const uint64_t held_us = secure->clock.now_us;
    read_clock(secure);
    net_secure_server_service(secure->server, secure->clock.now_us, held_us);
}

bool net_enet_secure_hold(net_enet_secure* secure, uint64_t now_us, uint32_t host, uint16_t port) {
    if (!secure->server)
        return port == secure->attempt && secure->client.state == NET_SECURE_CLIENT_OPEN;
    return net_secure_server_hold(secure->server, now_us, net_enet_secure_peer(host, port));
}

void net_enet_secure_connect(net_enet_secure* secure, const net_address* addresses,
                             uint32_t count) {
    read_clock(secure);
    secure->attempt++;
    if (secure->attempt == 0) secure->attempt = 1;
    secure->is_connecting = true;
    net_secure_client_begin(&secure->client, &secure->clock, addresses, count);
    net_enet_secure_service(secure);
}
