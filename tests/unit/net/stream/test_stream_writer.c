// SPDX-License-Identifier: MIT
// Each fault of a broker alone, with one writer.
#include "stream_world.h"

typedef struct stage {
    broker_sim* sim;
    net_broker broker;
    made_script script;
    net_stream_writer* writer;
    const net_stream_status* status;
    uint64_t now_us;
} stage;

static void open_world(stage* self) {
    *self = (stage){.sim = broker_sim_create(1), .now_us = 1000 * MS};
    self->broker = broker_sim_connect(self->sim);
    script_begin(&self->script, 11, 1, (net_log_order){0});
    self->writer = make_writer(&self->broker, &self->script);
    self->status = net_stream_writer_status(self->writer);
    broker_sim_run(self->sim, self->now_us);
}

static void close_world(stage* self) {
    net_stream_writer_destroy(self->writer);
    script_end(&self->script);
    broker_sim_destroy(self->sim);
}

static void run(stage* self, uint64_t us) {
    for (const uint64_t end_us = self->now_us + us; self->now_us < end_us; self->now_us += 100) {
        broker_sim_run(self->sim, self->now_us);
        (void)net_stream_writer_poll(self->writer, self->now_us);
    }
}

static void own(stage* self) {
    net_stream_writer_claim(self->writer, &the_start, "header", 6);
    run(self, 10 * MS);
    assert_int_equal(self->status->state, NET_STREAM_OWNED);
    assert_int_equal(self->status->acked.sequence, 1);
}

static void ticks(stage* self, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        script_tick(&self->script);
}

// Another user appends a claim.
static void intrude(stage* self, uint64_t epoch) {
    net_broker other = broker_sim_connect(self->sim);
    uint8_t memory[256];
    proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
    const net_stream_claim claim = {.writer = 99};
    net_stream_frame_claim(&message, epoch, 1 + self->status->acked.records, &claim, NULL, 0);
    const net_broker_append append = {.data = memory,
                                      .size = message.size,
                                      .expected = broker_sim_count(self->sim),
                                      .id = "other"};
    other.append(other.context, 1, &append);
    const uint64_t before = broker_sim_count(self->sim);
    self->now_us += 2 * MS;
    broker_sim_run(self->sim, self->now_us);
    assert_int_equal(broker_sim_count(self->sim), before + 1);
}

CASE(records_gather_while_an_answer_is_missing) {
    stage world;
    open_world(&world);
    own(&world);
    ticks(&world, 1);
    (void)net_stream_writer_poll(world.writer, world.now_us);
    ticks(&world, 50);
    run(&world, 5 * MS);
    assert_int_equal(world.status->acked.records, 102);
    assert_int_equal(world.status->acked.sequence, 3); // claim, one tick, 50 ticks
    assert_int_equal(world.status->acked_tick, 51);
    assert_int_equal(world.status->repeats, 0);
    close_world(&world);
}

// However often it is asked meanwhile.
CASE(a_log_that_cannot_be_read_for_a_moment_ends_no_stream) {
    stage world;
    open_world(&world);
    own(&world);
    for (uint32_t i = 0; i < 2; i++) {
        world.script.is_unreadable = true;
        ticks(&world, 10);
        run(&world, 1900 * MS);
        assert_int_equal(world.status->state, NET_STREAM_OWNED);
        world.script.is_unreadable = false;
        run(&world, 25 * MS);
        assert_int_equal(world.status->acked.records, 20 * (i + 1));
    }
    world.script.is_unreadable = true;
    ticks(&world, 1);
    run(&world, 2050 * MS);
    assert_int_equal(world.status->state, NET_STREAM_FAILED);
    assert_string_equal(world.status->text, "the log has not all of the match: the stream ends");
    close_world(&world);
}

CASE(a_close_ends_the_stream) {
    stage world;
    open_world(&world);
    own(&world);
    ticks(&world, 3);
    script_add(&world.script, NET_LOG_KIND_CLOSE);
    run(&world, 5 * MS);
    assert_int_equal(world.status->state, NET_STREAM_ENDED);
    assert_int_equal(world.status->acked.records, 7);
    close_world(&world);
}

CASE(an_answer_that_is_lost_costs_a_time_out_and_nothing_else) {
    stage world;
    open_world(&world);
    own(&world);
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.answer_lost = 1000});
    ticks(&world, 1);
    run(&world, 100 * MS);
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.delay_us_max = 100});
    assert_int_equal(broker_sim_count(world.sim), 2);
    assert_int_equal(world.status->acked.sequence, 1);
    run(&world, NET_STREAM_ANSWER_MS * MS);
    assert_int_equal(world.status->acked.sequence, 2);
    assert_int_equal(world.status->repeats, 1);
    assert_int_equal(broker_sim_count(world.sim), 2);
    close_world(&world);
}

