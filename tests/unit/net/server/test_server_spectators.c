// SPDX-License-Identifier: MIT
// Clients that only watch: their places, what they see, what they may not do, and that a match is
// the same with and without them.
#include "session_table.h"

// Near the edge of sight, what a client had before decides: so two scopes are equal without it.
#define RULES_ALL (SWARM_RULES_END - 1)
#define RULES_SHARP (RULES_ALL & ~SWARM_RADIUS)

static bool is_in(const table_seat* seat) {
    return seat_plays(seat) && net_client_tick_newest(seat->client) > 0;
}

// ---- places

TABLE_CASE(spectators_have_places_beside_those_of_players, .seed = 1, .clients_max = 1,
           .spectators_max = 2) {
    table_seat* first = table_watch(at, NULL);
    table_run(at, 30);
    table_seat* second = table_watch(at, NULL);
    table_seat* player = table_sit_for(at, 30);
    assert_true(is_in(first) && is_in(second) && is_in(player));
    assert_int_equal(net_client_number(first->client), NET_SPECTATOR_FIRST);
    assert_int_equal(net_client_number(second->client), NET_SPECTATOR_FIRST + 1);
    assert_int_equal(net_client_number(player->client), 1);
    const net_server_counters* counters = table_counters(at);
    assert_int_equal(counters->spectators, 2);
    assert_int_equal(counters->clients, 1);
    assert_int_equal(counters->clients_peak, 1);
    table_seat* third = table_watch(at, NULL);
    table_seat* late = table_sit_for(at, 30);
    seat_refused(third, SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL,
                 "the server is full (2 spectators): try later");
    seat_refused(late, SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL,
                 "the server is full (1 players): try later");
    net_client_leave(first->client, at->now_us);
    table_run(at, 30);
    assert_int_equal(counters->spectators, 1);
    table_seat* next = table_watch(at, NULL);
    table_run(at, 30);
    assert_true(is_in(next));
    assert_int_equal(net_client_number(next->client), NET_SPECTATOR_FIRST + 2);
    assert_int_equal(heard_count(&at->said, "spectator 2147483648 \"watcher\" joined"), 1);
    assert_int_equal(heard_count(&at->said, "spectator 2147483648 \"watcher\" left"), 1);
}

TABLE_CASE(without_places_for_them_spectators_are_told_so, .seed = 1, .watchers = 1, .steps = 30) {
    seat_refused(at->seats, SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL,
                 "this server takes no spectators (its option: --spectators N)");
}

TABLE_CASE(spectators_of_an_address_are_counted_apart_from_its_players, .seed = 1,
           .server.clients_per_address_max = 2, .spectators_max = 4) {
    const net_peer_identity home = {.address = net_address_ipv4(0x057100cbu, 40000)};
    table_seat* seats[6];
    for (uint32_t i = 0; i < 6; i++) {
        seats[i] = i % 2 ? table_sit(at, NULL) : table_watch(at, NULL);
        net_sim_identity_set(seats[i]->transport, &home);
        table_run(at, 3 * TICKS_PER_SECOND); // their pace
        assert_int_equal(is_in(seats[i]), i < 4);
    }
    seat_refused(seats[4], SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL,
                 "2 spectators of your address are here already");
    seat_refused(seats[5], SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL,
                 "2 players of your address are here already");
    // More than NET_SILENCE_MS_MAX later they are still there.
    table_run(at, (NET_LIFE_INPUT_MS / 1000 + 2) * TICKS_PER_SECOND);
    assert_true(is_in(seats[0]) && is_in(seats[2]));
}

TABLE_CASE(a_match_does_not_begin_for_a_spectator, .seed = 1, .clients_min = 1, .spectators_max = 1,
           .watchers = 1, .steps = 60) {
    table_plays(at);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_HOLDING);
    (void)table_sit_for(at, 30);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_RUNNING);
    assert_true(is_in(at->seats));
}

// The first one of several wakes it, and it waits for the others as ever.
TABLE_CASE(a_match_that_waits_for_players_is_empty_until_one_comes, .seed = 1, .clients_min = 2,
           .server.pauses_when_empty = true, .steps = 60) {
    table_run(at, 30);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_HOLDING);
    assert_true(net_server_is_empty(at->server));
    (void)table_sit_for(at, 30);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_HOLDING);
    assert_false(net_server_is_empty(at->server));
    (void)table_sit_for(at, 30);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_RUNNING);
}

