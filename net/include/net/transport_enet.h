// SPDX-License-Identifier: MIT
/// Real sockets by ENet, as a net_transport.
#pragma once

#include "net/address.h"
#include "net/bans.h"
#include "net/security.h"
#include "net/transport.h"

BASE_C_BEGIN

typedef struct net_enet_config {
    const base_allocator* allocator; ///< NULL: the heap; ENet itself always uses the heap
    /// "127.0.0.1:7777" for a server, "0.0.0.0:7777,[::]:7777" for one of both families on two
    /// sockets, "[::]:7777" on one. A name stands for the address of net_address_resolve_one. NULL
    /// for a client.
    const char* listen;
    uint32_t peers_max; ///< clients at once; 1 for a client
    /// Of a server: ENet hosts among which the connections are divided, behind one address and
    /// port, 1..NET_LANES_MAX (asserted) and at most peers_max. 0: one.
    uint32_t lanes;
    /// Of a server: datagrams of addresses on this list are dropped unread. Borrowed; it may change
    /// between services. net_server_config.bans is for players and keys too. NULL: there are none.
    const net_bans* bans;
    /// Connections of one address at a time, whatever their ports; 0: no limit (loopback). A client
    /// that comes back takes the place of its old connection. A closed one counts for 7 s at most.
    uint32_t peers_per_address_max;
    /// Of names in `listen` and in addresses to connect to. Borrowed. NULL: the system's.
    const net_resolver* resolver;
    /// Keys, tokens, bans. Zero is enough for loopback and for a private network: both sides use
    /// the built-in key.
    net_security security;
    /// Wall-clock time that one service, with the events of its next() calls, may take. What is not
    /// read then waits in the kernel's buffer. 0: NET_SERVICE_US_MAX.
    uint32_t service_us_max;
    /// The clock of that, in microseconds. NULL: CLOCK_MONOTONIC, and none in virtual time.
    uint64_t (*wall_us)(void* context);
    void* wall_context;
} net_enet_config;

/// Make a server (it listens at once) or a client. Free it with ops->destroy. Use one process-wide
/// thread for all ENet transports: ENet and the socket layer have global state.
/// @return NET_OK; NET_ERR_ADDRESS (`listen` is no ADDR:PORT, or has two of one family);
///         NET_ERR_BIND (errno says why: choose another port);
///         NET_ERR_REFUSED (a public address or a wildcard, but no keys, and the built-in key is
///         public: give keys, listen on a private address, or set allow_dev_key);
///         NET_ERR_SOCKET (no socket, or the socket layer is missing or failed its self-test: link
///         shoal_socket directly into the program; nothing is sent without encryption);
///         NET_ERR_MEMORY; NET_ERR_FULL (peers_max is not 1..NET_CLIENTS_MAX).
BASE_MUST_USE net_result net_transport_enet_create(const net_enet_config* config,
                                                   net_transport** transport);
/// What the outer layer did and refused.
void net_transport_enet_secure_stats(const net_transport* transport, net_secure_stats* stats);
/// Replace the keys of a server while it runs; sessions stay. Without keys it accepts the built-in
/// key as after create.
void net_transport_enet_keys_set(net_transport* transport, const net_key_ring* keys);
/// Tell when the program has to do something else, in the microseconds of wall_us: its next tick.
/// Services end by then, but have NET_SERVICE_US_MIN at least, so that a late program receives too.
/// UINT64_MAX: nothing is due.
void net_transport_enet_due(net_transport* transport, uint64_t due_us);
/// Enough for every text of net_transport_enet_address.
#define NET_ENET_ADDRESS_TEXT_BYTES (2 * NET_ADDRESS_TEXT_BYTES)
/// Write the address on which a server listens, as "127.0.0.1:40001"; of two with a comma between
/// them. @return false for a client, and when `text_bytes` is too small.
bool net_transport_enet_address(const net_transport* transport, char* text, size_t text_bytes);

BASE_C_END
