// SPDX-License-Identifier: MIT
// What a module decides: a player is refused, another one dropped, the match ends; what it says to
// a host, and what it gets of one. The log of it runs again, where no server takes the decisions
// and no host answers.
#include "session_table.h"

static const net_game_services* services; // of the server's match, or of the replay's
static uint32_t drop_calls;

static void start(ecs_world* world, void* context, const net_game_start* with) {
    services = with->services;
    assert_true(services->size_bytes >= sizeof *services);
    swarm_module_get()->start(world, context, with);
}

static ecs_entity join(ecs_world* world, void* context, const net_game_player* player) {
    if (player->client != 2) return swarm_module_get()->player_join(world, context, player);
    services->drop_player(services->context, player->client, "two is a crowd");
    services->drop_player(services->context, player->client, "said too late");
    return ECS_ENTITY_NONE;
}

static void leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity) {
    if (client != 2) swarm_module_get()->player_leave(world, context, client, entity);
}

static void decide(const ecs_stage* stage, const ecs_rows* rows) {
    if (stage->tick == 60) { // in the replay, too
        assert_string_equal(services->player_name(services->context, 1), "member");
        assert_null(services->player_name(services->context, 77));
        services->drop_player(services->context, 3, "a name that \x1b[31mglows");
        services->drop_player(services->context, 77, "unknown");
        drop_calls++;
    }
    if (stage->tick == 120) services->end_match(services->context, "red wins");
    if (stage->tick == 120) services->end_match(services->context, "blue wins");
}

static const net_game_module* deciding(void) {
    static net_game_module game;
    game = *swarm_module_get();
    game.player_join = join;
    game.player_leave = leave;
    return &game;
}

TABLE_CASE(a_game_refuses_drops_and_ends_with_reasons, .seed = 1, .quiet = 1e9, .game = deciding(),
           .act = decide, .start = start, .has_log = true) {
    for (uint32_t i = 0; i < 3; i++) {
        (void)table_sit_for(at, 10);
    }
    table_run_out(at, 3000);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_ENDED);
    assert_int_equal(net_match_tick(at->match), 120);
    // The first sees the end, with its reason.
    net_client_report first = net_client_get_report(at->seats[0].client);
    assert_int_equal(first.end, NET_CLIENT_END_GOODBYE);
    assert_int_equal(first.tick, 120);
    assert_true(table_report(at, 1)->scope.hash == first.scope.hash);
    assert_int_equal(table_report(at, 1)->end, NET_END_GOODBYE);
    // The second was refused, the third dropped.
    seat_refused(&at->seats[1], NET_REFUSAL_BY_GAME, "two is a crowd");
    assert_int_equal(table_report(at, 2)->end, NET_END_REFUSED);
    assert_int_equal(net_client_get_end(at->seats[2].client), NET_CLIENT_END_LOST);
    assert_int_equal(table_report(at, 3)->end, NET_END_GAME);
    static const char* const lines[] = {
        "client 2 \"member (2)\" dropped: the game refused it: two is a crowd\n",
        "client 3 \"member (2)\" dropped: the game dropped it: a name that [31mglows\n",
        "note: the game ended the match: red wins\n",
    };
    for (uint32_t i = 0; i < BASE_COUNT(lines); i++)
        if (heard_count(&at->said, lines[i]) == 0)
            fail_msg("not said: %s in:\n%s", lines[i], at->said.text);
    assert_true(heard_count(&at->seats_said,
                            "connection lost: the server ended the session: the game "
                            "dropped it: a name that [31mglows\n") > 0);
    static const char* const never[] = {"blue wins", "said too late", "unknown"};
    for (uint32_t i = 0; i < BASE_COUNT(never); i++)
        assert_int_equal(heard_count(&at->said, never[i]) + heard_count(&at->seats_said, never[i]),
                         0);
    drop_calls = 0;
    assert_int_equal(table_verify(at).ticks, 120);
    assert_true(drop_calls >= 1); // matches that are restored decide it, too
}

