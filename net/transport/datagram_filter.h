// SPDX-License-Identifier: MIT
// What may reach ENet: a judge over the bytes of one datagram of ENet's protocol.
#pragma once

#include "base/macros.h"

// Neither the 12 bits of a peer nor of a stranger.
#define NET_FILTER_NO_PEER 0xFFFu

typedef struct net_filter_context {
    bool is_server; // only a server is connected to
    uint16_t
        reliable_sequence; // newest reliable command of channel 0 that the peer is known to have sent
} net_filter_context;

// The peer that a datagram is addressed to; NET_FILTER_NO_PEER for a stranger's or a short one.
uint32_t net_filter_peer(const uint8_t* bytes, size_t size);

// True when our own sender could have written it. Parameters that would let the other side choose
// our mtu, bandwidth or throttle are overwritten with ours.
bool net_filter_judge(uint8_t* bytes, size_t size, const net_filter_context* context);

// Of which connection a datagram speaks that net_filter_judge let pass: what its CONNECT or
// VERIFY_CONNECT calls it, in the bytes of ENet's connectID. @return false when it has neither.
bool net_filter_connect_id(const uint8_t* bytes, size_t size, const net_filter_context* context,
                           uint32_t* connect_id);
