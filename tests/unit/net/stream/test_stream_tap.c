// SPDX-License-Identifier: MIT
// A real log, its tap and the source: what the stream gets is what the log has, whatever waits in
// memory, lies in the file, or is in the log's queue.
#include "stream_world.h"

#include "log/log_files.h"

typedef struct truth {
    base_bytes bytes; // (varint size, record)* as a stream has them
    uint64_t count;
    net_log_tap tap;
    uint8_t memory[4096];
} truth;

typedef struct log_stage {
    log_files files;
    net_log_file* log;
    net_stream_tap* tap;
    net_stream_source source;
    truth truth;
    base_reader expected;
    uint64_t number; // of the next record
    ecs_tick tick;
} log_stage;

static void note(void* context, uint32_t kind, ecs_tick tick, const void* data, uint32_t size) {
    truth* self = context;
    const uint32_t bytes = net_stream_record_write((net_log_kind)kind, data, size, self->memory);
    base_bytes_write_varint(&self->bytes, bytes);
    base_bytes_write(&self->bytes, self->memory, bytes);
    self->count++;
    self->tap.record(self->tap.context, kind, tick, data, size);
}

static void open_log(log_stage* self, uint64_t waiting_bytes, uint32_t keyframe_ticks,
                     uint64_t segment_bytes) {
    *self = (log_stage){.number = 1};
    files_open(&self->files);
    base_bytes_init(&self->truth.bytes, NULL);
    const net_stream_tap_config config = {.log_file = self->files.log,
                                          .waiting_bytes = waiting_bytes};
    self->tap = net_stream_tap_create(&config);
    self->source = net_stream_tap_source(self->tap);
    self->truth.tap = net_stream_tap_log(self->tap);
    net_log_file_config log = files_config(&self->files);
    log.ring_bytes = 1u << 16;
    log.keyframe_ticks = keyframe_ticks;
    log.options.segments.bytes_max = segment_bytes;
    log.options.tap = (net_log_tap){note, &self->truth};
    assert_int_equal(files_create(&log, &self->log), NET_OK);
}

static void close_log(log_stage* self) {
    (void)!net_log_file_destroy(self->log);
    net_stream_tap_destroy(self->tap);
    base_bytes_deinit(&self->truth.bytes);
    files_close(&self->files);
}

#define LOG_CASE(name, waiting_bytes, keyframe_ticks, segment_bytes)                               \
    CASE_WITH(log_stage, self, open_log(self, waiting_bytes, keyframe_ticks, segment_bytes),       \
              close_log(self), name)

static void add_ticks(log_stage* self, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        files_keyed_tick(self->log, ++self->tick, 300);
        net_log_file_pump(self->log, false);
    }
}

static const uint8_t* expect_next(log_stage* self, size_t* size) {
    self->expected.data = self->truth.bytes.data;
    self->expected.size = self->truth.bytes.size;
    *size = (size_t)base_reader_varint(&self->expected);
    return base_reader_skip(&self->expected, *size);
}

// Take records until there is none, at most so many, and compare each.
static net_stream_found take(log_stage* self, uint64_t most) {
    net_stream_record record;
    net_stream_found found = NET_STREAM_FOUND_RECORD;
    for (uint64_t i = 0; i < most; i++) {
        size_t size;
        found = self->source.next(self->source.context, self->number, &record);
        if (found != NET_STREAM_FOUND_RECORD) break;
        const uint8_t* data = expect_next(self, &size);
        assert_non_null(data);
        assert_int_equal(record.size, size);
        assert_memory_equal(record.data, data, size);
        // Asked once more it is the same.
        net_stream_record again;
        assert_int_equal(self->source.next(self->source.context, self->number, &again),
                         NET_STREAM_FOUND_RECORD);
        assert_ptr_equal(again.data, record.data);
        self->number++;
    }
    return found;
}

static void has_all(log_stage* self) {
    assert_int_equal(take(self, UINT64_MAX), NET_STREAM_FOUND_NOTHING);
    assert_int_equal(self->number, self->truth.count + 1);
    assert_int_equal(net_stream_tap_records(self->tap), self->truth.count);
}

CASE(records_that_wait_or_found_no_room_come_out_in_order) {
    static const struct {
        uint64_t waiting_bytes;
        uint32_t keyframe_ticks;
        uint64_t segment_bytes, segments;
    } rows[] = {{0, 0, 0, 0},
                {1024, 0, 0, 0}, // from the log and its queue: blocks have 5 ticks
                {1024, 10, 1500, 3}};
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        log_stage of, *self = &of;
        open_log(self, rows[i].waiting_bytes, rows[i].keyframe_ticks, rows[i].segment_bytes);
        add_ticks(self, 25);
        (void)take(self, 7);
        add_ticks(self, 78);
        has_all(self);
        files_alive(self->log, self->tick + 1);
        files_alive(self->log, self->tick + 1);
        add_ticks(self, 100);
        files_end_log(self->log, self->tick);
        has_all(self);
        assert_true(net_log_get_counters(self->log).segments_closed >= rows[i].segments);
        close_log(self);
    }
}

