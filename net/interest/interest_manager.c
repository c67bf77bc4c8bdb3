// SPDX-License-Identifier: MIT
// The state of entities and clients: the copies that interest is computed from.
//
// Only net_interest_step looks at the world, and only where something changed: at entities that
// spawned and despawned (by the history's events), and at components that the rules name (by the
// world's own list of changes, since a position may decide without being replicated). All that a
// query needs is copied into a place per index, and into four orders of places: a grid of
// positions, lists by owner, lists of entities that travel together, and two plain lists of
// entities that distance does not decide (all clients see them, or groups do).
//
// A client gets a turn every NET_INTEREST_EVERY_TICKS steps. It is due then only when an entity
// within its reach moved, or it moved itself: buckets of the grid and `global_step` show that. How
// far entities go in a step bounds what can have crossed the edge of its sight: the longest way is
// summed up, and what jumps is listed, so that one entity does not widen the search of all. An
// entity that changes its owner, team or groups concerns those who see it: they look at once. A
// spawned entity does not wait: net_interest_get_observers finds its clients through a grid of
// viewpoints. Entities that travel together enter as a whole, so the clients that may see them
// become due at once instead.
//
// Invariants (net_interest_validate): a place is in the grid when distance decides about it, and in
// the list where it belongs; a client's slot does not move while the client is there; nothing walks
// in hash order.
// Left to others: what a client sees, and the difference to what it has (interest_query.c).
#include "interest/interest_manager.h"

#include "core/fault.h"
#include "interest/interest_internal.h"

#include "base/assert.h"
#include "base/math.h"

#include <string.h>

net_result net_interest_create(const net_interest_config* config, const base_reporter* reporter,
                               net_interest** interest) {
    BASE_ASSERT(config && config->world && config->rows && interest && config->index_max >= 1);
    *interest = NULL;
    net_bound_rules rules;
    net_result result = net_bound_rules_bind(config->world, config->rules, reporter, &rules);
    if (result != NET_OK) return result;
    net_interest* made = base_owner_create(config->allocator, sizeof *made);
    const base_allocator* allocator = &made->owner.allocator;
    made->config = *config;
    made->config.allocator = allocator;
    made->rules = rules;
    made->stay_ticks =
        (uint32_t)(((uint64_t)NET_INTEREST_STAY_MS * config->tick_rate_hz + 999) / 1000);
    net_interest_lists_init(&made->owned, allocator);
    net_interest_lists_init(&made->together, allocator);
    base_bitset_init(&made->observers, allocator);
    made->has_grids = rules.radius > 0.0f;
    // In three dimensions a quarter would be a thousand cells in sight, most of them empty.
    float cell = rules.dimensions == 2 ? rules.radius / 4 : rules.radius / 2;
    if (made->config.lanes == 0) made->config.lanes = 1;
    made->scratch = base_allocate_zero(allocator, made->config.lanes * sizeof *made->scratch);
    for (uint32_t i = 0; i < made->config.lanes; i++)
        base_bitset_init(&made->scratch[i].found, allocator);
    if (made->has_grids) {
        net_interest_grid_init(&made->entities, allocator, rules.dimensions, cell);
        net_interest_grid_init(&made->viewpoints, allocator, rules.dimensions, rules.radius);
    }
    *interest = made;
    return NET_OK;
}

// ---- entities ----

