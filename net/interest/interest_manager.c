// SPDX-License-Identifier: MIT
// What is known of entities and clients: the copies that interest is computed from.
//
// Only net_interest_step looks at the world, and only where something changed: at entities that
// spawned and despawned (by the history's events), and at components that the rules name (by the
// world's own list of changes, since a position may decide without being replicated). All that a
// query needs is copied into a place per index, and into four orders of places: a grid of
// positions, lists by owner, lists of entities that travel together, and two plain lists of
// entities that distance does not decide (all clients see them, or groups do).
//
// A client gets a turn every NET_INTEREST_EVERY_TICKS steps. It is due then only when an entity
// within its reach moved, or it moved itself: buckets of the grid and `global_step` show that. An
// entity that changes its owner, team or groups concerns those who see it: they look at once. A
// spawned entity does not wait: net_interest_get_observers finds its clients through a grid of
// viewpoints. Entities that travel together enter as a whole, so the clients that may see them
// become due at once instead.
//
// Invariants (net_interest_validate): a place is in the grid when distance decides about it, and in
// the list where it belongs; a client's slot does not move while the client is there; nothing walks
// in hash order.
// Left to others: clients (interest_clients.c), turns and the module's answers (interest_turn.c),
// what a client sees (interest_gather.c), the difference to what it has (interest_query.c).
#include "interest/interest_internal.h"

#include "base/assert.h"
#include "core/fault.h"

#include <string.h>

static bool init_scratch(net_interest* made) {
    const base_allocator* allocator = made->config.allocator;
    if (made->config.lanes == 0) made->config.lanes = 1;
    made->scratch = base_allocate_zero(allocator, made->config.lanes * sizeof *made->scratch);
    for (uint32_t i = 0; made->scratch && i < made->config.lanes; i++)
        base_bitset_init(&made->scratch[i].entering, allocator);
    return made->scratch != NULL;
}

net_result net_interest_create(const net_interest_config* config, const base_reporter* reporter,
                               net_interest** interest) {
    BASE_ASSERT(config && config->rows && config->world && interest);
    BASE_ASSERT(config && config->world && config->rows && interest && config->index_max >= 1);
    *interest = NULL;
    net_bound_rules rules;
    net_result result = net_bound_rules_bind(config->world, config->rules, reporter, &rules);
    if (result != NET_OK) return result;
    net_interest* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->config = *config;
    made->rules = rules;
    made->stay_ticks =
        (uint32_t)(((uint64_t)NET_INTEREST_STAY_MS * config->tick_rate_hz + 999) / 1000);
    net_interest_lists_init(&made->owned, config->allocator);
    net_interest_lists_init(&made->together, config->allocator);
    base_bitset_init(&made->observers, config->allocator);
    made->has_grids = rules.radius > 0.0f;
    // In three dimensions a quarter would be a thousand cells in sight, most of them empty.
    float cell = rules.dimensions == 2 ? rules.radius / 4 : rules.radius / 2;
    bool is_made = init_scratch(made);
    if (made->has_grids) {
        // Initialise both, so that both may be deinitialised.
        is_made =
            net_interest_grid_init(&made->entities, config->allocator, rules.dimensions, cell) &&
            is_made;
        is_made = net_interest_grid_init(&made->viewpoints, config->allocator, rules.dimensions,
                                         rules.radius) &&
                  is_made;
    }
    if (!is_made) {
        net_interest_destroy(made);
        return NET_ERR_MEMORY;
    }
    *interest = made;
    return NET_OK;
}

static void deinit_scratch(net_interest* interest) {
    const base_allocator* allocator = interest->config.allocator;
    for (uint32_t i = 0; interest->scratch && i < interest->config.lanes; i++) {
        net_interest_scratch* scratch = &interest->scratch[i];
        BASE_ARRAY_RELEASE(allocator, scratch->marks, scratch->mark_capacity);
        BASE_ARRAY_RELEASE(allocator, scratch->inside, scratch->inside_capacity);
        BASE_ARRAY_RELEASE(allocator, scratch->enter, scratch->enter_capacity);
        BASE_ARRAY_RELEASE(allocator, scratch->leave, scratch->leave_capacity);
        BASE_ARRAY_RELEASE(allocator, scratch->changed, scratch->changed_capacity);
        BASE_ARRAY_RELEASE(allocator, scratch->changed_to, scratch->changed_to_capacity);
        base_bitset_deinit(&scratch->entering);
    }
    base_release(allocator, interest->scratch, interest->config.lanes * sizeof *interest->scratch);
}

