// SPDX-License-Identifier: MIT
// Seats and matches of a host, in virtual time and with chance from a seed; and a naive twin that
// keeps one row for each player.
#include "rooms/conf.h"
#include "rooms/host.h"
#include "rooms/rooms.h"

#include "heard.h"
#include "test.h"

#include <jansson.h>

#define S UINT64_C(1000000)
#define HELD_US (SERVER_ROOM_SEAT_S * S)

typedef struct house {
    base_rng rng;
    net_entropy entropy;
    server_rooms* rooms;
    uint64_t now_us;
    server_room* room; // of the newest join, as its seat
    server_seat* seat;
} house;

static void fill(void* context, void* bytes, size_t size) {
    house* self = context;
    for (size_t i = 0; i < size; i++)
        ((uint8_t*)bytes)[i] = (uint8_t)base_rng_u32(&self->rng);
}

static void house_open(house* self, uint32_t seats, uint32_t spare, uint32_t most) {
    const server_room_game game = {.name = "pong",
                                   .module = "pong",
                                   .seats = seats,
                                   .spare = spare,
                                   .most = most,
                                   .idle_us = 60 * S,
                                   .resumes = true};
    *self = (house){.rng = base_rng_make(49, 1), .now_us = S};
    self->entropy = (net_entropy){fill, self};
    self->rooms = server_rooms_create(&self->entropy);
    server_rooms_set_games(self->rooms, &game, 1);
}

#define HOUSE_CASE(name)                                                                           \
    CASE_WITH(house, self, house_open(self, 3, 0, 2), server_rooms_destroy(self->rooms), name)

static server_join_end ask(house* self, server_join join) {
    if (!join.game) join.game = "pong";
    return server_rooms_join(self->rooms, &join, self->now_us, &self->room, &self->seat);
}

static uint64_t seat_of(house* self, server_join join) {
    assert_int_equal(ask(self, join), SERVER_JOIN_SEATED);
    return self->seat->player;
}

// Start all that is planned.
static void open_all(house* self) {
    server_rooms_pass(self->rooms, self->now_us);
    for (uint32_t i = 0; i < self->rooms->count; i++)
        if (self->rooms->rooms[i]->state == SERVER_ROOM_PLANNED)
            server_room_opened(self->rooms->rooms[i], self->now_us);
}

static void report(house* self, server_room* room, const uint64_t* players, uint32_t count) {
    server_rooms_reported(self->rooms, room, players, count, self->now_us, self->now_us);
}

// ---- seats

HOUSE_CASE(players_fill_one_match_before_another_is_planned) {
    for (uint32_t i = 0; i < 6; i++)
        (void)seat_of(self, (server_join){0});
    assert_int_equal(self->rooms->count, 2);
    assert_int_equal(self->rooms->rooms[0]->seat_count, 3);
    assert_string_equal(server_room_state_name(self->rooms->rooms[0]), "full");
    assert_int_equal(ask(self, (server_join){0}), SERVER_JOIN_FULL);
}

HOUSE_CASE(a_join_looks_as_far_as_it_reaches) {
    const server_room_game* game = &self->rooms->games[0];
    const server_join_end full = SERVER_JOIN_FULL;
    assert_int_equal(ask(self, (server_join){.reach = SERVER_REACH_FILL}), full);
    assert_false(server_rooms_have(self->rooms, game, SERVER_REACH_FILL, self->now_us));
    assert_true(server_rooms_have(self->rooms, game, SERVER_REACH_ANY, self->now_us));
    (void)seat_of(self, (server_join){.request = "a", .party = "p"});
    assert_int_equal(ask(self, (server_join){.reach = SERVER_REACH_OWN}), full);
    assert_int_equal(ask(self, (server_join){.request = "a", .reach = SERVER_REACH_OWN}),
                     SERVER_JOIN_SEATED);
    assert_int_equal(server_rooms_seats(self->rooms), 1);
    (void)seat_of(self, (server_join){.party = "p", .reach = SERVER_REACH_OWN});
    (void)seat_of(self, (server_join){.reach = SERVER_REACH_FILL});
    assert_int_equal(self->rooms->count, 1);
    assert_int_equal(ask(self, (server_join){.reach = SERVER_REACH_FILL}), full);
    const server_join named = {.game = "pong", .match = self->rooms->rooms[0]->id};
    assert_ptr_equal(server_rooms_look(self->rooms, &named), self->rooms->rooms[0]);
    for (uint32_t i = 0; i < 3; i++)
        (void)seat_of(self, (server_join){0});
    assert_false(server_rooms_have(self->rooms, game, SERVER_REACH_ANY, self->now_us));
}

