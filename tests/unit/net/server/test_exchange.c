// SPDX-License-Identifier: MIT
// P12: another match goes on in a running server. Its clients are asked again; they keep number and
// player. On ENet, in virtual time.
#define TABLE_SEATS 3u
#include "session_table.h"

#include "client/client_state.h"
#include "server/server_state.h"

static net_module* modules[4]; // by the exchanges
static uint32_t module_count;

static void take_settings(ecs_world* world, void* context, const net_game_start* start) {}

static const net_game_module* swarm_with_settings(void) {
    static net_game_module game;
    game = *swarm_module_get();
    game.settings_changed = take_settings;
    return &game;
}

static bool is_in(const table* at, uint32_t seat) {
    const net_client* client = at->seats[seat].client;
    return seat_plays(&at->seats[seat]) && net_client_tick_newest(client) > 0 &&
           net_client_tick_newest(client) + 60 >= net_match_tick(at->match) &&
           net_client_player(client) != ECS_ENTITY_NONE;
}

static void await_seats(table* at) {
    for (uint32_t i = 0; i < 600 && !(is_in(at, 0) && is_in(at, 1)); i++)
        table_step(at);
    assert_true(is_in(at, 0) && is_in(at, 1));
}

static void await_end(table* at, uint32_t index, uint32_t steps_max) {
    const net_client* client = at->seats[index].client;
    for (uint32_t i = 0; i < steps_max && net_client_get_phase(client) != NET_CLIENT_ENDED; i++)
        table_step(at);
}

static void end_match(table* at) {
    net_server_stop(at->server, at->now_us);
    table_run_out(at, 120);
}

// Each plays its own player.
static void have_players(const table* at) {
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t number = net_client_number(at->seats[i].client);
        assert_in_range(number, 1, 2);
        assert_int_equal(net_client_player(at->seats[i].client),
                         net_match_player(at->match, number));
    }
}

static void are_back(table* at) {
    await_seats(at);
    have_players(at);
    assert_int_equal(table_counters(at)->joins, 2);
    assert_int_equal(table_counters(at)->drops, 0);
}

static void open_stage(table* at, table_config config) {
    module_count = 0;
    config.quiet = 1e9;
    config.is_enet = true;
    config.seats = 2;
    config.spectators_max = 1;
    config.game = swarm_with_settings();
    table_open(at, config);
    await_seats(at);
}

static void close_stage(table* at) {
    table_close(at);
    for (uint32_t i = 0; i < module_count; i++)
        net_module_close(modules[i]);
}

// Two clients play.
#define STAGE_CASE(name, ...)                                                                      \
    CASE_WITH(table, at, open_stage(at, (table_config){__VA_ARGS__}), close_stage(at), name)

// A match whose templates have `more` at their end.
static net_match* make_next(table* at, const char* more) {
    char text[8192];
    assert_true(base_text_format(text, sizeof text, "%s%s", swarm_templates(), more));
    net_module** module = &modules[module_count++];
    assert_ok(net_module_wrap(swarm_module_get(), text, "room.blk", test_reporter(), module));
    net_match* match = NULL;
    assert_ok(net_match_create_from(at->match, *module, test_reporter(), &match));
    return match;
}

static void exchange(table* at, const char* more) {
    net_match* match = make_next(at, more);
    assert_ok(net_server_exchange(at->server, match));
    net_match_destroy(at->match);
    at->match = match;
}

// What a program does with a client that ended EXCHANGED.
static void come_back(table* at, uint32_t index, const net_module* module) {
    table_seat* seat = &at->seats[index];
    assert_int_equal(net_client_get_end(seat->client), NET_CLIENT_END_EXCHANGED);
    uint8_t secret[NET_RESUME_BYTES];
    assert_true(net_client_take_secret(seat->client, secret));
    net_client_config client = table_client(at, NULL);
    client.is_spectator = index == 2;
    client.watched = net_client_watched(seat->client);
    client.secret = secret;
    seat_part(seat);
    assert_ok(seat_meet(seat, module, client));
}

static void all_come_back(table* at, const net_module* module) {
    await_end(at, 0, 30);
    for (uint32_t i = 0; i < 2; i++)
        come_back(at, i, module);
}

