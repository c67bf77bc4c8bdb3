// SPDX-License-Identifier: MIT
// Who should have what, and how urgent.
//
// Without rules everybody sees every replicated entity. A client that just came is due once: its query
// answers what it lacks, which is everything; after that net_scopes_came tells of each new entity.
#include "scopes.h"

#include "base/assert.h"
#include "base/bitset.h"

#include <string.h>

typedef struct scope_place {
    const net_row_template* entry; // NULL: no replicated entity here
} scope_place;

typedef struct scope_client {
    uint32_t number;
    bool is_due;
    bool is_new;
    ecs_entity player;
} scope_client;

struct net_scopes {
    net_scopes_config config;
    scope_place* places; // [index]
    uint32_t place_capacity, index_end;
    scope_client* clients; // by number
    uint32_t client_count, client_capacity;
    base_bitset marks; // scratch: [index]
    net_scope_entry* enter;
    uint32_t enter_capacity;
    uint32_t* came_clients;
    uint32_t came_client_capacity;
    net_scope_entry* came_entries;
    uint32_t came_entry_capacity;
    bool has_stepped;
};

net_result net_scopes_create(const net_scopes_config* config, const base_reporter* reporter,
                             net_scopes** scopes) {
    BASE_ASSERT(config && config->world && config->rows && scopes);
    (void)reporter;
    *scopes = NULL;
    net_scopes* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->config = *config;
    base_bitset_init(&made->marks, config->allocator);
    *scopes = made;
    return NET_OK;
}

void net_scopes_destroy(net_scopes* scopes) {
    if (!scopes) return;
    const base_allocator* allocator = scopes->config.allocator;
    base_bitset_deinit(&scopes->marks);
    base_release(allocator, scopes->places, scopes->place_capacity * sizeof *scopes->places);
    base_release(allocator, scopes->clients, scopes->client_capacity * sizeof *scopes->clients);
    base_release(allocator, scopes->enter, scopes->enter_capacity * sizeof *scopes->enter);
    base_release(allocator, scopes->came_clients,
                 scopes->came_client_capacity * sizeof *scopes->came_clients);
    base_release(allocator, scopes->came_entries,
                 scopes->came_entry_capacity * sizeof *scopes->came_entries);
    base_release(allocator, scopes, sizeof *scopes);
}

static bool take(net_scopes* scopes, const net_history* history, uint32_t index) {
    const net_history_entity* entity = net_history_find(history, index);
    if (!base_array_reserve(scopes->config.allocator, (void**)&scopes->places,
                            &scopes->place_capacity, index + 1, sizeof *scopes->places) ||
        !base_bitset_reserve(&scopes->marks, scopes->place_capacity))
        return false;
    scopes->places[index].entry = entity ? entity->entry : NULL;
    if (index >= scopes->index_end) scopes->index_end = index + 1;
    return true;
}

net_result net_scopes_step(net_scopes* scopes, const net_history* history, ecs_tick tick) {
    (void)tick;
    uint32_t count;
    const net_history_event* events = net_history_events(history, &count);
    bool ok = true;
    if (!scopes->has_stepped) {
        for (uint32_t i = 0; i < net_history_index_end(history) && ok; i++)
            ok = take(scopes, history, i);
    }
    scopes->has_stepped = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        if (events[i].kind != NET_HISTORY_CHANGED)
            ok = take(scopes, history, ecs_entity_index(events[i].handle));
    }
    for (uint32_t i = 0; i < scopes->client_count; i++) {
        scopes->clients[i].is_due = scopes->clients[i].is_new;
        scopes->clients[i].is_new = false;
    }
    return ok ? NET_OK : NET_ERR_MEMORY;
}