HOUSE_CASE(the_same_request_gets_the_same_seat) {
    const uint64_t player = seat_of(self, (server_join){.request = "r1"});
    const server_room* room = self->room;
    (void)seat_of(self, (server_join){.request = "r2"});
    assert_true(seat_of(self, (server_join){.request = "r1"}) == player);
    assert_ptr_equal(self->room, room);
    assert_int_equal(room->seat_count, 2);
    assert_true(seat_of(self, (server_join){.request = ""}) != player);
}

HOUSE_CASE(a_player_has_one_seat_in_a_game) {
    assert_true(seat_of(self, (server_join){.player = 7, .request = "a"}) == 7);
    assert_true(seat_of(self, (server_join){.player = 7, .request = "b"}) == 7);
    assert_int_equal(self->room->seat_count, 1);
}

HOUSE_CASE(a_held_seat_is_free_after_its_time_and_a_report) {
    (void)seat_of(self, (server_join){0});
    open_all(self);
    self->now_us += HELD_US - 1;
    report(self, self->room, NULL, 0);
    assert_int_equal(self->room->seat_count, 1);
    // Asked before its time: the player may have come since.
    server_rooms_reported(self->rooms, self->room, NULL, 0, self->now_us, self->now_us + 2);
    assert_int_equal(self->room->seat_count, 1);
    self->now_us += 1;
    report(self, self->room, NULL, 0);
    assert_int_equal(self->room->seat_count, 0);
}

HOUSE_CASE(a_seat_is_held_from_the_time_its_match_is_ready) {
    (void)seat_of(self, (server_join){0});
    self->now_us += 2 * HELD_US;
    open_all(self);
    report(self, self->room, NULL, 0);
    assert_int_equal(self->room->seat_count, 1);
}

HOUSE_CASE(a_player_who_is_in_keeps_the_seat_until_a_report_lacks_it) {
    const uint64_t player = seat_of(self, (server_join){0});
    open_all(self);
    report(self, self->room, &player, 1);
    self->now_us += 100 * HELD_US;
    report(self, self->room, &player, 1);
    assert_int_equal(server_room_players(self->room), 1);
    report(self, self->room, NULL, 0);
    assert_int_equal(self->room->seat_count, 0);
}

HOUSE_CASE(a_player_whose_token_came_late_takes_a_seat) {
    (void)seat_of(self, (server_join){0});
    open_all(self);
    const uint64_t late[] = {1, 2, 3};
    report(self, self->room, late, 3);
    assert_int_equal(server_room_players(self->room), 3);
    assert_string_equal(server_room_state_name(self->room), "full");
}

HOUSE_CASE(a_match_knows_who_has_a_seat_and_who_had_one) {
    const uint64_t player = seat_of(self, (server_join){.party = "p", .party_seats = 2});
    open_all(self);
    assert_true(server_room_knows(self->room, player));
    self->now_us += HELD_US;
    report(self, self->room, NULL, 0);
    assert_int_equal(self->room->seat_count, 0);
    assert_true(server_room_knows(self->room, player));
    assert_false(server_room_knows(self->room, player + 1));
    assert_int_equal(self->room->left_count, 1); // of the other seat no player is known
    for (uint64_t i = 1; i <= SERVER_ROOM_LEFT_MAX; i++)
        server_room_add_left(self->room, player + i);
    assert_false(server_room_knows(self->room, player));
    assert_true(server_room_knows(self->room, player + 1));
}

