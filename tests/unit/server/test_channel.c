// SPDX-License-Identifier: MIT
// What a match asks its host, with a host that loses, refuses and is late, in virtual time.
#include "rooms/channel.h"

#include "heard.h"
#include "test.h"

#define MS UINT64_C(1000)

typedef struct talk {
    heard said;
    server_channel* channel;
    uint64_t now_us;
    uint32_t sent;
    char text[8192]; // the newest
    uint32_t moved;
    char moved_to[64];
    net_match_effect effects[4];
    net_match_told told;
} talk;

static void keep_sent(void* context, const void* text, size_t size) {
    talk* self = context;
    assert_true(size < sizeof self->text);
    memcpy(self->text, text, size);
    self->text[size] = '\0';
    self->sent++;
}

static void keep_moved(void* context, uint32_t client, const char* address, const char* token,
                       const char* page) {
    talk* self = context;
    (void)snprintf(self->moved_to, sizeof self->moved_to, "%u %s %s %s", client, address, token,
                   page);
    self->moved++;
}

static void talk_open(talk* self) {
    memset(self, 0, sizeof *self);
    (void)heard_begin(&self->said);
    self->now_us = 1000 * MS; // requests are numbered from 1000001 on
    self->told.effects = self->effects;
    self->channel = server_channel_create(&(server_channel_config){.match = "m1",
                                                                   .reporter = &self->said.reporter,
                                                                   .now_us = self->now_us,
                                                                   .context = self,
                                                                   .send = keep_sent,
                                                                   .move = keep_moved});
}

#define TALK_CASE(name)                                                                            \
    CASE_WITH(talk, self, talk_open(self), server_channel_destroy(self->channel), name)

static void pass_for(talk* self, uint32_t ms, bool has_log) {
    for (uint32_t i = 0; i < ms; i += 10) {
        server_channel_pass(self->channel, has_log, self->now_us);
        self->now_us += 10 * MS;
    }
}

static void answer(talk* self, const char* text) {
    server_channel_receive(self->channel, text, strlen(text), self->now_us);
}

static bool admits(talk* self, net_game_player* player) {
    *player = (net_game_player){.client = 3, .player_id = 77};
    return server_channel_admit(self->channel, self->now_us, player);
}

static void add_effect(talk* self, bool is_transfer, ecs_tick tick, const char* bytes) {
    net_match_effect* effect = &self->effects[self->told.effect_count++];
    *effect = (net_match_effect){.is_transfer = is_transfer,
                                 .client = 3,
                                 .player_id = 77,
                                 .record_version = 5,
                                 .tick = tick,
                                 .size = (uint32_t)strlen(bytes)};
    memcpy(effect->bytes, bytes, effect->size);
    if (is_transfer) memcpy(effect->to, "pong", 5);
}

static void look(talk* self, ecs_tick tick) {
    server_channel_look(self->channel, &self->told, tick, self->now_us);
}

// ---- joins

TALK_CASE(a_join_gets_what_the_host_answers) {
    net_game_player player;
    assert_false(admits(self, &player));
    assert_string_equal(self->text, "{\"match\":\"m1\",\"ask\":\"1000001\",\"player\":\"77\"}");
    pass_for(self, 490, true);
    assert_int_equal(self->sent, 1);
    pass_for(self, 20, true);
    assert_int_equal(self->sent, 2); // the same one again
    assert_false(admits(self, &player));
    answer(self,
           "{\"ask\":\"1000001\",\"version\":\"9\",\"record\":\"Z29sZA==\",\"bytes\":\"Z28=\"}");
    assert_true(admits(self, &player) && player.has_record);
    assert_int_equal(player.record_version, 9);
    assert_int_equal(player.record_bytes, 4);
    assert_memory_equal(player.record, "gold", 4);
    assert_int_equal(player.transfer_bytes, 2);
    assert_memory_equal(player.transfer, "go", 2);
    answer(self, "{\"ask\":\"1000001\",\"version\":\"8\",\"record\":\"\",\"bytes\":\"\"}"); // late
    assert_true(admits(self, &player) && player.record_version == 9);
    assert_int_equal(server_channel_count(self->channel).known, 1);
    pass_for(self, SERVER_CHANNEL_UNASKED_MS + 10, true); // it is forgotten
    assert_false(admits(self, &player));
}

