// SPDX-License-Identifier: MIT
// One follower of a stream that a test writes message by message.
#include "stream_world.h"

#include "stream/follow.h"

static void open_follower(stream_stage* self) {
    stage_open(self);
    const net_broker broker = broker_sim_connect(self->sim);
    self->follower = net_stream_follower_create(NULL, &broker);
    self->info = net_stream_follower_get(self->follower);
    broker_sim_run(self->sim, self->now_us);
}

static void run(stream_stage* self, uint64_t us) {
    const uint8_t* data;
    uint32_t size;
    for (const uint64_t end_us = self->now_us + us; self->now_us < end_us; self->now_us += MS) {
        broker_sim_run(self->sim, self->now_us);
        (void)net_stream_follower_poll(self->follower, self->now_us);
        while (net_stream_follower_next(self->follower, &data, &size) == NET_LOG_FEED_RECORD) {
            const struct script_record* expected = &self->script.records[self->got++];
            assert_true(self->got <= self->script.count);
            assert_int_equal(size, expected->size);
            assert_memory_equal(data, expected->data, size);
        }
    }
}

// It waits at the broker.
static void append_as(stream_stage* self, const void* data, size_t size, bool replaces) {
    char id[NET_BROKER_ID_BYTES];
    snprintf(id, sizeof id, "%llu", (unsigned long long)self->request);
    const net_broker_append append = {.data = data,
                                      .size = size,
                                      .expected = broker_sim_count(self->sim),
                                      .id = id,
                                      .replaces = replaces};
    self->broker.append(self->broker.context, ++self->request, &append);
}

static void append(stream_stage* self, const void* data, size_t size) {
    append_as(self, data, size, false);
}

static void put(stream_stage* self, const void* data, size_t size) {
    append(self, data, size);
    run(self, 3 * MS);
}

static void put_claim_as(stream_stage* self, uint64_t epoch, uint64_t number, const char* header,
                         bool replaces) {
    uint8_t memory[256];
    proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
    const net_stream_claim claim = {.writer = epoch + 10, .key_id = 3};
    net_stream_frame_claim(&message, epoch, number, &claim, header, header ? strlen(header) : 0);
    append_as(self, memory, message.size, replaces);
    run(self, 3 * MS);
}

static void put_claim(stream_stage* self, uint64_t epoch, uint64_t number, const char* header) {
    put_claim_as(self, epoch, number, header, false);
}

// What the script has and no message has yet.
static void append_records(stream_stage* self, uint64_t epoch, uint64_t number) {
    static uint8_t memory[1u << 16];
    proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
    net_stream_frame_begin(&message, NET_STREAM_KIND_RECORDS, epoch, number);
    for (; self->sent < self->script.count; self->sent++)
        assert_true(net_stream_frame_add(&message, self->script.records[self->sent].data,
                                         self->script.records[self->sent].size));
    append(self, memory, message.size);
}

static void put_records(stream_stage* self, uint64_t epoch, uint64_t number) {
    append_records(self, epoch, number);
    run(self, 3 * MS);
}

static void put_tick(stream_stage* self, uint64_t epoch) {
    script_tick(&self->script);
    put_records(self, epoch, self->sent + 1);
}

static void expect_failure(stream_stage* self, const char* text) {
    const uint8_t* data;
    uint32_t size;
    run(self, 100 * MS);
    assert_int_equal(net_stream_follower_next(self->follower, &data, &size), NET_LOG_FEED_FAILED);
    assert_non_null(strstr(self->info->text, text));
}

static void open_claimed(stream_stage* self, uint32_t ticks) {
    open_follower(self);
    put_claim(self, 1, 1, "header");
    for (uint32_t i = 0; i < ticks; i++)
        put_tick(self, 1);
}

#define STAGE_CASE(name) CASE_WITH(stream_stage, self, open_follower(self), stage_close(self), name)
/// The stream begins with a claim, and has so many ticks.
#define CLAIMED_CASE(name, ticks)                                                                  \
    CASE_WITH(stream_stage, self, open_claimed(self, ticks), stage_close(self), name)