void net_interest_destroy(net_interest* interest) {
    if (!interest) return;
    const base_allocator* allocator = interest->config.allocator;
    const struct {
        void* memory;
        size_t bytes;
    } blocks[] = {
        {interest->places, interest->place_capacity * sizeof *interest->places},
        {interest->traits, interest->trait_capacity * sizeof *interest->traits},
        {interest->loose, interest->loose_capacity * sizeof *interest->loose},
        {interest->grouped, interest->grouped_capacity * sizeof *interest->grouped},
        {interest->clients, interest->client_capacity * sizeof *interest->clients},
        {interest->turns, interest->turn_capacity * sizeof *interest->turns},
        {interest->players, interest->player_capacity * sizeof *interest->players},
        {interest->order, interest->order_capacity * sizeof *interest->order},
        {interest->wide, interest->wide_capacity * sizeof *interest->wide},
        {interest->verdicts, interest->verdict_capacity * sizeof *interest->verdicts},
        {interest->spawns, interest->spawn_capacity * sizeof *interest->spawns},
        {interest->spawn_clients,
         interest->spawn_client_capacity * sizeof *interest->spawn_clients},
        {interest->spawn_entities,
         interest->spawn_entity_capacity * sizeof *interest->spawn_entities},
    };
    for (uint32_t i = 0; i < BASE_COUNT(blocks); i++)
        base_release(allocator, blocks[i].memory, blocks[i].bytes);
    if (interest->has_grids) {
        net_interest_grid_deinit(&interest->entities);
        net_interest_grid_deinit(&interest->viewpoints);
    }
    net_interest_lists_deinit(&interest->owned);
    net_interest_lists_deinit(&interest->together);
    base_bitset_deinit(&interest->observers);
    deinit_scratch(interest);
    base_release(allocator, interest, sizeof *interest);
}

// ---- entities ----

static bool reserve_scratch(const net_interest* interest, net_interest_scratch* scratch,
                            uint32_t room) {
    const base_allocator* allocator = interest->config.allocator;
    return BASE_ARRAY_RESERVE(allocator, scratch->marks, scratch->mark_capacity, room) &&
           BASE_ARRAY_RESERVE(allocator, scratch->inside, scratch->inside_capacity, room) &&
           base_bitset_reserve(&scratch->entering, room);
}

static bool reserve_index(net_interest* interest, uint32_t index) {
    BASE_ASSERT(index >= 1 && index <= interest->config.index_max);
    const base_allocator* allocator = interest->config.allocator;
    if (!BASE_ARRAY_RESERVE(allocator, interest->places, interest->place_capacity, index + 1))
        return false;
    uint32_t room = interest->place_capacity;
    bool ok = BASE_ARRAY_RESERVE(allocator, interest->traits, interest->trait_capacity, room) &&
              BASE_ARRAY_RESERVE(allocator, interest->loose, interest->loose_capacity, room) &&
              BASE_ARRAY_RESERVE(allocator, interest->grouped, interest->grouped_capacity, room) &&
              (!interest->has_grids || net_interest_grid_reserve(&interest->entities, room)) &&
              (!interest->rules.owner || net_interest_lists_reserve(&interest->owned, room)) &&
              (!interest->rules.together || net_interest_lists_reserve(&interest->together, room));
    for (uint32_t i = 0; i < interest->config.lanes && ok; i++)
        ok = reserve_scratch(interest, &interest->scratch[i], room);
    if (ok && index >= interest->index_end) interest->index_end = index + 1;
    return ok;
}

// Take a place out of its list: the last place of the list moves into the gap.
static void unlist(net_interest* interest, net_interest_place* place) {
    net_interest_list kind = (net_interest_list)(place->listed & 3);
    if (kind == NET_INTEREST_LIST_NONE) return;
    uint32_t* list = kind == NET_INTEREST_LIST_LOOSE ? interest->loose : interest->grouped;
    uint32_t* count =
        kind == NET_INTEREST_LIST_LOOSE ? &interest->loose_count : &interest->grouped_count;
    uint32_t moved = list[--*count];
    list[place->listed >> 2] = moved;
    interest->places[moved].listed = place->listed;
    place->listed = NET_INTEREST_LIST_NONE;
}

static void list_place(net_interest* interest, uint32_t index, net_interest_list kind) {
    net_interest_place* place = &interest->places[index];
    if ((place->listed & 3) == (uint32_t)kind) return;
    unlist(interest, place);
    if (kind == NET_INTEREST_LIST_NONE) return;
    uint32_t* list = kind == NET_INTEREST_LIST_LOOSE ? interest->loose : interest->grouped;
    uint32_t* count =
        kind == NET_INTEREST_LIST_LOOSE ? &interest->loose_count : &interest->grouped_count;
    place->listed = *count << 2 | (uint32_t)kind;
    list[(*count)++] = index;
}

// Put a place into every order that finds it by its facts. @return false when memory ran out.
static bool file_place(net_interest* interest, uint32_t index, const float at[3]) {
    BASE_ASSERT(index < interest->index_end);
    const net_interest_place* place = &interest->places[index];
    const net_interest_facts* facts = &place->facts;
    bool is_there = place->row_template != NULL;
    net_interest_list kind = NET_INTEREST_LIST_NONE;
    if (is_there && facts->groups) kind = NET_INTEREST_LIST_GROUPED;
    if (is_there && net_interest_is_loose(facts)) kind = NET_INTEREST_LIST_LOOSE;
    list_place(interest, index, kind);
    interest->moved_step = interest->step;
    if (is_there) interest->traits[index] = net_interest_get_traits(place->row_template, facts);
    if (is_there && facts->has_position)
        net_interest_grid_put(&interest->entities, index, at, interest->step);
    else if (interest->has_grids)
        net_interest_grid_remove(&interest->entities, index, interest->step);
    if (interest->rules.owner &&
        !net_interest_lists_put(&interest->owned, index, is_there ? facts->owner : 0))
        return false;
    return !interest->rules.together ||
           net_interest_lists_put(&interest->together, index, is_there ? facts->together : 0);
}

