// SPDX-License-Identifier: MIT
// Who should have what, and how urgent: what is known of entities and clients.
//
// The world is looked at in net_scopes_step alone, and only where something changed: what came or went by
// the history's events, what the rules name by the world's own list of changes, since a position may decide
// without ever being sent. All that a query needs is copied into a place per index, and into four orders
// over these: a grid of positions, lists by owner, lists of what travels together, and two plain
// lists of what distance does not decide (everybody sees it, or groups do).
//
// A client is looked at every NET_INTEREST_EVERY_TICKS steps, each in its own turn, and then only
// when something within its reach moved, or it did: buckets of the grid and `global_step` say so. What came
// does not wait: net_scopes_came finds its clients through a grid of viewpoints. The exception is what
// travels together: it enters as a whole, so those who may see it are made due at once instead.
//
// Invariants: a place is in the grid when distance decides about it and in a list when it belongs there; a
// slot of a client does not move while it lives; nothing iterates in hash order.
// Left to others: whose turn it is and asking the module (scopes_turn.c), what follows (scopes_query.c).
#include "interest/interest_internal.h"

#include "base/assert.h"

#include <string.h>

net_result net_scopes_create(const net_scopes_config* config, const base_reporter* reporter,
                             net_scopes** scopes) {
    BASE_ASSERT(config && config->world && config->rows && scopes && config->index_max >= 1);
    *scopes = NULL;
    net_scope_rules rules;
    net_result result = net_scope_rules_bind(config->world, config->rules, reporter, &rules);
    if (result != NET_OK) return result;
    net_scopes* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->config = *config;
    made->rules = rules;
    made->stay_ticks =
        (uint32_t)(((uint64_t)NET_INTEREST_STAY_MS * config->tick_rate_hz + 999) / 1000);
    net_scope_lists_init(&made->owned, config->allocator);
    net_scope_lists_init(&made->together, config->allocator);
    base_bitset_init(&made->entering, config->allocator);
    base_bitset_init(&made->seers, config->allocator);
    made->has_grids = rules.radius > 0.0f;
    // In three dimensions a quarter would be a thousand cells in sight, most of them empty.
    float cell = rules.dimensions == 2 ? rules.radius / 4 : rules.radius / 2;
    bool is_made = true;
    if (made->has_grids) {
        // Both, so that both may be deinited.
        is_made = net_scope_grid_init(&made->entities, config->allocator, rules.dimensions, cell);
        is_made = net_scope_grid_init(&made->viewpoints, config->allocator, rules.dimensions,
                                      rules.radius) &&
                  is_made;
    }
    if (!is_made) {
        net_scopes_destroy(made);
        return NET_ERR_MEMORY;
    }
    *scopes = made;
    return NET_OK;
}

void net_scopes_destroy(net_scopes* scopes) {
    if (!scopes) return;
    const base_allocator* allocator = scopes->config.allocator;
    const struct {
        void* memory;
        size_t bytes;
    } blocks[] = {
        {scopes->places, scopes->place_capacity * sizeof *scopes->places},
        {scopes->traits, scopes->trait_capacity * sizeof *scopes->traits},
        {scopes->loose, scopes->loose_capacity * sizeof *scopes->loose},
        {scopes->grouped, scopes->grouped_capacity * sizeof *scopes->grouped},
        {scopes->clients, scopes->client_capacity * sizeof *scopes->clients},
        {scopes->turns, scopes->turn_capacity * sizeof *scopes->turns},
        {scopes->players, scopes->player_capacity * sizeof *scopes->players},
        {scopes->order, scopes->order_capacity * sizeof *scopes->order},
        {scopes->wide, scopes->wide_capacity * sizeof *scopes->wide},
        {scopes->said, scopes->said_capacity * sizeof *scopes->said},
        {scopes->came, scopes->came_capacity * sizeof *scopes->came},
        {scopes->came_clients, scopes->came_client_capacity * sizeof *scopes->came_clients},
        {scopes->came_entries, scopes->came_entry_capacity * sizeof *scopes->came_entries},
        {scopes->marks, scopes->mark_capacity * sizeof *scopes->marks},
        {scopes->inside, scopes->inside_capacity * sizeof *scopes->inside},
        {scopes->enter, scopes->enter_capacity * sizeof *scopes->enter},
        {scopes->changed_to, scopes->changed_to_capacity * sizeof *scopes->changed_to},
        {scopes->leave, scopes->leave_capacity * sizeof *scopes->leave},
        {scopes->changed, scopes->changed_capacity * sizeof *scopes->changed},
    };
    for (uint32_t i = 0; i < BASE_COUNT(blocks); i++)
        base_release(allocator, blocks[i].memory, blocks[i].bytes);
    if (scopes->has_grids) {
        net_scope_grid_deinit(&scopes->entities);
        net_scope_grid_deinit(&scopes->viewpoints);
    }
    net_scope_lists_deinit(&scopes->owned);
    net_scope_lists_deinit(&scopes->together);
    base_bitset_deinit(&scopes->entering);
    base_bitset_deinit(&scopes->seers);
    base_release(allocator, scopes, sizeof *scopes);
}

