// SPDX-License-Identifier: MIT
// Segments: what a reader gets of several files, and which of them are deleted.
// The saves are made-up bytes.
#include "log_files.h"

#include <sys/wait.h>

enum { TICKS = 60, EVERY = 10 }; // a keyframe at 10, 20, ... 60

/// A log in segments of so many ticks; 0: in one file.
typedef struct segmented {
    log_files files;
    net_log_file_config config;
} segmented;

static void segmented_open(segmented* self, uint64_t segment_ticks) {
    files_open(&self->files);
    self->config = files_config_keyed(&self->files, EVERY);
    self->config.segment_ticks = segment_ticks;
}

static net_log_counters write_log(const segmented* self, ecs_tick ticks, size_t save_bytes) {
    const log_written written = files_write(&self->config, ticks, save_bytes);
    assert_ok(written.finished);
    return written.counters;
}

#define SEGMENT_CASE(name, segment_ticks)                                                          \
    CASE_WITH(segmented, self, segmented_open(self, segment_ticks), files_close(&self->files), name)

static log_sum read_log(const segmented* self) {
    return files_read_keyed(self->files.log, EVERY);
}

static const char* segment(const segmented* self, uint32_t number) {
    return file_segment(self->files.log, number);
}

static record_act drop_header(void* context, uint32_t number, const net_log_block* block,
                              uint8_t* payload) {
    return number == 0 ? RECORD_DROP : RECORD_KEEP;
}

// Also of a file without an index, with a server that was killed.
SEGMENT_CASE(a_later_file_without_its_header_block_is_damaged, 2 * EVERY) {
    (void)write_log(self, TICKS - 5, 40);
    const char* aside = file_name("%s/aside", self->files.folder);
    for (uint32_t i = 2; i <= 4; i++) {
        struct stat status;
        const char* name = i == 2 ? segment(self, i) : self->files.log;
        assert_int_equal(rename(name, aside), 0);
        log_forge(aside, name, drop_header, NULL);
        assert_int_equal(stat(name, &status), 0);
        if (i == 4) assert_int_equal(truncate(name, status.st_size - 200), 0);
        assert_int_equal(files_expect_verdict(self->files.log, "damaged").lost_ticks, 0);
        assert_int_equal(read_log(self).ends, TICKS - 5);
        assert_int_equal(rename(aside, name), 0);
    }
    files_expect_verdict(self->files.log, "whole");
}

// A log without its first segments, and the start of what is there is damaged: its index knows it.
SEGMENT_CASE(a_part_whose_start_is_damaged_says_with_which_tick_it_began, 2 * EVERY) {
    (void)write_log(self, TICKS, 40);
    assert_int_equal(unlink(segment(self, 1)), 0);
    size_t size, at = 0;
    uint8_t* bytes = file_read(segment(self, 2), &size);
    net_log_block block = {.type = NET_LOG_BLOCK_HEADER};
    while (block.type != NET_LOG_BLOCK_DATA)
        assert_true(log_block_next(bytes, size, &at, &block));
    assert_int_equal(block.first_tick, 2 * EVERY + 1);
    at += NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
    memset(bytes + 100, 0, at - 100);
    file_write(segment(self, 2), bytes, size);
    free(bytes);
    assert_int_equal(files_expect_verdict(self->files.log, "damaged").lost_ticks, EVERY);
    const log_sum got = read_log(self);
    assert_int_equal(got.info.first_tick, 2 * EVERY + 1);
    assert_int_equal(got.ends, TICKS - 3 * EVERY);
}

// All parts that a repair makes of a log: each is whole.
static ecs_tick count_copies(const segmented* self) {
    ecs_tick ticks = 0;
    net_log_copy_config config = {.output = file_name("%s/copy.slog", self->files.folder)};
    net_log_copy_result made = {0};
    net_log_reader* reader;
    (void)!net_log_reader_create(NULL, self->files.log, NULL, &reader);
    do {
        config.first = made.next_tick;
        assert_ok(net_log_copy(reader, &config, NULL, &made));
        assert_int_equal(files_expect_verdict(config.output, "whole").lost_ticks, 0);
        assert_int_equal(unlink(config.output), 0);
        ticks += made.ticks;
    } while (made.next_tick > 0);
    net_log_reader_destroy(reader);
    return ticks;
}

