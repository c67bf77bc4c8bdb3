// SPDX-License-Identifier: MIT
/// What is remembered of addresses without a session: their budgets. A fixed table, so that a flood
/// from any number of addresses costs no memory. An address that comes first in a full set takes
/// the place of the one that was silent for the longest time.
#pragma once

#include "secure/budget.h"

#include "net/address.h"

#define NET_ADDRESS_SETS 1024u
#define NET_ADDRESS_WAYS 4u

typedef struct net_address_entry {
    uint64_t name; ///< keyed hash of the address; 0: none
    uint64_t seen_us;
    net_budget requests, replies, responses;
} net_address_entry;

typedef struct net_address_table {
    uint8_t key[16]; ///< secret: no attacker can choose addresses that share a set
    net_address_entry entries[NET_ADDRESS_SETS][NET_ADDRESS_WAYS];
} net_address_table;

/// The entry of an address, made when there is none: the port does not count, and of IPv6 the first
/// 64 bits count, since one home has all the others. Valid until the next call.
net_address_entry* net_address_table_get(net_address_table* table, const net_address* address,
                                         uint64_t now_us);