TABLE_CASE(a_reason_may_be_missing_or_too_long, .seed = 1, .quiet = 1e9, .start = start, .seats = 1,
           .steps = 30) {
    assert_null(net_match_end_reason(at->match));
    net_match_dropped dropped;
    assert_false(net_match_take_dropped(at->match, &dropped));
    char longest[NET_END_TEXT_BYTES + 2];
    memset(longest, 'a', sizeof longest);
    longest[NET_END_TEXT_BYTES + 1] = 0;
    services->drop_player(services->context, 1, longest);
    assert_true(net_match_take_dropped(at->match, &dropped));
    assert_int_equal(dropped.client, 1);
    assert_false(dropped.is_refused);
    assert_int_equal(strlen(dropped.reason), NET_END_TEXT_BYTES - 1);
    assert_false(net_match_take_dropped(at->match, &dropped));
    services->end_match(services->context, NULL);
    assert_string_equal(net_match_end_reason(at->match), "");
    table_run_out(at, 2000);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_ENDED);
    assert_int_equal(net_client_get_end(at->seats[0].client), NET_CLIENT_END_GOODBYE);
}

// ---- a match that stands still

TABLE_CASE(a_match_that_stands_still_keeps_its_players_who_read_why, .seed = 1, .seats = 1,
           .steps = 60) {
    table_seat* seat = at->seats;
    assert_null(net_client_still(seat->client));
    net_server_stand_still(at->server, "the disk \x1b[31mis full");
    const ecs_tick tick = net_match_tick(at->match);
    // Longer than a client without an acknowledgement, or without a packet, stays otherwise.
    table_run(at, 3 * NET_SILENCE_MS_MAX / 1000 * TICKS_PER_SECOND);
    assert_int_equal(net_match_tick(at->match), tick);
    assert_int_equal(net_client_get_phase(seat->client), NET_CLIENT_PLAYING);
    assert_string_equal(net_client_still(seat->client), "the disk [31mis full");
    assert_int_equal(net_client_get_report(seat->client).dropped[NET_DROP_MALFORMED], 0);
    table_seat* late = table_sit(at, NULL); // it comes in, and plays when the match goes on
    table_run(at, 60);
    assert_int_equal(net_client_tick_newest(late->client), 0);
    net_server_stand_still(at->server, NULL);
    table_run(at, NET_SILENCE_MS_MAX / 1000 * TICKS_PER_SECOND);
    assert_null(net_client_still(seat->client));
    assert_int_equal(net_client_get_phase(seat->client), NET_CLIENT_PLAYING);
    assert_true(net_client_tick_newest(seat->client) > tick);
    assert_true(net_client_tick_newest(late->client) > tick);
}

TABLE_CASE(a_match_that_stands_still_can_be_ended, .seed = 1, .seats = 1, .steps = 60) {
    table_seat* seat = at->seats;
    net_server_stand_still(at->server, "why");
    table_run(at, 60);
    net_server_stop(at->server, at->now_us);
    table_runs_to(at, 60, NET_SERVER_ENDED);
    assert_int_equal(net_client_get_end(seat->client), NET_CLIENT_END_GOODBYE);
}

// ---- a match with a host

static struct {
    uint64_t ready_us; // the answer is there
    uint32_t asked;
    uint8_t record[NET_RECORD_BYTES_MAX], transfer[NET_TRANSFER_BYTES_MAX];
} store;

static bool admit_as(net_game_player* player) {
    player->has_record = true;
    player->record_version = 5;
    player->record = store.record;
    player->record_bytes = sizeof store.record;
    player->transfer = store.transfer;
    player->transfer_bytes = sizeof store.transfer;
    return true;
}

static bool admit(void* context, uint64_t now_us, net_game_player* player) {
    assert_true(player->player_id == 77 && player->client > 0);
    store.asked++;
    return now_us >= store.ready_us && admit_as(player);
}

static uint32_t said_to_host; // calls that returned true

// The world depends on the record, and the record's first byte on nothing else.
static ecs_entity join_with_record(ecs_world* world, void* context, const net_game_player* player) {
    assert_true(player->size_bytes >= sizeof *player);
    for (uint32_t i = 0; player->has_record && i < 3; i++)
        (void)ecs_command_create(world, ecs_template_find(world, "mote"), NULL, 0);
    if (player->player_id == 0) return swarm_module_get()->player_join(world, context, player);
    assert_true(player->has_record && player->record_version == 5);
    assert_int_equal(player->record_bytes, sizeof store.record);
    assert_int_equal(player->transfer_bytes, sizeof store.transfer);
    assert_memory_equal(player->record, store.record, sizeof store.record);
    assert_memory_equal(player->transfer, store.transfer, sizeof store.transfer);
    said_to_host += services->keep_record(services->context, player->client, "joined", 6);
    return swarm_module_get()->player_join(world, context, player);
}

