// SPDX-License-Identifier: MIT
// Variable-size values of arena: names, the chat, the past rounds, and the pack of a player.

#include "arena.pb-c.h"
#include "arena_table.h"

static const char* const empty_map[] = {"agents=0", "pickups=0", "tanks=0", "round_s=5", NULL};

static void open_pair(table* t) {
    table_open(t, empty_map, 5, NET_ROLE_SERVER, false);
    table_join(t, 1, "Ann");
    table_join(t, 2, "Bob");
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

static const char* type_line(table* t, uint32_t client, const char* text) {
    arena_chat chat = {0};
    (void)base_text_copy(chat.text, sizeof chat.text, text);
    send_event(t, client, "chat", &chat);
    table_steps(t, 1);
    const ecs_list* lines = of_match(t, table_game(t)->chat);
    const uint32_t count = ecs_list_count(lines);
    return count ? ecs_string_text(ecs_list_get(lines, count - 1)) : "";
}

PAIR_CASE(what_a_player_types_comes_into_the_chat_without_control_characters) {
    // Neither takes the second of the line that follows.
    assert_string_equal(type_line(at, 2, ""), "");
    assert_string_equal(type_line(at, 2, " \x01\n "), "");
    const char* last = "Bob: gr\xc3\xbc\xc3\x9f \xe2\x82\xac!";
    assert_string_equal(
        type_line(at, 2,
                  "\x1b\x7f"
                  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac!\xc2\x85\xe2\x80\xae\xe2\x81\xa6"),
        last);
    assert_string_equal(type_line(at, 2, "too soon"), last);
    assert_string_equal(type_line(at, 1, "I may"), "Ann: I may");
    table_steps(at, 40);
    char longest[ARENA_CHAT_BYTES];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(strlen(type_line(at, 2, longest)), strlen("Bob: ") + ARENA_CHAT_BYTES - 1);
}

// Its server would drop the player, its clients lose the message: net_match_pack refuses it.
PAIR_CASE(half_a_character_is_not_packed) {
    uint8_t packed[NET_EVENT_PAYLOAD_BYTES_MAX];
    arena_chat chat = {.text = "gr\xc3"};
    size_t size = 1;
    assert_int_equal(
        net_match_pack(at->match, ARENA_MESSAGE_CHAT + 1, &chat, packed, sizeof packed, &size),
        NET_ERR_MALFORMED);
    assert_int_equal(size, 0);
    assert_string_equal(net_match_refusal(at->match),
                        "Chat: text is not valid UTF-8, it may be cut inside a character");
    chat.text[2] = '\0';
    assert_ok(
        net_match_pack(at->match, ARENA_MESSAGE_CHAT + 1, &chat, packed, sizeof packed, &size));
}

CASE(a_typed_line_fits_its_message_or_is_refused) {
    const net_message* message = &arena_module()->messages[ARENA_MESSAGE_CHAT];
    char text[ARENA_CHAT_BYTES + 1];
    for (uint32_t size = ARENA_CHAT_BYTES - 2; size <= ARENA_CHAT_BYTES; size++) {
        Arena__Chat wire = ARENA__CHAT__INIT;
        arena_chat got = {0};
        memset(text, 'x', size);
        text[size] = '\0';
        wire.text = text;
        const bool fits = size < ARENA_CHAT_BYTES;
        assert_int_equal(message->from_wire(&wire.base, &got), fits);
        assert_string_equal(got.text, fits ? text : "");
        if (!fits)
            assert_string_equal(message->refusal(&wire.base),
                                "text is longer than ARENA_CHAT_BYTES allows");
    }
    // One whose zero the game overwrote is not read past its end.
    Arena__Chat wire = ARENA__CHAT__INIT;
    arena_chat chat;
    memset(&chat, 'x', sizeof chat);
    message->to_wire(&chat, &wire.base);
    assert_string_equal(wire.text, "");
    (void)base_text_copy(chat.text, sizeof chat.text, "hello");
    message->to_wire(&chat, &wire.base);
    assert_string_equal(wire.text, "hello");
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