CASE(a_log_is_given_from_its_first_record_on_again) {
    static const uint64_t waiting[] = {0, 1024};
    for (uint32_t i = 0; i < 6; i++) {
        log_stage of, *self = &of;
        open_log(self, waiting[i % 2], 10, 1500);
        add_ticks(self, 40);
        (void)take(self, i < 2 || i == 5 ? 7 : UINT64_MAX);
        add_ticks(self, i < 4 ? 20 : 0);
        const base_bytes* header = self->source.restart(self->source.context);
        assert_true(header && header->size > 0);
        if (i == 5) (void)take(self, 7); // the broker refused it
        header = self->source.restart(self->source.context);
        assert_true(header && header->size > 0);
        self->number = 1;
        self->expected.offset = 0;
        add_ticks(self, 5);
        (void)take(self, 20);
        add_ticks(self, 30);
        has_all(self);
        close_log(self);
    }
}

LOG_CASE(ticks_whose_segment_was_deleted_are_lost_and_said_to_be, 1024, 10, 1500) {
    add_ticks(self, 100);
    char name[256];
    for (uint32_t i = 1; i <= 2; i++) {
        assert_true(net_log_segment_name(name, sizeof name, self->files.log, i));
        assert_int_equal(unlink(name), 0);
    }
    assert_int_equal(take(self, UINT64_MAX), NET_STREAM_FOUND_LOST);
    assert_true(self->number > 1 && self->number < 100);
    assert_null(self->source.restart(self->source.context));
}

LOG_CASE(a_log_that_failed_does_not_end_the_stream, 0, 0, 0) {
    add_ticks(self, 3);
    net_log_file_fail(self->log, "a fault");
    add_ticks(self, 3);
    assert_int_equal(self->truth.count, 12);
    has_all(self);
}

CASE(any_pace_gives_all_records_once_and_in_order) {
    for (uint64_t seed = 1; seed <= test_scaled(30, 4); seed++) {
        base_rng rng = base_rng_make(seed, 3);
        log_stage stage;
        open_log(&stage, 256u << base_rng_below(&rng, 5), base_rng_below(&rng, 2) * 10, 4000);
        for (uint32_t i = 0; i < 60; i++) {
            add_ticks(&stage, base_rng_below(&rng, 8));
            for (uint32_t alive = base_rng_below(&rng, 6); alive > 4 && alive < 60; alive += 9)
                files_alive(stage.log, stage.tick + 1);
            if (base_rng_below(&rng, 3) > 0) (void)take(&stage, base_rng_below(&rng, 30));
        }
        if (stage.number <= stage.truth.count) has_all(&stage);
        close_log(&stage);
    }
}

static const uint64_t waiting[] = {1u << 16, 1024};

// A standby's own log has what it followed; its first record as the one that writes has a number of
// the stream.
CASE_ROWS(log_stage, stage, open_log(stage, waiting[i], 10, 0), close_log(stage), i, 2,
          a_log_of_a_match_that_was_followed_goes_on_with_another_number) {
    add_ticks(stage, 50);
    for (uint64_t skipped = 0; skipped < stage->truth.count; skipped++)
        (void)expect_next(stage, &(size_t){0});
    net_stream_tap_begin(stage->tap, 777);
    stage->number = 778;
    assert_int_equal(take(stage, 1), NET_STREAM_FOUND_NOTHING);
    add_ticks(stage, 60);
    assert_int_equal(take(stage, UINT64_MAX), NET_STREAM_FOUND_NOTHING);
    assert_int_equal(stage->number, 778 + 120);
}

static net_result resume(log_stage* self, uint64_t records, bool is_changed) {
    const net_stream_tap_config config = {.log_file = self->files.log};
    net_stream_tap* tap = net_stream_tap_create(&config);
    const uint8_t* last = NULL;
    size_t size = 0;
    self->expected = base_reader_make(self->truth.bytes.data, self->truth.bytes.size);
    for (uint64_t i = 0; i < records && i < self->truth.count; i++)
        last = expect_next(self, &size);
    uint8_t copy[4096];
    if (last) memcpy(copy, last, size);
    if (last && is_changed) copy[size - 1] ^= 1;
    const net_result result = net_stream_tap_resume(tap, records, copy, (uint32_t)size, NULL);
    net_stream_tap_destroy(result == NET_OK ? self->tap : tap);
    if (result != NET_OK) return result;
    self->tap = tap;
    self->source = net_stream_tap_source(tap);
    self->number = records + 1;
    has_all(self);
    return NET_OK;
}

LOG_CASE(a_log_that_goes_on_gives_what_the_stream_lacks, 0, 10, 0) {
    add_ticks(self, 50);
    static const uint64_t numbers[] = {0, 1, 2, 37, 99, 100};
    for (uint32_t i = 0; i < BASE_COUNT(numbers); i++)
        assert_int_equal(resume(self, numbers[i], false), NET_OK);
    assert_int_equal(resume(self, 101, false), NET_ERR_DIVERGED);
    assert_int_equal(resume(self, 50, true), NET_ERR_DIVERGED);
}