HOUSE_CASE(a_party_gets_one_match) {
    (void)seat_of(self, (server_join){0});
    (void)seat_of(self, (server_join){0});
    (void)seat_of(self, (server_join){.party = "p", .party_seats = 3});
    const server_room* room = self->room;
    assert_int_equal(room->seat_count, 3);
    (void)seat_of(self, (server_join){0}); // the last seat of the first match
    assert_ptr_not_equal(self->room, room);
    for (uint32_t i = 0; i < 2; i++) {
        (void)seat_of(self, (server_join){.party = "p", .party_seats = 3});
        assert_ptr_equal(self->room, room);
    }
    assert_int_equal(ask(self, (server_join){.party = "p"}), SERVER_JOIN_CROWDED);
    assert_int_equal(room->seat_count, 3);
    assert_int_equal(ask(self, (server_join){.party = "q", .party_seats = 4}), SERVER_JOIN_PARTY);
}

HOUSE_CASE(a_filter_finds_a_match_with_its_values_or_plans_one) {
    const server_join asked = {.values = {{.key = "map", .value = "ice"}}, .value_count = 1};
    (void)seat_of(self, (server_join){0});
    (void)seat_of(self, asked);
    const server_room* ice = self->room;
    assert_int_equal(self->rooms->count, 2);
    (void)seat_of(self, asked);
    assert_ptr_equal(self->room, ice);
    const server_join other = {.values = {{.key = "map", .value = "fire"}}, .value_count = 1};
    assert_int_equal(ask(self, other), SERVER_JOIN_FULL);
}

HOUSE_CASE(who_does_not_name_the_code_gets_no_private_match) {
    const server_join asked = {.values = {{.key = SERVER_ROOM_PRIVATE, .value = "x"}},
                               .value_count = 1};
    (void)seat_of(self, asked);
    const server_room* room = self->room;
    (void)seat_of(self, (server_join){0});
    assert_ptr_not_equal(self->room, room);
    (void)seat_of(self, asked);
    assert_ptr_equal(self->room, room);
}

HOUSE_CASE(a_match_may_be_named) {
    (void)seat_of(self, (server_join){.values = {{.key = "a", .value = "1"}}, .value_count = 1});
    char id[SERVER_ROOM_ID_BYTES];
    memcpy(id, self->room->id, sizeof id);
    (void)seat_of(self, (server_join){.match = id});
    assert_string_equal(self->room->id, id);
    const server_join two = {.match = id, .party = "p", .party_seats = 2};
    assert_int_equal(ask(self, two), SERVER_JOIN_CROWDED); // one seat is free
    assert_int_equal(ask(self, (server_join){.match = "0123456789abcdef"}), SERVER_JOIN_NO_MATCH);
    self->room = server_rooms_find(self->rooms, id, strlen(id));
    (void)server_rooms_ended(self->rooms, self->room, true, "it ended", self->now_us);
    assert_int_equal(ask(self, (server_join){.match = id}), SERVER_JOIN_OVER);
    assert_int_equal(ask(self, (server_join){.game = "chess"}), SERVER_JOIN_NO_GAME);
}

CASE(the_body_of_a_join_is_refused_with_its_key) {
    static const struct {
        const char *body, *fault;
    } rows[] = {
        {"[]", "a join needs game; it may have"},
        {"{}", "a join needs game; it may have"},
        {"{'game':3}", "game needs a text"},
        {"{'game':'a','request':null}", "request needs a text"},
        {"{'game':'a','party':[]}", "party needs a text"},
        {"{'game':'a','request':'01234567890123456789012345678901234567890123456789012345678901234'"
         "}",
         "request needs a text of at most 64 bytes"},
        {"{'game':'a','match':1}", "match needs a text"},
        {"{'game':'a','player':7}", "player needs a number as a text"},
        {"{'game':'a','player':'x'}", "player needs a number as a text"},
        {"{'game':'a','party_seats':'2'}", "party_seats needs a number from 1 to 4095"},
        {"{'game':'a','party_seats':4096}", "party_seats needs a number from 1 to 4095"},
        {"{'game':'a','filter':{'map':1}}", "filter needs at most 16 texts"},
        {"{'game':'a','filter':'map'}", "filter needs at most 16 texts"},
        {"{'game':'a','mode':'x'}", "a join needs game; it may have"},
        {"{'game':'a','request':'r','party':'p','party_seats':2,'match':'m','player':'7',"
         "'filter':{'map':'ice'}}",
         NULL},
    };
    for (size_t i = 0; i < BASE_COUNT(rows); i++) {
        server_join join = {0};
        char text[256];
        assert_true(base_text_copy(text, sizeof text, rows[i].body));
        for (char* at = text; (at = strchr(at, '\''));)
            *at = '"';
        json_t* body = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(body);
        const char* fault = server_join_read(body, &join);
        if (!rows[i].fault != !fault || (fault && !strstr(fault, rows[i].fault)))
            fail_msg("%s: %s", rows[i].body, fault ? fault : "it is read");
        json_decref(body);
    }
}