static bool remove_place(net_interest* interest, uint32_t index) {
    if (index >= interest->index_end) return true;
    net_interest_place* place = &interest->places[index];
    // An entity that travelled with it may have been visible only because of it.
    if (place->row_template && place->facts.together) interest->global_step = interest->step;
    place->row_template = NULL;
    place->handle = ECS_ENTITY_NONE;
    return file_place(interest, index, NULL);
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

static bool take_new(net_interest* interest, const net_history_entity* entity) {
    BASE_ASSERT(entity && entity->row_template);
    uint32_t index = ecs_entity_index(entity->handle);
    if (!reserve_index(interest, index)) return false;
    net_interest_place* place = &interest->places[index];
    float at[3];
    net_interest_facts now;
    net_interest_facts_read(&interest->rules, interest->config.world, entity->handle, &now, at);
    // Its clients keep it, so they look again.
    const bool is_other = place->row_template && place->handle == entity->handle &&
                          !is_same_kind(&place->facts, &now);
    if (is_other) concern(interest, index);
    if (!remove_place(interest, index)) return false;
    place->row_template = entity->row_template;
    place->handle = entity->handle;
    place->revoked = interest->tick - 1;
    place->facts = now;
    if (!file_place(interest, index, at)) return false;
    if (is_other) concern(interest, index);
    return true;
}

static net_interest_place* find_place_of(net_interest* interest, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    if (index >= interest->index_end || interest->places[index].handle != handle) return NULL;
    return ecs_is_alive(interest->config.world, handle) ? &interest->places[index] : NULL;
}

// The usual change.
static void take_moved(net_interest* interest, ecs_entity handle) {
    float at[3];
    const net_interest_place* place = find_place_of(interest, handle);
    if (place && place->facts.has_position &&
        net_interest_position_read(&interest->rules, interest->config.world, handle, at)) {
        net_interest_grid_put(&interest->entities, ecs_entity_index(handle), at, interest->step);
        interest->moved_step = interest->step;
    }
}

// Read again what the rules name. A change beyond a movement concerns those who saw the entity, and
// those who see it now.
static bool take_changed(net_interest* interest, ecs_entity handle) {
    net_interest_place* place = find_place_of(interest, handle);
    const uint32_t index = ecs_entity_index(handle);
    if (!place) return true;
    float at[3];
    net_interest_facts now;
    net_interest_facts_read(&interest->rules, interest->config.world, handle, &now, at);
    const bool is_other = !is_same_kind(&place->facts, &now);
    if (is_other) concern(interest, index);
    place->facts = now;
    if (is_other) place->revoked = interest->tick - 1;
    if (!file_place(interest, index, at)) return false;
    if (is_other) concern(interest, index);
    return true;
}

static bool is_named(const net_bound_rules* rules, ecs_component_id id) {
    return id == rules->owner || id == rules->team || id == rules->groups || id == rules->together;
}

static bool take_all(net_interest* interest, const net_history* history) {
    for (uint32_t i = 0; i < net_history_index_end(history); i++) {
        const net_history_entity* entity = net_history_find(history, i);
        if (entity && !take_new(interest, entity)) return false;
    }
    return true;
}

static bool take_listed(net_interest* interest, const net_history* history) {
    uint32_t count;
    const net_history_event* events = net_history_events(history, &count);
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        uint32_t index = ecs_entity_index(events[i].handle);
        if (events[i].kind == NET_HISTORY_DESPAWNED)
            ok = remove_place(interest, index);
        else if (events[i].kind == NET_HISTORY_SPAWNED)
            ok = take_new(interest, net_history_find(history, index));
    }
    ecs_changes changes = ecs_changes_get(interest->config.world);
    for (uint32_t i = 0; i < changes.recreated_count && ok; i++)
        ok = take_changed(interest, changes.recreated[i]);
    for (uint32_t i = 0; i < changes.changed_count && ok; i++) {
        const ecs_change* change = &changes.changed[i];
        if (is_named(&interest->rules, change->component))
            ok = take_changed(interest, change->entity);
        else if (interest->has_grids && change->component == interest->rules.position)
            take_moved(interest, change->entity);
    }
    return ok;
}

net_result net_interest_step(net_interest* interest, const net_history* history, ecs_tick tick) {
    BASE_ASSERT(history && (interest->step == 0 || tick > interest->tick));
    interest->tick = tick;
    interest->concerned_count = 0;
    bool is_first = interest->step++ == 0;
    bool ok = is_first ? take_all(interest, history) : take_listed(interest, history);
    ok = ok && net_interest_step_turns(interest, history);
    if (NET_VALIDATE_ON && ok) net_interest_validate(interest);
    return ok ? NET_OK : NET_ERR_MEMORY;
}
