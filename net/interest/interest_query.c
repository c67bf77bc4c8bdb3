// SPDX-License-Identifier: MIT
// The query: which entities enter and leave a client's scope, and which are seen in another way.
//
// A query looks at what changed since the last one. Members that neither changed nor moved stay
// while the client stands still. What may enter is gathered: what is near the edge of sight or
// jumped, what owner and groups show, the module's answers. With a module that answers, and with
// entities that travel together, all members and all within sight count as changed.
//
// Only copies are read here, so systems may run meanwhile.
#include "interest/interest_internal.h"

#include "core/fault.h"

#include "ecs/debug.h"

#include "base/assert.h"
#include "base/search.h"

#include <string.h>

enum { BUCKETS_AHEAD = 16 };

// ---- finding members ----

static void mark_verdicts(const net_interest* interest, net_interest_scratch* scratch,
                          const net_interest_client* client) {
    BASE_ASSERT(client->answer_first + client->answer_count <= interest->verdict_count);
    const net_interest_verdict* verdict = &interest->verdicts[client->answer_first];
    for (uint32_t i = 0; i < client->answer_count; i++) {
        net_interest_mark* mark = net_interest_get_mark(scratch, verdict[i].index);
        mark->state |= NET_INTEREST_ANSWERED;
        mark->classes = verdict[i].classes;
        if (verdict[i].relevance == NET_RELEVANT_NEVER) mark->state |= NET_INTEREST_NEVER;
        if (verdict[i].relevance == NET_RELEVANT_ALWAYS)
            net_interest_include(scratch, verdict[i].index);
    }
}

// Is a member in scope?
static bool stays(const net_interest* interest, const net_interest_scratch* scratch,
                  net_interest_client* client, const net_interest_entity* member) {
    const net_interest_mark* mark = &scratch->marks[member->index];
    uint32_t state = mark->stamp == scratch->stamp ? mark->state : 0;
    if (net_interest_is_found(scratch, member->index)) return true;
    // The module is asked about all within the leaving radius, so what it did not answer is beyond.
    if (state & NET_INTEREST_NEVER ||
        (net_interest_is_asking(interest) && !(state & NET_INTEREST_ANSWERED)))
        return false;
    const net_interest_place* place = &interest->places[member->index];
    if (!place->row_template) return false;
    if (net_interest_is_far_in(client, place->handle, &place->facts)) return true;
    if (!place->facts.has_position) return false;
    if (net_interest_is_near(client, &place->facts, net_interest_at(interest, member->index),
                             net_interest_leave_radius(client->radius)))
        return true;
    ecs_tick entered = net_interest_entered(member, interest->tick);
    bool is_young = entered + interest->stay_ticks > interest->tick && entered > place->revoked &&
                    entered > client->revoked;
    client->has_young = client->has_young || is_young;
    return is_young;
}

// ---- the answer ----

// Squared distance of an entity from the viewpoint; 0: distance does not decide about it.
static inline float distance2_of(const net_interest* interest, const net_interest_client* client,
                                 uint32_t index) {
    if (!interest->traits[index].has_position) return 0.0f;
    return client->has_at ? net_interest_distance2(interest->traits[index].at, client->at)
                          : __builtin_inff();
}

static inline net_interest_entity describe_place(const net_interest* interest,
                                                 const net_interest_client* client, uint32_t player,
                                                 uint32_t index, float distance2,
                                                 const net_interest_mark* mark) {
    return net_interest_describe(client, index, index == player, &interest->traits[index],
                                 net_interest_band(distance2, client->radius),
                                 mark ? mark->classes : 0);
}

// List the positions of the members that changed after `since`. Index 0 has no stamp.
static uint32_t list_changed(const net_interest* interest, const net_interest_entity* members,
                             uint32_t count, uint32_t since, uint32_t* positions) {
    const net_interest_traits* const traits = interest->traits;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        positions[found] = i;
        found += traits[members[i].index].stamp > since;
    }
    return found;
}