TALK_CASE(a_join_goes_on_after_its_time_with_what_is_known) {
    net_game_player player;
    assert_false(admits(self, &player));
    answer(self, "{\"ask\":\"1000001\",\"error\":\"the database is away\",\"bytes\":\"Z28=\"}");
    pass_for(self, NET_RECORD_MS_MAX - 10, true);
    assert_false(admits(self, &player));
    assert_int_equal(self->sent, 4);
    pass_for(self, 10, true);
    assert_true(admits(self, &player));
    assert_false(player.has_record);
    assert_true(player.record_version == 0 && player.record_bytes == 0);
    assert_int_equal(player.transfer_bytes, 2);
    assert_true(admits(self, &player));
    assert_int_equal(server_channel_count(self->channel).unknown, 1);
}

TALK_CASE(a_join_does_not_wait_for_a_host_that_keeps_no_records) {
    net_game_player player;
    assert_false(admits(self, &player));
    answer(self, "{\"ask\":\"1000001\",\"error\":\"none\",\"is_final\":true,\"bytes\":\"Z28=\"}");
    assert_true(admits(self, &player) && !player.has_record);
    assert_int_equal(player.transfer_bytes, 2);
    assert_int_equal(server_channel_count(self->channel).unknown, 1);
}

TALK_CASE(a_join_that_waits_behind_others_keeps_its_answer) {
    net_game_player player;
    assert_false(admits(self, &player));
    answer(self, "{\"ask\":\"1000001\",\"version\":\"9\",\"record\":\"\",\"bytes\":\"\"}");
    pass_for(self, 20000, true);
    assert_true(admits(self, &player) && player.record_version == 9);
}

TALK_CASE(answers_that_are_none_change_nothing) {
    static const char* const wrong[] = {
        "",
        "[]",
        "{}",
        "{\"ask\":1000001,\"version\":\"1\",\"record\":\"\",\"bytes\":\"\"}",
        "{\"ask\":\"1000001\"}",
        "{\"ask\":\"1000001\",\"version\":\"-1\",\"record\":\"\",\"bytes\":\"\"}",
        "{\"ask\":\"1000001\",\"version\":\"1\",\"record\":\"?\",\"bytes\":\"\"}",
        "{\"ask\":\"1000001\",\"version\":\"1\",\"record\":\"\",\"bytes\":7}",
        "{\"ask\":\"1000001\",\"version\":\"1\",\"record\":\"Z29\",\"bytes\":\"\"}",
    };
    net_game_player player;
    assert_false(admits(self, &player));
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++) {
        answer(self, wrong[i]);
        assert_false(admits(self, &player));
        assert_int_equal(server_channel_count(self->channel).malformed, i + 1);
    }
    answer(self, "{\"keep\":\"1000001\",\"version\":\"1\"}"); // of no request
    assert_int_equal(server_channel_count(self->channel).malformed, BASE_COUNT(wrong));
}

TALK_CASE(a_record_has_a_limit) {
    for (uint32_t size = NET_RECORD_BYTES_MAX - 1; size <= NET_RECORD_BYTES_MAX + 1; size++) {
        static char text[8192];
        net_game_player player = {.client = size, .player_id = size};
        assert_false(server_channel_admit(self->channel, self->now_us, &player));
        uint32_t at = (uint32_t)snprintf(text, sizeof text,
                                         "{\"ask\":\"%u\",\"version\":\"1\",\"bytes\":\"\","
                                         "\"record\":\"",
                                         1000001 + size - NET_RECORD_BYTES_MAX + 1);
        for (uint32_t i = 0; i < (size + 2) / 3 * 4; i++)
            text[at++] = i < (size * 8 + 5) / 6 ? 'A' : '=';
        (void)snprintf(text + at, sizeof text - at, "\"}");
        answer(self, text);
        const bool fits = size <= NET_RECORD_BYTES_MAX;
        assert_int_equal(server_channel_admit(self->channel, self->now_us, &player), fits);
        if (fits) assert_int_equal(player.record_bytes, size);
    }
}

