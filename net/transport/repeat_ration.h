// SPDX-License-Identifier: MIT
/// How many commands that bring nothing new one peer may send: a repeated one costs a walk of
/// ENet's lists and an acknowledgement. An honest peer repeats when an acknowledgement was lost.
#pragma once

#include "transport/datagram_filter.h"

#define NET_REPEATS_PER_SECOND 256u ///< and as many at once

typedef struct net_repeat_ration {
    uint16_t sequence; ///< of the context of the last datagram
    uint64_t seen[4];  ///< the 256 reliable commands after it that came already
    uint32_t at_ms;
    uint32_t credits; ///< thousandths of a command
} net_repeat_ration;

/// A connection begins.
void net_repeat_ration_init(net_repeat_ration* ration, uint32_t now_ms);
/// Count a datagram that net_filter_judge accepted for the peer; times in milliseconds of ENet's
/// clock. @return false: it repeats more than the ration allows, drop it.
bool net_repeat_ration_pass(net_repeat_ration* ration, const uint8_t* bytes, size_t size,
                            const net_filter_context* context, uint32_t now_ms);