// It stands still for a spectator, longer than a silent client is kept, goes on with a player, and
// stands still again once that player has left the match.
TABLE_CASE(an_empty_match_stands_still_until_a_player_comes, .seed = 1, .spectators_max = 1,
           .server.pauses_when_empty = true, .watchers = 1) {
    table_run(at, 45 * TICKS_PER_SECOND);
    assert_true(net_server_is_paused(at->server) && net_server_is_empty(at->server));
    assert_int_equal(net_match_tick(at->match), 0);
    table_seat* player = table_sit_for(at, 30);
    assert_false(net_server_is_paused(at->server));
    assert_in_range(net_match_tick(at->match), 20, 30);
    assert_true(is_in(at->seats) && is_in(player));
    net_client_leave(player->client, at->now_us);
    table_run(at, 30);
    const ecs_tick tick = net_match_tick(at->match);
    assert_int_equal(net_match_players(at->match, NULL, 0), 0);
    assert_true(net_server_is_empty(at->server));
    table_run(at, 45 * TICKS_PER_SECOND);
    assert_true(net_match_tick(at->match) == tick && is_in(at->seats));
    // An operator's pause is another one: a player does not end it.
    net_server_pause_after(at->server, 0);
    (void)table_sit_for(at, 30);
    assert_true(net_server_is_paused(at->server) && !net_server_is_empty(at->server));
    net_server_pause_after(at->server, UINT64_MAX);
    table_run(at, 30);
    assert_true(net_match_tick(at->match) == tick + 30);
    assert_int_equal(table_counters(at)->drops, 0);
}

// ---- what they see

static const net_game_module* wild(uint32_t rules) {
    static swarm_wild made;
    return swarm_wild_make(&made, rules);
}

// The world of the spectator is that of the player. (In a match at rest packets are seldom.)
static void check_equal(table* at, const table_seat* spectator, const table_seat* player) {
    const net_client_report mine = net_client_get_report(spectator->client);
    const net_client_report theirs = net_client_get_report(player->client);
    assert_int_equal(mine.scope.entities, theirs.scope.entities);
    assert_true(mine.scope.hash == theirs.scope.hash);
    assert_int_equal(net_client_player(spectator->client), net_client_player(player->client));
    assert_int_equal(net_client_watched(spectator->client), theirs.client);
    assert_int_equal(mine.dropped[NET_DROP_MALFORMED], 0);
    assert_true(net_server_scope(at->server, mine.client, NULL, NULL).hash == mine.scope.hash);
}

// Rules of each kind: groups, owners, teams, company, the module's own answer.
TABLE_CASE(a_spectator_sees_what_the_player_sees_that_it_watches, .seed = 3, .quiet = 400,
           .spectators_max = 2, .game = wild(RULES_SHARP), .templates = swarm_wild_templates(),
           .seats = 1, .steps = 10) {
    table_seat* one = at->seats;
    table_seat* two = table_sit_for(at, 60);
    table_seat* watcher = table_watch(at, NULL);
    table_run(at, 60);
    assert_int_equal(net_client_watched(watcher->client), 1); // the first of the roster
    assert_int_equal(net_client_player(watcher->client), net_client_player(one->client));
    table_run(at, 700);
    check_equal(at, watcher, one);
    net_client_watch(watcher->client, 2);
    table_run(at, 120);
    check_equal(at, watcher, two);
    const net_client_report first = net_client_get_report(one->client);
    assert_true(first.scope.hash != net_client_get_report(two->client).scope.hash);
    // Who leaves is not watched any more: the next one is.
    net_client_leave(two->client, at->now_us);
    table_run(at, 120);
    check_equal(at, watcher, one);
    net_client_leave(one->client, at->now_us);
    table_run(at, 60);
    assert_int_equal(net_client_player(watcher->client), ECS_ENTITY_NONE);
    assert_true(is_in(watcher));
}

// The module is asked about players only, so one that watches none gets nothing.
TABLE_CASE(a_spectator_of_nobody_sees_nothing_that_the_module_decides, .seed = 3, .quiet = 400,
           .spectators_max = 1, .game = wild(RULES_ALL), .templates = swarm_wild_templates(),
           .watchers = 1, .steps = 120) {
    table_seat* watcher = at->seats;
    assert_true(is_in(watcher));
    assert_int_equal(net_client_get_report(watcher->client).scope.entities, 0);
    (void)table_sit_for(at, 120);
    assert_true(net_client_get_report(watcher->client).scope.entities > 0);
}

TABLE_CASE(another_player_is_watched_four_times_a_second_at_most, .seed = 1, .quiet = 1e9,
           .spectators_max = 1, .seats = 2, .watchers = 1, .steps = 60) {
    table_seat* watcher = &at->seats[2];
    uint32_t changes = 0;
    ecs_entity shown = net_client_player(watcher->client);
    for (uint32_t i = 0; i < 2 * TICKS_PER_SECOND; i++) {
        net_client_watch(watcher->client, 1 + i % 2);
        table_step(at);
        changes += net_client_player(watcher->client) != shown;
        shown = net_client_player(watcher->client);
    }
    assert_in_range(changes, 2, 8);
    net_client_watch(watcher->client, 2);
    table_run(at, 30); // NET_WATCH_MS_MIN and the line
    assert_int_equal(net_client_player(watcher->client), net_client_player(at->seats[1].client));
}

