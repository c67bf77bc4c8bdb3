// SPDX-License-Identifier: MIT
// The whole-structure check of interest: every order of places and clients agrees with the facts.
// Called once per step in BASE_VALIDATE builds, and by tests. An assertion here is our own fault.
#include "interest/interest_internal.h"

#include "base/assert.h"

static void validate_list(const net_interest* interest, const uint32_t* list, uint32_t count,
                          net_interest_list kind) {
    for (uint32_t i = 0; i < count; i++) {
        BASE_ASSERT(list[i] < interest->index_end);
        BASE_ASSERT(interest->places[list[i]].listed == (i << 2 | (uint32_t)kind));
    }
}

// The list that the facts of a place ask for.
static net_interest_list wanted_list(const net_interest_place* place) {
    if (!place->row_template) return NET_INTEREST_LIST_NONE;
    if (net_interest_is_loose(&place->facts)) return NET_INTEREST_LIST_LOOSE;
    return place->facts.groups ? NET_INTEREST_LIST_GROUPED : NET_INTEREST_LIST_NONE;
}

static void validate_place(const net_interest* interest, uint32_t index) {
    const net_interest_place* place = &interest->places[index];
    bool is_there = place->row_template != NULL;
    BASE_ASSERT(is_there == (place->handle != ECS_ENTITY_NONE));
    BASE_ASSERT(!is_there || ecs_entity_index(place->handle) == index);
    BASE_ASSERT((net_interest_list)(place->listed & 3) == wanted_list(place));
    BASE_ASSERT(interest->stamps[index] <= interest->step &&
                (!is_there || interest->stamps[index]));
    bool is_in_grid = is_there && place->facts.has_position;
    if (interest->has_grids) BASE_ASSERT((interest->entities.buckets[index] != 0) == is_in_grid);
    if (interest->rules.owner)
        BASE_ASSERT(interest->owned.keys[index] == (is_there ? place->facts.owner : 0));
    if (interest->rules.together)
        BASE_ASSERT(interest->together.keys[index] == (is_there ? place->facts.together : 0));
}

static void validate_clients(const net_interest* interest) {
    uint32_t used = 0, players = 0;
    for (uint32_t slot = 0; slot < interest->slot_count; slot++) {
        used += interest->clients[slot].number != 0;
        players += interest->clients[slot].player != ECS_ENTITY_NONE;
    }
    BASE_ASSERT(used == interest->order_count && players == interest->players.count);
    for (uint32_t i = 0; i < interest->order_count; i++) {
        const net_interest_order* at = &interest->order[i];
        BASE_ASSERT(i == 0 || interest->order[i - 1].number < at->number);
        BASE_ASSERT(at->slot < interest->slot_count);
        BASE_ASSERT(interest->clients[at->slot].number == at->number);
        BASE_ASSERT(interest->clients[at->slot].order == i);
        BASE_ASSERT(interest->turns[at->slot].turn < NET_INTEREST_EVERY_TICKS);
    }
    for (uint32_t i = 0; i < interest->wide_count; i++)
        BASE_ASSERT(interest->clients[interest->wide[i]].number != 0);
}

void net_interest_validate(const net_interest* interest) {
    validate_list(interest, interest->loose, interest->loose_count, NET_INTEREST_LIST_LOOSE);
    validate_list(interest, interest->grouped, interest->grouped_count, NET_INTEREST_LIST_GROUPED);
    for (uint32_t index = 0; index < interest->index_end; index++)
        validate_place(interest, index);
    validate_clients(interest);
    if (!interest->has_grids) return;
    net_interest_grid_validate(&interest->entities);
    net_interest_grid_validate(&interest->viewpoints);
}