// ---- matches

CASE(spare_matches_are_planned_again_when_they_are_used) {
    house it;
    house_open(&it, 1, 2, 3);
    open_all(&it);
    assert_int_equal(it.rooms->count, 2);
    (void)seat_of(&it, (server_join){0});
    open_all(&it);
    assert_int_equal(it.rooms->count, 3);
    (void)seat_of(&it, (server_join){0});
    open_all(&it);
    assert_int_equal(it.rooms->count, 3); // the most
    server_rooms_destroy(it.rooms);
}

HOUSE_CASE(a_match_ends_when_it_was_idle_but_not_before_its_first_player) {
    const uint64_t player = seat_of(self, (server_join){0});
    server_room* room = self->room;
    open_all(self);
    self->now_us += HELD_US;
    report(self, room, NULL, 0);
    self->now_us += 1000 * S;
    server_rooms_pass(self->rooms, self->now_us);
    assert_int_equal(room->state, SERVER_ROOM_RUNNING);
    assert_true(seat_of(self, (server_join){.player = player}) == player);
    report(self, room, &player, 1);
    report(self, room, NULL, 0);
    self->now_us += 60 * S - 1;
    server_rooms_pass(self->rooms, self->now_us);
    assert_int_equal(room->state, SERVER_ROOM_RUNNING);
    self->now_us += 1;
    server_rooms_pass(self->rooms, self->now_us);
    assert_int_equal(room->state, SERVER_ROOM_LEAVING);
}

HOUSE_CASE(a_match_that_is_closed_gets_no_new_player) {
    const uint64_t player = seat_of(self, (server_join){.request = "r1"});
    server_room* room = self->room;
    room->is_closed = true;
    assert_string_equal(server_room_state_name(room), "full");
    assert_true(seat_of(self, (server_join){.request = "r1"}) == player);
    assert_ptr_equal(self->room, room);
    (void)seat_of(self, (server_join){.request = "r2"});
    assert_ptr_not_equal(self->room, room);
    assert_int_equal(ask(self, (server_join){.match = room->id}), SERVER_JOIN_CROWDED);
    room->is_closed = false;
    assert_int_equal(ask(self, (server_join){.match = room->id}), SERVER_JOIN_SEATED);
}

HOUSE_CASE(who_comes_from_a_match_goes_to_another_one) {
    (void)seat_of(self, (server_join){.player = 7});
    const server_room* one = self->room;
    (void)seat_of(self, (server_join){.player = 7, .leaves = one});
    const server_room* two = self->room;
    assert_ptr_not_equal(two, one);
    (void)seat_of(self, (server_join){.player = 7, .leaves = one});
    assert_ptr_equal(self->room, two);
    assert_int_equal(two->seat_count, 1);
    (void)seat_of(self, (server_join){.player = 7, .match = two->id});
    assert_ptr_equal(self->room, two); // that it left the first one is not told yet
    (void)seat_of(self, (server_join){.player = 7, .leaves = two, .match = one->id});
    assert_ptr_equal(self->room, one);
    assert_int_equal(one->seat_count, 1);
    assert_non_null(server_room_find_seat(one, 7));
    assert_null(server_room_find_seat(one, 8));
}