// ---- records

TALK_CASE(a_record_is_kept_once_the_log_has_it) {
    look(self, 8);
    add_effect(self, false, 10, "gold");
    look(self, 9);
    pass_for(self, 100, true);
    assert_int_equal(self->sent, 0); // of a tick that is not over
    look(self, 10);
    pass_for(self, 1000, false);
    assert_int_equal(self->sent, 0);
    pass_for(self, 10, true);
    assert_string_equal(self->text, "{\"match\":\"m1\",\"keep\":\"1000002\",\"player\":\"77\","
                                    "\"version\":\"5\",\"record\":\"Z29sZA==\"}");
    assert_true(server_channel_waits(self->channel));
    answer(self, "{\"keep\":\"1000002\",\"version\":\"6\"}");
    assert_false(server_channel_waits(self->channel));
    pass_for(self, 2000, true);
    look(self, 11);
    assert_int_equal(self->sent, 1);
    // The next one replaces that version.
    self->told.effect_count = 0;
    add_effect(self, false, 12, "more");
    look(self, 12);
    pass_for(self, 10, true);
    assert_non_null(strstr(self->text, "\"version\":\"6\",\"record\":\"bW9yZQ==\""));
    assert_int_equal(server_channel_count(self->channel).kept, 1);
}

TALK_CASE(a_log_that_takes_nothing_does_not_lose_a_record) {
    look(self, 1);
    add_effect(self, false, 2, "gold");
    look(self, 2);
    pass_for(self, SERVER_CHANNEL_UNLOGGED_S * 1000, false);
    assert_int_equal(self->sent, 0);
    pass_for(self, 10, false);
    assert_int_equal(self->sent, 1);
}

TALK_CASE(a_log_that_takes_nothing_does_not_hold_newer_records_for_ever) {
    look(self, 1);
    for (uint32_t s = 0; s < SERVER_CHANNEL_UNLOGGED_S; s++) {
        assert_int_equal(self->sent, 0);
        self->told.effect_count = 0;
        add_effect(self, false, 2 + s, "gold");
        look(self, 2 + s);
        pass_for(self, 1000, false);
    }
    pass_for(self, 10, false);
    assert_int_equal(self->sent, 1);
}

TALK_CASE(a_newer_record_replaces_one_that_is_on_its_way) {
    look(self, 1);
    add_effect(self, false, 2, "gold");
    look(self, 2);
    pass_for(self, 10, true);
    self->told.effect_count = 0;
    add_effect(self, false, 3, "more");
    look(self, 3);
    answer(self, "{\"keep\":\"1000002\",\"version\":\"6\"}"); // of the one before
    assert_true(server_channel_waits(self->channel));
    pass_for(self, 10, true);
    assert_non_null(strstr(self->text, "\"keep\":\"1000003\""));
    answer(self, "{\"keep\":\"1000003\",\"version\":\"7\"}");
    assert_false(server_channel_waits(self->channel));
}

TALK_CASE(a_conflict_is_said_and_a_store_that_is_away_asked_again) {
    look(self, 1);
    add_effect(self, false, 2, "gold");
    look(self, 2);
    pass_for(self, 10, true);
    for (uint32_t i = 0; i < 3; i++) {
        answer(self, "{\"keep\":\"1000002\",\"error\":\"the database is away\"}");
        pass_for(self, SERVER_CHANNEL_LATER_MS, true);
        assert_int_equal(self->sent, 1 + i);
        pass_for(self, 10, true);
    }
    assert_int_equal(heard_count(&self->said, "warning: the record of player 77 is not kept yet: "
                                              "the database is away\n"),
                     1);
    answer(self, "{\"keep\":\"1000002\",\"error\":\"conflict\"}");
    assert_false(server_channel_waits(self->channel));
    assert_int_equal(server_channel_count(self->channel).conflicts, 1);
}

