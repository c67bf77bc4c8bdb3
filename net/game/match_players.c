// SPDX-License-Identifier: MIT
// The players of a server's match, sorted by client number: numbers only rise, so a join appends.
#include "game/match_internal.h"

#include "base/assert.h"
#include "base/search.h"
#include "base/text.h"

#include <string.h>

net_player* net_match_find_player(const net_match* match, uint32_t client) {
    base_search search = base_search_begin(match->player_count);
    while (base_search_next(&search))
        base_search_step(&search, match->players[search.middle].client < client);
    if (search.low == match->player_count) return NULL;
    net_player* found = &match->players[search.low];
    return found->client == client ? found : NULL;
}

void net_match_join(net_match* match, const net_game_player* player) {
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER && player->name);
    BASE_ASSERT(player->client > match->client_last && player->user_bytes <= NET_USER_BYTES_MAX);
    match->client_last = player->client;
    if (!BASE_ARRAY_RESERVE(&match->memory.allocator, match->players, match->player_capacity,
                            match->player_count + 1))
        return; // net_match_lacks_memory
    net_game_player joined = *player;
    joined.size_bytes = sizeof joined;
    match->joining = joined.client;
    match->join_end = (net_match_end){0};
    ecs_entity entity = match->game->player_join(match->world, match->context, &joined);
    match->joining = 0;
    net_player* added = &match->players[match->player_count++];
    memset(added, 0, sizeof *added);
    added->client = player->client;
    added->entity = entity;
    added->end = match->join_end;
    added->is_refused = match->join_end.is_decided;
    (void)base_text_copy(added->name, sizeof added->name, player->name);
}

void net_match_leave(net_match* match, uint32_t client) {
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER);
    net_player* left = net_match_find_player(match, client);
    BASE_ASSERT(left);
    match->game->player_leave(match->world, match->context, client, left->entity);
    net_interest_requests_remove(&match->requests, client);
    uint32_t place = (uint32_t)(left - match->players);
    memmove(left, left + 1, (match->player_count - place - 1) * sizeof *left);
    match->player_count--;
}

const char* net_match_player_name(const net_match* match, uint32_t client) {
    const net_player* found = net_match_find_player(match, client);
    return found ? found->name : NULL;
}

ecs_entity net_match_player(const net_match* match, uint32_t client) {
    const net_player* found = net_match_find_player(match, client);
    return found && ecs_is_alive(match->world, found->entity) ? found->entity : ECS_ENTITY_NONE;
}

uint32_t net_match_players(const net_match* match, uint32_t* clients, uint32_t capacity) {
    for (uint32_t i = 0; i < match->player_count && i < capacity; i++)
        clients[i] = match->players[i].client;
    return match->player_count;
}

uint32_t net_match_client_last(const net_match* match) {
    return match->client_last;
}