// @return how many members the gathering found.
static uint32_t compare_members(const net_interest* interest, net_interest_scratch* scratch,
                                net_interest_client* client, const net_interest_entity* members,
                                uint32_t count, uint32_t since, net_interest_answer* answer) {
    const uint32_t player = net_interest_player_index(interest, client);
    const net_interest_client eye = *client; // a copy, which no store changes
    const float leave = net_interest_leave_radius(eye.radius);
    // The module may refuse near entities.
    const bool is_asking = net_interest_is_asking(interest);
    const float kept2 = is_asking ? -1.0f : leave * leave;
    uint64_t* const found = scratch->found.words;
    uint32_t* const looked = scratch->changed; // changed ones take the place of those looked at
    const uint32_t looked_count = list_changed(interest, members, count, since, looked);
    uint32_t found_count = 0;
    for (uint32_t k = 0; k < looked_count; k++) {
        const uint32_t i = looked[k], index = members[i].index;
        const float distance2 = distance2_of(interest, &eye, index);
        const net_interest_mark* mark = is_asking ? &scratch->marks[index] : NULL;
        if (mark && mark->stamp != scratch->stamp) mark = NULL;
        if (net_interest_is_found(scratch, index)) {
            found[index >> 6] &= ~(UINT64_C(1) << (index & 63));
            found_count++;
        } else if (!(distance2 > 0.0f && distance2 <= kept2) &&
                   !stays(interest, scratch, client, &members[i])) {
            if (!net_fault_is_planted(NET_FAULT_SCOPE_STUCK))
                scratch->leave[answer->leave_count++] = i;
            continue;
        }
        net_interest_entity now = describe_place(interest, &eye, player, index, distance2, mark);
        if (now.classes == members[i].classes && now.weight == members[i].weight &&
            now.group == members[i].group)
            continue;
        now.entered = members[i].entered;
        scratch->changed_to[answer->changed_count] = now;
        scratch->changed[answer->changed_count++] = i;
    }
    return found_count;
}

static void list_entering(const net_interest* interest, net_interest_scratch* scratch,
                          const net_interest_client* client, net_interest_answer* answer) {
    uint32_t player = net_interest_player_index(interest, client), lowest = UINT32_MAX;
    for (uint32_t i = 0; i < scratch->inside_count; i++)
        if (scratch->inside[i] < lowest) lowest = scratch->inside[i];
    uint32_t index = base_bitset_next(&scratch->found, lowest);
    for (; index != UINT32_MAX; index = base_bitset_next(&scratch->found, index + 1)) {
        const net_interest_mark* mark = &scratch->marks[index];
        scratch->enter[answer->enter_count++] =
            describe_place(interest, client, player, index, distance2_of(interest, client, index),
                           mark->stamp == scratch->stamp ? mark : NULL);
    }
}

// ---- the query ----

// What enters by distance crossed the edge of sight lately: it is near the edge, or it jumped.
static net_interest_look look_of(const net_interest* interest, const net_interest_client* client,
                                 uint32_t member_count) {
    net_interest_look look = {.radius = client->radius};
    const bool is_whole =
        member_count == 0 || net_interest_is_asking(interest) ||
        interest->together.firsts.count > 0 ||
        interest->jumps[interest->jump_count % NET_INTEREST_JUMPS_MAX].step > client->queried_step;
    if (is_whole) return look;
    const float went = client->went + (float)(interest->travelled - client->travelled);
    look.hole = client->radius * 0.999f - went * 1.001f; // rounding hides nothing
    if (client->went == 0.0f && !client->has_young) look.since = client->queried_step;
    return look;
}

static void gather_jumps(const net_interest* interest, net_interest_scratch* scratch,
                         const net_interest_client* client) {
    for (uint32_t i = 1; i <= NET_INTEREST_JUMPS_MAX; i++) {
        const net_interest_jump* jump =
            &interest->jumps[(interest->jump_count - i) % NET_INTEREST_JUMPS_MAX];
        if (jump->step <= client->queried_step) return;
        const net_interest_place* place = &interest->places[jump->index];
        if (place->row_template &&
            net_interest_is_near(client, &place->facts, net_interest_at(interest, jump->index),
                                 client->radius))
            net_interest_include(scratch, jump->index);
    }
}

