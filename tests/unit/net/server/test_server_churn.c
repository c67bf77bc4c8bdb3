// SPDX-License-Identifier: MIT
// Clients that join and leave again and again: nothing is leaked, and the work of a tick has a
// bound.
#define TABLE_SEATS 64u
#include "session_table.h"

#include "server/server_state.h"

#define JOINS_PER_SECOND 100u
#define CROWD NET_JOINS_PER_TICK

// ---- ten minutes of joins and leaves

// One tick of a client that comes and goes. @return true: it asked to join.
static bool come_and_go(table* at, raw_client* raw, bool* has_asked, bool may_join, uint32_t kind) {
    if (raw->is_gone || raw->is_refused) {
        table_again(raw);
        *has_asked = false;
    } else if (raw->states > 0) {
        // An orderly goodbye, a lost connection that is closed at once, or a fault.
        if (kind % 3 == 0) raw_client_goodbye(raw);
        if (kind % 3 == 1) table_cut(raw, 2);
        if (kind % 3 == 1) table_again(raw);
        *has_asked = *has_asked && kind % 3 != 1;
        for (uint32_t i = 0; kind % 3 == 2 && i < 3; i++)
            raw_client_garbage(raw, NET_CHANNEL_CONTROL);
        raw->states = 0;
    } else if (raw->is_connected && !*has_asked && may_join) {
        *has_asked = true;
        table_hello(at, raw, "guest");
        return true;
    }
    return false;
}

// Memory without the list of peer reports, which grows to NET_REPORTS_MAX and stays.
static int64_t memory_of(const table* at) {
    uint32_t capacity = 16;
    while (capacity < net_server_report_count(at->server))
        capacity *= 2;
    return at->memory.bytes - (int64_t)(capacity * sizeof(net_peer_report));
}

static void run_crowd(table* at, uint32_t joins) {
    uint64_t credit = 0, asked = 0;
    uint32_t kind = 0;
    bool has_asked[CROWD] = {false};
    while (table_counters(at)->joins < joins) {
        credit += JOINS_PER_SECOND;
        for (uint32_t i = 0; i < CROWD; i++) {
            bool may_join = credit >= TICKS_PER_SECOND;
            if (!come_and_go(at, &at->raw_clients[i], &has_asked[i], may_join, kind + i)) continue;
            credit -= TICKS_PER_SECOND;
            asked++;
        }
        kind++;
        table_step(at);
        assert_true(asked <= 2 * (uint64_t)joins + 1000);
    }
}

static void greet(table* at) {
    for (uint32_t i = 0; i < at->raw_client_count; i++)
        table_hello(at, &at->raw_clients[i], "x");
}

// All greet. @return the counters, when the first ones joined.
static const net_server_counters* greet_and_join(table* at) {
    greet(at);
    while (table_counters(at)->joins == 0)
        table_step(at);
    return table_counters(at);
}

static void let_all_leave(table* at) {
    for (uint32_t i = 0; i < CROWD; i++)
        if (at->raw_clients[i].is_welcome) raw_client_goodbye(&at->raw_clients[i]);
    table_run(at, 6 * TICKS_PER_SECOND);
    for (uint32_t i = 0; i < CROWD; i++)
        if (at->raw_clients[i].peer) table_cut(&at->raw_clients[i], 2);
    table_run(at, 6);
    for (uint32_t i = 0; i < CROWD; i++)
        table_again(&at->raw_clients[i]);
}

TABLE_CASE(sixty_thousand_joins_and_leaves_leak_nothing, .seed = 4, .clients_max = CROWD,
           .raws = CROWD) {
    const uint32_t joins = test_scaled(60000, 1500), warm = 3000;
    uint32_t entities = ecs_world_entity_count(net_match_world(at->match));
    run_crowd(at, warm);
    let_all_leave(at);
    int64_t before = memory_of(at);
    uint64_t begin_us = at->now_us;
    run_crowd(at, joins + warm);
    double seconds = (double)(at->now_us - begin_us) * 1e-6;
    let_all_leave(at);
    int64_t after = memory_of(at);
    assert_in_range((uint64_t)seconds, joins / JOINS_PER_SECOND, joins / JOINS_PER_SECOND * 5 / 4);
    assert_true(llabs((long long)(after - before)) <= 64 * 1024);
    assert_int_equal(ecs_world_entity_count(net_match_world(at->match)), entities);
    assert_int_equal(table_counters(at)->clients, 0);
    // Each place is free: a full house joins at once.
    for (uint32_t i = 0; i < 10; i++)
        table_step(at);
    greet(at);
    table_run(at, 10);
    for (uint32_t i = 0; i < CROWD; i++)
        assert_true(at->raw_clients[i].is_welcome);
    assert_int_equal(table_counters(at)->clients, CROWD);
}

// ---- the work of a tick

static uint32_t count_scopes(const table* at) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < at->server->session_count; i++)
        count += at->server->sessions[i] && at->server->sessions[i]->out.repl;
    return count;
}

static const uint32_t CROWDS[] = {CROWD - 1, CROWD, CROWD + 1, TABLE_SEATS};

