// SPDX-License-Identifier: MIT
// The players of a match that runs elsewhere: they have no sessions here, and stand in the roster
// that spectators get. Who was there before this server began to follow has a name only: a save
// does not say who is a bot.
#include "server/server_state.h"

#include "net/match.h"

#include "base/assert.h"

#include <string.h>

net_result net_server_open_followed(net_server* server) {
    net_match* match = server->config.match;
    const uint32_t count = net_match_players(match, NULL, 0);
    BASE_ASSERT(count <= server->roster_capacity);
    server->followed =
        base_allocate_zero(server->allocator, server->roster_capacity * sizeof *server->followed);
    if (!server->followed) return NET_ERR_MEMORY;
    // The scratch of those who went has the same room.
    (void)net_match_players(match, server->roster_gone, server->roster_capacity);
    for (uint32_t i = 0; i < count; i++)
        server->followed[i].client = server->roster_gone[i];
    server->followed_count = count;
    return NET_OK;
}

static void remove_followed(net_server* server, uint32_t client) {
    uint32_t i = 0;
    while (i < server->followed_count && server->followed[i].client != client)
        i++;
    if (i == server->followed_count) return;
    server->followed_count--;
    memmove(server->followed + i, server->followed + i + 1,
            (server->followed_count - i) * sizeof *server->followed);
}

void net_server_note_followed(net_server* server, const net_tick_inputs* begin) {
    for (uint32_t i = 0; i < begin->leave_count; i++)
        remove_followed(server, begin->leaves[i].client);
    for (uint32_t i = 0; i < begin->join_count; i++) {
        BASE_ASSERT(server->followed_count < server->roster_capacity);
        server->followed[server->followed_count++] =
            (net_followed){begin->joins[i].client, begin->joins[i].is_bot};
    }
}

uint32_t net_server_list_followed(net_server* server) {
    const net_match* match = server->config.match;
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->followed_count; i++) {
        const char* name = net_match_player_name(match, server->followed[i].client);
        if (!name) continue; // it was refused, and leaves with the next tick
        Shoal__Wire__RosterEntry* entry = &server->roster[count++];
        shoal__wire__roster_entry__init(entry);
        entry->client = server->followed[i].client;
        entry->name = (char*)(uintptr_t)name; // encoding only reads it
        entry->is_bot = server->followed[i].is_bot;
    }
    return count;
}
