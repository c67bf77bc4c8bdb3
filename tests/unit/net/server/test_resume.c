// SPDX-License-Identifier: MIT
// Sessions that outlive their connections, and the roster: with honest clients, and with raw
// clients that use secrets.
#include "session_table.h"

static void check_agreement(table* at) {
    table_agrees(at);
    assert_int_equal(table_counters(at)->drops, 0);
    assert_int_equal(table_dropped(at, NET_DROP_ACK_FORGED), 0);
    assert_int_equal(table_counters(at)->dropped[NET_DROP_MALFORMED], 0);
}

// More packets are lost than either side remembers, and rows change more often than the history
// keeps.
TABLE_ROWS(ten_and_twenty_five_seconds_of_darkness_are_survived, i, 4, .seed = 10 * (i % 2) + i + 1,
           .ticks_max = (i % 2 ? 35 : 20) * TICKS_PER_SECOND, .quiet = 1e9, .seats = 2,
           .steps = 120) {
    const uint32_t seconds = i % 2 ? 25 : 10;
    ecs_entity player = net_match_player(at->match, 1);
    assert_true(player != ECS_ENTITY_NONE);
    table_line_for(at, 0, &DEAD_LINK, 4 * TICKS_PER_SECOND);
    assert_int_equal(net_client_get_phase(at->seats[0].client), NET_CLIENT_RESUMING);
    table_run(at, (seconds - 4) * TICKS_PER_SECOND);
    table_line_for(at, 0, &QUIET_LINK, 60);
    assert_int_equal(net_client_get_phase(at->seats[0].client), NET_CLIENT_PLAYING);
    net_client_report report = net_client_get_report(at->seats[0].client);
    assert_int_equal(report.client, 1);
    assert_true(report.tick + 10 > net_match_tick(at->match));
    assert_int_equal(net_client_player(at->seats[0].client), player);
    // After the outage the match does not play inputs from before it.
    net_client_meter meter;
    net_client_get_meter(at->seats[0].client, &meter);
    assert_true(meter.input_depth <= 5);
    assert_int_equal(net_match_player(at->match, 1), player);
    assert_int_equal(table_counters(at)->resumes, 1);
    assert_int_equal(table_counters(at)->joins, 2);
    assert_true(heard_count(&at->said, "note: client 1 \"member\" is away: nothing received\n") >
                0);
    assert_true(heard_count(&at->said, "note: client 1 \"member\" is back after") > 0);
    assert_true(heard_count(&at->said, "note: client 2 \"member (2)\" joined") > 0);
    assert_int_equal(heard_count(&at->said, "client 2 \"member (2)\" is away"), 0);
    table_run_out(at, 3000);
    check_agreement(at);
}

// Two seconds need no new connection. Who returns when the server already settles still gets the
// rest.
TABLE_ROWS(the_end_of_the_match_comes_to_who_was_in_the_dark, is_long, 2, .seed = 3,
           .ticks_max = 5 * TICKS_PER_SECOND, .quiet = 1e9, .seats = 2, .steps = 120) {
    table_line_for(at, 0, &DEAD_LINK, (is_long ? 11 : 2) * TICKS_PER_SECOND);
    assert_int_equal(net_server_get_phase(at->server),
                     is_long ? NET_SERVER_SETTLING : NET_SERVER_RUNNING);
    assert_int_equal(seat_plays(&at->seats[0]), !is_long);
    net_sim_link_set(at->seats[0].transport, &QUIET_LINK);
    table_run_out(at, 3000);
    check_agreement(at);
    assert_int_equal(table_counters(at)->resumes, is_long);
}

// The server does not wait for a client that was away longer than the end may take.
GUEST_CASE(who_was_away_for_long_does_not_hold_up_the_end, .seed = 19,
           .ticks_max = 14 * TICKS_PER_SECOND, .quiet = 1e9) {
    table_cut(raw, 0);
    table_runs_to(at, 16 * TICKS_PER_SECOND, NET_SERVER_ENDED);
}

// When the match ends, the server waits once more for a client that comes back, but not each time.
// So no client can keep a server from ending.
GUEST_CASE(coming_back_again_and_again_does_not_put_off_the_end, .seed = 20,
           .ticks_max = 2 * TICKS_PER_SECOND, .quiet = 1e9) {
    table_runs_to(at, 3 * TICKS_PER_SECOND, NET_SERVER_SETTLING);
    for (uint32_t i = 0; i < 4; i++) {
        (void)table_resume(at, table_raw_client(at), raw->resume, NET_RESUME_BYTES);
        table_run(at, 6 * TICKS_PER_SECOND);
    }
    assert_int_equal(table_counters(at)->resumes, 2);
    assert_int_not_equal(net_server_get_phase(at->server), NET_SERVER_SETTLING);
}

