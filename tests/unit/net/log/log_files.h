// SPDX-License-Identifier: MIT
/// Shared code for the log tests: small logs in their own folder. The machine below net_log_writer
/// writes them, with made-up ticks.
#pragma once

#include "test.h"

#include "base/hash.h"
#include "log/log_block.h"
#include "log/log_file.h"
#include "log/log_queue.h"
#include "log/log_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct log_files {
    char folder[64];
    char log[96];
    char queue[112];
} log_files;

static inline void files_open(log_files* files) {
    strcpy(files->folder, "/tmp/shoal-log-XXXXXX");
    assert_non_null(mkdtemp(files->folder));
    snprintf(files->log, sizeof files->log, "%s/a.slog", files->folder);
    snprintf(files->queue, sizeof files->queue, "%s.queue", files->log);
}

/// Remove the folder and all files in it.
static inline void files_close(log_files* files) {
    DIR* entries = opendir(files->folder);
    assert_non_null(entries);
    for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
        char name[512];
        snprintf(name, sizeof name, "%s/%s", files->folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(name);
    }
    closedir(entries);
    assert_int_equal(rmdir(files->folder), 0);
}

/// A case with a folder of its own for logs: `files`.
#define FILES_CASE(name) CASE_WITH(log_files, files, files_open(files), files_close(files), name)

static inline bool file_exists(const char* name) {
    return access(name, F_OK) == 0;
}

static inline uint8_t* file_read(const char* name, size_t* size) {
    struct stat status;
    int fd = open(name, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    *size = (size_t)status.st_size;
    uint8_t* data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(read(fd, data, *size), (ssize_t)*size);
    close(fd);
    return data;
}

static inline void file_write(const char* name, const uint8_t* data, size_t size) {
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

/// Replace the content in place.
static inline void file_replace(const char* name, const uint8_t* data, size_t size) {
    int fd = open(name, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, data, size, 0), (ssize_t)size);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    close(fd);
}

/// Change one byte in place. Rewriting the whole file costs a disk flush on some file systems.
static inline void file_poke(const char* name, size_t offset, uint8_t byte) {
    int fd = open(name, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
}

enum { FILES_IDENTITY = 77, FILES_RATE = 20, FILES_RING = 8192 };

/// Encode a Header that a reader accepts.
static inline size_t files_header(uint8_t* memory, size_t capacity) {
    proto_pb_writer wire = {.data = memory, .capacity = capacity};
    proto_pb_write_number(&wire, 1, 2);
    proto_pb_write_fixed64(&wire, 2, FILES_IDENTITY);
    proto_pb_write_text(&wire, 3, "pong");
    proto_pb_write_number(&wire, 8, FILES_RATE);
    proto_pb_write_number(&wire, 11, 60);
    assert_false(wire.failed);
    return wire.size;
}

static inline net_log_file_config files_config(const log_files* files) {
    net_log_file_config config = net_log_file_config_default(files->log, FILES_RATE);
    config.identity = FILES_IDENTITY;
    config.ring_bytes = FILES_RING;
    config.is_manual = true;
    config.block_ticks = 5;    // 250 ms
    config.keyframe_ticks = 0; // made-up ticks have no match to save
    return config;
}

static inline net_result files_create(const net_log_file_config* config, net_log_file** file) {
    uint8_t header[256];
    size_t size = files_header(header, sizeof header);
    return net_log_file_create(config, header, size, NULL, file);
}

/// Write the records of a made-up tick. @return false once logging stopped.
static inline bool files_begin(net_log_file* file, ecs_tick tick) {
    net_log_draft* draft = net_log_file_begin(file);
    if (!draft) return false;
    uint8_t payload[40];
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (uint8_t)(tick * 31 + i);
    proto_pb_write_number(&draft->body, 1, tick);
    if (tick == 1)
        assert_true(net_log_draft_item(
            draft, &(net_log_item){
                       .kind = NET_LOG_ITEM_JOIN, .client = 1, .name = "ann", .is_bot = true}));
    assert_true(net_log_draft_item(draft, &(net_log_item){.kind = NET_LOG_ITEM_INPUT,
                                                          .client = 1,
                                                          .number = (uint32_t)tick,
                                                          .payload = payload,
                                                          .payload_bytes = sizeof payload}));
    net_log_file_end(file, NET_LOG_KIND_BEGIN, tick);
    return true;
}

static inline bool files_end(net_log_file* file, ecs_tick tick) {
    net_log_draft* draft = net_log_file_begin(file);
    if (!draft) return false;
    proto_pb_write_number(&draft->body, 1, tick);
    proto_pb_write_fixed64(&draft->body, 2, base_hash64(&tick, sizeof tick, 0));
    net_log_file_end(file, NET_LOG_KIND_END, tick);
    return true;
}

static inline void files_tick(net_log_file* file, ecs_tick tick) {
    (void)(files_begin(file, tick) && files_end(file, tick));
}

static inline void files_end_log(net_log_file* file, ecs_tick tick) {
    net_log_draft* draft = net_log_file_begin(file);
    if (!draft) return;
    proto_pb_write_number(&draft->body, 1, tick);
    proto_pb_write_fixed64(&draft->body, 2, base_hash64(&tick, sizeof tick, 0));
    net_log_file_end(file, NET_LOG_KIND_CLOSE, tick);
}

/// What the reader got from a file. Equal sums mean equal records.
typedef struct log_sum {
    net_result result;
    bool has_reader;
    net_log_info info;
    uint64_t records;
    uint64_t hash;
    uint64_t prefix[64]; ///< [i]: the hash after i records
} log_sum;

static inline log_sum files_read(const char* log) {
    log_sum sum = {0};
    net_log_reader* reader;
    sum.result = net_log_reader_create(NULL, log, NULL, &reader);
    sum.has_reader = reader != NULL;
    if (!reader) return sum;
    sum.info = *net_log_reader_info(reader);
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record record;
    while (net_log_cursor_next(reader, &cursor, &record)) {
        sum.records++;
        uint64_t hash = base_hash64(record.body, record.body_bytes, (uint64_t)record.kind);
        sum.hash = base_hash64_mix(sum.hash, hash);
        if (sum.records < BASE_COUNT(sum.prefix)) sum.prefix[sum.records] = sum.hash;
    }
    assert_false(cursor.has_failed);
    // A walk finds damage that opening does not look for.
    sum.info = *net_log_reader_info(reader);
    if (sum.info.is_damaged) sum.result = NET_ERR_DAMAGED;
    net_log_reader_destroy(reader);
    return sum;
}
