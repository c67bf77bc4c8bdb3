// SPDX-License-Identifier: MIT
// Large values in whole sessions: a game with many of them, lossy lines, broken connections,
// changing interest and classes, what the client shows, and the match run again from its log. Also
// events that name entities.
#include "match_made.h"
#include "game/library.h"
#include "log/log_files.h"
#include "session_table.h"

#include "ecs/save.h"
#include "net/log.h"
#include "net/playback.h"
#include "net/match.h"
#include "net/client.h"

static const net_link_config DEAD_LINK = {.loss_percent = 100};
static const net_link_config POOR_LINK = {
    .loss_percent = 10, .delay_ms = 60, .jitter_ms = 30, .duplicate_percent = 2, .seed = 4};

static void open_library(table* at, table_config config) {
    static net_game_module game; // exists longer than the table
    game = library_module();
    config.game = &game;
    config.templates = LIBRARY_TEXT;
    if (config.quiet == 0) config.quiet = 4e9;
    table_open(at, config);
}

#define LIBRARY_CASE(name, ...)                                                                    \
    CASE_WITH(table, at, open_library(at, (table_config){__VA_ARGS__}), table_close(at), name)

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

CASE(clients_agree_with_the_server_about_values_of_any_length) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        table at;
        open_library(&at, (table_config){.seed = seed,
                                         .ticks_max = 600,
                                         .is_threaded = seed % 2 == 0,
                                         .has_accounts = seed % 3 == 0});
        for (uint32_t i = 0; i < 4; i++)
            table_sit(&at, i % 2 ? &POOR_LINK : NULL);
        table_run_out(&at, 3000);
        check_agreement(&at);
        table_close(&at);
    }
}

CASE(what_is_under_way_when_a_connection_breaks_arrives_after_it_is_back) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        table at;
        open_library(&at, (table_config){.seed = seed, .ticks_max = 1200});
        table_sit(&at, NULL);
        table_sit(&at, &POOR_LINK);
        table_run(&at, 200 + 7 * (uint32_t)seed);
        net_sim_link_set(at.seats[seed % 2].transport, &DEAD_LINK);
        table_run(&at, 300);
        net_sim_link_set(at.seats[seed % 2].transport, &POOR_LINK);
        table_run_out(&at, 5000);
        assert_true(net_server_get_counters(at.server)->resumes >= 1);
        check_agreement(&at);
        table_close(&at);
    }
}

// A client gets events about a page only while it has the page.
LIBRARY_CASE(an_event_is_heard_with_the_page_it_names_or_not_at_all, .seed = 9, .ticks_max = 900) {
    for (uint32_t i = 0; i < 3; i++)
        table_sit(at, &POOR_LINK);
    table_run_out(at, 4000);
    for (uint32_t i = 0; i < 3; i++) {
        const library* heard = library_of(at->seats[i].match);
        assert_true(heard->heard > 5);
        assert_int_equal(heard->heard, heard->heard_there);
    }
    check_agreement(at);
}

// A marked event goes to all clients at once. No client waits for a page that is out of sight.
CASE(an_event_that_may_come_late_is_heard_by_all) {
    static net_game_module game;
    static net_message messages[2];
    game = library_module();
    memcpy(messages, game.messages, sizeof messages);
    messages[1].is_delivered_late = true;
    game.messages = messages;
    table at;
    table_open(
        &at,
        (table_config){
            .seed = 9, .ticks_max = 900, .quiet = 700, .game = &game, .templates = LIBRARY_TEXT});
    for (uint32_t i = 0; i < 3; i++)
        table_sit(&at, &POOR_LINK);
    table_run(&at, 60);
    uint32_t before[3];
    for (uint32_t i = 0; i < 3; i++)
        before[i] = library_of(at.seats[i].match)->heard;
    uint32_t told = library_of(at.match)->told;
    table_run_out(&at, 4000);
    told = library_of(at.match)->told - told;
    assert_true(told > 10);
    for (uint32_t i = 0; i < 3; i++) {
        const library* heard = library_of(at.seats[i].match);
        // Events that were under way when the count began are added.
        assert_true(heard->heard - before[i] >= told && heard->heard - before[i] <= told + 3);
        assert_true(heard->heard > heard->heard_there);
    }
    check_agreement(&at);
    table_close(&at);
}

