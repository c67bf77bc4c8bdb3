// SPDX-License-Identifier: MIT
/// Where every bit went: by component, cause and client; the sum is what the datagrams weigh, to the bit.
///
/// One account per client and a total. Adding is an addition; nothing is allocated after begin.
/// Threads: one at a time.
#pragma once

#include "base/alloc.h"
#include "ecs/ecs.h"

typedef enum net_cost {
    NET_COST_CHANGE,   ///< a value changed
    NET_COST_REPEAT,   ///< written again because a packet was lost
    NET_COST_CREATE,   ///< first row of an entity
    NET_COST_ABSOLUTE, ///< no base that the client surely has
    NET_COST_HEAL,     ///< the client asked
    NET_COST_HEAD,     ///< slots, ages, masks of rows, templates, handles of creates
    NET_COST_DESTROY,
    NET_COST_HEADER, ///< of the packet: numbers, acknowledgements, inputs' fate
    NET_COST_SAMPLE, ///< checksums
    NET_COST_EVENT,
    NET_COST_CONTROL,   ///< channel 0 but large values
    NET_COST_VARSIZE,   ///< values of any length
    NET_COST_FRAME,     ///< protobuf around it, padding
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
/// An account begins; NULL bits when memory ran out.
BASE_MUST_USE bool net_bandwidth_open(net_bandwidth* bandwidth, net_bandwidth_account* account);
/// Its bits go to the total, its memory back.
void net_bandwidth_close(net_bandwidth* bandwidth, net_bandwidth_account* account);

static inline void net_bandwidth_add(net_bandwidth_account* account, uint32_t component,
                                     net_cost cost, uint64_t bits) {
    account->bits[component][cost] += bits;
}

/// Add an account to another one of the same bandwidth, which stays as it is.
void net_bandwidth_sum_into(net_bandwidth_account* total, const net_bandwidth_account* account);
uint64_t net_bandwidth_sum(const net_bandwidth_account* account);
const char* net_cost_name(net_cost cost);
