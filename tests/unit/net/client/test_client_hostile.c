// SPDX-License-Identifier: MIT
// Ten behaviours of a hostile server against a client of ours, each bounded in bytes: what the
// client keeps, what it uploads, what it prints. `has_view` adds what a window keeps.
#include "client/duel.h"

#include "body_pen.h"
#include "client/client_state.h"
#include "core/ration.h"

#define MIB ((size_t)1 << 20)

static uint64_t sent_bytes(const duel* at) {
    return net_client_get_report(at->client).sent_bytes;
}

// Beside what the match took before the server said a word.
static void expect_kept_below(const duel* at, size_t before, size_t limit) {
    assert_true(at->quota.used_peak <= before + limit);
}

// ---- 1, 2, 3: faults

GREETED_CASE(one_schema_question_is_answered_per_connection) {
    const uint64_t before = sent_bytes(at);
    raw_server_ask(&at->server);
    duel_run(at, 3);
    for (uint32_t i = 1; i < 1000; i++)
        raw_server_ask(&at->server);
    duel_run(at, 10);
    assert_true(at->server.is_answered);
    assert_true(sent_bytes(at) - before < 4096);
    duel_expect_end(at, NET_CLIENT_END_UNREACHABLE);
    char text[64];
    assert_int_equal(net_client_refusal(at->client, text, sizeof text), 0);
    assert_string_equal(text, "the server broke the protocol too often");
}

WELCOMED_CASE(every_connection_may_ask_once) {
    raw_server_ask(&at->server); // too late: it has the hello, and welcomed
    duel_run(at, 3);
    assert_false(at->server.is_answered);
    assert_int_equal(net_client_get_report(at->client).dropped[NET_DROP_MALFORMED], 1);
}

static const net_channel CHANNELS[] = {NET_CHANNEL_CONTROL, NET_CHANNEL_REALTIME};

CASE_ROWS(duel, at, duel_open_welcomed(at), duel_close(at), c, BASE_COUNT(CHANNELS),
          who_sends_faults_is_left_after_thirty_two) {
    static uint8_t noise[1000];
    memset(noise, 0xA5, sizeof noise);
    const uint64_t before = sent_bytes(at);
    uint32_t sent = 0;
    for (; sent < NET_CLIENT_FAULTS_MAX; sent++) {
        (void)raw_server_send_bytes(&at->server, CHANNELS[c], noise, sizeof noise);
        duel_run(at, 15);
    }
    duel_phase_after(at, 2, NET_CLIENT_PLAYING);
    (void)raw_server_send_bytes(&at->server, CHANNELS[c], noise, sizeof noise);
    duel_end_after(at, 3, NET_CLIENT_END_LOST);
    assert_string_equal(at->said.last, "connection lost: the server broke the protocol too often");
    assert_int_equal(at->said.lines, 1);
    assert_int_equal(net_client_get_report(at->client).dropped[NET_DROP_MALFORMED],
                     NET_CLIENT_FAULTS_MAX + 1);
    // The hellos of a client that plays: a packet a tick, whatever the server sends.
    assert_true(sent_bytes(at) - before < 64 * 1024);
}

WELCOMED_CASE(the_window_of_faults_is_ten_seconds) {
    // With something right in between, a fault every 20 ticks is 31 within ten seconds.
    for (uint32_t tick = 1; tick <= 100; tick++) {
        (void)raw_server_send_bytes(&at->server, NET_CHANNEL_CONTROL, "\xFF", 1);
        duel_send_nothing_new(at, tick);
        duel_run(at, 20);
    }
    duel_expect_phase(at, NET_CLIENT_PLAYING);
    assert_int_equal(net_client_get_report(at->client).dropped[NET_DROP_MALFORMED], 100);
}