static void reserve_index(net_interest* interest, uint32_t index) {
    BASE_ASSERT(index >= 1 && index <= interest->config.index_max);
    const base_allocator* allocator = interest->config.allocator;
    BASE_ARRAY_RESERVE(allocator, interest->places, interest->place_capacity, index + 1);
    uint32_t room = interest->place_capacity;
    BASE_ARRAY_RESERVE(allocator, interest->traits, interest->trait_capacity, room);
    for (uint32_t i = NET_INTEREST_LIST_NONE + 1; i < NET_INTEREST_LISTS; i++)
        BASE_ARRAY_RESERVE(allocator, interest->listed[i], interest->listed_capacity[i], room);
    if (interest->has_grids && room > interest->entities.spot_capacity) {
        net_interest_grid_reserve(&interest->entities, room, interest->step);
        interest->global_step = interest->step; // what left a bucket is not known any more
    }
    if (interest->rules.owner) net_interest_lists_reserve(&interest->owned, room);
    if (interest->rules.together) net_interest_lists_reserve(&interest->together, room);
    for (uint32_t i = 0; i < interest->config.lanes; i++) {
        net_interest_scratch* scratch = &interest->scratch[i];
        BASE_ARRAY_RESERVE(allocator, scratch->marks, scratch->mark_capacity, room);
        BASE_ARRAY_RESERVE(allocator, scratch->inside, scratch->inside_capacity, room);
        base_bitset_reserve(&scratch->found, room);
    }
    if (index >= interest->index_end) interest->index_end = index + 1;
}

// Move a place from its list to this one: the last place of the old list moves into the gap.
static void list_place(net_interest* interest, uint32_t index, net_interest_list kind) {
    net_interest_place* place = &interest->places[index];
    const uint32_t old = place->listed & 3;
    if (old == (uint32_t)kind) return;
    if (old != NET_INTEREST_LIST_NONE) {
        const uint32_t moved = interest->listed[old][--interest->listed_count[old]];
        interest->listed[old][place->listed >> 2] = moved;
        interest->places[moved].listed = place->listed;
    }
    place->listed = interest->listed_count[kind] << 2 | (uint32_t)kind;
    if (kind != NET_INTEREST_LIST_NONE)
        interest->listed[kind][interest->listed_count[kind]++] = index;
}

static void put_at(net_interest* interest, uint32_t index, const float at[3]) {
    memcpy(interest->traits[index].at, at, sizeof interest->traits[index].at);
    net_interest_grid_put(&interest->entities, index, at, interest->step);
}

static void describe(net_interest_traits* traits, const net_row_template* row_template,
                     const net_interest_facts* facts) {
    BASE_ASSERT(row_template && row_template->importance >= 1);
    traits->owner = facts->owner;
    traits->team = facts->team;
    traits->together = facts->together;
    traits->classes =
        (uint16_t)(row_template->class_mask | row_template->varsize_mask | 1u << NET_CLASS_PUBLIC);
    traits->importance = (uint8_t)row_template->importance;
    traits->has_position = facts->has_position;
}

// Put a place into every order that finds it by its facts.
static void file_place(net_interest* interest, uint32_t index, const float at[3]) {
    BASE_ASSERT(index < interest->index_end);
    const net_interest_place* place = &interest->places[index];
    const net_interest_facts* facts = &place->facts;
    bool is_there = place->row_template != NULL;
    net_interest_list kind = NET_INTEREST_LIST_NONE;
    if (is_there && facts->groups) kind = NET_INTEREST_LIST_GROUPED;
    if (is_there && net_interest_is_loose(facts)) kind = NET_INTEREST_LIST_LOOSE;
    list_place(interest, index, kind);
    net_interest_traits* traits = &interest->traits[index];
    interest->moved_step = traits->stamp = interest->step;
    if (is_there) describe(traits, place->row_template, facts);
    if (is_there && facts->has_position)
        put_at(interest, index, at);
    else if (interest->has_grids)
        net_interest_grid_remove(&interest->entities, index, interest->step);
    if (interest->rules.owner)
        net_interest_lists_put(&interest->owned, index, is_there ? facts->owner : 0);
    if (interest->rules.together)
        net_interest_lists_put(&interest->together, index, is_there ? facts->together : 0);
}

static void remove_place(net_interest* interest, uint32_t index) {
    if (index >= interest->index_end) return;
    net_interest_place* place = &interest->places[index];
    // An entity that travelled with it may have been visible only because of it.
    if (place->row_template && place->facts.together) interest->global_step = interest->step;
    place->row_template = NULL;
    place->handle = ECS_ENTITY_NONE;
    file_place(interest, index, NULL);
}

