// SPDX-License-Identifier: MIT
// Who may see what, in both directions: the entities that one client sees, and the clients that see
// one entity.
//
// A gathering marks each entity that it finds and lists it once. A mark carries the number of its
// gathering, so a new gathering begins by raising the number and clears nothing.
//
// Both directions look at the same sources: cells of a grid within sight, entities without
// distance, what a client owns, its groups, its player. Only copies are read here, so the systems
// of the next tick may run meanwhile. Left to others: when a gathering is due (interest_turn.c),
// and how its result differs from what a client has (interest_query.c).
#include "interest/interest_internal.h"

#include "base/assert.h"
#include "base/search.h"

#include <string.h>

// ---- clients ----

uint32_t net_interest_find_order(const net_interest* interest, uint32_t client) {
    base_search search = base_search_begin(interest->order_count);
    while (base_search_next(&search))
        base_search_step(&search, interest->order[search.middle].number < client);
    return search.low;
}

net_interest_client* net_interest_find(const net_interest* interest, uint32_t client) {
    uint32_t at = net_interest_find_order(interest, client);
    bool is_there = at < interest->order_count && interest->order[at].number == client;
    return is_there ? &interest->clients[interest->order[at].slot] : NULL;
}

net_interest_traits net_interest_get_traits(const net_row_template* row_template,
                                            const net_interest_facts* facts) {
    BASE_ASSERT(row_template && row_template->importance >= 1);
    uint32_t classes =
        row_template->class_mask | row_template->varsize_mask | 1u << NET_CLASS_PUBLIC;
    return (net_interest_traits){.owner = facts->owner,
                                 .team = facts->team,
                                 .together = facts->together,
                                 .classes = (uint16_t)classes,
                                 .importance = (uint8_t)row_template->importance,
                                 .has_position = facts->has_position};
}

// ---- entities that a client sees ----

void net_interest_mark_begin(net_interest_scratch* scratch) {
    scratch->inside_count = 0;
    if (++scratch->stamp > 0) return;
    if (scratch->marks) memset(scratch->marks, 0, scratch->mark_capacity * sizeof *scratch->marks);
    scratch->stamp = 1;
}

typedef struct found_near {
    uint32_t index;
    float distance2;
} found_near;

// What is within `radius` is included; what is in the margin beyond, where members stay, is marked.
// Nothing branches on which of both it is: that is hard to predict.
static inline void mark_near(net_interest_scratch* scratch, const net_interest_client* client,
                             float radius, found_near found) {
    const bool is_in = found.distance2 <= radius * radius;
    net_interest_mark* mark = &scratch->marks[found.index];
    const uint8_t band = net_interest_band(found.distance2, client->radius);
    if (mark->stamp == scratch->stamp) {
        if (is_in) (void)net_interest_include(scratch, found.index);
        mark->state |= NET_INTEREST_NEAR;
        mark->band = band;
        return;
    }
    const uint8_t state = NET_INTEREST_NEAR | (is_in ? NET_INTEREST_IN : 0);
    *mark = (net_interest_mark){scratch->stamp, 0, state, band};
    scratch->inside[scratch->inside_count] = found.index;
    scratch->inside_count += is_in;
}

static void gather_packed(const net_interest* interest, net_interest_scratch* scratch,
                          const net_interest_client* client, float radius) {
    enum { BLOCK = 64 };
    found_near found[BLOCK];
    const net_interest_grid* grid = &interest->entities;
    const float eye[3] = {client->at[0], client->at[1], client->at[2]};
    const float leave = net_interest_leave_radius(client->radius), leave2 = leave * leave;
    net_interest_cells cells = net_interest_grid_around(grid, client->at, leave);
    for (uint32_t first, last; net_interest_cells_next_run(&cells, &first, &last);) {
        uint32_t at = grid->firsts[first], end = grid->firsts[last + 1];
        while (at < end) {
            size_t count = 0;
            const uint32_t stop = end - at < BLOCK ? end : at + BLOCK;
            for (; at < stop; at++) {
                const net_interest_near* near = &grid->nears[at];
                found[count] = (found_near){near->thing, net_interest_distance2(near->at, eye)};
                count += found[count].distance2 <= leave2;
            }
            for (size_t i = 0; i < count; i++)
                mark_near(scratch, client, radius, found[i]);
        }
    }
}

static void gather_linked(const net_interest* interest, net_interest_scratch* scratch,
                          const net_interest_client* client, float radius) {
    const net_interest_grid* grid = &interest->entities;
    const float leave = net_interest_leave_radius(client->radius), leave2 = leave * leave;
    net_interest_cells cells = net_interest_grid_around(grid, client->at, leave);
    for (uint32_t bucket; net_interest_cells_next(&cells, &bucket);) {
        uint32_t index = grid->heads[bucket];
        for (; index; index = grid->spots[index].next) {
            const found_near found = {index,
                                      net_interest_distance2(client->at, grid->spots[index].at)};
            if (found.distance2 <= leave2) mark_near(scratch, client, radius, found);
        }
    }
}