WELCOMED_CASE(who_does_nothing_right_is_left_after_ten_seconds) {
    for (uint32_t second = 0; second < 10; second++) {
        (void)raw_server_send_bytes(&at->server, NET_CHANNEL_REALTIME, "\xFF", 1);
        duel_run(at, TICKS_PER_SECOND);
    }
    duel_expect_phase(at, NET_CLIENT_PLAYING);
    duel_end_after(at, TICKS_PER_SECOND, NET_CLIENT_END_LOST);
    assert_string_equal(at->said.last,
                        "connection lost: the server sent nothing but faults for 10 s");
}

// ---- 4: connections

DUEL_CASE(a_server_that_ends_each_connection_is_not_called_faster_than_twice_a_second) {
    Shoal__Wire__Welcome welcome = duel_secret_welcome();
    duel_play(at, welcome);
    welcome.is_resumed = true;
    const uint64_t before = sent_bytes(at);
    uint32_t hellos = at->server.hellos;
    for (uint32_t i = 0; i < 20 * TICKS_PER_SECOND; i++) {
        if (at->server.hellos > hellos) raw_server_welcome_as(&at->server, welcome);
        duel_run(at, 1);
        if (net_client_get_phase(at->client) != NET_CLIENT_PLAYING) continue;
        hellos = at->server.hellos;
        at->there->ops->disconnect(at->there, at->server.peer, 0, true);
    }
    assert_true(at->server.hellos > 10 && at->server.hellos <= 42);
    assert_true(at->said.lines <= 2 * (NET_RATION_LINES_BURST + 20));
    assert_true(sent_bytes(at) - before < 32 * 1024);
}

// ---- 5: what a person is shown

GREETED_CASE(what_a_server_says_cannot_steer_a_terminal) {
    raw_server_refuse(&at->server, SHOAL__WIRE__REFUSED_REASON__REFUSED_GAME,
                      "\x1B]0;x\x07 full\xE2\x80\xAE\xC2\x9B"
                      "2J",
                      "../\x1B[2J\xE2\x80\xAEgame");
    duel_end_after(at, 2 * TICKS_PER_SECOND, NET_CLIENT_END_REFUSED);
    char text[64];
    (void)net_client_refusal(at->client, text, sizeof text);
    assert_string_equal(text, "]0;x full2J");
    assert_string_equal(net_client_refusal_game(at->client), "../[2Jgame"); // no name: game.c
}

WELCOMED_CASE(names_show_nothing_hidden_and_no_two_are_alike) {
    duel_send_roster(at, 1, 1, "bob");
    duel_send_roster(at, 2, 1, "b\xE2\x80\x8Bob");
    duel_send_roster(at, 3, 1, "\xE2\x80\xAE\x1B[1mbob\xE2\x81\xA6");
    duel_send_roster(at, 4, 1, "\xE2\x80\xAE");
    duel_send_roster(at, 55, 2, "a name of as many as thirty-one");
    duel_run(at, 3);
    assert_string_equal(net_client_player_name(at->client, 1), "bob");
    assert_string_equal(net_client_player_name(at->client, 2), "bob#2");
    assert_string_equal(net_client_player_name(at->client, 3), "[1mbob");
    assert_string_equal(net_client_player_name(at->client, 4), "player");
    assert_string_equal(net_client_player_name(at->client, 55), "a name of as many as thirty-one");
    assert_string_equal(net_client_player_name(at->client, 56), "a name of as many as thirty-#56");
    duel_send_roster(at, 2, 1, "bob"); // again: still the second of that name
    duel_run(at, 3);
    assert_string_equal(net_client_player_name(at->client, 2), "bob#2");
}

// ---- 6: the roster

WELCOMED_CASE(a_roster_of_any_length_is_bounded) {
    const size_t before = at->quota.used_bytes;
    for (uint32_t i = 0; i < 200; i++) {
        // The numbers fall, so each entry goes before the others.
        duel_send_roster(at, UINT32_MAX - (i + 1) * 600, 600, i % 2 ? "alike" : "equal");
        duel_run(at, 1);
        if (net_client_get_phase(at->client) != NET_CLIENT_PLAYING) break;
    }
    expect_kept_below(at, before, MIB);
    duel_expect_end(at, NET_CLIENT_END_LOST); // each message beyond 4,095 players is a fault
}

