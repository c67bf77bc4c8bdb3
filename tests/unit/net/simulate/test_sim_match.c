// SPDX-License-Identifier: MIT
// A match on the simulated network, and its log sent again: the same datagrams come out.
#include "log/log_files.h"
#include "breakout_table.h"

#include "check/sim_match.h"

enum { TICKS = 240, BOTS = 3, LEAVE_TICK = 90, JOIN_TICK = 150, UNTIL = 100 };

static const char* const bad_line = "loss=8,delay=60,jitter=25,duplicate=2,reorder=3,seed=11";

typedef struct play {
    log_files files;
    table table;
    net_log_writer* writer;
    net_sim_match* sim;
    net_sim_match_sent sent;
} play;

static net_link_pair line_of(const char* spec) {
    net_link_pair link;
    assert_ok(net_link_config_parse(spec, NULL, &link));
    return link;
}

static net_result join(play* self, uint32_t client, const char* name) {
    const net_game_player player = {.client = client, .name = name, .is_bot = client != 2};
    return net_sim_match_join(self->sim, &player);
}

static void settle(net_sim_match* sim) {
    for (uint32_t i = 0; i < 2000; i++) {
        if (net_server_get_phase(net_sim_match_server(sim)) == NET_SERVER_ENDED) return;
        net_sim_match_step(sim);
    }
    fail_msg("the match does not end");
}

// A match whose second client leaves, and to which another one comes.
static void play_open(play* self, const char* line) {
    memset(self, 0, sizeof *self);
    files_open(&self->files);
    table_open(&self->table, NULL, 0, 5, NET_ROLE_SERVER, false);
    assert_ok(net_log_writer_create(NULL, self->files.log, NULL, self->table.match, "test", 0, NULL,
                                    &self->writer));
    const net_sim_match_config config = {.module = self->table.module,
                                         .match = self->table.match,
                                         .observer = net_log_observer(self->writer),
                                         .clients_max = BOTS,
                                         .ticks_max = TICKS,
                                         .link = line_of(line)};
    assert_ok(net_sim_match_create(&config, &self->sim));
    for (uint32_t i = 0; i < BOTS; i++)
        assert_ok(join(self, i + 1, i == 0 ? "ann" : i == 1 ? "bob" : "eve"));
    assert_int_equal(join(self, BOTS + 1, "too many"), NET_ERR_FULL);
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        net_sim_match_step(self->sim);
        if (tick == LEAVE_TICK) net_sim_match_leave(self->sim, 2);
        if (tick == JOIN_TICK) assert_ok(join(self, BOTS + 1, "dan"));
    }
    settle(self->sim);
    self->sent = net_sim_match_get_sent(self->sim);
    net_log_append_close(self->writer, self->table.match);
    assert_ok(net_log_writer_destroy(self->writer));
}

static void play_close(play* self) {
    net_sim_match_destroy(self->sim);
    table_close(&self->table);
    files_close(&self->files);
}

#define PLAY_CASE(name) CASE_WITH(play, self, play_open(self, bad_line), play_close(self), name)

static net_result send_again(const play* self, const net_log_resend_config* config,
                             net_log_resend_fn each, void* context, net_log_resend_result* result) {
    net_log_reader* reader = files_reader(self->files.log);
    net_result sent =
        net_log_resend(reader, self->table.module, config, each, context, NULL, result);
    net_log_reader_destroy(reader);
    return sent;
}

// The match is that of the log on any line; what clients send and get is not.
PLAY_CASE(a_log_gives_the_same_datagrams_again_on_the_same_line) {
    static const char* const lines[] = {"loss=8,delay=60,jitter=25,duplicate=2,reorder=3,seed=12",
                                        "delay=0", NULL, NULL};
    assert_true(self->sent.lost > 20);
    for (size_t i = 0; i < BASE_COUNT(lines); i++) {
        const net_log_resend_config config = {.link = line_of(lines[i] ? lines[i] : bad_line)};
        net_log_resend_result result;
        assert_ok(send_again(self, &config, NULL, NULL, &result));
        assert_int_equal(result.ticks, TICKS);
        assert_int_equal(result.sent.hash == self->sent.hash, !lines[i]);
        assert_int_equal(result.differs_tick > 0, lines[i] != NULL);
        if (lines[i]) continue;
        assert_int_equal(result.clients, BOTS + 1);
        assert_int_equal(result.sent.datagrams, self->sent.datagrams);
        assert_int_equal(result.sent.bytes, self->sent.bytes);
    }
}

typedef struct look {
    uint32_t client;
    ecs_tick tick;
    uint32_t entities;
    uint64_t hash;
} look;

static bool look_at_mirror(void* context, net_sim_match* sim) {
    look* self = context;
    net_match* mirror = net_sim_match_mirror(sim, self->client);
    if (!mirror) return true;
    self->tick = net_sim_match_mirror_tick(sim, self->client);
    self->entities = ecs_world_entity_count(net_match_world(mirror));
    self->hash = base_hash64_mix(self->hash, self->tick);
    return true;
}

