// SPDX-License-Identifier: MIT
// Creates until one is acknowledged.

#include "repl_state_world.h"

// A ball that comes into range in the last step, so many ticks after it began.
static ecs_entity come_into_range(view_world* w, uint32_t age) {
    ecs_entity ball = repl_create(&w->server, w->server.mover);
    for (uint32_t i = 0; i < age; i++) {
        view_scope(w, 0, ball)->is_hidden = true;
        view_step(w);
    }
    view_scope(w, 0, ball)->is_hidden = false;
    view_step(w);
    assert_true(net_repl_state_has_pending(w->repl));
    return ball;
}

// Ticks until a change after a create is sent, when nothing is acknowledged.
static uint32_t ticks_between_creates(uint32_t age) {
    view_world w;
    view_open(&w);
    ecs_entity ball = come_into_range(&w, age);
    (void)view_write(&w, 0);
    repl_move(&w.server, ball, 9, 9);
    uint32_t ticks = 0;
    do {
        view_step(&w);
        ticks++;
    } while (!net_repl_state_has_pending(w.repl) && ticks < 100);
    (void)view_write(&w, 0);
    assert_int_equal(view_counters(&w)->records_create, 2);
    assert_int_equal(view_counters(&w)->records_repeated, 0);
    view_close(&w);
    return ticks;
}

CASE(creates_of_a_young_entity_follow_each_other_sooner) {
    assert_int_equal(ticks_between_creates(0), NET_REPL_STATE_YOUNG_CREATE_TICKS);
    assert_int_equal(ticks_between_creates(NET_REPL_STATE_YOUNG_TICKS - 1),
                     NET_REPL_STATE_YOUNG_CREATE_TICKS);
    assert_int_equal(ticks_between_creates(NET_REPL_STATE_YOUNG_TICKS),
                     NET_REPL_STATE_CREATE_TICKS);
    assert_int_equal(ticks_between_creates(NET_REPL_STATE_YOUNG_TICKS + 1),
                     NET_REPL_STATE_CREATE_TICKS);
}

VIEW_CASE(a_create_is_repeated_after_loss_until_one_is_acknowledged) {
    ecs_entity ball = come_into_range(w, NET_REPL_STATE_YOUNG_TICKS);
    uint16_t first = view_write(w, 0);
    assert_false(net_repl_state_has_pending(w->repl));
    assert_false(net_repl_state_is_settled(w->repl));
    assert_true(net_repl_state_lost(w->repl, first));
    assert_true(net_repl_state_has_pending(w->repl));
    uint16_t second = view_tell(w);
    assert_int_equal(view_counters(w)->records_create, 2);
    assert_int_equal(view_counters(w)->records_repeated, 1);
    view_move(w, ball, 9, 9);
    uint16_t third = view_write(w, 0); // the second one is in flight
    assert_int_equal(w->clients[0].records, 0);
    assert_true(net_repl_state_lost(w->repl, third));
    for (uint32_t i = 1; i < 6; i++) {
        assert_false(net_repl_state_has_pending(w->repl));
        view_step(w);
    }
    assert_true(net_repl_state_has_pending(w->repl));
    uint16_t fourth = view_write(w, 0); // still a create: no packet is acknowledged
    assert_int_equal(view_counters(w)->records_create, 3);
    assert_int_equal(view_counters(w)->records_repeated, 1);
    assert_true(net_repl_state_acked(w->repl, second));
    assert_false(net_repl_state_is_settled(w->repl));
    assert_true(net_repl_state_acked(w->repl, fourth));
    assert_true(net_repl_state_is_settled(w->repl));
}

VIEW_CASE(a_change_after_an_acknowledged_create_does_not_wait) {
    ecs_entity ball = come_into_range(w, NET_REPL_STATE_YOUNG_TICKS);
    uint16_t first = view_write(w, 0);
    assert_ok(view_deliver(w, 0));
    view_move(w, ball, 9, 9);
    assert_false(net_repl_state_has_pending(w->repl));
    assert_false(net_repl_state_is_settled(w->repl));
    assert_true(net_repl_state_acked(w->repl, first));
    assert_true(net_repl_state_has_pending(w->repl));
    assert_false(net_repl_state_is_settled(w->repl));
    view_send(w, 0);
    assert_int_equal(view_counters(w)->records_create, 1);
    assert_int_equal(view_counters(w)->records_update, 1);
    assert_true(net_repl_state_is_settled(w->repl));
    assert_true(view_is_equal(w, 0));
}