static void compare_scope(const net_interest* interest, net_interest_scratch* scratch,
                          net_interest_client* client, const net_interest_entity* members,
                          uint32_t count, net_interest_answer* answer) {
    const net_interest_look look = look_of(interest, client, count);
    client->has_young = false;
    if (net_interest_is_asking(interest)) mark_verdicts(interest, scratch, client);
    net_interest_gather(interest, scratch, client, look);
    gather_jumps(interest, scratch, client);
    if (interest->together.firsts.count > 0) {
        for (uint32_t i = 0; i < count; i++)
            if (members[i].index != 0 && stays(interest, scratch, client, &members[i]))
                net_interest_include(scratch, members[i].index);
        net_interest_gather_together(interest, scratch);
    }
    const base_allocator* allocator = interest->config.allocator;
    BASE_ARRAY_RESERVE(allocator, scratch->enter, scratch->enter_capacity, scratch->inside_count);
    BASE_ARRAY_RESERVE(allocator, scratch->leave, scratch->leave_capacity, count);
    BASE_ARRAY_RESERVE(allocator, scratch->changed, scratch->changed_capacity, count);
    BASE_ARRAY_RESERVE(allocator, scratch->changed_to, scratch->changed_to_capacity, count);
    const uint32_t found_count =
        compare_members(interest, scratch, client, members, count, look.since, answer);
    if (found_count < scratch->inside_count) list_entering(interest, scratch, client, answer);
}

void net_interest_query(net_interest* interest, uint32_t lane, uint32_t number,
                        const net_interest_entity* members, uint32_t member_count,
                        net_interest_answer* answer) {
    BASE_ASSERT(answer && (members || member_count == 0) && lane < interest->config.lanes);
    net_interest_scratch* scratch = &interest->scratch[lane];
    *answer = (net_interest_answer){0};
    net_interest_client* client = net_interest_find(interest, number);
    if (!client) return;
    net_interest_turn* turn = &interest->turns[client - interest->clients];
    // The module's answers exist in the client's turn only.
    if (net_interest_is_asking(interest) && !turn->is_due) return;
    net_interest_mark_begin(scratch);
    compare_scope(interest, scratch, client, members, member_count, answer);
    if (interest->has_grids)
        answer->place = interest->viewpoints.spots[client - interest->clients + 1].bucket;
    answer->enter = scratch->enter;
    answer->leave = scratch->leave;
    answer->changed = scratch->changed;
    answer->changed_to = scratch->changed_to;
    client->went = 0.0f;
    net_interest_note_query(interest, client);
    turn->is_queried = true;
}

// ---- observers of a spawned entity ----

static uint32_t find_spawn(const net_interest* interest, uint32_t index, const uint32_t** clients,
                           const net_interest_entity** entities) {
    base_search search = base_search_begin(interest->spawn_count);
    while (base_search_next(&search))
        base_search_step(&search, interest->spawns[search.middle].index < index);
    if (search.low == interest->spawn_count || interest->spawns[search.low].index != index)
        return 0;
    const net_interest_spawn* found = &interest->spawns[search.low];
    *clients = interest->spawn_clients + found->first;
    *entities = interest->spawn_entities + found->first;
    return found->count;
}

