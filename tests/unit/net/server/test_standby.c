// SPDX-License-Identifier: MIT
// A match that survives its servers: one runs it and writes the stream, others stand by. Servers
// die or sleep at any moment; clients come back with their secrets to the one that has the match.
#include "fleet_world.h"

#include "server/server_state.h"

FLEET_CASE(a_standby_goes_on_with_the_match_of_a_server_that_died, 1, 1, 2) {
    run(self, 120);
    const ecs_tick tick = net_match_tick(first->match);
    assert_in_range(tick - net_match_tick(second->match), 0, 2);
    const ecs_entity player = net_match_player(first->match, 1);
    kill_node(first);
    assert_ptr_equal(await_primary(self, 60), second);
    assert_true(net_match_tick(second->match) + 2 >= tick);
    await_seats(self, 2);
    assert_int_equal(net_match_player(second->match, 1), player);
    assert_in_range(self->gap_us, TAKEOVER_MS * MS, (TAKEOVER_MS + 150) * MS);
    assert_int_equal(net_server_get_counters(second->server)->joins, 0);
    ends_well(self, second, 2);
}

static void survives(uint64_t seed) {
    fleet fleet_of;
    fleet* self = &fleet_of;
    open_fleet_of(self, seed, 2, SEATS);
    const net_link_config bad = {.delay_ms = 30, .jitter_ms = 10, .loss_percent = 5, .seed = seed};
    net_socket_link_set(&bad);
    run(self, 30 + base_rng_below(&self->rng, 60));
    for (uint32_t i = 0; i < 2; i++) {
        kill_node(primary(self));
        (void)await_primary(self, 90);
        await_seats(self, SEATS);
        run(self, base_rng_below(&self->rng, 60));
    }
    node* last = primary(self);
    assert_int_equal(net_server_get_counters(last->server)->joins, 0);
    run(self, 60);
    ends_well(self, last, SEATS);
    close_fleet(self);
}

CASE(eight_players_survive_two_servers_at_random_moments) {
    for (uint64_t seed = 1; seed <= test_scaled(1, 1); seed++) {
        print_message("seed %u\n", (unsigned)seed);
        survives(seed);
    }
}

FLEET_CASE(a_server_that_slept_writes_nothing_any_more, 2, 1, 1) {
    first->asleep_until_us = self->now_us + 5000 * MS;
    run(self, 240);
    assert_ptr_equal(primary(self), second);
    await_seats(self, 1);
    for (uint32_t i = 0; i < 300 && !first->is_fenced; i++)
        step(self);
    const net_stream_status* status = net_stream_writer_status(first->writer);
    assert_true(first->is_fenced && status->fenced_by == 2);
    run(self, 60);
    assert_int_equal(net_stream_writer_status(second->writer)->state, NET_STREAM_OWNED);
    ends_well(self, second, 1);
}

FLEET_CASE(a_server_that_waits_or_is_paused_keeps_its_match, 3, 1, 0) {
    net_server_pause_after(first->server, 0);
    run(self, 300);
    keeps_match(first, second);
    kill_node(first);
    assert_ptr_equal(await_primary(self, 60), second);
    const ecs_tick tick = net_match_tick(second->match);
    run(self, 60);
    assert_true(net_server_is_paused(second->server)); // as it was
    assert_true(net_match_tick(second->match) == tick);
    net_server_pause_after(second->server, UINT64_MAX);
    run(self, 60);
    assert_true(net_match_tick(second->match) > tick);
}

