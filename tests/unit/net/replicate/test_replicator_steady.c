// SPDX-License-Identifier: MIT
// A steady tick allocates nothing while entities enter and leave the clients' sight. This is tested
// with replicator, interest and repl_states alone, and with a whole server and its sessions.
#define TABLE_SEATS 8u
#include "server/session_table.h"

#include "session/acks.h"
#include "repl_world.h"
#include "replicate/replicator.h"

#include "base/math.h"
#include "base/rng.h"

enum { CLIENTS = 8, ENTITIES = 400, SIDE = 320, WARM_TICKS = 6000, TICKS = 600, FLYING = 16 };

typedef struct steady_client {
    net_repl_state* repl;
    net_ack_sender sent;
    net_ack_receiver received;
    struct {
        ecs_tick due; // 0: no packet is due
        uint16_t seq;
        bool is_lost;
    } flying[FLYING];
} steady_client;

typedef struct steady_world {
    scarce_memory memory;
    repl_side server;
    net_interest* interest;
    net_replicator* replicator;
    ecs_entity entities[ENTITIES];
    steady_client clients[CLIENTS];
    base_rng rng;
    ecs_tick tick;
} steady_world;

static void steady_open(steady_world* w) {
    static const net_interest_rules rules = {
        .size_bytes = sizeof rules, .position = "pos", .radius = 60};
    memset(w, 0, sizeof *w);
    scarce_init(&w->memory, 0, false);
    const base_allocator* allocator = &w->memory.allocator;
    w->rng = base_rng_make(7, 1);
    repl_open(&w->server, false, 1000);
    for (uint32_t i = 0; i < ENTITIES; i++)
        w->entities[i] = repl_create(&w->server, w->server.mover);
    const net_interest_config interest = {.allocator = allocator,
                                          .rules = &rules,
                                          .world = w->server.world,
                                          .rows = w->server.rows,
                                          .index_max = 1000,
                                          .tick_rate_hz = 30};
    assert_ok(net_interest_create(&interest, test_reporter(), &w->interest));
    const net_replicator_config config = {
        .allocator = allocator, .rows = w->server.rows, .index_max = 1000, .interest = w->interest};
    assert_ok(net_replicator_create(&config, &w->replicator));
    for (uint32_t c = 0; c < CLIENTS; c++) {
        steady_client* client = &w->clients[c];
        net_ack_sender_init(&client->sent, 0, 0);
        net_ack_receiver_init(&client->received);
        assert_true(net_interest_add_client(w->interest, c + 1));
        net_interest_set_player(w->interest, c + 1, w->entities[c * 7]);
        assert_ok(net_repl_state_create(w->replicator, c + 1, &client->repl));
    }
}

static void steady_close(steady_world* w) {
    for (uint32_t c = 0; c < CLIENTS; c++)
        net_repl_state_destroy(w->clients[c].repl);
    net_replicator_destroy(w->replicator);
    net_interest_destroy(w->interest);
    repl_close(&w->server);
    assert_int_equal(w->memory.bytes, 0);
}

// Each entity moves on its own circle, once round in 300 ticks, and half of the entities move at a
// time. So the set of entities in sight repeats.
static void steady_move(steady_world* w) {
    for (uint32_t i = 0; i < ENTITIES; i++) {
        if ((i + w->tick / 16) % 2 == 0) continue;
        float angle = (float)((w->tick + i * 13) % 300) / 300.0f * 6.2831853f;
        float x = (float)(i * 37 % SIDE), y = (float)(i * 101 % SIDE),
              radius = 20 + (float)(i % 90);
        repl_move(&w->server, w->entities[i], x + radius * base_cos(angle),
                  y + radius * base_sin(angle));
    }
}

