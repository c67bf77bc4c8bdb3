// SPDX-License-Identifier: MIT
/// Real sockets by ENet, as a net_transport. Only net/transport/transport_enet.c includes enet/enet.h.
#pragma once

#include "net/transport.h"

typedef struct net_enet_config {
    const base_allocator* allocator;
    const char* listen; ///< "127.0.0.1:7777" for a server, NULL for a client
    uint32_t peers_max; ///< clients at once; 1 for a client
    /// 0: no limit (loopback). Whoever comes back from the port of before takes the old connection's
    /// place; one that ends counts until it has, 5 s at most.
    uint32_t peers_per_address_max;
    bool is_insecure_allowed; ///< without it only loopback is bound
} net_enet_config;

/// @return NET_OK; NET_ERR_ADDRESS; NET_ERR_BIND; NET_ERR_REFUSED (not loopback, no --insecure);
///         NET_ERR_SOCKET (self-test of the socket layer); NET_ERR_MEMORY; NET_ERR_FULL (peers_max).
BASE_MUST_USE net_result net_transport_enet_create(const net_enet_config* config,
                                                   net_transport** transport);
/// "127.0.0.1:40001": where a server really listens. false for a client.
bool net_transport_enet_address(const net_transport* transport, char* text, size_t text_bytes);