uint32_t net_interest_get_observers(net_interest* interest, uint32_t index,
                                    const uint32_t** clients,
                                    const net_interest_entity** entities) {
    BASE_ASSERT(clients && entities);
    const base_allocator* allocator = interest->config.allocator;
    if (index >= interest->index_end || !interest->places[index].row_template) return 0;
    const net_interest_place* place = &interest->places[index];
    if (place->facts.together) return 0; // its clients are due
    if (net_interest_is_asking(interest)) return find_spawn(interest, index, clients, entities);
    net_interest_find_observers(interest, index, 1.0f);
    uint32_t room = base_bitset_count(&interest->observers);
    BASE_ARRAY_RESERVE(allocator, interest->spawn_clients, interest->spawn_client_capacity, room);
    BASE_ARRAY_RESERVE(allocator, interest->spawn_entities, interest->spawn_entity_capacity, room);
    uint32_t count = 0;
    uint32_t at = base_bitset_next(&interest->observers, 0);
    for (; at != UINT32_MAX; at = base_bitset_next(&interest->observers, at + 1)) {
        const net_interest_client* client = &interest->clients[interest->order[at].slot];
        interest->spawn_clients[count] = client->number;
        interest->spawn_entities[count++] = net_interest_describe(
            client, index, place->handle == client->player, &interest->traits[index],
            net_interest_band_of(client, &place->facts, net_interest_at(interest, index)), 0);
    }
    *clients = interest->spawn_clients;
    *entities = interest->spawn_entities;
    return count;
}

// Who may see what, in both directions: the entities that one client sees, and the clients that see
// one entity.
//
// A gathering marks each entity that it finds and lists it once. A mark carries the number of its
// gathering, so a new gathering begins by raising the number and clears nothing. It leaves out what
// did not change, and what is well within sight: that is in scope.
//
// Both directions look at the same sources: cells of a grid within sight, entities without
// distance, what a client owns, its groups, its player. Only copies are read here, so the systems
// of the next tick may run meanwhile. Left to others: when a gathering is due (interest_manager.c).

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

// ---- entities that a client sees ----

void net_interest_mark_begin(net_interest_scratch* scratch) {
    for (uint32_t i = 0; i < scratch->inside_count; i++)
        scratch->found.words[scratch->inside[i] >> 6] = 0;
    scratch->inside_count = 0;
    if (++scratch->stamp > 0) return;
    if (scratch->marks) memset(scratch->marks, 0, scratch->mark_capacity * sizeof *scratch->marks);
    scratch->stamp = 1;
}

static void gather_near(const net_interest* interest, net_interest_scratch* scratch,
                        const net_interest_client* client, net_interest_look look) {
    const net_interest_grid* grid = &interest->entities;
    const net_interest_block* const blocks = grid->blocks;
    const net_interest_traits* const traits = interest->traits;
    const float radius2 = look.radius * look.radius;
    const float hole2 = look.hole > 0.0f ? look.hole * look.hole : -1.0f;
    const float eye[3] = {client->at[0], client->at[1], client->at[2]};
    net_interest_cells cells =
        net_interest_grid_around(grid, eye, look.radius, look.hole, look.since);
    uint32_t ahead[BUCKETS_AHEAD], count; // buckets, on their way from memory
    do {
        for (count = 0; count < BUCKETS_AHEAD && net_interest_cells_next(&cells, &ahead[count]);)
            __builtin_prefetch(&blocks[ahead[count++]]);
        for (uint32_t n = 0; n < count; n++)
            for (uint32_t b = ahead[n], next = 1; next; b = next) {
                next = blocks[b].next;
                const net_interest_near *near = blocks[b].nears, *last = near + blocks[b].count;
                for (; near < last; near++) {
                    const float distance2 = net_interest_distance2(near->at, eye);
                    if (distance2 <= radius2 && distance2 > hole2 &&
                        traits[near->thing].stamp > look.since)
                        net_interest_include(scratch, near->thing);
                }
            }
    } while (count == BUCKETS_AHEAD);
}