// In a world that is not large each has its scope, and so its first packet, in the tick in which it
// joins: the last of `count` clients in tick count / NET_JOINS_PER_TICK, rounded up.
TABLE_ROWS(a_crowd_has_its_first_states_within_known_ticks, i, BASE_COUNT(CROWDS), .seed = 6,
           .clients_max = TABLE_SEATS, .raws = CROWDS[i], .steps = 10) {
    const uint32_t count = CROWDS[i];
    const net_server_counters* counters = greet_and_join(at);
    for (uint32_t joined = 0; joined < count; table_step(at)) {
        joined = joined + CROWD < count ? joined + CROWD : count;
        assert_int_equal(counters->joins, joined);
        assert_int_equal(count_scopes(at), joined);
    }
    assert_int_equal(counters->joins_waited, count > CROWD ? count - CROWD : 0);
    table_run(at, 10);
    for (uint32_t k = 0; k < count; k++)
        assert_true(at->raw_clients[k].states > 0);
}

#define ENTITIES 10000u

static void start_many(ecs_world* world, void* context_pointer, const net_game_start* begin) {
    swarm_module_get()->start(world, context_pointer, begin);
    const swarm_context* context = context_pointer;
    ecs_entity entity;
    for (uint32_t i = 0; i < ENTITIES; i++)
        assert_ok(ecs_create(world, context->rock, NULL, 0, &entity));
}

#define LARGE .seed = 5, .clients_max = CROWD, .start = start_many, .raws = CROWD, .steps = 10

// Clients with a replication state; they are the ones that joined first.
static uint32_t count_admitted(const table* at) {
    uint32_t count = 0, newest = 0, waits_from = UINT32_MAX;
    for (uint32_t i = 0; i < at->server->session_count; i++) {
        const net_session* session = at->server->sessions[i];
        if (!session || session->state != NET_SESSION_PLAYING) continue;
        if (session->out.repl) {
            count++;
            if (session->client > newest) newest = session->client;
        } else if (session->client < waits_from) {
            waits_from = session->client;
        }
    }
    assert_true(newest < waits_from);
    return count;
}

// All are players at once. Their scopes, 10,000 entities each, are gathered over ticks.
TABLE_CASE(scopes_of_a_large_world_wait_for_their_turn, LARGE) {
    enum { PER_TICK = NET_WORK_PER_TICK / ENTITIES, FIRST = NET_WORK_BURST / ENTITIES };
    const net_server_counters* counters = greet_and_join(at);
    assert_int_equal(counters->joins, CROWD);
    for (uint32_t client = 1; client <= CROWD; client++)
        assert_true(net_match_player(at->match, client) != ECS_ENTITY_NONE);
    uint32_t before = count_admitted(at), ticks = 0;
    assert_in_range(before, FIRST - 1, FIRST);
    for (; before < CROWD && ticks < 200; ticks++) {
        table_step(at);
        const uint32_t now = count_admitted(at);
        assert_in_range(now - before, CROWD - before < PER_TICK ? 1 : PER_TICK - 1, PER_TICK);
        before = now;
    }
    assert_in_range(ticks, (CROWD - FIRST) / PER_TICK, (CROWD - FIRST) / PER_TICK + 2);
    const uint64_t waited = counters->joins_waited, least = (uint64_t)ticks * (CROWD - FIRST) / 2;
    assert_in_range(waited, least - CROWD, least + CROWD);
    table_run(at, 10);
    for (uint32_t i = 0; i < CROWD; i++)
        assert_true(at->raw_clients[i].is_welcome && at->raw_clients[i].states > 0);
    assert_int_equal(counters->joins_waited, waited);
}

// A client that waits loses its connection, or leaves: nothing of it stays.
TABLE_CASE(who_waits_for_a_scope_may_leave, LARGE) {
    const net_server_counters* counters = greet_and_join(at);
    for (uint32_t i = 0; i < CROWD; i++) {
        raw_client* raw = &at->raw_clients[i];
        if (i % 2 == 0)
            raw_client_goodbye(raw);
        else
            table_cut(raw, 1);
    }
    table_run(at, 30);
    assert_int_equal(counters->clients, 0);
    for (uint32_t client = 1; client <= CROWD; client++)
        assert_true(net_match_player(at->match, client) == ECS_ENTITY_NONE);
    for (uint32_t i = 0; i < CROWD; i++)
        table_again(&at->raw_clients[i]);
    table_run(at, 10);
    greet(at);
    table_run(at, 60);
    assert_int_equal(counters->clients, CROWD);
    assert_int_equal(count_admitted(at), CROWD);
}

// All leave in one tick. What they leave behind is destroyed over ticks, and then its memory is
// back.
TABLE_CASE(what_leavers_leave_is_destroyed_over_ticks, LARGE) {
    const net_server_counters* counters = greet_and_join(at);
    for (uint32_t ticks = 0; count_admitted(at) < CROWD && ticks < 200; ticks++)
        table_step(at);
    table_run(at, 20);
    int64_t full = at->memory.bytes;
    for (uint32_t i = 0; i < CROWD; i++)
        raw_client_goodbye(&at->raw_clients[i]);
    uint32_t ticks = 0, steps = 0;
    int64_t bytes = at->memory.bytes;
    for (; ticks < 100; ticks++) {
        table_step(at);
        if (at->memory.bytes < bytes - 300000) steps++;
        // Never more than two states in a tick: each has 10,000 entities.
        assert_true(at->memory.bytes > bytes - 2 * (full / CROWD));
        bytes = at->memory.bytes;
    }
    assert_in_range(steps, CROWD / 3, CROWD);
    assert_true(bytes < full / 2);
    assert_int_equal(counters->clients, 0);
}