static bool is_same_kind(const net_interest_facts* a, const net_interest_facts* b) {
    return a->owner == b->owner && a->team == b->team && a->together == b->together &&
           a->groups == b->groups && a->has_position == b->has_position &&
           a->has_groups == b->has_groups && a->is_always == b->is_always;
}

// Clients that see an entity by itself, now, look at their scope in this step. Who keeps it only
// because it entered recently looks at each turn anyway. Distance does not limit who sees a loose
// entity, or one that travels with others; and many changes cost more than that all look again.
// Then all do, in their turns.
static void concern(net_interest* interest, uint32_t index) {
    const net_interest_facts* facts = &interest->places[index].facts;
    if (interest->order_count == 0) return;
    if (net_interest_is_loose(facts) || facts->together ||
        ++interest->concerned_count > NET_INTEREST_CONCERNED_MAX) {
        interest->global_step = interest->step;
        return;
    }
    net_interest_find_observers(interest, index, NET_INTEREST_LEAVE);
    uint32_t at = base_bitset_next(&interest->observers, 0);
    for (; at != UINT32_MAX; at = base_bitset_next(&interest->observers, at + 1))
        interest->turns[interest->order[at].slot].is_forced = true;
}

static void take_new(net_interest* interest, const net_history_entity* entity) {
    BASE_ASSERT(entity && entity->row_template);
    uint32_t index = ecs_entity_index(entity->handle);
    reserve_index(interest, index);
    net_interest_place* place = &interest->places[index];
    float at[3];
    net_interest_facts now;
    net_interest_facts_read(&interest->rules, interest->config.world, entity->handle, &now, at);
    // Its clients keep it, so they look again.
    const bool is_other = place->row_template && place->handle == entity->handle &&
                          !is_same_kind(&place->facts, &now);
    if (is_other) concern(interest, index);
    remove_place(interest, index);
    place->row_template = entity->row_template;
    place->handle = entity->handle;
    place->revoked = interest->tick - 1;
    place->facts = now;
    file_place(interest, index, at);
    if (is_other) concern(interest, index);
}

static net_interest_place* find_place_of(net_interest* interest, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    if (index >= interest->index_end || interest->places[index].handle != handle) return NULL;
    return ecs_is_alive(interest->config.world, handle) ? &interest->places[index] : NULL;
}

// Note how far an entity goes before it is filed there.
static void note_way(net_interest* interest, uint32_t index, const float at[3]) {
    const float stride = interest->rules.radius * NET_INTEREST_STRIDE;
    const float way2 = interest->entities.spots[index].bucket
                           ? net_interest_distance2(net_interest_at(interest, index), at)
                           : __builtin_inff();
    if (way2 <= interest->stride2) return;
    if (way2 <= stride * stride)
        interest->stride2 = way2;
    else
        interest->jumps[interest->jump_count++ % NET_INTEREST_JUMPS_MAX] =
            (net_interest_jump){index, interest->step};
}

// The usual change. What is in the grid is replicated and has a position.
static void take_moved(net_interest* interest, ecs_entity handle) {
    float at[3];
    const uint32_t index = ecs_entity_index(handle);
    const ecs_world* world = interest->config.world;
    if (index >= interest->index_end || !interest->entities.spots[index].bucket ||
        !ecs_is_alive(world, handle) ||
        !net_interest_position_read(&interest->rules, world, handle, at))
        return;
    note_way(interest, index, at);
    put_at(interest, index, at);
    interest->moved_step = interest->traits[index].stamp = interest->step;
}

// Read again what the rules name. A change beyond a movement concerns those who saw the entity, and
// those who see it now.
static void take_changed(net_interest* interest, ecs_entity handle) {
    net_interest_place* place = find_place_of(interest, handle);
    const uint32_t index = ecs_entity_index(handle);
    if (!place) return;
    float at[3];
    net_interest_facts now;
    net_interest_facts_read(&interest->rules, interest->config.world, handle, &now, at);
    const bool is_other = !is_same_kind(&place->facts, &now);
    if (is_other) concern(interest, index);
    place->facts = now;
    if (is_other) place->revoked = interest->tick - 1;
    if (now.has_position) note_way(interest, index, at);
    file_place(interest, index, at);
    if (is_other) concern(interest, index);
}

