// SPDX-License-Identifier: MIT
// The server with honest clients: greeting, refusals, and the phases of a match.
#include "session_table.h"

// ---- greeting and refusals

static raw_client* greet(table* at, uint32_t protocol, uint64_t schema, const char* game) {
    raw_client* raw = table_raw_client(at);
    (void)table_connect(at, raw);
    raw_client_hello(raw, protocol, schema, game, "raw");
    table_run(at, 10);
    return raw;
}

// The match takes the range of indices from the world. A welcomed client must still get the number.
TABLE_CASE(a_welcome_names_the_rate_and_the_range_of_the_running_world, .seed = 1) {
    assert_int_equal(net_match_get_config(at->match)->replicated_index_max, 0);
    raw_client* raw = greet(at, NET_PROTOCOL_VERSION, table_schema(at), "swarm");
    assert_true(raw->is_welcome);
    assert_int_equal(raw->tick_rate_hz, net_match_get_config(at->match)->tick_rate_hz);
    assert_int_equal(raw->replicated_index_max, ecs_limits_default().replicated_index_max);
}

TABLE_ROWS(another_protocol_or_game_is_refused_with_the_name_of_ours, is_game, 2, .seed = 1) {
    raw_client* raw = greet(at, NET_PROTOCOL_VERSION + !is_game, table_schema(at),
                            is_game ? "breakout" : "swarm");
    assert_true(raw->is_refused && raw->is_gone && !raw->is_welcome);
    assert_int_equal(table_counters(at)->refusals, 1);
    assert_int_equal(raw->refused_reason, is_game ? SHOAL__WIRE__REFUSED_REASON__REFUSED_GAME
                                                  : SHOAL__WIRE__REFUSED_REASON__REFUSED_PROTOCOL);
    if (is_game) assert_string_equal(raw->refused_game, "swarm");
    if (!is_game) assert_non_null(strstr(raw->refused_text, "protocol 5"));
    if (!is_game) assert_non_null(strstr(raw->refused_text, "client 6"));
}

TABLE_CASE(a_client_that_names_no_game_learns_it, .seed = 1, .spectators_max = 3, .seats = 1) {
    (void)table_watch(at, NULL);
    table_run(at, 30);
    table_seat* seat = table_sit_in(at, NULL, NULL, table_client(at, "asker"));
    table_run(at, 30);
    assert_int_equal(net_client_get_phase(seat->client), NET_CLIENT_ENDED);
    seat_refused(seat, SHOAL__WIRE__REFUSED_REASON__REFUSED_GAME, "swarm");
    assert_string_equal(net_client_refusal_game(seat->client), "swarm");
    assert_int_equal(table_counters(at)->refusals, 0); // it was a question
    net_server_info info;
    assert_true(net_client_server_info(seat->client, &info));
    assert_int_equal(info.players, 1);
    assert_int_equal(info.players_max, TABLE_SEATS);
    assert_int_equal(info.spectators, 1);
    assert_int_equal(info.spectators_max, 3);
    assert_in_range((uint64_t)info.ping_ms, 10, 50); // a line of 5 ms, and ticks
    assert_false(net_client_server_info(at->seats[0].client, &info));
    net_client_report report = net_client_get_report(seat->client);
    assert_int_equal(report.client, 0);
    assert_int_equal(report.tick, 0);
}

// A text of the templates is replaced by another one. avatar inherits them and is the first.
static const struct {
    const char *text, *replacement, *says;
} OTHER_TEMPLATES[] = {
    {"value:u8=100", "value:u8=101", "\"template avatar\" differs"},
    {"value:r=0.5", "value:r=0.75", "\"template burning\" differs"},
    {"\"heat:r\"{ _replicate:b=yes; value:r=0.5 }", "\"heat:u8\"{ _replicate:b=yes; value:u8=5 }",
     "\"component heat\" differs"},
    {"_step:r=0.0625", "_step:r=0.125", "\"template avatar\" differs"},
    {"clock {", "aaa { \"hp:u8\"{ _replicate:b=yes; value:u8=1 } }\nclock {",
     "\"template aaa\" is missing on the server"},
};

