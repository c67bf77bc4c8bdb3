// SPDX-License-Identifier: MIT
// A match runs on one server, and again on another one that follows its log while it grows:
// spectators there see what it had.
#include "session_table.h"

#include "log/log_feed.h"
#include "stream/follow.h"

enum { TICKS_MAX = 4096, DELAY_S = 2 };

typedef struct relay {
    table match; ///< the server of the match
    table shown; ///< what follows it
    net_follow* follow;
    net_log_file_feed* feed; ///< given to it; NULL: it opens the log
    net_follow_state state;
    uint64_t hashes[TICKS_MAX]; ///< of the match, behind each tick
    uint64_t ran;               ///< ticks, of the relay
} relay;

static uint64_t digest_of(table* at) {
    return net_server_scope(at->server, 0, NULL, NULL).hash;
}

static void open_match(relay* self, table_config config) {
    memset(self, 0, sizeof *self);
    config.has_log = config.is_log_manual = true;
    table_open(&self->match, config);
}

static void open_shown(relay* self, bool is_whole, table_config shown) {
    table* at = &self->shown;
    shown.seed = 77;
    shown.has_log = shown.is_log_manual = shown.server.is_following = true;
    table_prepare(at, shown);
    at->now_us = self->match.now_us;
    const char* log = self->match.files.log;
    const net_follow_config config = {.file = log,
                                      .feed = self->feed ? &self->feed->feed : NULL,
                                      .begin_file = self->feed ? log : NULL,
                                      .delay_us = DELAY_S * UINT64_C(1000000),
                                      .is_whole = is_whole,
                                      .reporter = &at->said.reporter};
    assert_ok(net_follow_create(&config, &self->follow));
    assert_ok(net_follow_make_match(self->follow, at->module, &at->match));
    at->config.log_identity = net_follow_info(self->follow)->identity;
    table_serve(at);
}

static void close_all(relay* self) {
    if (self->follow) {
        table_close(&self->shown);
        net_follow_destroy(self->follow);
    }
    net_log_file_feed_destroy(self->feed);
    table_close(&self->match);
}

#define RELAY_CASE(name, ...)                                                                      \
    CASE_WITH(relay, self, open_match(self, (table_config){__VA_ARGS__}), close_all(self), name)

static void step_match(relay* self) {
    table_step(&self->match);
    net_log_pump(self->match.log);
    const ecs_tick tick = net_match_tick(self->match.match);
    assert_true(tick < TICKS_MAX);
    self->hashes[tick] = digest_of(&self->match);
}

// All that is due, then the spectators.
static void step_shown(relay* self) {
    table* at = &self->shown;
    at->now_us += TABLE_TICK_US;
    net_server_service(at->server, at->now_us);
    bool is_open = net_server_get_phase(at->server) <= NET_SERVER_RUNNING;
    while (is_open &&
           (self->state = net_follow_run(self->follow, at->server, at->now_us)) == NET_FOLLOW_RAN) {
        const ecs_tick tick = net_match_tick(at->match);
        self->ran++;
        assert_true(digest_of(at) == self->hashes[tick]);
        net_log_pump(at->log);
        is_open = net_server_get_phase(at->server) <= NET_SERVER_RUNNING;
    }
    if (self->state == NET_FOLLOW_ENDED && is_open) net_server_stop(at->server, at->now_us);
    net_server_tick(at->server, at->now_us);
    seats_step(at->seats, at->seat_count, at->now_us);
}

static void run_both(relay* self, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        step_match(self);
        if (self->follow) step_shown(self);
    }
}

// The match ends, and some time later what follows it.
static void end_both(relay* self) {
    net_server_stop(self->match.server, self->match.now_us);
    for (uint32_t i = 0; i < 600; i++) {
        if (net_server_get_phase(self->match.server) == NET_SERVER_ENDED) break;
        table_step(&self->match);
        net_log_pump(self->match.log);
        if (self->follow) step_shown(self);
    }
    table_end_log(&self->match);
    for (uint32_t i = 0; i < 600 + DELAY_S * 60; i++) {
        if (net_server_get_phase(self->shown.server) == NET_SERVER_ENDED) break;
        step_shown(self);
    }
    for (uint32_t i = 0; i < 60; i++)
        step_shown(self);
    assert_int_equal(self->state, NET_FOLLOW_ENDED);
    assert_int_equal(net_match_tick(self->shown.match), net_match_tick(self->match.match));
    const net_verify_result result = table_verify(&self->shown);
    assert_true(result.state_hash == ecs_world_state_hash(net_match_world(self->match.match)));
}

