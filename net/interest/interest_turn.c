// SPDX-License-Identifier: MIT
// Turns of clients, and the answers of the module. This runs on the thread that owns the world, so
// callbacks may read it. Their answers are stored until the next step, for the queries of the other
// half.
//
// Answers of callbacks may depend on anything, so with callbacks every turn is due. A callback is
// asked about entities within the leaving radius, entities visible at any distance, and entities
// that travel with either; and about a spawned entity, for the clients that may see it.
#include "interest/interest_internal.h"

#include "base/assert.h"

#include <string.h>

// Packing costs about as much as one query saves per this many entities.
enum { PACK_FRACTION = 2000, PACK_MIN = 8 };

// Update the viewpoint and the team of a client. Without a player both stay as they were.
static void update_viewpoint(net_interest* interest, uint32_t slot) {
    net_interest_client* client = &interest->clients[slot];
    const ecs_world* world = interest->config.world;
    if (!ecs_is_alive(world, client->player)) return;
    uint32_t team = net_interest_team_read(&interest->rules, world, client->player);
    if (team != client->team) {
        client->team = team;
        client->is_changed = true;
    }
    float at[3];
    if (client->is_at_set ||
        !net_interest_position_read(&interest->rules, world, client->player, at))
        return;
    if (client->has_at && memcmp(at, client->at, sizeof at) == 0) return;
    memcpy(client->at, at, sizeof at);
    client->has_at = client->is_changed = true;
    net_interest_grid_put(&interest->viewpoints, slot + 1, at, interest->step);
}

// Did an entity within reach move since the last query?
static bool has_moved_near(const net_interest* interest, const net_interest_client* client) {
    if (!client->has_at || interest->moved_step <= client->queried_step) return false;
    net_interest_cells cells = net_interest_grid_around(&interest->entities, client->at,
                                                        net_interest_leave_radius(client->radius));
    for (uint32_t bucket; net_interest_cells_next(&cells, &bucket);)
        if (interest->entities.stamps[bucket] > client->queried_step) return true;
    return false;
}

static void take_turn(net_interest* interest, uint32_t slot) {
    BASE_ASSERT(slot < interest->slot_count);
    net_interest_turn* turn = &interest->turns[slot];
    const net_interest_client* client = &interest->clients[slot];
    update_viewpoint(interest, slot);
    turn->is_due = turn->is_due || turn->is_forced || client->is_changed || client->has_young ||
                   net_interest_is_asking(interest) ||
                   interest->global_step > client->queried_step || has_moved_near(interest, client);
    turn->is_forced = false;
}

static bool ask_client(net_interest* interest, uint32_t slot) {
    net_interest_client* client = &interest->clients[slot];
    net_interest_scratch* scratch = &interest->scratch[0];
    net_interest_mark_begin(scratch);
    net_interest_gather(interest, scratch, client, net_interest_leave_radius(client->radius));
    net_interest_gather_together(interest, scratch);
    client->answer_first = interest->verdict_count;
    client->answer_count = scratch->inside_count;
    if (!BASE_ARRAY_RESERVE(interest->config.allocator, interest->verdicts,
                            interest->verdict_capacity,
                            interest->verdict_count + scratch->inside_count))
        return false;
    for (uint32_t i = 0; i < scratch->inside_count; i++) {
        uint32_t index = scratch->inside[i];
        interest->verdicts[interest->verdict_count++] = net_interest_ask(
            interest, interest->config.world, client, index, interest->places[index].handle);
    }
    return true;
}

