// SPDX-License-Identifier: MIT
// Each fault of a broker alone, with one writer.
#include "stream_world.h"

static void run(stream_stage* self, uint64_t us) {
    for (const uint64_t end_us = self->now_us + us; self->now_us < end_us; self->now_us += 100) {
        broker_sim_run(self->sim, self->now_us);
        (void)net_stream_writer_poll(self->writer, self->now_us);
    }
}

static void own(stream_stage* self) {
    net_stream_writer_claim(self->writer, &the_start, "header", 6);
    run(self, 10 * MS);
    assert_int_equal(self->status->state, NET_STREAM_OWNED);
    assert_int_equal(self->status->acked.sequence, 1);
}

static void open_owned(stream_stage* self) {
    stage_open_writer(self);
    own(self);
}

#define STAGE_CASE(name)                                                                           \
    CASE_WITH(stream_stage, self, stage_open_writer(self), stage_close(self), name)
/// Its claim is acknowledged.
#define OWNED_CASE(name) CASE_WITH(stream_stage, self, open_owned(self), stage_close(self), name)

static void ticks(stream_stage* self, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        script_tick(&self->script);
}

// A tick is stored, and its answer is lost.
static void lose_answer(stream_stage* self) {
    broker_sim_set_faults(self->sim, &(broker_sim_faults){.answer_lost = 1000});
    ticks(self, 1);
    run(self, 100 * MS);
    broker_sim_set_faults(self->sim, &(broker_sim_faults){.delay_us_max = 100});
}

// Another user appends something.
static void append_other(stream_stage* self, const void* data, size_t size) {
    const net_broker other = broker_sim_connect(self->sim);
    const uint64_t before = broker_sim_count(self->sim);
    const net_broker_append append = {
        .data = data, .size = size, .expected = before, .id = "other"};
    other.append(other.context, 1, &append);
    broker_sim_run(self->sim, self->now_us += 2 * MS);
    assert_int_equal(broker_sim_count(self->sim), before + 1);
}

static void intrude(stream_stage* self, uint64_t epoch) {
    uint8_t memory[256];
    proto_pb_writer message = {.data = memory, .capacity = sizeof memory};
    const net_stream_claim claim = {.writer = 99};
    net_stream_frame_claim(&message, epoch, 1 + self->status->acked.records, &claim, NULL, 0);
    append_other(self, memory, message.size);
}

// However often it is asked meanwhile.
OWNED_CASE(a_log_that_cannot_be_read_for_a_moment_ends_no_stream) {
    for (uint32_t i = 0; i < 2; i++) {
        self->script.is_unreadable = true;
        ticks(self, 10);
        run(self, 1900 * MS);
        assert_int_equal(self->status->state, NET_STREAM_OWNED);
        self->script.is_unreadable = false;
        run(self, 25 * MS);
        assert_int_equal(self->status->acked.records, 20 * (i + 1));
    }
    self->script.is_unreadable = true;
    ticks(self, 1);
    run(self, 2050 * MS);
    assert_int_equal(self->status->state, NET_STREAM_FAILED);
    assert_string_equal(self->status->text, "the log has not all of the match");
}

OWNED_CASE(a_close_ends_the_stream) {
    ticks(self, 3);
    script_add(&self->script, NET_LOG_KIND_CLOSE);
    run(self, 5 * MS);
    assert_int_equal(self->status->state, NET_STREAM_ENDED);
    assert_int_equal(self->status->acked.records, 7);
}

OWNED_CASE(an_answer_that_is_lost_costs_a_time_out_and_nothing_else) {
    lose_answer(self);
    assert_int_equal(broker_sim_count(self->sim), 2);
    assert_int_equal(self->status->acked.sequence, 1);
    run(self, NET_STREAM_ANSWER_MS * MS);
    assert_int_equal(self->status->acked.sequence, 2);
    assert_int_equal(self->status->repeats, 1);
    assert_int_equal(broker_sim_count(self->sim), 2);
}

OWNED_CASE(a_wrong_last_sequence_that_was_our_own_message_goes_on) {
    lose_answer(self);
    broker_sim_restart(self->sim, self->now_us + 300 * MS); // it forgets ids
    run(self, 600 * MS);
    assert_int_equal(self->status->state, NET_STREAM_OWNED);
    assert_int_equal(self->status->acked.sequence, 2);
    ticks(self, 1);
    run(self, 10 * MS);
    assert_int_equal(self->status->acked_tick, 2);
}

