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

// One part changes while a packet with all parts is lost, but the server does not know it yet. The
// server sends all parts again.
CONVOY_CASE(what_may_be_lost_goes_with_the_one_that_changed) {
    view_exchanges(&c->w, 10);
    for (uint32_t i = 0; i < PARTS; i++)
        repl_move(&c->w.server, c->parts[i], 5, 5);
    view_step(&c->w);
    (void)view_write(&c->w, 0); // never arrives
    assert_int_equal(c->w.clients[0].records, PARTS);
    view_move(&c->w, c->parts[2], 6, 6);
    assert_int_equal(view_records(&c->w, 0), PARTS);
    view_ack(&c->w, 0);
    for (uint32_t i = 0; i < PARTS; i++)
        assert_true(x_of(c, c->parts[i]) == (i == 2 ? 6.0f : 5.0f));
    // The server does not send a part that is known to be up to date.
    view_move(&c->w, c->parts[1], 7, 7);
    assert_int_equal(view_records(&c->w, 0), 1);
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

// Events of the game may leave a packet little room.
CONVOY_CASE(a_group_waits_for_a_packet_that_holds_it) {
    for (uint32_t i = 0; i < MANY; i++)
        view_scope(&c->w, 0, c->others[i])->group = 9;
    for (uint32_t i = 0; i < 20; i++) {
        const uint32_t hard = i % 2 ? 9000 : 600;
        view_step(&c->w);
        view_write_room(&c->w, 0, (net_repl_state_room){.hard = hard, .soft = hard, .group = 9000});
        view_ack(&c->w, 0);
        assert_int_equal(ecs_world_entity_count(c->w.clients[0].side.world),
                         i == 0 ? 0 : MANY + PARTS);
    }
    assert_int_equal(view_counters(&c->w)->groups_split, 0);
}

static uint32_t alive_parts(convoy* c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < PARTS; i++)
        count += ecs_is_alive(c->w.clients[0].side.world, c->parts[i]);
    return count;
}

// They leave the scope or die, in packets that may be lost and have room for one record.
static void check_leaving(convoy* c, bool are_destroyed) {
    base_rng rng = base_rng_make(12, 1);
    view_exchanges(&c->w, 10);
    assert_int_equal(alive_parts(c), PARTS);
    for (uint32_t i = 0; i < PARTS; i++)
        if (are_destroyed)
            repl_destroy(&c->w.server, c->parts[i]);
        else
            view_scope(&c->w, 0, c->parts[i])->is_hidden = true;
    for (uint32_t tick = 0; tick < 40; tick++) {
        for (uint32_t i = 0; i < MANY; i++)
            repl_move(&c->w.server, c->others[i], base_rng_float(&rng) * 900, 1);
        view_step(&c->w);
        view_write_room(&c->w, 0, (net_repl_state_room){.hard = 600, .soft = 1});
        if (base_rng_chance(&rng, 0.4))
            assert_true(net_repl_state_lost(c->w.repl, (uint16_t)(c->w.clients[0].seq - 1)));
        else
            view_ack(&c->w, 0);
        assert_true(alive_parts(c) == 0 || alive_parts(c) == PARTS);
    }
    assert_int_equal(alive_parts(c), 0);
}

CONVOY_CASE(members_leave_a_scope_in_one_packet) {
    check_leaving(c, false);
}

CONVOY_CASE(members_that_die_together_go_in_one_packet) {
    check_leaving(c, true);
}

CONVOY_CASE(members_may_join_and_leave_a_group) {
    view_exchanges(&c->w, 5);
    view_scope(&c->w, 0, c->parts[0])->group = 0;
    view_scope(&c->w, 0, c->parts[1])->group = 4;
    view_scope(&c->w, 0, c->others[0])->group = 9;
    view_exchange(&c->w);
    repl_move(&c->w.server, c->parts[2], 3, 3);
    repl_move(&c->w.server, c->others[0], 3, 3);
    repl_destroy(&c->w.server, c->parts[3]);
    view_exchange(&c->w);
    view_exchange(&c->w);
    assert_true(net_repl_state_is_settled(c->w.repl));
    assert_true(view_is_equal(&c->w, 0));
}