CASE(a_wrong_last_sequence_that_was_our_own_message_goes_on) {
    stage world;
    open_world(&world);
    own(&world);
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.answer_lost = 1000});
    ticks(&world, 1);
    run(&world, 100 * MS);
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.delay_us_max = 100});
    broker_sim_restart(world.sim, world.now_us + 300 * MS); // it forgets ids
    run(&world, 600 * MS);
    assert_int_equal(world.status->state, NET_STREAM_OWNED);
    assert_int_equal(world.status->acked.sequence, 2);
    ticks(&world, 1);
    run(&world, 10 * MS);
    assert_int_equal(world.status->acked_tick, 2);
    close_world(&world);
}

CASE(a_full_broker_is_asked_until_it_has_room) {
    stage world;
    open_world(&world);
    own(&world);
    broker_sim_set_room(world.sim, 1);
    ticks(&world, 1);
    run(&world, 1500 * MS);
    assert_int_equal(world.status->trouble, NET_STREAM_FULL);
    ticks(&world, 20);
    broker_sim_set_room(world.sim, UINT64_MAX);
    run(&world, 1500 * MS);
    assert_int_equal(world.status->trouble, NET_STREAM_WELL);
    assert_int_equal(world.status->acked_tick, 21);
    close_world(&world);
}

// Of NATS 2.9 with an account's limit: the number is gone, the message is not there.
CASE(a_broker_that_counts_what_it_refused_gets_the_rest_when_it_has_room) {
    stage world;
    open_world(&world);
    own(&world);
    broker_sim_set_counts_refused(world.sim);
    broker_sim_set_room(world.sim, 1);
    ticks(&world, 1);
    run(&world, 15000 * MS);
    assert_int_equal(world.status->state, NET_STREAM_OWNED);
    assert_int_equal(world.status->trouble, NET_STREAM_FULL);
    ticks(&world, 20);
    broker_sim_set_room(world.sim, UINT64_MAX);
    run(&world, 500 * MS);
    assert_int_equal(world.status->trouble, NET_STREAM_WELL);
    assert_int_equal(world.status->acked_tick, 21);
    intrude(&world, 2);
    ticks(&world, 1);
    run(&world, 100 * MS);
    assert_int_equal(world.status->state, NET_STREAM_FENCED);
    close_world(&world);
}

CASE(a_new_match_waits_for_room_too) {
    stage world;
    open_world(&world);
    broker_sim_set_counts_refused(world.sim);
    broker_sim_set_room(world.sim, 0);
    net_stream_writer_claim(world.writer, &the_start, "header", 6);
    run(&world, 1000 * MS);
    assert_int_equal(world.status->state, NET_STREAM_CLAIMING);
    assert_int_equal(world.status->trouble, NET_STREAM_FULL);
    broker_sim_set_room(world.sim, UINT64_MAX);
    run(&world, 500 * MS);
    assert_int_equal(world.status->state, NET_STREAM_OWNED);
    close_world(&world);
}

CASE(what_no_server_wrote_ends_the_stream_and_not_the_match) {
    stage world;
    open_world(&world);
    own(&world);
    net_broker other = broker_sim_connect(world.sim);
    const net_broker_append append = {
        .data = (const uint8_t*)"hello", .size = 5, .expected = 1, .id = "other"};
    other.append(other.context, 1, &append);
    run(&world, 5 * MS);
    ticks(&world, 1);
    run(&world, 50 * MS);
    assert_int_equal(world.status->state, NET_STREAM_FAILED);
    assert_non_null(strstr(world.status->text, "has another form"));
    close_world(&world);
}

CASE(a_broker_that_is_away_a_while_gets_the_rest_when_it_is_back) {
    stage world;
    open_world(&world);
    own(&world);
    broker_sim_cut(world.sim, 0, world.now_us + 3000 * MS);
    ticks(&world, 100);
    run(&world, 2900 * MS);
    assert_int_equal(world.status->trouble, NET_STREAM_AWAY);
    run(&world, 300 * MS);
    assert_int_equal(world.status->trouble, NET_STREAM_WELL);
    assert_int_equal(world.status->acked_tick, 100);
    close_world(&world);
}

CASE(a_broker_that_stalls_is_slow_and_stores_once) {
    stage world;
    open_world(&world);
    own(&world);
    broker_sim_stall(world.sim, world.now_us + 5000 * MS);
    ticks(&world, 1);
    run(&world, 4900 * MS);
    assert_int_equal(world.status->trouble, NET_STREAM_SLOW);
    run(&world, 300 * MS);
    assert_int_equal(world.status->trouble, NET_STREAM_WELL);
    assert_int_equal(broker_sim_count(world.sim), 2);
    close_world(&world);
}

CASE(another_epoch_in_the_stream_fences_the_writer) {
    stage world;
    open_world(&world);
    own(&world);
    intrude(&world, 2);
    ticks(&world, 5);
    run(&world, 10 * MS);
    assert_int_equal(world.status->state, NET_STREAM_FENCED);
    assert_int_equal(world.status->fenced_by, 2);
    ticks(&world, 5);
    run(&world, 100 * MS);
    assert_int_equal(broker_sim_count(world.sim), 2); // claims only
    close_world(&world);
}