// ---- 7, 8: worlds

// 40 templates of four numbers a component: they compose in 40^8 ways.
static const char* many_templates(uint32_t components) {
    static char text[64 * 1024];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", swarm_templates());
    for (uint32_t i = 0; i < 40; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "part_%02u {\n", i);
        for (uint32_t k = 0; k < components; k++)
            used +=
                (size_t)snprintf(text + used, sizeof text - used,
                                 "  \"c%02u_%u:p4\"{ _replicate:b=yes; value:p4=1,2,3,4 }\n", i, k);
        used += (size_t)snprintf(text + used, sizeof text - used, "}\n");
    }
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "sign { \"title:t\"{ _replicate:b=yes; value:t=\"-\" } }\n");
    assert_true(used < sizeof text);
    return text;
}

typedef struct forger {
    net_match* match; ///< as the client's
    net_rows* rows;
    body_pen pen;
    uint64_t tick;
} forger;

static void forger_open(forger* f, duel* at) {
    f->match = match_made(at->module, (match_wanted){.is_mirror = true});
    assert_ok(net_rows_create(NULL, net_match_world(f->match), NULL, &f->rows));
    net_rows_set_tick_rate(f->rows, 60);
    f->tick = 0;
}

static void forger_close(forger* f) {
    base_owner_destroy(f->rows);
    net_match_destroy(f->match);
}

static void forger_begin(forger* f) {
    f->tick++;
    pen_begin(&f->pen, ecs_limits_default().replicated_index_max, f->rows);
}

// Send the body to which the test added lists.
static void forger_send(forger* f, duel* at) {
    raw_state packet = raw_server_packet(&at->server, f->tick);
    packet.body = f->pen.bytes;
    packet.body_size = proto_bit_writer_bytes(&f->pen.bits);
    packet.body_bits = f->pen.bits.size_bits;
    raw_server_send_state(&at->server, packet);
}

// Create entities, each of a composition that nothing had before.
static void send_compositions(duel* at, forger* f, uint32_t first, uint32_t count) {
    enum { PARTS = 8 };
    forger_begin(f);
    pen_list(&f->pen, 0);
    pen_list(&f->pen, count);
    for (uint32_t i = first; i < first + count; i++) {
        uint16_t parts[PARTS];
        for (uint32_t k = 0, rest = i; k < PARTS; k++, rest /= 5)
            parts[k] = (uint16_t)(5 + 5 * k + rest % 5);
        const net_row_template* entry = net_rows_compose(f->rows, parts, PARTS);
        if (!entry) { // more than there may be: the client must refuse it too
            static net_row_template head;
            head.part_count = PARTS;
            memcpy(head.parts, parts, sizeof parts);
            pen_create_head(&f->pen, i, ecs_entity_make(i + 1, 1), &head);
            continue;
        }
        pen_create(&f->pen, i, ecs_entity_make(i + 1, 1), entry, entry->defaults);
    }
    pen_runs(&f->pen, 0);
    forger_send(f, at);
    duel_run(at, 1);
}

static void compositions_are_bounded(duel* at, uint32_t entities) {
    enum { PER_PACKET = 20 };
    forger f;
    forger_open(&f, at);
    const size_t before = at->quota.used_bytes;
    uint32_t index = 0;
    while (index < entities && net_client_get_phase(at->client) == NET_CLIENT_PLAYING) {
        send_compositions(at, &f, index, PER_PACKET);
        index += PER_PACKET;
    }
    duel_run(at, 3);
    net_client_report report = net_client_get_report(at->client);
    assert_true(report.dropped[NET_DROP_COMPOSITION] > 0);
    duel_expect_end(at, NET_CLIENT_END_LOST);
    expect_kept_below(at, before, (at->presenter ? 128 : 64) * MIB);
    forger_close(&f);
}

