// SPDX-License-Identifier: MIT
/// How many connection attempts reach ENet, which walks all its peers for each.
///
/// For a socket with a guard, where an attempt comes inside a session and the host that ENet sees
/// names the session. A client that connects again does it in a new session: a session with a
/// connected peer may not begin another connection.
#pragma once

#include "base/macros.h"

#define NET_CONNECTS_PER_SECOND 256u       ///< of all sessions, and as many at once
#define NET_SESSION_CONNECTS_PER_SECOND 2u ///< of one session; a client repeats once a second
#define NET_SESSION_CONNECTS_BURST 4u
#define NET_CONNECT_PLACES 4096u ///< sessions with a ration of their own

typedef struct net_connect_ration {
    uint32_t host;
    uint32_t at_ms;
    uint32_t credits; ///< thousandths of an attempt
} net_connect_ration;

typedef struct net_connect_gate {
    net_connect_ration all;
    net_connect_ration sessions[NET_CONNECT_PLACES];
} net_connect_gate;

void net_connect_gate_init(net_connect_gate* gate, uint32_t now_ms);
/// An attempt from `host` (network order) comes. @return false: drop it.
bool net_connect_gate_pass(net_connect_gate* gate, uint32_t host, uint32_t now_ms);