static void take_listed(net_interest* interest, const net_history* history) {
    const net_history_event* events = history->events;
    const uint32_t count = history->event_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = ecs_entity_index(events[i].handle);
        if (events[i].kind == NET_HISTORY_DESPAWNED)
            remove_place(interest, index);
        else if (events[i].kind == NET_HISTORY_SPAWNED)
            take_new(interest, net_history_find(history, index));
    }
    const net_bound_rules* rules = &interest->rules;
    ecs_changes changes = ecs_changes_get(interest->config.world);
    for (uint32_t i = 0; i < changes.recreated_count; i++)
        take_changed(interest, changes.recreated[i]);
    for (uint32_t i = 0; i < changes.changed_count; i++) {
        const ecs_change* change = &changes.changed[i];
        if (change->component == rules->owner || change->component == rules->team ||
            change->component == rules->groups || change->component == rules->together)
            take_changed(interest, change->entity);
        else if (interest->has_grids && change->component == rules->position)
            take_moved(interest, change->entity);
    }
}

// Turns of clients, and the answers of the module. This runs on the thread that owns the world, so
// callbacks may read it. Their answers are stored until the next step, for the queries of the other
// half.
//
// Answers of callbacks may depend on anything, so with callbacks every turn is due. A callback is
// asked about entities within the leaving radius, entities visible at any distance, and entities
// that travel with either; and about a spawned entity, for the clients that may see it.

// Update the viewpoint and the team of a client. Without a player both stay as they were.
static void update_viewpoint(net_interest* interest, uint32_t slot) {
    net_interest_client* client = &interest->clients[slot];
    const ecs_world* world = interest->config.world;
    if (!ecs_is_alive(world, client->player)) return;
    uint32_t team = net_interest_team_read(&interest->rules, world, client->player);
    if (team != client->team) {
        client->team = team;
        client->went = __builtin_inff();
    }
    float at[3];
    if (client->is_at_set ||
        !net_interest_position_read(&interest->rules, world, client->player, at))
        return;
    if (client->has_at && memcmp(at, client->at, sizeof at) == 0) return;
    // A little more, so that it is never 0.
    client->went += client->has_at
                        ? base_sqrt(net_interest_distance2(at, client->at)) + client->radius * 1e-6f
                        : __builtin_inff();
    memcpy(client->at, at, sizeof at);
    client->has_at = true;
    net_interest_grid_put(&interest->viewpoints, slot + 1, at, interest->step);
}

// Did an entity within reach move since the last query?
static bool has_moved_near(const net_interest* interest, const net_interest_client* client) {
    if (!client->has_at || interest->moved_step <= client->queried_step) return false;
    net_interest_cells cells = net_interest_grid_around(&interest->entities, client->at,
                                                        net_interest_leave_radius(client->radius),
                                                        0.0f, client->queried_step);
    uint32_t bucket;
    return net_interest_cells_next(&cells, &bucket);
}

static void take_turn(net_interest* interest, uint32_t slot) {
    BASE_ASSERT(slot < interest->slot_count);
    net_interest_turn* turn = &interest->turns[slot];
    net_interest_client* client = &interest->clients[slot];
    update_viewpoint(interest, slot);
    turn->is_due = turn->is_due || turn->is_forced || client->went != 0.0f || client->has_young ||
                   net_interest_is_asking(interest) ||
                   interest->global_step > client->queried_step || has_moved_near(interest, client);
    turn->is_forced = false;
    if (!turn->is_due) net_interest_note_query(interest, client); // it would answer nothing
}

