// SPDX-License-Identifier: MIT
// What members leave behind on a server: in the log, on the operator's screen, in the list of
// players.
#include "session_table.h"

#include "log/log_files.h"

#include "core/ration.h"
#include "net/log.h"
#include "swarm.pb-c.h"

// ---- the log

static void look_for_mark(void* context, const char* line) {
    uint32_t* found = context;
    *found += strstr(line, "6d61726b") != NULL; // "mark" as hex
    *found += strstr(line, "mark") != NULL;
}

static uint32_t marks_in(const char* file, const net_module* module) {
    net_log_reader* reader = NULL;
    uint32_t found = 0;
    assert_ok(net_log_reader_create(NULL, file, test_reporter(), &reader));
    assert_ok(net_log_dump(reader, NULL, look_for_mark, &found));
    net_verify_result result;
    assert_ok(net_log_verify(reader, module, 0, NULL, NULL, test_reporter(), &result));
    net_log_reader_destroy(reader);
    return found;
}

// A client adds to a valid message: an unknown field, the same field twice, a number in
// more bytes than it needs. Neither the log nor the match gets any of it.
FILES_CASE(what_a_client_adds_to_a_message_does_not_reach_the_log) {
    static const uint8_t UNKNOWN[] = {8, 4, 0x7A, 4, 'm', 'a', 'r', 'k'};
    static const uint8_t TWICE[] = {8, 10, 8, 4};
    static const uint8_t LONG[] = {8, 0x84, 0x80, 0x80, 0x00};
    static const uint8_t SHOUT[] = {8, 1, 0x7A, 4, 'm', 'a', 'r', 'k'};
    table at;
    table_open(&at, (table_config){.seed = 1, .quiet = 1e9, .log_file = files->log});
    raw_client* raw = table_guest(&at);
    raw_client_inputs(raw, raw_client_packet(raw), 1, 1, UNKNOWN, sizeof UNKNOWN);
    table_run(&at, 3);
    raw_client_inputs(raw, raw_client_packet(raw), 2, 1, TWICE, sizeof TWICE);
    table_run(&at, 3);
    raw_client_inputs(raw, raw_client_packet(raw), 3, 1, LONG, sizeof LONG);
    table_run(&at, 3);
    raw_client_event(raw, raw_client_packet(raw), 1, 4, SHOUT, sizeof SHOUT);
    table_run(&at, 3);
    assert_int_equal(raw->input_ack, 3);
    assert_int_equal(raw->event_ack, 1);
    assert_int_equal(table_dropped(&at, NET_DROP_MALFORMED), 0);
    net_match* match = at.match;
    const swarm_context* game = net_match_context(match);
    const uint32_t* shouts =
        ecs_get(net_match_world(match), net_match_player(match, raw->client), game->shouts);
    assert_int_equal(*shouts, 1);
    assert_ok(net_log_writer_destroy(at.log));
    at.log = NULL;
    assert_int_equal(marks_in(files->log, at.module), 0);
    table_close(&at);
}

// A log that says nothing is that of a dead server.
FILES_CASE(a_server_without_ticks_says_in_its_log_that_it_lives) {
    enum { WAITED = 90, PLAYED = 30 };
    table at;
    table_open(&at, (table_config){.seed = 1,
                                   .quiet = 1e9,
                                   .clients_min = 1,
                                   .ticks_max = PLAYED,
                                   .log_file = files->log});
    table_run(&at, WAITED);
    raw_client* raw = table_guest(&at); // it acknowledges nothing: the server gives it time
    table_run(&at, PLAYED + 60);
    assert_true(raw->is_welcome);
    assert_ok(net_log_writer_destroy(at.log));
    at.log = NULL;
    net_log_reader* reader = NULL;
    assert_ok(net_log_reader_create(NULL, files->log, test_reporter(), &reader));
    const net_log_info* info = net_log_reader_info(reader);
    assert_true(info->is_closed && info->last_tick == PLAYED);
    net_log_stats stats;
    assert_ok(net_log_read_stats(reader, &stats));
    // One each 100 ms: WAITED ticks are 1.5 s, the time after the last tick is at least 0.5 s.
    assert_in_range(stats.alives, 15 + 5, 15 + 12);
    assert_int_equal(stats.ends, PLAYED);
    net_verify_result result;
    assert_ok(net_log_verify(reader, at.module, 0, NULL, NULL, test_reporter(), &result));
    assert_int_equal(result.ticks, PLAYED);
    net_log_reader_destroy(reader);
    table_close(&at);
}

static void count_numbers(void* context, const char* line) {
    uint32_t* last = context;
    char text[40];
    for (;;) {
        (void)snprintf(text, sizeof text, "\"number\":%u,\"message\":4", *last + 1);
        line = strstr(line, text);
        if (!line) return;
        ++*last;
    }
}