// A stop waits at most NET_STOP_MS_MAX, also for clients that are away.
GUEST_CASE(a_stop_does_not_wait_for_who_is_away, .seed = 6, .quiet = 1e9) {
    table_cut(raw, 0);
    table_run(at, 10);
    assert_int_equal(table_report(at, raw->client)->end, NET_END_NONE);
    net_server_stop(at->server, at->now_us);
    table_runs_to(at, 2 * TICKS_PER_SECOND + 5, NET_SERVER_ENDED);
    assert_int_equal(table_report(at, raw->client)->end, NET_END_TIMEOUT);
}

GUEST_CASE(after_thirty_seconds_the_session_is_over, .seed = 7, .quiet = 1e9, .seats = 1) {
    uint32_t number = raw->client;
    table_cut(raw, 0);
    table_run(at, 29 * TICKS_PER_SECOND);
    assert_int_equal(table_report(at, number)->end, NET_END_NONE);
    assert_true(net_match_player(at->match, number) != ECS_ENTITY_NONE);
    table_run(at, 2 * TICKS_PER_SECOND);
    assert_int_equal(table_report(at, number)->end, NET_END_TIMEOUT);
    assert_int_equal(net_match_player(at->match, number), ECS_ENTITY_NONE);
    // The secret of an ended session has no effect.
    raw_client* again = table_resume(at, table_raw_client(at), raw->resume, NET_RESUME_BYTES);
    raw_refused(again, SHOAL__WIRE__REFUSED_REASON__REFUSED_GONE, "session is over");
}

// A disconnection with a reason was on purpose.
GUEST_CASE(who_leaves_by_word_has_left, .seed = 8, .quiet = 1e9) {
    uint32_t number = raw->client;
    table_cut(raw, NET_END_LEFT);
    table_run(at, 5);
    assert_true(table_report(at, number)->end != NET_END_NONE);
    raw_client* again = table_resume(at, table_raw_client(at), raw->resume, sizeof raw->resume);
    assert_int_equal(again->refused_reason, SHOAL__WIRE__REFUSED_REASON__REFUSED_GONE);
}

GUEST_CASE(wrong_secrets_of_any_length_are_refused, .seed = 9, .quiet = 1e9) {
    uint8_t secret[NET_RESUME_BYTES + 1];
    for (uint32_t wrong = 0; wrong < 5; wrong++) {
        memcpy(secret, raw->resume, NET_RESUME_BYTES);
        secret[NET_RESUME_BYTES] = 0;
        size_t size = NET_RESUME_BYTES;
        if (wrong == 0) secret[NET_RESUME_BYTES - 1] ^= 1;
        if (wrong == 1) secret[0] ^= 0x80;
        if (wrong == 2) size = NET_RESUME_BYTES - 1;
        if (wrong == 3) size = NET_RESUME_BYTES + 1;
        if (wrong == 4) memset(secret, 0, size);
        raw_client* thief = table_resume(at, table_raw_client(at), secret, size);
        raw_refused(thief, SHOAL__WIRE__REFUSED_REASON__REFUSED_GONE, "");
    }
    assert_false(raw->is_gone);
    assert_int_equal(table_counters(at)->refusals, 5);
    assert_int_equal(table_counters(at)->resumes, 0);
}

// The secret gives the session; the previous connection is closed.
TABLE_CASE(of_two_claimants_the_last_one_plays, .seed = 10, .quiet = 1e9) {
    raw_client* first = table_guest(at);
    raw_client* second = table_raw_client(at);
    raw_client* third = table_raw_client(at);
    table_run(at, 5);
    raw_client_hello_again(second, table_schema(at), "swarm", first->resume, sizeof first->resume);
    raw_client_hello_again(third, table_schema(at), "swarm", first->resume, sizeof first->resume);
    table_run(at, 10);
    assert_true(first->is_gone);
    assert_int_not_equal(first->gone_reason, 0); // otherwise it would connect again
    assert_true(second->is_gone);
    assert_false(third->is_gone);
    assert_true(third->is_resumed && third->client == first->client);
    assert_memory_equal(third->resume, first->resume, sizeof first->resume);
    assert_true(third->states > 0);
    assert_int_equal(table_counters(at)->clients, 1);
    assert_int_equal(table_counters(at)->joins, 1);
}

