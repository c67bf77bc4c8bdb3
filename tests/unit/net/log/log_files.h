// SPDX-License-Identifier: MIT
/// Shared code for the log tests: small logs in their own folder. The machine below net_log_writer
/// writes them, with made-up ticks and saves, on a disk that may fail; and what a reader gets.
#pragma once

#include "hear.h"

#include "base/hash.h"
#include "log/log_block.h"
#include "log/log_file.h"
#include "log/log_queue.h"
#include "log/log_read.h"

#include "ecs/change.h"
#include "net/log.h"
#include "net/match.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct log_files {
    char folder[64];
    char log[96];
    char queue[112];
} log_files;

/// In memory where that is possible: a disk takes its time for hundreds of files.
static inline void files_open(log_files* files) {
    bool has_memory = access("/dev/shm", W_OK) == 0;
    strcpy(files->folder, has_memory ? "/dev/shm/shoal-log-XXXXXX" : "/tmp/shoal-log-XXXXXX");
    assert_non_null(mkdtemp(files->folder));
    snprintf(files->log, sizeof files->log, "%s/a.slog", files->folder);
    snprintf(files->queue, sizeof files->queue, "%s.queue", files->log);
}

/// Remove all files in the folder.
static inline void files_clear(const log_files* files) {
    DIR* entries = opendir(files->folder);
    assert_non_null(entries);
    for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
        char name[512];
        snprintf(name, sizeof name, "%s/%s", files->folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(name);
    }
    closedir(entries);
}

static inline void files_close(const log_files* files) {
    files_clear(files);
    assert_int_equal(rmdir(files->folder), 0);
}

/// The name of a file, in memory that holds it until sixteen more were made.
__attribute__((format(printf, 1, 2))) static inline const char* file_name(const char* format, ...) {
    static char names[16][192];
    static uint32_t count;
    char* name = names[count++ % BASE_COUNT(names)];
    va_list values;
    va_start(values, format);
    const int size = vsnprintf(name, sizeof names[0], format, values);
    va_end(values);
    assert_true(size > 0 && (size_t)size < sizeof names[0]);
    return name;
}

/// A case with a folder of its own for logs: `files`.
#define FILES_CASE(name) CASE_WITH(log_files, files, files_open(files), files_close(files), name)

/// That of a closed segment of a log.
static inline const char* file_segment(const char* log, uint32_t number) {
    return file_name("%s.seg%04u", log, number);
}

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

static inline void file_copy(const char* from, const char* to) {
    size_t size;
    uint8_t* data = file_read(from, &size);
    file_write(to, data, size);
    free(data);
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
    proto_pb_write_number(&wire, 1, 3);
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
    config.options.is_manual = true;
    config.block_ticks = 5;    // 250 ms
    config.keyframe_ticks = 0; // made-up ticks have no match to save
    return config;
}

static inline net_result files_create(const net_log_file_config* config, net_log_file** file) {
    uint8_t header[256];
    size_t size = files_header(header, sizeof header);
    return net_log_file_create(config, header, size, NULL, file);
}

static inline net_log_file* files_start(const net_log_file_config* config) {
    net_log_file* file;
    assert_ok(files_create(config, &file));
    return file;
}