// Its standby does not take it for dead, and what goes on there is not paused by an operator.
FLEET_CASE(an_empty_match_that_stands_still_is_kept_and_goes_on_elsewhere, 3, 1, 0) {
    first->server->config.pauses_when_empty = true;
    run(self, 60);
    assert_true(net_server_is_empty(first->server));
    const ecs_tick tick = net_match_tick(first->match);
    const uint64_t messages = broker_sim_count(self->broker);
    run(self, 1200); // 20 s
    assert_in_range(broker_sim_count(self->broker) - messages, 3, 5);
    assert_int_equal(net_stream_writer_status(first->writer)->standbys, 1);
    keeps_match(first, second);
    kill_node(first);
    assert_ptr_equal(await_primary(self, 420), second);
    assert_false(net_server_is_paused(second->server));
    run(self, 60);
    assert_in_range(net_match_tick(second->match), tick + 1, tick + 60);
}

// From the first tick on, however long its server might have been silent.
FLEET_CASE(a_match_that_was_empty_is_judged_as_any_other_once_a_player_is_in, 3, 1, 0) {
    first->server->config.pauses_when_empty = true;
    run(self, 600);
    assert_true(net_server_is_empty(first->server));
    seat_all(self, 1);
    run(self, 5);
    kill_node(first);
    await_takeover(self, second, 30, 1);
    ends_well(self, second, 1);
}

// From then on it writes nothing.
static void hand_over(node* at) {
    const net_observer observer = net_log_observer(at->log);
    observer.idle(observer.context, NET_IDLE_HANDOVER);
    at->is_handing_over = true;
}

// The next word shows the server that had it what the report of the other one says.
FLEET_CASE(a_match_that_is_handed_over_waits_for_no_silence, 16, 1, 2) {
    run(self, 120);
    const ecs_tick tick = net_match_tick(first->match);
    hand_over(first);
    run(self, 6);
    assert_true(second->is_primary && second->took_tick == tick); // none is lost
    const net_stream_status* status = net_stream_writer_status(first->writer);
    assert_true(status->state == NET_STREAM_OWNED && status->heard_epoch == 2);
    hand_over(first);
    run(self, 6);
    assert_true(first->is_fenced && status->fenced_by == 2);
    await_seats(self, 2);
    ends_well(self, second, 2);
}

FLEET_CASE(a_broker_that_stalls_moves_no_match, 4, 1, 1) {
    broker_sim_stall(self->broker, self->now_us + 5000 * MS);
    run(self, 330);
    keeps_match(first, second);
    run(self, 60);
    assert_true(net_match_tick(first->match) - net_match_tick(second->match) <= 2);
    broker_sim_restart(self->broker, self->now_us + 2000 * MS);
    run(self, 240);
    keeps_match(first, second);
    ends_well(self, first, 1);
}

// To the server alone. Its messages come each 800 ms at last.
FLEET_CASE(a_server_that_is_far_from_the_broker_keeps_its_match, 14, 1, 1) {
    for (uint32_t ms = 200; ms <= 400; ms += 200) {
        broker_sim_set_distance(self->broker, 0, ms * MS);
        run(self, 180);
    }
    keeps_match(first, second);
    kill_node(first);
    await_takeover(self, second, 90, 1);
    ends_well(self, second, 1);
}

FLEET_CASE(a_full_broker_moves_no_match, 15, 1, 1) {
    broker_sim_set_counts_refused(self->broker);
    broker_sim_set_room(self->broker, 0);
    run(self, 330);
    assert_int_equal(second->state, NET_STANDBY_WAITS);
    broker_sim_set_room(self->broker, UINT64_MAX);
    run(self, 60);
    keeps_match(first, second);
    assert_true(net_match_tick(first->match) - net_match_tick(second->match) <= 2);
    broker_sim_set_room(self->broker, 0);
    kill_node(first);
    run(self, 330);
    assert_null(primary(self));
    const char* once = strstr(self->said, "broker is full");
    assert_true(once && !strstr(once + 1, "broker is full"));
    broker_sim_set_room(self->broker, UINT64_MAX);
    await_takeover(self, second, 60, 1);
    ends_well(self, second, 1);
}