RELAY_CASE(spectators_elsewhere_see_each_tick_of_the_match, .seed = 3) {
    const net_link_config bad = {.delay_ms = 40, .jitter_ms = 20, .loss_percent = 5, .seed = 9};
    (void)table_sit(&self->match, &bad);
    run_both(self, 60);
    open_shown(self, true, (table_config){.spectators_max = 3});
    table_seat* near_ = table_watch(&self->shown, NULL);
    table_seat* far_ = table_watch(&self->shown, &bad);
    run_both(self, 240);
    table_seat* player = table_sit(&self->match, NULL);
    run_both(self, 200);
    net_client_leave(player->client, self->match.now_us);
    run_both(self, 300);
    // Ticks that wait for the delay, and for the file's blocks.
    const ecs_tick behind = net_match_tick(self->match.match) - net_match_tick(self->shown.match);
    assert_in_range(behind, DELAY_S * 60, DELAY_S * 60 + 70);
    assert_in_range(net_client_tick_newest(near_->client), net_match_tick(self->shown.match) - 3,
                    net_match_tick(self->shown.match));
    end_both(self);
    assert_int_equal(self->ran, net_match_tick(self->match.match));
    table_agrees(&self->shown);
    const net_client_report one = net_client_get_report(near_->client);
    const net_client_report other = net_client_get_report(far_->client);
    assert_true(one.scope.hash == self->hashes[one.tick]);
    assert_true(other.scope.hash == self->hashes[other.tick]);
    assert_true(one.client >= NET_SPECTATOR_FIRST && one.scope.entities > 0);
}

// What entered each tick, and the hash of the state after it, are the same.
static void expect_same_ticks(net_log_reader* a, net_log_reader* b) {
    net_log_reader* readers[] = {a, b};
    uint64_t hashes[2] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        net_log_cursor cursor = net_log_cursor_begin(readers[i]);
        for (net_log_record record; net_log_cursor_next(readers[i], &cursor, &record);)
            if (record.kind == NET_LOG_KIND_BEGIN || record.kind == NET_LOG_KIND_CONTROL ||
                record.kind == NET_LOG_KIND_END)
                hashes[i] =
                    base_hash64(record.body, record.body_bytes, hashes[i] ^ record.state_hash);
        assert_false(cursor.has_failed);
    }
    assert_true(hashes[0] == hashes[1]);
}

// A log of inputs, joins and leaves: what entered each tick stands in both.
RELAY_CASE(the_log_of_what_follows_is_that_of_the_match, .seed = 4) {
    (void)table_sit(&self->match, NULL);
    run_both(self, 30);
    open_shown(self, true, (table_config){.spectators_max = 1});
    (void)table_watch(&self->shown, NULL);
    run_both(self, 200);
    const net_match_argument name = {.data = "here", .size = 4};
    assert_ok(net_server_control(self->match.server, "mark", &name, 1, test_reporter()));
    run_both(self, 200);
    end_both(self);
    net_log_reader* a = files_reader(self->match.files.log);
    net_log_reader* b = files_reader(self->shown.files.log);
    assert_true(net_log_reader_info(a)->identity == net_log_reader_info(b)->identity);
    expect_same_ticks(a, b);
    assert_int_equal(net_log_reader_info(b)->last_tick, net_match_tick(self->match.match));
    const net_log_stats one = files_stats(a), other = files_stats(b);
    assert_int_equal(one.records[NET_LOG_KIND_CONTROL], 1);
    assert_int_equal(one.bytes[NET_LOG_KIND_BEGIN], other.bytes[NET_LOG_KIND_BEGIN]);
    assert_int_equal(one.bytes[NET_LOG_KIND_END], other.bytes[NET_LOG_KIND_END]);
    assert_int_equal(one.bytes[NET_LOG_KIND_CONTROL], other.bytes[NET_LOG_KIND_CONTROL]);
    net_log_reader_destroy(a);
    net_log_reader_destroy(b);
}