static void ask_client(net_interest* interest, uint32_t slot) {
    net_interest_client* client = &interest->clients[slot];
    net_interest_scratch* scratch = &interest->scratch[0];
    net_interest_mark_begin(scratch);
    net_interest_gather(interest, scratch, client,
                        (net_interest_look){.radius = net_interest_leave_radius(client->radius)});
    net_interest_gather_together(interest, scratch);
    client->answer_first = interest->verdict_count;
    client->answer_count = scratch->inside_count;
    BASE_ARRAY_RESERVE(interest->config.allocator, interest->verdicts, interest->verdict_capacity,
                       interest->verdict_count + scratch->inside_count);
    net_interest_question question = net_interest_question_of(interest, client, ECS_ENTITY_NONE);
    for (uint32_t i = 0; i < scratch->inside_count; i++) {
        question.entity = interest->places[scratch->inside[i]].handle;
        interest->verdicts[interest->verdict_count++] = net_interest_ask(interest, &question);
    }
}

static void ask_about_spawned(net_interest* interest, uint32_t index) {
    BASE_ASSERT(interest->places[index].row_template);
    const net_interest_place* place = &interest->places[index];
    const base_allocator* allocator = interest->config.allocator;
    const float* position = net_interest_at(interest, index);
    net_interest_find_observers(interest, index, NET_INTEREST_LEAVE);
    uint32_t room = interest->spawn_client_count + base_bitset_count(&interest->observers);
    BASE_ARRAY_RESERVE(allocator, interest->spawns, interest->spawn_capacity,
                       interest->spawn_count + 1);
    BASE_ARRAY_RESERVE(allocator, interest->spawn_clients, interest->spawn_client_capacity, room);
    BASE_ARRAY_RESERVE(allocator, interest->spawn_entities, interest->spawn_entity_capacity, room);
    net_interest_spawn* spawns = &interest->spawns[interest->spawn_count++];
    *spawns = (net_interest_spawn){.index = index, .first = interest->spawn_client_count};
    uint32_t at = base_bitset_next(&interest->observers, 0);
    for (; at != UINT32_MAX; at = base_bitset_next(&interest->observers, at + 1)) {
        const net_interest_client* client = &interest->clients[interest->order[at].slot];
        const net_interest_question question =
            net_interest_question_of(interest, client, place->handle);
        net_interest_verdict verdict = net_interest_ask(interest, &question);
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

static void handle_spawned(net_interest* interest, const net_history* history) {
    const net_history_event* events = history->events;
    const uint32_t count = history->event_count;
    uint32_t together = 0;
    interest->spawn_count = interest->spawn_client_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind != NET_HISTORY_SPAWNED) continue;
        uint32_t index = ecs_entity_index(events[i].handle);
        uint32_t key = interest->places[index].facts.together;
        if (key && key != together)
            call_together(interest, key);
        else if (!key && net_interest_is_asking(interest))
            ask_about_spawned(interest, index);
        if (key) together = key;
    }
}

// Handle the clients whose turn it is, ask the module.
static void step_turns(net_interest* interest, const net_history* history) {
    uint32_t turn = interest->step % NET_INTEREST_EVERY_TICKS;
    interest->verdict_count = 0;
    // Before spawned entities are looked at: a client that just joined looks from its player's
    // position.
    for (uint32_t slot = 0; slot < interest->slot_count; slot++)
        if (interest->turns[slot].is_forced && !interest->turns[slot].is_held)
            update_viewpoint(interest, slot);
    if (interest->order_count > 0) handle_spawned(interest, history);
    interest->has_due = false;
    for (uint32_t slot = 0; slot < interest->slot_count; slot++) {
        net_interest_turn* one = &interest->turns[slot];
        if (one->is_due && one->is_queried) one->is_due = false;
        one->is_queried = false;
        bool is_turn = one->is_forced || one->is_due || one->turn == turn;
        if (is_turn && !one->is_held && interest->clients[slot].number) take_turn(interest, slot);
        interest->has_due = interest->has_due || one->is_due;
    }
    for (uint32_t slot = 0; net_interest_is_asking(interest) && slot < interest->slot_count; slot++)
        if (interest->turns[slot].is_due) ask_client(interest, slot);
}

