// SPDX-License-Identifier: MIT
// One follower of a stream that a test writes message by message.
#include "stream/stream_report.h"
#include "stream_world.h"

#include "stream/stream_feed.h"

typedef struct stage {
    broker_sim* sim;
    net_broker broker; // of the one who writes
    made_script script;
    net_stream_follower* follower;
    const net_stream_follower_info* info;
    uint64_t now_us, request, sent, got;
} stage;

static void open_world(stage* self) {
    *self = (stage){.sim = broker_sim_create(1), .now_us = 1000 * MS};
    self->broker = broker_sim_connect(self->sim);
    const net_broker broker = broker_sim_connect(self->sim);
    script_begin(&self->script, 11, 1, (net_log_order){0});
    assert_int_equal(net_stream_follower_create(NULL, &broker, &self->follower), NET_OK);
    self->info = net_stream_follower_get(self->follower);
    broker_sim_run(self->sim, self->now_us);
}

static void close_world(stage* self) {
    net_stream_follower_destroy(self->follower);
    script_end(&self->script);
    broker_sim_destroy(self->sim);
}

static void run(stage* self, uint64_t us) {
    const uint8_t* data;
    uint32_t size;
    for (const uint64_t end_us = self->now_us + us; self->now_us < end_us; self->now_us += MS) {
        broker_sim_run(self->sim, self->now_us);
        (void)net_stream_follower_poll(self->follower, self->now_us);
        while (net_stream_follower_next(self->follower, &data, &size) == NET_STREAM_NEXT_RECORD) {
            const struct script_record* expected = &self->script.records[self->got++];
            assert_true(self->got <= self->script.count);
            assert_int_equal(size, expected->size);
            assert_memory_equal(data, expected->data, size);
        }
    }
}

static void put(stage* self, const void* data, size_t size) {
    char id[NET_BROKER_ID_BYTES];
    snprintf(id, sizeof id, "%llu", (unsigned long long)self->request);
    const net_broker_append append = {
        .data = data, .size = size, .expected = broker_sim_count(self->sim), .id = id};
    self->broker.append(self->broker.context, ++self->request, &append);
    run(self, 3 * MS);
}

static void put_claim(stage* self, uint64_t epoch, uint64_t number, const char* header) {
    uint8_t memory[256];
    proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
    const net_stream_claim claim = {.writer = epoch + 10, .key_id = 3};
    net_stream_frame_claim(&message, epoch, number, &claim, header, header ? strlen(header) : 0);
    put(self, memory, message.size);
}

// What the script has and no message has yet.
static void put_records(stage* self, uint64_t epoch, uint64_t number) {
    static uint8_t memory[1u << 16];
    proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
    net_stream_frame_begin(&message, epoch, number);
    for (; self->sent < self->script.count; self->sent++)
        assert_true(net_stream_frame_add(&message, self->script.records[self->sent].data,
                                         self->script.records[self->sent].size));
    put(self, memory, message.size);
}

static void put_tick(stage* self, uint64_t epoch) {
    script_tick(&self->script);
    put_records(self, epoch, self->sent + 1);
}

static void must_fail(stage* self, const char* text) {
    const uint8_t* data;
    uint32_t size;
    run(self, 100 * MS);
    assert_int_equal(net_stream_follower_next(self->follower, &data, &size),
                     NET_STREAM_NEXT_FAILED);
    assert_non_null(strstr(self->info->text, text));
    close_world(self);
}