// Connect again with the secret, in the place of the same connection. @return false: refused.
static bool try_to_come_back(table* at, raw_client* raw) {
    table_cut(raw, 0);
    raw->peer = 0;
    raw->is_connected = raw->is_welcome = raw->is_refused = false;
    for (uint32_t i = 0; i < 10 && !raw->is_connected; i++)
        table_step(at);
    raw_client_hello_again(raw, table_schema(at), "swarm", raw->resume, sizeof raw->resume);
    for (uint32_t i = 0; i < 10 && !raw->is_welcome && !raw->is_refused; i++)
        table_step(at);
    assert_int_equal(raw->is_welcome, !raw->is_refused);
    return raw->is_welcome && raw->is_resumed;
}

// Each resumption costs a welcome, a roster and rows that are sent again: five within ten seconds,
// then one in two seconds. The session itself stays.
GUEST_CASE(a_flood_of_resumptions_is_bounded, .seed = 21, .quiet = 1e9) {
    uint64_t begin_us = at->now_us;
    uint32_t refused = 0, resumed = 0;
    while (at->now_us - begin_us < 20 * UINT64_C(1000000)) {
        bool is_back = try_to_come_back(at, raw);
        resumed += is_back;
        refused += !is_back;
    }
    assert_in_range(resumed, 13, 16);
    assert_true(refused > 50);
    assert_int_equal(table_dropped(at, NET_DROP_RESUME_FLOOD), refused);
    table_run(at, 3 * TICKS_PER_SECOND);
    assert_true(try_to_come_back(at, raw));
    assert_int_equal(table_counters(at)->joins, 1);
}

// A client that comes back again and again causes one report line and one roster a second.
GUEST_CASE(coming_back_again_and_again_is_told_of_once_a_second, .seed = 20, .quiet = 1e9,
           .seats = 1) {
    uint64_t rosters = raw->rosters, begin_us = at->now_us;
    for (uint32_t i = 0; i < NET_SESSIONS_MAX; i++)
        assert_true(try_to_come_back(at, raw));
    uint64_t seconds = (at->now_us - begin_us) / 1000000 + 1;
    assert_true(seconds < 3);
    assert_int_equal(table_counters(at)->resumes, NET_SESSIONS_MAX);
    assert_true(raw->rosters - rosters <= seconds + 1);
    assert_true(heard_count(&at->said, "is back after") <= seconds + 1);
    assert_true(table_dropped(at, NET_DROP_RESUME_QUIET) >= NET_SESSIONS_MAX - seconds - 1);
    // In the end it knows all clients, also those that joined during its absence.
    table_run(at, 5 * TICKS_PER_SECOND);
    assert_true(try_to_come_back(at, raw));
    assert_true(try_to_come_back(at, raw));
    rosters = raw->rosters;
    (void)table_sit_for(at, 2 * TICKS_PER_SECOND);
    assert_true(raw->rosters > rosters);
    assert_int_equal(raw->came_last, 3);
    assert_int_equal(net_client_get_phase(at->seats[0].client), NET_CLIENT_PLAYING);
}

GUEST_CASE(somebody_away_keeps_the_place, .seed = 13, .clients_max = 1, .quiet = 1e9) {
    table_cut(raw, 0);
    raw_client* other = table_raw_client(at);
    assert_false(table_join(at, other, "other"));
    assert_int_equal(other->refused_reason, SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL);
    raw_client* again = table_resume(at, table_raw_client(at), raw->resume, sizeof raw->resume);
    assert_true(again->is_resumed);
}

TABLE_CASE(secrets_differ_and_come_from_the_given_source, .seed = 14, .quiet = 1e9) {
    raw_client* first = table_guest(at);
    raw_client* second = table_guest(at);
    static const uint8_t nothing[NET_RESUME_BYTES] = {0};
    assert_memory_not_equal(first->resume, nothing, sizeof nothing);
    assert_memory_not_equal(first->resume, second->resume, sizeof nothing);
}

// ---- roster

