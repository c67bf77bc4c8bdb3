// SPDX-License-Identifier: MIT
// Large values in whole sessions: a game with many of them, lossy lines, broken connections,
// changing interest and classes, what the client shows, and the match run again from its log. Also
// events that name entities.
#include "game/library.h"
#include "session_table.h"

#include "net/playback.h"

static const net_link_config POOR_LINK = {
    .loss_percent = 10, .delay_ms = 60, .jitter_ms = 30, .duplicate_percent = 2, .seed = 4};

#define LIBRARY .game = library_module_get(), .templates = LIBRARY_TEXT

static void check_agreement(table* at) {
    table_agrees(at);
    for (uint32_t i = 0; i < at->seat_count; i++) {
        net_client_report report = net_client_get_report(at->seats[i].client);
        assert_true(report.scope.components > report.scope.entities);
        // All clients see the sign, which has only a text.
        const library* game = net_match_context(at->seats[i].match);
        assert_true(ecs_query_first(net_match_world(at->seats[i].match), game->signs) !=
                    ECS_ENTITY_NONE);
    }
}

static const library* library_of(net_match* match) {
    return net_match_context(match);
}

TABLE_ROWS(clients_agree_with_the_server_about_values_of_any_length, i, 6, LIBRARY, .seed = i + 1,
           .quiet = 4e9, .ticks_max = 600, .is_threaded = i % 2 == 1, .has_accounts = i % 3 == 2) {
    for (uint32_t k = 0; k < 4; k++)
        table_sit(at, k % 2 ? &POOR_LINK : NULL);
    table_run_out(at, 3000);
    check_agreement(at);
}

TABLE_ROWS(what_is_under_way_when_a_connection_breaks_arrives_after_it_is_back, i, 4, LIBRARY,
           .seed = i + 1, .quiet = 4e9, .ticks_max = 1200, .seats = 1) {
    table_sit(at, &POOR_LINK);
    table_run(at, 207 + 7 * i);
    table_line_for(at, (i + 1) % 2, &DEAD_LINK, 300);
    net_sim_link_set(at->seats[(i + 1) % 2].transport, &POOR_LINK);
    table_run_out(at, 5000);
    assert_true(table_counters(at)->resumes >= 1);
    check_agreement(at);
}

// ---- over ENet ----

enum { ENET_TICKS = 900, WRITTEN_TICK = 60 };

// Write three texts: 1 + 3 * (1 + 2 + 3996) = 11,998 bytes.
static uint32_t write_long_notes(table* at) {
    static char text[3996];
    memset(text, 'n', sizeof text);
    const library* game = net_match_context(at->match);
    ecs_world* world = net_match_world(at->match);
    const base_allocator* allocator = ecs_world_allocator(world);
    uint32_t count = 0;
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        ecs_array* notes = ecs_find_mut(world, entity, game->notes);
        if (!notes) continue;
        ecs_array_clear(allocator, notes);
        for (uint32_t i = 0; i < 3; i++) {
            text[0] = (char)('a' + count++ % 26);
            assert_ok(ecs_array_push_text(allocator, notes, text, sizeof text));
        }
    }
    return count / 3;
}

// The longest ones: fragments on the reliable channel, sent by the net half of the server, through
// the filter of datagrams, over a line with loss.
TABLE_ROWS(the_longest_values_cross_a_line_that_loses, is_lossy, 2, LIBRARY, .seed = 4,
           .quiet = WRITTEN_TICK, .ticks_max = ENET_TICKS, .is_enet = true, .seats = 2) {
    const net_link_config line = {.loss_percent = is_lossy ? 5 : 0, .delay_ms = 20, .seed = 3};
    net_socket_link_set(&line);
    for (uint32_t i = 0; i < 3 * ENET_TICKS; i++) {
        table_step(at);
        if (net_match_tick(at->match) == WRITTEN_TICK && i < 2 * WRITTEN_TICK)
            assert_int_equal(write_long_notes(at), LIBRARY_PAGES);
    }
    assert_int_equal(table_dropped(at, NET_DROP_VARSIZE_LONG), 0);
    table_agrees(at);
    for (uint32_t i = 0; i < 2; i++) // at least four values
        assert_true(net_client_get_report(at->seats[i].client).scope.bytes > 40000);
}

// ---- events ----

// A client gets events about a page only while it has the page.
TABLE_CASE(an_event_is_heard_with_the_page_it_names_or_not_at_all, LIBRARY, .seed = 9, .quiet = 4e9,
           .ticks_max = 900, .seats = 3, .link = &POOR_LINK) {
    table_run_out(at, 4000);
    for (uint32_t i = 0; i < 3; i++) {
        const library* own = library_of(at->seats[i].match);
        assert_true(own->heard > 5);
        assert_int_equal(own->heard, own->heard_there);
    }
    check_agreement(at);
}

static const net_game_module* late_library(void) {
    static net_game_module game;
    static net_message messages[2];
    game = *library_module_get();
    memcpy(messages, game.messages, sizeof messages);
    messages[1].is_delivered_late = true;
    game.messages = messages;
    return &game;
}

