// SPDX-License-Identifier: MIT
// A server's world of entities that move, rest, jump, end and change. It goes through history,
// repl_state and mirror, over a line that loses and reorders packets, into a scene. The test
// compares the scene with what the server had.

#include "scene_world.h"

#include "state/history.h"
#include "mirror/mirror.h"
#include "replicate/repl_state.h"

#include <math.h>

enum { BODIES_MAX = 40, TICKS_MAX = 4000, FLIGHT_MAX = 64, INDEX_MAX = 2000 };
static const double quantum = 0.0625;

typedef struct body {
    ecs_entity entity;
    ecs_template_id template_id;
    float x, y, vx, vy;
    int32_t hp;
    bool is_jumping; // in this tick
} body;

typedef struct snapshot {
    uint32_t count;
    body bodies[BODIES_MAX];
} snapshot;

typedef struct flight {
    uint16_t seq;
    ecs_tick tick, due;
    size_t size;
    bool is_open; // neither acknowledged nor counted as lost
    bool is_lost, is_delivered;
    uint8_t body[1200];
} flight;

typedef struct index_life {
    ecs_entity handle; // shown last
    bool is_ended;
} index_life;

typedef struct model {
    net_module* module;
    stage_side server, mirror_side;
    scarce_memory memory;
    net_interest* interest;
    net_replicator* replicator;
    net_repl_state* view;
    net_mirror* mirror;
    net_match* shown;
    ecs_world* world;
    net_scene* scene;
    base_rng rng;
    double loss;
    uint32_t delay_max; // ticks
    bool is_calm;       // entities only move
    ecs_tick tick;
    uint16_t seq;
    snapshot now;
    snapshot* past; // [tick]
    flight flights[FLIGHT_MAX];
    index_life lives[INDEX_MAX + 1];
    uint64_t generations;
} model;

static void on_row(void* context, ecs_entity entity, const net_row_template* entry, ecs_tick tick,
                   const uint64_t* row) {
    net_scene_row(((model*)context)->scene, entity, entry, tick, row);
}

static void on_gone(void* context, ecs_entity entity, ecs_tick tick) {
    net_scene_gone(((model*)context)->scene, entity, tick);
}

static void open(model* m, uint64_t seed, double loss, uint32_t delay_max) {
    memset(m, 0, sizeof *m);
    printf("    seed %llu\n", (unsigned long long)seed);
    m->rng = base_rng_make(seed, 3);
    m->loss = loss;
    m->delay_max = delay_max;
    m->past = calloc(TICKS_MAX, sizeof *m->past);
    assert_non_null(m->past);
    scarce_init(&m->memory);
    m->module = stage_module();
    stage_side_open(&m->server, m->module);
    m->mirror_side.match = stage_match(m->module, NET_ROLE_MIRROR, NULL);
    m->mirror_side.world = net_match_world(m->mirror_side.match);
    assert_ok(net_rows_create(NULL, m->mirror_side.world, NULL, &m->mirror_side.rows));
    m->shown = stage_match(m->module, NET_ROLE_MIRROR, &m->memory.allocator);
    m->world = net_match_world(m->shown);
    m->scene = net_scene_create(&m->memory.allocator, m->shown);
    net_interest_config interest = {.world = m->server.world,
                                    .rows = m->server.rows,
                                    .index_max = INDEX_MAX,
                                    .tick_rate_hz = 60};
    assert_ok(net_interest_create(&interest, NULL, &m->interest));
    net_interest_add_client(m->interest, 1);
    net_replicator_config replicator = {
        .rows = m->server.rows, .index_max = INDEX_MAX, .interest = m->interest};
    m->replicator = net_replicator_create(&replicator);
    m->view = net_repl_state_create(m->replicator, 1);
    net_mirror_config config = {.world = m->mirror_side.world,
                                .rows = m->mirror_side.rows,
                                .index_max = INDEX_MAX,
                                .sink = {.context = m, .row = on_row, .gone = on_gone}};
    m->mirror = net_mirror_create(&config);
}

static void close_all(model* m) {
    base_owner_destroy(m->scene);
    net_match_destroy(m->shown);
    net_mirror_destroy(m->mirror);
    stage_side_close(&m->mirror_side);
    net_repl_state_destroy(m->view);
    net_replicator_destroy(m->replicator);
    base_owner_destroy(m->interest);
    stage_side_close(&m->server);
    net_module_close(m->module);
    free(m->past);
}

static float grid(model* m, int32_t range) {
    return (float)base_rng_range(&m->rng, -range * 16, range * 16) / 16.0f;
}