static void begin_late(relay* self) {
    (void)table_sit(&self->match, NULL);
    run_both(self, 1500);
    open_shown(self, false, (table_config){.spectators_max = 1});
    const ecs_tick begin = net_match_tick(self->shown.match);
    assert_in_range(begin, 600, 1500 - DELAY_S * 60);
    table_seat* seat = table_watch(&self->shown, NULL);
    run_both(self, 100);
    // What was made long ago is run at once.
    assert_true(net_match_tick(self->shown.match) > 1600 - DELAY_S * 60 - 70);
    assert_int_equal(net_client_next_player(seat->client, 0), 1);
    assert_string_equal(net_client_player_name(seat->client, 1), "member");
    end_both(self);
    assert_int_equal(self->ran, net_match_tick(self->match.match) - begin);
    table_agrees(&self->shown);
}

RELAY_CASE(a_late_follower_begins_at_a_keyframe, .seed = 5, .spectators_max = 1) {
    begin_late(self);
}

// As of a stream, which has no keyframes: its records come from the first one on.
RELAY_CASE(a_follower_of_records_begins_at_a_keyframe_of_a_log, .seed = 5, .spectators_max = 1) {
    assert_ok(net_log_file_feed_create(NULL, self->match.files.log, test_reporter(), &self->feed));
    begin_late(self);
}

RELAY_CASE(a_keyframe_of_another_match_is_refused, .seed = 5, .spectators_max = 1) {
    relay other;
    open_match(&other, (table_config){.seed = 6});
    run_both(self, 60);
    run_both(&other, 60);
    net_follow* follow = NULL;
    net_match* match = NULL;
    assert_ok(net_log_file_feed_create(NULL, self->match.files.log, test_reporter(), &self->feed));
    const net_follow_config config = {.file = "stream",
                                      .feed = &self->feed->feed,
                                      .begin_file = other.match.files.log,
                                      .reporter = &self->match.said.reporter};
    assert_ok(net_follow_create(&config, &follow));
    assert_int_equal(net_follow_make_match(follow, self->match.module, &match), NET_ERR_DIVERGED);
    assert_null(match);
    assert_int_equal(heard_count(&self->match.said, "it is the log of another match than stream"),
                     1);
    net_follow_destroy(follow);
    close_all(&other);
}

RELAY_CASE(a_follower_goes_on_from_segment_to_segment, .seed = 8, .log_segment_s = 10) {
    char segment[128];
    (void)table_sit(&self->match, NULL);
    run_both(self, 300);
    open_shown(self, true, (table_config){.spectators_max = 1});
    (void)table_watch(&self->shown, NULL);
    run_both(self, 1700);
    snprintf(segment, sizeof segment, "%s.seg0002", self->match.files.log);
    assert_int_equal(access(segment, F_OK), 0);
    end_both(self);
    assert_int_equal(self->ran, net_match_tick(self->match.match));
}

RELAY_CASE(nobody_plays_where_a_match_is_shown, .seed = 6) {
    run_both(self, 30);
    open_shown(self, true, (table_config){.spectators_max = 1});
    table_seat* seat = table_sit(&self->shown, NULL);
    run_both(self, 60);
    seat_refused(seat, 0, "watch it (--spectate), or play there");
    end_both(self);
}

RELAY_CASE(a_run_that_is_not_the_match_ends_with_the_tick, .seed = 7) {
    (void)table_sit(&self->match, NULL);
    run_both(self, 400);
    open_shown(self, true, (table_config){.act = table_disturb, .spectators_max = 1});
    for (uint32_t i = 0; i < 99; i++)
        assert_int_equal(net_follow_run(self->follow, self->shown.server, self->shown.now_us),
                         NET_FOLLOW_RAN);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(net_follow_run(self->follow, self->shown.server, self->shown.now_us),
                         NET_FOLLOW_DIVERGED);
    assert_int_equal(heard_count(&self->shown.said, "differs from the match in tick 100"), 1);
}