TABLE_ROWS(a_template_that_differs_is_refused_by_its_name, i, BASE_COUNT(OTHER_TEMPLATES),
           .seed = 1) {
    const char *all = swarm_templates(), *found = strstr(all, OTHER_TEMPLATES[i].text);
    char buffer[4096];
    assert_non_null(found);
    assert_true(base_text_format(buffer, sizeof buffer, "%.*s%s%s", (int)(found - all), all,
                                 OTHER_TEMPLATES[i].replacement,
                                 found + strlen(OTHER_TEMPLATES[i].text)));
    net_module* variant = NULL;
    assert_ok(
        net_module_wrap(swarm_module_get(), buffer, "variant.blk", test_reporter(), &variant));
    table_seat* seat = table_sit_in(at, variant, NULL, table_client(at, "variant"));
    table_run(at, 40);
    seat_refused(seat, SHOAL__WIRE__REFUSED_REASON__REFUSED_SCHEMA, OTHER_TEMPLATES[i].says);
    seat_part(seat);
    seat->client = NULL;
    net_module_close(variant);
}

TABLE_CASE(whatever_a_client_answers_its_schema_stays_refused, .seed = 1) {
    raw_client* raw = greet(at, NET_PROTOCOL_VERSION, 12345, "swarm");
    assert_true(raw->is_asked);
    assert_false(raw->is_refused);
    raw_client_answer(raw, "component \x1b[31mred", 7);
    table_run(at, 10);
    raw_refused(raw, SHOAL__WIRE__REFUSED_REASON__REFUSED_SCHEMA, "");
    assert_null(strchr(raw->refused_text, 0x1b));
}

TABLE_CASE(whoever_comes_after_the_end_is_told_so, .seed = 1, .ticks_max = 30, .quiet = 1e9) {
    // No client acknowledges, so the server waits ten seconds at the end.
    table_seat* seat = table_sit_for(at, 25);
    net_sim_link_set(seat->transport, &DEAD_LINK);
    table_runs_to(at, 20, NET_SERVER_SETTLING);
    raw_client* raw = greet(at, NET_PROTOCOL_VERSION, table_schema(at), "swarm");
    assert_int_equal(raw->refused_reason, SHOAL__WIRE__REFUSED_REASON__REFUSED_ENDED);
    table_runs_to(at, 17 * TICKS_PER_SECOND, NET_SERVER_ENDED);
    assert_false(table_report(at, 1)->is_caught_up);
    raw = greet(at, NET_PROTOCOL_VERSION, table_schema(at), "swarm");
    assert_int_equal(raw->refused_reason, SHOAL__WIRE__REFUSED_REASON__REFUSED_ENDED);
}

TABLE_CASE(a_connection_that_says_nothing_is_ended_after_five_seconds, .seed = 1) {
    raw_client* mute = table_raw_client(at);
    raw_client* asked = table_raw_client(at);
    table_run(at, 6);
    raw_client_hello(asked, NET_PROTOCOL_VERSION, 1, "swarm", "never answers");
    table_run(at, NET_CONNECT_MS_MAX * TICKS_PER_SECOND / 1000 - 10);
    assert_true(mute->is_connected && !mute->is_gone);
    assert_true(asked->is_asked && !asked->is_gone);
    table_run(at, 20);
    assert_true(mute->is_gone);
    assert_true(asked->is_gone);
    assert_int_equal(table_counters(at)->drops, 0);
}

// ---- the phases of a match

TABLE_ROWS(a_stop_ends_orderly_in_every_phase, is_held, 2, .seed = 2, .quiet = 1e9, .seats = 2,
           .clients_min = is_held ? 3 : 1) {
    (void)table_raw_client(at);
    table_run(at, 60);
    net_server_stop(at->server, at->now_us);
    net_server_stop(at->server, at->now_us);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_LEAVING);
    table_run_out(at, 60);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(net_client_get_end(at->seats[i].client), NET_CLIENT_END_GOODBYE);
        assert_int_equal(net_server_report(at->server, i)->end, NET_END_GOODBYE);
    }
    assert_true(at->raw_clients[0].is_gone);
    assert_int_equal(table_counters(at)->clients, 0);
    assert_int_equal(table_counters(at)->drops, 0);
    net_server_stop(at->server, at->now_us);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_ENDED);
}