void net_interest_step(net_interest* interest, const net_history* history, ecs_tick tick) {
    BASE_ASSERT(history && (interest->step == 0 || tick > interest->tick));
    interest->tick = tick;
    interest->concerned_count = 0;
    const bool is_first = interest->step++ == 0;
    for (uint32_t i = 0; is_first && i < history->capacity; i++) {
        const net_history_entity* entity = net_history_find(history, i);
        if (entity) take_new(interest, entity);
    }
    if (!is_first) take_listed(interest, history);
    interest->travelled += base_sqrt(interest->stride2);
    interest->stride2 = 0.0f;
    step_turns(interest, history);
    if (NET_VALIDATE_ON) net_interest_validate(interest);
}

// Clients: who looks, from where, with which player, groups and radius. A client keeps its slot
// while it is there; `order` lists the slots by the clients' numbers.

static uint32_t slot_of(const net_interest* interest, const net_interest_client* client) {
    return (uint32_t)(client - interest->clients);
}

static void reserve_client(net_interest* interest) {
    const base_allocator* allocator = interest->config.allocator;
    uint32_t room = interest->slot_count + 1;
    BASE_ARRAY_RESERVE(allocator, interest->clients, interest->client_capacity, room);
    BASE_ARRAY_RESERVE(allocator, interest->turns, interest->turn_capacity, room);
    base_table_reserve(&interest->players, allocator, room);
    BASE_ARRAY_RESERVE(allocator, interest->order, interest->order_capacity, room);
    BASE_ARRAY_RESERVE(allocator, interest->wide, interest->wide_capacity, room);
    BASE_ARRAY_RESERVE(allocator, interest->spawn_clients, interest->spawn_client_capacity, room);
    BASE_ARRAY_RESERVE(allocator, interest->spawn_entities, interest->spawn_entity_capacity, room);
    base_bitset_reserve(&interest->observers, room);
    if (interest->has_grids)
        net_interest_grid_reserve(&interest->viewpoints, room + 1, interest->step);
}