// The message is stored, its answer is lost, another server takes over, and the repeat is answered
// with "stored": its id is known. So the next one must show the loss.
CASE(a_known_id_does_not_hide_a_lost_stream) {
    stage world;
    open_world(&world);
    own(&world);
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.answer_lost = 1000});
    ticks(&world, 1);
    run(&world, 100 * MS);
    broker_sim_set_faults(world.sim, &(broker_sim_faults){.delay_us_max = 100});
    intrude(&world, 2);
    run(&world, NET_STREAM_ANSWER_MS * MS);
    assert_int_equal(world.status->acked.sequence, 2); // ours
    ticks(&world, 1);
    run(&world, 10 * MS);
    assert_int_equal(world.status->state, NET_STREAM_FENCED);
    close_world(&world);
}

// Both claim epoch 1. Without the writer in the id the second would be answered with "stored".
CASE(of_two_claims_of_one_epoch_one_wins) {
    stage world;
    made_script script;
    open_world(&world);
    script_begin(&script, 22, 1, (net_log_order){0});
    const net_broker broker = broker_sim_connect(world.sim);
    net_stream_writer* other = make_writer(&broker, &script);
    net_stream_writer_claim(other, &the_start, "header", 6);
    (void)net_stream_writer_poll(other, world.now_us);
    net_stream_writer_claim(world.writer, &the_start, "header", 6);
    for (uint32_t i = 0; i < 50; i++) {
        run(&world, 200);
        (void)net_stream_writer_poll(other, world.now_us);
    }
    const net_stream_state states[] = {world.status->state, net_stream_writer_status(other)->state};
    assert_true((states[0] == NET_STREAM_OWNED) != (states[1] == NET_STREAM_OWNED));
    assert_true((states[0] == NET_STREAM_FENCED) != (states[1] == NET_STREAM_FENCED));
    net_stream_writer_destroy(other);
    script_end(&script);
    close_world(&world);
}

CASE(a_claim_that_was_refused_may_be_made_again_behind_what_came) {
    stage world;
    open_world(&world);
    own(&world);
    ticks(&world, 1);
    run(&world, 10 * MS);
    made_script script;
    const net_broker broker = broker_sim_connect(world.sim);
    script_begin(&script, 22, 1, world.script.order);
    net_stream_writer* other = make_writer(&broker, &script);
    net_stream_position behind = {.epoch = 1, .sequence = 1};
    net_stream_writer_claim(other, &behind, NULL, 0);
    for (uint32_t i = 0; i < 50; i++) {
        run(&world, 200);
        (void)net_stream_writer_poll(other, world.now_us);
    }
    assert_int_equal(net_stream_writer_status(other)->state, NET_STREAM_FENCED);
    assert_int_equal(net_stream_writer_status(other)->fenced_by, 1);
    net_stream_writer_claim(other, &world.status->acked, NULL, 0);
    for (uint32_t i = 0; i < 50; i++) {
        run(&world, 200);
        (void)net_stream_writer_poll(other, world.now_us);
    }
    assert_int_equal(net_stream_writer_status(other)->state, NET_STREAM_OWNED);
    assert_int_equal(net_stream_writer_status(other)->epoch, 2);
    net_stream_writer_destroy(other);
    script_end(&script);
    close_world(&world);
}

CASE(messages_stay_below_what_the_broker_takes) {
    stage world;
    open_world(&world);
    broker_sim_set_payload_max(world.sim, NET_BROKER_PAYLOAD_BYTES_MIN);
    own(&world);
    ticks(&world, 60000); // 2 MB
    run(&world, 100 * MS);
    assert_int_equal(world.status->acked_tick, 60000);
    assert_true(broker_sim_count(world.sim) >= 3);
    for (uint64_t i = 1; i <= broker_sim_count(world.sim); i++) {
        size_t size;
        (void)broker_sim_message(world.sim, i, &size);
        assert_true(size <= NET_BROKER_PAYLOAD_BYTES_MIN - NET_STREAM_BROKER_HEAD_BYTES);
    }
    close_world(&world);
}

CASE(a_broker_that_takes_too_little_is_refused_with_a_reason) {
    stage world;
    open_world(&world);
    broker_sim_set_payload_max(world.sim, NET_BROKER_PAYLOAD_BYTES_MIN - 1);
    net_stream_writer_claim(world.writer, &the_start, "header", 6);
    run(&world, 10 * MS);
    assert_int_equal(world.status->state, NET_STREAM_FAILED);
    assert_non_null(strstr(world.status->text, "max_payload"));
    assert_int_equal(broker_sim_count(world.sim), 0);
    close_world(&world);
}

CASE(a_broker_that_lost_what_it_acknowledged_ends_the_stream) {
    stage world;
    open_world(&world);
    own(&world);
    ticks(&world, 1);
    run(&world, 10 * MS);
    broker_sim_forget(world.sim, 1);
    ticks(&world, 1);
    run(&world, 5000 * MS); // it may still elect
    assert_int_equal(world.status->state, NET_STREAM_OWNED);
    run(&world, 6000 * MS);
    assert_int_equal(world.status->state, NET_STREAM_FAILED);
    assert_non_null(strstr(world.status->text, "lost"));
    close_world(&world);
}
