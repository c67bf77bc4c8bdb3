// SPDX-License-Identifier: MIT
// Groups: one packet has all entities of a group, with the same tick, or none of them.
#include "repl_state_world.h"

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

#define CONVOY_CASE(name) CASE_WITH(convoy, c, open_convoy(c), view_close(&c->w), name)

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