// A marked event goes to all clients at once. No client waits for a page that is out of sight.
TABLE_CASE(an_event_that_may_come_late_is_heard_by_all, .seed = 9, .ticks_max = 900, .quiet = 700,
           .game = late_library(), .templates = LIBRARY_TEXT, .seats = 3, .steps = 60,
           .link = &POOR_LINK) {
    uint32_t before[3];
    for (uint32_t i = 0; i < 3; i++)
        before[i] = library_of(at->seats[i].match)->heard;
    uint32_t told = library_of(at->match)->told;
    table_run_out(at, 4000);
    told = library_of(at->match)->told - told;
    assert_true(told > 10);
    for (uint32_t i = 0; i < 3; i++) {
        const library* own = library_of(at->seats[i].match);
        // Events that were under way when the count began are added.
        assert_true(own->heard - before[i] >= told && own->heard - before[i] <= told + 3);
        assert_true(own->heard > own->heard_there);
    }
    check_agreement(at);
}

GUEST_CASE(acknowledgements_of_what_was_never_sent_end_a_session, LIBRARY, .seed = 3,
           .quiet = 4e9) {
    uint64_t version = UINT64_MAX;
    Shoal__Wire__VarsizeAck ack = SHOAL__WIRE__VARSIZE_ACK__INIT;
    ack.n_versions = 1;
    ack.versions = &version;
    Shoal__Wire__ClientControl control = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__CLIENT_CONTROL__KIND_VARSIZE_ACK;
    control.varsize_ack = &ack;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(table_dropped(at, NET_DROP_MALFORMED), i);
        assert_ok(raw_client_send(raw, NET_CHANNEL_CONTROL, &control.base));
        table_run(at, 5);
    }
    assert_int_equal(net_server_report(at->server, 0)->end, NET_END_FAULT);
}

// ---- what is shown ----

static uint32_t count_equal_titles(net_match* truth, net_match* shown, uint32_t* count) {
    const library* game = library_of(truth);
    const library* there = library_of(shown);
    ecs_world* world = net_match_world(shown);
    uint32_t equal = 0;
    *count = 0;
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        const ecs_string* title = ecs_find(world, entity, there->title);
        const ecs_string* wanted = ecs_find(net_match_world(truth), entity, game->title);
        if (!title || !wanted) continue;
        *count += 1;
        equal += strcmp(ecs_string_text(title), ecs_string_text(wanted)) == 0;
    }
    return equal;
}

TABLE_CASE(what_is_shown_has_the_mirrors_values, LIBRARY, .seed = 12, .quiet = 400) {
    net_presenter_config config = {.module = at->module, .is_predicting = true};
    net_presenter* presenter;
    net_client_config looker = table_client(at, "looker");
    assert_ok(net_presenter_create(&config, test_reporter(), &presenter));
    looker.presenter = presenter;
    table_seat* seat = table_sit_in(at, at->module, &POOR_LINK, looker);
    for (uint32_t i = 0; i < 700; i++) {
        table_step(at);
        (void)net_presenter_frame(presenter, at->now_us);
    }
    uint32_t count, mirrored;
    uint32_t equal = count_equal_titles(at->match, seat->match, &mirrored);
    assert_true(mirrored >= 3);
    assert_int_equal(equal, mirrored);
    equal = count_equal_titles(at->match, net_presenter_match(presenter), &count);
    assert_int_equal(equal, mirrored);
    assert_int_equal(count, mirrored);
    seat_part(seat);
    net_presenter_destroy(presenter);
}

// ---- logs ----

TABLE_CASE(a_log_of_large_values_is_verified_and_shown, LIBRARY, .seed = 77, .quiet = 4e9,
           .ticks_max = 500, .has_log = true) {
    table_run_out(at, 600);
    const net_verify_result result = table_verify(at);
    assert_int_equal(result.ticks, 500);
    assert_true(result.world_hash == ecs_world_hash(net_match_world(at->match)));
    // By seeking, and as it plays: a title changes in a tick in which no row of its page does.
    net_log_reader *reader = files_reader(at->files.log), *other = files_reader(at->files.log);
    net_playback* playback;
    net_log_replay* replay;
    net_log_tick tick;
    assert_ok(net_playback_create(reader, at->module, test_reporter(), &playback));
    assert_ok(net_log_replay_create(other, at->module, 0, NULL, &replay));
    for (uint32_t t = 1; t <= result.ticks; t++) {
        uint32_t count;
        assert_ok(net_log_replay_step(replay, &tick));
        assert_ok(t % 130 == 0 ? net_playback_seek(playback, t)
                               : net_playback_advance(playback, t == 1 ? 0.0 : 1.0));
        uint32_t equal =
            count_equal_titles(net_log_replay_match(replay), net_playback_match(playback), &count);
        assert_true(count >= LIBRARY_PAGES);
        assert_int_equal(equal, count);
    }
    net_log_replay_destroy(replay);
    net_log_reader_destroy(other);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
}