TABLE_CASE(a_stop_does_not_wait_for_ever, .seed = 2, .seats = 1, .steps = 60) {
    net_sim_link_set(at->seats[0].transport, &DEAD_LINK);
    net_server_stop(at->server, at->now_us);
    table_runs_to(at, 110, NET_SERVER_LEAVING);
    table_runs_to(at, 2 * TICKS_PER_SECOND - 110, NET_SERVER_ENDED);
    // The report contains no claim about what the client holds.
    assert_int_equal(table_report(at, 1)->tick, 0);
    assert_int_equal(table_report(at, 1)->scope.entities, 0);
    assert_false(table_report(at, 1)->is_caught_up);
}

TABLE_CASE(a_second_stop_waits_for_no_answer, .seed = 2, .seats = 2, .steps = 60) {
    net_sim_link_set(at->seats[0].transport, &DEAD_LINK);
    net_server_stop(at->server, at->now_us);
    table_runs_to(at, 6, NET_SERVER_SETTLING);
    net_server_stop(at->server, at->now_us);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_LEAVING);
    table_runs_to(at, 8, NET_SERVER_ENDED);
    assert_int_equal(net_client_get_end(at->seats[1].client), NET_CLIENT_END_GOODBYE);
}

// The clock of a virtual machine that was asleep, of both sides at once.
TABLE_ROWS(a_clock_that_jumps_by_a_second_ends_nothing, i, 2, .seed = 2, .seats = 2, .steps = 60) {
    ecs_tick before = net_match_tick(at->match);
    at->now_us += i == 0 ? 1000000 : 20000000;
    table_run(at, 5 * TICKS_PER_SECOND);
    assert_int_equal(net_match_tick(at->match), before + 5 * TICKS_PER_SECOND);
    assert_int_equal(table_counters(at)->clients, 2);
    assert_int_equal(table_counters(at)->drops, 0);
    table_plays(at);
}

TABLE_ROWS(after_a_clock_that_jumps_by_an_hour_clients_can_join, i, 2, .seed = 2, .seats = 1,
           .steps = 60) {
    at->now_us += i == 0 ? UINT64_C(40000000) : UINT64_C(3600000000);
    table_run(at, TICKS_PER_SECOND);
    (void)table_sit_for(at, 2 * TICKS_PER_SECOND);
    assert_true(seat_plays(&at->seats[1]));
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_RUNNING);
}

TABLE_CASE(whoever_comes_again_has_a_new_number_and_no_ghost, .seed = 2, .ticks_max = 400) {
    for (uint32_t i = 0; i < TABLE_SEATS; i++) {
        table_seat* seat = table_sit_for(at, 25);
        assert_int_equal(net_client_get_report(seat->client).client, i + 1);
        uint32_t entities = ecs_world_entity_count(net_match_world(at->match));
        assert_int_equal(entities, 12 + 1 + 1); // the first motes, the clock, one avatar
        if (i + 1 == TABLE_SEATS) break;
        net_client_leave(seat->client, at->now_us);
        table_run(at, 10);
        assert_int_equal(net_client_get_end(seat->client), NET_CLIENT_END_LEFT);
        assert_int_equal(table_report(at, i + 1)->end, NET_END_LEFT);
        assert_int_equal(net_match_player(at->match, i + 1), ECS_ENTITY_NONE);
        assert_int_equal(table_counters(at)->clients + table_counters(at)->drops, 0);
    }
    table_run_out(at, 1000);
    net_client_report report = net_client_get_report(at->seats[TABLE_SEATS - 1].client);
    assert_int_equal(report.end, NET_CLIENT_END_GOODBYE);
    const net_peer_report* peer = table_report(at, report.client);
    assert_true(peer->scope.hash == report.scope.hash);
    assert_int_equal(report.scope.entities, 13);
}

TABLE_CASE(a_client_that_leaves_while_greeting_is_gone_at_once, .seed = 2) {
    for (uint32_t after = 0; after < 5; after++) {
        table_seat* seat = table_sit(at, &QUIET_LINK);
        table_run(at, after);
        net_client_leave(seat->client, at->now_us);
        if (net_client_get_phase(seat->client) == NET_CLIENT_ENDED)
            assert_int_equal(net_client_get_end(seat->client), NET_CLIENT_END_LEFT);
        table_run(at, 20);
        assert_int_equal(net_client_get_end(seat->client), NET_CLIENT_END_LEFT);
        assert_int_equal(table_counters(at)->clients, 0);
    }
}

// ---- memory