CASE_ROWS(duel, at,
          duel_open_as_welcomed(at,
                                (duel_config){.templates = many_templates(2), .has_view = view}),
          duel_close(at), view, 2, more_compositions_than_sane_end_the_session) {
    compositions_are_bounded(at, 30000);
}

// One packet: entities first..first+count-1 of a large composition are created, or moved on.
static void send_rows(duel* at, forger* f, const net_row_template* entry, uint32_t first,
                      uint32_t count, bool is_create) {
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    memcpy(row, entry->defaults, entry->layout.field_count * sizeof *row);
    row[0] = proto_quant_canonical(&entry->layout.fields[0].quant, f->tick + 1);
    forger_begin(f);
    f->pen.order = 0;
    pen_list(&f->pen, 0);
    pen_list(&f->pen, is_create ? count : 0);
    for (uint32_t i = first; is_create && i < first + count; i++)
        pen_create(&f->pen, i, ecs_entity_make(i + 1, 1), entry, entry->defaults);
    pen_runs(&f->pen, is_create ? 0 : 1);
    if (!is_create) pen_run_absolute(&f->pen, count);
    for (uint32_t i = first; !is_create && i < first + count; i++) {
        pen_slot(&f->pen, i);
        pen_row(&f->pen, entry, (proto_row_base){0}, row);
    }
    assert_true(proto_bit_writer_bytes(&f->pen.bits) < NET_STATE_BYTES_MAX - 40);
    forger_send(f, at);
}

// Every entity that a client can have, large, then rows that differ in each packet.
static void worlds_are_bounded(duel* at, bool is_told) {
    enum { ENTITIES = 65535, CREATES = 255, UPDATES = 85, PACKETS_MAX = 6000 };
    static const uint16_t parts[] = {5, 6, 7, 8, 9, 10, 11, 12};
    forger f;
    forger_open(&f, at);
    const net_row_template* entry = net_rows_compose(f.rows, parts, BASE_COUNT(parts));
    assert_non_null(entry);
    const size_t before = at->quota.used_bytes;
    uint32_t packets = 0, next = 0;
    for (; packets < PACKETS_MAX && net_client_get_phase(at->client) == NET_CLIENT_PLAYING;
         packets++) {
        bool is_create = packets < ENTITIES / CREATES;
        send_rows(at, &f, entry, next, is_create ? CREATES : UPDATES, is_create);
        next = (next + (is_create ? CREATES : UPDATES)) % ENTITIES;
        duel_run(at, 1);
    }
    net_client_report report = net_client_get_report(at->client);
    assert_int_equal(report.dropped[NET_DROP_MALFORMED], 0);
    // One message may let the largest arrays grow beyond it.
    if (is_told) expect_kept_below(at, before, NET_CLIENT_BYTES_MAX - before + 64 * MIB);
    forger_close(&f);
}

CASE_ROWS(duel, at,
          duel_open_as_welcomed(at,
                                (duel_config){.templates = many_templates(4), .has_view = view}),
          duel_close(at), view, 2, a_world_of_any_size_ends_at_the_limit_of_bytes) {
    worlds_are_bounded(at, true);
    duel_expect_end(at, NET_CLIENT_END_LOST);
    assert_string_equal(at->said.last,
                        "connection lost: no memory is left for what the server sends");
}

// The same with less and less memory, so that it runs out in every part of the client.
CASE(memory_that_runs_out_anywhere_ends_the_session_in_order) {
    duel at;
    duel_open_as(&at, (duel_config){.templates = many_templates(2), .has_view = true});
    const size_t least = at.quota.used_peak;
    duel_close(&at);
    for (uint32_t i = 0; i < 24; i++) {
        duel_open_as(&at, (duel_config){.templates = many_templates(2),
                                        .has_view = true,
                                        .bytes_max = least + ((size_t)1 << 14) * i * i});
        duel_run(&at, 6);
        raw_server_welcome(&at.server, 3, 60);
        duel_run(&at, 2);
        if (net_client_get_phase(at.client) == NET_CLIENT_PLAYING) worlds_are_bounded(&at, false);
        duel_expect_phase(&at, NET_CLIENT_ENDED);
        duel_close(&at);
    }
}

