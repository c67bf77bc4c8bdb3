// SPDX-License-Identifier: MIT
/// A log of made-up keyframes, and what a reader gets of it.
#pragma once

#include "log_files.h"

#include "log/log_file.h"
#include "log/log_segment.h"

#include "net/log_tools.h"

enum { TICKS = 60, EVERY = 10, BLOCK = 5 }; // a keyframe at 10, 20, ... 60

static log_disk sound; // a disk without faults

static inline net_log_file_config keyed_config(const log_files* files) {
    net_log_file_config config = disk_config(files_config(files), &sound);
    config.keyframe_ticks = EVERY;
    config.ring_bytes = 65536;
    return config;
}

static inline net_log_counters write_keyed(const net_log_file_config* config, ecs_tick ticks,
                                           size_t save_bytes) {
    log_written written = files_write(config, ticks, save_bytes);
    assert_ok(written.finished);
    return written.counters;
}

/// What a walk gets: which ticks have an end record.
typedef struct seen {
    bool has[TICKS + 1];
    uint32_t ticks;
    bool is_told;
    net_log_info info;
} seen;

// Every record must be one that was written: its hash is made of its tick.
static inline seen walk(net_log_reader* reader, net_log_cursor cursor) {
    seen self = {.ticks = 0};
    net_log_record record;
    ecs_tick last = 0;
    while (net_log_cursor_next(reader, &cursor, &record)) {
        assert_true(record.tick <= TICKS && record.tick >= last);
        if (cursor.resumed > 0) assert_int_equal(cursor.resumed % EVERY, 0);
        bool is_close = record.kind == NET_LOG_KIND_CLOSE;
        if (cursor.resumed > 0) assert_int_equal(record.tick, cursor.resumed + !is_close);
        last = record.tick;
        if (record.kind != NET_LOG_KIND_END) continue;
        assert_true(record.state_hash == base_hash64(&record.tick, sizeof record.tick, 0));
        assert_false(self.has[record.tick]);
        self.has[record.tick] = true;
        self.ticks++;
    }
    assert_false(cursor.has_failed);
    self.info = *net_log_reader_info(reader);
    self.is_told = self.info.is_damaged || (self.info.is_cut && self.info.lost_bytes > 0);
    return self;
}

static inline seen read_keyed(const char* log) {
    net_log_reader* reader;
    net_result result = net_log_reader_create(NULL, log, NULL, &reader);
    if (!reader) return (seen){.is_told = result == NET_ERR_DAMAGED};
    seen self = walk(reader, net_log_cursor_begin(reader));
    // A second walk finds the same and counts nothing twice.
    if (self.info.lost_bytes % 4 == 0) {
        seen again = walk(reader, net_log_cursor_begin(reader));
        assert_int_equal(again.ticks, self.ticks);
        assert_memory_equal(&again.info, &self.info, sizeof again.info);
    }
    net_log_reader_destroy(reader);
    return self;
}

/// A whole log with keyframes, on the disk and in memory.
typedef struct keyed {
    log_files files;
    net_log_file_config config;
    uint8_t* bytes;
    size_t size;
} keyed;

static inline void keyed_open(keyed* self, size_t save_bytes) {
    files_open(&self->files);
    self->config = keyed_config(&self->files);
    (void)write_keyed(&self->config, TICKS, save_bytes);
    self->bytes = file_read(self->files.log, &self->size);
}

static inline void keyed_close(keyed* self) {
    free(self->bytes);
    files_close(&self->files);
}

#define KEYED_CASE(name, save_bytes)                                                               \
    CASE_WITH(keyed, self, keyed_open(self, save_bytes), keyed_close(self), name)

// Step to the next block. @return false: there is none.
static inline bool next_block(const keyed* self, size_t* at, net_log_block* block) {
    if (*at == 0)
        *at = NET_LOG_PROLOGUE_BYTES;
    else
        *at += NET_LOG_BLOCK_HEADER_BYTES + block->stored_bytes;
    if (*at >= self->size) return false;
    assert_true(net_log_block_header_read(block, self->bytes + *at));
    return true;
}
