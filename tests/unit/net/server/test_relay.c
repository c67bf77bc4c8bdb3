// SPDX-License-Identifier: MIT
// What a relay knows of where it is: the end of the stream is at its broker, not where the relay
// has read to.
#include "fleet_world.h"

enum { DELAY_S = 2, MATCH_STEPS = 1200 };

typedef struct relay {
    fleet fleet;
    net_broker broker;
    net_follow* follow;
    table shown;
} relay;

static uint64_t clock_now_us; // of the fleet

static void open_relay(relay* self) {
    fleet* fleet_of = &self->fleet;
    self->broker = broker_sim_connect(fleet_of->broker);
    const net_follow_config config = {.file = "the stream",
                                      .broker = &self->broker,
                                      .who = 1,
                                      .delay_us = DELAY_S * UINT64_C(1000000),
                                      .reporter = test_reporter()};
    net_result result;
    clock_now_us = fleet_of->now_us;
    assert_ok(net_follow_create(&config, &self->follow));
    while ((result = net_follow_find(self->follow, clock_now_us)) == NET_ERR_FULL) {
        clock_now_us = fleet_of->now_us += MS;
        broker_sim_run(fleet_of->broker, fleet_of->now_us);
    }
    assert_ok(result);
    table_prepare(&self->shown,
                  (table_config){.seed = 77, .spectators_max = 1, .server.is_following = true});
    assert_ok(net_follow_make_match(self->follow, self->shown.module, &self->shown.match));
    table_serve(&self->shown);
}

static void open_match(relay* self) {
    memset(self, 0, sizeof *self);
    open_fleet_of(&self->fleet, 1, 0, 0);
    run(&self->fleet, MATCH_STEPS);
}

static void close_relay(relay* self) {
    table_close(&self->shown);
    net_follow_destroy(self->follow);
    close_fleet(&self->fleet);
}

#define RELAY_CASE(name) CASE_WITH(relay, self, open_match(self), close_relay(self), name)

// The match's server too. In each step the relay runs what is due, but not more than its machine
// can.
static void follow(relay* self, uint32_t steps, uint32_t ticks_max) {
    for (uint32_t i = 0; i < steps; i++) {
        step(&self->fleet);
        clock_now_us = self->fleet.now_us;
        for (uint32_t k = 0; k < ticks_max; k++)
            if (net_follow_run(self->follow, self->shown.server, clock_now_us) != NET_FOLLOW_RAN)
                break;
    }
}

static bool is_cut(const relay* self) {
    return net_follow_get_report(self->follow, clock_now_us).is_cut;
}

static uint32_t behind_ms(const relay* self) {
    return (uint32_t)(net_follow_get_report(self->follow, clock_now_us).behind_us / MS);
}

// What it really is, beyond the delay.
static uint32_t truth_ms(const relay* self) {
    const ecs_tick ticks =
        net_match_tick(self->fleet.nodes[0].match) - net_match_tick(self->shown.match);
    return ticks > DELAY_S * 60 ? (uint32_t)(ticks - DELAY_S * 60) * 1000 / 60 : 0;
}

RELAY_CASE(a_relay_that_begins_late_is_behind_from_its_first_look_on) {
    open_relay(self);
    assert_in_range(behind_ms(self), truth_ms(self) - 300, truth_ms(self) + 300);
    for (uint32_t i = 0; i < 60; i++) {
        follow(self, 10, 3);
        assert_in_range(behind_ms(self) + 300, truth_ms(self), truth_ms(self) + 600);
    }
    follow(self, 300, 1000);
    assert_in_range(behind_ms(self), 0, 200);
    assert_in_range(truth_ms(self), 0, 200);
}

// Each message is due so much after it came: nothing is late, and the relay is far behind.
RELAY_CASE(a_relay_on_a_slow_line_is_behind_although_nothing_waits) {
    open_relay(self);
    broker_sim_faults slow = {
        .delay_us_min = 300, .delay_us_max = BROKER_MS * MS, .message_lost = 250};
    broker_sim_set_faults(self->fleet.broker, &slow);
    follow(self, 200, 1000);
    assert_true(truth_ms(self) > 8000);
    assert_true(net_follow_due_us(self->follow) > clock_now_us); // all that came is early
    assert_in_range(behind_ms(self), truth_ms(self) - 300, truth_ms(self) + 300);
}

RELAY_CASE(a_relay_without_its_broker_is_behind_when_it_has_shown_all) {
    open_relay(self);
    follow(self, 400, 1000);
    assert_in_range(behind_ms(self), 0, 200);
    broker_sim_cut(self->fleet.broker, 1, self->fleet.now_us + 6000 * MS);
    follow(self, (DELAY_S * 60) - 6, 1000); // it has the delay to show
    assert_in_range(behind_ms(self), 0, 200);
    follow(self, 180, 1000);
    assert_in_range(behind_ms(self), 2500, 3200);
    assert_true(is_cut(self));
    follow(self, 300, 1000);
    assert_in_range(behind_ms(self), 0, 200);
    assert_false(is_cut(self));
}

// As a line that takes everything and gives nothing: it is connected.
RELAY_CASE(a_broker_that_does_not_answer_is_not_a_server_that_hangs) {
    open_relay(self);
    follow(self, 400, 1000);
    broker_sim_stall(self->fleet.broker, self->fleet.now_us + 4000 * MS);
    follow(self, 200, 1000);
    assert_true(is_cut(self));
    assert_true(net_follow_get_report(self->follow, clock_now_us).silent_us > 3000 * MS);
    follow(self, 300, 1000);
    assert_false(is_cut(self));
    kill_node(&self->fleet.nodes[0]);
    follow(self, 200, 1000);
    assert_false(is_cut(self));
    assert_in_range(behind_ms(self), 0, 200);
}

RELAY_CASE(a_relay_of_a_match_that_is_paused_is_not_behind) {
    open_relay(self);
    follow(self, 400, 1000);
    net_server_pause_after(self->fleet.nodes[0].server, 0);
    for (uint32_t i = 0; i < 60; i++) {
        follow(self, 10, 1000);
        assert_in_range(behind_ms(self), 0, 200);
    }
    net_server_pause_after(self->fleet.nodes[0].server, UINT64_MAX);
    for (uint32_t i = 0; i < 60; i++) {
        follow(self, 10, 1000);
        assert_in_range(behind_ms(self), 0, 200);
    }
}

// A standby is behind by what the stream has, also while that does not come.
CASE_WITH(fleet, self, open_fleet_of(self, 1, 0, 0), close_fleet(self),
          a_standby_that_runs_again_from_the_first_tick_lags) {
    run(self, 600);
    node* at = open_standby(self, 1);
    broker_sim_faults slow = {
        .delay_us_min = 300, .delay_us_max = BROKER_MS * MS, .message_lost = 250};
    broker_sim_set_faults(self->broker, &slow);
    run(self, 120);
    const net_standby_report report = net_standby_get_report(at->standby);
    const ecs_tick lag = net_match_tick(self->nodes[0].match) - net_match_tick(at->match);
    assert_true(lag > 200);
    assert_in_range(report.newest - net_match_tick(at->match), lag - 10, lag);
    assert_in_range(report.lag_messages, lag - 30, lag + 30);
}
