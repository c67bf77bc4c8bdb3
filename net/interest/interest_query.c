// SPDX-License-Identifier: MIT
// What follows for one client: who comes in, who goes, who is seen in another way.
//
// A query marks what is in, from all sides that can bring something in: cells within sight, what everybody
// sees, what the client owns, its groups; members that may stay although nothing brings them in; then all that
// travels with any of these. The difference to the members is the answer. Marks carry the number of the
// query, so nothing is cleared.
//
// Only copies are read here, so systems may run meanwhile. The judge is the exception, and the proof: the
// same rules straight from the world, without grids, lists and copies.
#include "interest/interest_internal.h"

#include "core/fault.h"
#include "base/assert.h"

#include <string.h>

// ---- finding what is in ----

void net_scopes_mark_begin(net_scopes* scopes) {
    scopes->inside_count = 0;
    if (++scopes->stamp > 0) return;
    if (scopes->marks) memset(scopes->marks, 0, scopes->mark_capacity * sizeof *scopes->marks);
    scopes->stamp = 1;
}

static net_scope_mark* include(net_scopes* scopes, uint32_t index) {
    net_scope_mark* mark = net_scopes_mark(scopes, index);
    if (mark->state & (NET_SCOPE_IN | NET_SCOPE_NEVER)) return mark;
    mark->state |= NET_SCOPE_IN;
    scopes->inside[scopes->inside_count++] = index;
    return mark;
}

static void gather_packed(net_scopes* scopes, const net_scope_client* client, float radius) {
    const net_scope_grid* grid = &scopes->entities;
    const float radius2 = radius * radius;
    net_scope_cells cells = net_scope_grid_around(grid, client->at, radius);
    for (uint32_t first, last; net_scope_cells_next_run(&cells, &first, &last);) {
        const net_scope_near* near = &grid->nears[grid->firsts[first]];
        const net_scope_near* end = &grid->nears[grid->firsts[last + 1]];
        for (; near < end; near++) {
            float distance2 = net_scope_distance2(client->at, near->at);
            if (!(distance2 <= radius2)) continue;
            include(scopes, near->thing)->band = net_scope_band(distance2, client->radius);
        }
    }
}

static void gather_linked(net_scopes* scopes, const net_scope_client* client, float radius) {
    const net_scope_grid* grid = &scopes->entities;
    const float radius2 = radius * radius;
    net_scope_cells cells = net_scope_grid_around(grid, client->at, radius);
    for (uint32_t bucket; net_scope_cells_next(&cells, &bucket);) {
        uint32_t index = grid->heads[bucket];
        for (; index; index = grid->spots[index].next) {
            float distance2 = net_scope_distance2(client->at, grid->spots[index].at);
            if (!(distance2 <= radius2)) continue;
            include(scopes, index)->band = net_scope_band(distance2, client->radius);
        }
    }
}

// The player's place; 0 when it has none.
static uint32_t player_index(const net_scopes* scopes, const net_scope_client* client) {
    uint32_t index = ecs_entity_index(client->player);
    bool is_there = client->player != ECS_ENTITY_NONE && index < scopes->index_end &&
                    scopes->places[index].handle == client->player;
    return is_there ? index : 0;
}

void net_scopes_gather(net_scopes* scopes, const net_scope_client* client, float factor) {
    if (scopes->has_grids && client->has_at && scopes->entities.is_packed)
        gather_packed(scopes, client, client->radius * factor);
    else if (scopes->has_grids && client->has_at)
        gather_linked(scopes, client, client->radius * factor);
    for (uint32_t i = 0; i < scopes->loose_count; i++)
        (void)include(scopes, scopes->loose[i]);
    uint32_t index = net_scope_lists_first(&scopes->owned, client->number);
    for (; index; index = scopes->owned.nexts[index])
        (void)include(scopes, index);
    for (uint32_t i = 0; client->groups && i < scopes->grouped_count; i++)
        if (scopes->places[scopes->grouped[i]].facts.groups & client->groups)
            (void)include(scopes, scopes->grouped[i]);
    uint32_t player = player_index(scopes, client);
    if (player) (void)include(scopes, player);
}

void net_scopes_gather_together(net_scopes* scopes) {
    if (scopes->together.head_count == 0) return;
    for (uint32_t i = 0; i < scopes->inside_count; i++) {
        uint32_t key = scopes->traits[scopes->inside[i]].together;
        uint32_t first = key ? net_scope_lists_first(&scopes->together, key) : 0;
        if (!first) continue;
        net_scope_mark* mark = net_scopes_mark(scopes, first);
        if (mark->state & NET_SCOPE_GROUP) continue;
        mark->state |= NET_SCOPE_GROUP;
        for (uint32_t index = first; index; index = scopes->together.nexts[index])
            (void)include(scopes, index);
    }
}