// ---- entities ----

static bool reserve_index(net_scopes* scopes, uint32_t index) {
    const base_allocator* allocator = scopes->config.allocator;
    if (!base_array_reserve(allocator, (void**)&scopes->places, &scopes->place_capacity, index + 1,
                            sizeof *scopes->places))
        return false;
    uint32_t room = scopes->place_capacity;
    bool ok = base_array_reserve(allocator, (void**)&scopes->traits, &scopes->trait_capacity, room,
                                 sizeof *scopes->traits) &&
              base_array_reserve(allocator, (void**)&scopes->loose, &scopes->loose_capacity, room,
                                 sizeof *scopes->loose) &&
              base_array_reserve(allocator, (void**)&scopes->grouped, &scopes->grouped_capacity,
                                 room, sizeof *scopes->grouped) &&
              base_array_reserve(allocator, (void**)&scopes->marks, &scopes->mark_capacity, room,
                                 sizeof *scopes->marks) &&
              base_array_reserve(allocator, (void**)&scopes->inside, &scopes->inside_capacity, room,
                                 sizeof *scopes->inside) &&
              base_bitset_reserve(&scopes->entering, room) &&
              (!scopes->has_grids || net_scope_grid_reserve(&scopes->entities, room)) &&
              (!scopes->rules.owner || net_scope_lists_reserve(&scopes->owned, room)) &&
              (!scopes->rules.together || net_scope_lists_reserve(&scopes->together, room));
    if (ok && index >= scopes->index_end) scopes->index_end = index + 1;
    return ok;
}

// Take it out of the list that it is in: the last one takes its place.
static void unlist(net_scopes* scopes, net_scope_place* place) {
    net_scope_list kind = (net_scope_list)(place->listed & 3);
    if (kind == NET_SCOPE_LIST_NONE) return;
    uint32_t* list = kind == NET_SCOPE_LIST_LOOSE ? scopes->loose : scopes->grouped;
    uint32_t* count = kind == NET_SCOPE_LIST_LOOSE ? &scopes->loose_count : &scopes->grouped_count;
    uint32_t moved = list[--*count];
    list[place->listed >> 2] = moved;
    scopes->places[moved].listed = place->listed;
    place->listed = NET_SCOPE_LIST_NONE;
}

static void list_place(net_scopes* scopes, uint32_t index, net_scope_list kind) {
    net_scope_place* place = &scopes->places[index];
    if ((place->listed & 3) == (uint32_t)kind) return;
    unlist(scopes, place);
    if (kind == NET_SCOPE_LIST_NONE) return;
    uint32_t* list = kind == NET_SCOPE_LIST_LOOSE ? scopes->loose : scopes->grouped;
    uint32_t* count = kind == NET_SCOPE_LIST_LOOSE ? &scopes->loose_count : &scopes->grouped_count;
    place->listed = *count << 2 | (uint32_t)kind;
    list[(*count)++] = index;
}

// Everything that finds a place follows its facts. @return false when memory ran out.
static bool file_place(net_scopes* scopes, uint32_t index, const float at[3]) {
    const net_scope_place* place = &scopes->places[index];
    const net_scope_facts* facts = &place->facts;
    bool is_there = place->entry != NULL;
    net_scope_list kind = NET_SCOPE_LIST_NONE;
    if (is_there && facts->groups) kind = NET_SCOPE_LIST_GROUPED;
    if (is_there && net_scope_is_loose(facts)) kind = NET_SCOPE_LIST_LOOSE;
    list_place(scopes, index, kind);
    scopes->moved_step = scopes->step;
    if (is_there) scopes->traits[index] = net_scopes_traits(place->entry, facts);
    if (is_there && facts->has_position)
        net_scope_grid_put(&scopes->entities, index, at, scopes->step);
    else if (scopes->has_grids)
        net_scope_grid_remove(&scopes->entities, index, scopes->step);
    if (scopes->rules.owner &&
        !net_scope_lists_put(&scopes->owned, index, is_there ? facts->owner : 0))
        return false;
    return !scopes->rules.together ||
           net_scope_lists_put(&scopes->together, index, is_there ? facts->together : 0);
}