PLAY_CASE(one_client_alone_gets_what_it_should_see) {
    net_log_resend_config config = {.client = 1, .until = UNTIL};
    net_log_resend_result result;
    look seen = {.client = 1};
    assert_ok(send_again(self, &config, look_at_mirror, &seen, &result));
    assert_int_equal(result.ticks, UNTIL);
    assert_int_equal(result.clients, 1);
    assert_int_equal(seen.tick, UNTIL); // a perfect line
    assert_true(seen.entities > 10);
    seen = (look){.client = 2}; // it has left by then
    config.client = 2;
    assert_ok(send_again(self, &config, look_at_mirror, &seen, &result));
    assert_int_equal(seen.tick, LEAVE_TICK);
    config.client = 99;
    assert_int_equal(send_again(self, &config, NULL, NULL, &result), NET_ERR_UNKNOWN);
}

CASE(equal_matches_send_equal_datagrams) {
    play one, two;
    play_open(&one, "4g,seed=3");
    play_open(&two, "4g,seed=3");
    assert_true(one.sent.hash == two.sent.hash);
    assert_true(ecs_world_state_hash(net_match_world(one.table.match)) ==
                ecs_world_state_hash(net_match_world(two.table.match)));
    play_close(&one);
    play_open(&one, "4g,seed=4");
    assert_true(one.sent.hash != two.sent.hash);
    play_close(&one);
    play_close(&two);
}

CASE(a_join_that_no_server_writes_is_refused) {
    play self = {0};
    files_open(&self.files);
    table_open(&self.table, NULL, 0, 5, NET_ROLE_SERVER, false);
    assert_ok(net_log_writer_create(NULL, self.files.log, NULL, self.table.match, "test", 0, NULL,
                                    &self.writer));
    const net_game_player joins[] = {{.client = 2, .name = "bob"}, {.client = 1, .name = "ann"}};
    net_log_append_begin(self.writer,
                         &(net_tick_inputs){.tick = 1, .joins = joins, .join_count = 2});
    net_match_step(self.table.match);
    net_log_append_end(self.writer, self.table.match);
    assert_ok(net_log_writer_destroy(self.writer));
    const net_log_resend_config config = {.client = 0};
    net_log_resend_result result;
    assert_int_equal(send_again(&self, &config, NULL, NULL, &result), NET_ERR_DAMAGED);
    play_close(&self);
}

CASE(a_join_with_a_record_is_sent_again) {
    static uint8_t record[NET_RECORD_BYTES_MAX], transfer[NET_TRANSFER_BYTES_MAX];
    play self = {0};
    files_open(&self.files);
    table_open(&self.table, NULL, 0, 5, NET_ROLE_SERVER, false);
    net_match_config hosted = *net_match_get_config(self.table.match);
    hosted.is_hosted = true;
    net_match_destroy(self.table.match);
    assert_ok(net_match_create(&hosted, NULL, &self.table.match));
    assert_ok(net_log_writer_create(NULL, self.files.log, NULL, self.table.match, "test", 0, NULL,
                                    &self.writer));
    const net_game_player player = {.client = 1,
                                    .name = "ann",
                                    .player_id = 77,
                                    .has_record = true,
                                    .record_version = 5,
                                    .record = record,
                                    .record_bytes = sizeof record,
                                    .transfer = transfer,
                                    .transfer_bytes = sizeof transfer};
    memset(record, 7, sizeof record);
    net_log_append_begin(self.writer,
                         &(net_tick_inputs){.tick = 1, .joins = &player, .join_count = 1});
    net_match_join(self.table.match, &player);
    net_match_step(self.table.match);
    net_log_append_end(self.writer, self.table.match);
    assert_ok(net_log_writer_destroy(self.writer));
    const net_log_resend_config config = {.until = 1};
    net_log_resend_result result;
    assert_ok(send_again(&self, &config, NULL, NULL, &result));
    assert_true(result.ticks == 1 && result.clients == 1 && result.differs_tick == 0);
    play_close(&self);
}

static void expect_no_input_lost(const char* line) {
    table t;
    net_sim_match* sim = NULL;
    table_open(&t, NULL, 0, 5, NET_ROLE_SERVER, false);
    const net_sim_match_config config = {
        .module = t.module, .match = t.match, .clients_max = 8, .link = line_of(line)};
    assert_ok(net_sim_match_create(&config, &sim));
    for (uint32_t i = 0; i < config.clients_max; i++) {
        const char name[] = {(char)('a' + i), 0};
        const net_game_player player = {.client = i + 1, .name = name, .is_bot = true};
        assert_ok(net_sim_match_join(sim, &player));
    }
    for (uint32_t tick = 0; tick < 3600; tick++)
        net_sim_match_step(sim);
    for (uint32_t i = 0; i < config.clients_max; i++) {
        net_live_peer live;
        net_server* server = (net_server*)(uintptr_t)net_sim_match_server(sim);
        assert_true(net_server_find_client(server, i + 1, &live));
        assert_true(live.peer.inputs_received > 3500);
        assert_int_equal(live.peer.inputs_missing, 0);
    }
    net_sim_match_destroy(sim);
    table_close(&t);
}

CASE(no_input_is_lost_of_eight_players_at_five_percent_and_200_ms) {
    expect_no_input_lost("loss=5,delay=100,jitter=15,seed=3");
}

CASE(no_input_is_lost_of_eight_players_on_a_good_line) {
    expect_no_input_lost("delay=1,seed=4");
}
