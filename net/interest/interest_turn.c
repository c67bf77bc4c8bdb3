// SPDX-License-Identifier: MIT
// Whose turn it is, and what the module says. Runs on the thread that owns the world, so its callbacks may
// look at it; what they answer is kept until the next step, for the queries of the other half.
//
// Where a module has callbacks their answers may depend on anything, so every turn is due. They are asked
// about what lies within the distance at which things leave, what is seen without distance, and what travels
// with either; about what came, for those who may see it.
#include "interest/interest_internal.h"

#include "base/assert.h"

#include <string.h>

// A query saves about as much as packing these entities costs.
enum { PACK_FRACTION = 2000, PACK_MIN = 8 };

// What the client looks from and belongs to. A player who is gone leaves both as they were.
static void look(net_scopes* scopes, uint32_t slot) {
    net_scope_client* client = &scopes->clients[slot];
    const ecs_world* world = scopes->config.world;
    if (!ecs_is_alive(world, client->player)) return;
    uint32_t team = net_scope_team_read(&scopes->rules, world, client->player);
    if (team != client->team) {
        client->team = team;
        client->is_changed = true;
    }
    float at[3];
    if (client->is_at_set || !net_scope_position_read(&scopes->rules, world, client->player, at))
        return;
    if (client->has_at && memcmp(at, client->at, sizeof at) == 0) return;
    memcpy(client->at, at, sizeof at);
    client->has_at = client->is_changed = true;
    net_scope_grid_put(&scopes->viewpoints, slot + 1, at, scopes->step);
}

// Did anything within reach move since the last query?
static bool is_stirred(const net_scopes* scopes, const net_scope_client* client) {
    if (!client->has_at || scopes->moved_step <= client->queried_step) return false;
    net_scope_cells cells = net_scope_grid_around(&scopes->entities, client->at,
                                                  net_scope_leave_radius(client->radius));
    for (uint32_t bucket; net_scope_cells_next(&cells, &bucket);)
        if (scopes->entities.stamps[bucket] > client->queried_step) return true;
    return false;
}

static void take_turn(net_scopes* scopes, uint32_t slot) {
    net_scope_turn* turn = &scopes->turns[slot];
    const net_scope_client* client = &scopes->clients[slot];
    look(scopes, slot);
    turn->is_due = turn->is_due || turn->is_forced || client->is_changed || client->has_young ||
                   net_scope_is_asking(scopes) || scopes->global_step > client->queried_step ||
                   is_stirred(scopes, client);
    turn->is_forced = false;
}

net_scope_said net_scopes_ask(const net_scopes* scopes, const ecs_world* world,
                              const net_scope_client* client, uint32_t index, ecs_entity entity) {
    const net_scope_rules* rules = &scopes->rules;
    const net_interest_question question = {
        .size_bytes = sizeof question,
        .world = (ecs_world*)(uintptr_t)world,
        .context = scopes->config.context,
        .client = client->number,
        .player = ecs_is_alive(world, client->player) ? client->player : ECS_ENTITY_NONE,
        .entity = entity,
    };
    net_scope_said said = {.index = index, .relevance = NET_RELEVANT_BY_RULES};
    if (rules->relevance) said.relevance = (uint8_t)rules->relevance(&question);
    if (rules->classes && said.relevance != NET_RELEVANT_NEVER)
        said.classes = (uint16_t)rules->classes(&question);
    return said;
}

static bool ask_client(net_scopes* scopes, uint32_t slot) {
    net_scope_client* client = &scopes->clients[slot];
    net_scopes_mark_begin(scopes);
    net_scopes_gather(scopes, client, NET_INTEREST_LEAVE);
    net_scopes_gather_together(scopes);
    client->answer_first = scopes->said_count;
    client->answer_count = scopes->inside_count;
    if (!base_array_reserve(scopes->config.allocator, (void**)&scopes->said, &scopes->said_capacity,
                            scopes->said_count + scopes->inside_count, sizeof *scopes->said))
        return false;
    for (uint32_t i = 0; i < scopes->inside_count; i++) {
        uint32_t index = scopes->inside[i];
        scopes->said[scopes->said_count++] = net_scopes_ask(scopes, scopes->config.world, client,
                                                            index, scopes->places[index].handle);
    }
    return true;
}