static bool remove_place(net_scopes* scopes, uint32_t index) {
    if (index >= scopes->index_end) return true;
    net_scope_place* place = &scopes->places[index];
    // What travelled with it may have been seen for its sake alone.
    if (place->entry && place->facts.together) scopes->global_step = scopes->step;
    place->entry = NULL;
    place->handle = ECS_ENTITY_NONE;
    return file_place(scopes, index, NULL);
}

static bool is_same_kind(const net_scope_facts* a, const net_scope_facts* b) {
    return a->owner == b->owner && a->team == b->team && a->together == b->together &&
           a->groups == b->groups && a->has_position == b->has_position &&
           a->has_groups == b->has_groups && a->is_always == b->is_always;
}

static bool take_new(net_scopes* scopes, const net_history_entity* entity) {
    uint32_t index = ecs_entity_index(entity->handle);
    if (!reserve_index(scopes, index)) return false;
    net_scope_place* place = &scopes->places[index];
    bool goes_on = place->entry && place->handle == entity->handle;
    const net_scope_facts before = place->facts;
    if (!remove_place(scopes, index)) return false;
    float at[3];
    place->entry = entity->entry;
    place->handle = entity->handle;
    place->revoked = scopes->tick - 1;
    net_scope_facts_read(&scopes->rules, scopes->config.world, entity->handle, &place->facts, at);
    // Whoever has it keeps it until its turn: that must come.
    if (goes_on && !is_same_kind(&before, &place->facts)) scopes->global_step = scopes->step;
    return file_place(scopes, index, at);
}

static net_scope_place* find_place_of(net_scopes* scopes, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    if (index >= scopes->index_end || scopes->places[index].handle != handle) return NULL;
    return ecs_is_alive(scopes->config.world, handle) ? &scopes->places[index] : NULL;
}

// What most changes are.
static void take_moved(net_scopes* scopes, ecs_entity handle) {
    float at[3];
    const net_scope_place* place = find_place_of(scopes, handle);
    if (place && place->facts.has_position &&
        net_scope_position_read(&scopes->rules, scopes->config.world, handle, at)) {
        net_scope_grid_put(&scopes->entities, ecs_entity_index(handle), at, scopes->step);
        scopes->moved_step = scopes->step;
    }
}

// Read anew what the rules name. More than a movement may concern everybody.
static bool take_changed(net_scopes* scopes, ecs_entity handle) {
    net_scope_place* place = find_place_of(scopes, handle);
    if (!place) return true;
    float at[3];
    net_scope_facts before = place->facts;
    net_scope_facts* facts = &place->facts;
    net_scope_facts_read(&scopes->rules, scopes->config.world, handle, facts, at);
    if (!is_same_kind(&before, facts)) {
        scopes->global_step = scopes->step;
        place->revoked = scopes->tick - 1;
    }
    return file_place(scopes, ecs_entity_index(handle), at);
}

static bool is_named(const net_scope_rules* rules, ecs_component_id id) {
    return id == rules->owner || id == rules->team || id == rules->groups || id == rules->together;
}

static bool take_all(net_scopes* scopes, const net_history* history) {
    for (uint32_t i = 0; i < net_history_index_end(history); i++) {
        const net_history_entity* entity = net_history_find(history, i);
        if (entity && !take_new(scopes, entity)) return false;
    }
    return true;
}

static bool take_listed(net_scopes* scopes, const net_history* history) {
    uint32_t count;
    const net_history_event* events = net_history_events(history, &count);
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        uint32_t index = ecs_entity_index(events[i].handle);
        if (events[i].kind == NET_HISTORY_WENT)
            ok = remove_place(scopes, index);
        else if (events[i].kind == NET_HISTORY_CAME)
            ok = take_new(scopes, net_history_find(history, index));
    }
    ecs_changes changes = ecs_changes_get(scopes->config.world);
    for (uint32_t i = 0; i < changes.recreated_count && ok; i++)
        ok = take_changed(scopes, changes.recreated[i]);
    for (uint32_t i = 0; i < changes.changed_count && ok; i++) {
        const ecs_change* change = &changes.changed[i];
        if (is_named(&scopes->rules, change->component))
            ok = take_changed(scopes, change->entity);
        else if (scopes->has_grids && change->component == scopes->rules.position)
            take_moved(scopes, change->entity);
    }
    return ok;
}

