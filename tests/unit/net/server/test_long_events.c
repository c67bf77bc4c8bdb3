// SPDX-License-Identifier: MIT
// Events of up to 2 kB in whole sessions: over lines that lose, repeat and reorder, through broken
// connections and servers that die, and in the log.
#include "game/letters.h"

#define FLEET_GAME letters_module_get()
#include "fleet_world.h"

static const net_link_config POOR_LINK = {
    .loss_percent = 15, .delay_ms = 60, .jitter_ms = 40, .duplicate_percent = 5, .seed = 4};

#define LETTERS .game = letters_module_get(), .quiet = 4e9, .has_log = true

// Lengths around what one packet has, and the longest; most are short.
static uint32_t length_of(uint32_t number) {
    static const uint32_t lengths[] = {LETTERS_MAX, 30, 9, 504, 505, 506, 9, LETTERS_MAX - 1, 1020};
    return lengths[number % BASE_COUNT(lengths)];
}

// Each seat that plays has up to 20 letters on the way.
static void write_letters(table_seat* seats, uint32_t count, uint32_t* numbers, uint32_t most) {
    for (uint32_t i = 0; i < count; i++) {
        net_client* client = seats[i].client;
        if (!client || net_client_get_phase(client) != NET_CLIENT_PLAYING || numbers[i] >= most)
            continue;
        const letter next = letter_make(0, numbers[i] + 1, length_of(numbers[i] + 1));
        if (net_client_send_event(client, letters_sent(), &next) == NET_OK) numbers[i]++;
    }
}

// All letters of all clients came everywhere, in order.
static void expect_all(const table_seat* seats, uint32_t count, uint32_t letters) {
    for (uint32_t i = 0; i < count; i++) {
        const letters_heard* got = letters_find(net_match_world(seats[i].match));
        assert_int_equal(got->faults, 0);
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t client = net_client_get_report(seats[k].client).client;
            assert_int_equal(got->newest[client], letters);
        }
    }
}

static void forget_all(void) {
    memset(letters_of_world, 0, sizeof letters_of_world);
}

enum { LETTERS_EACH = 10 };

TABLE_ROWS(long_events_come_whole_and_in_order_both_ways, i, 6, LETTERS, .seed = i + 1,
           .is_threaded = i % 2 == 1) {
    forget_all();
    uint32_t numbers[3] = {0};
    for (uint32_t k = 0; k < 3; k++)
        table_sit(at, i == 0 ? NULL : &POOR_LINK);
    for (uint32_t k = 0; k < 1200; k++) {
        if (k > 100) write_letters(at->seats, 3, numbers, LETTERS_EACH);
        table_step(at);
    }
    expect_all(at->seats, 3, LETTERS_EACH);
    assert_int_equal(table_dropped(at, NET_DROP_MALFORMED), 0);
    (void)table_verify(at);
    net_log_reader* reader = files_reader(at->files.log); // earlier readers refuse it
    assert_true(net_log_header_features(reader->header.data, reader->header.size) &
                NET_LOG_FEATURE_LONG);
    net_log_reader_destroy(reader);
}

// A connection breaks while parts are on the way.
TABLE_ROWS(a_connection_that_breaks_loses_no_long_event, i, 6, LETTERS, .seed = i + 1) {
    forget_all();
    uint32_t numbers[2] = {0};
    for (uint32_t k = 0; k < 2; k++)
        table_sit(at, &POOR_LINK);
    for (uint32_t k = 0; k < 1500; k++) {
        if (k > 100) write_letters(at->seats, 2, numbers, LETTERS_EACH);
        if (k == 104 + i) net_sim_link_set(at->seats[1].transport, &DEAD_LINK);
        if (k == 404 + i) net_sim_link_set(at->seats[1].transport, &POOR_LINK);
        table_step(at);
    }
    expect_all(at->seats, 2, LETTERS_EACH);
    assert_true(table_counters(at)->resumes >= 1);
    (void)table_verify(at);
}

// The second server does not have the parts that the first one got.
CASE(a_standby_goes_on_between_two_parts) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        fleet fleet_of;
        fleet* self = &fleet_of;
        uint32_t numbers[2] = {0};
        forget_all();
        open_fleet_with(self, seed, true, NET_TICK_RATE_HZ_DEFAULT);
        (void)open_standby(self, 1);
        seat_all(self, 2);
        run(self, 60);
        const net_link_config bad = {
            .delay_ms = 15, .jitter_ms = 10, .loss_percent = 5, .seed = seed};
        net_socket_link_set(&bad);
        for (uint32_t k = 0; k < 500; k++) {
            write_letters(self->seats, 2, numbers, LETTERS_EACH);
            if (k == 10 + 3 * seed) kill_node(&self->nodes[0]);
            step(self);
        }
        assert_ptr_equal(primary(self), &self->nodes[1]);
        expect_all(self->seats, 2, LETTERS_EACH);
        ends_well(self, &self->nodes[1], 2);
        close_fleet(self);
    }
}