STAGE_CASE(records_come_in_order_with_the_header_and_end_with_the_close) {
    size_t size;
    run(self, 100 * MS);
    assert_null(net_stream_follower_header(self->follower, &size));
    put_claim(self, 1, 1, "header");
    assert_memory_equal(net_stream_follower_header(self->follower, &size), "header", 6);
    assert_int_equal(size, 6);
    for (uint32_t i = 0; i < 10; i++)
        put_tick(self, 1);
    run(self, 100 * MS);
    assert_int_equal(self->got, 20);
    assert_int_equal(self->info->position.records, 20);
    assert_int_equal(self->info->position.sequence, 11);
    assert_int_equal(self->info->tick, 10);
    script_add(&self->script, NET_LOG_KIND_CLOSE);
    put_records(self, 1, 21);
    run(self, 10 * MS);
    assert_true(self->info->is_closed);
    const uint8_t* data;
    uint32_t bytes;
    assert_int_equal(net_stream_follower_next(self->follower, &data, &bytes), NET_LOG_FEED_END);
}

CLAIMED_CASE(messages_that_get_lost_or_come_twice_are_read_again, 0) {
    broker_sim_set_faults(
        self->sim,
        &(broker_sim_faults){.message_lost = 300, .message_twice = 300, .delay_us_max = 500});
    for (uint32_t i = 0; i < 50; i++)
        put_tick(self, 1);
    run(self, 5000 * MS);
    assert_int_equal(self->got, 100);
}

// Three brokers elect: what they were asked is lost. A server that lives sends it once more.
CLAIMED_CASE(behind_an_election_a_server_has_the_time_to_send_again, 1) {
    run(self, 100 * MS);
    broker_sim_set_faults(self->sim, &(broker_sim_faults){.request_lost = 1000});
    run(self, 3500 * MS);
    assert_true(self->info->silence_us < 150 * MS);
    broker_sim_set_faults(self->sim, &(broker_sim_faults){.delay_us_max = 300});
    for (uint32_t i = 0; i < NET_STREAM_ANSWER_MS; i++) {
        run(self, MS);
        assert_true(self->info->silence_us < 150 * MS);
    }
    run(self, 1500 * MS);
    assert_true(self->info->silence_us >= 200 * MS);
}

CLAIMED_CASE(a_broker_that_is_far_away_is_known_by_its_late_answers, 1) {
    run(self, 1000 * MS);
    assert_int_equal(self->info->late_us, 0);
    broker_sim_set_faults(self->sim,
                          &(broker_sim_faults){.delay_us_min = 90 * MS, .delay_us_max = 91 * MS});
    run(self, 10500 * MS);
    assert_true(self->info->late_us >= 10000 * MS);
    assert_int_equal(self->info->silence_us, 0);
    broker_sim_stall(self->sim, self->now_us + 12000 * MS); // that is no answer
    broker_sim_set_faults(self->sim, &(broker_sim_faults){.delay_us_max = 500});
    run(self, 12500 * MS);
    assert_int_equal(self->info->late_us, 0);
}

// The broker was away from both, and its server waits longer and longer before it connects again.
CLAIMED_CASE(behind_a_lost_connection_a_server_has_the_time_to_connect, 1) {
    for (uint32_t away_ms = 4000; away_ms <= 64000; away_ms *= 4) {
        const uint32_t wait_ms = away_ms < 15000 ? 2 * away_ms : NET_STREAM_AGAIN_MS_MAX;
        run(self, 200 * MS);
        broker_sim_cut(self->sim, 1, self->now_us + away_ms * MS);
        run(self, away_ms * MS);
        for (uint32_t i = 0; i < wait_ms; i++) {
            run(self, MS);
            assert_true(self->info->silence_us < 100 * MS);
        }
        run(self, 3000 * MS);
        assert_true(self->info->silence_us >= 200 * MS);
    }
}

STAGE_CASE(a_stream_whose_first_messages_are_too_old_is_refused) {
    broker_sim_cut(self->sim, 1, self->now_us + 100 * MS);
    put_claim(self, 1, 1, "header");
    put_tick(self, 1);
    broker_sim_expire(self->sim, 1);
    put_tick(self, 1);
    run(self, 900 * MS);
    expect_failure(self,
                   "message 1 of the stream is gone, the broker keeps what is after 1: who begins "
                   "now cannot follow this match");
}