static void leave_with_record(ecs_world* world, void* context, uint32_t client, ecs_entity entity) {
    said_to_host += services->keep_record(services->context, client, "left", 4);
    swarm_module_get()->player_leave(world, context, client, entity);
}

static void say_to_host(const ecs_stage* stage, const ecs_rows* rows) {
    if (stage->tick == 30) {
        said_to_host += services->publish(services->context, "map", "ice");
        said_to_host += services->result(services->context, "won", 3);
        services->open(services->context, false);
    }
    if (stage->tick == 60)
        said_to_host += services->transfer(services->context, 2, "pong", "go", 2);
}

static const net_game_module* hosted(void) {
    static net_game_module game;
    game = *swarm_module_get();
    game.player_join = join_with_record;
    game.player_leave = leave_with_record;
    said_to_host = 0;
    memset(&store, 0, sizeof store);
    for (uint32_t i = 0; i < sizeof store.record; i++)
        store.record[i] = (uint8_t)(i * 7), store.transfer[i % sizeof store.transfer] = (uint8_t)i;
    store.ready_us = UINT64_MAX;
    return &game;
}

static raw_client* known_guest(table* at, uint64_t player) {
    raw_client* raw = table_raw_client(at);
    net_sim_identity_set(raw->transport, &(net_peer_identity){.player = player, .key = 1});
    assert_true(table_connect(at, raw));
    table_hello(at, raw, "guest");
    return raw;
}

#define HOSTED .seed = 1, .quiet = 1e9, .game = hosted(), .act = say_to_host, .start = start

static void said_for_2(const net_match_effect* effect, const char* to, const char* bytes) {
    assert_true(effect->player_id == 77 && effect->client == 2 && effect->record_version == 5);
    assert_true(effect->is_transfer == (to[0] != '\0'));
    assert_string_equal(effect->to, to);
    assert_int_equal(effect->size, strlen(bytes));
    assert_memory_equal(effect->bytes, bytes, effect->size);
}

TABLE_CASE(a_join_waits_for_its_record_and_the_log_has_it, HOSTED, .is_hosted = true,
           .server.admit = admit, .has_log = true) {
    (void)table_guest(at); // without an identity: it waits for nothing
    raw_client* raw = known_guest(at, 77);
    table_run(at, 20);
    assert_true(raw->is_welcome && store.asked > 10);
    assert_int_equal(table_counters(at)->joins, 1);
    store.ready_us = at->now_us;
    table_run(at, 2);
    assert_int_equal(table_counters(at)->joins, 2);
    table_run(at, 60);
    const net_match_told* told = net_match_get_told(at->match);
    assert_int_equal(told->effect_count, 2);
    said_for_2(&told->effects[0], "", "joined");
    said_for_2(&told->effects[1], "pong", "go");
    raw_client_goodbye(raw);
    table_run(at, 5);
    assert_int_equal(told->effect_count, 1); // the transfer is over
    said_for_2(&told->effects[0], "", "left");
    assert_true(told->is_closed && told->value_count == 1 && told->result_tick == 30);
    assert_string_equal(told->values[0].value, "ice");
    assert_memory_equal(told->result, "won", told->result_bytes);
    assert_int_equal(said_to_host, 5);
    said_to_host = 0;
    (void)table_verify(at); // without a host
    assert_true(said_to_host >= 5);
}

TABLE_CASE(the_first_tick_of_a_full_match_waits_for_all_records, HOSTED, .is_hosted = true,
           .server.admit = admit, .clients_min = 1) {
    (void)known_guest(at, 77);
    table_run(at, 20);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_HOLDING);
    store.ready_us = 0;
    table_run(at, 1);
    assert_int_equal(table_counters(at)->joins, 1);
    assert_int_equal(net_match_tick(at->match), 1);
}