TALK_CASE(a_host_that_keeps_no_records_is_not_asked_again) {
    look(self, 1);
    add_effect(self, false, 2, "gold");
    look(self, 2);
    pass_for(self, 10, true);
    answer(self, "{\"keep\":\"1000002\",\"error\":\"no store\",\"is_final\":true}");
    assert_false(server_channel_waits(self->channel));
    pass_for(self, 2 * SERVER_CHANNEL_LATER_MS, true);
    assert_int_equal(self->sent, 1);
    assert_int_equal(server_channel_count(self->channel).conflicts, 0);
}

TALK_CASE(after_a_resume_records_are_kept_again_and_nobody_is_moved) {
    add_effect(self, false, 90, "gold");
    add_effect(self, true, 100, "go");
    look(self, 100);
    pass_for(self, 10, true);
    assert_int_equal(self->sent, 1);
    assert_non_null(strstr(self->text, "\"keep\":"));
}

// ---- transfers, the result

TALK_CASE(a_player_is_moved_when_its_record_is_kept) {
    look(self, 1);
    add_effect(self, false, 2, "gold");
    add_effect(self, true, 2, "go");
    look(self, 2);
    pass_for(self, 100, true);
    assert_int_equal(self->sent, 1);
    answer(self, "{\"keep\":\"1000002\",\"version\":\"6\"}");
    pass_for(self, 10, true);
    assert_string_equal(self->text, "{\"match\":\"m1\",\"transfer\":\"1000004\",\"player\":\"77\","
                                    "\"to\":\"pong\",\"bytes\":\"Z28=\"}");
    answer(self, "{\"transfer\":\"1000004\",\"address\":\"1.2.3.4:5\"}"); // half of it
    assert_int_equal(self->moved, 0);
    answer(self, "{\"transfer\":\"1000004\",\"match\":\"m2\",\"address\":\"1.2.3.4:5\","
                 "\"token\":\"t\",\"page\":\"p\"}");
    assert_string_equal(self->moved_to, "3 1.2.3.4:5 t p");
    assert_int_equal(server_channel_count(self->channel).moved, 1);
    assert_false(server_channel_waits(self->channel));
}

// A slow disk: each record is followed by a newer one before the host has kept it.
TALK_CASE(a_player_who_is_sent_again_and_again_is_moved) {
    look(self, 1);
    for (uint32_t ms = 0; ms < NET_RECORD_MS_MAX; ms += 500) {
        self->told.effect_count = 0;
        add_effect(self, true, 2 + ms, "go");
        add_effect(self, false, 2 + ms, "gold");
        look(self, 2 + ms);
        pass_for(self, 500, true);
        assert_null(strstr(self->text, "\"transfer\":"));
    }
    pass_for(self, 10, true);
    assert_non_null(strstr(self->text, "\"transfer\":"));
}

TALK_CASE(a_player_who_is_not_moved_stays) {
    look(self, 1);
    add_effect(self, true, 2, "go");
    look(self, 2);
    pass_for(self, 10, true);
    answer(self, "{\"transfer\":\"1000002\",\"error\":\"no seat is free\"}");
    assert_int_equal(heard_count(&self->said, "warning: player 77 stays, and is not moved to pong: "
                                              "no seat is free\n"),
                     1);
    self->told.effect_count = 0;
    add_effect(self, true, 3, "go");
    look(self, 3);
    pass_for(self, 2 * NET_RECORD_MS_MAX + 20, true); // a host that says nothing
    assert_false(server_channel_waits(self->channel));
    assert_int_equal(server_channel_count(self->channel).refused, 2);
    assert_int_equal(self->moved, 0);
}

TALK_CASE(the_result_is_said_until_it_is_answered) {
    self->told.result_tick = 7;
    self->told.result_bytes = 3;
    memcpy(self->told.result, "won", 3);
    look(self, 6);
    pass_for(self, 10, true);
    assert_int_equal(self->sent, 0);
    look(self, 7);
    pass_for(self, 2010, true);
    assert_int_equal(self->sent, 3);
    assert_string_equal(self->text, "{\"match\":\"m1\",\"result\":\"d29u\",\"tick\":\"7\"}");
    answer(self, "{\"result\":\"7\"}");
    look(self, 8);
    pass_for(self, 2000, true);
    assert_int_equal(self->sent, 3);
    assert_false(server_channel_waits(self->channel));
}
