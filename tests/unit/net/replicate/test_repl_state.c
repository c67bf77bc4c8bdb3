// SPDX-License-Identifier: MIT

#include "repl_state_world.h"

VIEW_CASE(only_the_loss_of_the_newest_send_makes_it_wait_again) {
    ecs_entity ball = repl_create(&w->server, w->server.mover);
    view_exchange(w);
    view_move(w, ball, 3, 3);
    uint16_t old = view_write(w, 0);
    view_move(w, ball, 4, 4);
    uint16_t newest = view_write(w, 0);
    assert_true(net_repl_state_lost(w->repl, old));
    assert_false(net_repl_state_has_pending(w->repl));
    assert_true(net_repl_state_lost(w->repl, newest));
    assert_true(net_repl_state_has_pending(w->repl));
    assert_true(net_repl_state_lost(w->repl, newest)); // a second call changes nothing
    // A late acknowledgement arrives after all: nothing is missing any more.
    assert_true(net_repl_state_acked(w->repl, newest));
    assert_true(net_repl_state_is_settled(w->repl));
    view_step(w);
    assert_int_equal(view_records(w, 0), 0);
    assert_false(net_repl_state_has_pending(w->repl));
}

VIEW_CASE(a_late_acknowledgement_does_not_hide_a_change) {
    ecs_entity ball = repl_create(&w->server, w->server.mover);
    uint16_t first = view_tell(w);
    assert_true(net_repl_state_lost(w->repl, first));
    view_move(w, ball, 7, 7);
    assert_true(net_repl_state_acked(w->repl, first));
    assert_true(net_repl_state_has_pending(w->repl));
    assert_false(net_repl_state_is_settled(w->repl));
    assert_int_equal(view_records(w, 0), 1);
}

VIEW_CASE(acknowledgements_are_idempotent_and_forged_ones_refused) {
    assert_false(net_repl_state_acked(w->repl, 5));
    (void)repl_create(&w->server, w->server.mover);
    view_exchange(w);
    net_repl_state_counters before = *view_counters(w);
    assert_true(net_repl_state_acked(w->repl, 65534));
    assert_true(
        net_repl_state_lost(w->repl, 65534)); // the packet is acknowledged, so this is no loss
    assert_memory_equal(&before, view_counters(w), sizeof before);
    assert_false(net_repl_state_acked(w->repl, w->clients[0].seq));
    assert_false(net_repl_state_acked(w->repl, 65533));
    assert_false(net_repl_state_lost(w->repl, 30000));
}

BALL_CASE(an_entity_that_slept_long_wakes_with_a_settled_base) {
    view_exchange(w);
    for (uint32_t i = 1; i < NET_BASE_AGE_MAX; i++)
        view_exchange(w);
    view_carry(w, ball, 2, 2); // age 254
    assert_int_equal(view_counters(w)->records_update, 1);
    assert_int_equal(view_counters(w)->records_settled, 0);
    for (uint32_t i = 1; i < NET_BASE_AGE_MAX + 1; i++)
        view_exchange(w);
    view_carry(w, ball, 3, 3); // age 255
    assert_int_equal(view_counters(w)->records_settled, 1);
    view_exchanges(w, 1000);
    view_carry(w, ball, 4, 4);
    assert_int_equal(view_counters(w)->records_settled, 2);
    assert_int_equal(view_counters(w)->records_absolute, 0);
    assert_true(view_is_equal(w, 0));
}

BALL_CASE(a_settled_base_is_not_used_when_something_was_sent_since) {
    view_exchange(w);
    view_move(w, ball, 2, 2);
    (void)view_write(w, 0); // it arrives but is not acknowledged
    assert_ok(view_deliver(w, 0));
    for (uint32_t i = 0; i < 200; i++) {
        (void)view_tell(w);
    }
    for (uint32_t i = 0; i < 100; i++)
        view_step(w);
    view_carry(w, ball, 3, 3);
    assert_int_equal(view_counters(w)->records_settled, 0);
    assert_int_equal(view_counters(w)->records_absolute, 1);
    assert_true(view_is_equal(w, 0));
}

VIEW_CASE(an_entity_in_63_unacknowledged_packets_is_held_back) {
    ecs_entity ball = repl_create(&w->server, w->server.mover);
    view_exchange(w);
    uint16_t first = w->clients[0].seq;
    for (uint32_t i = 1; i <= 63; i++) {
        view_move(w, ball, (float)i, 5);
        assert_int_equal(view_records(w, 0), 1);
        assert_ok(view_deliver(w, 0));
    }
    assert_int_equal(view_counters(w)->records_absolute, 0);
    for (uint32_t i = 1; i <= 3; i++) {
        view_move(w, ball, (float)i, 6);
        assert_int_equal(view_records(w, 0), 0);
        assert_ok(view_deliver(w, 0));
        assert_int_equal(view_counters(w)->held_back, i);
    }
    assert_true(net_repl_state_has_pending(w->repl));
    // One packet counts as lost and makes room. The base is more than 63 packets old.
    assert_true(net_repl_state_lost(w->repl, first));
    view_exchange(w);
    assert_int_equal(view_counters(w)->records_absolute, 1);
    assert_true(view_is_equal(w, 0));
}

