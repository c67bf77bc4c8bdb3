// SPDX-License-Identifier: MIT
// Segments: what a reader gets of several files, and which of them are deleted.
// The saves are made-up bytes.
#include "log_keyed.h"

#include <sys/wait.h>

static void segment_name(char name[128], const log_files* files, uint32_t number) {
    assert_true(net_log_segment_name(name, 128, files->log, number));
}

FILES_CASE(segments_are_read_as_one_log_and_each_alone) {
    char name[128];
    net_log_file_config config = keyed_config(files);
    config.segment_ticks = 2 * EVERY;
    net_log_counters counters = write_keyed(&config, TICKS, 40);
    assert_int_equal(counters.segments_closed, 3);
    seen self = read_keyed(files->log);
    assert_int_equal(self.ticks, TICKS);
    assert_false(self.info.is_damaged || self.info.is_cut);
    assert_true(self.info.is_closed);
    assert_int_equal(self.info.segment_count, 4);
    assert_int_equal(self.info.keyframe_count, TICKS / EVERY);
    assert_int_equal(self.info.first_tick, 1);
    for (uint32_t i = 1; i <= 3; i++) {
        segment_name(name, files, i);
        self = read_keyed(name);
        assert_int_equal(self.ticks, 2 * EVERY);
        assert_true(self.has[(i - 1) * 2 * EVERY + 1] && self.has[i * 2 * EVERY]);
        assert_int_equal(self.info.first_tick, (i - 1) * 2 * EVERY + 1);
        assert_int_equal(self.info.last_tick, i * 2 * EVERY);
        // It was closed in good order, though the log did not end with it.
        assert_false(self.info.is_cut || self.info.is_damaged);
    }
    // The middle one is gone: reading goes on behind it.
    segment_name(name, files, 2);
    assert_int_equal(unlink(name), 0);
    self = read_keyed(files->log);
    assert_int_equal(self.ticks, TICKS - 2 * EVERY);
    assert_int_equal(self.info.lost_ticks, 2 * EVERY);
    assert_true(self.info.is_damaged);
    // The first one too: the log begins later, and nothing inside of it is missing.
    segment_name(name, files, 1);
    assert_int_equal(unlink(name), 0);
    self = read_keyed(files->log);
    assert_int_equal(self.info.first_tick, 4 * EVERY + 1);
    assert_int_equal(self.ticks, TICKS - 4 * EVERY);
    assert_false(self.info.is_damaged);
}

// What a log says once all of it was read.
static void expect_verdict(const char* log, const char* verdict, uint64_t lost_ticks) {
    net_log_reader* reader;
    (void)!net_log_reader_create(NULL, log, NULL, &reader);
    assert_non_null(reader);
    assert_string_equal(net_log_reader_verdict(reader), verdict);
    assert_int_equal(net_log_reader_info(reader)->lost_ticks, lost_ticks);
    net_log_reader_destroy(reader);
}

// Also of a file without an index, with a server that was killed.
FILES_CASE(a_later_file_without_its_header_block_is_damaged) {
    char name[128];
    net_log_file_config config = keyed_config(files);
    config.segment_ticks = 2 * EVERY;
    (void)write_keyed(&config, TICKS - 5, 40);
    for (uint32_t i = 2; i <= 4; i++) {
        size_t size;
        net_log_block block;
        segment_name(name, files, i);
        if (i > 2) strcpy(name, files->log);
        uint8_t* bytes = file_read(name, &size);
        assert_true(net_log_block_header_read(&block, bytes + NET_LOG_PROLOGUE_BYTES));
        const size_t head = NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
        uint8_t* copy = malloc(size);
        memcpy(copy, bytes, size);
        memmove(copy + NET_LOG_PROLOGUE_BYTES, copy + NET_LOG_PROLOGUE_BYTES + head,
                size - NET_LOG_PROLOGUE_BYTES - head);
        file_write(name, copy, size - head - (i == 4 ? 200 : 0));
        expect_verdict(files->log, "damaged", 0);
        assert_int_equal(read_keyed(files->log).ticks, TICKS - 5);
        file_write(name, bytes, size);
        free(copy);
        free(bytes);
    }
    expect_verdict(files->log, "whole", 0);
}

