// SPDX-License-Identifier: MIT
/// Private: the list of bans, for its two files.
#pragma once

#include "net/token.h"

typedef struct net_bans_item {
    net_ban ban;
    bool is_of_file;
} net_bans_item;

struct net_bans {
    base_owner owner;
    net_bans_item* items; // sorted by net_bans_compare
    uint32_t count, capacity;
    uint32_t lengths[129]; // items with this length of prefix
};

/// Order: kind, length, prefix, number. 0: the same ban, whatever its reason.
int net_bans_compare(const net_ban* a, const net_ban* b);
/// Take over `count` sorted items without doubles, allocated with `capacity`, by the owner.
void net_bans_replace(net_bans* bans, net_bans_item* items, uint32_t count, uint32_t capacity);