static void mark_said(net_scopes* scopes, const net_scope_client* client) {
    const net_scope_said* said = &scopes->said[client->answer_first];
    for (uint32_t i = 0; i < client->answer_count; i++) {
        net_scope_mark* mark = net_scopes_mark(scopes, said[i].index);
        mark->state |= NET_SCOPE_SAID;
        mark->classes = said[i].classes;
        if (said[i].relevance == NET_RELEVANT_NEVER) mark->state |= NET_SCOPE_NEVER;
        if (said[i].relevance == NET_RELEVANT_ALWAYS) (void)include(scopes, said[i].index);
    }
}

// May a member stay that nothing brings in?
static bool may_stay(const net_scopes* scopes, net_scope_client* client,
                     const net_scope_entry* member) {
    const net_scope_place* place = &scopes->places[member->index];
    if (!place->facts.has_position) return false;
    if (net_scope_is_near(client, &place->facts, net_scopes_at(scopes, member->index),
                          net_scope_leave_radius(client->radius)))
        return true;
    bool is_young = member->entered + scopes->stay_ticks > scopes->tick &&
                    member->entered > place->revoked && member->entered > client->revoked;
    client->has_young = client->has_young || is_young;
    return is_young;
}

static void keep_members(net_scopes* scopes, net_scope_client* client,
                         const net_scope_entry* members, uint32_t count) {
    bool is_asking = net_scope_is_asking(scopes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = members[i].index;
        if (index >= scopes->index_end || !scopes->places[index].entry) continue;
        uint16_t state = net_scopes_mark(scopes, index)->state;
        if (state & (NET_SCOPE_IN | NET_SCOPE_NEVER)) continue;
        // What the module was not asked about is farther than it may be.
        if (is_asking && !(state & NET_SCOPE_SAID)) continue;
        if (may_stay(scopes, client, &members[i])) (void)include(scopes, index);
    }
}

// ---- the answer ----

static net_scope_entry entry_of(const net_scopes* scopes, const net_scope_client* client,
                                uint32_t player, uint32_t index, const net_scope_mark* mark) {
    const net_scope_traits* traits = &scopes->traits[index];
    uint32_t band = mark->band;
    if (!band && traits->has_position)
        band =
            net_scope_band_of(client, &scopes->places[index].facts, net_scopes_at(scopes, index));
    return net_scopes_entry(client, index, index == player, traits, band ? band : 8, mark->classes);
}

static bool reserve_answer(net_scopes* scopes, uint32_t member_count) {
    const base_allocator* allocator = scopes->config.allocator;
    return base_array_reserve(allocator, (void**)&scopes->enter, &scopes->enter_capacity,
                              scopes->inside_count, sizeof *scopes->enter) &&
           base_array_reserve(allocator, (void**)&scopes->leave, &scopes->leave_capacity,
                              member_count, sizeof *scopes->leave) &&
           base_array_reserve(allocator, (void**)&scopes->changed, &scopes->changed_capacity,
                              member_count, sizeof *scopes->changed) &&
           base_array_reserve(allocator, (void**)&scopes->changed_to, &scopes->changed_to_capacity,
                              member_count, sizeof *scopes->changed_to);
}

// @return how many of them stay.
static uint32_t compare_members(net_scopes* scopes, const net_scope_client* client,
                                const net_scope_entry* members, uint32_t count,
                                net_scopes_answer* answer) {
    uint32_t player = player_index(scopes, client);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = members[i].index;
        net_scope_mark* mark = index < scopes->index_end ? &scopes->marks[index] : NULL;
        if (!mark || mark->stamp != scopes->stamp || !(mark->state & NET_SCOPE_IN)) {
            if (!net_fault_is_planted(NET_FAULT_SCOPE_STUCK))
                scopes->leave[answer->leave_count++] = i;
            continue;
        }
        mark->state |= NET_SCOPE_MEMBER;
        net_scope_entry now = entry_of(scopes, client, player, index, mark);
        if (now.classes == members[i].classes && now.weight == members[i].weight &&
            now.group == members[i].group)
            continue;
        now.entered = members[i].entered;
        scopes->changed_to[answer->changed_count] = now;
        scopes->changed[answer->changed_count++] = i;
    }
    return count - answer->leave_count;
}

static void list_entering(net_scopes* scopes, const net_scope_client* client,
                          net_scopes_answer* answer) {
    uint32_t lowest = UINT32_MAX;
    for (uint32_t i = 0; i < scopes->inside_count; i++) {
        uint32_t index = scopes->inside[i];
        if (net_scopes_mark(scopes, index)->state & NET_SCOPE_MEMBER) continue;
        base_bitset_add(&scopes->entering, index);
        if (index < lowest) lowest = index;
    }
    uint32_t player = player_index(scopes, client);
    uint32_t index = base_bitset_next(&scopes->entering, lowest);
    for (; index != UINT32_MAX; index = base_bitset_next(&scopes->entering, index + 1)) {
        base_bitset_remove(&scopes->entering, index);
        scopes->enter[answer->enter_count++] =
            entry_of(scopes, client, player, index, net_scopes_mark(scopes, index));
    }
}