static void begins_again(fleet* self, const node* by, const node* standby, uint64_t epoch) {
    const net_stream_status* status = net_stream_writer_status(by->writer);
    self->may_fail = true;
    for (uint32_t i = 0; i < 900 && status->epoch < epoch; i++)
        step(self);
    run(self, 120);
    assert_int_equal(status->state, NET_STREAM_OWNED);
    assert_int_equal(status->epoch, epoch);
    keeps_match(by, standby);
    assert_true(net_match_tick(by->match) - net_match_tick(standby->match) <= 2);
    assert_int_equal(status->standbys, 1);
}

// Of its messages some are left, or none. Then the standby has the match, and loses its stream too.
FLEET_CASE(a_stream_that_the_broker_lost_begins_again_and_its_standbys_follow, 17, 1, 2) {
    run(self, 120);
    broker_sim_forget(self->broker, broker_sim_count(self->broker) / 2);
    begins_again(self, first, second, 2);
    kill_node(first);
    await_takeover(self, second, 60, 2);
    (void)open_standby(self, 2);
    run(self, 120);
    broker_sim_forget(self->broker, 0);
    begins_again(self, second, third, 4);
    net_stream_writer_restart(second->writer); // an operator wants it
    begins_again(self, second, third, 5);
    kill_node(second);
    await_takeover(self, third, 60, 2);
    ends_well(self, third, 2);
}

// It has all that the broker has, and its server lives.
FLEET_CASE(who_comes_to_a_stream_that_was_lost_does_not_claim, 19, 0, 1) {
    run(self, 120);
    broker_sim_forget(self->broker, broker_sim_count(self->broker) / 2);
    run(self, 30);
    (void)open_standby(self, 1);
    begins_again(self, first, second, 2);
    ends_well(self, first, 1);
    assert_false(third->is_open);
}

// It runs the match, and says so.
FLEET_CASE(a_server_whose_stream_failed_keeps_its_match, 18, 1, 1) {
    self->may_fail = true;
    run(self, 60);
    broker_sim_set_payload_max(self->broker, NET_BROKER_PAYLOAD_BYTES_MIN - 1);
    run(self, 330);
    assert_int_equal(net_stream_writer_status(first->writer)->state, NET_STREAM_FAILED);
    keeps_match(first, second);
    broker_sim_set_payload_max(self->broker, 1u << 20);
    begins_again(self, first, second, 2);
    ends_well(self, first, 1);
}

// The server's own log has all of it.
FLEET_CASE(without_a_broker_no_match_goes_on_elsewhere, 11, 1, 1) {
    broker_sim_stall(self->broker, self->now_us + 60000 * MS);
    kill_node(first);
    run(self, 300);
    assert_int_equal(second->state, NET_STANDBY_WAITS);
    assert_null(primary(self));
}

FLEET_CASE(of_a_network_in_two_parts_who_reaches_the_broker_has_the_match, 12, 1, 1) {
    broker_sim_cut(self->broker, 0, self->now_us + 2000 * MS);
    run(self, 90);
    assert_true(second->is_primary && first->is_primary); // it does not know yet
    run(self, 240);
    assert_true(first->is_fenced);
    await_seats(self, 1);
    ends_well(self, second, 1);
}

FLEET_CASE(a_standby_alone_keeps_nothing, 5, 1, 1) {
    kill_node(second);
    run(self, 60);
    ends_well(self, first, 1);
}

static uint32_t standbys_of(const node* at) {
    return net_stream_writer_status(at->writer)->standbys;
}

// What hangs, diverged or is far behind would take over late or never, and looks well to a broker.
FLEET_CASE(standbys_that_could_take_over_now_count_and_no_others, 14, 1, 0) {
    run(self, 60);
    assert_int_equal(standbys_of(first), 1);
    (void)open_standby(self, 2);
    run(self, 60);
    assert_int_equal(standbys_of(first), 2);
    second->asleep_until_us = self->now_us + 4000 * MS;
    run(self, 110);
    assert_int_equal(standbys_of(first), 2);
    run(self, 80);
    assert_int_equal(standbys_of(first), 1);
    run(self, 130);
    assert_int_equal(standbys_of(first), 2); // it woke, and caught up
    kill_node(second);
    run(self, 190);
    assert_int_equal(standbys_of(first), 1);
    kill_node(first);
    third = await_primary(self, 60);
    assert_int_equal(standbys_of(third), 0);
}

