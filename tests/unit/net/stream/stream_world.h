// SPDX-License-Identifier: MIT
/// Made-up records for tests of streams: a source without a log, and what a follower got.
#pragma once

#include "test.h"

#include "broker_sim.h"
#include "stream/stream_frame.h"

#define MS UINT64_C(1000)

/// Writes the next record of a made-up match behind `order`: begin and end of each tick, and alive.
/// Each has the `mark` of its writer.
static inline uint32_t made_up(net_log_order* order, net_log_kind kind, uint64_t mark,
                               uint8_t* target, uint32_t capacity) {
    proto_pb_writer wire = {.data = target, .capacity = capacity};
    const bool is_next = kind == NET_LOG_KIND_BEGIN || kind == NET_LOG_KIND_ALIVE;
    proto_pb_write_number(&wire, 1, order->tick + is_next);
    if (kind == NET_LOG_KIND_END || kind == NET_LOG_KIND_CLOSE)
        proto_pb_write_fixed64(&wire, 2, mark);
    if (kind == NET_LOG_KIND_ALIVE) proto_pb_write_number(&wire, 2, mark);
    proto_pb_write_end(&wire, 0, (uint32_t)kind);
    assert_false(wire.failed);
    net_log_record record;
    assert_true(net_log_record_read(&record, target, wire.size));
    assert_true(net_log_order_add(order, &record));
    return (uint32_t)wire.size;
}

/// A source of records that a test makes, all of them kept.
typedef struct made_script {
    uint64_t mark;
    uint64_t first;     ///< number of the first record
    bool is_unreadable; ///< nothing is found of what was appended
    bool is_part;       ///< it lacks what came first
    net_log_order order;
    struct script_record {
        uint8_t data[40];
        uint32_t size;
        ecs_tick end_tick;
        bool is_close;
    } * records;
    size_t count, capacity;
} made_script;

static inline void script_begin(made_script* self, uint64_t mark, uint64_t first,
                                net_log_order order) {
    *self = (made_script){.mark = mark, .first = first, .order = order};
}

static inline void script_add(made_script* self, net_log_kind kind) {
    if (self->count == self->capacity) {
        self->capacity = self->capacity * 2 + 64;
        self->records = realloc(self->records, self->capacity * sizeof *self->records);
        assert_non_null(self->records);
    }
    struct script_record* record = &self->records[self->count++];
    *record = (struct script_record){.is_close = kind == NET_LOG_KIND_CLOSE};
    record->size = made_up(&self->order, kind, self->mark, record->data, sizeof record->data);
    if (kind == NET_LOG_KIND_END) record->end_tick = self->order.tick;
}

static inline void script_tick(made_script* self) {
    if (!self->order.is_in_tick) script_add(self, NET_LOG_KIND_BEGIN);
    script_add(self, NET_LOG_KIND_END);
}

static inline net_stream_found script_next(void* context, uint64_t number,
                                           net_stream_record* record) {
    const made_script* self = context;
    assert_true(number >= self->first);
    if (number - self->first >= self->count) return NET_STREAM_FOUND_NOTHING;
    if (self->is_unreadable) return NET_STREAM_FOUND_LOST;
    const struct script_record* at = &self->records[number - self->first];
    *record = (net_stream_record){
        .data = at->data, .size = at->size, .end_tick = at->end_tick, .is_close = at->is_close};
    return NET_STREAM_FOUND_RECORD;
}

static inline const base_bytes* script_restart(void* context) {
    static char text[] = "header";
    static base_bytes header;
    const made_script* self = context;
    header.data = (uint8_t*)text;
    header.size = 6;
    return self->is_part ? NULL : &header;
}

static inline void script_end(made_script* self) {
    free(self->records);
}

static inline net_stream_writer* make_writer(const net_broker* broker, made_script* from) {
    const net_stream_writer_config config = {.broker = *broker,
                                             .source = {from, script_next, script_restart},
                                             .claim = {.writer = from->mark},
                                             .tick_us = 16 * MS};
    return net_stream_writer_create(&config);
}

static const net_stream_position the_start = {.epoch = 0};

/// A broker and a script of records, with who writes them or who follows.
typedef struct stream_stage {
    broker_sim* sim;
    net_broker broker; ///< of the one who writes
    made_script script;
    net_stream_writer* writer;
    const net_stream_status* status; ///< its
    net_stream_follower* follower;
    const net_stream_follower_info* info; ///< its
    uint64_t now_us;
    uint64_t request, sent, got; ///< what was put for the follower, and what it has
} stream_stage;

static inline void stage_open(stream_stage* self) {
    *self = (stream_stage){.sim = broker_sim_create(1), .now_us = 1000 * MS};
    self->broker = broker_sim_connect(self->sim);
    script_begin(&self->script, 11, 1, (net_log_order){0});
}

static inline void stage_open_writer(stream_stage* self) {
    stage_open(self);
    self->writer = make_writer(&self->broker, &self->script);
    self->status = net_stream_writer_status(self->writer);
    broker_sim_run(self->sim, self->now_us);
}

static inline void stage_close(stream_stage* self) {
    base_owner_destroy(self->writer);
    base_owner_destroy(self->follower);
    script_end(&self->script);
    broker_sim_destroy(self->sim);
}