static void create_body(model* m) {
    body* b = &m->now.bodies[m->now.count++];
    *b = (body){.template_id = base_rng_chance(&m->rng, 0.5) ? m->server.mover : m->server.runner,
                .x = grid(m, 500),
                .y = grid(m, 500),
                .vx = grid(m, 8),
                .vy = grid(m, 8),
                .hp = 100};
    b->entity = stage_create(&m->server, b->template_id, b->x, b->y);
}

static void change_body(model* m, body* b) {
    uint32_t what = base_rng_below(&m->rng, 4);
    if (what == 0) {
        b->vx = b->vy = 0;
    } else if (what == 1) {
        b->vx = grid(m, 8);
        b->vy = grid(m, 8);
    } else if (what == 2) {
        b->hp = base_rng_range(&m->rng, 0, 255);
        assert_ok(ecs_set(m->server.world, b->entity, m->server.hp, &b->hp));
    } else if (!m->is_calm) {
        b->x = b->x > 0 ? -800 : 800;
        b->is_jumping = true;
    }
}

static void recreate_body(model* m, body* b) {
    b->template_id = b->template_id == m->server.mover ? m->server.runner : m->server.mover;
    assert_ok(ecs_recreate(m->server.world, b->entity, b->template_id, NULL, 0));
}

static void live_tick(model* m) {
    for (uint32_t i = 0; i < m->now.count; i++) {
        body* b = &m->now.bodies[i];
        b->is_jumping = false;
        if (base_rng_chance(&m->rng, 0.05)) change_body(m, b);
        b->x += b->vx;
        b->y += b->vy;
        if (b->x < -900 || b->x > 900) b->vx = -b->vx;
        if (b->y < -900 || b->y > 900) b->vy = -b->vy;
        if (b->vx != 0 || b->vy != 0 || b->is_jumping)
            stage_move(&m->server, b->entity, b->x, b->y);
        if (!m->is_calm && base_rng_chance(&m->rng, 0.02)) recreate_body(m, b);
    }
    if (m->is_calm) return;
    if (m->now.count > 0 && base_rng_chance(&m->rng, 0.8)) {
        uint32_t i = base_rng_below(&m->rng, m->now.count);
        assert_ok(ecs_destroy(m->server.world, m->now.bodies[i].entity));
        m->now.bodies[i] = m->now.bodies[--m->now.count];
    }
    if (m->now.count < BODIES_MAX && base_rng_chance(&m->rng, 0.82)) create_body(m);
}

static void send(model* m) {
    flight* f = &m->flights[m->seq % FLIGHT_MAX];
    if (f->is_open) assert_true(net_repl_state_lost(m->view, f->seq));
    *f = (flight){.seq = m->seq++, .tick = m->tick, .is_open = true};
    proto_bit_writer bits = proto_bit_writer_make(f->body, sizeof f->body);
    net_repl_state_room room = {.hard = 8 * sizeof f->body, .soft = 8 * sizeof f->body};
    (void)net_repl_state_write(m->view, f->seq, room, &bits);
    f->size = proto_bit_writer_bytes(&bits);
    f->is_lost = base_rng_chance(&m->rng, m->loss);
    f->due = m->tick + (m->delay_max ? base_rng_below(&m->rng, m->delay_max + 1) : 0);
}

static void receive(model* m) {
    for (uint32_t i = 0; i < FLIGHT_MAX; i++) {
        flight* f = &m->flights[(m->seq + i) % FLIGHT_MAX];
        if (!f->is_open) continue;
        if (!f->is_lost && !f->is_delivered && f->due <= m->tick) {
            f->is_delivered = true;
            proto_bit_reader bits = proto_bit_reader_make(f->body, f->size);
            net_result result = net_mirror_read(m->mirror, f->seq, f->tick, f->size ? &bits : NULL);
            assert_true(result == NET_OK || result == NET_ERR_STALE);
            if (result != NET_OK) continue;
            net_scene_packet(m->scene, f->tick);
            assert_true(net_repl_state_acked(m->view, f->seq));
            f->is_open = false;
        } else if (m->tick - f->tick > 10) {
            assert_true(net_repl_state_lost(m->view, f->seq));
            f->is_open = false;
        }
    }
}

static void tick(model* m) {
    m->tick++;
    assert_true(m->tick < TICKS_MAX);
    live_tick(m);
    net_match_step(m->server.match);
    net_replicator_step(m->replicator, m->server.world, m->tick);
    ecs_changes_clear(m->server.world);
    net_replicator_publish(m->replicator);
    m->past[m->tick] = m->now;
    send(m);
    receive(m);
}

static const ecs_vec2* shown_pos(const model* m, const body* b) {
    return ecs_find(m->world, b->entity, m->server.pos);
}