// ---- what they may not do

static raw_client* watching_guest(table* at) {
    raw_client* raw = table_raw_client(at);
    raw->is_spectator = true;
    assert_true(table_join(at, raw, "guest"));
    return raw;
}

#define WATCHER_CASE(name)                                                                         \
    CASE_GIVEN(table, at, table_open(at, (table_config){.seed = 1, .spectators_max = 1}),          \
               table_close(at), raw_client*, raw, watching_guest(at), name)

WATCHER_CASE(an_input_of_a_spectator_is_refused_and_counted) {
    const uint8_t input[] = {8, 4};
    for (uint32_t i = 1; i <= NET_INPUT_REDUNDANCY / 4; i++) {
        assert_int_equal(table_dropped(at, NET_DROP_SPECTATOR), 2 * (i - 1));
        raw_client_inputs(raw, raw_client_packet(raw), 2 * i - 1, 2, input, sizeof input);
        table_run(at, 3);
    }
    assert_int_equal(table_dropped(at, NET_DROP_SPECTATOR), 4);
    assert_int_equal(table_dropped(at, NET_DROP_MALFORMED), 2);
    assert_false(raw->has_goodbye);
    raw_client_event(raw, raw_client_packet(raw), 1, 4, input, sizeof input);
    table_run(at, 10);
    assert_int_equal(table_dropped(at, NET_DROP_SPECTATOR), 5);
    assert_int_equal(raw->goodbye_reason, NET_END_FAULT);
}

GUEST_CASE(a_player_that_wants_to_watch_breaks_the_protocol, .seed = 1, .spectators_max = 1) {
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(table_dropped(at, NET_DROP_MALFORMED), i);
        raw_client_watch(raw, 1);
        table_run(at, 5);
    }
    assert_int_equal(raw->goodbye_reason, NET_END_FAULT);
}

WATCHER_CASE(a_spectator_may_want_to_watch_whoever_it_names) {
    static const uint32_t NUMBERS[] = {1, 0, 77, UINT32_MAX, NET_SPECTATOR_FIRST};
    for (uint32_t i = 0; i < BASE_COUNT(NUMBERS); i++) {
        raw_client_watch(raw, NUMBERS[i]);
        table_run(at, 20);
    }
    assert_false(raw->has_goodbye);
    assert_int_equal(table_dropped(at, NET_DROP_MALFORMED), 0);
}

TABLE_CASE(a_spectator_is_in_no_roster, .seed = 1, .spectators_max = 1) {
    table_seat* watcher = table_watch(at, NULL);
    table_seat* player = table_sit_for(at, 60);
    assert_int_equal(net_client_next_player(player->client, 0), 1);
    assert_int_equal(net_client_next_player(player->client, 1), 0);
    assert_int_equal(net_client_next_player(watcher->client, 0), 1);
    assert_int_equal(net_client_next_player(watcher->client, 1), 0);
    const uint32_t steer = 0;
    assert_int_equal(net_client_send_event(watcher->client, 4, &steer), NET_ERR_CLOSED);
}

// ---- the match

// It waits for players as long as it takes, up to NET_SETTLE_MS_MAX.
TABLE_CASE(at_its_end_a_match_waits_for_spectators_1500_ms, .seed = 1, .quiet = 1e9,
           .ticks_max = 60, .spectators_max = 1, .seats = 1, .watchers = 1, .steps = 59) {
    table_line_for(at, 1, &DEAD_LINK, 1 + NET_STOP_MS_MAX * TICKS_PER_SECOND / 1000 - 10);
    assert_int_equal(net_match_tick(at->match), 60);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_SETTLING);
    table_runs_to(at, 20, NET_SERVER_LEAVING);
}

TABLE_CASE(a_spectator_resumes_as_the_same_and_watches_on, .seed = 1, .quiet = 1e9,
           .spectators_max = 1, .seats = 2, .watchers = 1, .steps = 60) {
    table_seat *two = &at->seats[1], *watcher = &at->seats[2];
    net_client_watch(watcher->client, 2);
    table_run(at, 30);
    table_line_for(at, 2, &DEAD_LINK, 5 * TICKS_PER_SECOND);
    table_line_for(at, 2, &QUIET_LINK, 5 * TICKS_PER_SECOND);
    assert_true(is_in(watcher));
    assert_int_equal(table_counters(at)->resumes, 1);
    assert_int_equal(net_client_number(watcher->client), NET_SPECTATOR_FIRST);
    assert_int_equal(net_client_watched(watcher->client), 2);
    assert_int_equal(net_client_player(watcher->client), net_client_player(two->client));
}
