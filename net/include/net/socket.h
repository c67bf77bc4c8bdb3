// SPDX-License-Identifier: MIT
/// The socket layer below ENet. net/socket/*.c defines ENet's own functions for sockets, clock and
/// random seed. It is linked into executables only, where libenet resolves them. Every datagram
/// passes here first: empty and oversized ones are dropped, errors of the kernel become loss, --net
/// simulates a bad network.
///
/// State: one per process, because ENet's functions have no context argument. Threads: only the
/// thread that owns the ENet hosts may call this.
#pragma once

#include "net/link.h"

/// Virtual sockets (tests) have descriptors from here on, beyond any real one. ppoll must not see
/// them.
#define NET_SOCKET_VIRTUAL_FIRST (1 << 24)

/// Does libenet really call this layer? net_transport_enet_create checks it.
bool net_socket_is_installed(void);

/// Simulate a bad network on every socket of this process, in both directions. NULL: none.
/// Datagrams on their way are lost. @return NET_OK; NET_ERR_MEMORY (nothing changed).
BASE_MUST_USE net_result net_socket_link_set(const net_link_config* config);

/// Per-socket counters; zeros for an unknown descriptor.
typedef struct net_socket_stats {
    uint64_t sent_bytes, recv_bytes, sent_datagrams, recv_datagrams;
    uint64_t sim_dropped, dropped_empty, dropped_oversized, socket_errors;
} net_socket_stats;
void net_socket_get_stats(int descriptor, net_socket_stats* stats);
/// Drop the state of a closed socket.
void net_socket_forget(int descriptor);
/// Send the datagrams that the simulated network held back until now. Call it once per service.
void net_socket_pump(void);
/// Microseconds until the next simulated datagram is due; UINT64_MAX when none is on its way.
uint64_t net_socket_next_us(void);
