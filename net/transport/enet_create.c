// SPDX-License-Identifier: MIT
// net/transport_enet.h: one ENet host (transport_enet.c), or several behind one socket
// (enet_lanes.c).
#include "transport/enet_host.h"
#include "transport/enet_lanes.h"

#include "base/assert.h"

#include <string.h>

// Defined only in programs that link the socket layer; without it no transport is made.
#pragma weak net_socket_addresses

net_result net_transport_enet_create(const net_enet_config* config, net_transport** transport) {
    BASE_ASSERT(config && transport && config->lanes <= NET_LANES_MAX);
    if (config->peers_max == 0 || config->peers_max > NET_CLIENTS_MAX) return NET_ERR_FULL;
    BASE_ASSERT(config->lanes <= config->peers_max && (config->lanes <= 1 || config->listen));
    if (config->lanes > 1) return net_enet_lanes_create(config, transport);
    net_enet_transport* made = NULL;
    net_result result = net_enet_host_create(config, NULL, 0, &made);
    if (result == NET_OK) *transport = &made->base;
    return result;
}

static bool print_addresses(int descriptor, char* text, size_t text_bytes) {
    net_address at[NET_SOCKET_ADDRESSES_MAX];
    uint32_t count = net_socket_addresses(descriptor, at);
    for (uint32_t i = 0; i < count; i++) {
        if (!net_address_print(&at[i], text, text_bytes)) return false;
        size_t size = strlen(text);
        text += size;
        text_bytes -= size;
        if (i + 1 == count) return true;
        if (text_bytes < 2) return false;
        *text++ = ',';
        text_bytes--;
    }
    return false;
}

static const net_enet_secure* secure_of(const net_transport* transport) {
    const net_enet_secure* trunk = net_enet_lanes_trunk(transport);
    BASE_ASSERT(trunk || net_enet_is_host(transport));
    return trunk ? trunk : &((const net_enet_transport*)transport)->secure;
}

bool net_transport_enet_address(const net_transport* transport, char* text, size_t text_bytes) {
    const net_enet_secure* secure = secure_of(transport);
    return secure->server && print_addresses(secure->descriptor, text, text_bytes);
}

void net_transport_enet_due(net_transport* transport, uint64_t due_us) {
    if (net_enet_lanes_trunk(transport)) {
        net_enet_lanes_due(transport, due_us);
        return;
    }
    BASE_ASSERT(net_enet_is_host(transport));
    ((net_enet_transport*)transport)->due_us = due_us;
}

void net_transport_enet_secure_stats(const net_transport* transport, net_secure_stats* stats) {
    const net_enet_secure* secure = secure_of(transport);
    *stats = secure->server ? *net_secure_server_stats(secure->server) : secure->client.stats;
}

void net_transport_enet_keys_set(net_transport* transport, const net_key_ring* keys) {
    const net_enet_secure* secure = secure_of(transport);
    BASE_ASSERT(secure->server);
    net_secure_server_keys_set(secure->server, keys);
}

void* net_transport_enet_host(net_transport* transport) {
    net_enet_transport* first = net_enet_lanes_first(transport);
    BASE_ASSERT(first || net_enet_is_host(transport));
    return (first ? first : (net_enet_transport*)transport)->host;
}