CASE(records_come_in_order_with_the_header_and_end_with_the_close) {
    stage world;
    size_t size;
    open_world(&world);
    run(&world, 100 * MS);
    assert_null(net_stream_follower_header(world.follower, &size));
    put_claim(&world, 1, 1, "header");
    assert_memory_equal(net_stream_follower_header(world.follower, &size), "header", 6);
    assert_int_equal(size, 6);
    for (uint32_t i = 0; i < 10; i++)
        put_tick(&world, 1);
    run(&world, 100 * MS);
    assert_int_equal(world.got, 20);
    assert_int_equal(world.info->position.records, 20);
    assert_int_equal(world.info->position.sequence, 11);
    assert_int_equal(world.info->tick, 10);
    script_add(&world.script, NET_LOG_KIND_CLOSE);
    put_records(&world, 1, 21);
    run(&world, 10 * MS);
    assert_true(world.info->is_closed);
    const uint8_t* data;
    uint32_t bytes;
    assert_int_equal(net_stream_follower_next(world.follower, &data, &bytes), NET_STREAM_NEXT_END);
    close_world(&world);
}

CASE(messages_that_get_lost_or_come_twice_are_read_again) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    broker_sim_set_faults(
        world.sim,
        &(broker_sim_faults){.message_lost = 300, .message_twice = 300, .delay_us_max = 500});
    for (uint32_t i = 0; i < 50; i++)
        put_tick(&world, 1);
    run(&world, 5000 * MS);
    assert_int_equal(world.got, 100);
    close_world(&world);
}

CASE(a_read_that_ends_without_a_word_is_begun_again) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 1);
    run(&world, 20 * MS);
    broker_sim_restart(world.sim, world.now_us + 200 * MS);
    run(&world, 300 * MS);
    put_tick(&world, 1);
    run(&world, 1000 * MS);
    assert_int_equal(world.got, 4);
    close_world(&world);
}

CASE(a_claim_says_who_writes_from_here_on) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    run(&world, 10 * MS);
    assert_false(world.info->is_claim_new); // it took over from none
    put_tick(&world, 1);
    put_claim(&world, 2, 3, NULL);
    run(&world, 10 * MS);
    assert_int_equal(world.info->claim.writer, 12);
    assert_int_equal(world.info->claim.key_id, 3);
    assert_int_equal(world.info->position.epoch, 2);
    assert_true(world.info->is_claim_new);
    script_add(&world.script, NET_LOG_KIND_BEGIN);
    put_records(&world, 2, 3);
    run(&world, 10 * MS);
    assert_true(world.info->is_claim_new && world.info->is_in_tick);
    put_claim(&world, 3, 4, NULL);
    run(&world, 10 * MS);
    assert_true(world.info->is_claim_new && world.info->is_in_tick);
    script_add(&world.script, NET_LOG_KIND_END);
    put_records(&world, 3, 4);
    run(&world, 10 * MS);
    assert_false(world.info->is_claim_new);
    assert_int_equal(world.got, 4);
    close_world(&world);
}

CASE(silence_is_counted_while_the_broker_answers) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 1);
    run(&world, 400 * MS);
    assert_true(world.info->silence_us >= 250 * MS && world.info->silence_us <= 400 * MS);
    put_tick(&world, 1);
    assert_int_equal(world.info->silence_us, 0);
    close_world(&world);
}

CASE(a_broker_that_stalls_is_no_silence) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 1);
    broker_sim_stall(world.sim, world.now_us + 5000 * MS);
    for (uint32_t i = 0; i < 5000; i++) {
        run(&world, MS);
        assert_true(world.info->silence_us < 150 * MS);
    }
    run(&world, 150 * MS);
    assert_true(world.info->silence_us < 150 * MS);
    run(&world, (NET_STREAM_ANSWER_MS + 400) * MS);
    assert_true(world.info->silence_us >= 200 * MS); // it answers again
    close_world(&world);
}

// Three brokers elect: what they were asked is lost. A server that lives sends it once more.
CASE(behind_an_election_a_server_has_the_time_to_send_again) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 1);
    run(&world, 100 * MS);
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.request_lost = 1000});
    run(&world, 3500 * MS);
    assert_true(world.info->silence_us < 150 * MS);
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.delay_us_max = 300});
    for (uint32_t i = 0; i < NET_STREAM_ANSWER_MS; i++) {
        run(&world, MS);
        assert_true(world.info->silence_us < 150 * MS);
    }
    run(&world, 1500 * MS);
    assert_true(world.info->silence_us >= 200 * MS);
    close_world(&world);
}