// The turn with the fewest clients. Spectators are not counted: the turns of players would differ.
static uint8_t pick_turn(const net_interest* interest) {
    uint32_t counts[NET_INTEREST_EVERY_TICKS] = {0};
    for (uint32_t i = 0; i < interest->order_count; i++)
        if (interest->order[i].number < NET_SPECTATOR_FIRST)
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

void net_interest_add_client(net_interest* interest, uint32_t client) {
    BASE_ASSERT(client > 0 && !net_interest_find(interest, client));
    uint32_t slot = 0;
    while (slot < interest->slot_count && interest->clients[slot].number)
        slot++;
    if (slot == interest->slot_count) reserve_client(interest);
    uint8_t turn = pick_turn(interest);
    if (slot == interest->slot_count) interest->slot_count++;
    uint32_t at = net_interest_find_order(interest, client);
    memmove(&interest->order[at + 1], &interest->order[at],
            (interest->order_count - at) * sizeof *interest->order);
    interest->order_count++;
    interest->order[at] = (net_interest_order){client, slot};
    interest->clients[slot] = (net_interest_client){.number = client,
                                                    .who = client,
                                                    .radius = interest->rules.radius,
                                                    .went = __builtin_inff()};
    interest->turns[slot] = (net_interest_turn){.turn = turn, .is_forced = true};
    renumber(interest, at);
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
    (void)base_table_remove(&interest->players, found->player, slot);
    interest->follower_count -= found->who != found->number;
    *found = (net_interest_client){0};
    interest->turns[slot] = (net_interest_turn){0};
    renumber(interest, at);
}

void net_interest_hold(net_interest* interest, uint32_t client, bool is_held) {
    const net_interest_client* found = net_interest_find(interest, client);
    BASE_ASSERT(found);
    interest->turns[slot_of(interest, found)].is_held = is_held;
    net_interest_refresh(interest, client);
}

void net_interest_refresh(net_interest* interest, uint32_t client) {
    net_interest_client* found = net_interest_find(interest, client);
    if (!found) return;
    found->went = __builtin_inff();
    interest->turns[slot_of(interest, found)].is_forced = true;
}

void net_interest_set_player(net_interest* interest, uint32_t client, ecs_entity player) {
    net_interest_client* found = net_interest_find(interest, client);
    if (!found || found->player == player) return;
    (void)base_table_remove(&interest->players, found->player, slot_of(interest, found));
    found->player = player;
    if (player != ECS_ENTITY_NONE)
        base_table_add(&interest->players, player, slot_of(interest, found));
    net_interest_refresh(interest, client);
}

void net_interest_set_groups(net_interest* interest, uint32_t client, uint64_t mask) {
    net_interest_client* found = net_interest_find(interest, client);
    if (!found || found->groups == mask) return;
    found->groups = mask;
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
    found->has_at = found->is_at_set = true;
    uint32_t slot = slot_of(interest, found);
    net_interest_grid_put(&interest->viewpoints, slot + 1, found->at, interest->step);
    set_wide(interest, slot, found->radius > interest->rules.radius);
    net_interest_refresh(interest, client);
}

void net_interest_clear_viewpoint(net_interest* interest, uint32_t client) {
    net_interest_client* found = net_interest_find(interest, client);
    if (!found || !found->is_at_set) return;
    found->is_at_set = false;
    found->radius = interest->rules.radius;
    set_wide(interest, slot_of(interest, found), false);
    net_interest_refresh(interest, client);
}

void net_interest_request_for(net_interest* interest, uint32_t client,
                              const net_interest_request* request) {
    net_interest_set_groups(interest, client, request->groups);
    if (request->has_viewpoint)
        net_interest_set_viewpoint(interest, client, request->position, request->radius);
    else
        net_interest_clear_viewpoint(interest, client);
    if (request->is_refreshed) net_interest_refresh(interest, client);
}

void net_interest_follow(net_interest* interest, uint32_t client, uint32_t who) {
    net_interest_client* found = net_interest_find(interest, client);
    if (!found || found->who == who) return;
    interest->follower_count += (uint32_t)(who != client) - (uint32_t)(found->who != client);
    found->who = who;
    found->revoked = interest->tick;
    const net_interest_client* other = who != client ? net_interest_find(interest, who) : NULL;
    found->groups = other ? other->groups : 0;
    if (other && other->has_at)
        net_interest_set_viewpoint(interest, client, other->at, other->radius);
    else
        net_interest_clear_viewpoint(interest, client);
    if (other) found->is_at_set = other->is_at_set;
    net_interest_refresh(interest, client);
}

bool net_interest_is_due(const net_interest* interest, uint32_t client) {
    const net_interest_client* found = net_interest_find(interest, client);
    return found && interest->turns[slot_of(interest, found)].is_due;
}

bool net_interest_has_due(const net_interest* interest) {
    return interest->has_due;
}

// ---- the whole-structure check: every order of places and clients agrees with the facts ----

static void validate_list(const net_interest* interest, uint32_t kind) {
    for (uint32_t i = 0; i < interest->listed_count[kind]; i++) {
        const uint32_t index = interest->listed[kind][i];
        BASE_ASSERT(index < interest->index_end);
        BASE_ASSERT(interest->places[index].listed == (i << 2 | kind));
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
    BASE_ASSERT(interest->traits[index].stamp <= interest->step &&
                (!is_there || interest->traits[index].stamp));
    bool is_in_grid = is_there && place->facts.has_position;
    if (interest->has_grids)
        BASE_ASSERT((interest->entities.spots[index].bucket != 0) == is_in_grid);
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
    validate_list(interest, NET_INTEREST_LIST_LOOSE);
    validate_list(interest, NET_INTEREST_LIST_GROUPED);
    for (uint32_t index = 0; index < interest->index_end; index++)
        validate_place(interest, index);
    validate_clients(interest);
    if (!interest->has_grids) return;
    net_interest_grid_validate(&interest->entities);
    net_interest_grid_validate(&interest->viewpoints);
}