STAGE_CASE(a_spectator_comes_back_and_watches_on, .seed = 5) {
    (void)table_watch(at, NULL);
    await_seats(at);
    const net_client* watcher = at->seats[2].client;
    for (uint32_t i = 0; i < 60 && net_client_player(watcher) == ECS_ENTITY_NONE; i++)
        table_step(at);
    net_client_watch(at->seats[2].client, 2);
    table_run(at, 30);
    assert_int_equal(net_client_player(watcher), net_match_player(at->match, 2));
    exchange(at, "lamp { \"glow:u32\"{ _replicate:b=yes; value:u32=3 } }\n");
    all_come_back(at, modules[0]);
    come_back(at, 2, modules[0]);
    watcher = at->seats[2].client;
    await_seats(at);
    table_run(at, 60);
    assert_int_equal(net_client_number(watcher), NET_SPECTATOR_FIRST);
    assert_int_equal(net_client_watched(watcher), 2);
    assert_int_equal(net_client_player(watcher), net_match_player(at->match, 2));
    assert_int_equal(table_counters(at)->spectators, 1);
}

// A page that is loaded again has its secret, and nothing else of the match. Its connection may be
// there still, as the server sees it, or lost.
STAGE_CASE(a_client_with_its_secret_alone_goes_on, .seed = 5) {
    const ecs_entity player = net_match_player(at->match, 1);
    (void)table_watch(at, NULL);
    await_seats(at);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = round % 2; i < 3; i += 2) {
            net_client_config client = table_client(at, NULL);
            uint8_t secret[NET_RESUME_BYTES];
            assert_true(net_client_take_secret(at->seats[i].client, secret));
            client.is_spectator = i == 2;
            client.secret = secret;
            seat_part(&at->seats[i]);
            if (round == 2) table_run(at, 60);
            assert_ok(seat_meet(&at->seats[i], at->module, client));
            table_run(at, 60 * 6); // it may not come back at once again and again
        }
        await_seats(at);
        assert_int_equal(net_client_number(at->seats[0].client), 1);
        assert_int_equal(net_client_number(at->seats[2].client), NET_SPECTATOR_FIRST);
        assert_int_equal(net_match_player(at->match, 1), player);
        assert_int_equal(table_counters(at)->joins, 2);
        assert_int_equal(table_counters(at)->drops, 0);
    }
    assert_true(table_report(at, 1)->end == NET_END_NONE);
    end_match(at);
    table_agrees(at);
}

// It reads so when it is back, and comes a second time.
STAGE_CASE(a_client_that_was_away_starts_again_too, .seed = 5) {
    net_socket_link_set(&(net_link_config){.loss_percent = 100});
    table_run(at, 240); // it noticed the silence
    assert_int_equal(net_client_get_phase(at->seats[0].client), NET_CLIENT_RESUMING);
    exchange(at, "");
    net_socket_link_set(NULL);
    await_end(at, 0, 600);
    come_back(at, 0, modules[0]);
    await_end(at, 1, 600);
    come_back(at, 1, modules[0]);
    are_back(at);
}

STAGE_CASE(a_server_that_accounts_its_bits_keeps_its_match, .seed = 5, .has_accounts = true) {
    net_match* match = make_next(at, "");
    assert_int_equal(net_server_exchange(at->server, match), NET_ERR_CLOSED);
    net_match_destroy(match);
    await_seats(at);
}

// ---- in another server ----

// The process died; another one has the match, and the address.
static void take_over(table* at, uint32_t clients_max) {
    table_stop(at);
    at->config.clients_max = clients_max;
    assert_ok(table_listen(at, TABLE_ADDRESS));
}

static void expect_players(table* at) {
    for (uint32_t i = 1; i <= 2; i++)
        assert_ok(net_server_expect(at->server, i, at->now_us));
}

STAGE_CASE(players_come_back_to_another_server_of_the_match, .seed = 5,
           .server.secret = table_secret) {
    const ecs_entity player = net_match_player(at->match, 1);
    const ecs_tick tick = net_match_tick(at->match);
    // The first one had taken its place from an earlier session: only its client knows that now.
    at->seats[0].client->resume[NET_RESUME_BYTES - 1]++;
    take_over(at, TABLE_SEATS);
    expect_players(at);
    assert_int_equal(table_counters(at)->clients, 2);
    // The first one notices the silence and goes on; the second one starts again, as clients of
    // earlier releases do.
    uint8_t secret[NET_RESUME_BYTES];
    assert_true(net_client_take_secret(at->seats[1].client, secret));
    come_back(at, 1, at->module);
    table_run(at, 240);
    await_seats(at);
    assert_true(at->seats[0].client->is_rebased);
    assert_false(at->seats[1].client->is_rebased);
    assert_true(net_match_tick(at->match) > tick);
    assert_int_equal(net_match_player(at->match, 1), player);
    have_players(at);
    table_run(at, 70); // a roster that was withheld
    assert_string_equal(net_client_player_name(at->seats[0].client, 2), "member (2)");
    // That they are bots only they say.
    const net_roster* roster = &at->seats[0].client->roster;
    assert_int_equal(roster->count, 2);
    assert_true(roster->players[0].is_bot && roster->players[1].is_bot);
    const net_server_counters* counters = table_counters(at);
    assert_true(counters->joins == 0 && counters->drops == 0 && counters->clients == 2);
    // A third player is the next number, with a name of its own.
    (void)table_sit_for(at, 120);
    assert_int_equal(net_client_number(at->seats[2].client), 3);
    assert_string_equal(net_client_player_name(at->seats[0].client, 3), "member (3)");
    end_match(at);
    table_agrees(at);
}