CASE(a_broker_that_is_far_away_is_known_by_its_late_answers) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 1);
    run(&world, 1000 * MS);
    assert_int_equal(world.info->late_us, 0);
    broker_sim_set_faults(world.sim,
                          &(broker_sim_faults){.delay_us_min = 90 * MS, .delay_us_max = 91 * MS});
    run(&world, 10500 * MS);
    assert_true(world.info->late_us >= 10000 * MS);
    assert_int_equal(world.info->silence_us, 0);
    broker_sim_stall(world.sim, world.now_us + 12000 * MS); // that is no answer
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.delay_us_max = 500});
    run(&world, 12500 * MS);
    assert_int_equal(world.info->late_us, 0);
    close_world(&world);
}

CASE(a_broker_that_is_away_is_no_silence) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 1);
    run(&world, 200 * MS);
    broker_sim_cut(world.sim, 1, world.now_us + 2000 * MS);
    run(&world, 10 * MS);
    assert_int_equal(world.info->silence_us, 0);
    run(&world, 2050 * MS);
    assert_true(world.info->silence_us <= 100 * MS);
    close_world(&world);
}

CASE(a_stream_that_begins_without_a_claim_is_refused) {
    stage world;
    open_world(&world);
    put_tick(&world, 1);
    must_fail(&world, "does not begin a match");
}

CASE(a_stream_whose_first_messages_are_too_old_is_refused) {
    stage world;
    open_world(&world);
    broker_sim_cut(world.sim, 1, world.now_us + 100 * MS);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 1);
    broker_sim_expire(world.sim, 1);
    put_tick(&world, 1);
    run(&world, 900 * MS);
    must_fail(&world,
              "message 1 of the stream is gone, the broker keeps what is after 1: who begins "
              "now cannot follow this match");
}

// While each read finds another first message.
CASE(a_stream_that_goes_on_to_lose_its_first_messages_is_read_a_few_times_only) {
    stage world;
    const uint8_t* data;
    uint32_t size;
    open_world(&world);
    broker_sim_cut(world.sim, 1, world.now_us + 100 * MS);
    put_claim(&world, 1, 1, "header");
    for (uint32_t i = 0; i < 300; i++) {
        put_tick(&world, 1);
        broker_sim_expire(world.sim, broker_sim_count(world.sim) - 1);
    }
    assert_int_equal(net_stream_follower_next(world.follower, &data, &size),
                     NET_STREAM_NEXT_FAILED);
    assert_non_null(strstr(world.info->text, "message 1 of the stream is gone"));
    assert_in_range(broker_sim_reads(world.sim), 2, 5);
    close_world(&world);
}

// Messages that get lost are sent again at last, however long that takes.
CASE(reads_in_vain_wait_longer_and_longer) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.message_lost = 1000});
    put_tick(&world, 1);
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.message_lost = 900});
    const uint64_t before = broker_sim_reads(world.sim);
    for (uint32_t i = 0; i < 1000; i++)
        put_tick(&world, 1);
    assert_in_range(broker_sim_reads(world.sim) - before, 2, 40);
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.delay_us_max = 500});
    run(&world, 2000 * MS);
    assert_int_equal(world.got, 2002);
    close_world(&world);
}

CASE(a_number_that_a_refused_message_has_is_passed_over) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 1);
    broker_sim_set_counts_refused(world.sim);
    broker_sim_set_room(world.sim, 0);
    for (uint32_t i = 0; i < 3; i++)
        put(&world, "refused", 7);
    broker_sim_set_room(world.sim, UINT64_MAX);
    put_tick(&world, 1);
    put_claim(&world, 2, 5, NULL);
    run(&world, 200 * MS);
    assert_int_equal(world.got, 4);
    assert_int_equal(world.info->position.sequence, 7);
    assert_int_equal(world.info->position.epoch, 2);
    close_world(&world);
}

