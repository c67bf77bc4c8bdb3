// SPDX-License-Identifier: MIT
// What a module decides: a player is refused, another one dropped, the match ends. The log of it
// runs again, where no server takes the decisions.
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
