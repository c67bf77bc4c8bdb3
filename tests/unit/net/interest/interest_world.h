// SPDX-License-Identifier: MIT
/// Shared code for the interest tests: a world with everything that rules can name. The members of
/// a client are kept in the same way as a repl_state keeps them.
#pragma once

#include "schema_made.h"

#include "scope_explained.h"

static const char interest_text[] =
    "dot { \"at:p2\"{ _track:b=yes } \"hp:i\"{ _replicate:b=yes } }\n"
    "flag { \"score:i\"{ _replicate:b=yes } }\n"
    "unit { _extends:t=dot; _priority:i=4; \"mine:u32\"{ _track:b=yes } \"side:u8\"{ _track:b=yes "
    "}\n"
    "  \"ammo:i\"{ _replicate:b=yes; _visible:t=owner } \"plan:i\"{ _replicate:b=yes; "
    "_visible:t=team }\n"
    "  \"spy:i\"{ _replicate:b=yes; _visible:t=agents } }\n"
    "sun { _extends:t=dot; \"everywhere:tag\"{} }\n"
    "room { \"door:u64\"{ _track:b=yes } \"hp:i\"{ _replicate:b=yes } }\n"
    "guest { _extends:t=dot; \"door:u64\"{ _track:b=yes } }\n"
    "part { _extends:t=dot; \"whole:u32\"{ _track:b=yes } }\n"
    "bare { _extends:t=unit; \"door:u64\"{ _track:b=yes } \"whole:u32\"{ _track:b=yes } }\n"
    "shade { \"at:p2\"{ _track:b=yes } }\n";

#define SCOPES_RADIUS 100.0f
#define SCOPES_HZ 20u
#define SCOPES_INDEX_MAX 4000u
#define SCOPES_CLIENTS_MAX 12u

typedef struct interest_member {
    net_interest_entity entries[SCOPES_INDEX_MAX];
    uint32_t count;
} interest_member;

typedef struct interest_table {
    ecs_world* world;
    net_schema* schema;
    net_rows* rows;
    net_history* history;
    net_interest* interest;
    net_interest_rules rules;
    ecs_tick tick;
    interest_member* members; ///< [client]
    bool has_client[SCOPES_CLIENTS_MAX];
    /// counts of the last step: entities that came, and the results of the queries
    uint32_t entered, left, changed;
    uint32_t queries;
    ecs_entity player; ///< of client 1, in the cases that begin with one
    ecs_component_id at, hp, mine, side, door, whole;
} interest_table;

static inline net_interest_rules interest_rules(void) {
    return (net_interest_rules){.size_bytes = sizeof(net_interest_rules),
                                .position = "at",
                                .radius = SCOPES_RADIUS,
                                .always = "everywhere",
                                .owner = "mine",
                                .team = "side",
                                .groups = "door",
                                .together = "whole"};
}

/// Open with these rules (NULL: none). Only the interest uses `allocator`.
static inline void interest_open_with(interest_table* t, const char* text,
                                      const net_interest_rules* rules, void* context,
                                      const base_allocator* allocator) {
    memset(t, 0, sizeof *t);
    const schema_wanted wanted = {.index_max = SCOPES_INDEX_MAX - 1};
    t->schema = schema_made(text, wanted, &t->world);
    t->rows = net_schema_rows(t->schema);
    t->history = net_history_create(NULL, t->rows, SCOPES_INDEX_MAX - 1);
    if (rules) t->rules = *rules;
    const net_interest_config config = {.allocator = allocator,
                                        .rules = rules ? &t->rules : NULL,
                                        .context = context,
                                        .world = t->world,
                                        .rows = t->rows,
                                        .index_max = SCOPES_INDEX_MAX - 1,
                                        .tick_rate_hz = SCOPES_HZ};
    assert_ok(net_interest_create(&config, test_reporter(), &t->interest));
    t->members = calloc(SCOPES_CLIENTS_MAX, sizeof *t->members);
    assert_non_null(t->members);
    t->at = ecs_component_find(t->world, "at");
    t->hp = ecs_component_find(t->world, "hp");
    t->mine = ecs_component_find(t->world, "mine");
    t->side = ecs_component_find(t->world, "side");
    t->door = ecs_component_find(t->world, "door");
    t->whole = ecs_component_find(t->world, "whole");
}

static inline void interest_open(interest_table* t, const net_interest_rules* rules,
                                 void* context) {
    interest_open_with(t, interest_text, rules, context, NULL);
}

static inline void interest_close(interest_table* t) {
    base_owner_destroy(t->interest);
    base_owner_destroy(t->history);
    schema_unmake(t->schema, t->world);
    free(t->members);
}

static inline ecs_entity interest_make(interest_table* t, const char* name, float x, float y) {
    ecs_template_id id = ecs_template_find(t->world, name);
    const ecs_vec2 at = {x, y};
    const ecs_init init = {t->at, &at};
    bool has_at = ecs_template_find_component(ecs_template_get(t->world, id), t->at) != NULL;
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_ok(ecs_create(t->world, id, &init, has_at, &entity));
    return entity;
}

static inline void interest_move(interest_table* t, ecs_entity entity, float x, float y) {
    assert_ok(ecs_set(t->world, entity, t->at, &(ecs_vec2){x, y}));
}

static inline void interest_set(interest_table* t, ecs_entity entity, ecs_component_id id,
                                uint64_t value) {
    assert_ok(ecs_set(t->world, entity, id, &value));
}