HOUSE_CASE(what_a_match_publishes_takes_the_place_of_what_it_published) {
    server_join join = {.value_count = 1, .values = {{.key = "map", .value = "ice"}}};
    static const server_room_value said[] = {{.key = "mode", .value = "x"},
                                             {.key = "map", .value = "sea"},
                                             {.key = "heat", .value = "2"}};
    (void)seat_of(self, join);
    server_room* room = self->room;
    server_room_publish(room, said, 1);
    assert_string_equal(server_room_find_value(room, "map")->value, "ice");
    server_room_publish(room, said + 1, 2);
    assert_null(server_room_find_value(room, "mode"));
    assert_string_equal(server_room_find_value(room, "map")->value, "sea");
    (void)seat_of(self, join);
    assert_ptr_not_equal(self->room, room);
    server_room_publish(room, NULL, 0);
    assert_int_equal(room->value_count, 0);
}

HOUSE_CASE(where_a_match_ended_the_next_one_begins) {
    self->rooms->games[0].stays = true;
    const uint64_t player = seat_of(self, (server_join){.request = "r1"});
    server_room* room = self->room;
    (void)base_text_copy(room->address, sizeof room->address, "127.0.0.1:7");
    open_all(self);
    report(self, room, &player, 1);
    assert_false(server_rooms_ended(self->rooms, room, true, "it ended", self->now_us));
    assert_int_equal(self->rooms->count, 2);
    assert_true(seat_of(self, (server_join){.request = "r1"}) == player);
    server_room* next = self->room;
    assert_ptr_not_equal(next, room);
    assert_string_equal(next->address, "127.0.0.1:7");
    open_all(self);
    self->now_us += HELD_US;
    report(self, next, NULL, 0);
    assert_int_equal(next->seat_count, 0);
    // It had no players, so there is no further one.
    assert_false(server_rooms_ended(self->rooms, next, true, "it ended", self->now_us));
    assert_int_equal(self->rooms->count, 2);
}

HOUSE_CASE(a_crash_is_resumed_three_times_a_minute) {
    (void)seat_of(self, (server_join){0});
    server_room* room = self->room;
    for (uint32_t i = 0; i < SERVER_ROOM_RESUMES_MAX; i++) {
        open_all(self);
        self->now_us += S;
        assert_true(server_rooms_ended(self->rooms, room, false, "boom", self->now_us));
        assert_string_equal(server_room_state_name(room), "resuming");
        assert_int_equal(room->seat_count, 1);
    }
    open_all(self);
    self->now_us += 60 * S - 2 * S - 1; // the first of them is less than a minute ago
    assert_false(server_rooms_ended(self->rooms, room, false, "boom", self->now_us));
    assert_string_equal(server_room_state_name(room), "ended");
    assert_string_equal(room->why, "boom");
}

HOUSE_CASE(crashes_of_more_than_a_minute_ago_do_not_count) {
    (void)seat_of(self, (server_join){0});
    for (uint32_t i = 0; i < 20; i++) {
        open_all(self);
        self->now_us += 20 * S;
        assert_true(server_rooms_ended(self->rooms, self->room, false, "boom", self->now_us));
    }
}

HOUSE_CASE(a_game_that_does_not_start_is_tried_again_later_and_later) {
    uint64_t waited_us = 0;
    for (uint32_t i = 0; i < 5; i++) {
        (void)seat_of(self, (server_join){0});
        self->room->state = SERVER_ROOM_STARTING;
        assert_false(server_rooms_ended(self->rooms, self->room, false, "no", self->now_us));
        assert_int_equal(ask(self, (server_join){0}), SERVER_JOIN_FAILS);
        const uint64_t due_us = self->rooms->games[0].start_us;
        assert_true(due_us - self->now_us > waited_us / 2);
        waited_us = due_us - self->now_us;
        self->now_us = due_us;
    }
    assert_true(waited_us > S);
}

HOUSE_CASE(a_game_that_the_file_names_no_more_gets_no_match) {
    const server_room_game other = {.name = "chess", .seats = 2, .most = 1};
    (void)seat_of(self, (server_join){0});
    server_rooms_set_games(self->rooms, &other, 1);
    assert_int_equal(ask(self, (server_join){0}), SERVER_JOIN_NO_GAME);
    (void)seat_of(self, (server_join){.game = "chess"});
    assert_string_equal(server_room_state_name(self->rooms->rooms[0]), "open");
}