VIEW_CASE(a_full_packet_ring_takes_its_oldest_as_lost) {
    (void)repl_create(&w->server, w->server.mover);
    for (uint32_t i = 0; i < NET_PACKETS_IN_FLIGHT_MAX; i++) {
        (void)view_tell(w);
        assert_int_equal(view_counters(w)->records_create, 1);
    }
    (void)view_tell(w);
    assert_int_equal(view_counters(w)->records_create, 2);
    assert_int_equal(view_counters(w)->packets_lost, 1);
    // The packet is forgotten; the acknowledgement is not forged.
    assert_false(net_repl_state_acked(w->repl, 65534));
}

// Packets whose samples the client keeps after the oldest one that an epoch names.
enum { SOLO_BACK_MAX = 127 };

// An epoch is defined; the first of its packets that is acknowledged is `back` packets younger than
// the oldest one that it names. @return did solo code end?
static bool ends_solo(uint32_t back) {
    view_world w;
    view_open(&w);
    ecs_entity ball = repl_create(&w.server, w.server.mover);
    net_repl_state_use_solo(w.repl);
    for (uint32_t i = 0; i <= back + 2; i++) {
        view_move(&w, ball, (float)i, 0);
        const uint16_t seq = view_write(&w, 0);
        assert_true(w.clients[0].records > 0);
        if (i == 0 || i == back)
            assert_true(net_repl_state_acked(w.repl, seq));
        else
            assert_true(net_repl_state_lost(w.repl, seq));
    }
    const uint64_t stopped = view_counters(&w)->solo_stopped;
    view_close(&w);
    return stopped == 1;
}

CASE(solo_code_ends_when_the_client_may_have_forgotten_what_an_epoch_names) {
    assert_false(ends_solo(SOLO_BACK_MAX - 1));
    assert_false(ends_solo(SOLO_BACK_MAX));
    assert_true(ends_solo(SOLO_BACK_MAX + 1));
}

BALL_CASE(what_was_never_sent_is_never_destroyed) {
    view_step(w);
    repl_destroy(&w->server, ball);
    view_exchange(w);
    assert_int_equal(view_counters(w)->records_destroy + view_counters(w)->records_create, 0);
    assert_true(net_repl_state_is_settled(w->repl));
}

BALL_CASE(a_recreation_is_sent_like_a_create_with_the_same_handle) {
    view_exchange(w);
    repl_become(&w->server, ball, w->server.mover_extra);
    view_exchange(w);
    assert_int_equal(view_counters(w)->records_create, 2);
    assert_true(ecs_is_alive(w->clients[0].side.world, ball));
    assert_string_equal(ecs_entity_template_name(w->clients[0].side.world, ball), "mover+extra");
    assert_true(view_is_equal(w, 0));
    assert_int_equal(net_mirror_get_counters(w->clients[0].mirror)->recreates, 1);
}

VIEW_CASE(a_body_fills_its_room_to_the_bit_and_never_more) {
    for (uint32_t i = 0; i < 2900; i++)
        repl_move(&w->server, repl_create(&w->server, w->server.mover), (float)(i % 500), 7);
    view_step(w);
    for (uint32_t bits = 0; bits <= 9376; bits += bits < 200 ? 7 : 531) {
        view_write_room(w, 0, (net_repl_state_room){.hard = bits, .soft = bits});
        if (bits > 800) assert_in_range(w->clients[0].bits, bits - 160, bits);
        view_ack(w, 0);
    }
    while (net_repl_state_has_pending(w->repl))
        view_send(w, 0);
    assert_true(view_is_equal(w, 0));
}

VIEW_WITH_CASE(what_the_client_asks_for_again_is_sent_absolutely, .is_taken_apart = true) {
    ecs_entity ball = repl_create(&w->server, w->server.mover);
    view_step(w);
    assert_true(net_repl_state_resync(w->repl, ball)); // its create is absolute anyway
    view_exchange(w);
    assert_int_equal(view_counters(w)->records_create, 1);
    assert_int_equal(view_counters(w)->resyncs, 0);
    assert_false(net_repl_state_resync(w->repl, ecs_entity_make(77, 1)));
    assert_false(net_repl_state_resync(
        w->repl, ecs_entity_make(ecs_entity_index(ball), ecs_entity_generation(ball) + 1)));
    assert_true(net_repl_state_resync(w->repl, ball));
    assert_false(net_repl_state_is_settled(w->repl));
    view_exchange(w);
    assert_int_equal(view_counters(w)->resyncs, 1);
    assert_int_equal(view_counters(w)->records_absolute, 1);
    assert_true(net_repl_state_is_settled(w->repl));
    view_exchange(w);
    assert_int_equal(view_counters(w)->resyncs, 1);
    assert_true(view_is_equal(w, 0));
}