// Each two of its files: what a walk gets, a repair gets too.
SEGMENT_CASE(of_files_that_changed_places_a_repair_keeps_what_is_read, 2 * EVERY) {
    (void)write_log(self, TICKS, 40);
    for (uint32_t a = 1; a <= 4; a++)
        for (uint32_t b = 1; b < a; b++) {
            for (uint32_t back = 0; back < 2; back++) {
                const char* first = a == 4 ? self->files.log : segment(self, a);
                const char* aside = file_name("%s/aside", self->files.folder);
                assert_int_equal(rename(first, aside), 0);
                assert_int_equal(rename(segment(self, b), first), 0);
                assert_int_equal(rename(aside, segment(self, b)), 0);
                if (back == 1) break;
                const log_sum got = read_log(self);
                assert_true(got.ends >= 2 * EVERY && got.info.is_damaged);
                assert_int_equal(count_copies(self), got.ends);
            }
        }
}

static const char* stored_mark(const segmented* self, uint32_t number) {
    return file_name("%s.stored", segment(self, number));
}

static void wait_for_commands(void) {
    while (wait(NULL) >= 0 || errno != ECHILD) {
    }
}

SEGMENT_CASE(segments_that_are_deleted_before_they_are_stored_are_counted_and_said, EVERY) {
    static const uint8_t content[] = {'x'};
    char text[256];
    self->config.options.segments.kept_max = 1;
    self->config.options.segments.on_close = "false";
    net_log_file* file = files_start(&self->config);
    for (ecs_tick tick = 1; tick <= TICKS; tick++) {
        files_ticks(file, tick, tick, 40);
        const uint32_t closed = (uint32_t)net_log_get_counters(file).segments_closed;
        if (closed % 2 == 1) file_write(stored_mark(self, closed), content, sizeof content);
    }
    while (net_log_get_counters(file).commands_failed == 0)
        net_log_file_pump(file, false);
    assert_true(net_log_take_notice(file, text, sizeof text));
    assert_non_null(strstr(text, "warning: false failed for a closed segment, "));
    assert_true(net_log_take_notice(file, text, sizeof text));
    assert_string_equal(text, "warning: closed segments were deleted over the limits without a "
                              "mark that they are stored, 2 by now");
    const net_log_counters counters = net_log_get_counters(file);
    assert_int_equal(counters.segments_deleted, 5);
    assert_int_equal(counters.segments_unstored, 2);
    files_close_log(file, TICKS);
    for (uint32_t i = 1; i <= 5; i++)
        assert_false(file_exists(stored_mark(self, i))); // it goes with its segment
    // One that lies there is of another log.
    file_write(stored_mark(self, 1), content, sizeof content);
    (void)write_log(self, 2 * EVERY, 40);
    assert_false(file_exists(stored_mark(self, 1)));
    wait_for_commands();
}

// Another process takes a closed segment away in `tick`, and the next one later.
typedef struct theft {
    ecs_tick tick;
    uint32_t number, kept_max;
    bool is_stored;
    uint32_t said; ///< how often
} theft;

static void steal(const segmented* self, const theft* what, uint32_t number) {
    if (what->is_stored) file_write(stored_mark(self, number), (const uint8_t*)"x", 1);
    assert_int_equal(unlink(segment(self, number)), 0);
}

SEGMENT_CASE(a_closed_segment_that_another_process_takes_away_is_said_once, EVERY) {
    static const theft thefts[] = {
        {3 * EVERY + 5, 2, 0, false, 1},
        {3 * EVERY + 5, 2, 5, false, 1}, // it takes no room any more: none is deleted in its place
        {3 * EVERY + 5, 2, 5, true, 0},
        {TICKS + 1, 1, 0, false, 1}, // no keyframe follows
    };
    for (uint32_t i = 0; i < BASE_COUNT(thefts); i++) {
        const theft* what = &thefts[i];
        char text[256];
        uint32_t told = 0;
        self->config.options.segments.kept_max = what->kept_max;
        net_log_file* file = files_start(&self->config);
        for (ecs_tick tick = 1; tick <= TICKS; tick++) {
            if (tick == what->tick) steal(self, what, what->number);
            if (tick == what->tick + EVERY) steal(self, what, what->number + 1);
            files_ticks(file, tick, tick, 40);
            told += net_log_take_notice(file, text, sizeof text);
        }
        if (what->tick > TICKS) steal(self, what, what->number);
        files_end_log(file, TICKS);
        assert_ok(net_log_file_finish(file));
        told += net_log_take_notice(file, text, sizeof text);
        assert_int_equal(told, what->said);
        if (i == 0)
            assert_string_equal(text, "warning: its closed segment 2 was deleted or moved while "
                                      "the log was written: the log lacks the ticks of it");
        assert_int_equal(net_log_get_counters(file).segments_deleted, 0);
        assert_ok(net_log_file_destroy(file));
        files_clear(&self->files);
    }
}

