// SPDX-License-Identifier: MIT
// P12: another match goes on in a running server. Its clients are asked again; they keep number and
// player, or read why they do not fit. On ENet, in virtual time.
#include "match_made.h"
#include "enet_room.h"

#include "client/client_state.h"
#include "scarce.h"
#include "swarm.h"

#include "base/text.h"
#include "net/explain.h"

#include <stdlib.h>

typedef struct stage {
    room room;
    net_game_module game;
    scarce_memory memory;   ///< of the server
    net_module* modules[4]; ///< by the exchanges
    uint32_t count;
} stage;

static void take_settings(ecs_world* world, void* context, const net_game_start* start) {
    (void)world, (void)context, (void)start;
}

static void stage_open(stage* at) {
    memset(at, 0, sizeof *at);
    at->game = *swarm_module_get();
    at->game.settings_changed = take_settings;
    room_open(&at->room, (room_config){.game = &at->game,
                                       .templates = swarm_templates(),
                                       .seed = 5,
                                       .quiet = 1e9,
                                       .seats = 2});
    // Again, with an allocator.
    net_server_destroy(at->room.server);
    scarce_init(&at->memory, 0, true);
    const net_server_config server = {.allocator = &at->memory.allocator,
                                      .match = at->room.match,
                                      .transport = at->room.transport,
                                      .clients_max = ROOM_SEATS,
                                      .spectators_max = 1};
    assert_ok(net_server_create(&server, &at->room.server));
}

static void stage_close(stage* at) {
    room_close(&at->room);
    assert_int_equal(at->memory.bytes, 0);
    for (uint32_t i = 0; i < at->count; i++)
        net_module_close(at->modules[i]);
}

#define STAGE_CASE(name) CASE_WITH(stage, at, stage_open(at), stage_close(at), name)

static bool is_in(const room* at, uint32_t seat) {
    const net_client* client = at->seats[seat].client;
    return net_client_get_phase(client) == NET_CLIENT_PLAYING &&
           net_client_tick_newest(client) + 60 >= net_match_tick(at->match) &&
           net_client_tick_newest(client) > 0 && net_client_player(client) != ECS_ENTITY_NONE;
}

static void await_seats(room* at) {
    for (uint32_t i = 0; i < 600 && !(is_in(at, 0) && is_in(at, 1)); i++)
        room_step(at);
    assert_true(is_in(at, 0) && is_in(at, 1));
}

// A match whose templates have `more` at their end.
static net_match* make_next(stage* at, const char* more) {
    char text[8192];
    assert_true(base_text_format(text, sizeof text, "%s%s", swarm_templates(), more));
    net_module** module = &at->modules[at->count++];
    assert_ok(net_module_wrap(swarm_module_get(), text, "room.blk", test_reporter(), module));
    net_match* match = NULL;
    assert_ok(net_match_create_from(at->room.match, *module, test_reporter(), &match));
    return match;
}

static void exchange(stage* at, const char* more) {
    net_match* match = make_next(at, more);
    assert_ok(net_server_exchange(at->room.server, match));
    net_match_destroy(at->room.match);
    at->room.match = match;
}

// What a program does with a client that ended EXCHANGED.
static void come_back(stage* at, uint32_t index, const net_module* module) {
    room_seat* seat = &at->room.seats[index];
    assert_int_equal(net_client_get_end(seat->client), NET_CLIENT_END_EXCHANGED);
    uint8_t secret[NET_RESUME_BYTES];
    assert_true(net_client_take_secret(seat->client, secret));
    const uint32_t watched = net_client_watched(seat->client);
    net_client_destroy(seat->client);
    net_match_destroy(seat->match);
    seat->match = match_made(module, (match_wanted){.is_mirror = true});
    const net_client_config client = {.match = seat->match,
                                      .transport = seat->transport,
                                      .address = "127.0.0.1:7777",
                                      .is_bot = true,
                                      .is_spectator = index > 0 && index == at->room.watcher,
                                      .watched = watched,
                                      .seed = index + 1,
                                      .secret = secret};
    assert_ok(net_client_create(&client, &seat->client));
}

static void all_come_back(stage* at, const net_module* module) {
    room_await_end(&at->room, 0, 30);
    for (uint32_t i = 0; i < 2; i++)
        come_back(at, i, module);
}

