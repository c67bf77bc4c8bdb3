// SPDX-License-Identifier: MIT
// The players, in a sorted array: client numbers rise, so new players are mostly appended.
#include "session/roster.h"

#include "base/hash.h"
#include "base/shown.h"
#include "base/text.h"
#include "session/control.h"

#include <string.h>

void net_roster_init(net_roster* roster, const base_allocator* allocator) {
    *roster = (net_roster){.allocator = allocator};
}

void net_roster_deinit(net_roster* roster) {
    BASE_ARRAY_RELEASE(roster->allocator, roster->players, roster->capacity);
    *roster = (net_roster){.allocator = roster->allocator};
}

// The place of `client`, or the place to insert it.
static uint32_t find_place(const net_roster* roster, uint32_t client) {
    uint32_t low = 0, high = roster->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (roster->players[middle].client < client)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const net_roster* roster, uint32_t place, uint32_t client) {
    return place < roster->count && roster->players[place].client == client;
}

// All at once: a message may name 2,000 of them.
static void remove_clients(net_roster* roster, const uint32_t* clients, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t place = find_place(roster, clients[i]);
        if (is_at(roster, place, clients[i])) roster->players[place].is_gone = true;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < roster->count; i++)
        if (!roster->players[i].is_gone) roster->players[kept++] = roster->players[i];
    roster->count = kept;
}

static bool is_taken(const net_roster* roster, uint32_t place, const char* name, uint32_t hash) {
    for (uint32_t i = 0; i < roster->count; i++) {
        const net_roster_player* other = &roster->players[i];
        if (i != place && other->name_hash == hash && strcmp(other->name, name) == 0) return true;
    }
    return false;
}

static uint32_t hash_of(const char* name) {
    return (uint32_t)base_hash64(name, strlen(name), 0);
}

// Two players must not look the same: the later one gets its client number after the name.
static void give_name(net_roster* roster, uint32_t place, const char* requested) {
    net_roster_player* player = &roster->players[place];
    net_control_clean_name(player->name, requested);
    player->name_hash = hash_of(player->name);
    if (!is_taken(roster, place, player->name, player->name_hash)) return;
    char number[16], shortened[NET_PLAYER_NAME_BYTES_MAX];
    (void)base_text_format(number, sizeof number, "#%u", player->client);
    (void)base_shown_copy(shortened, sizeof shortened - strlen(number), player->name);
    (void)base_text_format(player->name, sizeof player->name, "%s%s", shortened, number);
    player->name_hash = hash_of(player->name);
}

static net_result add_client(net_roster* roster, const Shoal__Wire__RosterEntry* entry) {
    if (entry->client == 0) return NET_ERR_MALFORMED;
    uint32_t place = find_place(roster, entry->client);
    if (!is_at(roster, place, entry->client)) {
        if (roster->count == NET_CLIENTS_MAX) return NET_ERR_MALFORMED;
        if (!BASE_ARRAY_RESERVE(roster->allocator, roster->players, roster->capacity,
                                roster->count + 1))
            return NET_ERR_MEMORY;
        memmove(&roster->players[place + 1], &roster->players[place],
                (roster->count - place) * sizeof *roster->players);
        roster->count++;
    }
    net_roster_player* player = &roster->players[place];
    *player = (net_roster_player){.client = entry->client, .is_bot = entry->is_bot};
    give_name(roster, place, entry->name);
    return NET_OK;
}

net_result net_roster_take(net_roster* roster, const Shoal__Wire__Roster* change) {
    if (change->n_went > 0) remove_clients(roster, change->went, change->n_went);
    for (size_t i = 0; i < change->n_came; i++) {
        net_result result = add_client(roster, change->came[i]);
        if (result != NET_OK) return result;
    }
    return NET_OK;
}

const net_roster_player* net_roster_find(const net_roster* roster, uint32_t client) {
    uint32_t place = find_place(roster, client);
    return is_at(roster, place, client) ? &roster->players[place] : NULL;
}