// Check that the scene shows what the server had at that tick.
static void expect_exact(const model* m, ecs_tick at) {
    const snapshot* past = &m->past[at];
    assert_int_equal(ecs_world_entity_count(m->world), past->count);
    for (uint32_t i = 0; i < past->count; i++) {
        const body* b = &past->bodies[i];
        assert_true(ecs_is_alive(m->world, b->entity));
        assert_int_equal(ecs_entity_template(m->world, b->entity), b->template_id);
        assert_int_equal(*(const int32_t*)ecs_get(m->world, b->entity, m->server.hp), b->hp);
        const ecs_vec2* pos = shown_pos(m, b);
        assert_true(fabs((double)pos->x - (double)b->x) < quantum / 2 + 1e-6);
        assert_true(fabs((double)pos->y - (double)b->y) < quantum / 2 + 1e-6);
    }
}

static const body* find_body(const snapshot* past, ecs_entity entity) {
    for (uint32_t i = 0; i < past->count; i++)
        if (past->bodies[i].entity == entity) return &past->bodies[i];
    return NULL;
}

// Half way between two ticks every continuous value is half way, and a jump has not happened.
// Before a change of template the entity continues its movement.
static void expect_half_way(const model* m, ecs_tick at) {
    for (uint32_t i = 0; i < m->past[at].count; i++) {
        const body* b = &m->past[at].bodies[i];
        const body* next = find_body(&m->past[at + 1], b->entity);
        if (!next || next->template_id != b->template_id) continue;
        double x = next->is_jumping ? (double)b->x : ((double)b->x + (double)next->x) / 2;
        assert_true(fabs((double)shown_pos(m, b)->x - x) < quantum);
    }
}

static void expect_lives_go_forward(model* m) {
    for (ecs_entity e = ecs_entity_next(m->world, ECS_ENTITY_NONE); e != ECS_ENTITY_NONE;
         e = ecs_entity_next(m->world, e)) {
        index_life* life = &m->lives[ecs_entity_index(e)];
        if (life->handle == e) {
            assert_false(life->is_ended);
            continue;
        }
        m->generations += life->handle != ECS_ENTITY_NONE;
        assert_true(ecs_entity_generation(e) > ecs_entity_generation(life->handle));
        *life = (index_life){.handle = e};
    }
    for (uint32_t i = 1; i <= INDEX_MAX; i++) {
        index_life* life = &m->lives[i];
        if (life->handle && !ecs_is_alive(m->world, life->handle)) life->is_ended = true;
    }
}

static void show(model* m, double at) {
    assert_ok(net_scene_advance(m->scene, at));
}

CASE_WITH(model, m, open(m, 11, 0, 0), close_all(m),
          a_perfect_line_shows_exactly_what_the_server_had) {
    uint32_t ticks = test_scaled(3500, 200);
    for (uint32_t i = 0; i < ticks; i++) {
        tick(m);
        if (m->tick < 3) continue;
        show(m, (double)(m->tick - 2));
        expect_exact(m, m->tick - 2);
        expect_lives_go_forward(m);
        show(m, (double)(m->tick - 2) + 0.5);
        expect_half_way(m, m->tick - 2);
    }
    const net_scene_counters* counters = &m->scene->counters;
    assert_int_equal(counters->stalls, 0);
    assert_int_equal(counters->samples_late, 0);
    assert_true(counters->teleports > 0 && counters->recreates > 0 && counters->destroys > 0);
    if (ticks > 3000) assert_true(m->generations > 0);
}

CASE(a_bad_line_never_shows_lives_backwards_and_ends_right) {
    static const double losses[] = {0, 0.1, 0.3};
    for (uint32_t run = 0; run < 3; run++) {
        model m;
        open(&m, 21 + run, losses[run], 4);
        uint32_t ticks = test_scaled(3000, 200);
        for (uint32_t i = 0; i < ticks; i++) {
            tick(&m);
            if (m.tick < 10) continue;
            show(&m, (double)(m.tick - 8));
            expect_lives_go_forward(&m);
            show(&m, (double)(m.tick - 8) + 0.5);
            expect_lives_go_forward(&m);
        }
        const net_scene_counters* counters = &m.scene->counters;
        if (run == 0) assert_int_equal(counters->stalls, 0);
        m.loss = 0;
        m.is_calm = true;
        for (uint32_t i = 0; i < m.now.count; i++)
            m.now.bodies[i].vx = m.now.bodies[i].vy = 0;
        for (uint32_t i = 0; i < 60; i++) {
            for (uint32_t k = 0; k < m.now.count; k++)
                m.now.bodies[k].vx = m.now.bodies[k].vy = 0;
            tick(&m);
        }
        show(&m, (double)(m.tick - 5));
        expect_exact(&m, m.tick - 5);
        close_all(&m);
    }
}