LIBRARY_CASE(acknowledgements_of_what_was_never_sent_end_a_session, .seed = 3) {
    raw_client* raw = table_raw_client(at);
    for (uint32_t i = 0; i < 20 && !raw->is_connected; i++)
        table_step(at);
    raw_client_hello(raw, NET_PROTOCOL_VERSION, table_schema(at), "library", "guest");
    for (uint32_t i = 0; i < 20 && raw->states == 0; i++)
        table_step(at);
    assert_true(raw->is_welcome);
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

CASE(what_is_shown_has_the_mirrors_values) {
    table at;
    open_library(&at, (table_config){.seed = 12, .quiet = 400});
    net_presenter_config config = {.module = at.module, .is_predicting = true};
    net_presenter* presenter;
    assert_ok(net_presenter_create(&config, test_reporter(), &presenter));
    table_seat* seat = table_sit(&at, &POOR_LINK);
    net_client_destroy(seat->client);
    net_client_config client = {.allocator = &seat->memory.allocator,
                                .match = seat->match,
                                .transport = seat->transport,
                                .address = "sim",
                                .name = "looker",
                                .presenter = presenter,
                                .seed = 1};
    assert_ok(net_client_create(&client, &seat->client));
    for (uint32_t i = 0; i < 700; i++) {
        table_step(&at);
        (void)net_presenter_frame(presenter, at.now_us);
    }
    uint32_t count;
    uint32_t equal = count_equal_titles(at.match, seat->match, &count);
    assert_true(count >= 3);
    assert_int_equal(equal, count);
    uint32_t mirrored = count;
    equal = count_equal_titles(at.match, net_presenter_match(presenter), &count);
    assert_int_equal(equal, count);
    assert_int_equal(count, mirrored);
    table_close(&at);
    net_presenter_destroy(presenter);
}

// ---- logs ----

FILES_CASE(a_log_of_large_values_is_verified_and_shown) {
    enum { TICKS = 500 };
    net_game_module game = library_module();
    base_reporter reporter = base_reporter_stderr();
    net_module* module;
    assert_ok(net_module_wrap(&game, LIBRARY_TEXT, "library.blk", &reporter, &module));
    net_match* match = match_made(module, (match_wanted){.seed = 77});
    net_log_writer* writer;
    assert_ok(net_log_writer_create(NULL, files->log, match, "test", 1, NULL, &writer));
    for (uint32_t t = 1; t <= TICKS; t++) {
        net_tick_inputs begin = {.tick = t};
        net_log_append_begin(writer, &begin);
        net_match_step(match);
        net_log_append_end(writer, match);
        ecs_changes_clear(net_match_world(match));
    }
    net_log_append_close(writer, match);
    assert_ok(net_log_writer_destroy(writer));
    net_log_reader* reader;
    assert_ok(net_log_reader_create(NULL, files->log, &reporter, &reader));
    net_verify_result result;
    assert_ok(net_log_verify(reader, module, 0, NULL, NULL, NULL, &result));
    assert_int_equal(result.ticks, TICKS);
    assert_true(result.world_hash == ecs_world_hash(net_match_world(match)));
    net_playback* playback;
    assert_ok(net_playback_create(reader, module, &reporter, &playback));
    // By seeking, and as it plays: a title changes in a tick in which no row of its page does.
    net_log_reader* other;
    net_log_replay* replay;
    net_log_tick tick;
    assert_ok(net_log_reader_create(NULL, files->log, NULL, &other));
    assert_ok(net_log_replay_create(other, module, NULL, &replay));
    for (uint32_t t = 1; t <= TICKS; t++) {
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
    net_match_destroy(match);
    net_module_close(module);
}