STAGE_CASE(clients_come_back_with_number_and_player) {
    room* house = &at->room;
    await_seats(house);
    const ecs_tick tick = net_match_tick(house->match);
    const ecs_entity player = net_match_player(house->match, 1);
    exchange(at, "lamp { \"glow:u32\"{ _replicate:b=yes; value:u32=3 } }\n");
    assert_true(net_match_tick(house->match) == tick);
    assert_int_equal(net_match_player(house->match, 1), player);
    all_come_back(at, at->modules[0]);
    await_seats(house);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t number = net_client_number(house->seats[i].client);
        assert_true(number == 1 || number == 2);
        assert_int_equal(net_client_player(house->seats[i].client),
                         net_match_player(house->match, number));
        assert_string_equal(net_client_player_name(house->seats[i].client, 1), "member");
    }
    assert_int_equal(net_server_get_counters(house->server)->joins, 2);
    assert_int_equal(net_server_get_counters(house->server)->drops, 0);
    // Their inputs arrive, and what they have is what the server has.
    room_run(house, 60);
    assert_true(server_report_of(house->server, 1)->end == NET_END_NONE);
    room_end_match(house);
    seats_agree(house->server, house->seats, 2);
}

STAGE_CASE(a_spectator_comes_back_and_watches_on) {
    room* house = &at->room;
    house->watcher = 2;
    room_sit(house, 2);
    await_seats(house);
    const net_client* watcher = house->seats[2].client;
    for (uint32_t i = 0; i < 60 && net_client_player(watcher) == ECS_ENTITY_NONE; i++)
        room_step(house);
    net_client_watch(house->seats[2].client, 2);
    room_run(house, 30);
    assert_int_equal(net_client_player(watcher), net_match_player(house->match, 2));
    exchange(at, "lamp { \"glow:u32\"{ _replicate:b=yes; value:u32=3 } }\n");
    all_come_back(at, at->modules[0]);
    come_back(at, 2, at->modules[0]);
    watcher = house->seats[2].client;
    await_seats(house);
    room_run(house, 60);
    assert_int_equal(net_client_number(watcher), NET_SPECTATOR_FIRST);
    assert_int_equal(net_client_watched(watcher), 2);
    assert_int_equal(net_client_player(watcher), net_match_player(house->match, 2));
    assert_int_equal(net_server_get_counters(house->server)->spectators, 1);
}

// It reads so when it is back, and comes a second time.
STAGE_CASE(a_client_that_was_away_starts_again_too) {
    room* house = &at->room;
    await_seats(house);
    assert_ok(net_socket_link_set(&(net_link_config){.loss_percent = 100}));
    room_run(house, 240); // it noticed the silence
    assert_int_equal(net_client_get_phase(house->seats[0].client), NET_CLIENT_RESUMING);
    exchange(at, "");
    assert_ok(net_socket_link_set(NULL));
    room_await_end(house, 0, 600);
    come_back(at, 0, at->modules[0]);
    room_await_end(house, 1, 600);
    come_back(at, 1, at->modules[0]);
    await_seats(house);
    assert_int_equal(net_server_get_counters(house->server)->joins, 2);
}

STAGE_CASE(a_client_whose_game_does_not_fit_reads_why) {
    room* house = &at->room;
    await_seats(house);
    exchange(at, "lamp { \"glow:u32\"{ _replicate:b=yes; value:u32=3 } }\n");
    all_come_back(at, house->module);
    room_run(house, 120);
    char text[256];
    assert_int_equal(net_client_get_end(house->seats[0].client), NET_CLIENT_END_REFUSED);
    assert_int_not_equal(net_client_refusal(house->seats[0].client, text, sizeof text), 0);
    assert_non_null(strstr(text, "the game files differ: \"component glow\" is missing"));
}

STAGE_CASE(without_memory_the_old_match_goes_on) {
    room* house = &at->room;
    await_seats(house);
    net_match* match = make_next(at, "");
    for (uint64_t n = 1;; n++) {
        at->memory.fail_at = at->memory.calls + n;
        const net_result result = net_server_exchange(house->server, match);
        at->memory.fail_at = 0;
        if (result == NET_OK) break;
        assert_int_equal(result, NET_ERR_MEMORY);
        assert_int_equal(net_client_get_phase(house->seats[0].client), NET_CLIENT_PLAYING);
    }
    net_match_destroy(house->match);
    house->match = match;
    all_come_back(at, at->modules[0]);
    await_seats(house);
}