// Write the first packet after a public change. The client lost the right to see `plan` long ago,
// and `plan` continued to change `hidden_changes` times. There are enough agents to make a second
// row worth its run.
static void write_after_a_revocation(uint32_t hidden_changes, uint8_t body[VIEW_BODY_BYTES]) {
    enum { AGENTS = 5, TICKS = 100 };
    view_world w;
    view_open(&w);
    ecs_entity agents[AGENTS];
    repl_create_many(&w.server, w.agent, agents, AGENTS);
    for (int32_t tick = 0; tick < 4; tick++) {
        for (uint32_t i = 0; i < AGENTS; i++) {
            view_scope(&w, 0, agents[i])->classes = tick < 3 ? 1 | 1 << 2 : 1;
            view_set(&w, agents[i], w.plan, tick);
            repl_move(&w.server, agents[i], (float)tick * 3, 1);
        }
        view_exchange(&w);
    }
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        for (uint32_t i = 0; i < AGENTS && tick < hidden_changes; i++)
            view_set(&w, agents[i], w.plan, 1000 + (int32_t)tick);
        view_exchange(&w);
        assert_int_equal(w.clients[0].records, 0);
    }
    for (uint32_t i = 0; i < AGENTS; i++)
        repl_move(&w.server, agents[i], 30, 30);
    view_exchange(&w);
    assert_int_equal(w.clients[0].records, AGENTS);
    memcpy(body, w.clients[0].body, VIEW_BODY_BYTES);
    view_close(&w);
}

CASE(how_often_a_hidden_value_changed_moves_no_bit) {
    uint8_t resting[VIEW_BODY_BYTES], changing[VIEW_BODY_BYTES];
    write_after_a_revocation(0, resting);
    write_after_a_revocation(100, changing);
    assert_memory_equal(resting, changing, VIEW_BODY_BYTES);
}

VIEW_CASE(sequence_numbers_rise_by_one) {
    (void)view_tell(w);
    w->clients[0].seq = 7;
    expect_assert_failure((void)view_write(w, 0));
}

CASE(a_steady_tick_allocates_nothing) {
    enum { ENTITIES = 60, WARM_TICKS = 600, TICKS = 900, LAG = 7 };
    scarce_memory memory;
    scarce_init(&memory);
    view_world w;
    view_open_with(&w, (view_options){.allocator = &memory.allocator, .first_seq = 1});
    ecs_entity entities[ENTITIES];
    for (uint32_t i = 0; i < ENTITIES; i++)
        entities[i] = repl_create(&w.server, i % 4 ? w.server.mover : w.agent);
    uint64_t warm = 0;
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        for (uint32_t i = 0; i < ENTITIES; i++)
            repl_move(&w.server, entities[i], (float)(tick * i % 900), (float)i);
        view_step(&w);
        (void)view_write(&w, 0);
        assert_ok(view_deliver(&w, 0));
        if (tick > LAG) assert_true(net_repl_state_acked(w.repl, (uint16_t)(tick - LAG)));
        if (tick == WARM_TICKS) warm = memory.calls;
    }
    assert_true(warm > 0);
    assert_int_equal(memory.calls, warm);
    view_close(&w);
}

static void move_all(view_world* w, const ecs_entity* movers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ecs_vec2* pos = ecs_get_mut(w->server.world, movers[i], w->server.pos);
        pos->x += (float)(1 + (w->tick * (i + 3)) % 5);
    }
    view_step(w);
}

// More packets fly than ever before, so the window of their sets grows. Of packets that had left it
// nothing is known then, though they are in the window again.
static void check_widening(view_world* w) {
    enum { MOVERS = 12, ACKED = 60, UNHEARD = 40 };
    ecs_entity movers[MOVERS];
    repl_create_many(&w->server, w->server.mover, movers, MOVERS);
    for (uint32_t i = 0; i < ACKED; i++) {
        move_all(w, movers, MOVERS);
        view_send(w, 0);
    }
    const uint32_t window = w->repl->window;
    for (uint32_t i = 0; i < UNHEARD; i++) {
        move_all(w, movers, MOVERS);
        (void)view_write(w, 0);
        assert_ok(view_deliver(w, 0));
        for (uint32_t back = 1; back <= w->repl->backs; back++)
            assert_int_equal(net_words_count(net_repl_listed(w->repl, back), w->repl->word_count),
                             MOVERS);
    }
    assert_true(w->repl->window >= 2 * window && view_is_equal(w, 0));
}

VIEW_WITH_CASE(a_window_that_grows_breaks_no_packet_in_solo_code, .has_solo_code = true) {
    check_widening(w);
}
