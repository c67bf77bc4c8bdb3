// SPDX-License-Identifier: MIT
// Clients: who looks, from where, with which player, groups and radius. A client keeps its slot
// while it is there; `order` lists the slots by the clients' numbers.
#include "interest/interest_internal.h"

#include "base/assert.h"

#include <string.h>

static uint32_t slot_of(const net_interest* interest, const net_interest_client* client) {
    return (uint32_t)(client - interest->clients);
}

static bool reserve_client(net_interest* interest) {
    const base_allocator* allocator = interest->config.allocator;
    uint32_t room = interest->slot_count + 1;
    return BASE_ARRAY_RESERVE(allocator, interest->clients, interest->client_capacity, room) &&
           BASE_ARRAY_RESERVE(allocator, interest->turns, interest->turn_capacity, room) &&
           BASE_ARRAY_RESERVE(allocator, interest->players, interest->player_capacity, room) &&
           BASE_ARRAY_RESERVE(allocator, interest->order, interest->order_capacity, room) &&
           BASE_ARRAY_RESERVE(allocator, interest->wide, interest->wide_capacity, room) &&
           BASE_ARRAY_RESERVE(allocator, interest->spawn_clients, interest->spawn_client_capacity,
                              room) &&
           BASE_ARRAY_RESERVE(allocator, interest->spawn_entities, interest->spawn_entity_capacity,
                              room) &&
           base_bitset_reserve(&interest->observers, room) &&
           (!interest->has_grids || net_interest_grid_reserve(&interest->viewpoints, room + 1));
}

// The turn with the fewest clients.
static uint8_t pick_turn(const net_interest* interest) {
    uint32_t counts[NET_INTEREST_EVERY_TICKS] = {0};
    for (uint32_t i = 0; i < interest->order_count; i++)
        counts[interest->turns[interest->order[i].slot].turn]++;
    uint32_t best = 0;
    for (uint32_t i = 1; i < NET_INTEREST_EVERY_TICKS; i++)
        if (counts[i] < counts[best]) best = i;
    return (uint8_t)best;
}

static void renumber(net_interest* interest, uint32_t from) {
    for (uint32_t i = from; i < interest->order_count; i++)
        interest->clients[interest->order[i].slot].order = i;
}

bool net_interest_add_client(net_interest* interest, uint32_t client) {
    BASE_ASSERT(client > 0 && !net_interest_find(interest, client));
    uint32_t slot = 0;
    while (slot < interest->slot_count && interest->clients[slot].number)
        slot++;
    if (slot == interest->slot_count && !reserve_client(interest)) return false;
    uint8_t turn = pick_turn(interest);
    if (slot == interest->slot_count) interest->slot_count++;
    uint32_t at = net_interest_find_order(interest, client);
    memmove(&interest->order[at + 1], &interest->order[at],
            (interest->order_count - at) * sizeof *interest->order);
    interest->order_count++;
    interest->order[at] = (net_interest_order){client, slot};
    interest->clients[slot] =
        (net_interest_client){.number = client, .radius = interest->rules.radius};
    interest->turns[slot] = (net_interest_turn){.turn = turn, .is_forced = true};
    interest->players[slot] = ECS_ENTITY_NONE;
    renumber(interest, at);
    return true;
}

static void set_wide(net_interest* interest, uint32_t slot, bool is_wide) {
    uint32_t at = 0;
    while (at < interest->wide_count && interest->wide[at] != slot)
        at++;
    if (is_wide && at == interest->wide_count)
        interest->wide[interest->wide_count++] = slot;
    else if (!is_wide && at < interest->wide_count)
        interest->wide[at] = interest->wide[--interest->wide_count];
}

void net_interest_remove_client(net_interest* interest, uint32_t client) {
    net_interest_client* found = net_interest_find(interest, client);
    if (!found) return;
    uint32_t at = found->order, slot = slot_of(interest, found);
    if (interest->has_grids)
        net_interest_grid_remove(&interest->viewpoints, slot + 1, interest->step);
    set_wide(interest, slot, false);
    memmove(&interest->order[at], &interest->order[at + 1],
            (interest->order_count - at - 1) * sizeof *interest->order);
    interest->order_count--;
    *found = (net_interest_client){0};
    interest->turns[slot] = (net_interest_turn){0};
    interest->players[slot] = ECS_ENTITY_NONE;
    renumber(interest, at);
}

void net_interest_hold(net_interest* interest, uint32_t client, bool is_held) {
    const net_interest_client* found = net_interest_find(interest, client);
    BASE_ASSERT(found);
    net_interest_turn* turn = &interest->turns[slot_of(interest, found)];
    turn->is_held = is_held;
    turn->is_forced = true;
}

void net_interest_refresh(net_interest* interest, uint32_t client) {
    net_interest_client* found = net_interest_find(interest, client);
    if (found) interest->turns[slot_of(interest, found)].is_forced = true;
}

void net_interest_set_player(net_interest* interest, uint32_t client, ecs_entity player) {
    net_interest_client* found = net_interest_find(interest, client);
    if (!found || found->player == player) return;
    found->player = player;
    found->is_changed = true;
    interest->players[slot_of(interest, found)] = player;
    net_interest_refresh(interest, client);
}

void net_interest_set_groups(net_interest* interest, uint32_t client, uint64_t mask) {
    net_interest_client* found = net_interest_find(interest, client);
    if (!found || found->groups == mask) return;
    found->groups = mask;
    found->is_changed = true;
    found->revoked = interest->tick;
    net_interest_refresh(interest, client);
}

void net_interest_set_viewpoint(net_interest* interest, uint32_t client, const float position[3],
                                float radius) {
    BASE_ASSERT(position);
    net_interest_client* found = net_interest_find(interest, client);
    if (!found || !interest->has_grids) return;
    // Written so that NaN is the rules' radius.
    found->radius = radius > 0.0f && radius <= 1e9f ? radius : interest->rules.radius;
    memcpy(found->at, position, sizeof found->at);
    if (interest->rules.dimensions == 2) found->at[2] = 0.0f;
    found->has_at = found->is_at_set = found->is_changed = true;
    uint32_t slot = slot_of(interest, found);
    net_interest_grid_put(&interest->viewpoints, slot + 1, found->at, interest->step);
    set_wide(interest, slot, found->radius > interest->rules.radius);
    net_interest_refresh(interest, client);
}

void net_interest_clear_viewpoint(net_interest* interest, uint32_t client) {
    net_interest_client* found = net_interest_find(interest, client);
    if (!found || !found->is_at_set) return;
    found->is_at_set = false;
    found->is_changed = true;
    found->radius = interest->rules.radius;
    set_wide(interest, slot_of(interest, found), false);
    net_interest_refresh(interest, client);
}

bool net_interest_is_due(const net_interest* interest, uint32_t client) {
    const net_interest_client* found = net_interest_find(interest, client);
    return found && interest->turns[slot_of(interest, found)].is_due;
}

bool net_interest_has_due(const net_interest* interest) {
    return interest->has_due;
}

uint32_t net_interest_find_class(const net_interest* interest, const char* name) {
    return net_rows_class(interest->config.rows, name);
}