STAGE_CASE(a_server_that_accounts_its_bits_keeps_its_match) {
    room* house = &at->room;
    net_server_destroy(house->server);
    const net_server_config server = {.match = house->match,
                                      .transport = house->transport,
                                      .clients_max = ROOM_SEATS,
                                      .tap = &net_account_tap};
    assert_ok(net_server_create(&server, &house->server));
    await_seats(house);
    net_match* match = make_next(at, "");
    assert_int_equal(net_server_exchange(house->server, match), NET_ERR_CLOSED);
    net_match_destroy(match);
    await_seats(house);
}

// ---- in another server ----

static void make_secret(void* context, uint32_t client, void* bytes, size_t size) {
    (void)context;
    memset(bytes, (int)(client & 0xff), size);
}

static net_server* make_server(stage* at, uint32_t clients_max) {
    net_server* server = NULL;
    const net_server_config config = {.allocator = &at->memory.allocator,
                                      .match = at->room.match,
                                      .transport = at->room.transport,
                                      .clients_max = clients_max,
                                      .secret = make_secret};
    assert_ok(net_server_create(&config, &server));
    return server;
}

// The process died; another one has the match, and the address.
static void take_over(stage* at, uint32_t clients_max) {
    room* house = &at->room;
    room_stop(house);
    const net_enet_config listen = {.listen = "127.0.0.1:7777", .peers_max = ROOM_SEATS + 8};
    assert_ok(net_transport_enet_create(&listen, &house->transport));
    house->server = make_server(at, clients_max);
}

static void stage_open_with_secrets(stage* at) {
    stage_open(at);
    net_server_destroy(at->room.server);
    at->room.server = make_server(at, ROOM_SEATS);
}

static void expect_players(room* house) {
    for (uint32_t i = 1; i <= 2; i++)
        assert_ok(net_server_expect(house->server, i, house->now_us));
}

#define MOVED_CASE(name) CASE_WITH(stage, at, stage_open_with_secrets(at), stage_close(at), name)

MOVED_CASE(players_come_back_to_another_server_of_the_match) {
    room* house = &at->room;
    await_seats(house);
    const ecs_entity player = net_match_player(house->match, 1);
    const ecs_tick tick = net_match_tick(house->match);
    // The first one had taken its place from an earlier session: only its client knows that now.
    house->seats[0].client->resume[NET_RESUME_BYTES - 1]++;
    take_over(at, ROOM_SEATS);
    expect_players(house);
    assert_int_equal(net_server_get_counters(house->server)->clients, 2);
    // The first one notices the silence and goes on; the second one starts again, as clients of
    // earlier releases do.
    uint8_t secret[NET_RESUME_BYTES];
    assert_true(net_client_take_secret(house->seats[1].client, secret));
    come_back(at, 1, house->module);
    room_run(house, 240);
    await_seats(house);
    assert_true(house->seats[0].client->is_rebased);
    assert_false(house->seats[1].client->is_rebased);
    assert_true(net_match_tick(house->match) > tick);
    assert_int_equal(net_match_player(house->match, 1), player);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t number = net_client_number(house->seats[i].client);
        assert_int_equal(net_client_player(house->seats[i].client),
                         net_match_player(house->match, number));
    }
    room_run(house, 70); // a roster that was withheld
    assert_string_equal(net_client_player_name(house->seats[0].client, 2), "member (2)");
    // That they are bots only they say.
    const net_roster* roster = &house->seats[0].client->roster;
    assert_int_equal(roster->count, 2);
    assert_true(roster->players[0].is_bot && roster->players[1].is_bot);
    const net_server_counters* counters = net_server_get_counters(house->server);
    assert_true(counters->joins == 0 && counters->drops == 0 && counters->clients == 2);
    // A third player is the next number, with a name of its own.
    room_sit(house, 2);
    room_run(house, 120);
    assert_int_equal(net_client_number(house->seats[2].client), 3);
    assert_string_equal(net_client_player_name(house->seats[0].client, 3), "member (3)");
    room_end_match(house);
    seats_agree(house->server, house->seats, 3);
}