HOUSE_CASE(a_standby_gets_no_player_until_it_has_the_match) {
    const char* id = "0123456789abcdef";
    const server_room_game* game = &self->rooms->games[0];
    const server_join named = {.game = "pong", .match = id};
    server_room* room = server_rooms_stand_by(self->rooms, game, id, self->now_us);
    assert_ptr_equal(server_rooms_stand_by(self->rooms, game, id, self->now_us), room);
    open_all(self);
    assert_string_equal(server_room_state_name(room), "standby");
    assert_int_equal(ask(self, named), SERVER_JOIN_NO_MATCH);
    assert_null(server_rooms_look(self->rooms, &named));
    (void)seat_of(self, (server_join){0});
    assert_ptr_not_equal(self->room, room);
    assert_null(server_rooms_stand_by(self->rooms, game, self->room->id, self->now_us));
    assert_null(server_rooms_stand_by(self->rooms, game, "fedcba9876543210", self->now_us));
    room->is_elsewhere = false;
    assert_int_equal(ask(self, named), SERVER_JOIN_SEATED);
    assert_ptr_equal(self->room, room);
}

HOUSE_CASE(a_standby_that_ended_is_not_resumed_and_starts_again_later) {
    const char* id = "0123456789abcdef";
    const server_room_game* game = &self->rooms->games[0];
    self->rooms->games[0].stays = true;
    server_room* room = server_rooms_stand_by(self->rooms, game, id, self->now_us);
    room->heard_us = self->now_us;
    open_all(self);
    assert_false(server_rooms_ended(self->rooms, room, false, "boom", self->now_us));
    assert_int_equal(room->state, SERVER_ROOM_OVER);
    assert_null(server_rooms_stand_by(self->rooms, game, id, self->now_us));
    self->now_us += SERVER_ROOM_STANDBY_S * S;
    assert_ptr_equal(server_rooms_stand_by(self->rooms, game, id, self->now_us), room);
    assert_int_equal(room->state, SERVER_ROOM_PLANNED);
    assert_int_equal(self->rooms->count, 1);
}

CASE(matches_that_are_over_are_forgotten_late) {
    house it;
    house_open(&it, 1, 0, 1);
    for (uint32_t i = 0; i < SERVER_ROOMS_OVER_MAX + 10; i++) {
        (void)seat_of(&it, (server_join){0});
        (void)server_rooms_ended(it.rooms, it.room, true, "it ended", it.now_us);
    }
    const server_room* eleventh = it.rooms->rooms[10];
    server_rooms_pass(it.rooms, it.now_us);
    assert_int_equal(it.rooms->count, SERVER_ROOMS_OVER_MAX);
    assert_ptr_equal(it.rooms->rooms[0], eleventh);
    server_rooms_destroy(it.rooms);
}

CASE(a_thousand_joins_at_once_get_no_seat_too_many) {
    house it;
    uint32_t seated = 0, full = 0;
    house_open(&it, 3, 1, 40);
    open_all(&it);
    for (uint32_t i = 0; i < 1000; i++) {
        const server_join_end end = ask(&it, (server_join){0});
        seated += end == SERVER_JOIN_SEATED;
        full += end == SERVER_JOIN_FULL;
    }
    assert_int_equal(seated, 120);
    assert_int_equal(full, 880);
    assert_int_equal(it.rooms->count, 40);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(it.rooms->rooms[i]->seat_count, 3);
    server_rooms_destroy(it.rooms);
}

// ---- a naive twin: a row for each request that has a seat

enum { TWIN_REQUESTS = 40, TWIN_STEPS = 20000 };

typedef struct twin_row {
    bool is_seated, is_in;
    uint64_t player, until_us;
    const server_room* room;
} twin_row;

static uint32_t twin_count(const twin_row* rows, const server_room* room) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < TWIN_REQUESTS; i++)
        count += rows[i].is_seated && rows[i].room == room;
    return count;
}