static void steady_acknowledge(steady_world* w, steady_client* client, uint64_t now_us) {
    net_ack_result result;
    for (uint32_t i = 0; i < FLYING; i++) {
        uint32_t at = (uint32_t)(w->tick + i) % FLYING;
        if (client->flying[at].due == 0 || client->flying[at].due > w->tick) continue;
        client->flying[at].due = 0;
        if (!client->flying[at].is_lost)
            net_ack_receiver_mark(&client->received, client->flying[at].seq, now_us);
    }
    for (uint32_t turn = 0; turn < 2; turn++) {
        if (turn == 0 && !client->received.has_any) continue;
        if (turn == 0)
            assert_ok(net_ack_sender_receive(&client->sent, now_us, client->received.newest,
                                             client->received.bits, 0, &result));
        else
            net_ack_sender_expire(&client->sent, now_us, 33333, &result);
        for (uint32_t i = 0; i < result.acked_count; i++)
            assert_true(net_repl_state_acked(client->repl, result.acked[i]));
        for (uint32_t i = 0; i < result.lost_count; i++)
            assert_true(net_repl_state_lost(client->repl, result.lost[i]));
    }
}

static void steady_send(steady_world* w, steady_client* client, uint64_t now_us) {
    uint8_t body[1160];
    proto_bit_writer writer = proto_bit_writer_make(body, sizeof body);
    const net_repl_state_room room = {.hard = sizeof body * 8, .soft = 300 * 8};
    uint32_t records = 0, at = (uint32_t)(w->tick % FLYING);
    uint16_t seq = net_ack_sender_add(&client->sent, now_us);
    assert_ok(net_repl_state_write(client->repl, seq, room, &writer, &records));
    client->flying[at].seq = seq;
    client->flying[at].is_lost = base_rng_below(&w->rng, 100) < 5;
    client->flying[at].due = w->tick + 2 + base_rng_below(&w->rng, 6);
}

static void steady_tick(steady_world* w) {
    ecs_step step = {.tick = ++w->tick, .dt = 0.5f};
    uint64_t now_us = w->tick * 33333;
    steady_move(w);
    ecs_world_step(w->server.world, &step);
    assert_ok(net_replicator_step(w->replicator, w->server.world, w->tick));
    ecs_changes_clear(w->server.world);
    for (uint32_t c = 0; c < CLIENTS; c++)
        steady_acknowledge(w, &w->clients[c], now_us);
    net_replicator_publish(w->replicator);
    for (uint32_t c = 0; c < CLIENTS; c++)
        steady_send(w, &w->clients[c], now_us);
}

CASE_WITH(steady_world, w, steady_open(w), steady_close(w),
          views_of_a_moving_world_allocate_nothing) {
    for (uint32_t i = 0; i < WARM_TICKS; i++)
        steady_tick(w);
    uint64_t allocations = w->memory.calls, destroys = 0, creates = 0, lost = 0;
    for (uint32_t i = 0; i < TICKS; i++) {
        steady_tick(w);
        if (w->memory.calls != allocations) print_error("in tick %u\n", i);
        assert_int_equal(w->memory.calls, allocations);
    }
    for (uint32_t c = 0; c < CLIENTS; c++) {
        const net_repl_state_counters* counters = net_repl_state_get_counters(w->clients[c].repl);
        creates += counters->records_create;
        destroys += counters->records_destroy;
        lost += counters->packets_lost;
    }
    assert_true(creates > 10 * ENTITIES && destroys > 10 * ENTITIES && lost > CLIENTS * 20);
}

CASE_WITH(table, at,
          table_open(
              at, (table_config){.seed = 15, .clients_max = 8, .quiet = 4e9, .has_accounts = true}),
          table_close(at), a_server_with_eight_clients_allocates_nothing) {
    for (uint32_t i = 0; i < 8; i++)
        (void)table_sit(at, &(net_link_config){.delay_ms = 20, .loss_percent = 2, .seed = i + 1});
    table_run(at, 300 * TICKS_PER_SECOND); // the ticks with the most memory are over
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(net_client_get_phase(at->seats[i].client), NET_CLIENT_PLAYING);
    uint64_t allocations = at->memory.calls;
    for (uint32_t i = 0; i < 20 * TICKS_PER_SECOND; i++) {
        table_step(at);
        if (at->memory.calls != allocations) print_error("in tick %u\n", i);
        assert_int_equal(at->memory.calls, allocations);
    }
}
