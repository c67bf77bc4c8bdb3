// SPDX-License-Identifier: MIT
// A player who joins a second time: the second session takes the place of the first.
#include "session_table.h"

static raw_client* guest_of(table* at, uint64_t player, uint32_t key) {
    raw_client* raw = table_raw_client(at);
    net_sim_identity_set(raw->transport, &(net_peer_identity){.player = player, .key = key});
    assert_true(table_connect(at, raw));
    return raw;
}

// Alive, or with a connection that is lost: a full server has a place for whom it knows.
TABLE_ROWS(a_second_session_takes_the_place_and_the_entity_of_the_first, is_lost, 2, .seed = 1,
           .clients_max = 1, .quiet = 1e9) {
    raw_client* first = guest_of(at, 77, 3);
    assert_true(raw_joins(at, first));
    const ecs_entity entity = net_match_player(at->match, first->client);
    if (is_lost) table_cut(first, 0);
    table_run(at, 5);
    raw_client* second = guest_of(at, 77, 3);
    assert_true(raw_joins(at, second));
    assert_true(!second->is_resumed && second->client == first->client);
    assert_int_equal(net_match_player(at->match, second->client), entity);
    assert_int_equal(first->has_goodbye, !is_lost);
    if (!is_lost) assert_int_equal(first->goodbye_reason, NET_END_ELSEWHERE);
    const net_server_counters* counters = table_counters(at);
    assert_int_equal(counters->joins, 1);
    assert_int_equal(counters->clients, 1);
}

static const struct {
    uint64_t player;
    uint32_t key;
} PAIRS[][2] = {{{77, 0}, {77, 0}}, {{0, 3}, {0, 3}}, {{77, 3}, {77, 4}}, {{77, 3}, {78, 3}}};
// Neither with the built-in key, where a client names itself, nor with the key of another back end.
TABLE_ROWS(who_is_not_certainly_the_same_takes_nothing, i, BASE_COUNT(PAIRS), .seed = 2,
           .quiet = 1e9) {
    raw_client* raw[2];
    for (uint32_t k = 0; k < 2; k++) {
        raw[k] = guest_of(at, PAIRS[i][k].player, PAIRS[i][k].key);
        assert_true(raw_joins(at, raw[k]));
    }
    table_run(at, 10);
    assert_false(raw[0]->is_gone);
    assert_int_equal(table_counters(at)->joins, 2);
}

// Both greet before the next tick, or one tick after the other, or while the first has no rows yet.
TABLE_ROWS(of_two_that_greet_together_the_second_plays, ticks, 6, .seed = 3, .clients_max = 1,
           .quiet = 1e9) {
    raw_client* first = guest_of(at, 77, 3);
    raw_client* second = guest_of(at, 77, 3);
    table_hello(at, first, "someone");
    table_run(at, ticks);
    assert_true(raw_joins(at, second));
    table_run(at, 10);
    assert_true(first->has_goodbye);
    assert_int_equal(first->goodbye_reason, NET_END_ELSEWHERE);
    assert_int_equal(table_counters(at)->clients, 1);
    assert_true(net_match_player(at->match, second->client) != ECS_ENTITY_NONE);
}

// Its line was dead, so it does not know; also with secrets that a key makes, always the same ones.
TABLE_ROWS(the_first_does_not_come_back_by_its_secret, is_made, 2, .seed = 4, .quiet = 1e9,
           .server.secret = is_made ? table_secret : NULL) {
    raw_client* first = guest_of(at, 77, 3);
    assert_true(raw_joins(at, first));
    table_cut(first, 0);
    raw_client* second = guest_of(at, 77, 3);
    assert_true(raw_joins(at, second));
    raw_client* late = guest_of(at, 77, 3);
    (void)table_resume(at, late, first->resume, NET_RESUME_BYTES);
    raw_refused(late, SHOAL__WIRE__REFUSED_REASON__REFUSED_GONE,
                "you joined elsewhere: this session is over");
    assert_false(second->is_gone);
    // The second does.
    raw_client_inputs(second, raw_client_packet(second), 1, 1, "", 0);
    table_run(at, 5);
    table_cut(second, 0);
    raw_client* back = guest_of(at, 77, 3);
    (void)table_resume(at, back, second->resume, NET_RESUME_BYTES);
    assert_true(back->is_resumed && back->client == first->client);
}

// It has acknowledged nothing yet, which is no sign of a lifeless member: it has just come.
TABLE_CASE(no_newcomer_gets_a_place_that_was_taken_just_now, .seed = 7, .clients_max = 1,
           .quiet = 1e9) {
    assert_true(raw_joins(at, guest_of(at, 77, 3)));
    table_run(at, NET_LIFE_SILENT_MS / 1000 * TICKS_PER_SECOND);
    raw_client* second = guest_of(at, 77, 3);
    assert_true(raw_joins(at, second));
    assert_false(raw_joins(at, guest_of(at, 78, 3)));
    assert_false(second->is_gone);
}

TABLE_CASE(places_are_taken_five_times_in_ten_seconds, .seed = 5, .clients_max = 1, .quiet = 1e9) {
    for (uint32_t i = 0; i < NET_SESSIONS_MAX; i++)
        assert_true(raw_joins(at, guest_of(at, 77, 3)));
    raw_client* late = guest_of(at, 77, 3);
    assert_false(raw_joins(at, late));
    assert_non_null(strstr(late->refused_text, "try again in"));
    assert_int_equal(table_dropped(at, NET_DROP_JOIN_FLOOD), 1);
}

static table_seat* sit_as_77(table* at) {
    table_seat* seat = table_sit(at, NULL);
    net_sim_identity_set(seat->transport, &(net_peer_identity){.player = 77, .key = 3});
    table_run(at, 60);
    assert_int_equal(net_client_get_phase(seat->client), NET_CLIENT_PLAYING);
    return seat;
}

// The match knows nothing of it: one player joined, and its inputs begin again with number 1.
TABLE_CASE(such_a_log_runs_again, .seed = 6, .quiet = 1, .has_log = true) {
    table_seat* first = sit_as_77(at);
    table_seat* second = sit_as_77(at);
    table_run(at, 60);
    assert_int_equal(net_client_get_end(first->client), NET_CLIENT_END_LOST);
    assert_int_equal(net_client_number(second->client), net_client_number(first->client));
    assert_int_equal(
        heard_count(&at->seats_said, "the server ended the session: it joined elsewhere"), 1);
    assert_int_equal(heard_count(&at->said, "note: client 1 \"member\" joined elsewhere\n"), 1);
    net_server_stop(at->server, at->now_us);
    table_run_out(at, 600);
    (void)table_verify(at);
    seats_agree(at->server, second, 1);
}
