// SPDX-License-Identifier: MIT
/// The players of a match, as the server sends them to its clients.
///
/// Limits: NET_CLIENTS_MAX players. Memory: grows to its peak and stays there.
#pragma once

#include "base/alloc.h"
#include "net/limits.h"
#include "net/result.h"
#include "wire.pb-c.h"

typedef struct net_roster_player {
    uint32_t client;
    uint32_t name_hash;
    char name[NET_PLAYER_NAME_BYTES_MAX]; ///< unlike that of any other player
    bool is_bot;
    bool is_gone; ///< only while a change is applied
} net_roster_player;

typedef struct net_roster {
    const base_allocator* allocator;
    net_roster_player* players; // by rising client
    uint32_t count, capacity;
} net_roster;

void net_roster_init(net_roster* roster, const base_allocator* allocator);
void net_roster_deinit(net_roster* roster);
/// Apply a change: remove the players that left, then add those that came. Names are cleaned; a
/// known player gets the new name; a name that another player has gets "#" and the client number.
/// @return NET_OK; NET_ERR_MALFORMED (client number 0, or more than NET_CLIENTS_MAX players:
///         entries before it were applied; count it); NET_ERR_MEMORY (end the session).
BASE_MUST_USE net_result net_roster_take(net_roster* roster, const Shoal__Wire__Roster* change);
/// @return NULL when no player has this client number. Borrowed until the next change.
const net_roster_player* net_roster_find(const net_roster* roster, uint32_t client);