FILES_CASE(a_log_without_its_last_file_is_cut) {
    char name[128];
    net_log_file_config config = keyed_config(files);
    config.segment_ticks = 2 * EVERY;
    (void)write_keyed(&config, TICKS, 40);
    segment_name(name, files, 3);
    expect_verdict(name, "whole", 0); // alone it is a closed segment
    assert_int_equal(rename(name, files->log), 0);
    expect_verdict(files->log, "cut", 0);
    const seen got = read_keyed(files->log);
    assert_int_equal(got.ticks, TICKS);
    assert_true(got.is_told);
}

// A log without its first segments, and the start of what is there is damaged: its index knows it.
FILES_CASE(a_part_whose_start_is_damaged_says_with_which_tick_it_began) {
    char name[128];
    net_log_file_config config = keyed_config(files);
    config.segment_ticks = 2 * EVERY;
    (void)write_keyed(&config, TICKS, 40);
    segment_name(name, files, 1);
    assert_int_equal(unlink(name), 0);
    segment_name(name, files, 2);
    size_t size, at = NET_LOG_PROLOGUE_BYTES;
    uint8_t* bytes = file_read(name, &size);
    net_log_block block;
    for (bool is_data = false; !is_data; is_data = block.type == NET_LOG_BLOCK_DATA) {
        assert_true(net_log_block_header_read(&block, bytes + at));
        at += NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
    }
    assert_int_equal(block.first_tick, 2 * EVERY + 1);
    memset(bytes + 100, 0, at - 100);
    file_write(name, bytes, size);
    free(bytes);
    expect_verdict(files->log, "damaged", EVERY);
    const seen got = read_keyed(files->log);
    assert_int_equal(got.info.first_tick, 2 * EVERY + 1);
    assert_int_equal(got.ticks, TICKS - 3 * EVERY);
}

// All parts that a repair makes of a log: each is whole.
static ecs_tick count_copies(const log_files* files) {
    char output[128];
    ecs_tick ticks = 0;
    net_log_copy_config config = {.output = output};
    net_log_copy_result made = {0};
    net_log_reader* reader;
    (void)!net_log_reader_create(NULL, files->log, NULL, &reader);
    snprintf(output, sizeof output, "%s/copy.slog", files->folder);
    do {
        config.first = made.next_tick;
        assert_ok(net_log_copy(reader, &config, NULL, &made));
        expect_verdict(output, "whole", 0);
        assert_int_equal(unlink(output), 0);
        ticks += made.ticks;
    } while (made.next_tick > 0);
    net_log_reader_destroy(reader);
    return ticks;
}

// Each two of its files: what a walk gets, a repair gets too.
FILES_CASE(of_files_that_changed_places_a_repair_keeps_what_is_read) {
    char names[4][128], aside[128];
    net_log_file_config config = keyed_config(files);
    config.segment_ticks = 2 * EVERY;
    (void)write_keyed(&config, TICKS, 40);
    snprintf(aside, sizeof aside, "%s/aside", files->folder);
    for (uint32_t i = 0; i < 4; i++)
        segment_name(names[i], files, i + 1);
    strcpy(names[3], files->log);
    for (uint32_t a = 0; a < 4; a++)
        for (uint32_t b = 0; b < a; b++) {
            for (uint32_t back = 0; back < 2; back++) {
                assert_int_equal(rename(names[a], aside), 0);
                assert_int_equal(rename(names[b], names[a]), 0);
                assert_int_equal(rename(aside, names[b]), 0);
                if (back == 1) break;
                const seen got = read_keyed(files->log);
                assert_true(got.ticks >= 2 * EVERY && got.info.is_damaged);
                assert_int_equal(count_copies(files), got.ticks);
            }
        }
}

static void stored_name(char name[128], const log_files* files, uint32_t number) {
    snprintf(name, 128, "%s.seg%04u.stored", files->log, number);
}