void net_interest_gather(const net_interest* interest, net_interest_scratch* scratch,
                         const net_interest_client* client, float radius) {
    BASE_ASSERT(client->number != 0);
    if (interest->has_grids && client->has_at && interest->entities.is_packed)
        gather_packed(interest, scratch, client, radius);
    else if (interest->has_grids && client->has_at)
        gather_linked(interest, scratch, client, radius);
    for (uint32_t i = 0; i < interest->loose_count; i++)
        (void)net_interest_include(scratch, interest->loose[i]);
    uint32_t index = net_interest_lists_first(&interest->owned, client->number);
    for (; index; index = interest->owned.nexts[index])
        (void)net_interest_include(scratch, index);
    for (uint32_t i = 0; client->groups && i < interest->grouped_count; i++)
        if (interest->places[interest->grouped[i]].facts.groups & client->groups)
            (void)net_interest_include(scratch, interest->grouped[i]);
    uint32_t player = net_interest_player_index(interest, client);
    if (player) (void)net_interest_include(scratch, player);
}

void net_interest_gather_together(const net_interest* interest, net_interest_scratch* scratch) {
    if (interest->together.firsts.count == 0) return;
    for (uint32_t i = 0; i < scratch->inside_count; i++) {
        uint32_t key = interest->traits[scratch->inside[i]].together;
        uint32_t first = key ? net_interest_lists_first(&interest->together, key) : 0;
        if (!first) continue;
        net_interest_mark* mark = net_interest_get_mark(scratch, first);
        if (mark->state & NET_INTEREST_GROUP) continue;
        mark->state |= NET_INTEREST_GROUP;
        for (uint32_t index = first; index; index = interest->together.nexts[index])
            (void)net_interest_include(scratch, index);
    }
}

// ---- clients that see an entity ----

static void add_observer(net_interest* interest, const net_interest_client* client) {
    base_bitset_add(&interest->observers, client->order);
}

static void find_near(net_interest* interest, uint32_t index, float factor) {
    const net_interest_grid* grid = &interest->viewpoints;
    const net_interest_facts* facts = &interest->places[index].facts;
    const float* position = net_interest_at(interest, index);
    net_interest_cells cells =
        net_interest_grid_around(grid, position, interest->rules.radius * factor);
    for (uint32_t bucket; net_interest_cells_next(&cells, &bucket);) {
        for (uint32_t at = grid->heads[bucket]; at; at = grid->spots[at].next) {
            const net_interest_client* client = &interest->clients[at - 1];
            if (net_interest_is_near(client, facts, position, client->radius * factor))
                add_observer(interest, client);
        }
    }
    for (uint32_t i = 0; i < interest->wide_count; i++) {
        const net_interest_client* client = &interest->clients[interest->wide[i]];
        if (net_interest_is_near(client, facts, position, client->radius * factor))
            add_observer(interest, client);
    }
}

void net_interest_find_observers(net_interest* interest, uint32_t index, float factor) {
    BASE_ASSERT(index < interest->index_end && interest->places[index].row_template);
    const net_interest_place* place = &interest->places[index];
    const net_interest_facts* facts = &place->facts;
    base_bitset_clear_all(&interest->observers);
    if (net_interest_is_loose(facts)) {
        for (uint32_t i = 0; i < interest->order_count; i++)
            base_bitset_add(&interest->observers, i);
        return;
    }
    if (facts->has_position) find_near(interest, index, factor);
    const net_interest_client* owner =
        facts->owner ? net_interest_find(interest, facts->owner) : NULL;
    if (owner) add_observer(interest, owner);
    for (uint32_t slot = 0; slot < interest->slot_count; slot++)
        if (interest->players[slot] == place->handle)
            add_observer(interest, &interest->clients[slot]);
    for (uint32_t i = 0; facts->groups && i < interest->order_count; i++)
        if (interest->clients[interest->order[i].slot].groups & facts->groups)
            base_bitset_add(&interest->observers, i);
}

// ---- the answer of the module ----

net_interest_verdict net_interest_ask(const net_interest* interest, const ecs_world* world,
                                      const net_interest_client* client, uint32_t index,
                                      ecs_entity entity) {
    const net_bound_rules* rules = &interest->rules;
    const net_interest_question question = {
        .size_bytes = sizeof question,
        .world = (ecs_world*)(uintptr_t)world,
        .context = interest->config.context,
        .client = client->number,
        .player = ecs_is_alive(world, client->player) ? client->player : ECS_ENTITY_NONE,
        .entity = entity,
    };
    net_interest_verdict verdict = {.index = index, .relevance = NET_RELEVANT_BY_RULES};
    if (rules->relevance) verdict.relevance = (uint8_t)rules->relevance(&question);
    if (rules->classes && verdict.relevance != NET_RELEVANT_NEVER)
        verdict.classes = (uint16_t)rules->classes(&question);
    return verdict;
}