void net_interest_gather(const net_interest* interest, net_interest_scratch* scratch,
                         const net_interest_client* client, net_interest_look look) {
    BASE_ASSERT(client->number != 0);
    const net_interest_traits* const traits = interest->traits;
    if (interest->has_grids && client->has_at) gather_near(interest, scratch, client, look);
    const uint32_t* list = interest->listed[NET_INTEREST_LIST_LOOSE];
    for (uint32_t i = 0; i < interest->listed_count[NET_INTEREST_LIST_LOOSE]; i++)
        if (traits[list[i]].stamp > look.since) net_interest_include(scratch, list[i]);
    uint32_t index = net_interest_lists_first(&interest->owned, client->who);
    for (; index; index = interest->owned.nexts[index])
        if (traits[index].stamp > look.since) net_interest_include(scratch, index);
    const uint32_t grouped = client->groups ? interest->listed_count[NET_INTEREST_LIST_GROUPED] : 0;
    for (uint32_t i = 0; i < grouped; i++) {
        index = interest->listed[NET_INTEREST_LIST_GROUPED][i];
        if (traits[index].stamp > look.since &&
            interest->places[index].facts.groups & client->groups)
            net_interest_include(scratch, index);
    }
    index = net_interest_player_index(interest, client);
    if (index && traits[index].stamp > look.since) net_interest_include(scratch, index);
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
            net_interest_include(scratch, index);
    }
}

// ---- clients that see an entity ----

static void find_near(net_interest* interest, uint32_t index, float factor) {
    const net_interest_grid* grid = &interest->viewpoints;
    const net_interest_facts* facts = &interest->places[index].facts;
    const float* position = net_interest_at(interest, index);
    net_interest_cells cells =
        net_interest_grid_around(grid, position, interest->rules.radius * factor, 0.0f, 0);
    for (uint32_t bucket; net_interest_cells_next(&cells, &bucket);)
        for (uint32_t b = bucket, next = 1; next; b = next) {
            next = grid->blocks[b].next;
            for (uint32_t i = 0; i < grid->blocks[b].count; i++) {
                const net_interest_client* client =
                    &interest->clients[grid->blocks[b].nears[i].thing - 1];
                if (net_interest_is_near(client, facts, position, client->radius * factor))
                    base_bitset_add(&interest->observers, client->order);
            }
        }
    for (uint32_t i = 0; i < interest->wide_count; i++) {
        const net_interest_client* client = &interest->clients[interest->wide[i]];
        if (net_interest_is_near(client, facts, position, client->radius * factor))
            base_bitset_add(&interest->observers, client->order);
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
    if (owner) base_bitset_add(&interest->observers, owner->order);
    for (uint32_t i = 0; interest->follower_count && facts->owner && i < interest->order_count; i++)
        if (interest->clients[interest->order[i].slot].who == facts->owner)
            base_bitset_add(&interest->observers, i);
    for (uint32_t slot, cursor = 0;
         (slot = base_table_next(&interest->players, place->handle, &cursor)) != BASE_TABLE_NONE;)
        base_bitset_add(&interest->observers, interest->clients[slot].order);
    for (uint32_t i = 0; facts->groups && i < interest->order_count; i++)
        if (interest->clients[interest->order[i].slot].groups & facts->groups)
            base_bitset_add(&interest->observers, i);
}

// ---- the answer of the module ----

net_interest_question net_interest_question_of(const net_interest* interest,
                                               const net_interest_client* client,
                                               ecs_entity entity) {
    ecs_world* world = interest->config.world;
    return (net_interest_question){
        .size_bytes = sizeof(net_interest_question),
        .world = world,
        .context = interest->config.context,
        .client = client->who,
        .player = ecs_is_alive(world, client->player) ? client->player : ECS_ENTITY_NONE,
        .entity = entity,
    };
}

net_interest_verdict net_interest_ask(const net_interest* interest,
                                      const net_interest_question* question) {
    const net_bound_rules* rules = &interest->rules;
    net_interest_verdict verdict = {.index = ecs_entity_index(question->entity),
                                    .relevance = NET_RELEVANT_BY_RULES};
    // The game knows players only: nothing is shown to a spectator that follows none.
    if (question->client >= NET_SPECTATOR_FIRST) {
        if (net_interest_is_asking(interest)) verdict.relevance = NET_RELEVANT_NEVER;
        return verdict;
    }
    ecs_running_call("relevance");
    if (rules->relevance) verdict.relevance = (uint8_t)rules->relevance(question);
    ecs_running_call("classes");
    if (rules->classes && verdict.relevance != NET_RELEVANT_NEVER)
        verdict.classes = (uint16_t)rules->classes(question);
    ecs_running_call(NULL);
    return verdict;
}