static uint32_t find_place(const net_scopes* scopes, uint32_t client) {
    uint32_t low = 0, high = scopes->client_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (scopes->clients[middle].number < client) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static scope_client* find_client(const net_scopes* scopes, uint32_t client) {
    uint32_t at = find_place(scopes, client);
    bool is_there = at < scopes->client_count && scopes->clients[at].number == client;
    return is_there ? &scopes->clients[at] : NULL;
}

bool net_scopes_add_client(net_scopes* scopes, uint32_t client) {
    uint32_t at = find_place(scopes, client);
    BASE_ASSERT(!find_client(scopes, client));
    if (!base_array_reserve(scopes->config.allocator, (void**)&scopes->clients,
                            &scopes->client_capacity, scopes->client_count + 1,
                            sizeof *scopes->clients))
        return false;
    memmove(&scopes->clients[at + 1], &scopes->clients[at],
            (scopes->client_count - at) * sizeof *scopes->clients);
    scopes->clients[at] = (scope_client){.number = client, .is_new = true};
    scopes->client_count++;
    return true;
}

void net_scopes_remove_client(net_scopes* scopes, uint32_t client) {
    scope_client* found = find_client(scopes, client);
    if (!found) return;
    uint32_t at = (uint32_t)(found - scopes->clients);
    memmove(found, found + 1, (scopes->client_count - at - 1) * sizeof *found);
    scopes->client_count--;
}

void net_scopes_set_player(net_scopes* scopes, uint32_t client, ecs_entity player) {
    scope_client* found = find_client(scopes, client);
    if (found) found->player = player;
}

void net_scopes_set_groups(net_scopes* scopes, uint32_t client, uint64_t mask) {
    (void)scopes, (void)client, (void)mask;
}

void net_scopes_set_viewpoint(net_scopes* scopes, uint32_t client, const float position[3],
                              float radius) {
    (void)scopes, (void)client, (void)position, (void)radius;
}

void net_scopes_clear_viewpoint(net_scopes* scopes, uint32_t client) {
    (void)scopes, (void)client;
}

void net_scopes_refresh(net_scopes* scopes, uint32_t client) {
    scope_client* found = find_client(scopes, client);
    if (found) found->is_new = true;
}

bool net_scopes_is_due(const net_scopes* scopes, uint32_t client) {
    const scope_client* found = find_client(scopes, client);
    return found && found->is_due;
}

static net_scope_entry make_entry(uint32_t index, const net_row_template* entry) {
    uint16_t importance = entry->importance ? entry->importance : 1;
    return (net_scope_entry){
        .index = index, .classes = 1u << NET_CLASS_PUBLIC, .weight = (uint16_t)(importance * 8)};
}

bool net_scopes_query(net_scopes* scopes, uint32_t client, const net_scope_entry* members,
                      uint32_t member_count, net_scopes_answer* answer) {
    *answer = (net_scopes_answer){0};
    if (!find_client(scopes, client)) return true;
    base_bitset_clear_all(&scopes->marks);
    for (uint32_t i = 0; i < member_count; i++)
        base_bitset_add(&scopes->marks, members[i].index);
    uint32_t count = 0;
    for (uint32_t i = 0; i < scopes->index_end; i++) {
        if (!scopes->places[i].entry || base_bitset_has(&scopes->marks, i)) continue;
        if (!base_array_reserve(scopes->config.allocator, (void**)&scopes->enter,
                                &scopes->enter_capacity, count + 1, sizeof *scopes->enter))
            return false;
        scopes->enter[count++] = make_entry(i, scopes->places[i].entry);
    }
    answer->enter = scopes->enter;
    answer->enter_count = count;
    return true;
}

uint32_t net_scopes_came(net_scopes* scopes, uint32_t index, const uint32_t** clients,
                         const net_scope_entry** entries) {
    const base_allocator* allocator = scopes->config.allocator;
    uint32_t count = 0;
    if (index >= scopes->index_end || !scopes->places[index].entry) return 0;
    if (!base_array_reserve(allocator, (void**)&scopes->came_clients, &scopes->came_client_capacity,
                            scopes->client_count, sizeof *scopes->came_clients) ||
        !base_array_reserve(allocator, (void**)&scopes->came_entries, &scopes->came_entry_capacity,
                            scopes->client_count, sizeof *scopes->came_entries))
        return UINT32_MAX;
    for (; count < scopes->client_count; count++) {
        scopes->came_clients[count] = scopes->clients[count].number;
        scopes->came_entries[count] = make_entry(index, scopes->places[index].entry);
    }
    *clients = scopes->came_clients;
    *entries = scopes->came_entries;
    return count;
}

uint32_t net_scopes_judge(net_scopes* scopes, const ecs_world* world, uint32_t client,
                          ecs_entity entity, bool is_member) {
    (void)is_member, (void)client;
    if (!net_rows_find(scopes->config.rows, ecs_entity_template(world, entity))) return 0;
    return 1u << NET_CLASS_PUBLIC;
}

uint32_t net_scopes_class(const net_scopes* scopes, const char* name) {
    (void)scopes;
    static const char* const names[] = {"public", "owner", "team"};
    for (uint32_t i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) return i;
    return UINT32_MAX;
}