typedef enum fault { FAULT_FULL, FAULT_FULL_COUNTED, FAULT_AWAY, FAULT_STALL } fault;

CASE(a_broker_with_a_trouble_gets_the_rest_when_it_is_well) {
    static const struct {
        fault what;
        uint64_t ms, after_ms; ///< in trouble, and until it has all
        uint32_t ticks, more;
        net_stream_trouble trouble;
    } rows[] = {
        {FAULT_FULL, 1500, 1500, 1, 20, NET_STREAM_FULL},
        // Of NATS 2.9 with an account's limit: the number is gone, the message is not there.
        {FAULT_FULL_COUNTED, 15000, 500, 1, 20, NET_STREAM_FULL},
        {FAULT_AWAY, 2900, 300, 100, 0, NET_STREAM_AWAY},
        {FAULT_STALL, 4900, 300, 1, 0, NET_STREAM_SLOW},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        stream_stage of, *self = &of;
        open_owned(self);
        const uint64_t well_us = self->now_us + (rows[i].ms + 100) * MS;
        if (rows[i].what == FAULT_FULL_COUNTED) broker_sim_set_counts_refused(self->sim);
        if (rows[i].what <= FAULT_FULL_COUNTED) broker_sim_set_room(self->sim, 1);
        if (rows[i].what == FAULT_AWAY) broker_sim_cut(self->sim, 0, well_us);
        if (rows[i].what == FAULT_STALL) broker_sim_stall(self->sim, well_us);
        ticks(self, rows[i].ticks);
        run(self, rows[i].ms * MS);
        assert_int_equal(self->status->state, NET_STREAM_OWNED);
        assert_int_equal(self->status->trouble, rows[i].trouble);
        ticks(self, rows[i].more);
        broker_sim_set_room(self->sim, UINT64_MAX);
        run(self, rows[i].after_ms * MS);
        assert_int_equal(self->status->trouble, NET_STREAM_WELL);
        assert_int_equal(self->status->acked_tick, rows[i].ticks + rows[i].more);
        if (rows[i].what == FAULT_STALL) assert_int_equal(broker_sim_count(self->sim), 2); // once
        intrude(self, 2);
        ticks(self, 1);
        run(self, 100 * MS);
        assert_int_equal(self->status->state, NET_STREAM_FENCED);
        stage_close(self);
    }
}

STAGE_CASE(a_new_match_waits_for_room_too) {
    broker_sim_set_counts_refused(self->sim);
    broker_sim_set_room(self->sim, 0);
    net_stream_writer_claim(self->writer, &the_start, "header", 6);
    run(self, 1000 * MS);
    assert_int_equal(self->status->state, NET_STREAM_CLAIMING);
    assert_int_equal(self->status->trouble, NET_STREAM_FULL);
    broker_sim_set_room(self->sim, UINT64_MAX);
    run(self, 500 * MS);
    assert_int_equal(self->status->state, NET_STREAM_OWNED);
}

OWNED_CASE(what_no_server_wrote_ends_the_stream_and_not_the_match) {
    append_other(self, "hello", 5);
    ticks(self, 1);
    run(self, 50 * MS);
    assert_int_equal(self->status->state, NET_STREAM_FAILED);
    assert_non_null(strstr(self->status->text, "has another form"));
}

OWNED_CASE(another_epoch_in_the_stream_fences_the_writer) {
    intrude(self, 2);
    ticks(self, 5);
    run(self, 10 * MS);
    assert_int_equal(self->status->state, NET_STREAM_FENCED);
    assert_int_equal(self->status->fenced_by, 2);
    ticks(self, 5);
    run(self, 100 * MS);
    assert_int_equal(broker_sim_count(self->sim), 2); // claims only
}

// The message is stored, its answer is lost, another server takes over, and the repeat is answered
// with "stored": its id is known. So the next one must show the loss.
OWNED_CASE(a_known_id_does_not_hide_a_lost_stream) {
    lose_answer(self);
    intrude(self, 2);
    run(self, NET_STREAM_ANSWER_MS * MS);
    assert_int_equal(self->status->acked.sequence, 2); // ours
    ticks(self, 1);
    run(self, 10 * MS);
    assert_int_equal(self->status->state, NET_STREAM_FENCED);
}