FILES_CASE(segments_that_are_deleted_before_they_are_stored_are_counted_and_said) {
    static const uint8_t content[] = {'x'};
    char mark[128], text[256];
    net_log_file_config config = keyed_config(files);
    config.segment_ticks = EVERY;
    config.segments.kept_max = 1;
    config.segments.on_close = "false";
    net_log_file* file;
    assert_ok(files_create(&config, &file));
    for (ecs_tick tick = 1; tick <= TICKS; tick++) {
        files_keyed_tick(file, tick, 40);
        net_log_file_pump(file, false);
        const uint32_t closed = (uint32_t)net_log_file_counters(file).segments_closed;
        stored_name(mark, files, closed);
        if (closed % 2 == 1) file_write(mark, content, sizeof content);
    }
    while (net_log_file_counters(file).commands_failed == 0)
        net_log_file_pump(file, false);
    assert_true(net_log_file_take_notice(file, text, sizeof text));
    assert_non_null(strstr(text, "warning: false failed for a closed segment, "));
    assert_true(net_log_file_take_notice(file, text, sizeof text));
    assert_string_equal(text, "warning: closed segments were deleted over the limits without a "
                              "mark that they are stored, 2 by now");
    const net_log_counters counters = net_log_file_counters(file);
    assert_int_equal(counters.segments_deleted, 5);
    assert_int_equal(counters.segments_unstored, 2);
    files_end_log(file, TICKS);
    assert_ok(net_log_file_destroy(file));
    for (uint32_t i = 1; i <= 5; i++) {
        stored_name(mark, files, i);
        assert_false(file_exists(mark)); // it goes with its segment
    }
    // One that lies there is of another log.
    stored_name(mark, files, 1);
    file_write(mark, content, sizeof content);
    (void)write_keyed(&config, 2 * EVERY, 40);
    assert_false(file_exists(mark));
    while (wait(NULL) >= 0 || errno != ECHILD) {
    }
}

// Another process takes a closed segment away in `tick`, and the next one later.
typedef struct theft {
    ecs_tick tick;
    uint32_t number, kept_max;
    bool is_stored;
} theft;

static void steal(const log_files* files, const theft* what, uint32_t number) {
    char name[128];
    stored_name(name, files, number);
    if (what->is_stored) file_write(name, (const uint8_t*)"x", 1);
    segment_name(name, files, number);
    assert_int_equal(unlink(name), 0);
}

// @return how often something was said; `text` has what.
static uint32_t write_and_steal(const log_files* files, const theft* what, char text[256]) {
    net_log_file_config config = keyed_config(files);
    config.segment_ticks = EVERY;
    config.segments.kept_max = what->kept_max;
    net_log_file* file;
    uint32_t said = 0;
    assert_ok(files_create(&config, &file));
    for (ecs_tick tick = 1; tick <= TICKS; tick++) {
        if (tick == what->tick) steal(files, what, what->number);
        if (tick == what->tick + EVERY) steal(files, what, what->number + 1);
        files_keyed_tick(file, tick, 40);
        net_log_file_pump(file, false);
        said += net_log_file_take_notice(file, text, 256);
    }
    if (what->tick > TICKS) steal(files, what, what->number);
    files_end_log(file, TICKS);
    assert_ok(net_log_file_finish(file));
    said += net_log_file_take_notice(file, text, 256);
    assert_int_equal(net_log_file_counters(file).segments_deleted, 0);
    assert_ok(net_log_file_destroy(file));
    files_clear(files);
    return said;
}

FILES_CASE(a_closed_segment_that_another_process_takes_away_is_said_once) {
    char text[256];
    theft what = {.tick = 3 * EVERY + 5, .number = 2};
    assert_int_equal(write_and_steal(files, &what, text), 1);
    assert_string_equal(text,
                        "warning: its closed segment 2 was deleted or moved while the log was "
                        "written: the log lacks the ticks of it");
    what.kept_max = 5; // it takes no room any more: none is deleted in its place
    assert_int_equal(write_and_steal(files, &what, text), 1);
    what.is_stored = true;
    assert_int_equal(write_and_steal(files, &what, text), 0);
    what = (theft){.tick = TICKS + 1, .number = 1}; // no keyframe follows
    assert_int_equal(write_and_steal(files, &what, text), 1);
}