TABLE_ROWS(steady_ticks_allocate_nothing_on_either_side, is_threaded, 2, .seed = 8, .quiet = 60,
           .seats = 2, .steps = 120, .is_threaded = is_threaded, .has_accounts = is_threaded) {
    uint64_t calls[] = {at->memory.calls, at->seats[0].memory.calls, at->seats[1].memory.calls};
    uint64_t states = table_counters(at)->state_packets;
    table_run(at, 600);
    assert_int_equal(at->memory.calls, calls[0]);
    assert_int_equal(at->seats[0].memory.calls, calls[1]);
    assert_int_equal(at->seats[1].memory.calls, calls[2]);
    table_plays(at);
    // Nothing changes: the server sends ten packets a second to each client.
    assert_in_range(table_counters(at)->state_packets - states, 195, 220);
}

// ---- what an operator reads

static uint64_t fake_us;

static uint64_t fake_clock(void) {
    return fake_us += 7;
}

TABLE_ROWS(parts_of_a_tick_are_measured_with_the_clock_of_the_caller_if_any, has_clock, 2,
           .seed = 9, .server.clock_us = has_clock ? fake_clock : NULL) {
    const uint64_t* us = net_server_get_times(at->server);
    table_step(at);
    for (uint32_t i = 0; i < NET_PART_COUNT; i++)
        assert_int_equal(us[i], has_clock ? 7 : 0);
    assert_string_equal(net_part_name(NET_PART_GATHER), "gather");
    assert_string_equal(net_part_name(NET_PART_SEND), "send");
}

TABLE_CASE(who_is_here_can_be_read, .seed = 10, .quiet = 1e9, .spectators_max = 1,
           .server.rate_bytes_max = 8000) {
    static const net_link_config BAD = {.loss_percent = 20, .delay_ms = 40, .seed = 3};
    (void)table_sit_as(at, NULL, "near");
    (void)table_sit_as(at, &BAD, "far");
    (void)table_watch(at, NULL);
    table_run(at, 300);
    net_live_peer near, far, peer;
    assert_true(net_server_find_client(at->server, 1, &near));
    assert_true(net_server_find_client(at->server, 2, &far));
    assert_false(net_server_find_client(at->server, 3, &peer));
    assert_false(net_server_find_client(at->server, 0, &peer));
    assert_string_equal(near.name, "near");
    assert_string_equal(near.state, "playing");
    assert_true(near.is_bot && !near.is_spectator);
    assert_int_equal(near.player, net_match_player(at->match, 1));
    assert_true(near.peer.rtt_ms < far.peer.rtt_ms);
    assert_int_equal(near.lost, 0);
    assert_true(far.lost > 5 && far.acked > far.lost);
    assert_true(near.entities > 10);
    assert_in_range(near.acked_tick, 290, 300);
    assert_in_range(near.sent_tick, near.acked_tick, 300);
    assert_true(far.acked_tick < near.acked_tick && far.acked_tick > 250);
    assert_true(near.rate_max_bytes_s == 8000);
    assert_true(near.peer.inputs_received > 250 && near.peer.packets_sent > 100);
    assert_int_equal(near.peer.end, NET_END_NONE);
    uint32_t found = 0, spectators = 0;
    for (uint32_t place = 0; net_server_next_client(at->server, &place, &peer); found++)
        spectators += peer.is_spectator;
    assert_int_equal(found, 3);
    assert_int_equal(spectators, 1);
}

TABLE_CASE(what_waits_for_a_client_shows_its_age, .seed = 10, .quiet = 1e9) {
    static const net_link_config DEAF = {.loss_percent = 100, .delay_ms = 5};
    net_live_peer peer;
    (void)table_sit_for(at, 6 * TICKS_PER_SECOND);
    assert_true(net_server_find_client(at->server, 1, &peer));
    assert_true(peer.waiting_ticks <= 6);
    net_sim_link_set(at->seats[0].transport, &DEAF);
    ecs_tick oldest = 0;
    for (uint32_t i = 0; i < 200; i++) { // a packet now and then still goes
        table_step(at);
        assert_true(net_server_find_client(at->server, 1, &peer));
        assert_int_equal(peer.waiting == 0 && peer.waiting_ticks > 0, false);
        if (peer.waiting_ticks > oldest) oldest = peer.waiting_ticks;
    }
    assert_in_range(oldest, 7, 200);
    assert_true(peer.quiet_us > 1000000);
}
