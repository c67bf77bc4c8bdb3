// SPDX-License-Identifier: MIT
// A world in which entities enter and leave the sight of clients, with the real interest manager:
// the same packets for any number of lanes, whichever thread works for which lane, and no memory
// for them in a steady tick.

#include "repl_world.h"

#include "base/hash.h"

#include <pthread.h>

enum {
    CLIENTS = 14,
    ENTITIES = 300,
    SIDE = 300,
    TICKS = 160,
    LAG = 4,
    LANES_MAX = 4,
    BYTES = 1160,
    INDEX_MAX = 2000, // indices are used again late
};

typedef struct lane_client {
    net_repl_state* repl;
    uint64_t hash;
    uint32_t records;
} lane_client;

typedef struct lane_world {
    repl_side server;
    net_interest* interest;
    net_replicator* replicator;
    ecs_entity entities[ENTITIES];
    lane_client clients[CLIENTS];
    ecs_tick tick;
    uint32_t lanes;
    bool is_threaded;
} lane_world;

typedef struct lane_job {
    lane_world* w;
    uint32_t lane;
} lane_job;

static void open_world(lane_world* w, uint32_t lanes, const base_allocator* allocator) {
    static const net_interest_rules rules = {
        .size_bytes = sizeof rules, .position = "pos", .radius = 60};
    memset(w, 0, sizeof *w);
    repl_open(&w->server, false, INDEX_MAX);
    repl_create_many(&w->server, w->server.mover, w->entities, ENTITIES);
    const net_interest_config interest = {.allocator = allocator,
                                          .rules = &rules,
                                          .world = w->server.world,
                                          .rows = w->server.rows,
                                          .index_max = INDEX_MAX,
                                          .tick_rate_hz = 30,
                                          .lanes = lanes};
    assert_ok(net_interest_create(&interest, test_reporter(), &w->interest));
    const net_replicator_config config = {.allocator = allocator,
                                          .rows = w->server.rows,
                                          .index_max = INDEX_MAX,
                                          .interest = w->interest,
                                          .lanes = lanes};
    w->replicator = net_replicator_create(&config);
    w->lanes = lanes ? lanes : 1;
    for (uint32_t c = 0; c < CLIENTS; c++) {
        net_interest_add_client(w->interest, c + 1);
        net_interest_set_player(w->interest, c + 1, w->entities[c * 7]);
        w->clients[c].repl = net_repl_state_create(w->replicator, c + 1);
        net_repl_state_set_lane(w->clients[c].repl, c % w->lanes);
    }
}

static void close_world(lane_world* w) {
    for (uint32_t c = 0; c < CLIENTS; c++)
        net_repl_state_destroy(w->clients[c].repl);
    net_replicator_destroy(w->replicator);
    base_owner_destroy(w->interest);
    repl_close(&w->server);
}

static void move_all(lane_world* w) {
    for (uint32_t i = 0; i < ENTITIES; i++) {
        if ((i + w->tick / 8) % 2 == 0) continue;
        float angle = (float)((w->tick + i * 13) % 300) / 300.0f * 6.2831853f;
        float radius = 20 + (float)(i % 90);
        repl_move(&w->server, w->entities[i], (float)(i * 37 % SIDE) + radius * base_cos(angle),
                  (float)(i * 101 % SIDE) + radius * base_sin(angle));
    }
    if (w->tick % 5 == 0) {
        uint32_t i = (uint32_t)w->tick * 7 % (ENTITIES - 100) + 100; // no player
        repl_destroy(&w->server, w->entities[i]);
        w->entities[i] = repl_create(&w->server, w->server.mover);
    }
}

// One client's tick: an old packet is acknowledged or lost, a new one is written.
static void serve(lane_world* w, uint32_t number) {
    lane_client* client = &w->clients[number];
    uint16_t seq = (uint16_t)w->tick;
    if (seq > LAG) {
        uint16_t old = (uint16_t)(seq - LAG);
        (void)((old + number) % 11 ? net_repl_state_acked(client->repl, old)
                                   : net_repl_state_lost(client->repl, old));
    }
    uint8_t body[BYTES] = {0};
    proto_bit_writer writer = proto_bit_writer_make(body, sizeof body);
    const net_repl_state_room room = {.hard = BYTES * 8, .soft = 200 * 8};
    client->records += net_repl_state_write(client->repl, seq, room, &writer);
    client->hash = base_hash64(body, proto_bit_writer_bytes(&writer), client->hash);
}

static void* run_lane(void* context) {
    lane_job* job = context;
    net_replicator_publish_lane(job->w->replicator, job->lane);
    for (uint32_t c = 0; c < CLIENTS; c++)
        if (c % job->w->lanes == job->lane) serve(job->w, c);
    return NULL;
}

static void step_match(lane_world* w) {
    ecs_step step = {.tick = ++w->tick, .dt = 0.5f};
    move_all(w);
    ecs_world_step(w->server.world, &step);
    net_replicator_step(w->replicator, w->server.world, w->tick);
    ecs_changes_clear(w->server.world);
    net_replicator_publish_begin(w->replicator);
    pthread_t threads[LANES_MAX];
    lane_job jobs[LANES_MAX];
    for (uint32_t k = 0; k < w->lanes; k++) {
        jobs[k] = (lane_job){w, k};
        if (w->is_threaded)
            assert_int_equal(pthread_create(&threads[k], NULL, run_lane, &jobs[k]), 0);
        else
            (void)run_lane(&jobs[k]);
    }
    for (uint32_t k = 0; k < w->lanes && w->is_threaded; k++)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
}

// Run a match and hash all packets.
static uint64_t run_match(uint32_t lanes, bool is_threaded) {
    static lane_world w;
    open_world(&w, lanes, NULL);
    w.is_threaded = is_threaded;
    for (uint32_t i = 0; i < TICKS; i++)
        step_match(&w);
    uint64_t hash = 0;
    for (uint32_t c = 0; c < CLIENTS; c++) {
        assert_true(w.clients[c].records > TICKS);
        hash = base_hash64_mix(hash, w.clients[c].hash);
    }
    net_replicator_validate(w.replicator);
    close_world(&w);
    return hash;
}

CASE(packets_are_the_same_for_any_number_of_lanes) {
    uint64_t hash = run_match(0, false);
    for (uint32_t lanes = 1; lanes <= LANES_MAX; lanes++) {
        assert_true(run_match(lanes, false) == hash);
        assert_true(run_match(lanes, true) == hash);
    }
}

CASE(views_of_a_moving_world_allocate_nothing) {
    enum { WARM_TICKS = 6000, STEADY_TICKS = 600 };
    if (test_is_short()) skip();
    static lane_world w;
    scarce_memory memory;
    scarce_init(&memory);
    open_world(&w, 0, &memory.allocator);
    for (uint32_t i = 0; i < WARM_TICKS; i++)
        step_match(&w);
    uint64_t allocations = memory.calls, creates = 0, destroys = 0, lost = 0;
    for (uint32_t i = 0; i < STEADY_TICKS; i++) {
        step_match(&w);
        if (memory.calls != allocations) print_error("in tick %u\n", i);
        assert_int_equal(memory.calls, allocations);
    }
    for (uint32_t c = 0; c < CLIENTS; c++) {
        const net_repl_state_counters* counters = &w.clients[c].repl->counters;
        creates += counters->records_create;
        destroys += counters->records_destroy;
        lost += counters->packets_lost;
    }
    assert_true(creates > 10 * ENTITIES && destroys > 10 * ENTITIES && lost > CLIENTS * 20);
    close_world(&w);
    assert_int_equal(memory.bytes, 0);
}