static void say_waits(stage* self, uint64_t epoch, uint64_t writer) {
    const net_stream_report report = {NET_STREAM_SERVER, true, writer, epoch};
    uint64_t due_us = 0;
    net_stream_report_send(&self->broker, &report, &due_us, 0);
    run(self, NET_STREAM_WAITS_MS * MS);
}

CASE(a_server_that_says_that_it_waits_is_not_silent) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 1);
    for (uint32_t i = 0; i < 40; i++) {
        say_waits(&world, 1, 11);
        assert_true(world.info->silence_us < 150 * MS && world.info->is_waiting);
    }
    put_tick(&world, 1);
    assert_false(world.info->is_waiting);
    for (uint32_t i = 0; i < 10; i++) { // of servers that had the match, or claim it
        say_waits(&world, 2, 11);
        say_waits(&world, 1, 12);
    }
    assert_true(world.info->silence_us >= 800 * MS && !world.info->is_waiting);
    close_world(&world);
}

CASE(an_epoch_that_goes_back_is_refused) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_claim(&world, 2, 1, NULL);
    put_claim(&world, 2, 1, NULL);
    must_fail(&world, "claims an epoch that was before");
}

CASE(an_epoch_that_leaves_some_out_is_refused) {
    static const uint64_t epochs[] = {3, UINT64_MAX};
    for (uint32_t i = 0; i < 2; i++) {
        stage world;
        open_world(&world);
        put_claim(&world, 1, 1, "header");
        put_claim(&world, epochs[i], 1, NULL);
        must_fail(&world, "message 2 of the stream claims an epoch that is not the next one");
    }
}

CASE(records_of_an_epoch_without_its_claim_are_refused) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 2);
    must_fail(&world, "is of an epoch without a claim");
}

CASE(a_number_that_does_not_follow_is_refused) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    script_tick(&world.script);
    put_records(&world, 1, 2);
    must_fail(&world, "does not have the next record");
}

CASE(records_in_an_order_that_no_log_has_are_refused) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put_tick(&world, 1);
    world.sent = 0; // the same tick again
    put_records(&world, 1, 3);
    must_fail(&world, "no log has in this order");
}

CASE(bytes_that_are_no_message_are_refused) {
    stage world;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    put(&world, "hello", 5);
    must_fail(&world, "has another form");
}

static uint64_t no_time(void) {
    return 2000 * MS;
}

CASE(a_feed_gives_all_that_came) {
    stage world;
    net_log_record record;
    open_world(&world);
    put_claim(&world, 1, 1, "header");
    const net_log_feed feed = net_stream_follower_feed(world.follower, no_time);
    assert_int_equal(feed.header_bytes, 6);
    assert_int_equal(feed.next(feed.context, &record), NET_LOG_FEED_NOTHING);
    const uint64_t count = 3;
    for (uint32_t i = 0; i < count; i++)
        script_tick(&world.script);
    uint8_t memory[256];
    for (uint32_t i = 0; i < count; i++) { // messages that nothing takes yet
        proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
        net_stream_frame_begin(&message, 1, 2 * i + 1);
        for (uint32_t k = 2 * i; k < 2 * i + 2; k++)
            assert_true(net_stream_frame_add(&message, world.script.records[k].data,
                                             world.script.records[k].size));
        char id[8];
        snprintf(id, sizeof id, "m%u", i);
        const net_broker_append append = {
            .data = memory, .size = message.size, .expected = i + 1, .id = id};
        world.broker.append(world.broker.context, 100 + i, &append);
        broker_sim_run(world.sim, world.now_us += 2 * MS);
    }
    for (uint32_t i = 0; i < 2 * count; i++) {
        assert_int_equal(feed.next(feed.context, &record), NET_LOG_FEED_RECORD);
        assert_int_equal(record.tick, 1 + i / 2);
    }
    assert_int_equal(feed.next(feed.context, &record), NET_LOG_FEED_NOTHING);
    close_world(&world);
}