GUEST_CASE(everybody_hears_who_comes_and_goes, .seed = 16, .quiet = 1e9) {
    assert_int_equal(raw->came, 1); // the client itself
    table_seat* seat = table_sit_as(at, NULL, "Ada\x01 Lovelace");
    table_run(at, 20);
    assert_int_equal(raw->came, 2);
    assert_int_equal(raw->came_last, 2);
    assert_string_equal(raw->came_name, "Ada Lovelace");
    assert_string_equal(net_client_player_name(seat->client, 1), "guest");
    assert_string_equal(net_client_player_name(seat->client, 2), "Ada Lovelace");
    assert_null(net_client_player_name(seat->client, 3));
    assert_string_equal(net_match_player_name(at->match, 2), "Ada Lovelace");
    raw_client_goodbye(raw);
    table_run(at, 20);
    assert_null(net_client_player_name(seat->client, 1));
    assert_null(net_match_player_name(at->match, 1));
    net_client_leave(seat->client, at->now_us);
    table_run(at, 20);
    assert_null(net_match_player_name(at->match, 2));
}

// The client does not get the single changes of its absence. It gets the whole roster again.
TABLE_CASE(who_comes_back_hears_of_everybody_again, .seed = 17, .quiet = 1e9, .seats = 1) {
    table_seat* seat = at->seats;
    raw_client* gone = table_guest(at);
    table_run(at, 20);
    assert_string_equal(net_client_player_name(seat->client, 2), "guest");
    net_sim_link_set(seat->transport, &DEAD_LINK);
    table_run(at, 2 * TICKS_PER_SECOND);
    raw_client_goodbye(gone);
    (void)table_guest(at);
    table_run(at, 3 * TICKS_PER_SECOND);
    net_sim_link_set(seat->transport, &QUIET_LINK);
    table_run(at, 30);
    assert_int_equal(net_client_get_phase(seat->client), NET_CLIENT_PLAYING);
    assert_string_equal(net_client_player_name(seat->client, 1), "member");
    assert_null(net_client_player_name(seat->client, 2));
    assert_string_equal(net_client_player_name(seat->client, 3), "guest");
}

// ---- the meter

static uint64_t bits_of_all(const table_seat* seat) {
    uint64_t bits = 0;
    for (uint32_t id = 0; id <= ECS_COMPONENTS_MAX; id++)
        bits += net_client_component_bits(seat->client, (ecs_component_id)id);
    return bits;
}

TABLE_CASE(the_meter_explains_what_came, .seed = 18, .quiet = 1e9) {
    const net_link_config shaky = {.delay_ms = 20, .jitter_ms = 40, .seed = 3};
    table_seat* calm = table_sit(at, NULL);
    table_seat* shaken = table_sit(at, &shaky);
    table_run(at, 300);
    for (uint32_t i = 0; i < at->seat_count; i++) {
        net_client_meter meter;
        net_client_get_meter(at->seats[i].client, &meter);
        assert_true(meter.body_bits > 0 && meter.event_bytes > 0 && meter.control_bytes > 0);
        assert_true(meter.record_bits > 0 && meter.record_bits < meter.body_bits);
        assert_true(meter.body_bits == meter.record_bits + bits_of_all(&at->seats[i]));
        uint64_t known = meter.body_bits / 8 + meter.event_bytes + meter.control_bytes;
        assert_true(known < meter.in_bytes);
        // The envelopes alone need at most the bytes that the other fields in WIRE.md can take.
        assert_true(meter.in_bytes - known < meter.in_datagrams * 48);
        assert_true(meter.out_bytes > 0 && meter.out_datagrams > 0);
        assert_true(meter.pace >= 0.95 && meter.pace <= 1.05);
        assert_true(meter.quiet_us < 200000);
        assert_int_equal(meter.resumes, 0);
    }
    const swarm_context* game = net_match_context(calm->match);
    assert_true(net_client_component_bits(calm->client, game->pos) > 0);
    assert_int_equal(net_client_component_bits(calm->client, ECS_COMPONENT_NONE), 0);
    assert_int_equal(net_client_component_bits(calm->client, UINT16_MAX), 0);
    net_client_meter meter;
    net_client_get_meter(calm->client, &meter);
    assert_true(meter.jitter_ms < 1);
    net_client_get_meter(shaken->client, &meter);
    assert_true(meter.jitter_ms > 4 && meter.jitter_ms < 40);
    net_sim_link_set(calm->transport, &DEAD_LINK);
    table_run(at, 5 * TICKS_PER_SECOND);
    net_client_get_meter(calm->client, &meter);
    assert_true(meter.quiet_us > 4800000 && meter.quiet_us < 5200000);
    net_sim_link_set(calm->transport, &QUIET_LINK);
    table_run(at, 300);
    net_client_get_meter(calm->client, &meter);
    assert_int_equal(meter.resumes, 1);
    assert_true(meter.jitter_ms < 1); // the outage itself does not count as jitter
    assert_true(meter.body_bits == meter.record_bits + bits_of_all(calm));
}