static inline void interest_join(interest_table* t, uint32_t client, ecs_entity player) {
    assert_true(client < SCOPES_CLIENTS_MAX && !t->has_client[client]);
    net_interest_add_client(t->interest, client);
    if (player != ECS_ENTITY_NONE) net_interest_set_player(t->interest, client, player);
    t->has_client[client] = true;
    t->members[client].count = 0;
}

static inline void interest_leave(interest_table* t, uint32_t client) {
    net_interest_remove_client(t->interest, client);
    t->has_client[client] = false;
}

static inline net_interest_entity* interest_member_of(interest_table* t, uint32_t client,
                                                      uint32_t index) {
    interest_member* members = &t->members[client];
    for (uint32_t i = 0; i < members->count; i++)
        if (members->entries[i].index == index) return &members->entries[i];
    return NULL;
}

static inline void interest_drop(interest_table* t, uint32_t client, uint32_t index) {
    net_interest_entity* entry = interest_member_of(t, client, index);
    interest_member* members = &t->members[client];
    if (entry) *entry = members->entries[--members->count];
}

static inline void interest_take_came(interest_table* t) {
    const net_history_event* events = t->history->events;
    const uint32_t count = t->history->event_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = ecs_entity_index(events[i].handle);
        if (events[i].kind == NET_HISTORY_CHANGED) continue;
        for (uint32_t c = 1; c < SCOPES_CLIENTS_MAX; c++)
            interest_drop(t, c, index);
        if (events[i].kind == NET_HISTORY_DESPAWNED) continue;
        const uint32_t* clients;
        const net_interest_entity* entries;
        uint32_t seers = net_interest_get_observers(t->interest, index, &clients, &entries);
        assert_true(seers < SCOPES_CLIENTS_MAX);
        for (uint32_t k = 0; k < seers; k++) {
            assert_true(k == 0 || clients[k] > clients[k - 1]);
            assert_true(t->has_client[clients[k]] && entries[k].index == index);
            interest_member* members = &t->members[clients[k]];
            members->entries[members->count] = entries[k];
            members->entries[members->count++].entered = (uint32_t)t->tick;
            t->entered++;
        }
    }
}

static inline void interest_take_query(interest_table* t, uint32_t client) {
    interest_member* members = &t->members[client];
    net_interest_answer answer;
    net_interest_query(t->interest, 0, client, members->entries, members->count, &answer);
    t->queries++;
    for (uint32_t i = 0; i < answer.changed_count; i++) {
        assert_true(i == 0 || answer.changed[i] > answer.changed[i - 1]);
        net_interest_entity* entry = &members->entries[answer.changed[i]];
        assert_int_equal(entry->index, answer.changed_to[i].index);
        assert_true(entry->entered == answer.changed_to[i].entered);
        *entry = answer.changed_to[i];
    }
    for (uint32_t i = answer.leave_count; i > 0; i--) {
        assert_true(i == answer.leave_count || answer.leave[i - 1] < answer.leave[i]);
        members->entries[answer.leave[i - 1]] = members->entries[--members->count];
    }
    for (uint32_t i = 0; i < answer.enter_count; i++) {
        assert_true(i == 0 || answer.enter[i].index > answer.enter[i - 1].index);
        assert_null(interest_member_of(t, client, answer.enter[i].index));
        members->entries[members->count] = answer.enter[i];
        members->entries[members->count++].entered = (uint32_t)t->tick;
    }
    t->entered += answer.enter_count;
    t->left += answer.leave_count;
    t->changed += answer.changed_count;
}

/// Run one tick: step the world, then the history, then both halves of the interest.
static inline void interest_step(interest_table* t) {
    t->tick++;
    t->entered = t->left = t->changed = t->queries = 0;
    ecs_step step = {.tick = t->tick, .dt = 0.05f};
    ecs_world_step(t->world, &step);
    net_history_step(t->history, t->world, t->tick);
    net_interest_step(t->interest, t->history, t->tick);
    ecs_changes_clear(t->world);
    interest_take_came(t);
    for (uint32_t c = 1; c < SCOPES_CLIENTS_MAX; c++)
        if (t->has_client[c] && net_interest_is_due(t->interest, c)) interest_take_query(t, c);
}

static inline void interest_steps(interest_table* t, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        interest_step(t);
}

/// Run enough ticks to compute the interest of every client once.
static inline void interest_round(interest_table* t) {
    interest_steps(t, NET_INTEREST_EVERY_TICKS);
}

static inline bool interest_sees(interest_table* t, uint32_t client, ecs_entity entity) {
    return interest_member_of(t, client, ecs_entity_index(entity)) != NULL;
}

static inline uint32_t interest_classes(interest_table* t, uint32_t client, ecs_entity entity) {
    const net_interest_entity* entry = interest_member_of(t, client, ecs_entity_index(entity));
    return entry ? entry->classes : 0;
}

/// Check that every client has what the world gives it, apart from hysteresis.
static inline void interest_expect_checked(interest_table* t) {
    for (uint32_t c = 1; c < SCOPES_CLIENTS_MAX; c++) {
        if (!t->has_client[c]) continue;
        ecs_entity entity = ecs_entity_next(t->world, ECS_ENTITY_NONE);
        for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(t->world, entity)) {
            uint32_t classes = interest_classes(t, c, entity);
            uint32_t checked =
                scope_explained(t->interest, t->world, c, entity, interest_sees(t, c, entity));
            if (classes != checked)
                print_error("client %u entity %u: has %x, checked %x\n", c, entity, classes,
                            checked);
            assert_int_equal(classes, checked);
        }
    }
}
