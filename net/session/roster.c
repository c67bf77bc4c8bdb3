// SPDX-License-Identifier: MIT
// The players, in a sorted array: client numbers rise, so new players are mostly appended.
#include "session/roster.h"

#include "session/control.h"

#include <string.h>

void net_roster_init(net_roster* roster, const base_allocator* allocator) {
    *roster = (net_roster){.allocator = allocator};
}

void net_roster_deinit(net_roster* roster) {
    base_release(roster->allocator, roster->players, roster->capacity * sizeof *roster->players);
    *roster = (net_roster){.allocator = roster->allocator};
}

void net_roster_clear(net_roster* roster) {
    roster->count = 0;
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

static void remove_client(net_roster* roster, uint32_t client) {
    uint32_t place = find_place(roster, client);
    if (!is_at(roster, place, client)) return;
    roster->count--;
    memmove(&roster->players[place], &roster->players[place + 1],
            (roster->count - place) * sizeof *roster->players);
}

static net_result add_client(net_roster* roster, const Shoal__Wire__RosterEntry* entry) {
    if (entry->client == 0) return NET_ERR_MALFORMED;
    uint32_t place = find_place(roster, entry->client);
    if (!is_at(roster, place, entry->client)) {
        if (roster->count == NET_CLIENTS_MAX) return NET_ERR_MALFORMED;
        if (!base_array_reserve(roster->allocator, (void**)&roster->players, &roster->capacity,
                                roster->count + 1, sizeof *roster->players))
            return NET_ERR_MEMORY;
        memmove(&roster->players[place + 1], &roster->players[place],
                (roster->count - place) * sizeof *roster->players);
        roster->count++;
    }
    net_roster_player* player = &roster->players[place];
    *player = (net_roster_player){.client = entry->client, .is_bot = entry->is_bot};
    net_control_clean_name(player->name, entry->name);
    return NET_OK;
}

net_result net_roster_take(net_roster* roster, const Shoal__Wire__Roster* change) {
    for (size_t i = 0; i < change->n_went; i++)
        remove_client(roster, change->went[i]);
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