static inline uint32_t files_entities(const net_log_state* state) {
    uint32_t count = 0;
    for (ecs_entity at = ECS_ENTITY_NONE; (at = net_log_state_next(state, at)) != ECS_ENTITY_NONE;)
        count++;
    return count;
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

static inline bool files_end_as(net_log_file* file, net_log_kind kind, ecs_tick tick) {
    net_log_draft* draft = net_log_file_begin(file);
    if (!draft) return false;
    proto_pb_write_number(&draft->body, 1, tick);
    proto_pb_write_fixed64(&draft->body, 2, base_hash64(&tick, sizeof tick, 0));
    net_log_file_end(file, kind, tick);
    return true;
}

static inline bool files_end(net_log_file* file, ecs_tick tick) {
    return files_end_as(file, NET_LOG_KIND_END, tick);
}

static inline void files_tick(net_log_file* file, ecs_tick tick) {
    (void)(files_begin(file, tick) && files_end(file, tick));
}

static inline void files_end_log(net_log_file* file, ecs_tick tick) {
    (void)files_end_as(file, NET_LOG_KIND_CLOSE, tick);
}

/// In front of `tick` the match does not run.
static inline void files_alive(net_log_file* file, ecs_tick tick) {
    net_log_draft* draft = net_log_file_begin(file);
    assert_non_null(draft);
    proto_pb_write_number(&draft->body, 1, tick);
    proto_pb_write_number(&draft->body, 2, NET_IDLE_WAITING);
    net_log_file_end(file, NET_LOG_KIND_ALIVE, tick);
}

/// The save of a tick: bytes that do not get smaller when they are packed.
static inline void files_save(base_bytes* save, ecs_tick tick, size_t size) {
    base_rng rng = base_rng_make(tick, 5);
    for (size_t i = 0; i < size; i++)
        base_bytes_write_u8(save, (uint8_t)base_rng_u32(&rng));
}

/// A tick with a save of so many bytes, where its keyframe is due.
static inline void files_keyed_tick(net_log_file* file, ecs_tick tick, size_t save_bytes) {
    (void)files_begin(file, tick);
    base_bytes* save = net_log_file_begin_keyframe(file, tick);
    if (save) {
        files_save(save, tick, save_bytes);
        net_log_file_end_keyframe(file, tick);
    }
    (void)files_end(file, tick);
}

/// Ticks with saves of so many bytes, each written before the next one.
static inline void files_ticks(net_log_file* file, ecs_tick first, ecs_tick last,
                               size_t save_bytes) {
    for (ecs_tick tick = first; tick <= last; tick++) {
        files_keyed_tick(file, tick, save_bytes);
        net_log_file_pump(file, false);
    }
}

/// A log that ends with its tick `last` is whole.
static inline void files_close_log(net_log_file* file, ecs_tick last) {
    files_end_log(file, last);
    assert_ok(net_log_file_destroy(file));
}

typedef struct log_written {
    net_result created, finished; ///< finished is created where that failed
    net_log_counters counters;
    uint32_t notes;
    char failure[256]; ///< or ""
    char note[256];    ///< the last one
} log_written;

/// Write a whole log.
static inline log_written files_write(const net_log_file_config* config, ecs_tick ticks,
                                      size_t save_bytes) {
    log_written self = {.finished = NET_OK};
    net_log_file* file;
    self.finished = self.created = files_create(config, &file);
    if (self.created != NET_OK) return self;
    for (ecs_tick tick = 1; tick <= ticks; tick++) {
        files_keyed_tick(file, tick, save_bytes);
        if (config->options.is_manual) net_log_file_pump(file, false);
        self.notes += net_log_take_notice(file, self.note, sizeof self.note);
    }
    files_end_log(file, ticks);
    self.finished = net_log_file_finish(file);
    if (net_log_take_failure(file, self.failure, sizeof self.failure)) {
        char again[8];
        assert_false(net_log_take_failure(file, again, sizeof again));
    }
    while (net_log_take_notice(file, self.note, sizeof self.note))
        self.notes++;
    self.counters = net_log_get_counters(file);
    assert_int_equal(net_log_file_destroy(file), self.finished);
    return self;
}

/// A disk whose calls fail from one on, for a number of calls.
typedef struct log_disk {
    uint32_t writes, syncs;                    ///< calls so far
    uint32_t fail_write, fail_sync, fail_call; ///< the first one that fails; call: of both; 0: none
    uint32_t fail_for;
    int error;         ///< 0: short writes
    bool spares_first; ///< calls of the first file do not count
    int first;
    bool has_sync_failed, is_used_after;
} log_disk;

static inline bool disk_is_due(uint32_t call, uint32_t from, uint32_t count) {
    return from > 0 && call >= from && call - from < count;
}

static inline bool disk_fails(log_disk* self, int fd, uint32_t* calls, uint32_t from) {
    if (self->first == 0) self->first = fd;
    if (self->spares_first && fd == self->first) return false;
    self->is_used_after = self->is_used_after || self->has_sync_failed;
    ++*calls;
    return disk_is_due(*calls, from, self->fail_for) ||
           disk_is_due(self->writes + self->syncs, self->fail_call, self->fail_for);
}

static inline ssize_t disk_write(void* context, int fd, const void* data, size_t size) {
    log_disk* self = context;
    if (!disk_fails(self, fd, &self->writes, self->fail_write)) return write(fd, data, size);
    if (self->error == 0) return write(fd, data, size > 1 ? size / 2 : size);
    // A disk that becomes full writes a part first.
    if (self->error != EINTR && size > 2 && write(fd, data, size / 3) < 0) return -1;
    errno = self->error;
    return -1;
}

// The files are read back by this process: nothing has to reach a disk.
static inline int disk_sync(void* context, int fd) {
    log_disk* self = context;
    if (!disk_fails(self, fd, &self->syncs, self->fail_sync)) return 0;
    if (self->error == 0) return 0;
    self->has_sync_failed = self->error != EINTR;
    errno = self->error;
    return -1;
}

static inline net_log_file_config disk_config(net_log_file_config config, log_disk* disk) {
    config.options.ops =
        (net_log_file_ops){.write = disk_write, .sync = disk_sync, .context = disk};
    return config;
}

/// On a disk without faults, with a keyframe after each `every` ticks.
static inline net_log_file_config files_config_keyed(const log_files* files, uint32_t every) {
    static log_disk sound;
    net_log_file_config config = disk_config(files_config(files), &sound);
    config.keyframe_ticks = every;
    config.ring_bytes = 65536;
    return config;
}

static inline net_log_reader* files_reader(const char* log) {
    net_log_reader* reader;
    assert_ok(net_log_reader_create(NULL, log, NULL, &reader));
    return reader;
}

/// A tick of a match, and all of it in its log.
static inline void files_match_tick(net_log_writer* writer, net_match* match,
                                    const net_tick_inputs* begin) {
    net_log_append_begin(writer, begin);
    net_match_apply(match, begin);
    net_match_step(match);
    net_log_append_end(writer, match);
    ecs_changes_clear(net_match_world(match));
}

/// The log ended with an error, and is destroyed.
static inline void files_expect_failure(net_log_file* file, const char* why) {
    char failure[256];
    assert_true(net_log_take_failure(file, failure, sizeof failure));
    if (!strstr(failure, why)) fail_msg("\"%s\" is not in \"%s\"", why, failure);
    assert_int_equal(net_log_file_destroy(file), NET_ERR_IO);
}

/// A log that is not whole, or none: it is opened with this result and report. NULL: no reader.
static inline net_log_reader* files_reader_of(const char* log, net_result result, const char* why) {
    net_log_reader* reader;
    assert_int_equal(net_log_reader_create(NULL, log, hear(), &reader), result);
    if (why) assert_said(why);
    return reader;
}

static inline net_log_stats files_stats(net_log_reader* reader) {
    net_log_stats stats;
    assert_ok(net_log_read_stats(reader, &stats));
    return stats;
}

/// All of a log runs again, with this result.
static inline net_verify_result files_verify(net_log_reader* reader, const net_module* module,
                                             net_result wanted) {
    net_verify_result result;
    assert_int_equal(net_log_verify(reader, module, 0, 0, NULL, NULL, hear(), &result), wanted);
    return result;
}

/// What a log says once all of it was read.
static inline net_log_info files_expect_verdict(const char* log, const char* verdict) {
    net_log_reader* reader;
    (void)!net_log_reader_create(NULL, log, NULL, &reader);
    assert_non_null(reader);
    assert_string_equal(net_log_reader_verdict(reader), verdict);
    const net_log_info info = *net_log_reader_info(reader);
    net_log_reader_destroy(reader);
    return info;
}

/// What the reader got from a file. Equal sums mean equal records.
typedef struct log_sum {
    net_result result;
    bool has_reader;
    net_log_info info;
    uint64_t records;
    uint64_t records_first; ///< before the first gap
    uint64_t hash;
    uint64_t prefix[64]; ///< [i]: the hash after i records
    uint64_t ends;       ///< of ticks
    bool has[64];        ///< the end of this tick
    ecs_tick last_end;
    bool is_prefix;   ///< of ticks, from the first one
    bool has_foreign; ///< an end whose hash files_end() did not write, or in another order
} log_sum;

static inline void sum_add(log_sum* self, const net_log_record* record, ecs_tick resumed) {
    const uint64_t hash = base_hash64(record->body, record->body_bytes, (uint64_t)record->kind);
    self->hash = base_hash64_mix(self->hash, hash);
    if (++self->records < BASE_COUNT(self->prefix)) self->prefix[self->records] = self->hash;
    if (resumed > 0) assert_int_equal(record->tick, resumed + (record->kind != NET_LOG_KIND_CLOSE));
    if (record->kind != NET_LOG_KIND_END) return;
    self->has_foreign |= record->tick <= self->last_end;
    self->has_foreign |= record->state_hash != base_hash64(&record->tick, sizeof record->tick, 0);
    self->is_prefix &= record->tick == self->last_end + 1;
    if (record->tick < BASE_COUNT(self->has)) self->has[record->tick] = true;
    self->last_end = record->tick;
    self->ends++;
}

/// Walk through all of a log.
static inline log_sum sum_of(net_log_reader* reader, net_result result) {
    log_sum sum = {.result = result, .has_reader = true, .is_prefix = true};
    bool has_gap = false;
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record record;
    while (net_log_cursor_next(reader, &cursor, &record)) {
        sum_add(&sum, &record, cursor.resumed);
        has_gap = has_gap || cursor.resumed > 0;
        sum.records_first += !has_gap;
    }
    assert_false(cursor.has_failed);
    // A walk finds damage that opening does not look for.
    sum.info = *net_log_reader_info(reader);
    if (sum.info.is_damaged) sum.result = NET_ERR_DAMAGED;
    return sum;
}

static inline log_sum files_walk(const char* log, bool is_twice) {
    net_log_reader* reader;
    const net_result result = net_log_reader_create(NULL, log, NULL, &reader);
    if (!reader) return (log_sum){.result = result, .is_prefix = true};
    const log_sum sum = sum_of(reader, result);
    if (is_twice) { // it finds the same and counts nothing twice
        const log_sum again = sum_of(reader, result);
        assert_int_equal(again.hash, sum.hash);
        assert_memory_equal(&again.info, &sum.info, sizeof sum.info);
    }
    net_log_reader_destroy(reader);
    return sum;
}

static inline log_sum files_read(const char* log) {
    return files_walk(log, false);
}

/// The same of a log in which only files_tick() wrote, or nothing.
static inline log_sum files_read_own(const char* log) {
    const log_sum sum = files_read(log);
    assert_false(sum.has_foreign);
    return sum;
}

/// The same with keyframes, and the walk goes on behind these alone.
static inline log_sum files_read_keyed(const char* log, ecs_tick every) {
    const log_sum sum = files_walk(log, true);
    assert_false(sum.has_foreign);
    for (uint32_t tick = 2; tick < BASE_COUNT(sum.has); tick++)
        if (sum.has[tick] && !sum.has[tick - 1]) assert_int_equal(tick % every, 1);
    return sum;
}

/// Does the reader say that something is missing or wrong?
static inline bool sum_is_reported(const log_sum* sum) {
    return sum->result != NET_OK || (sum->info.is_cut && sum->info.lost_bytes > 0);
}

/// Step to the next block of a log in memory; `*at` is 0 at first. @return false: there is none.
static inline bool log_block_next(const uint8_t* log, size_t size, size_t* at,
                                  net_log_block* block) {
    if (*at == 0)
        *at = NET_LOG_PROLOGUE_BYTES;
    else
        *at += NET_LOG_BLOCK_HEADER_BYTES + block->stored_bytes;
    if (*at >= size) return false;
    assert_true(net_log_block_header_read(block, log + *at));
    return true;
}

/// Where block `ordinal` is, from 0.
static inline size_t log_block_at(const uint8_t* log, size_t size, uint32_t ordinal,
                                  net_log_block* block) {
    size_t at = 0;
    for (uint32_t i = 0; i <= ordinal; i++)
        assert_true(log_block_next(log, size, &at, block));
    return at;
}

/// What becomes of a block in a copy of a log.
typedef enum record_act { RECORD_KEEP, RECORD_CHANGE, RECORD_DROP } record_act;

/// Looks at a block and may change its records, which are in `payload`.
typedef record_act record_forger(void* context, uint32_t number, const net_log_block* block,
                                 uint8_t* payload);

/// Write a copy of a log with the blocks that the forger makes of its own: right checksums, any
/// content. `to` may be the log itself.
static inline void log_forge(const char* from, const char* to, record_forger* forger,
                             void* context) {
    size_t size, at = 0;
    uint8_t* log = file_read(from, &size);
    uint8_t* payload = calloc(1, NET_LOG_BLOCK_BYTES_MAX);
    net_log_packer packer;
    net_log_block block;
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    net_log_packer_init(&packer, NULL);
    base_bytes_write(&bytes, log, NET_LOG_PROLOGUE_BYTES);
    for (uint32_t number = 0; log_block_next(log, size, &at, &block); number++) {
        net_log_block copy = block;
        assert_true(net_log_block_unpack(&block, log + at + NET_LOG_BLOCK_HEADER_BYTES,
                                         packer.columns, payload));
        const record_act act = forger(context, number, &block, payload);
        if (act == RECORD_KEEP)
            base_bytes_write(&bytes, log + at, NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes);
        if (act == RECORD_CHANGE)
            base_bytes_write(&bytes, packer.stored,
                             net_log_packer_pack(&packer, &copy, payload, block.unpacked_bytes));
    }
    file_write(to, bytes.data, bytes.size);
    net_log_packer_deinit(&packer);
    base_bytes_deinit(&bytes);
    free(payload);
    free(log);
}