TABLE_CASE(a_player_who_gives_up_while_it_waits_never_joins, HOSTED, .is_hosted = true,
           .server.admit = admit) {
    raw_client* raw = known_guest(at, 77);
    table_run(at, 20);
    raw_client_goodbye(raw);
    store.ready_us = 0;
    table_run(at, 60);
    assert_int_equal(table_counters(at)->joins, 0);
}

TABLE_CASE(without_a_host_nothing_is_said, HOSTED, .has_log = true) {
    (void)table_guest(at);
    table_run(at, 80);
    assert_null(net_match_get_told(at->match));
    assert_int_equal(said_to_host, 0);
    (void)table_verify(at);
    assert_int_equal(said_to_host, 0);
}

TABLE_CASE(a_match_that_began_without_a_host_asks_none, .seed = 1, .server.admit = admit) {
    store.asked = 0;
    (void)known_guest(at, 77);
    table_run(at, 20);
    assert_int_equal(table_counters(at)->joins, 1);
    assert_int_equal(store.asked, 0);
}

static void game_joins_as(table* at, uint32_t client, uint64_t player) {
    store.ready_us = 0;
    net_game_player joins = {.client = client, .name = "one", .player_id = player};
    assert_true(admit_as(&joins));
    net_match_join(at->match, &joins);
}

TABLE_CASE(what_is_said_has_limits, HOSTED, .is_hosted = true) {
    static uint8_t bytes[NET_RECORD_BYTES_MAX + 1];
    char text[NET_TRANSFER_TO_BYTES + 1];
    void* to = services->context;
    const net_match_told* told = net_match_get_told(at->match);
    net_match_join(at->match, &(net_game_player){.client = 1, .name = "one", .player_id = 0});
    game_joins_as(at, 2, 9);
    for (uint32_t extra = 0; extra < 3; extra++) { // one less than the limit, the limit, one more
        const bool fits = extra < 2;
#define TEXT(max) (memset(text, 'a', sizeof text), text[(max)-2 + extra] = 0, text)
        assert_int_equal(services->publish(to, TEXT(NET_VALUE_KEY_BYTES), "v"), fits);
        assert_int_equal(services->publish(to, "key", TEXT(NET_VALUE_BYTES)), fits);
        assert_int_equal(services->transfer(to, 2, TEXT(NET_TRANSFER_TO_BYTES), NULL, 0), fits);
        assert_int_equal(
            services->transfer(to, 2, "pong", bytes, NET_TRANSFER_BYTES_MAX - 1 + extra), fits);
        assert_int_equal(services->keep_record(to, 2, bytes, NET_RECORD_BYTES_MAX - 1 + extra),
                         fits);
    }
    assert_false(services->result(to, bytes, NET_RESULT_BYTES_MAX + 1));
    assert_true(services->result(to, bytes, NET_RESULT_BYTES_MAX));
    assert_false(services->result(to, "late", 4));
    assert_int_equal(told->result_bytes, NET_RESULT_BYTES_MAX);
    static const uint32_t others[] = {0, 1, 3}; // 1 has no identity
    for (uint32_t i = 0; i < BASE_COUNT(others); i++) {
        assert_false(services->transfer(to, others[i], "pong", NULL, 0));
        assert_false(services->keep_record(to, others[i], NULL, 0));
    }
    assert_false(services->publish(to, "", "v") || services->publish(to, NULL, "v") ||
                 services->publish(to, "bad", "\xff") || services->transfer(to, 2, "", NULL, 0));
    while (told->value_count < NET_VALUES_MAX) {
        (void)snprintf(text, sizeof text, "k%u", told->value_count);
        assert_true(services->publish(to, text, "v"));
    }
    assert_false(services->publish(to, "further", "v"));
    assert_true(services->publish(to, "further", "")); // it is not there
    assert_true(services->publish(to, "k5", "other"));
    assert_true(services->publish(to, "k5", NULL));
    assert_true(services->publish(to, "further", "v"));
    assert_int_equal(told->value_count, NET_VALUES_MAX);
}