// A client that does not come leaves by a leave of the match.
STAGE_CASE(who_does_not_come_leaves_after_the_usual_time, .seed = 5,
           .server.secret = table_secret) {
    take_over(at, 2);
    expect_players(at);
    assert_int_equal(net_server_expect(at->server, 1, at->now_us), NET_ERR_FULL);
    const uint32_t ticks = (uint32_t)(NET_SILENCE_MS_MAX * 1000u / TABLE_TICK_US);
    net_socket_link_set(&(net_link_config){.loss_percent = 100});
    table_run(at, ticks - 2);
    assert_int_equal(net_match_players(at->match, NULL, 0), 2);
    table_run(at, 5);
    assert_int_equal(net_match_players(at->match, NULL, 0), 0);
    assert_int_equal(table_counters(at)->clients, 0);
    net_socket_link_set(NULL);
}

// The events that are kept for those who are expected go with the server, once.
STAGE_CASE(a_game_is_exchanged_while_players_are_expected, .seed = 5,
           .server.secret = table_secret) {
    take_over(at, TABLE_SEATS);
    expect_players(at);
    for (uint32_t i = 0; i < 600 && at->server->recent.reliable.count == 0; i++)
        net_server_tick(at->server, at->now_us += TABLE_TICK_US); // no client is served meanwhile
    assert_true(at->server->recent.reliable.count > 0);
    exchange(at, "lamp { \"glow:u32\"{ _replicate:b=yes; value:u32=3 } }\n");
    table_run(at, 30);
}

// ---- what the operator does

static net_result control(table* at, const char* verb, const char* text) {
    return net_server_control(at->server, verb, &(net_match_argument){text, strlen(text)}, 1, NULL);
}

STAGE_CASE(clients_come_back_for_new_settings, .seed = 5) {
    char text[64];
    const char* key = at->game.settings[0].key;
    await_seats(at);
    (void)snprintf(text, sizeof text, "%s=1e8", key);
    assert_int_equal(control(at, "set", "nothing=1"), NET_ERR_MALFORMED);
    assert_int_equal(control(at, "kill", ""), NET_ERR_UNKNOWN);
    assert_true(is_in(at, 0)); // no client is disturbed
    assert_ok(control(at, "set", text));
    all_come_back(at, at->module);
    are_back(at);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(net_match_get_config(at->seats[i].match)->settings[0] == 1e8);
    end_match(at);
    assert_int_equal(control(at, "set", text), NET_ERR_CLOSED);
    table_agrees(at);
}

STAGE_CASE(a_paused_match_stands_still_and_its_clients_stay, .seed = 5) {
    const ecs_tick tick = net_match_tick(at->match);
    net_server_pause_after(at->server, 0);
    assert_true(net_server_is_paused(at->server));
    table_run(at, 45 * 60); // longer than a silent client is kept
    assert_true(net_match_tick(at->match) == tick);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_RUNNING);
    assert_int_equal(table_counters(at)->clients, 2);
    net_server_pause_after(at->server, 3);
    assert_false(net_server_is_paused(at->server));
    table_run(at, 10);
    assert_true(net_match_tick(at->match) == tick + 3 && net_server_is_paused(at->server));
    net_server_pause_after(at->server, UINT64_MAX);
    table_run(at, 60);
    assert_true(net_match_tick(at->match) == tick + 63);
    await_seats(at);
    assert_int_equal(table_counters(at)->drops, 0);
}

STAGE_CASE(a_kicked_client_reads_why, .seed = 5) {
    const uint32_t client = net_client_number(at->seats[1].client);
    assert_false(net_server_kick(at->server, 0, "x"));
    assert_false(net_server_kick(at->server, 77, "x"));
    assert_true(net_server_kick(at->server, client, "for a walk"));
    assert_false(net_server_kick(at->server, client, "again"));
    const net_client* kicked = at->seats[1].client;
    await_end(at, 1, 600);
    assert_int_equal(net_client_get_phase(kicked), NET_CLIENT_ENDED);
    assert_int_equal(table_report(at, client)->end, NET_END_GAME);
    assert_int_equal(net_match_player(at->match, client), ECS_ENTITY_NONE);
    assert_true(is_in(at, 0));
}