CASE(old_segments_are_deleted_over_the_limits) {
    for (uint32_t kept = 0; kept <= 2; kept++) {
        log_files files;
        char name[128];
        files_open(&files);
        net_log_file_config config = keyed_config(&files);
        if (kept > 0) config.segment_ticks = EVERY;
        config.segments.kept_max = kept;
        if (kept == 0) config.segments.budget_bytes = 6000; // a segment of a quarter at most
        net_log_counters counters = write_keyed(&config, TICKS, 1000);
        assert_true(counters.segments_closed > counters.segments_deleted);
        assert_true(counters.segments_deleted > 0);
        if (kept > 0) assert_int_equal(counters.segments_closed - counters.segments_deleted, kept);
        uint64_t bytes = 0;
        for (uint32_t i = 1; i <= counters.segments_closed; i++) {
            struct stat status;
            segment_name(name, &files, i);
            bool is_there = stat(name, &status) == 0;
            assert_int_equal(is_there, i > counters.segments_deleted);
            bytes += is_there ? (uint64_t)status.st_size : 0;
        }
        if (kept == 0) assert_true(bytes <= 6000);
        seen self = read_keyed(files.log);
        assert_false(self.info.is_damaged);
        assert_int_equal(self.ticks, TICKS - self.info.first_tick + 1);
        files_close(&files);
    }
}

KEYED_CASE(a_crash_in_a_rotation_leaves_one_log, 40) {
    char name[128];
    // The old file has its new name already, and still its old one.
    segment_name(name, &self->files, 1);
    assert_int_equal(link(self->files.log, name), 0);
    seen got = read_keyed(self->files.log);
    assert_int_equal(got.ticks, TICKS);
    assert_int_equal(got.info.segment_count, 1);
    assert_false(got.info.is_damaged);
    // A segment of another log that has the name is none of ours.
    assert_int_equal(unlink(name), 0);
    net_log_block block;
    assert_true(net_log_block_header_read(&block, self->bytes + NET_LOG_PROLOGUE_BYTES));
    block.identity++;
    net_log_block_header_write(&block, self->bytes + NET_LOG_PROLOGUE_BYTES);
    file_write(name, self->bytes, self->size);
    assert_int_equal(read_keyed(self->files.log).info.segment_count, 1);
    // The next log of this name takes the segments along.
    (void)write_keyed(&self->config, 10, 40);
    assert_false(file_exists(name));
    snprintf(name, sizeof name, "%s.1.seg0001", self->files.log);
    assert_true(file_exists(name));
}

FILES_CASE(a_command_runs_for_each_closed_segment) {
    char name[128];
    net_log_file_config config = keyed_config(files);
    config.segment_ticks = 4 * EVERY;
    config.segments.on_close = "rm"; // it gets the file's name and no shell
    (void)write_keyed(&config, TICKS, 40);
    while (wait(NULL) >= 0 || errno != ECHILD) {
    }
    segment_name(name, files, 1);
    assert_false(file_exists(name));
    assert_false(file_exists(files->log));
    // More of them than run at a time, and all have ended before the log is destroyed.
    config.segment_ticks = EVERY;
    net_log_file* file;
    assert_ok(files_create(&config, &file));
    for (ecs_tick tick = 1; tick <= (NET_LOG_COMMANDS_MAX + 4) * EVERY; tick++) {
        files_keyed_tick(file, tick, 40);
        net_log_file_pump(file, false);
    }
    assert_ok(net_log_file_finish(file));
    while (net_log_file_commands_go_on(file)) {
    }
    assert_true(net_log_file_counters(file).segments_closed > NET_LOG_COMMANDS_MAX);
    assert_int_equal(net_log_file_counters(file).commands_failed, 0);
    for (uint32_t i = 1; i <= net_log_file_counters(file).segments_closed; i++) {
        segment_name(name, files, i);
        assert_false(file_exists(name));
    }
    assert_false(file_exists(files->log));
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