bool net_scopes_query(net_scopes* scopes, uint32_t number, const net_scope_entry* members,
                      uint32_t member_count, net_scopes_answer* answer) {
    *answer = (net_scopes_answer){0};
    net_scope_client* client = net_scopes_find(scopes, number);
    if (!client) return true;
    net_scope_turn* turn = &scopes->turns[client - scopes->clients];
    // What the module says is known in the client's turn only.
    if (net_scope_is_asking(scopes) && !turn->is_due) return true;
    client->has_young = false;
    net_scopes_mark_begin(scopes);
    if (net_scope_is_asking(scopes)) mark_said(scopes, client);
    net_scopes_gather(scopes, client, 1.0f);
    keep_members(scopes, client, members, member_count);
    net_scopes_gather_together(scopes);
    if (!reserve_answer(scopes, member_count)) return false;
    uint32_t stay_count = compare_members(scopes, client, members, member_count, answer);
    if (stay_count < scopes->inside_count) list_entering(scopes, client, answer);
    answer->enter = scopes->enter;
    answer->leave = scopes->leave;
    answer->changed = scopes->changed;
    answer->changed_to = scopes->changed_to;
    client->is_changed = false;
    client->queried_step = scopes->step;
    turn->is_queried = true;
    return true;
}

// ---- who sees what came ----

static void add_seer(net_scopes* scopes, const net_scope_client* client) {
    base_bitset_add(&scopes->seers, client->order);
}

static void find_near(net_scopes* scopes, uint32_t index, float factor) {
    const net_scope_grid* grid = &scopes->viewpoints;
    const net_scope_facts* facts = &scopes->places[index].facts;
    const float* position = net_scopes_at(scopes, index);
    net_scope_cells cells = net_scope_grid_around(grid, position, scopes->rules.radius * factor);
    for (uint32_t bucket; net_scope_cells_next(&cells, &bucket);) {
        for (uint32_t at = grid->heads[bucket]; at; at = grid->spots[at].next) {
            const net_scope_client* client = &scopes->clients[at - 1];
            if (net_scope_is_near(client, facts, position, client->radius * factor))
                add_seer(scopes, client);
        }
    }
    for (uint32_t i = 0; i < scopes->wide_count; i++) {
        const net_scope_client* client = &scopes->clients[scopes->wide[i]];
        if (net_scope_is_near(client, facts, position, client->radius * factor))
            add_seer(scopes, client);
    }
}

void net_scopes_find_seers(net_scopes* scopes, uint32_t index, float factor) {
    const net_scope_place* place = &scopes->places[index];
    const net_scope_facts* facts = &place->facts;
    base_bitset_clear_all(&scopes->seers);
    if (net_scope_is_loose(facts)) {
        for (uint32_t i = 0; i < scopes->order_count; i++)
            base_bitset_add(&scopes->seers, i);
        return;
    }
    if (facts->has_position) find_near(scopes, index, factor);
    const net_scope_client* owner = facts->owner ? net_scopes_find(scopes, facts->owner) : NULL;
    if (owner) add_seer(scopes, owner);
    for (uint32_t slot = 0; slot < scopes->slot_count; slot++)
        if (scopes->players[slot] == place->handle) add_seer(scopes, &scopes->clients[slot]);
    for (uint32_t i = 0; facts->groups && i < scopes->order_count; i++)
        if (scopes->clients[scopes->order[i].slot].groups & facts->groups)
            base_bitset_add(&scopes->seers, i);
}

static uint32_t find_came(const net_scopes* scopes, uint32_t index, const uint32_t** clients,
                          const net_scope_entry** entries) {
    uint32_t low = 0, high = scopes->came_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (scopes->came[middle].index < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == scopes->came_count || scopes->came[low].index != index) return 0;
    *clients = scopes->came_clients + scopes->came[low].first;
    *entries = scopes->came_entries + scopes->came[low].first;
    return scopes->came[low].count;
}

