// SPDX-License-Identifier: MIT
/// Interest by decree: a test says which client has which index, how it sees it, and nothing else decides.
/// It stands in for scopes.c: include it in one file of an executable.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "interest/interest_manager.h"

enum { FAKE_CLIENTS = 8 };

typedef struct fake_scope {
    bool is_hidden;
    uint16_t classes, weight;
    uint32_t group;
} fake_scope;

typedef struct fake_client {
    bool is_there;
    fake_scope* at; // [index]
} fake_client;

struct net_scopes {
    const net_history* history;
    uint32_t index_max;
    fake_client clients[FAKE_CLIENTS];
    net_scope_entry* enter;
    net_scope_entry* changed_to;
    uint32_t *leave, *changed;
    uint8_t* is_member;
    uint32_t came_clients[FAKE_CLIENTS];
    net_scope_entry came_entries[FAKE_CLIENTS];
    uint64_t queries;
};

static inline void* fake_array(size_t count, size_t bytes) {
    void* array = calloc(count, bytes);
    assert_non_null(array);
    return array;
}

static inline net_scopes* fake_scopes_create(uint32_t index_max) {
    net_scopes* scopes = fake_array(1, sizeof *scopes);
    scopes->index_max = index_max;
    scopes->enter = fake_array(index_max + 1, sizeof *scopes->enter);
    scopes->changed_to = fake_array(index_max + 1, sizeof *scopes->changed_to);
    scopes->leave = fake_array(index_max + 1, sizeof *scopes->leave);
    scopes->changed = fake_array(index_max + 1, sizeof *scopes->changed);
    scopes->is_member = fake_array(index_max + 1, 1);
    for (uint32_t c = 0; c < FAKE_CLIENTS; c++) {
        scopes->clients[c].at = fake_array(index_max + 1, sizeof(fake_scope));
        for (uint32_t i = 0; i <= index_max; i++)
            scopes->clients[c].at[i] = (fake_scope){.classes = 1, .weight = 8};
    }
    return scopes;
}

static inline fake_scope* fake_scope_at(net_scopes* scopes, uint32_t client, uint32_t index) {
    return &scopes->clients[client].at[index];
}

static inline void fake_scopes_destroy(net_scopes* scopes) {
    for (uint32_t c = 0; c < FAKE_CLIENTS; c++)
        free(scopes->clients[c].at);
    free(scopes->enter);
    free(scopes->changed_to);
    free(scopes->leave);
    free(scopes->changed);
    free(scopes->is_member);
    free(scopes);
}

net_result net_scopes_step(net_scopes* scopes, const net_history* history, ecs_tick tick) {
    (void)tick;
    scopes->history = history;
    return NET_OK;
}

bool net_scopes_add_client(net_scopes* scopes, uint32_t client) {
    scopes->clients[client].is_there = true;
    return true;
}

void net_scopes_remove_client(net_scopes* scopes, uint32_t client) {
    scopes->clients[client].is_there = false;
}

bool net_scopes_is_due(const net_scopes* scopes, uint32_t client) {
    return scopes->clients[client].is_there;
}

static inline net_scope_entry fake_entry(const net_scopes* scopes, uint32_t client,
                                         uint32_t index) {
    const fake_scope* scope = &scopes->clients[client].at[index];
    return (net_scope_entry){
        .index = index, .group = scope->group, .classes = scope->classes, .weight = scope->weight};
}

bool net_scopes_query(net_scopes* scopes, uint32_t client, const net_scope_entry* members,
                      uint32_t member_count, net_scopes_answer* answer) {
    *answer = (net_scopes_answer){.enter = scopes->enter,
                                  .leave = scopes->leave,
                                  .changed = scopes->changed,
                                  .changed_to = scopes->changed_to};
    scopes->queries++;
    if (!scopes->history || !scopes->clients[client].is_there) return true;
    memset(scopes->is_member, 0, scopes->index_max + 1);
    for (uint32_t i = 0; i < member_count; i++) {
        uint32_t index = members[i].index;
        net_scope_entry now = fake_entry(scopes, client, index);
        assert_false(scopes->is_member[index]); // once
        assert_non_null(net_history_find(scopes->history, index));
        scopes->is_member[index] = 1;
        if (scopes->clients[client].at[index].is_hidden) {
            scopes->leave[answer->leave_count++] = i;
        } else if (now.classes != members[i].classes || now.weight != members[i].weight ||
                   now.group != members[i].group) {
            scopes->changed_to[answer->changed_count] = now;
            scopes->changed[answer->changed_count++] = i;
        }
    }
    for (uint32_t i = 1; i <= scopes->index_max; i++) {
        if (scopes->is_member[i] || scopes->clients[client].at[i].is_hidden) continue;
        if (net_history_find(scopes->history, i))
            scopes->enter[answer->enter_count++] = fake_entry(scopes, client, i);
    }
    return true;
}

uint32_t net_scopes_came(net_scopes* scopes, uint32_t index, const uint32_t** clients,
                         const net_scope_entry** entries) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < FAKE_CLIENTS; c++) {
        if (!scopes->clients[c].is_there || scopes->clients[c].at[index].is_hidden) continue;
        scopes->came_clients[count] = c;
        scopes->came_entries[count++] = fake_entry(scopes, c, index);
    }
    *clients = scopes->came_clients;
    *entries = scopes->came_entries;
    return count;
}