static bool ask_about_spawned(net_interest* interest, uint32_t index) {
    BASE_ASSERT(interest->places[index].row_template);
    const net_interest_place* place = &interest->places[index];
    const base_allocator* allocator = interest->config.allocator;
    const float* position = net_interest_at(interest, index);
    net_interest_find_observers(interest, index, NET_INTEREST_LEAVE);
    uint32_t room = interest->spawn_client_count + base_bitset_count(&interest->observers);
    if (!BASE_ARRAY_RESERVE(allocator, interest->spawns, interest->spawn_capacity,
                            interest->spawn_count + 1) ||
        !BASE_ARRAY_RESERVE(allocator, interest->spawn_clients, interest->spawn_client_capacity,
                            room) ||
        !BASE_ARRAY_RESERVE(allocator, interest->spawn_entities, interest->spawn_entity_capacity,
                            room))
        return false;
    net_interest_spawn* spawns = &interest->spawns[interest->spawn_count++];
    *spawns = (net_interest_spawn){.index = index, .first = interest->spawn_client_count};
    uint32_t at = base_bitset_next(&interest->observers, 0);
    for (; at != UINT32_MAX; at = base_bitset_next(&interest->observers, at + 1)) {
        const net_interest_client* client = &interest->clients[interest->order[at].slot];
        net_interest_verdict verdict =
            net_interest_ask(interest, interest->config.world, client, index, place->handle);
        bool is_in = net_interest_is_far_in(client, place->handle, &place->facts) ||
                     net_interest_is_near(client, &place->facts, position, client->radius) ||
                     verdict.relevance == NET_RELEVANT_ALWAYS;
        if (!is_in || verdict.relevance == NET_RELEVANT_NEVER) continue;
        uint32_t target = interest->spawn_client_count++;
        interest->spawn_clients[target] = client->number;
        interest->spawn_entities[target] = net_interest_describe(
            client, index, place->handle == client->player, &interest->traits[index],
            net_interest_band_of(client, &place->facts, position), verdict.classes);
        spawns->count++;
    }
    return true;
}

// A client that may see one of these entities is due in this step, for all of them.
static void call_together(net_interest* interest, uint32_t key) {
    uint32_t index = net_interest_lists_first(&interest->together, key);
    for (; index; index = interest->together.nexts[index]) {
        net_interest_find_observers(interest, index, NET_INTEREST_LEAVE);
        uint32_t at = base_bitset_next(&interest->observers, 0);
        for (; at != UINT32_MAX; at = base_bitset_next(&interest->observers, at + 1))
            interest->turns[interest->order[at].slot].is_forced = true;
    }
}

static bool handle_spawned(net_interest* interest, const net_history* history) {
    uint32_t count;
    const net_history_event* events = net_history_events(history, &count);
    uint32_t together = 0;
    interest->spawn_count = interest->spawn_client_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind != NET_HISTORY_SPAWNED) continue;
        uint32_t index = ecs_entity_index(events[i].handle);
        uint32_t key = interest->places[index].facts.together;
        if (key && key != together)
            call_together(interest, key);
        else if (!key && net_interest_is_asking(interest) && !ask_about_spawned(interest, index))
            return false;
        if (key) together = key;
    }
    return true;
}

bool net_interest_step_turns(net_interest* interest, const net_history* history) {
    uint32_t turn = interest->step % NET_INTEREST_EVERY_TICKS;
    interest->verdict_count = 0;
    // Before spawned entities are looked at: a client that just joined looks from its player's
    // position.
    for (uint32_t slot = 0; slot < interest->slot_count; slot++)
        if (interest->turns[slot].is_forced && !interest->turns[slot].is_held)
            update_viewpoint(interest, slot);
    if (interest->order_count > 0 && !handle_spawned(interest, history)) return false;
    uint32_t due_count = 0;
    for (uint32_t slot = 0; slot < interest->slot_count; slot++) {
        net_interest_turn* one = &interest->turns[slot];
        if (one->is_due && one->is_queried) one->is_due = false;
        one->is_queried = false;
        bool is_turn = one->is_forced || one->is_due || one->turn == turn;
        if (is_turn && !one->is_held && interest->clients[slot].number) take_turn(interest, slot);
        due_count += one->is_due;
    }
    interest->has_due = due_count > 0;
    // Packing reads every entity, so it pays for many queries only. Without memory it is left out.
    if (interest->has_grids && due_count > interest->entities.count / PACK_FRACTION + PACK_MIN)
        (void)net_interest_grid_pack(&interest->entities);
    for (uint32_t slot = 0; net_interest_is_asking(interest) && slot < interest->slot_count; slot++)
        if (interest->turns[slot].is_due && !ask_client(interest, slot)) return false;
    return true;
}