CASE_ROWS(segmented, self, segmented_open(self, kept > 0 ? EVERY : 0), files_close(&self->files),
          kept, 3, old_segments_are_deleted_over_the_limits) {
    self->config.options.segments.kept_max = kept;
    if (kept == 0)
        self->config.options.segments.budget_bytes = 6000; // a segment of a quarter at most
    net_log_counters counters = write_log(self, TICKS, 1000);
    assert_true(counters.segments_closed > counters.segments_deleted);
    assert_true(counters.segments_deleted > 0);
    if (kept > 0) assert_int_equal(counters.segments_closed - counters.segments_deleted, kept);
    uint64_t bytes = 0;
    for (uint32_t i = 1; i <= counters.segments_closed; i++) {
        struct stat status;
        bool is_there = stat(segment(self, i), &status) == 0;
        assert_int_equal(is_there, i > counters.segments_deleted);
        bytes += is_there ? (uint64_t)status.st_size : 0;
    }
    if (kept == 0) assert_true(bytes <= 6000);
    const log_sum got = read_log(self);
    assert_false(got.info.is_damaged);
    assert_int_equal(got.ends, TICKS - got.info.first_tick + 1);
}

SEGMENT_CASE(a_crash_in_a_rotation_leaves_one_log, 0) {
    (void)write_log(self, TICKS, 40);
    // The old file has its new name already, and still its old one.
    assert_int_equal(link(self->files.log, segment(self, 1)), 0);
    const log_sum got = read_log(self);
    assert_int_equal(got.ends, TICKS);
    assert_int_equal(got.info.segment_count, 1);
    assert_false(got.info.is_damaged);
    // A segment of another log that has the name is none of ours.
    assert_int_equal(unlink(segment(self, 1)), 0);
    net_log_block block;
    size_t size;
    uint8_t* bytes = file_read(self->files.log, &size);
    const size_t at = log_block_at(bytes, size, 0, &block);
    block.identity++;
    net_log_block_header_write(&block, bytes + at);
    file_write(segment(self, 1), bytes, size);
    free(bytes);
    assert_int_equal(read_log(self).info.segment_count, 1);
    // The next log of this name takes the segments along.
    (void)write_log(self, 10, 40);
    assert_false(file_exists(segment(self, 1)));
    assert_true(file_exists(file_name("%s.1.seg0001", self->files.log)));
}

SEGMENT_CASE(a_command_runs_for_each_closed_segment, 4 * EVERY) {
    self->config.options.segments.on_close = "rm"; // it gets the file's name and no shell
    (void)write_log(self, TICKS, 40);
    wait_for_commands();
    assert_false(file_exists(segment(self, 1)));
    assert_false(file_exists(self->files.log));
    // More of them than run at a time, and all have ended before the log is destroyed.
    self->config.segment_ticks = EVERY;
    net_log_file* file = files_start(&self->config);
    files_ticks(file, 1, (NET_LOG_COMMANDS_MAX + 4) * EVERY, 40);
    assert_ok(net_log_file_finish(file));
    while (net_log_commands_go_on(file)) {
    }
    assert_true(net_log_get_counters(file).segments_closed > NET_LOG_COMMANDS_MAX);
    assert_int_equal(net_log_get_counters(file).commands_failed, 0);
    for (uint32_t i = 1; i <= net_log_get_counters(file).segments_closed; i++)
        assert_false(file_exists(segment(self, i)));
    assert_false(file_exists(self->files.log));
    assert_ok(net_log_file_destroy(file));
    // A program that is not there, and one that fails, are counted.
    net_log_command command = {.program = "/nowhere/program"};
    assert_true(net_log_command_start(&command, "x", false));
    command.program = "false";
    for (uint32_t i = 1; i < NET_LOG_COMMANDS_MAX + 5; i++)
        while (!net_log_command_start(&command, "x", false)) {
        }
    while (command.running_count > 0)
        net_log_command_reap(&command);
    assert_true(command.failures >= NET_LOG_COMMANDS_MAX + 4);
}