// Who stops the server then hands the match over. Else reports come each second.
FLEET_CASE(a_standby_that_is_ready_counts_at_once, 14, 0, 1) {
    run(self, 600); // 10 s, more than counts as near
    for (uint32_t i = 1; i < NODES; i++) {
        (void)open_standby(self, i);
        for (uint32_t k = 0; k < 60 && net_match_tick(self->nodes[i].match) < 600; k++)
            step(self);
        run(self, 6);
        assert_int_equal(standbys_of(first), i);
    }
    kill_node(first);
    first = await_primary(self, 60);
    run(self, 6);
    assert_int_equal(standbys_of(first), 1); // the other one stands by for it
}

// It knows each tick, and cannot claim: its broker is too far away.
FLEET_CASE(a_standby_that_would_never_claim_does_not_count, 15, 1, 0) {
    run(self, 60);
    assert_int_equal(standbys_of(first), 1);
    broker_sim_set_faults(self->broker, &(broker_sim_faults){.delay_us_min = 100 * (uint32_t)MS,
                                                             .delay_us_max = 120 * (uint32_t)MS});
    run(self, 300);
    assert_int_equal(standbys_of(first), 0);
}

FLEET_CASE(while_the_broker_takes_nothing_no_standby_counts, 16, 1, 0) {
    run(self, 60);
    broker_sim_set_room(self->broker, broker_sim_count(self->broker));
    run(self, 10);
    assert_int_equal(net_stream_writer_status(first->writer)->trouble, NET_STREAM_FULL);
    assert_int_equal(standbys_of(first), 0);
    broker_sim_set_room(self->broker, UINT64_MAX);
    run(self, 60);
    assert_int_equal(standbys_of(first), 1);
}

// Between two ticks it says nothing for longer than takes a match over elsewhere.
CASE(a_server_of_two_ticks_a_second_keeps_its_match) {
    static fleet self;
    open_fleet_with(&self, 17, false, 2);
    node *first = &self.nodes[0], *second = open_standby(&self, 1);
    for (uint32_t i = 0; i < 10; i++) {
        run(&self, 1);
        first->asleep_until_us = self.now_us + 490 * MS;
        run(&self, 30);
        assert_int_equal(second->state, NET_STANDBY_WAITS);
    }
    keeps_match(first, second);
    kill_node(first);
    assert_ptr_equal(await_primary(&self, 90), second);
    close_fleet(&self);
}

// It sees that the match ended, and ends too.
FLEET_CASE(an_end_is_no_silence, 6, 1, 1) {
    run(self, 30);
    net_server_stop(first->server, self->now_us);
    while (net_server_get_phase(first->server) != NET_SERVER_ENDED)
        step(self);
    net_log_append_close(first->log, first->match);
    run(self, 60);
    assert_int_equal(second->state, NET_STANDBY_ENDED);
    assert_true(net_match_tick(second->match) == net_match_tick(first->match));
}

// A client that does not answer keeps it from its end.
FLEET_CASE(a_server_that_dies_when_the_match_is_over_has_no_heir, 10, 1, 1) {
    run(self, 30);
    net_socket_link_set(&(net_link_config){.loss_percent = 100});
    net_server_stop(first->server, self->now_us);
    run(self, 30);
    assert_int_equal(net_server_get_phase(first->server), NET_SERVER_SETTLING);
    kill_node(first);
    run(self, 60);
    assert_int_equal(second->state, NET_STANDBY_ENDED);
    assert_non_null(strstr(self->said, "the match was over when its server died"));
}

