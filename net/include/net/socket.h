// SPDX-License-Identifier: MIT
/// The socket layer below ENet. net/socket/*.c defines ENet's own enet_socket_send, enet_socket_receive,
/// enet_time_get and enet_host_random_seed and is linked into our executables only; libenet resolves
/// them there. So that 0 bytes of ENet face a stranger, everything passes here first: empty and
/// oversized datagrams are dropped, errors of the kernel become loss, --net plays a bad network.
///
/// State: one per process (ENet's functions have no context argument); the single exception to the rule
/// against globals. Threads: the thread that owns the ENet hosts.
#pragma once

#include "net/link.h"

/// Virtual sockets have descriptors from here on: no real one reaches it, ppoll must not see them.
#define NET_SOCKET_VIRTUAL_FIRST (1 << 24)

/// True when libenet really calls this layer (symbol check). transport_enet's self-test asks.
bool net_socket_is_installed(void);

/// Play a bad network on every socket of this process, both directions. NULL: none.
BASE_MUST_USE net_result net_socket_link_set(const net_link_config* config);

/// Per-socket counters; zeros for an unknown descriptor.
typedef struct net_socket_stats {
    uint64_t sent_bytes, recv_bytes, sent_datagrams, recv_datagrams;
    uint64_t sim_dropped, dropped_empty, dropped_oversized, socket_errors;
} net_socket_stats;
void net_socket_get_stats(int descriptor, net_socket_stats* stats);
/// Forget a closed socket.
void net_socket_forget(int descriptor);
/// Release datagrams whose time has come on the send side; call once per service.
void net_socket_pump(void);
/// Microseconds until the layer itself has something to do; UINT64_MAX when nothing.
uint64_t net_socket_next_us(void);
