// SPDX-License-Identifier: MIT
/// Bandwidth accounting: every sent bit by component, cause and client. The sum is the size of the
/// datagrams, to the bit.
///
/// One account per client and a total. Adding is an addition; nothing is allocated after
/// net_bandwidth_open.
/// Threads: one at a time.
#pragma once

#include "base/alloc.h"
#include "ecs/ecs.h"

typedef enum net_cost {
    NET_COST_CHANGE,   ///< a value changed
    NET_COST_REPEAT,   ///< written again because a packet was lost
    NET_COST_CREATE,   ///< first row of an entity
    NET_COST_ABSOLUTE, ///< no base that the client certainly has
    NET_COST_HEAL,     ///< the client requested a resync
    NET_COST_HEAD,     ///< slots, ages, masks of rows, templates, handles of creates
    NET_COST_DESTROY,
    NET_COST_HEADER, ///< of the packet: numbers, acknowledgements, the state of inputs
    NET_COST_SAMPLE, ///< checksums
    NET_COST_EVENT,
    NET_COST_CONTROL,   ///< channel 0 except variable-size values
    NET_COST_VARSIZE,   ///< variable-size values
    NET_COST_FRAME,     ///< protobuf framing, padding
    NET_COST_TRANSPORT, ///< ENet's headers, acknowledgements, resends
    NET_COST_COUNT
} net_cost;

#define NET_BANDWIDTH_NONE 0u ///< the component of costs that have none

/// Bits by component (ecs_component_id; NET_BANDWIDTH_NONE) and cause.
typedef struct net_bandwidth_account {
    uint64_t (*bits)[NET_COST_COUNT]; ///< [component]
    uint32_t component_count;         ///< ids below this
} net_bandwidth_account;

typedef struct net_bandwidth {
    const base_allocator* allocator;
    net_bandwidth_account total; ///< of accounts that were closed
    uint32_t component_count;
} net_bandwidth;

BASE_MUST_USE bool net_bandwidth_init(net_bandwidth* bandwidth, const base_allocator* allocator,
                                      uint32_t component_count);
void net_bandwidth_deinit(net_bandwidth* bandwidth);
/// Open an account. @return false when memory ran out; `bits` is NULL then.
BASE_MUST_USE bool net_bandwidth_open(net_bandwidth* bandwidth, net_bandwidth_account* account);
/// Add the account's bits to the total and release its memory.
void net_bandwidth_close(net_bandwidth* bandwidth, net_bandwidth_account* account);

static inline void net_bandwidth_add(net_bandwidth_account* account, uint32_t component,
                                     net_cost cost, uint64_t bits) {
    account->bits[component][cost] += bits;
}

/// Add an account to another one of the same accounting; `account` does not change.
void net_bandwidth_sum_into(net_bandwidth_account* total, const net_bandwidth_account* account);
uint64_t net_bandwidth_sum(const net_bandwidth_account* account);
const char* net_cost_name(net_cost cost);