// While each read finds another first message.
STAGE_CASE(a_stream_that_goes_on_to_lose_its_first_messages_is_read_a_few_times_only) {
    broker_sim_cut(self->sim, 1, self->now_us + 100 * MS);
    put_claim(self, 1, 1, "header");
    for (uint32_t i = 0; i < 300; i++) {
        put_tick(self, 1);
        broker_sim_expire(self->sim, broker_sim_count(self->sim) - 1);
    }
    expect_failure(self, "message 1 of the stream is gone");
    assert_in_range(broker_sim_reads(self->sim), 2, 5);
}

// Messages that get lost are sent again at last, however long that takes.
CLAIMED_CASE(reads_in_vain_wait_longer_and_longer, 0) {
    broker_sim_set_faults(self->sim, &(broker_sim_faults){.message_lost = 1000});
    put_tick(self, 1);
    broker_sim_set_faults(self->sim, &(broker_sim_faults){.message_lost = 900});
    const uint64_t before = broker_sim_reads(self->sim);
    for (uint32_t i = 0; i < 1000; i++)
        put_tick(self, 1);
    assert_in_range(broker_sim_reads(self->sim) - before, 2, 40);
    broker_sim_set_faults(self->sim, &(broker_sim_faults){.delay_us_max = 500});
    run(self, 2000 * MS);
    assert_int_equal(self->got, 2002);
}

CLAIMED_CASE(a_number_that_a_refused_message_has_is_passed_over, 1) {
    broker_sim_set_counts_refused(self->sim);
    broker_sim_set_room(self->sim, 0);
    for (uint32_t i = 0; i < 3; i++)
        put(self, "refused", 7);
    broker_sim_set_room(self->sim, UINT64_MAX);
    put_tick(self, 1);
    put_claim(self, 2, 5, NULL);
    run(self, 200 * MS);
    assert_int_equal(self->got, 4);
    assert_int_equal(self->info->position.sequence, 7);
    assert_int_equal(self->info->position.epoch, 2);
}

static void say_waits(stream_stage* self, uint64_t epoch, uint64_t writer) {
    const net_stream_report report = {NET_STREAM_SERVER, true, writer, epoch, 0};
    uint64_t due_us = 0;
    net_stream_report_send(&self->broker, &report, &due_us, 0);
    run(self, NET_STREAM_WAITS_MS * MS);
}

CLAIMED_CASE(a_server_that_says_that_it_waits_is_not_silent, 1) {
    for (uint32_t i = 0; i < 40; i++) {
        say_waits(self, 1, 11);
        assert_true(self->info->silence_us < 150 * MS && self->info->is_waiting);
    }
    put_tick(self, 1);
    assert_false(self->info->is_waiting);
    for (uint32_t i = 0; i < 10; i++) { // of servers that had the match, or claim it
        say_waits(self, 2, 11);
        say_waits(self, 1, 12);
    }
    assert_true(self->info->silence_us >= 800 * MS && !self->info->is_waiting);
}

// A match of 20 ticks, of which the last one may be open. The broker keeps so many messages of it;
// the server begins the stream again, and its records come in messages of other lengths.
CASE(who_follows_a_stream_that_begins_again_passes_over_what_came) {
    for (uint32_t i = 0; i < 36; i++) {
        stream_stage of, *self = &of;
        open_claimed(self, 20);
        if (i % 2) script_add(&self->script, NET_LOG_KIND_BEGIN);
        if (i % 2) put_records(self, 1, self->sent + 1);
        static const uint64_t kept[] = {0, 1, 2, 15, 20, UINT64_MAX};
        const uint64_t count = broker_sim_count(self->sim);
        const uint64_t left = kept[i % 6];
        if (left < count) broker_sim_forget(self->sim, left);
        const uint64_t got = self->got;
        run(self, 1500 * MS);
        assert_true((self->info->silence_us > 0) == (left >= count)); // else no standby may claim
        put_claim_as(self, 2, 1, "header", true);
        run(self, 600 * MS);
        assert_true(self->info->is_passing && self->info->silence_us == 0);
        script_tick(&self->script);
        const uint64_t all = self->script.count;
        const uint64_t step = i / 6 * 7 + 1;
        self->sent = 0;
        while (self->sent < all) {
            const uint64_t end = self->sent + step < all ? self->sent + step : all;
            self->script.count = end;
            append_records(self, 2, self->sent + 1);
            self->script.count = all;
            broker_sim_run(self->sim, self->now_us += MS);
            if (i % 5 == 0) run(self, 60 * MS);
        }
        run(self, 1000 * MS);
        assert_int_equal(self->got, all);
        assert_true(self->got > got && !self->info->is_passing);
        assert_int_equal(self->info->position.records, all);
        assert_int_equal(self->info->position.sequence, broker_sim_count(self->sim));
        assert_int_equal(self->info->position.epoch, 2);
        assert_true(self->info->silence_us > 0 && !self->info->is_claim_new);
        put_claim(self, 3, all + 1, NULL);
        script_tick(&self->script);
        put_records(self, 3, all + 1);
        assert_int_equal(self->got, all + 2);
        stage_close(self);
    }
}

