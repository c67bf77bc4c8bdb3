// SPDX-License-Identifier: MIT
/// Which datagrams may reach ENet: a check of the bytes of one datagram of ENet's protocol.
#pragma once

#include "core/ration.h"

#include "base/macros.h"

#define NET_FILTER_NO_PEER 0xFFFu ///< what ENet writes before a connection has a peer

typedef struct net_filter_context {
    bool is_server; ///< only a server accepts connects
    /// Newest reliable command of the control channel that came from the peer.
    uint16_t reliable_sequence;
} net_filter_context;

/// The peer that a datagram is addressed to; NET_FILTER_NO_PEER before a connection, or when it is
/// too short.
uint32_t net_filter_peer(const uint8_t* bytes, size_t size);

/// @return true when our own sender could have written it. Parameters by which the other side would
/// choose our mtu,
/// bandwidth or throttle are overwritten.
bool net_filter_check(uint8_t* bytes, size_t size, const net_filter_context* context);

/// How many commands that bring nothing new one peer may send: a repeated one costs a walk of
/// ENet's lists and an acknowledgement. An honest peer repeats when an acknowledgement was lost.
#define NET_REPEATS_PER_SECOND 256u ///< and as many at once

typedef struct net_repeat_ration {
    uint16_t sequence; ///< of the context of the last datagram
    uint64_t seen[4];  ///< the 256 reliable commands after it that came already
    net_budget repeats;
} net_repeat_ration; ///< zeroed when a connection begins

/// Count a datagram that net_filter_check accepted for the peer.
/// @return false: it repeats more than the ration allows, drop it.
bool net_repeat_ration_pass(net_repeat_ration* ration, const uint8_t* bytes, size_t size,
                            const net_filter_context* context, uint64_t now_us);