// ---- 9: what waits for entities that never come

static void send_title(duel* at, uint32_t index, uint64_t version, uint32_t size) {
    static uint8_t value[ECS_STRING_BYTES_MAX + 8];
    size_t head = base_varint_bytes(size);
    base_varint_put(value, size);
    memset(value + head, 'x', size);
    Shoal__Wire__VarsizeValue message = SHOAL__WIRE__VARSIZE_VALUE__INIT;
    message.entity = ecs_entity_make(index, 1);
    message.version = version;
    message.since = 1;
    message.value = (ProtobufCBinaryData){head + size, value};
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_VARSIZE;
    control.varsize = &message;
    (void)raw_server_send(&at->server, NET_CHANNEL_CONTROL, &control.base);
}

static const uint32_t SIZES[] = {1, 4000};

CASE_ROWS(duel, at,
          duel_open_as_welcomed(at,
                                (duel_config){.templates = many_templates(2), .has_view = i % 2}),
          duel_close(at), i, 2 * BASE_COUNT(SIZES), texts_without_entities_are_bounded) {
    const size_t before = at->quota.used_bytes;
    const uint64_t sent = sent_bytes(at);
    uint64_t version = 0, received = net_client_get_report(at->client).recv_bytes;
    for (uint32_t tick = 0; tick < 1000; tick++) {
        for (uint32_t k = 0; k < 4; k++, version++)
            send_title(at, 1 + (uint32_t)(version % 65535), version + 1, SIZES[i / 2]);
        duel_run(at, 1);
    }
    net_client_report report = net_client_get_report(at->client);
    assert_int_equal(report.dropped[NET_DROP_MALFORMED], 0);
    assert_true(report.dropped[NET_DROP_VARSIZE_FULL] > 0);
    assert_true(report.sent_bytes - sent < 2 * (report.recv_bytes - received) + 64 * 1024);
    expect_kept_below(at, before, i % 2 ? 72 * MIB : 2 * MIB);
}

CASE_ROWS(duel, at, duel_open_as_welcomed(at, (duel_config){.has_view = view}), duel_close(at),
          view, 2, events_without_entities_are_bounded) {
    const size_t before = at->quota.used_bytes;
    static const uint8_t payload[] = {8, 1};
    for (uint32_t i = 0; i < 20000; i++) {
        raw_server_event(&at->server, raw_server_packet(&at->server, 5), i % 2 ? 0 : i / 2 + 1, 2,
                         ecs_entity_make(1 + i, 1), payload, sizeof payload);
        if (i % 100 == 0) duel_run(at, 1);
    }
    duel_phase_after(at, 3, NET_CLIENT_PLAYING);
    expect_kept_below(at, before, view ? 3 * MIB : MIB);
}

// ---- 10: numbers

// Small ones, and those beside 2^n.
static const uint64_t TICKS[] = {1,
                                 2,
                                 1000,
                                 1ull << 31,
                                 1ull << 50,
                                 1ull << 51,
                                 (1ull << 51) + 1,
                                 1ull << 62,
                                 UINT64_MAX / 2,
                                 UINT64_MAX - 1,
                                 UINT64_MAX};

CASE_ROWS(duel, at, duel_open_as_welcomed(at, (duel_config){.has_view = true}), duel_close(at), i,
          BASE_COUNT(TICKS) * BASE_COUNT(TICKS), no_tick_is_too_far_away) {
    const uint64_t one = TICKS[i / BASE_COUNT(TICKS)], other = TICKS[i % BASE_COUNT(TICKS)];
    const size_t before = at->quota.used_bytes;
    const uint64_t ticks[] = {one, other, one + 1, other - 1};
    for (uint32_t n = 0; n < 40; n++) {
        duel_send_nothing_new(at, ticks[n % BASE_COUNT(ticks)]);
        duel_run(at, 1);
    }
    assert_true(at->quota.used_peak <= before + MIB);
}
