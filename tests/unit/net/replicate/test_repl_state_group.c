// SPDX-License-Identifier: MIT
// Groups: one packet has all entities of a group, with the same tick, or none of them.
#include "repl_state_world.h"

#include "base/rng.h"

enum { PARTS = 4, MANY = 40 };

typedef struct convoy {
    view_world w;
    ecs_entity parts[PARTS];
    ecs_entity others[MANY];
} convoy;

static void open_convoy(convoy* c) {
    view_open(&c->w);
    for (uint32_t i = 0; i < MANY + PARTS; i++) {
        ecs_entity made = repl_create(&c->w.server, c->w.server.mover);
        repl_move(&c->w.server, made, (float)(i * 37 % 900), (float)(i * 91 % 900));
        *(i < MANY ? &c->others[i] : &c->parts[i - MANY]) = made;
    }
    for (uint32_t i = 0; i < PARTS; i++)
        view_scope(&c->w, 0, c->parts[i])->group = 9;
}

static ecs_tick tick_of(convoy* c, ecs_entity entity) {
    ecs_tick tick = 0;
    return net_mirror_entity_tick(c->w.clients[0].mirror, entity, &tick) ? tick : 0;
}

static float x_of(convoy* c, ecs_entity entity) {
    const view_client* client = &c->w.clients[0];
    const ecs_vec2* pos = ecs_find(client->side.world, entity, client->side.pos);
    assert_non_null(pos);
    return pos->x;
}

#define CONVOY_CASE(name) CASE_WITH(convoy, c, open_convoy(c), view_close(&c->w), name)

CONVOY_CASE(members_are_never_seen_at_two_ticks) {
    for (uint32_t i = 0; i < PARTS; i++)
        repl_move(&c->w.server, c->parts[i], 1, 1);
    view_exchanges(&c->w, 10);
    base_rng rng = base_rng_make(11, 1);
    uint64_t seen = 0;
    for (uint32_t tick = 0; tick < 500; tick++) {
        for (uint32_t i = 0; i < MANY; i++)
            repl_move(&c->w.server, c->others[i], base_rng_float(&rng) * 900, 1);
        // All parts show the same number. Often some of them do not change.
        if (base_rng_chance(&rng, 0.3))
            for (uint32_t i = 0; i < PARTS; i++)
                repl_move(&c->w.server, c->parts[i], (float)tick, 1);
        view_step(&c->w);
        view_write_room(&c->w, 0, (net_repl_state_room){.hard = 600, .soft = 600});
        if (base_rng_chance(&rng, 0.4)) {
            assert_true(net_repl_state_lost(c->w.repl, (uint16_t)(c->w.clients[0].seq - 1)));
            continue;
        }
        view_ack(&c->w, 0);
        seen += tick_of(c, c->parts[0]) == c->w.tick;
        for (uint32_t i = 1; i < PARTS; i++)
            assert_true(x_of(c, c->parts[i]) == x_of(c, c->parts[0]));
    }
    assert_true(seen > 50);
}

CONVOY_CASE(a_group_larger_than_a_packet_is_split_and_counted) {
    for (uint32_t i = 0; i < MANY; i++)
        view_scope(&c->w, 0, c->others[i])->group = 9;
    for (uint32_t i = 0; i < 200 && ecs_world_entity_count(c->w.clients[0].side.world) < 44; i++) {
        view_step(&c->w);
        view_send_room(&c->w, 600, 600);
    }
    assert_int_equal(ecs_world_entity_count(c->w.clients[0].side.world), 44);
    assert_true(view_counters(&c->w)->groups_split > 0);
    assert_true(view_is_equal(&c->w, 0));
}