// More of one address than may join in a tick, and one of another address behind them.
TABLE_CASE(clients_join_in_the_order_of_their_numbers, .seed = 1, .quiet = 1e9, .raws = 6,
           .clients_max = 8, .server.clients_per_address_max = 8, .has_log = true) {
    for (uint32_t i = 0; i < 6; i++) {
        const uint8_t host[4] = {198, 18, 7, (uint8_t)(i / 5)};
        uint32_t network;
        memcpy(&network, host, sizeof network);
        net_sim_identity_set(at->raw_clients[i].transport,
                             &(net_peer_identity){.address = net_address_ipv4(network, 40000)});
    }
    for (uint32_t i = 0; i < 6; i++)
        assert_true(table_connect(at, &at->raw_clients[i]));
    for (uint32_t i = 0; i < 6; i++)
        table_hello(at, &at->raw_clients[i], "one");
    table_run(at, 4);
    assert_int_equal(table_counters(at)->joins, 6);
    (void)table_verify(at);
}

TABLE_CASE(a_match_knows_so_many_records_and_no_more, HOSTED, .is_hosted = true) {
    const net_match_told* told = net_match_get_told(at->match);
    for (uint32_t i = 1; i <= NET_EFFECTS_MAX + 1; i++) {
        game_joins_as(at, i, 100 + i); // it keeps a record
        net_match_leave(at->match, i);
        if (i >= NET_EFFECTS_MAX - 1)
            assert_int_equal(told->effect_count, i <= NET_EFFECTS_MAX ? i : NET_EFFECTS_MAX);
    }
    assert_int_equal(said_to_host, 2 * NET_EFFECTS_MAX); // and another one when it leaves
    base_bytes save;
    base_bytes_init(&save, NULL);
    assert_ok(net_match_save(at->match, &save));
    assert_ok(net_match_restore(at->match, save.data, save.size));
    base_bytes_deinit(&save);
}

// A record is remembered for its time, a transfer for its tick; both are in saves.
TABLE_CASE(what_is_said_is_in_saves, HOSTED, .is_hosted = true) {
    void* to = services->context;
    const net_match_told* told = net_match_get_told(at->match);
    game_joins_as(at, 1, 9);
    game_joins_as(at, 2, 10);
    assert_true(services->transfer(to, 1, "pong", "go", 2));
    assert_true(services->keep_record(to, 1, "gold", 4));
    assert_true(services->publish(to, "map", "ice"));
    base_bytes save, again;
    base_bytes_init(&save, NULL);
    base_bytes_init(&again, NULL);
    assert_ok(net_match_save(at->match, &save));
    for (uint32_t i = 0; i < NET_KEPT_S * 60; i++)
        net_match_step(at->match);
    assert_true(services->keep_record(to, 2, "silver", 6));
    assert_int_equal(told->effect_count, 2); // the transfers are over
    net_match_step(at->match);
    net_match_step(at->match);
    assert_true(services->keep_record(to, 2, "more", 4));
    assert_int_equal(told->effect_count, 1); // the first record, too
    assert_true(services->publish(to, "map", NULL));
    assert_ok(net_match_restore(at->match, save.data, save.size));
    assert_int_equal(told->effect_count, 3);
    assert_string_equal(told->values[0].value, "ice");
    assert_true(services->transfer(to, 2, "pong", NULL, 0)); // who is known is in the save, too
    assert_true(told->effects[3].player_id == 10);
    assert_ok(net_match_restore(at->match, save.data, save.size));
    assert_ok(net_match_save(at->match, &again));
    assert_int_equal(again.size, save.size);
    assert_memory_equal(again.data, save.data, save.size);
    net_match* next; // after a reload
    assert_ok(net_match_create_from(at->match, at->module, test_reporter(), &next));
    assert_int_equal(net_match_get_told(next)->effect_count, 3);
    assert_string_equal(net_match_get_told(next)->values[0].value, "ice");
    net_match_destroy(next);
    for (size_t cut = 0; cut < 700; cut++) // within values, result, effects
        assert_int_equal(net_match_restore(at->match, save.data, cut), NET_ERR_MALFORMED);
    base_bytes_deinit(&save);
    base_bytes_deinit(&again);
    assert_ok(net_match_save(at->match, &save));
    base_bytes_deinit(&save);
}