// The broker has an older store, with more messages of the epoch before.
CLAIMED_CASE(messages_of_an_epoch_before_are_waited_out, 3) {
    put_claim(self, 2, 7, NULL);
    put_tick(self, 2);
    const uint64_t reads = broker_sim_reads(self->sim);
    self->sent = 0;
    put_records(self, 1, 1);
    run(self, 3000 * MS);
    assert_int_equal(self->info->silence_us, 0);
    assert_in_range(broker_sim_reads(self->sim) - reads, 1, 12);
    put_claim_as(self, 3, 1, "header", true);
    script_tick(&self->script);
    self->sent = 0;
    put_records(self, 3, 1);
    run(self, 1000 * MS);
    assert_int_equal(self->got, 10);
    assert_int_equal(self->info->position.epoch, 3);
}

CASE(streams_that_no_server_writes_are_refused) {
    static const struct {
        const char* text;
        uint64_t claims[3];
        uint64_t epoch, number; ///< of a tick behind them; 0: none
        bool is_again;          ///< the same tick follows it
        const char* bytes;      ///< that are put last, or NULL
    } rows[] = {
        {"does not begin a match", {0}, 1, 1, false, NULL},
        {"claims an epoch that was before", {1, 2, 2}, 0, 0, false, NULL},
        {"message 2 of the stream claims an epoch that is not the next one", {1, 3}, 0, 0, 0, NULL},
        {"message 2 of the stream claims an epoch that is not the next one",
         {1, UINT64_MAX},
         0,
         0,
         0,
         NULL},
        {"is of an epoch without a claim", {1}, 2, 1, false, NULL},
        {"does not have the next record", {1}, 1, 2, false, NULL},
        {"no log has in this order", {1}, 1, 1, true, NULL},
        {"has another form", {1}, 0, 0, false, "hello"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        stream_stage of, *self = &of;
        open_follower(self);
        for (uint32_t k = 0; k < 3 && rows[i].claims[k] > 0; k++)
            put_claim(self, rows[i].claims[k], 1, k == 0 ? "header" : NULL);
        if (rows[i].epoch > 0) script_tick(&self->script);
        if (rows[i].epoch > 0) put_records(self, rows[i].epoch, rows[i].number);
        self->sent = 0;
        if (rows[i].is_again) put_records(self, rows[i].epoch, 3);
        if (rows[i].bytes) put(self, rows[i].bytes, strlen(rows[i].bytes));
        expect_failure(self, rows[i].text);
        stage_close(self);
    }
}

STAGE_CASE(a_feed_gives_all_that_came) {
    net_log_record record;
    put_claim(self, 1, 1, "header");
    const net_log_feed feed = net_stream_follower_feed(self->follower);
    assert_int_equal(feed.header_bytes, 6);
    assert_int_equal(feed.next(feed.context, &record), NET_LOG_FEED_NOTHING);
    const uint64_t count = 3;
    for (uint32_t i = 0; i < count; i++) {
        script_tick(&self->script);
        append_records(self, 1, 2 * i + 1);
        broker_sim_run(self->sim, self->now_us += 2 * MS);
    }
    for (uint32_t i = 0; i < 2 * count; i++) {
        assert_int_equal(feed.next(feed.context, &record), NET_LOG_FEED_RECORD);
        assert_int_equal(record.tick, 1 + i / 2);
    }
    assert_int_equal(feed.next(feed.context, &record), NET_LOG_FEED_NOTHING);
}