static bool ask_came(net_scopes* scopes, uint32_t index) {
    const net_scope_place* place = &scopes->places[index];
    const base_allocator* allocator = scopes->config.allocator;
    const float* position = net_scopes_at(scopes, index);
    net_scopes_find_seers(scopes, index, NET_INTEREST_LEAVE);
    uint32_t room = scopes->came_client_count + base_bitset_count(&scopes->seers);
    if (!base_array_reserve(allocator, (void**)&scopes->came, &scopes->came_capacity,
                            scopes->came_count + 1, sizeof *scopes->came) ||
        !base_array_reserve(allocator, (void**)&scopes->came_clients, &scopes->came_client_capacity,
                            room, sizeof *scopes->came_clients) ||
        !base_array_reserve(allocator, (void**)&scopes->came_entries, &scopes->came_entry_capacity,
                            room, sizeof *scopes->came_entries))
        return false;
    net_scope_came* came = &scopes->came[scopes->came_count++];
    *came = (net_scope_came){.index = index, .first = scopes->came_client_count};
    uint32_t at = base_bitset_next(&scopes->seers, 0);
    for (; at != UINT32_MAX; at = base_bitset_next(&scopes->seers, at + 1)) {
        const net_scope_client* client = &scopes->clients[scopes->order[at].slot];
        net_scope_said said =
            net_scopes_ask(scopes, scopes->config.world, client, index, place->handle);
        bool is_in = net_scope_is_far_in(client, place->handle, &place->facts) ||
                     net_scope_is_near(client, &place->facts, position, client->radius) ||
                     said.relevance == NET_RELEVANT_ALWAYS;
        if (!is_in || said.relevance == NET_RELEVANT_NEVER) continue;
        uint32_t target = scopes->came_client_count++;
        scopes->came_clients[target] = client->number;
        scopes->came_entries[target] =
            net_scopes_entry(client, index, place->handle == client->player, &scopes->traits[index],
                             net_scope_band_of(client, &place->facts, position), said.classes);
        came->count++;
    }
    return true;
}

// Whoever may see one of them looks at all of them in this very step.
static void call_together(net_scopes* scopes, uint32_t key) {
    uint32_t index = net_scope_lists_first(&scopes->together, key);
    for (; index; index = scopes->together.nexts[index]) {
        net_scopes_find_seers(scopes, index, NET_INTEREST_LEAVE);
        uint32_t at = base_bitset_next(&scopes->seers, 0);
        for (; at != UINT32_MAX; at = base_bitset_next(&scopes->seers, at + 1))
            scopes->turns[scopes->order[at].slot].is_forced = true;
    }
}

static bool take_came(net_scopes* scopes, const net_history* history) {
    uint32_t count;
    const net_history_event* events = net_history_events(history, &count);
    uint32_t together = 0;
    scopes->came_count = scopes->came_client_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind != NET_HISTORY_CAME) continue;
        uint32_t index = ecs_entity_index(events[i].handle);
        uint32_t key = scopes->places[index].facts.together;
        if (key && key != together)
            call_together(scopes, key);
        else if (!key && net_scope_is_asking(scopes) && !ask_came(scopes, index))
            return false;
        if (key) together = key;
    }
    return true;
}

bool net_scopes_turn(net_scopes* scopes, const net_history* history) {
    uint32_t turn = scopes->step % NET_INTEREST_EVERY_TICKS;
    scopes->said_count = 0;
    // Before what came is shown around: a client who just joined looks from where its player is.
    for (uint32_t slot = 0; slot < scopes->slot_count; slot++)
        if (scopes->turns[slot].is_forced) look(scopes, slot);
    if (scopes->order_count > 0 && !take_came(scopes, history)) return false;
    uint32_t due_count = 0;
    for (uint32_t slot = 0; slot < scopes->slot_count; slot++) {
        net_scope_turn* one = &scopes->turns[slot];
        if (one->is_due && one->is_queried) one->is_due = false;
        one->is_queried = false;
        bool is_turn = one->is_forced || one->is_due || one->turn == turn;
        if (is_turn && scopes->clients[slot].number) take_turn(scopes, slot);
        due_count += one->is_due;
    }
    // Packing looks at every entity, so it pays for many queries only. Without memory it is left out.
    if (scopes->has_grids && due_count > scopes->entities.count / PACK_FRACTION + PACK_MIN)
        (void)net_scope_grid_pack(&scopes->entities);
    for (uint32_t slot = 0; net_scope_is_asking(scopes) && slot < scopes->slot_count; slot++)
        if (scopes->turns[slot].is_due && !ask_client(scopes, slot)) return false;
    return true;
}