// A tick takes eight: what waits for the next one is not acknowledged, and not in the log.
FILES_CASE(an_event_is_acknowledged_when_a_tick_took_it) {
    enum { EVENTS = 20 };
    table at;
    table_open(&at, (table_config){.seed = 1, .quiet = 1e9, .log_file = files->log});
    raw_client* raw = table_guest(&at);
    for (uint8_t i = 1; i <= EVENTS; i++)
        raw_client_event(raw, raw_client_packet(raw), i, 4, (const uint8_t[]){8, i}, 2);
    const net_match* match = at.match;
    const swarm_context* game = net_match_context(at.match);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < 6; i++) {
        table_step(&at);
        taken = *(const uint32_t*)ecs_get(net_match_world(at.match),
                                          net_match_player(match, raw->client), game->shouts);
        assert_in_range(raw->event_ack, 0, taken);
    }
    assert_int_equal(taken, EVENTS);
    table_run(&at, 2);
    assert_int_equal(raw->event_ack, EVENTS);
    assert_ok(net_log_writer_destroy(at.log));
    at.log = NULL;
    net_log_reader* reader = NULL;
    uint32_t last = 0;
    assert_ok(net_log_reader_create(NULL, files->log, test_reporter(), &reader));
    assert_ok(net_log_dump(reader, NULL, count_numbers, &last));
    assert_int_equal(last, EVENTS);
    net_log_reader_destroy(reader);
    table_close(&at);
}

// ---- the screen

// Six clients join, break the protocol and join again: each end is a line for the operator.
TABLE_CASE(a_flood_of_faults_is_a_trickle_of_lines, .seed = 2, .quiet = 1e9) {
    for (uint32_t i = 0; i < TABLE_SEATS; i++)
        (void)table_raw_client(at);
    const uint32_t seconds = 60;
    for (uint32_t tick = 0; tick < seconds * TICKS_PER_SECOND; tick++) {
        for (uint32_t i = 0; i < TABLE_SEATS; i++) {
            raw_client* raw = &at->raw_clients[i];
            if (raw->is_gone)
                table_again(raw);
            else if (raw->is_welcome)
                raw_client_garbage(raw, NET_CHANNEL_CONTROL);
            else if (raw->is_connected)
                raw_client_hello(raw, NET_PROTOCOL_VERSION, table_schema(at), "swarm", "eve");
        }
        table_step(at);
    }
    uint64_t drops = net_server_get_counters(at->server)->drops;
    print_message("%llu sessions dropped, %u lines\n", (unsigned long long)drops, at->said.lines);
    assert_true(drops > 1000);
    assert_true(at->said.lines <= 2 * (NET_RATION_LINES_BURST + 2 * seconds));
    assert_true(table_heard(&at->said, "more lines like this") >= seconds / 2);
}

// ---- the list of players

TABLE_CASE(two_players_of_one_name_are_told_apart, .seed = 3, .quiet = 1e9) {
    static const char* const REQUESTED[] = {"Ada", "ada ", "\u202EAda\u200B", "Eve"};
    static const char* const GIVEN[] = {"Ada", "ada (2)", "Ada (3)", "Eve"};
    for (uint32_t i = 0; i < 4; i++) {
        raw_client* raw = table_raw_client(at);
        (void)table_connect(at, raw);
        raw_client_hello(raw, NET_PROTOCOL_VERSION, table_schema(at), "swarm", REQUESTED[i]);
        for (uint32_t k = 0; k < 20 && raw->states == 0; k++)
            table_step(at);
        assert_string_equal(net_match_player_name(at->match, raw->client), GIVEN[i]);
        assert_string_equal(at->raw_clients[0].came_name, GIVEN[i]);
    }
    // Who leaves gives the name back.
    raw_client_goodbye(&at->raw_clients[0]);
    table_run(at, 10);
    raw_client* next = table_raw_client(at);
    (void)table_connect(at, next);
    raw_client_hello(next, NET_PROTOCOL_VERSION, table_schema(at), "swarm", "Ada");
    table_run(at, 10);
    assert_string_equal(net_match_player_name(at->match, next->client), "Ada");
}

// One line for the operator.
TABLE_CASE(who_sends_more_than_is_read_is_named, .seed = 1, .quiet = 1e9) {
    static const char limited[] =
        "note: client 2 \"guest\" is rate-limited: it sends more than is read\n";
    uint32_t number = 1;
    table_sit(at, NULL);
    raw_client* raw = table_guest(at);
    for (uint32_t tick = 0; tick < 200; tick++) {
        assert_true(tick >= 100 || table_heard(&at->said, limited) == 0);
        for (uint32_t i = 0; i < 100; i++) {
            raw_client_inputs(raw, raw_client_packet(raw), number, 8, "", 0);
            number += 8;
        }
        table_step(at);
    }
    assert_int_equal(table_heard(&at->said, limited), 1);
}
