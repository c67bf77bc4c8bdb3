// SPDX-License-Identifier: MIT
// What members leave behind on a server: in the log, on the operator's screen, in the list of
// players.
#include "session_table.h"

#include "core/ration.h"
#include "swarm.pb-c.h"

// ---- the log

static uint32_t shouts_of(const table* at, const raw_client* raw) {
    const swarm_context* game = net_match_context(at->match);
    return *(const uint32_t*)ecs_get(net_match_world(at->match),
                                     net_match_player(at->match, raw->client), game->shouts);
}

static void look_for_mark(void* context, const char* line) {
    uint32_t* found = context;
    *found += strstr(line, "6d61726b") != NULL; // "mark" as hex
    *found += strstr(line, "mark") != NULL;
}

// A client adds to a valid message: an unknown field, the same field twice, a number in
// more bytes than it needs. Neither the log nor the match gets any of it.
GUEST_CASE(what_a_client_adds_to_a_message_does_not_reach_the_log, .seed = 1, .quiet = 1e9,
           .has_log = true) {
    static const struct {
        uint8_t bytes[8];
        size_t size;
    } INPUTS[] = {{{8, 4, 0x7A, 4, 'm', 'a', 'r', 'k'}, 8},
                  {{8, 10, 8, 4}, 4},
                  {{8, 0x84, 0x80, 0x80, 0x00}, 5}};
    static const uint8_t SHOUT[] = {8, 1, 0x7A, 4, 'm', 'a', 'r', 'k'};
    for (uint32_t i = 0; i < BASE_COUNT(INPUTS); i++) {
        raw_client_inputs(raw, raw_client_packet(raw), i + 1, 1, INPUTS[i].bytes, INPUTS[i].size);
        table_run(at, 3);
    }
    raw_client_event(raw, raw_client_packet(raw), 1, 4, SHOUT, sizeof SHOUT);
    table_run(at, 3);
    assert_int_equal(raw->input_ack, 3);
    assert_int_equal(raw->event_ack, 1);
    assert_int_equal(table_dropped(at, NET_DROP_MALFORMED), 0);
    assert_int_equal(shouts_of(at, raw), 1);
    (void)table_verify(at);
    uint32_t found = 0;
    net_log_reader* reader = files_reader(at->files.log);
    assert_ok(net_log_dump(reader, NULL, look_for_mark, &found));
    assert_int_equal(found, 0);
    net_log_reader_destroy(reader);
}

// A log that says nothing is that of a dead server.
TABLE_CASE(a_server_without_ticks_says_in_its_log_that_it_lives, .seed = 1, .quiet = 1e9,
           .clients_min = 1, .ticks_max = 30, .steps = 90, .has_log = true) {
    (void)table_guest(at); // it acknowledges nothing: the server gives it time
    table_run(at, 30 + 60);
    assert_int_equal(table_verify(at).ticks, 30);
    net_log_reader* reader = files_reader(at->files.log);
    const net_log_stats stats = files_stats(reader);
    // One each 100 ms: 90 steps are 1.5 s, the time after the last tick is at least 0.5 s.
    assert_in_range(stats.records[NET_LOG_KIND_ALIVE], 15 + 5, 15 + 12);
    assert_int_equal(stats.records[NET_LOG_KIND_END], 30);
    net_log_reader_destroy(reader);
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
GUEST_CASE(an_event_is_acknowledged_when_a_tick_took_it, .seed = 1, .quiet = 1e9, .has_log = true) {
    enum { EVENTS = 20 };
    for (uint8_t i = 1; i <= EVENTS; i++)
        raw_client_event(raw, raw_client_packet(raw), i, 4, (const uint8_t[]){8, i}, 2);
    for (uint32_t i = 0; i < 6; i++) {
        table_step(at);
        assert_in_range(raw->event_ack, 0, shouts_of(at, raw));
    }
    assert_int_equal(shouts_of(at, raw), EVENTS);
    table_run(at, 2);
    assert_int_equal(raw->event_ack, EVENTS);
    table_end_log(at);
    uint32_t last = 0;
    net_log_reader* reader = files_reader(at->files.log);
    assert_ok(net_log_dump(reader, NULL, count_numbers, &last));
    assert_int_equal(last, EVENTS);
    net_log_reader_destroy(reader);
}

// ---- the screen

// Six clients join, break the protocol and join again: each end is a line for the operator.
TABLE_CASE(a_flood_of_faults_is_a_trickle_of_lines, .seed = 2, .quiet = 1e9, .raws = TABLE_SEATS) {
    const uint32_t seconds = 60;
    for (uint32_t tick = 0; tick < seconds * TICKS_PER_SECOND; tick++) {
        for (uint32_t i = 0; i < TABLE_SEATS; i++) {
            raw_client* raw = &at->raw_clients[i];
            if (raw->is_gone)
                table_again(raw);
            else if (raw->is_welcome)
                raw_client_garbage(raw, NET_CHANNEL_CONTROL);
            else if (raw->is_connected)
                table_hello(at, raw, "eve");
        }
        table_step(at);
    }
    uint64_t drops = table_counters(at)->drops;
    print_message("%llu sessions dropped, %u lines\n", (unsigned long long)drops, at->said.lines);
    assert_true(drops > 1000);
    assert_true(at->said.lines <= 2 * (NET_RATION_LINES_BURST + 2 * seconds));
    assert_true(heard_count(&at->said, "more lines like this") >= seconds / 2);
}

// ---- the list of players

TABLE_CASE(two_players_of_one_name_are_told_apart, .seed = 3, .quiet = 1e9) {
    static const char* const REQUESTED[] = {"Ada", "ada ", "\u202EAda\u200B", "Eve"};
    static const char* const GIVEN[] = {"Ada", "ada (2)", "Ada (3)", "Eve"};
    for (uint32_t i = 0; i < 4; i++) {
        raw_client* raw = table_raw_client(at);
        assert_true(table_join(at, raw, REQUESTED[i]));
        assert_string_equal(net_match_player_name(at->match, raw->client), GIVEN[i]);
        assert_string_equal(at->raw_clients[0].came_name, GIVEN[i]);
    }
    // Who leaves gives the name back.
    raw_client_goodbye(&at->raw_clients[0]);
    table_run(at, 10);
    raw_client* next = table_raw_client(at);
    assert_true(table_join(at, next, "Ada"));
    assert_string_equal(net_match_player_name(at->match, next->client), "Ada");
}
