// SPDX-License-Identifier: MIT
/// A fake interest: the test alone decides which client has which index and which classes it sees.
/// It replaces interest.c. Include it in one file of an executable.
#pragma once

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

struct net_interest {
    const net_history* history;
    uint32_t index_max;
    fake_client clients[FAKE_CLIENTS];
    net_interest_entity* enter;
    net_interest_entity* changed_to;
    uint32_t *leave, *changed;
    uint8_t* is_member;
    uint32_t came_clients[FAKE_CLIENTS];
    net_interest_entity came_entries[FAKE_CLIENTS];
    uint64_t queries;
};

static inline void* fake_array(size_t count, size_t bytes) {
    void* array = calloc(count, bytes);
    assert_non_null(array);
    return array;
}

static inline net_interest* fake_scopes_create(uint32_t index_max) {
    net_interest* interest = fake_array(1, sizeof *interest);
    interest->index_max = index_max;
    interest->enter = fake_array(index_max + 1, sizeof *interest->enter);
    interest->changed_to = fake_array(index_max + 1, sizeof *interest->changed_to);
    interest->leave = fake_array(index_max + 1, sizeof *interest->leave);
    interest->changed = fake_array(index_max + 1, sizeof *interest->changed);
    interest->is_member = fake_array(index_max + 1, 1);
    for (uint32_t c = 0; c < FAKE_CLIENTS; c++) {
        interest->clients[c].at = fake_array(index_max + 1, sizeof(fake_scope));
        for (uint32_t i = 0; i <= index_max; i++)
            interest->clients[c].at[i] = (fake_scope){.classes = 1, .weight = 8};
    }
    return interest;
}

static inline fake_scope* fake_scope_at(net_interest* interest, uint32_t client, uint32_t index) {
    return &interest->clients[client].at[index];
}

static inline void fake_scopes_destroy(net_interest* interest) {
    for (uint32_t c = 0; c < FAKE_CLIENTS; c++)
        free(interest->clients[c].at);
    free(interest->enter);
    free(interest->changed_to);
    free(interest->leave);
    free(interest->changed);
    free(interest->is_member);
    free(interest);
}

void net_interest_step(net_interest* interest, const net_history* history, ecs_tick tick) {
    interest->history = history;
}

void net_interest_add_client(net_interest* interest, uint32_t client) {
    interest->clients[client].is_there = true;
}

void net_interest_remove_client(net_interest* interest, uint32_t client) {
    interest->clients[client].is_there = false;
}

bool net_interest_is_due(const net_interest* interest, uint32_t client) {
    return interest->clients[client].is_there;
}

bool net_interest_has_due(const net_interest* interest) {
    return true;
}

static inline net_interest_entity fake_entry(const net_interest* interest, uint32_t client,
                                             uint32_t index) {
    const fake_scope* scope = &interest->clients[client].at[index];
    return (net_interest_entity){
        .index = index, .group = scope->group, .classes = scope->classes, .weight = scope->weight};
}

void net_interest_query(net_interest* interest, uint32_t lane, uint32_t client,
                        const net_interest_entity* members, uint32_t member_count,
                        net_interest_answer* answer) {
    *answer = (net_interest_answer){.enter = interest->enter,
                                    .leave = interest->leave,
                                    .changed = interest->changed,
                                    .changed_to = interest->changed_to};
    interest->queries++;
    if (!interest->history || !interest->clients[client].is_there) return;
    memset(interest->is_member, 0, interest->index_max + 1);
    for (uint32_t i = 0; i < member_count; i++) {
        uint32_t index = members[i].index;
        if (index == 0) continue;
        net_interest_entity now = fake_entry(interest, client, index);
        assert_false(interest->is_member[index]); // an index is added only once
        assert_non_null(net_history_find(interest->history, index));
        interest->is_member[index] = 1;
        if (interest->clients[client].at[index].is_hidden) {
            interest->leave[answer->leave_count++] = i;
        } else if (now.classes != members[i].classes || now.weight != members[i].weight ||
                   now.group != members[i].group) {
            interest->changed_to[answer->changed_count] = now;
            interest->changed[answer->changed_count++] = i;
        }
    }
    for (uint32_t i = 1; i <= interest->index_max; i++) {
        if (interest->is_member[i] || interest->clients[client].at[i].is_hidden) continue;
        if (net_history_find(interest->history, i))
            interest->enter[answer->enter_count++] = fake_entry(interest, client, i);
    }
}

uint32_t net_interest_get_observers(net_interest* interest, uint32_t index,
                                    const uint32_t** clients, const net_interest_entity** entries) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < FAKE_CLIENTS; c++) {
        if (!interest->clients[c].is_there || interest->clients[c].at[index].is_hidden) continue;
        interest->came_clients[count] = c;
        interest->came_entries[count++] = fake_entry(interest, c, index);
    }
    *clients = interest->came_clients;
    *entries = interest->came_entries;
    return count;
}