static void twin_join(house* self, twin_row* rows) {
    const uint32_t at = base_rng_below(&self->rng, TWIN_REQUESTS);
    char request[16];
    (void)snprintf(request, sizeof request, "r%u", at);
    uint32_t alive = 0, free = 0;
    for (uint32_t i = 0; i < self->rooms->count; i++) {
        const server_room* room = self->rooms->rooms[i];
        if (room->state == SERVER_ROOM_OVER) continue;
        alive++;
        if (room->state == SERVER_ROOM_RUNNING) free += 3 - twin_count(rows, room);
    }
    const server_join_end end = ask(self, (server_join){.request = request});
    twin_row* row = &rows[at];
    if (!row->is_seated && free == 0 && alive == 4) {
        assert_int_equal(end, SERVER_JOIN_FULL);
        return;
    }
    assert_int_equal(end, SERVER_JOIN_SEATED);
    if (row->is_seated) {
        assert_true(self->seat->player == row->player);
        assert_ptr_equal(self->room, row->room);
    }
    *row = (twin_row){true, row->is_seated && row->is_in, self->seat->player,
                      self->now_us + HELD_US, self->room};
}

// Some of those who hold a seat come in, some leave, then the match reports.
static void twin_report(house* self, twin_row* rows, server_room* room) {
    uint64_t players[TWIN_REQUESTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < TWIN_REQUESTS; i++) {
        twin_row* row = &rows[i];
        if (!row->is_seated || row->room != room) continue;
        const bool is_in = base_rng_below(&self->rng, 3) > 0;
        if (is_in) players[count++] = row->player;
        if (!is_in && (row->is_in || row->until_us <= self->now_us)) row->is_seated = false;
        row->is_in = is_in;
    }
    report(self, room, players, count);
}

static void twin_end(house* self, twin_row* rows, server_room* room) {
    const bool is_orderly = base_rng_below(&self->rng, 2) == 0;
    if (server_rooms_ended(self->rooms, room, is_orderly, "end", self->now_us)) {
        server_room_opened(room, self->now_us);
        for (uint32_t i = 0; i < TWIN_REQUESTS; i++)
            if (rows[i].is_seated && rows[i].room == room && !rows[i].is_in)
                rows[i].until_us = self->now_us + HELD_US;
        return;
    }
    for (uint32_t i = 0; i < TWIN_REQUESTS; i++)
        if (rows[i].room == room) rows[i] = (twin_row){0};
}

CASE(the_seats_are_those_of_a_naive_twin) {
    house it;
    static twin_row rows[TWIN_REQUESTS];
    house_open(&it, 3, 0, 4);
    it.rooms->games[0].idle_us = 0;
    for (uint32_t step = test_scaled(TWIN_STEPS, 2000); step > 0; step--) {
        it.now_us += base_rng_below(&it.rng, 2 * (uint32_t)S);
        open_all(&it);
        server_room* room =
            it.rooms->count ? it.rooms->rooms[base_rng_below(&it.rng, it.rooms->count)] : NULL;
        const uint32_t what = base_rng_below(&it.rng, 20);
        const bool is_up = room && room->state == SERVER_ROOM_RUNNING;
        if (what < 12 || !is_up)
            twin_join(&it, rows);
        else if (what < 19)
            twin_report(&it, rows, room);
        else
            twin_end(&it, rows, room);
        for (uint32_t i = 0; i < it.rooms->count; i++) {
            assert_in_range(it.rooms->rooms[i]->seat_count, 0, 3);
            assert_int_equal(it.rooms->rooms[i]->seat_count, twin_count(rows, it.rooms->rooms[i]));
        }
    }
    server_rooms_destroy(it.rooms);
}

// ---- rates

CASE(an_address_asks_so_often_in_ten_seconds) {
    static server_rate rate;
    net_address a, b, local;
    assert_ok(net_address_parse("192.0.2.1:9", &a));
    assert_ok(net_address_parse("192.0.2.2:9", &b));
    assert_ok(net_address_parse("127.0.0.1:9", &local));
    for (uint32_t i = 0; i < 5; i++)
        assert_true(server_rate_accepts(&rate, &a, 5, S));
    assert_false(server_rate_accepts(&rate, &a, 5, S));
    assert_true(server_rate_accepts(&rate, &b, 5, S));
    assert_true(server_rate_accepts(&rate, &a, 0, S));
    assert_true(server_rate_accepts(&rate, &a, 5, S + SERVER_RATE_S * S));
    for (uint32_t i = 0; i < 100; i++)
        assert_true(server_rate_accepts(&rate, &local, 5, S));
}