// A second writer with its own broker and script.
static net_stream_writer* make_other(stream_stage* self, made_script* script, net_log_order order) {
    const net_broker broker = broker_sim_connect(self->sim);
    script_begin(script, 22, 1, order);
    return make_writer(&broker, script);
}

static void run_both(stream_stage* self, net_stream_writer* other) {
    for (uint32_t i = 0; i < 50; i++) {
        run(self, 200);
        (void)net_stream_writer_poll(other, self->now_us);
    }
}

// Both claim epoch 1. Without the writer in the id the second would be answered with "stored".
STAGE_CASE(of_two_claims_of_one_epoch_one_wins) {
    made_script script;
    net_stream_writer* other = make_other(self, &script, (net_log_order){0});
    net_stream_writer_claim(other, &the_start, "header", 6);
    (void)net_stream_writer_poll(other, self->now_us);
    net_stream_writer_claim(self->writer, &the_start, "header", 6);
    run_both(self, other);
    const net_stream_state states[] = {self->status->state, net_stream_writer_status(other)->state};
    assert_true((states[0] == NET_STREAM_OWNED) != (states[1] == NET_STREAM_OWNED));
    assert_true((states[0] == NET_STREAM_FENCED) != (states[1] == NET_STREAM_FENCED));
    base_owner_destroy(other);
    script_end(&script);
}

OWNED_CASE(a_claim_that_was_refused_may_be_made_again_behind_what_came) {
    ticks(self, 1);
    run(self, 10 * MS);
    made_script script;
    net_stream_writer* other = make_other(self, &script, self->script.order);
    net_stream_position behind = {.epoch = 1, .sequence = 1};
    net_stream_writer_claim(other, &behind, NULL, 0);
    run_both(self, other);
    assert_int_equal(net_stream_writer_status(other)->state, NET_STREAM_FENCED);
    assert_int_equal(net_stream_writer_status(other)->fenced_by, 1);
    net_stream_writer_claim(other, &self->status->acked, NULL, 0);
    run_both(self, other);
    assert_int_equal(net_stream_writer_status(other)->state, NET_STREAM_OWNED);
    assert_int_equal(net_stream_writer_status(other)->epoch, 2);
    base_owner_destroy(other);
    script_end(&script);
}

STAGE_CASE(messages_stay_below_what_the_broker_takes) {
    broker_sim_set_payload_max(self->sim, NET_BROKER_PAYLOAD_BYTES_MIN);
    own(self);
    ticks(self, 60000); // 2 MB
    run(self, 100 * MS);
    assert_int_equal(self->status->acked_tick, 60000);
    assert_true(broker_sim_count(self->sim) >= 3);
    for (uint64_t i = 1; i <= broker_sim_count(self->sim); i++) {
        size_t size;
        (void)broker_sim_message(self->sim, i, &size);
        assert_true(size <= NET_BROKER_PAYLOAD_BYTES_MIN - NET_STREAM_BROKER_HEAD_BYTES);
    }
}

STAGE_CASE(a_broker_that_takes_too_little_is_refused_with_a_reason) {
    broker_sim_set_payload_max(self->sim, NET_BROKER_PAYLOAD_BYTES_MIN - 1);
    net_stream_writer_claim(self->writer, &the_start, "header", 6);
    run(self, 10 * MS);
    assert_int_equal(self->status->state, NET_STREAM_FAILED);
    assert_non_null(strstr(self->status->text, "max_payload"));
    assert_int_equal(broker_sim_count(self->sim), 0);
}

// The broker has nothing but the match, as this epoch.
static void has_begun_again(const stream_stage* self, uint64_t epoch, ecs_tick tick) {
    net_stream_frame frame;
    size_t size;
    const net_stream_status* status = self->status;
    assert_int_equal(status->state, NET_STREAM_OWNED);
    assert_int_equal(status->epoch, epoch);
    assert_int_equal(status->restarts, epoch - 1);
    assert_int_equal(status->acked_tick, tick);
    assert_int_equal(status->acked.records, 2 * tick);
    assert_int_equal(status->acked.sequence, broker_sim_count(self->sim));
    const uint64_t first = broker_sim_first(self->sim);
    const uint8_t* data = broker_sim_message(self->sim, first, &size);
    assert_true(net_stream_frame_read(&frame, data, size));
    assert_true(frame.kind == NET_STREAM_KIND_CLAIM && frame.header && frame.number == 1);
    assert_int_equal(frame.epoch, epoch);
}