// ---- limits ----

static void expect_said(const heard* lines, const char* words) {
    if (heard_count(lines, words) == 0) fail_msg("no line has \"%s\"", words);
}

static net_result send_length(table* at, uint32_t length) {
    const letter made = letter_make(0, 1, length);
    return net_client_send_event(at->seats[0].client, letters_sent(), &made);
}

// A text of 2557 bytes is a message of 2560.
TABLE_CASE(an_event_beyond_the_limit_is_named_with_it, LETTERS, .seed = 1, .seats = 1,
           .steps = 60) {
    forget_all();
    assert_int_equal(send_length(at, 2558 - 4), NET_ERR_FULL);
    expect_said(&at->seats_said, "Letter: is too long: 2561 bytes, at most 2560");
    assert_ok(send_length(at, 2557 - 4));
    table_run(at, 60);
    assert_int_equal(table_dropped(at, NET_DROP_MALFORMED), 0);
    assert_int_equal(letters_find(net_match_world(at->seats[0].match))->count, 1);
}

// ---- parts that no client of ours sends ----

static uint64_t malformed_after(table* at, raw_client* raw, uint32_t number, uint32_t message,
                                uint32_t part, uint32_t whole) {
    static uint8_t zeros[NET_EVENT_PART_BYTES_MAX];
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    event.number = number;
    event.message = message;
    event.payload = (ProtobufCBinaryData){sizeof zeros, zeros};
    event.whole_bytes = whole;
    event.part = part;
    raw_client_send_event(raw, raw_client_packet(raw), &event);
    table_run_politely(at, 3);
    return table_dropped(at, NET_DROP_MALFORMED);
}

GUEST_CASE(parts_that_no_client_sends_are_counted_strikes, LETTERS, .seed = 1) {
    const uint32_t part = NET_EVENT_PART_BYTES_MAX;
    assert_int_equal(malformed_after(at, raw, 1, letters_sent(), 0, 4 * part), 0);
    assert_int_equal(malformed_after(at, raw, 1, letters_sent(), 4, 4 * part), 1);
    assert_int_equal(malformed_after(at, raw, 1, letters_sent(), 3, 4 * part - 1), 2);
    assert_int_equal(malformed_after(at, raw, 0, letters_sent(), 0, 4 * part), 3);
    assert_int_equal(table_report(at, raw->client)->end, NET_END_FAULT);
}

GUEST_CASE(a_short_message_in_parts_is_refused_when_it_is_whole, LETTERS, .seed = 1) {
    const uint32_t part = NET_EVENT_PART_BYTES_MAX, shout = letters_sent() - 1;
    assert_int_equal(malformed_after(at, raw, 1, shout, 1, 2 * part), 0);
    assert_int_equal(malformed_after(at, raw, 1, letters_sent(), 0, 2 * part), 1); // not the same
    assert_int_equal(malformed_after(at, raw, 1, shout, 0, 2 * part), 2);
}

static net_game_module broken;
static net_message broken_rows[16];

static net_message* break_module(void) {
    broken = *letters_module_get();
    memcpy(broken_rows, broken.messages, broken.message_count * sizeof *broken_rows);
    broken.messages = broken_rows;
    return &broken_rows[letters_sent() - 1];
}

static void expect_refused(const char* words) {
    heard lines;
    net_module* module;
    net_match* match;
    assert_ok(net_module_wrap(&broken, swarm_templates(), "swarm.blk", test_reporter(), &module));
    net_match_config config = net_match_config_default(module);
    assert_int_equal(net_match_create(&config, heard_begin(&lines), &match), NET_ERR_MODULE);
    expect_said(&lines, words);
    net_module_close(module);
}

CASE(a_long_event_is_reliable_and_no_input) {
    break_module()->is_reliable = false;
    expect_refused("message Letter: the event letter has 2048 bytes, more than 256: make the "
                   "message reliable");
    break_module()->kind = NET_MESSAGE_INPUT;
    broken_rows[0].kind = NET_MESSAGE_TO_SERVER; // which had been the input
    expect_refused("message Letter: the event letter has 2048 bytes, more than 256: an input has "
                   "at most that many");
}