// ---- a tick that ends servers ----

// The stream has the begin of a tick, and its server died in it.
static void die_in_tick(fleet* self) {
    node* first = &self->nodes[0];
    const net_tick_inputs begin = {.tick = net_match_tick(first->match) + 1};
    net_log_append_begin(first->log, &begin);
    for (uint32_t i = 0; i < 30; i++) {
        self->now_us += MS;
        broker_sim_run(self->broker, self->now_us);
        (void)net_stream_writer_poll(first->writer, self->now_us);
    }
    kill_node(first);
}

// Its claim is on the way; it dies in the tick that it is about to run.
static void die_in_claim(fleet* self, node* at) {
    while (at->state != NET_STANDBY_CLAIMS)
        step(self);
    (void)net_stream_writer_poll(at->writer, self->now_us);
    for (uint32_t i = 0; i < 30; i++) {
        self->now_us += MS;
        broker_sim_run(self->broker, self->now_us);
    }
    kill_node(at);
    run(self, 240);
}

FLEET_CASE(a_tick_that_was_begun_is_run_by_the_next_server, 7, 2, 2) {
    run(self, 30);
    const ecs_tick tick = net_match_tick(first->match);
    third->asleep_until_us = self->now_us + 2000 * MS; // it follows later
    die_in_tick(self);
    assert_ptr_equal(await_primary(self, 60), second);
    assert_true(net_match_tick(second->match) >= tick + 1);
    await_seats(self, 2);
    run(self, 120);
    assert_int_equal(third->state, NET_STANDBY_WAITS);
    assert_in_range(net_match_tick(second->match) - net_match_tick(third->match), 0, 2);
    ends_well(self, second, 2);
}

FLEET_CASE(a_tick_that_ended_two_servers_ends_no_third, 8, 2, 2) {
    run(self, 30);
    third->asleep_until_us = self->now_us + 1000 * MS;
    die_in_tick(self);
    die_in_claim(self, second);
    assert_int_equal(third->state, NET_STANDBY_WAITS);
    assert_true(net_standby_get_report(third->standby).is_given_up);
    assert_non_null(strstr(self->said, "ended two servers: the match does not continue here"));
    run(self, 700);
    assert_int_equal(third->state, NET_STANDBY_FAILED);
    assert_null(primary(self));
}

// The crash of a server may be faster than what it sends.
FLEET_CASE(a_begin_that_never_came_ends_no_third_server_either, 13, 2, 2) {
    run(self, 30);
    third->asleep_until_us = self->now_us + 1000 * MS;
    kill_node(first);
    die_in_claim(self, second);
    char text[64];
    snprintf(text, sizeof text, "tick %u ended two servers",
             (unsigned)net_match_tick(third->match) + 1);
    assert_int_equal(third->state, NET_STANDBY_WAITS);
    assert_non_null(strstr(self->said, text));
    assert_null(primary(self));
}

// ---- a run that differs ----

FLEET_CASE(a_standby_that_differs_says_the_tick_and_never_claims, 9, 0, 0) {
    net_game_module game = *swarm_module_get();
    net_module* module = self->module;
    game.register_systems = table_register;
    table_act = table_disturb;
    assert_ok(
        net_module_wrap(&game, swarm_templates(), "swarm.blk", test_reporter(), &self->module));
    (void)open_standby(self, 1);
    net_module* other = self->module;
    self->module = module;
    seat_all(self, 1);
    run(self, 120);
    assert_int_equal(second->state, NET_STANDBY_DIVERGED);
    assert_non_null(strstr(self->said, "the run here differs from the match in tick 100"));
    run(self, 130);
    assert_int_equal(standbys_of(first), 0);
    kill_node(first);
    run(self, 120);
    assert_null(primary(self));
    kill_node(second);
    net_module_close(other);
}