CASE(a_stream_that_the_broker_lost_begins_again) {
    for (uint32_t kept = 0; kept < 3; kept++) {
        stream_stage of, *self = &of;
        open_owned(self);
        for (uint32_t i = 0; i < 5; i++) {
            ticks(self, 1);
            run(self, 10 * MS);
        }
        broker_sim_forget(self->sim, kept);
        ticks(self, 1);
        run(self, 5000 * MS); // it may still elect
        assert_int_equal(self->status->state, NET_STREAM_OWNED);
        run(self, 5500 * MS);
        assert_int_equal(self->status->state, NET_STREAM_FAILED);
        assert_non_null(strstr(self->status->text, "lost"));
        ticks(self, 3);
        run(self, (NET_STREAM_RESTART_MS + 100) * MS);
        has_begun_again(self, 2, 9);
        stage_close(self);
    }
}

// Its store is an older one, with more messages of an epoch before.
OWNED_CASE(a_stream_of_an_epoch_before_fences_nobody) {
    ticks(self, 1);
    run(self, 10 * MS);
    net_stream_writer_restart(self->writer);
    run(self, 10 * MS);
    has_begun_again(self, 2, 1);
    intrude(self, 1);
    ticks(self, 1);
    run(self, 12000 * MS);
    has_begun_again(self, 3, 2);
}

// A claim whose answer is lost is known by its writer.
OWNED_CASE(an_operator_may_begin_the_stream_again) {
    for (uint64_t i = 2; i < 5; i++) {
        ticks(self, 1);
        run(self, 10 * MS);
        if (i == 4) broker_sim_set_faults(self->sim, &(broker_sim_faults){.answer_lost = 300});
        net_stream_writer_restart(self->writer);
        run(self, 20000 * MS);
        has_begun_again(self, i, i - 1);
    }
}

// All of the match is there, whichever claim was stored when the next one was asked for.
OWNED_CASE(an_operator_may_ask_again_while_the_stream_begins) {
    ticks(self, 1);
    run(self, 10 * MS);
    net_stream_writer_restart(self->writer);
    (void)net_stream_writer_poll(self->writer, self->now_us); // its claim is on its way
    net_stream_writer_restart(self->writer);
    ticks(self, 2);
    run(self, 50 * MS);
    has_begun_again(self, 3, 3);
}

// What it has, others can follow.
OWNED_CASE(of_a_part_of_a_match_no_stream_begins_again) {
    self->script.is_part = true;
    ticks(self, 1);
    run(self, 10 * MS);
    net_stream_writer_restart(self->writer);
    run(self, 100 * MS);
    ticks(self, 1);
    run(self, 10 * MS);
    assert_int_equal(self->status->state, NET_STREAM_OWNED);
    assert_int_equal(self->status->acked.records, 4);
    assert_int_equal(self->status->restarts, 0);
    broker_sim_forget(self->sim, 1);
    ticks(self, 1);
    run(self, 15000 * MS);
    assert_int_equal(self->status->state, NET_STREAM_FAILED);
    assert_non_null(strstr(self->status->text, "cannot begin again"));
    intrude(self, 2);
    run(self, (NET_STREAM_RESTART_MS + 100) * MS);
    assert_int_equal(self->status->state, NET_STREAM_FENCED);
    assert_int_equal(self->status->fenced_by, 2);
}

// It fails, lives on, and another server takes the match meanwhile.
OWNED_CASE(a_stream_that_failed_shows_whose_the_match_is) {
    self->script.is_unreadable = true;
    ticks(self, 1);
    run(self, 2050 * MS);
    assert_int_equal(self->status->state, NET_STREAM_FAILED);
    intrude(self, 2);
    run(self, (NET_STREAM_RESTART_MS + 100) * MS);
    assert_int_equal(self->status->state, NET_STREAM_FENCED);
    assert_int_equal(self->status->fenced_by, 2);
    assert_int_equal(broker_sim_count(self->sim), 2);
}
