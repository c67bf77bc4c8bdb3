// SPDX-License-Identifier: MIT
/// Who plays, as a server tells its clients.
///
/// Limits: NET_CLIENTS_MAX players. Memory: grows to its peak and stays there.
#pragma once

#include "base/alloc.h"
#include "net/limits.h"
#include "net/result.h"
#include "wire.pb-c.h"

typedef struct net_roster_player {
    uint32_t client;
    char name[NET_PLAYER_NAME_BYTES_MAX];
    bool is_bot;
} net_roster_player;

typedef struct net_roster {
    const base_allocator* allocator;
    net_roster_player* players; // by rising client
    uint32_t count, capacity;
} net_roster;

void net_roster_init(net_roster* roster, const base_allocator* allocator);
void net_roster_deinit(net_roster* roster);
/// Nobody plays, as far as we know.
void net_roster_clear(net_roster* roster);
/// Take a change in: who went, then who came. Names are cleaned; who is known gets the new name.
/// @return NET_OK; NET_ERR_MALFORMED (client 0, more than NET_CLIENTS_MAX players: what came before it
///         counts); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_roster_take(net_roster* roster, const Shoal__Wire__Roster* change);
/// NULL when nobody of that number plays. Borrowed until the next change.
const net_roster_player* net_roster_find(const net_roster* roster, uint32_t client);
