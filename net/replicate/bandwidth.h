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
    NET_COST_LARGE,     ///< values of any length
    NET_COST_FRAME,     ///< protobuf around it, padding
    NET_COST_TRANSPORT, ///< ENet's headers, acknowledgements, resends
    NET_COST_COUNT
} net_cost;

#define NET_LEDGER_NONE 0u ///< the component of costs that have none

/// Bits by component (ecs_component_id; NET_LEDGER_NONE) and cause.
typedef struct net_ledger_account {
    uint64_t (*bits)[NET_COST_COUNT]; ///< [component]
    uint32_t component_count;         ///< ids below this
} net_ledger_account;

typedef struct net_ledger {
    const base_allocator* allocator;
    net_ledger_account total; ///< of accounts that were closed
    uint32_t component_count;
} net_ledger;

BASE_MUST_USE bool net_ledger_init(net_ledger* ledger, const base_allocator* allocator,
                                   uint32_t component_count);
void net_ledger_deinit(net_ledger* ledger);
/// An account begins; NULL bits when memory ran out.
BASE_MUST_USE bool net_ledger_open(net_ledger* ledger, net_ledger_account* account);
/// Its bits go to the total, its memory back.
void net_ledger_close(net_ledger* ledger, net_ledger_account* account);

static inline void net_ledger_add(net_ledger_account* account, uint32_t component, net_cost cost,
                                  uint64_t bits) {
    account->bits[component][cost] += bits;
}

/// Add an account to another one of the same ledger, which stays as it is.
void net_ledger_sum_into(net_ledger_account* total, const net_ledger_account* account);
uint64_t net_ledger_sum(const net_ledger_account* account);
const char* net_cost_name(net_cost cost);
