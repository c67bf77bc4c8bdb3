// SPDX-License-Identifier: MIT
// Variable-size values of arena: names, the chat, the past rounds, and the pack of a player.

#include "arena_table.h"

static const char* const empty_map[] = {"agents=0", "pickups=0", "tanks=0", "round_s=5", NULL};

static void open_pair(table* t) {
    table_open(t, empty_map, 5, NET_ROLE_SERVER, false);
    net_match_join(t->match, &(net_game_player){.client = 1, .name = "Ann"});
    net_match_join(t->match, &(net_game_player){.client = 2, .name = "Bob"});
}

#define PAIR_CASE(name) CASE_WITH(table, at, open_pair(at), table_close(at), name)

static const void* of_match(table* t, ecs_component_id component) {
    ecs_world* world = table_world(t);
    return ecs_get(world, ecs_query_first(world, table_game(t)->matches), component);
}

static void send_event(table* t, uint32_t client, const char* name, const void* payload) {
    ecs_world* world = table_world(t);
    ecs_event_type type = ecs_event_find(world, name);
    assert_true(ecs_event_send(world, net_match_player(t->match, client), type, payload));
}

static const ecs_object* pack_of(table* t, uint32_t client) {
    return table_of(t, client, table_game(t)->pack);
}

PAIR_CASE(a_row_of_the_board_has_the_players_name) {
    arena_game* game = table_game(at);
    const arena_seat* seat = table_of(at, 2, game->seat);
    assert_string_equal(ecs_string_text(ecs_get(table_world(at), seat->entry, game->name)), "Bob");
}

PAIR_CASE(the_last_lines_of_the_chat_stay) {
    const ecs_list* chat = of_match(at, table_game(at)->chat);
    assert_int_equal(ecs_list_count(chat), 0);
    for (uint32_t i = 0; i < 8; i++) {
        const arena_say say = {i % ARENA_PHRASES};
        send_event(at, 1, "say", &say);
        send_event(at, 1, "say", &say); // within a second: the match ignores it
        table_steps(at, 40);
        chat = of_match(at, table_game(at)->chat);
        assert_int_equal(ecs_list_count(chat), i < 6 ? i + 1 : 6);
        assert_int_equal(at->events[ARENA_MESSAGE_SAID], i + 1);
    }
    const ecs_string* last = ecs_list_get(chat, 5);
    assert_string_equal(ecs_string_text(last), "Ann: to the flag!");
}

PAIR_CASE(a_round_that_ended_is_kept_as_an_object) {
    arena_game* game = table_game(at);
    arena_find_entry(table_world(at), game, net_match_player(at->match, 2))->kills = 3;
    arena_find_score(table_world(at), game, 2)->kills = 3;
    table_steps(at, 5 * 30 + 4);
    const ecs_array* rounds = of_match(at, game->rounds);
    assert_int_equal(ecs_array_count(rounds), 1);
    const ecs_object* round = ecs_array_find(rounds, 0, ECS_ELEMENT_OBJECT);
    assert_int_equal(*(const int32_t*)ecs_object_find(round, "round", ECS_ELEMENT_I), 1);
    assert_int_equal(*(const int32_t*)ecs_object_find(round, "winner", ECS_ELEMENT_I), 2);
    assert_int_equal(*(const int32_t*)ecs_object_find(round, "points", ECS_ELEMENT_I), 3);
    assert_string_equal(ecs_string_text(ecs_object_find(round, "best", ECS_ELEMENT_T)), "Bob");
    table_steps(at, 6 * 5 * 30);
    rounds = of_match(at, game->rounds);
    assert_int_equal(ecs_array_count(rounds), 5); // the oldest round was removed
    round = ecs_array_find(rounds, 0, ECS_ELEMENT_OBJECT);
    assert_true(*(const int32_t*)ecs_object_find(round, "round", ECS_ELEMENT_I) > 1);
}

PAIR_CASE(pickups_go_in_and_uses_come_out) {
    arena_game* game = table_game(at);
    ecs_world* world = table_world(at);
    ecs_entity player = net_match_player(at->match, 1);
    assert_int_equal(ecs_object_count(pack_of(at, 1)), 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(arena_pack_add(world, game, player, ARENA_HEALTH_KIT));
    assert_false(arena_pack_add(world, game, player, ARENA_HEALTH_KIT)); // the pack is full
    assert_true(arena_pack_add(world, game, player, ARENA_POWER));
    assert_int_equal(arena_pack_count(pack_of(at, 1), ARENA_HEALTH_KIT), 3);
    assert_int_equal(arena_pack_count(pack_of(at, 1), ARENA_AMMO_BOX), 0);
    assert_int_equal(ecs_object_count(pack_of(at, 1)), 2);
    const arena_use kit = {ARENA_HEALTH_KIT}, box = {ARENA_AMMO_BOX}, power = {ARENA_POWER};
    // Use a kit without need, and use a kit that is not in the pack.
    send_event(at, 1, "use", &kit);
    send_event(at, 1, "use", &box);
    table_step(at);
    assert_int_equal(arena_pack_count(pack_of(at, 1), ARENA_HEALTH_KIT), 3);
    *(uint8_t*)table_of(at, 1, game->health) = 20;
    send_event(at, 1, "use", &kit);
    table_step(at);
    assert_int_equal(*(const uint8_t*)table_of(at, 1, game->health), 65);
    assert_int_equal(arena_pack_count(pack_of(at, 1), ARENA_HEALTH_KIT), 2);
    // The pack stays when the template changes. The player uses its last power.
    send_event(at, 1, "use", &power);
    table_steps(at, 2);
    assert_string_equal(ecs_entity_template_name(world, player), "arena_player+boost");
    assert_int_equal(ecs_object_count(pack_of(at, 1)), 1);
    // A killed player loses the pack.
    *(uint8_t*)table_of(at, 1, game->health) = 0;
    table_steps(at, 2);
    assert_string_equal(ecs_entity_template_name(world, player), "arena_ghost");
    assert_null(pack_of(at, 1));
    table_steps(at, 90);
    assert_int_equal(ecs_object_count(pack_of(at, 1)), 0);
}