// ---- host.conf

static bool read_conf(const char* text, server_conf* conf, heard* said) {
    char name[] = "/tmp/rooms-XXXXXX";
    const int file = mkstemp(name);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    const bool is_read = server_conf_read(conf, name, heard_begin(said));
    assert_int_equal(unlink(name), 0);
    return is_read;
}

CASE(a_file_has_blocks_and_comments) {
    static server_conf conf;
    static heard said;
    assert_true(read_conf("# a\nhttp = 127.0.0.1:0,host=a.b # c\nopen = yes\nstop = leave\n"
                          "game pong {\n  players = 2..8\n  start = full\n spare=2\n most = 9\n"
                          "  options = --ticks 3600 --seed 2\n next = stay\n memory = 3M\n}\ngame "
                          "chess {\n players = 2\n options = --seed 2 --log=none,keep=3\n}\n",
                          &conf, &said));
    assert_int_equal(conf.game_count, 2);
    assert_true(conf.games[0].resumes);
    assert_false(conf.games[1].resumes); // of which log?
    assert_string_equal(conf.http, "127.0.0.1:0");
    assert_string_equal(conf.hosts.values[0], "a.b");
    assert_true(conf.is_open && conf.stop == SERVER_CONF_LEAVE);
    assert_string_equal(conf.games[0].options, "--ticks 3600 --seed 2");
    assert_int_equal(conf.games[0].seats, 8);
    assert_int_equal(conf.games[0].seats_min, 2);
    assert_int_equal(conf.games[0].most, 9);
    assert_true(conf.games[0].stays && !conf.games[1].stays);
    assert_int_equal(conf.games[0].memory_bytes, 3 << 20);
    assert_string_equal(conf.games[1].module, "chess");
}

CASE(a_mistake_is_refused_with_its_line) {
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"", "no game: game NAME { ... }"},
        {"htp = 1\n", ":1: unknown option htp, did you mean http?"},
        {"\ngame a {\nplayer = 2\n}\n", ":3: unknown option player, did you mean players?"},
        {"game a {\n}\n", ":1: game a: players needs N or MIN..MAX, 1 to 4095"},
        {"game a {\nplayers = 3..2\n}\n", ":1: game a: players needs"},
        {"game a {\nplayers = 0\n}\n", ":1: game a: players needs"},
        {"game a {\nplayers = 2\nspare = 3\nmost = 2\n}\n", ":1: game a: spare is more than most"},
        {"game a {\nplayers = 2\n", "missing } of the block in line 1"},
        {"game a {\ngame b {\n", ":2: missing } of the block in line 1"},
        {"game a {\nplayers = 2\n}\ngame a {\n", ":4: game a is there twice"},
        {"game A! {\n", ":1: 'A!' is not a valid name"},
        {"game a {\nmost = 0\n}\n", ":2: most is outside of 1 to 4096: '0'"},
        {"stop = now\n", ":1: stop needs drain|leave, not 'now'"},
        {"open\n", ":1: expected key = value"},
        {"game a {\nplayers = 1\nmemory = 3\n}\n", ":1: game a: memory needs a form as 256M"},
        {"game a {\nplayers = 1\nmemory = 0M\n}\n", ":1: game a: memory needs a form as 256M"},
        {"game a {\nplayers = 1\nnext = go\n}\n", ":3: next needs end|stay, not 'go'"},
        {"game a {\nmodule = no/a.so\nplayers = 1\n}\n",
         ":1: game a: module no/a.so: No such file"},
        {"results = x\ngame a {\nplayers = 1\n}\n", "results needs https://... or http://"},
        {"standbys = 1\ngame a {\nplayers = 1\n}\n", "standbys: other hosts run them, so it needs"},
        {"store = mysql:x\ngame a {\nplayers = 1\n}\n", "store needs sqlite:FILE or postgres://"},
    };
    static server_conf conf;
    static heard said;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_false(read_conf(rows[i].text, &conf, &said));
        if (!strstr(said.text, rows[i].said))
            fail_msg("\"%s\" lacks \"%s\"", said.text, rows[i].said);
    }
}