net_result net_scopes_step(net_scopes* scopes, const net_history* history, ecs_tick tick) {
    scopes->tick = tick;
    bool is_first = scopes->step++ == 0;
    bool ok = is_first ? take_all(scopes, history) : take_listed(scopes, history);
    ok = ok && net_scopes_turn(scopes, history);
    return ok ? NET_OK : NET_ERR_MEMORY;
}

// ---- clients ----

static uint32_t find_order(const net_scopes* scopes, uint32_t client) {
    uint32_t low = 0, high = scopes->order_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (scopes->order[middle].number < client) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

net_scope_client* net_scopes_find(const net_scopes* scopes, uint32_t client) {
    uint32_t at = find_order(scopes, client);
    bool is_there = at < scopes->order_count && scopes->order[at].number == client;
    return is_there ? &scopes->clients[scopes->order[at].slot] : NULL;
}

static uint32_t slot_of(const net_scopes* scopes, const net_scope_client* client) {
    return (uint32_t)(client - scopes->clients);
}

static bool reserve_client(net_scopes* scopes) {
    const base_allocator* allocator = scopes->config.allocator;
    uint32_t room = scopes->slot_count + 1;
    return base_array_reserve(allocator, (void**)&scopes->clients, &scopes->client_capacity, room,
                              sizeof *scopes->clients) &&
           base_array_reserve(allocator, (void**)&scopes->turns, &scopes->turn_capacity, room,
                              sizeof *scopes->turns) &&
           base_array_reserve(allocator, (void**)&scopes->players, &scopes->player_capacity, room,
                              sizeof *scopes->players) &&
           base_array_reserve(allocator, (void**)&scopes->order, &scopes->order_capacity, room,
                              sizeof *scopes->order) &&
           base_array_reserve(allocator, (void**)&scopes->wide, &scopes->wide_capacity, room,
                              sizeof *scopes->wide) &&
           base_array_reserve(allocator, (void**)&scopes->came_clients,
                              &scopes->came_client_capacity, room, sizeof *scopes->came_clients) &&
           base_array_reserve(allocator, (void**)&scopes->came_entries,
                              &scopes->came_entry_capacity, room, sizeof *scopes->came_entries) &&
           base_bitset_reserve(&scopes->seers, room) &&
           (!scopes->has_grids || net_scope_grid_reserve(&scopes->viewpoints, room + 1));
}

// The turn with the fewest clients.
static uint8_t pick_turn(const net_scopes* scopes) {
    uint32_t counts[NET_INTEREST_EVERY_TICKS] = {0};
    for (uint32_t i = 0; i < scopes->order_count; i++)
        counts[scopes->turns[scopes->order[i].slot].turn]++;
    uint32_t best = 0;
    for (uint32_t i = 1; i < NET_INTEREST_EVERY_TICKS; i++)
        if (counts[i] < counts[best]) best = i;
    return (uint8_t)best;
}

static void renumber(net_scopes* scopes, uint32_t from) {
    for (uint32_t i = from; i < scopes->order_count; i++)
        scopes->clients[scopes->order[i].slot].order = i;
}

bool net_scopes_add_client(net_scopes* scopes, uint32_t client) {
    BASE_ASSERT(client > 0 && !net_scopes_find(scopes, client));
    uint32_t slot = 0;
    while (slot < scopes->slot_count && scopes->clients[slot].number)
        slot++;
    if (slot == scopes->slot_count && !reserve_client(scopes)) return false;
    uint8_t turn = pick_turn(scopes);
    if (slot == scopes->slot_count) scopes->slot_count++;
    uint32_t at = find_order(scopes, client);
    memmove(&scopes->order[at + 1], &scopes->order[at],
            (scopes->order_count - at) * sizeof *scopes->order);
    scopes->order_count++;
    scopes->order[at] = (net_scope_order){client, slot};
    scopes->clients[slot] = (net_scope_client){.number = client, .radius = scopes->rules.radius};
    scopes->turns[slot] = (net_scope_turn){.turn = turn, .is_forced = true};
    scopes->players[slot] = ECS_ENTITY_NONE;
    renumber(scopes, at);
    return true;
}

static void set_wide(net_scopes* scopes, uint32_t slot, bool is_wide) {
    uint32_t at = 0;
    while (at < scopes->wide_count && scopes->wide[at] != slot)
        at++;
    if (is_wide && at == scopes->wide_count)
        scopes->wide[scopes->wide_count++] = slot;
    else if (!is_wide && at < scopes->wide_count)
        scopes->wide[at] = scopes->wide[--scopes->wide_count];
}

void net_scopes_remove_client(net_scopes* scopes, uint32_t client) {
    net_scope_client* found = net_scopes_find(scopes, client);
    if (!found) return;
    uint32_t at = found->order, slot = slot_of(scopes, found);
    if (scopes->has_grids) net_scope_grid_remove(&scopes->viewpoints, slot + 1, scopes->step);
    set_wide(scopes, slot, false);
    memmove(&scopes->order[at], &scopes->order[at + 1],
            (scopes->order_count - at - 1) * sizeof *scopes->order);
    scopes->order_count--;
    *found = (net_scope_client){0};
    scopes->turns[slot] = (net_scope_turn){0};
    scopes->players[slot] = ECS_ENTITY_NONE;
    renumber(scopes, at);
}

void net_scopes_refresh(net_scopes* scopes, uint32_t client) {
    net_scope_client* found = net_scopes_find(scopes, client);
    if (found) scopes->turns[slot_of(scopes, found)].is_forced = true;
}

void net_scopes_set_player(net_scopes* scopes, uint32_t client, ecs_entity player) {
    net_scope_client* found = net_scopes_find(scopes, client);
    if (!found || found->player == player) return;
    found->player = player;
    found->is_changed = true;
    scopes->players[slot_of(scopes, found)] = player;
    net_scopes_refresh(scopes, client);
}

void net_scopes_set_groups(net_scopes* scopes, uint32_t client, uint64_t mask) {
    net_scope_client* found = net_scopes_find(scopes, client);
    if (!found || found->groups == mask) return;
    found->groups = mask;
    found->is_changed = true;
    found->revoked = scopes->tick;
    net_scopes_refresh(scopes, client);
}

void net_scopes_set_viewpoint(net_scopes* scopes, uint32_t client, const float position[3],
                              float radius) {
    net_scope_client* found = net_scopes_find(scopes, client);
    if (!found || !scopes->has_grids) return;
    // Written so that NaN is the rules' radius.
    found->radius = radius > 0.0f && radius <= 1e9f ? radius : scopes->rules.radius;
    memcpy(found->at, position, sizeof found->at);
    if (scopes->rules.dimensions == 2) found->at[2] = 0.0f;
    found->has_at = found->is_at_set = found->is_changed = true;
    uint32_t slot = slot_of(scopes, found);
    net_scope_grid_put(&scopes->viewpoints, slot + 1, found->at, scopes->step);
    set_wide(scopes, slot, found->radius > scopes->rules.radius);
    net_scopes_refresh(scopes, client);
}

void net_scopes_clear_viewpoint(net_scopes* scopes, uint32_t client) {
    net_scope_client* found = net_scopes_find(scopes, client);
    if (!found || !found->is_at_set) return;
    found->is_at_set = false;
    found->is_changed = true;
    found->radius = scopes->rules.radius;
    set_wide(scopes, slot_of(scopes, found), false);
    net_scopes_refresh(scopes, client);
}

bool net_scopes_is_due(const net_scopes* scopes, uint32_t client) {
    const net_scope_client* found = net_scopes_find(scopes, client);
    return found && scopes->turns[slot_of(scopes, found)].is_due;
}

net_scope_traits net_scopes_traits(const net_row_template* entry, const net_scope_facts* facts) {
    uint32_t classes = entry->class_mask | entry->large_mask | 1u << NET_CLASS_PUBLIC;
    return (net_scope_traits){.owner = facts->owner,
                              .team = facts->team,
                              .together = facts->together,
                              .classes = (uint16_t)classes,
                              .importance = (uint8_t)entry->importance,
                              .has_position = facts->has_position};
}

uint32_t net_scopes_class(const net_scopes* scopes, const char* name) {
    return net_rows_class(scopes->config.rows, name);
}