uint32_t net_scopes_came(net_scopes* scopes, uint32_t index, const uint32_t** clients,
                         const net_scope_entry** entries) {
    const base_allocator* allocator = scopes->config.allocator;
    if (index >= scopes->index_end || !scopes->places[index].entry) return 0;
    const net_scope_place* place = &scopes->places[index];
    if (place->facts.together) return 0; // its clients are due
    if (net_scope_is_asking(scopes)) return find_came(scopes, index, clients, entries);
    net_scopes_find_seers(scopes, index, 1.0f);
    uint32_t room = base_bitset_count(&scopes->seers);
    if (!base_array_reserve(allocator, (void**)&scopes->came_clients, &scopes->came_client_capacity,
                            room, sizeof *scopes->came_clients) ||
        !base_array_reserve(allocator, (void**)&scopes->came_entries, &scopes->came_entry_capacity,
                            room, sizeof *scopes->came_entries))
        return UINT32_MAX;
    uint32_t count = 0;
    uint32_t at = base_bitset_next(&scopes->seers, 0);
    for (; at != UINT32_MAX; at = base_bitset_next(&scopes->seers, at + 1)) {
        const net_scope_client* client = &scopes->clients[scopes->order[at].slot];
        scopes->came_clients[count] = client->number;
        scopes->came_entries[count++] = net_scopes_entry(
            client, index, place->handle == client->player, &scopes->traits[index],
            net_scope_band_of(client, &place->facts, net_scopes_at(scopes, index)), 0);
    }
    *clients = scopes->came_clients;
    *entries = scopes->came_entries;
    return count;
}

// ---- by definition ----

typedef struct judgement {
    bool is_asked; // near enough, or seen without distance
    bool is_in;
    uint32_t more; // classes that the module adds
    uint32_t band;
} judgement;

// One entity by itself, without what travels with it.
static judgement judge_one(const net_scopes* scopes, const ecs_world* world,
                           const net_scope_client* client, ecs_entity entity, bool is_member,
                           net_scope_facts* facts) {
    float at[3];
    net_scope_facts_read(&scopes->rules, world, entity, facts, at);
    float leave = net_scope_leave_radius(client->radius);
    judgement judged = {0};
    judged.is_in = net_scope_is_far_in(client, entity, facts) ||
                   net_scope_is_near(client, facts, at, is_member ? leave : client->radius);
    judged.is_asked = judged.is_in || net_scope_is_near(client, facts, at, leave);
    judged.band = net_scope_band_of(client, facts, at);
    return judged;
}

static void ask(const net_scopes* scopes, const ecs_world* world, const net_scope_client* client,
                ecs_entity entity, judgement* judged) {
    if (!judged->is_asked || !net_scope_is_asking(scopes)) return;
    net_scope_said said = net_scopes_ask(scopes, world, client, ecs_entity_index(entity), entity);
    judged->more = said.classes;
    if (said.relevance == NET_RELEVANT_ALWAYS) judged->is_in = true;
    if (said.relevance == NET_RELEVANT_NEVER) judged->is_in = judged->is_asked = false;
}

// Is any of those that travel together in? One that is near enough to be asked about makes all of them so.
static judgement judge_together(net_scopes* scopes, const ecs_world* world,
                                const net_scope_client* client, uint32_t key, bool is_member) {
    judgement all = {0};
    for (uint32_t pass = 0; pass < 2; pass++) {
        ecs_entity other = ecs_entity_next(world, ECS_ENTITY_NONE);
        for (; other != ECS_ENTITY_NONE; other = ecs_entity_next(world, other)) {
            if (ecs_entity_index(other) > scopes->config.index_max) break;
            if (!net_rows_find(scopes->config.rows, ecs_entity_template(world, other))) continue;
            net_scope_facts facts;
            judgement judged = judge_one(scopes, world, client, other, is_member, &facts);
            if (facts.together != key) continue;
            all.is_asked = all.is_asked || judged.is_asked;
            if (pass == 0) continue;
            judged.is_asked = all.is_asked;
            ask(scopes, world, client, other, &judged);
            all.is_in = all.is_in || judged.is_in;
        }
    }
    return all;
}

uint32_t net_scopes_judge(net_scopes* scopes, const ecs_world* world, uint32_t number,
                          ecs_entity entity, bool is_member) {
    const net_scope_client* found = net_scopes_find(scopes, number);
    const net_row_template* entry =
        net_rows_find(scopes->config.rows, ecs_entity_template(world, entity));
    if (!found || !entry) return 0;
    net_scope_client client = *found;
    if (ecs_is_alive(world, client.player)) {
        client.team = net_scope_team_read(&scopes->rules, world, client.player);
        if (!client.is_at_set &&
            net_scope_position_read(&scopes->rules, world, client.player, client.at))
            client.has_at = true;
    }
    net_scope_facts facts;
    judgement judged = judge_one(scopes, world, &client, entity, is_member, &facts);
    if (facts.together) {
        judgement all = judge_together(scopes, world, &client, facts.together, is_member);
        judged.is_asked = judged.is_asked || all.is_asked;
        judged.is_in = judged.is_in || all.is_in;
    }
    ask(scopes, world, &client, entity, &judged);
    if (!judged.is_in) return 0;
    net_scope_traits traits = net_scopes_traits(entry, &facts);
    return net_scopes_entry(&client, ecs_entity_index(entity), entity == client.player, &traits,
                            judged.band, judged.more)
        .classes;
}