// A client that does not come leaves by a leave of the match.
MOVED_CASE(who_does_not_come_leaves_after_the_usual_time) {
    room* house = &at->room;
    await_seats(house);
    take_over(at, 2);
    expect_players(house);
    assert_int_equal(net_server_expect(house->server, 1, house->now_us), NET_ERR_FULL);
    const uint32_t ticks = (uint32_t)(NET_SILENCE_MS_MAX * 1000u / ROOM_TICK_US);
    assert_ok(net_socket_link_set(&(net_link_config){.loss_percent = 100}));
    room_run(house, ticks - 2);
    assert_int_equal(net_match_players(house->match, NULL, 0), 2);
    room_run(house, 5);
    assert_int_equal(net_match_players(house->match, NULL, 0), 0);
    assert_int_equal(net_server_get_counters(house->server)->clients, 0);
    assert_ok(net_socket_link_set(NULL));
}

MOVED_CASE(without_memory_no_player_is_expected) {
    room* house = &at->room;
    await_seats(house);
    for (uint64_t n = 1;; n++) {
        take_over(at, ROOM_SEATS);
        at->memory.fail_at = at->memory.calls + n;
        const net_result result = net_server_expect(house->server, 1, house->now_us);
        at->memory.fail_at = 0;
        if (result == NET_OK) break;
        assert_int_equal(result, NET_ERR_MEMORY);
        assert_true(n < 50);
    }
}

// ---- what the operator does

static net_result control(stage* at, const char* verb, const char* text) {
    return net_server_control(at->room.server, verb, &(net_match_argument){text, strlen(text)}, 1,
                              NULL);
}

STAGE_CASE(clients_come_back_for_new_settings) {
    room* house = &at->room;
    char text[64];
    const char* key = at->game.settings[0].key;
    await_seats(house);
    (void)snprintf(text, sizeof text, "%s=1e8", key);
    assert_int_equal(control(at, "set", "nothing=1"), NET_ERR_MALFORMED);
    assert_int_equal(control(at, "kill", ""), NET_ERR_UNKNOWN);
    assert_true(is_in(house, 0)); // no client is disturbed
    assert_ok(control(at, "set", text));
    all_come_back(at, house->module);
    await_seats(house);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(net_match_get_config(house->seats[i].match)->settings[0] == 1e8);
        assert_int_equal(net_client_player(house->seats[i].client),
                         net_match_player(house->match, net_client_number(house->seats[i].client)));
    }
    assert_int_equal(net_server_get_counters(house->server)->joins, 2);
    assert_int_equal(net_server_get_counters(house->server)->drops, 0);
    room_end_match(house);
    assert_int_equal(control(at, "set", text), NET_ERR_CLOSED);
    seats_agree(house->server, house->seats, 2);
}

STAGE_CASE(a_paused_match_stands_still_and_its_clients_stay) {
    room* house = &at->room;
    await_seats(house);
    const ecs_tick tick = net_match_tick(house->match);
    net_server_pause_after(house->server, 0);
    assert_true(net_server_is_paused(house->server));
    room_run(house, 45 * 60); // longer than a silent client is kept
    assert_true(net_match_tick(house->match) == tick);
    assert_int_equal(net_server_get_phase(house->server), NET_SERVER_RUNNING);
    assert_int_equal(net_server_get_counters(house->server)->clients, 2);
    net_server_pause_after(house->server, 3);
    assert_false(net_server_is_paused(house->server));
    room_run(house, 10);
    assert_true(net_match_tick(house->match) == tick + 3 && net_server_is_paused(house->server));
    net_server_pause_after(house->server, UINT64_MAX);
    room_run(house, 60);
    assert_true(net_match_tick(house->match) == tick + 63);
    await_seats(house);
    assert_int_equal(net_server_get_counters(house->server)->drops, 0);
}

STAGE_CASE(a_kicked_client_reads_why) {
    room* house = &at->room;
    await_seats(house);
    const uint32_t client = net_client_number(house->seats[1].client);
    assert_false(net_server_kick(house->server, 0, "x"));
    assert_false(net_server_kick(house->server, 77, "x"));
    assert_true(net_server_kick(house->server, client, "for a walk"));
    assert_false(net_server_kick(house->server, client, "again"));
    const net_client* kicked = house->seats[1].client;
    room_await_end(house, 1, 600);
    assert_int_equal(net_client_get_phase(kicked), NET_CLIENT_ENDED);
    assert_int_equal(server_report_of(house->server, client)->end, NET_END_GAME);
    assert_int_equal(net_match_player(house->match, client), ECS_ENTITY_NONE);
    assert_true(is_in(house, 0));
}
